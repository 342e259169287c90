"""Fixtures: sample values of the same kind, in a fixture path (S14)."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from verifier.diff import FileDiff, Hunk
from verifier.verification.classes.lines import PathParts, holds_secret, names, parts_of, runs_of, stripped
from verifier.verification.classes.tests import TEST_DIRS

_DATA: Final = names("json yaml yml csv tsv txt xml html ndjson jsonl")
_FIXTURE_DIRS: Final = names("fixtures fixture cassettes")
# what stands here is as often what a test expects, unless its name tells
_MIXED_DIRS: Final = names("testdata test-data test_data data")
_INPUT: Final = re.compile(r"input|request|sample|payload|users|words")
_NOT_FIXTURE: Final = re.compile(
    r"snap|golden|expect|baseline|approv|out(?:put)?\b|result|want|seed|migrat|schema|config|settings|package|lock"
    r"|require|options|respon|repl(?:y|ies)|render|actual|truth|answer"
    r"|compose|pom\.|build|manifest|workflow|rules|prompt|polic|openapi|swagger|graphql"
)
_NOT_FIXTURE_DIRS: Final = names("main db database prod production public static deploy config seeds dist sql")
_JUDGED: Final = re.compile(
    r"expect|golden|\bwant|assert|result|outcome|skip|xfail|ignore|disable|valid|allow|deny|error|fail|status"
)
_KEYED: Final = re.compile(r"(?:- )?(\"[^\"\\]*\"|[\w.-]+)\s*:\s*(.*)")


def shows_fixtures(file: FileDiff, hunks: Sequence[Hunk]) -> str | None:
    """A fixture path where values became others of their kind: why, None where it is not proven."""
    path = parts_of(file.new_path or "")
    if file.old_path not in (None, file.new_path) or not _is_fixture_path(path):
        return None
    lines = [line for hunk in hunks for line in hunk.lines]
    # a tag in YAML may make any object of a program
    if path.suffix in ("yaml", "yml") and any("!" in line.text for line in lines):
        return None
    if any(_JUDGED.search(line.text.lower()) or (line.sign in "+-" and holds_secret(line.text)) for line in lines):
        return None
    for run in (run for hunk in hunks for run in runs_of(hunk)):
        # a sample that goes, or whose kind of value changes, is a case that is no longer tried
        gone, come = (Counter(_sample(text, path.suffix) for text in stripped(side)) for side in run[:2])
        if gone - come:
            return None
    return f"{path.name} is sample data in a directory that only tests read; no sample goes."


def _is_fixture_path(path: PathParts) -> bool:
    folders = path.folders
    if path.suffix not in _DATA or path.name.startswith(".") or set(folders) & _NOT_FIXTURE_DIRS:
        return False
    first = next((at for at, name in enumerate(folders) if name in TEST_DIRS | {"testdata", "__fixtures__"}), None)
    if first is None or any(map(_NOT_FIXTURE.search, (*folders[first:], path.name.lower()))):
        return False
    below = set(folders[first + 1 :])
    if folders[first] == "__fixtures__" or below & (_FIXTURE_DIRS | {"__fixtures__"}):
        return True
    return bool(_MIXED_DIRS & {folders[first], *below}) and _INPUT.search(path.name.lower()) is not None


def _sample(body: str, suffix: str) -> str:
    """What a line of data is but for the words and numbers in it: its keys and the kinds of its values."""
    if suffix in ("csv", "tsv") and '"' not in body:
        return "|".join(_kind(cell) for cell in body.split("," if suffix == "csv" else "\t"))
    keyed = _KEYED.fullmatch(body) if suffix in ("json", "yaml", "yml") else None
    if keyed is None:
        return body.rstrip(",")
    return keyed[1].strip('"') + ": " + _kind(keyed[2].rstrip(", "))


def _kind(value: str) -> str:
    """The kind of a value, so that no empty, negative, long or odd one goes: those are what a test is for."""
    if not value or value[0] in "{[&*!|>" or value.lower() in ("true", "false", "null", "~", "yes", "no", "on", "off"):
        return value
    if re.fullmatch(r"-?[0-9]+(?:\.[0-9]+)?", value):
        size = "zero" if float(value) == 0 else f"{len(value) // 6}"
        return f"number {value[:1] == '-'} {'.' in value} {size}"
    odd = "".join(sorted(set(re.sub(r"[A-Za-z0-9 ]", "", value))))
    empty = value in ('""', "''")
    return f"text {len(value) // 64} {empty} {odd}"
