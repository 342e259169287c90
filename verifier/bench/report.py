"""The results of a bench, as Markdown for a reader and as JSON for a program."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from verifier import __version__
from verifier.bench.requests import BATCH
from verifier.bench.scoring import (
    BECAME,
    Answered,
    Judged,
    Rate,
    Share,
    Worth,
    always,
    by_case,
    ever,
    flipped,
    relabelled,
    share,
)
from verifier.text import code_span, inert, markdown
from verifier.verification.model import DROP_CLASSES, Settings
from verifier.verification.prompt import PROMPT_HASH, estimated_tokens

_POOLS: Final = ("fact", "hunk", "check")
_LABELS: Final = ("true", "moot", "noise")


@dataclass(frozen=True, slots=True)
class Asked:
    """Who was asked: the name in title and file name, a sentence on it, and the settings that count."""

    name: str
    sentence: str
    command: str
    settings: Settings


def results_markdown(asked: Asked, answers: Sequence[Answered]) -> str:
    """The results for a person: first the number that must be zero, then what became of what, then each miss."""
    return "\n".join(_lines(asked, answers)) + "\n"


def _lines(asked: Asked, answers: Sequence[Answered]) -> Iterator[str]:
    judged = [one for answer in answers for one in answer.judged]
    cases = by_case(judged)
    orders = max(one.order for one in judged)
    dropped = share(cases, "true", ever("drop"))
    yield f"# {markdown(asked.name)} · prompt {PROMPT_HASH} · {_counted(len(cases), 'case')}\n"
    who = f"{markdown(asked.sentence)}{_answered_by(asked, answers)}"
    yield f"{who} By verifier {__version__}, `strictDrops` {_switch(asked)}:\n"
    yield f"    {asked.command}\n"
    yield (
        f"**True items dropped: {dropped.of_all.hits} of {dropped.of_all.of}**, of which {dropped.of_answered.of} were "
        f"answered ({_interval(dropped.of_answered)} of these). This must be zero.\n"
    )
    if failures := [answer for answer in answers if answer.failure is not None]:
        silent = _counted(len(failures), "request")
        yield f"**{silent} of {len(answers)} gave no verdict**; their items are unanswered:\n"
        yield from (f"- `{answer.request.name}`: {markdown(answer.failure or '', 300)}" for answer in failures)
        yield ""
    in_all = "" if orders == 1 else f"; a case counts by the worst of {orders} orders of the blocks"
    yield f"## What it is worth\n\nCases{in_all}. In brackets the 95 % interval (Wilson).\n"
    yield from _table(
        ("label", "what", "of all", "of those answered"),
        [
            ("`true`", "kept: right", *_share(share(cases, "true", always("right")))),
            ("`true`", "downgraded: a harm", *_share(share(cases, "true", ever("downgrade")))),
            ("`true`", "dropped: a harm", *_share(dropped)),
            ("`moot`", "downgraded: right", *_share(share(cases, "moot", always("right")))),
            ("`moot`", "dropped: a harm", *_share(share(cases, "moot", ever("drop")))),
            ("`noise`", "dropped with its class: right", *_share(share(cases, "noise", always("right")))),
        ],
    )
    yield (
        "\n## What became of what\n\nVerdicts after the guards" + ("." if orders == 1 else ", over all orders.") + "\n"
    )
    yield from _became_table("label and class", _by_class(judged))
    yield ""
    yield from _became_table("label and pool", _by_pool(judged))
    yield "\n## Guards\n"
    yield from _guards(judged)
    yield "\n## Orders\n"
    yield from _orders(cases, orders)
    yield "\n## Cost\n"
    yield from _cost(answers)
    yield from _misses("Harms", "harm", judged)
    yield from _misses("Harmless misses", "harmless", judged)
    yield "\n## What this does not show\n"
    yield (
        "The bundled cases were written and labelled by the authors of the prompt and of the class rules, before any "
        "reader saw them. Their figures say how well a reader follows those rules on small, clear cases; not what your "
        "pull requests will see."
    )


def _answered_by(asked: Asked, answers: Sequence[Answered]) -> str:
    models = sorted({answer.model for answer in answers if answer.model} - {asked.name})
    return f" Answered by {', '.join(markdown(model, 100) for model in models)}." if models else ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield from (f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))


def _became_table(first: str, groups: Iterable[tuple[str, Sequence[Judged]]]) -> Iterator[str]:
    def row(name: str, group: Sequence[Judged]) -> tuple[str, ...]:
        became = Counter(one.became for one in group)
        return (name, str(len(group)), *(str(became[what] or "") for what in BECAME))

    yield from _table((first, "verdicts", *BECAME), [row(name, group) for name, group in groups if group])


def _by_class(judged: Sequence[Judged]) -> Iterator[tuple[str, list[Judged]]]:
    for label in _LABELS:
        for drop_class in DROP_CLASSES if label == "noise" else (None,):
            group = [one for one in judged if (one.case.label, one.case.drop_class) == (label, drop_class)]
            yield f"{label}, {drop_class}" if drop_class else label, group


def _by_pool(judged: Sequence[Judged]) -> Iterator[tuple[str, list[Judged]]]:
    for label in _LABELS:
        for pool in _POOLS:
            yield (
                f"{label}, {pool}",
                [one for one in judged if (one.case.label, one.case.candidate.pool) == (label, pool)],
            )


def _guards(judged: Sequence[Judged]) -> Iterator[str]:
    found = relabelled(judged)
    if not found:
        yield "No verdict was re-labelled."
        return
    rows = [(said, final, markdown(guard), str(number)) for (said, final, guard), number in sorted(found.items())]
    yield from _table(("said", "became", "why", "verdicts"), rows)


def _orders(cases: dict[str, tuple[Judged, ...]], orders: int) -> Iterator[str]:
    if orders == 1:
        yield "Asked in one order only: nothing is known of flips (`--shuffles 3`)."
        return
    flips = flipped(cases)
    yield f"{_counted(len(flips), 'case')} of {len(cases)} did not become the same in all {orders} orders" + (
        ":\n" if flips else "."
    )
    yield from (f"- {code_span(name)}: {', '.join(one.became for one in cases[name])}" for name in flips)


def _cost(answers: Sequence[Answered]) -> Iterator[str]:
    estimated = sum(estimated_tokens(answer.request.prompt) for answer in answers)
    told = [answer.usage for answer in answers if answer.usage is not None]
    into, out = sum(usage.input for usage in told), sum(usage.output for usage in told)
    spent = f"{into}+{out} tokens, told by {len(told)} answers" if told else "not known"
    yield (
        f"{_counted(len(answers), 'request')} of at most {BATCH} blocks, about {estimated} tokens of input by the "
        f"estimate that `maxTokens` bounds. Spent: {'nothing' if told and not into + out else spent}."
    )


def _misses(title: str, worth: Worth, judged: Sequence[Judged]) -> Iterator[str]:
    missed = [one for one in judged if one.worth == worth and one.answered]
    silent = sum(one.worth == worth and not one.answered for one in judged)
    yield f"\n## {title}\n"
    if silent:
        yield f"{_counted(silent, 'verdict')} that never came{', and:' if missed else '.'}" + ("\n" if missed else "")
    if not missed and not silent:
        yield "None."
    if missed:
        rows = sorted(
            (
                code_span(one.case.name),
                str(one.order),
                f"{one.case.label}{f', {one.case.drop_class}' if one.case.drop_class else ''}",
                markdown(one.case.why),
                one.became,
                markdown(one.verdict.reason or ""),
            )
            for one in missed
        )
        yield from _table(("case", "order", "label", "because", "became", "the reader's reason"), rows)


def _share(found: Share) -> tuple[str, str]:
    return _rate(found.of_all), _rate(found.of_answered)


def _rate(found: Rate) -> str:
    return f"{found.hits} of {found.of} ({_interval(found)})" if found.of else "none"


def _interval(found: Rate) -> str:
    return f"{found.low * 100:.1f} to {found.high * 100:.1f} %" if found.of else "nothing is known"


def _switch(asked: Asked) -> str:
    return "on" if asked.settings.strict_drops else "off"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def results_json(asked: Asked, answers: Sequence[Answered]) -> str:
    """The results for a program: every verdict of every case in every order."""
    judged = [one for answer in answers for one in answer.judged]
    cases = by_case(judged)
    dropped = share(cases, "true", ever("drop"))
    document = {
        "verifier": __version__,
        "reader": asked.name,
        "promptHash": PROMPT_HASH,
        "strictDrops": asked.settings.strict_drops,
        "cases": len(cases),
        "orders": max(one.order for one in judged),
        "trueItems": dropped.of_all.of,
        "trueItemsAnswered": dropped.of_answered.of,
        "trueItemsDropped": dropped.of_all.hits,
        "flips": list(flipped(cases)),
        "requests": [_request(answer) for answer in answers],
        "verdicts": [_verdict(one) for name in cases for one in cases[name]],
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _request(answer: Answered) -> dict[str, Any]:
    usage = None if answer.usage is None else {"input": answer.usage.input, "output": answer.usage.output}
    return {
        "name": answer.request.name,
        "blocks": answer.request.prompt.blocks,
        "estimatedTokens": estimated_tokens(answer.request.prompt),
        "answeredBy": answer.model and inert(answer.model, 100),
        "usage": usage,
        "failure": answer.failure and inert(answer.failure, 300),
    }


def _verdict(one: Judged) -> dict[str, Any]:
    citation = one.verdict.citation
    return {
        "case": one.case.name,
        "source": one.case.source,
        "language": one.case.language,
        "pool": one.case.candidate.pool,
        "label": one.case.label,
        "class": one.case.drop_class,
        "order": one.order,
        "became": one.became,
        "worth": one.worth,
        "droppedAs": one.verdict.drop_class,
        "confirmedByRules": one.verdict.confirmed,
        "guard": one.verdict.guard,
        "citation": citation and {"file": citation.file, "line": citation.line, "side": citation.side},
        "reason": one.verdict.reason,
    }
