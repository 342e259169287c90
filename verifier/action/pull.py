"""Which pull request, which commit, which runs: from the event and the API, never from the artifact (A2)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from verifier.action.inputs import Inputs, Runner
from verifier.evidence.api import Api, GitHubError
from verifier.text import one_line

_RUNS_LOOKED_AT: Final = 10
_COMMIT: Final = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_GONE: Final = "a repository that is gone"
EVENTS: Final = ("pull_request", "workflow_dispatch", "workflow_run")


class NoPull(Exception):
    """No pull request, or not exactly one; the message lists what was found."""


class ClosedPull(Exception):
    """There was a pull request for the event's commit; it is closed or merged by now."""


class Stale(Exception):
    """The event is for a commit that is no longer the head of its pull request."""


@dataclass(frozen=True, slots=True)
class Pull:
    """A pull request as the API has it now."""

    number: int
    base: str
    head: str
    head_repository: str
    base_repository: str
    is_open: bool
    locked: bool
    author: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What an event asks for: a pull request by number or by its head, and the run that made the brief."""

    number: int | None = None
    head: str | None = None
    head_repository: str | None = None
    head_branch: str | None = None
    run_id: int | None = None


def asked_for(runner: Runner, inputs: Inputs, wrong: list[str]) -> Asked:
    """What the event asks for; why it cannot name a pull request goes to `wrong`."""
    is_unread = any(sentence.startswith("GITHUB_EVENT_PATH") for sentence in wrong)
    match runner.event_name:
        case "pull_request" | "workflow_run" if is_unread:
            return Asked()
        case "pull_request":
            return _of_pull_request(runner, inputs, wrong)
        case "workflow_dispatch":
            if inputs.pr_number is None and not any("pr-number" in sentence for sentence in wrong):
                wrong.append("input pr-number is missing: a workflow_dispatch names no pull request by itself")
            return Asked(number=inputs.pr_number, run_id=inputs.run_id)
        case "workflow_run":
            return _of_workflow_run(runner, inputs, wrong)
        case name:
            if name:
                events = f"{', '.join(EVENTS[:-1])} or {EVENTS[-1]}"
                wrong.append(f"event {one_line(name, 60)} has no pull request: run this on {events}")
            return Asked()


def _of_pull_request(runner: Runner, inputs: Inputs, wrong: list[str]) -> Asked:
    pull = _inside(runner.event, "pull_request")
    number, head = pull.get("number"), _inside(pull, "head").get("sha")
    if type(number) is not int or not isinstance(head, str):
        wrong.append("GITHUB_EVENT_PATH: the event holds no pull request")
        return Asked()
    if inputs.pr_number not in (None, number):
        wrong.append(f"input pr-number is {inputs.pr_number}, and the event is about pull request {number}")
    return Asked(number=number, head=head, run_id=inputs.run_id or runner.run_id)


def _of_workflow_run(runner: Runner, inputs: Inputs, wrong: list[str]) -> Asked:
    run = _inside(runner.event, "workflow_run")
    repository = _inside(run, "head_repository").get("full_name")
    head, branch, run_id = run.get("head_sha"), run.get("head_branch"), run.get("id")
    if run and run.get("head_repository") is None:
        wrong.append("GITHUB_EVENT_PATH: the event's run is of a fork that is gone: whose pull request was it for?")
        return Asked()
    if not (isinstance(head, str) and isinstance(repository, str) and isinstance(branch, str)):
        wrong.append("GITHUB_EVENT_PATH: the event holds no head commit, repository and branch")
        return Asked()
    if type(run_id) is not int:
        wrong.append("GITHUB_EVENT_PATH: the event holds no run")
        return Asked()
    return Asked(inputs.pr_number, head, repository, branch, inputs.run_id or run_id)


def find_pull(api: Api, asked: Asked) -> Pull:
    """The pull request asked for. Raises NoPull, ClosedPull, Stale, GitHubError."""
    if asked.head_repository is not None:
        return _by_head(api, asked, asked.head_repository)
    pull = _pull(api.get(f"/pulls/{asked.number}").json())
    if asked.head not in (None, pull.head):
        raise Stale(f"pull request {pull.number} has moved on from {asked.head} to {pull.head}")
    return pull


def _by_head(api: Api, asked: Asked, repository: str) -> Pull:
    """The one open pull request at a head commit of a repository; no branch's name decides (A2)."""
    head = f"{repository.partition('/')[0]}:{asked.head_branch}"
    listed = [_pull(entry) for entry in api.pages("/pulls", state="all", head=head) if isinstance(entry, dict)]
    found = [pull for pull in listed if pull.head_repository == repository and asked.number in (None, pull.number)]
    at_head = [pull for pull in found if pull.head == asked.head]
    opened = [pull for pull in at_head if pull.is_open]
    if len(opened) == 1:
        return opened[0]
    if not opened and at_head:
        numbers = ", ".join(f"#{pull.number}" for pull in at_head)
        raise ClosedPull(f"no pull request is open at {asked.head}; closed: {numbers}")
    moved = [pull for pull in found if pull.is_open]
    if not opened and len(moved) == 1:
        raise Stale(f"the run was for {asked.head}, and pull request {moved[0].number} has moved on to {moved[0].head}")
    others = ", ".join(f"#{pull.number} at {pull.head}" for pull in (opened or moved)) or "none"
    raise NoPull(
        f"expected exactly one open pull request with head {asked.head} from {one_line(head, 200)}; "
        f"found {len(opened)} (open from there: {one_line(others, 500)})"
    )


