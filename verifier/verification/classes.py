"""The drop classes that path and changed lines alone prove (S14).

A false proof hides a true item from a reviewer; a noise item without a proof costs a glance. So every rule here says
what it has seen to be harmless, not what it knows to be harmful, and whatever is in doubt stays unproven.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from verifier.diff import FileDiff, Hunk, Line
from verifier.verification.lockfiles import is_lockfile, only_small_steps
from verifier.verification.model import DropClass, Proof

_LINE_LIMIT: Final = 2_000

# docs by path
_DOC_NAMES: Final = frozenset(
    {
        "authors",
        "changelog",
        "changes",
        "code_of_conduct",
        "contributing",
        "contributors",
        "governance",
        "history",
        "news",
        "readme",
        "release_notes",
        "releases",
        "roadmap",
        "support",
        "thanks",
        "upgrading",
    }
)
_DOC_SUFFIXES: Final = frozenset({"md", "markdown", "rst", "adoc", "txt"})
_DOC_DIRS: Final = frozenset({"doc", "docs", "documentation"})
_LOADED_DIRS: Final = frozenset(
    {
        ".claude",
        ".cursor",
        ".github",
        "agents",
        "commands",
        "includes",
        "_includes",
        "instructions",
        "prompts",
        "rules",
        "skills",
        "snippets",
        "src",
        "lib",
        "template",
        "templates",
    }
)
_LOADED_NAMES: Final = re.compile(
    r"agents|claude|gemini|skill|copilot|prompt|system|instruction|licen[cs]e|notice|copying|requirement|constraint"
    r"|robots|cmakelists|schema|template|security|manifest|meson"
)
_EXECUTED: Final = re.compile(
    r"```|~~~|>>>|^\s*\.\. |^\s*:::|^ {4}|^\t|^\s*[$#>%] |\{\{|\{%|<[a-zA-Z!/]|^---$|^\+\+\+$|:[a-z]+:`"
    r"|^\s*include::|^\s*\[\[?"
    r"|`[^`]*[ =/][^`]*`|https?://|\]\("
)
_LEGAL: Final = re.compile(r"spdx|copyright|licen[cs]|\(c\)|©|patent|warrant", re.IGNORECASE)
_WORDS: Final = re.compile(r"[^\W\d_]{2,}\s+[^\W\d_]{2,}")

# docs by comment
_SLASHES: Final = frozenset(
    {
        "c",
        "cc",
        "cpp",
        "cs",
        "cxx",
        "dart",
        "go",
        "h",
        "hpp",
        "java",
        "js",
        "jsx",
        "kt",
        "kts",
        "m",
        "mjs",
        "php",
        "rs",
        "scala",
        "swift",
        "ts",
        "tsx",
    }
)
_HASHES: Final = frozenset({"py", "rb", "sh", "bash", "toml", "pl", "r", "ex", "exs"})
_TOOLS_READ: Final = re.compile(
    r"@|noqa|nosec|nolint|nosonar|noinspection|pragma|pylint|mypy|pyright|type:|fmt:|isort|yapf|flake8|ruff|eslint|jshint"
    r"|jslint|tslint|prettier|stylelint|biome|istanbul|coverage|\bc8\b|\bv8\b|webpack|vite|rollup|sourcemap|__pure__"
    r"|go:|\+build|cgo|\bexport\b|generated|do not edit|clang-format|clang-tidy|iwyu|shellcheck|yamllint|rubocop|frozen"
    r"|steep|sorbet|typed:|coding[:=]|vim:|emacs|-\*-|doctest|>>>|region|#!|renovate|dependabot|zizmor|hadolint|tfsec"
    r"|checkov|semgrep|trivy|gitleaks|language=|lint|ignore|disable|enable|suppress|jsx|\bflow\b|reference|todo|fixme|hack"
)
_DIRECTIVE: Final = re.compile(r"\s*[\w.+-]+\s*[:=]")
_MULTILINE: Final = re.compile(
    r"\"\"\"|'''|`|<<|/\*|\*/|=begin|=end|__END__|R\"|@\"|r#|\bimport \"C\"|\|[-+]?\s*$|>[-+]?\s*$"
)

# tests
_TEST_DIRS: Final = frozenset({"test", "tests", "__tests__", "spec", "specs", "e2e"})
_TEST_NAME: Final = re.compile(
    r"(?:test_[\w.-]+|[\w.-]+_test)\.(?:py|go|rb|exs?|cc|cpp|dart)|[\w.-]+\.(?:test|spec)\.[cm]?[jt]sx?"
    r"|[\w.-]+_spec\.rb|[A-Z]\w*(?:Test|Tests|Spec|IT)\.(?:java|kt|cs|scala|swift|php)"
)
_WEAKENS: Final = re.compile(
    r"skip|xfail|xit|xtest|xdescribe|fit\b|fdescribe|todo|only|ignore|disable|pending|return|except|catch|rescue|ensure"
    r"|finally|exit|abort|quit|mock|patch|stub|spy|fake|continue|break|pass\b|suppress|global|setup|teardown|before"
    r"|after|fixture|conftest|environ|setenv|process\.env|timeout|retr|sleep|flaky|expectederror|pragma|noqa|nolint"
    r"|eslint|#\[|@|override|prototype|goto|defer|raise|throw|panic|unsafe|import|require|include|use\b|if\b|unless"
    r"|cfg|build"
)
_ASSERTS: Final = re.compile(r"assert|expect|should|\bt\.(?:error|fatal|fail)|verify|must\b|raises|throws|refute")

# fixtures
_DATA: Final = frozenset({"csv", "html", "json", "jsonl", "ndjson", "tsv", "txt", "xml", "yaml", "yml"})
_FIXTURE_DIRS: Final = frozenset({"fixture", "fixtures", "__fixtures__", "testdata", "cassettes"})
_OWN_FIXTURE_DIRS: Final = frozenset({"__fixtures__", "testdata"})
_EXPECTED: Final = re.compile(
    r"expect|golden|snap|baseline|approved|want|output|result|seed|migrat|schema|config|package"
)
_PRODUCTION_DIRS: Final = frozenset(
    {"main", "db", "seeds", "seed", "migrations", "migration", "prod", "production", "deploy", "config"}
)

# generated
_GENERATED_NAME: Final = re.compile(
    r"\w[\w.-]*(?:\.pb\.go|_pb2\.pyi?|_pb2_grpc\.py|\.g\.dart|\.freezed\.dart|\.generated\.\w+|\.pb\.cc|\.pb\.h)"
    r"|zz_generated[\w.]*\.go"
)
_MARKER: Final = re.compile(
    r"\s*(?://|#|/?\*|--|<!--)[^\n]{0,200}(?:code generated [^\n]{0,200}do not edit|@generated\b)", re.IGNORECASE
)

# formatting
_LAYOUT_FREE: Final = frozenset(
    {
        "c",
        "cc",
        "cpp",
        "cs",
        "css",
        "cxx",
        "dart",
        "go",
        "h",
        "hpp",
        "java",
        "js",
        "json",
        "kt",
        "kts",
        "less",
        "mjs",
        "proto",
        "rs",
        "scala",
        "scss",
        "swift",
        "ts",
    }
)
_TOKEN: Final = re.compile(r"\w+|[^\w\s]+")
_LAYOUT_COUNTS: Final = re.compile(r"`|\"\"\"|'''|<<|R\"|@\"|r#|\$\"|\\$|^\s*#")
_QUOTES: Final = re.compile(r"['\"`/#]")


@dataclass(frozen=True, slots=True)
class _Change:
    """What the rules look at: the file's paths, its hunks, and their changed lines."""

    paths: tuple[str, ...]
    hunks: Sequence[Hunk]
    changed: tuple[Line, ...]

    @property
    def lines(self) -> Iterator[Line]:
        return (line for hunk in self.hunks for line in hunk.lines if line.sign != "\\")

    def suffix_in(self, suffixes: frozenset[str]) -> bool:
        return all(_suffix(path) in suffixes for path in self.paths)


