"""JSON that keeps its source text (B1, S21)."""

import json
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.unit.test_text import PROPERTY
from verifier import lossless
from verifier.lossless import JsonError

SPACE = st.sampled_from(["", " ", "\n", "\t", "\r\n", "  \n  "])

# Values as they can be written, not as they can be read.
ATOMS = st.one_of(
    st.sampled_from(
        [
            *("null", "true", "false", "0", "-0", "62.50", "1e2", "1E+2", "1E400", "-1e-400", "0.10", "9" * 5000),
            *('""', '"\\u0041"', '"\\/\\b\\f\\n\\r\\t\\"\\\\"', '"\\ud83d\\ude00"', '"\\ud800"', '"\\udc00\\ud800"'),
            *('{"a": 1, "a": 2}', "[ ]", "{\n}", '"NaN"', '"[\\"}"', '"\u2028\u202e\x7f"'),
        ]
    ),
    st.integers().map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.text().map(json.dumps),
    st.text().map(lambda text: json.dumps(text, ensure_ascii=False)),
)


def written(parts: list[str], spaces: list[str], ends: str) -> str:
    """An object or array with its own white space before and behind every part."""
    gaps = iter(spaces * (len(parts) + 1))
    return f"{ends[0]}{next(gaps)}{','.join(f'{next(gaps)}{part}{next(gaps)}' for part in parts)}{ends[1]}"


def containers(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    spaces = st.lists(SPACE, min_size=3, max_size=3)
    member = st.builds(
        lambda key, gap, value: f"{json.dumps(key)}{gap}:{gap}{value}", st.text(max_size=3), SPACE, inner
    )
    return st.one_of(
        st.builds(written, st.lists(inner, max_size=4), spaces, st.just("[]")),
        st.builds(written, st.lists(member, max_size=4), spaces, st.just("{}")),
    )


SOURCES = st.recursive(ATOMS, containers, max_leaves=8)
"""The source text of any JSON value, with white space, escapes and numbers of every spelling."""


@PROPERTY
@given(st.dictionaries(st.text(), SOURCES), SPACE, SPACE)
def test_b1_members_hand_out_the_source_text(fields: dict[str, str], before: str, behind: str) -> None:
    inner = ",".join(f"{before}{json.dumps(name)}{behind}:{before}{source}{behind}" for name, source in fields.items())
    text = f"{before}{{{inner or before}}}{behind}"
    assert lossless.members(text) == fields
    assert list(lossless.members(text)) == list(fields)


@PROPERTY
@given(st.lists(SOURCES), SPACE, SPACE)
def test_b1_elements_hand_out_the_source_text(items: list[str], before: str, behind: str) -> None:
    text = f"{behind}[{','.join(f'{before}{source}{behind}' for source in items) or before}]{before}"
    assert lossless.elements(text) == items


@PROPERTY
@given(
    st.dictionaries(st.one_of(st.text(), st.just("\ud800\udc00\ud800")), SOURCES), st.sampled_from(["", "  ", "    "])
)
def test_b1_what_is_composed_comes_apart_again(fields: dict[str, str], indent: str) -> None:
    text = lossless.compose(fields, indent)
    text.encode()
    read = lossless.members(text)
    assert list(read.values()) == list(fields.values())
    assert [name.encode("utf-16", "surrogatepass") for name in read] == [
        name.encode("utf-16", "surrogatepass") for name in fields
    ]


@PROPERTY
@given(st.lists(SOURCES), st.sampled_from(["", "  "]))
def test_b1_an_array_comes_apart_again(items: list[str], indent: str) -> None:
    assert lossless.elements(lossless.array(items, indent)) == items
    assert lossless.elements(lossless.array(iter(items), indent)) == items


def test_b1_how_a_document_is_laid_out() -> None:
    inner = lossless.array([lossless.compose({"a": "1", "b": "2.50"}, "    ")], "  ")
    assert lossless.compose({"x": inner, "y": "[]", "z": lossless.compose({}), "é": lossless.array([])}) == (
        '{\n  "x": [\n    {\n      "a": 1,\n      "b": 2.50\n    }\n  ],\n  "y": [],\n  "z": {},\n  "é": []\n}'
    )


@PROPERTY
@given(st.text(st.characters()))
@example("\ud800")
@example("\u2028\x7f\x00")
def test_b1_a_quoted_text_is_that_text_and_utf_8_can_hold_it(text: str) -> None:
    quoted = lossless.quote(text)
    quoted.encode()
    assert json.loads(quoted) == text
    assert "\n" not in quoted


# Values


@PROPERTY
@given(
    st.recursive(
        st.one_of(
            st.none(),
            st.booleans(),
            st.integers(1 - 10**18, 10**18 - 1),
            st.floats(allow_nan=False, allow_infinity=False),
            st.text(),
        ),
        lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
        max_leaves=10,
    )
)
def test_values_are_those_of_json(value: Any) -> None:
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        assert lossless.loads(text) == value
        assert lossless.value(text) == value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-0", 0),
        ("1e2", 100.0),
        ("1E400", float("inf")),
        ("9" * 18, 10**18 - 1),
        ("9" * 5000, float("inf")),
        (" 1 ", 1),
        ('"\\u0041"', "A"),
        ('"\\ud83d\\ude00"', "\U0001f600"),
        ('"\\uD83D\\uDE00 \\ud83d \\ude00\\ud83d"', "\U0001f600 \ufffd \ufffd\ufffd"),
        ('"\\\\ud800 \\"\\\\\\ud800"', '\\ud800 "\\\ufffd'),
        ('"\\ud83d\\u0041"', "\ufffdA"),
        ('"\ud800"', "\ufffd"),
    ],
)
def test_values_that_python_reads_otherwise(text: str, expected: object) -> None:
    for read in (lossless.loads, lossless.value):
        assert read(text) == expected
        assert type(read(text)) is type(expected)


