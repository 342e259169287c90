"""Builds the demo's repository: a small shop, its history, and one pull request.

    python examples/demo/build.py DIR

DIR must be new or empty. The one line printed holds two commit ids: the base (`main`) and the head (`pull`). They are
the same on every machine: `git fast-import` takes bytes, names and dates as `trees/` gives them, and neither
configuration nor hooks, templates, filters or file modes of the machine have a say.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final

TREES: Final = Path(__file__).resolve().parent / "trees"
BASE: Final = "main"
HEAD: Final = "pull"


class BuildError(Exception):
    """The repository could not be built; the message is a sentence that says why."""


def build(directory: Path) -> tuple[str, str]:
    """Builds the repository at `directory`, checks out the pull request, and gives the ids of base and head."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if any(directory.iterdir()):
            raise BuildError(f"{directory} is not empty: name a directory that is new or empty.")
    except (FileExistsError, NotADirectoryError):
        raise BuildError(f"{directory} is not a directory: name one that is new or empty.") from None
    _git(directory, "init", "--quiet", "--template=", "--object-format=sha1", f"--initial-branch={BASE}")
    _git(directory, "fast-import", "--quiet", stream=b"".join(_history()))
    _git(directory, "checkout", "--quiet", HEAD, "--")
    base, head = _git(directory, "rev-parse", f"refs/heads/{BASE}", f"refs/heads/{HEAD}").split()
    return base, head


def _history() -> Iterator[bytes]:
    """The commits of `trees/commits.json`, as `git fast-import` reads them; a new branch starts from the base."""
    tips: dict[str, int] = {}
    for mark, commit in enumerate(json.loads((TREES / "commits.json").read_text(encoding="utf-8")), 1):
        branch = commit["branch"]
        parent = tips.get(branch, tips.get(BASE))
        yield _commit(mark, parent, commit)
        yield from (f"D {path}\n".encode() for path in commit.get("delete", ()))
        tree = TREES / commit["tree"]
        for file in sorted(tree.rglob("*"), key=lambda path: path.relative_to(tree).as_posix()):
            if file.is_file() and "__pycache__" not in file.parts:
                yield f"M 100644 inline {file.relative_to(tree).as_posix()}\n".encode() + _data(file.read_bytes())
        tips[branch] = mark


def _commit(mark: int, parent: int | None, commit: dict[str, Any]) -> bytes:
    when = f"{int(datetime.fromisoformat(commit['at']).timestamp())} +0000"
    head = f"commit refs/heads/{commit['branch']}\nmark :{mark}\n"
    who = f"author {commit['by']} {when}\ncommitter {commit['by']} {when}\n"
    message = _data(f"{commit['message']}\n".encode())
    return f"{head}{who}".encode() + message + (b"" if parent is None else f"from :{parent}\n".encode())


def _data(content: bytes) -> bytes:
    return f"data {len(content)}\n".encode() + content + b"\n"


def _git(directory: Path, *arguments: str, stream: bytes = b"") -> str:
    """Runs git in `directory`, with nothing of the user's configuration or environment but the way to programs."""
    environment = {name: value for name, value in os.environ.items() if not name.upper().startswith(("GIT_", "LC_"))}
    environment |= dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"), os.devnull)
    environment |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_ATTR_NOSYSTEM": "1", "LC_ALL": "C", "TZ": "UTC"}
    environment |= {"GIT_COMMITTER_NAME": "Demo", "GIT_COMMITTER_EMAIL": "demo@shop.example"}
    command = ["git", "-C", str(directory), *arguments]
    try:
        done = subprocess.run(command, input=stream, env=environment, capture_output=True, check=False)
    except FileNotFoundError:
        raise BuildError("git was not found: install git 2.29 or newer.") from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise BuildError(f"git {arguments[0]} failed in {directory}: {said}")
    return done.stdout.decode("utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the demo's repository and print the ids of its base and head.")
    parser.add_argument("directory", metavar="DIR", type=Path, help="a directory that is new or empty")
    try:
        print(*build(parser.parse_args().directory))
    except (BuildError, OSError) as error:
        print(f"build.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
