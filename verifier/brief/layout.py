"""How a brief is laid out: which items are shown, in which order, with which ending. Knows no verdict."""

from dataclasses import dataclass
from typing import Literal

from verifier.brief.document import Brief
from verifier.brief.ids import Ids, item_ids

Strength = Literal["strong", "info"]


@dataclass(frozen=True, slots=True)
class Shown:
    """An item as it is shown. `index` is its position in the document; `suffix` is empty or the text's ending (S15)."""

    index: int
    id: str
    file: str
    line: int | None
    text: str
    suffix: str = ""
    strength: Strength | None = None
    sunk: bool = False

    @property
    def full_text(self) -> str:
        """The text with its suffix after one space (S15)."""
        text = self.text.rstrip()
        return f"{text} {self.suffix}" if text and self.suffix else self.suffix or self.text


@dataclass(frozen=True, slots=True)
class ShownFile:
    """A file under `reviewFirst` as it is shown; `index` is its position in the document."""

    index: int
    file: str
    hunks: tuple[Shown, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """What is shown of a brief. `why` is None where it stays as it came; `notes` are added to the brief's own."""

    facts: tuple[Shown, ...]
    files: tuple[ShownFile, ...]
    checks: tuple[Shown, ...]
    why: str | None = None
    notes: tuple[str, ...] = ()


def as_it_came(brief: Brief, ids: Ids | None = None) -> Layout:
    """The layout of `brief` with every item where it was and nothing added."""
    ids = ids or item_ids(brief)
    return Layout(
        facts=tuple(
            Shown(index, found, fact.file, fact.line, fact.text, strength=fact.strength)
            for index, (fact, found) in enumerate(zip(brief.facts, ids.facts, strict=True))
        ),
        files=tuple(
            ShownFile(
                index,
                file.file,
                tuple(
                    Shown(at, found, file.file, hunk.line, hunk.reason)
                    for at, (hunk, found) in enumerate(zip(file.hunks, inside, strict=True))
                ),
            )
            for index, (file, inside) in enumerate(zip(brief.files, ids.hunks, strict=True))
        ),
        checks=tuple(
            Shown(index, found, check.file, check.line, check.text)
            for index, (check, found) in enumerate(zip(brief.checks, ids.checks, strict=True))
        ),
    )
