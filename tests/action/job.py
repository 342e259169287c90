"""A job on a runner: the real entrypoint as a subprocess, its outputs and log read by the runner's own rules."""

import json
import os
import resource
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.command import ON, brief, document, environment, shop
from tests.repos import Repo
from tests.servers.github import FakeGitHub, Pull, Run, zip_of
from tests.servers.github_state import Level
from tests.servers.model import ModelServer

ROOT: Final = Path(__file__).parents[2]
KEY: Final = "sk-secret-0123456789"
READ_ONLY: Final[Mapping[str, Level]] = {"contents": "read", "actions": "read", "pull-requests": "read"}


@dataclass(frozen=True)
class Ended:
    """What a job left: exit code, log, outputs, summary; and what it took: seconds of CPU, bytes of memory at most."""

    code: int
    log: str
    outputs: dict[str, str]
    summary: str
    cpu_seconds: float
    peak_bytes: int

    @property
    def commands(self) -> list[tuple[str, str]]:
        """The workflow commands that a runner finds in the log, masks left out."""
        return [command for command in commands_in(self.log) if command[0] != "add-mask"]

    @property
    def said(self) -> tuple[str, str]:
        """The one annotation: its level and its text."""
        assert len(self.commands) == 1, self.log
        return self.commands[0]

    @property
    def unmasked(self) -> str:
        """The log without the lines that hide a secret in all that follows: a runner never shows those."""
        return "\n".join(line for line in self.log.splitlines() if not line.startswith("::add-mask::"))


@dataclass
class Project:
    """A repository on the fake GitHub with one pull request and the artifact of its brief."""

    path: Path
    repo: Repo
    github: FakeGitHub
    pull: Pull
    made_by: Run

    @property
    def place(self) -> Path:
        """Where the runner keeps its files."""
        return self.path / "runner"

    @property
    def workspace(self) -> Path:
        return self.place / "workspace"

    def event(self) -> dict[str, Any]:
        found: dict[str, Any] = self.github.event_pull_request(self.pull)
        return found

    def comment_bodies(self) -> list[str]:
        return [comment.body for comment in self.github.comments_on(self.pull)]


def project(
    directory: Path,
    github_of: Any,
    *,
    config: str | None = ON,
    memory: str | None = None,
    of: Mapping[str, Any] | None = None,
    artifact: bytes | None = None,
    head_repository: str = "acme/shop",
    change: Mapping[str, str | bytes | None] | None = None,
) -> Project:
    """The shop of the command's tests, behind `github_of(repo)`, which a test has entered."""
    pull = shop(directory, config=config, memory=memory, change=change)
    repo = Repo(pull.path)
    github = github_of(repo)
    added = github.add_pull(pull.base, pull.head, head_repository=head_repository)
    run = github.add_run(added)
    data = document(brief(head=pull.head) if of is None else of).encode()
    github.add_artifact(run, zip_of({"brief.json": data}) if artifact is None else artifact)
    return Project(directory, repo, github, added, run)


@contextmanager
def projects(directory: Path) -> Iterator[Callable[..., Project]]:
    """Makes projects until the end of it; by then every request must have fitted GitHub's description."""
    with ExitStack() as stack:
        found: list[FakeGitHub] = []

        def github_of(repo: Repo) -> FakeGitHub:
            found.append(stack.enter_context(FakeGitHub(repo)))
            return found[-1]

        yield lambda **more: project(directory, github_of, **more)
        for github in found:
            assert github.violations == []


def job(subject: Project, model: ModelServer | None = None, **more: Any) -> Ended:
    """One run of the Action, as a runner starts it; `more` is what `started` takes."""
    return ended(subject, started(subject, model, **more))


