"""The record of a run: it replays byte for byte, and what is no sound record is refused with a sentence (S33, S38)."""

import json
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.material import (
    ON,
    Json,
    brief,
    by_id,
    check,
    diff,
    document,
    downgrade,
    drop,
    fact,
    file,
    hunk,
    item,
    keep,
    modified,
    passed,
    renamed,
    saying,
    unasked,
)
from verifier.brief.markdown import brief_markdown
from verifier.comment import comment
from verifier.readers.replay import replay_reader
from verifier.text import fact_hash
from verifier.verification.model import (
    MISSING,
    UNREADABLE,
    BaseText,
    Dismissal,
    Question,
    ReaderError,
    Reply,
    Usage,
)
from verifier.verification.prompt import PROMPT_HASH
from verifier.verification.record import BadRecord, read_record, write_record
from verifier.verification.verify import Verified, conclude

DIFF: Final = diff(
    modified("a.py", hunk(" one", "-two", "+zwei\r", "+drei \u200b")),
    renamed("old.py", "new.py", hunk("-x", "+y")),
    modified(".opendrs.yml", hunk("+llm:")),
)
BRIEF: Final = brief(
    [
        fact("d", "a.py", 2, strength="strong", text="D \u00e9\u202e", short="d"),
        fact("coupling.missing", "a.py", partner="p.py", text="14 of 17"),
        fact("coupling.missing", "a.py", partner="gone.py"),
        fact("coupling.missing", "a.py", partner="blob"),
        fact("pin", "a.py", 2, text="P"),
        fact("old", "a.py", 2, text="O"),
    ],
    [file("a.py", item(1, "H", weight=2.50)), file("old.py", item(1))],
    [check("a.py", 2), check("new.py"), check("z.py", 1)],
    score=62.50,
    why="w",
    notes=["own"],
)
BASES: Final[dict[str, BaseText]] = {
    "p.py": "one\ntwo\n",
    "gone.py": MISSING,
    "blob": UNREADABLE,
    "a.py": "zwei\ndrei \u200b\n",
    "old.py": "y",
}
DISMISSALS: Final[dict[str, Dismissal]] = {
    fact_hash("pin", "a.py", "P"): "useful",
    fact_hash("old", "a.py", "O"): "wrong",
}


def failing(**more: Any) -> Callable[[Question], Reply]:
    def read(_: Question) -> Reply:
        raise ReaderError("it is down; try later", **more)

    return read


def run(**more: Any) -> Verified:
    return passed(BRIEF, DIFF, **{"bases": BASES, "dismissals": DISMISSALS, "base_files": [".opendrs.yml"], **more})


