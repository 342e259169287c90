"""Lockfiles: whether a change only raises versions within their major, with the digests that belong to them (S14).

A lockfile is where a dependency can be swapped unseen. So all but version, digest and size of a package must stay as
they are, the digest must change with the version, and the new version must be one that its range would have taken.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Final, NamedTuple

# removed lines, the added ones in their place, and the context line after them
Piece = tuple[Sequence[str], Sequence[str], str | None]

_NAMES: Final = re.compile(
    r"package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|poetry\.lock|uv\.lock|pdm\.lock|pipfile\.lock"
    r"|cargo\.lock|go\.sum|gemfile\.lock"
)
# the name of the algorithm is no part of it: another one is a change of integrity
_DIGEST: Final = re.compile(
    r"(?<=packages/)[0-9a-f]{2}/[0-9a-f]{2}/[0-9a-f]{60}\b|\b[0-9a-f]{40,}\b"
    r"|(?:(?<=sha512-)|(?<=sha384-)|(?<=sha256-)|(?<=sha1-)|(?<= h1:))[A-Za-z0-9+/]{27,}={0,2}"
)
_MEASURE: Final = re.compile(r"\b(size = |upload-time = \")[0-9TZ:.+-]+")
_VERSION: Final = re.compile(r"(?<![0-9.])[0-9]{1,9}(?:\.[0-9]{1,9})+(?![0-9])")
_HOST: Final = re.compile(r"://[^/\s\"]*")
_OTHER_SOURCE: Final = re.compile(
    r"git[+@]|\bgit = |github(?:\.com|:)|gitlab(?:\.com|:)|bitbucket|http:|ssh:|file:|link:|workspace:|\bpath = "
    r"|editable|directory|requires-python|python-versions|\"(?:node|engines|path)\""
)
_GEM: Final = re.compile(r"[\w.-]+ \((?:[~>=<!]+ )?[0-9][0-9.]*\)")
# where a package begins
_HEADS: Final = {
    "yarn.lock": re.compile(r"\S.*:\s*|\s*"),
    "pnpm-lock.yaml": re.compile(r" {0,2}\S.*:\s*|\s*"),
    "go.sum": re.compile(r".*"),
}
_HEAD: Final = re.compile(r"\[.*\]\s*|.*\{\s*|\s*")
_FIELD: Final = re.compile(r"[\s\"]*version\b")
_OWN: Final = re.compile(r"[\s\"{]*(?:version|resolved|resolution|integrity|checksum|url|file|hash)\b")


class _Package(NamedTuple):
    """The changed lines of one package, old and new ("" for one without a partner), and its lines that stayed."""

    changed: list[tuple[str, str]]
    stayed: list[str]


def is_lockfile(name: str) -> bool:
    """Whether a file of this name is a lockfile of a known kind."""
    return _NAMES.fullmatch(name.lower()) is not None


def is_bump(name: str, hunks: Iterable[Iterable[Piece]]) -> bool:
    """Whether the changed lines only raise versions within their major, each with the digest that belongs to it."""
    kind = name.lower()
    rises = [_rise(package, kind) for hunk in hunks for package in _packages(hunk, kind) if package.changed]
    return None not in rises and True in rises


def _packages(hunk: Iterable[Piece], kind: str) -> Iterator[_Package]:
    """The packages of a hunk. A line of `go.sum` is one by itself."""
    head = _HEADS.get(kind, _HEAD)
    package = _Package([], [])
    for removed, added, context in hunk:
        for old, new in zip_longest(removed, added, fillvalue=""):
            if head.fullmatch(new):
                yield package
                package = _Package([], [])
            package.changed.append((old, new))
        if context is not None:
            if head.fullmatch(context):
                yield package
                package = _Package([], [])
            package.stayed.append(context)
    yield package


def _rise(package: _Package, kind: str) -> bool | None:
    """True where version and digest rise together, False where only ranges of dependencies do, None for all else."""
    rises: set[tuple[str, str]] = set()
    sealed = False
    for old, new in package.changed:
        pairs = _raised(old, new, kind)
        if pairs is None:
            return None
        has_digest = _DIGEST.findall(old) != _DIGEST.findall(new)
        # the range in a dependency's line or in yarn's head may rise otherwise than the version does
        if has_digest or _OWN.match(new) or "://" in new or kind in ("pnpm-lock.yaml", "gemfile.lock", "go.sum"):
            rises |= pairs
        sealed |= has_digest
    if kind == "gemfile.lock":
        return True
    fields = sum(_FIELD.match(new) is not None for _, new in package.changed)
    if not sealed:
        return None if rises and kind != "pnpm-lock.yaml" else False
    # an address or a digest that stayed is not that of the new version
    stale = any(_DIGEST.search(text) or ("://" in text and _VERSION.search(text)) for text in package.stayed)
    return True if len(rises) == 1 and fields <= 1 and not stale else None


def _raised(old: str, new: str, kind: str) -> set[tuple[str, str]] | None:
    """The versions that a line raises; None where something else than version, digest and size changes in it."""
    if _HOST.findall(old) != _HOST.findall(new) or (kind != "go.sum" and _OTHER_SOURCE.search(new)):
        return None
    if [len(digest) for digest in _DIGEST.findall(old)] != [len(digest) for digest in _DIGEST.findall(new)]:
        return None
    if kind == "gemfile.lock" and not _GEM.fullmatch(new.strip(" \r")):
        return None
    was, now = (_MEASURE.sub(r"\1" + "\0", _DIGEST.sub("\0", text)) for text in (old, new))
    if _VERSION.sub("\1", was) != _VERSION.sub("\1", now):
        return None
    pairs = {pair for pair in zip(_VERSION.findall(was), _VERSION.findall(now), strict=True) if pair[0] != pair[1]}
    changed = bool(pairs) or _DIGEST.findall(old) != _DIGEST.findall(new) or _MEASURE.search(new)
    return pairs if changed and all(_is_newer(*pair) for pair in pairs) else None


def _is_newer(old: str, new: str) -> bool:
    """Whether a version is newer, and no further than the first number that is not zero allows."""
    before, after = ([int(number) for number in text.split(".")] for text in (old, new))
    fixed = next((at for at, number in enumerate(before) if number), len(before))
    return before < after and before[: fixed + 1] == after[: fixed + 1]
