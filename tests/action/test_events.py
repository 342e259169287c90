"""Which pull request, which commit, which run: from event and API, never from the artifact or the environment (A2)."""

import json
from collections.abc import Mapping
from typing import Any, Final

import pytest

from tests.action.conftest import Make
from tests.action.job import KEY, Ended, Project, job
from tests.command import ON, README, brief, document
from tests.servers.github import Run, zip_of
from tests.servers.model import ModelServer
from verifier.text import fact_hash

FORK: Final = "eve/shop"


def ran(subject: Project, model: ModelServer | None = None, **more: Any) -> Ended:
    """A run that was started by the end of the run that made the brief."""
    event = subject.github.event_workflow_run(subject.made_by)
    return job(subject, model, event=event, event_name="workflow_run", env={"GITHUB_RUN_ID": "999"}, **more)


def by_hand(subject: Project, model: ModelServer | None = None, **inputs: str) -> Ended:
    """A run by hand, the inputs in words of Python."""
    named = {name.replace("_", "-"): value for name, value in inputs.items()}
    event = subject.github.event_workflow_dispatch(named)
    return job(subject, model, event=event, event_name="workflow_dispatch", inputs=named)


def with_brief(subject: Project, run: Run, **changes: Any) -> None:
    data = document(brief(head=subject.pull.head_sha, **changes))
    subject.github.add_artifact(run, zip_of({"brief.json": data}))


def result(subject: Project, ended: Ended) -> Any:
    return json.loads((subject.workspace / ended.outputs["brief"]).read_text())


def test_a2_a_fork_s_pull_request_is_found_by_its_head_behind_other_pages(make: Make, model: ModelServer) -> None:
    subject = make(head_repository=FORK)
    assert subject.github.event_workflow_run(subject.made_by)["workflow_run"]["pull_requests"] == []
    # Newer ones stand before it: closed at the same commit, of another repository, of another branch.
    subject.github.fixed_page_size = 1
    base, head = subject.pull.base_sha, subject.pull.head_sha
    subject.github.add_pull(base, head, head_repository=FORK, state="closed")
    subject.github.add_pull(base, head, head_repository="eve/other-shop")
    subject.github.add_pull(base, head, head_repository=FORK, head_ref="other")
    ended = ran(subject, model)
    assert (ended.code, ended.outputs["status"]) == (0, "verified")
    assert len(subject.comment_bodies()) == 1
    assert len(subject.github.comments) == 1
    assert sum(request.path.endswith("/pulls") for request in subject.github.requests) == 3


def test_a2_two_open_pull_requests_from_one_head_are_an_error_that_lists_both(make: Make, model: ModelServer) -> None:
    subject = make(head_repository=FORK)
    other = subject.github.add_pull(
        subject.pull.base_sha, subject.pull.head_sha, head_repository=FORK, base_ref="release"
    )
    ended = ran(subject, model)
    assert (ended.code, ended.outputs["status"], ended.said[0]) == (1, "failed", "error")
    for number in (subject.pull.number, other.number):
        assert f"#{number} at {subject.pull.head_sha}" in ended.said[1]
    assert (subject.github.comments, model.requests) == ({}, [])
    # A number decides between them, and a number of neither finds none.
    assert ran(subject, model, inputs={"pr-number": str(other.number)}).outputs["status"] == "verified"
    assert [comment.number for comment in subject.github.comments.values()] == [other.number]
    assert "found 0" in ran(subject, model, inputs={"pr-number": "7"}).said[1]


def test_a2_a_run_whose_pull_request_was_closed_is_skipped_and_one_that_moved_on_is_stale(
    make: Make, model: ModelServer
) -> None:
    subject = make(head_repository=FORK, of=brief())  # which names no head of its own
    event = subject.github.event_workflow_run(subject.made_by)
    head = subject.pull.head_sha
    subject.github.push(subject.pull, subject.repo.commit({"src/other.ts": "export {};\n"}))
    moved = job(subject, model, event=event, event_name="workflow_run")
    assert (moved.code, moved.outputs["status"]) == (0, "stale")
    assert head in moved.said[1]
    assert subject.pull.head_sha in moved.said[1]
    subject.github.push(subject.pull, head)
    subject.pull.state = "closed"
    ended = job(subject, model, event=event, event_name="workflow_run")
    assert (ended.code, ended.outputs["status"], ended.said[0]) == (0, "skipped", "notice")
    assert f"closed: #{subject.pull.number}" in ended.said[1]
    assert (subject.github.comments, model.requests) == ({}, [])


