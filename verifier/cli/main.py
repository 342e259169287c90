"""The command line. Exit codes as in A6: 0 decided, 1 no valid brief or a refusal, 2 wrong inputs."""

import argparse
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path

from verifier import __version__
from verifier.cli.output import Refusal, say

_VERDICTS = ("wrong", "intentional", "ignored", "useful")
_BENCH_READERS = ("anthropic", "offline")
_SCHEMAS = ("brief", "record", "memory", "config")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns its exit code. Every expected failure is one line on stderr."""
    options = _parser().parse_args(arguments)
    try:
        return _run(options)
    except Refusal as refusal:
        say(str(refusal))
        return refusal.code
    except BrokenPipeError:
        return 1  # the reader of our output has gone; nothing is left to say to it
    except KeyboardInterrupt:
        say("stopped")
        return 130


def console() -> None:
    """The console command. Ends at once: a provider's thread may still wait on its socket (S28)."""
    # Plugins of pydantic are other people's code, and looking for them costs a tenth of a dry run.
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # None where it was closed
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    code = main()
    if "anthropic" in sys.modules:
        os._exit(code)
    sys.exit(code)


def _run(options: argparse.Namespace) -> int:
    match options.command:
        case "verify":
            from verifier.cli.verify import run_verify  # each command loads what it needs, and no more

            return run_verify(options)
        case "feedback":
            from verifier.cli.feedback import run_feedback

            return run_feedback(options)
        case "brief":
            from verifier.cli.feedback import run_self_check

            return run_self_check(options)
        case "bench":
            from verifier.cli.bench import run_bench

            return run_bench(options)
        case _:
            from verifier.cli.schema import run_schema

            return run_schema(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="verifier", description="The second reader for a pull request's review brief.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"verifier {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    verify = commands.add_parser(
        "verify",
        help="verify a brief over a local repository",
        description="Shows every item of a brief to a reader and writes the verified brief and its comment.",
        allow_abbrev=False,
    )
    verify.add_argument("--brief", type=Path, metavar="FILE", help="the brief, as the deterministic tool wrote it")
    verify.add_argument("--repo", type=Path, metavar="DIR", help="the git repository that holds base and head")
    verify.add_argument("--base", metavar="REV", help="the commit that the pull request goes to")
    verify.add_argument("--head", metavar="REV", help="the newest commit of the pull request")
    verify.add_argument("--diff", type=Path, metavar="FILE", help="a unified diff, where there is no repository")
    verify.add_argument("--base-dir", type=Path, metavar="DIR", help="with --diff: the files as they were before it")
    verify.add_argument("--out", type=Path, default=Path("verifier-out"), metavar="DIR", help="default: verifier-out")
    verify.add_argument("--no-llm", action="store_true", help="do not verify; the brief and its comment as they came")
    verify.add_argument(
        "--reader", metavar="NAME", help="anthropic, offline (rules, no key) or replay:FILE; default: llm.provider"
    )
    verify.add_argument("--config", type=Path, metavar="FILE", help="a trial configuration instead of the one at base")
    verify.add_argument("--memory", type=Path, metavar="FILE", help="a trial memory instead of the one at base")
    verify.add_argument("--llm-base-url", metavar="URL", help="where the model answers, if not at its provider")
    verify.add_argument("--quiet", action="store_true", help="say nothing but errors on stderr")

    feedback = commands.add_parser(
        "feedback",
        help="tell the memory what a fact was worth",
        description="Finds a fact by its id and appends one line to the memory.",
        allow_abbrev=False,
    )
    feedback.add_argument("--fact", required=True, metavar="ID", help="the fact's id (see: verifier brief)")
    feedback.add_argument("--verdict", required=True, choices=_VERDICTS)
    feedback.add_argument("--note", default="", metavar="TEXT", help="why, for whoever reads the memory")
    feedback.add_argument("--brief", required=True, type=Path, metavar="FILE", help="before or after the pass")
    feedback.add_argument("--memory", type=Path, metavar="FILE", help="default: .opendrs/facts.jsonl")

    brief = commands.add_parser("brief", help="show the ids of a brief's items", allow_abbrev=False)
    brief.add_argument("--self-check-template", action="store_true", required=True, help="a list of all items to tick")
    brief.add_argument("--brief", required=True, type=Path, metavar="FILE")

    bench = commands.add_parser(
        "bench",
        help="measure a reader on labelled cases",
        description="Asks a reader about labelled cases and counts what its verdicts are worth.",
        allow_abbrev=False,
    )
    bench.add_argument("cases", type=Path, metavar="CASES", help="the directory with the cases (*.toml)")
    bench.add_argument("--reader", choices=_BENCH_READERS, help="default: offline (rules, no key)")
    bench.add_argument(
        "--shuffles", type=int, default=1, metavar="N", help="orders of the blocks to ask in; default: 1"
    )
    bench.add_argument("--config", type=Path, metavar="FILE", help="model, effort, limits and strictDrops")
    bench.add_argument("--llm-base-url", metavar="URL", help="where the model answers, if not at its provider")
    bench.add_argument("--out", type=Path, metavar="DIR", help="for the results; default: beside CASES")
    bench.add_argument("--export", type=Path, metavar="DIR", help="ask nobody: write each request to a file")
    bench.add_argument(
        "--import", dest="replies", type=Path, metavar="DIR", help="score replies beside exported requests"
    )
    bench.add_argument("--name", metavar="NAME", help="with --import: who answered")
    bench.add_argument("--quiet", action="store_true", help="say nothing but errors on stderr")

    schema = commands.add_parser("schema", help="print a JSON Schema", allow_abbrev=False)
    schema.add_argument("what", choices=_SCHEMAS)
    return parser
