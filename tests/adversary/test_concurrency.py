"""Sixteen runs at once against the same servers, two of them on one pull request (A4, A8, A9)."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.action.job import Project, ended, started
from tests.adversary.case import Case
from tests.adversary.holding import faults
from tests.command import ON, answers, brief, document, says
from tests.repos import Repo
from tests.servers.github import FakeGitHub, Pull, zip_of
from tests.servers.model import Answer, Exchange, ModelServer, ok

RUNS: Final = 16
WORDS: Final = [f"word{chr(97 + number)}{chr(97 + number)}{chr(97 + number)}" for number in range(RUNS)]


@dataclass
class Shops:
    """One repository with a pull request for each word but the last, which is the newer head of the first."""

    repo: Repo
    github: FakeGitHub
    subjects: list[Project]
    newer: str


@contextmanager
def shops(directory: Path) -> Iterator[Shops]:
    repo = Repo(directory / "shop")
    base = repo.commit({".opendrs.yml": ON, "src/a.ts": "export const a = 1;\n"})
    with FakeGitHub(repo) as github:
        subjects = []
        for word in WORDS[:-1]:
            pull = github.add_pull(base, _changed(repo, base, word), head_ref=word)
            subjects.append(_subject(directory / word, repo, github, pull, word))
        yield Shops(repo, github, subjects, _changed(repo, base, WORDS[-1]))
        assert github.violations == []


def _changed(repo: Repo, base: str, word: str) -> str:
    repo.git("checkout", "--quiet", base)
    return repo.commit({"src/a.ts": f"export const a = '{word}';\n"})


def _subject(place: Path, repo: Repo, github: FakeGitHub, pull: Pull, word: str) -> Project:
    place.mkdir()
    run = github.add_run(pull)
    fact = {"id": "contract.api", "file": "src/a.ts", "line": 1, "strength": "strong", "text": f"it is {word} now"}
    made = brief(head=pull.head_sha, reviewFirst=[], checks=[], notes=[word])
    made["captain"] = {"priority": word, "why": word, "facts": [fact]}
    github.add_artifact(run, zip_of({"brief.json": document(made)}))
    return Project(place, repo, github, pull, run)


def _reason(body: Any) -> str:
    """The one word of a request: whose it is."""
    (word,) = {word for word in WORDS if word in body["messages"][0]["content"]}
    return word


def _answer(body: Any) -> Any:
    word = _reason(body)
    cited = {"file": "src/a.ts", "line": 1}
    return answers(lambda *_: says("downgrade", reason=f"said of {word}", citation=cited))(body)


def test_a4_sixteen_runs_at_once_keep_apart_and_leave_one_comment_each(tmp_path: Path) -> None:
    with shops(tmp_path) as at:
        first = at.subjects[0]
        late: list[tuple[Project, subprocess.Popen[bytes]]] = []

        def answer(exchange: Exchange) -> None:
            if _reason(exchange.request.body) == WORDS[0] and not late:
                # While the model reads the first pull request, its branch moves on, and the run for that begins.
                at.github.push(first.pull, at.newer)
                newer = _subject(tmp_path / WORDS[-1], at.repo, at.github, first.pull, WORDS[-1])
                late.append((newer, started(newer, model)))
            ok(_answer)(exchange)

        def script(_: Any) -> Answer:
            return answer

        with ModelServer(script) as model:
            running = [(subject, started(subject, model)) for subject in at.subjects]
            done = [ended(subject, process) for subject, process in running]
            ((newer, process),) = late
            done.append(ended(newer, process))
            assert model.violations == []
        assert len(model.requests) == RUNS
        assert (done[0].code, done[0].outputs["status"]) == (0, "stale")
        for word, subject, end in zip(WORDS[1:], [*at.subjects[1:], newer], done[1:], strict=True):
            assert list(faults(Case(word, calls=RUNS), subject, model, end)) == []
            told = f"{end.log} {end.summary} {subject.comment_bodies()} {_files(subject)}"
            assert {other for other in WORDS if other in told} == {word}
            assert f"downgraded by verifier: said of {word}" in told


def _files(subject: Project) -> str:
    return json.dumps([path.read_text() for path in sorted((subject.workspace / "verifier-out").iterdir())])
