"""Every item of a brief as a candidate: pools, ids, excerpt, partner, numbers (S1, S2, S3, S4, S6, S8, S9, S30)."""

from typing import Any

import pytest

from tests.unit.material import (
    brief,
    candidates,
    check,
    created,
    deleted,
    diff,
    fact,
    file,
    hunk,
    item,
    modified,
    renamed,
)
from verifier.diff import Diff
from verifier.text import fact_hash
from verifier.verification.candidates import bare_candidates, find_candidates, wanted_base_texts
from verifier.verification.model import MISSING, UNREADABLE, BaseText, Candidate, Dismissal, Partner, Row

API = modified("src/api.ts", hunk(" a", "-b", "+c", " d", old=40, new=40), hunk("+e", old=90, new=91))
DIFF = diff(API)
COUPLING = "coupling.missing:src/api.ts"


def coupling(partner: str | None = "src/client.ts", path: str = "src/api.ts", **more: Any) -> dict[str, Any]:
    return fact("coupling.missing", path, None, **({} if partner is None else {"partner": partner}), **more)


def one(of: Any, changes: Diff = DIFF, bases: dict[str, BaseText] | None = None) -> Candidate:
    (found,) = candidates(of, changes, bases).values()
    return found


def test_three_pools_in_order_and_nothing_else() -> None:
    """S1: facts, hunks, checks, in the order of the brief; risky_snippets are not looked at."""
    of = brief(
        [fact("contract.api", "src/api.ts", 41), coupling()],
        [file("src/api.ts", item(40), item(91)), file("src/z.ts", item(1))],
        [check("src/api.ts", 41), check("src/api.ts")],
        risky_snippets=[{"file": "src/api.ts", "line": 41, "text": "eval"}],
    )
    found = find_candidates(of, DIFF, {}, {})
    assert [(candidate.pool, candidate.kind, candidate.id) for candidate in found] == [
        ("fact", "fact contract.api", "contract.api:src/api.ts:41"),
        ("fact", "fact coupling.missing", "coupling.missing:src/api.ts"),
        ("hunk", "hunk", "hunk:src/api.ts:40"),
        ("hunk", "hunk", "hunk:src/api.ts:91"),
        ("hunk", "hunk", "hunk:src/z.ts:1"),
        ("check", "check", "check:src/api.ts:41:0"),
        ("check", "check", "check:src/api.ts:0"),
    ]


def test_ids_that_would_stand_twice() -> None:
    """S2: `#2`, `#3`; checks count by place; ids are compared, so a path may hold a colon or a number sign."""
    of = brief(
        [fact("d", "a.py", 1), fact("d", "a.py", 1), fact("d", "a.py", 1), fact("d", "a.py:1")],
        [file("a.py", item(1), item(1)), file("a.py", item(1))],
        [check("a.py", 1), check("a.py", 1), check("a.py"), check("a.py")],
    )
    assert list(candidates(of, DIFF)) == [
        "d:a.py:1",
        "d:a.py:1#2",
        "d:a.py:1#3",
        "d:a.py:1#4",
        "hunk:a.py:1",
        "hunk:a.py:1#2",
        "hunk:a.py:1#3",
        "check:a.py:1:0",
        "check:a.py:1:1",
        "check:a.py:0",
        "check:a.py:1",
    ]


def test_what_a_candidate_says_of_its_item() -> None:
    """S7, S29: place and claim as the brief has them; a fact also its detector and hash."""
    found = one(brief([fact("contract.api", "src/api.ts", 41, text="14 of 17", short="no", strength="strong")]))
    assert (found.file, found.line, found.claim, found.detector) == ("src/api.ts", 41, "14 of 17", "contract.api")
    assert found.hash == fact_hash("contract.api", "src/api.ts", "15 of 18")
    hunk_found = one(brief(files=[file("src/api.ts", item(40, "error path"))]))
    assert (hunk_found.claim, hunk_found.detector, hunk_found.hash) == ("error path", None, None)


# Excerpts.