@pytest.mark.parametrize("field", ["pullRequest", "head"])
def test_a2_an_artifact_never_says_which_pull_request_it_is_for(make: Make, model: ModelServer, field: str) -> None:
    subject = make(head_repository=FORK)
    victim = subject.github.add_pull(subject.pull.base_sha, subject.pull.base_sha, number=1, head_ref="victim")
    aimed = {"pullRequest": victim.number, "head": subject.pull.head_sha}
    if field == "head":
        aimed = {"head": victim.head_sha}
    (artifact,) = subject.github.artifacts.values()
    artifact.data, artifact.digest = zip_of({"brief.json": document(brief(**aimed))}), ""
    ended = ran(subject, model)
    assert (ended.code, ended.outputs["status"]) == (0, "stale")
    assert (subject.github.comments, model.requests) == ({}, [])


def test_a2_commits_and_repository_of_a_brief_are_not_what_is_compared_or_read(make: Make, model: ModelServer) -> None:
    subject = make()
    (artifact,) = subject.github.artifacts.values()
    aimed = brief(head=subject.pull.head_sha, base="1" * 40, repository="eve/other")
    artifact.data, artifact.digest = zip_of({"brief.json": document(aimed)}), ""
    assert job(subject, model).outputs["status"] == "verified"
    asked = json.dumps([[request.path, request.body] for request in subject.github.requests])
    assert "1" * 40 not in asked
    assert "eve" not in asked


def test_a2_a_run_by_hand_without_a_number_asks_nobody_anything(make: Make, model: ModelServer) -> None:
    subject = make()
    ended = by_hand(subject, model)
    assert (ended.code, ended.outputs["status"]) == (2, "failed")
    assert ended.said == (
        "error",
        "input pr-number is missing: a workflow_dispatch names no pull request by itself",
    )
    assert (subject.github.requests, model.requests) == ([], [])


def test_a2_a_number_that_is_no_pull_request_s_costs_nothing(make: Make, model: ModelServer) -> None:
    subject = make()
    ended = by_hand(subject, model, pr_number="7")
    assert (ended.code, ended.outputs["status"], len(model.requests)) == (1, "failed", 0)
    assert "GitHub has no pulls/7 (404)" in ended.said[1]


def test_a2_a_run_by_hand_takes_the_newest_run_of_the_workflow_that_is_named(make: Make, model: ModelServer) -> None:
    subject = make()
    number = str(subject.pull.number)
    # Newer, at the same commit, and none of them the one: a fork's, another workflow's, one for another commit.
    with_brief(subject, subject.github.add_run(subject.pull, head_repository=FORK), notes=["of a fork"])
    other = subject.github.add_run(subject.pull, path=".github/workflows/other.yml")
    with_brief(subject, other, notes=["of another workflow"])
    with_brief(subject, subject.github.add_run(subject.pull.base_sha), notes=["of another commit"])
    named = by_hand(subject, model, pr_number=number, brief_workflow="brief.yml")
    assert "2 files read" in result(subject, named)["notes"]
    # Without a name the newest run of the head that has the artifact counts.
    unnamed = by_hand(subject, model, pr_number=number)
    assert "of another workflow" in result(subject, unnamed)["notes"]
    # The newest run of a named workflow has none: an older brief is not taken for it.
    subject.github.add_artifact(subject.github.add_run(subject.pull), zip_of({"a": b""}), name="coverage")
    ended = by_hand(subject, model, pr_number=number, brief_workflow=".github/workflows/brief.yml")
    assert (ended.code, ended.outputs["status"]) == (1, "no-brief")
    assert "no artifact opendrs-brief in run " in ended.said[1]
    none = by_hand(subject, model, pr_number=number, brief_workflow="missing.yml")
    assert (none.code, none.outputs["status"]) == (1, "failed")


