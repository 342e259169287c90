"""The pass as a whole: it fails open, in the order of section 6; and what holds for any reply whatever."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.material import (
    ON,
    Held,
    Json,
    brief,
    candidates,
    check,
    created,
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
    patient,
    reader,
    renamed,
    saying,
    silent,
    unasked,
)
from verifier import lossless
from verifier.brief.document import Brief, read_brief
from verifier.brief.ids import item_ids
from verifier.brief.markdown import brief_markdown
from verifier.comment import comment
from verifier.text import fact_hash, one_line
from verifier.verification.model import (
    UNREADABLE,
    BaseText,
    Dismissal,
    Failed,
    Question,
    Reader,
    ReaderError,
    Reply,
    Usage,
    WrongQuestion,
)
from verifier.verification.prompt import PROMPT_HASH, SYSTEM
from verifier.verification.verify import Verified, ask, conclude, prepare, verify

DIFF: Final = diff(
    modified("a.py", hunk(" one", "-two", "+zwei", "+drei")),
    renamed("old.py", "new.py", hunk("-x", "+y")),
    created("docs/n.md", hunk("+# N", old=0)),
)
OLD: Final = fact("old", "a.py", 2, strength="strong", text="Old news", short="old")
FULL: Final = brief(
    [OLD, fact("f", "a.py", 3, text="F")], [file("a.py", item(1, "H"))], [check("a.py", 2, "C?")], why="as it came"
)
DISMISSED: Final[dict[str, Dismissal]] = {fact_hash("old", "a.py", "Old news"): "wrong"}
CALL: Final = f"verifier: claude-test · prompt {PROMPT_HASH} · 1200+34 tokens"


AGAIN: Final = "; run it again, or name another model in llm.model"
REPORT: Final = "; please report it with the run's record"


def texts(verified: Verified) -> list[str]:
    """Every text as it is shown, in order."""
    found = document(verified)
    hunks = [one["reason"] for shown in found["reviewFirst"] for one in shown["hunks"]]
    return [one["text"] for one in found["captain"]["facts"]] + hunks + [one["text"] for one in found["checks"]]


def notes(verified: Verified) -> list[str]:
    return document(verified).get("notes", [])  # type: ignore[no-any-return]


UNVERIFIED: Final = ["Old news [unverified]", "F [unverified]", "H [unverified]", "C? [unverified]"]


def failing(reason: str, **more: Any) -> Reader:
    def read(_: Question) -> Reply:
        raise ReaderError(reason, **more)

    return read


def broken(_: Question) -> Reply:
    raise ZeroDivisionError("secret of the machine")


# Failure: everything unverified, one note, as it came.


@pytest.mark.parametrize("reason", ["memory: line 3 cannot be used. ", "configuration: line 1, column 2: no."])
def test_trouble_before_the_pass_fails_open(reason: str) -> None:
    """S24: configuration and memory; nothing is asked, nothing moves, the memory's downgrades are not applied."""
    found = passed(FULL, DIFF, read=unasked, dismissals=DISMISSED, trouble=reason)
    assert found.outcome.status == "failed"
    assert texts(found) == UNVERIFIED
    assert notes(found) == [f"verifier failed: {reason.rstrip('. ')}; everything below is unverified"]
    assert document(found)["captain"]["why"] == "as it came"
    assert document(found)["captain"]["facts"][0]["strength"] == "strong"


def test_trouble_costs_no_look_at_the_base() -> None:
    """S24, A3: nothing is fetched for a pass that cannot be."""
    evidence = Held(DIFF)
    verify(FULL, evidence, {}, ON, unasked, trouble="x")
    assert evidence.asked == []


