"""Excerpts: the lines an item rests on, at most 2,000 characters of them, each with its number (S3, S4, S5)."""

from collections.abc import Iterable, Iterator

from verifier.diff import FileDiff, Hunk
from verifier.verification.model import EXCERPT_LIMIT, BaseText, Excerpt, Missing, Partner, Row


def covering_hunk(file: FileDiff, line: int) -> Hunk | None:
    """The hunk of `file` that covers `line`: new side first, then old, then where an empty side stands (S3)."""
    for hunk in file.hunks:
        if line in hunk.by_new:
            return hunk
    for hunk in file.hunks:
        if line in hunk.by_old:
            return hunk
    return next((hunk for hunk in file.hunks if hunk.new_count == 0 and hunk.new_start == line), None)


def excerpt_at(file: FileDiff, hunk: Hunk, line: int) -> Excerpt:
    """The excerpt of an item with a line: its hunk, or as much of it around the line as fits (S3)."""
    focus = hunk.by_new[line] if line in hunk.by_new else hunk.by_old.get(line, 0)
    # position 0 is the header, so that it is shown where there is room for all that stands before the line
    start = end = focus + 1
    room = EXCERPT_LIMIT - len(_raw(hunk, start))
    count = len(hunk.lines) + 1
    before = after = True
    while before or after:
        if after:
            after = end + 1 < count and len(_raw(hunk, end + 1)) + 1 <= room
            if after:
                end += 1
                room -= len(_raw(hunk, end)) + 1
        if before:
            before = start > 0 and len(_raw(hunk, start - 1)) + 1 <= room
            if before:
                start -= 1
                room -= len(_raw(hunk, start)) + 1
    rows = tuple(_row(hunk, at) for at in range(start, end + 1))
    if len(rows) == 1 and len(rows[0].text) > EXCERPT_LIMIT:
        rows = (rows[0]._replace(text=rows[0].text[:EXCERPT_LIMIT]),)
        return _excerpt(file, rows, whole=False)
    return _excerpt(file, rows, whole=len(rows) == count)


def excerpt_from_top(file: FileDiff) -> Excerpt | None:
    """The excerpt of an item without a line: its file's hunks in order, up to the limit; None where it has none."""
    positions = [(hunk, at) for hunk in file.hunks for at in range(len(hunk.lines) + 1)]
    if not positions:
        return None
    rows = tuple(_fitting(_row(hunk, at) for hunk, at in positions))
    whole = len(rows) == len(positions) and rows[-1].text == _raw(*positions[-1])
    return _excerpt(file, rows, whole=whole)


def partner_file(path: str, text: BaseText) -> Partner:
    """The first 2,000 characters of a partner file at base, numbered, and whether that is all of it (S4)."""
    if isinstance(text, Missing):
        return Partner(path, found=False)
    if not isinstance(text, str):
        return Partner(path, found=True)
    shown = text[:EXCERPT_LIMIT]
    lines = shown.removesuffix("\n").split("\n") if shown else []
    rows = tuple(Row("new", number, line) for number, line in enumerate(lines, 1))
    return Partner(path, found=True, rows=rows, whole=len(text) <= EXCERPT_LIMIT)


def _fitting(rows: Iterable[Row]) -> Iterator[Row]:
    """The rows that fit into the limit; the first is cut where it alone is too long."""
    room = EXCERPT_LIMIT + 1
    for at, row in enumerate(rows):
        if len(row.text) + 1 > room:
            if at == 0:
                yield row._replace(text=row.text[:EXCERPT_LIMIT])
            return
        room -= len(row.text) + 1
        yield row


def _raw(hunk: Hunk, at: int) -> str:
    if at == 0:
        return hunk.header
    line = hunk.lines[at - 1]
    return line.sign + line.text


def _row(hunk: Hunk, at: int) -> Row:
    if at == 0:
        return Row("", 0, hunk.header)
    line = hunk.lines[at - 1]
    if line.new is not None:
        return Row("new", line.new, line.sign + line.text)
    if line.old is not None:
        return Row("old", line.old, line.sign + line.text)
    return Row("", 0, line.sign + line.text)


def _excerpt(file: FileDiff, rows: tuple[Row, ...], *, whole: bool) -> Excerpt:
    path, *others = file.paths
    return Excerpt(path, rows, whole, old_file=others[0] if others else None)
