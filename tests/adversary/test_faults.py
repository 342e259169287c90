"""One fault at every request of a run, one at a time and in pairs, and what the run and its re-run leave (A3, A4, A6).

The run ends by itself with a true status; the model is paid once; what was paid for is in summary and record; one
comment is left, the same as without the fault.
"""

import json
import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.action.conftest import KEEP
from tests.action.job import Ended, Project, job, projects
from tests.adversary.case import Case
from tests.adversary.holding import faults
from tests.servers.github import (
    Action,
    broken,
    changed,
    close_mid_body,
    fault,
    hang,
    html,
    performed,
    primary_rate_limit,
    reset,
    too_many,
    trickle,
    truncated,
)
from tests.servers.github_http import Host
from tests.servers.model import Answer, ModelServer, ok

ALWAYS: Final = range(1, 1_000)
DEFECT_SEED: Final = 20_261_201


@dataclass(frozen=True)
class Place:
    """One request of a plain run: the `nth` whose path fits."""

    name: str
    path: str
    method: str
    nth: int = 1
    host: Host = "api"


PLACES: Final = (
    Place("pull request", r"/pulls/42$", "GET"),
    Place("artifacts of the run", r"/artifacts$", "GET"),
    Place("address of the artifact", r"/zip$", "GET"),
    Place("artifact", "", "GET", host="blob"),
    Place("configuration, memory, comments", r"/graphql$", "POST"),
    Place("merge base", r"/compare/", "GET"),
    Place("diff", r"/pulls/42$", "GET", nth=2),
    Place("base texts", r"/graphql$", "POST", nth=2),
    Place("head again", r"/graphql$", "POST", nth=3),
    Place("comment", r"/issues/42/comments$", "POST"),
    Place("last look", r"/graphql$", "POST", nth=4),
)


@dataclass(frozen=True)
class Kind:
    """What becomes of a request, and for how long."""

    name: str
    action: Action
    always: bool = False

    def at(self, place: Place) -> Collection[int]:
        return range(place.nth, ALWAYS.stop) if self.always else [place.nth]


KINDS: Final = (
    Kind("reset once", reset()),
    Kind("reset always", reset(), always=True),
    Kind("done, and the answer lost", performed(reset())),
    Kind("done, and answered 502", performed(broken(502))),
    Kind("502 once", broken(502)),
    Kind("500 always", broken(500), always=True),
    Kind("403", broken(403, "Resource not accessible by integration"), always=True),
    Kind("404", broken(404, "Not Found"), always=True),
    Kind("429 for an hour", too_many(3600), always=True),
    Kind("429 once", too_many(0)),
    Kind("requests used up", primary_rate_limit(), always=True),
    Kind("cut body", truncated()),
    Kind("closed in the body", close_mid_body(), always=True),
    Kind("a page of HTML", html(200), always=True),
    Kind("an empty object", changed(lambda answer: type(answer)(answer.status, {}, answer.headers)), always=True),
)
SLOW: Final = (Kind("silence", hang(), always=True), Kind("a trickle", trickle(0.5), always=True))
ONE: Final = [pytest.param(((place, kind),), id=f"{place.name}: {kind.name}") for place in PLACES for kind in KINDS]
LATE: Final = [pytest.param(((place, kind),), id=f"{place.name}: {kind.name}") for place in PLACES for kind in SLOW]


def pairs() -> Sequence[object]:
    """Pairs of faults at two requests, drawn once and for all."""
    draw = random.Random(DEFECT_SEED)
    found = []
    for _ in range(30):
        first, second = draw.sample(PLACES, 2)
        one, other = draw.choice(KINDS), draw.choice(KINDS)
        name = f"{first.name}: {one.name}; {second.name}: {other.name}"
        found.append(pytest.param(((first, one), (second, other)), id=name))
    return found


def plan(subject: Project, planned: Sequence[tuple[Place, Kind]]) -> None:
    for place, kind in planned:
        path, at = place.path, kind.at(place)
        subject.github.faults.append(fault(kind.action, path, method=place.method, nth=at, host=place.host))


def holds(directory: Path, planned: Sequence[tuple[Place, Kind]], script: Answer | None = None, **more: object) -> None:
    """Runs with the faults, and again without: both end truly, and what the second leaves is as if nothing had been."""
    with projects(directory) as make:
        subject = make()
        plan(subject, planned)
        with ModelServer(lambda _: script or ok(KEEP)) as model:
            ended = job(subject, model, **more)
            paid = [request for request in model.requests if script is None and request.body is not None]
            assert_true(subject, model, ended, len(paid))
        subject.github.faults.clear()
        with ModelServer([ok(KEEP)]) as model:
            again = job(subject, model)
            assert (again.code, again.outputs["status"]) == (0, "verified")
            assert list(faults(Case("again"), subject, model, again)) == []


def assert_true(subject: Project, model: ModelServer, ended: Ended, paid: int) -> None:
    """The status is true, nothing is paid twice, and nothing that was paid for is lost."""
    status, comments = ended.outputs["status"], subject.comment_bodies()
    assert len(comments) <= 1
    assert paid <= 1
    told = Case("faulty", status=status, code=ended.code, comments=len(comments), calls=len(model.requests))
    assert list(faults(told, subject, model, ended)) == []
    if status in ("verified", "skipped") and ended.code == 0:
        assert len(comments) == 1
    if ended.outputs["comment-url"]:
        (comment,) = subject.github.comments_on(subject.pull)
        assert ended.outputs["comment-url"] == subject.github.comment_page(comment)
    if paid:
        assert "[verified · new]" in ended.summary
        record = json.loads((subject.workspace / ended.outputs["record"]).read_text())
        assert record["reply"]
        assert "1200+300 tokens" in ended.said[1]
        assert (ended.outputs["input-tokens"], ended.outputs["output-tokens"]) == ("1200", "300")


def test_a7_the_places_are_all_requests_of_a_plain_run(tmp_path: Path) -> None:
    with projects(tmp_path) as make, ModelServer([ok(KEEP)]) as model:
        subject = make()
        rules = [fault(broken(), place.path, method=place.method, nth=place.nth, host=place.host) for place in PLACES]
        job(subject, model)
        for request in subject.github.requests:
            assert sum(rule.takes(request) for rule in rules) == 1, request
        assert len(subject.github.requests) == len(PLACES)


@pytest.mark.parametrize("planned", ONE)
def test_one_fault_at_every_request(tmp_path: Path, planned: Sequence[tuple[Place, Kind]]) -> None:
    holds(tmp_path, planned)


@pytest.mark.parametrize("planned", pairs())
def test_two_faults_in_one_run(tmp_path: Path, planned: Sequence[tuple[Place, Kind]]) -> None:
    holds(tmp_path, planned)
