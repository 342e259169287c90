"""What an item rests on: the covering hunk, the excerpt around a line or from the top, the partner (S3, S4, S5)."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.material import created, deleted, diff, hunk, modified, patient, renamed
from verifier.diff import FileDiff, Hunk
from verifier.text import visible
from verifier.verification.excerpts import covering_hunk, excerpt_at, excerpt_from_top, partner_file
from verifier.verification.model import EXCERPT_LIMIT, MISSING, UNREADABLE, Excerpt, Partner, Row


def changed(*hunks: str) -> FileDiff:
    return diff(modified("a.py", *hunks)).files[0]


def at(of: FileDiff, line: int) -> Excerpt:
    found = covering_hunk(of, line)
    assert found
    return excerpt_at(of, found, line)


def texts(rows: Sequence[Row]) -> list[str]:
    return [row.text for row in rows]


def raw(of: Hunk) -> list[str]:
    return [of.header, *(line.sign + line.text for line in of.lines)]


# Which hunk covers a line.


def covered(of: FileDiff, line: int) -> int | None:
    """The position of the hunk that covers `line`."""
    found = covering_hunk(of, line)
    return next((position for position, one in enumerate(of.hunks) if one is found), None)


def test_the_new_side_comes_before_the_old() -> None:
    """S3: line 12 is in the first hunk on the old side, in the second on the new side."""
    file = changed(hunk(" a", "-b", old=11, new=11), hunk("+c", " d", old=13, new=12))
    assert covered(file, 12) == 1
    assert at(file, 12).rows[1] == Row("new", 12, "+c")


def test_the_old_side_where_the_new_has_no_such_line() -> None:
    """S3: a removed line is found by its old number, in the hunk that covers it."""
    file = changed(hunk(" a", old=1, new=1), hunk(" b", "-c", old=20, new=5))
    assert covered(file, 21) == 1
    assert Row("old", 21, "-c") in at(file, 21).rows


def test_a_deletion_without_context_is_found_where_its_empty_side_stands() -> None:
    """S3, S2: its place is on the new side, so it comes before an old line of that number."""
    file = changed(hunk(*["+x"] * 10, old=0, new=1), hunk("-gone", old=6, new=15), hunk("-y", "+z", old=15))
    assert file.hunks[1].new_count == 0
    assert covered(file, 15) == 1
    assert at(file, 15).rows == (Row("", 0, "@@ -6,1 +15,0 @@"), Row("old", 6, "-gone"))


@pytest.mark.parametrize("line", [4, 99, 0])
def test_a_line_outside_every_hunk_has_none(line: int) -> None:
    """S3, S8: no hunk covers it."""
    assert covering_hunk(changed(hunk(" a", "+b", " c")), line) is None


def test_a_deleted_file_by_its_old_lines_and_by_line_0() -> None:
    """S2, S3: its hunk's first line on the new side is 0, for that side is empty."""
    file = diff(deleted("a.py", hunk("-a", "-b", old=1, new=0))).files[0]
    for line, focus in ((0, "-a"), (2, "-b")):
        excerpt = at(file, line)
        assert focus in texts(excerpt.rows)
        assert (excerpt.file, excerpt.old_file) == ("a.py", None)


def test_a_renamed_file_is_cited_by_either_path() -> None:
    """S3, S12: the excerpt knows both."""
    excerpt = at(diff(renamed("old.py", "new.py", hunk(" a", "+b"))).files[0], 2)
    assert (excerpt.file, excerpt.old_file) == ("new.py", "old.py")


# The excerpt around a line.


def test_every_line_has_the_number_of_its_side() -> None:
    """S5: new side; old side for a removed line; none for the header and for what says that a newline is missing."""
    file = changed(hunk(" a", "-b", "+c", "+d", "\\ No newline at end of file", old=7, new=9, context=" def f():"))
    assert at(file, 9).rows == (
        Row("", 0, "@@ -7,2 +9,3 @@ def f():"),
        Row("new", 9, " a"),
        Row("old", 8, "-b"),
        Row("new", 10, "+c"),
        Row("new", 11, "+d"),
        Row("", 0, "\\ No newline at end of file"),
    )


@pytest.mark.parametrize(("spare", "whole"), [(0, True), (-1, False), (1, True)])
def test_a_hunk_of_exactly_2000_characters_is_whole(spare: int, whole: bool) -> None:
    """S3: the limit is 2,000, header and line feeds between the lines included."""
    header = len("@@ -1,1 +1,3 @@")
    fill = EXCERPT_LIMIT - header - len("\n a\n+\n+y") - spare
    excerpt = at(changed(hunk(" a", "+" + "x" * fill, "+y")), 1)
    assert excerpt.whole is whole
    assert (len("\n".join(texts(excerpt.rows))) == EXCERPT_LIMIT - spare) is whole


