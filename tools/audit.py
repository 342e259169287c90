"""Known vulnerabilities in what the image and the tests install, and pins that pin nothing.

    python tools/audit.py            # what cannot be looked up is said, and is no failure: without a network all passes
    python tools/audit.py --strict   # where there is a network: what cannot be looked up is a failure, too

Exits 1 where a pin is loose or a version is known to be vulnerable.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
FILES: Final = tuple(sorted((ROOT / "requirements").glob("*.txt")))
PIN: Final = re.compile(r"[A-Za-z0-9._-]+==\S+( ; [^\\]+)?( \\\n    --hash=sha256:[0-9a-f]{64})+")


def loose(text: str) -> Iterator[str]:
    """The entries of a requirements file that are not one version with its hashes."""
    entries = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)
    for entry in re.split(r"\n(?=\S)", entries.strip()):
        if not PIN.fullmatch(entry.strip()):
            yield entry.partition("\n")[0]


def looked_up(file: Path) -> list[dict[str, Any]] | None:
    """What is known of each pinned version; None where nothing could be looked up."""
    with tempfile.TemporaryDirectory() as directory:
        found = Path(directory) / "found.json"
        command = [sys.executable, "-m", "pip_audit", "--disable-pip", "--require-hashes", "--progress-spinner", "off"]
        command += ["--requirement", file, "--format", "json", "--output", found]  # type: ignore[list-item]
        subprocess.run(command, capture_output=True, check=False, timeout=300)
        if not found.exists():
            return None
        dependencies: list[dict[str, Any]] = json.loads(found.read_text())["dependencies"]
        return dependencies


def main(arguments: Sequence[str]) -> int:
    """Says one line a file, and one for each thing that is wrong; returns the exit code."""
    wrong = 0
    for file in FILES:
        name = file.relative_to(ROOT)
        for pin in loose(file.read_text()):
            wrong += 1
            print(f"{name}: {pin}: expected one version with its hashes (make requirements)")
        known = looked_up(file) or []
        unknown = [entry["name"] for entry in known if "skip_reason" in entry]
        for entry in known:
            for one in entry.get("vulns", []):
                wrong += 1
                fixed = ", ".join(one["fix_versions"]) or "no version yet"
                print(f"{name}: {entry['name']} {entry['version']}: {one['id']}, mended in {fixed}")
        looked = len(known) - len(unknown)
        print(f"{name}: {looked} looked up, {f'{len(unknown)} not' if known else 'the others not'}")
        if "--strict" in arguments and (unknown or not known):
            wrong += 1
            print(f"{name}: not all could be looked up")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
