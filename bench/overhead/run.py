"""Measures what a run costs as briefs and pull requests grow: time, memory, requests, characters; and draws it.

    python bench/overhead/run.py [--runs N]

The real entrypoint against the fake servers: GitHub answers each request after 100 ms, the model after 1 s. The pull
requests are generated. Prints a line for each run, and writes bench/results-overhead.md and bench/results-overhead.svg.
Exit code 1: a budget of SPEC 12 is exceeded.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

# The project that this file stands in, not one that is installed.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.action.pull import Made, make
from bench.action.run import CHARACTERS_AN_ITEM, CHARACTERS_IN_ALL, METER, Run, characters, one_run, verdicts
from bench.overhead.plot import Panel, Series, plot
from tests.command import VERIFIER, environment
from verifier.brief.document import read_brief
from verifier.brief.markdown import brief_markdown
from verifier.comment import comment
from verifier.diff import Diff, parse_diff
from verifier.evidence.git import open_repository
from verifier.verification.candidates import find_candidates, wanted_base_texts
from verifier.verification.model import Reply, Settings
from verifier.verification.prompt import SCHEMA, SYSTEM, make_prompt
from verifier.verification.record import write_record
from verifier.verification.verify import Case, conclude

ROOT: Final = Path(__file__).resolve().parents[2]
RESULTS: Final = ROOT / "bench" / "results-overhead.md"
PLOT: Final = ROOT / "bench" / "results-overhead.svg"
COMMAND: Final = "python bench/overhead/run.py"
MODEL_SECONDS: Final = 1.0
MAX_TOKENS: Final = 5_000_000

CPU_SECONDS: Final = 3.0
PEAK_MB: Final = 250.0
SHELL_SECONDS: Final = 0.3
SHELL_MB: Final = 45.0
LEAST_OF: Final = 5
TWICE: Final = 2.3  # what twice the size may cost and still pass for linear


class Shape(NamedTuple):
    """A pull request: how many items, whether each hunk is longer than an excerpt, how many files at least."""

    items: int
    full: bool = False
    files: int = 0


ITEMS: Final = (10, 60, 300, 1_000)
USUAL: Final = tuple(Shape(items) for items in ITEMS)
FULL: Final = tuple(Shape(items, full=True) for items in ITEMS)
FILES: Final = (Shape(60, files=300), Shape(60, files=1_000), Shape(60, files=3_000))
LARGEST: Final = Shape(1_000, files=3_000)
DOUBLED: Final = (("items", Shape(1_000), Shape(2_000)), ("files", Shape(60, files=3_000), Shape(60, files=6_000)))
SHAPES: Final = (*USUAL, *FULL, *FILES, LARGEST)


@dataclass(frozen=True)
class Measured:
    """The runs on one shape of pull request, and its size."""

    shape: Shape
    files: int
    lines: int
    runs: Sequence[Run]

    def middle(self, value: str) -> float:
        return float(median(getattr(run, value) for run in self.runs))

    @property
    def characters(self) -> tuple[int, int, int]:
        return characters(self.runs[0])

    @property
    def tokens(self) -> int:
        return -(-self.characters[0] * 2 // 7)

    @property
    def github_requests(self) -> int:
        return max(sum(wait.what != "GET blob" for wait in run.github) for run in self.runs)


class Phase(NamedTuple):
    """Where one step of the pass was: its name, its seconds of CPU."""

    name: str
    seconds: float


def measure(shape: Shape, directory: Path, runs: int) -> Measured:
    """`runs` runs on a pull request of that shape, a line on stderr for each."""
    made = _made(shape, directory)
    diff = _diff(made)
    lines = sum(line.sign in "+-" for file in diff.files for hunk in file.hunks for line in hunk.lines)
    found: list[Run] = []
    for number in range(1, runs + 1):
        found.append(one_run(made, [verdicts()], MODEL_SECONDS, "verified"))
        print(f"{_name(shape)}, run {number} of {runs}: {found[-1].wall:.1f} s", file=sys.stderr, flush=True)
    return Measured(shape, len(diff.files), lines, found)


def _made(shape: Shape, directory: Path) -> Made:
    return make(directory, shape.items, full=shape.full, files=shape.files, max_tokens=MAX_TOKENS)


def _diff(made: Made) -> Diff:
    return parse_diff((made.repo.git("diff", "--no-ext-diff", made.base, made.head) + "\n").encode())


def _name(shape: Shape) -> str:
    return (
        f"{shape.items} items{', full excerpts' if shape.full else ''}{f', {shape.files} files' if shape.files else ''}"
    )


def phases(made: Made) -> list[Phase]:
    """The pass's own steps over one pull request, in this process, with the base texts at hand."""
    found: list[Phase] = []

    @contextmanager
    def phase(name: str) -> Iterator[None]:
        at = time.process_time()
        yield
        found.append(Phase(name, time.process_time() - at))

    text = (made.repo.git("diff", "--no-ext-diff", made.base, made.head) + "\n").encode()
    with phase("brief: read and checked"):
        brief = read_brief(made.brief)
    with phase("diff: parsed"):
        diff = parse_diff(text)
    bases = open_repository(made.repo.path, made.base, made.head).base_texts(wanted_base_texts(brief, diff))
    with phase("candidates: excerpts, status, class rules"):
        candidates = find_candidates(brief, diff, bases, {})
    with phase("prompt: made"):
        prompt = make_prompt(candidates)
    case = Case(brief, Settings(enabled=True), candidates, prompt=prompt)
    entries = [
        {
            "n": item.number,
            "kind": item.kind,
            "place": f"{item.file}:{item.line}" if item.line else item.file,
            "reason": "The shown lines change what callers get.",
            "citation": None,
            "action": "keep",
            "class": None,
            "status": None,
        }
        for item in candidates
    ]
    reply = Reply(json.dumps({"verdicts": entries}), "any", None)
    with phase("reply: parsed, guards, brief laid out and written"):
        verified = conclude(case, reply)
    with phase("comment and Markdown"):
        comment(brief, verified.layout, verified.outcome)
        brief_markdown(brief, verified.layout)
    with phase("record: written"):
        write_record(verified)
    return found


