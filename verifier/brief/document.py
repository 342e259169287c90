"""A brief document: read strictly, written without touching what was not read (B1, B2, S21)."""

from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from verifier import lossless
from verifier.brief.models import BriefModel, Captain, Check, Fact, Hunk, ReviewFile
from verifier.text import one_line

Fields = dict[str, str]

_EXPECTED: Final = {
    "missing": "this field is required",
    "string_type": "expected a string",
    "string_too_short": "expected a string that is not empty",
    "string_pattern_mismatch": "expected 40 (or 64) lower-case hex digits",
    "int_type": "expected a whole number",
    "float_type": "expected a number",
    "finite_number": "expected a finite number",
    "list_type": "expected an array",
}
_GLIMPSE: Final = 60
ITEMS_LIMIT: Final = 10_000  # a reviewer reads some tens; each takes kilobytes by the time it is written


class NotABrief(ValueError):
    """A document that is not a brief; `sentence` names the JSON path and what was expected (B2).

    The message also shows the beginning of what stands there: for whoever has the file, not for a public log.
    """

    def __init__(self, sentence: str, source: str | None = None) -> None:
        glimpse = "" if source is None else f", not {one_line(source[:_GLIMPSE], _GLIMPSE - 1) or 'nothing'}"
        super().__init__(f"{sentence}{glimpse}")
        self.sentence = sentence


@dataclass(frozen=True, slots=True)
class Parts:
    """The source text of a brief's fields, level by level: what is not read is written from here."""

    top: Fields
    captain: Fields
    facts: tuple[Fields, ...]
    files: tuple[Fields, ...]
    hunks: tuple[tuple[Fields, ...], ...]
    checks: tuple[Fields, ...]


@dataclass(frozen=True, slots=True)
class Brief:
    """A brief: the document as it came, the source text of its parts, and the fields that are read."""

    source: str
    parts: Parts
    model: BriefModel

    @property
    def captain(self) -> Captain:
        return self.model.captain

    @property
    def facts(self) -> list[Fact]:
        return self.model.captain.facts

    @property
    def files(self) -> list[ReviewFile]:
        return self.model.review_first

    @property
    def checks(self) -> list[Check]:
        return self.model.checks


def read_brief(data: bytes, *, verified: bool = False) -> Brief:
    """The brief that `data` holds; with `verified`, one that has been through the pass is welcome too.

    Raises NotABrief, with one sentence that names the JSON path and what was expected (B2).
    """
    try:
        source = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotABrief(f"$: expected UTF-8; byte {error.start} is not") from None
    try:
        return _parsed(source, verified=verified)
    except lossless.JsonError as error:
        # It has been parsed once: only its depth can still be too much, a few frames further in.
        raise NotABrief(f"$: {error}") from None


def _parsed(source: str, *, verified: bool) -> Brief:
    top = _members(source, "$")
    if "verification" in top and not verified:
        raise NotABrief("$.verification: expected a brief before its verification; this one has been verified")
    captain = _members(top["captain"], "$.captain") if "captain" in top else {}
    files = _objects(top.get("reviewFirst"), "$.reviewFirst")
    parts = Parts(
        top=top,
        captain=captain,
        facts=_objects(captain.get("facts"), "$.captain.facts"),
        files=files,
        hunks=tuple(_objects(file.get("hunks"), f"$.reviewFirst[{at}].hunks") for at, file in enumerate(files)),
        checks=_objects(top.get("checks"), "$.checks"),
    )
    items = len(parts.facts) + len(parts.files) + sum(map(len, parts.hunks)) + len(parts.checks)
    if items > ITEMS_LIMIT:
        raise NotABrief(f"$: expected at most {ITEMS_LIMIT:,} facts, files, hunks and checks; there are {items:,}")
    try:
        return Brief(source, parts, BriefModel.model_validate(_values(parts)))
    except ValidationError as error:
        raise _first(error, source) from None


def _values(parts: Parts) -> dict[str, Any]:
    """The values of the fields that are read, for the model to check; what is opaque is not looked at (B1)."""
    opaque = {"score", "tier", "policy", "risky_snippets"}
    found = _read(BriefModel, parts.top, leave=opaque | {"captain", "reviewFirst", "checks"})
    if "captain" in parts.top:
        found["captain"] = _read(Captain, parts.captain, leave={"facts"})
        if "facts" in parts.captain:
            found["captain"]["facts"] = [_read(Fact, fact) for fact in parts.facts]
    if "reviewFirst" in parts.top:
        found["reviewFirst"] = [_read(ReviewFile, file, leave={"hunks"}) for file in parts.files]
        for file, fields, hunks in zip(found["reviewFirst"], parts.files, parts.hunks, strict=True):
            if "hunks" in fields:
                file["hunks"] = [_read(Hunk, hunk) for hunk in hunks]
    if "checks" in parts.top:
        found["checks"] = [_read(Check, check) for check in parts.checks]
    return found


def _read(model: type[BaseModel], fields: Fields, leave: set[str] | frozenset[str] = frozenset()) -> dict[str, Any]:
    names = {info.alias or name for name, info in model.model_fields.items()} - leave
    return {name: lossless.value(fields[name]) for name in fields if name in names}


def _members(source: str, path: str) -> Fields:
    if not source.lstrip().startswith("{"):
        raise NotABrief(f"{path}: expected an object", source)
    try:
        return lossless.members(source)
    except lossless.JsonError as error:
        raise NotABrief(f"{path}: {error}") from None


def _objects(source: str | None, path: str) -> tuple[Fields, ...]:
    if source is None:
        return ()
    if not source.startswith("["):
        raise NotABrief(f"{path}: expected an array", source)
    return tuple(_members(element, f"{path}[{at}]") for at, element in enumerate(lossless.elements(source)))


def _first(error: ValidationError, source: str) -> NotABrief:
    """What is wrong first: its JSON path, what was expected, and the source text that stands there."""
    first = error.errors(include_url=False)[0]
    path = "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"])
    context = first.get("ctx", {})
    match first["type"]:
        case "literal_error":
            expected = f"expected {str(context['expected']).replace(chr(39), chr(34))}"
        case _ if first["loc"] == ("version",):
            expected = "expected 1, the version of the format that this verifier reads"
        case "greater_than_equal":
            expected = f"expected a number from {context['ge']:g} up"
        case kind:
            expected = _EXPECTED.get(kind, first["msg"])
    return NotABrief(f"{path}: {expected}", None if first["type"] == "missing" else _inside(source, first["loc"]))


def _inside(source: str, path: tuple[int | str, ...]) -> str:
    for step in path:
        source = lossless.elements(source)[step] if isinstance(step, int) else lossless.members(source)[step]
    return source