def runs_for(api: Api, pull: Pull, workflow: str | None) -> list[int]:
    """The runs for a pull request's head commit, newest first; only the newest of `workflow` where it is named (A2)."""
    path = f"/actions/workflows/{quote(workflow, safe='')}/runs" if workflow else "/actions/runs"
    listed = [run for run in api.pages(path, head_sha=pull.head) if isinstance(run, dict)]
    ours = [
        run
        for run in listed
        if run.get("head_sha") == pull.head
        and _inside(run, "head_repository").get("full_name") == pull.head_repository
        and type(run.get("id")) is int
    ]
    ours.sort(key=lambda run: (str(run.get("created_at")), run["id"]), reverse=True)
    return [run["id"] for run in ours[: 1 if workflow else _RUNS_LOOKED_AT]]


def check_run(api: Api, run_id: int, pull: Pull) -> None:
    """That a run was for the pull request's head. Raises NoPull."""
    run = api.get(f"/actions/runs/{run_id}").json()
    run = run if isinstance(run, dict) else {}
    of = _inside(run, "head_repository").get("full_name") or _GONE
    if of == _GONE or (run.get("head_sha"), of) != (pull.head, pull.head_repository):
        raise NoPull(
            f"run {run_id} was for {one_line(str(run.get('head_sha')), 64)} of {one_line(str(of), 100)}, "
            f"not for {pull.head} of {pull.head_repository or _GONE}, the head of pull request {pull.number}"
        )


def _pull(entry: Any) -> Pull:
    entry = entry if isinstance(entry, dict) else {}
    base, head = _inside(entry, "base"), _inside(entry, "head")
    number = entry.get("number")
    if type(number) is not int or not all(_COMMIT.fullmatch(str(side.get("sha"))) for side in (base, head)):
        raise GitHubError("GitHub answered with something else than a pull request; run the job again")
    return Pull(
        number=number,
        base=base["sha"],
        head=head["sha"],
        head_repository=str(_inside(head, "repo").get("full_name", "")),
        base_repository=str(_inside(base, "repo").get("full_name", "")),
        is_open=entry.get("state") == "open",
        locked=entry.get("locked") is True,
        author=str(_inside(entry, "user").get("login", "")),
    )


def _inside(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = value.get(name)
    return found if isinstance(found, dict) else {}
