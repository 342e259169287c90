"""The ground: hostile text is put everywhere and stays text (A8, S15, S20, S29, S36).

What Markdown does is rendered by GitHub's own parser, not assumed; what GitHub makes live afterwards (mentions,
references, emoji, ...) is looked for in the rendered text by patterns of this file's own.
"""

import hashlib
import re
import sys
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.rendering import LIVE, page
from verifier.text import (
    code_span,
    cut,
    digest,
    fact_hash,
    inert,
    looks_like_our_note,
    markdown,
    one_line,
    visible,
    without_our_marks,
)

PROPERTY = settings(deadline=None, database=None, derandomize=True, max_examples=200)

BREAK = "\u200b"

# Unicode's Default_Ignorable_Code_Point, what moves the cursor, what reorders text, what has no width.
INVISIBLE = [
    *map(chr, (0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFEFF, 0xFFA0)),
    *map(chr, range(0x180B, 0x1810)),
    *map(chr, range(0x200B, 0x2010)),
    *map(chr, range(0x202A, 0x202F)),
    *map(chr, range(0x2060, 0x2070)),
    *map(chr, range(0xFE00, 0xFE10)),
    *map(chr, range(0xFFF0, 0xFFFC)),
    *map(chr, range(0x1BCA0, 0x1BCA4)),
    *map(chr, range(0x1D173, 0x1D17B)),
    *map(chr, range(0xE0000, 0xE1000)),
]
CONTROLS = [*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0)), "\u2028", "\u2029"]

HOSTILE = [
    "@octocat and @acme/reviewers, mail a.b@example.com",
    "#1 GH-1 gh-12 _GH-1_ acme/shop#1 acme/shop@0123abc Fixes #1, closes GH-2",
    "0123abc deadbeef 0123456789abcdef0123456789abcdef01234567 0123ABC abc1234567",
    "see 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef, a sha256",
    "http://x.example https://x.example/a_b ftp://x.example HTTP://X.example xhttp://x.example",
    "www.x.example _www.x.example *www.x.example (www.x.example ~www.x.example WWW.x.example",
    "mailto:a@x.example xmpp:a@x.example tel:+123",
    ":smile: :+1: :-1: ::tada:: :100: 12:30:45",
    "$x^2$ $$y$$ $`z`$ \\$a\\$",
    "[^1] [^1]: note [a](http://x.example) ![i](x.png) [a][b] [b]: http://x.example",
    "](x.png) ](http://x.example) b][c] ][^1]",
    "- [ ] task",
    "[x] task",
    "> [!NOTE]",
    "[!WARNING] beware",
    "<!-- hidden --> <script>alert(1)</script> <img src=x onerror=y> <details> </details> <b>",
    "<script src=x>",
    "<details open>",
    "<?php",
    "<!-- open",
    "\u017f0123abc \u00b9www.x.example \u00e9GH-1 \u017fwww.x.example",
    "# h1",
    "###### h6",
    "#",
    "- list",
    "+ list",
    "* list",
    "-",
    "1. list",
    "1) list",
    "123456789. list",
    "1.",
    "---",
    "***",
    "___",
    "- - -",
    "===",
    "=",
    ":-- | :--",
    ":--",
    "| a | b |",
    "|-|",
    "|-|-|",
    "```fence",
    "~~~fence",
    "    indented",
    "*a* **a** _a_ __a__ ~a~ ~~a~~ ***a*** snake_case_name _a_b_ __init__ a_ _",
    "`code` ``co`de`` `",
    "&copy; &#64;octocat &#x23;1 &amp;lt; & &;",
    "\\* \\ \\\\ \\@octocat a\\",
    "a  \nb\\\nc\r\n\r\nd\te",
    "@\u200boctocat #\u200d1 w\u00adww.x.example h\u2060ttp://x.example @\ufe0foctocat",
    "\u202egnp.exe \u2066rtl\u2069 \x1b[31mred\x1b[0m \x07\x00 \ud800",
    "::error::x ##[error]x %0A::warning::y",
    "{{ liquid }} {% raw %} ${{ secrets.X }}",
    "\u3000wide\u00a0space\u2028line\u2029paragraph\x85next",
]

fragments = st.sampled_from(
    [
        *HOSTILE,
        *"\\`*_{}[]()#+-.!|~<>&$:@=\"'/^\n\r\t ",
        "  ",
        "www.",
        "http://",
        "@a",
        "#1",
        "GH-1",
        "abc123",
        "0123abc",
        ":a:",
        "&lt;",
        BREAK,
        "\u00e9",
        "\u4e2d",
        "\U0001f600",
    ]
)
hostile_text = st.one_of(st.text(), st.lists(st.one_of(fragments, st.text(max_size=3)), max_size=12).map("".join))


# cut, one_line, visible


@pytest.mark.parametrize(("limit", "expected"), [(0, ""), (1, "…"), (2, "a…"), (4, "abc…"), (5, "abcde"), (6, "abcde")])
def test_cut(limit: int, expected: str) -> None:
    assert cut("abcde", limit) == expected


@PROPERTY
@given(st.text(), st.integers(0, 20))
def test_cut_keeps_the_limit(text: str, limit: int) -> None:
    assert len(cut(text, limit)) <= limit


def test_a8_one_line_is_clean_of_every_control_and_invisible_character() -> None:
    for sign in [*CONTROLS, *INVISIBLE, "\ud800", "\udfff"]:
        assert one_line(f"a{sign}b") == ("ab" if sign in INVISIBLE else "a b"), f"U+{ord(sign):04X}"
        assert one_line(sign) == ""


