"""Replies that were paid for, kept in a file as they come: a run that was stopped goes on where it stood."""

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from verifier.cli.output import Refusal, say
from verifier.verification.model import Failed, Reply

_FAILED: Final = 1
_WRONG_INPUT: Final = 2
_MOST_TOKENS: Final = 10**12


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    answer: Reply | Failed


@dataclass(frozen=True, slots=True)
class Replies:
    """The answers of earlier runs and of this one, by key, and the open file that they are kept in."""

    path: Path
    found: dict[str, Reply | Failed]
    descriptor: int

    def keep(self, key: str, answer: Reply | Failed) -> None:
        """One more answer, on disk when this returns. Raises Refusal where it cannot be kept."""
        line = _Line(key=key, answer=answer).model_dump_json().encode() + b"\n"
        size = os.fstat(self.descriptor).st_size
        try:
            if os.write(self.descriptor, line) != len(line):
                os.ftruncate(self.descriptor, size)
                raise OSError("the disk is full")
            os.fsync(self.descriptor)
        except OSError as error:
            why = error.strerror or error
            raise Refusal(f"cannot keep the reply that just came in {self.path}, it is lost: {why}", _FAILED) from None
        self.found[key] = answer


@contextmanager
def kept_replies(path: Path) -> Iterator[Replies]:
    """The replies in `path`, which is made where it is not there, alone with it until the end.

    Raises Refusal where it cannot be written, before anything is asked, and where another run has it.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(path, flags, 0o666)
    except OSError as error:
        raise Refusal(f"cannot keep replies in {path}: {error.strerror or error}", _WRONG_INPUT) from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Refusal(f"cannot keep replies in {path}: it is no plain file", _WRONG_INPUT)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Refusal(f"another run keeps its replies in {path}: wait until it has ended", _WRONG_INPUT) from None
        yield Replies(path, _read(path, descriptor), descriptor)
    finally:
        os.close(descriptor)


def _read(path: Path, descriptor: int) -> dict[str, Reply | Failed]:
    """What the file holds. What a stopped run left unfinished at its end is told, and taken away."""
    with os.fdopen(descriptor, "rb", closefd=False) as file:
        data = file.read()
    whole, _, torn = data.rpartition(b"\n")
    if torn:
        say(f"warning: {path}: the last line was not finished when an earlier run ended; it is taken away")
        os.ftruncate(descriptor, len(data) - len(torn))
    found: dict[str, Reply | Failed] = {}
    for number, line in enumerate(whole.split(b"\n") if whole else (), 1):
        try:
            one = _Line.model_validate_json(line, strict=True)
        except ValidationError:
            one = None
        if one is None or not _is_usable(one.answer):
            wrong = f"{path}, line {number}: not a kept reply; remove that line and run again"
            raise Refusal(wrong, _WRONG_INPUT)
        found[one.key] = one.answer
    return found


def _is_usable(answer: Reply | Failed) -> bool:
    usage = answer.usage
    return usage is None or all(0 <= tokens <= _MOST_TOKENS for tokens in (usage.input, usage.output))
