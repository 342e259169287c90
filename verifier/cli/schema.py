"""`verifier schema`: the JSON Schemas of brief, record, memory line and configuration (B5)."""

import argparse
import json
from typing import Any

from pydantic import BaseModel

from verifier.brief.models import BriefModel
from verifier.cli.output import put
from verifier.config import Config
from verifier.memory import MemoryLine
from verifier.verification.published import Verification
from verifier.verification.record import Record


class VerifiedBrief(BriefModel):
    """A review brief; `verification` is there after the pass, and only then."""

    verification: Verification | None = None


_MODELS: dict[str, tuple[str, type[BaseModel]]] = {
    "brief": ("A review brief, before or after its verification", VerifiedBrief),
    "record": ("The record of a run of verifier", Record),
    "memory": ("A line of .opendrs/facts.jsonl", MemoryLine),
    "config": ("The part of .opendrs.yml that verifier reads", Config),
}


def schema(what: str) -> str:
    """The JSON Schema of `what`, as a document."""
    title, model = _MODELS[what]
    made: dict[str, Any] = model.model_json_schema(by_alias=True)
    made = {"$schema": "https://json-schema.org/draft/2020-12/schema", **made, "title": title}
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"


def run_schema(options: argparse.Namespace) -> int:
    """Prints one schema."""
    put(schema(options.what))
    return 0