@pytest.mark.parametrize(
    ("read", "note", "call"),
    [
        (failing("no key: set ANTHROPIC_API_KEY.", asked=False), "no key: set ANTHROPIC_API_KEY", None),
        (
            failing("the model refused"),
            "the model refused",
            f"verifier: {ON.model} · prompt {PROMPT_HASH} · ?+? tokens",
        ),
        (
            failing("the reply was truncated", model="claude-other", usage=Usage(7, 8)),
            "the reply was truncated",
            f"verifier: claude-other · prompt {PROMPT_HASH} · 7+8 tokens",
        ),
        (failing(""), "no reason was given", f"verifier: {ON.model} · prompt {PROMPT_HASH} · ?+? tokens"),
        (
            failing("two\nlines @ada ::error::"),
            "two lines @\u200bada ::\u200berror::",
            f"verifier: {ON.model} · prompt {PROMPT_HASH} · ?+? tokens",
        ),
        (
            broken,
            f"unexpected ZeroDivisionError while asking the reader{REPORT}",
            f"verifier: {ON.model} · prompt {PROMPT_HASH} · ?+? tokens",
        ),
        (
            saying("I am sorry."),
            f"the reply is not JSON (line 1, column 1: expected value){AGAIN}",
            CALL,
        ),
        (
            saying('{"verdicts": null}'),
            f"the reply does not fit its schema (verdicts: Input should be a valid list){AGAIN}",
            CALL,
        ),
    ],
)
def test_a_reader_that_fails_fails_open(read: Reader, note: str, call: str | None) -> None:
    """S24, S34: everything unverified, the memory's downgrades taken back, the cost recorded, the note says why."""
    found = passed(FULL, DIFF, read=read, dismissals=DISMISSED)
    assert found.outcome.status == "failed"
    assert texts(found) == UNVERIFIED
    assert notes(found) == [f"verifier failed: {note}; everything below is unverified", *([call] if call else [])]
    assert document(found)["captain"]["why"] == "as it came"
    assert all(one["decidedBy"] == "nobody" for one in document(found)["verification"]["verdicts"])


def test_tokens_of_a_failed_call_are_recorded() -> None:
    """S24, S34: who answered and what it cost, also for a reply that cannot be parsed."""
    for read, answered, usage in (
        (failing("x", model="m", usage=Usage(7, 8)), "m", {"input": 7, "output": 8}),
        (saying("no", "m2"), "m2", {"input": 1200, "output": 34}),
        (failing("x"), None, None),
    ):
        found = document(passed(FULL, DIFF, read=read))["verification"]
        assert (found["status"], found["answeredBy"], found["usage"]) == ("failed", answered, usage)


def test_the_comment_shows_a_failure_unfolded() -> None:
    """S24: loudly."""
    found = passed(FULL, DIFF, read=failing("no key"))
    shown = comment(FULL, found.layout, found.outcome)
    assert "no key" in shown.partition("<details>")[0]
    assert "[unverified]" in shown


def test_a_long_reason_leaves_room_for_what_to_do() -> None:
    """S24: each reason says what to do, however long the reply's own words are."""
    (note, _) = notes(passed(FULL, DIFF, read=saying('{"' + "x" * 5000 + '": 1, "' + "x" * 5000 + '": 2}')))
    assert note.endswith(f"{AGAIN}; everything below is unverified")


class Breaking(dict[str, Any]):
    """A mapping that breaks when it is asked: what nobody expects of evidence or memory."""

    def get(self, *_: Any) -> Any:
        raise ZeroDivisionError


@pytest.mark.parametrize("where", ["bases", "dismissals"])
def test_an_unexpected_error_while_making_the_prompt_fails_open(where: str) -> None:
    """S24: whatever goes wrong in the prompt's making, the brief is shown."""

    class Broken(Held):
        def base_texts(self, paths: frozenset[str]) -> Mapping[str, BaseText]:
            return Breaking() if where == "bases" else super().base_texts(paths)

    found = verify(FULL, Broken(DIFF), Breaking() if where == "dismissals" else {}, ON, unasked)
    assert texts(found) == UNVERIFIED
    assert notes(found) == [
        f"verifier failed: unexpected ZeroDivisionError while making the prompt{REPORT}; everything below is unverified"
    ]


def test_a_failure_takes_the_memory_back_however_late_it_comes() -> None:
    """S24: candidates that are ready, their dismissals with them, are unverified like all others."""
    case = prepare(FULL, Held(DIFF), DISMISSED, ON)
    assert any(one.dismissal for one in case.candidates)
    assert texts(conclude(replace(case, failure="late", prompt=None), None)) == UNVERIFIED


@pytest.mark.parametrize("answer", [Reply(None, "m", None), None])  # type: ignore[arg-type]
def test_an_answer_that_is_none_fails_open(answer: Any) -> None:
    """S24: a reader with a fault of its own."""
    found = passed(FULL, DIFF, read=lambda _: answer)
    assert texts(found) == UNVERIFIED
    assert notes(found)[0].startswith("verifier failed: unexpected ")


def test_an_unexpected_error_while_reading_the_reply_fails_open() -> None:
    """S24: a recorded answer of the wrong kind."""
    found = conclude(prepare(FULL, Held(DIFF), {}, ON), Reply(None, "m", Usage(1, 2)))  # type: ignore[arg-type]
    assert texts(found) == UNVERIFIED
    assert "unexpected TypeError while reading the reply" in notes(found)[0]
    assert document(found)["verification"]["usage"] == {"input": 1, "output": 2}


