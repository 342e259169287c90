"""`verifier schema`: generated from the models, published, current, and true of real documents (B5)."""

import json
from pathlib import Path

import jsonschema
import pytest

from tests.command import brief, document, run, shop

SCHEMAS = Path(__file__).parents[2] / "schemas"
NAMES = ("brief", "record", "memory", "config")


@pytest.mark.parametrize("name", NAMES)
def test_b5_the_published_schema_is_current(name: str, tmp_path: Path) -> None:
    printed = run("schema", name, cwd=tmp_path)
    assert printed.code == 0
    assert printed.out == (SCHEMAS / f"{name}.schema.json").read_text(), (
        f"verifier schema {name} > schemas/{name}.schema.json"
    )
    jsonschema.Draft202012Validator.check_schema(json.loads(printed.out))


def validator(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json.loads((SCHEMAS / f"{name}.schema.json").read_text()))


def test_b5_briefs_and_records_fit_their_schemas(tmp_path: Path) -> None:
    pull = shop(tmp_path)
    pull.verify("--reader", "offline")
    validator("brief").validate(json.loads(pull.brief.read_text()))
    validator("brief").validate(pull.result())
    validator("record").validate(json.loads((pull.out / "record.json").read_text()))


def test_b5_what_is_refused_does_not_fit(tmp_path: Path) -> None:
    wrong = json.loads(document(brief(checks=[{"file": "x", "line": 0, "text": "?"}])))
    assert not validator("brief").is_valid(wrong)
    assert not validator("config").is_valid({"llm": {"verify": {"maxTokens": "many"}}})
    assert not validator("memory").is_valid({"hash": "0" * 16, "id": "a", "file": "b", "verdict": "maybe"})
