"""`verifier verify`: the pass over a local repository, a diff file, or a record of an earlier run."""

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from verifier.brief.document import Brief, NotABrief, read_brief
from verifier.brief.layout import Layout, as_it_came
from verifier.brief.markdown import brief_markdown
from verifier.cli.output import Refusal, put, read_file, say, waiting, write_file
from verifier.comment import comment
from verifier.config import CONFIG_PATHS
from verifier.evidence.files import EvidenceError, open_diff
from verifier.evidence.git import open_repository
from verifier.memory import MEMORY_PATH
from verifier.readers.offline import read_offline
from verifier.readers.replay import replay_reader
from verifier.setting import File, Setting, read_setting
from verifier.verification.application import counts
from verifier.verification.model import (
    Evidence,
    Failed,
    Outcome,
    Question,
    Reader,
    Reply,
    Settings,
    WrongQuestion,
)
from verifier.verification.record import read_record, write_record
from verifier.verification.verify import Case, Verified, conclude, verify

_NO_BRIEF = 1
_WRONG_INPUT = 2


class LocalEvidence(Evidence, Protocol):
    """Evidence that also has the files at the base commit itself, for configuration and memory (S31)."""

    def base_files(self, paths: Sequence[str]) -> Mapping[str, bytes | None]: ...


def run_verify(options: argparse.Namespace) -> int:
    """Runs the pass and writes brief.json, brief.md, comment.md and record.json to `--out`; returns the exit code."""
    _check_options(options)
    recorded = _record(options)
    if recorded is not None and options.brief is None:
        return _finish(options, conclude(*recorded))
    brief = _brief(options.brief)
    if options.no_llm:
        return _finish_off(options, brief, "off: --no-llm")
    evidence = _evidence(options, brief)
    try:
        setting, base_files = _setting(options, evidence)
        if recorded is not None:
            setting = replace(setting, settings=_asked_by(recorded[0].settings, setting.settings))
        if not setting.settings.enabled:
            return _finish_off(options, brief, _why_off(options, setting))
        return _finish(
            options,
            verify(
                brief,
                evidence,
                setting.dismissals,
                setting.settings,
                _reader(options, recorded),
                trouble=setting.trouble,
                base_files=base_files,
            ),
        )
    except EvidenceError as error:
        raise Refusal(str(error), _NO_BRIEF) from None
    except WrongQuestion as error:
        raise Refusal(f"{options.reader}: {error}", _WRONG_INPUT) from None


def _check_options(options: argparse.Namespace) -> None:
    """Raises Refusal with every wrong option at once."""
    wrong: list[str] = []
    reader = options.reader
    if reader not in (None, "anthropic", "offline") and not reader.startswith("replay:"):
        wrong.append(f"--reader {reader}: expected anthropic, offline or replay:FILE")
    replays_alone = reader is not None and reader.startswith("replay:") and options.brief is None
    if options.brief is None and not replays_alone:
        wrong.append("--brief is missing")
    if options.repo is not None and options.diff is not None:
        wrong.append("--repo and --diff exclude each other")
    if options.repo is not None:
        wrong += [f"--{name} is missing: --repo needs it" for name in ("base", "head") if not getattr(options, name)]
    elif options.base or options.head:
        wrong.append("--base and --head need --repo")
    if options.base_dir is not None and options.diff is None:
        wrong.append("--base-dir needs --diff")
    has_evidence = options.repo is not None or options.diff is not None
    if replays_alone and has_evidence:
        wrong.append("--repo and --diff need --brief; a record is replayed without them")
    given = {"--config": options.config, "--memory": options.memory, "--no-llm": options.no_llm}
    if replays_alone and (idle := [name for name, value in given.items() if value]):
        wrong.append(f"{', '.join(idle)}: a record is replayed with its own; with --brief they count")
    if options.brief is not None and _is_same(options.brief, options.out / "brief.json"):
        wrong.append(f"--out {options.out}: the verified brief would take the place of the brief itself")
    if not (has_evidence or replays_alone or options.no_llm):
        wrong.append("name the change: --repo DIR --base REV --head REV, or --diff FILE")
    if wrong:
        raise Refusal("; ".join(wrong), _WRONG_INPUT)


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _brief(path: Path) -> Brief:
    try:
        return read_brief(read_file(path, "brief", _NO_BRIEF))
    except NotABrief as error:
        raise Refusal(f"{path} is not a brief: {error}", _NO_BRIEF) from None


def _record(options: argparse.Namespace) -> tuple[Case, Reply | Failed | None] | None:
    if options.reader is None or not options.reader.startswith("replay:"):
        return None
    path = Path(options.reader.removeprefix("replay:"))
    try:
        return read_record(read_file(path, "record", _WRONG_INPUT))
    except WrongQuestion as error:
        raise Refusal(f"{path}: {error}", _WRONG_INPUT) from None


