"""What a run leaves wherever it ends: outputs, summary, files, one line; and what it never gives away (A1, A5, A9)."""

import json
import os
import select
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from tests.action.conftest import KEEP, Make
from tests.action.job import KEY, READ_ONLY, Project, commands_in, ended, job, started
from tests.command import ON, brief, document
from tests.servers.github import fault, hang, reply
from tests.servers.model import Answer, ModelServer, ok, silent, status
from verifier.action.artifact import BRIEF_LIMIT
from verifier.text import fact_hash

OUT: Final = "verifier-out"


def link(place: Path, target: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)


# Places that cannot be written. Whoever runs the tests may be root, whom no mode stops: folders do.


@pytest.mark.parametrize(("name", "what"), [("GITHUB_OUTPUT", "outputs"), ("GITHUB_STEP_SUMMARY", "job summary")])
def test_a6_what_cannot_be_written_is_one_error_that_says_so(
    make: Make, model: ModelServer, tmp_path: Path, name: str, what: str
) -> None:
    subject = make()
    for place, why in ((tmp_path, "Is a directory"), (tmp_path / "none" / "file", "No such file or directory")):
        found = job(subject, model, env={name: str(place)})
        assert (found.code, found.said[0]) == (1, "error")
        assert found.said[1].startswith("verified: 5 kept, 1200+300 tokens; ")
        assert found.said[1].endswith(f"could not be written ({why})")
        assert what in found.said[1]
        written = {"GITHUB_OUTPUT": found.summary, "GITHUB_STEP_SUMMARY": str(found.outputs)}[name]
        assert "verified" in written
    assert len(subject.comment_bodies()) == 1


def test_a1_a_runner_without_output_and_summary_is_no_reason_to_fail(make: Make, model: ModelServer) -> None:
    found = job(make(), model, env={"GITHUB_OUTPUT": "", "GITHUB_STEP_SUMMARY": ""})
    assert (found.code, found.said[0], found.outputs, found.summary) == (0, "notice", {}, "")


@pytest.mark.parametrize("aim", ["folder", "nothing", "file"])
def test_a9_a_result_folder_that_leads_elsewhere_is_refused(
    make: Make, model: ModelServer, tmp_path: Path, aim: str
) -> None:
    subject = make()
    outside = tmp_path / "outside"
    if aim == "folder":
        outside.mkdir()
    elif aim == "file":
        outside.write_text("theirs")
    link(subject.workspace / OUT, outside)
    found = job(subject, model)
    assert (found.code, found.said[0]) == (1, "error")
    assert "; the result files could not be written (" in found.said[1]
    assert (subject.workspace / OUT).is_symlink()
    assert not outside.exists() if aim == "nothing" else outside.read_text() == "theirs" if aim == "file" else True
    assert aim != "folder" or list(outside.iterdir()) == []
    assert "brief" not in found.outputs
    assert found.outputs["status"] == "verified"
    assert "[verified · new]" in found.summary


def test_a9_a_result_file_that_leads_elsewhere_is_replaced(make: Make, model: ModelServer, tmp_path: Path) -> None:
    subject = make()
    target = tmp_path / "target"
    target.write_text("theirs")
    for name in ("brief.json", "record.json"):
        link(subject.workspace / OUT / name, target)
    found = job(subject, model)
    assert (found.code, target.read_text()) == (0, "theirs")
    for output in ("brief", "record"):
        file = subject.workspace / found.outputs[output]
        assert not file.is_symlink()
        assert json.loads(file.read_text())
    assert sorted(file.name for file in (subject.workspace / OUT).iterdir()) == ["brief.json", "record.json"]


def test_a9_a_folder_where_a_result_goes_is_one_error_and_leaves_nothing_behind(make: Make, model: ModelServer) -> None:
    subject = make()
    (subject.workspace / OUT / "brief.json").mkdir(parents=True)
    found = job(subject, model)
    assert (found.code, found.said[0]) == (1, "error")
    assert "the result files could not be written (Is a directory)" in found.said[1]
    assert [file.name for file in (subject.workspace / OUT).iterdir()] == ["brief.json"]


