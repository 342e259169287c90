"""Attacks the whole program and writes what held to docs/assurance.md.

    python tools/assurance.py              # every attack of tests/adversary
    python tools/assurance.py --mutants    # and the weakenings that the families are there to catch

Each attack is a run, or several, of the real entrypoint against both fake servers. Exits 1 where anything did not hold.
"""

import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.adversary.families import FAMILIES  # noqa: E402 (the project's tests are no installed package)
from tools.mutants import Mutant, mutants, verdict  # noqa: E402

PAGE: Final = ROOT / "docs" / "assurance.md"
BEGIN, END = "<!-- table: python tools/assurance.py --mutants -->\n", "<!-- end of table -->\n"


def attacks() -> tuple[Counter[str], Counter[str]]:
    """How many attacks of each kind were tried, and how many held."""
    with tempfile.TemporaryDirectory() as directory:
        report = Path(directory) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "--attacks", "all", f"--junitxml={report}"]
        subprocess.run([*command, "tests/adversary"], cwd=ROOT, check=False)
        tree = ET.parse(report)  # noqa: S314 (our own file)
    tried: Counter[str] = Counter()
    held: Counter[str] = Counter()
    for case in tree.iter("testcase"):
        kind = kind_of(case.get("classname", ""), case.get("name", ""))
        if kind is None:
            continue
        tried[kind] += 1
        held[kind] += all(case.find(bad) is None for bad in ("failure", "error", "skipped"))
    return tried, held


def kind_of(module: str, name: str) -> str | None:
    """The kind of attack that a test is: its family, or what its module attacks; None for a test of the suite."""
    if "[" not in name and not module.endswith("test_concurrency"):
        return None
    if module.endswith("test_adversary"):
        return name.partition("[")[2].partition(":")[0]
    return module.rpartition(".test_")[2].replace("_", " ")


def table(tried: Counter[str], held: Counter[str], killed: dict[str, list[str]]) -> Iterator[str]:
    """The Markdown of the result."""
    weakenings = {family.name: family.weakening for family in FAMILIES}
    yield "| attack | it is there to catch | mutants caught | tried | held |"
    yield "|---|---|---|---|---|"
    for kind in tried:
        caught = killed.get(kind, [])
        shown = f"{caught.count('killed')} of {len(caught)}" if caught else ""
        yield f"| {kind} | {weakenings.get(kind, '')} | {shown} | {tried[kind]} | {held[kind]} |"
    yield ""
    yield f"{tried.total()} tried, {held.total()} held"


def main(arguments: Sequence[str]) -> int:
    """Runs it and writes the page; returns the exit code."""
    begun = time.monotonic()
    tried, held = attacks()
    killed: dict[str, list[str]] = {}
    chosen: list[Mutant] = mutants(families=True) if "--mutants" in arguments else []
    with ThreadPoolExecutor(2) as pool:
        # A family that held as it is need not be tried again before it is weakened.
        passes = [tried[mutant.family] == held[mutant.family] > 0 for mutant in chosen]
        for mutant, found in zip(chosen, pool.map(verdict, chosen, passes), strict=True):
            killed.setdefault(mutant.family, []).append(found)
            print(f"{mutant.family}: {found}: {mutant.file}: {mutant.find.strip().splitlines()[0]}", flush=True)
    lines = "\n".join(table(tried, held, killed)) + "\n"
    print(lines, f"in {time.monotonic() - begun:.0f} s", sep="")
    if chosen:
        page = PAGE.read_text()
        before, _, rest = page.partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{lines}\n{END}{rest.partition(END)[2]}")
    alive = sum(found != "killed" for each in killed.values() for found in each)
    return 1 if alive or tried != held else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
