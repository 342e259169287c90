"""The ground: the one neutraliser, cutting and hashing of text.

Text from a pull request, an artifact or a model is hostile. Every place that text goes to has one function here:
`visible` (prompt and terminal), `inert` (a reason inside JSON), `markdown` and `code_span` (Markdown), and every
one-line place passes `one_line` first.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache, partial
from itertools import count
from typing import Final

ELLIPSIS: Final = "…"
_BREAK: Final = "\u200b"

# Characters that render as nothing, move the cursor or reorder what stands beside them.
_HIDDEN: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_CONTROL: Final = "\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"
_NOT_VISIBLE: Final = re.compile(f"[{_HIDDEN}{_CONTROL}]")
_INVISIBLE: Final = re.compile(f"[{_HIDDEN}]")
_SPACE_OR_CONTROL: Final = re.compile(f"[\\s{_CONTROL}]+")

# What GitHub turns into a link, a reference, a mention or an emoji inside plain text, up to where a break undoes it.
_LIVE: Final = re.compile(
    r"@(?=\S)"
    r"|#(?=[0-9])"
    r"|(?<![0-9a-z])GH(?=-[0-9])"
    r"|:(?=//)"
    r"|(?<![0-9a-z])www(?=\.)"
    r"|:(?=[\w+-]+:)"
    r"|(?P<sha>(?<![0-9a-z])[0-9a-f]{7,64}(?![0-9a-z]))",
    re.IGNORECASE | re.ASCII,
)
_LONGEST_FENCE: Final = 80  # of a code span, in GitHub's parser; a longer one would be plain text and its content live
_PART_OF_SHA: Final = re.compile(".{1,6}")  # GitHub links seven digits and more

# What opens a heading, a list or a rule at the start of a block, up to where a backslash or a break undoes it; fences,
# quotes, tables and HTML are disarmed wherever they stand.
_BLOCK_START: Final = re.compile(r"\A(?:[0-9]{1,9}(?=[.)](?:\s|\Z))|(?=[-+=#:]))")

# What a reader takes for a square bracket: what Unicode calls opening or closing punctuation and these, but no plain
# parenthesis, brace or quotation mark.
_ALSO_OPENING: Final = "⎡⎣⌜⌞⸂⸄⸉⸌⸜⊏"
_ALSO_CLOSING: Final = "⎤⎦⌝⌟⸃⸅⸊⸍⸝⊐"
_NO_BRACKET: Final = "(){}（）｛｝﹙﹚﹛﹜‚„⹂〝〞〟"
_GLYPHS: Final = str.maketrans(
    {
        "`": "'",
        "<": "‹",
        ">": "›",
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
        "$": "＄",  # a backslash does not keep GitHub from reading mathematics
        **{mark: "\\" + mark for mark in "\\`*[]{}|~!"},
    }
)
_EDGE_UNDERSCORE: Final = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
_ENTITY: Final = re.compile(r"&(?=#?\w+;)")

# Signs that pass for the letters of our own words; accents and wide forms are undone apart from this.
_LOOKALIKES: Final = str.maketrans(
    {
        sign: letter
        for letter, signs in {
            "a": "аАαΑɑᴀ4",
            "b": "ЬьВвΒβƄƅʙ8",
            "d": "ԁԀɗᴅժ",
            "e": "еЕεΕєЄҽҼ℮ᴇ3",
            "f": "ſƒϝϜғҒքꞙ",
            "g": "ɡɢցԌԍ69",
            "i": "іІιΙıɩɪӏӀǀɫlL1",
            "n": "пПηΝոռᴨɴ",
            "o": "оОοΟσօՕᴏ०๐0",
            "p": "рРρΡᴘ",
            "r": "гГʀᴦⲅ",
            "s": "ѕЅꜱ5",
            "u": "υսՍʋᴜцμ",
            "v": "νѵѴᴠ∨",
            "w": "ԝԜωաѡᴡɯ",
            "y": "уУΥγүҮʏყ",
        }.items()
        for sign in signs
    }
)
_GAP: Final = r"[^\w\[\]]"
# Signs that pass for a letter inside a word, and part words from each other elsewhere.
_A, _I, _S = "[a@]", "[i!¡|]", "[s$]"
_OURS: Final = (
    rf"(?:(?:un{_GAP}?)?ver{_I}f{_I}ed|down{_GAP}?gr{_A}ded|dropped{_GAP}+by{_GAP}+ver{_I}f{_I}er|ver{_I}f{_I}er"
    rf"|b{_A}{_S}e{_GAP}+ver{_S}{_I}on{_GAP}+u{_S}ed)(?![^\W_]|_\w)"
)
_TOKEN: Final = re.compile(rf"[\[\]]|(?P<ours>(?<![^\W_]_){_OURS})|[^\W_]+")
_FIRST_WORDS: Final = 4  # of a bracket; one of ours among them has the look of a suffix: `[has already been verified]`
_OUR_NOTE: Final = re.compile(rf"[\W_]*{_OURS}")


def cut(text: str, limit: int) -> str:
    """`text`, at most `limit` characters long; what was cut ends in an ellipsis."""
    if len(text) <= limit:
        return text
    return text[: limit - 1] + ELLIPSIS if limit > 0 else ""


def one_line(text: str, limit: int | None = None) -> str:
    """`text` on one line: white space and controls become one space, invisible characters go, `limit` characters."""
    flat = _SPACE_OR_CONTROL.sub(" ", _INVISIBLE.sub("", text)).strip()
    return flat if limit is None else cut(flat, limit)


def visible(text: str) -> str:
    """`text` with every control and invisible character shown as a sign of its own; a tab stays (S36)."""
    return _NOT_VISIBLE.sub(_picture, text)


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code == 0x7F:
        return "\u2421"
    if match[0].isascii():
        return chr(0x2400 + code)
    if unicodedata.category(match[0]) == "Cs":
        return "\ufffd"
    return f"⟨U+{code:04X}⟩"


def inert(text: str, limit: int) -> str:
    """`text` as one line of at most `limit` characters that neither renders nor notifies wherever it is put (S20)."""
    flat = "".join(map(_parenthesis, one_line(text, limit))).translate(_GLYPHS)
    room = limit
    # Cut first: a cut behind a break could bring to life what was dead, such as the first half of a long number.
    while len(found := _still(cut(flat, room))) > limit:
        room -= len(found) - limit
    return found


def _still(text: str) -> str:
    """One line without markup characters, with a break in everything that is still live."""
    unmarked = _EDGE_UNDERSCORE.sub("＿", _BLOCK_START.sub(rf"\g<0>{_BREAK}", text))
    return _ENTITY.sub("&" + _BREAK, _defuse(unmarked))


def markdown(text: str, limit: int | None = None) -> str:
    """`text` as Markdown that renders as that text and nothing else, on one line of `limit` characters (A8).

    It may stand at the start of a block and in the middle of a line. A dollar sign comes out as its wide form.
    """
    escaped = _defuse(one_line(text, limit)).translate(_ESCAPES)
    return _EDGE_UNDERSCORE.sub(r"\\_", _BLOCK_START.sub(r"\g<0>\\", escaped))


def code_span(text: str, limit: int | None = None) -> str:
    """`text` as a Markdown code span, on one line: nothing inside is live (A8)."""
    # `##[` would command the runner whose log shows this (A8)
    flat = (one_line(text, limit) or " ").replace("##[", f"##{_BREAK}[")
    runs = {len(run) for run in re.findall("`+", flat)}
    length = next(length for length in count(1) if length not in runs)
    if length > _LONGEST_FENCE:
        flat, length = flat.replace("`", "'"), 1
    fence = "`" * length
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{pad}{flat}{pad}{fence}"


def _defuse(text: str) -> str:
    return _LIVE.sub(_broken, text)


def _broken(match: re.Match[str]) -> str:
    if match["sha"]:
        return _BREAK.join(_PART_OF_SHA.findall(match["sha"]))
    return match[0] + _BREAK


def without_our_marks(text: str) -> str:
    """`text` with the brackets of what looks like a suffix or a note of ours turned into parentheses (S15)."""
    # again, since `[a b c un[verified]]` becomes `[a b c un(verified)]`; no mark of ours has more than a few such parts
    while turned := _our_brackets(_skeleton(text)):
        number = count()
        text = "".join(map(partial(_turned, turned, number), text))
    return text


def _turned(turned: set[int], number: Iterator[int], sign: str) -> str:
    return _parenthesis(sign) if _bracket(sign) and next(number) in turned else sign


def _our_brackets(skeleton: str) -> set[int]:
    """Which brackets of `skeleton`, by number, hold one of our words among their first, or close such a one."""
    found: set[int] = set()
    opened: list[tuple[int, int]] = []  # the brackets that are open, each with how many words stand before it
    words = 0
    number = count()
    for token in _TOKEN.finditer(skeleton):
        if token[0] == "[":
            opened.append((next(number), words))
        elif token[0] == "]":
            closing = next(number)
            if opened and opened.pop()[0] in found:
                found.add(closing)
        else:
            words += 1
            if token["ours"]:
                # From the innermost outwards, for what is around one that is too far away is too far away as well.
                for bracket, before in reversed(opened):
                    if words - before > _FIRST_WORDS:
                        break
                    found.add(bracket)
    return found


def looks_like_our_note(text: str) -> bool:
    """Whether a note that came with the brief could be taken for one of ours (S15, S34)."""
    return _OUR_NOTE.match(_skeleton(text)) is not None


def _skeleton(text: str) -> str:
    """`text` as it looks to a reader: plain small letters, no accents, each bracket one of `[]` (as many as before)."""
    return "".join(map(_look, text))  # sign by sign: normalising a long run of accents at once takes quadratic time


@lru_cache(4096)
def _look(sign: str) -> str:
    if bracket := _bracket(sign):
        return bracket
    apart = _INVISIBLE.sub("", unicodedata.normalize("NFKD", sign.translate(_LOOKALIKES)))
    return "".join(part for part in apart if unicodedata.category(part)[0] != "M").translate(_LOOKALIKES).casefold()


def _bracket(sign: str) -> str:
    """The square bracket that a reader takes `sign` for; empty for any other sign."""
    category = unicodedata.category(sign)
    if sign in _ALSO_OPENING or (category == "Ps" and sign not in _NO_BRACKET):
        return "["
    return "]" if sign in _ALSO_CLOSING or (category == "Pe" and sign not in _NO_BRACKET) else ""


def _parenthesis(sign: str) -> str:
    """The parenthesis that takes the place of what looks like a square bracket; any other sign as it is."""
    return {"[": "(", "]": ")"}.get(_bracket(sign), sign)


def fact_hash(detector: str, file: str, text: str) -> str:
    """The first 16 hex digits of sha256 over detector, file and text; digits and white space folded (S29)."""
    folded = re.sub(r"\s+", " ", re.sub(r"[0-9]+", "#", text)).strip()
    return digest("\n".join((detector, file, folded)), 16)


def digest(text: str, length: int) -> str:
    """The first `length` hex digits of sha256 over `text` as UTF-8; a lone surrogate counts as a question mark."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:length]
