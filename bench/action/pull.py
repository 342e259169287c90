"""A generated pull request, the same in every run, and a brief for it; of usual size with 60 items if not said."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.command import document
from tests.repos import Repo

ITEMS: Final = 60
FUNCTIONS: Final = 10  # in each file; two of them change, far enough from each other to be two hunks
CHANGED: Final = (2, 7)
ADDED_IN_A_FULL_HUNK: Final = 60  # lines: more than the 2,000 characters of an excerpt
LINES_OF_A_FILE_WITHOUT_ITEMS: Final = 20
# One configuration for all runs: the model's 5 s fit in, and a model that never answers does not take minutes.
TIMEOUT_SECONDS: Final = 10
MAX_TOKENS: Final = 40_000

_AREAS: Final = ("orders", "stock", "prices", "people", "parcels", "invoices")
_NOUNS: Final = ("Order", "Parcel", "Price", "Invoice", "Customer", "Supplier", "Refund")
_VERBS: Final = ("find", "renew", "cancel", "merge", "check", "send", "count", "close", "open", "split")
_FIELDS: Final = ("customer", "reference", "createdAt", "currency", "quantity", "warehouse", "status")
_HUNK: Final = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@", re.MULTILINE)


@dataclass(frozen=True)
class Made:
    """The pull request: its repository, its two commits, and its brief's document."""

    repo: Repo
    base: str
    head: str
    brief: bytes


def make(
    directory: Path, items: int = ITEMS, *, full: bool = False, files: int = 0, max_tokens: int = MAX_TOKENS
) -> Made:
    """The repository in `directory`, and the brief of its pull request.

    Two `items` a file with items; `full`: each hunk is longer than an excerpt. There are `files` changed files at
    least: those without items are new, with 20 lines each.
    """
    with_items = items // 2
    repo = Repo(directory)
    partners = range(with_items, with_items + len(range(1, with_items, 6)))
    before: dict[str, str | bytes] = {".opendrs.yml": _config(max_tokens), "README.md": "# Shop\n"}
    before |= {_path(at): _file(at, changed=False) for at in [*range(with_items), *partners]}
    base = repo.commit(before)
    after: dict[str, str | bytes] = {_path(at): _file(at, changed=True, full=full) for at in range(with_items)}
    after |= {f"text/{at % 40}/page{at}.txt": _page(at) for at in range(files - with_items)}
    head = repo.commit(after)
    return Made(repo, base, head, document(_brief(repo, base, head, items)).encode())


def _config(max_tokens: int) -> str:
    verify = f"enabled: true\n    timeoutSeconds: {TIMEOUT_SECONDS}\n    maxTokens: {max_tokens}"
    return f"llm:\n  enabled: true\n  verify:\n    {verify}\n"


def _page(at: int) -> str:
    return "".join(f"{line} of page {at}\n" for line in range(LINES_OF_A_FILE_WITHOUT_ITEMS))


def _brief(repo: Repo, base: str, head: str, items: int) -> dict[str, Any]:
    """Of 60 items 30 hunks, 20 facts (5 of them about a missing partner), 10 checks; of others about as much."""
    with_items = items // 2
    starts = _starts(repo, base, head)
    facts: list[dict[str, Any]] = []
    coupled: list[dict[str, Any]] = []
    files: list[dict[str, Any]] = []
    checks: list[dict[str, Any]] = []
    for at in range(with_items):
        path = _path(at)
        first, second = starts[path]
        weight = with_items - at  # the files come in their order of weight (B3)
        files.append({"file": path, "hunks": [{"line": first, "weight": weight, "reason": "control flow rewritten"}]})
        if at % 2 == 0:
            name = _name(at, CHANGED[1])
            text = f"exported function {name} no longer throws where nothing is found: it returns an empty list"
            fact = {"id": "contract.api", "file": path, "line": second + 4, "strength": "strong"}
            facts.append({**fact, "text": text, "short": f"{name} no longer throws"})
        if at % 3 == 0:
            text = f"Do callers of {_name(at, CHANGED[1])} expect the error that was thrown here before?"
            checks.append({"file": path, "line": second + 8, "text": text})
        if at % 6 == 1:
            partner = _path(with_items + at // 6)
            text = f"{partner} changed in {10 + at % 7} of 17 commits with {path}, and not here"
            fact = {"id": "coupling.missing", "file": path, "strength": "info"}
            coupled.append({**fact, "partner": partner, "text": text})
    surplus = len([*files, *facts, *coupled, *checks]) - items
    assert 0 <= surplus < len(checks)
    return {
        "version": 1,
        "repository": "acme/shop",
        "base": base,
        "head": head,
        "captain": {"priority": "careful", "why": facts[0]["text"], "facts": [*facts, *coupled]},
        "reviewFirst": files,
        "checks": checks[: len(checks) - surplus],
        "risky_snippets": [],
        "notes": [f"{with_items} files read"],
    }


def _starts(repo: Repo, base: str, head: str) -> dict[str, tuple[int, int]]:
    """The first lines of each changed file's two hunks on the new side, as git has them."""
    found: dict[str, tuple[int, int]] = {}
    for file in repo.git("diff", "--no-ext-diff", "--diff-filter=M", base, head).split("diff --git a/")[1:]:
        first, second = map(int, _HUNK.findall(file))
        found[file.partition(" ")[0]] = first, second
    return found


def _path(at: int) -> str:
    return f"src/{_AREAS[at % len(_AREAS)]}/{_NOUNS[at % len(_NOUNS)].lower()}{at}.ts"


def _name(at: int, function: int) -> str:
    return f"{_VERBS[function]}{_NOUNS[(at + function) % len(_NOUNS)]}{at}"


def _file(at: int, *, changed: bool, full: bool = False) -> str:
    parts = [_function(at, number, changed=changed and number in CHANGED, full=full) for number in range(FUNCTIONS)]
    head = f'import {{ store }} from "../store";\nimport {{ log }} from "../log";\n\nconst AREA = "{_path(at)}";\n\n'
    return head + "\n".join(parts)


def _function(at: int, number: int, *, changed: bool, full: bool) -> str:
    noun = _NOUNS[(at + number) % len(_NOUNS)]
    field, other = (_FIELDS[(at + number * 3 + more) % len(_FIELDS)] for more in (0, 2))
    before = f"""\
  const found = store.{noun.lower()}s.find((entry) => entry.{field} === given);
  if (found === undefined) {{
    throw new Error(`{noun}: no {field} ${{given}} in ${{AREA}}`);
  }}
  log.info("{noun.lower()} found", {{ id: found.id, {other}: found.{other} }});
  return [found].filter((entry) => entry.{other} !== null);
"""
    after = f"""\
  const found = store.{noun.lower()}s.filter((entry) => entry.{field} === given);
  if (found.length === 0) {{
    log.warn("{noun.lower()} not found", {{ {field}: given, area: AREA }});
    return [];
  }}
  for (const entry of found) {{
    log.info("{noun.lower()} found", {{ id: entry.id, {other}: entry.{other} }});
  }}
{_more(noun, field) if full else ""}  const known = found.filter((entry) => entry.{other} !== null);
  return limit === undefined ? known : known.slice(0, limit);
"""
    return f"""\
/** The {noun.lower()}s whose {field} is `given`. */
export function {_name(at, number)}(given: string, limit?: number): {noun}[] {{
{after if changed else before}}}
"""


def _more(noun: str, field: str) -> str:
    lines = range(ADDED_IN_A_FULL_HUNK)
    return "".join(
        f'  log.debug("{noun.lower()} {number}", {{ {field}: found[{number}]?.{field} }});\n' for number in lines
    )