@pytest.mark.parametrize(
    ("of", "lines"),
    [
        (brief([fact("x", "src/api.ts", 41)]), ["@@ -40,3 +40,3 @@", " a", "-b", "+c", " d"]),
        (brief([fact("x", "src/api.ts")]), ["@@ -40,3 +40,3 @@", " a", "-b", "+c", " d", "@@ -90,0 +91,1 @@", "+e"]),
        (brief(files=[file("src/api.ts", item(91))]), ["@@ -90,0 +91,1 @@", "+e"]),
        (brief(checks=[check("src/api.ts", 91)]), ["@@ -90,0 +91,1 @@", "+e"]),
    ],
)
def test_each_item_has_the_excerpt_of_its_own_hunk(of: Any, lines: list[str]) -> None:
    """S3: with a line the hunk that covers it, without one all hunks of its file."""
    excerpt = one(of).excerpt
    assert excerpt
    assert [row.text for row in excerpt.rows] == lines
    assert excerpt.file == "src/api.ts"


@pytest.mark.parametrize(
    ("changes", "path", "line", "excerpt_file"),
    [
        (renamed("old.py", "new.py", hunk(" a", "+b")), "new.py", 2, "new.py"),
        (renamed("old.py", "new.py", hunk(" a", "+b")), "old.py", 2, "new.py"),
        (deleted("old.py", hunk("-a", old=1, new=0)), "old.py", 0, "old.py"),
        (created("new.py", hunk("+a", old=0, new=1)), "new.py", 1, "new.py"),
    ],
)
def test_a_file_by_either_path(changes: str, path: str, line: int, excerpt_file: str) -> None:
    """S3: a renamed file is found by its old path, too, and a deleted one by the only path it has."""
    found = one(brief(files=[file(path, item(line))]), diff(changes))
    assert found.excerpt
    assert found.excerpt.file == excerpt_file
    assert found.file == path
    assert found.number == 1


# What is not sent.


@pytest.mark.parametrize(
    "of",
    [
        brief([fact("x", "elsewhere.ts", 1)]),
        brief([fact("x", "elsewhere.ts")]),
        brief([fact("x", "src/api.ts", 60)]),
        brief([fact("x", "mode.sh")]),
        brief(files=[file("elsewhere.ts", item(40))]),
        brief(files=[file("src/api.ts", item(60))]),
        brief(checks=[check("elsewhere.ts")]),
        brief(checks=[check("src/api.ts", 60)]),
        brief([coupling("src/gone.ts", path="elsewhere.ts")]),
        brief([coupling("src/blob.ts", path="elsewhere.ts")]),
        brief([coupling("src/empty.ts", path="elsewhere.ts")]),
        brief([coupling(None, path="elsewhere.ts")]),
    ],
)
def test_an_item_with_nothing_to_show_is_not_sent(of: Any) -> None:
    """S8: its file or its line is not in the diff, and there is no partner text."""
    changes = diff(API, renamed("old.sh", "mode.sh"))
    found = one(of, changes, {"src/gone.ts": MISSING, "src/blob.ts": UNREADABLE, "src/empty.ts": ""})
    assert found.number is None
    assert found.excerpt is None


def test_partner_text_alone_is_enough_to_be_sent() -> None:
    """S8: the file is not in the diff, the partner can be shown."""
    found = one(brief([coupling(path="elsewhere.ts")]), bases={"src/client.ts": "x"})
    assert found.number == 1


def test_numbers_count_what_is_sent() -> None:
    """S6, S8, S30: from 1 on, without a gap, in order; neither the dismissed nor what cannot be shown has one."""
    facts = [
        fact("one", "src/api.ts", 41),
        fact("two", "elsewhere.ts"),
        fact("three", "src/api.ts"),
        fact("four", "src/api.ts"),
        fact("five", "src/api.ts"),
        fact("six", "src/api.ts"),
    ]
    said: dict[str, Dismissal] = {"three": "wrong", "four": "intentional", "five": "ignored", "six": "useful"}
    dismissals = {fact_hash(name, "src/api.ts", f"{name} in src/api.ts"): verdict for name, verdict in said.items()}
    found = candidates(brief(facts, checks=[check("src/api.ts")]), DIFF, dismissals=dismissals)
    assert [candidate.number for candidate in found.values()] == [1, None, None, None, None, 2, 3]
    assert [candidate.dismissal for candidate in found.values()] == [
        None,
        None,
        "wrong",
        "intentional",
        "ignored",
        "useful",
        None,
    ]


def test_only_facts_are_dismissed() -> None:
    """S29, S30: the memory is one of facts; a hunk or check of the same words has no hash."""
    found = candidates(
        brief(files=[file("src/api.ts", item(40, "t"))], checks=[check("src/api.ts", 40, "t")]),
        DIFF,
        dismissals={fact_hash("hunk", "src/api.ts", "t"): "wrong", fact_hash("check", "src/api.ts", "t"): "wrong"},
    )
    assert all(candidate.dismissal is None for candidate in found.values())


