"""`verifier bench`: a reader's verdicts on labelled cases; asked here, or by somebody else elsewhere."""

import argparse
import json
import os
import re
import shlex
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from verifier.bench.cases import BadCase, Case, read_case
from verifier.bench.report import Asked, results_json, results_markdown
from verifier.bench.requests import Request, make_requests, request_key
from verifier.bench.scoring import score
from verifier.cli.output import Refusal, put, read_file, say, waiting, write_file
from verifier.cli.replies import Replies, kept_replies
from verifier.config import BadConfig, read_config
from verifier.readers.offline import read_offline
from verifier.text import digest, one_line
from verifier.verification.model import Failed, Question, Reader, Reply, Settings
from verifier.verification.prompt import PROMPT_HASH, estimated_tokens
from verifier.verification.verify import answer_to

_FAILED: Final = 1
_WRONG_INPUT: Final = 2
_NAME: Final = re.compile(r"(?!anthropic|offline)[a-z0-9][a-z0-9._-]{0,59}", re.IGNORECASE)
_FILE_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_MOST_SHUFFLES: Final = 100
_MOST_BYTES: Final = 8_000_000  # of a case or a reply: what the reader of a model takes, too
_TOLD: Final = 20

Answers = Iterable[tuple[Request, Reply | Failed]]


def run_bench(options: argparse.Namespace) -> int:
    """Asks a reader about every case and writes the results to `--out`; or exports, or imports. Returns the code."""
    _check_options(options)
    options.out = options.out or options.cases.parent
    settings = _settings(options)
    requests = make_requests(_cases(options.cases), options.shuffles)
    if options.export is not None:
        return _export(options, requests)
    if options.replies is not None:
        sentence = "Answered elsewhere; the name was given by who imported the replies, and nothing here proves it."
        return _finish(
            options, Asked(options.name, sentence, _command(options), settings), _imported(options, requests)
        )
    if options.reader != "anthropic":
        sentence = "The offline reader: the class rules alone, no model was asked."
        answers = [(request, read_offline(request.question(settings))) for request in requests]
        return _finish(options, Asked("offline", sentence, _command(options), settings), answers)
    return _ask(options, settings, requests)


def _check_options(options: argparse.Namespace) -> None:
    wrong: list[str] = []
    if not 1 <= options.shuffles <= _MOST_SHUFFLES:
        wrong.append(f"--shuffles {options.shuffles}: expected 1 to {_MOST_SHUFFLES} orders")
    ways = {"--export": options.export, "--import": options.replies, "--reader": options.reader}
    if len(given := [name for name, value in ways.items() if value is not None]) > 1:
        wrong.append(f"{' and '.join(given)} exclude each other")
    if (options.replies is None) != (options.name is None):
        wrong.append("--import and --name belong together: the name says who answered")
    if options.name is not None and not _NAME.fullmatch(options.name):
        wrong.append("--name: letters, digits, '.', '_' and '-', at most 60, and not the name of a reader")
    if options.llm_base_url is not None and options.reader != "anthropic":
        wrong.append("--llm-base-url needs --reader anthropic")
    if wrong:
        raise Refusal("; ".join(wrong), _WRONG_INPUT)


def _settings(options: argparse.Namespace) -> Settings:
    """The settings of `--config`. What a run of the pass would warn of is refused: here it would be paid for."""
    if options.config is None:
        return Settings()
    try:
        configured = read_config(read_file(options.config, "configuration", _WRONG_INPUT), str(options.config))
    except BadConfig as error:
        raise Refusal(f"configuration: {error}", _WRONG_INPUT) from None
    if configured.warnings:
        raise Refusal(f"configuration: {'; '.join(configured.warnings)}", _WRONG_INPUT)
    return configured.settings


