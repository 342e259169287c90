"""Breaks each rule once in the code and checks that a test which names the rule fails.

    python tools/mutants.py            # all of tools/mutants.toml, two at a time
    python tools/mutants.py S13 S20    # the mutants of these rules

Each mutant replaces one piece of text in a copy of the project; `pytest --rule RULE -x` must then fail there, and must
pass without the mutant. Exits 1 where a mutant survives, or where no test names its rule.
"""

import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[1]
LEFT_OUT: Final = (".git", ".venv", ".demo", "*_cache", "__pycache__", "*.egg-info")
PASSED, FAILED, NOTHING = 0, 1, 5


class Mutant(NamedTuple):
    """A file, what stands in it, what breaks it; the rule that it breaks, or the family of attacks that sees it."""

    file: str
    find: str
    replace: str
    rule: str = ""
    family: str = ""


def mutants(rules: Sequence[str] = (), *, families: bool = False) -> list[Mutant]:
    """The mutants of tools/mutants.toml: of these rules where any are named, else of all, or of the families."""
    listed = [Mutant(**entry) for entry in tomllib.loads((ROOT / "tools" / "mutants.toml").read_text())["mutant"]]
    return [mutant for mutant in listed if bool(mutant.family) == families and (not rules or mutant.rule in rules)]


def verdict(mutant: Mutant, passes: bool = False) -> str:
    """What became of a mutant, in one word or two; `killed` is the one to wish for.

    Where its tests are known to pass without it (`passes`), they are not run for that first.
    """
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory) / "project"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*LEFT_OUT))
        if not passes and _test(copy, mutant) != PASSED:
            return "no test that passes names it"
        file = copy / mutant.file
        text = file.read_text()
        if text.count(mutant.find) != 1:
            return f"its text stands {text.count(mutant.find)} times in {mutant.file}"
        file.write_text(text.replace(mutant.find, mutant.replace))
        return "killed" if _test(copy, mutant) == FAILED else "survived"


def _test(copy: Path, mutant: Mutant) -> int:
    # The copy's code is what the command imports, too: the path stands before the installed project.
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    command += ["--family", mutant.family, "tests/adversary"] if mutant.family else ["--rule", mutant.rule, "tests"]
    return subprocess.run(command, cwd=copy, env=environment, capture_output=True, check=False).returncode


def main(rules: Sequence[str]) -> int:
    """Runs the mutants and prints a line for each; returns the exit code."""
    chosen = mutants(rules)
    alive = 0
    with ThreadPoolExecutor(2) as pool:
        for mutant, found in zip(chosen, pool.map(verdict, chosen), strict=True):
            alive += found != "killed"
            first = mutant.find.strip().splitlines()[0]
            print(f"{mutant.rule:<4} {found:<9} {mutant.file}: {first}", flush=True)
    print(f"{len(chosen)} mutants, {len(chosen) - alive} killed, {alive} not")
    return 1 if alive or not chosen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
