"""Every item of a brief as a candidate: its own excerpt, status, partner and proofs (S1 to S10, S30)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from typing import Final

from verifier.brief.document import Brief
from verifier.brief.ids import item_ids
from verifier.brief.models import Fact
from verifier.diff import Diff
from verifier.text import fact_hash, one_line
from verifier.verification.classes import proofs
from verifier.verification.excerpts import covering_hunk, excerpt_at, excerpt_from_top, partner_file
from verifier.verification.model import (
    UNREADABLE,
    BaseText,
    Candidate,
    Dismissal,
    Excerpt,
    Partner,
    Proof,
    Status,
)
from verifier.verification.status import base_lines, hunk_status

COUPLING: Final = "coupling.missing"
_KIND_LIMIT: Final = 60
_CLAIM_LIMIT: Final = 300


@dataclass(frozen=True, slots=True)
class _Ground:
    """What an item rests on in the diff; the defaults are for a place that is not in it."""

    excerpt: Excerpt | None = None
    proofs: tuple[Proof, ...] = ()
    status: Status = "unknown"


def wanted_base_texts(brief: Brief, diff: Diff) -> frozenset[str]:
    """The paths whose text at base the candidates need: old paths of files with items, and partners (S4, S10)."""
    places = {(file.file, hunk.line) for file in brief.files for hunk in file.hunks}
    places |= {(check.file, check.line) for check in brief.checks if check.line is not None}
    wanted: set[str] = set()
    for path, line in places:
        file = diff.file(path)
        if file and file.old_path and covering_hunk(file, line):
            wanted.add(file.old_path)
    return frozenset(wanted | {fact.partner for fact in brief.facts if fact.id == COUPLING and fact.partner})


def find_candidates(
    brief: Brief, diff: Diff, bases: Mapping[str, BaseText], dismissals: Mapping[str, Dismissal]
) -> tuple[Candidate, ...]:
    """The candidates of `brief`, in order: facts, hunks, checks; those to be sent are numbered from 1 (S1, S6)."""
    ids = item_ids(brief)
    ground = _grounds(diff, bases)
    found: list[Candidate] = []
    for fact, name in zip(brief.facts, ids.facts, strict=True):
        on = ground(fact.file, fact.line)
        hashed = fact_hash(fact.id, fact.file, fact.text)
        found.append(
            Candidate(
                id=name,
                pool="fact",
                kind=f"fact {one_line(fact.id, _KIND_LIMIT)}".rstrip(),
                file=fact.file,
                line=fact.line,
                claim=_claim(fact.text),
                status="unknown" if fact.id == COUPLING else "new",
                excerpt=on.excerpt,
                partner=_partner(fact, bases),
                proofs=on.proofs,
                detector=fact.id,
                hash=hashed,
                dismissal=dismissals.get(hashed),
            )
        )
    for file, names in zip(brief.files, ids.hunks, strict=True):
        for hunk, name in zip(file.hunks, names, strict=True):
            on = ground(file.file, hunk.line)
            found.append(
                Candidate(
                    name,
                    "hunk",
                    "hunk",
                    file.file,
                    hunk.line,
                    _claim(hunk.reason),
                    on.status,
                    on.excerpt,
                    proofs=on.proofs,
                )
            )
    for check, name in zip(brief.checks, ids.checks, strict=True):
        on = ground(check.file, check.line)
        found.append(
            Candidate(
                name,
                "check",
                "check",
                check.file,
                check.line,
                _claim(check.text),
                on.status,
                on.excerpt,
                proofs=on.proofs,
            )
        )
    return _numbered(found)


def bare_candidates(brief: Brief) -> tuple[Candidate, ...]:
    """The candidates of `brief` with nothing to show: for a record of a pass that could not be prepared (S24)."""
    unsent = find_candidates(brief, Diff(()), {}, {})
    return tuple(replace(candidate, number=None) for candidate in unsent)


def _grounds(diff: Diff, bases: Mapping[str, BaseText]) -> Callable[[str, int | None], _Ground]:
    """The function from a place to what it rests on: each place, hunk and base text is looked at once."""
    lines_at_base = cache(lambda path: base_lines(bases.get(path, UNREADABLE)))
    # by identity, for a thousand items may rest on one hunk, and to hash a hunk is to read it whole
    of_hunk: dict[int, tuple[tuple[Proof, ...], Status]] = {}

    @cache
    def ground(path: str, line: int | None) -> _Ground:
        file = diff.file(path)
        if file is None:
            return _Ground()
        if line is None:
            return _Ground(excerpt_from_top(file), proofs(file, file.hunks))
        hunk = covering_hunk(file, line)
        if hunk is None:
            return _Ground()
        if id(hunk) not in of_hunk:
            base = lines_at_base(file.old_path) if file.old_path else None
            of_hunk[id(hunk)] = proofs(file, (hunk,)), hunk_status(file, hunk, base)
        return _Ground(excerpt_at(file, hunk, line), *of_hunk[id(hunk)])

    return ground


def _claim(text: str) -> str:
    return one_line(text, _CLAIM_LIMIT)


def _partner(fact: Fact, bases: Mapping[str, BaseText]) -> Partner | None:
    if fact.id != COUPLING or fact.partner is None:
        return None
    return partner_file(fact.partner, bases.get(fact.partner, UNREADABLE))


def _numbered(found: list[Candidate]) -> tuple[Candidate, ...]:
    numbers = count(1)
    return tuple(replace(item, number=next(numbers)) if _is_sent(item) else item for item in found)


def _is_sent(candidate: Candidate) -> bool:
    """Whether the reader is asked: there is something to show (S8), and the memory has not decided (S30)."""
    if candidate.dismissal not in (None, "useful"):
        return False
    has_partner_text = candidate.partner is not None and bool(candidate.partner.rows)
    return candidate.excerpt is not None or has_partner_text
