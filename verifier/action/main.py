"""The Action's run, top to bottom: inputs, pull request, brief, base, model, head again, comment, summary (A3)."""

import os
import stat
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from verifier.action.artifact import BadArtifact, NoBriefFound, download, file_inside, find_artifact
from verifier.action.conversation import COMMENTS, comments_in, ours, upsert
from verifier.action.inputs import BadInputs, Inputs, Runner, read_inputs, read_runner
from verifier.action.pull import Asked, NoPull, Pull, Stale, asked_for, check_run, find_pull, read_again, runs_for
from verifier.action.report import Level, annotate, log, mask, quiet, write_outputs, write_result, write_summary
from verifier.brief.document import Brief, NotABrief, read_brief
from verifier.brief.layout import Layout, as_it_came
from verifier.brief.markdown import brief_markdown
from verifier.comment import comment
from verifier.config import CONFIG_PATHS, BadConfig, Configured, read_config
from verifier.evidence.api import Api, GitHubError
from verifier.evidence.files import EvidenceError
from verifier.evidence.github import GitHubEvidence, blob_query, blob_text, fetch_diff, fetch_files
from verifier.memory import BadMemory, read_memory
from verifier.text import markdown
from verifier.verification.application import counts
from verifier.verification.model import (
    MISSING,
    BaseText,
    Dismissal,
    Outcome,
    Question,
    Reader,
    Reply,
    Settings,
)
from verifier.verification.record import write_record
from verifier.verification.verify import Verified, verify

DECIDED, REFUSED, WRONG_INPUT = 0, 1, 2
_OUT: Final = "verifier-out"
_BRIEF_LIMIT: Final = 20_000_000
_STILL_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class End:
    """How a run ended: its status (A1), its exit code (A6), and the one line that says it."""

    status: str
    code: int
    level: Level
    line: str


@dataclass(slots=True)
class Result:
    """What a run has to show so far; the summary and the outputs are made of it, whatever happens after."""

    brief: Brief | None = None
    layout: Layout | None = None
    document: str | None = None
    verified: Verified | None = None
    comment_url: str = ""


class Ended(Exception):
    """The run ends here, for a reason that is no failure of ours."""

    def __init__(self, status: str, code: int, level: Level, line: str) -> None:
        super().__init__(line)
        self.end = End(status, code, level, line)


def main(environment: Mapping[str, str] | None = None) -> int:
    """Runs the Action; returns its exit code. Every way out leaves outputs, a summary and one line."""
    environment = dict(os.environ) if environment is None else environment
    result = Result()
    try:
        end = _run(environment, result)
    except BadInputs as error:
        end = End("failed", WRONG_INPUT, "error", str(error))
    except Ended as error:
        end = error.end
    except Exception as error:  # noqa: BLE001 (no traceback for the person who must act; what was paid for is shown)
        end = End("failed", REFUSED, "error", f"unexpected {type(error).__name__}: please report it with the job's log")
    code = _report(environment, result, end)
    sys.stdout.flush()
    return code


def _run(environment: Mapping[str, str], result: Result) -> End:
    inputs, runner = _inputs(environment)
    asked = asked_for(runner, inputs)
    api = Api(inputs.token, runner.api_url, runner.repository)
    try:
        pull = _pull(api, asked)
        result.brief = brief = _brief(api, inputs, runner, asked, pull)
        _check_head(brief, pull)
        return _verify_and_post(api, inputs, runner, pull, brief, result)
    except (GitHubError, EvidenceError, NoPull) as error:
        raise Ended("failed", REFUSED, "error", str(error)) from None


def _inputs(environment: Mapping[str, str]) -> tuple[Inputs, Runner]:
    for name in ("INPUT_GITHUB-TOKEN", "INPUT_LLM-API-KEY"):
        mask(environment.get(name, ""))
    wrong: list[str] = []
    inputs: Inputs | None = None
    runner: Runner | None = None
    try:
        inputs = read_inputs(environment)
    except BadInputs as error:
        wrong += error.sentences
    try:
        runner = read_runner(environment)
    except BadInputs as error:
        wrong += error.sentences
    if inputs is None or runner is None:
        raise BadInputs(wrong)
    for warning in inputs.warnings:
        log(f"warning: {warning}")
    return inputs, runner


