"""Writes record.json: the demo's case as it is asked today, answered by reply.json, which was written by hand.

    python examples/demo/make_record.py

Run it after a change of the prompt, of the demo's trees or of reply.json.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from build import build  # noqa: E402 (the script stands beside this one)

from verifier.brief.document import read_brief  # noqa: E402
from verifier.config import read_config  # noqa: E402
from verifier.evidence.git import open_repository  # noqa: E402
from verifier.memory import MEMORY_PATH, read_memory  # noqa: E402
from verifier.verification.model import Candidate, Question, Reply, Usage  # noqa: E402
from verifier.verification.prompt import shown_place  # noqa: E402
from verifier.verification.record import write_record  # noqa: E402
from verifier.verification.verify import verify  # noqa: E402

ABOUT = "The reply in this record was written by hand and by no model; it shows what the pass does with a reply."


def demo_record() -> str:
    """The record, as a JSON document."""
    answers = json.loads((HERE / "reply.json").read_text())

    def by_hand(question: Question) -> Reply:
        entries = [
            _entry(candidate, answers["verdicts"][candidate.id])
            for candidate in question.candidates
            if candidate.number is not None and candidate.id in answers["verdicts"]
        ]
        return Reply(json.dumps({"verdicts": entries}, ensure_ascii=False), answers["model"], Usage(0, 0))

    with tempfile.TemporaryDirectory() as directory:
        build(Path(directory) / "shop")
        repository = open_repository(Path(directory) / "shop", "main", "pull")
        files = repository.base_files([".opendrs.yml", MEMORY_PATH])
        verified = verify(
            read_brief((HERE / "brief.json").read_bytes()),
            repository,
            read_memory(files[MEMORY_PATH]),
            read_config(files[".opendrs.yml"], ".opendrs.yml").settings,
            by_hand,
        )
    return write_record(verified, ABOUT)


def _entry(candidate: Candidate, answer: dict[str, Any]) -> dict[str, Any]:
    return {"n": candidate.number, "kind": candidate.kind, "place": shown_place(candidate), **answer}


if __name__ == "__main__":
    (HERE / "record.json").write_text(demo_record())