@PROPERTY
@given(hostile_text)
@example("a \u200b b")
@example("\u200b a \u200b")
def test_a8_one_line_holds_single_spaces_and_is_a_fixed_point(text: str) -> None:
    line = one_line(text)
    assert line == " ".join(line.split())
    assert not any(sign in line for sign in (*CONTROLS, *INVISIBLE))
    assert one_line(line) == line
    line.encode()  # UTF-8 can hold it


def test_s36_visible_shows_every_control_and_invisible_character_but_the_tab() -> None:
    assert visible("a\tb") == "a\tb"
    assert visible("\x1b[31m\n\r\x00\x7f\u202e\ud800") == "␛[31m␊␍␀␡⟨U+202E⟩\ufffd"
    for sign in (*CONTROLS, *INVISIBLE):
        shown = visible(sign)
        assert shown == "\t" if sign == "\t" else shown and not {*CONTROLS, *INVISIBLE} & {*shown}


def test_s36_each_hidden_sign_is_shown_by_its_own_picture_or_its_number() -> None:
    for code in {*range(0x20)} - {0x09}:
        assert visible(chr(code)) == chr(0x2400 + code)
    assert visible("\x80\x9f\u2028\u00ad\U000e0fff") == "⟨U+0080⟩⟨U+009F⟩⟨U+2028⟩⟨U+00AD⟩⟨U+E0FFF⟩"
    assert visible("\ud800\udbff\udc00\udfff") == "\ufffd" * 4


@PROPERTY
@given(hostile_text)
def test_s36_visible_changes_nothing_else(text: str) -> None:
    plain = "".join(
        sign for sign in text if sign not in CONTROLS and sign not in INVISIBLE and not "\ud7ff" < sign < "\ue000"
    )
    assert visible(plain) == plain
    visible(text).encode()  # UTF-8 can hold it


# Markdown, A8


def text_of(text: str) -> str:
    """What a reader must see of `text`: itself on one line, the dollar sign in its wide form."""
    return one_line(text).replace("$", "＄")


