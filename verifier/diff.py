"""What a unified diff is: files, hunks, lines. Reads git's own form and plain `diff -u`; text in, frozen data out."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, NamedTuple

Sign = Literal[" ", "+", "-", "\\"]

_HUNK: Final = re.compile(r"@@ -([0-9]{1,9})(?:,([0-9]{1,9}))? \+([0-9]{1,9})(?:,([0-9]{1,9}))? @@")
_EXTENDED: Final = re.compile(
    r"(old mode|new mode|deleted file mode|new file mode|(?:copy|rename) (?:from|to)|(?:dis)?similarity index|index)"
    r" (.*?)\r?$"
)
_ESCAPE: Final = re.compile(r'\\([0-3][0-7]{2}|[abtnvfr"\\])')
_LETTERS: Final = {"a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", '"': '"', "\\": "\\"}
_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
# How `diff -N` says that there is no such file: its time stamp is the epoch, in whatever time zone.
_EPOCH: Final = re.compile(r"(?:1969-12-31|1970-01-01) [0-9]{2}:[0-9]{2}:00(?:\.0+)? ")
_NULL: Final = "/dev/null"
_SUBMODULE: Final = "160000"
_HEADER_LIMIT: Final = 2 * 4096 + 16


class Line(NamedTuple):
    """One line of a hunk: its sign, its text without the sign, its number on either side (1 is the first)."""

    sign: Sign
    text: str
    old: int | None
    new: int | None


@dataclass(frozen=True)
class Hunk:
    """One hunk: its header line, where it stands on either side, its lines."""

    header: str
    old_start: int
    old_count: int
    new_start: int
    new_count: int
    lines: tuple[Line, ...]

    @cached_property
    def by_new(self) -> dict[int, int]:
        """New-side line number to position among the lines."""
        return {line.new: at for at, line in enumerate(self.lines) if line.new is not None}

    @cached_property
    def by_old(self) -> dict[int, int]:
        """Old-side line number to position among the lines."""
        return {line.old: at for at, line in enumerate(self.lines) if line.old is not None}

    @property
    def changed(self) -> Iterator[Line]:
        """The added and the removed lines, in order."""
        return (line for line in self.lines if line.sign in "+-")


@dataclass(frozen=True)
class FileDiff:
    """What a diff says of one file. A path is None on the side where the file is not."""

    old_path: str | None
    new_path: str | None
    hunks: tuple[Hunk, ...] = ()
    copied: bool = False
    submodule: bool = False

    @property
    def renamed(self) -> bool:
        return None not in (self.old_path, self.new_path) and self.old_path != self.new_path and not self.copied

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths that name this file: the new one, and the old one where the file left it."""
        named = (self.new_path, None if self.copied else self.old_path)
        return tuple(dict.fromkeys(path for path in named if path is not None))


@dataclass(frozen=True)
class Diff:
    """The changes of a pull request, merge base to head."""

    files: tuple[FileDiff, ...]

    @cached_property
    def _by_path(self) -> dict[str, FileDiff]:
        found: dict[str, FileDiff] = {}
        for file in self.files:
            if file.old_path is not None and not file.copied:
                found.setdefault(file.old_path, file)
        return found | {file.new_path: file for file in self.files if file.new_path is not None}

    def file(self, path: str) -> FileDiff | None:
        """The file that has `path` on its new side, else the one that had it on its old side."""
        return self._by_path.get(path)


def parse_diff(data: bytes) -> Diff:
    """The diff that `data` holds. What is no diff is passed over; bytes that are not UTF-8 become U+FFFD.

    Only a line feed ends a line: a lone carriage return or a form feed stays inside its line.
    """
    return Diff(tuple(_files(data.decode("utf-8-sig", "replace").split("\n"))))


def _files(lines: Sequence[str]) -> Iterator[FileDiff]:
    at = 0
    while at < len(lines):
        line = lines[at]
        file = None
        if line.startswith("diff --git "):
            file, after = _git_file(lines, at)
        elif line.startswith("--- "):
            file, after = _plain_file(lines, at)
        if file is not None:
            yield file
            at = after
        else:
            at += 1


def _git_file(lines: Sequence[str], at: int) -> tuple[FileDiff | None, int]:
    """The file whose `diff --git` line is `at`, and the position after it; None where no file is named.

    Only git's own header lines count: a commit message that follows the last file of a mail would else rename it.
    """
    header = _header_paths(lines[at].removeprefix("diff --git ").removesuffix("\r"))
    old, new = header or (None, None)
    sure = header is not None and old == new
    created = deleted = copied = submodule = False
    hunks: tuple[Hunk, ...] = ()
    start = at = at + 1
    while at < len(lines) and (match := _EXTENDED.match(lines[at])):
        word, value = match[1], match[2]
        if word in ("rename from", "copy from"):
            old, sure, copied = _unquoted(value), True, word == "copy from"
        elif word in ("rename to", "copy to"):
            new, sure, copied = _unquoted(value), True, word == "copy to"
        created |= word == "new file mode"
        deleted |= word == "deleted file mode"
        submodule |= word in ("new file mode", "deleted file mode", "index") and value.split(" ")[-1] == _SUBMODULE
        at += 1
    if names := _shown_paths(lines, at):
        hunks, at = parse_hunks(lines, at + 2)
        created |= names[0] is None
        deleted |= names[1] is None
        # the header names the file as long as both its names are one; else it cannot tell where the first one ends
        old, new = (old, new) if sure else names
    elif at == start:
        return None, at
    old, new = None if created else old, None if deleted else new
    copied = copied and new is not None  # else neither of its paths would name it
    return None if old == new is None else FileDiff(old, new, hunks, copied, submodule), at