@PROPERTY
@given(SOURCES)
def test_b1_strings_that_are_read_can_be_written_again(source: str) -> None:
    json.dumps(lossless.value(source), ensure_ascii=False).encode()


def test_a_key_that_stands_twice_is_an_error_where_values_are_read_whole() -> None:
    with pytest.raises(JsonError, match=re.escape('the key "a" stands twice in one object')):
        lossless.loads('[{"a": 1, "b": {"a": 2}, "\\u0061": 3}]')
    assert lossless.value('{"a": 1, "a": 2}') == {"a": 2}


# What is refused

NOT_JSON = [
    ("", "line 1, column 1: expected value"),
    (" \n ", "line 2, column 2: expected value"),
    ("nul", "line 1, column 1: expected value"),
    ("'a'", "line 1, column 1: expected value"),
    ("NaN", "line 1, column 1: expected a number, not NaN"),
    ('["NaN", "\\"Infinity",\n  -Infinity]', "line 2, column 3: expected a number, not -Infinity"),
    ('{"a": [Infinity]}', "line 1, column 8: expected a number, not Infinity"),
    ("[1,]", "line 1, column 4"),
    ("[1 2]", "line 1, column 4"),
    ("[1", "line 1, column 3"),
    ("[", "line 1, column 2"),
    ("{", "line 1, column 2"),
    ('{"a"}', "line 1, column 5"),
    ('{"a":}', "line 1, column 6"),
    ('{"a": 1,}', "line 1, column"),
    ('{"a": 1 "b": 2}', "line 1, column 9"),
    ("{a: 1}", "line 1, column 2"),
    ("{1: 1}", "line 1, column 2"),
    ("01", "line 1, column 2: expected the end of the document"),
    ("+1", "line 1, column 1: expected value"),
    (".5", "line 1, column 1: expected value"),
    ("1.", "line 1, column 2: expected the end of the document"),
    ("0x10", "line 1, column 2: expected the end of the document"),
    ("{} x", "line 1, column 4: expected the end of the document"),
    ("[]\n]", "line 2, column 1: expected the end of the document"),
    ('"a\nb"', "line 1, column 3: invalid control character"),
    ('"a\tb"', "line 1, column 3: invalid control character"),
    ('"\x00"', "line 1, column 2: invalid control character"),
    ('"a', "line 1, column 1: unterminated string"),
    ('"\\x41"', "line 1, column 2: invalid \\escape"),
    ('"\\u12"', "line 1, column 3: invalid \\uXXXX escape"),
    ("\ufeff{}", "line 1, column 1: expected value"),
    ("\u00a0{}", "line 1, column 1: expected value"),
    ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
    ('{"a":' * 100_000 + "1" + "}" * 100_000, "nested too deeply"),
]


