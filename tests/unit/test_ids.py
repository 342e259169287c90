"""The ids of a brief's items, and the one ending of a text (S2, S15)."""

import json
from itertools import chain
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.test_text import PROPERTY
from verifier.brief.document import Brief, read_brief
from verifier.brief.ids import item_ids, place
from verifier.brief.layout import Shown, as_it_came

Place = tuple[str, int | None]


def brief(
    facts: list[tuple[str, str, int | None]] | None = None,
    files: list[tuple[str, list[int]]] | None = None,
    checks: list[Place] | None = None,
) -> Brief:
    """A brief of these places."""
    document: dict[str, Any] = {
        "captain": {
            "facts": [
                {"id": name, "file": file, "line": line, "strength": "info", "text": ""}
                for name, file, line in facts or []
            ]
        },
        "reviewFirst": [{"file": file, "hunks": [{"line": line} for line in lines]} for file, lines in files or []],
        "checks": [{"file": file, "line": line, "text": ""} for file, line in checks or []],
    }
    return read_brief(json.dumps(document).encode())


def test_s2_the_ids_of_the_three_pools() -> None:
    ids = item_ids(
        brief(
            [("contract.api", "src/api.ts", 42), ("coupling.missing", "src/session.ts", None)],
            [("src/session.ts", [3, 0]), ("src/a.ts", [3])],
            [
                ("src/session.ts", 42),
                ("src/session.ts", 42),
                ("src/session.ts", None),
                ("src/session.ts", 43),
                ("src/session.ts", None),
            ],
        )
    )
    assert ids.facts == ("contract.api:src/api.ts:42", "coupling.missing:src/session.ts")
    assert ids.hunks == (("hunk:src/session.ts:3", "hunk:src/session.ts:0"), ("hunk:src/a.ts:3",))
    assert ids.checks == (
        "check:src/session.ts:42:0",
        "check:src/session.ts:42:1",
        "check:src/session.ts:0",
        "check:src/session.ts:43:0",
        "check:src/session.ts:1",
    )
    assert ids.all() == (*ids.facts, *ids.hunks[0], *ids.hunks[1], *ids.checks)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ([("a", "f", 1)] * 3, ("a:f:1", "a:f:1#2", "a:f:1#3")),
        ([("a", "f", None), ("b", "f", None), ("a", "f", None)], ("a:f", "b:f", "a:f#2")),
        # A natural `#2`, before and behind the one that would be given.
        ([("a", "f#2", None), ("a", "f", None), ("a", "f", None)], ("a:f#2", "a:f", "a:f#3")),
        ([("a", "f", None), ("a", "f", None), ("a", "f#2", None)], ("a:f", "a:f#2", "a:f#2#2")),
        (
            [("a", "f", None), ("a", "f#2", None), ("a", "f", None), ("a", "f", None)],
            ("a:f", "a:f#2", "a:f#3", "a:f#4"),
        ),
        (
            [("a", "f#2", None), ("a", "f#3", None), ("a", "f", None), ("a", "f", None)],
            ("a:f#2", "a:f#3", "a:f", "a:f#4"),
        ),
        # Colons: three places that read the same.
        ([("a", "b:c", None), ("a:b", "c", None), ("a:b:c", "1", None)], ("a:b:c", "a:b:c#2", "a:b:c:1")),
        ([("a", "f:1", None), ("a", "f", 1)], ("a:f:1", "a:f:1#2")),
    ],
)
def test_s2_an_id_that_would_stand_twice_gets_a_number(
    facts: list[tuple[str, str, int | None]], expected: tuple[str, ...]
) -> None:
    assert item_ids(brief(facts)).facts == expected


def test_s2_duplicated_hunks_within_and_across_files() -> None:
    ids = item_ids(brief(files=[("f", [1, 1, 2]), ("f", [1]), ("f:1", [1])]))
    assert ids.hunks == (("hunk:f:1", "hunk:f:1#2", "hunk:f:2"), ("hunk:f:1#3",), ("hunk:f:1:1",))