def test_text_that_no_file_can_hold_is_mended_at_the_door() -> None:
    """S24, A8: a lone surrogate in a reply, a model's name or a reason."""
    for read in (saying('{"verdicts": "\ud800"}', "m\ud800"), failing("r\ud800", model="m\ud800")):
        found = passed(FULL, DIFF, read=read)
        assert document(found)["verification"]["answeredBy"] == "m?"
        assert isinstance(found.answer, (Reply, Failed))
        assert "\ud800" not in repr(found.answer)
    trouble = passed(FULL, DIFF, read=unasked, trouble="in \udcff")
    trouble.document.encode("utf-8")
    assert trouble.case.failure == "in ?"


def test_a_wrong_question_is_the_callers_to_hear() -> None:
    """S38: a record of another prompt is a wrong input, no failure of the pass."""

    def read(_: Question) -> Reply:
        raise WrongQuestion("another one")

    with pytest.raises(WrongQuestion):
        passed(FULL, DIFF, read=read)


def test_what_the_evidence_raises_passes_through() -> None:
    """A6: without a diff there is no content to decide on."""

    class NoDiff(Held):
        def diff(self) -> Any:
            raise OSError("no diff")

    with pytest.raises(OSError, match="no diff"):
        verify(FULL, NoDiff(DIFF), {}, ON, unasked)


# Skips, and nothing to send.

QUICK: Final = brief(
    [fact("old", "a.py", 2, text="Old news", short="old"), fact("f", "a.py", 3, text="F")],
    priority="quick confirm",
    why="as it came",
)
QUICK_NOTE: Final = "verifier skipped: quick-confirm PR with only info facts"


def test_a_quick_confirm_is_skipped_and_the_memory_applies() -> None:
    """S25: it needs no call."""
    found = passed(QUICK, DIFF, read=unasked, dismissals=DISMISSED)
    assert found.outcome.status == "skipped"
    assert texts(found) == ["F [unverified]", "Old news [downgraded: dismissed earlier as wrong]"]
    assert notes(found) == [QUICK_NOTE]
    assert document(found)["captain"]["why"] == "F"
    assert document(found)["captain"]["priority"] == "quick confirm"


@pytest.mark.parametrize(
    ("of", "skipped"),
    [
        (brief([fact("f", "a.py", 3)], priority="quick confirm"), True),
        (brief([], priority="quick confirm"), True),
        (brief([fact("f", "a.py", 3)], [file("a.py")], priority="quick confirm"), True),
        (brief([fact("f", "a.py", 3, strength="strong")], priority="quick confirm"), False),
        (brief([fact("f", "a.py", 3)], [file("a.py", item(1))], priority="quick confirm"), False),
        (brief([fact("f", "a.py", 3)], checks=[check("a.py")], priority="quick confirm"), False),
        (brief([fact("f", "a.py", 3)], priority="careful"), False),
        (brief([fact("f", "a.py", 3)], priority="Quick Confirm"), False),
        (brief([fact("f", "a.py", 3)], priority=["quick confirm"]), False),
        (brief([fact("f", "a.py", 3)], priority=None), False),
        (brief([fact("f", "a.py", 3)]), False),
    ],
)
def test_what_a_quick_confirm_is(of: Brief, skipped: bool) -> None:
    """S25, B1: that priority, no strong fact, both other pools empty."""
    found = passed(of, DIFF)
    assert (found.outcome.status == "skipped") is skipped
    assert (found.answer is None) is skipped


@pytest.mark.parametrize(
    ("of", "dismissals", "status", "shown", "note"),
    [
        (brief(), {}, "verified", [], []),
        (brief([OLD]), DISMISSED, "verified", ["Old news [downgraded: dismissed earlier as wrong]"], []),
        (
            brief([OLD], checks=[check("z.py", 1, "Z?")]),
            DISMISSED,
            "skipped",
            ["Old news [downgraded: dismissed earlier as wrong]", "Z? [unverified]"],
            ["verifier skipped: nothing to send; no item rests on a line of the diff"],
        ),
        (
            brief([fact("u", "z.py", 1, text="U")]),
            {fact_hash("u", "z.py", "U"): "useful"},
            "skipped",
            ["U [unverified]"],
            ["verifier skipped: nothing to send; no item rests on a line of the diff"],
        ),
    ],
)
def test_where_nothing_is_left_to_send_no_call_is_made(
    of: Brief, dismissals: dict[str, Dismissal], status: str, shown: list[str], note: list[str]
) -> None:
    """S26, S8, S30: no call, no key, no line about a call; what nobody decided is said to be so."""
    found = passed(of, DIFF, read=unasked, dismissals=dismissals)
    assert found.outcome.status == status
    assert texts(found) == shown
    assert notes(found) == note


