"""What the shell says: machine output to stdout, everything else to stderr; a terminal sees that long work is alive."""

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from verifier.text import visible

_TICK_SECONDS = 1.0


class Refusal(Exception):
    """A command that ends here. The message is for the person who must act; `code` is the exit code (A6)."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


def say(text: str, *, quiet: bool = False) -> None:
    """One line for a person, on stderr."""
    if not quiet and sys.stderr is not None:
        sys.stderr.write(f"verifier: {visible(text.replace(chr(10), ' '))}\n")
        sys.stderr.flush()


def put(text: str) -> None:
    """Machine output, on stdout. Raises Refusal where it cannot be written, BrokenPipeError where nobody reads it."""
    if sys.stdout is None:
        raise Refusal("there is no stdout to write to", 1)
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        drop_stdout()
        raise
    except OSError as error:
        drop_stdout()
        raise Refusal(f"cannot write to stdout: {error.strerror or error}", 1) from None


def drop_stdout() -> None:
    """What is still in the buffer goes nowhere, so that it is not tried again when the process ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def waiting(what: str, *, quiet: bool) -> Iterator[None]:
    """Shows that `what` goes on: elapsed seconds on a terminal, one line at start and one at end in a log."""
    stream = sys.stderr
    started = time.monotonic()
    if quiet:
        yield
        return
    if not stream.isatty():
        say(f"{what} …")
        yield
        say(f"done after {time.monotonic() - started:.1f} s")
        return
    ended = threading.Event()
    ticker = threading.Thread(target=_tick, args=(stream, what, started, ended), daemon=True)
    ticker.start()
    try:
        yield
    finally:
        ended.set()
        ticker.join()
        stream.write("\r\x1b[K")
        stream.flush()


def _tick(stream: TextIO, what: str, started: float, ended: threading.Event) -> None:
    while True:
        stream.write(f"\r\x1b[Kverifier: {visible(what)} … {time.monotonic() - started:.0f} s")
        stream.flush()
        if ended.wait(_TICK_SECONDS):
            return


def read_file(path: Path, what: str, code: int) -> bytes:
    """The bytes of a file that a person named. Raises Refusal where it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise Refusal(f"cannot read the {what} {path}: {error.strerror or error}", code) from None


def write_file(path: Path, text: str) -> None:
    """Writes `text` to `path`, whole or not at all. Raises Refusal where that is impossible."""
    partial = path.with_name(f".{path.name}.part")
    try:
        partial.unlink(missing_ok=True)  # whatever lies there, a link among it, is not written through
        partial.write_bytes(text.encode())
        partial.replace(path)
    except OSError as error:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise Refusal(f"cannot write {path}: {error.strerror or error}", 1) from None
