"""The Action's run, top to bottom: pull request, brief, base and diff, model, head again, comment (A3)."""

import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from verifier.action.artifact import BadArtifact, NoBriefFound, download, file_inside, find_artifact
from verifier.action.conversation import COMMENTS, Conversation, Left, Posted, conversation, earlier, upsert
from verifier.action.ending import BRIEF_FILE, DECIDED, RECORD_FILE, REFUSED, End, Ended, Result
from verifier.action.inputs import Inputs, Runner
from verifier.action.pull import Asked, ClosedPull, Pull, Stale, check_run, runs_for
from verifier.action.report import Level, log
from verifier.action.workspace import workspace_file
from verifier.brief.document import Brief, NotABrief, read_brief
from verifier.brief.layout import Layout, as_it_came
from verifier.brief.markdown import brief_markdown
from verifier.comment import comment
from verifier.config import CONFIG_PATHS
from verifier.diff import Diff
from verifier.evidence.api import Api, GitHubError, Pending
from verifier.evidence.github import (
    GitHubEvidence,
    blob_query,
    blobs,
    fetch_diff,
    fetch_files,
    fetch_merge_base,
    is_cut,
    raw_text,
)
from verifier.setting import File, Setting, read_setting
from verifier.verification.application import counts
from verifier.verification.model import MISSING, BaseText, Outcome, Question, Reader, Reply, Settings, Unreadable
from verifier.verification.record import write_record
from verifier.verification.verify import Verified, verify

_STILL_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class AtBase:
    """What one early request brings: the configuration and memory at base (S31), and our comments so far (A4)."""

    setting: Setting
    known: Sequence[Posted]


def run(api: Api, inputs: Inputs, runner: Runner, asked: Asked, finding: Pending[Pull], result: Result) -> End:
    """From the pull request that is being looked for to the comment. What is done is put into `result` as it is done.

    Requests that do not need each other run side by side; what they bring is looked at in the order of A3, and nothing
    is paid for before all of it has passed. Raises Ended, NoPull and EvidenceError.
    """
    fetching = api.start(lambda: _brief_data(api, inputs, runner, asked, finding))
    pull = _open_pull(finding)
    reading = api.start(lambda: _at_base(api, inputs, pull))
    comparing = diffing = None
    if not inputs.no_llm:
        comparing = api.start(lambda: fetch_merge_base(api, pull.base, pull.head))
        diffing = api.start(lambda: fetch_diff(api, pull.number))
    brief = _brief(fetching, inputs)
    _show(result, brief, as_it_came(brief))
    _check_that_it_is_for(brief, pull)
    at_base = reading.result()
    for warning in at_base.setting.warnings:
        log(f"warning: {warning}")
    layout, outcome = as_it_came(brief), None
    if comparing and diffing and at_base.setting.settings.enabled:
        evidence = _evidence(api, pull, brief, comparing.result(), diffing.result())
        verified = _verify(inputs, brief, evidence, at_base.setting)
        layout, outcome = verified.layout, verified.outcome
        _show(result, brief, layout, verified)
    return _post(
        api,
        inputs,
        runner,
        pull,
        comment(brief, layout, outcome),
        _done(outcome, at_base.setting.off),
        at_base.known,
        result,
    )


def _brief_data(api: Api, inputs: Inputs, runner: Runner, asked: Asked, finding: Pending[Pull]) -> bytes:
    """The bytes of the brief's file: from the workspace, or from the artifact of a run (A1, A2)."""
    if inputs.brief_path is not None:
        return workspace_file(runner.workspace, inputs.brief_path)
    if asked.run_id is None:
        runs = runs_for(api, finding.result(), inputs.brief_workflow)
    else:
        runs = [asked.run_id]
        if inputs.run_id is not None:
            check_run(api, asked.run_id, finding.result())
    artifact = find_artifact(api, runs, inputs.brief_artifact)
    plain_http = runner.api_url.startswith("http:")
    return file_inside(download(api, artifact, plain_http), inputs.brief_file)


