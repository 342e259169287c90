"""The audit of what is installed: pins that pin nothing are found without any network (A9)."""

import subprocess
import sys

import pytest

from tools.audit import FILES, ROOT, loose

HASH = f" \\\n    --hash=sha256:{'0' * 64}"


def test_every_pin_of_the_project_is_one_version_with_its_hashes() -> None:
    assert len(FILES) >= 2
    assert {file.name: list(loose(file.read_text())) for file in FILES} == {file.name: [] for file in FILES}


@pytest.mark.parametrize(
    "entry",
    ["a>=1" + HASH, "a==1", "a", "git+https://x.example/a" + HASH, "--find-links x", f"a==1{HASH} --pre"],
)
def test_a9_a_loose_pin_is_named(entry: str) -> None:
    assert list(loose(f"# a comment\nb==1{HASH}\n{entry}\nc==2 ; x < '3'{HASH}{HASH}\n")) == [entry.partition("\n")[0]]


def test_without_a_network_the_audit_passes_and_says_what_it_does_not_know() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools/audit.py"],
        env={"PATH": "/usr/bin:/bin", "HTTPS_PROXY": "http://127.0.0.1:9"},
        capture_output=True,
        check=False,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "requirements/run.txt: 0 looked up" in done.stdout