def doubling(directory: Path) -> list[tuple[str, float]]:
    """How many times the CPU and the memory of the pass's own steps grow where items or files are twice as many."""
    found: list[tuple[str, float]] = []
    for what, small, large in DOUBLED:
        made = [_made(shape, directory / f"{what}{at}") for at, shape in enumerate((small, large))]
        # the least of some: whatever else the machine does only ever adds
        once, twice = (min(sum(step.seconds for step in phases(one)) for _ in range(LEAST_OF)) for one in made)
        found.append((f"CPU of the pass where {what} double", twice / once))
        less, more = map(_peak_of_phases, made)
        found.append((f"memory of the pass where {what} double", more / less))
    return found


def _peak_of_phases(made: Made) -> int:
    """The most bytes that the steps hold at once."""
    tracemalloc.start()
    try:
        phases(made)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def shell(runs: int) -> list[tuple[str, float, float]]:
    """The dry run and the replay of the bundled pull request: name, median seconds, median MB."""
    demo = ROOT / "examples" / "demo"
    commands: dict[str, list[str | Path]] = {
        "dry run (`--no-llm`)": ["--brief", demo / "brief.json", "--no-llm"],
        "replay (`--reader replay:FILE`)": ["--reader", f"replay:{demo / 'record.json'}"],
    }
    found: list[tuple[str, float, float]] = []
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        for name, arguments in commands.items():
            meters = [_shell_run(place, arguments) for _ in range(runs + 2)][2:]
            found.append((name, median(at[0] for at in meters), median(at[1] for at in meters)))
    return found


def _shell_run(place: Path, arguments: Sequence[str | Path]) -> tuple[float, float]:
    command = [sys.executable, "-I", "-S", METER, place / "meter.json", VERIFIER, "verify", *arguments]
    subprocess.run(command, cwd=place, env=environment(place), capture_output=True, check=True)
    meter = json.loads((place / "meter.json").read_text())
    return meter["ended"] - meter["started"], meter["peak"]


