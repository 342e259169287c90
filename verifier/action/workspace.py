"""A brief that lies in the workspace, which holds the pull request's own files: read, and nothing else (A1, A9)."""

import os
import stat
from pathlib import Path
from typing import Final

from verifier.action.artifact import BadArtifact, NoBriefFound

_BRIEF_LIMIT: Final = 20_000_000


def workspace_file(workspace: Path, path: str) -> bytes:
    """A file of the workspace; no link leads out of it. Raises NoBriefFound, BadArtifact."""
    try:
        file = (workspace / path).resolve()
        if not file.is_relative_to(workspace.resolve()):
            raise NoBriefFound(f"brief-path {path} leads out of the workspace")
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as opened:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise NoBriefFound(f"brief-path {path} is not a file")
            data = opened.read(_BRIEF_LIMIT + 1)
    except (OSError, RuntimeError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "no such place"
        raise NoBriefFound(f"brief-path {path} cannot be read: {why}") from None
    if len(data) > _BRIEF_LIMIT:
        raise BadArtifact(f"{path} has more than {_BRIEF_LIMIT:,} bytes")
    return data