def _plain_file(lines: Sequence[str], at: int) -> tuple[FileDiff | None, int]:
    """The file of a diff without a `diff --git` line: its two names must stand right before a hunk."""
    names = _shown_paths(lines, at)
    if not names or at + 2 >= len(lines) or not (first := _HUNK.match(lines[at + 2])):
        return None, at
    old, new = names
    old = None if first[2] == "0" and _EPOCH.match(lines[at].partition("\t")[2]) else old
    new = None if first[4] == "0" and _EPOCH.match(lines[at + 1].partition("\t")[2]) else new
    hunks, after = parse_hunks(lines, at + 2)
    return None if old == new is None else FileDiff(old, new, hunks), after


def parse_hunks(lines: Sequence[str], at: int = 0) -> tuple[tuple[Hunk, ...], int]:
    """The hunks from line `at` on, and the position after them. The counts in a header say where its hunk ends.

    A hunk that ends before its counts do (a cut diff, forged counts) has the lines that are there; one without any
    is none.
    """
    hunks: list[Hunk] = []
    while at < len(lines) and (match := _HUNK.match(lines[at])):
        header = lines[at]
        old_start, new_start = int(match[1]), int(match[3])
        old_left, new_left = int(match[2] or "1"), int(match[4] or "1")
        old, new = old_start, new_start
        body: list[Line] = []
        at += 1
        while at < len(lines) and (old_left > 0 or new_left > 0 or lines[at].startswith("\\")):
            raw = lines[at]
            sign = raw[:1]
            if sign == "+" and new_left > 0:
                body.append(Line("+", raw[1:], None, new))
                new, new_left = new + 1, new_left - 1
            elif sign == "-" and old_left > 0:
                body.append(Line("-", raw[1:], old, None))
                old, old_left = old + 1, old_left - 1
            elif old_left > 0 and new_left > 0 and (sign == " " or _blank_context(lines, at)):
                body.append(Line(" ", raw[1:] if sign == " " else raw, old, new))
                old, new, old_left, new_left = old + 1, new + 1, old_left - 1, new_left - 1
            elif sign == "\\" and body:
                body.append(Line("\\", raw[1:], None, None))
            else:
                break
            at += 1
        if body:
            hunks.append(Hunk(header, old_start, old - old_start, new_start, new - new_start, tuple(body)))
    return tuple(hunks), at


def _blank_context(lines: Sequence[str], at: int) -> bool:
    """Whether line `at` is a blank context line without its space; what follows the last line feed is none."""
    return lines[at] in ("", "\r") and at + 1 < len(lines)


def _shown_paths(lines: Sequence[str], at: int) -> tuple[str | None, str | None] | None:
    """The paths in the `---` and `+++` lines at `at`: None for a side without the file, None without such lines."""
    if at + 1 >= len(lines) or not lines[at].startswith("--- ") or not lines[at + 1].startswith("+++ "):
        return None
    # a tab ends a name: before a time stamp, and where git marks the end of a name with a space in it
    old, new = (_unquoted(line[4:].removesuffix("\r").partition("\t")[0]) for line in lines[at : at + 2])
    if _NULL in (old, new):
        return (None if old == _NULL else old.removeprefix("a/")), (None if new == _NULL else new.removeprefix("b/"))
    return _without_prefixes(old, new) or (old, new)


def _header_paths(rest: str) -> tuple[str, str] | None:
    """Old and new path from what follows `diff --git `; None where it does not tell.

    The two names are one but for a file that was renamed or copied, and those lines name it again.
    """
    for old, new in _splits(rest):
        if old == new or old.partition("/")[2] == new.partition("/")[2] != "":
            return _without_prefixes(old, new) or (old, new)
    return next(filter(None, (_without_prefixes(old, new) for old, new in _splits(rest))), None)


def _without_prefixes(old: str, new: str) -> tuple[str, str] | None:
    """The two names without `a/` and `b/`, or whatever first folders are all that sets them apart; else None."""
    (old_head, _, old_tail), (new_head, _, new_tail) = old.partition("/"), new.partition("/")
    if not (old_tail and new_tail) or old_head == new_head:
        return None
    return (old_tail, new_tail) if old_tail == new_tail or (old_head, new_head) == ("a", "b") else None


def _splits(rest: str) -> Iterator[tuple[str, str]]:
    """The ways to read `rest` as two names with a space between, the likeliest first."""
    if rest.startswith('"') and (match := _QUOTED.match(rest)):
        if rest[match.end() : match.end() + 1] == " ":
            yield _unquoted(match[0]), _unquoted(rest[match.end() + 1 :])
        return
    if rest.endswith('"') and (start := rest.find(' "')) > 0:
        yield rest[:start], _unquoted(rest[start + 1 :])
        return
    middle = len(rest) // 2
    if rest[middle : middle + 1] == " ":  # two names of one length: nearly all there are
        yield rest[:middle], rest[middle + 1 :]
    # no file system has longer names, and every further way costs the length of the line
    for match in re.finditer(" ", rest) if len(rest) <= _HEADER_LIMIT else ():
        yield rest[: match.start()], rest[match.end() :]


def _unquoted(name: str) -> str:
    """`name` without the C quoting that git gives to a path with special or non-ASCII bytes."""
    if len(name) < 2 or not (name.startswith('"') and name.endswith('"')):
        return name
    data = bytearray()
    at, inner = 0, name[1:-1]
    for match in _ESCAPE.finditer(inner):
        data += inner[at : match.start()].encode("utf-8", "replace")
        code = match[1]
        data += bytes([int(code, 8)]) if code.isdigit() else _LETTERS[code].encode()
        at = match.end()
    data += inner[at:].encode("utf-8", "replace")
    return data.decode("utf-8", "replace")
