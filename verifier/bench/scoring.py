"""Verdicts against labels: what became of each case in each order, and the figures over all of them."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from verifier.bench.cases import Case
from verifier.bench.requests import Request
from verifier.verification.guards import judge, unverified
from verifier.verification.model import Failed, Reply, Usage, Verdict
from verifier.verification.reply import ReplyError, parse_reply, standing

Became = Literal["keep", "downgrade", "drop", "drop as another class", "void", "unanswered"]
Worth = Literal["right", "harmless", "harm"]

BECAME: Final[tuple[Became, ...]] = ("keep", "downgrade", "drop", "drop as another class", "void", "unanswered")
_Z: Final = 1.959964  # 95 % of a normal distribution lie within


@dataclass(frozen=True, slots=True)
class Judged:
    """One case in one order: the verdict after the guards, and what became of the item."""

    case: Case
    order: int
    verdict: Verdict
    became: Became

    @property
    def answered(self) -> bool:
        """Whether the reader decided anything; what it did not decide is shown as it came."""
        return self.became not in ("void", "unanswered")

    @property
    def worth(self) -> Worth:
        """What the verdict is worth for a reviewer who has the label (bench/cases/README.md)."""
        match self.case.label, self.became:
            case ("true", "keep") | ("moot", "downgrade") | ("noise", "drop"):
                return "right"
            case ("true", "downgrade" | "drop") | ("moot", "drop"):
                return "harm"
            case _:
                return "harmless"


@dataclass(frozen=True, slots=True)
class Answered:
    """One request with its answer, judged. `failure` says why it decided nothing; None where it did."""

    request: Request
    judged: tuple[Judged, ...]
    model: str | None
    usage: Usage | None
    failure: str | None


def score(request: Request, answer: Reply | Failed, *, strict: bool) -> Answered:
    """What an answer makes of a request's cases, by the pass's own guards; one that cannot be read decides nothing."""
    if isinstance(answer, Failed):
        return Answered(request, _undecided(request), answer.model, answer.usage, answer.reason)
    try:
        said = parse_reply(answer.text)
    except ReplyError as error:
        return Answered(request, _undecided(request), answer.model, answer.usage, str(error))
    stand, ignored = standing((case.candidate for case in request.cases), said)
    void = {entry.n for entry in ignored}
    judged: list[Judged] = []
    for case in request.cases:
        number = case.candidate.number or 0
        verdict = judge(case.candidate, stand.get(number), strict=strict)
        judged.append(Judged(case, request.order, verdict, _became(case, verdict, void=number in void)))
    return Answered(request, tuple(judged), answer.model, answer.usage, None)


def _undecided(request: Request) -> tuple[Judged, ...]:
    return tuple(Judged(case, request.order, unverified(case.candidate), "unanswered") for case in request.cases)


def _became(case: Case, verdict: Verdict, *, void: bool) -> Became:
    match verdict.action:
        case "unverified":
            return "void" if void else "unanswered"
        case "drop":
            same = case.label != "noise" or verdict.drop_class == case.drop_class
            return "drop" if same else "drop as another class"
        case action:
            return action


@dataclass(frozen=True, slots=True)
class Rate:
    """`hits` of `of`, with the ends of its 95 % interval (Wilson), as shares."""

    hits: int
    of: int
    low: float
    high: float


def rate(hits: int, of: int) -> Rate:
    """The rate of `hits` among `of` independent cases; of none, anything is possible."""
    if of == 0:
        return Rate(hits, of, 0.0, 1.0)
    share, spread = hits / of, _Z * _Z / of
    middle = (share + spread / 2) / (1 + spread)
    half = math.sqrt(share * (1 - share) * spread + spread * spread / 4) / (1 + spread)
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return Rate(hits, of, 0.0 if hits == 0 else low, 1.0 if hits == of else high)


def by_case(judged: Iterable[Judged]) -> dict[str, tuple[Judged, ...]]:
    """What became of each case, by its name, in the order of the orders."""
    found: dict[str, list[Judged]] = {}
    for one in judged:
        found.setdefault(one.case.name, []).append(one)
    return {name: tuple(found[name]) for name in sorted(found)}


@dataclass(frozen=True, slots=True)
class Share:
    """How many cases of a label meet something: of all of them, and of those that were answered in an order or more."""

    of_all: Rate
    of_answered: Rate


def share(cases: Mapping[str, Sequence[Judged]], label: str, met: Callable[[Sequence[Judged]], bool]) -> Share:
    """How many cases of `label` meet `met`, each by what became of it in all orders."""
    of_label = [judged for judged in cases.values() if judged[0].case.label == label]
    hits = sum(map(met, of_label))
    answered = sum(any(one.answered for one in judged) for judged in of_label)
    return Share(rate(hits, len(of_label)), rate(hits, answered))


def always(worth: Worth) -> Callable[[Sequence[Judged]], bool]:
    """Worth that in every order: the worst one counts."""
    return lambda judged: all(one.worth == worth for one in judged)


def ever(became: Became) -> Callable[[Sequence[Judged]], bool]:
    """Became that in one order or more: the worst one counts."""
    return lambda judged: any(one.became == became for one in judged)


def flipped(cases: Mapping[str, Sequence[Judged]]) -> tuple[str, ...]:
    """The cases that did not become the same in all orders in which they were answered."""
    return tuple(name for name, judged in cases.items() if len({one.became for one in judged if one.answered}) > 1)


def relabelled(judged: Iterable[Judged]) -> Counter[tuple[str, str, str]]:
    """How often which guard made what of which action: (said, final, guard)."""
    return Counter(
        (one.verdict.said.action, one.verdict.action, one.verdict.guard or "")
        for one in judged
        if one.verdict.said is not None
    )