def test_a2_a_run_id_of_another_head_is_an_error_that_names_both(make: Make, model: ModelServer) -> None:
    subject = make()
    older = subject.github.add_run(subject.pull.base_sha)
    with_brief(subject, older)
    foreign = subject.github.add_run(subject.pull, head_repository=FORK)
    with_brief(subject, foreign)
    ended = by_hand(subject, model, pr_number="42", run_id=str(older.id))
    assert (ended.code, ended.outputs["status"]) == (1, "failed")
    for words in (str(older.id), older.head_sha, subject.pull.head_sha):
        assert words in ended.said[1]
    elsewhere = job(subject, model, inputs={"run-id": str(foreign.id)})
    assert elsewhere.code == 1
    assert f"of {FORK}" in elsewhere.said[1]
    assert model.requests == []
    good = job(subject, model, inputs={"run-id": str(subject.made_by.id)}, env={"GITHUB_RUN_ID": "999"})
    assert good.outputs["status"] == "verified"


def test_a2_s31_a_rerun_with_an_old_event_reads_the_base_as_it_is_now(make: Make, model: ModelServer) -> None:
    subject = make(config="llm: {enabled: false}\n")
    event = subject.event()
    start = subject.pull.base_sha  # where the branch began, and what the event still calls the base
    text = "exported function createSession lost its parameter ttl"
    line = {"hash": fact_hash("contract.api", "src/session.ts", text), "id": "contract.api", "file": "src/session.ts"}
    subject.repo.git("checkout", "--quiet", start)
    subject.pull.base_sha = subject.repo.commit(
        {
            ".opendrs.yml": ON,
            ".opendrs/facts.jsonl": json.dumps({**line, "verdict": "intentional"}),
            "src/client.ts": "// moved away\n",
            "README.md": README + "\nThe shop also takes things back when they break within a month.\n",
        }
    )
    ended = job(subject, model, event=event)
    assert ended.outputs["status"] == "verified"
    whole = result(subject, ended)
    assert "[downgraded: dismissed earlier as intentional]" in whole["captain"]["facts"][-1]["text"]
    # At the base of now README.md has the added line; at the merge base it has not, so that its hunk is new.
    assert whole["reviewFirst"][1]["hunks"][0]["reason"].endswith("[verified · new]")
    assert 'createSession("ada", 60)' in model.requests[0].body["messages"][0]["content"]
    asked = [request.body["variables"] for request in subject.github.requests if request.path.endswith("/graphql")]
    places = [str(value) for variables in asked for name, value in variables.items() if name.startswith("e")]
    assert {place.partition(":")[0] for place in places if ".opendrs" in place} == {subject.pull.base_sha}
    assert {place.partition(":")[0] for place in places if ".opendrs" not in place} == {start}


def test_a9_inputs_win_and_nothing_of_the_environment_is_used(make: Make, model: ModelServer) -> None:
    subject = make()
    bad = {
        "GITHUB_TOKEN": "bad-1",
        "GH_TOKEN": "bad-2",
        "ANTHROPIC_API_KEY": "bad-3",
        "ANTHROPIC_AUTH_TOKEN": "bad-4",
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
        "ANTHROPIC_CUSTOM_HEADERS": "x-bad: bad-5",
        "ANTHROPIC_MODEL": "bad-6",
        "INPUT_GITHUB_TOKEN": "bad-7",
        "INPUT_LLM_API_KEY": "bad-8",
        "GITHUB_GRAPHQL_URL": "http://127.0.0.1:9/graphql",
    }
    (subject.place / "workspace").mkdir(parents=True)
    (subject.place / ".netrc").write_text("default login bad-9 password bad-10\n")
    ended = job(subject, model, env=bad)
    assert (ended.code, ended.outputs["status"]) == (0, "verified")
    (asked,) = model.requests
    sent: list[Any] = [asked, *subject.github.requests]
    assert "bad-" not in str([(one.path, one.headers, one.raw) for one in sent])
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    # Names with underscores are none that a runner writes.
    log = ended.log.splitlines()
    assert "verifier: warning: unknown input github_token; the nearest known one is github-token" in log
    assert "verifier: warning: unknown input llm_api_key; the nearest known one is llm-api-key" in log


def test_a1_an_unknown_input_is_named_even_where_another_is_missing_for_it(make: Make) -> None:
    ended = job(make(), event={}, event_name="workflow_dispatch", inputs={"pr-numbr": "42", "::error::x": "y"})
    assert (ended.code, ended.said[1].partition(":")[0]) == (2, "input pr-number is missing")
    assert "unknown input pr-numbr; the nearest known one is pr-number" in ended.log


