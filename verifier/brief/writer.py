"""Writes a brief document in a layout: only what the layout changes is written anew (B1, S21)."""

from collections.abc import Iterable

from verifier import lossless
from verifier.brief.document import Brief, Fields
from verifier.brief.layout import Layout, Shown, ShownFile


def write_brief(brief: Brief, layout: Layout, verification: str) -> str:
    """The document of `brief` in `layout`, with `verification` (JSON source text) as its last member."""
    parts = brief.parts
    captain = parts.captain | {"facts": _array((_fact(brief, fact) for fact in layout.facts), "    ")}
    if layout.why is not None:
        captain["why"] = lossless.quote(layout.why)
    top = parts.top | {
        "captain": lossless.compose(captain, "  "),
        "reviewFirst": _array((_file(brief, file) for file in layout.files), "  "),
        "checks": _array((_check(brief, check) for check in layout.checks), "  "),
    }
    if layout.notes:
        own = lossless.elements(parts.top["notes"]) if "notes" in parts.top else []
        top["notes"] = lossless.array([*own, *map(lossless.quote, layout.notes)], "  ")
    top["verification"] = verification
    return lossless.compose(top) + "\n"


def _fact(brief: Brief, shown: Shown) -> Fields:
    came = brief.facts[shown.index]
    fields = _with(brief.parts.facts[shown.index], "text", came.text, shown.full_text)
    return _with(fields, "strength", came.strength, str(shown.strength))


def _file(brief: Brief, shown: ShownFile) -> Fields:
    came, fields = brief.files[shown.index].hunks, brief.parts.hunks[shown.index]
    hunks = (_with(fields[hunk.index], "reason", came[hunk.index].reason, hunk.full_text) for hunk in shown.hunks)
    return brief.parts.files[shown.index] | {"hunks": _array(hunks, "      ")}


def _check(brief: Brief, shown: Shown) -> Fields:
    return _with(brief.parts.checks[shown.index], "text", brief.checks[shown.index].text, shown.full_text)


def _with(fields: Fields, name: str, came: str, now: str) -> Fields:
    """`fields` with `name` written anew where it changed: what did not change keeps its source text."""
    return fields if now == came else fields | {name: lossless.quote(now)}


def _array(items: Iterable[Fields], indent: str) -> str:
    return lossless.array((lossless.compose(item, indent + "  ") for item in items), indent)
