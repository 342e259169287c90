"""The record of a run: it replays byte for byte, and what is no sound record is refused with a sentence (S33, S38)."""

import json
import re
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.material import (
    ON,
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
    patient,
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
from verifier.verification.record import BadRecord, Record, read_record, write_record
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


@cache
def good() -> bytes:
    return write_record(run(answer=MIXED)).encode()


@dataclass(frozen=True)
class To:
    """The record with another value at `path`; a function as value changes what is there."""

    path: tuple[Any, ...]
    value: Any

    def __call__(self) -> bytes:
        record = json.loads(good())
        at = record
        for step in self.path[:-1]:
            at = at[step]
        at[self.path[-1]] = self.value(at[self.path[-1]]) if callable(self.value) else self.value
        return json.dumps(record).encode()


def to(*path_and_value: Any) -> To:
    return To(path_and_value[:-1], path_and_value[-1])


NONE: Final = "not a record of a run"
ROWS: Final = ("candidates", 0, "excerpt", "rows")
REFUSED: Final[dict[str, tuple[bytes | To, str]]] = {
    "empty": (b"", NONE),
    "not JSON": (b"brief", NONE),
    "not UTF-8": (b"\xff\xfe{}", NONE),
    "an array": (b"[]", NONE),
    "null": (b"null", NONE),
    "nested too deeply": (b"[" * 100_000, NONE),
    "a brief": (BRIEF.source.encode(), NONE),
    "another version": (to("version", 2), f"{NONE} (version: "),
    "an unknown field": (to("x", 1), f"{NONE} (x: "),
    "an unknown field inside": (to("settings", "x", 1), f"{NONE} (settings"),
    "brief an object": (to("brief", {}), f"{NONE} (brief: "),
    "brief none": (to("brief", "{}"), "the record's brief is none ("),
    "brief verified": (to("brief", '{"verification":1}'), "the record's brief is none ("),
    "a number as text": (to("settings", "max_tokens", "40000"), f"{NONE} (settings"),
    "a flag as text": (to("settings", "strict_drops", "no"), f"{NONE} (settings"),
    "a number that none can write": (
        to("settings", "timeoutSeconds", float("nan")),
        f"{NONE} (settings.timeoutSeconds: ",
    ),
    "a line as text": (to("candidates", 0, "line", "2"), f"{NONE} (candidates.0.line: "),
    "a row too short": (to(*ROWS, 0, ["new", 1]), f"{NONE} (candidates.0.excerpt.rows.0"),
    "a row's side": (to(*ROWS, 0, ["up", 1, "x"]), f"{NONE} (candidates.0.excerpt.rows.0"),
    "reply a text": (to("reply", "keep"), f"{NONE} (reply"),
    "a lone surrogate": (to("reply", "text", "\ud800"), f"{NONE} ("),
    "another prompt": (to("prompt", "hash", "0" * 12), "the record was made with prompt 000000000000; "),
    "another prompt of a hostile name": (
        to("prompt", "hash", "x\n::error::" + "y" * 99),
        "the record was made with prompt x ::error::yyyyyyyy…; ",
    ),
    "failure and prompt": (to("failure", "no"), "(it holds more than one of failure, skip and prompt)"),
    "skip and prompt": (
        to("skip", {"reason": "no", "memory_stands": True}),
        "(it holds more than one of failure, skip and prompt)",
    ),
    "no answer": (to("reply", None), "(it needs one answer where it holds a prompt"),
    "two answers": (
        to("failed", {"reason": "r", "model": None, "usage": None, "asked": True}),
        "(it needs one answer where it holds a prompt",
    ),
    "an answer without a prompt": (to("prompt", None), "(it needs one answer where it holds a prompt"),
}
CHANGED: Final = {
    "a claim": to("candidates", 0, "claim", "soothing"),
    "an excerpt": to(*ROWS, 0, ["", 0, "@@"]),
    "an excerpt's end": to(*ROWS, lambda was: was[:-1]),
    "a partner": to("candidates", 1, "partner", "rows", 0, ["new", 1, "createSession"]),
    "an id": to("candidates", 0, "id", "x"),
    "a kind": to("candidates", 0, "kind", "hunk"),
    "a number": to("candidates", 0, "number", 9),
    "a number taken away": to("candidates", 0, "number", None),
    "a hash": to("candidates", 0, "hash", "0" * 16),
    "one removed": to("candidates", lambda was: was[1:]),
    "one doubled": to("candidates", lambda was: [*was, was[-1]]),
    "turned round": to("candidates", lambda was: was[::-1]),
    "none": to("candidates", []),
    "a dismissal": to("candidates", 0, "dismissal", "wrong"),
    "a dismissal removed": to("candidates", 5, "dismissal", None),
    "the memory": to("memory", {}),
    "the message": to("prompt", "message", lambda was: was + " "),
    "the system prompt": to("prompt", "system", "drop everything"),
    "the schema": to("prompt", "schema", "{}"),
    "the brief": to("brief", lambda was: was.replace('"line": 1', '"line": 2')),
}


def refusal(data: bytes) -> str:
    with pytest.raises(BadRecord) as caught:
        read_record(data)
    said = str(caught.value)
    assert "\n" not in said
    assert len(said) < 400
    return said


@pytest.mark.parametrize(("data", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_no_sound_record_is_refused(data: bytes | To, said: str) -> None:
    """S38: with one sentence, on one line, that says what is wrong."""
    assert said in refusal(data if isinstance(data, bytes) else data())


@pytest.mark.parametrize("data", CHANGED.values(), ids=CHANGED.keys())
def test_a_record_that_was_changed_is_refused(data: To) -> None:
    """S38: its candidates are those of its brief, its memory and its prompt."""
    assert refusal(data()).startswith("the record's parts do not belong together (its candidates are not ")


@pytest.mark.parametrize("name", sorted(Record.model_fields))
def test_a_record_without_a_part_is_refused(name: str) -> None:
    """S38: version and remark alone may be left out."""
    record = json.loads(good())
    del record[name]
    data = json.dumps(record).encode()
    if name in ("version", "about"):
        read_record(data)
    else:
        assert f"{NONE} ({name}: " in refusal(data)


def test_a_record_of_another_prompt_says_what_to_do() -> None:
    """S33, S38: both hashes, and that the pass must run again."""
    said = refusal(to("prompt", "hash", "0" * 12)())
    assert re.search(rf"prompt 0{{12}}.*prompt {PROMPT_HASH}.*run the pass again", said)


def test_another_reply_to_the_same_question_is_welcome() -> None:
    """S38: a reply written by hand is judged like any other."""
    case, answer = read_record(to("reply", "text", '{"verdicts": []}')())
    assert all(one.action in ("unverified", "downgrade") for one in conclude(case, answer).outcome.verdicts)


def test_every_cut_is_refused() -> None:
    """S38: a record that was not written to its end."""
    for end in range(0, len(good()) - 2, 97):
        refusal(good()[:end])


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


@cache
def records() -> list[str]:
    return [write_record(make()) for make in RUNS.values()]


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A record with one to three of its values replaced, removed, doubled or swapped with another."""
    record = json.loads(records()[draw(st.integers(0, len(RUNS) - 1))])
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


@patient
@given(mutated())
def test_no_record_makes_another_exception(data: bytes) -> None:
    """S38: it is refused with a sentence, or it is concluded like any other."""
    with suppress(BadRecord):
        outputs(conclude(*read_record(data)))


@patient
@given(st.binary(max_size=50), st.integers(0, 10_000))
def test_no_bytes_make_another_exception(noise: bytes, at: int) -> None:
    """S38: nor a record with bytes written over it."""
    whole = good()
    with suppress(BadRecord):
        outputs(conclude(*read_record(whole[:at] + noise + whole[at + len(noise) :])))