def _cases(root: Path) -> tuple[Case, ...]:
    """Every case under `root`. Raises Refusal with all that is wrong at once."""
    if not root.is_dir():
        raise Refusal(f"{root} is no directory: name one that holds cases (*.toml)", _WRONG_INPUT)
    found: list[Case] = []
    wrong: list[str] = []
    for path in _case_files(root, wrong):
        try:
            name = path.relative_to(root).with_suffix("").as_posix()
            if not name.isprintable():
                raise BadCase("its name holds what cannot be printed: rename it")
            found.append(read_case(name, _plain_file(path)))
        except BadCase as error:
            wrong.append(f"{path}: {error}")
    if wrong:
        more = f"; and {len(wrong) - _TOLD:,} more" if len(wrong) > _TOLD else ""
        raise Refusal("; ".join(wrong[:_TOLD]) + more, _WRONG_INPUT)
    if not found:
        raise Refusal(f"there is no case (*.toml) under {root}", _WRONG_INPUT)
    return tuple(found)


def _case_files(root: Path, wrong: list[str]) -> list[Path]:
    """The files below `root`; a directory that cannot be read is told in `wrong`."""

    def tell(error: OSError) -> None:
        wrong.append(f"{error.filename}: cannot be read ({error.strerror or error})")

    walked = os.walk(root, onerror=tell)
    return sorted(Path(folder) / name for folder, _, names in walked for name in names if name.endswith(".toml"))


