"""What the README says, held against the program."""

import re
import subprocess
import sys
from pathlib import Path

from tests.command import environment, run

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def test_the_cost_in_the_readme_is_what_its_command_prints(tmp_path: Path) -> None:
    command: list[str | Path] = [sys.executable, ROOT / "examples" / "demo" / "cost.py"]
    ran = subprocess.run(command, capture_output=True, check=True, env=environment(tmp_path), text=True)
    assert "".join(f"    {line}\n" for line in ran.stdout.splitlines()) in README


def test_every_option_of_the_readme_is_one_of_the_command_and_the_other_way_round(tmp_path: Path) -> None:
    options = set(re.findall(r"--[a-z][a-z-]+", run("verify", "--help", cwd=tmp_path).out)) - {"--help"}
    told = set(re.findall(r"--[a-z][a-z-]+", README))
    assert options - {"--brief", "--out"} <= told
    feedback = set(re.findall(r"--[a-z][a-z-]+", run("feedback", "--help", cwd=tmp_path).out))
    template = {"--self-check-template"}
    assert told <= options | feedback | template


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
