"""A hostile input, and what must hold when the real entrypoint meets it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.action.conftest import KEEP
from tests.action.job import Ended, Project
from tests.servers.model import Answer, ok


def nothing(_: Project) -> None:
    """Leaves a project as it is."""


def no_more(_: Project, __: Ended) -> None:
    """Holds nothing beyond what holds for every case."""


@dataclass(frozen=True)
class Case:
    """What somebody hostile made, how the run must end, and what else must hold.

    What holds for every case (`holding.faults`) is not repeated here: one annotation and no other command, known
    outputs, gate and priority as they came, nothing live in any Markdown, no secret anywhere, the bounds of time and
    memory.
    """

    name: str
    made: Mapping[str, Any] = field(default_factory=dict)  # what tests.action.job.project takes
    arrange: Callable[[Project], None] = nothing  # changes the project, its fake GitHub, its workspace
    answer: Answer = field(default_factory=lambda: ok(KEEP))  # what the model says to every call
    event: Callable[[Project], Any] | None = None  # None: the pull request's own
    event_name: str = "pull_request"
    inputs: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)

    status: str | None = "verified"  # None: no output could be written
    code: int = 0
    comments: int = 1  # on the pull request, after the run, of any author
    calls: int = 1  # of the model
    said: Sequence[str] = ()  # in the one annotation
    shown: Sequence[str] = ()  # in the comment, above the fold, as its reader sees it
    never: Sequence[str] = ()  # nowhere: log, outputs, summary, comment
    more: Callable[[Project, Ended], None] = no_more  # asserts what is special to this case


@dataclass(frozen=True)
class Family:
    """Cases of one origin, and the weakening of our code that they are there to catch (tools/mutants.toml)."""

    name: str
    weakening: str
    cases: Sequence[Case]