def proofs(file: FileDiff, hunks: Sequence[Hunk]) -> tuple[Proof, ...]:
    """Every drop class that the paths of `file` and the changed lines of `hunks` prove (S14).

    `hunks` is an item's own hunk, or all of the file's for an item without a line. Each proof cites a changed line.
    """
    changed = tuple(line for hunk in hunks for line in hunk.changed)
    if not changed or file.submodule or any(len(line.text) > _LINE_LIMIT for line in changed):
        return ()
    change = _Change(file.paths, hunks, changed)
    shows = next((line for line in changed if line.text.strip()), changed[0])
    number = shows.new if shows.new is not None else shows.old or 0
    return tuple(Proof(drop_class, file.paths[0], number, why) for drop_class, rule, why in _RULES if rule(change))


def _is_prose(change: _Change) -> bool:
    """Prose in a document that people read, and nothing in it that a tool or a reader runs."""
    return (
        all(_is_document(path) for path in change.paths)
        and all(
            not _EXECUTED.search(line.text) and not _LEGAL.search(line.text)
            for line in change.lines
            if line.sign in "+-"
        )
        and not any("```" in line.text or "~~~" in line.text for line in change.lines)
        and any(_WORDS.search(line.text) for line in change.changed)
    )


def _is_document(path: str) -> bool:
    *folders, name = path.lower().split("/")
    stem, _, suffix = name.partition(".")
    if _LOADED_DIRS.intersection(folders) or _LOADED_NAMES.search(name):
        return False
    if stem.replace("-", "_") in _DOC_NAMES:
        return suffix in _DOC_SUFFIXES or not suffix
    return suffix in _DOC_SUFFIXES - {"txt"} and bool(_DOC_DIRS.intersection(folders))