def _evidence(options: argparse.Namespace, brief: Brief) -> LocalEvidence:
    try:
        if options.diff is not None:
            return open_diff(options.diff, options.base_dir)
        repository = open_repository(options.repo, options.base, options.head)
    except EvidenceError as error:
        raise Refusal(str(error), _WRONG_INPUT) from None
    if brief.model.head not in (None, repository.head):
        raise Refusal(
            f"{options.brief} is for head {brief.model.head}, and --head {options.head} is {repository.head}: "
            "make the brief again, or name its head",
            _WRONG_INPUT,
        )
    return repository


def _setting(options: argparse.Namespace, evidence: LocalEvidence) -> tuple[Setting, tuple[str, ...]]:
    """Configuration and memory, and the paths of those read at base; a trial file stands in for either."""
    at_base = evidence.base_files([*CONFIG_PATHS, MEMORY_PATH])
    base_files: list[str] = []
    if options.config is not None:
        config = File(str(options.config), read_file(options.config, "configuration", _WRONG_INPUT))
    else:
        found = next((path for path in CONFIG_PATHS if at_base.get(path) is not None), CONFIG_PATHS[0])
        config = File(found, at_base.get(found))
        base_files += CONFIG_PATHS
    if options.memory is not None:
        memory = File(str(options.memory), read_file(options.memory, "memory", _WRONG_INPUT))
    else:
        memory = File(MEMORY_PATH, at_base.get(MEMORY_PATH))
        base_files.append(MEMORY_PATH)
    setting = read_setting(config, memory)
    for warning in setting.warnings:
        say(f"warning: {warning}", quiet=options.quiet)
    if options.reader in ("anthropic", "offline"):
        setting = replace(setting, settings=replace(setting.settings, provider=options.reader))
    settings = setting.settings
    if settings.enabled and setting.trouble is None and settings.provider == "anthropic" and _key():
        from verifier.readers.anthropic import warm  # S38: only where a call is likely

        warm()
    return setting, tuple(base_files)


def _asked_by(recorded: Settings, now: Settings) -> Settings:
    """The settings of now, but who was asked as the record has it: a replay tells what its run told."""
    return replace(now, provider=recorded.provider, model=recorded.model)


def _key() -> str:
    return os.environ.get("ANTHROPIC_API_KEY", "")


def _reader(options: argparse.Namespace, recorded: tuple[Case, Reply | Failed | None] | None) -> Reader:
    if recorded is not None:
        return replay_reader(*recorded)
    key = _key()

    def read(question: Question) -> Reply:
        if question.settings.provider == "offline":
            return read_offline(question)
        from verifier.readers.anthropic import anthropic_reader

        ask = anthropic_reader(key, options.llm_base_url)
        with waiting(f"asking {question.settings.model} about {_items(question.prompt.blocks)}", quiet=options.quiet):
            return ask(question)

    return read


def _why_off(options: argparse.Namespace, setting: Setting) -> str:
    return f"off: {setting.off}" + ("" if options.config else " (a trial file switches it on, too: --config)")


def _finish(options: argparse.Namespace, verified: Verified) -> int:
    outcome = verified.outcome
    _write(options, verified.case.brief, verified.layout, outcome, verified.document, write_record(verified))
    reason = f" ({outcome.reason})" if outcome.reason else ""
    quiet = options.quiet and outcome.status != "failed"
    say(f"{outcome.status}{reason}: {_counts(outcome)}; written to {options.out}/", quiet=quiet)
    return 0


def _finish_off(options: argparse.Namespace, brief: Brief, why: str) -> int:
    _write(options, brief, as_it_came(brief), None, brief.source, None)
    say(f"{why}; the brief as it came is in {options.out}/", quiet=options.quiet)
    return 0


def _write(
    options: argparse.Namespace,
    brief: Brief,
    layout: Layout,
    outcome: Outcome | None,
    document: str,
    record: str | None,
) -> None:
    out: Path = options.out
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refusal(f"cannot make the directory {out}: {error.strerror or error}", _WRONG_INPUT) from None
    shown = comment(brief, layout, outcome)
    write_file(out / "brief.json", document)
    write_file(out / "brief.md", brief_markdown(brief, layout))
    write_file(out / "comment.md", shown)
    if record is None:
        (out / "record.json").unlink(missing_ok=True)  # one of an earlier run would tell of another
    else:
        write_file(out / "record.json", record)
    put(shown)


def _counts(outcome: Outcome) -> str:
    parts = [f"{number} {word}" for word, number in counts(outcome).items() if number]
    usage = f"; {outcome.usage.input}+{outcome.usage.output} tokens" if outcome.usage else ""
    return f"{', '.join(parts) or 'no items'}{usage}"


def _items(count: int) -> str:
    return "1 item" if count == 1 else f"{count} items"