def test_a_long_hunk_is_cut_at_line_ends_around_the_line() -> None:
    """S3: whole lines, as many below as above, and not one more would fit."""
    file = changed(hunk(*(f"+line {number:04}" for number in range(1, 1001))))
    excerpt = at(file, 500)
    numbers = [row.number for row in excerpt.rows]
    assert numbers == list(range(numbers[0], numbers[-1] + 1))
    assert texts(excerpt.rows) == [f"+line {number:04}" for number in numbers]
    assert abs((500 - numbers[0]) - (numbers[-1] - 500)) <= 1
    assert EXCERPT_LIMIT - len("+line 0001\n") < len("\n".join(texts(excerpt.rows))) <= EXCERPT_LIMIT
    assert not excerpt.whole


@pytest.mark.parametrize("line", [1, 1000])
def test_at_an_end_the_room_goes_to_the_other_side(line: int) -> None:
    """S3: the excerpt is as long as it may be wherever the line stands; from the first line the header is shown."""
    excerpt = at(changed(hunk(*(f"+line {number:04}" for number in range(1, 1001)))), line)
    assert line in [row.number for row in excerpt.rows if row.side]
    assert len("\n".join(texts(excerpt.rows))) > EXCERPT_LIMIT - len("+line 0001\n")
    assert (excerpt.rows[0].side == "") is (line == 1)


@pytest.mark.parametrize("before", [[], [" short"]])
def test_a_line_of_100000_characters_is_cut_within_and_shown_alone(before: list[str]) -> None:
    """S3: the item's line is always shown; within a line it is cut only where that line alone is too long."""
    excerpt = at(changed(hunk(*before, "+" + "x" * 100_000, "+y")), len(before) + 1)
    assert excerpt.rows == (Row("new", len(before) + 1, "+" + "x" * (EXCERPT_LIMIT - 1)),)
    assert not excerpt.whole


def test_a_neighbour_of_100000_characters_ends_the_excerpt_on_its_side() -> None:
    """S3: cut at a line end, not within the neighbour."""
    excerpt = at(changed(hunk(" a", "+" + "x" * 100_000, "+y", "+z")), 3)
    assert texts(excerpt.rows) == ["+y", "+z"]
    assert not excerpt.whole


def test_invisible_characters_count_as_they_are_shown() -> None:
    """S3, S36: 2,000 characters are 2,000 of what the reader sees."""
    excerpt = at(changed(hunk("+" + "\u200b" * 1000, "+y")), 1)
    assert excerpt.rows == (Row("new", 1, ("+" + "⟨U+200B⟩" * 1000)[:EXCERPT_LIMIT]),)
    assert not excerpt.whole


# The excerpt of an item without a line.


def test_all_hunks_in_order() -> None:
    """S3: an item without a line gets its file's hunks."""
    file = changed(hunk(" a", "+b"), hunk("-c", old=30, new=31))
    excerpt = excerpt_from_top(file)
    assert excerpt
    assert texts(excerpt.rows) == ["@@ -1,1 +1,2 @@", " a", "+b", "@@ -30,1 +31,0 @@", "-c"]
    assert excerpt.whole


def test_several_hunks_are_cut_at_a_line_end() -> None:
    """S3: up to the limit, from the top."""
    long = hunk(*(f"+line {number:04}" for number in range(1, 151)))
    excerpt = excerpt_from_top(changed(long, long))
    assert excerpt
    rows = texts(excerpt.rows)
    assert rows == [*raw(changed(long).hunks[0]), *raw(changed(long).hunks[0])][: len(rows)]
    assert EXCERPT_LIMIT - len("+line 0001\n") < len("\n".join(rows)) <= EXCERPT_LIMIT
    assert not excerpt.whole


@pytest.mark.parametrize(("spare", "whole"), [(0, True), (-1, False)])
def test_two_hunks_of_exactly_2000_characters_are_whole(spare: int, whole: bool) -> None:
    """S3: the limit holds over all hunks together."""
    first, header = hunk("+a"), "@@ -9,0 +9,1 @@"
    fill = EXCERPT_LIMIT - len(first) - len(header) - len("\n+") - spare
    excerpt = excerpt_from_top(changed(first, hunk("+" + "x" * fill, old=9, new=9)))
    assert excerpt
    assert excerpt.whole is whole
    assert len(excerpt.rows) == (4 if whole else 3)


def test_a_first_line_that_is_too_long_is_cut_within() -> None:
    """S3: a header alone would show nothing that can be cited."""
    excerpt = excerpt_from_top(changed(hunk("+" + "x" * 100_000, "+y")))
    assert excerpt
    assert texts(excerpt.rows)[0] == "@@ -1,0 +1,2 @@"
    assert excerpt.rows[1].number == 1
    assert len("\n".join(texts(excerpt.rows))) == EXCERPT_LIMIT
    assert not excerpt.whole


def test_a_last_line_that_is_too_long_is_no_whole_excerpt() -> None:
    """S3: every line is there, and one of them is cut."""
    excerpt = excerpt_from_top(changed(hunk("+" + "x" * 100_000)))
    assert excerpt
    assert len(excerpt.rows) == 2
    assert not excerpt.whole


