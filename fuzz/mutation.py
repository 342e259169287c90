"""Inputs that are made up: bytes, lines, JSON values and archives, changed a little or a lot.

What only ever changed bytes would stay at "not JSON"; so each form is taken apart, changed, and put together again.
"""

import io
import json
import re
import warnings
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import deepcopy
from random import Random
from typing import Any, Final

from pydantic import TypeAdapter

from verifier.verification.model import Candidate
from verifier.verification.prompt import make_prompt

Mutation = Callable[[bytes, Random], bytes]

ODD: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, 1, -1, 0.5, 10**30, 1e308, float("nan"), float("inf"), [], {}, [[]], "", " ", "x" * 400),
    *(
        "NaN",
        "null",
        "verified",
        "quick confirm",
        "coupling.missing",
        "../..",
        "/dev/null",
        "a:1",
        "a#2",
        "0123456789abcdef",
    ),
)
HOSTILE: Final[tuple[str, ...]] = (
    *(
        "[verified]",
        "[verified · new]",
        "[unverified",
        "] [",
        "［verified］",
        "verifier failed:",
        "dropped by verifier: ",
    ),
    *("@octocat", "#1", "GH-1", "https://x.example", "www.x.example", ":tada:", "deadbeef", "$x$", "&lt;", "&#64;"),
    *("<b>", "<!--", "-->", "</details>", "```", "`", "~~", "**", "_", "|", "| - |", "[a](b)", "![a](b)", "[^1]", "\\"),
    *(
        "\n",
        "\r",
        "\t",
        "\0",
        "\x1b[31m",
        "\u200b",
        "\u202e",
        "\u2028",
        "\ufeff",
        "\ud800",
        "\U000e0041",
        "é",
        "e\u0301",
    ),
    *("::error::", "##[", "# ", "- ", "1. ", "> ", "===", "---", " " * 20, "9" * 30, "a_b", "ſ", "İ", "ﬁ"),
)
DIFF_WORDS: Final = (
    *(
        "diff --git a/x b/x",
        'diff --git "a/\\303\\244" "b/\\303\\244"',
        "--- a/x",
        "+++ b/x",
        "--- /dev/null",
        "+++ /dev/null",
    ),
    *(
        "@@ -1 +1 @@",
        "@@ -0,0 +1,2 @@",
        "@@ -1,3 +1,2 @@ def f():",
        "@@ -999999999,999999999 +1 @@",
        "@@@ -1 -1 +1 @@@",
    ),
    *("index 1..2 100644", "index 1..2 160000", "new file mode 100644", "deleted file mode 100644", "old mode 100644"),
    *(
        "rename from x",
        "rename to y",
        "copy from x",
        "copy to y",
        "similarity index 90%",
        "\\ No newline at end of file",
    ),
    *(
        "Binary files a/x and b/x differ",
        "GIT binary patch",
        "-Subproject commit " + "0" * 40,
        "+<<<<<<< HEAD",
        "+// generated",
    ),
    *("diff --git a/package-lock.json b/package-lock.json", '+      "version": "1.2.4",', '-      "version": "1.2.3",'),
    *(
        "diff --git a/go.sum b/go.sum",
        "+# noqa",
        "-    assert x == 1",
        "+    assert x",
        "diff --git a/tests/test_x.py b/tests/test_x.py",
    ),
    *('+"""', "+'''", "+/*", "+*/", "+    ", "+\t", " ", "", "\r"),
)
YAML_WORDS: Final = (
    *(
        "llm:",
        "  enabled: true",
        "  verify:",
        "    enabled: true",
        "  provider: anthropic",
        "  model: m",
        "  effort: low",
    ),
    *(
        "    maxTokens: 1",
        "    timeoutSeconds: 1e3",
        "    strictDrops: yes",
        "    max_tokens: 2",
        "  <<: *a",
        "a: &a",
        "  - *a",
    ),
    *(
        "---",
        "...",
        "%YAML 1.1",
        "%TAG ! tag:x,2000:",
        "!!python/object:os.system x",
        "!!binary aGk=",
        "!!set {a}",
        "!!omap [a: 1]",
    ),
    *(
        "? [a, b]",
        "? {a: 1}",
        ": 1",
        "&a *a",
        "|",
        ">-",
        "'",
        '"',
        "{",
        "}",
        "[",
        "]",
        "\t",
        "# x",
        "2001-01-01",
        "0x_1",
        "1_000",
    ),
    *(".inf", "-.nan", "0o7", "190:20:30", "~", "null", '"\\ud800"', '"\\x00"', "\ufeff", "\u2028", "&a [*a]"),
)
TEXT_WORDS: Final = HOSTILE