PLACES = [
    ("{}", ["p"]),
    ("- {}", ["ul", "li"]),
    ("- From the brief: {}", ["ul", "li"]),
    ("- `f`: {} [unverified]", ["ul", "li", "code"]),
    ("**Why:** {}\n\n- next", ["p", "strong", "ul", "li"]),
    ("> first\n> {}", ["blockquote", "p"]),
    ("first\n{}", ["p"]),
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a8_markdown_renders_as_the_text_in_every_place(text: str) -> None:
    for place, elements in PLACES:
        shown = page(place.format(markdown(text)))
        assert shown.elements == elements, place
        assert text_of(text) in shown.text.replace(BREAK, ""), place
        assert not LIVE.search(shown.text), place


@PROPERTY
@given(hostile_text)
def test_a8_markdown_renders_as_exactly_the_text_and_nothing_is_live(text: str) -> None:
    shown = page(markdown(text))
    assert shown.elements == (["p"] if one_line(text) else [])
    assert shown.text.replace(BREAK, "").strip("\n") == text_of(text)
    assert not LIVE.search(shown.text)


@PROPERTY
@given(hostile_text, st.sampled_from(PLACES))
def test_a8_markdown_renders_as_text_in_every_place(text: str, place: tuple[str, list[str]]) -> None:
    shown = page(place[0].format(markdown(text)))
    assert [element for element in shown.elements if element not in ("p", "li")] == [
        element for element in place[1] if element not in ("p", "li")
    ]
    assert text_of(text) in shown.text.replace(BREAK, "")
    assert not LIVE.search(shown.text)


@PROPERTY
@given(hostile_text, st.integers(0, 60))
@example("0123456789abcdefghij", 8)
def test_a8_markdown_that_is_cut_is_still_only_text(text: str, limit: int) -> None:
    shown = page(markdown(text, limit))
    assert {*shown.elements} <= {"p"}
    assert shown.text.replace(BREAK, "").strip("\n") == one_line(text, limit).replace("$", "＄")
    assert not LIVE.search(shown.text)


@pytest.mark.parametrize(
    "text", ["createSession(userId, ttl)", "snake_case_name", "14 of 17 commits", "a/b.py:42", "x = 1"]
)
def test_a8_markdown_leaves_plain_text_readable(text: str) -> None:
    assert markdown(text) == text


# Code spans, A8


@PROPERTY
@given(hostile_text)
@example("`")
@example("``")
@example("` ` `` ```")
@example("`a")
@example("a`")
@example("")
@example(" ")
@example("`" * 81 + "@octocat <b>")
@example("##[error]forged")
@example("".join("`" * length + "@octocat " for length in range(1, 90)))
def test_a8_a_code_span_renders_as_one_code_span_with_the_text(text: str) -> None:
    # a runner would read `##[` anywhere in a line of its log as the start of a command
    expected = (one_line(text) or " ").replace("##[", "##\u200b[")
    for place, elements in (("{}", ["p", "code"]), ("- {}", ["ul", "li", "code"]), ("- {}: x", ["ul", "li", "code"])):
        shown = page(place.format(code_span(text)))
        assert shown.elements == elements
        assert shown.code in ([expected], [expected.replace("`", "'")])
        assert shown.text.strip("\n") in ("", ": x")


@PROPERTY
@given(hostile_text, hostile_text)
def test_a8_a_code_span_and_text_beside_each_other_stay_apart(place: str, text: str) -> None:
    shown = page(f"- {code_span(place)}: {markdown(text)}, {code_span(text)}")
    assert shown.elements == ["ul", "li", "code", "code"]
    assert not LIVE.search(shown.text)


@PROPERTY
@given(hostile_text, st.integers(1, 30))
def test_a8_a_code_span_is_cut_inside(text: str, limit: int) -> None:
    (code,) = page(code_span(text, limit)).code
    assert len(code.replace(BREAK, "")) <= limit


def test_a8_a_code_span_keeps_backticks_where_a_fence_can_be_had() -> None:
    assert code_span("a`b") == "``a`b``"
    assert code_span("``") == "` `` `"
    assert code_span("` ``a") == "``` ` ``a ```"
    assert code_span("a ` ``") == "``` a ` `` ```"
    longest = "a" + "a".join("`" * length for length in range(1, 80)) + "a"
    assert code_span(longest) == f"{'`' * 80}{longest}{'`' * 80}"
    longer = f"{longest}{'`' * 80}a"
    assert code_span(longer) == "`" + longer.replace("`", "'") + "`"


def test_a8_a_code_span_cannot_command_the_runner_whose_log_shows_it() -> None:
    assert code_span("a##[error]b##[") == f"`a##{BREAK}[error]b##{BREAK}[`"
    assert code_span("") == "` `"
    assert code_span("abc", 2) == "`a…`"


# Reasons, S20


def assert_inert(text: str, limit: int) -> None:
    found = inert(text, limit)
    assert len(found) <= limit
    assert found == " ".join(found.split())
    assert not {*found} & {*"[]<>`*~|$\\［］【】", *CONTROLS}
    assert not LIVE.search(found)
    for place in ("{}", "- {}", "> first\n> {}", "first\n{}", "first\n\n| a | b |\n|---|---|\n| {} | x |"):
        came = page(place.format("x")).elements
        shown = page(place.format(found or "x"))
        assert [element for element in shown.elements if element != "p"] == [e for e in came if e != "p"], place
        assert not LIVE.search(shown.text), place
    suffixed = page(f"text [downgraded by verifier: {found}]")
    assert suffixed.elements == ["p"]
    assert not LIVE.search(suffixed.text)


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("limit", [200, 10])
def test_s20_a_reason_neither_renders_nor_notifies(text: str, limit: int) -> None:
    assert_inert(text, limit)


@PROPERTY
@given(hostile_text, st.one_of(st.just(200), st.integers(0, 40)))
@example("0123456789abcdefg", 9)
@example("0123456789" * 20, 40)
@example("@a" * 200, 200)
@example("a_b", 3)
def test_s20_a_reason_is_one_short_line_and_inert(text: str, limit: int) -> None:
    assert_inert(text, limit)


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("@octocats", 9, f"@{BREAK}octoca…"),
        ("@octocats", 10, f"@{BREAK}octocats"),
        ("x #1 #2 #3", 11, f"x #{BREAK}1 #{BREAK}2 …"),
        ("not so live", 9, "not so l…"),
    ],
)
def test_s20_no_more_is_cut_than_the_breaks_take(text: str, limit: int, expected: str) -> None:
    assert inert(text, limit) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("it is] done", "it is) done"),
        ("list[int]", "list(int)"),
        ("", ""),
        (" \u200b\n", ""),
        ("the partner holds nothing of what changed", "the partner holds nothing of what changed"),
        ("snake_case stays, _this_ not", "snake_case stays, ＿this＿ not"),
        ("fixes #1 @a", f"fixes #{BREAK}1 @{BREAK}a"),
        ("a［verified］", "a(verified)"),
        ("x" * 201, "x" * 199 + "…"),
        ("x" * 200, "x" * 200),
    ],
)
def test_s20_reasons(text: str, expected: str) -> None:
    assert inert(text, 200) == expected


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("@a", "@_a"),
        ("@ a", "@ a"),
        ("a@", "a@"),
        ("#1", "#_1"),
        ("#a", "#a"),
        ("# 1", "# 1"),
        ("GH-1", "GH_-1"),
        ("gh-1", "gh_-1"),
        ("(GH-1", "(GH_-1"),
        ("GH-a", "GH-a"),
        ("GHX-1", "GHX-1"),
        ("XGH-1", "XGH-1"),
        ("0GH-1", "0GH-1"),
        ("éGH-1", "éGH_-1"),
        ("x://y", "x:_//y"),
        ("x:/y", "x:/y"),
        ("www.x", "www_.x"),
        ("WWW.x", "WWW_.x"),
        ("awww.x", "awww.x"),
        ("0www.x", "0www.x"),
        ("www x", "www x"),
        ("ww.x", "ww.x"),
        ("(www.x", "(www_.x"),
        (":a:", ":_a:"),
        (":+1:", ":_+1:"),
        (":-1:", ":_-1:"),
        (":a_b:", ":_a_b:"),
        (":a", ":a"),
        ("a:b c:d", "a:b c:d"),
        ("::", "::"),
        (":é:", ":é:"),
        ("0123456", "012345_6"),
        ("012345", "012345"),
        ("ABCDEF0", "ABCDEF_0"),
        ("0123abcg", "0123abcg"),
        ("g0123abc", "g0123abc"),
        ("z0123abc", "z0123abc"),
        ("Z0123abc", "Z0123abc"),
        ("0123abcz", "0123abcz"),
        ("90123abc", "90123a_bc"),
        ("(0123abc)", "(0123ab_c)"),
        ("é0123abc", "é0123ab_c"),
        ("0123abcé", "0123ab_cé"),
        ("0123456789abcdef", "012345_6789ab_cdef"),
        ("a" * 64, "_".join(["a" * 6] * 10 + ["aaaa"])),
        ("a" * 65, "a" * 65),  # no hash is so long, and none is linked
        ("5" * 65, "5" * 65),
        ("c" * 65, "c" * 65),
        *((f"{sign}{live}", f"{sign}{live}") for sign in "059amzAMZ" for live in ("GH-1", "www.x")),
        *((f"{sign}0123abc", f"{sign}0123abc") for sign in "gmzGMZ"),
        *((f"0123abc{sign}", f"0123abc{sign}") for sign in "gmzGMZ"),
        ("-GH-1", "-GH_-1"),
        ("-www.x", "-www_.x"),
        ("-0123abc-", "-0123ab_c-"),
        ("a//b", "a//b"),
        ("&a;", "&_a;"),
        ("&#1;", "&#_1;"),
        ("&#x1f;", "&_#x1f;"),
        ("&a b;", "&a b;"),
        ("&;", "&;"),
        ("& a;", "& a;"),
    ],
)
def test_a8_s20_what_is_live_gets_a_break_and_nothing_else_does(text: str, broken: str) -> None:
    expected = broken.replace("_", BREAK).replace(f"a{BREAK}b:", "a_b:")
    assert inert(f"x {text} x", 200) == f"x {expected} x"
    escaped = markdown(f"x {text} x").replace("&amp;", "&").replace("\\", "")
    assert escaped == f"x {expected.replace(f'&{BREAK}', '&')} x"


