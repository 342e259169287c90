"""What a case is: one item of a brief, the hunk it rests on, and the label that it should get."""

import json
import tomllib
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from verifier.brief.document import NotABrief, read_brief
from verifier.diff import Diff, FileDiff, parse_diff
from verifier.text import one_line
from verifier.verification.candidates import COUPLING, find_candidates
from verifier.verification.model import MISSING, UNREADABLE, BaseText, Candidate, DropClass, Pool

Label = Literal["true", "moot", "noise"]

_Line = Annotated[int, Field(ge=1, le=999_999_999)]
_Sentence = Annotated[str, Field(min_length=10, max_length=400, pattern=r"^[^\n]*$")]
_Path = Annotated[str, Field(min_length=1, max_length=200, pattern=r'^[^\s"\\\x00-\x1f\x7f]+$')]
_CREATED: Final = "@@ -0,0 "


class BadCase(ValueError):
    """A file that is no case; the message says what is wrong with it."""


class _Item(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    file: _Path
    line: _Line | None = None
    id: Annotated[str, Field(min_length=1)] | None = None
    partner: _Path | None = None
    text: str


class _File(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    label: Label
    drop_class: Annotated[DropClass | None, Field(alias="class")] = None
    why: _Sentence
    source: _Sentence
    language: str
    pool: Pool
    renamed_from: _Path | None = None
    hunk: Annotated[str, Field(pattern=r"^@@ -")]
    item: _Item
    base: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Case:
    """One labelled case, ready to be asked about; its request numbers the candidate."""

    name: str
    label: Label
    drop_class: DropClass | None
    why: str
    source: str
    language: str
    candidate: Candidate


def read_case(name: str, data: bytes) -> Case:
    """The case that a TOML file holds (bench/cases/README.md). Raises BadCase."""
    try:
        found = _File.model_validate(tomllib.loads(data.decode("utf-8-sig")), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        raise BadCase(one_line(f"{where}: {first['msg']}", 200)) from None
    except ValueError as error:  # no UTF-8, no TOML
        raise BadCase(one_line(f"not a TOML file ({error})", 200)) from None
    except RecursionError:
        raise BadCase("not a TOML file (nested too deeply)") from None
    if (found.label == "noise") != (found.drop_class is not None):
        raise BadCase("class: noise has one, and nothing else has")
    return Case(
        name=name,
        label=found.label,
        drop_class=found.drop_class,
        why=found.why,
        source=found.source,
        language=found.language,
        candidate=_candidate(found),
    )


def _candidate(found: _File) -> Candidate:
    """The one candidate of a case, by the pass's own way from brief and diff to candidates."""
    diff = _diff(found)
    try:
        brief = read_brief(_brief(found))
    except NotABrief as error:
        raise BadCase(f"item: no item of a brief ({error})") from None
    (candidate,) = find_candidates(brief, diff, _bases(found, diff), {})
    if candidate.number is None:
        raise BadCase(f"item.line: the hunk does not cover line {found.item.line} of {found.item.file}")
    return candidate


def _brief(found: _File) -> bytes:
    item = found.item
    at: dict[str, Any] = {"file": item.file} | ({} if item.line is None else {"line": item.line})
    facts: list[Any] = []
    files: list[Any] = []
    checks: list[Any] = []
    if found.pool == "fact":
        if item.id is None:
            raise BadCase("item.id: a fact has its detector's id")
        partner = {} if item.partner is None else {"partner": item.partner}
        facts = [{"id": item.id, **at, "strength": "strong", "text": item.text, **partner}]
    elif item.id is not None or item.partner is not None:
        raise BadCase("item: only a fact has an id or a partner")
    elif found.pool == "hunk":
        if item.line is None:
            raise BadCase("item.line: a hunk has its first line on the new side")
        files = [{"file": item.file, "hunks": [{"line": item.line, "reason": item.text}]}]
    else:
        checks = [{**at, "text": item.text}]
    return json.dumps({"captain": {"facts": facts}, "reviewFirst": files, "checks": checks}).encode()


def _diff(found: _File) -> Diff:
    path = found.item.file
    old = found.renamed_from or path
    header = f"diff --git a/{old} b/{path}\n"
    if found.renamed_from:
        header += f"rename from {old}\nrename to {path}\n"
    header += "new file mode 100644\n--- /dev/null\n" if found.hunk.startswith(_CREATED) else f"--- a/{old}\n"
    text = found.hunk if found.hunk.endswith("\n") else found.hunk + "\n"
    diff = parse_diff(f"{header}+++ b/{path}\n{text}".encode())
    hunks = [hunk for file in diff.files for hunk in file.hunks]
    for hunk in hunks:
        counted = f"@@ -{hunk.old_start},{hunk.old_count} +{hunk.new_start},{hunk.new_count} @@"
        if not hunk.header.startswith(counted):
            raise BadCase(f"hunk: its lines are those of {counted}, not of {one_line(hunk.header, 60)}")
    if sum(len(hunk.lines) + 1 for hunk in hunks) != text.count("\n"):
        raise BadCase("hunk: it has more lines than its @@ headers count, a line without a sign, or no such header")
    return diff


def _bases(found: _File, diff: Diff) -> dict[str, BaseText]:
    """The base texts of a case: a partner that is not given is not there; another file's is merely not given."""
    bases: dict[str, BaseText] = dict(found.base)
    if found.item.id == COUPLING and found.item.partner is not None:
        bases.setdefault(found.item.partner, MISSING)
    for file in diff.files:
        if file.old_path in found.base and not _fits(file, found.base[file.old_path]):
            raise BadCase(f"base: the text of {file.old_path} is not what the hunk was made against")
        if file.old_path is not None:
            bases.setdefault(file.old_path, UNREADABLE)
    return bases


def _fits(file: FileDiff, base: str) -> bool:
    at_base = dict(enumerate(base.split("\n"), 1))
    return all(at_base.get(line.old) == line.text for hunk in file.hunks for line in hunk.lines if line.old)