def _plain_file(path: Path) -> bytes:
    """The bytes of a file that is one, and no larger than any that is meant. Raises BadCase."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise BadCase("it must be a plain file")
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise BadCase(f"cannot be read ({error.strerror or error})") from None
    if len(data) > _MOST_BYTES:
        raise BadCase(f"it must be a file of at most {_MOST_BYTES:,} bytes")
    return data


def _ask(options: argparse.Namespace, settings: Settings, requests: Sequence[Request]) -> int:
    """Asks a model for what is not answered yet, and keeps each reply at once."""
    too_long = max(estimated_tokens(request.prompt) for request in requests)
    if too_long > settings.max_tokens:
        limit = f"llm.verify.maxTokens ({settings.max_tokens})"
        raise Refusal(f"a request has {too_long} tokens, more than {limit}: raise it with --config", _WRONG_INPUT)
    model = settings.model if _FILE_NAME.fullmatch(settings.model) else f"model-{digest(settings.model, 8)}"
    name = f"anthropic-{model}-{settings.effort}{'-strict' if settings.strict_drops else ''}"
    where = f" at {options.llm_base_url}" if options.llm_base_url else ""
    sentence = f"{settings.model} at effort {settings.effort} was asked{where}, one call a request."
    asked_of = f"{settings.model} {settings.effort}{where}"
    path = options.out / f"results-anthropic-{model}-{settings.effort}-{PROMPT_HASH}.replies.jsonl"
    with kept_replies(path) as replies:
        answers = list(_each_once(requests, _reader(options), settings, asked_of, replies, quiet=options.quiet))
    silent = sum(isinstance(answer, Failed) for _, answer in answers)
    if silent:
        say(f"{silent} of the answers decided nothing; they are kept, too: remove their lines in {path} to ask again")
    return _finish(options, Asked(name, sentence, _command(options), settings), answers)


def _reader(options: argparse.Namespace) -> Reader:
    """A reader that asks for the key with its first question: where all is kept none is needed."""
    key = os.environ.get("ANTHROPIC_API_KEY", "")  # a call takes it out of the environment

    def read(question: Question) -> Reply:
        from verifier.readers.anthropic import anthropic_reader

        return anthropic_reader(key, options.llm_base_url)(question)

    return read


def _each_once(
    requests: Sequence[Request], read: Reader, settings: Settings, asked_of: str, replies: Replies, *, quiet: bool
) -> Iterator[tuple[Request, Reply | Failed]]:
    """Each request with its answer; one that is kept is not asked for again, and each new one is kept at once.

    Raises Refusal at the first call that gave nothing and told of no tokens: the next run goes on from there.
    """
    keys = [request_key(request, asked_of) for request in requests]
    unasked = [request for request, key in zip(requests, keys, strict=True) if key not in replies.found]
    if unasked:
        answered = f"{len(requests) - len(unasked)} of {len(requests)} requests are answered in {replies.path}"
        tokens = sum(estimated_tokens(request.prompt) for request in unasked)
        say(f"{answered}; {len(unasked)} to ask, about {tokens} tokens of input", quiet=quiet)
    started, done = time.monotonic(), 0
    for at, (request, key) in enumerate(zip(requests, keys, strict=True), 1):
        if key not in replies.found:
            each = (time.monotonic() - started) / done if done else None
            time_left = "" if each is None else f", about {each * (len(unasked) - done):.0f} s left"
            blocks = f"{request.prompt.blocks} block{'s' if request.prompt.blocks > 1 else ''}"
            with waiting(f"request {at} of {len(requests)} ({blocks}{time_left})", quiet=quiet):
                answer = answer_to(request.question(settings), read)
            if isinstance(answer, Failed) and answer.usage is None:
                raise Refusal(
                    f"request {at} of {len(requests)}: {answer.reason}; what was answered is kept in {replies.path}, "
                    "and the same command goes on from there",
                    _FAILED,
                )
            replies.keep(key, answer)
            done += 1
        yield request, replies.found[key]


def _export(options: argparse.Namespace, requests: Sequence[Request]) -> int:
    """Writes each request to a file, into a directory without any reply: those there would be to other requests."""
    directory: Path = options.export
    _make_directory(directory)
    if there := sorted(path.name for path in directory.glob("*.re*.json")):
        raise Refusal(f"{directory} holds {there[0]}: export into an empty directory", _WRONG_INPUT)
    for request in requests:
        write_file(directory / _request_name(request), _request_document(request))
    options.export, options.replies, options.name = None, directory, "WHO"
    say(
        f"{len(requests)} requests written to {directory}/; put each reply, its JSON alone, beside its request as "
        f"{_reply_name(requests[0])} and so on, then: {_command(options)}",
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


def _imported(options: argparse.Namespace, requests: Sequence[Request]) -> Answers:
    """Each request with the reply that lies beside it. Raises Refusal where what was exported is another question."""
    directory: Path = options.replies
    changed = f"prompt {PROMPT_HASH}: prompt, cases or --shuffles are others; export anew, and ask anew"
    expected = {_request_name(request) for request in requests}
    if more := sorted(path.name for path in directory.glob("*.request.json") if path.name not in expected):
        raise Refusal(f"{directory / more[0]} is not what is asked now ({changed})", _WRONG_INPUT)
    answers: list[tuple[Request, Reply | Failed]] = []
    for request in requests:
        path = directory / _request_name(request)
        if read_file(path, "exported request", _WRONG_INPUT) != _request_document(request).encode():
            raise Refusal(f"{path} is not what is asked now ({changed})", _WRONG_INPUT)
        answers.append((request, _reply(directory / _reply_name(request), options.name)))
    if all(isinstance(answer, Failed) for _, answer in answers):
        where = f"each goes into a file such as {_reply_name(requests[0])}"
        raise Refusal(f"there is no reply in {directory}: {where}", _WRONG_INPUT)
    return answers


def _reply(path: Path, name: str) -> Reply | Failed:
    if not path.exists():
        return Failed(f"there is no {path.name}")
    try:
        return Reply(_plain_file(path).decode("utf-8-sig", "replace"), name, None)
    except BadCase as error:
        raise Refusal(f"{path}: {error}", _WRONG_INPUT) from None


def _finish(options: argparse.Namespace, asked: Asked, answers: Answers) -> int:
    scored = [score(request, answer, strict=asked.settings.strict_drops) for request, answer in answers]
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
    """The command that makes these results, on one line: it stands in them."""
    words = ["verifier", "bench", str(options.cases)]
    if options.replies is not None:
        words += ["--import", str(options.replies), "--name", options.name]
    else:
        words += ["--reader", options.reader or "offline"]
    if options.llm_base_url is not None:
        words += ["--llm-base-url", options.llm_base_url]
    if options.shuffles != 1:
        words += ["--shuffles", str(options.shuffles)]
    if options.config is not None:
        words += ["--config", str(options.config)]
    return one_line(shlex.join(words))
