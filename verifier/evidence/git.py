"""Evidence from a local git repository: the diff from merge base to head, files at the merge base and at base.

Every machine must see the same hunks, and nothing that a repository's configuration names may run. So the repository
itself is asked only where its commits are. All else goes through a scratch repository, made for the question and empty
but for our own configuration, that borrows the repository's objects: no configuration, attributes, hook, replacement,
graft or promisor remote of the repository, the user or the machine stands between an object and us.
"""

import os
import re
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Final, NamedTuple, cast

from verifier.diff import Diff, parse_diff
from verifier.evidence.files import BASE_FILE_LIMIT, DIFF_LIMIT, TEXT_LIMIT, EvidenceError, readable
from verifier.text import one_line
from verifier.verification.model import MISSING, UNREADABLE, BaseText

# What a diff is for us. Most of it is git's own default, said all the same: defaults change between versions.
_DIFF: Final = (
    "diff-tree",
    "-p",
    "-r",
    "--no-commit-id",
    "--full-index",
    "-U3",
    "--inter-hunk-context=0",
    "--no-function-context",
    "--diff-algorithm=myers",
    "--indent-heuristic",
    "--find-renames=50%",
    "-l1000",
    "--no-relative",
    "--no-color",
    "--color-moved=no",
    "--ws-error-highlight=none",
    "--no-ext-diff",
    "--no-textconv",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--submodule=short",
    "--ignore-submodules=none",
    "-O/dev/null",
)

_CONFIG: Final = """\
[core]
\trepositoryformatversion = 1
\tbare = true
\tquotePath = true
\tattributesFile = /dev/null
\thooksPath = /dev/null
[diff]
\tsuppressBlankEmpty = false
[extensions]
\tobjectFormat = {hash}
"""

_TREE_ENTRY: Final = {
    "sha1": re.compile(rb"([0-7]+) ([^\0]+)\0(.{20})", re.DOTALL),
    "sha256": re.compile(rb"([0-7]+) ([^\0]+)\0(.{32})", re.DOTALL),
}
_ID: Final = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})")
_FOLDER: Final = 0o40000
_LINK: Final = 0o120000
_SUBMODULE: Final = 0o160000
_WHAT: Final = {_FOLDER: "a directory", _LINK: "a symbolic link", _SUBMODULE: "a submodule"}
# Requests sent before an answer is read. All of them fit into the smallest pipe: neither side waits for the other.
_AHEAD: Final = 32


class _Entry(NamedTuple):
    mode: int
    id: str


class _Scratch(NamedTuple):
    path: Path
    environment: dict[str, str]

    def said(self) -> bytes:
        """What git had to complain of."""
        return (self.path / "stderr").read_bytes()


@dataclass(frozen=True)
class _Store:
    """Where a repository keeps its objects, and what it takes to read them."""

    directory: Path
    common: Path
    hash: str

    @property
    def name(self) -> str:
        return f"the repository at {_shown(self.directory)}"


