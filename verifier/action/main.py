"""The Action's frame: inputs in, the run, and on every way out its outputs, summary, files and one line (A1, A5, A6).

Only what the first request needs is imported here; the rest is, while GitHub answers it (`run`).
"""

import os
import signal
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Final

from verifier.action.ending import BRIEF_FILE, RECORD_FILE, REFUSED, WRONG_INPUT, End, Ended, Result
from verifier.action.inputs import BadInputs, Inputs, Runner, read_inputs, read_runner
from verifier.action.pull import Asked, NoPull, asked_for, find_pull
from verifier.action.report import annotate, log, mask, quiet, write_outputs, write_result, write_summary
from verifier.evidence.api import Api
from verifier.evidence.files import EvidenceError
from verifier.text import markdown

_OUT: Final = "verifier-out"


class _Cancelled(BaseException):
    """The runner wants the job to end. Not an Exception: nothing on the way may take it for a failure of its own."""


class _Cancel:
    """Ends the run at the first signal; the runner sends a second, and what is being written then is still written."""

    def __init__(self) -> None:
        self.is_told = False

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        if not self.is_told:
            self.is_told = True
            raise _Cancelled


def main(environment: Mapping[str, str] | None = None) -> int:
    """Runs the Action; returns its exit code. Every way out leaves outputs, a summary and one line."""
    environment = dict(os.environ) if environment is None else environment
    result = Result()
    cancel = _Cancel()
    for number in (signal.SIGINT, signal.SIGTERM):  # the first process of a container ignores them otherwise
        signal.signal(number, cancel)
    try:
        end = _end(environment, result)
        cancel.is_told = True
    except _Cancelled:
        end = End("failed", REFUSED, "error", "cancelled by the runner: run the job again if it should not have been")
    return _report(environment, result, end)


def _end(environment: Mapping[str, str], result: Result) -> End:
    """Runs it; how it ended, whatever was raised."""
    try:
        return _run(environment, result)
    except BadInputs as error:
        return End("failed", WRONG_INPUT, "error", str(error))
    except Ended as error:
        return error.end
    except (EvidenceError, NoPull) as error:
        return End("failed", REFUSED, "error", str(error))
    except Exception as error:  # noqa: BLE001 (no traceback for the person who must act; what was paid for is shown)
        return End("failed", REFUSED, "error", f"unexpected {_named(error)}: please report it with the job's log")


def _named(error: Exception) -> str:
    """An error's type and the place in our code that it comes from; its message may quote anything."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {Path(place.filename).name} line {place.lineno}"


def _run(environment: Mapping[str, str], result: Result) -> End:
    inputs, runner, asked = _inputs(environment)
    api = Api(inputs.token, runner.api_url, runner.repository)
    finding = api.start(lambda: find_pull(api, asked))
    from verifier.action.run import run  # the models and the pass, imported while GitHub answers

    return run(api, inputs, runner, asked, finding, result)


def _inputs(environment: Mapping[str, str]) -> tuple[Inputs, Runner, Asked]:
    """Secrets are masked before anything else; then all that is wrong is told at once."""
    for name in ("INPUT_GITHUB-TOKEN", "INPUT_LLM-API-KEY"):
        mask(environment.get(name, ""))
    wrong: list[str] = []
    inputs = read_inputs(environment, wrong)
    runner = read_runner(environment, wrong)
    asked = asked_for(runner, inputs, wrong)
    for warning in inputs.warnings:
        log(f"warning: {warning}")
    if wrong:
        raise BadInputs(wrong)
    return inputs, runner, asked


def _report(environment: Mapping[str, str], result: Result, end: End) -> int:
    """Files, outputs, summary and the one annotation; what cannot be written is said, and the run has failed."""
    outputs = {"status": end.status, "comment-url": result.comment_url, **result.numbers}
    troubles: list[str] = []
    try:
        outputs |= _files(environment, result)
    except OSError as error:
        troubles.append(f"the result files could not be written ({error.strerror}): keep {_OUT} out of the checkout")
    try:
        write_outputs(environment.get("GITHUB_OUTPUT", ""), outputs)
    except OSError as error:
        troubles.append(f"the outputs could not be written ({error.strerror})")
    try:
        said = f"**verifier** · {markdown(quiet(end.line))}\n"
        write_summary(environment.get("GITHUB_STEP_SUMMARY", ""), f"{said}\n{result.summary}")
    except OSError as error:
        troubles.append(f"the job summary could not be written ({error.strerror})")
    if troubles:
        annotate("error", f"{end.line}; {'; '.join(troubles)}")
    else:
        annotate(end.level, end.line)
    sys.stdout.flush()
    return (end.code or REFUSED) if troubles else end.code


def _files(environment: Mapping[str, str], result: Result) -> dict[str, str]:
    """The verified brief and the record, as paths inside the workspace, which later steps of the job see (A1)."""
    if not result.files:
        return {}
    workspace = Path(environment.get("GITHUB_WORKSPACE") or "/github/workspace")
    for name, text in result.files.items():
        write_result(workspace / _OUT, name, text)
    named = {"brief": BRIEF_FILE, "record": RECORD_FILE}
    return {output: f"{_OUT}/{name}" for output, name in named.items() if name in result.files}
