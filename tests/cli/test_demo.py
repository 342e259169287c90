"""`make demo`: the bundled pull request, without a key and without a network."""

import json
import re
import subprocess
import sys
from pathlib import Path

from build import build
from make_record import demo_record

from tests.command import environment, run

DEMO = Path(__file__).parents[2] / "examples" / "demo"
SUFFIXES = (
    r"\[verified · new\]",
    r"\[verified · pre-existing\]",
    r"\[verified\]",
    r"\[downgraded by verifier: .+\]",
    r"\[downgraded: dismissed earlier as intentional\]",
    r"\[unverified\]",
)


def test_the_demo_shows_every_suffix_and_a_drop_note(tmp_path: Path) -> None:
    command: list[str | Path] = [sys.executable, DEMO / "run.py", tmp_path / "demo"]
    ran = subprocess.run(command, capture_output=True, check=False, env=environment(tmp_path), cwd=tmp_path, text=True)
    assert ran.returncode == 0, ran.stderr
    for suffix in SUFFIXES:
        assert re.search(f"{suffix}$", ran.stdout, re.MULTILINE), suffix
    assert "dropped by verifier: docs — " in ran.stdout
    assert "by hand and by no model" in ran.stdout
    for name in ("offline", "replay"):
        out = tmp_path / "demo" / name
        assert f"demo/{name}/brief.md" in ran.stdout
        assert sorted(file.name for file in out.iterdir()) == ["brief.json", "brief.md", "comment.md", "record.json"]


def test_the_bundled_pull_request_is_the_same_everywhere_and_the_brief_is_for_it(tmp_path: Path) -> None:
    base, head = build(tmp_path / "shop")
    brief = json.loads((DEMO / "brief.json").read_text())
    assert (brief["base"], brief["head"]) == (base, head)


def test_the_bundled_record_is_current() -> None:
    assert demo_record() == (DEMO / "record.json").read_text(), "python examples/demo/make_record.py"


def test_the_bundled_record_says_that_no_model_wrote_it() -> None:
    record = json.loads((DEMO / "record.json").read_text())
    assert "by hand and by no model" in record["about"]
    assert record["reply"]["model"] == "written-by-hand"


def test_the_bundled_record_replays_alone(tmp_path: Path) -> None:
    ran = run("verify", "--reader", f"replay:{DEMO / 'record.json'}", "--out", "out", cwd=tmp_path)
    assert ran.code == 0
    assert "12 kept, 6 downgraded, 7 dropped, 2 unverified" in ran.err