def test_too_many_tokens_leave_everything_unverified() -> None:
    """S27: as in S24, the memory's downgrades taken back."""
    found = passed(FULL, DIFF, read=unasked, dismissals=DISMISSED, settings=replace(ON, max_tokens=10))
    assert found.outcome.status == "skipped"
    assert texts(found) == UNVERIFIED
    (note,) = notes(found)
    assert note.startswith("verifier skipped: prompt of ")
    assert note.endswith(" tokens exceeds llm.verify.maxTokens (10)")
    assert document(found)["captain"]["why"] == "as it came"


# The memory and the call.


def test_the_memory_needs_no_answer_and_the_rest_is_asked() -> None:
    """S30: the dismissed fact is not shown to the reader and is downgraded by the memory."""
    asked: list[str] = []

    def answer(candidate: Any) -> Json:
        asked.append(candidate.id)
        return keep(candidate)

    found = passed(FULL, DIFF, answer, dismissals=DISMISSED)
    assert asked == ["f:a.py:3", "hunk:a.py:1", "check:a.py:2:0"]
    assert texts(found) == [
        "F [verified · new]",
        "Old news [downgraded: dismissed earlier as wrong]",
        "H [verified]",
        "C? [verified]",
    ]


@pytest.mark.parametrize("answer", [drop, downgrade])
def test_a_pinned_fact_is_kept(answer: Any) -> None:
    """S30: a drop or downgrade of it turns into keep."""
    found = passed(FULL, DIFF, answer, dismissals={fact_hash("old", "a.py", "Old news"): "useful"})
    assert texts(found)[0] == "Old news [verified · new]"
    assert document(found)["captain"]["facts"][0]["strength"] == "strong"


def test_one_question_with_everything() -> None:
    """S1, S33: one call, with the prompt, what it shows, and how to ask."""
    asked: list[Question] = []

    def read(question: Question) -> Reply:
        asked.append(question)
        return Reply('{"verdicts": []}', "m", None)

    found = passed(FULL, DIFF, read=read)
    (question,) = asked
    assert question.prompt.blocks == 4
    assert question.prompt.system == SYSTEM
    assert question.candidates == found.case.candidates
    assert question.settings == ON
    assert texts(found) == UNVERIFIED
    assert notes(found) == [f"verifier: m · prompt {PROMPT_HASH} · ?+? tokens"]


@pytest.mark.parametrize("wrong", [None, {"file": "a.py", "line": 99}, {"file": "z.py", "line": 1}])
def test_a_reply_that_drops_everything_without_evidence_changes_nothing(wrong: Json | None) -> None:
    """S13: with no citation, or with a wrong one, every drop ends as a keep."""
    found = passed(FULL, DIFF, lambda one: entry(one, "drop", citation=wrong, **{"class": "docs"}))
    assert texts(found) == texts(passed(FULL, DIFF, keep))
    assert document(found)["captain"]["why"] == "as it came"


def test_the_reader_is_asked_only_where_there_is_a_prompt() -> None:
    """S26: `ask` on a case without one."""
    assert ask(prepare(brief(), Held(DIFF), {}, ON), unasked) is None


# Every order of section 6.


def expected_note(trouble: bool, quick: bool, unsent: bool, small: bool, fails: bool) -> tuple[str, str | None]:
    """Status and start of the note, by the order of section 6: failure, skip, nothing to send, too large, the call."""
    if trouble:
        return "failed", "verifier failed: trouble"
    if quick:
        return "skipped", "verifier skipped: quick-confirm"
    if unsent:
        return "skipped", "verifier skipped: nothing to send"
    if small:
        return "skipped", "verifier skipped: prompt of"
    if fails:
        return "failed", "verifier failed: reader"
    return "verified", None


