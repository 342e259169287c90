"""Verdicts applied: suffixes, order, the why, the notes, what is published of it (S15 to S20, S24, S30, S34, B3)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import pytest

from tests.unit.material import (
    ON,
    Answer,
    Json,
    brief,
    by_id,
    check,
    cited,
    diff,
    document,
    downgrade,
    drop,
    entry,
    fact,
    file,
    hunk,
    item,
    keep,
    modified,
    passed,
    silent,
    unasked,
)
from verifier.brief.document import Brief
from verifier.text import fact_hash
from verifier.verification.application import counts, suffix
from verifier.verification.model import Candidate, Dismissal, Status, Verdict
from verifier.verification.prompt import PROMPT_HASH
from verifier.verification.verify import Verified

DIFF: Final = diff(
    *(modified(f"{name}.py", hunk(*(f"+{name}{n}" for n in range(1, 10)), old=0, new=1)) for name in "abcdef")
)


def facts_of(verified: Verified) -> list[tuple[str, str]]:
    return [(one["text"], one["strength"]) for one in document(verified)["captain"]["facts"]]


def files_of(verified: Verified) -> list[tuple[str, list[int]]]:
    return [(one["file"], [found["line"] for found in one["hunks"]]) for one in document(verified)["reviewFirst"]]


def notes_of(verified: Verified) -> list[str]:
    found: list[str] = document(verified).get("notes", [])
    return found


# Suffixes.


def verdict(action: Any, status: Status = "unknown", **more: Any) -> Verdict:
    return Verdict("id", action, status, more.pop("by", "model"), **more)


@pytest.mark.parametrize(
    ("of", "ending"),
    [
        (verdict("keep", "new"), "[verified · new]"),
        (verdict("keep", "pre-existing"), "[verified · pre-existing]"),
        (verdict("keep"), "[verified]"),
        (verdict("keep", "new", by="guard", guard="x"), "[verified · new]"),
        (verdict("keep", by="memory", reason="r"), "[verified]"),
        (verdict("downgrade", reason="it is moot"), "[downgraded by verifier: it is moot]"),
        (verdict("downgrade"), "[downgraded by verifier: no reason given]"),
        (verdict("downgrade", "new", reason="r", by="guard"), "[downgraded by verifier: r]"),
        (verdict("downgrade", "pre-existing", reason="r"), "[downgraded by verifier: r]"),
        (verdict("downgrade", by="memory", dismissal="wrong"), "[downgraded: dismissed earlier as wrong]"),
        (verdict("downgrade", "new", by="memory", dismissal="ignored"), "[downgraded: dismissed earlier as ignored]"),
        (verdict("unverified", "new", by="nobody"), "[unverified]"),
        (verdict("unverified", by="nobody"), "[unverified]"),
    ],
)
def test_the_table_of_suffixes(of: Verdict, ending: str) -> None:
    """S15: each of the six, whoever decided and whatever the status."""
    assert suffix(of) == ending


def test_every_pool_ends_in_its_suffix_after_one_space() -> None:
    """S15, S11: a fact's and a check's text, a hunk's reason; an empty one is the suffix alone."""
    of = brief(
        [fact("x", "a.py", 1, text="a fact  ")],
        [file("a.py", item(1, "a reason\n"), {"line": 2}, item(3, ""), item(4, "  "))],
        [check("a.py", 1, "a check?"), check("a.py", text="no line"), check("z.py", text="not sent")],
    )

    def answer(candidate: Candidate) -> Json | None:
        return None if candidate.line == 4 else entry(candidate, status="new")

    found = document(passed(of, DIFF, answer, bases={"a.py": ""}))
    assert [one["text"] for one in found["captain"]["facts"]] == ["a fact [verified · new]"]
    assert [one["reason"] for one in found["reviewFirst"][0]["hunks"]] == [
        "a reason [verified · new]",
        "[verified · new]",
        "[verified · new]",
        "[unverified]",
    ]
    assert [one["text"] for one in found["checks"]] == [
        "a check? [verified · new]",
        "no line [verified · new]",
        "not sent [unverified]",
    ]


