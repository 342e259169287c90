"""The command as a user types it, in an environment of its own, and a small pull request to run it on."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.repos import Repo, git_environment

VERIFIER: Final = Path(sys.executable).with_name("verifier")

ON: Final = "llm:\n  enabled: true\n  verify:\n    enabled: true\n"
GATE: Final = {"score": "62.50", "tier": '"T2"', "policy": '{"decision":  "human-review", "limit": 1E400, "n": -0}'}

SESSION: Final = """\
import { db } from "./db";

export interface Session {
  token: string;
}

export function createSession(user: string, ttl: number): Session {
  const token = db.token(user, ttl);
  return { token };
}

export function isOpen(session: Session): boolean {
  return session.token !== "";
}
"""
SESSION_AFTER: Final = SESSION.replace(", ttl: number", "").replace(", ttl)", ")")
CLIENT: Final = 'import { createSession } from "./session";\n\nexport const login = () => createSession("ada", 60);\n'
README: Final = "# Shop\n\nSells things.\n"


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str


def run(*arguments: str | Path, cwd: Path, env: Mapping[str, str] | None = None) -> Ran:
    """`verifier ARGUMENTS` in `cwd`, with nothing of this machine's configuration but `env` on top."""
    done = subprocess.run(
        [VERIFIER, *map(str, arguments)],
        cwd=cwd,
        env=environment(cwd) | dict(env or {}),
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )
    ran = Ran(done.returncode, done.stdout.decode(), done.stderr.decode())
    assert "Traceback" not in ran.err, ran.err
    return ran


def environment(home: Path) -> dict[str, str]:
    """The environment of a user without keys, proxies or configuration."""
    ours = re.compile(r"^(ANTHROPIC|HTTPS?_PROXY|ALL_PROXY|NO_PROXY|https?_proxy|all_proxy|no_proxy|GITHUB_|INPUT_)")
    kept = {name: value for name, value in git_environment().items() if not ours.match(name)}
    return kept | {"HOME": str(home), "PYTHONWARNINGS": "error", "PYTHONDONTWRITEBYTECODE": "1"}


def brief(**changes: Any) -> dict[str, Any]:
    """A brief for the shop's pull request, with every kind of item."""
    return {
        "version": 1,
        "captain": {
            "priority": "careful",
            "why": "createSession lost a parameter",
            "facts": [
                {
                    "id": "contract.api",
                    "file": "src/session.ts",
                    "line": 7,
                    "strength": "strong",
                    "text": "exported function createSession lost its parameter ttl",
                    "short": "createSession lost a parameter",
                },
                {
                    "id": "coupling.missing",
                    "file": "src/session.ts",
                    "strength": "info",
                    "partner": "src/client.ts",
                    "text": "src/client.ts changed in 14 of 17 commits with src/session.ts, and not here",
                },
            ],
        },
        "reviewFirst": [
            {"file": "src/session.ts", "hunks": [{"line": 4, "weight": 5.0, "reason": "signature changed"}]},
            {"file": "README.md", "hunks": [{"line": 1, "weight": 1, "reason": "2 lines added"}]},
        ],
        "checks": [{"file": "src/session.ts", "line": 8, "text": "Is a null token still refused here?"}],
        "risky_snippets": [{"code": "eval(x)"}],
        "notes": ["2 files read"],
        **changes,
    }


IDS: Final = (
    "contract.api:src/session.ts:7",
    "coupling.missing:src/session.ts",
    "hunk:src/session.ts:4",
    "hunk:README.md:1",
    "check:src/session.ts:8:0",
)


def document(value: Mapping[str, Any]) -> str:
    """A brief's document with the gate's source text as no JSON library would write it."""
    gate = ",\n".join(f'  "{name}": {source}' for name, source in GATE.items())
    return f"{{\n{gate},{json.dumps(value)[1:]}"


@dataclass
class Shop:
    """A shop's repository with a pull request, and a brief for it."""

    path: Path
    base: str
    head: str
    brief: Path
    extra: list[str] = field(default_factory=list)

    def verify(self, *arguments: str | Path, env: Mapping[str, str] | None = None) -> Ran:
        """`verifier verify` on this pull request, the results in `out`."""
        given: list[str | Path] = [
            "verify",
            "--brief",
            self.brief,
            "--repo",
            self.path,
            "--base",
            self.base,
            "--head",
            self.head,
        ]
        return run(*given, "--out", self.out, *arguments, cwd=self.path.parent, env=env)

    @property
    def out(self) -> Path:
        return self.path.parent / "out"

    def result(self) -> dict[str, Any]:
        """The verified brief."""
        found: dict[str, Any] = json.loads((self.out / "brief.json").read_text())
        return found

    def written(self) -> dict[str, bytes]:
        """All that the run wrote, by name."""
        return {file.name: file.read_bytes() for file in sorted(self.out.iterdir())}


def shop(
    directory: Path,
    *,
    config: str | None = ON,
    memory: str | None = None,
    of: Mapping[str, Any] | None = None,
    change: Mapping[str, str | bytes | None] | None = None,
) -> Shop:
    """A shop whose pull request changes src/session.ts, README.md and `change`; configuration and memory at base.

    A path of `change` with None is removed.
    """
    repo = Repo(directory / "shop")
    files: dict[str, str | bytes] = {"src/session.ts": SESSION, "src/client.ts": CLIENT, "README.md": README}
    if config is not None:
        files[".opendrs.yml"] = config
    if memory is not None:
        files[".opendrs/facts.jsonl"] = memory
    base = repo.commit(files)
    prose = README + "\nThe shop also takes things back when they break within a month.\n"
    given = change or {}
    for gone in (path for path, text in given.items() if text is None):
        repo.remove(gone)
    written = {path: text for path, text in given.items() if text is not None}
    head = repo.commit({"src/session.ts": SESSION_AFTER, "README.md": prose, **written})
    path = directory / "brief.json"
    path.write_text(document(brief() if of is None else of))
    return Shop(repo.path, base, head, path)


_BLOCK: Final = re.compile(r'<block n="(\d+)" mark="(\w+)">\nkind: (.*)\nplace: (.*)\n', re.MULTILINE)
Answering = Callable[[int, str, str], dict[str, Any] | None]


def answers(answer: Answering) -> Callable[[Any], dict[str, Any]]:
    """A scripted reader: `answer(number, kind, place)` for every block of a request; None leaves one out."""

    def reply(body: Any) -> dict[str, Any]:
        entries = []
        for number, _, kind, place in _BLOCK.findall(body["messages"][0]["content"]):
            said = answer(int(number), kind, place)
            if said is not None:
                entries.append({"n": int(number), "kind": kind, "place": place, **said})
        return {"verdicts": entries}

    return reply


def says(action: str, **more: Any) -> dict[str, Any]:
    """What a verdict says beside its echo."""
    said = {"reason": "seen", "citation": None, "action": action, "class": None, "status": None}
    return said | more
