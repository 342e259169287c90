"""What the README says, held against the program."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.command import environment, run

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
ACTION: Any = YAML(typ="safe", pure=True).load((ROOT / "action.yml").read_text())


def test_the_cost_in_the_readme_is_what_its_command_prints(tmp_path: Path) -> None:
    command: list[str | Path] = [sys.executable, ROOT / "examples" / "demo" / "cost.py"]
    ran = subprocess.run(command, capture_output=True, check=True, env=environment(tmp_path), text=True)
    assert "".join(f"    {line}\n" for line in ran.stdout.splitlines()) in README


def test_every_option_of_the_readme_is_one_of_the_command_and_the_other_way_round(tmp_path: Path) -> None:
    options = set(re.findall(r"--[a-z][a-z-]+", run("verify", "--help", cwd=tmp_path).out)) - {"--help"}
    told = set(re.findall(r"--[a-z][a-z-]+", re.sub(r"```yaml\n.*?```", "", README, flags=re.DOTALL)))
    assert options - {"--brief", "--out"} <= told
    feedback = set(re.findall(r"--[a-z][a-z-]+", run("feedback", "--help", cwd=tmp_path).out))
    bench = set(re.findall(r"--[a-z][a-z-]+", run("bench", "--help", cwd=tmp_path).out)) - {"--help"}
    template = {"--self-check-template"}
    assert bench <= told
    assert told <= options | feedback | bench | template


def test_every_configuration_key_of_the_readme_is_known(tmp_path: Path) -> None:
    block = re.search(r"```yaml\n(llm:.*?)```", README, re.DOTALL)
    assert block is not None
    (tmp_path / "on.yml").write_text(block[1])
    (tmp_path / "empty.json").write_text('{"captain": {"facts": []}, "reviewFirst": [], "checks": []}')
    (tmp_path / "a.diff").write_text("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n")
    arguments = ["--brief", "empty.json", "--diff", "a.diff", "--config", "on.yml", "--reader", "offline"]
    ran = run("verify", *arguments, cwd=tmp_path)
    assert (ran.code, "warning" in ran.err) == (0, False)
    assert "verified: no items" in ran.err


def test_a1_the_inputs_and_outputs_of_the_readme_are_those_of_action_yml() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| (.*) \|$", README, re.MULTILINE)
    inputs = [
        (name, f"{f'`{given}`' if (given := entry.get('default')) else ''} | {entry['description']}")
        for name, entry in ACTION["inputs"].items()
    ]
    outputs = [(name, entry["description"]) for name, entry in ACTION["outputs"].items()]
    at = rows.index(inputs[0])
    assert rows[at : at + len(inputs)] == inputs
    at = rows.index(outputs[0])
    assert rows[at : at + len(outputs)] == outputs


@pytest.mark.parametrize("name", ["same-repository.yml", "forks-brief.yml", "forks-verify.yml", "by-hand.yml"])
def test_a_workflow_of_the_readme_is_the_file(name: str) -> None:
    file = (ROOT / "examples" / "workflows" / name).read_text()
    assert f"<!-- examples/workflows/{name} -->\n```yaml\n{file}```\n" in README


def test_every_error_text_of_the_readme_is_one_of_the_program() -> None:
    table = README.partition("## When something fails")[2].partition("\n## ")[0]
    texts = [
        text for cell in re.findall(r"^\| (`.*?) \| ", table, re.MULTILINE) for text in re.findall(r"`([^`]+)`", cell)
    ]
    source = "\n".join(file.read_text() for file in (ROOT / "verifier").rglob("*.py"))
    source = re.sub(r'"\s*(?:"\s*)?\n\s*(?:f?")', "", source)  # one sentence over several lines
    for text in texts:
        fixed = [part for part in re.split(r"…|: |\b[NM]\b|\(M\)|\$\.\S+|\.opendrs\S+", text) if len(part.strip()) > 3]
        missing = [part for part in fixed if part.strip(" :();") not in source]
        assert not missing, (text, missing)


def test_every_place_that_the_readme_links_to_is_there() -> None:
    for target in re.findall(r"\]\(([^)#]*)", README):
        assert target == "" or (ROOT / target).exists(), target
    headings = {
        re.sub(r"[^a-z -]", "", line.lower()).replace(" ", "-")
        for line in re.findall(r"^#+ (.*)", README, re.MULTILINE)
    }
    assert set(re.findall(r"\]\(#([^)]*)\)", README)) <= headings
