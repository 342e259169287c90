"""`verifier feedback` and `verifier brief`: what a person tells the memory, and the ids to tell it by (S32)."""

import argparse
import difflib
import fcntl
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from verifier.brief.document import Brief, NotABrief, read_brief
from verifier.brief.ids import item_ids
from verifier.brief.layout import as_it_came
from verifier.brief.markdown import item_text
from verifier.cli.output import Refusal, put, read_file, say
from verifier.memory import MEMORY_PATH, MemoryLine
from verifier.text import code_span, fact_hash, one_line
from verifier.verification.published import Verification

_WRONG_INPUT = 2
_NEAREST = 10


@dataclass(frozen=True, slots=True)
class _KnownFact:
    id: str
    detector: str
    file: str
    hash: str


def run_feedback(options: argparse.Namespace) -> int:
    """Appends one line to the memory for the fact that `--fact` names."""
    facts = _known_facts(options.brief, _read(options.brief))
    fact = next((fact for fact in facts if fact.id == options.fact), None)
    if fact is None:
        raise Refusal(_not_there(options, facts), _WRONG_INPUT)
    line = MemoryLine(
        hash=fact.hash,
        id=fact.detector,
        file=fact.file,
        verdict=options.verdict,
        note=one_line(options.note),
        at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )
    memory: Path = options.memory or Path(MEMORY_PATH)
    append_line(memory, line.model_dump_json().encode())
    covered = sum(other.hash == fact.hash for other in facts)
    say(
        f"appended to {memory}: {options.verdict} for {one_line(fact.id)}; it covers {covered} "
        f"fact{'' if covered == 1 else 's'} of this brief, and counts once it is on the base branch"
    )
    return 0


def run_self_check(options: argparse.Namespace) -> int:
    """Prints every item of a brief with its id, as a list to tick."""
    layout = as_it_came(_read(options.brief))
    items = [*layout.facts, *(hunk for file in layout.files for hunk in file.hunks), *layout.checks]
    put("".join(f"- [ ] {code_span(item.id)} {item_text(item)}\n" for item in items))
    return 0


def append_line(path: Path, line: bytes) -> None:
    """Appends `line` in one write, alone with the file, after mending a last line without its newline (S32).

    Raises Refusal where that is impossible.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            size = os.fstat(descriptor).st_size
            torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
            whole = (b"\n" if torn else b"") + line + b"\n"
            if os.write(descriptor, whole) != len(whole):
                os.ftruncate(descriptor, size)
                raise Refusal(f"cannot write {path}: the disk is full", 1)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise Refusal(f"cannot write {path}: {error.strerror or error}", 1) from None


def _read(path: Path) -> Brief:
    try:
        return read_brief(read_file(path, "brief", 1), verified=True)
    except NotABrief as error:
        raise Refusal(f"{path} is not a brief: {error}", 1) from None


def _known_facts(path: Path, brief: Brief) -> list[_KnownFact]:
    """The facts of a brief, dropped ones too where it has been verified: its verdicts keep their hashes."""
    source = brief.parts.top.get("verification")
    if source is None:
        return [
            _KnownFact(name, fact.id, fact.file, fact_hash(fact.id, fact.file, fact.text))
            for fact, name in zip(brief.facts, item_ids(brief).facts, strict=True)
        ]
    try:
        verdicts = Verification.model_validate_json(source).verdicts
    except ValidationError as error:
        raise Refusal(f"{path} is not a brief: $.verification: {error.errors()[0]['msg']}", 1) from None
    return [
        _KnownFact(verdict.id, verdict.detector, verdict.file, verdict.hash)
        for verdict in verdicts
        if verdict.hash and verdict.detector and verdict.file
    ]


def _not_there(options: argparse.Namespace, facts: list[_KnownFact]) -> str:
    names = [fact.id for fact in facts]
    if not names:
        return f"{options.brief} holds no fact"
    nearest = difflib.get_close_matches(options.fact, names, len(names), 0)[:_NEAREST]
    more = f" and {len(names) - len(nearest)} more" if len(names) > len(nearest) else ""
    listed = ", ".join(one_line(name) for name in nearest)
    return f"{options.brief} holds no fact {one_line(options.fact)}; it holds {listed}{more}"