def _pull(api: Api, asked: Asked) -> Pull:
    try:
        pull = api.start(lambda: find_pull(api, asked)).result()
    except Stale as error:
        raise Ended("stale", DECIDED, "notice", f"stale: {error}; nothing was asked or posted") from None
    if not pull.is_open or pull.locked:
        state = "locked" if pull.is_open else "closed"
        raise Ended("skipped", DECIDED, "notice", f"skipped: pull request {pull.number} is {state}")
    return pull


def _brief(api: Api, inputs: Inputs, runner: Runner, asked: Asked, pull: Pull) -> Brief:
    try:
        if inputs.brief_path is not None:
            data = _workspace_file(runner.workspace, inputs.brief_path)
        else:
            runs = [asked.run_id] if asked.run_id else runs_for(api, pull, inputs.brief_workflow)
            if asked.run_id and inputs.run_id:
                check_run(api, asked.run_id, pull)
            artifact = find_artifact(api, runs, inputs.brief_artifact)
            plain_http = runner.api_url.startswith("http:")
            data = file_inside(download(api, artifact, plain_http), inputs.brief_file)
        return read_brief(data)
    except NoBriefFound as error:
        level: Level = {"error": "error", "warn": "warning", "ignore": "notice"}[inputs.if_no_brief]  # type: ignore[assignment]
        code = REFUSED if inputs.if_no_brief == "error" else DECIDED
        raise Ended("no-brief", code, level, f"no brief: {error}") from None
    except (NotABrief, BadArtifact) as error:
        raise Ended("failed", REFUSED, "error", f"the brief is not valid: {error}") from None


def _workspace_file(workspace: Path, path: str) -> bytes:
    """A file of the workspace, read and nothing else; no link leads out of it. Raises NoBriefFound."""
    file = (workspace / path).resolve()
    if not file.is_relative_to(workspace.resolve()):
        raise NoBriefFound(f"brief-path {path} leads out of the workspace")
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as opened:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise NoBriefFound(f"brief-path {path} is not a file")
            data = opened.read(_BRIEF_LIMIT + 1)
    except OSError as error:
        raise NoBriefFound(f"brief-path {path} cannot be read: {error.strerror}") from None
    if len(data) > _BRIEF_LIMIT:
        raise BadArtifact(f"{path} has more than {_BRIEF_LIMIT:,} bytes")
    return data


def _check_head(brief: Brief, pull: Pull) -> None:
    if brief.model.head not in (None, pull.head):
        line = f"stale: the brief is for head {brief.model.head}, and pull request {pull.number} is at {pull.head}"
        raise Ended("stale", DECIDED, "notice", f"{line}; nothing was asked or posted")


def _verify_and_post(api: Api, inputs: Inputs, runner: Runner, pull: Pull, brief: Brief, result: Result) -> End:
    comparing = api.start(lambda: _merge_base(api, pull))
    diffing = api.start(lambda: fetch_diff(api, pull.number))
    configured, memory, connection, trouble = _base(api, inputs, pull)
    settings = configured.settings
    for warning in configured.warnings:
        log(f"warning: {warning}")
    if inputs.no_llm or not settings.enabled:
        result.layout, result.document = as_it_came(brief), brief.source
        outcome = None
    else:
        if trouble is None and inputs.llm_key:
            from verifier.readers.anthropic import warm

            warm()
        dismissals: dict[str, Dismissal] = {}
        try:
            dismissals = read_memory(_bytes(memory), inputs.memory_path)
        except BadMemory as error:
            trouble = trouble or f"memory: {error}"
        merge_base = comparing.result()
        diff = diffing.result()
        if diff is None:
            diff = fetch_files(api, pull.number, merge_base, pull.head, _paths(brief))
        base_files = (*((inputs.config_path,) if inputs.config_path else CONFIG_PATHS), inputs.memory_path)
        verified = verify(
            brief,
            GitHubEvidence(api, pull.number, merge_base, pull.head, diff),
            dismissals,
            settings,
            _reader(inputs),
            trouble=trouble,
            base_files=base_files,
        )
        result.layout, result.document, result.verified = verified.layout, verified.document, verified
        outcome = verified.outcome
    return _post(api, inputs, runner, pull, brief, result, outcome, connection)