@pytest.mark.parametrize(
    ("text", "reason", "shown"),
    [
        ("- a", f"{BREAK}- a", "\\- a"),
        ("+ a", f"{BREAK}+ a", "\\+ a"),
        ("= a", f"{BREAK}= a", "\\= a"),
        ("# a", f"{BREAK}# a", "\\# a"),
        (": a", f"{BREAK}: a", "\\: a"),
        ("1. a", f"1{BREAK}. a", "1\\. a"),
        ("1) a", f"1{BREAK}) a", "1\\) a"),
        ("0.", f"0{BREAK}.", "0\\."),
        ("9)", f"9{BREAK})", "9\\)"),
        ("123456789. a", f"123456{BREAK}789{BREAK}. a", f"123456{BREAK}789. a"),
        ("1234567890. a", f"123456{BREAK}7890. a", f"123456{BREAK}7890. a"),
        ("1.a", "1.a", "1.a"),
        ("1 a", "1 a", "1 a"),
        ("1, a", "1, a", "1, a"),
        (". a", ". a", ". a"),
        (", a", ", a", ", a"),
        ("a - b", "a - b", "a - b"),
        ("a 1. b", "a 1. b", "a 1. b"),
        ("_a_ a_b", "＿a＿ a_b", "\\_a\\_ a_b"),
        ("a__b a_", "a＿＿b a＿", "a\\_\\_b a\\_"),
        ("a`<>*~|\\$&{}!b", "a'‹›∗∼¦⧵＄&{}!b", "a\\`&lt;&gt;\\*\\~\\|\\\\＄&amp;\\{\\}\\!b"),
        ("a[b]", "a(b)", "a\\[b\\]"),
    ],
)
def test_a8_s20_each_sign_of_markup_is_disarmed_where_it_would_mark_up(text: str, reason: str, shown: str) -> None:
    assert inert(text, 200) == reason
    assert markdown(text) == shown


@PROPERTY
@given(hostile_text)
def test_s20_a_reason_that_was_made_inert_stays_as_it_is(text: str) -> None:
    once = inert(text, 10_000)
    assert inert(once, 10_000) == once


# Marks that look like ours, S15

SUFFIXES = [
    "[verified · new]",
    "[verified · pre-existing]",
    "[verified]",
    "[downgraded by verifier: the partner holds nothing of it]",
    "[downgraded: dismissed earlier as wrong]",
    "[unverified]",
]
NOTES = [
    "dropped by verifier: docs — only a comment (check:a:1:0)",
    "verifier failed: no key; everything below is unverified",
    "verifier skipped: quick-confirm PR with only info facts",
    "base version used: this pull request changes .opendrs.yml, which counts once it is on the base branch",
    "verifier: claude-sonnet-5-5 · prompt 0123456789ab · 1+2 tokens",
]


def parentheses(text: str) -> str:
    return text.replace("[", "(").replace("]", ")")


@pytest.mark.parametrize("text", ["[un[verified]]", "[un[verified · new]", "[dropped by [verifier: x]]"])
def test_s15_a_mark_that_is_one_once_another_is_turned_is_turned_too(text: str) -> None:
    assert without_our_marks(text) == parentheses(text)


@PROPERTY
@given(st.lists(st.sampled_from(["[", "]", "un", "verified", " ", "dropped by ", "verifier", "down", "graded", "x"])))
def test_s15_a_text_without_marks_of_ours_stays_as_it_is(parts: list[str]) -> None:
    once = without_our_marks("".join(parts))
    assert without_our_marks(once) == once