@dataclass(frozen=True)
class GitEvidence:
    """A local repository's word on one change: full ids of base, head and their merge base."""

    base: str
    head: str
    merge_base: str
    _store: _Store = field(repr=False)

    def diff(self) -> Diff:
        """The changes from the merge base to head."""
        with _scratch(self._store) as scratch, _git(scratch, *_DIFF, self.merge_base, self.head) as git:
            data = _out(git).read(DIFF_LIMIT + 1)
            if len(data) > DIFF_LIMIT:
                git.kill()
                raise EvidenceError(
                    f"the diff from {self.merge_base[:12]} to {self.head[:12]} is larger than {DIFF_LIMIT:,} bytes: "
                    "leave it unverified, or split the change"
                )
            if git.wait() != 0:
                raise _failed(self._store, scratch, f"cannot tell what changed from {self.merge_base} to {self.head}")
        return parse_diff(data)

    def base_texts(self, paths: frozenset[str]) -> Mapping[str, BaseText]:
        """The text of each path at the merge base, what the diff was made against (S4, S10)."""
        with _scratch(self._store) as scratch, _Objects.opened(self._store, scratch) as objects:
            entries = _entries(objects, self.merge_base, paths)
            # to be read at all: plain files, and symbolic links, whose text is where they point to
            blobs = {entry.id for entry in entries.values() if entry and entry.mode not in (_FOLDER, _SUBMODULE)}
            sizes = _sizes(self._store, scratch, blobs)
            small = [blob for blob in blobs if sizes[blob] <= TEXT_LIMIT]
            texts = {blob: readable(data) for blob, data in objects.read(small)}
        return {path: texts.get(entry.id, UNREADABLE) if entry else _not_found(path) for path, entry in entries.items()}

    def base_file(self, path: str) -> bytes | None:
        """The bytes of one file at the base commit itself, None where there is none (S31)."""
        return self.base_files((path,))[path]

    def base_files(self, paths: Iterable[str]) -> dict[str, bytes | None]:
        """The bytes of each file at the base commit itself, None where there is none (S31)."""
        with _scratch(self._store) as scratch, _Objects.opened(self._store, scratch) as objects:
            entries = _entries(objects, self.base, paths)
            for path, entry in entries.items():
                if entry and entry.mode in _WHAT:
                    raise EvidenceError(
                        f"{_shown(path)} is {_WHAT[entry.mode]} at {self.base[:12]}, and must be a plain file: "
                        "put the file itself there"
                    )
            sizes = _sizes(self._store, scratch, {entry.id for entry in entries.values() if entry})
            for path, entry in entries.items():
                if entry and sizes[entry.id] > BASE_FILE_LIMIT:
                    raise EvidenceError(
                        f"{_shown(path)} has {sizes[entry.id]:,} bytes at {self.base[:12]}, and at most "
                        f"{BASE_FILE_LIMIT:,} are read: make it smaller"
                    )
            data = dict(objects.read(sizes))
        return {path: data[entry.id] if entry else None for path, entry in entries.items()}


def open_repository(directory: Path, base: str, head: str) -> GitEvidence:
    """Evidence from the repository that `directory` is in, for what leads from `base` to `head`.

    Raises EvidenceError where that is no repository, a revision is not in it, or the two have no common ancestor.
    """
    if not directory.is_dir():
        raise EvidenceError(f"--repo names {_shown(directory)}, which is no directory: check the path")
    store, base_id, head_id = _resolved(directory, base, head)
    with _scratch(store) as scratch, _git(scratch, "merge-base", base_id, head_id) as git:
        merge_base = _out(git).read().decode("ascii", "replace").strip()
        # some versions of git end in peace where a commit cannot be read, with no ancestor or with a wrong one
        if git.wait() not in (0, 1) or _because(scratch.said()):
            raise _failed(store, scratch, f"cannot tell where {base_id} and {head_id} part")
    if not _ID.fullmatch(merge_base):
        shallow = (store.common / "shallow").exists()
        hint = "it is a shallow clone: fetch its history (`git fetch --unshallow`)" if shallow else "check both"
        raise EvidenceError(f"--base {_shown(base)} and --head {_shown(head)} have no common ancestor; {hint}")
    return GitEvidence(base_id, head_id, merge_base, store)


