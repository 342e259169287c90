"""The dismissal memory: `.opendrs/facts.jsonl`, one object a line, the last line for a hash wins (S29, S30, S31)."""

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from verifier.text import one_line
from verifier.verification.model import Dismissal

MEMORY_PATH: Final = ".opendrs/facts.jsonl"

_Name = Annotated[str, StringConstraints(min_length=1)]


class BadMemory(ValueError):
    """A memory file that cannot be used as a whole; the message names the line (S31)."""


class MemoryLine(BaseModel):
    """One line of the memory: what a person said of a fact."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    hash: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")]
    id: _Name
    file: _Name
    verdict: Dismissal
    note: str = ""
    at: str = ""


def read_memory(data: bytes | None, path: str = MEMORY_PATH) -> dict[str, Dismissal]:
    """Fact hash to verdict, from the bytes of a memory file; None is a file that is not there.

    Blank lines count for nothing. Raises BadMemory for any other line that is not one of ours: half a memory is
    never used (S31).
    """
    found: dict[str, Dismissal] = {}
    for number, raw in enumerate((data or b"").removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not raw.strip():
            continue
        try:
            line = MemoryLine.model_validate_json(raw)
        except ValidationError as error:
            first = error.errors()[0]
            said = one_line(": ".join((*map(str, first["loc"]), first["msg"])), 160)
            raise BadMemory(f"{path} line {number} cannot be used ({said}); mend or remove that line") from None
        found[line.hash] = line.verdict
    return found