@pytest.mark.parametrize("suffix", [*SUFFIXES, *(f"[{note}]" for note in NOTES)])
def test_s15_a_suffix_that_came_gets_parentheses(suffix: str) -> None:
    assert without_our_marks(suffix) == parentheses(suffix)
    assert (
        without_our_marks(f"list[int] {suffix} or {suffix}")
        == f"list[int] {parentheses(suffix)} or {parentheses(suffix)}"
    )
    assert without_our_marks(f"a{suffix[:-1]}") == f"a({suffix[1:-1]}", "the bracket is not closed"
    assert without_our_marks(suffix.upper()) == parentheses(suffix.upper())
    assert without_our_marks("".join(f"{sign}{BREAK}" for sign in suffix)) == "".join(
        f"{parentheses(sign)}{BREAK}" for sign in suffix
    )


@pytest.mark.parametrize(
    "text",
    [
        "［verified］",
        "【verified】",
        "〔verified〕",
        "﹝verified﹞",
        "⟦verified⟧",
        "[verified］",
        "[ verified ]",
        "[\nverified\n· new]",
        "[\u00a0verified]",
        "[\u2800verified]",
        "[\x00verified]",
        "[**verified**]",
        "[_verified_]",
        "[__verified]",
        "[`verified`]",
        "[✓ verified]",
        "[· verified · new]",
        "[un-verified]",
        "[down graded by verifier: x]",
        "[v\u0435rif\u0456\u0435d]",  # Cyrillic
        "[\u03bderified · new]",  # Greek small nu
        "[U\u039dVERIFIED]",  # Greek capital nu
        "[VER\u0399F\u0399ED]",  # Greek capital iota
        "[VERlFlED]",  # small L
        "[veri\ufb01ed]",  # a ligature
        "[\uff56\uff45\uff52\uff49\uff46\uff49\uff45\uff44]",  # full width
        "[\U0001d42f\U0001d41e\U0001d42b\U0001d422\U0001d41f\U0001d422\U0001d41e\U0001d41d]",  # mathematical bold
        "[v\u0301e\u0323rified]",  # accents
        "[ve\u0301rified]",
        "[v\u00e9rified]",
        "[v\u0451rified]",  # Cyrillic with its accent in one sign
        "[unver\u0131fied]",  # dotless i
        "[d\u043ewngraded: x]",
        "[dropped\u2003by\nverifier: docs]",
        "[d0wngraded by ver1fier: x]",
        "[\U000e0001verified]",
        "[verified",
        "((verified]",
    ],
)
def test_s15_look_alikes_get_parentheses(text: str) -> None:
    marked = without_our_marks(text)
    if "[" in text or "［" in text:
        assert marked != text
    assert not set(marked) & set("[［【〔﹝⟦") or "verified" not in marked
    assert len(marked) == len(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[verified]]", "((verified))"),
        ("[x [verified · new]", "(x (verified · new)"),
        ("[x [verified · new] y]", "(x (verified · new) y)"),
        ("[a b c d [verified · new] y]", "[a b c d (verified · new) y]"),
        ("[a [b] c d verified] [e]", "[a [b] c d verified] [e]"),
        ("[a [b] [c] verified] [d] verified", "(a [b] [c] verified) [d] verified"),
        ("[a [b c d verified]] [e verified]", "[a (b c d verified)] (e verified)"),
        ("[verified: see list[int] and [1]] [2]", "(verified: see list[int] and [1]) [2]"),
        ("[] [verified]", "[] (verified)"),
        ("a] [verified] b]", "a] (verified) b]"),
        ("[ [verified", "( (verified"),
        ("x[ttl[verified]]", "x(ttl(verified))"),
        ("[unverified][ttl]", "(unverified)[ttl]"),
        ("un[verified] [i]", "un(verified) [i]"),
        ("[un]verified]", "[un]verified]"),
    ],
)
def test_s15_nested_and_unclosed_brackets(text: str, expected: str) -> None:
    assert without_our_marks(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "[ttl]",
        "list[int]",
        "[1]",
        "dict[str, list[int]]",
        "[verifiedUsers]",
        "row[verified_at]",
        "row[is_verified]",
        "[one two three four verified]",
        "[reverified]",
        "[the based version is used]",
        "[ ] verified by hand",
        "[x] verified",
        "(verified)",
        "verified · new",
        "[日本語]",
        "[]",
        "[",
        "]",
        "",
        "［ttl］",
        "the verifier and the [reader]",
    ],
)
def test_s15_innocent_brackets_are_left_alone(text: str) -> None:
    assert without_our_marks(text) == text


HOMOGLYPHS = {"v": "vVνѵ", "e": "eEеΕé", "r": "rRг", "i": "iIіΙı1l", "f": "fFſ", "d": "dDԁ", "u": "uUυ", "n": "nNոΝ"}


def plain(text: str) -> str:
    """This file's own idea of how a text looks: signs apart, accents and invisible ones gone, scripts folded."""
    back = {sign: letter for letter, signs in HOMOGLYPHS.items() for sign in signs}
    apart = unicodedata.normalize("NFKD", "".join(back.get(sign, sign) for sign in text if sign not in INVISIBLE))
    seen = "".join(back.get(sign, sign) for sign in apart if unicodedata.category(sign)[0] != "M").casefold()
    return re.sub("[【〔﹝⟦]", "[", re.sub("[】〕﹞⟧]", "]", seen))


disguised = st.builds(
    lambda word, picks, gaps: "".join(
        signs[pick % len(signs)] + gap
        for signs, pick, gap in zip((HOMOGLYPHS.get(sign, sign) for sign in word), picks, gaps, strict=False)
    ),
    st.sampled_from(["verified", "unverified"]),
    st.lists(st.integers(0, 9), min_size=10, max_size=10),
    st.lists(st.sampled_from(["", "", "", BREAK, "\u0301", "\u202e"]), min_size=10, max_size=10),
)
marked_text = st.lists(
    st.one_of(
        st.sampled_from(
            ["[", "]", "［", "］", "【", "〔", "⟦", " ", "\n", "(", ")", "*", "_", "x", "·", "🄪", *SUFFIXES]
        ),
        disguised,
        st.text(max_size=2),
    ),
    max_size=14,
).map("".join)


