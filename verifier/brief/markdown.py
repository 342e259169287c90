"""A brief as Markdown (B4). Every text from the brief is escaped: it renders as itself and is never live (A8)."""

from collections.abc import Iterator
from typing import Final

from verifier import lossless
from verifier.brief.document import Brief
from verifier.brief.layout import Layout, Shown
from verifier.text import code_span, looks_like_our_note, markdown

_VALUE_LIMIT: Final = 120


def brief_markdown(brief: Brief, layout: Layout) -> str:
    """The whole brief in `layout`: captain, review first, checks, notes."""
    return "\n".join(_lines(brief, layout)) + "\n"


def _lines(brief: Brief, layout: Layout) -> Iterator[str]:
    yield f"# Review brief\n\n{headline(brief)}"
    yield "\n## For the captain\n"
    if why := shown_why(brief, layout):
        yield f"**Why:** {markdown(why)}\n"
    yield from (fact_line(fact) for fact in layout.facts)
    if not layout.facts:
        yield "No facts."
    yield "\n## Review first\n"
    for file in layout.files:
        yield f"- {code_span(file.file)}"
        yield from (f"  - line {hunk.line}: {item_text(hunk)}" for hunk in file.hunks)
    if not layout.files:
        yield "No hunks."
    yield "\n## Check specifically\n"
    yield from (f"- {item_place(check)}: {item_text(check)}" for check in layout.checks)
    if not layout.checks:
        yield "No checks."
    notes = list(note_lines(brief, layout))
    if notes:
        yield "\n## Notes\n"
        yield from notes


def headline(brief: Brief) -> str:
    """Score, tier, priority and policy on one line, as they came (A4)."""
    top, captain = brief.parts.top, brief.parts.captain
    shown = [("Score", top.get("score")), ("tier", top.get("tier")), ("priority", captain.get("priority"))]
    if "policy" in top:
        shown.append(("policy", _decision(top["policy"])))
    return " · ".join(f"{name} {raw_value(source)}" for name, source in shown if source is not None)


def raw_value(source: str) -> str:
    """An opaque value as a code span: a string's content, anything else as its source text."""
    if source.startswith('"'):
        return code_span(str(lossless.value(source)), _VALUE_LIMIT)
    return code_span(source, _VALUE_LIMIT)


def _decision(policy: str) -> str:
    if not policy.startswith("{"):
        return policy
    try:
        return lossless.members(policy).get("decision", policy)
    except lossless.JsonError:
        return policy


def shown_why(brief: Brief, layout: Layout) -> str:
    """The why that `layout` shows: rebuilt, or as it came (S18)."""
    return layout.why if layout.why is not None else brief.captain.why or ""


def fact_line(fact: Shown, limit: int | None = None) -> str:
    """One fact as a list item: place, strength where it is strong, text and suffix."""
    strong = "**strong** " if fact.strength == "strong" else ""
    return f"- {strong}{item_place(fact)}: {item_text(fact, limit)}"


def item_place(item: Shown) -> str:
    return code_span(item.file if item.line is None else f"{item.file}:{item.line}")


def item_text(item: Shown, limit: int | None = None) -> str:
    """The item's text, cut to `limit` characters, and its suffix, never cut (S15)."""
    text = markdown(item.text, limit)
    return f"{text} {suffix_markdown(item.suffix)}".lstrip() if item.suffix else text


def suffix_markdown(suffix: str) -> str:
    """A suffix, its brackets as they are: no text of ours defines a link for them to become."""
    return f"[{markdown(suffix[1:-1])}]"


def note_lines(brief: Brief, layout: Layout) -> Iterator[str]:
    """The notes as list items: the brief's own, then ours; an own one that looks like ours says whose it is."""
    for note in brief.model.notes:
        yield f"- {'From the brief: ' if looks_like_our_note(note) else ''}{markdown(note)}"
    for note in layout.notes:
        yield f"- {markdown(note)}"
