"""Tests: more asserted, or a whole test that came, in a test path (S14)."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from verifier.diff import FileDiff, Hunk
from verifier.verification.classes.lines import (
    JS,
    READ_DIRS,
    PathParts,
    Run,
    has_any,
    holds_secret,
    indent,
    names,
    parts_of,
    runs_of,
    stripped,
)

_TEST_NAMES: Final = (
    (re.compile(r"\w+_test\.go"), False),
    (re.compile(r".+\.(?:test|spec)\.[cm]?[jt]sx?"), False),
    (re.compile(r"test_\w+\.py|\w+_test\.py|\w+_(?:spec|test)\.rb|\w+Tests?\.(?:java|kt|cs|php)|\w+\.rs"), True),
)
TEST_DIRS: Final = names("test tests spec __tests__")
_NOT_TEST: Final = re.compile(r"conftest|helper|util|fixture|factor|mock|config|setup|base|support|common|^mod\.|^main")
_NOT_TEST_DIRS: Final = names(
    "testing helpers support utils util mocks __mocks__ stubs common main lib resources prod production"
)
# an added line with one of these can weaken a test, or does more than test
_WEAK: Final = re.compile(
    r"skip|xfail|todo|\bonly\b|ignore|disable|pending|\breturn\b|except|catch|rescue|finally|exit|mock|patch|stub"
    r"|continue|\bpass\b|\bbreak\b|retr[iy]|flaky|timeout|sleep|\btry\b|suppress|quarantine|environ|getenv|process\b|exec"
    r"|eval|spawn|popen|system|socket|fetch|https?:|setup|teardown|(?:before|after)_?(?:each|all)|fixture|autouse|global"
    r"|prototype|setattr|__|testmain|\binit\b|panic|recover|failing|anything|any\(|warning|filter|plugin"
    r"|(?:expect|assert|asserttrue|assert!)\(true|assert true|assert 1\b|\bor true\b|\|\| ?true|unlink|remove|rmtree"
    r"|chmod|\bopen\(|write|import\(|require\(|unsafe|reflect|it\.each|\bassume"
    r"|jest\.|\bvi\.|object\.|^(?!self\.|this\.)\w+\.[\w.]+ ?=[^=]|\] ?=[^=>]|\bdel(?:ete|attr)?\b"
    r"|\bcls\.|clear\(|\bpop\(|\bnext\(|seed\(|chdir|locale|config|settings|modules|reload|connect\(|truncate"
    r"|drop_|fatal|\b[fx](?:it|describe)\b"
    r"|fake|\bspy|\b(?:os|sys|gc|shutil|signal|importlib|urllib|requests|ctypes|builtins|syscall|pickle|marshal)\b"
)
_GUARDED: Final = re.compile(r"raises|throw|\btry\b|except|catch|rescue|recover|suppress|skip|xfail|panic|fails|assume")
_ASSIGNED: Final = re.compile(r"(?<![=!<>])=(?![=>~])|\+\+|--")
_ASSERTION: Final = {
    "py": re.compile(r"assert [^(\s,].*[\w)\]}\"']|self\.assert\w+\(.*\)"),
    "go": re.compile(r"(?:assert|require)\.[A-Z]\w*\(t, .*\)"),
    "rs": re.compile(r"assert(?:_eq|_ne)?!\(.*\);"),
    "rb": re.compile(r"expect\(.*\)|assert_\w+ .+"),
    "java": re.compile(r"(?:Assertions\.|Assert\.)?assert\w+\(.*\);"),
    "kt": re.compile(r"assert\w+\(.*\)"),
    "cs": re.compile(r"Assert\.\w+\(.*\);"),
    "php": re.compile(r"(?:\$this->|self::|static::)assert\w+\(.*\);"),
} | dict.fromkeys(JS, re.compile(r"(?:await )?expect\(.*\);?"))
_TEST_START: Final = (
    dict.fromkeys(("java", "kt", "cs", "rs"), re.compile(r"@Test|\[(?:Fact|Test)\]|#\[(?:tokio::)?test\]"))
    | {
        "py": re.compile(r"(?:async )?def test_\w+\([\w, ]*\)(?: -> None)?:"),
        "go": re.compile(r"func Test[A-Z_]\w*\(t \*testing\.T\) \{"),
    }
    | dict.fromkeys(JS, re.compile(r"(?:it|test)\((?:\"[^\"]*\"|'[^']*'), (?:async )?(?:\(\) =>|function ?\(\)) \{"))
)
_DEFINED: Final = re.compile(r"\s*(?:async )?def (test_\w+)")
_ASSERTS: Final = re.compile(r"[Aa]ssert|expect\(|raises\(|require\.|\bt\.(?:Error|Fatal)")


def shows_tests(file: FileDiff, hunks: Sequence[Hunk]) -> str | None:
    """A test path where nothing but assertions or a whole test came: why, None where it is not proven."""
    path = parts_of(file.new_path or "")
    if file.old_path not in (None, file.new_path) or not _is_test_path(path):
        return None
    runs = [run for hunk in hunks for run in runs_of(hunk) if stripped(run.removed) or stripped(run.added)]
    added = [text for run in runs for text in stripped(run.added)]
    if not added or any(stripped(run.removed) for run in runs):
        return None
    if any(_WEAK.search(text.lower()) or holds_secret(text) for text in added):
        return None
    start = _TEST_START.get(path.suffix)
    if file.old_path is None:
        whole = start and any(map(start.fullmatch, added)) and any(map(_ASSERTS.search, added))
        return "A new test file can only add to what the tests refuse." if whole else None
    shown = [line.text.strip(" \t\r") for hunk in hunks for line in hunk.lines]
    if any(has_any(text, '"""', "'''", "`") or text.endswith("\\") for text in shown):
        return None
    # in Python and Ruby a second test of one name takes the place of the first
    if path.suffix in ("py", "rb"):
        names = [match[1] for hunk in file.hunks for line in hunk.lines if (match := _DEFINED.match(line.text))]
        if len(names) > len(set(names)):
            return None
    if start and all(_is_whole_test(run, start, path.suffix) for run in runs):
        return "Only whole new tests are added; no line of a test goes."
    if any(map(_GUARDED.search, shown)) or not all(_is_more_asserted(run, path.suffix) for run in runs):
        return None
    return "Only assertions are added; no line of a test goes."


def _is_test_path(path: PathParts) -> bool:
    folders = set(path.folders)
    if folders & (READ_DIRS | _NOT_TEST_DIRS) or _NOT_TEST.search(path.name.lower()):
        return False
    in_tests = bool(folders & TEST_DIRS) if path.suffix != "rs" else path.folders[-1:] == ("tests",)
    return any(pattern.fullmatch(path.name) and (in_tests or not needs) for pattern, needs in _TEST_NAMES)


def _is_more_asserted(run: Run, suffix: str) -> bool:
    form = _ASSERTION.get(suffix)
    if form is None or run.before is None:
        return False
    # what stands above must be finished: an added line may not come under its `if`, into its call, after its decorator
    above = run.before.strip(" \t\r")
    ends = above.endswith((";", "{", "}")) or form.fullmatch(above) is not None
    if suffix in ("py", "rb", "go"):
        ends = not above.endswith(tuple("\\(,[=+|&" if suffix == "go" else "\\(,[=+|&{"))
    if not ends or above.startswith(("@", "#[")) or re.match(r"return\b|raise\b|break\b|continue\b", above):
        return False
    added = [text for text in run.added if text.strip(" \t\r")]
    if suffix == "py" and {indent(text) for text in added} != {indent(run.before)} and not above.endswith(":"):
        return False
    return all(
        form.fullmatch(text) and text.count("(") == text.count(")") and not _ASSIGNED.search(text)
        for text in stripped(added)
    )


def _is_whole_test(run: Run, start: re.Pattern[str], suffix: str) -> bool:
    lines = [text.rstrip(" \t\r") for text in run.added if text.strip(" \t\r")]
    if run.before is None or not any(map(_ASSERTS.search, lines)):
        return False
    if suffix != "py":
        # what stands above must be finished, so that no attribute of an old test passes to the new one
        return run.before.rstrip(" \t\r").endswith((";", "}", "{")) and _is_balanced(lines, start)
    top = indent(lines[0])
    if indent(run.before) <= top and not run.before.lstrip(" ").startswith("class "):
        return False
    # what stands below must not become the new test's
    if run.after is not None and indent(run.after) > top:
        return False
    starts = [bool(start.fullmatch(text.strip(" \t"))) and indent(text) == top for text in lines]
    has_bodies = not any(upper and lower for upper, lower in pairwise([*starts, True]))
    return starts[0] and has_bodies and all(at or indent(text) > top for at, text in zip(starts, lines, strict=True))


def _is_balanced(lines: list[str], start: re.Pattern[str]) -> bool:
    """Whether the lines are whole blocks, each opened by a test's first line or by the attribute above it."""
    depth, declared = 0, False
    for text in (line.strip(" \t") for line in lines):
        starts = start.fullmatch(text) is not None
        # the first line of a test, or attributes alone above one: no field, no hook
        if depth == 0 and not starts and (not declared or text.startswith(("@", "[", "#[")) or text.endswith(";")):
            return False
        declared = declared or starts
        depth += sum(map(text.count, "{([")) - sum(map(text.count, "})]"))
        if depth < 0:
            return False
        # a declaration may take several lines; the end of its block ends it
        declared = depth > 0 or "}" not in text
    return depth == 0 and not declared
