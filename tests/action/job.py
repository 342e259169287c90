"""A job on a runner: the real entrypoint as a subprocess, its outputs and log read by the runner's own rules."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.command import ON, brief, document, environment, shop
from tests.repos import Repo
from tests.servers.github import FakeGitHub, Pull, Run, zip_of
from tests.servers.model import ModelServer

ROOT: Final = Path(__file__).parents[2]
KEY: Final = "sk-secret-0123456789"
_COMMAND: Final = re.compile(r"^\s*::([a-z-]+)[^:]*::(.*)$|##\[([a-z-]+)[^\]]*\](.*)")


@dataclass(frozen=True)
class Ended:
    """What a job left: exit code, log, outputs, summary."""

    code: int
    log: str
    outputs: dict[str, str]
    summary: str

    @property
    def commands(self) -> list[tuple[str, str]]:
        """The workflow commands that a runner finds in the log, masks left out."""
        found = [match for line in self.log.splitlines() if (match := _COMMAND.search(line))]
        named = [(match[1] or match[3], match[2] if match[1] else match[4]) for match in found]
        return [command for command in named if command[0] != "add-mask"]

    @property
    def said(self) -> tuple[str, str]:
        """The one annotation: its level and its text."""
        assert len(self.commands) == 1, self.log
        return self.commands[0]


@dataclass
class Project:
    """A repository on the fake GitHub with one pull request and the artifact of its brief."""

    path: Path
    repo: Repo
    github: FakeGitHub
    pull: Pull
    made_by: Run

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
    change: Mapping[str, str | bytes] | None = None,
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


def job(
    subject: Project,
    model: ModelServer | None = None,
    *,
    event: Mapping[str, Any] | None = None,
    event_name: str = "pull_request",
    inputs: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
) -> Ended:
    """One run of the Action, as a runner starts it."""
    place = subject.path / "runner"
    variables = on_runner(subject, place, model, event=event, event_name=event_name, inputs=inputs) | dict(env or {})
    done = subprocess.run(
        [sys.executable, "-I", ROOT / "entrypoint.py"],
        cwd=place / "workspace",
        env={name: value for name, value in variables.items() if name != "PYTHONPATH"},
        capture_output=True,
        check=False,
        timeout=60,
    )
    log = done.stdout.decode() + done.stderr.decode()
    assert "Traceback" not in log, log
    return Ended(done.returncode, log, read_outputs(place / "output"), (place / "summary").read_text())


def on_runner(
    subject: Project,
    place: Path,
    model: ModelServer | None = None,
    *,
    event: Mapping[str, Any] | None = None,
    event_name: str = "pull_request",
    inputs: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """A runner's files for one step, in `place`: event.json, output, summary, workspace; and the step's environment."""
    (place / "workspace").mkdir(parents=True, exist_ok=True)
    (place / "event.json").write_text(json.dumps(subject.event() if event is None else event))
    for name in ("output", "summary"):
        (place / name).write_text("")
    given = {"github-token": subject.github.token, "llm-api-key": KEY if model else "", **(inputs or {})}
    if model:
        given["llm-base-url"] = model.url
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


def read_outputs(file: Path) -> dict[str, str]:
    """An output file by the runner's grammar: `name=value`, or `name<<END` up to a line `END`."""
    found: dict[str, str] = {}
    lines = iter(file.read_text().split(os.linesep))
    for line in lines:
        if "<<" in line:
            name, _, end = line.partition("<<")
            value: list[str] = []
            for inner in lines:
                if inner == end:
                    break
                value.append(inner)
            found[name] = "\n".join(value)
        elif "=" in line:
            name, _, text = line.partition("=")
            found[name] = text
    return found
