"""JSON that keeps its source text: what is not read comes out byte for byte as it went in (B1, S21).

`members` and `elements` open one level of a document and hand out the source text of what is inside; `compose` and
`array` put such texts together again. `loads` reads values, strictly.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final, NoReturn

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_EXACT_DIGITS: Final = 18
_GLIMPSE: Final = 60
_STRING_OR_CONSTANT: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"|(NaN|-?Infinity)', re.DOTALL)
_LONE_SURROGATE: Final = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
    "|([\ud800-\udfff])",
    re.DOTALL,
)


class JsonError(ValueError):
    """A text that is not the JSON it should be; the message says where and what was expected."""


class _NotANumber(ValueError):
    """NaN or Infinity, which Python would read."""


def _refuse_constant(name: str) -> NoReturn:
    raise _NotANumber(name)


def _integer(digits: str) -> int | float:
    # Python refuses to read integers of thousands of digits; nothing that is read here is larger than 18.
    return int(digits) if len(digits.removeprefix("-")) <= _EXACT_DIGITS else float(digits)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = Counter(name for name, _ in pairs)
        raise _twice(next(name for name, times in names.items() if times > 1))
    return found


def _twice(key: str) -> JsonError:
    # ASCII, so that no name can hide or reorder what stands beside it.
    return JsonError(f"the key {json.dumps(key[:_GLIMPSE])} stands twice in one object")


_skipper: Final = json.JSONDecoder(parse_constant=_refuse_constant, parse_int=str, parse_float=str)
_reader: Final = json.JSONDecoder(parse_constant=_refuse_constant, parse_int=_integer)
_strict_reader: Final = json.JSONDecoder(parse_constant=_refuse_constant, parse_int=_integer, object_pairs_hook=_unique)


def loads(text: str) -> Any:
    """The value of the JSON document `text`. Raises JsonError, for a key that stands twice in one object too.

    Strings come out as text that UTF-8 can hold: half a surrogate pair, which a tool that cuts strings by UTF-16
    units leaves behind, is read as U+FFFD.
    """
    return _whole(_strict_reader, text)


def value(text: str) -> Any:
    """The value of one element or member that `elements` or `members` handed out, as `loads`. Raises JsonError."""
    return _whole(_reader, text)


def _whole(decoder: json.JSONDecoder, text: str) -> Any:
    text = _LONE_SURROGATE.sub(lambda match: "\ufffd" if match.lastindex else match[0], text)
    found, end = _decode(decoder, text, _after_space(text, 0))
    _expect_end(text, end)
    return found


def members(text: str) -> dict[str, str]:
    """The members of the JSON object `text`, in order: name to source text of the value. Raises JsonError."""
    found: dict[str, str] = {}
    at = _after_space(text, 0)
    if text[at : at + 1] != "{":
        raise JsonError("expected an object")
    at = _after_space(text, at + 1)
    if text[at : at + 1] == "}":
        _expect_end(text, at + 1)
        return found
    while True:
        if text[at : at + 1] != '"':
            raise JsonError(f"{_place(text, at)}: expected a name in double quotes")
        key, at = _decode(_skipper, text, at)
        at = _after_space(text, at)
        if text[at : at + 1] != ":":
            raise JsonError(f"{_place(text, at)}: expected a colon")
        start = _after_space(text, at + 1)
        _, end = _decode(_skipper, text, start)
        if key in found:
            raise _twice(key)
        found[key] = text[start:end]
        at = _after_space(text, end)
        if text[at : at + 1] == "}":
            _expect_end(text, at + 1)
            return found
        if text[at : at + 1] != ",":
            raise JsonError(f"{_place(text, at)}: expected a comma or the end of the object")
        at = _after_space(text, at + 1)


def elements(text: str) -> list[str]:
    """The elements of the JSON array `text`, each as its source text. Raises JsonError."""
    found: list[str] = []
    at = _after_space(text, 0)
    if text[at : at + 1] != "[":
        raise JsonError("expected an array")
    at = _after_space(text, at + 1)
    if text[at : at + 1] == "]":
        _expect_end(text, at + 1)
        return found
    while True:
        _, end = _decode(_skipper, text, at)
        found.append(text[at:end])
        at = _after_space(text, end)
        if text[at : at + 1] == "]":
            _expect_end(text, at + 1)
            return found
        if text[at : at + 1] != ",":
            raise JsonError(f"{_place(text, at)}: expected a comma or the end of the array")
        at = _after_space(text, at + 1)


def quote(text: str) -> str:
    """`text` as a JSON string that UTF-8 can hold: a lone surrogate stays an escape."""
    quoted = json.dumps(text, ensure_ascii=False)
    return quoted if _encodable(quoted) else json.dumps(text)


def compose(fields: Mapping[str, str], indent: str = "") -> str:
    """An object of the given source texts, one member a line, closed at `indent`."""
    if not fields:
        return "{}"
    inner = ",\n".join(f"{indent}  {quote(key)}: {value}" for key, value in fields.items())
    return f"{{\n{inner}\n{indent}}}"


def array(items: Iterable[str], indent: str = "") -> str:
    """An array of the given source texts, one element a line, closed at `indent`."""
    inner = ",\n".join(f"{indent}  {item}" for item in items)
    return f"[\n{inner}\n{indent}]" if inner else "[]"


def canonical(value: Any) -> str:
    """`value` as JSON with sorted keys and no white space (S33)."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _decode(decoder: json.JSONDecoder, text: str, at: int) -> tuple[Any, int]:
    try:
        return decoder.raw_decode(text, at)
    except json.JSONDecodeError as error:
        said = error.msg.removesuffix(" at").removesuffix(" starting").rstrip(": ").replace("Expecting", "expected")
        raise JsonError(f"{_place(text, error.pos)}: {said[0].lower()}{said[1:]}") from None
    except _NotANumber as error:
        found = next((token.start() for token in _STRING_OR_CONSTANT.finditer(text, at) if token[1]), at)
        raise JsonError(f"{_place(text, found)}: expected a number, not {error}") from None
    except RecursionError:
        raise JsonError("nested too deeply") from None


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _expect_end(text: str, at: int) -> None:
    end = _after_space(text, at)
    if end != len(text):
        raise JsonError(f"{_place(text, end)}: expected the end of the document")


def _place(text: str, at: int) -> str:
    return f"line {text.count(chr(10), 0, at) + 1}, column {at - text.rfind(chr(10), 0, at)}"
