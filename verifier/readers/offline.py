"""The rule reader: answers only for what the class rules prove, and says nothing of the rest (S38)."""

import json
from typing import Any

from verifier.verification.model import Candidate, Proof, Question, Reply, Usage
from verifier.verification.prompt import shown_place


def read_offline(question: Question) -> Reply:
    """A drop for every candidate with a proof, in the form of a model's reply. Needs no key and no network."""
    verdicts = [
        _entry(candidate, candidate.proofs[0])
        for candidate in question.candidates
        if candidate.number is not None and candidate.proofs
    ]
    return Reply(json.dumps({"verdicts": verdicts}, ensure_ascii=False), "offline", Usage(0, 0))


def _entry(candidate: Candidate, proof: Proof) -> dict[str, Any]:
    return {
        "n": candidate.number,
        "kind": candidate.kind,
        "place": shown_place(candidate),
        "reason": proof.why,
        "citation": {"file": proof.file, "line": _shown_line(candidate, proof)},
        "action": "drop",
        "class": proof.drop_class,
        "status": None,
    }


def _shown_line(candidate: Candidate, proof: Proof) -> int:
    """The proof's line, or another changed line where the excerpt was cut around elsewhere: each of them shows it."""
    rows = candidate.excerpt.rows if candidate.excerpt else ()
    changed = [row.number for row in rows if row.text[:1] in ("+", "-") and row.side]
    return proof.line if proof.line in changed or not changed else changed[0]
