"""The ground: the one neutraliser, cutting and hashing of text.

Text from a pull request, an artifact or a model is hostile. Every place that text goes to has one function here:
`visible` (prompt and terminal), `inert` (a reason inside JSON), `markdown` and `code_span` (Markdown), and every
one-line place passes `one_line` first.
"""

import hashlib
import re
import unicodedata
from typing import Final

ELLIPSIS: Final = "…"
_BREAK: Final = "\u200b"

# Characters that render as nothing, move the cursor or reorder what stands beside them.
_HIDDEN: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_CONTROL: Final = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"
_NOT_VISIBLE: Final = re.compile(f"[{_HIDDEN}{_CONTROL}\n]")
_HIDDEN_RUN: Final = re.compile(f"[{_HIDDEN}]+")
_SPACE_OR_CONTROL: Final = re.compile(f"[\\s{_CONTROL}]+")

# What GitHub turns into a link, a reference, a mention or an emoji inside plain text.
_LIVE: Final = re.compile(
    r"(?P<at>@)(?=\S)"
    r"|(?P<number>#)(?=[0-9])"
    r"|(?P<gh>\bGH)(?=-[0-9])"
    r"|(?P<scheme>:)(?=//)"
    r"|(?P<www>\bwww)(?=\.)"
    r"|(?P<mail>\b(?:mailto|xmpp|tel):)(?=\S)"
    r"|(?P<emoji>:)(?=[a-z0-9_+-]+:)"
    r"|(?P<sha>(?<![0-9a-zA-Z])[0-9a-f]{3})(?=[0-9a-f]{4,61}(?![0-9a-zA-Z]))",
    re.IGNORECASE,
)
_GLYPHS: Final = str.maketrans(
    {
        "`": "'",
        "<": "‹",
        ">": "›",
        "[": "(",
        "]": ")",
        "*": "∗",
        "~": "∼",
        "|": "¦",
        "\\": "⧵",
        "$": "＄",
    }
)
_ESCAPES: Final = str.maketrans(
    {
        "&": "&amp;",
        "<": "&lt;",
        ">": "&gt;",
        "$": "＄",
        **{mark: "\\" + mark for mark in "\\`*[]{}|~!"},
    }
)
_EDGE_UNDERSCORE: Final = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
_ENTITY: Final = re.compile(r"&(?=#?\w+;)")

# Letters of other scripts that pass for those of our own words.
_LOOKALIKES: Final = str.maketrans(dict(zip("аеорсуіѕԁνοαρειυոɡԝ", "aeopcyisdvoapeiungw", strict=True)))
_BRACKETED: Final = re.compile(r"[\[［【〔⟦]([^\]］】〕⟧]*)[\]］】〕⟧]?")
_OURS: Final = re.compile(r"\s*(?:un)?verified\b|\s*downgraded\b|\s*dropped by verifier\b|\s*verifier\b")


def cut(text: str, limit: int) -> str:
    """`text`, at most `limit` characters long; what was cut ends in an ellipsis."""
    return text if len(text) <= limit else text[: max(limit - 1, 0)] + ELLIPSIS


def one_line(text: str, limit: int | None = None) -> str:
    """`text` on one line: white space and controls become one space, invisible characters go, `limit` characters."""
    flat = _HIDDEN_RUN.sub("", _SPACE_OR_CONTROL.sub(" ", text)).strip()
    return flat if limit is None else cut(flat, limit)


def visible(text: str) -> str:
    """`text` with every control and invisible character shown as a sign of its own; a tab stays (S36)."""
    return _NOT_VISIBLE.sub(_picture, text)


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return f"⟨U+{code:04X}⟩"


def inert(text: str, limit: int) -> str:
    """`text` as one line of at most `limit` characters that neither renders nor notifies wherever it is put (S20)."""
    flat = _EDGE_UNDERSCORE.sub("＿", one_line(text).translate(_GLYPHS))
    broken = _ENTITY.sub("&" + _BREAK, _defuse(flat))
    return cut(broken, limit)


def markdown(text: str, limit: int | None = None) -> str:
    """`text` as Markdown that renders as that text and nothing else, on one line of `limit` characters (A8)."""
    return _EDGE_UNDERSCORE.sub(r"\\_", _defuse(one_line(text, limit)).translate(_ESCAPES))


def code_span(text: str, limit: int | None = None) -> str:
    """`text` as a Markdown code span, on one line: nothing inside is live (A8)."""
    flat = one_line(text, limit) or " "
    longest = max((len(run) for run in re.findall("`+", flat)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{pad}{flat}{pad}{fence}"


def _defuse(text: str) -> str:
    return _LIVE.sub(lambda match: match[0] + _BREAK, text)


def without_our_marks(text: str) -> str:
    """`text` with the brackets of what looks like a suffix or a note of ours turned into parentheses (S15)."""

    def turned(match: re.Match[str]) -> str:
        if not _OURS.match(_skeleton(match[1])):
            return match[0]
        closed = match[0] != match[0][0] + match[1]
        return f"({match[1]}{')' if closed else ''}"

    return _BRACKETED.sub(turned, text)


def looks_like_our_note(text: str) -> bool:
    """Whether a note that came with the brief could be taken for one of ours (S15, S34)."""
    return _OURS.match(_skeleton(text)) is not None


def _skeleton(text: str) -> str:
    folded = unicodedata.normalize("NFKC", _HIDDEN_RUN.sub("", text)).casefold()
    return _SPACE_OR_CONTROL.sub(" ", folded.translate(_LOOKALIKES))


def fact_hash(detector: str, file: str, text: str) -> str:
    """The first 16 hex digits of sha256 over detector, file and text; digits and white space folded (S29)."""
    folded = re.sub(r"\s+", " ", re.sub(r"[0-9]+", "#", text)).strip()
    return digest("\n".join((detector, file, folded)), 16)


def digest(text: str, length: int) -> str:
    """The first `length` hex digits of sha256 over `text` as UTF-8; a lone surrogate counts as a question mark."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:length]
