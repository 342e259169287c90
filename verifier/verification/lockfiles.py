"""Lockfiles: whether a change is a small step of versions that were there already, and nothing else (S14)."""

import re
from collections.abc import Sequence
from typing import Final

from verifier.diff import Hunk, Line

_NAMES: Final = frozenset(
    {
        "cargo.lock",
        "composer.lock",
        "gemfile.lock",
        "npm-shrinkwrap.json",
        "package-lock.json",
        "pipfile.lock",
        "pnpm-lock.yaml",
        "poetry.lock",
        "uv.lock",
        "yarn.lock",
    }
)
_LENGTH_LIMIT: Final = 1_000

_VERSION: Final = re.compile(r'\s*"?version"?\s*[:=]?\s*"=*v?(\d{1,6})\.(\d{1,6})\.(\d{1,6})",?\s*\Z')
_DIGEST: Final = re.compile(r'\s*"?(?:integrity|checksum|hash)"?\s*[:=]?\s*"?[A-Za-z0-9+/=:-]{16,200}"?,?\s*\Z')
_SOURCE: Final = re.compile(r'\s*"?resolved"?:?\s+"(https://[^\s"]{1,400})",?\s*\Z')
_DIGITS: Final = re.compile(r"\d+(?:\.\d+)*")


def is_lockfile(path: str) -> bool:
    """Whether `path` names a lockfile of a known kind."""
    return path.rpartition("/")[2].lower() in _NAMES


def only_small_steps(hunks: Sequence[Hunk]) -> bool:
    """Whether every change is of one version within its major (of 0.x: its minor), its digest and its address.

    Each run of removed lines must pair one by one with the added lines after it, and hold a version: a digest or an
    address that changes without one, a new source, a package more or less prove nothing.
    """
    runs = [run for hunk in hunks for run in _runs(hunk)]
    return bool(runs) and all(_is_small_step(*run) for run in runs)


def _runs(hunk: Hunk) -> list[tuple[list[str], list[str]]]:
    """The hunk's runs of changed lines: what was removed, and what stands in its place."""
    runs: list[tuple[list[str], list[str]]] = []
    before: Line | None = None
    for line in hunk.lines:
        if line.sign in "+-":
            if before is None or before.sign == " ":
                runs.append(([], []))
            runs[-1][line.sign == "+"].append(line.text)
        before = line if line.sign != "\\" else before
    return runs


def _is_small_step(removed: list[str], added: list[str]) -> bool:
    if len(removed) != len(added) or any(len(text) > _LENGTH_LIMIT for text in (*removed, *added)):
        return False
    versions = 0
    for old, new in zip(removed, added, strict=True):
        if (was := _VERSION.match(old)) and (now := _VERSION.match(new)):
            major, minor = (int(was[1]), int(was[2])), (int(now[1]), int(now[2]))
            if major[0] != minor[0] or (major[0] == 0 and major[1] != minor[1]):
                return False
            if tuple(map(int, now.groups())) <= tuple(map(int, was.groups())):
                return False
            versions += 1
        elif (was := _SOURCE.match(old)) and (now := _SOURCE.match(new)):
            if _DIGITS.sub("#", was[1]) != _DIGITS.sub("#", now[1]):
                return False
        elif not (_DIGEST.match(old) and _DIGEST.match(new)):
            return False
    return versions == 1