def test_s2_the_ordinal_counts_the_checks_at_one_place() -> None:
    """S2: a file `a` at line 1 and a file `a:1` are two places, though they read the same."""
    ids = item_ids(brief(checks=[("a", 1), ("a:1", None), ("a", 1), ("a", None)]))
    assert ids.checks == ("check:a:1:0", "check:a:1:0#2", "check:a:1:1", "check:a:0")


def test_s2_ids_are_unique_across_the_pools() -> None:
    ids = item_ids(brief([("hunk", "f", 1), ("check", "f:0", None)], [("f", [1])], [("f", None)]))
    assert ids.all() == ("hunk:f:1", "check:f:0", "hunk:f:1#2", "check:f:0#2")


NAMES = st.sampled_from(["a", "b", "a:b", "a#2", "a:1", "a:1#2", "hunk", "check", "a:0", "#2", ":", "é", "a b"])
LINES = st.one_of(st.none(), st.integers(1, 3))


@PROPERTY
@given(
    st.lists(st.tuples(NAMES, NAMES, LINES), max_size=12),
    st.lists(st.tuples(NAMES, st.lists(st.integers(0, 3), max_size=4)), max_size=4),
    st.lists(st.tuples(NAMES, LINES), max_size=12),
)
def test_s2_all_ids_are_distinct_and_always_the_same(
    facts: list[tuple[str, str, int | None]], files: list[tuple[str, list[int]]], checks: list[Place]
) -> None:
    came = brief(facts, files, checks)
    ids = item_ids(came)
    assert len({*ids.all()}) == len(ids.all()) == len(facts) + len(checks) + sum(len(lines) for _, lines in files)
    assert item_ids(brief(facts, files, checks)) == ids
    layout = as_it_came(came)
    items = [*layout.facts, *chain.from_iterable(file.hunks for file in layout.files), *layout.checks]
    assert [item.id for item in items] == list(ids.all())
    for (name, file, line), found in zip(facts, ids.facts, strict=True):
        assert found.startswith(f"{name}:{place(file, line)}")


def test_s2_a_thousand_of_one_place_are_numbered_in_one_go() -> None:
    """S2: 2,400 items with one id, and the numbers they would get already taken."""
    count = 2_400
    taken: list[tuple[str, str, int | None]] = [("a", f"f#{number}", None) for number in range(2, count)]
    ids = item_ids(brief([*taken, *[("a", "f", None)] * count], [("f", [1] * count)], [("f", 1)] * count))
    assert len({*ids.all()}) == 4 * count - 2
    assert ids.facts[-1] == f"a:f#{2 * count - 2}"
    assert ids.checks[-1] == f"check:f:1:{count - 1}"


def test_s2_a_place() -> None:
    assert place("a:b", 3) == "a:b:3"
    assert place("a:b", None) == "a:b"


# The one ending, S15


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("lost ttl", "lost ttl [unverified]"),
        ("lost ttl  ", "lost ttl [unverified]"),
        ("lost ttl\n\t\u00a0", "lost ttl [unverified]"),
        ("  lost ttl", "  lost ttl [unverified]"),
        ("a\nb", "a\nb [unverified]"),
        ("", "[unverified]"),
        (" \n", "[unverified]"),
    ],
)
def test_s15_the_suffix_stands_at_the_end_after_one_space(text: str, expected: str) -> None:
    assert Shown(0, "id", "f", None, text, "[unverified]").full_text == expected


@PROPERTY
@given(st.text())
def test_s15_a_text_without_suffix_stays_as_it_is(text: str) -> None:
    assert Shown(0, "id", "f", None, text).full_text == text


@PROPERTY
@given(st.text())
def test_s15_a_text_keeps_all_but_trailing_space(text: str) -> None:
    full = Shown(0, "id", "f", None, text, "[verified · new]").full_text
    assert full.removesuffix("[verified · new]").removesuffix(" ") == text.rstrip()