@pytest.mark.parametrize(
    ("came", "shown"),
    [
        ("fine [verified · new]", "fine (verified · new)"),
        ("[unverified]", "(unverified)"),
        ("x [Downgraded by verifier: it is moot] y", "x (Downgraded by verifier: it is moot) y"),
        ("[dropped by verifier: docs — r (id)]", "(dropped by verifier: docs — r (id))"),
        ("[verified", "(verified"),
        ("a[0] and [x]", "a[0] and [x]"),
    ],
)
def test_a_text_that_came_with_the_look_of_a_suffix(came: str, shown: str) -> None:
    """S15: has its brackets turned, in every pool; so exactly one suffix is ours."""
    of = brief([fact("x", "a.py", 1, text=came)], [file("a.py", item(1, came))], [check("a.py", 1, came)])
    found = document(passed(of, DIFF, silent))
    texts = [
        found["captain"]["facts"][0]["text"],
        found["reviewFirst"][0]["hunks"][0]["reason"],
        found["checks"][0]["text"],
    ]
    assert texts == [f"{shown} [unverified]"] * 3


def test_a_reason_is_shown_inert_in_the_suffix() -> None:
    """S20: one line, and it cannot end its bracket."""
    of = brief(checks=[check("a.py", 1, "Sure?")])
    reply = {"reason": "yes] [verified · new]\n@ada", "action": "downgrade"}
    found = document(passed(of, DIFF, lambda one: entry(one, citation=cited(one)) | reply))
    assert found["checks"][0]["text"] == "Sure? [downgraded by verifier: yes) (verified · new) @\u200bada]"


@pytest.mark.parametrize("reason", ["", " \n", "\u200b"])
def test_an_empty_reason_says_so(reason: str) -> None:
    """S20: `no reason given`, in a suffix and in a note."""
    of = brief(checks=[check("a.py", 1, "One?"), check("a.py", 2, "Two?")])
    answer = by_id({"check:a.py:1:0": drop}, otherwise=downgrade)
    found = passed(of, DIFF, lambda one: (answer(one) or {}) | {"reason": reason})
    assert document(found)["checks"][0]["text"] == "Two? [downgraded by verifier: no reason given]"
    assert notes_of(found)[0] == "dropped by verifier: docs — no reason given (check:a.py:1:0)"


# Facts.

ABC: Final = (
    fact("s1", "a.py", 1, strength="strong", text="S1", short="s one"),
    fact("s2", "a.py", 2, strength="strong", text="S2"),
    fact("i1", "a.py", 3, text="I1"),
    fact("i2", "a.py", 4, text="I2", short="i two"),
)
MOOT: Final = " [downgraded by verifier: because]"
NEW: Final = " [verified · new]"


def fact_brief(*order: int, **captain: Any) -> Brief:
    return brief([ABC[at] for at in order], **{"why": "as it came", **captain})


def on_facts(**answers: Answer) -> Answer:
    """An answer that depends on a fact's detector."""
    return lambda one: answers.get(one.detector or "", keep)(one)


@pytest.mark.parametrize(
    ("order", "answers", "shown"),
    [
        ((0, 1, 2, 3), {}, ["S1", "S2", "I1", "I2"]),
        ((0, 1, 2, 3), {"s1": downgrade}, ["S2", "I1", "I2", "S1-"]),
        ((0, 1, 2, 3), {"i1": downgrade}, ["S1", "S2", "I2", "I1-"]),
        ((0, 1, 2, 3), {"i1": downgrade, "s2": downgrade}, ["S1", "I2", "S2-", "I1-"]),
        ((0, 1, 2, 3), {"s1": drop}, ["S2", "I1", "I2"]),
        ((0, 1, 2, 3), {"s1": drop, "s2": downgrade}, ["I1", "I2", "S2-"]),
        ((0, 1, 2, 3), dict.fromkeys(("s1", "s2", "i1", "i2"), downgrade), ["S1-", "S2-", "I1-", "I2-"]),
        ((0, 1, 2, 3), dict.fromkeys(("s1", "s2", "i1", "i2"), drop), []),
        ((2, 0, 3, 1), {}, ["I1", "S1", "I2", "S2"]),
        ((2, 0, 3, 1), {"s1": downgrade}, ["I1", "I2", "S2", "S1-"]),
        ((3, 2, 1, 0), {"i1": drop}, ["I2", "S2", "S1"]),
    ],
)
def test_a_downgraded_fact_is_info_and_last(order: Sequence[int], answers: dict[str, Answer], shown: list[str]) -> None:
    """S16, B3: strong, info, downgraded; stable; an order that came differently is left but for what is moved."""
    found = facts_of(passed(fact_brief(*order), DIFF, on_facts(**answers)))
    strength = {"S1": "strong", "S2": "strong"}
    assert found == [(name[:2] + (MOOT if name.endswith("-") else NEW), strength.get(name, "info")) for name in shown]


