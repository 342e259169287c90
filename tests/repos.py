"""Real git repositories for tests: small, and the same on every machine and in every run."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

_FIXED: Final = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.com",
    "GIT_AUTHOR_DATE": "2024-01-02T03:04:05Z",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.com",
    "GIT_COMMITTER_DATE": "2024-01-02T03:04:05Z",
    # no tidying up in the background: it would still be at it when the test's folder goes
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "gc.auto",
    "GIT_CONFIG_VALUE_0": "0",
    "GIT_CONFIG_KEY_1": "maintenance.auto",
    "GIT_CONFIG_VALUE_1": "false",
    "LC_ALL": "C",
    "TZ": "UTC",
}


def git_environment(**more: str) -> dict[str, str]:
    """An environment in which git sees no configuration but a repository's own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | _FIXED | more


def git(*arguments: str | Path, cwd: Path, data: bytes | None = None, codes: tuple[int, ...] = (0,)) -> bytes:
    """What `git ARGUMENTS` prints, asked in `cwd`."""
    done = subprocess.run(
        ["git", *map(str, arguments)], cwd=cwd, env=git_environment(), input=data, capture_output=True, check=False
    )
    assert done.returncode in codes, done.stderr.decode(errors="replace")
    return done.stdout


@dataclass(frozen=True)
class Repo:
    """A repository in `path`, made where there is none: `Repo(tmp_path / "shop")`. Revisions are full commit ids."""

    path: Path
    options: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        if not (self.path / ".git").exists():
            self.git("init", "--quiet", "--template=", "--initial-branch=main", *self.options)

    def git(self, *arguments: str | Path, data: bytes | None = None, codes: tuple[int, ...] = (0,)) -> str:
        """What `git ARGUMENTS` prints in this repository, without the white space at its end."""
        return os.fsdecode(git(*arguments, cwd=self.path, data=data, codes=codes)).rstrip()

    def write(self, path: str, content: str | bytes) -> Path:
        """A file in the work tree, with the folders it needs."""
        file = self.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def link(self, path: str, target: str) -> None:
        """A symbolic link in the work tree."""
        file = self.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.symlink_to(target)

    def remove(self, path: str) -> None:
        """No such file in the work tree any more."""
        (self.path / path).unlink()

    def move(self, old: str, new: str) -> None:
        """A file of the work tree under another name."""
        target = self.path / new
        target.parent.mkdir(parents=True, exist_ok=True)
        (self.path / old).rename(target)

    def submodule(self, path: str, commit: str) -> None:
        """A submodule at `path`, its folder empty as after a plain clone, pinned to `commit`."""
        (self.path / path).mkdir(parents=True, exist_ok=True)
        self.git("update-index", "--add", "--cacheinfo", f"160000,{commit},{path}")

    def commit(self, files: Mapping[str, str | bytes] | None = None, message: str = "change") -> str:
        """A commit of everything in the work tree, `files` written first; its id."""
        for path, content in (files or {}).items():
            self.write(path, content)
        self.git("add", "--all", "--force", ".")
        self.git("commit", "--quiet", "--no-verify", "--allow-empty", "-m", message)
        return self.head

    @property
    def head(self) -> str:
        """The commit that is checked out."""
        return self.git("rev-parse", "HEAD")

    def diff(self, base: str, head: str, *options: str) -> bytes:
        """git's own `git diff OPTIONS base head`, in bytes."""
        return git("diff", "--no-ext-diff", *options, base, head, cwd=self.path)
