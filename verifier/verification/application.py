"""Applies verdicts to a brief: suffixes, order, the why and the notes (S15 to S18, S24, S34)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from verifier.brief.document import Brief
from verifier.brief.layout import Layout, Shown, ShownFile, as_it_came
from verifier.text import one_line, without_our_marks
from verifier.verification.guards import NO_REASON
from verifier.verification.model import Outcome, Verdict

UNVERIFIED: Final = "[unverified]"
_DEFAULT_WEIGHT: Final = 1.0


def suffix(verdict: Verdict) -> str:
    """The one suffix that a surviving item's text ends in (S15)."""
    match verdict.action:
        case "keep":
            return "[verified]" if verdict.status == "unknown" else f"[verified · {verdict.status}]"
        case "downgrade" if verdict.by == "memory":
            return f"[downgraded: dismissed earlier as {verdict.dismissal}]"
        case "downgrade":
            return f"[downgraded by verifier: {verdict.reason or NO_REASON}]"
        case _:
            return UNVERIFIED


def lay_out(brief: Brief, outcome: Outcome, call_line: str | None) -> Layout:
    """The layout of `brief` after the pass. The verdicts cover every item, by id."""
    came = as_it_came(brief)
    verdicts = {verdict.id: verdict for verdict in outcome.verdicts}
    facts = _sunk_last(_judged(came.facts, verdicts))
    return Layout(
        facts=tuple(replace(fact, strength="info") if fact.sunk else fact for fact in facts),
        files=_files(brief, came.files, verdicts),
        checks=_sunk_last(_judged(came.checks, verdicts)),
        why=_why(brief, came.facts, facts, verdicts),
        notes=tuple(_notes(outcome, call_line)),
    )


def _judged(items: Sequence[Shown], verdicts: Mapping[str, Verdict]) -> tuple[Shown, ...]:
    """The items that were not dropped, with their suffixes; what only looks like a suffix is disarmed (S15, S17)."""
    return tuple(
        replace(
            item,
            text=without_our_marks(item.text),
            suffix=suffix(verdicts[item.id]),
            sunk=verdicts[item.id].action == "downgrade",
        )
        for item in items
        if verdicts[item.id].action != "drop"
    )


def _sunk_last(items: Sequence[Shown]) -> tuple[Shown, ...]:
    """Downgraded items behind the others, otherwise as they came (S16, B3)."""
    return tuple(sorted(items, key=lambda item: item.sunk))


def _files(brief: Brief, came: Sequence[ShownFile], verdicts: Mapping[str, Verdict]) -> tuple[ShownFile, ...]:
    """The files after the pass: each that lost weight sinks past those that are heavier now (S16).

    Files that lost nothing keep their order among themselves, whatever it was (B3).
    """
    placed: list[tuple[float, ShownFile]] = []
    for file in reversed(came):
        hunks = _judged(file.hunks, verdicts)
        if file.hunks and not hunks:
            continue
        weights = [brief.files[file.index].hunks[hunk.index].weight for hunk in hunks if not hunk.sunk]
        weight = sum(_DEFAULT_WEIGHT if given is None else given for given in weights)
        at = 0
        if len(weights) < len(file.hunks):
            while at < len(placed) and placed[at][0] > weight:
                at += 1
        placed.insert(at, (weight, replace(file, hunks=_sunk_last(hunks))))
    return tuple(file for _, file in placed)


def _why(brief: Brief, came: Sequence[Shown], facts: Sequence[Shown], verdicts: Mapping[str, Verdict]) -> str | None:
    """The rebuilt why, or None where no fact was dropped or downgraded (S18)."""
    if all(verdicts[fact.id].action in ("keep", "unverified") for fact in came):
        return None
    named = [fact for fact in facts if not fact.sunk] or facts
    return "; ".join(without_our_marks(brief.facts[fact.index].short or fact.text).strip() for fact in named[:2])


def _notes(outcome: Outcome, call_line: str | None) -> Iterator[str]:
    """Our notes, in order: drops, failure or skip, base version used, the call (S34)."""
    for verdict in outcome.verdicts:
        if verdict.action == "drop":
            yield f"dropped by verifier: {verdict.drop_class} — {verdict.reason} ({one_line(verdict.id)})"
    if note := status_note(outcome):
        yield note
    for path in outcome.edited:
        changed = f"this pull request changes {one_line(path)}"
        yield f"base version used: {changed}, which counts once it is on the base branch"
    if call_line:
        yield call_line


def counts(outcome: Outcome) -> dict[str, int]:
    """How many items came to what: kept, downgraded, dropped, unverified."""
    actions = Counter(verdict.action for verdict in outcome.verdicts)
    return {
        "kept": actions["keep"],
        "downgraded": actions["downgrade"],
        "dropped": actions["drop"],
        "unverified": actions["unverified"],
    }


def status_note(outcome: Outcome) -> str | None:
    """The note that says why the pass did not verify (S24, S25, S27)."""
    match outcome.status:
        case "failed":
            return f"verifier failed: {outcome.reason}; everything below is unverified"
        case "skipped":
            return f"verifier skipped: {outcome.reason}"
        case _:
            return None