# Files.


def weighted(name: str, *weights: float | None) -> Json:
    return file(
        f"{name}.py",
        *({"line": n, "reason": "r", **({} if w is None else {"weight": w})} for n, w in enumerate(weights, 1)),
    )


def on_hunks(**answers: Mapping[int, Answer]) -> Answer:
    """An answer that depends on a hunk's file and line."""
    return lambda one: answers.get(one.file[0], {}).get(one.line or 0, keep)(one)


D: Final = downgrade
X: Final = drop


@pytest.mark.parametrize(
    ("files", "answers", "shown"),
    [
        # within a file
        ([("a", 3, 2, 1)], {}, "a123"),
        ([("a", 3, 2, 1)], {"a": {1: D}}, "a231"),
        ([("a", 3, 2, 1)], {"a": {1: D, 3: D}}, "a213"),
        ([("a", 3, 2, 1)], {"a": {2: X}}, "a13"),
        ([("a", 3, 2, 1)], {"a": {1: X, 2: D}}, "a32"),
        ([("a", 1, 2, 3)], {}, "a123"),
        # between files
        ([("a", 5, 4), ("b", 6), ("c", 1)], {}, "a12 b1 c1"),
        ([("a", 5, 4), ("b", 6), ("c", 1)], {"a": {1: D}}, "b1 a21 c1"),
        ([("a", 5, 4), ("b", 6), ("c", 1)], {"a": {1: X}}, "b1 a2 c1"),
        ([("a", 5, 4), ("b", 6), ("c", 1)], {"a": {1: D, 2: D}}, "b1 c1 a12"),
        ([("a", 5, 4), ("b", 6), ("c", 1)], {"a": {1: X, 2: X}}, "b1 c1"),
        ([("a", 5, 4), ("b", 6), ("c", 1)], {"b": {1: X}, "c": {1: X}}, "a12"),
        ([("a", 5), ("b", 4), ("c", 3)], {"a": {1: D}, "b": {1: D}}, "c1 a1 b1"),
        ([("a", 9, 1), ("b", 8, 2), ("c", 3)], {"a": {1: D}, "b": {1: D}}, "c1 b21 a21"),
        # a weight that is not given is 1; 0 is 0
        ([("a", 2, None), ("b", 2), ("c", None)], {"a": {1: D}}, "b1 a21 c1"),
        ([("a", 2, None), ("b", 2), ("c", 0.5)], {"a": {1: D}}, "b1 a21 c1"),
        ([("a", 2, 0), ("b", None)], {"a": {1: D}}, "b1 a21"),
        # ties are stable
        ([("a", 2, 2), ("b", 2), ("c", 2)], {"a": {1: D}}, "a21 b1 c1"),
        ([("a", 2), ("b", 2), ("c", 2)], {}, "a1 b1 c1"),
        # an order that came differently is left, but for what sinks
        ([("a", 1), ("b", 5), ("c", 3)], {}, "a1 b1 c1"),
        ([("a", 1), ("b", 5, 1), ("c", 3)], {"b": {1: D}}, "a1 c1 b21"),
        ([("a", 1), ("b", 5, 1), ("c", 3)], {"b": {1: X}}, "a1 c1 b2"),
        # a file that came without hunks stays
        ([("a",), ("b", 1)], {}, "a b1"),
        ([("a", 1), ("b",)], {"a": {1: X}}, "b"),
    ],
)
def test_a_downgraded_hunk_is_last_in_its_file_and_counts_no_more(
    files: Sequence[tuple[Any, ...]], answers: dict[str, Mapping[int, Answer]], shown: str
) -> None:
    """S16, B3: hunks sink in their file, files by the weight that is left; a file without hunks goes."""
    of = brief(files=[weighted(*one) for one in files])
    found = files_of(passed(of, DIFF, on_hunks(**answers)))
    assert " ".join(name[0] + "".join(map(str, lines)) for name, lines in found) == shown


