"""A reply's form (S35), and which of its entries stands (S6, S7)."""

import json
from contextlib import suppress
from itertools import product
from typing import Any, Final, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.material import Json, brief, candidates, check, diff, entry, fact, hunk, modified, patient, reply_text
from verifier.verification.model import CAUTION, Action, Candidate, Citation, Ignored, Said
from verifier.verification.reply import ReplyError, parse_reply, standing

ENTRY: Final[Json] = {
    "n": 1,
    "kind": "check",
    "place": "a.py:1",
    "reason": "because",
    "citation": {"file": "a.py", "line": 1},
    "action": "drop",
    "class": "docs",
    "status": "new",
}


def with_(**more: Any) -> str:
    return reply_text([ENTRY | {name.rstrip("_"): value for name, value in more.items()}])


def without(name: str) -> str:
    return reply_text([{key: value for key, value in ENTRY.items() if key != name}])


# The form.


def test_a_reply_that_is_what_was_asked_for() -> None:
    """S35: entries in order, as they were said."""
    second = ENTRY | {"n": 2, "citation": None, "action": "keep", "class": None, "status": None, "reason": ""}
    assert parse_reply(f"\n {reply_text([ENTRY, second])}\t\n") == (
        Said(1, "check", "a.py:1", "because", Citation("a.py", 1), "docs", "drop", "new"),
        Said(2, "check", "a.py:1", "", None, None, "keep", None),
    )
    assert parse_reply('{"verdicts": []}') == ()


GOOD: Final = reply_text([ENTRY])
MALFORMED: Final = {
    "empty": "",
    "white space": " \n",
    "not JSON": "I would keep everything.",
    "null": "null",
    "a number": "1",
    "a string": json.dumps(GOOD),
    "an array": f"[{GOOD}]",
    "entries alone": json.dumps([ENTRY]),
    "cut": GOOD[:-1],
    "cut within a string": GOOD[:60],
    "prose before": f"Here it is: {GOOD}",
    "prose after": f"{GOOD} Hope this helps!",
    "a code fence": f"```json\n{GOOD}\n```",
    "two documents": f"{GOOD}\n{GOOD}",
    "a byte order mark": f"\ufeff{GOOD}",
    "single quotes": GOOD.replace('"', "'"),
    "a comma too many": GOOD.replace("]}", ",]}"),
    "a comment": f"// done\n{GOOD}",
    "nested too deeply": "[" * 100_000,
    "no verdicts": "{}",
    "verdicts null": '{"verdicts": null}',
    "verdicts an object": '{"verdicts": {}}',
    "a field too many at the top": GOOD[:-1] + ', "done": true}',
    "verdicts twice": f'{{"verdicts": [], {GOOD[1:]}',
    "n twice": GOOD.replace('"n": 1', '"n": 1, "n": 1'),
    "a citation's line twice": GOOD.replace('"line": 1', '"line": 1, "line": 2'),
    "an entry null": reply_text([None]),
    "an entry a string": reply_text(["keep"]),
    "a good entry and a bad one": reply_text([ENTRY, ENTRY | {"n": None}]),
    "a field too many": with_(confidence=1),
    "a field too many in the citation": with_(citation={"file": "a.py", "line": 1, "old": False}),
    "a citation without a line": with_(citation={"file": "a.py"}),
    "a citation without a file": with_(citation={"line": 1}),
    "a citation a string": with_(citation="a.py:1"),
    "a citation an array": with_(citation=["a.py", 1]),
    "a citation's file null": with_(citation={"file": None, "line": 1}),
    "a citation's line null": with_(citation={"file": "a.py", "line": None}),
    "a citation's line a string": with_(citation={"file": "a.py", "line": "1"}),
    "a citation's line a float": with_(citation={"file": "a.py", "line": 1.0}),
    "a citation's line true": with_(citation={"file": "a.py", "line": True}),
    "n a string": with_(n="1"),
    "n a float": with_(n=1.0),
    "n true": with_(n=True),
    "n null": with_(n=None),
    "n of 19 digits": with_(n=10**18),
    "n of 5,000 digits": GOOD.replace('"n": 1', f'"n": {"1" * 5000}'),
    "n an exponent": GOOD.replace('"n": 1', '"n": 1e0'),
    "n not a number": with_(n=float("nan")),
    "n infinite": with_(n=float("inf")),
    "n minus infinite": with_(n=float("-inf")),
    "n an overflow": GOOD.replace('"n": 1', '"n": 1e999'),
    "kind null": with_(kind=None),
    "kind a number": with_(kind=1),
    "place an array": with_(place=["a.py", 1]),
    "reason null": with_(reason=None),
    "reason an object": with_(reason={}),
    "an unknown action": with_(action="ignore"),
    "an action in capitals": with_(action="KEEP"),
    "action null": with_(action=None),
    "action unverified": with_(action="unverified"),
    "an unknown class": with_(class_="style"),
    "a class as an array": with_(class_=["docs"]),
    "class false": with_(class_=False),
    "an unknown status": with_(status="unknown"),
    "status empty": with_(status=""),
    "a lone surrogate as a field": GOOD.replace('"reason"', '"\\ud800"'),
    "a raw line feed in a string": GOOD.replace("because", "be\ncause"),
    **{f"without {name}": without(name) for name in ENTRY},
}


