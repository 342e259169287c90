"""`verifier bench`: a reader's verdicts on labelled cases; asked here, or by somebody else elsewhere."""

import argparse
import json
import os
import re
import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from verifier.bench.cases import BadCase, Case, read_case
from verifier.bench.report import Asked, results_json, results_markdown
from verifier.bench.requests import Request, make_requests, request_key
from verifier.bench.scoring import Answered, score
from verifier.cli.output import Refusal, append_line, put, read_file, say, waiting, write_file
from verifier.config import BadConfig, read_config
from verifier.readers.offline import read_offline
from verifier.verification.model import Failed, ReaderError, Reply, Settings
from verifier.verification.prompt import PROMPT_HASH, estimated_tokens

_FAILED: Final = 1
_WRONG_INPUT: Final = 2
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
_MOST_SHUFFLES: Final = 100

Ask = Callable[[Request], Reply | Failed]


def run_bench(options: argparse.Namespace) -> int:
    """Asks a reader about every case and writes the results to `--out`; or exports, or imports. Returns the code."""
    _check_options(options)
    settings = _settings(options)
    requests = make_requests(_cases(options.cases), options.shuffles)
    if options.export is not None:
        return _export(options, requests)
    if options.replies is not None:
        return _finish(options, _imported(options, settings), _read_replies(options, requests), settings)
    if options.reader == "offline":
        sentence = "The offline reader: the class rules alone, no model was asked."
        asked = Asked("offline", sentence, _command(options), settings)
        return _finish(
            options, asked, ((request, read_offline(request.question(settings))) for request in requests), settings
        )
    return _finish(options, *_asked_of_model(options, settings, requests), settings)


def _check_options(options: argparse.Namespace) -> None:
    wrong: list[str] = []
    if not 1 <= options.shuffles <= _MOST_SHUFFLES:
        wrong.append(f"--shuffles {options.shuffles}: expected 1 to {_MOST_SHUFFLES} orders")
    if options.export is not None and options.replies is not None:
        wrong.append("--export and --import exclude each other")
    if (options.replies is None) != (options.name is None):
        wrong.append("--import and --name belong together: the name says who answered")
    if options.name is not None and (not _NAME.fullmatch(options.name) or options.name in ("offline", "anthropic")):
        wrong.append("--name: letters, digits, '.', '_' and '-', at most 60, and not the name of a reader")
    if wrong:
        raise Refusal("; ".join(wrong), _WRONG_INPUT)


def _settings(options: argparse.Namespace) -> Settings:
    if options.config is None:
        return Settings()
    try:
        configured = read_config(read_file(options.config, "configuration", _WRONG_INPUT), str(options.config))
    except BadConfig as error:
        raise Refusal(f"configuration: {error}", _WRONG_INPUT) from None
    for warning in configured.warnings:
        say(f"warning: {warning}", quiet=options.quiet)
    return configured.settings


def _cases(root: Path) -> tuple[Case, ...]:
    """Every case under `root`. Raises Refusal with all that is wrong at once."""
    if not root.is_dir():
        raise Refusal(f"{root} is no directory: name one that holds cases (*.toml)", _WRONG_INPUT)
    found: list[Case] = []
    wrong: list[str] = []
    for path in sorted(root.rglob("*.toml")):
        try:
            name = path.relative_to(root).with_suffix("").as_posix()
            found.append(read_case(name, read_file(path, "case", _WRONG_INPUT)))
        except BadCase as error:
            wrong.append(f"{path}: {error}")
    if wrong:
        raise Refusal("; ".join(wrong), _WRONG_INPUT)
    if not found:
        raise Refusal(f"there is no case (*.toml) under {root}", _WRONG_INPUT)
    return tuple(found)


def _asked_of_model(
    options: argparse.Namespace, settings: Settings, requests: Sequence[Request]
) -> tuple[Asked, Iterator[tuple[Request, Reply | Failed]]]:
    from verifier.readers.anthropic import anthropic_reader

    name = f"anthropic-{re.sub(r'[^A-Za-z0-9._-]', '_', settings.model)[:100]}"
    sentence = f"{settings.model} at effort {settings.effort}, one call a request."
    asked = Asked(name, sentence, _command(options), settings)
    read = anthropic_reader(os.environ.get("ANTHROPIC_API_KEY", ""), options.llm_base_url)
    too_long = [request for request in requests if estimated_tokens(request.prompt) > settings.max_tokens]
    if too_long:
        tokens = max(estimated_tokens(request.prompt) for request in too_long)
        limit = f"llm.verify.maxTokens ({settings.max_tokens})"
        raise Refusal(f"a request has {tokens} tokens, more than {limit}: raise it with --config", _WRONG_INPUT)

    def ask(request: Request) -> Reply | Failed:
        try:
            return read(request.question(settings))
        except ReaderError as error:
            return error.failed

    kept = options.out / f"results-{name}-{PROMPT_HASH}.replies.jsonl"
    return asked, _each_once(requests, ask, kept, f"{settings.model} {settings.effort}", quiet=options.quiet)


