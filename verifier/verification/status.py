"""New or pre-existing: decided from the hunk and the file at base alone, no reader asked (S9, S10)."""

from verifier.diff import FileDiff, Hunk
from verifier.verification.model import BaseText, Status


def base_lines(text: BaseText) -> frozenset[str] | None:
    """The lines of a file at base without the white space around them; None where its text cannot be had."""
    return frozenset(line.strip() for line in text.split("\n")) if isinstance(text, str) else None


def hunk_status(file: FileDiff, hunk: Hunk, base: frozenset[str] | None) -> Status:
    """Whether every non-blank added line of `hunk` already stands at base (`base_lines` of the old path)."""
    if file.old_path is None:
        return "new"
    added = {line.text.strip() for line in hunk.lines if line.sign == "+"} - {""}
    if not added:
        return "new"
    if base is None:
        return "unknown"
    return "pre-existing" if added <= base else "new"