@pytest.mark.parametrize("text", MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_reply_is_refused_as_a_whole(text: str) -> None:
    """S35: checked again here whatever the provider enforced; the message is a sentence."""
    with pytest.raises(ReplyError, match=r"^the reply (is not JSON|does not fit its schema) \(.+\)$"):
        parse_reply(text)


@pytest.mark.parametrize("half", ["\\ud800", "\ud800", "\\udc80"])
def test_half_a_character_does_not_cost_the_reply(half: str) -> None:
    """S35: a lone surrogate, escaped or not, is read as U+FFFD: whatever is read can be written."""
    text = GOOD.replace("because", half).replace("a.py", half)
    (said,) = parse_reply(text)
    assert (said.reason, said.citation) == ("\ufffd", Citation("\ufffd", 1))


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from([*ENTRY, "verdicts", "x"]), inner, max_size=8)
    ),
    max_leaves=20,
)


@patient
@given(st.one_of(st.text(), _JSON.map(json.dumps), st.lists(_JSON, max_size=3).map(reply_text)))
def test_no_text_makes_another_exception(text: str) -> None:
    """S24, S35: entries, or ReplyError."""
    with suppress(ReplyError):
        assert isinstance(parse_reply(text), tuple)


# Which entry stands.

DIFF = diff(modified("a.py", hunk("+a", "+b", "+c")))
FOUND: Final = candidates(
    brief([fact("x", "a.py", 1)], checks=[check("a.py", 2), check("a.py", 3), check("gone.py")]), DIFF
)
FIRST, SECOND, THIRD, UNSENT = FOUND.values()


def stands(*entries: Json) -> tuple[dict[int, Said], list[int]]:
    """What stands, and the numbers of what was ignored."""
    standing_entries, ignored = standing(FOUND.values(), parse_reply(reply_text(entries)))
    return standing_entries, [one.n for one in ignored]


def actions(found: dict[int, Said]) -> dict[int, Action]:
    return {number: one.action for number, one in found.items()}


def test_one_entry_for_each_block() -> None:
    """S6: in whatever order."""
    assert UNSENT.number is None
    found, ignored = stands(entry(THIRD), entry(FIRST, "drop"), entry(SECOND, "downgrade"))
    assert actions(found) == {3: "keep", 1: "drop", 2: "downgrade"}
    assert ignored == []


@pytest.mark.parametrize("n", [0, 4, -1, 10**17])
def test_a_number_that_was_not_shown_is_ignored(n: int) -> None:
    """S6: and the others stand."""
    found, ignored = stands(entry(FIRST, n=n), entry(FIRST))
    assert actions(found) == {1: "keep"}
    assert ignored == [n]


def test_a_number_without_a_verdict_stays_without() -> None:
    """S6: nothing is made up for it."""
    assert stands() == ({}, [])
    assert actions(stands(entry(SECOND))[0]) == {2: "keep"}


@pytest.mark.parametrize(("first", "second"), list(product(get_args(Action), repeat=2)))
def test_of_two_verdicts_the_more_cautious_stands(first: Action, second: Action) -> None:
    """S6: keep, then downgrade, then drop; of two alike the first."""
    found, ignored = stands(entry(FIRST, first, reason="first"), entry(FIRST, second, reason="second"))
    more_cautious = {
        ("downgrade", "keep"): "second",
        ("drop", "keep"): "second",
        ("drop", "downgrade"): "second",
    }.get((first, second), "first")
    assert found[1].reason == more_cautious
    assert ignored == [1]


