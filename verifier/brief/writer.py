"""Writes a brief document in a layout: only what the layout changes is written anew (B1, S21)."""

from collections.abc import Iterable

from verifier import lossless
from verifier.brief.document import Brief, Fields
from verifier.brief.layout import Layout, Shown


def write_brief(brief: Brief, layout: Layout, verification: str) -> str:
    """The document of `brief` in `layout`, with `verification` (JSON source text) as its last member."""
    parts = brief.parts
    top = dict(parts.top)
    captain = dict(parts.captain)
    facts = [_with_text(parts.facts[fact.index], "text", fact) for fact in layout.facts]
    for fields, fact in zip(facts, layout.facts, strict=True):
        if fact.strength != brief.facts[fact.index].strength:
            fields["strength"] = lossless.quote(str(fact.strength))
    captain["facts"] = _array(facts, "    ")
    if layout.why is not None:
        captain["why"] = lossless.quote(layout.why)
    top["captain"] = lossless.compose(captain, "  ")
    top["reviewFirst"] = _array(
        (
            parts.files[file.index]
            | {
                "hunks": _array(
                    (_with_text(parts.hunks[file.index][hunk.index], "reason", hunk) for hunk in file.hunks), "      "
                )
            }
            for file in layout.files
        ),
        "  ",
    )
    top["checks"] = _array((_with_text(parts.checks[check.index], "text", check) for check in layout.checks), "  ")
    if layout.notes:
        own = lossless.elements(parts.top["notes"]) if "notes" in parts.top else []
        top["notes"] = lossless.array([*own, *map(lossless.quote, layout.notes)], "  ")
    top["verification"] = verification
    return lossless.compose(top) + "\n"


def _with_text(fields: Fields, name: str, shown: Shown) -> Fields:
    return fields | {name: lossless.quote(shown.full_text)}


def _array(items: Iterable[Fields], indent: str) -> str:
    return lossless.array((lossless.compose(item, indent + "  ") for item in items), indent)
