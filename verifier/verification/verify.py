"""The pass, top to bottom: brief + evidence + dismissals → candidates → prompt → reply → verdicts → brief."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from verifier.brief.document import Brief
from verifier.brief.layout import Layout
from verifier.brief.writer import write_brief
from verifier.text import inert
from verifier.verification.application import lay_out
from verifier.verification.candidates import bare_candidates, find_candidates, wanted_base_texts
from verifier.verification.guards import judge, unverified
from verifier.verification.model import (
    Candidate,
    Dismissal,
    Evidence,
    Failed,
    Outcome,
    Prompt,
    Question,
    Reader,
    ReaderError,
    Reply,
    Said,
    Settings,
    Verdict,
    WrongQuestion,
)
from verifier.verification.prompt import estimated_tokens, make_prompt
from verifier.verification.published import verification_json
from verifier.verification.reply import ReplyError, parse_reply, standing

QUICK_CONFIRM: Final = "quick confirm"
_FAILURE_LIMIT: Final = 400
_MODEL_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True, slots=True)
class Skip:
    """Why no call is made, and whether what the memory decided stands all the same (S25, S27)."""

    reason: str
    memory_stands: bool = True


@dataclass(frozen=True, slots=True)
class Case:
    """A brief made ready for its reader. At most one of `failure`, `skip` and `prompt` is there.

    With none of them nothing is left to ask (S26).
    """

    brief: Brief
    settings: Settings
    candidates: tuple[Candidate, ...]
    failure: str | None = None
    skip: Skip | None = None
    prompt: Prompt | None = None
    edited: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verified:
    """What a pass leaves: the case, the answer, the outcome, and the brief in its new layout and as a document."""

    case: Case
    answer: Reply | Failed | None
    outcome: Outcome
    layout: Layout
    document: str


def verify(
    brief: Brief,
    evidence: Evidence,
    dismissals: Mapping[str, Dismissal],
    settings: Settings,
    read: Reader,
    *,
    trouble: str | None = None,
    base_files: Sequence[str] = (),
) -> Verified:
    """The whole pass over one brief.

    `trouble` is what kept configuration or memory from being read: the pass fails open with it (S24). `base_files`
    are the paths that were read from the base commit; those that the pull request changes are named (S31). What
    `evidence` raises passes through, and a reader's WrongQuestion; nothing else leaves this function as an exception.
    """
    case = prepare(brief, evidence, dismissals, settings, trouble=trouble, base_files=base_files)
    answer = ask(case, read)
    return conclude(case, answer)


def prepare(
    brief: Brief,
    evidence: Evidence,
    dismissals: Mapping[str, Dismissal],
    settings: Settings,
    *,
    trouble: str | None = None,
    base_files: Sequence[str] = (),
) -> Case:
    """Candidates and prompt, or what stands in the way, in the order of section 6: failure, skip, nothing to ask."""
    diff = evidence.diff()
    edited = tuple(path for path in base_files if diff.file(path) is not None)
    case = Case(brief, settings, bare_candidates(brief), edited=edited)
    if trouble is not None:
        return replace(case, failure=_writable(trouble))
    bases = evidence.base_texts(wanted_base_texts(brief, diff))
    try:
        case = replace(case, candidates=find_candidates(brief, diff, bases, dismissals))
        if _is_quick_confirm(brief):
            return replace(case, skip=Skip("quick-confirm PR with only info facts"))
        if all(candidate.number is None for candidate in case.candidates):
            undecided = any(candidate.dismissal in (None, "useful") for candidate in case.candidates)
            unsent = Skip("nothing to send; no item rests on a line of the diff")
            return replace(case, skip=unsent if undecided else None)
        prompt = make_prompt(case.candidates)
    except Exception as error:  # noqa: BLE001 (S24: whatever goes wrong here, the brief is shown, unverified)
        return replace(case, failure=_unexpected("making the prompt", error))
    tokens = estimated_tokens(prompt)
    if tokens > settings.max_tokens:
        reason = f"prompt of {tokens} tokens exceeds llm.verify.maxTokens ({settings.max_tokens})"
        return replace(case, skip=Skip(reason, memory_stands=False))
    return replace(case, prompt=prompt)


def ask(case: Case, read: Reader) -> Reply | Failed | None:
    """The reader's answer to the case's one question; None where there is nothing to ask."""
    return None if case.prompt is None else answer_to(Question(case.prompt, case.candidates, case.settings), read)


def answer_to(question: Question, read: Reader) -> Reply | Failed:
    """What a reader answers, in text that UTF-8 can hold; a reader that breaks is a failure like any other (S24)."""
    try:
        reply = read(question)
        return replace(reply, text=_writable(reply.text), model=_writable(reply.model))
    except WrongQuestion:
        raise
    except ReaderError as error:
        failed = error.failed
        return replace(failed, reason=_writable(failed.reason), model=failed.model and _writable(failed.model))
    except Exception as error:  # noqa: BLE001 (S24: a reader that breaks must not take the comment with it)
        return Failed(_unexpected("asking the reader", error))


def conclude(case: Case, answer: Reply | Failed | None) -> Verified:
    """Verdicts, layout and document of a case and its answer. Depends on nothing else: a record replays it (S38)."""
    outcome = _outcome(case, answer)
    layout = lay_out(case.brief, outcome, _call_line(case, outcome))
    document = write_brief(case.brief, layout, verification_json(outcome, case.settings, case.candidates))
    return Verified(case, answer, outcome, layout, document)


def _outcome(case: Case, answer: Reply | Failed | None) -> Outcome:
    nobody = tuple(unverified(candidate) for candidate in case.candidates)
    if case.failure is not None:
        return Outcome("failed", _failure(case.failure), nobody, edited=case.edited)
    if case.skip is not None:
        verdicts = _judged(case, {}) if case.skip.memory_stands else nobody
        return Outcome("skipped", case.skip.reason, verdicts, edited=case.edited)
    if answer is None:
        return Outcome("verified", None, _judged(case, {}), edited=case.edited)
    called = Outcome(
        "failed", None, nobody, called=True, answered_by=answer.model, usage=answer.usage, edited=case.edited
    )
    if isinstance(answer, Failed):
        return replace(called, reason=_failure(answer.reason), called=answer.asked)
    try:
        stand, ignored = standing(case.candidates, parse_reply(answer.text))
        return replace(called, status="verified", verdicts=_judged(case, stand), ignored=ignored)
    except ReplyError as error:
        return replace(called, reason=_failure(f"{error}; run it again, or name another model in llm.model"))
    except Exception as error:  # noqa: BLE001 (S24: no reply whatever takes the comment with it)
        return replace(called, reason=_failure(_unexpected("reading the reply", error)))


def _judged(case: Case, stand: Mapping[int, Said]) -> tuple[Verdict, ...]:
    strict = case.settings.strict_drops
    return tuple(
        judge(candidate, None if candidate.number is None else stand.get(candidate.number), strict=strict)
        for candidate in case.candidates
    )


def _is_quick_confirm(brief: Brief) -> bool:
    return (
        brief.captain.priority == QUICK_CONFIRM
        and all(fact.strength == "info" for fact in brief.facts)
        and not any(file.hunks for file in brief.files)
        and not brief.checks
    )


def _writable(text: str) -> str:
    """`text` as UTF-8 can hold it, for the document and the record: a lone surrogate becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _failure(reason: str) -> str:
    return inert(reason.rstrip(". "), _FAILURE_LIMIT) or "no reason was given"


def _unexpected(doing: str, error: Exception) -> str:
    return f"unexpected {type(error).__name__} while {doing}; please report it with the run's record"


def _call_line(case: Case, outcome: Outcome) -> str | None:
    """The note on the call that was made (S34)."""
    if not outcome.called or case.prompt is None:
        return None
    usage = f"{outcome.usage.input}+{outcome.usage.output}" if outcome.usage else "?+?"
    named = outcome.answered_by or case.settings.model
    model = named if _MODEL_NAME.fullmatch(named) else inert(named, 100)
    return f"verifier: {model} · prompt {case.prompt.hash} · {usage} tokens"
