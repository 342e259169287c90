"""Hunks from two texts, for files whose patch GitHub leaves out. Linear but for small gaps: no file can stall it."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

from verifier.diff import Hunk, Line

_CONTEXT: Final = 3
_SMALL_GAP: Final = 300
_PAIRS: Final = 400_000  # of lines, in all small gaps: beyond, a gap is shown as replaced

Block = tuple[int, int, int]  # position in old, position in new, length


def compare_texts(old: str, new: str) -> tuple[Hunk, ...]:
    """The hunks that turn `old` into `new`, with three lines of context, as git would number them."""
    before, after = _lines(old), _lines(new)
    changes = list(_changes(before, after))
    hunks: list[Hunk] = []
    while changes:
        group = [changes.pop(0)]
        while changes and changes[0][0] - group[-1][1] <= 2 * _CONTEXT:
            group.append(changes.pop(0))
        hunks.append(_hunk(before, after, group))
    return tuple(hunks)


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _changes(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """The ranges that differ: old start and end, new start and end."""
    i = j = 0
    for at_old, at_new, length in [*_matches(before, after), (len(before), len(after), 0)]:
        if i < at_old or j < at_new:
            yield i, at_old, j, at_new
        i, j = at_old + length, at_new + length


def _matches(before: Sequence[str], after: Sequence[str]) -> Iterator[Block]:
    """Runs of equal lines, in order: common ends, then lines that stand once on either side, then small gaps."""
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    if head:
        yield 0, 0, head
    i, j, left = head, head, _PAIRS
    end_old, end_new = len(before) - tail, len(after) - tail
    for at_old, at_new in [*_anchors(before, after, i, end_old, j, end_new), (end_old, end_new)]:
        pairs = (at_old - i) * (at_new - j)
        if 0 < pairs <= left and max(at_old - i, at_new - j) <= _SMALL_GAP:
            left -= pairs
            gap = SequenceMatcher(None, before[i:at_old], after[j:at_new], autojunk=False)
            yield from ((i + block.a, j + block.b, block.size) for block in gap.get_matching_blocks() if block.size)
        if at_old < end_old:
            yield at_old, at_new, 1
        i, j = at_old + 1, at_new + 1
    if tail:
        yield end_old, end_new, tail


def _anchors(
    before: Sequence[str], after: Sequence[str], start_old: int, end_old: int, start_new: int, end_new: int
) -> list[tuple[int, int]]:
    """The longest rising run of lines that stand exactly once on either side."""
    once_old = {line for line, times in Counter(before[start_old:end_old]).items() if times == 1}
    once_new = {line for line, times in Counter(after[start_new:end_new]).items() if times == 1}
    at_new = {after[at]: at for at in range(start_new, end_new) if after[at] in once_new}
    pairs = [
        (at, at_new[before[at]]) for at in range(start_old, end_old) if before[at] in once_old and before[at] in at_new
    ]
    tops: list[int] = []
    piles: list[int] = []
    back: list[int] = []
    for index, (_, new) in enumerate(pairs):
        pile = bisect_left(tops, new)
        back.append(piles[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(new)
            piles.append(index)
        else:
            tops[pile], piles[pile] = new, index
    found: list[tuple[int, int]] = []
    index = piles[-1] if piles else -1
    while index >= 0:
        found.append(pairs[index])
        index = back[index]
    return found[::-1]


def _hunk(before: Sequence[str], after: Sequence[str], group: Sequence[tuple[int, int, int, int]]) -> Hunk:
    start = max(group[0][0] - _CONTEXT, 0)
    i, j = start, group[0][2] - (group[0][0] - start)
    first_new = j
    lines: list[Line] = []

    def context(end: int) -> None:
        nonlocal i, j
        while i < end:
            lines.append(Line(" ", before[i], i + 1, j + 1))
            i, j = i + 1, j + 1

    for old_start, old_end, new_start, new_end in group:
        context(old_start)
        lines.extend(Line("-", before[at], at + 1, None) for at in range(old_start, old_end))
        lines.extend(Line("+", after[at], None, at + 1) for at in range(new_start, new_end))
        i, j = old_end, new_end
    context(min(group[-1][1] + _CONTEXT, len(before)))
    old_count, new_count = i - start, j - first_new
    old_first, new_first = start + (old_count > 0), first_new + (new_count > 0)
    header = f"@@ -{old_first},{old_count} +{new_first},{new_count} @@"
    return Hunk(header, old_first, old_count, new_first, new_count, tuple(lines))