def _resolved(directory: Path, base: str, head: str) -> tuple[_Store, str, str]:
    """The store and the two commit ids. The one question that the repository itself is asked."""
    for option, revision in (("--base", base), ("--head", head)):
        # what rev-parse would take for an option, an exclusion or a range
        if not revision or revision[0] in "-^" or ".." in revision or not revision.isprintable():
            raise EvidenceError(f"{option} names no commit: {_shown(revision) or 'it is empty'}")
    revisions = (f"{base}^{{commit}}", f"{head}^{{commit}}")
    # the path stands last: it may hold a line feed
    arguments = ("--path-format=absolute", "--show-object-format", *revisions, "--git-common-dir")
    command = ["git", "--no-pager", "-c", "safe.directory=*", "-C", str(directory), "rev-parse", *arguments]
    try:
        asked = subprocess.run(command, env=_environment(), stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError as error:
        raise _no_git(error) from None
    said = os.fsdecode(asked.stdout).split("\n", 3)
    if said[0].startswith("--"):
        raise EvidenceError("git is too old: 2.31 or newer is needed; install one, or give the diff as a file")
    if said == [""]:
        raise EvidenceError(
            f"--repo names {_shown(directory)}, which git cannot use as a repository"
            f"{_because(asked.stderr)}: name a clone of the repository, or a directory in it"
        )
    for option, revision, line in zip(("--base", "--head"), (base, head), [*said[1:3], "", ""], strict=False):
        if not _ID.fullmatch(line):
            raise EvidenceError(
                f"{option} names no commit of the repository at {_shown(directory)}: {_shown(revision)}; "
                "fetch it first (with actions/checkout, fetch-depth: 0)"
            )
    if asked.returncode != 0 or len(said) != 4:
        raise EvidenceError(f"git cannot read the repository at {_shown(directory)}{_because(asked.stderr)}")
    return _Store(directory, Path(said[3].removesuffix("\n")), said[0]), said[1], said[2]


def _environment(scratch: Path | None = None, common: Path | None = None) -> dict[str, str]:
    """All that git gets to see of the environment: where programs are, and no configuration but ours."""
    kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "SYSTEMROOT") if name in os.environ}
    # a relative entry would look for git in the work tree
    programs = [entry for entry in os.environ.get("PATH", os.defpath).split(os.pathsep) if Path(entry).is_absolute()]
    ours = {
        "PATH": os.pathsep.join(programs) or os.devnull,
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        # a partial clone is never completed behind our back: no remote, no transport, no helper of one
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "",
    }
    if scratch and common:
        ours |= {"GIT_DIR": str(scratch), "GIT_OBJECT_DIRECTORY": str(common / "objects")}
    return kept | ours


@contextmanager
def _scratch(store: _Store) -> Iterator[_Scratch]:
    """A repository of our own that borrows the objects of `store`, and, of a shallow clone, where its history ends."""
    try:
        with tempfile.TemporaryDirectory(prefix="verifier-") as made:
            scratch = Path(made)
            (scratch / "refs").mkdir()
            (scratch / "HEAD").write_text("ref: refs/heads/none\n")
            (scratch / "config").write_text(_CONFIG.format(hash=store.hash))
            shallow = store.common / "shallow"
            if shallow.exists():
                (scratch / "shallow").write_bytes(shallow.read_bytes())
            yield _Scratch(scratch, _environment(scratch, store.common))
    except OSError as error:
        said = one_line(str(error), 200)
        raise EvidenceError(f"git cannot be asked about {store.name} ({said})") from None