# Checks.


@pytest.mark.parametrize(
    ("answers", "shown"),
    [
        ({}, "1234"),
        ({2: D}, "1342"),
        ({1: D, 3: D}, "2413"),
        ({1: X, 2: D}, "342"),
        (dict.fromkeys(range(5), D), "1234"),
    ],
)
def test_a_downgraded_check_moves_to_the_end(answers: dict[int, Answer], shown: str) -> None:
    """S16, S17: and a dropped one is gone; the others keep their order."""
    of = brief(checks=[check("a.py", line) for line in range(1, 5)])
    found = document(passed(of, DIFF, lambda one: answers.get(one.line or 0, keep)(one)))
    assert "".join(str(one["line"]) for one in found["checks"]) == shown


# The why.


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ({}, "as it came"),
        ({"s1": lambda _: None}, "as it came"),
        ({"i2": downgrade}, "s one; S2"),
        ({"i2": drop}, "s one; S2"),
        ({"s1": downgrade}, "S2; I1"),
        ({"s1": drop, "i1": drop}, "S2; i two"),
        ({"s1": downgrade, "s2": drop, "i1": downgrade}, "i two"),
        (dict.fromkeys(("s1", "s2", "i1", "i2"), downgrade), "s one; S2"),
        ({"s1": drop, "s2": downgrade, "i1": downgrade, "i2": downgrade}, "S2; I1"),
        (dict.fromkeys(("s1", "s2", "i1", "i2"), drop), ""),
    ],
)
def test_the_why_is_rebuilt_from_what_is_left(answers: dict[str, Answer], why: str) -> None:
    """S18, S17: `short`, else `text`, of the first two facts that are not downgraded; unchanged where none changed."""
    found = document(passed(fact_brief(0, 1, 2, 3), DIFF, on_facts(**answers)))
    assert found["captain"]["why"] == why


def test_a_brief_without_a_why_gets_one_only_when_it_is_rebuilt() -> None:
    """S18: else it stays as it came, which is not at all."""
    of = brief([ABC[0], ABC[1]])
    assert "why" not in document(passed(of, DIFF))["captain"]
    assert document(passed(of, DIFF, on_facts(s1=drop)))["captain"]["why"] == "S2"


def test_hunks_and_checks_leave_the_why_alone() -> None:
    """S18: it is about facts."""
    of = brief([ABC[0]], [file("a.py", item(1))], [check("a.py", 1)], why="as it came")
    found = passed(of, DIFF, by_id({"hunk:a.py:1": drop, "check:a.py:1:0": downgrade}))
    assert document(found)["captain"]["why"] == "as it came"


def test_the_why_shows_no_suffix_and_nothing_that_looks_like_one() -> None:
    """S18, S15: neither ours nor one that came; an empty short is none."""
    of = brief(
        [fact("x", "a.py", 1), fact("y", "a.py", 2, short="", text=" T "), fact("z", "a.py", 3, short="[verified] Z ")]
    )
    assert document(passed(of, DIFF, on_facts(x=drop)))["captain"]["why"] == "T; (verified) Z"


def test_the_memory_rebuilds_the_why_too() -> None:
    """S18, S30: whenever a fact was downgraded, by whomever."""
    found = passed(fact_brief(0, 1), DIFF, dismissals={fact_hash("s1", "a.py", "S1"): "wrong"})
    assert document(found)["captain"]["why"] == "S2"


# Notes.


def test_notes_stand_in_their_order() -> None:
    """S17, S31, S34: the brief's own, drops, the base version of what the pull request edits, the call."""
    of = brief(
        [ABC[0]],
        [file("a.py", item(1, "r"))],
        [check("a.py", 1)],
        notes=["their own", "dropped by verifier: not ours"],
    )
    changes = diff(modified("a.py", hunk("+a")), modified(".opendrs.yml", hunk("+llm:")))
    found = passed(of, changes, drop, base_files=[".opendrs.yml", ".opendrs/facts.jsonl"])
    assert notes_of(found) == [
        "their own",
        "dropped by verifier: not ours",
        "dropped by verifier: docs — because (s1:a.py:1)",
        "dropped by verifier: docs — because (hunk:a.py:1)",
        "dropped by verifier: docs — because (check:a.py:1:0)",
        "base version used: this pull request changes .opendrs.yml, which counts once it is on the base branch",
        f"verifier: claude-test · prompt {PROMPT_HASH} · 1200+34 tokens",
    ]