@pytest.mark.parametrize("trouble", [False, True])
@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("unsent", [False, True])
@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("fails", [False, True])
def test_failure_skip_nothing_to_send_limit_call(
    trouble: bool, quick: bool, unsent: bool, small: bool, fails: bool
) -> None:
    """S24, S25, S26, S27: in this order, and whether the memory stands with each."""
    path = "z.py" if unsent else "a.py"
    of = brief(
        [fact("old", "a.py", 2, text="Old news"), fact("f", path, 3, text="F")],
        checks=[] if quick else [check(path, 1, "C?")],
        priority="quick confirm" if quick else "careful",
    )
    found = passed(
        of,
        DIFF,
        read=failing("reader") if fails else reader(keep),
        dismissals=DISMISSED,
        settings=replace(ON, max_tokens=10) if small else ON,
        trouble="trouble" if trouble else None,
    )
    status, note = expected_note(trouble, quick, unsent, small, fails)
    assert found.outcome.status == status
    said = [one for one in notes(found) if not one.startswith("verifier: ")]
    assert [one[: len(note or "")] for one in said] == ([note] if note else [])
    open_ = status == "failed" or "prompt of" in (note or "")
    assert ("[downgraded: dismissed earlier as wrong]" in found.document) is not open_
    assert found.outcome.called is (found.answer is not None)
    assert (found.answer is not None) is (not (trouble or quick or unsent or small))
    if open_:
        assert all(text.endswith(" [unverified]") for text in texts(found))


# What holds for any reply whatever.

GATE: Final = ("score", "tier", "policy", "risky_snippets", "title", "future")
_RAW = st.sampled_from(
    [
        "62",
        "62.50",
        "1e2",
        "-0",
        "1E400",
        '"T\\u0032"',
        "null",
        '{"decision" : "human-review",\t"b":[1 ,2]}',
        "[ ]",
        '""',
    ]
)
_PATHS = st.sampled_from(["a.py", "a.py", "a.py", "new.py", "old.py", "docs/n.md", "z.py", "a:1"])
_LINES = st.integers(1, 4)
_CLAIMS = st.sampled_from(
    [
        "one",
        "two 2",
        "",
        "[verified]",
        "[[verified] [x [unverified]]",
        "x [unverified]",
        "\ud83d",
        "é\u202e",
        "@ada #1 <b>",
    ]
)
_FACTS = st.builds(
    lambda detector, path, line, strength, text, short, partner: fact(
        detector, path, line, strength=strength, text=text, short=short, partner=partner
    ),
    st.sampled_from(["d", "e:f", "coupling.missing"]),
    _PATHS,
    st.none() | _LINES,
    st.sampled_from(["strong", "info"]),
    _CLAIMS,
    _CLAIMS,
    _PATHS,
)
_HUNKS = st.builds(
    item,
    st.integers(0, 4),
    _CLAIMS,
    weight=st.sampled_from([0, 1, 2.5, 1e308, None]),
)
_FILES = st.builds(lambda path, hunks: file(path, *hunks), _PATHS, st.lists(_HUNKS, max_size=3))
_CHECKS = st.builds(check, _PATHS, st.none() | _LINES, _CLAIMS)


@st.composite
def briefs(draw: st.DrawFn) -> Brief:
    """Small briefs, their gate as raw as JSON can be."""
    top = {name: draw(_RAW) for name in draw(st.permutations(GATE)) if draw(st.booleans())}
    captain: dict[str, str] = {"priority": draw(_RAW | st.just('"quick confirm"'))}
    if draw(st.booleans()):
        captain["why"] = '"w\\u00e9"'
    captain["facts"] = json.dumps(draw(st.lists(_FACTS, max_size=4)))
    top |= {
        "captain": lossless.compose(captain),
        "reviewFirst": json.dumps(draw(st.lists(_FILES, max_size=3))),
        "checks": json.dumps(draw(st.lists(_CHECKS, max_size=3))),
    }
    if draw(st.booleans()):
        top["notes"] = '["own", "dropped by verifier: docs — own (one)"]'
    return read_brief(lossless.compose(top).encode())


_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
_REASONS = st.text(max_size=10) | st.sampled_from(["]", "] [verified · new]", "@ada", "x" * 300, "", "a\nb"])
_CITATIONS = st.none() | st.builds(lambda path, line: {"file": path, "line": line}, _PATHS, st.integers(-1, 5))
_SAID = st.fixed_dictionaries(
    {
        "n": st.integers(-1, 12),
        "kind": st.sampled_from(["hunk", "check", "fact d"]),
        "place": st.sampled_from(["a.py:1", "new.py", ""]),
        "reason": _REASONS,
        "citation": _CITATIONS,
        "action": st.sampled_from(["keep", "downgrade", "drop"]),
        "class": st.sampled_from([None, "docs", "tests", "fixtures", "generated", "formatting"]),
        "status": st.sampled_from([None, "new", "pre-existing"]),
    }
)