# The report.


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))


def cost_table(found: Sequence[Measured]) -> str:
    """One row a shape: what it took."""
    rows = [
        (
            f"{at.shape.items:,}",
            "full" if at.shape.full else "usual",
            f"{at.files:,}",
            f"{at.lines:,}",
            f"{at.middle('wall'):.2f} s",
            f"{at.middle('over_chain'):.2f} s",
            f"{at.middle('cpu'):.2f} s",
            f"{at.middle('peak'):.0f} MB",
            str(at.github_requests),
            str(max(len(run.model) for run in at.runs)),
        )
        for at in found
    ]
    head = ("items", "excerpts", "files", "changed lines", "wall", "beyond the waits", "CPU", "peak", "GitHub", "model")
    return _table(head, rows)


def size_table(found: Sequence[Measured]) -> str:
    """One row a shape: what was sent."""
    fixed = len(SYSTEM) + len(SCHEMA)
    rows = []
    for at in found:
        sent, allowed, shown = at.characters
        own = sent - fixed - shown
        rows.append(
            (
                f"{at.shape.items:,}",
                "full" if at.shape.full else "usual",
                f"{sent:,}",
                f"{at.tokens:,}",
                f"{fixed:,}",
                f"{shown / at.shape.items:,.0f}",
                f"{own / at.shape.items:,.0f}",
                f"{allowed:,}",
                "yes" if sent <= allowed else "**no**",
            )
        )
    head = (
        "items",
        "excerpts",
        "characters",
        "tokens (÷ 3.5)",
        "fixed part",
        "shown an item",
        "frame an item",
        "budget",
        "kept",
    )
    return _table(head, rows)


