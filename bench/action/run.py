"""Measures the Action against its budgets (SPEC 12): the real entrypoint, a fake GitHub, a scripted model.

    python bench/action/run.py [--out FILE] [--runs N]

The pull request is generated: 60 items over 30 files. GitHub answers each request after 100 ms, the model after 5 s.
Prints the result as Markdown and writes it to FILE (bench/action/results.md). Exit code 1: a budget is exceeded.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple

# The project that this file stands in, not one that is installed.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.action.pull import ITEMS, TIMEOUT_SECONDS, Made, make
from tests.action.job import Project, on_runner, read_outputs
from tests.command import answers, says
from tests.servers.github import FakeGitHub, zip_of
from tests.servers.model import Answer, ModelServer, close_before_reply, ok, silent, status

ROOT: Final = Path(__file__).resolve().parents[2]
METER: Final = Path(__file__).with_name("meter.py")
RESULTS: Final = Path(__file__).with_name("results.md")
COMMAND: Final = "python bench/action/run.py"
GITHUB_SECONDS: Final = 0.1
MODEL_SECONDS: Final = 5.0
OTHER_COMMENTS: Final = 10

FIRST_REQUEST: Final = 0.4
OVER_CHAIN: Final = 1.2
GITHUB_REQUESTS: Final = 10
CHARACTERS_AN_ITEM: Final = 600
CHARACTERS_IN_ALL: Final = 5_000
# The reader's waiting thread allows half a second for the other one to say what happened.
GRACE: Final = 0.5
# How a model fails, and the most requests that it may get: what may have been paid for is not asked again (S28).
FAILURES: Final[Sequence[tuple[str, Callable[[], Answer], int]]] = (
    ("400", lambda: status(400, "invalid_request_error", "no"), 1),
    ("401", lambda: status(401, "authentication_error", "no"), 1),
    ("404", lambda: status(404, "not_found_error", "model: none"), 1),
    ("429", lambda: status(429, "rate_limit_error", "wait"), 3),
    ("429, a minute to wait", lambda: status(429, "rate_limit_error", "wait", headers={"retry-after": "60"}), 3),
    ("500", lambda: status(500, "api_error", "no"), 3),
    ("529", lambda: status(529, "overloaded_error", "no"), 3),
    ("closed without an answer", close_before_reply, 1),
    ("no answer at all", silent, 1),
)


class Wait(NamedTuple):
    """A request as a server saw it: what it was, when it came, when its answer began."""

    what: str
    came: float
    answered: float

    @property
    def seconds(self) -> float:
        return self.answered - self.came


@dataclass(frozen=True)
class Run:
    """What one run of the process took, and what the servers saw of it; `sent` is the model's last request body."""

    started: float
    ended: float
    cpu: float
    peak: float
    github: list[Wait]
    model: list[Wait]
    sent: Any
    record: Any

    @property
    def wall(self) -> float:
        return self.ended - self.started

    @property
    def first_request(self) -> float:
        return min(wait.came for wait in self.github) - self.started

    @property
    def chain(self) -> list[Wait]:
        return longest_chain([*self.github, *self.model])

    @property
    def over_chain(self) -> float:
        return self.wall - sum(wait.seconds for wait in self.chain)

    @property
    def model_seconds(self) -> float:
        """From the model's first request to the next one at GitHub: the call, its retries included."""
        first = self.model[0].came
        return min(wait.came for wait in self.github if wait.came > first) - first


class Line(NamedTuple):
    """A line of a table: what, measured, budget, and whether it is kept (None where there is no budget)."""

    what: str
    measured: str
    budget: str
    kept: bool | None


def longest_chain(waits: Sequence[Wait]) -> list[Wait]:
    """Of all sequences of requests in which each came after the answer to the one before: the longest wait in all.

    Of two that are equal to a tenth of a second, the one whose answer came last: that is what the next step waited for.
    """
    chains: list[tuple[float, list[Wait]]] = []
    for wait in sorted(waits, key=lambda wait: wait.came):
        before = [chain for chain in chains if chain[1][-1].answered <= wait.came]
        seconds, chain = max(before, key=_length, default=(0.0, []))
        chains.append((seconds + wait.seconds, [*chain, wait]))
    return max(chains, key=_length)[1]


def _length(chain: tuple[float, list[Wait]]) -> tuple[float, float]:
    return round(chain[0], 1), chain[1][-1].answered


