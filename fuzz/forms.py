"""The form of each target's inputs: where they begin, and how they are changed."""

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from fuzz.mutation import (
    DIFF_WORDS,
    TEXT_WORDS,
    YAML_WORDS,
    Mutation,
    a_record,
    an_archive,
    json_lines,
    json_value,
    lines_of,
)
from fuzz.targets import ROOT, demo_case
from verifier.brief.document import read_brief
from verifier.verification.model import Reply, Usage
from verifier.verification.prompt import make_prompt
from verifier.verification.record import write_record
from verifier.verification.verify import conclude

CORPUS: Final = ROOT / "fuzz/corpus"
DEMO: Final = ROOT / "examples/demo"


@dataclass(frozen=True, slots=True)
class Form:
    """How inputs are changed, how long they may grow, and the words that libFuzzer sets in."""

    mutate: Mutation
    longest: int = 16_384
    words: tuple[str, ...] = ()


FORMS: Final[Mapping[str, Form]] = {
    "brief": Form(json_value, 32_768),
    "archive": Form(an_archive, 65_536, ("PK\1\2", "PK\3\4", "PK\5\6", "PK\6\6", "PK\6\7", "brief.json")),
    "diff": Form(lines_of(DIFF_WORDS), words=DIFF_WORDS),
    "candidates": Form(lines_of(DIFF_WORDS), words=DIFF_WORDS),
    "compare": Form(lines_of(("", "a", "b", "\0", "a\r"))),
    "answer": Form(json_value),
    "memory": Form(json_lines, words=("\n", '"hash"', '"verdict"', '"useful"', "0123456789abcdef")),
    "configuration": Form(lines_of(YAML_WORDS), words=YAML_WORDS),
    "reply": Form(json_value, 32_768, ('"action"', '"drop"', '"downgrade"', '"class"', '"citation"', '"docs"')),
    "record": Form(a_record, 200_000),
    "text": Form(lines_of(TEXT_WORDS), 4_096, TEXT_WORDS),
}


def seeds(name: str) -> list[bytes]:
    """What the inputs of a target begin with: the bundled pull request's, and those that are committed."""
    committed = CORPUS / name
    files = sorted(committed.iterdir()) if committed.is_dir() else []
    return [*_of_the_demo(name), *(file.read_bytes() for file in files)]


def _of_the_demo(name: str) -> Iterator[bytes]:
    record = (DEMO / "record.json").read_bytes()
    match name:
        case "brief":
            yield (DEMO / "brief.json").read_bytes()
        case "archive":
            yield _zipped((DEMO / "brief.json").read_bytes())
        case "memory":
            yield from _found(".opendrs/facts.jsonl")
        case "configuration":
            yield from _found(".opendrs.yml")
        case "reply":
            yield json.loads(record)["reply"]["text"].encode()
        case "record":
            yield record
            yield _short_record()


def _found(path: str) -> Iterator[bytes]:
    return (file.read_bytes() for file in sorted((DEMO / "trees").glob(f"*/{path}")))


def _zipped(data: bytes) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("brief.json", data)
    return written.getvalue()


def _short_record() -> bytes:
    """The record of one fact: most of what is changed in it matters. Made here, since it depends on the prompt."""
    case = demo_case()
    fact = replace(next(found for found in case.candidates if found.pool == "fact" and found.excerpt), number=1)
    source = {
        "score": 1.50,
        "captain": {
            "priority": "careful",
            "facts": [
                {"id": fact.detector, "file": fact.file, "line": fact.line, "strength": "strong", "text": fact.claim}
            ],
        },
        "reviewFirst": [],
        "checks": [],
    }
    candidates = (fact,)
    said = {"n": 1, "kind": fact.kind, "place": f"{fact.file}:{fact.line}", "reason": "so", "status": None}
    entry = said | {"action": "keep", "class": None, "citation": {"file": fact.file, "line": fact.line}}
    alone = replace(
        case, brief=read_brief(json.dumps(source).encode()), candidates=candidates, prompt=make_prompt(candidates)
    )
    return write_record(conclude(alone, Reply(json.dumps({"verdicts": [entry]}), "a-model", Usage(1, 2)))).encode()