# The partner.


@pytest.mark.parametrize(
    ("text", "partner"),
    [
        ("a\nb\n", Partner("src/client.ts", True, (Row("new", 1, "a"), Row("new", 2, "b")), whole=True)),
        ("x" * 2001, Partner("src/client.ts", True, (Row("new", 1, "x" * 2000),), whole=False)),
        (MISSING, Partner("src/client.ts", found=False)),
        (UNREADABLE, Partner("src/client.ts", found=True)),
    ],
)
def test_a_coupling_fact_carries_its_partner(text: BaseText, partner: Partner) -> None:
    """S4: its first 2,000 characters and whether that is all, or that it is not there, or cannot be had."""
    assert one(brief([coupling()]), bases={"src/client.ts": text}).partner == partner


def test_a_partner_that_nobody_looked_for_is_not_called_missing() -> None:
    """S4: that it is not there is evidence, so it is said only where it is known."""
    assert one(brief([coupling()])).partner == Partner("src/client.ts", found=True)


def test_no_other_fact_carries_a_partner() -> None:
    """S4: `coupling.missing` alone; and one that names no partner has none."""
    for of in (brief([fact("contract.api", "src/api.ts", partner="src/client.ts")]), brief([coupling(None)])):
        assert one(of, bases={"src/client.ts": "x"}).partner is None
        assert wanted_base_texts(of, DIFF) == frozenset()


# What is asked of the evidence.


@pytest.mark.parametrize(
    ("of", "changes", "wanted"),
    [
        (brief(files=[file("src/api.ts", item(40))]), API, {"src/api.ts"}),
        (brief(checks=[check("src/api.ts", 40), check("src/api.ts", 91)]), API, {"src/api.ts"}),
        (brief(checks=[check("src/api.ts", 60)]), API, set()),
        (brief(checks=[check("src/api.ts")]), API, set()),
        (brief(checks=[check("elsewhere.ts", 1)]), API, set()),
        (brief([fact("x", "src/api.ts", 40)]), API, set()),
        (brief([coupling()]), API, {"src/client.ts"}),
        (brief([coupling(path="elsewhere.ts")]), API, {"src/client.ts"}),
        (brief(files=[file("new.py", item(2))]), renamed("old.py", "new.py", hunk(" a", "+b")), {"old.py"}),
        (brief(files=[file("new.py", item(1))]), created("new.py", hunk("+a", old=0)), set()),
    ],
)
def test_only_the_base_texts_that_are_needed_are_wanted(of: Any, changes: str, wanted: set[str]) -> None:
    """S4, S10: old paths of files that hold hunks and checks, and partners; nothing for facts, nothing twice."""
    assert wanted_base_texts(of, diff(changes)) == wanted


# Status, of each pool.


def test_facts_are_new_and_couplings_unknown() -> None:
    """S9: by construction, wherever they stand."""
    of = brief([fact("x", "src/api.ts", 41), fact("x", "elsewhere.ts"), coupling(), coupling(path="elsewhere.ts")])
    bases: dict[str, BaseText] = {"src/api.ts": "c\n"}
    assert [found.status for found in candidates(of, DIFF, bases).values()] == ["new", "new", "unknown", "unknown"]


def test_each_pool_has_its_own_status() -> None:
    """S9, S10: one hunk that only moved a line: the fact on it is new all the same."""
    of = brief([fact("x", "src/api.ts", 41)], [file("src/api.ts", item(40))], [check("src/api.ts", 41)])
    found = candidates(of, DIFF, {"src/api.ts": "a\nb\nd\n  c\n"})
    assert [candidate.status for candidate in found.values()] == ["new", "pre-existing", "pre-existing"]


def test_bare_candidates_show_nothing() -> None:
    """S24: where the pass could not be prepared its record still names every item, and none is sent."""
    of = brief([coupling()], [file("src/api.ts", item(40))], [check("src/api.ts")])
    bare = bare_candidates(of)
    assert [candidate.id for candidate in bare] == list(candidates(of, DIFF))
    assert all(candidate.number is None and candidate.excerpt is None for candidate in bare)
    assert [candidate.status for candidate in bare] == ["unknown"] * 3