def one_run(made: Made, script: Sequence[Answer], model_seconds: float, expected: str) -> Run:
    """One run of the Action on the pull request, in a folder of its own; it must end with status `expected`."""
    with (
        tempfile.TemporaryDirectory() as directory,
        FakeGitHub(made.repo) as github,
        ModelServer(script) as model,
    ):
        place = Path(directory)
        pull = github.add_pull(made.base, made.head)
        for number in range(OTHER_COMMENTS):
            github.add_comment(pull, f"comment {number}")
        made_by = github.add_run(pull)
        github.add_artifact(made_by, zip_of({"brief.json": made.brief}))
        github.latency, model.latency = GITHUB_SECONDS, model_seconds
        variables = on_runner(Project(place, made.repo, github, pull, made_by), place, model)
        done = subprocess.run(
            [sys.executable, "-I", "-S", METER, place / "meter.json", sys.executable, "-I", ROOT / "entrypoint.py"],
            cwd=place / "workspace",
            env={name: value for name, value in variables.items() if name != "PYTHONPATH"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=120,
        )
        outputs = read_outputs(place / "output")
        assert (done.returncode, outputs["status"]) == (0, expected), done.stdout.decode()
        assert not github.violations, github.violations
        assert not model.violations, model.violations
        return Run(
            **json.loads((place / "meter.json").read_text()),
            github=[_wait(request.operation, request.times) for request in github.requests],
            model=[_wait("the model", request.times) for request in model.requests],
            sent=model.requests[-1].body,
            record=json.loads((place / "workspace" / outputs["record"]).read_text()),
        )


def _wait(what: str, times: Sequence[float]) -> Wait:
    return Wait(what.replace("/repos/{owner}/{repo}", ""), times[0], times[-1])


def verdicts() -> Answer:
    """A reply of a usual kind: most items kept, some downgraded on a cited line."""

    def verdict(number: int, _: str, place: str) -> dict[str, Any]:
        file, _, line = place.rpartition(":")
        if number % 5 or not line.isdigit():
            return says("keep", reason="The shown lines change what callers get where nothing is found.")
        citation = {"file": file, "line": int(line)}
        return says("downgrade", reason="The shown line proves that the claim does not hold.", citation=citation)

    return ok(answers(verdict))


# Tables.


def plain_lines(runs: Sequence[Run]) -> list[Line]:
    """The plain case, in medians of `runs`."""
    api = [len([wait for wait in run.github if wait.what != "GET blob"]) for run in runs]
    calls = [len(run.model) for run in runs]
    sent, allowed, shown = characters(runs[0])
    first, over = [run.first_request for run in runs], [run.over_chain for run in runs]
    chain = median(sum(wait.seconds for wait in run.chain) for run in runs)
    wall = [run.wall for run in runs]
    evidence = f"excerpts and partners {shown:,} + {CHARACTERS_AN_ITEM} an item + {CHARACTERS_IN_ALL:,} = {allowed:,}"
    return [
        Line("start to first GitHub request", _seconds(first), f"{FIRST_REQUEST} s", median(first) <= FIRST_REQUEST),
        Line("whole run", _seconds(wall), "", None),
        Line("the waits' longest chain (below)", f"{chain:.2f} s", "", None),
        Line("whole run beyond that chain", _seconds(over), f"{OVER_CHAIN} s", median(over) <= OVER_CHAIN),
        Line("requests to GitHub's API", str(max(api)), str(GITHUB_REQUESTS), max(api) <= GITHUB_REQUESTS),
        Line("requests to the model", str(max(calls)), "1", max(calls) == 1),
        Line(f"characters sent for {ITEMS} items", f"{sent:,}", evidence, sent <= allowed),
        Line("CPU of the process", _seconds([run.cpu for run in runs]), "", None),
        Line("peak memory of the process", f"{median(run.peak for run in runs):.0f} MB", "", None),
    ]


def characters(run: Run) -> tuple[int, int, int]:
    """Characters of system prompt, schema and message as sent; what is allowed; those of excerpts and partners."""
    body, prompt = run.sent, run.record["prompt"]
    (message,) = body["messages"]
    system = body["system"] if isinstance(body["system"], str) else "".join(part["text"] for part in body["system"])
    content = message["content"]
    text = content if isinstance(content, str) else "".join(part["text"] for part in content)
    schema = json.dumps(body["output_config"]["format"]["schema"], separators=(",", ":"), ensure_ascii=False)
    sent = len(system) + len(schema) + len(text)
    assert sent == sum(len(prompt[part]) for part in ("system", "schema", "message")), "the record has another prompt"
    items = [candidate for candidate in run.record["candidates"] if candidate["number"] is not None]
    assert len(items) == prompt["blocks"], len(items)
    shown = sum(_rows(item["excerpt"]) + _rows(item["partner"]) for item in items)
    return sent, shown + CHARACTERS_AN_ITEM * len(items) + CHARACTERS_IN_ALL, shown


def _rows(shown: Any) -> int:
    """The characters of an excerpt's or a partner's lines, their numbers not counted."""
    rows = (shown or {}).get("rows") or []
    return max(sum(len(text) + 1 for _, _, text in rows) - 1, 0)


def failure_lines(made: Made) -> list[Line]:
    """One run for each way in which a model fails: how often it was asked, and for how long."""
    found = []
    for what, answer, most in FAILURES:
        run = one_run(made, [answer()], 0.0, "failed")
        measured = f"{len(run.model)} in {run.model_seconds:.1f} s"
        kept = len(run.model) <= most and run.model_seconds <= TIMEOUT_SECONDS + GRACE
        found.append(Line(what, measured, f"{most} in {TIMEOUT_SECONDS} s", kept))
    return found


def table(head: Sequence[str], lines: Sequence[Line]) -> str:
    """Lines as a Markdown table."""
    rows = [(*line[:3], {True: "yes", False: "**no**", None: ""}[line.kept]) for line in lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in [tuple(head), ("---",) * len(head), *rows])


def chain_table(run: Run) -> str:
    """The longest chain of one run: for each step, what the process did before it, and what it waited for."""
    rows = [("step", "before it, the process's own", "wait")]
    at = run.started
    for wait in run.chain:
        rows.append((f"`{wait.what}`", f"{wait.came - at:.2f} s", f"{wait.seconds:.2f} s"))
        at = wait.answered
    waits = sum(wait.seconds for wait in run.chain)
    rows += [
        ("end of the process", f"{run.ended - at:.2f} s", ""),
        ("sum", f"{run.wall - waits:.2f} s", f"{waits:.2f} s"),
    ]
    rows.insert(1, ("---",) * 3)
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _seconds(values: Sequence[float]) -> str:
    return f"{median(values):.2f} s ({min(values):.2f} to {max(values):.2f})"


def report(runs: Sequence[Run], failures: Sequence[Line], load: float) -> tuple[str, bool]:
    """The results as Markdown, and whether every budget is kept."""
    plain = plain_lines(runs)
    middle = sorted(runs, key=lambda run: run.over_chain)[len(runs) // 2]
    asked = sum(wait.what != "the model" for wait in middle.chain)
    beside = len(middle.github) - asked
    nominal = asked * GITHUB_SECONDS + MODEL_SECONDS
    text = f"""\
# The Action against its budgets

`{COMMAND}` on {datetime.now(UTC):%Y-%m-%d}: {os.cpu_count()} cores ({_processor()}), {platform.system()},
Python {platform.python_version()}, load {load:.1f} before and {os.getloadavg()[0]:.1f} after.
{len(runs)} runs; a figure is their median, with the least and the most behind it.

## {ITEMS} items, GitHub at {GITHUB_SECONDS * 1000:.0f} ms a request, the model at {MODEL_SECONDS:.0f} s

{table(("what", "measured", "budget", "kept"), plain)}

The longest chain: of all sequences of requests in which each came after the answer to the one before, the one with the
longest wait. Both servers note when a request came and when its answer began. In the run with the median it is
{asked} requests to GitHub and its artifact store, and the model: {asked} × {GITHUB_SECONDS} s + {MODEL_SECONDS:.0f} s
= {nominal:.1f} s, the rest is the fake's own work. {beside} more requests ran beside these.

{chain_table(middle)}

## A model that fails, timeoutSeconds: {TIMEOUT_SECONDS}

Requests, and the time from the first one to the next request to GitHub; {GRACE} s are allowed beyond the bound.

{table(("how", "requests", "budget", "kept"), failures)}
"""
    return text, all(line.kept is not False for line in [*plain, *failures])


def _processor() -> str:
    """What the machine says its processor is."""
    file = Path("/proc/cpuinfo")
    lines = file.read_text().splitlines() if file.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def main() -> int:
    """Measures, prints and writes; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="FILE")
    parser.add_argument("--runs", type=int, default=5, metavar="N")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as directory:
        made = make(Path(directory) / "shop")
        one_run(made, [verdicts()], 0.0, "verified")  # compiles what was never run, as the image comes compiled
        runs = [one_run(made, [verdicts()], MODEL_SECONDS, "verified") for _ in range(options.runs)]
        failures = failure_lines(made)
    text, kept = report(runs, failures, load)
    print(text, end="")
    options.out.write_text(text)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
