"""How a run can end, one row each: exit code, status, comment, summary, the one annotation, calls of the model (A6)."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pytest

from tests.action.conftest import KEEP, Make
from tests.action.job import KEY, READ_ONLY, Ended, Project, job
from tests.command import ON, brief
from tests.rendering import page
from tests.servers import model as says
from tests.servers.github import Action, broken, fault, zip_of
from tests.servers.model import Answer, ModelServer, ok
from tests.unit.test_text import BREAK

POST: Final = r"/issues/\d+/comments$"
FULL: Final = "## Check specifically"
QUICK: Final = {
    **brief(),
    "captain": {
        "priority": "quick confirm",
        "facts": [{"id": "coupling.missing", "file": "README.md", "strength": "info", "text": "one"}],
    },
    "reviewFirst": [],
    "checks": [],
}
SECRET: Final = "hunter2-in-the-brief"


def nothing(_: Project) -> None:
    pass


@dataclass(frozen=True)
class Row:
    """A situation, and how the run ends there."""

    status: str
    level: str = "notice"
    code: int = 0
    said: Sequence[str] = ()
    comments: int = 0
    calls: int = 0
    is_late: bool = False  # a slow machine may take all the time for its own start, and ask nobody
    summary: Sequence[str] = (FULL,)
    answer: Answer = field(default_factory=lambda: ok(KEEP))
    without_key: bool = False
    made: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    arrange: Callable[[Project], None] = nothing


def ends(make: Make, row: Row) -> tuple[Project, Ended]:
    """Runs a row, and holds all of it."""
    subject = make(**row.made)
    row.arrange(subject)
    with ModelServer([row.answer]) as model:
        inputs = {"llm-api-key": "" if row.without_key else KEY, **row.inputs}
        ended = job(subject, model, inputs=inputs, env=row.env)
        assert model.violations == []
        assert len(model.requests) == row.calls or (row.is_late and not model.requests)
    level, line = ended.said  # there is exactly one
    assert (ended.code, ended.outputs["status"], level) == (row.code, row.status, row.level), line
    for words in row.said:
        assert words in line
    bodies = subject.comment_bodies()
    assert len(bodies) == row.comments
    assert bool(ended.outputs["comment-url"]) == bool(row.comments)
    for words in row.summary:
        assert words in ended.summary
    shown = page(ended.summary).text.replace(BREAK, "").replace("＄", "$")
    assert shown.startswith(f"verifier · {line.replace('%25', '%').replace(BREAK, '')}\n")
    return subject, ended


def configured(more: str) -> dict[str, str]:
    return {"config": f"{ON}    {more}\n"}


def cut_short(state: str) -> Callable[[Project], None]:
    """The conversation ends while the model is asked: between the reads and the last look."""

    def change(subject: Project) -> None:
        if state == "closed":
            subject.pull.state = "closed"
        else:
            subject.pull.locked = True

    def arrange(subject: Project) -> None:
        subject.github.before(r"/graphql$", lambda: change(subject), nth=3)

    return arrange


def at_start(**fields: Any) -> Callable[[Project], None]:
    def arrange(subject: Project) -> None:
        for name, value in fields.items():
            setattr(subject.pull, name, value)

    return arrange


def moves(subject: Project) -> None:
    head = subject.repo.commit({"src/other.ts": "export {};\n"})
    subject.github.before(r"/graphql$", lambda: subject.github.push(subject.pull, head), nth=3)


def moved(subject: Project) -> None:
    """A run whose event is of an older head: the brief is for that one, as is all that the event says."""
    head = subject.repo.commit({"src/other.ts": "export {};\n"})
    subject.github.before(r"/pulls/\d+$", lambda: subject.github.push(subject.pull, head), nth=1)


def locks_at_post(subject: Project) -> None:
    """Locked after the last look: GitHub refuses the comment."""

    def lock() -> None:
        subject.pull.locked = True

    subject.github.before(POST, lock, method="POST")


def refuses(action: Action) -> Callable[[Project], None]:
    return lambda subject: subject.github.faults.append(fault(action, POST, method="POST"))


def weak(kind: str) -> Callable[[Project], None]:
    """The token of a fork's or Dependabot's run, which reads and never writes."""

    def arrange(subject: Project) -> None:
        subject.github.add_token("ghs_weak", kind="fork", permissions=READ_ONLY)
        if kind == "dependabot":
            subject.pull.author = "dependabot[bot]"

    return arrange


def without_artifact(subject: Project) -> None:
    subject.github.artifacts.clear()


WEAK: Final = {"github-token": "ghs_weak"}
HURRIED: Final = configured("timeoutSeconds: 1")
REFUSED: Final = Row("failed", "error", 1, ["verified: 5 kept", "and the comment was refused"], calls=1)

# What a provider may do instead of its work: the answer, how many requests it gets, and words of the reason.
FAILURES: Final[dict[str, tuple[Answer, int, str]]] = {
    "400": (says.status(400, "invalid_request_error", "no"), 1, "(400)"),
    "401": (says.status(401, "authentication_error", "no"), 1, "rejected the key (401)"),
    "404": (says.status(404, "not_found_error", "no"), 1, "unknown model"),
    "429": (says.status(429, "rate_limit_error", "no", headers={"retry-after": "1e300"}), 3, "limits the rate (429)"),
    "429, a day": (
        says.status(429, "rate_limit_error", "no", headers={"retry-after": "86400"}),
        1,
        "asks to wait 86400 s",
    ),
    "500": (says.status(500, "api_error", "no"), 3, "failed (500)"),
    "529": (says.status(529, "overloaded_error", "no"), 3, "is overloaded (529)"),
    "refusal": (says.refusal("cyber"), 1, "refused"),
    "truncated": (says.stop("max_tokens"), 1, "cut off at its token limit"),
    "empty": (says.empty(), 1, "answered with no text"),
    "HTML": (says.html_200(), 1, "does not speak the Messages API"),
    "closed": (says.close_mid_body(), 1, "broke off"),
    "slow": (says.silent(), 1, "no answer within 1 s"),
    "trickle": (says.trickle(), 1, "no answer within 1 s"),
    "not JSON": (ok("I would keep them all."), 1, "JSON"),
    "wrong schema": (ok({"verdicts": "all of them"}), 1, ""),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_s24_a_provider_s_failure_is_shown_unfolded_and_the_run_does_not_fail(make: Make, failure: str) -> None:
    answer, calls, words = FAILURES[failure]
    late = failure in ("slow", "trickle")
    row = Row("failed", "warning", 0, ["verifier failed: ", words, "5 unverified"], 1, calls, answer=answer)
    subject, ended = ends(make, replace(row, made=HURRIED if late else {}, is_late=late))
    (body,) = subject.comment_bodies()
    unfolded = body.partition("<details>")[0]
    assert "> [!WARNING]\n> verifier failed: " in unfolded
    assert words in unfolded.replace("\\", "")
    assert "everything below is unverified" in unfolded
    assert body.count("[unverified]") == 2
    assert (ended.outputs["unverified"], ended.outputs["kept"]) == ("5", "0")


ROWS: Final[dict[str, Row]] = {
    "verified": Row("verified", said=["verified: 5 kept, 1200+300 tokens"], comments=1, calls=1),
    "skipped, quick confirm": Row(
        "skipped", said=["quick-confirm PR with only info facts): 1 unverified"], comments=1, made={"of": QUICK}
    ),
    "skipped, prompt too long": Row(
        "skipped",
        said=["skipped (prompt of ", "exceeds llm.verify.maxTokens (10)"],
        comments=1,
        made=configured("maxTokens: 10"),
    ),
    "off at base": Row("off", said=["off"], comments=1, made={"config": None}),
    "off by input": Row("off", said=["off"], comments=1, inputs={"no-llm": "true"}),
    "configuration broken": Row(
        "failed", "warning", said=["configuration: .opendrs.yml"], comments=1, made={"config": "llm: ["}
    ),
    "memory broken": Row("failed", "warning", said=["facts.jsonl line 1"], comments=1, made={"memory": "{}\n"}),
    "no key": Row("failed", "warning", said=["no key: set llm-api-key"], comments=1, without_key=True),
    "stale, the brief is for another head": Row("stale", said=["0" * 40], made={"of": brief(head="0" * 40)}),
    "stale, the brief is for another pull request": Row("stale", said=["is 42"], made={"of": brief(pullRequest=41)}),
    "stale, the event is for another head": Row("stale", said=["has moved on from"], arrange=moved, summary=()),
    "stale, the head moves during the run": Row("stale", said=["moved on to"], arrange=moves, calls=1),
    "closed at the start": Row("skipped", said=["42 is closed"], arrange=at_start(state="closed"), summary=()),
    "merged at the start": Row(
        "skipped", said=["42 is closed"], arrange=at_start(state="closed", merged=True), summary=()
    ),
    "locked at the start": Row("skipped", said=["42 is locked"], arrange=at_start(locked=True), summary=()),
    "closed during the run": Row("skipped", said=["5 kept", "was closed"], arrange=cut_short("closed"), calls=1),
    "locked during the run": Row("skipped", said=["5 kept", "was locked"], arrange=cut_short("locked"), calls=1),
    "locked after the last look": Row("skipped", said=["5 kept", "was locked"], arrange=locks_at_post, calls=1),
    "no brief": Row("no-brief", "error", 1, ["no artifact opendrs-brief"], arrange=without_artifact, summary=()),
    "no brief, warn": Row("no-brief", "warning", arrange=without_artifact, inputs={"if-no-brief": "warn"}, summary=()),
    "no brief, ignore": Row("no-brief", arrange=without_artifact, inputs={"if-no-brief": "ignore"}, summary=()),
    "comment refused with 403": replace(REFUSED, arrange=refuses(broken(403, "Forbidden"))),
    "comment refused with 422": replace(REFUSED, arrange=refuses(broken(422, "Validation Failed"))),
    "comment refused with 500 on every try": replace(REFUSED, arrange=refuses(broken(500))),
    "no comment wanted": Row("verified", said=["comment: false"], calls=1, inputs={"comment": "false"}),
    "bad input": Row(
        "failed", "error", 2, ["no-llm", "pr-number"], inputs={"no-llm": "x", "pr-number": "x"}, summary=()
    ),
    "token not accepted": Row("failed", "error", 1, ["(401)"], inputs={"github-token": "ghs_old"}, summary=()),
    "hostile brief": Row(
        "failed",
        "error",
        1,
        ["the brief is not valid: $.checks[0].line: expected"],
        made={"of": brief(checks=[{"file": "a", "line": SECRET, "text": SECRET}])},
        summary=(),
    ),
    "hostile artifact": Row(
        "failed",
        "error",
        1,
        ["the brief is not valid"],
        made={"artifact": zip_of({"brief.json": SECRET})},
        summary=(),
    ),
    "a fork's run, no key": Row(
        "failed",
        "warning",
        0,
        ["no key: set llm-api-key", "workflow_run"],
        made={"head_repository": "eve/shop"},
        arrange=weak("fork"),
        inputs=WEAK,
        without_key=True,
    ),
    "Dependabot's run, no key": Row(
        "failed", "warning", 0, ["workflow_run"], arrange=weak("dependabot"), inputs=WEAK, without_key=True
    ),
    "Dependabot started the run": Row(
        "failed",
        "warning",
        0,
        ["workflow_run"],
        arrange=weak("fork"),
        inputs=WEAK,
        without_key=True,
        env={"GITHUB_ACTOR": "dependabot[bot]"},
    ),
}


@pytest.mark.parametrize("situation", ROWS)
def test_a6_each_outcome_has_its_exit_code_status_comment_and_summary(make: Make, situation: str) -> None:
    row = ROWS[situation]
    subject, ended = ends(make, row)
    said = ended.log + ended.summary + str(ended.outputs)
    assert SECRET not in said  # the path of what is wrong, and nothing that stands there
    if row.comments:
        (comment,) = subject.github.comments_on(subject.pull)
        assert ended.outputs["comment-url"] == subject.github.comment_page(comment)
    if row.calls:
        # What was paid for is there, whatever became of the comment.
        whole = json.loads((subject.workspace / ended.outputs["brief"]).read_text())
        assert whole["verification"]["status"] == "verified"
        assert json.loads((subject.workspace / ended.outputs["record"]).read_text())["reply"]
        assert "[verified · new]" in ended.summary
        assert (ended.outputs["kept"], ended.outputs["input-tokens"], ended.outputs["output-tokens"]) == (
            "5",
            "1200",
            "300",
        )
    if not row.summary:
        assert "brief" not in ended.outputs
        assert subject.comment_bodies() == []