@pytest.mark.parametrize(("text", "said"), NOT_JSON, ids=[text[:20] for text, _ in NOT_JSON])
def test_what_json_refuses_is_refused(text: str, said: str) -> None:
    for read in (lossless.loads, lossless.value):
        with pytest.raises(JsonError, match=re.escape(said)):
            read(text)
    for opened in (lossless.members, lossless.elements):
        with pytest.raises(JsonError) as caught:
            opened(text)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", [text for text, _ in NOT_JSON if text not in ("", " \n ")], ids=lambda text: text[:20])
def test_what_json_refuses_is_refused_inside(text: str) -> None:
    with pytest.raises(JsonError):
        lossless.members(f'{{"a": {text}}}')
    with pytest.raises(JsonError):
        lossless.elements(f"[{text}]")


@PROPERTY
@given(
    st.one_of(
        st.text(),
        st.text(st.sampled_from('{}[]",:\\ \n1e-tnu')),
        st.builds(
            lambda source, at, sign: source[: at % (len(source) + 1)] + sign + source[at % (len(source) + 1) :],
            SOURCES,
            st.integers(0),
            st.sampled_from([*'{}[]",: \n\\', ""]),
        ),
    )
)
def test_b1_what_json_takes_is_taken_and_what_it_refuses_is_refused(text: str) -> None:
    def constant(name: str) -> None:
        raise ValueError(name)

    try:
        value = json.loads(text, parse_constant=constant, parse_int=str, object_pairs_hook=list)
    except ValueError:
        taken = None
    else:
        taken = text.lstrip()[0]
    for opened, bracket in ((lossless.members, "{"), (lossless.elements, "[")):
        try:
            parts = len(opened(text))
        except JsonError as error:
            parts = -1
            twice = "stands twice" in str(error)
        if parts >= 0:
            assert taken == bracket
            assert parts == len(value)
        else:
            assert taken != bracket or twice


@pytest.mark.parametrize("text", ["[]", "1", '"{}"', "null", " [{}]"])
def test_members_are_of_objects_only(text: str) -> None:
    with pytest.raises(JsonError, match="expected an object"):
        lossless.members(text)


@pytest.mark.parametrize("text", ["{}", "1", '"[]"', "null", ' {"a": []}'])
def test_elements_are_of_arrays_only(text: str) -> None:
    with pytest.raises(JsonError, match="expected an array"):
        lossless.elements(text)


def test_b2_a_hostile_name_is_named_briefly_and_in_ascii() -> None:
    name = json.dumps("\u202e\n\x1b]" + "x" * 100_000)
    for text in (f"{{{name}: 1, {name}: 2}}", f'{{"a": 1, {name}: 1, {name}: 2}}'):
        for read in (lossless.members, lossless.loads):
            with pytest.raises(JsonError) as caught:
                read(text)
            assert str(caught.value).isascii()
            assert str(caught.value).isprintable()
            assert len(str(caught.value)) < 500


def test_s33_canonical_json_is_sorted_and_dense() -> None:
    assert lossless.canonical({"b": [1, {"z": "é", "a": None}], "a": True}) == '{"a":true,"b":[1,{"a":null,"z":"é"}]}'


@pytest.mark.parametrize(
    "piece", ["[", '"', "\\", '"\\', "1", "1,", " ", "-Infinity", '"a":1,', "\\ud800", '"\\\\', "{"]
)
def test_a_long_text_is_read_in_one_go(piece: str) -> None:
    for ends in (("", ""), ("[", "]"), ('{"a":', "}"), ('"', '"'), ('["', '"]'), ("[", ",NaN]"), ('["', '",NaN]')):
        text = ends[0] + piece * (300_000 // len(piece)) + ends[1]
        for read in (lossless.loads, lossless.value, lossless.members, lossless.elements):
            try:
                read(text)
            except JsonError:
                continue
