"""The guards: what a verdict is worth, decided from what was shown and never from what was said (S12 to S14, S30)."""

from dataclasses import replace
from typing import Final

from verifier.text import inert
from verifier.verification.model import Action, Candidate, Citation, Decider, Said, Verdict
from verifier.verification.prompt import shown_path

REASON_LIMIT: Final = 200
NO_REASON: Final = "no reason given"


def valid_citation(candidate: Candidate, citation: Citation | None) -> Citation | None:
    """`citation` with the side it is shown on, where its file and line are shown in this candidate's block (S12)."""
    if citation is None:
        return None
    if candidate.excerpt is not None:
        names = {name for name in (candidate.excerpt.file, candidate.excerpt.old_file) if name}
        if citation.file in names | {shown_path(name) for name in names}:
            sides = {row.side for row in candidate.excerpt.rows if row.side and row.number == citation.line}
            if sides:
                return citation._replace(side="new" if "new" in sides else "old")
    if candidate.partner is not None and candidate.partner.rows is not None:
        named = citation.file in (candidate.partner.file, shown_path(candidate.partner.file))
        if named and any(row.number == citation.line for row in candidate.partner.rows):
            return citation._replace(side="old")
    return None


def judge(candidate: Candidate, said: Said | None, *, strict: bool) -> Verdict:
    """The final verdict on a candidate, given what stands of the reply for it (None: nothing)."""
    if candidate.dismissal not in (None, "useful"):
        return replace(unverified(candidate), action="downgrade", by="memory", dismissal=candidate.dismissal)
    if said is None:
        return unverified(candidate)
    citation = valid_citation(candidate, said.citation)
    confirmed = _confirmed(candidate, said)
    action, guard = _relabelled(said, citation, confirmed=confirmed is True, strict=strict)
    by: Decider = "guard" if guard else "model"
    if candidate.dismissal == "useful" and action != "keep":
        action, guard, by = "keep", "pinned: the memory calls this fact useful", "memory"
    return replace(
        unverified(candidate),
        action=action,
        by=by,
        status=candidate.status if candidate.status != "unknown" else said.status or "unknown",
        reason=inert(said.reason, REASON_LIMIT) or NO_REASON,
        drop_class=said.drop_class if action == "drop" else None,
        citation=citation,
        confirmed=confirmed,
        said=said if guard else None,
        guard=guard,
    )


def unverified(candidate: Candidate) -> Verdict:
    """The verdict of nobody (S15)."""
    return Verdict(
        id=candidate.id,
        action="unverified",
        status=candidate.status,
        by="nobody",
        file=candidate.file,
        detector=candidate.detector,
        hash=candidate.hash,
    )


def _relabelled(said: Said, citation: Citation | None, *, confirmed: bool, strict: bool) -> tuple[Action, str | None]:
    """The action after S13 and S14, and which guard changed it last.

    A drop without a citation would become a downgrade, and that a keep.
    """
    action: Action = said.action
    guard: str | None = None
    if action == "drop" and said.drop_class is None:
        action, guard = "downgrade", "a drop needs one of the five classes"
    elif action == "drop" and strict and not confirmed:
        action, guard = "downgrade", "strictDrops: the rules do not confirm the class"
    if action != "keep" and citation is None:
        action, guard = "keep", "a downgrade needs a citation of a line that was shown"
    return action, guard


def _confirmed(candidate: Candidate, said: Said) -> bool | None:
    """Whether the rules prove the class of a drop (S14); None for what is no drop."""
    if said.action != "drop":
        return None
    return any(proof.drop_class == said.drop_class for proof in candidate.proofs)
