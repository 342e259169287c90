"""The fuzz targets: what must hold holds for the seeds and for a few hundred changes of them, and each can fail."""

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from fuzz import targets
from fuzz.forms import CORPUS, FORMS, seeds
from fuzz.run import main
from fuzz.targets import ROOT, TARGETS
from verifier.action.artifact import file_inside
from verifier.brief.document import NotABrief, read_brief
from verifier.config import BadConfig, Configured, read_config
from verifier.diff import Diff, parse_diff
from verifier.evidence.compare import compare_texts
from verifier.evidence.github import blobs
from verifier.memory import BadMemory, read_memory
from verifier.text import inert
from verifier.verification.candidates import find_candidates
from verifier.verification.model import MISSING, Settings
from verifier.verification.record import BadRecord, read_record
from verifier.verification.reply import ReplyError

MADE_UP: Final = 40  # inputs a target
SMALL: Final = 20_000


def test_every_target_has_a_form_and_seeds() -> None:
    assert [*FORMS] == [*TARGETS]
    assert all(map(seeds, TARGETS))
    assert {folder.name for folder in CORPUS.iterdir()} <= {*TARGETS}


@pytest.mark.parametrize("name", TARGETS)
def test_what_must_hold_holds(name: str) -> None:
    """For nothing, for each seed, and for seeded random changes of the short ones."""
    chance = Random(name)
    TARGETS[name](b"")
    for seed in seeds(name):
        TARGETS[name](seed)
    short = [seed for seed in seeds(name) if len(seed) < SMALL]
    for _ in range(MADE_UP):
        TARGETS[name](FORMS[name].mutate(chance.choice(short), chance)[: FORMS[name].longest])


def _raising(error: Exception) -> Callable[..., Any]:
    def broken(*_: object, **__: object) -> Any:
        raise error

    return broken


def _other_notes(data: bytes, *, verified: bool) -> Any:
    found = read_brief(data, verified=verified)
    return replace(found, model=found.model.model_copy(update={"notes": ["another"]}))


def _pathless(data: bytes) -> Diff:
    found = parse_diff(data)
    return replace(found, files=tuple(replace(file, old_path=None, new_path=None) for file in found.files))


def _shifted(data: bytes) -> Diff:
    files = parse_diff(data).files
    return Diff(
        tuple(replace(f, hunks=tuple(replace(hunk, new_start=hunk.new_start + 1) for hunk in f.hunks)) for f in files)
    )


def _unnumbered(*given: Any) -> Any:
    return tuple(
        replace(found, number=None, excerpt=found.excerpt and replace(found.excerpt, rows=()))
        for found in find_candidates(*given)
    )


def _other_settings(data: bytes, path: str) -> Configured:
    return replace(read_config(data, path), settings=Settings(timeout_seconds=0))


def _doubled(data: bytes) -> Any:
    case, answer = read_record(data)
    return replace(case, candidates=(*case.candidates, case.candidates[0])), answer


# The target, the parameter that takes its parser, and parsers that are broken.
BROKEN: Final[dict[str, tuple[str, list[Callable[..., Any]]]]] = {
    "brief": ("read", [_other_notes, _raising(NotABrief("two\nlines"))]),
    "archive": ("read", [lambda data, name: file_inside(data, name) + b" ", lambda _, __: b" " * 5_000_001]),
    "diff": ("read", [_pathless, _shifted]),
    "candidates": ("find", [_unnumbered, lambda *given: find_candidates(*given)[1:]]),
    "compare": ("between", [lambda old, new: compare_texts(old, new)[1:], lambda old, new: compare_texts(new, old)]),
    "answer": ("read", [lambda answer, count: blobs(answer, count)[1:], lambda *_: [MISSING] * 3]),
    "memory": ("read", [lambda data: dict.fromkeys(read_memory(data), "ignored"), _raising(BadMemory("no line"))]),
    "configuration": ("read", [_other_settings, _raising(BadConfig("no file"))]),
    "reply": ("read", [_raising(ReplyError("refused")), _raising(ReplyError("two\nlines"))]),
    "record": ("read", [_doubled, _raising(BadRecord("two\nlines"))]),
    "text": ("neutral", [lambda text, _: text, lambda text, limit: f"{inert(text, limit)}@octocat"]),
}


@pytest.mark.parametrize("name", TARGETS)
def test_a_broken_parser_is_seen(name: str) -> None:
    parameter, broken = BROKEN[name]
    for parser in broken:
        with pytest.raises(AssertionError):
            _all_seeds(name, **{parameter: parser})
    with pytest.raises(KeyError, match="undeclared"):
        _all_seeds(name, **{parameter: _raising(KeyError("undeclared"))})


def _all_seeds(name: str, **parser: Any) -> None:
    for seed in seeds(name):
        getattr(targets, name)(seed, **parser)


def test_a_reply_that_hides_without_evidence_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """S13: the guards stand between the parser and what is looked at; so here one of them is taken away."""
    monkeypatch.setattr("verifier.verification.guards._relabelled", lambda said, _, **__: (said.action, None))
    (seed,) = seeds("reply")
    with pytest.raises(AssertionError, match="S13"):
        targets.reply(seed.replace(b'"action": "keep"', b'"action": "drop"'))


def test_one_input_is_run_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "input"
    file.write_bytes(b"{}")
    assert main(["brief", "--input", str(file)]) == 0
    assert capsys.readouterr().out == "brief: all holds\n"


def test_what_is_found_ends_the_runner_with_its_input() -> None:
    """In the worker's own process, without coverage: the same inputs each time."""
    script = """
import sys, tempfile
from pathlib import Path
from fuzz import targets, worker
def holds(data):
    assert len(data) < 400, "a long one"
targets.TARGETS = {"memory": holds}
with tempfile.TemporaryDirectory() as made:
    worker.blind("memory", Path(made), 20, 0)
    print(len((Path(made) / "found-").read_bytes()) >= 400)
"""
    ended = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ended.stdout == "True\n"
    assert "AssertionError: a long one" in ended.stderr
    assert "stat::number_of_executed_units: " in ended.stderr


def test_the_runner_says_what_guided_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["answer", "--seconds", "1", "--seed", "1"]) == 0
    is_guided = importlib.util.find_spec("atheris") is not None
    guide = " edges" if is_guided else "coverage did not guide it"
    assert f"{guide}, nothing found" in capsys.readouterr().out
