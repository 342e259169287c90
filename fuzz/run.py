"""Fuzzes the parsers of outside bytes, each in a process of its own, two at once.

    python fuzz/run.py [NAME ...] [--seconds N] [--seed N]   # all, or those named; N seconds each (20)
    python fuzz/run.py NAME --input FILE                     # one input again

Exits 1 where something was found; what it was found with is then in fuzz/found/.
"""

import argparse
import hashlib
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzz.targets import ROOT, TARGETS
from fuzz.worker import HUNG_SECONDS, timely

FOUND: Final = ROOT / "fuzz/found"
AT_ONCE: Final = 2
_START_SECONDS: Final = 60  # until a worker has read its seeds, on a machine that is busy
_SHOWN: Final = 400
_NOISE: Final = re.compile(
    r"^(INFO|Done|stat::|#\d|MS:|\s*(0x|==)|NEW_FUNC|artifact_prefix|Base64|Dictionary|Test unit)"
)


@dataclass(frozen=True, slots=True)
class Ended:
    """What came of one target: executions, coverage (None: nothing guided it), whether something was found, with which
    input (None: with none that was kept), and what was said.
    """

    name: str
    runs: int
    edges: int | None
    failed: bool
    input: bytes | None
    said: str


def fuzzed(name: str, seconds: int, seed: int) -> Ended:
    """One target, in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as made:
        folder = Path(made)
        command = [sys.executable, str(ROOT / "fuzz/worker.py"), name, made, str(seconds), str(seed)]
        try:
            ended = subprocess.run(
                command, cwd=made, capture_output=True, check=False, timeout=seconds + HUNG_SECONDS + _START_SECONDS
            )
            said, failed = (ended.stdout + ended.stderr).decode("utf-8", "replace"), ended.returncode != 0
        except subprocess.TimeoutExpired:
            said, failed = "it did not come back", True
        inputs = [*folder.glob("found-*"), *(folder.glob("now") if "did not come back" in said else ())]
        found = inputs[0].read_bytes() if inputs else None
    runs = re.search(r"stat::number_of_executed_units: +(\d+)", said)
    edges = re.findall(r" cov: (\d+)", said)
    return Ended(
        name, int(runs[1]) if runs else 0, int(edges[-1]) if edges else None, failed or bool(inputs), found, said
    )


def tell(ended: Ended) -> None:
    """One line on a target; of what was found the input, the end of what was said, and how to see it again."""
    guide = "coverage did not guide it" if ended.edges is None else f"{ended.edges:,} edges"
    print(
        f"{ended.name}: {ended.runs:,} executions, {guide}, {'FOUND' if ended.failed else 'nothing found'}", flush=True
    )
    if not ended.failed:
        return
    lines = [line for line in ended.said.splitlines() if line.strip() and not _NOISE.match(line)]
    print("\n".join(f"    {line[:_SHOWN]}" for line in lines[-16:]))
    if ended.input is None:
        return
    FOUND.mkdir(exist_ok=True)
    file = FOUND / f"{ended.name}-{hashlib.sha256(ended.input).hexdigest()[:12]}"
    file.write_bytes(ended.input)
    shown = repr(ended.input)
    print(f"  input: {shown[:_SHOWN]}{'…' if len(shown) > _SHOWN else ''}")
    print(f"  again: python fuzz/run.py {ended.name} --input {file.relative_to(ROOT)}")


def main(arguments: Sequence[str]) -> int:
    """Fuzzes, or runs one input; returns the exit code."""
    parser = argparse.ArgumentParser(description="Fuzzes the parsers of outside bytes.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(TARGETS)}")
    parser.add_argument("--seconds", type=int, default=20, help="for each target")
    parser.add_argument("--seed", type=int, help="of the made-up inputs; another one each time if not said")
    parser.add_argument("--input", type=Path, help="run this one input")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.names if name not in TARGETS]:
        parser.error(f"there is no target {', '.join(unknown)}; there is {', '.join(TARGETS)}")
    names: list[str] = options.names or [*TARGETS]
    if options.input is not None:
        if len(names) != 1:
            parser.error("--input needs the name of one target")
        timely(TARGETS[names[0]])(options.input.read_bytes())
        print(f"{names[0]}: all holds")
        return 0
    seed = random.randrange(1, 2**31) if options.seed is None else options.seed
    start = time.monotonic()
    found = False
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for ended in pool.map(lambda name: fuzzed(name, options.seconds, seed), names):
            tell(ended)
            found |= ended.failed
    print(f"{len(names)} targets in {time.monotonic() - start:.0f} s, seed {seed}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