@st.composite
def replies(draw: st.DrawFn, of: Brief) -> str:
    """Replies: sane in form with right or random echoes and citations; random JSON; random text."""
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return draw(st.text())
    if kind == 1:
        return json.dumps(draw(_ANYTHING))
    said = draw(st.lists(_SAID, max_size=6))
    if kind > 2:
        numbered = {one.number: one for one in candidates(of, DIFF, BASES).values() if one.number}
        entries = [
            entry(numbered[one["n"]]) | {name: one[name] for name in one if name not in ("n", "kind", "place")}
            for one in said
            if one["n"] in numbered
        ]
        if kind > 4:
            proven = draw(st.lists(st.sampled_from([drop, downgrade, silent]), min_size=len(numbered)))
            meant = [answer(one) for one, answer in zip(numbered.values(), proven, strict=False)]
            entries += [one | {"reason": draw(_REASONS)} for one in meant if one]
        said = draw(st.permutations(entries))
    text = json.dumps({"verdicts": said})
    return text[: draw(st.integers(0, len(text)))] if kind == 3 else text


BASES: Final[dict[str, BaseText]] = {"a.py": "zwei\ndrei\n", "old.py": UNREADABLE, "new.py": "p"}
_DISMISSALS = st.dictionaries(
    st.sampled_from(
        [
            fact_hash(name, path, text)
            for name in ("d", "coupling.missing")
            for path in ("a.py", "z.py")
            for text in ("one", "")
        ]
    ),
    st.sampled_from(["wrong", "intentional", "ignored", "useful"]),
    max_size=3,
)
SUFFIX: Final = (
    r" ?\[(?:verified(?: · (?:new|pre-existing))?|downgraded by verifier: [^\[\]]+"
    r"|downgraded: dismissed earlier as (?:wrong|intentional|ignored)|unverified)\]"
)


def shown_ids(verified: Verified) -> Iterator[str]:
    layout = verified.layout
    yield from (one.id for one in layout.facts)
    yield from (one.id for shown in layout.files for one in shown.hunks)
    yield from (one.id for one in layout.checks)


@settings(patient, max_examples=300)
@given(st.data(), briefs(), _DISMISSALS, st.booleans(), st.sampled_from([40_000] * 9 + [10]))
def test_whatever_the_reply(
    data: st.DataObject, of: Brief, dismissals: dict[str, Any], strict: bool, max_tokens: int
) -> None:
    """S13, S15, S19, S21, S22: the gate is equal, nothing is raised, every candidate has one verdict, every surviving
    item one suffix, and no item is lost: what is not shown is in a drop note."""
    text = data.draw(replies(of))
    how = replace(ON, strict_drops=strict, max_tokens=max_tokens)
    found = passed(of, DIFF, read=saying(text), bases=BASES, dismissals=dismissals, settings=how)

    before, after = lossless.members(of.source), lossless.members(found.document)
    assert {name: after.get(name) for name in GATE} == {name: before.get(name) for name in GATE}
    assert [name for name in after if name in before] == list(before)
    captain = lossless.members(after["captain"])
    assert captain["priority"] == lossless.members(before["captain"])["priority"]

    every = item_ids(of).all()
    published = json.loads(after["verification"])["verdicts"]
    assert [one["id"] for one in published] == list(every)

    ours = re.compile(SUFFIX)
    for one in texts(found):
        endings = list(ours.finditer(one))
        assert [ending.end() for ending in endings] == [len(one)], one

    shown = list(shown_ids(found))
    dropped = [one["id"] for one in published if one["action"] == "drop"]
    assert sorted(shown + dropped) == sorted(every)
    for name in dropped:
        assert any(
            note.startswith("dropped by verifier: ") and note.endswith(f" ({one_line(name)})")
            for note in found.layout.notes
        )

    for rendered in (brief_markdown(of, found.layout), comment(of, found.layout, found.outcome)):
        rendered.encode("utf-8")
    read_brief(found.document.encode(), verified=True)


@patient
@given(st.data(), briefs())
def test_the_pass_is_a_function(data: st.DataObject, of: Brief) -> None:
    """S38: the same brief, evidence and reply give the same document, twice."""
    text = data.draw(replies(of))
    one, other = (passed(of, DIFF, read=saying(text), bases=BASES) for _ in range(2))
    assert one.document == other.document
    assert conclude(one.case, one.answer).document == one.document