def test_of_three_verdicts_too() -> None:
    """S6: the more cautious of all."""
    found, ignored = stands(entry(FIRST, "drop"), entry(FIRST, "keep"), entry(FIRST, "downgrade"))
    assert actions(found) == {1: "keep"}
    assert ignored == [1, 1]


def test_the_order_of_caution() -> None:
    """S6: as it is written."""
    assert CAUTION == ("keep", "downgrade", "drop")


def echo(of: Candidate, kind: str | None = None, place: str | None = None) -> Json:
    given = entry(of, "drop")
    return given | {"kind": kind or given["kind"], "place": place or given["place"]}


@pytest.mark.parametrize(
    "off",
    [
        echo(FIRST, kind="check"),
        echo(FIRST, kind="fact"),
        echo(FIRST, kind="fact y"),
        echo(FIRST, kind="Fact x"),
        echo(FIRST, place="a.py"),
        echo(FIRST, place="a.py:2"),
        echo(FIRST, place="b.py:1"),
        echo(FIRST, place="a.py:01"),
        echo(FIRST, place="-"),
        echo(FIRST, kind="-"),
    ],
)
def test_an_echo_that_disagrees_decides_nothing(off: Json) -> None:
    """S7: kind and place both; the record says so."""
    found, ignored = standing(FOUND.values(), parse_reply(reply_text([off])))
    assert found == {}
    (one,) = ignored
    assert one == Ignored(1, f"its echo disagrees with the block: {off['kind']} at {off['place']}")


def test_white_space_around_an_echo_is_no_disagreement() -> None:
    """S7: it names the same block."""
    found, ignored = stands(echo(FIRST, kind=" fact x ", place="a.py:1\n"))
    assert (actions(found), ignored) == ({1: "drop"}, [])


def test_verdicts_shifted_by_one_decide_nothing() -> None:
    """S7: each entry has the next one's number; only what happens to be right may stand."""
    shifted = [echo(FIRST) | {"n": 2}, echo(SECOND) | {"n": 3}, echo(THIRD) | {"n": 4}]
    assert stands(*shifted) == ({}, [2, 3, 4])


def test_verdicts_in_reverse_decide_nothing() -> None:
    """S7: but the one in the middle, which is its own."""
    found, ignored = stands(echo(FIRST) | {"n": 3}, echo(SECOND), echo(THIRD) | {"n": 1})
    assert (actions(found), ignored) == ({2: "drop"}, [3, 1])


@pytest.mark.parametrize("reverse", [False, True])
def test_the_echo_decides_before_caution_chooses(reverse: bool) -> None:
    """S7, S6: a keep with a wrong echo does not outweigh a drop with the right one."""
    entries = [entry(FIRST, "keep", place="a.py:2"), entry(FIRST, "drop")]
    found, ignored = stands(*(reversed(entries) if reverse else entries))
    assert (actions(found), ignored) == ({1: "drop"}, [1])


def test_what_is_ignored_says_why() -> None:
    """S6, S7: in a sentence, on one line, of bounded length, whatever the reply held."""
    hostile = entry(FIRST, place="x\n::error::" + "y" * 1000)
    _, ignored = standing(
        FOUND.values(), parse_reply(reply_text([entry(FIRST, n=9), hostile, entry(FIRST), entry(FIRST)]))
    )
    assert [one.why for one in ignored] == [
        "no block has this number",
        "its echo disagrees with the block: fact x at x ::error::" + "y" * 98 + "…",
        "an earlier or more cautious verdict for this block stands",
    ]


def test_a_very_long_path_is_echoed_as_it_is_shown() -> None:
    """S7: a place is cut in its path, never in its line."""
    path = "x" * 300
    (found,) = candidates(brief(checks=[check(path, 12)]), diff(modified(path, hunk("+a", new=12)))).values()
    said = entry(found)
    assert said["place"] == "x" * 199 + "…:12"
    assert standing([found], parse_reply(reply_text([said])))[0]


def test_a_detector_without_a_visible_name_can_be_echoed() -> None:
    """S7: white space at the end of a kind is none."""
    (found,) = candidates(brief([fact("\u200b", "a.py", 1)]), DIFF).values()
    assert found.kind == "fact"
    assert standing([found], parse_reply(reply_text([entry(found)])))[0]
