"""Cases into requests: batches of blocks as a pull request's would be, in one order or in several."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from verifier.bench.cases import Case
from verifier.text import digest
from verifier.verification.model import Prompt, Question, Settings
from verifier.verification.prompt import make_prompt

BATCH: Final = 24
"""Blocks in one request: what a busy pull request has, and few enough that one bad reply does not cost many cases."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request: its name (`<order>-<batch>`, from 1), and its cases in the order of their blocks."""

    name: str
    order: int
    cases: tuple[Case, ...]
    prompt: Prompt

    def question(self, settings: Settings) -> Question:
        """What a reader is asked."""
        return Question(self.prompt, tuple(case.candidate for case in self.cases), settings)


def make_requests(cases: Sequence[Case], orders: int) -> tuple[Request, ...]:
    """The requests that show every case once in each of `orders` orders.

    The first order mixes languages and labels, as the names' hashes fall; the others shuffle the blocks of each batch.
    """
    mixed = sorted(cases, key=lambda case: digest(case.name, 40))
    batches = [mixed[at : at + BATCH] for at in range(0, len(mixed), BATCH)]
    return tuple(_requests(batches, orders))


def _requests(batches: Sequence[Sequence[Case]], orders: int) -> Iterator[Request]:
    for order in range(1, orders + 1):
        for number, batch in enumerate(batches, 1):
            blocks = list(batch)
            if order > 1:
                random.Random(f"{order}-{number}").shuffle(blocks)  # noqa: S311 (an order, no secret)
            numbered = tuple(
                replace(case, candidate=replace(case.candidate, id=case.name, number=block))
                for block, case in enumerate(blocks, 1)
            )
            prompt = make_prompt([case.candidate for case in numbered])
            yield Request(f"{order}-{number:02}", order, numbered, prompt)


def request_key(request: Request, asked_of: str) -> str:
    """What a kept reply is found again by: who was asked, and all that was asked, in which order's turn."""
    parts = (asked_of, request.name, request.prompt.system, request.prompt.schema, request.prompt.message)
    return digest("\n".join(parts), 40)
