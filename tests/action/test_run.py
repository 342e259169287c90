"""The Action over a fake GitHub and a scripted model, from the event to the comment (section 10)."""

import gzip
import json
import re
from typing import Any

import pytest

from tests.action.conftest import Make
from tests.action.job import KEY, READ_ONLY, job
from tests.command import GATE, ON, brief, document
from tests.servers.github import broken, fault, performed, reply, reset, zip_bomb, zip_of
from tests.servers.model import ModelServer, ok, refusal, status
from verifier import lossless
from verifier.comment import MARKER


def test_a1_a_verified_brief_becomes_one_comment(make: Make, model: ModelServer) -> None:
    subject = make()
    ended = job(subject, model)
    assert ended.code == 0
    assert ended.said == ("notice", "verified: 5 kept, 1200+300 tokens")
    (body,) = subject.comment_bodies()
    assert body.startswith(MARKER)
    assert "exported function createSession lost its parameter ttl [verified · new]" in body
    assert ended.outputs["status"] == "verified"
    assert (ended.outputs["kept"], ended.outputs["dropped"]) == ("5", "0")
    assert ended.outputs["comment-url"].startswith(subject.github.server_url)
    assert "## Check specifically" in ended.summary
    document = (subject.path / "runner/workspace" / ended.outputs["brief"]).read_text()
    assert {name: lossless.members(document)[name] for name in GATE} == GATE
    assert json.loads((subject.path / "runner/workspace" / ended.outputs["record"]).read_text())["version"] == 1


@pytest.mark.parametrize(
    ("event_name", "most", "inputs"),
    [
        ("pull_request", 10, {}),
        ("workflow_run", 10, {}),
        # Which run is asked for, and whether that one is for the head, are questions of their own.
        ("workflow_dispatch", 11, {"pr-number": "42", "brief-workflow": "brief.yml"}),
        ("pull_request", 11, {"run-id": "5001"}),
    ],
)
def test_a7_the_plain_case_takes_at_most_ten_requests(
    make: Make, model: ModelServer, event_name: str, most: int, inputs: dict[str, str]
) -> None:
    subject = make()
    events = {
        "pull_request": subject.event(),
        "workflow_run": subject.github.event_workflow_run(subject.made_by),
        "workflow_dispatch": subject.github.event_workflow_dispatch(inputs),
    }
    for number in (most, most - 1):  # the second time there is a comment already
        before = len([request for request in subject.github.requests if request.host == "api"])
        ended = job(subject, model, event=events[event_name], event_name=event_name, inputs=inputs)
        assert ended.outputs["status"] == "verified"
        asked = [request for request in subject.github.requests if request.host == "api"]
        assert len(asked) - before <= number, subject.github.operations
    assert len(model.requests) == 2