def any_bytes(data: bytes, random: Random) -> bytes:
    """A few bytes changed, taken away, doubled, or set in."""
    found = bytearray(data)
    for _ in range(random.randint(1, 4)):
        at = random.randint(0, len(found))
        end = min(len(found), at + random.choice((1, 2, 8, 64)))
        match random.randrange(5):
            case 0 if at < len(found):
                found[at] = random.randrange(256)
            case 1:
                del found[at:end]
            case 2:
                found[at:at] = found[at:end] * random.choice((1, 1, 2, 50))
            case 3:
                found[at:at] = random.randbytes(random.randint(1, 4))
            case _:
                found[at:end] = random.choice(HOSTILE).encode("utf-8", "surrogatepass")
    return bytes(found)


def lines_of(words: Sequence[str]) -> Mutation:
    """Lines changed, doubled, moved, taken away, set in; numbers changed."""

    def mutate(data: bytes, random: Random) -> bytes:
        lines = data.decode("utf-8", "surrogateescape").split("\n")
        for _ in range(random.randint(1, 5)):
            at = random.randrange(len(lines))
            match random.randrange(7):
                case 0:
                    lines.insert(at, random.choice(words))
                case 1:
                    lines.insert(at, lines[random.randrange(len(lines))])
                case 2 if len(lines) > 1:
                    del lines[at : at + random.choice((1, 1, 5))]
                    lines = lines or [""]
                case 3:
                    lines[at] = random.choice(words)
                case 4:
                    lines[at] = re.sub(
                        "[0-9]+", lambda _: str(random.choice((0, 1, 2, 3, 99, 10**9))), lines[at], count=1
                    )
                case 5:
                    lines[at] = random.choice((" ", "+", "-", "  ", "\\", "")) + lines[at]
                case _:
                    lines[at] = _string(lines[at], random)
        return "\n".join(lines).encode("utf-8", "surrogateescape" if random.random() < 0.9 else "replace")

    return _sometimes(any_bytes, _unless_odd(mutate))


def json_value(data: bytes, random: Random) -> bytes:
    """A JSON document with some of its values, names and strings changed; a string that is JSON is taken apart, too."""
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError):
        return any_bytes(data, random)
    for _ in range(random.randint(1, 3)):
        tree = _changed(tree, random)
    return _dumped(tree, random)


def json_lines(data: bytes, random: Random) -> bytes:
    """Lines of JSON: one value changed, or lines moved about."""
    lines = data.split(b"\n")
    at = random.randrange(len(lines))
    if random.random() < 0.5:
        lines[at] = json_value(lines[at], random).replace(b"\n", b" ")
    elif random.random() < 0.5:
        lines.insert(at, random.choice(lines))
    else:
        del lines[at]
    return b"\n".join(lines)


def a_record(data: bytes, random: Random) -> bytes:
    """A record with some of its values changed, its prompt made anew: somebody may do that, and be believed so far."""
    found = json_value(data, random)
    with suppress(ValueError, RecursionError, TypeError, KeyError, IndexError, AttributeError):
        if random.random() < 0.7:
            tree = json.loads(found)
            candidates = TypeAdapter(tuple[Candidate, ...]).validate_python(tree["candidates"])
            tree["prompt"]["message"] = make_prompt(candidates).message
            tree["prompt"]["blocks"] = make_prompt(candidates).blocks
            return _dumped(tree, random)
    return found