def _post(
    api: Api,
    inputs: Inputs,
    runner: Runner,
    pull: Pull,
    brief: Brief,
    result: Result,
    outcome: Outcome | None,
    connection: Any,
) -> End:
    assert result.layout is not None  # noqa: S101 (its one caller has just set it)
    done = _done(outcome)
    if not inputs.comment:
        return replace(done, line=f"{done.line}; comment: false, so nothing was posted")
    api.renew()
    try:
        now = read_again(api, pull.number)
        if now.head != pull.head:
            line = f"stale: pull request {pull.number} moved on to {now.head} during the run; nothing was posted"
            return End("stale", DECIDED, "notice", line)
        if not now.is_open or now.locked:
            state = "locked" if now.is_open else "closed"
            return replace(
                done, level="notice", line=f"{done.line}; pull request {pull.number} was {state}: nothing posted"
            )
        posted = upsert(api, pull.number, ours(api, pull.number, connection), comment(brief, result.layout, outcome))
        result.comment_url = posted.url
        return done
    except GitHubError as error:
        if error.status == 403 and _has_weak_token(runner, pull):
            line = (
                f"{done.line}; the token of a fork's or Dependabot's pull_request run may not comment: the job summary "
                "has everything (to comment, run this on workflow_run: see Forks in the README)"
            )
            return replace(done, level="warning", line=line)
        return End("failed", REFUSED, "error", f"{done.line}, and the comment was refused: {error}")


def _has_weak_token(runner: Runner, pull: Pull) -> bool:
    foreign = pull.head_repository != runner.repository or pull.author == "dependabot[bot]"
    return runner.event_name == "pull_request" and foreign


def _merge_base(api: Api, pull: Pull) -> str:
    value = api.get(f"/compare/{pull.base}...{pull.head}", per_page=1).json()
    commit = value.get("merge_base_commit") if isinstance(value, dict) else None
    if not isinstance(commit, dict) or not isinstance(commit.get("sha"), str):
        raise GitHubError("GitHub names no merge base for the pull request; run the job again")
    return str(commit["sha"])


def _base(api: Api, inputs: Inputs, pull: Pull) -> tuple[Configured, BaseText, Any, str | None]:
    """Configuration and memory at base, and our earlier comments, in one request (S31, A7)."""
    paths = [inputs.config_path] if inputs.config_path else list(CONFIG_PATHS)
    places = [(pull.base, path) for path in (*paths, inputs.memory_path)]
    query, variables = blob_query(api, places, COMMENTS)
    query = query.replace("query(", "query($number: Int!, $before: String, ", 1)
    data = api.query(query, variables | {"number": pull.number, "before": None})
    repository = data.get("repository") or {}
    *configs, memory = [blob_text(repository.get(f"f{at}")) for at in range(len(places))]
    found = next((at for at, text in enumerate(configs) if text is not MISSING), 0)
    trouble: str | None = None
    try:
        configured = read_config(_bytes(configs[found], BadConfig, paths[found]), paths[found])
    except BadConfig as error:
        configured, trouble = Configured(Settings(enabled=True)), f"configuration: {error}"
    return configured, memory, comments_in(data), trouble


def _bytes(text: BaseText, refuse: type[Exception] = BadMemory, path: str = "") -> bytes | None:
    if text is MISSING:
        return None
    if not isinstance(text, str):
        raise refuse(f"{path or 'the file'} at base cannot be read: it is binary, too large, or no file")
    return text.encode()


