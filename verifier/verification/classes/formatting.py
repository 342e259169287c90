"""Formatting: the same tokens in another layout (S14)."""

import re
from collections.abc import Sequence
from typing import Final

from verifier.diff import FileDiff, Hunk
from verifier.verification.classes.docs import after_leader, is_rule
from verifier.verification.classes.lines import (
    JS,
    READ_DIRS,
    WATCHED,
    C,
    heading_of,
    looks_like_code,
    may_be_text,
    names,
    parts_of,
    runs_of,
    stripped,
)

_LAYOUT: Final = JS | C | names("go java kt kts cs rs swift php css scss json proto")
_NO_LONG_STRINGS: Final = names("c css scss json proto")
# in CSS a space is a combinator, in Swift it decides what an operator is, in JSX it is shown
_INNER_LAYOUT: Final = _LAYOUT - names("css scss php swift js jsx tsx json")
_MEANT: Final = re.compile(r"[\"'`\\/#@$]")
# a macro may make a text of its arguments
_MACRO: Final = re.compile(r"\b(?:[A-Z][A-Z0-9_]*|assert|static_assert) ?\(|\w ?! ?[(\[{]")
# a number with its point and exponent, a word, signs that touch: `1 .a` is not `1.a`, `a+ ++b` is not `a++ +b`
_TOKEN: Final = re.compile(r"\w[\w.]*(?:(?<=[0-9.][eEpP])[+-])?|[^\w \t]+")
_NOT_LAYOUT: Final = re.compile(r"golden|expect|snap|approved|baseline|\.min\.")
_NOT_LAYOUT_DIRS: Final = names("dist build vendor third_party node_modules")
_STATEMENT: Final = re.compile(r"[)\]}].*|.*[;{(\[]")


def shows_formatting(file: FileDiff, hunks: Sequence[Hunk]) -> str | None:
    """The same tokens before and after: why, None where it is not proven."""
    path = parts_of(file.new_path or "")
    if file.old_path != file.new_path or path.suffix not in _LAYOUT or set(path.folders) & READ_DIRS:
        return None
    if _NOT_LAYOUT.search(path.name.lower()) or set(path.folders) & _NOT_LAYOUT_DIRS:
        return None
    if path.name.endswith((".blade.php", "_test.go")) or not all(_is_layout(hunk, path.suffix) for hunk in hunks):
        return None
    return "Only white space differs, where it has no meaning; every token is the same."


def _is_layout(hunk: Hunk, suffix: str) -> bool:
    shown = stripped(line.text for line in hunk.lines if line.sign != "\\")
    if may_be_text([*shown, heading_of(hunk)], suffix) or any(_is_placed(text, suffix) for text in shown):
        return False
    for run in runs_of(hunk):
        old, new = stripped(run.removed), stripped(run.added)
        if len(old) != len(new) or not all(_same_tokens(*pair, suffix) for pair in zip(old, new, strict=True)):
            return False
        # a blank line, or one that moved, may stand in a string whose quotes are not shown; one that parts comments may
        # say what they belong to
        seen = new or [(text or "//").strip(" \t\r").removeprefix("//") for text in (run.before, run.after)]
        if suffix not in _NO_LONG_STRINGS and not all(looks_like_code(text, suffix) for text in seen):
            return False
        # another language in a template literal, or the end of a heredoc
        if (suffix in JS and not all(map(_STATEMENT.fullmatch, new))) or any(re.fullmatch(r"\w+;?", x) for x in new):
            return False
    return True


def _is_placed(text: str, suffix: str) -> bool:
    """Whether a line means something by the lines it stands between: a preprocessor's, a comment that tools read."""
    if text.startswith("#"):
        return suffix in C | {"cs", "php"}
    if not text.startswith(("//", "/*")):
        return False
    body = after_leader(text[2:].removesuffix("*/"))
    return not is_rule(body) and (not body[0].isalnum() or bool(WATCHED.search(body.lower())))


def _same_tokens(old: str, new: str, suffix: str) -> bool:
    if old == new or suffix not in _INNER_LAYOUT or _MEANT.search(old) or _MEANT.search(new):
        return old == new
    return not _MACRO.search(new) and _TOKEN.findall(old) == _TOKEN.findall(new)
