"""Generated: what only a tool writes, or a lockfile's step (S14)."""

import re
from collections.abc import Sequence
from typing import Final

from verifier.diff import FileDiff, Hunk
from verifier.verification.classes.lines import parts_of, pieces_of, runs_of, stripped
from verifier.verification.lockfiles import is_bump, is_lockfile

_GENERATED_NAME: Final = re.compile(
    r".+\.pb\.go|.+_pb2(?:_grpc)?\.pyi?|.+\.(?:g|freezed)\.dart|.+\.generated\.\w+|zz_generated.+"
)
_GENERATED_MARK: Final = re.compile(
    r"\s*(?://|#|/?\*{1,2}|--|<!--) ?(?:.{0,80}@generated\b|Code generated .{0,200}DO NOT EDIT"
    r"|This file (?:is|was) auto(?:matically |-)generated)"
)
_BY_HAND: Final = re.compile(r"hack|todo|fixme|manual|by hand|patched|workaround|hotfix|temporar")
# what only a tool writes: stamps of its version (a digest may hide that the file is stale), serialised descriptors
_STAMP: Final = re.compile(r"(?://|#|\*)\s+(?:- )?(?:protoc[\w-]*\s+\(?v?[0-9.]+\)?|Protobuf Python Version: [0-9.]+)")
_SERIAL: Final = {
    "pb.go": re.compile(
        r"(?:0x[0-9a-f]{2}, ?)*0x[0-9a-f]{2},?|\"(?=[^\\]{0,80}\\)(?:\\[xnrt\"\\]|[\w .*/;:!-])*\" ?\+?"
    ),
    "_pb2.py": re.compile(
        r"DESCRIPTOR = _descriptor_pool\.Default\(\)\.AddSerializedFile\(b'(?:[^'\\]|\\.)*'\)"
        r"|_globals\['\w+'\]\._serialized_(?:start|end)=[0-9]+|_\w+\._serialized_(?:start|end)=[0-9]+"
    ),
}
# declarations that do nothing by themselves; they may come, never go or change
_MEMBER: Final = {
    "pb.go": re.compile(r"[A-Z]\w*\s+[\w.*\[\]]+\s+`protobuf:\"[\w,=.]+\" json:\"[\w,]+\"`"),
    "_pb2.pyi": re.compile(r"[A-Z0-9_]+_FIELD_NUMBER: _?ClassVar\[int\]|\w+: [\w.\[\], ]+"),
}
_GETTERS: Final = re.compile(
    r"(?: ?func \(x \*\w+\) Get(\w+)\(\) [\w.*\[\]]+ \{ if x != nil \{ return x\.\1 \} return [\w\"]+ \})+"
)


def shows_generated(file: FileDiff, hunks: Sequence[Hunk]) -> str | None:
    """A tool's stamps, or a lockfile's step: why, None where it is not proven."""
    path = parts_of(file.new_path or "")
    if file.old_path != file.new_path:
        return None
    if is_lockfile(path.name):
        bump = is_bump(path.name, map(pieces_of, hunks))
        return "Versions rise within their major, from the same sources." if bump else None
    lines = [line for hunk in hunks for line in hunk.lines]
    named = _GENERATED_NAME.fullmatch(path.name) or "__generated__" in path.folders
    if not named and not any(line.sign == " " and _GENERATED_MARK.match(line.text) for line in lines):
        return None
    if any(_BY_HAND.search(line.text.lower()) for line in lines):
        return None
    # the mark says who wrote the file, not who wrote the change: each line must have the form that the tool gives it
    for run in (run for hunk in hunks for run in runs_of(hunk)):
        if path.name.endswith(".pb.go") and not run.removed and _GETTERS.fullmatch(" ".join(stripped(run.added))):
            continue
        gone, come = ({_tool_made(text, path.name) for text in stripped(side)} for side in run[:2])
        if not come or None in come or gone - come:
            return None
    return "A generated file, and each changed line has the form that only its tool writes."


def _tool_made(body: str, name: str) -> str | None:
    """What a line is that only a generator writes: a stamp, serialised bytes, a declaration. None for any other."""
    if _STAMP.fullmatch(body):
        return "stamp " + re.sub(r"[0-9a-f.]+", "", body)
    for end, form in _SERIAL.items():
        if name.endswith(end) and form.fullmatch(body):
            return "serial"
    declares = any(name.endswith(end) and form.fullmatch(body) for end, form in _MEMBER.items())
    return " ".join(body.split()) if declares else None
