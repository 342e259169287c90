"""The comment on the pull request: at most five facts, one line on what was hidden, the notes folded (A4)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from verifier.brief.document import Brief
from verifier.brief.layout import Layout, Shown
from verifier.brief.markdown import fact_line, headline, note_lines, shown_why
from verifier.text import code_span, cut, markdown
from verifier.verification.application import status_note
from verifier.verification.model import Outcome, Verdict

MARKER: Final = "<!-- verifier: review brief -->"
LIMIT: Final = 60_000  # GitHub refuses a body of more than 65,536 characters

_FACTS: Final = 5
_PATH_LIMIT: Final = 400
_TEXT_LIMIT: Final = 600
_WHY_LIMIT: Final = 1_200
_ID_LIMIT: Final = 200
_HIDDEN_ROOM: Final = 30_000
_FOLD: Final = ("<details><summary>Notes</summary>\n", "\n</details>")


def comment(brief: Brief, layout: Layout, outcome: Outcome | None) -> str:
    """The comment's Markdown, shorter than `LIMIT`; `outcome` is None where the pass was off (S23)."""
    top = "\n".join(_top(brief, layout, outcome))
    notes = list(note_lines(brief, layout))
    if not notes:
        return f"{top}\n"
    room = LIMIT - len(top) - sum(map(len, _FOLD)) - 100
    folded = "\n".join(_within(notes, room, "- and {} more notes, in the job summary"))
    return f"{top}\n\n{_FOLD[0]}\n{folded}\n{_FOLD[1]}\n"


def _top(brief: Brief, layout: Layout, outcome: Outcome | None) -> Iterator[str]:
    yield MARKER
    yield f"### Review brief\n\n{headline(brief)}"
    if outcome is not None and (note := status_note(outcome)):
        yield f"\n> [!{'WARNING' if outcome.status == 'failed' else 'NOTE'}]\n> {markdown(note)}"
    if why := shown_why(brief, layout):
        yield f"\n**Why:** {markdown(why, _WHY_LIMIT)}"
    yield ""
    if not layout.facts:
        yield "No facts."
    else:
        yield from (_fact_line(fact) for fact in layout.facts[:_FACTS])
    if len(layout.facts) > _FACTS:
        yield f"\nand {len(layout.facts) - _FACTS} more"
    if outcome is not None and (hidden := _hidden(outcome.verdicts)):
        yield f"\n{hidden}"


def _fact_line(fact: Shown) -> str:
    return fact_line(replace(fact, file=cut(fact.file, _PATH_LIMIT)), _TEXT_LIMIT)


def _hidden(verdicts: Sequence[Verdict]) -> str:
    """One line: how many items were downgraded, and every dropped one by name."""
    downgraded = sum(verdict.action == "downgrade" for verdict in verdicts)
    dropped = [
        f"{code_span(verdict.id, _ID_LIMIT)} ({verdict.drop_class})" for verdict in verdicts if verdict.action == "drop"
    ]
    said = [f"{downgraded} downgraded"] if downgraded else []
    if dropped:
        named = ", ".join(_within(dropped, _HIDDEN_ROOM, "and {} more, in the notes"))
        said.append(f"{len(dropped)} dropped: {named}")
    return f"**Verifier:** {'; '.join(said)}." if said else ""


def _within(texts: Iterable[str], room: int, more: str) -> Iterator[str]:
    """The texts that fit into `room` characters, whole, and how many more there are."""
    texts = list(texts)
    for at, text in enumerate(texts):
        room -= len(text) + 2
        if room < 0:
            yield more.format(len(texts) - at)
            return
        yield text