def an_archive(data: bytes, random: Random) -> bytes:
    """A zip with other entries, names, methods and headers around what it held."""
    held = data
    with suppress(Exception):
        opened = zipfile.ZipFile(io.BytesIO(data))
        held = b"".join(opened.read(entry)[:10_000] for entry in opened.infolist()[:5])
    written = io.BytesIO()
    methods = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    names = ("brief.json", "brief.json", "brief.json", "../brief.json", "brief.json/", "x\ny", "é", "")
    with warnings.catch_warnings(), zipfile.ZipFile(written, "w") as made:
        warnings.simplefilter("ignore")  # two entries of one name
        for _ in range(random.choice((1, 1, 1, 2, 3))):
            entry = zipfile.ZipInfo(random.choice(names))
            entry.compress_type = random.choice(methods)
            entry.comment = random.randbytes(random.choice((0, 0, 5)))
            content = random.choice((held, any_bytes(held, random), held * random.choice((1, 2, 60))))
            made.writestr(entry, content[:6_000_000])
    found = written.getvalue()
    if random.random() < 0.6:
        # the directory and the first header: what stands between is covered by a checksum
        edge = random.choice((found.find(b"PK\x01\x02"), found.rfind(b"PK\x05\x06"), 0))
        return found[:edge] + any_bytes(found[edge : edge + 60], random) + found[edge + 60 :]
    return found


def _sometimes(rare: Mutation, often: Mutation) -> Mutation:
    return lambda data, random: (rare if random.random() < 0.15 else often)(data, random)


def _unless_odd(mutate: Mutation) -> Mutation:
    def tried(data: bytes, random: Random) -> bytes:
        try:
            return mutate(data, random)
        except UnicodeError:  # half a surrogate pair among the words
            return any_bytes(data, random)

    return tried


def _changed(tree: Any, random: Random) -> Any:
    """`tree` with one of its values changed, removed, doubled, renamed or swapped."""
    places = list(_places(tree))
    if not places:
        return deepcopy(random.choice((tree, *ODD)))
    holder, key = random.choice(places)
    value = holder[key]
    match random.randrange(9):
        case 0:
            holder[key] = deepcopy(random.choice(ODD))
        case 1:
            del holder[key]
        case 2:
            other, at = random.choice(places)
            with suppress(KeyError, IndexError):
                holder[key] = deepcopy(other[at])  # a tree is no graph
        case 3 if isinstance(holder, list):
            holder[key:key] = [deepcopy(value)] * (1 if isinstance(value, dict | list) else random.choice((1, 2, 30)))
        case 3:
            holder[_string(str(key), random)] = deepcopy(value)
        case 4 if isinstance(holder, dict):
            other_key = str(random.choice(places)[1])  # a position in a list is a number
            holder[other_key if random.random() < 0.5 else _string(key, random)] = holder.pop(key)
        case _ if isinstance(value, str):
            holder[key] = _string(value, random)
        case _ if isinstance(value, bool) or value is None:
            holder[key] = random.choice((True, False, None))
        case _ if isinstance(value, int | float):
            holder[key] = random.choice((value + 1, value - 1, -value, 0, 1, 2**53, 0.1))
        case _:
            holder[key] = deepcopy(random.choice(ODD))
    return tree


def _places(tree: Any) -> Any:
    """Every place in a tree: what holds it, and its key or position there."""
    left = [tree]
    while left:
        node = left.pop()
        inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, value in inner:
            yield node, key
            left.append(value)


def _string(text: str, random: Random) -> str:
    if text[:1] in ("{", "[") and random.random() < 0.8:
        with suppress(ValueError, RecursionError):
            return _dumped(_changed(json.loads(text), random), random).decode("utf-8", "replace")
    at = random.randint(0, len(text))
    end = min(len(text), at + random.choice((0, 0, 1, 5)))
    return text[:at] + random.choice((*HOSTILE, text[at:end], text[:20], "")) + text[end:]


def _dumped(tree: Any, random: Random) -> bytes:
    """`tree` as JSON in one of its spellings."""
    spelt = json.dumps(tree, ensure_ascii=random.random() < 0.5, indent=random.choice((None, None, 1)))
    return spelt.encode("utf-8", "replace")