def test_a1_a_brief_of_the_workspace_that_is_too_large_or_no_file_is_refused(make: Make) -> None:
    subject = make()
    subject.workspace.mkdir(parents=True)
    with (subject.workspace / "large.json").open("wb") as file:
        file.truncate(BRIEF_LIMIT + 1)
    (subject.workspace / "loop").symlink_to("loop")
    large = job(subject, inputs={"brief-path": "large.json"})
    assert (large.code, large.outputs["status"]) == (1, "failed")
    assert f"large.json has more than {BRIEF_LIMIT:,} bytes" in large.said[1]
    looped = job(subject, inputs={"brief-path": "loop"})
    assert (looped.code, looped.outputs["status"]) == (1, "no-brief")


# Secrets.


def everything(subject: Project, log: str) -> str:
    """All that a run gave away: log, files of the runner and of the workspace, comments."""
    files = [file.read_text() for file in sorted(subject.place.rglob("*")) if file.is_file()]
    return "\n".join([log, *files, *subject.comment_bodies()])


def test_a9_the_key_is_nowhere_even_where_the_provider_says_it_back(make: Make) -> None:
    subject = make()
    echo = status(400, "invalid_request_error", f"the key {KEY} is not one; Bearer {KEY}")
    with ModelServer([ok(KEEP), echo]) as model:
        for _ in range(2):
            found = job(subject, model)
            given = everything(subject, found.unmasked)
            assert KEY not in given
            assert subject.github.token not in given
        assert len(model.requests) == 2
    sent = [f"{one.path} {one.headers} {one.raw!r}" for one in subject.github.requests]
    assert KEY not in "".join(sent)
    assert f"::add-mask::{KEY}\n" in found.log
    assert f"::add-mask::{subject.github.token}\n" in found.log