def _each_once(
    requests: Sequence[Request], ask: Ask, path: Path, asked_of: str, *, quiet: bool
) -> Iterator[tuple[Request, Reply | Failed]]:
    """Each request with its answer. What is kept in `path` is not asked again; each new answer is kept at once.

    Raises Refusal at the first call that gave nothing and told of no tokens: the next run goes on from there.
    """
    kept = _kept(path)
    unasked = [request for request in requests if request_key(request, asked_of) not in kept]
    if unasked:
        answered = f"{len(requests) - len(unasked)} of {len(requests)} requests are answered in {path}"
        tokens = sum(estimated_tokens(request.prompt) for request in unasked)
        say(f"{answered}; {len(unasked)} to ask, about {tokens} tokens of input", quiet=quiet)
    started, done = time.monotonic(), 0
    for at, request in enumerate(requests, 1):
        key = request_key(request, asked_of)
        if key not in kept:
            each = (time.monotonic() - started) / done if done else None
            time_left = "" if each is None else f", about {each * (len(unasked) - done):.0f} s left"
            with waiting(f"request {at} of {len(requests)} ({request.prompt.blocks} blocks{time_left})", quiet=quiet):
                answer = ask(request)
            if isinstance(answer, Failed) and answer.usage is None:
                raise Refusal(
                    f"request {at} of {len(requests)}: {answer.reason}; what was answered is kept in {path}, "
                    "and the same command goes on from there",
                    _FAILED,
                )
            _keep(path, key, answer)
            kept[key] = answer
            done += 1
        yield request, kept[key]


def _kept(path: Path) -> dict[str, Reply | Failed]:
    """The answers of earlier runs, by key. What a stopped run left unfinished at the end is told, and taken away."""
    if not path.exists():
        return {}
    whole, _, torn = read_file(path, "kept replies", _WRONG_INPUT).rpartition(b"\n")
    if torn:
        say(f"warning: {path}: the last line was not finished when an earlier run ended; it is taken away")
        write_file(path, f"{whole.decode('utf-8', 'replace')}\n" if whole else "")
    kept: dict[str, Reply | Failed] = {}
    for number, line in enumerate(whole.split(b"\n") if whole else (), 1):
        try:
            one = _Kept.model_validate_json(line, strict=True)
        except ValidationError:
            wrong = f"{path}, line {number}: not a kept reply; remove that line and run again"
            raise Refusal(wrong, _WRONG_INPUT) from None
        kept[one.key] = one.answer
    return kept


class _Kept(BaseModel):
    """One line of the kept replies: what was asked, by its key, and the answer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    answer: Reply | Failed


def _keep(path: Path, key: str, answer: Reply | Failed) -> None:
    """Appends one answer, on disk before anything else is asked: what was paid for is not lost."""
    append_line(path, _Kept(key=key, answer=answer).model_dump_json().encode())


def _export(options: argparse.Namespace, requests: Sequence[Request]) -> int:
    directory: Path = options.export
    _make_directory(directory)
    for request in requests:
        write_file(directory / _request_name(request), _request_document(request))
    say(
        f"{len(requests)} requests written to {directory}/; put each reply, as it came, beside its request as "
        f"{_reply_name(requests[0])} and so on, then import them: --import {directory} --name WHO",
        quiet=options.quiet,
    )
    return 0


def _request_document(request: Request) -> str:
    prompt = request.prompt
    document = {
        "promptHash": prompt.hash,
        "system": prompt.system,
        "schema": json.loads(prompt.schema),
        "message": prompt.message,
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _request_name(request: Request) -> str:
    return f"{request.name}.request.json"


def _reply_name(request: Request) -> str:
    return f"{request.name}.reply.json"


def _imported(options: argparse.Namespace, settings: Settings) -> Asked:
    sentence = "Answered elsewhere; the name was given by who imported the replies, and nothing here proves it."
    return Asked(options.name, sentence, _command(options), settings)


def _read_replies(options: argparse.Namespace, requests: Sequence[Request]) -> Iterable[tuple[Request, Reply | Failed]]:
    """Each request with the reply that lies beside it. Raises Refusal where what was exported is another question."""
    directory: Path = options.replies
    answers: list[tuple[Request, Reply | Failed]] = []
    for request in requests:
        exported = read_file(directory / _request_name(request), "exported request", _WRONG_INPUT)
        if exported != _request_document(request).encode():
            raise Refusal(
                f"{directory / _request_name(request)} is not what is asked now (prompt {PROMPT_HASH}): prompt, cases "
                "or --shuffles have changed since; export again",
                _WRONG_INPUT,
            )
        path = directory / _reply_name(request)
        if path.exists():
            text = read_file(path, "reply", _WRONG_INPUT).decode("utf-8", "replace")
            answers.append((request, Reply(text, options.name, None)))
        else:
            answers.append((request, Failed(f"there is no {path.name}")))
    if all(isinstance(answer, Failed) for _, answer in answers):
        raise Refusal(
            f"there is no reply in {directory}: each goes into a file such as {_reply_name(requests[0])}", _WRONG_INPUT
        )
    return answers


def _finish(
    options: argparse.Namespace,
    asked: Asked,
    answers: Iterable[tuple[Request, Reply | Failed]],
    settings: Settings,
) -> int:
    scored: list[Answered] = [score(request, answer, strict=settings.strict_drops) for request, answer in answers]
    out: Path = options.out
    _make_directory(out)
    stem = f"results-{asked.name}-{PROMPT_HASH}"
    results = results_markdown(asked, scored)
    write_file(out / f"{stem}.md", results)
    write_file(out / f"{stem}.json", results_json(asked, scored))
    put(results)
    say(f"written to {out / stem}.md and .json", quiet=options.quiet)
    return 0


def _make_directory(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refusal(f"cannot make the directory {path}: {error.strerror or error}", _WRONG_INPUT) from None


def _command(options: argparse.Namespace) -> str:
    """The command that makes these results, in its plainest words: it stands in them."""
    words = ["verifier", "bench", str(options.cases)]
    if options.replies is not None:
        words += ["--import", str(options.replies), "--name", options.name]
    else:
        words += ["--reader", options.reader]
    if options.shuffles != 1:
        words += ["--shuffles", str(options.shuffles)]
    if options.config is not None:
        words += ["--config", str(options.config)]
    return shlex.join(words)