@PROPERTY
@given(marked_text)
def test_s15_no_bracket_stands_before_a_word_of_ours_any_more(text: str) -> None:
    marked = without_our_marks(text)
    assert not re.search(r"\[[^\w\[\]]*(un)?verified\b", plain(marked))
    assert without_our_marks(marked) == marked


@PROPERTY
@given(marked_text)
def test_s15_only_brackets_change_and_only_into_parentheses(text: str) -> None:
    marked = without_our_marks(text)
    assert len(marked) == len(text)
    for before, after in zip(text, marked, strict=True):
        assert before == after or after == ("(" if before in "[［【〔⟦" else ")")


@pytest.mark.parametrize(
    "words",
    [
        "already verified",
        "was downgraded by verifier: x",
        "it was verified · new",
        "has already been verified",
        "verifier: already [verified",
        " v3rified ",
        "v3r1f13d",
        "ver!f!ed",
        "ver|f|ed",
        "ver¡fied",
        "unver１fied",
        "downgr4ded: x",
        "downgr@ded: x",
        "down6raded: x",
        "down9raded: x",
        "dr0pped by ver!f|er: docs",
        "b4se versi0n used: x",
        "8a5e ver5ion u5ed: x",
        "b@$e ver$!on u$ed: x",
        "ba＄e version used: x",
        "!verified",
        "|verified|",
        "@verified",
        "$verified",
    ],
)
def test_s15_our_words_among_the_first_of_a_bracket_get_parentheses(words: str) -> None:
    assert without_our_marks(f"a [{words}] [i]") == f"a ({parentheses(words)}) [i]"


def bracket_by_name(sign: str) -> str:
    """This file's own idea of what looks like a square bracket: what Unicode says of the sign."""
    name, category, apart = unicodedata.name(sign, ""), unicodedata.category(sign), unicodedata.decomposition(sign)
    if sign in "(){}" or re.fullmatch(r"<(wide|small)> 00(28|29|7B|7D)", apart) or re.search("QUOTATION MARK$", name):
        return ""
    if category in ("Ps", "Pe"):
        return "(" if category == "Ps" else ")"
    if re.search(r"SQUARE BRACKET (UPPER|LOWER) CORNER|^(TOP|BOTTOM) (LEFT|RIGHT) CORNER$", name):
        return "(" if "LEFT" in name else ")"
    if category in ("Pi", "Pf") and "BRACKET" in name:
        return "(" if "LEFT" in name else ")"
    return {"SQUARE IMAGE OF": "(", "SQUARE ORIGINAL OF": ")"}.get(name, "")


def test_s15_s20_every_bracket_of_unicode_gets_a_parenthesis_and_no_other_sign() -> None:
    for code in range(sys.maxunicode + 1):
        sign = chr(code)
        shown = bracket_by_name(sign)
        if shown == "(":
            assert without_our_marks(f"{sign}verified") == "(verified", f"U+{code:04X}"
        elif shown:
            assert without_our_marks(f"[verified{sign}") == f"(verified{shown}", f"U+{code:04X}"
        elif unicodedata.category(sign)[0] in "PS":
            assert without_our_marks(f"{sign} verified [verified {sign}]") == f"{sign} verified (verified {sign})"
        if shown:
            assert inert(f"a{sign}a", 9) == f"a{shown}a"


@pytest.mark.parametrize("opening", "⟦〖〘⌈⌊⎡⁽❬⟨⟪《〈「『｢⦋⦍⦏⸢⸤⟬⟮")
def test_s15_brackets_of_other_scripts_get_parentheses(opening: str) -> None:
    closing = "⎤" if opening == "⎡" else chr(ord(opening) + 1)
    assert without_our_marks(f"a {opening}verified · new{closing}") == "a (verified · new)"
    assert without_our_marks(f"a {opening}ttl{closing}") == f"a {opening}ttl{closing}"


