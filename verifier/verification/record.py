"""The record of a run: all that its result depends on, so that it can be replayed byte for byte (S38)."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from verifier import __version__, lossless
from verifier.brief.document import Brief, NotABrief, read_brief
from verifier.text import one_line
from verifier.verification.candidates import bare_candidates
from verifier.verification.model import Candidate, Dismissal, Failed, Prompt, Reply, Settings, WrongQuestion
from verifier.verification.prompt import PROMPT_HASH, make_prompt
from verifier.verification.verify import Case, Skip, Verified


class BadRecord(WrongQuestion):
    """A file that is no record, or one of another prompt; the message says which and what to do."""


class Record(BaseModel):
    """A run: the brief as it came, candidates with excerpts and status, memory, prompt, answer, verification."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, validate_by_name=True, allow_inf_nan=False
    )

    version: Literal[1] = 1
    about: str = ""
    verifier: str
    brief: str
    settings: Settings
    memory: dict[str, Dismissal]
    candidates: tuple[Candidate, ...]
    failure: str | None
    skip: Skip | None
    edited: tuple[str, ...]
    prompt: Prompt | None
    reply: Reply | None
    failed: Failed | None
    verification: Any


def write_record(verified: Verified, about: str = "") -> str:
    """The record of a pass, as a JSON document."""
    case, answer = verified.case, verified.answer
    record = Record(
        about=about,
        verifier=__version__,
        brief=case.brief.source,
        settings=case.settings,
        memory={
            candidate.hash: candidate.dismissal
            for candidate in case.candidates
            if candidate.hash is not None and candidate.dismissal is not None
        },
        candidates=case.candidates,
        failure=case.failure,
        skip=case.skip,
        edited=case.edited,
        prompt=case.prompt,
        reply=answer if isinstance(answer, Reply) else None,
        failed=answer if isinstance(answer, Failed) else None,
        verification=lossless.loads(lossless.members(verified.document)["verification"]),
    )
    return record.model_dump_json(by_alias=True, indent=1) + "\n"


def read_record(data: bytes) -> tuple[Case, Reply | Failed | None]:
    """The case and the answer that a record holds; `conclude` makes the same result of them.

    Raises BadRecord for what is no record, for one of another prompt, and for one whose parts do not belong together.
    """
    try:
        record = Record.model_validate_json(data, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        said = one_line(f"{where}: {first['msg']}", 160)
        raise BadRecord(f"not a record of a run ({said})") from None
    try:
        brief = read_brief(record.brief.encode())
    except NotABrief as error:
        raise BadRecord(f"the record's brief is none ({error})") from None
    if record.prompt is not None and record.prompt.hash != PROMPT_HASH:
        raise BadRecord(
            f"the record was made with prompt {one_line(record.prompt.hash, 20)}; this version asks with prompt "
            f"{PROMPT_HASH}, so the reply does not answer it: run the pass again"
        )
    if fault := _fault(record, brief):
        raise BadRecord(f"the record's parts do not belong together ({fault}): it was changed after the run")
    case = Case(brief, record.settings, record.candidates, record.failure, record.skip, record.prompt, record.edited)
    return case, record.reply or record.failed


def _fault(record: Record, brief: Brief) -> str | None:
    """What does not fit together in a record; None where it is sound."""
    if list(map(_item, record.candidates)) != list(map(_item, bare_candidates(brief))):
        return "its candidates are not the items of its brief"
    if any(item.dismissal != record.memory.get(item.hash or "") for item in record.candidates):
        return "its candidates are not dismissed as its memory has them"
    if record.prompt is not None and make_prompt(record.candidates) != record.prompt:
        return "its candidates are not those that its prompt shows"
    if sum(part is not None for part in (record.failure, record.skip, record.prompt)) > 1:
        return "it holds more than one of failure, skip and prompt"
    answers = sum(part is not None for part in (record.reply, record.failed))
    if answers != (record.prompt is not None):
        return "it needs one answer where it holds a prompt, and none where it does not"
    return None


def _item(candidate: Candidate) -> tuple[object, ...]:
    """What a candidate has from the brief alone."""
    named = (candidate.id, candidate.pool, candidate.kind, candidate.file, candidate.line, candidate.claim)
    return (*named, candidate.detector, candidate.hash)