NO_FILE: Final = "no such file"
UNREADABLE: Final[Mapping[str, tuple[str, str]]] = {
    "missing": (NO_FILE, "the event cannot be read (FileNotFoundError)"),
    "not JSON": ("{", "the event cannot be read (JSONDecodeError)"),
    "not text": ("\udcff", "the event cannot be read (UnicodeDecodeError)"),
    "deep": ("[" * 200_000, "the event cannot be read (RecursionError)"),
    "huge": (f'{{"a": "{"x" * 30_000_000}"}}', "the event cannot be read (JSONDecodeError)"),
    "no object": ("[]", "the event is not a JSON object"),
    "no pull request": ("{}", "the event holds no pull request"),
    "other types": ('{"pull_request": {"number": "42", "head": []}}', "the event holds no pull request"),
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_a6_an_event_that_cannot_be_read_is_a_wrong_input(make: Make, kind: str) -> None:
    text, words = UNREADABLE[kind]
    subject = make()
    file = subject.path / "other-event.json"
    if text != NO_FILE:
        file.write_bytes(text.encode(errors="surrogateescape"))
    ended = job(subject, env={"GITHUB_EVENT_PATH": str(file)})
    assert (ended.code, ended.outputs["status"], ended.said[0]) == (2, "failed", "error")
    assert ended.said[1] == f"GITHUB_EVENT_PATH: {words}"
    assert subject.github.requests == []


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"head_sha": None}, "no head commit, repository and branch"),
        ({"head_branch": None}, "no head commit, repository and branch"),
        ({"id": "x"}, "holds no run"),
    ],
)
def test_a2_a_run_s_event_that_names_no_head_is_a_wrong_input(make: Make, fields: Any, words: str) -> None:
    subject = make()
    event = subject.github.event_workflow_run(subject.made_by)
    event["workflow_run"] |= fields
    ended = job(subject, event=event, event_name="workflow_run")
    assert (ended.code, subject.github.requests) == (2, [])
    assert words in ended.said[1]


def test_a1_all_that_is_wrong_with_inputs_runner_and_event_is_told_at_once(make: Make) -> None:
    subject = make()
    names = ("GITHUB_RUN_ID", "GITHUB_REPOSITORY", "GITHUB_API_URL", "GITHUB_EVENT_PATH", "GITHUB_EVENT_NAME")
    inputs = {
        "comment": "no",
        "if-no-brief": "fail",
        "run-id": "-1",
        "brief-artifact": "a/b",
        "brief-workflow": "../x.yml",
        "brief-path": "a.json",
        "github-token": " ",
    }
    ended = job(subject, inputs=inputs, env=dict.fromkeys(names, ""))
    assert ended.code == 2
    for name in (*names, *inputs):
        assert ended.said[1].count(name) >= 1, name
    assert ended.said[1].count("; ") >= len(names) + len(inputs) - 1
    wrong = {"GITHUB_RUN_ID": "x", "GITHUB_REPOSITORY": "shop", "GITHUB_EVENT_PATH": "/dev/null"}
    ended = job(subject, inputs={"pr-number": "0" * 19, "no-llm": "TRUE"}, env=wrong)
    for name in ("pr-number", *wrong):
        assert name in ended.said[1]
    assert "no-llm" not in ended.said[1]
    other = job(subject, inputs={"pr-number": "41"}).said[1]
    assert other == "input pr-number is 41, and the event is about pull request 42"
    assert subject.github.requests == []


def test_a2_a_deleted_fork_leaves_a_pull_request_that_can_be_reviewed(make: Make, model: ModelServer) -> None:
    subject = make(head_repository=None)
    ended = job(subject, model)
    assert (ended.code, ended.outputs["status"]) == (0, "verified")
    # What a run by hand could find by the head's repository is gone with it.
    assert by_hand(subject, model, pr_number="42").outputs["status"] == "no-brief"
    ended = ran(subject, model)
    assert (ended.code, ended.outputs["status"]) == (2, "failed")
    assert "is of a fork that is gone" in ended.said[1]


def test_a2_an_event_of_another_github_server_takes_its_addresses_from_the_runner(
    make: Make, model: ModelServer
) -> None:
    subject = make()
    event = json.loads(json.dumps(subject.event()).replace(subject.github.server_url, "http://127.0.0.1:9"))
    ended = job(subject, model, event=event)
    assert ended.outputs["status"] == "verified"
    assert ended.outputs["comment-url"].startswith(f"{subject.github.server_url}/acme/shop/pull/42#")