def _paths(brief: Brief) -> set[str]:
    return {item.file for items in (brief.facts, brief.files, brief.checks) for item in items}


def _reader(inputs: Inputs) -> Reader:
    def read(question: Question) -> Reply:
        from verifier.readers.anthropic import anthropic_reader

        ask = anthropic_reader(inputs.llm_key, inputs.llm_base_url)
        blocks = question.prompt.blocks
        log(f"asking {question.settings.model} about {blocks} item{'' if blocks == 1 else 's'}")
        ended = threading.Event()
        threading.Thread(target=_still, args=(ended,), daemon=True).start()
        try:
            return ask(question)
        finally:
            ended.set()

    return read


def _still(ended: threading.Event) -> None:
    seconds = _STILL_SECONDS
    while not ended.wait(_STILL_SECONDS):
        log(f"still waiting for the model, {seconds:.0f} s")
        seconds += _STILL_SECONDS


def _done(outcome: Outcome | None) -> End:
    if outcome is None:
        return End("off", DECIDED, "notice", "off: the brief as it came")
    words = ", ".join(f"{number} {name}" for name, number in counts(outcome).items() if number) or "no items"
    usage = f", {outcome.usage.input}+{outcome.usage.output} tokens" if outcome.usage else ""
    if outcome.status == "failed":
        return End("failed", DECIDED, "warning", f"verifier failed: {outcome.reason}; {words}{usage}")
    reason = f" ({outcome.reason})" if outcome.reason else ""
    return End(outcome.status, DECIDED, "notice", f"{outcome.status}{reason}: {words}{usage}")


def _report(environment: Mapping[str, str], result: Result, end: End) -> int:
    """Files, outputs, summary and the one annotation; what cannot be written is said, and the run has failed."""
    outputs = {"status": end.status, "comment-url": result.comment_url, **_numbers(result.verified)}
    troubles: list[str] = []
    try:
        outputs |= _files(environment, result)
    except OSError as error:
        troubles.append(f"the result files could not be written ({error.strerror})")
    try:
        write_outputs(environment.get("GITHUB_OUTPUT", ""), outputs)
    except OSError as error:
        troubles.append(f"the outputs could not be written ({error.strerror})")
    try:
        write_summary(environment.get("GITHUB_STEP_SUMMARY", ""), _summary(result, end))
    except OSError as error:
        troubles.append(f"the job summary could not be written ({error.strerror})")
    if troubles:
        annotate("error", f"{end.line}; {'; '.join(troubles)}")
        return end.code or REFUSED
    annotate(end.level, end.line)
    return end.code


def _numbers(verified: Verified | None) -> dict[str, str]:
    if verified is None:
        return {}
    outcome = verified.outcome
    numbers: dict[str, int | None] = dict(counts(outcome))
    numbers["input-tokens"] = outcome.usage.input if outcome.usage else None
    numbers["output-tokens"] = outcome.usage.output if outcome.usage else None
    found = {name: "" if number is None else str(number) for name, number in numbers.items()}
    return found | {"prompt-hash": verified.case.prompt.hash if verified.case.prompt else ""}


def _files(environment: Mapping[str, str], result: Result) -> dict[str, str]:
    """The verified brief and the record, as paths inside the workspace, which later steps of the job see (A1)."""
    if result.document is None:
        return {}
    workspace = Path(environment.get("GITHUB_WORKSPACE") or "/github/workspace")
    write_result(workspace / _OUT, "brief.json", result.document)
    found = {"brief": f"{_OUT}/brief.json"}
    if result.verified is not None:
        write_result(workspace / _OUT, "record.json", write_record(result.verified))
        found["record"] = f"{_OUT}/record.json"
    return found


def _summary(result: Result, end: End) -> str:
    said = f"**verifier** · {markdown(quiet(end.line))}\n"
    if result.brief is None:
        return said
    layout = result.layout or as_it_came(result.brief)
    return f"{said}\n{brief_markdown(result.brief, layout)}"
