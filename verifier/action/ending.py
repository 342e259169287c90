"""How a run ends, and what it has to show by then (A1, A5, A6)."""

from dataclasses import dataclass, field
from typing import Final

from verifier.action.report import Level

DECIDED, REFUSED, WRONG_INPUT = 0, 1, 2
BRIEF_FILE: Final = "brief.json"
RECORD_FILE: Final = "record.json"


@dataclass(frozen=True, slots=True)
class End:
    """How a run ended: its status (A1), its exit code (A6), and the one line that says it."""

    status: str
    code: int
    level: Level
    line: str


class Ended(Exception):
    """The run ends here: nothing is left to do, or nothing can be done."""

    def __init__(self, status: str, code: int, level: Level, line: str) -> None:
        super().__init__(line)
        self.end = End(status, code, level, line)


@dataclass(slots=True)
class Result:
    """What a run has to show so far, ready to be written whatever happens after: nothing that was paid for is lost.

    `numbers` are outputs by name, `files` texts by file name, `summary` is Markdown.
    """

    numbers: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    summary: str = ""
    comment_url: str = ""
