"""What the verified brief tells of its verification (S19, S34), as models that write it and make its schema."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from verifier.verification.model import (
    Action,
    Candidate,
    Citation,
    Decider,
    Dismissal,
    DropClass,
    Outcome,
    Said,
    Settings,
    Status,
    Verdict,
)
from verifier.verification.prompt import PROMPT_HASH


def _absent(value: object) -> bool:
    return value is None


_IfKnown: Any = Field(default=None, exclude_if=_absent)


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, validate_by_name=True)


class PublishedCitation(_Model):
    """A line that a verdict rests on; `side` is the side of the diff it was shown on, null where it was not shown."""

    file: str
    line: int
    side: Literal["new", "old"] | None


class PublishedSaid(_Model):
    """What the model had said before a guard re-labelled it."""

    action: Action
    drop_class: Annotated[DropClass | None, Field(alias="class")]
    citation: PublishedCitation | None
    status: Literal["new", "pre-existing"] | None


class PublishedVerdict(_Model):
    """The final verdict on one candidate (S19)."""

    id: str
    action: Action | Literal["unverified"]
    status: Status
    drop_class: Annotated[DropClass | None, Field(alias="class")]
    citation: PublishedCitation | None
    reason: str | None
    decided_by: Decider
    confirmed_by_rules: bool | None = _IfKnown
    guard: str | None = _IfKnown
    model_said: PublishedSaid | None = _IfKnown
    dismissed_as: Dismissal | None = _IfKnown
    detector: str | None = _IfKnown
    file: str | None = _IfKnown
    hash: str | None = _IfKnown


class PublishedIgnored(_Model):
    """An entry of the reply that decided nothing, and why (S6, S7)."""

    n: int
    why: str


class PublishedUsage(_Model):
    """Tokens of the call; input counts what was cached, too."""

    input: int
    output: int


class Verification(_Model):
    """The `verification` field of a verified brief."""

    status: Literal["verified", "skipped", "failed"]
    reason: str | None
    reader: str
    model: str | None
    answered_by: str | None
    usage: PublishedUsage | None
    prompt_hash: str
    verdicts: list[PublishedVerdict]
    ignored: list[PublishedIgnored] = []


def verification_json(outcome: Outcome, settings: Settings, candidates: Sequence[Candidate]) -> str:
    """The `verification` field as JSON source text, indented for the top level of a document."""
    facts = {candidate.id for candidate in candidates if candidate.pool == "fact"}
    published = Verification(
        status=outcome.status,
        reason=outcome.reason,
        reader=settings.provider,
        model=settings.model if settings.provider == "anthropic" else None,
        answered_by=outcome.answered_by,
        usage=PublishedUsage(input=outcome.usage.input, output=outcome.usage.output) if outcome.usage else None,
        prompt_hash=PROMPT_HASH,
        verdicts=[_verdict(verdict, is_fact=verdict.id in facts) for verdict in outcome.verdicts],
        ignored=[PublishedIgnored(n=ignored.n, why=ignored.why) for ignored in outcome.ignored],
    )
    return published.model_dump_json(by_alias=True, indent=2).replace("\n", "\n  ")


def _verdict(verdict: Verdict, *, is_fact: bool) -> PublishedVerdict:
    return PublishedVerdict(
        id=verdict.id,
        action=verdict.action,
        status=verdict.status,
        drop_class=verdict.drop_class,
        citation=_citation(verdict.citation),
        reason=verdict.reason,
        decided_by=verdict.by,
        confirmed_by_rules=verdict.confirmed,
        guard=verdict.guard,
        model_said=_said(verdict.said) if verdict.said else None,
        dismissed_as=verdict.dismissal,
        detector=verdict.detector if is_fact else None,
        file=verdict.file if is_fact else None,
        hash=verdict.hash if is_fact else None,
    )


def _said(said: Said) -> PublishedSaid:
    return PublishedSaid(
        action=said.action, drop_class=said.drop_class, citation=_citation(said.citation), status=said.status
    )


def _citation(citation: Citation | None) -> PublishedCitation | None:
    if citation is None:
        return None
    return PublishedCitation(file=citation.file, line=citation.line, side=citation.side)
