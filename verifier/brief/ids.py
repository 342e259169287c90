"""The ids of a brief's items, those of the author's self-check (S2). Ids are compared, never parsed."""

from collections import Counter
from dataclasses import dataclass

from verifier.brief.document import Brief


@dataclass(frozen=True, slots=True)
class Ids:
    """The ids of a brief's items, by position: of each fact, of each hunk of each file, of each check."""

    facts: tuple[str, ...]
    hunks: tuple[tuple[str, ...], ...]
    checks: tuple[str, ...]

    def all(self) -> tuple[str, ...]:
        return (*self.facts, *(found for file in self.hunks for found in file), *self.checks)


def item_ids(brief: Brief) -> Ids:
    """The ids of `brief`'s items; one that would stand twice gets `#2`, `#3` (S2)."""
    taken: set[str] = set()
    repeats: Counter[str] = Counter()

    def unique(wanted: str) -> str:
        found = wanted
        while found in taken:
            repeats[wanted] += 1
            found = f"{wanted}#{repeats[wanted] + 1}"
        taken.add(found)
        return found

    facts = tuple(unique(f"{fact.id}:{place(fact.file, fact.line)}") for fact in brief.facts)
    hunks = tuple(tuple(unique(f"hunk:{file.file}:{hunk.line}") for hunk in file.hunks) for file in brief.files)
    ordinals: Counter[tuple[str, int | None]] = Counter()
    checks: list[str] = []
    for check in brief.checks:
        at = (check.file, check.line)
        checks.append(unique(f"check:{place(*at)}:{ordinals[at]}"))
        ordinals[at] += 1
    return Ids(facts, hunks, tuple(checks))


def place(file: str, line: int | None) -> str:
    """`file:line`, or `file` for an item without a line."""
    return file if line is None else f"{file}:{line}"