# What passes for which letter, by the names that Unicode has for it.
LOOKALIKES = {
    "a": """
        CYRILLIC SMALL LETTER A; CYRILLIC CAPITAL LETTER A; GREEK SMALL LETTER ALPHA; GREEK CAPITAL LETTER
        ALPHA; LATIN SMALL LETTER ALPHA; LATIN LETTER SMALL CAPITAL A; DIGIT FOUR
    """,
    "b": """
        CYRILLIC CAPITAL LETTER SOFT SIGN; CYRILLIC SMALL LETTER SOFT SIGN; CYRILLIC CAPITAL LETTER VE;
        CYRILLIC SMALL LETTER VE; GREEK CAPITAL LETTER BETA; GREEK SMALL LETTER BETA; LATIN CAPITAL LETTER
        TONE SIX; LATIN SMALL LETTER TONE SIX; LATIN LETTER SMALL CAPITAL B; DIGIT EIGHT
    """,
    "d": """
        CYRILLIC SMALL LETTER KOMI DE; CYRILLIC CAPITAL LETTER KOMI DE; LATIN SMALL LETTER D WITH HOOK;
        LATIN LETTER SMALL CAPITAL D; ARMENIAN SMALL LETTER ZHE
    """,
    "e": """
        CYRILLIC SMALL LETTER IE; CYRILLIC CAPITAL LETTER IE; GREEK SMALL LETTER EPSILON; GREEK CAPITAL
        LETTER EPSILON; CYRILLIC SMALL LETTER UKRAINIAN IE; CYRILLIC CAPITAL LETTER UKRAINIAN IE; CYRILLIC
        SMALL LETTER ABKHASIAN CHE; CYRILLIC CAPITAL LETTER ABKHASIAN CHE; ESTIMATED SYMBOL; LATIN LETTER
        SMALL CAPITAL E; DIGIT THREE
    """,
    "f": """
        LATIN SMALL LETTER LONG S; LATIN SMALL LETTER F WITH HOOK; GREEK SMALL LETTER DIGAMMA; GREEK LETTER
        DIGAMMA; CYRILLIC SMALL LETTER GHE WITH STROKE; CYRILLIC CAPITAL LETTER GHE WITH STROKE; ARMENIAN
        SMALL LETTER KEH; LATIN SMALL LETTER F WITH STROKE
    """,
    "g": """
        LATIN SMALL LETTER SCRIPT G; LATIN LETTER SMALL CAPITAL G; ARMENIAN SMALL LETTER CO; CYRILLIC
        CAPITAL LETTER KOMI SJE; CYRILLIC SMALL LETTER KOMI SJE; DIGIT SIX; DIGIT NINE
    """,
    "i": """
        CYRILLIC SMALL LETTER BYELORUSSIAN-UKRAINIAN I; CYRILLIC CAPITAL LETTER BYELORUSSIAN-UKRAINIAN I;
        GREEK SMALL LETTER IOTA; GREEK CAPITAL LETTER IOTA; LATIN SMALL LETTER DOTLESS I; LATIN SMALL LETTER
        IOTA; LATIN LETTER SMALL CAPITAL I; CYRILLIC SMALL LETTER PALOCHKA; CYRILLIC LETTER PALOCHKA; LATIN
        LETTER DENTAL CLICK; LATIN SMALL LETTER L WITH MIDDLE TILDE; LATIN SMALL LETTER L; LATIN CAPITAL
        LETTER L; DIGIT ONE
    """,
    "n": """
        CYRILLIC SMALL LETTER PE; CYRILLIC CAPITAL LETTER PE; GREEK SMALL LETTER ETA; GREEK CAPITAL LETTER
        NU; ARMENIAN SMALL LETTER VO; ARMENIAN SMALL LETTER RA; GREEK LETTER SMALL CAPITAL PI; LATIN LETTER
        SMALL CAPITAL N
    """,
    "o": """
        CYRILLIC SMALL LETTER O; CYRILLIC CAPITAL LETTER O; GREEK SMALL LETTER OMICRON; GREEK CAPITAL LETTER
        OMICRON; GREEK SMALL LETTER SIGMA; ARMENIAN SMALL LETTER OH; ARMENIAN CAPITAL LETTER OH; LATIN
        LETTER SMALL CAPITAL O; DEVANAGARI DIGIT ZERO; THAI DIGIT ZERO; DIGIT ZERO
    """,
    "p": """
        CYRILLIC SMALL LETTER ER; CYRILLIC CAPITAL LETTER ER; GREEK SMALL LETTER RHO; GREEK CAPITAL LETTER
        RHO; GREEK RHO SYMBOL; LATIN LETTER SMALL CAPITAL P
    """,
    "r": """
        CYRILLIC SMALL LETTER GHE; CYRILLIC CAPITAL LETTER GHE; LATIN LETTER SMALL CAPITAL R; GREEK LETTER
        SMALL CAPITAL GAMMA; COPTIC SMALL LETTER GAMMA
    """,
    "s": """
        CYRILLIC SMALL LETTER DZE; CYRILLIC CAPITAL LETTER DZE; LATIN LETTER SMALL CAPITAL S; DIGIT FIVE
    """,
    "u": """
        GREEK SMALL LETTER UPSILON; ARMENIAN SMALL LETTER SEH; ARMENIAN CAPITAL LETTER SEH; LATIN SMALL
        LETTER V WITH HOOK; LATIN LETTER SMALL CAPITAL U; CYRILLIC SMALL LETTER TSE; GREEK SMALL LETTER MU
    """,
    "v": """
        GREEK SMALL LETTER NU; CYRILLIC SMALL LETTER IZHITSA; CYRILLIC CAPITAL LETTER IZHITSA; LATIN LETTER
        SMALL CAPITAL V; LOGICAL OR
    """,
    "w": """
        CYRILLIC SMALL LETTER WE; CYRILLIC CAPITAL LETTER WE; GREEK SMALL LETTER OMEGA; ARMENIAN SMALL
        LETTER AYB; CYRILLIC SMALL LETTER OMEGA; LATIN LETTER SMALL CAPITAL W; LATIN SMALL LETTER TURNED M
    """,
    "y": """
        CYRILLIC SMALL LETTER U; CYRILLIC CAPITAL LETTER U; GREEK CAPITAL LETTER UPSILON; GREEK SMALL LETTER
        GAMMA; CYRILLIC SMALL LETTER STRAIGHT U; CYRILLIC CAPITAL LETTER STRAIGHT U; LATIN LETTER SMALL
        CAPITAL Y; GEORGIAN LETTER QAR
    """,
}