def _open_pull(finding: Pending[Pull]) -> Pull:
    try:
        pull = finding.result()
    except Stale as error:
        raise Ended("stale", DECIDED, "notice", f"stale: {error}; nothing was asked or posted") from None
    except ClosedPull as error:
        raise Ended("skipped", DECIDED, "notice", f"skipped: {error}") from None
    if not pull.is_open or pull.locked:
        state = "locked" if pull.is_open else "closed"
        raise Ended("skipped", DECIDED, "notice", f"skipped: pull request {pull.number} is {state}")
    return pull


def _brief(fetching: Pending[bytes], inputs: Inputs) -> Brief:
    try:
        return read_brief(fetching.result())
    except NoBriefFound as error:
        level: Level = {"error": "error", "warn": "warning", "ignore": "notice"}[inputs.if_no_brief]  # type: ignore[assignment]
        code = REFUSED if inputs.if_no_brief == "error" else DECIDED
        raise Ended("no-brief", code, level, f"no brief: {error}") from None
    except NotABrief as error:
        raise Ended("failed", REFUSED, "error", f"the brief is not valid: {error.sentence}") from None
    except BadArtifact as error:
        raise Ended("failed", REFUSED, "error", f"the brief is not valid: {error}") from None


def _check_that_it_is_for(brief: Brief, pull: Pull) -> None:
    """A brief's own words only ever count against it: number and commits come from GitHub (A2, A4)."""
    head, number = brief.model.head, brief.model.pull_request
    if head not in (None, pull.head):
        line = f"stale: the brief is for head {head}, and pull request {pull.number} is at {pull.head}"
    elif number not in (None, pull.number):
        line = f"stale: the brief is for pull request {number}, and this is {pull.number}"
    else:
        return
    raise Ended("stale", DECIDED, "notice", f"{line}; nothing was asked or posted")


def _at_base(api: Api, inputs: Inputs, pull: Pull) -> AtBase:
    paths = [] if inputs.no_llm else [*_config_paths(inputs), inputs.memory_path]
    places = [(pull.base, path) for path in paths]
    fields, variables, fragments = blob_query(places)
    number = {"number": ("Int!", pull.number), "before": ("String", None)}
    answer = api.query(f"{fields} {COMMENTS}", variables | number, fragments)
    known = earlier(api, pull.number, answer) if inputs.comment else ()
    if not paths:
        return AtBase(Setting(Settings(), {}, (), None, "no-llm"), known)
    texts = blobs(answer, len(places))
    if is_cut(answer, len(places) - 1):
        texts[-1] = raw_text(api, *places[-1])
    files = [File(path, _bytes(text)) for path, text in zip(paths, texts, strict=True)]
    *configs, memory = files
    config = next((file for file in configs if file.data is not None), configs[0])
    setting = read_setting(config, memory)
    if setting.settings.enabled and setting.trouble is None and inputs.llm_key:
        from verifier.readers.anthropic import warm  # a second of imports, where a call is likely

        warm()
    return AtBase(setting, known)


def _config_paths(inputs: Inputs) -> Sequence[str]:
    return [inputs.config_path] if inputs.config_path else CONFIG_PATHS


def _bytes(text: BaseText) -> bytes | Unreadable | None:
    if text is MISSING:
        return None
    return text.encode() if isinstance(text, str) else Unreadable()


def _evidence(api: Api, pull: Pull, brief: Brief, merge_base: str, diff: Diff | None) -> GitHubEvidence:
    """The diff whole, or from the list of files where GitHub refuses it."""
    if diff is None:
        wanted = frozenset(item.file for items in (brief.facts, brief.files, brief.checks) for item in items)
        diff = fetch_files(api, pull.number, merge_base, pull.head, wanted)
    return GitHubEvidence(api, pull.number, merge_base, pull.head, diff)