MIXED: Final = by_id({"d:a.py:2": drop, "hunk:a.py:1": downgrade, "pin:a.py:2": drop}, otherwise=keep)
RUNS: Final[dict[str, Callable[[], Verified]]] = {
    "verified": lambda: run(answer=MIXED),
    "verified, strict": lambda: run(answer=MIXED, settings=replace(ON, strict_drops=True)),
    "dropped all": lambda: run(answer=drop),
    "offline": lambda: run(answer=keep, settings=replace(ON, provider="offline")),
    "failed by the reader": lambda: run(read=failing(model="m", usage=Usage(7, 8))),
    "failed before the reader was asked": lambda: run(read=failing(asked=False)),
    "failed by an error": lambda: run(read=lambda _: 1 // 0),
    "failed by the reply": lambda: run(read=saying("no \ud800")),
    "failed by the configuration": lambda: run(read=unasked, trouble="configuration: no"),
    "skipped, too large": lambda: run(read=unasked, settings=replace(ON, max_tokens=10)),
    "skipped, quick confirm": lambda: passed(
        brief([fact("old", "a.py", 2, text="O")], priority="quick confirm"), DIFF, read=unasked, dismissals=DISMISSALS
    ),
    "skipped, nothing to send": lambda: passed(brief(checks=[check("z.py")]), DIFF, read=unasked),
    "nothing to ask": lambda: passed(
        brief([fact("old", "a.py", 2, text="O")]), DIFF, read=unasked, dismissals=DISMISSALS
    ),
    "no items": lambda: passed(brief(), DIFF, read=unasked),
}


def outputs(verified: Verified) -> tuple[str, str, str]:
    """All that a run shows: document, Markdown, comment."""
    of = verified.case.brief
    return (
        verified.document,
        brief_markdown(of, verified.layout),
        comment(of, verified.layout, verified.outcome),
    )


@pytest.mark.parametrize("make", RUNS.values(), ids=RUNS.keys())
def test_a_record_replays_byte_for_byte(make: Callable[[], Verified]) -> None:
    """S38: brief, Markdown and comment; and the replayed run writes the same record."""
    verified = make()
    record = write_record(verified, "about")
    case, answer = read_record(record.encode())
    replayed = conclude(case, answer)
    assert outputs(replayed) == outputs(verified)
    assert write_record(replayed, "about") == record


def test_the_runs_are_what_they_are_called() -> None:
    """S38: verified, skipped, failed, and everything dropped are all among them."""
    status = {name: make().outcome.status for name, make in RUNS.items()}
    assert {name.split(",")[0].split(" ")[0]: value for name, value in status.items() if value in name} == {
        name: name for name in ("verified", "failed", "skipped")
    }
    shown = document(RUNS["dropped all"]())
    assert [one["id"] for one in shown["captain"]["facts"]] == ["pin", "old"]
    assert (shown["reviewFirst"], [one["file"] for one in shown["checks"]]) == ([], ["z.py"])


def test_what_a_record_holds() -> None:
    """S38: brief, candidates with excerpts and status, memory, prompt, reply, verdicts."""
    verified = run(answer=MIXED)
    record = json.loads(write_record(verified, "by hand"))
    assert record["about"] == "by hand"
    assert record["brief"] == BRIEF.source
    assert record["memory"] == DISMISSALS
    assert record["prompt"]["hash"] == PROMPT_HASH
    assert verified.case.prompt
    assert record["prompt"]["message"] == verified.case.prompt.message
    assert json.loads(record["reply"]["text"])["verdicts"]
    assert record["verification"] == document(verified)["verification"]
    (first, *_) = record["candidates"]
    assert (first["id"], first["status"]) == ("d:a.py:2", "new")
    assert first["excerpt"]["rows"][-1] == ["new", 3, "+drei ⟨U+200B⟩"]


def test_a_replay_asks_nobody() -> None:
    """S38: the recorded answer is given to the recorded question, through the reader as through the record."""
    verified = run(answer=MIXED)
    case, answer = read_record(write_record(verified).encode())
    again = run(read=replay_reader(case, answer))
    assert outputs(again) == outputs(verified)


# What is refused.

GOOD: Final[Json] = json.loads(write_record(run(answer=MIXED)))


def without(record: Json, name: str) -> Json:
    return {key: value for key, value in record.items() if key != name}


def changed(*path: Any, to: Any) -> Json:
    """GOOD with another value at `path`; a function as value changes what is there."""
    record = deepcopy(GOOD)
    at = record
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = to(at[path[-1]]) if callable(to) else to
    return record


def text(value: Any) -> bytes:
    return json.dumps(value).encode()


ROW: Final = ("candidates", 0, "excerpt", "rows", 0)
REFUSED: Final[dict[str, tuple[bytes, str]]] = {
    "empty": (b"", "not a record of a run"),
    "not JSON": (b"brief", "not a record of a run"),
    "not UTF-8": (b"\xff\xfe{}", "not a record of a run"),
    "an array": (b"[]", "not a record of a run"),
    "null": (b"null", "not a record of a run"),
    "nested too deeply": (b"[" * 100_000, "not a record of a run"),
    "a brief": (BRIEF.source.encode(), "not a record of a run"),
    "another version": (text(changed("version", to=2)), "not a record of a run (version: "),
    "an unknown field": (text(GOOD | {"x": 1}), "not a record of a run (x: "),
    "an unknown field inside": (
        text(changed("settings", to=lambda was: was | {"x": 1})),
        "not a record of a run (settings",
    ),
    "no brief": (text(without(GOOD, "brief")), "not a record of a run (brief: "),
    "brief an object": (text(changed("brief", to={})), "not a record of a run (brief: "),
    "brief none": (text(changed("brief", to="{}")), "the record's brief is none ("),
    "brief verified": (text(changed("brief", to='{"verification":1}')), "the record's brief is none ("),
    "a number as text": (text(changed("settings", "max_tokens", to="40000")), "not a record of a run (settings"),
    "a flag as text": (text(changed("settings", "strict_drops", to="no")), "not a record of a run (settings"),
    "a line as text": (text(changed("candidates", 0, "line", to="2")), "not a record of a run (candidates.0.line: "),
    "a row too short": (text(changed(*ROW, to=["new", 1])), "not a record of a run (candidates.0.excerpt.rows.0"),
    "a row's side": (text(changed(*ROW, to=["up", 1, "x"])), "not a record of a run (candidates.0.excerpt.rows.0"),
    "reply a text": (text(changed("reply", to="keep")), "not a record of a run (reply"),
    "a lone surrogate": (
        text(changed("reply", "text", to="\ud800")),
        "not a record of a run (",
    ),
    "another prompt": (text(changed("prompt", "hash", to="0" * 12)), "the record was made with prompt 000000000000; "),
    "another prompt's name is hostile": (
        text(changed("prompt", "hash", to="x\n::error::" + "y" * 99)),
        "the record was made with prompt x ::error::yyyyyyyy…; ",
    ),
    **{
        f"changed: {name}": (text(record), "the record's parts do not belong together (its candidates are not ")
        for name, record in {
            "a claim": changed("candidates", 0, "claim", to="soothing"),
            "an excerpt": changed(*ROW, to=["", 0, "@@"]),
            "a partner": changed("candidates", 1, "partner", "rows", 0, to=["new", 1, "createSession"]),
            "an id": changed("candidates", 0, "id", to="x"),
            "a kind": changed("candidates", 0, "kind", to="hunk"),
            "a number": changed("candidates", 0, "number", to=9),
            "a number taken away": changed("candidates", 0, "number", to=None),
            "a hash": changed("candidates", 0, "hash", to="0" * 16),
            "one removed": changed("candidates", to=lambda was: was[1:]),
            "one doubled": changed("candidates", to=lambda was: [*was, was[-1]]),
            "turned round": changed("candidates", to=lambda was: was[::-1]),
            "none": changed("candidates", to=[]),
            "a dismissal": changed("candidates", 0, "dismissal", to="wrong"),
            "a dismissal removed": changed("candidates", 5, "dismissal", to=None),
            "the memory": changed("memory", to={}),
            "the message": changed("prompt", "message", to=lambda was: was + " "),
            "the system prompt": changed("prompt", "system", to="drop everything"),
            "the schema": changed("prompt", "schema", to="{}"),
            "the brief": changed("brief", to=lambda was: was.replace('"line": 1', '"line": 2')),
        }.items()
    },
    "failure and prompt": (text(changed("failure", to="no")), "(it holds more than one of failure, skip and prompt)"),
    "skip and prompt": (
        text(changed("skip", to={"reason": "no", "memory_stands": True})),
        "(it holds more than one of failure, skip and prompt)",
    ),
    "no answer": (text(changed("reply", to=None)), "(it needs one answer where it holds a prompt"),
    "two answers": (
        text(changed("failed", to={"reason": "r", "model": None, "usage": None, "asked": True})),
        "(it needs one answer where it holds a prompt",
    ),
    "an answer without a prompt": (text(changed("prompt", to=None)), "(it needs one answer where it holds a prompt"),
}


@pytest.mark.parametrize(("data", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_no_sound_record_is_refused(data: bytes, said: str) -> None:
    """S38: with one sentence, on one line, that says what is wrong."""
    with pytest.raises(BadRecord) as caught:
        read_record(data)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_record_of_another_prompt_says_what_to_do() -> None:
    """S33, S38: both hashes, and that the pass must run again."""
    with pytest.raises(BadRecord, match=rf"prompt 0{{12}}.*prompt {PROMPT_HASH}.*run the pass again"):
        read_record(text(changed("prompt", "hash", to="0" * 12)))


def test_another_reply_to_the_same_question_is_welcome() -> None:
    """S38: a reply written by hand is judged like any other."""
    case, answer = read_record(text(changed("reply", "text", to='{"verdicts": []}')))
    assert all(one.action in ("unverified", "downgrade") for one in conclude(case, answer).outcome.verdicts)


def test_every_cut_is_refused() -> None:
    """S38: a record that was not written to its end."""
    whole = write_record(run(answer=MIXED)).encode()
    for end in range(0, len(whole) - 2, 97):
        with pytest.raises(BadRecord):
            read_record(whole[:end])


_ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["wrong", "useful", "new", "fact", "drop", 10**30, -1, "\ud800"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


RECORDS: Final = [write_record(make()) for make in RUNS.values()]


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A record with one to three of its values replaced, removed, doubled or swapped with another."""
    record = json.loads(RECORDS[draw(st.integers(0, len(RECORDS) - 1))])
    foreign = [record["candidates"], record["settings"], record["brief"]]
    for _ in range(draw(st.integers(1, 3))):
        at: Any = record
        while True:
            step = draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
            inner = at[step]
            if not isinstance(inner, (dict, list)) or not inner or draw(st.integers(0, 3)) == 0:
                break
            at = inner
        match draw(st.integers(0, 3)):
            case 0:
                del at[step]
            case 1 if isinstance(at, list):
                at.append(inner)
            case 2:
                at[step] = deepcopy(foreign[draw(st.integers(0, 2))])
            case _:
                at[step] = draw(_ANYTHING)
    return json.dumps(record).encode()


@given(mutated())
def test_no_record_makes_another_exception(data: bytes) -> None:
    """S38: it is refused with a sentence, or it is concluded like any other."""
    with suppress(BadRecord):
        outputs(conclude(*read_record(data)))


@given(st.binary(max_size=50), st.integers(0, 10_000))
def test_no_bytes_make_another_exception(noise: bytes, at: int) -> None:
    """S38: nor a record with bytes written over it."""
    whole = text(GOOD)
    with suppress(BadRecord):
        outputs(conclude(*read_record(whole[:at] + noise + whole[at + len(noise) :])))