@pytest.mark.parametrize("letter", LOOKALIKES)
def test_s15_every_sign_that_passes_for_a_letter_of_ours_is_read_as_that_letter(letter: str) -> None:
    words = next(words for words in ("downgraded", "dropped by verifier", "base version used") if letter in words)
    for name in " ".join(LOOKALIKES[letter].split()).split("; "):
        assert looks_like_our_note(words.replace(letter, unicodedata.lookup(name))), name
    assert not looks_like_our_note(words.replace(letter, "z"))


def test_a8_every_white_space_character_becomes_a_space() -> None:
    """S36: and is shown to the reader as it is, where it is no control."""
    for sign in filter(str.isspace, map(chr, range(sys.maxunicode + 1))):
        assert one_line(f"a{sign}b") == "a b", f"U+{ord(sign):04X}"
        assert sign in CONTROLS or visible(sign) == sign


def test_a8_only_invisible_characters_go_and_no_other_is_changed() -> None:
    """S36: over all of Unicode, the signs beside each hidden range included."""
    gone = {*CONTROLS, *INVISIBLE, *map(chr, range(0xD800, 0xE000))}
    rest = "".join(sign for sign in map(chr, range(sys.maxunicode + 1)) if sign not in gone and not sign.isspace())
    for function in (one_line, visible):
        kept = {*function(rest)}
        assert [f"U+{ord(sign):04X}" for sign in rest if sign not in kept] == []
    assert len(rest) > 1_000_000


def test_s15_every_sign_that_decomposes_into_a_square_bracket_is_known_as_one() -> None:
    for code in range(sys.maxunicode + 1):
        sign = chr(code)
        if {"[", "]"} & {*unicodedata.normalize("NFKD", sign)}:
            assert without_our_marks(f"{sign}verified{sign}")[0] != sign or sign in "]］﹈"


@pytest.mark.parametrize(
    "note",
    [
        *NOTES,
        "dropped - by -- verifier: x",
        "base \u200b-  version / - used: x",
        "Verifier failed: x",
        "\u200b verifier: x",
        "**verifier failed**: x",
        "v\u0435rifier failed",
        "__verifier failed: x",
    ],
)
def test_s15_a_note_that_looks_like_ours_is_known(note: str) -> None:
    assert looks_like_our_note(note)


@pytest.mark.parametrize(
    "note", ["", "checked by the verifier", "the base version is old", "verifiers disagree", "dropped"]
)
def test_s15_other_notes_are_not_ours(note: str) -> None:
    assert not looks_like_our_note(note)


# Hashes, S29


def by_hand(joined: str) -> str:
    return hashlib.sha256(joined.encode()).hexdigest()[:16]


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("src/client.ts changed in 14 of 17 commits", "src/client.ts changed in # of # commits"),
        ("src/client.ts changed in 15 of 18 commits", "src/client.ts changed in # of # commits"),
        ("  lost\tits \r\n parameter\u00a0ttl\n", "lost its parameter ttl"),
        ("v1.20.3", "v#.#.#"),
        ("007", "#"),
        ("1 2", "# #"),
        ("a#b", "a#b"),
        ("", ""),
        (" \n ", ""),
        ("Ünïcode — 中", "Ünïcode — 中"),
    ],
)
def test_s29_the_hash_folds_digits_and_white_space(text: str, folded: str) -> None:
    assert fact_hash("coupling.missing", "src/a1.ts", text) == by_hand(f"coupling.missing\nsrc/a1.ts\n{folded}")


def test_s29_the_hash_is_the_same_for_ever() -> None:
    text = "src/client.ts changed in 14 of 17 commits with src/session.ts, and not here"
    assert fact_hash("coupling.missing", "src/session.ts", text) == "5bb350377ee61ffb"
    assert fact_hash("coupling.missing", "src/session.ts", text.replace("14", "1")) == "5bb350377ee61ffb"


def test_s29_detector_file_and_text_each_count() -> None:
    hashes = {
        fact_hash(*given)
        for given in (
            ("a", "b", "c"),
            ("x", "b", "c"),
            ("a", "x", "c"),
            ("a", "b", "x"),
            ("a", "b1", "c"),
            ("a", "b2", "c"),
        )
    }
    assert len(hashes) == 6


@PROPERTY
@given(st.text(), st.text(), st.text(st.characters()))
def test_s29_any_text_has_a_hash(detector: str, file: str, text: str) -> None:
    assert re.fullmatch("[0-9a-f]{16}", fact_hash(detector, file, text))


def test_digest_takes_a_lone_surrogate_as_a_question_mark() -> None:
    assert digest("\ud800", 64) == hashlib.sha256(b"?").hexdigest()


# Size: each of these is read once, not once a character; what is quadratic would not come back.


@pytest.mark.parametrize(
    "piece",
    [
        "[",
        "]",
        "[]",
        "[ ",
        "[verified",
        "[[verified]",
        "_",
        "_a",
        "&",
        "&a",
        ":",
        ":a",
        "@",
        "#",
        "`",
        "``x",
        " ",
        "\n",
        "\u200b",
        "a",
        "0",
        "0a ",
        "-",
        "\\",
        "un",
        "dropped ",
        "dropped by ",
        "base version ",
        "\u0301",
        "v\u0301",
        "\u0301\u0323",
        "\ufdfa",
        "\ufb01",
        "<",
    ],
)
def test_a8_a_long_text_is_read_in_one_go(piece: str) -> None:
    text = piece * (300_000 // len(piece))
    for function in (one_line, visible, markdown, code_span, without_our_marks):
        assert isinstance(function(text), str)
    assert len(inert(text, 200)) <= 200
    assert len(inert(text, 100_000)) <= 100_000
    looks_like_our_note(text)
    fact_hash("a", "b", text)
