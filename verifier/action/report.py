"""What the Action says: log lines, one annotation, outputs, the job summary, files (A1, A5, A6, A8, A9)."""

import os
import secrets
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

from verifier.text import one_line

SUMMARY_LIMIT: Final = 900_000  # bytes; GitHub drops a step's whole summary at 1 MiB
_LINE_LIMIT: Final = 4_000

Level = Literal["notice", "warning", "error"]


def log(text: str) -> None:
    """One line in the job's log, where nothing in it is a workflow command (A8)."""
    _write(f"verifier: {quiet(text)}\n")


def annotate(level: Level, text: str) -> None:
    """The one annotation of a run: what it did, or what to do."""
    data = quiet(text).replace("%", "%25")
    _write(f"::{level}::{data}\n")


def mask(secret: str) -> None:
    """Hides a secret, each line of it, and what is sent of it, in all that follows in the log (A9)."""
    lines = secret.splitlines()
    for line in {secret, secret.strip(), *lines, *(line.strip() for line in lines)}:
        if line.strip():
            escaped = line.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
            _write(f"::add-mask::{escaped}\n")


def quiet(text: str) -> str:
    """`text` as one log line that commands nothing, in the old form or the new."""
    return one_line(text, _LINE_LIMIT).replace("##[", "##\u200b[").replace("::", ":\u200b:")


def write_outputs(path: str, outputs: Mapping[str, str]) -> None:
    """The outputs, in the runner's file grammar; no value can end its own block. Raises OSError."""
    if not path:
        return
    text = ""
    for name, value in outputs.items():
        fence = f"verifier-{secrets.token_hex(16)}"
        text += f"{name}<<{fence}\n{one_line(value)}\n{fence}\n"
    _append(Path(path), text.encode())


def write_summary(path: str, text: str) -> None:
    """The job summary, appended, cut at a line end where it would be too long. Raises OSError."""
    if not path:
        return
    file = Path(path)
    room = SUMMARY_LIMIT - (file.stat().st_size if file.exists() else 0)
    data = f"{text}\n".encode()
    if len(data) > room:
        last = "\n\nThe summary was cut here; the whole brief is in the file that the output `brief` names.\n"
        kept = data[: max(room - len(last.encode()), 0)]
        data = kept[: kept.rfind(b"\n") + 1] + last.encode() if room > len(last) else b""
    _append(file, data)


def write_result(directory: Path, name: str, text: str) -> None:
    """A result file. `directory` lies in the workspace, which holds the pull request's files: no link is followed.

    Raises OSError.
    """
    is_new = not directory.exists()
    directory.mkdir(exist_ok=True)
    folder = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    owner = directory.parent.stat()
    try:
        if is_new:
            _give(folder, owner)
        partial = f".{name}.{secrets.token_hex(8)}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with os.fdopen(os.open(partial, flags, 0o644, dir_fd=folder), "wb") as file:
            _give(file.fileno(), owner)
            file.write(text.encode())
        try:
            os.replace(partial, name, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError:
            os.unlink(partial, dir_fd=folder)
            raise
    finally:
        os.close(folder)


def _give(file: int, owner: os.stat_result) -> None:
    """To whom the workspace belongs: a container's root leaves nothing that a later job could not clean up."""
    with suppress(PermissionError):
        os.fchown(file, owner.st_uid, owner.st_gid)


def _append(file: Path, data: bytes) -> None:
    with file.open("ab") as opened:
        opened.write(data)


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