def test_a9_every_line_of_a_secret_is_masked_by_the_runner_s_rules(make: Make, model: ModelServer) -> None:
    subject = make()
    key = "first-line-50%25off\r\nsecond-line%0A\n"
    found = job(subject, model, inputs={"llm-api-key": key, "github-token": "ghs_50%"})
    lines = found.log.splitlines()
    masks = [line.removeprefix("::add-mask::") for line in lines if line.startswith("::add-mask::")]
    # What the runner makes of them.
    hidden = {mask.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%") for mask in masks}
    assert {"first-line-50%25off", "second-line%0A", key, "ghs_50%"} <= hidden
    first = next(at for at, line in enumerate(lines) if not line.startswith("::add-mask::"))
    assert len(masks) == first  # before all else
    given = everything(subject, found.unmasked)
    for secret in ("first-line", "second-line", "ghs_50"):
        assert secret not in given
    assert model.requests == []


def test_a9_a_key_that_no_header_can_hold_is_a_failure_without_it(make: Make, model: ModelServer) -> None:
    subject = make()
    found = job(subject, model, inputs={"llm-api-key": "two\nlines"})
    assert (found.code, found.outputs["status"], model.requests) == (0, "failed", [])
    assert "the key holds white space, a line break" in found.said[1]
    refused = job(subject, model, inputs={"llm-base-url": "http://user:hunter2@127.0.0.1/"})
    assert "llm-base-url is not an address that a key may go to" in refused.said[1]
    assert "hunter2" not in everything(subject, refused.log)


# The end before the end.


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a6_a_run_that_is_cancelled_during_the_call_leaves_all_but_a_comment(
    make: Make, number: signal.Signals
) -> None:
    subject = make()
    asked = threading.Event()
    with ModelServer(lambda _: _silent_after(asked)) as model:
        process = started(subject, model)
        assert asked.wait(30)
        process.send_signal(number)
        found = ended(subject, process)  # long before the call would end
    assert (found.code, found.said[0]) == (1, "error")
    assert "cancelled by the runner" in found.said[1]
    assert found.outputs["status"] == "failed"
    assert (found.outputs["comment-url"], subject.comment_bodies()) == ("", [])
    assert "exported function createSession lost its parameter ttl" in found.summary
    assert (subject.workspace / found.outputs["brief"]).read_text() == document(brief(head=subject.pull.head_sha))


def _silent_after(asked: threading.Event) -> Answer:
    asked.set()
    return silent()


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_a6_the_runner_s_second_signal_does_not_stop_what_the_first_one_began(
    make: Make, tmp_path: Path, second: signal.Signals
) -> None:
    subject = make()
    outputs, summary = tmp_path / "outputs", tmp_path / "summary"
    for pipe in (outputs, summary):
        os.mkfifo(pipe)
    reading = os.open(outputs, os.O_RDONLY | os.O_NONBLOCK)
    asked = threading.Event()
    with ModelServer(lambda _: _silent_after(asked)) as model:
        process = started(subject, model, env={"GITHUB_OUTPUT": str(outputs), "GITHUB_STEP_SUMMARY": str(summary)})
        assert asked.wait(30)
        process.send_signal(signal.SIGTERM)
        assert select.select([reading], [], [], 30)[0]
        # The outputs are written, and the summary waits for somebody who reads it.
        process.send_signal(second)
        shown = os.open(summary, os.O_RDONLY | os.O_NONBLOCK)
        found = ended(subject, process)
    assert b"exported function createSession lost" in os.read(shown, 65_536)
    os.close(shown)
    os.close(reading)
    assert (found.code, found.said[0]) == (1, "error")
    assert "cancelled by the runner" in found.said[1]


def test_a6_a_run_that_is_cancelled_while_github_is_slow_ends_at_once(make: Make) -> None:
    subject = make()
    asked = threading.Event()
    subject.github.before(r"/pulls/\d+$", asked.set)
    subject.github.faults.append(fault(hang(), r"/pulls/\d+$"))
    process = started(subject)
    assert asked.wait(30)
    process.send_signal(signal.SIGTERM)
    found = ended(subject, process)
    assert (found.code, found.outputs["status"]) == (1, "failed")
    assert "cancelled by the runner" in found.said[1]


# What the surroundings cannot do.


def test_a9_nothing_of_the_workspace_is_ever_imported(make: Make, model: ModelServer) -> None:
    subject = make()
    for name in ("sitecustomize", "usercustomize", "json", "requests", "anthropic", "github/__init__"):
        _plant(subject.workspace / f"{name}.py")
    for name in ("verifier/__init__", "verifier/action/main", "encodings/__init__", "pydantic/__init__"):
        _plant(subject.workspace / f"{name}.py")
    names = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONUSERBASE")
    env = dict.fromkeys(names, str(subject.workspace)) | {"PYTHONINSPECT": "1", "PYTHONBREAKPOINT": "verifier.go"}
    found = job(subject, model, env=env)
    assert (found.code, found.outputs["status"]) == (0, "verified")
    assert not (subject.workspace / "was-here").exists()


def _plant(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("open('was-here', 'w').close()\nraise SystemExit('planted')\n")


def test_a8_debugging_the_runner_says_no_more_of_anything(make: Make, model: ModelServer) -> None:
    subject = make()
    plain = job(subject, model).unmasked.splitlines()
    env = {"RUNNER_DEBUG": "1", "ACTIONS_STEP_DEBUG": "true", "ANTHROPIC_LOG": "debug", "PYTHONDEBUG": "1"}
    found = job(subject, model, env=env)
    assert found.unmasked.splitlines() == plain
    assert plain[0] == "verifier: asking claude-sonnet-5-5 about 5 items"
    assert len(plain) == 2


def test_a8_what_a_provider_or_a_configuration_says_commands_nothing(make: Make) -> None:
    subject = make(config=ON.replace("llm:\n", "llm:\n  model: 'x ##[add-mask]y'\n"))
    with ModelServer(
        [status(400, "invalid_request_error", "a ##[error]b\n::warning::c ##[set-output name=status;]d")]
    ) as m:
        found = job(subject, m)
        assert (found.code, found.outputs["status"], found.said[0]) == (0, "failed", "warning")
    assert list(commands_in(found.unmasked)) == found.commands


def test_a5_a_missing_permission_is_named_as_github_names_it(make: Make, model: ModelServer) -> None:
    subject = make()
    headers = {"X-Accepted-GitHub-Permissions": "pull_requests=write"}
    body = {"message": "Resource not accessible by integration"}
    subject.github.faults.append(fault(reply(403, body, headers), r"/issues/", method="POST"))
    found = job(subject, model)
    assert (found.code, found.said[0]) == (1, "error")
    for words in ("add `pull-requests: write`", "Resource not accessible by integration"):
        assert words in found.said[1]


@pytest.mark.parametrize(
    ("missing", "words"),
    [("pull-requests", "pull-requests: read"), ("actions", "actions: read"), ("contents", "contents: read")],
)
def test_a5_a_permission_to_read_is_named_before_anything_is_paid(
    make: Make, model: ModelServer, missing: str, words: str
) -> None:
    subject = make()
    permissions = {**READ_ONLY, "pull-requests": "write"} | {missing: "none"}
    token = subject.github.add_token("ghs_less", permissions=permissions).value
    found = job(subject, model, inputs={"github-token": token})
    assert (found.code, found.outputs["status"], found.said[0]) == (1, "failed", "error")
    assert words in found.said[1]
    assert model.requests == []


Change = Callable[[Project], Any]


def _drop_head(subject: Project) -> None:
    subject.github.faults.append(fault(reply(200, {"number": 42}), r"/pulls/\d+$"))


def _not_json(subject: Project) -> None:
    subject.github.faults.append(fault(reply(200, "<html>"), r"/pulls/\d+$"))


def _no_merge_base(subject: Project) -> None:
    subject.github.faults.append(fault(reply(200, {}), r"/compare/"))


def _no_list(subject: Project) -> None:
    subject.github.faults.append(fault(reply(200, {"total_count": 1}), r"/artifacts$"))


def _empty_graphql(subject: Project) -> None:
    subject.github.faults.append(fault(reply(200, {"data": None}), r"/graphql$"))


def _no_pull(subject: Project) -> None:
    answer = {"data": {"repository": {"pullRequest": None}}}
    subject.github.faults.append(fault(reply(200, answer), r"/graphql$", nth=3))


@pytest.mark.parametrize("change", [_drop_head, _not_json, _no_merge_base, _no_list, _empty_graphql, _no_pull])
def test_a6_an_answer_of_another_shape_is_one_sentence(make: Make, model: ModelServer, change: Change) -> None:
    subject = make()
    change(subject)
    found = job(subject, model)
    assert (found.code, found.outputs["status"], found.said[0]) == (1, "failed", "error")
    assert "unexpected" not in found.said[1]
    assert "run the job again" in found.said[1]
    assert subject.comment_bodies() == []


def test_c1_an_unknown_key_is_a_warning_in_the_log_and_no_annotation(make: Make, model: ModelServer) -> None:
    found = job(make(config=f"{ON}    maxTokenz: 1\n"), model)
    assert found.said[0] == "notice"
    assert "\nverifier: warning: .opendrs.yml" in found.log
    assert "maxTokens" in found.log


def test_s31_a_memory_that_graphql_cuts_is_read_whole(make: Make, model: ModelServer) -> None:
    text = "exported function createSession lost its parameter ttl"
    last = {"hash": fact_hash("contract.api", "src/session.ts", text), "id": "contract.api", "file": "src/session.ts"}
    first = {"hash": "0" * 16, "id": "a", "file": "b", "verdict": "wrong", "note": "x" * 200}
    memory = f"{json.dumps(first)}\n{json.dumps(last | {'verdict': 'ignored'})}\n"
    subject = make(memory=memory)
    subject.github.limits.text = 200
    found = job(subject, model)
    assert (found.outputs["status"], found.outputs["downgraded"]) == ("verified", "1")
    assert "[downgraded: dismissed earlier as ignored]" in subject.comment_bodies()[0]