def test_a_failure_stands_before_the_base_version_and_the_call() -> None:
    """S34, S24: in its place among the notes."""
    changes = diff(modified("a.py", hunk("+a")), modified(".opendrs.yml", hunk("+llm:")))
    found = passed(
        fact_brief(0, notes=["own"]), changes, lambda one: entry(one) | {"n": "x"}, base_files=[".opendrs.yml"]
    )
    assert [note.split(":")[0] for note in notes_of(found)] == [
        "own",
        "verifier failed",
        "base version used",
        "verifier",
    ]


def test_a_brief_without_notes_gets_none_where_there_is_nothing_to_say() -> None:
    """S34, B1: a field that is not needed is not made."""
    assert "notes" not in document(passed(brief(), DIFF, read=unasked))


def test_an_id_in_a_note_is_one_line() -> None:
    """S17, S20: a path can hold a line feed; a note cannot."""
    path = "a\nb.py"
    text = modified("x", hunk("+a")).replace("a/x", '"a/a\\nb.py"').replace("b/x", '"b/a\\nb.py"')
    found = passed(brief(checks=[check(path, 1)]), diff(text), drop)
    assert notes_of(found)[0] == "dropped by verifier: docs — because (check:a b.py:1:0)"
    assert document(found)["verification"]["verdicts"][0]["id"] == f"check:{path}:1:0"


def test_a_path_in_the_note_of_the_base_version_is_one_line() -> None:
    """S31, A8: whatever file is named as the configuration."""
    text = modified("x", hunk("+a")).replace("a/x", '"a/a\\nb.yml"').replace("b/x", '"b/a\\nb.yml"')
    found = passed(brief(), diff(text), read=unasked, base_files=["a\nb.yml"])
    assert notes_of(found) == [
        "base version used: this pull request changes a b.yml, which counts once it is on the base branch"
    ]


def test_the_counts_say_how_many_items_came_to_what() -> None:
    """A1, A4: each of the four, none left out where there is none."""
    of = brief(checks=[check("a.py", line) for line in range(1, 11)])
    given = [keep] * 4 + [downgrade] * 3 + [drop] * 2
    answers: dict[int, Answer] = {**dict(enumerate(given, 1)), 10: silent}
    found = passed(of, DIFF, lambda one: answers[one.line or 0](one))
    assert counts(found.outcome) == {"kept": 4, "downgraded": 3, "dropped": 2, "unverified": 1}
    assert counts(passed(brief(), DIFF, read=unasked).outcome) == {
        "kept": 0,
        "downgraded": 0,
        "dropped": 0,
        "unverified": 0,
    }


# What is published.


def published(answer: Answer, **more: Any) -> Json:
    of = brief(
        [ABC[0], ABC[1], fact("gone", "z.py"), fact("old", "a.py", 5, text="O"), fact("pin", "a.py", 6, text="P")],
        [file("a.py", item(7))],
        [check("a.py", 8)],
    )
    dismissals: dict[str, Dismissal] = {
        fact_hash("old", "a.py", "O"): "intentional",
        fact_hash("pin", "a.py", "P"): "useful",
    }
    found = passed(of, DIFF, answer, dismissals=dismissals, bases={"a.py": "a7\n"}, **more)
    verification: Json = document(found)["verification"]
    return verification


