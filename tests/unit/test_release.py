"""What a release rests on: the one line of action.yml that names the image, and that nothing names one too early."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
ACTION: Final = (ROOT / "action.yml").read_text()
BUILT_AT_USE: Final = "  image: Dockerfile"
IMAGE: Final = "ghcr.io/acme/verifier"
DIGEST: Final = "sha256:" + "0123456789abcdef" * 4


def pin(folder: Path, *arguments: str, text: str = ACTION) -> tuple[int, str]:
    """The exit code of `tools/pin_image.py ARGUMENTS` beside an action.yml, and that file afterwards."""
    (folder / "action.yml").write_text(text)
    command: list[str | Path] = [sys.executable, ROOT / "tools" / "pin_image.py", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    assert b"Traceback" not in done.stderr
    return done.returncode, (folder / "action.yml").read_text()


def test_main_builds_the_image_that_it_holds() -> None:
    assert ACTION.splitlines().count(BUILT_AT_USE) == 1


def test_a_release_names_the_image_by_digest_and_changes_nothing_else(tmp_path: Path) -> None:
    code, text = pin(tmp_path, IMAGE, DIGEST)
    assert (code, text) == (0, ACTION.replace(BUILT_AT_USE, f"  image: docker://{IMAGE}@{DIGEST}"))


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        (IMAGE,),
        (IMAGE, DIGEST, DIGEST),
        (IMAGE, ""),
        (IMAGE, "latest"),
        (IMAGE, DIGEST.removeprefix("sha256:")),
        (IMAGE, DIGEST[:-1]),
        (IMAGE, DIGEST + "0"),
        (IMAGE, DIGEST.upper()),
        (IMAGE, DIGEST + "\n"),
        (IMAGE, DIGEST[:-1] + "٣"),
        ("", DIGEST),
        ("acme/verifier", DIGEST),
        ("ghcr.io/verifier", DIGEST),
        ("ghcr.io/Acme/verifier", DIGEST),
        ("ghcr.io/acme/verifier:v1", DIGEST),
        ("ghcr.io/acme/verifier\n  x: y", DIGEST),
    ],
)
def test_what_is_no_image_and_no_digest_changes_nothing(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    assert pin(tmp_path, *arguments) == (1, ACTION)


@pytest.mark.parametrize(
    "text",
    [
        ACTION.replace(BUILT_AT_USE, f"  image: docker://{IMAGE}@{DIGEST}"),
        ACTION + BUILT_AT_USE + "\n",
        ACTION.replace(BUILT_AT_USE, BUILT_AT_USE + " # built at use"),
    ],
    ids=["named already", "twice", "another line"],
)
def test_not_exactly_one_line_to_change_changes_nothing(tmp_path: Path, text: str) -> None:
    assert pin(tmp_path, IMAGE, DIGEST, text=text) == (1, text)


def test_no_file_names_a_digest_that_nobody_has_read() -> None:
    names = ["action.yml", "Dockerfile", "README.md", "docs/releasing.md"]
    paths = [ROOT / name for name in names] + [*(ROOT / ".github").rglob("*.yml"), *(ROOT / "examples").rglob("*.yml")]
    assert [path for path in paths if re.search(r"sha256:[0-9a-f]{6}", path.read_text())] == []


def test_the_release_checks_the_image_as_its_users_are_told_to() -> None:
    told = (ROOT / "docs" / "releasing.md").read_text()
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text()
    command = re.search(r"    gh attestation verify (.*?)\n\n", told, re.DOTALL)
    assert command is not None
    for option in [*re.findall(r"--[a-z-]+", command[1]), "--predicate-type", "--bundle-from-oci"]:
        assert option in told
        assert option in workflow
    for path in re.findall(r"/(\.github/\S+)", command[1]):
        assert (ROOT / path).is_file()


def test_a9_the_image_sets_no_user_and_starts_an_isolated_interpreter() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    assert [line for line in lines if line.startswith("USER")] == []
    (start,) = [line for line in lines if line.startswith("ENTRYPOINT")]
    interpreter, *options, script = json.loads(start.removeprefix("ENTRYPOINT "))
    assert interpreter.startswith("/")
    assert "-I" in options
    assert script.startswith("/")