@contextmanager
def _git(scratch: _Scratch, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """git at work on a scratch repository; it does not outlive the block."""
    with (scratch.path / "stderr").open("ab") as stderr:
        try:
            git = subprocess.Popen(
                ["git", "--no-pager", *arguments],
                cwd=scratch.path,
                env=scratch.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
            )
        except OSError as error:
            raise _no_git(error) from None
        with git:
            try:
                yield git
            finally:
                git.kill()  # what it was asked has been answered, or never will be


@dataclass(frozen=True)
class _Objects:
    """One `git cat-file --batch`. It is only ever given ids.

    Paths are walked here, tree by tree, and not by git: `COMMIT:PATH` is no literal name (`x-gabc1234` in it is read as
    the object abc1234), and paths as arguments end where the system's limit for arguments does.
    """

    store: _Store
    scratch: _Scratch
    git: subprocess.Popen[bytes]

    @classmethod
    @contextmanager
    def opened(cls, store: _Store, scratch: _Scratch) -> Iterator["_Objects"]:
        with _git(scratch, "cat-file", "--batch") as git:
            yield cls(store, scratch, git)

    def read(self, ids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Each object's id and content, in order."""
        left = iter(ids)
        while chunk := tuple(islice(left, _AHEAD)):
            self._ask(chunk)
            answers = _out(self.git)
            for name in chunk:
                size = self._size(name, answers.readline())
                data = answers.read(size + 1)
                if len(data) != size + 1:
                    raise self._lost(name)
                yield name, data[:-1]

    def _ask(self, names: Sequence[str]) -> None:
        try:
            os.write(cast("IO[bytes]", self.git.stdin).fileno(), "".join(f"{name}\n" for name in names).encode())
        except BrokenPipeError:
            raise self._lost(names[0]) from None

    def _size(self, name: str, answer: bytes) -> int:
        words = answer.split()
        if len(words) != 3 or not words[2].isdigit():
            raise self._lost(name)
        return int(words[2])

    def _lost(self, name: str) -> EvidenceError:
        return _failed(self.store, self.scratch, f"cannot read object {name.partition('^')[0]}")


def _entries(objects: _Objects, commit: str, paths: Iterable[str]) -> dict[str, _Entry | None]:
    """What stands at each path in `commit`, None where nothing does. Each tree on the way is read once a level."""
    found: dict[str, _Entry | None] = dict.fromkeys(paths)
    steps = {path: path.encode("utf-8", "surrogatepass").split(b"/") for path in found}
    wanted: Mapping[str, Sequence[str]] = {f"{commit}^{{tree}}": tuple(found)} if found else {}
    depth = 0
    while wanted:
        below: defaultdict[str, list[str]] = defaultdict(list)
        for tree, data in objects.read(wanted):
            named = {match[2]: match for match in _TREE_ENTRY[objects.store.hash].finditer(data)}
            for path in wanted[tree]:
                match = named.get(steps[path][depth])
                if match is None:
                    continue
                entry = _Entry(_kind(int(match[1], 8)), match[3].hex())
                if depth + 1 == len(steps[path]):
                    found[path] = entry
                elif entry.mode == _FOLDER:
                    below[entry.id].append(path)
        wanted = below
        depth += 1
    return found


def _kind(mode: int) -> int:
    """A mode without its permission bits."""
    return mode & 0o170000


def _sizes(store: _Store, scratch: _Scratch, blobs: Iterable[str]) -> dict[str, int]:
    """The size of each blob: a large one is not even read."""
    names = sorted(blobs)
    if not names:
        return {}
    with _git(scratch, "cat-file", "--batch-check") as git:
        answers, _ = git.communicate("".join(f"{name}\n" for name in names).encode())
    sizes = {}
    for name, line in zip(names, [*answers.split(b"\n"), *[b""] * len(names)], strict=False):
        words = line.split()
        if len(words) != 3 or not words[2].isdigit():
            raise _failed(store, scratch, f"cannot read object {name}")
        sizes[name] = int(words[2])
    return sizes


def _not_found(path: str) -> BaseText:
    # U+FFFD in a path may stand for a byte that is not UTF-8: then the file may well be there under its true name
    return UNREADABLE if "\ufffd" in path else MISSING


def _out(git: subprocess.Popen[bytes]) -> IO[bytes]:
    return cast("IO[bytes]", git.stdout)


def _failed(store: _Store, scratch: _Scratch, what: str) -> EvidenceError:
    return EvidenceError(
        f"git {what} in {store.name}{_because(scratch.said())}: a partial or shallow clone lacks objects; fetch them "
        "all (`git fetch --refetch`, or --unshallow), or clone again"
    )


def _because(stderr: bytes) -> str:
    """What git says it failed of, in brackets: the first line that says so."""
    lines = [one_line(line, 200) for line in stderr.decode("utf-8", "replace").split("\n")]
    said = [line.partition(": ")[2] for line in lines if line.startswith(("fatal: ", "error: "))]
    return f" ({said[0]})" if said else ""


def _no_git(error: OSError) -> EvidenceError:
    return EvidenceError(f"git cannot be run ({error.strerror}): install it, or give the diff as a file")


def _shown(name: str | Path) -> str:
    return one_line(str(name), 200)