def started(
    subject: Project,
    model: ModelServer | None = None,
    *,
    event: Mapping[str, Any] | None = None,
    event_name: str = "pull_request",
    inputs: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
    summary: str = "",
) -> subprocess.Popen[bytes]:
    """The Action's process; `summary` is what earlier commands of the step wrote there."""
    at = on_runner(subject, subject.place, model, event=event, event_name=event_name, inputs=inputs, summary=summary)
    with (subject.path / "stdout").open("wb") as out, (subject.path / "stderr").open("wb") as err:
        return subprocess.Popen(
            [sys.executable, "-I", ROOT / "entrypoint.py"],
            cwd=subject.workspace,
            env={name: value for name, value in at.items() if name != "PYTHONPATH"} | dict(env or {}),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
        )


def ended(subject: Project, process: subprocess.Popen[bytes]) -> Ended:
    """What a process that was started leaves, once it has ended."""
    # A process begins with the peak of the one that started it: what stays below that is not known.
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    last = threading.Timer(60, process.kill)
    last.start()
    try:
        _, status, usage = os.wait4(process.pid, 0)
    finally:
        last.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    log = (subject.path / "stdout").read_bytes().decode() + (subject.path / "stderr").read_bytes().decode()
    assert "Traceback" not in log, log
    return Ended(
        code=process.returncode,
        log=log,
        outputs=read_outputs(subject.place / "output"),
        summary=(subject.place / "summary").read_text(),
        cpu_seconds=usage.ru_utime + usage.ru_stime,
        peak_bytes=usage.ru_maxrss * 1024 if usage.ru_maxrss > before else 0,
    )


def on_runner(
    subject: Project,
    place: Path,
    model: ModelServer | None = None,
    *,
    event: Mapping[str, Any] | None = None,
    event_name: str = "pull_request",
    inputs: Mapping[str, str] | None = None,
    summary: str = "",
) -> dict[str, str]:
    """A runner's files for one step, in `place`: event.json, output, summary, workspace; and the step's environment."""
    (place / "workspace").mkdir(parents=True, exist_ok=True)
    (place / "event.json").write_text(json.dumps(subject.event() if event is None else event))
    (place / "output").write_text("")
    (place / "summary").write_text(summary)
    given = {"github-token": subject.github.token, "llm-api-key": KEY if model else "", **(inputs or {})}
    if model:
        given = {"llm-base-url": model.url, **given}
    return {
        **environment(place),
        **subject.github.environment,
        "GITHUB_EVENT_NAME": event_name,
        "GITHUB_EVENT_PATH": str(place / "event.json"),
        "GITHUB_RUN_ID": str(subject.made_by.id),
        "GITHUB_WORKSPACE": str(place / "workspace"),
        "GITHUB_OUTPUT": str(place / "output"),
        "GITHUB_STEP_SUMMARY": str(place / "summary"),
        **{f"INPUT_{name.upper()}": value for name, value in given.items()},
    }


def commands_in(log: str) -> Iterator[tuple[str, str]]:
    """The workflow commands in a log, by the runner's rules, and more of them: it knows a few names, and fewer lines.

    `::name …::data` where a line begins so, blanks left out; the older `##[name …]data` wherever it stands.
    """
    for line in log.splitlines():
        text = line.strip()
        end = text.find("::", 2) if text.startswith("::") else -1
        start = line.find("##[")
        if end >= 0:
            yield text[2:end].partition(" ")[0], text[end + 2 :]
        elif start >= 0 and (end := line.find("]", start)) >= 0:
            yield line[start + 3 : end].partition(" ")[0], line[end + 1 :]


def read_outputs(file: Path) -> dict[str, str]:
    """An output file by the runner's grammar: `name=value`, or `name<<END` up to a line `END`; all else fails it."""
    found: dict[str, str] = {}
    lines = iter(file.read_bytes().decode().split("\n"))
    for line in lines:
        equals, fence = line.find("="), line.find("<<")
        if fence >= 0 and (equals < 0 or fence < equals):
            value: list[str] = []
            while (inner := next(lines)) != line[fence + 2 :]:
                value.append(inner)
            found[line[:fence]] = "\n".join(value)
        elif equals >= 0:
            found[line[:equals]] = line[equals + 1 :]
        else:
            assert line == "", f"no output: {line!r}"
    return found
