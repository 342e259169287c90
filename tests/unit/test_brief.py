"""What is a brief and what is not (B1, B2, B3)."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.test_lossless import SOURCES
from tests.unit.test_text import CONTROLS, INVISIBLE, PROPERTY
from verifier.brief.document import NotABrief, read_brief
from verifier.brief.layout import as_it_came

Sources = Mapping[str, str | None]

SHA = '"0123456789abcdef0123456789abcdef01234567"'


def written(came: Sources, changed: Sources | None) -> str:
    """An object of source texts, with some of them changed, added or (None) left out."""
    fields = {**came, **(changed or {})}
    return "{" + ", ".join(f"{json.dumps(name)}: {text}" for name, text in fields.items() if text is not None) + "}"


def source(
    top: Sources | None = None,
    *,
    captain: Sources | None = None,
    fact: Sources | None = None,
    file: Sources | None = None,
    hunk: Sources | None = None,
    check: Sources | None = None,
) -> str:
    """A brief with one item of each kind, as source text, with what a test changes of each level."""
    facts = written(
        {"id": '"contract.api"', "file": '"src/api.ts"', "line": "42", "strength": '"strong"', "text": '"lost ttl"'},
        fact,
    )
    hunks = written({"line": "3", "weight": "5.0", "reason": '"error path rewritten"'}, hunk)
    files = written({"file": '"src/session.ts"', "hunks": f"[{hunks}]"}, file)
    checks = written({"file": '"src/a.ts"', "line": "1", "text": '"Is it?"'}, check)
    return written(
        {
            "version": "1",
            "repository": '"acme/shop"',
            "pullRequest": "42",
            "base": SHA,
            "head": SHA,
            "score": "62",
            "tier": '"T2"',
            "policy": '{"decision": "human-review"}',
            "captain": written({"priority": '"careful"', "why": '"see below"', "facts": f"[{facts}]"}, captain),
            "reviewFirst": f"[{files}]",
            "checks": f"[{checks}]",
            "risky_snippets": "[]",
            "notes": '["first"]',
        },
        top,
    )


def refusal(data: bytes | str) -> str:
    """What is said of a document that is not a brief; always one short line without anything invisible."""
    with pytest.raises(NotABrief) as caught:
        read_brief(data if isinstance(data, bytes) else data.encode())
    said = str(caught.value)
    assert said.startswith("$")
    assert len(said) < 500
    assert not {*CONTROLS, *INVISIBLE} & {*said}
    said.encode()
    return said


def test_the_brief_of_these_tests_is_one() -> None:
    brief = read_brief(source().encode())
    assert [(fact.id, fact.file, fact.line, fact.strength, fact.text) for fact in brief.facts] == [
        ("contract.api", "src/api.ts", 42, "strong", "lost ttl")
    ]
    assert [(hunk.line, hunk.weight, hunk.reason) for hunk in brief.files[0].hunks] == [
        (3, 5.0, "error path rewritten")
    ]
    assert [(check.file, check.line, check.text) for check in brief.checks] == [("src/a.ts", 1, "Is it?")]
    assert (brief.captain.priority, brief.captain.why, brief.model.notes) == ("careful", "see below", ["first"])


# What is required, B2


def test_b2_three_fields_are_required_and_may_be_empty() -> None:
    brief = read_brief(b'{"captain": {"facts": []}, "reviewFirst": [], "checks": []}')
    assert (brief.facts, brief.files, brief.checks, brief.model.version) == ([], [], [], 1)
    assert (brief.captain.priority, brief.captain.why, brief.model.notes) == (None, None, [])


@pytest.mark.parametrize(
    "name",
    ["version", "repository", "pullRequest", "base", "head", "score", "tier", "policy", "risky_snippets", "notes"],
)
def test_b2_the_rest_of_the_top_is_optional(name: str) -> None:
    read_brief(source({name: None}).encode())


@pytest.mark.parametrize(
    "changes",
    [
        {"captain": {"priority": None}},
        {"captain": {"why": None}},
        {"fact": {"line": None}},
        {"hunk": {"weight": None}},
        {"hunk": {"reason": None}},
        {"check": {"line": None}},
        {"captain": {"why": "null"}},
        {"fact": {"line": "null", "short": "null", "partner": "null"}},
        {"hunk": {"weight": "null"}},
        {"hunk": {"line": "0", "weight": "0"}},
        {"hunk": {"weight": "7"}},
        {"hunk": {"weight": "-0"}},
        {"check": {"line": "null"}},
        {"file": {"hunks": "[]"}},
        {"fact": {"text": '""', "short": '""'}},
        {"fact": {"text": '"\\ud83d"', "file": '"\\udc00"'}},
        {"top": {"base": f'"{"0" * 64}"', "repository": "null", "base2": "1"}},
        {"top": {"version": "1", "pullRequest": "-0", "notes": "[]"}},
    ],
)
def test_b2_what_may_be_left_out_or_empty(changes: dict[str, Any]) -> None:
    read_brief(source(**changes).encode())


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"top": {"captain": None}}, "$.captain: this field is required"),
        ({"top": {"reviewFirst": None}}, "$.reviewFirst: this field is required"),
        ({"top": {"checks": None}}, "$.checks: this field is required"),
        ({"captain": {"facts": None}}, "$.captain.facts: this field is required"),
        ({"fact": {"id": None}}, "$.captain.facts[0].id: this field is required"),
        ({"fact": {"file": None}}, "$.captain.facts[0].file: this field is required"),
        ({"fact": {"strength": None}}, "$.captain.facts[0].strength: this field is required"),
        ({"fact": {"text": None}}, "$.captain.facts[0].text: this field is required"),
        ({"file": {"file": None}}, "$.reviewFirst[0].file: this field is required"),
        ({"file": {"hunks": None}}, "$.reviewFirst[0].hunks: this field is required"),
        ({"hunk": {"line": None}}, "$.reviewFirst[0].hunks[0].line: this field is required"),
        ({"check": {"file": None}}, "$.checks[0].file: this field is required"),
        ({"check": {"text": None}}, "$.checks[0].text: this field is required"),
    ],
)
def test_b2_a_required_field_that_is_missing(changes: dict[str, Any], said: str) -> None:
    assert refusal(source(**changes)) == said


# Wrong types and values, B2

STRING, TEXT = "expected a string", "expected a string that is not empty"
ARRAY, OBJECT = "expected an array", "expected an object"
WHOLE, NUMBER = "expected a whole number", "expected a number"
HEX = "expected 40 (or 64) lower-case hex digits"
VERSION = "expected 1, the version of the format that this verifier reads"
STRENGTH = 'expected "strong" or "info"'
POSITIVE, NONNEGATIVE = "expected a number from 1 up", "expected a number from 0 up"

LINES = [
    ("-1", POSITIVE),
    ("1.0", WHOLE),
    ("1e0", WHOLE),
    ("true", WHOLE),
    ('"1"', WHOLE),
    ("[1]", WHOLE),
    ("{}", WHOLE),
    ("1e999", WHOLE),
]
WEIGHTS = [
    ("-1", NONNEGATIVE),
    ("-0.001", NONNEGATIVE),
    ("1e999", "expected a finite number"),
    ("-1e999", "expected a finite number"),
    ('"1"', NUMBER),
    ("true", NUMBER),
    ("[]", NUMBER),
]
WRONG = [
    *(("top", "version", text, VERSION, "$.version") for text in ("2", "0", "-1", "1.0", '"1"', "null", "true", "[]")),
    *(("top", "repository", text, STRING, "$.repository") for text in ("1", "{}", "[]", "false")),
    *(("top", "pullRequest", text, WHOLE, "$.pullRequest") for text in ('"42"', "42.0", "true", "[]")),
    *(("top", name, text, STRING, f"$.{name}") for name in ("base", "head") for text in ("1", "[]")),
    *(
        ("top", name, json.dumps(text), HEX, f"$.{name}")
        for name in ("base", "head")
        for text in ("", "main", "0" * 39, "0" * 41, "G" * 40, "A" * 40, "0" * 40 + "\n", " " + "0" * 40, "0" * 56)
    ),
    *(("top", "captain", text, OBJECT, "$.captain") for text in ("null", "[]", "1", '"{}"')),
    *(("top", "reviewFirst", text, ARRAY, "$.reviewFirst") for text in ("null", "{}", "1", '"[]"')),
    *(("top", "reviewFirst", f"[{text}]", OBJECT, "$.reviewFirst[0]") for text in ("null", "[]", "1", '"a"')),
    *(("top", "checks", text, ARRAY, "$.checks") for text in ("null", "{}", "1", '"[]"')),
    *(("top", "checks", f"[{text}]", OBJECT, "$.checks[0]") for text in ("null", "[]", "1", '"a"')),
    *(("top", "notes", text, ARRAY, "$.notes") for text in ("null", "{}", "1", '"a"')),
    *(("top", "notes", f'["a", {text}]', STRING, "$.notes[1]") for text in ("null", "{}", "1", "[]", "true")),
    *(("captain", "why", text, STRING, "$.captain.why") for text in ("1", "{}", "[]", "true")),
    *(("captain", "facts", text, ARRAY, "$.captain.facts") for text in ("null", "{}", "1", '"[]"')),
    *(("captain", "facts", f"[{text}]", OBJECT, "$.captain.facts[0]") for text in ("null", "[]", "1", '"a"')),
    *(
        ("fact", name, text, STRING, f"$.captain.facts[0].{name}")
        for name in ("id", "file", "text")
        for text in ("null", "1", "{}")
    ),
    *(
        ("fact", name, text, STRING, f"$.captain.facts[0].{name}")
        for name in ("short", "partner")
        for text in ("1", "[]")
    ),
    *(("fact", name, '""', TEXT, f"$.captain.facts[0].{name}") for name in ("id", "file", "partner")),
    *(
        ("fact", "strength", text, STRENGTH, "$.captain.facts[0].strength")
        for text in ('"weak"', '"Strong"', '"info "', '""', "null", "1", "[]", '["strong"]', "true")
    ),
    *(
        ("fact", "line", text, said, "$.captain.facts[0].line")
        for text, said in [*LINES, ("0", POSITIVE), ("-0", POSITIVE)]
    ),
    *(("check", "line", text, said, "$.checks[0].line") for text, said in [*LINES, ("0", POSITIVE)]),
    *(
        ("hunk", "line", text, NONNEGATIVE if said == POSITIVE else said, "$.reviewFirst[0].hunks[0].line")
        for text, said in [*LINES, ("null", WHOLE)]
    ),
    *(("hunk", "weight", text, said, "$.reviewFirst[0].hunks[0].weight") for text, said in WEIGHTS),
    *(("hunk", "reason", text, STRING, "$.reviewFirst[0].hunks[0].reason") for text in ("null", "1", "[]")),
    *(("file", "file", text, said, "$.reviewFirst[0].file") for text, said in (("1", STRING), ('""', TEXT))),
    *(("file", "hunks", text, ARRAY, "$.reviewFirst[0].hunks") for text in ("null", "{}", "1")),
    *(("file", "hunks", f"[{text}]", OBJECT, "$.reviewFirst[0].hunks[0]") for text in ("null", "[]", "1")),
    *(("check", name, text, STRING, f"$.checks[0].{name}") for name in ("file", "text") for text in ("null", "1")),
    ("check", "file", '""', TEXT, "$.checks[0].file"),
]


@pytest.mark.parametrize(
    ("level", "name", "text", "said", "path"), WRONG, ids=[f"{path} {text}" for *_, text, _, path in WRONG]
)
def test_b2_a_wrong_type_or_value(level: str, name: str, text: str, said: str, path: str) -> None:
    shown = text.removeprefix('["a", ').removesuffix("]") if path == "$.notes[1]" else text
    shown = shown[1:-1] if path.endswith("[0]") else shown
    assert refusal(source(**{level: {name: text}})) == f"{path}: {said}, not {shown}"


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_b2_a_number_that_json_does_not_know(constant: str) -> None:
    text = source(hunk={"weight": constant})
    at = text.index(constant) + 1
    assert refusal(text) == f"$: line 1, column {at}: expected a number, not {constant}"
    assert "expected a number" in refusal(source({"score": constant}))


def test_b2_the_place_of_the_wrong_one_among_many_is_named() -> None:
    check = '{"file": "a", "text": "b"}'
    assert refusal(source({"checks": f"[{check}, {check}, 7]"})) == "$.checks[2]: expected an object, not 7"
    wrong = '{"file": "a", "text": "b", "line": 0}'
    assert refusal(source({"checks": f"[{check}, {wrong}]"})) == f"$.checks[1].line: {POSITIVE}, not 0"


def test_b2_one_error_is_told_where_there_are_many() -> None:
    said = refusal(source({"version": "9", "base": "1"}, fact={"strength": "7", "line": "0"}, check={"text": None}))
    assert said == f"$.version: {VERSION}, not 9"


# Documents that are none, B2


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "$: expected an object, not nothing"),
        (b" \n ", "$: expected an object, not nothing"),
        (b"not a brief\n", "$: expected an object, not not a brief"),
        (b"<!DOCTYPE html>\n<html>", "$: expected an object, not <!DOCTYPE html> <html>"),
        (b"[]", "$: expected an object, not []"),
        (b"null", "$: expected an object, not null"),
        (b'"{}"', '$: expected an object, not "{}"'),
        (b"{}", "$.captain: this field is required"),
        (b"{", "$: line 1, column 2: expected a name in double quotes"),
        (b"{'a': 1}", "$: line 1, column 2: expected a name in double quotes"),
        (b"\xff\xfe{\x00}\x00", "$: expected UTF-8; byte 0 is not"),
        (b'{"a": "\xe9"}', "$: expected UTF-8; byte 7 is not"),
        (b'{"a": "\xed\xa0\x80"}', "$: expected UTF-8; byte 7 is not"),
        (b"\xef\xbb\xbf\xef\xbb\xbf{}", "$: expected an object, not {}"),
        (b'{"a": "b\nc"}', "$: line 1, column 9: invalid control character"),
        (b'{"a": "\x00"}', "$: line 1, column 8: invalid control character"),
        (b"\x1b[31m{}", "$: expected an object, not [31m{}"),
        (b'{"a": 1', "$: line 1, column 8: expected a comma or the end of the object"),
        (b'{"a": 1,}', "$: line 1, column 9: expected a name in double quotes"),
        (b'{"a": 01}', "$: line 1, column 8: expected a comma or the end of the object"),
        (b"[" * 100_000, "$: expected an object, not " + "[" * 58 + "…"),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "$: nested too deeply"),
        (b'{"a": ' * 100_000 + b"1" + b"}" * 100_000, "$: nested too deeply"),
    ],
    ids=lambda given: repr(given[:20]),
)
def test_b2_what_is_not_json_or_no_object(data: bytes, said: str) -> None:
    assert refusal(data) == said


@pytest.mark.parametrize("behind", ["x", "{}", ",", "}", "\x00", "\u00a0"])
def test_b2_trailing_text(behind: str) -> None:
    text = source()
    assert refusal(text + "\n" + behind) == "$: line 2, column 1: expected the end of the document"


def test_b2_a_byte_order_mark_and_white_space_around_are_no_error() -> None:
    brief = read_brief(b"\xef\xbb\xbf \r\n" + source().encode() + b"\n\n")
    assert brief.parts.top["score"] == "62"


def test_b2_a_brief_that_has_been_verified_is_none_before_the_pass() -> None:
    text = source({"verification": "null"})
    assert refusal(text) == "$.verification: expected a brief before its verification; this one has been verified"
    assert read_brief(text.encode(), verified=True).parts.top["verification"] == "null"


@pytest.mark.parametrize(
    ("level", "path"),
    [
        ("top", "$"),
        ("captain", "$.captain"),
        ("fact", "$.captain.facts[0]"),
        ("file", "$.reviewFirst[0]"),
        ("hunk", "$.reviewFirst[0].hunks[0]"),
        ("check", "$.checks[0]"),
    ],
)
def test_b2_a_key_that_stands_twice_in_an_object_that_is_read(level: str, path: str) -> None:
    text = source(**{level: {"x": "1", "y": "2"}}).replace('"y"', '"\\u0078"')
    assert refusal(text) == f'{path}: the key "x" stands twice in one object'
    read_brief(source(**{level: {"x": '{"a": 1, "a": 2}'}}).encode())


def deep(level: str, name: str, depth: int) -> bytes:
    return source(**{level: {name: "[" * depth + "]" * depth}}).encode()


@pytest.mark.parametrize(
    ("level", "name"), [("fact", "text"), ("captain", "priority"), ("top", "notes"), ("hunk", "line"), ("check", "x")]
)
def test_b2_no_depth_escapes_as_another_error(level: str, name: str) -> None:
    """B2: what can just be scanned may be too deep to be read a few calls further in."""
    for depth in range(1, 1200):
        try:
            read_brief(deep(level, name, depth))
        except NotABrief as error:
            assert len(str(error)) < 200  # noqa: PT017


HOSTILE = "\u202e\x1b[31m\u2028::error::\u200b\ud800" + "x" * 100_000


@pytest.mark.parametrize(
    ("level", "name"),
    [
        ("fact", "strength"),
        ("top", "version"),
        ("top", "base"),
        ("top", "captain"),
        ("hunk", "line"),
        ("check", "line"),
        ("top", "checks"),
    ],
)
def test_b2_hostile_text_in_an_error_is_short_and_visible(level: str, name: str) -> None:
    for text in (
        json.dumps(HOSTILE),
        json.dumps(HOSTILE.replace("\ud800", ""), ensure_ascii=False).replace("\x1b", " "),
        "[" * 400 + "]" * 400,
    ):
        assert len(refusal(source(**{level: {name: text}}))) < 250
    twice = json.dumps(HOSTILE)
    assert len(refusal(f"{{{twice}: 1, {twice}: 2}}")) < 250


@PROPERTY
@given(st.one_of(st.binary(), SOURCES.map(str.encode)))
def test_b2_anything_else_gets_one_short_sentence(data: bytes) -> None:
    refusal(data)


FIELDS = st.sampled_from(
    [
        ("top", name)
        for name in (
            "version",
            "repository",
            "pullRequest",
            "base",
            "head",
            "captain",
            "reviewFirst",
            "checks",
            "notes",
        )
    ]
    + [("captain", "why"), ("captain", "facts")]
    + [("fact", name) for name in ("id", "file", "line", "strength", "text", "short", "partner")]
    + [("file", "file"), ("file", "hunks"), ("hunk", "line"), ("hunk", "weight"), ("hunk", "reason")]
    + [("check", "file"), ("check", "line"), ("check", "text")]
)


@PROPERTY
@given(FIELDS, SOURCES)
def test_b2_any_value_in_a_field_that_is_read_is_taken_or_refused_in_one_sentence(
    at: tuple[str, str], value: str
) -> None:
    text = source(**{at[0]: {at[1]: value}})
    try:
        brief = read_brief(text.encode())
    except NotABrief:
        assert refusal(text)
    else:
        brief.model.model_dump_json()


# What is not read, B1

OPAQUE = [
    *(("top", name) for name in ("score", "tier", "policy", "risky_snippets", "x")),
    ("captain", "priority"),
    *((level, "x") for level in ("captain", "fact", "file", "hunk", "check")),
]


@pytest.mark.parametrize("at", OPAQUE)
@pytest.mark.parametrize(
    "value",
    [
        "62.50",
        "1e2",
        "-0",
        "1E400",
        "9" * 5000,
        "null",
        '"\\u0041"',
        '"\\ud800"',
        "[ 1 ,\n\t2 ]",
        '{"a": 1, "a": {"b" : 2}}',
        "[" * 300 + "]" * 300,
        '""',
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else None,
)
def test_b1_any_value_may_stand_in_an_opaque_field(at: tuple[str, str], value: str) -> None:
    brief = read_brief(source(**{at[0]: {at[1]: value}}).encode())
    parts = brief.parts
    fields = {
        "top": parts.top,
        "captain": parts.captain,
        "fact": parts.facts[0],
        "file": parts.files[0],
        "hunk": parts.hunks[0][0],
        "check": parts.checks[0],
    }
    assert fields[at[0]][at[1]] == value
    model = brief.model
    assert (model.score, model.tier, model.policy, model.risky_snippets) == (None, None, None, None)


@PROPERTY
@given(st.sampled_from(OPAQUE), SOURCES)
def test_b1_every_value_may_stand_in_an_opaque_field(at: tuple[str, str], value: str) -> None:
    brief = read_brief(source(**{at[0]: {at[1]: value}}).encode())
    assert (
        value
        in (
            brief.parts.top
            | brief.parts.captain
            | brief.parts.facts[0]
            | brief.parts.files[0]
            | brief.parts.hunks[0][0]
            | brief.parts.checks[0]
        ).values()
    )


# Order and number, B3


def test_b3_an_order_that_is_not_ours_is_left_as_it_came() -> None:
    def fact(strength: str, text: str) -> str:
        return f'{{"id": "a", "file": "f", "strength": "{strength}", "text": "{text}"}}'

    def file(name: str, weight: str) -> str:
        return f'{{"file": "{name}", "hunks": [{{"line": 9, "weight": {weight}}}, {{"line": 1, "weight": 8}}]}}'

    facts = ", ".join((fact("info", "1"), fact("strong", "2"), fact("info", "3"), fact("strong", "4")))
    files = ", ".join((file("light", "0.5"), file("heavy", "9"), file("middle", "3")))
    brief = read_brief(source({"reviewFirst": f"[{files}]"}, captain={"facts": f"[{facts}]"}).encode())
    layout = as_it_came(brief)
    assert [fact.text for fact in layout.facts] == ["1", "2", "3", "4"]
    assert [fact.strength for fact in layout.facts] == ["info", "strong", "info", "strong"]
    assert [file.file for file in layout.files] == ["light", "heavy", "middle"]
    assert [[hunk.line for hunk in file.hunks] for file in layout.files] == [[9, 1]] * 3


@pytest.mark.parametrize("count", [0, 1, 1000])
def test_b2_any_number_of_items(count: int) -> None:
    item = '{"file": "f", "line": 7, "text": "t"}'
    fact = '{"id": "a", "file": "f", "strength": "info", "text": "t"}'
    hunks = ", ".join(['{"line": 1}'] * count)
    file = f'{{"file": "f", "hunks": [{hunks}]}}'
    text = source(
        {"checks": f"[{', '.join([item] * count)}]", "reviewFirst": f"[{', '.join([file] * (2 if count else 0))}]"},
        captain={"facts": f"[{', '.join([fact] * count)}]"},
    )
    layout = as_it_came(read_brief(text.encode()))
    assert (len(layout.facts), len(layout.checks)) == (count, count)
    assert sum(len(file.hunks) for file in layout.files) == 2 * count
    assert [check.index for check in layout.checks] == list(range(count))