def test_a9_secrets_are_masked_and_go_nowhere_else(make: Make, model: ModelServer) -> None:
    subject = make()
    ended = job(subject, model, env={"GITHUB_TOKEN": "ghs_other", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"})
    log = [line for line in ended.log.splitlines() if not line.startswith("::add-mask::")]
    assert f"::add-mask::{KEY}" in ended.log
    for secret in (KEY, subject.github.token):
        assert secret not in "\n".join(log) + ended.summary + str(ended.outputs) + str(subject.comment_bodies())
    blobs = [request for request in subject.github.requests if request.host == "blob"]
    assert [("authorization" in request.headers) for request in blobs] == [False]


def test_a4_the_comment_is_updated_in_place(make: Make, model: ModelServer) -> None:
    subject = make()
    job(subject, model)
    job(subject, model)
    assert len(subject.comment_bodies()) == 1


def test_a4_a_marker_of_somebody_else_is_not_ours(make: Make, model: ModelServer) -> None:
    subject = make()
    subject.github.add_comment(subject.pull, f"{MARKER}\nmine", login="eve")
    job(subject, model)
    assert [body.endswith("mine") for body in subject.comment_bodies()] == [True, False]


def test_a4_our_comment_is_found_behind_a_hundred_others(make: Make, model: ModelServer) -> None:
    subject = make()
    subject.github.add_comment(subject.pull, f"{MARKER}\nold", login="github-actions[bot]")
    for number in range(101):
        subject.github.add_comment(subject.pull, f"comment {number}")
    job(subject, model)
    bodies = subject.comment_bodies()
    assert len(bodies) == 102
    assert "verified" in bodies[0]


def test_a4_a_second_comment_of_ours_is_taken_away(make: Make, model: ModelServer) -> None:
    subject = make()
    for _ in range(2):
        subject.github.add_comment(subject.pull, f"{MARKER}\nold", login="github-actions[bot]")
    job(subject, model)
    assert len(subject.comment_bodies()) == 1


def test_a4_a_post_that_was_stored_but_answered_502_is_not_made_twice(make: Make, model: ModelServer) -> None:
    subject = make()
    subject.github.faults.append(fault(performed(broken(502)), r"/issues/\d+/comments$", method="POST", nth=1))
    ended = job(subject, model)
    assert ended.code == 0
    assert len(subject.comment_bodies()) == 1


def test_a4_a_head_that_moves_during_the_run_leaves_no_comment(make: Make, model: ModelServer) -> None:
    subject = make()
    moved = subject.repo.commit({"src/other.ts": "export {};\n"})

    def push() -> None:
        subject.pull.head_sha = moved

    subject.github.before(r"/graphql$", push, nth=3)
    ended = job(subject, model)
    assert (ended.code, ended.outputs["status"], subject.comment_bodies()) == (0, "stale", [])
    assert "createSession" in ended.summary


def test_a4_a_brief_for_another_head_is_stale_and_nothing_is_paid(make: Make, model: ModelServer) -> None:
    subject = make(of=brief(head="0" * 40))
    ended = job(subject, model)
    assert (ended.code, ended.outputs["status"], len(model.requests)) == (0, "stale", 0)
    assert subject.comment_bodies() == []


@pytest.mark.parametrize("state", ["closed", "locked"])
def test_a_closed_or_locked_conversation_is_left_alone(make: Make, model: ModelServer, state: str) -> None:
    subject = make()
    if state == "closed":
        subject.pull.state = "closed"
    else:
        subject.pull.locked = True
    ended = job(subject, model)
    assert (ended.code, ended.outputs["status"], len(model.requests)) == (0, "skipped", 0)
    assert state in ended.said[1]


@pytest.mark.parametrize(
    "answer",
    [status(401, "authentication_error", "no"), refusal("cyber"), ok("not JSON")],
    ids=["401", "refused", "text"],
)
def test_s24_each_provider_failure_is_told_unfolded_in_a_posted_comment(make: Make, answer: Any) -> None:
    subject = make()
    with ModelServer([answer]) as server:
        ended = job(subject, server)
    assert (ended.code, ended.outputs["status"]) == (0, "failed")
    (body,) = subject.comment_bodies()
    assert body.index("verifier failed: ") < body.index("<details>")
    assert "[unverified]" in body


def test_s24_no_key_is_a_failure_that_says_what_to_do(make: Make) -> None:
    subject = make()
    ended = job(subject)
    assert (ended.code, ended.outputs["status"]) == (0, "failed")
    unfolded = subject.comment_bodies()[0].partition("<details>")[0]
    assert "verifier failed: no key: set llm-api-key" in unfolded


@pytest.mark.parametrize(("config", "inputs"), [(None, {}), (ON, {"no-llm": "true"})])
def test_s23_off_still_comments_the_brief_as_it_came(make: Make, model: ModelServer, config: Any, inputs: Any) -> None:
    subject = make(config=config)
    ended = job(subject, model, inputs=inputs)
    assert (ended.code, ended.outputs["status"], len(model.requests)) == (0, "off", 0)
    assert "verified" not in subject.comment_bodies()[0]
    written = (subject.path / "runner/workspace" / ended.outputs["brief"]).read_text()
    assert written == document(brief(head=subject.pull.head_sha))


def test_s31_the_pull_request_cannot_switch_itself_off(make: Make, model: ModelServer) -> None:
    subject = make(change={".opendrs.yml": "llm: {enabled: false}\n"})
    ended = job(subject, model)
    assert ended.outputs["status"] == "verified"
    assert "base version used: this pull request changes .opendrs.yml" in subject.comment_bodies()[0]


def test_comment_false_writes_none(make: Make, model: ModelServer) -> None:
    subject = make()
    ended = job(subject, model, inputs={"comment": "false"})
    assert (ended.code, ended.outputs["comment-url"], subject.comment_bodies()) == (0, "", [])


def test_a5_a_fork_s_token_that_may_not_comment_is_a_warning(make: Make, model: ModelServer) -> None:
    subject = make(head_repository="eve/shop")
    token = subject.github.add_token("ghs_weak", kind="fork", permissions=READ_ONLY).value
    ended = job(subject, model, inputs={"github-token": token})
    assert (ended.code, ended.said[0]) == (0, "warning")
    assert "workflow_run" in ended.said[1]
    assert "createSession" in ended.summary


def test_a5_elsewhere_a_missing_permission_is_an_error_that_names_it(make: Make, model: ModelServer) -> None:
    subject = make()
    token = subject.github.add_token("ghs_weak", permissions=READ_ONLY).value
    ended = job(subject, model, inputs={"github-token": token})
    assert (ended.code, ended.outputs["status"], ended.said[0]) == (1, "failed", "error")
    assert "pull" in ended.said[1]
    assert "write" in ended.said[1]
    assert "createSession" in ended.summary
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    ("choice", "code", "level"), [("error", 1, "error"), ("warn", 0, "warning"), ("ignore", 0, "notice")]
)
@pytest.mark.parametrize("how", ["missing", "expired", "gone", "other file"])
def test_a6_no_brief_is_what_if_no_brief_says(make: Make, how: str, choice: str, code: int, level: str) -> None:
    subject = make(artifact=zip_of({"other.json": b"{}"}) if how == "other file" else None)
    (artifact,) = subject.github.artifacts.values()
    if how == "missing":
        artifact.name = "another"
    artifact.expired = how == "expired"
    artifact.gone = how == "gone"
    ended = job(subject, inputs={"if-no-brief": choice})
    assert (ended.code, ended.outputs["status"], ended.said[0]) == (code, "no-brief", level)
    assert subject.comment_bodies() == []


@pytest.mark.parametrize(
    "artifact",
    [
        zip_bomb(200_000_000),
        b"PK\x03\x04broken",
        zip_of({"brief.json": b"{}"}),
        zip_of({"brief.json": b"\xff"}),
        b"not a zip",
    ],
    ids=["bomb", "broken", "no brief", "no UTF-8", "no zip"],
)
def test_a8_a_hostile_artifact_is_one_sentence(make: Make, artifact: bytes) -> None:
    subject = make(artifact=artifact)
    ended = job(subject)
    assert (ended.code, ended.outputs["status"], ended.said[0]) == (1, "failed", "error")
    assert ended.said[1].startswith("the brief is not valid: ")


@pytest.mark.parametrize("path", [r"/pulls/42$", r"/graphql$"])
def test_a8_a_reply_of_github_s_that_unpacks_to_more_than_any_has_is_left(make: Make, path: str) -> None:
    subject = make()
    bomb = gzip.compress(b" " * 100_000_000, compresslevel=1)
    subject.github.faults.append(fault(reply(200, bomb, {"Content-Encoding": "gzip"}), path, nth=None, host="api"))
    ended = job(subject)
    assert (ended.code, ended.said[0]) == (1, "error")
    assert "with more than 64 MB" in ended.said[1]
    asked = [request for request in subject.github.requests if re.search(path, request.path)]
    assert len(asked) == 1  # once more would be as large


def test_a8_nothing_in_a_brief_becomes_a_command_or_a_mention(make: Make, model: ModelServer) -> None:
    text = "x ##[set-output name=status;]ok\n::error::forged\r::stop-commands::a @octocat #1 <img src=x>"
    hostile = brief()
    hostile["captain"]["facts"][0]["text"] = text
    hostile["notes"] = [text]
    subject = make(of=hostile)
    ended = job(subject, model)
    assert ended.said[0] == "notice"
    body = subject.comment_bodies()[0]
    assert "@octocat" not in body
    assert "<img" not in body


def test_a2_a_run_by_hand_finds_the_newest_run_of_the_head(make: Make, model: ModelServer) -> None:
    subject = make()
    event = subject.github.event_workflow_dispatch({"pr-number": str(subject.pull.number)})
    inputs = {"pr-number": str(subject.pull.number)}
    ended = job(subject, model, event=event, event_name="workflow_dispatch", inputs=inputs)
    assert (ended.code, ended.outputs["status"]) == (0, "verified")
    named = job(
        subject, model, event=event, event_name="workflow_dispatch", inputs={**inputs, "brief-workflow": "brief.yml"}
    )
    assert named.outputs["status"] == "verified"


def test_a2_a_workflow_run_finds_the_fork_s_pull_request(make: Make, model: ModelServer) -> None:
    subject = make(head_repository="eve/shop")
    event = subject.github.event_workflow_run(subject.made_by)
    ended = job(subject, model, event=event, event_name="workflow_run", env={"GITHUB_RUN_ID": "999"})
    assert (ended.code, ended.outputs["status"]) == (0, "verified")
    subject.github.add_pull(subject.pull.base_sha, subject.pull.head_sha, head_repository="eve/shop")
    ended = job(subject, model, event=event, event_name="workflow_run")
    assert (ended.code, ended.said[0]) == (1, "error")
    assert "expected exactly one open pull request" in ended.said[1]


@pytest.mark.parametrize("event_name", ["push", "schedule", "pull_request_target", "merge_group"])
def test_a2_other_events_are_input_errors(make: Make, event_name: str) -> None:
    ended = job(make(), event_name=event_name)
    assert (ended.code, ended.outputs["status"]) == (2, "failed")
    assert "has no pull request" in ended.said[1]


def test_a1_all_input_errors_are_told_at_once(make: Make) -> None:
    inputs = {"pr-number": "0", "no-llm": "yes", "if-no-brief": "maybe", "brief-workflow": "x", "github-token": ""}
    subject = make()
    ended = job(subject, inputs={**inputs, "no-lm": "true"})
    assert ended.code == 2
    for name in inputs:
        assert name in ended.said[1]
    assert subject.github.requests == []


def test_a_workspace_file_can_be_the_brief(make: Make, model: ModelServer) -> None:
    subject = make()
    workspace = subject.path / "runner/workspace"
    workspace.mkdir(parents=True)
    (workspace / "mine.json").write_text(document(brief(head=subject.pull.head_sha)))
    (workspace / "out.json").symlink_to("/etc/hostname")
    ended = job(subject, model, inputs={"brief-path": "mine.json"})
    assert ended.outputs["status"] == "verified"
    for path in ("out.json", "../../x", "/etc/hostname", "missing.json", "."):
        assert job(subject, model, inputs={"brief-path": path}).outputs["status"] == "no-brief"


def test_a_diff_that_github_refuses_is_read_file_by_file(make: Make, model: ModelServer) -> None:
    subject = make()
    subject.github.limits.diff_lines = 1
    subject.github.without_patch.add("src/session.ts")
    ended = job(subject, model)
    assert ended.outputs["status"] == "verified"
    assert "createSession(user: string): Session" in model.requests[0].body["messages"][0]["content"]


@pytest.mark.parametrize("action", [broken(502), reset()], ids=["502", "reset"])
def test_a_read_that_fails_once_is_read_again(make: Make, model: ModelServer, action: Any) -> None:
    subject = make()
    subject.github.faults.append(fault(action, r"/compare/", nth=1))
    assert job(subject, model).outputs["status"] == "verified"


def test_a_read_that_always_fails_is_one_sentence_and_nothing_is_paid(make: Make, model: ModelServer) -> None:
    subject = make()
    subject.github.faults.append(fault(broken(500), r"/artifacts$"))
    ended = job(subject, model)
    assert (ended.code, ended.said[0], len(model.requests)) == (1, "error", 0)
    assert "run the job again" in ended.said[1]