def _verify(inputs: Inputs, brief: Brief, evidence: GitHubEvidence, setting: Setting) -> Verified:
    return verify(
        brief,
        evidence,
        setting.dismissals,
        setting.settings,
        _reader(inputs),
        trouble=setting.trouble,
        base_files=(*_config_paths(inputs), inputs.memory_path),
    )


def _show(result: Result, brief: Brief, layout: Layout, verified: Verified | None = None) -> None:
    """The brief as it stands now, for summary, files and outputs."""
    result.summary = brief_markdown(brief, layout)
    result.files = {BRIEF_FILE: brief.source if verified is None else verified.document}
    if verified is not None:
        result.files[RECORD_FILE] = write_record(verified)
        result.numbers = _numbers(verified)


def _numbers(verified: Verified) -> dict[str, str]:
    outcome = verified.outcome
    numbers: dict[str, int | None] = dict(counts(outcome))
    numbers["input-tokens"] = outcome.usage.input if outcome.usage else None
    numbers["output-tokens"] = outcome.usage.output if outcome.usage else None
    found = {name: "" if number is None else str(number) for name, number in numbers.items()}
    return found | {"prompt-hash": verified.case.prompt.hash if verified.case.prompt else ""}


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


def _done(outcome: Outcome | None, why_off: str) -> End:
    """The run's end if the comment can be written."""
    if outcome is None:
        return End("off", DECIDED, "notice", f"off: {why_off}; the brief as it came")
    words = ", ".join(f"{number} {name}" for name, number in counts(outcome).items() if number) or "no items"
    usage = f", {outcome.usage.input}+{outcome.usage.output} tokens" if outcome.usage else ""
    if outcome.status == "failed":
        return End("failed", DECIDED, "warning", f"verifier failed: {outcome.reason}; {words}{usage}")
    reason = f" ({outcome.reason})" if outcome.reason else ""
    return End(outcome.status, DECIDED, "notice", f"{outcome.status}{reason}: {words}{usage}")


def _post(
    api: Api,
    inputs: Inputs,
    runner: Runner,
    pull: Pull,
    body: str,
    done: End,
    known: Sequence[Posted],
    result: Result,
) -> End:
    """The comment, where the pull request is still what was verified; how the run ends."""
    if not inputs.comment:
        return replace(done, line=f"{done.line}; comment: false, so nothing was posted")
    api.now_writing()
    try:
        result.comment_url = upsert(api, pull.number, pull.head, known, body).url
        return done
    except Left as left:
        return _left_alone(left.now, pull, done)
    except GitHubError as error:
        return _refused(api, runner, pull, done, error)


def _left_alone(now: Conversation, pull: Pull, done: End) -> End:
    """How a run ends whose pull request is no longer what was verified, or takes no comment any more."""
    if now.head != pull.head:
        line = f"stale: pull request {pull.number} moved on to {now.head} during the run; nothing was posted"
        return End("stale", DECIDED, "notice", line)
    state = "locked" if now.is_open else "closed"
    line = f"{done.line}; pull request {pull.number} was {state} during the run: nothing posted"
    return End("skipped", DECIDED, "notice", line)


def _refused(api: Api, runner: Runner, pull: Pull, done: End, error: GitHubError) -> End:
    """How a run ends whose comment GitHub refused (A5)."""
    if error.status == 403 and _has_weak_token(runner, pull):
        line = (
            f"{done.line}; the token of a fork's or Dependabot's pull_request run may not comment: the job summary "
            "has everything (to comment, run this on workflow_run: see Forks in the README)"
        )
        return replace(done, level="warning", line=line)
    if error.status == 403:  # as it does where the conversation was locked after the last look
        with suppress(GitHubError):
            now = conversation(api, pull.number)
            if not now.takes_a_comment_for(pull.head):
                return _left_alone(now, pull, done)
    return End("failed", REFUSED, "error", f"{done.line}, and the comment was refused: {error}")


def _has_weak_token(runner: Runner, pull: Pull) -> bool:
    bots = "dependabot[bot]" in (pull.author, runner.actor)
    return runner.event_name == "pull_request" and (bots or pull.head_repository != pull.base_repository)