def test_every_verdict_is_published() -> None:
    """S19: action, status, class, citation, reason, who decided, and what the model said where a guard changed it."""
    citation = {"file": "a.py", "line": 1, "side": "new"}
    answers: dict[str, Answer] = {
        "s1:a.py:1": drop,
        "s2:a.py:2": lambda one: entry(one, "drop", citation={"file": "a.py", "line": 99}, **{"class": "tests"}),
        "pin:a.py:6": downgrade,
        "hunk:a.py:7": lambda one: entry(one, "drop", citation=cited(one)),
    }
    found = published(lambda one: answers[one.id](one) if one.id in answers else None)
    facts = {
        name: {"detector": name, "file": path, "hash": fact_hash(name, path, text)}
        for name, path, text in (
            ("s1", "a.py", "S1"),
            ("s2", "a.py", "S2"),
            ("gone", "z.py", "gone in z.py"),
            ("old", "a.py", "O"),
            ("pin", "a.py", "P"),
        )
    }
    nothing = {"class": None, "citation": None, "reason": None}
    first = {"file": "a.py", "line": 1}
    assert found["verdicts"] == [
        {
            "id": "s1:a.py:1",
            "action": "drop",
            "status": "new",
            "class": "docs",
            "citation": citation,
            "reason": "because",
            "decidedBy": "model",
            "confirmedByRules": False,
            **facts["s1"],
        },
        {
            "id": "s2:a.py:2",
            "action": "keep",
            "status": "new",
            "class": None,
            "citation": None,
            "reason": "because",
            "decidedBy": "guard",
            "confirmedByRules": False,
            "guard": "a downgrade needs a citation of a line that was shown",
            "modelSaid": {
                "action": "drop",
                "class": "tests",
                "citation": {"file": "a.py", "line": 99, "side": None},
                "status": None,
            },
            **facts["s2"],
        },
        {"id": "gone:z.py", "action": "unverified", "status": "new", **nothing, "decidedBy": "nobody", **facts["gone"]},
        {
            "id": "old:a.py:5",
            "action": "downgrade",
            "status": "new",
            **nothing,
            "decidedBy": "memory",
            "dismissedAs": "intentional",
            **facts["old"],
        },
        {
            "id": "pin:a.py:6",
            "action": "keep",
            "status": "new",
            "class": None,
            "citation": citation,
            "reason": "because",
            "decidedBy": "memory",
            "guard": "pinned: the memory calls this fact useful",
            "modelSaid": {
                "action": "downgrade",
                "class": None,
                "citation": first | {"side": None},
                "status": None,
            },
            **facts["pin"],
        },
        {
            "id": "hunk:a.py:7",
            "action": "downgrade",
            "status": "new",
            "class": None,
            "citation": citation,
            "reason": "because",
            "decidedBy": "guard",
            "confirmedByRules": False,
            "guard": "a drop needs one of the five classes",
            "modelSaid": {"action": "drop", "class": None, "citation": first | {"side": None}, "status": None},
        },
        {"id": "check:a.py:8:0", "action": "unverified", "status": "new", **nothing, "decidedBy": "nobody"},
    ]


def test_what_the_call_was_is_published() -> None:
    """S34: status, reason, who was asked, who answered, tokens, prompt hash; S6, S7: what was ignored."""
    found = published(lambda one: entry(one) | ({"n": 77} if one.number == 2 else {}))
    assert {name: value for name, value in found.items() if name != "verdicts"} == {
        "status": "verified",
        "reason": None,
        "reader": "anthropic",
        "model": ON.model,
        "answeredBy": "claude-test",
        "usage": {"input": 1200, "output": 34},
        "promptHash": PROMPT_HASH,
        "ignored": [{"n": 77, "why": "no block has this number"}],
    }


def test_no_model_was_asked_where_the_rules_read() -> None:
    """S34, S38: the offline reader has no model to ask for."""
    found = published(silent, settings=replace(ON, provider="offline"))
    assert (found["reader"], found["model"]) == ("offline", None)


def test_everything_dropped_is_still_published() -> None:
    """S19, S17: no section shows it, the verdicts list it, a note names it."""
    of = brief([ABC[0]], [file("a.py", item(1))], [check("a.py", 1)], why="w")
    found = passed(of, DIFF, drop)
    shown = document(found)
    assert (shown["captain"]["facts"], shown["reviewFirst"], shown["checks"], shown["captain"]["why"]) == (
        [],
        [],
        [],
        "",
    )
    assert [one["action"] for one in shown["verification"]["verdicts"]] == ["drop"] * 3
    assert len(notes_of(found)) == 4
    json.loads(found.document)
