"""Excerpts: the lines an item rests on, at most 2,000 characters of them, each with its number (S3, S4, S5)."""

from collections import deque
from collections.abc import Iterable, Iterator

from verifier.diff import FileDiff, Hunk
from verifier.text import visible
from verifier.verification.model import EXCERPT_LIMIT, BaseText, Excerpt, Missing, Partner, Row


def covering_hunk(file: FileDiff, line: int) -> Hunk | None:
    """The hunk of `file` that covers `line`: new side first (an empty one where it stands), then old (S3)."""
    for hunk in file.hunks:
        if hunk.new_start <= line < hunk.new_start + (hunk.new_count or 1):
            return hunk
    return next((hunk for hunk in file.hunks if hunk.old_start <= line < hunk.old_start + hunk.old_count), None)


def excerpt_at(file: FileDiff, hunk: Hunk, line: int) -> Excerpt:
    """The excerpt of an item with a line: its hunk, or as much of it around the line as fits (S3)."""
    focus = hunk.by_new[line] if line in hunk.by_new else hunk.by_old.get(line, 0)
    # position 0 is the header, so that it is shown where there is room for all that stands before the line
    at, count = focus + 1, len(hunk.lines) + 1
    rows = deque([_cut(_row(hunk, at), EXCERPT_LIMIT)])
    room = EXCERPT_LIMIT - len(rows[0].text)
    below = (rows.append, iter(range(at + 1, count)))
    above = (rows.appendleft, iter(range(at - 1, -1, -1)))
    growing = [below, above]
    while growing:
        for side in tuple(growing):
            add, positions = side
            row = next((_row(hunk, position) for position in positions), None)
            if row is None or len(row.text) + 1 > room:
                growing.remove(side)
            else:
                add(row)
                room -= len(row.text) + 1
    return _excerpt(file, tuple(rows), whole=len(rows) == count)


def excerpt_from_top(file: FileDiff) -> Excerpt | None:
    """The excerpt of an item without a line: its file's hunks in order, up to the limit; None where it has none."""
    if not file.hunks:
        return None
    rows = tuple(_fitting(_row(hunk, at) for hunk in file.hunks for at in range(len(hunk.lines) + 1)))
    last = file.hunks[-1]
    count = sum(len(hunk.lines) + 1 for hunk in file.hunks)
    return _excerpt(file, rows, whole=len(rows) == count and rows[-1] == _row(last, len(last.lines)))


def partner_file(path: str, text: BaseText) -> Partner:
    """The first 2,000 characters of a partner file at base, numbered, and whether that is all of it (S4)."""
    if isinstance(text, Missing):
        return Partner(path, found=False)
    if not isinstance(text, str):
        return Partner(path, found=True)
    shown = text[:EXCERPT_LIMIT]
    lines = shown.removesuffix("\n").split("\n") if shown else []
    rows = [Row("new", number, visible(line)) for number, line in enumerate(lines, 1)]
    fitting = tuple(_fitting(rows))
    return Partner(path, found=True, rows=fitting, whole=len(text) <= EXCERPT_LIMIT and list(fitting) == rows)


def _fitting(rows: Iterable[Row]) -> Iterator[Row]:
    """The rows that fit into the limit. Where not one line does, the first is cut: a header alone shows nothing."""
    room = EXCERPT_LIMIT
    has_line = False
    for row in rows:
        if len(row.text) > room:
            if room > 0 and not has_line:
                yield _cut(row, room)
            return
        yield row
        room -= len(row.text) + 1
        has_line = has_line or bool(row.side)


def _cut(row: Row, limit: int) -> Row:
    return row._replace(text=row.text[:limit])


def _row(hunk: Hunk, at: int) -> Row:
    """The header (0) or a line of `hunk` as it is shown; of a line that is too long one character too many."""
    if at == 0:
        return Row("", 0, _shown(hunk.header))
    line = hunk.lines[at - 1]
    text = _shown(line.sign + line.text)
    if line.new is not None:
        return Row("new", line.new, text)
    if line.old is not None:
        return Row("old", line.old, text)
    return Row("", 0, text)


def _shown(text: str) -> str:
    """`text` with its invisible characters spelt out, which is the length that counts."""
    return visible(text[: EXCERPT_LIMIT + 1])[: EXCERPT_LIMIT + 1]


def _excerpt(file: FileDiff, rows: tuple[Row, ...], *, whole: bool) -> Excerpt:
    path, *others = file.paths
    return Excerpt(path, rows, whole, old_file=others[0] if others else None)
