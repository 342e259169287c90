"""What GitHub reads out of a repository: trees, blobs, merge bases, and diffs in one piece or by file.

Everything about a commit is remembered by its id: a test may push, but a commit does not change.
"""

import os
import re
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tests.repos import Repo, git, git_environment

HEX: Final = re.compile(r"[0-9a-f]{40}")
STATUS: Final = {"A": "added", "D": "removed", "M": "modified", "R": "renamed", "C": "copied", "T": "changed"}
KINDS: Final = {"040000": "dir", "120000": "symlink", "160000": "submodule"}


@dataclass(frozen=True)
class Entry:
    """One entry of a tree; `path` is the whole one, in git's bytes."""

    mode: str
    type: str
    oid: str
    size: int
    path: bytes

    @property
    def kind(self) -> str:
        """What the contents API calls it."""
        return KINDS.get(self.mode, "file")

    @property
    def name(self) -> str:
        return shown(self.path.rpartition(b"/")[2])


@dataclass(frozen=True)
class CommitFacts:
    """What a commit says of itself."""

    oid: str
    tree: str
    parents: tuple[str, ...]
    name: str
    email: str
    date: str
    message: str


@dataclass(frozen=True)
class Change:
    """One file of a diff. `patch` is None for a binary file; it is empty where no line changed."""

    status: str
    path: str
    old_path: str | None
    oid: str
    additions: int
    deletions: int
    patch: str | None


@dataclass(frozen=True)
class Diff:
    """A diff as git prints it, and by file."""

    text: bytes
    changes: tuple[Change, ...]


def shown(data: bytes) -> str:
    """Bytes as JSON can carry them."""
    return data.decode("utf-8", "replace")


class GitStore:
    """A reader of one repository, until `close()`."""

    def __init__(self, repo: Repo) -> None:
        self.repo = repo
        self._lock = threading.RLock()
        self.trees: dict[str, dict[bytes, Entry]] = {}
        self._commits: dict[str, CommitFacts] = {}
        self._diffs: dict[tuple[str, str], Diff] = {}
        self._bases: dict[tuple[str, str], str | None] = {}
        self._ahead: dict[tuple[str, str], list[str]] = {}
        self._reader: subprocess.Popen[bytes] | None = None

    def close(self) -> None:
        """End the git process that reads objects."""
        reader = self._reader
        if reader is not None:
            reader.communicate()

    def git(self, *arguments: str, data: bytes | None = None, codes: tuple[int, ...] = (0,)) -> bytes:
        return git(*arguments, cwd=self.repo.path, data=data, codes=codes)

    # Objects.

    def object(self, oid: str) -> tuple[str, bytes] | None:
        """Type and content of an object, None where there is none."""
        assert HEX.fullmatch(oid)
        with self._lock:
            if self._reader is None:
                self._reader = subprocess.Popen(
                    ["git", "cat-file", "--batch"],
                    cwd=self.repo.path,
                    env=git_environment(),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                )
            ask, answer = self._reader.stdin, self._reader.stdout
            assert ask is not None
            assert answer is not None
            ask.write(oid.encode() + b"\n")
            ask.flush()
            head = answer.readline().split()
            if head[-1] == b"missing":
                return None
            data = answer.read(int(head[2]))
            answer.read(1)
            return head[1].decode(), data

    def blob(self, oid: str) -> bytes:
        """The content of a blob that is there."""
        found = self.object(oid)
        assert found is not None
        assert found[0] == "blob"
        return found[1]

    def commit_id(self, revision: str) -> str | None:
        """The full id of the commit that an id, a branch or a tag names."""
        if HEX.fullmatch(revision):
            found = self.object(revision)
            return revision if found is not None and found[0] == "commit" else None
        if not re.fullmatch(r"[\w./-]+", revision) or revision.startswith("-") or ".." in revision:
            return None
        names = [revision, f"refs/heads/{revision}", f"refs/tags/{revision}"]
        for name in names if revision.startswith("refs/") or revision == "HEAD" else names[1:]:
            found_id = self.git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", codes=(0, 1)).decode().strip()
            if found_id:
                return found_id
        if re.fullmatch(r"[0-9a-f]{7,39}", revision):
            return (
                self.git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}", codes=(0, 1)).decode().strip()
                or None
            )
        return None

    def facts(self, commit: str) -> CommitFacts:
        """What a commit that is there says of itself."""
        if commit not in self._commits:
            form = "%H%x00%T%x00%P%x00%an%x00%ae%x00%aI%x00%B"
            said = shown(self.git("show", "--no-patch", f"--format={form}", commit)).split("\0", 6)
            oid, tree, parents, name, email, date, message = said
            self._commits[commit] = CommitFacts(
                oid, tree, tuple(parents.split()), name, email, date, message.rstrip("\n")
            )
        return self._commits[commit]

    def tree(self, commit: str) -> dict[bytes, Entry]:
        """Every path of a commit, folders included; the root is under the empty path."""
        if commit not in self.trees:
            listed = self.git("ls-tree", "-r", "-t", "-z", "-l", "--full-tree", commit)
            found = {b"": Entry("040000", "tree", self.facts(commit).tree, 0, b"")}
            for line in listed.split(b"\0")[:-1]:
                facts, _, path = line.partition(b"\t")
                mode, kind, oid, size = facts.decode().split()
                found[path] = Entry(mode, kind, oid, 0 if size == "-" else int(size), path)
            self.trees[commit] = found
        return self.trees[commit]

    def entry(self, commit: str, path: str) -> Entry | None:
        """What stands at a path of a commit."""
        return self.tree(commit).get(path.encode("utf-8", "surrogatepass"))

    def folder(self, commit: str, path: str) -> list[Entry]:
        """The entries of a folder, by name."""
        start = f"{path}/".encode() if path else b""
        return [
            entry
            for at, entry in sorted(self.tree(commit).items())
            if at.startswith(start) and at != b"" and b"/" not in at[len(start) :] and at != start
        ]

    # Two commits.

    def merge_base(self, one: str, other: str) -> str | None:
        """The best common ancestor, None where the histories have nothing in common."""
        pair = (one, other)
        if pair not in self._bases:
            self._bases[pair] = self.git("merge-base", one, other, codes=(0, 1)).decode().strip() or None
        return self._bases[pair]

    def commits(self, without: str, of: str) -> list[str]:
        """The commits of `of` that `without` lacks, oldest first."""
        pair = (without, of)
        if pair not in self._ahead:
            self._ahead[pair] = self.git("rev-list", "--reverse", f"^{without}", of).decode().split()
        return self._ahead[pair]

    def diff(self, base: str, head: str) -> Diff:
        """From one commit's tree to another's, renames found."""
        pair = (base, head)
        if pair not in self._diffs:
            options = ("--no-ext-diff", "--no-textconv", "--no-color", "--find-renames", "--ignore-submodules=none")
            text = self.git("diff", *options, base, head)
            raw = self.git("diff", *options, "--raw", "--no-abbrev", "-z", base, head)
            counts = self.git("diff", *options, "--numstat", "-z", base, head)
            self._diffs[pair] = Diff(text, tuple(_changes(text, _raw(raw), _counts(counts))))
        return self._diffs[pair]