def test_a_header_that_is_too_long_is_cut_and_nothing_else_shown() -> None:
    """S3: whatever a forged diff holds, the limit stands."""
    excerpt = excerpt_from_top(changed(hunk("+a", context="x" * 100_000)))
    assert excerpt
    assert [len(text) for text in texts(excerpt.rows)] == [EXCERPT_LIMIT]
    assert not excerpt.whole


@pytest.mark.parametrize("text", [renamed("a.py", "b.py"), created("a.py"), modified("a.py")])
def test_a_file_without_hunks_has_no_excerpt(text: str) -> None:
    """S8: renamed without a change, empty, or binary: nothing can be shown."""
    assert excerpt_from_top(FileDiff("a.py", "b.py")) is None
    assert all(excerpt_from_top(file) is None for file in diff(text).files)


# The partner.


@pytest.mark.parametrize(
    ("text", "shown", "whole"),
    [
        ("one\ntwo\n", ["one", "two"], True),
        ("one\ntwo", ["one", "two"], True),
        ("one\n\n", ["one", ""], True),
        ("\n", [""], True),
        ("", [], True),
        ("a\rb\x0cc\r\n", ["a␍b␌c␍"], True),
        ("x" * 2000, ["x" * 2000], True),
        ("x" * 1999 + "\n", ["x" * 1999], True),
        ("x" * 2000 + "\n", ["x" * 2000], False),
        ("x" * 1998 + "\nyz", ["x" * 1998, "y"], False),
        ("x" * 100_000, ["x" * 2000], False),
        ("\u200b" * 1000 + "\nb", [("⟨U+200B⟩" * 1000)[:2000]], False),
        ("a\n" + "\u200b" * 1000, ["a"], False),
    ],
)
def test_the_first_2000_characters_of_a_partner_with_line_numbers(text: str, shown: list[str], whole: bool) -> None:
    """S4: from the top, numbered from 1, and whether that is all of it."""
    partner = partner_file("p.ts", text)
    assert partner == Partner("p.ts", True, tuple(Row("new", n, line) for n, line in enumerate(shown, 1)), whole)


def test_a_partner_that_is_missing_or_cannot_be_read() -> None:
    """S4: that it is not there is said; that its text cannot be had is another thing."""
    assert partner_file("p.ts", MISSING) == Partner("p.ts", found=False)
    assert partner_file("p.ts", UNREADABLE) == Partner("p.ts", found=True)


# Any hunk, any line.

_TEXT = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=20),
    st.text(" \t\r\x0c\u200b\u2028\ufeff", max_size=20),
    st.integers(0, 900).map(lambda length: "x" * length),
    st.integers(1900, 2100).map(lambda length: "x" * length),
)
_LINES = st.lists(st.tuples(st.sampled_from("+- "), _TEXT).map("".join), min_size=1, max_size=40)


@patient
@given(_LINES, st.integers(0, 500), st.integers(1, 500), st.data())
def test_whatever_the_hunk_the_line_is_shown_within_the_limit(
    lines: list[str], old: int, new: int, data: st.DataObject
) -> None:
    """S3: the excerpt holds the line, is a run of the hunk's rows, at most 2,000 characters, and says if it is cut."""
    file = changed(hunk(*lines, old=old, new=new))
    (only,) = file.hunks
    line = data.draw(st.sampled_from(sorted({*only.by_new, *only.by_old})))
    excerpt = at(file, line)
    rows, numbers = texts(excerpt.rows), [(row.side, row.number) for row in excerpt.rows]
    every = [visible(text) for text in raw(only)]
    focus = 1 + (only.by_new[line] if line in only.by_new else only.by_old[line])

    assert len("\n".join(rows)) <= EXCERPT_LIMIT
    asked = only.lines[focus - 1]
    assert ("new", asked.new) in numbers or ("old", asked.old) in numbers
    if len(every[focus]) > EXCERPT_LIMIT:
        assert rows == [every[focus][:EXCERPT_LIMIT]]
    else:
        starts = [start for start in range(focus + 1) if every[start : start + len(rows)] == rows]
        assert any(start <= focus < start + len(rows) for start in starts)
    assert excerpt.whole is (rows == every)


@patient
@given(st.lists(_LINES, min_size=1, max_size=4))
def test_whatever_the_hunks_they_are_shown_from_the_top(hunks: list[list[str]]) -> None:
    """S3: without a line, the rows from the top on, at most 2,000 characters, a numbered one among them."""
    file = changed(*(hunk(*lines, old=100 * n, new=100 * n) for n, lines in enumerate(hunks, 1)))
    excerpt = excerpt_from_top(file)
    assert excerpt
    rows = texts(excerpt.rows)
    every = [visible(text) for one in file.hunks for text in raw(one)]
    assert len("\n".join(rows)) <= EXCERPT_LIMIT
    assert rows[:-1] == every[: len(rows) - 1]
    assert every[len(rows) - 1].startswith(rows[-1])
    assert any(row.side for row in excerpt.rows)
    assert excerpt.whole is (rows == every)
