"""What the runner hands over: inputs, event and places, read once, every error told at once (A1)."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, get_args
from urllib.parse import urlsplit

from verifier.text import one_line

IfNoBrief = Literal["error", "warn", "ignore"]

# name: what it is where it is not given; action.yml says the same
DEFAULTS: Final[Mapping[str, str]] = {
    "github-token": "",
    "llm-api-key": "",
    "llm-base-url": "",
    "brief-artifact": "opendrs-brief",
    "brief-file": "brief.json",
    "brief-workflow": "",
    "brief-path": "",
    "pr-number": "",
    "run-id": "",
    "config-path": "",
    "memory-path": ".opendrs/facts.jsonl",
    "no-llm": "false",
    "comment": "true",
    "if-no-brief": "error",
}
_TRUE: Final = ("true", "True", "TRUE")
_FALSE: Final = ("false", "False", "FALSE")
_EVENT_LIMIT: Final = 30_000_000
_REPOSITORY: Final = re.compile(r"(?!\.)[\w.-]+/(?!\.{1,2}$)[\w.-]+", re.ASCII)
_Value = TypeVar("_Value")


class BadInputs(Exception):
    """Wrong inputs or a wrong environment: one sentence for each."""

    def __init__(self, sentences: list[str]) -> None:
        super().__init__("; ".join(sentences))
        self.sentences = sentences


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs of action.yml, checked. Neither secret is in any repr (A9)."""

    token: str = field(repr=False)
    llm_key: str = field(repr=False)
    llm_base_url: str | None
    brief_artifact: str
    brief_file: str
    brief_workflow: str | None
    brief_path: str | None
    pr_number: int | None
    run_id: int | None
    config_path: str | None
    memory_path: str
    no_llm: bool
    comment: bool
    if_no_brief: IfNoBrief
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Runner:
    """Where and on what event the job runs, as the runner's own variables have it."""

    api_url: str
    repository: str
    event_name: str
    event: Mapping[str, Any]
    run_id: int
    actor: str
    workspace: Path


def read_inputs(environment: Mapping[str, str], wrong: list[str]) -> Inputs:
    """The inputs that a runner put into `environment` as `INPUT_<NAME>`, hyphens kept; errors go to `wrong`."""

    def text(name: str) -> str:
        return environment.get(f"INPUT_{name.upper()}", "").strip() or DEFAULTS[name]

    def read(name: str, parse: Callable[[str], _Value], fallback: _Value) -> _Value:
        given = text(name)
        try:
            return parse(given)
        except ValueError as error:
            wrong.append(f"input {name}: expected {error}, not {one_line(given, 60)!r}")
            return fallback

    if not text("github-token"):
        wrong.append("input github-token is empty: leave it out, or give it ${{ github.token }}")
    if text("brief-path") and text("run-id"):
        wrong.append("inputs brief-path and run-id exclude each other: a file of the workspace comes from no run")
    return Inputs(
        token=text("github-token"),
        llm_key=text("llm-api-key"),
        llm_base_url=text("llm-base-url") or None,
        brief_artifact=read("brief-artifact", _artifact_name, ""),
        brief_file=text("brief-file"),
        brief_workflow=read("brief-workflow", _workflow, None),
        brief_path=text("brief-path") or None,
        pr_number=read("pr-number", _number, None),
        run_id=read("run-id", _number, None),
        config_path=text("config-path") or None,
        memory_path=text("memory-path"),
        no_llm=read("no-llm", _boolean, False),
        comment=read("comment", _boolean, True),
        if_no_brief=read("if-no-brief", _if_no_brief, "error"),
        warnings=tuple(_unknown(environment)),
    )


def read_runner(environment: Mapping[str, str], wrong: list[str]) -> Runner:
    """The runner's own variables and the event's payload; what is wrong with them goes to `wrong`."""

    def variable(name: str) -> str:
        found = environment.get(name, "")
        if not found:
            wrong.append(f"{name} is not set: this program is started by a GitHub Actions runner")
        return found

    run_id, repository = variable("GITHUB_RUN_ID"), variable("GITHUB_REPOSITORY")
    if repository and not _REPOSITORY.fullmatch(repository):
        wrong.append("GITHUB_REPOSITORY: expected owner/name")
    try:
        run_number = _number(run_id) or 0
    except ValueError:
        run_number = 0
        wrong.append("GITHUB_RUN_ID: expected a number")
    api_url = variable("GITHUB_API_URL")
    if api_url and not _is_address(api_url):
        wrong.append("GITHUB_API_URL: expected an address that begins with https://")
    return Runner(
        api_url=api_url,
        repository=repository,
        event_name=variable("GITHUB_EVENT_NAME"),
        event=_event(variable("GITHUB_EVENT_PATH"), wrong),
        run_id=run_number,
        actor=environment.get("GITHUB_ACTOR", ""),
        workspace=Path(environment.get("GITHUB_WORKSPACE") or "/github/workspace"),
    )


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        is_plain = parts.username is None and " " not in text and text.isprintable()
        return parts.scheme in ("https", "http") and bool(parts.hostname) and parts.port != 0 and is_plain
    except ValueError:
        return False


def _event(path: str, wrong: list[str]) -> dict[str, Any]:
    if not path:
        return {}
    try:
        with Path(path).open("rb") as file:
            event = json.loads(file.read(_EVENT_LIMIT))
    except (OSError, ValueError, RecursionError) as error:
        wrong.append(f"GITHUB_EVENT_PATH: the event cannot be read ({type(error).__name__})")
        return {}
    if isinstance(event, dict):
        return event
    wrong.append("GITHUB_EVENT_PATH: the event is not a JSON object")
    return {}


def _unknown(environment: Mapping[str, str]) -> list[str]:
    """A sentence for each `INPUT_*` that no input has the name of; the runner itself warns of none in a container."""
    from difflib import get_close_matches

    names = {f"INPUT_{name.upper()}": name for name in DEFAULTS}
    unknown = sorted(name for name in environment if name.startswith("INPUT_") and name not in names)
    return [
        f"unknown input {one_line(name.removeprefix('INPUT_').lower(), 60)}; the nearest known one is "
        f"{get_close_matches(name.removeprefix('INPUT_').lower(), DEFAULTS, 1, 0)[0]}"
        for name in unknown
    ]


def _boolean(given: str) -> bool:
    if given in _TRUE + _FALSE:
        return given in _TRUE
    raise ValueError("true or false")


def _number(given: str) -> int | None:
    if not given:
        return None
    if given.isascii() and given.isdigit() and len(given) <= 18 and int(given) > 0:
        return int(given)
    raise ValueError("a positive whole number")


def _if_no_brief(given: str) -> IfNoBrief:
    for choice in get_args(IfNoBrief):
        if given == choice:
            return choice  # type: ignore[no-any-return]
    raise ValueError("error, warn or ignore")


def _artifact_name(given: str) -> str:
    if any(mark in given for mark in '":<>|*?\r\n\\/'):
        raise ValueError("the name of an artifact")
    return given


def _workflow(given: str) -> str | None:
    """A workflow's file name, which is also how its runs are asked for; a path to it is welcome."""
    name = given.removeprefix(".github/workflows/")
    if not name:
        return None
    if name.rpartition(".")[2] in ("yml", "yaml") and "/" not in name and name.isprintable():
        return name
    raise ValueError("a workflow's file name, such as review.yml")
