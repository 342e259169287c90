"""Evidence from files: a diff that somebody wrote down, and, where there is one, a directory with the base."""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from verifier.diff import Diff, parse_diff
from verifier.text import one_line
from verifier.verification.model import MISSING, UNREADABLE, BaseText, Missing, Unreadable

TEXT_LIMIT: Final = 1_000_000
"""A file at base larger than this many bytes is not read (S10)."""

BASE_FILE_LIMIT: Final = 10_000_000
"""The largest configuration or memory file that is read at base (S31)."""

DIFF_LIMIT: Final = 100_000_000
"""The largest diff that is read: it is held in memory whole."""

_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# Should the file be swapped for a pipe between look and open, O_NONBLOCK keeps the open from waiting for a writer.
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class EvidenceError(Exception):
    """Diff or base cannot be had. The message is a sentence that says what, where, and what to do."""


def readable(data: bytes) -> BaseText:
    """A base file's bytes as text; binary and what is not UTF-8 are UNREADABLE (S10)."""
    if len(data) > TEXT_LIMIT or b"\0" in data:
        return UNREADABLE
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return UNREADABLE


@dataclass(frozen=True)
class FileEvidence:
    """A diff from a file; base texts from a directory, or none at all."""

    parsed: Diff
    base_dir: Path | None = None

    def diff(self) -> Diff:
        """The diff that the file holds."""
        return self.parsed

    def base_texts(self, paths: frozenset[str]) -> Mapping[str, BaseText]:
        """The text of each path under the base directory (S4, S10); without one nothing can be had."""
        if self.base_dir is None:
            return dict.fromkeys(paths, UNREADABLE)
        with _opened(self.base_dir) as root:
            return {path: _base_text(root, path) for path in paths}

    def base_file(self, path: str) -> bytes | None:
        """The bytes of one file under the base directory, None where there is none (S31)."""
        return self.base_files((path,))[path]

    def base_files(self, paths: Iterable[str]) -> dict[str, bytes | None]:
        """The bytes of each file under the base directory, None where there is none (S31)."""
        if self.base_dir is None:
            return dict.fromkeys(paths)
        with _opened(self.base_dir) as root:
            return {path: _base_bytes(root, path, self.base_dir) for path in paths}


def open_diff(diff: Path, base_dir: Path | None) -> FileEvidence:
    """Evidence from the file `diff`, base texts from `base_dir`. Raises EvidenceError where either cannot be used."""
    if str(diff) == "-":
        raise EvidenceError("a diff is not read from standard input: write it to a file and name that file")
    name = one_line(str(diff), 200)
    try:
        with diff.open("rb") as file:
            data = file.read(DIFF_LIMIT + 1)
    except (OSError, ValueError) as error:
        raise EvidenceError(f"the diff {name} cannot be read ({_reason(error)}): check the path") from None
    if len(data) > DIFF_LIMIT:
        raise EvidenceError(f"the diff {name} is larger than {DIFF_LIMIT:,} bytes: leave generated files out of it")
    if base_dir is not None and not base_dir.is_dir():
        raise EvidenceError(f"the base directory {one_line(str(base_dir), 200)} is no directory: check the path")
    parsed = parse_diff(data)
    if data.strip() and not parsed.files:
        raise EvidenceError(f"the file {name} holds no diff{_hint(data)}")
    return FileEvidence(parsed, base_dir)


def _hint(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return ": it is UTF-16, as PowerShell's > writes it; write it with `git diff --output=FILE`"
    if b"\x1b[" in data[:1000]:
        return ": it has terminal colours in it; write it with `git diff --no-color`"
    return ": write one with `git diff BASE...HEAD`"


@contextmanager
def _opened(directory: Path) -> Iterator[int]:
    """`directory` as a descriptor: every path is walked from there, whatever happens to its name meanwhile."""
    try:
        root = os.open(directory, _DIRECTORY)
    except OSError as error:
        name = one_line(str(directory), 200)
        raise EvidenceError(f"the base directory {name} cannot be read ({_reason(error)}): check the path") from None
    try:
        yield root
    finally:
        os.close(root)


def _base_text(root: int, path: str) -> BaseText:
    data = _read(root, path, TEXT_LIMIT)
    return readable(data) if isinstance(data, bytes) else data


def _base_bytes(root: int, path: str, base_dir: Path) -> bytes | None:
    data = _read(root, path, BASE_FILE_LIMIT)
    if isinstance(data, Unreadable):
        name = one_line(str(base_dir / path), 200)
        raise EvidenceError(
            f"{name} cannot be read: it must be a plain file of at most {BASE_FILE_LIMIT:,} bytes inside the base "
            "directory, and no symbolic link may lead there"
        )
    return None if isinstance(data, Missing) else data


def _read(root: int, path: str, limit: int) -> bytes | Missing | Unreadable:
    """The bytes of `path` under `root`. Only plain files are opened, and no link is followed, not even one inside."""
    *folders, name = path.split("/")
    if path.startswith("/") or ".." in (*folders, name):
        return UNREADABLE
    if {"", "."} & {*folders, name}:
        return MISSING  # as in git, whose paths have no such step
    with ExitStack() as held:
        at, step = root, name
        try:
            for step in folders:
                at = os.open(step, _DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
                held.callback(os.close, at)
            step = name
            # looked at before it is opened: to open a device can already do something
            if not stat.S_ISREG(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode):
                return UNREADABLE
            file = held.enter_context(os.fdopen(os.open(name, _FILE, dir_fd=at), "rb"))
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return UNREADABLE
            data = file.read(limit + 1)
        except FileNotFoundError:
            return MISSING
        except NotADirectoryError:
            # a file where a folder would have to be, or a link, which is not followed
            return UNREADABLE if _is_link(step, at) else MISSING
        except (OSError, ValueError):
            return UNREADABLE
    return data if len(data) <= limit else UNREADABLE


def _is_link(name: str, folder: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or one_line(str(error), 120)