def _is_comment(change: _Change) -> bool:
    """Whole-line comments for people, in a hunk without a string or a block that could hold them as text."""
    if change.suffix_in(_SLASHES):
        leader = "//"
    elif change.suffix_in(_HASHES):
        leader = "#"
    else:
        return False
    if any(_MULTILINE.search(line.text) for line in change.lines):
        return False
    said = [line.text.strip() for line in change.changed if line.text.strip()]
    return bool(said) and all(_is_plain_comment(text, leader) for text in said)


def _is_plain_comment(text: str, leader: str) -> bool:
    words = text.removeprefix(leader)
    if words == text or words[:1] not in (" ", "\t") or words.rstrip().endswith("\\"):
        return False  # `///`, `//!`, `#!`, `#:`, `//go:`: some tool reads these
    lowered = words.lower()
    return not (_TOOLS_READ.search(lowered) or _LEGAL.search(lowered) or _DIRECTIVE.match(words)) and bool(
        _WORDS.search(words)
    )


def _is_more_test(change: _Change) -> bool:
    """A test grows: nothing is taken away, and nothing that is added could keep it from failing."""
    if not all(_is_test(path) for path in change.paths):
        return False
    if any(line.sign == "-" and line.text.strip() for line in change.changed):
        return False
    added = [line.text.lower() for line in change.changed]
    return any(_ASSERTS.search(text) for text in added) and not any(_WEAKENS.search(text) for text in added)


def _is_test(path: str) -> bool:
    *folders, name = path.split("/")
    inside = {folder.lower() for folder in folders}
    if inside & (_FIXTURE_DIRS | {"snapshots", "__snapshots__", "golden", "testing", "support", "helpers"}):
        return False
    in_test_dir = bool(inside & _TEST_DIRS)
    return _TEST_NAME.fullmatch(name) is not None and (in_test_dir or not name.startswith("test_"))


def _is_fixture(change: _Change) -> bool:
    """Sample data beneath tests: no code, no expected values, nothing that production could load."""
    return change.suffix_in(_DATA) and all(_is_sample(path) for path in change.paths)


def _is_sample(path: str) -> bool:
    *folders, name = path.lower().split("/")
    inside = set(folders)
    if inside & _PRODUCTION_DIRS or any(_EXPECTED.search(part) for part in (*folders, name)):
        return False
    beneath_tests = bool(inside & _TEST_DIRS) and bool(inside & _FIXTURE_DIRS)
    return beneath_tests or bool(inside & _OWN_FIXTURE_DIRS)


def _is_generated(change: _Change) -> bool:
    """A lockfile that takes small steps, or a file that its name or an untouched marker calls generated."""
    if any(is_lockfile(path) for path in change.paths):
        return all(is_lockfile(path) for path in change.paths) and only_small_steps(change.hunks)
    if all(
        _GENERATED_NAME.fullmatch(path.rpartition("/")[2]) or "__generated__" in path.split("/")
        for path in change.paths
    ):
        return True
    return any(line.sign == " " and _MARKER.match(line.text[:500]) for line in change.lines)


def _is_layout(change: _Change) -> bool:
    """White space where it means nothing: the same lines with the same tokens, blank lines more or less."""
    if not change.suffix_in(_LAYOUT_FREE) or any(_LAYOUT_COUNTS.search(line.text) for line in change.lines):
        return False
    return all(_same_tokens(removed, added) for hunk in change.hunks for removed, added in _runs(hunk))


def _runs(hunk: Hunk) -> Iterator[tuple[list[str], list[str]]]:
    """Removed and added lines that are not blank, run by run between context lines that are not blank."""
    removed: list[str] = []
    added: list[str] = []
    for line in hunk.lines:
        if line.sign == " " and line.text.strip():
            yield removed, added
            removed, added = [], []
        elif line.sign in "+-" and line.text.strip():
            (added if line.sign == "+" else removed).append(line.text)
    yield removed, added


def _same_tokens(removed: list[str], added: list[str]) -> bool:
    if len(removed) != len(added):
        return False
    for old, new in zip(removed, added, strict=True):
        if old.strip() == new.strip():
            continue
        if _QUOTES.search(old) or _TOKEN.findall(old) != _TOKEN.findall(new):
            return False
    return True


def _suffix(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[2].lower()


_RULES: Final[tuple[tuple[DropClass, Callable[[_Change], bool], str], ...]] = (
    ("docs", _is_prose, "only prose in a document for people changes"),
    ("docs", _is_comment, "only comments for people change"),
    ("tests", _is_more_test, "a test file only grows, and nothing added can keep it from failing"),
    ("fixtures", _is_fixture, "only sample data beneath tests changes"),
    ("generated", _is_generated, "only what a tool writes changes"),
    ("formatting", _is_layout, "only white space without meaning changes"),
)