def phase_table(found: Sequence[Measured]) -> str:
    """One row a shape: the wall time of the run with the median, part by part, as the servers saw it."""
    rows = []
    for at in found:
        run = sorted(at.runs, key=lambda run: run.wall)[len(at.runs) // 2]
        asked, answered = run.model[0].came, run.model[0].answered
        parts = (run.first_request, asked - run.started - run.first_request, answered - asked, run.ended - answered)
        rows.append((_name(at.shape), *(f"{part:.2f} s" for part in parts), f"{run.wall:.2f} s"))
    return _table(("pull request", "start", "brief, base, diff", "model", "head, comment, summary", "sum"), rows)


def budgets(
    found: Sequence[Measured], grown: Sequence[tuple[str, float]], shells: Sequence[tuple[str, float, float]]
) -> list[tuple[str, str, str, bool]]:
    """The budgets of SPEC 12 that this measures: what, measured, budget, kept."""
    largest = next(at for at in found if at.shape == LARGEST)
    where = f"{largest.shape.items:,} items, {largest.files:,} files, {largest.lines:,} changed lines"
    calls = max(len(run.model) for at in found for run in at.runs)
    sent, allowed, _ = max((at.characters for at in found), key=lambda size: size[0] / size[1])
    lines = [
        (f"CPU, {where}", f"{largest.middle('cpu'):.2f} s", f"{CPU_SECONDS} s", largest.middle("cpu") <= CPU_SECONDS),
        (
            f"peak memory, {where}",
            f"{largest.middle('peak'):.0f} MB",
            f"{PEAK_MB:.0f} MB",
            largest.middle("peak") <= PEAK_MB,
        ),
        ("model calls, any shape", str(calls), "1", calls == 1),
        ("characters sent, of the shape nearest to its budget", f"{sent:,}", f"{allowed:,}", sent <= allowed),
    ]
    lines += [(what, f"{times:.2f} times", f"linear ({TWICE} at the most)", times <= TWICE) for what, times in grown]
    for name, seconds, peak in shells:
        kept = seconds <= SHELL_SECONDS and peak <= SHELL_MB
        lines.append(
            (f"{name}, whole process", f"{seconds:.2f} s, {peak:.0f} MB", f"{SHELL_SECONDS} s, {SHELL_MB:.0f} MB", kept)
        )
    return lines


def figure(found: Sequence[Measured]) -> str:
    """The growth as an SVG plot: CPU, memory and characters over items; CPU over files."""

    def series(name: str, shapes: Sequence[Shape], value: str, size: str = "items") -> Series:
        grown = [at for at in found if at.shape in shapes]
        values = [at.characters[0] / 1000 if value == "characters" else at.middle(value) for at in grown]
        sizes = [at.files if size == "files" else at.shape.items for at in grown]
        return Series(name, tuple(zip(map(float, sizes), values, strict=True)))

    def both(value: str) -> tuple[Series, ...]:
        return series("usual excerpts", USUAL, value), series("full excerpts", FULL, value)

    over_files = (USUAL[1], *FILES)
    return plot(
        [
            Panel("CPU, s", "items", both("cpu"), CPU_SECONDS),
            Panel("peak memory, MB", "items", both("peak"), PEAK_MB),
            Panel("characters sent, thousands", "items", both("characters"), None),
            Panel("CPU, s, at 60 items", "files", (series("60 items", over_files, "cpu", "files"),), CPU_SECONDS),
        ]
    )


def report(
    found: Sequence[Measured], steps: Sequence[Phase], held: Sequence[tuple[str, str, str, bool]], load: float
) -> str:
    """The results as Markdown."""
    kept = [(what, got, budget, "yes" if ok else "**no**") for what, got, budget, ok in held]
    runs = len(found[0].runs)
    whole = sum(step.seconds for step in steps)
    shares = [(step.name, f"{step.seconds:.3f} s", f"{step.seconds / whole:.0%}") for step in steps]
    return f"""\
# What a run costs, and how that grows

`{COMMAND} --runs {runs}` on {datetime.now(UTC):%Y-%m-%d}: {os.cpu_count()} cores, {platform.system()}, Python
{platform.python_version()}, load {load:.1f} before and {os.getloadavg()[0]:.1f} after. Medians of {runs} runs.

The real entrypoint as a process, the fake GitHub at 100 ms a request, the scripted model at {MODEL_SECONDS:.0f} s,
`llm.verify.maxTokens` {MAX_TOKENS:,} (by default it is 40,000: a brief that does not fit is skipped, not cut). "usual":
hunks of about 1,200 characters. "full": every hunk is longer than the 2,000 characters of an excerpt. The other budgets
of SPEC 12 (the start, 60 usual items, the ways in which a model fails) stand in [action/results.md](action/results.md).

## Budgets

{_table(("what", "measured", "budget", "kept"), kept)}

## What it takes

"beyond the waits": the wall time beyond the longest chain of waits for the servers. GitHub and model: requests to the
API, the most in any run; the download of the artifact is one more.

{cost_table(found)}

![CPU, memory and characters over items; CPU over files](results-overhead.svg)

## What is sent

Fixed part: system prompt and schema. Shown: the lines of excerpt and partner. Frame: numbers, kind, place and claim.
Budget: what is shown + {CHARACTERS_AN_ITEM} an item + {CHARACTERS_IN_ALL:,}.

{size_table(found)}

## Where the time goes

The wall time of the run with the median, as the servers saw it. "start": to the first request at GitHub.

{phase_table(found)}

The pass's own steps, {_name(LARGEST)}, in seconds of CPU of one process, the base texts at hand:

{_table(("step", "CPU", "share"), shares)}
"""


def main() -> int:
    """Measures, prints and writes; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=3, metavar="N")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        one_run(_made(USUAL[0], place / "first"), [verdicts()], 0.0, "verified")  # compiles what was never run
        found = [measure(shape, place / str(at), options.runs) for at, shape in enumerate(SHAPES)]
        steps = phases(_made(LARGEST, place / "phases"))
        grown = doubling(place)
    held = budgets(found, grown, shell(max(options.runs, 7)))
    text = report(found, steps, held, load)
    print(text, end="")
    RESULTS.write_text(text)
    PLOT.write_text(figure(found))
    return 0 if all(kept for *_, kept in held) else 1


if __name__ == "__main__":
    sys.exit(main())