def _raw(data: bytes) -> Iterator[tuple[str, str, bytes, bytes]]:
    """Status, id, old path and path of each file."""
    fields = iter(data.split(b"\0")[:-1])
    for field in fields:
        _, _, old, new, status = field.decode().split()
        letter = status[0]
        old_path = next(fields)
        path = next(fields) if letter in "RC" else old_path
        yield letter, old if letter == "D" else new, old_path, path


def _counts(data: bytes) -> Iterator[tuple[int, int] | None]:
    """Added and removed lines of each file, None where it is binary."""
    fields = iter(data.split(b"\0")[:-1])
    for field in fields:
        added, removed, path = field.split(b"\t", 2)
        if not path:
            # A renamed file: both its paths follow.
            next(fields)
            next(fields)
        yield None if added == b"-" else (int(added), int(removed))


def _changes(
    text: bytes, raw: Iterator[tuple[str, str, bytes, bytes]], counts: Iterator[tuple[int, int] | None]
) -> Iterator[Change]:
    # No line of a patch's content begins like this: each has one of four marks in front.
    patches = iter(re.split(rb"^(?=diff --git )", text, flags=re.MULTILINE)[1:])
    for (letter, oid, old_path, path), count in zip(raw, counts, strict=True):
        patch = next(patches)
        if letter == "T":
            # Another kind of file: git prints one that goes and one that comes.
            patch += next(patches)
        added, removed = count or (0, 0)
        hunks = None if count is None or letter == "T" else shown(_hunks(patch))
        renamed = shown(old_path) if letter in "RC" else None
        yield Change(STATUS[letter], shown(path), renamed, oid, added, removed, hunks)
    assert next(patches, None) is None


def _hunks(patch: bytes) -> bytes:
    """A file's patch from its first hunk on."""
    start = re.search(rb"^@@", patch, flags=re.MULTILINE)
    return patch[start.start() :].removesuffix(b"\n") if start else b""


def link_target(folder: str, target: bytes) -> str | None:
    """The path that a symbolic link in `folder` leads to, None where it leaves the repository."""
    path = os.path.normpath(os.path.join(folder, shown(target)))  # noqa: PTH118 (a path of the repository, not of ours)
    return None if path.startswith(("../", "/")) or path == ".." else path
