"""A brief that lies in the workspace, which holds the pull request's own files: read, and nothing else (A1, A9)."""

import os
import stat
from pathlib import Path

from verifier.action.artifact import BRIEF_LIMIT, BadArtifact, NoBriefFound


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
            data = opened.read(BRIEF_LIMIT + 1)
    except (OSError, RuntimeError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "no such place"
        raise NoBriefFound(f"brief-path {path} cannot be read: {why}") from None
    if len(data) > BRIEF_LIMIT:
        raise BadArtifact(f"{path} has more than {BRIEF_LIMIT:,} bytes")
    return data
