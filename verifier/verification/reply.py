"""A reply's form, checked again here whatever the provider enforced (S35), and which entry stands (S6, S7)."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from verifier import lossless
from verifier.text import one_line
from verifier.verification.model import CAUTION, Action, Candidate, Citation, DropClass, Ignored, Said
from verifier.verification.prompt import shown_place


class ReplyError(ValueError):
    """A reply that is not what was asked for; the message says where."""


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class _Citation(_Strict):
    file: str
    line: int


class _Entry(_Strict):
    n: int
    kind: str
    place: str
    reason: str
    citation: _Citation | None
    action: Action
    drop_class: Annotated[DropClass | None, Field(alias="class")]
    status: Literal["new", "pre-existing"] | None


class _Reply(_Strict):
    verdicts: list[_Entry]


def parse_reply(text: str) -> tuple[Said, ...]:
    """The entries of a reply, in order. Raises ReplyError where the text is not exactly the JSON asked for."""
    try:
        reply = _Reply.model_validate(lossless.loads(text))
    except lossless.JsonError as error:
        raise ReplyError(f"the reply is not JSON ({error})") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"]) or "the top"
        raise ReplyError(f"the reply does not fit its schema ({one_line(where, 80)}: {first['msg']})") from None
    return tuple(
        Said(
            n=entry.n,
            kind=entry.kind,
            place=entry.place,
            reason=entry.reason,
            citation=None if entry.citation is None else Citation(entry.citation.file, entry.citation.line),
            drop_class=entry.drop_class,
            action=entry.action,
            status=entry.status,
        )
        for entry in reply.verdicts
    )


def standing(candidates: Iterable[Candidate], said: Sequence[Said]) -> tuple[dict[int, Said], tuple[Ignored, ...]]:
    """The entry that stands for each number, and those that decide nothing.

    Unknown numbers are ignored (S6); then entries whose echo disagrees (S7); of what is left for one number the most
    cautious stands, the first of equals (S6).
    """
    shown = {candidate.number: candidate for candidate in candidates if candidate.number is not None}
    stand: dict[int, Said] = {}
    ignored: list[Ignored] = []
    for entry in said:
        candidate = shown.get(entry.n)
        if candidate is None:
            ignored.append(Ignored(entry.n, "no block has this number"))
        elif (entry.kind.strip(), entry.place.strip()) != (candidate.kind, shown_place(candidate)):
            echo = one_line(f"{entry.kind} at {entry.place}", 120)
            ignored.append(Ignored(entry.n, f"its echo disagrees with the block: {echo}"))
        elif entry.n not in stand:
            stand[entry.n] = entry
        else:
            first = stand[entry.n]
            more_cautious = CAUTION.index(entry.action) < CAUTION.index(first.action)
            stand[entry.n] = entry if more_cautious else first
            ignored.append(Ignored(entry.n, "an earlier or more cautious verdict for this block stands"))
    return stand, tuple(ignored)
