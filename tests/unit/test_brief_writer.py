"""A brief that is written keeps what was not read, byte for byte (B1, S21)."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.test_brief import source
from tests.unit.test_lossless import SOURCES
from tests.unit.test_text import PROPERTY
from verifier.brief.document import Brief, read_brief
from verifier.brief.layout import Layout, Shown, as_it_came
from verifier.brief.writer import write_brief
from verifier.lossless import members

VERIFICATION = '{"status": "verified"}'

RICH = r"""
{ "before" : [ 1 ,	2.50 ] ,
  "version": 1, "generator": {"name": "opendrs" , "name": "twice"},
  "score":62.50, "tier" : "T\u0032", "policy": {"decision": "human-review",
      "share" : 1e2 , "zero": -0, "huge": 1E400, "half": "\ud800", "list": [ ]  },
  "captain": {"x": [1, 2 ], "priority": "quick\u0020confirm", "why": "caf\u00e9", "facts": [
    { "x" : {"a":1,"a":2}, "id": "contract.api", "file": "src\/api.ts", "line": 42, "strength": "strong",
      "text": "lost \u0041", "short":"s", "y": 0.10 },
    {"id": "a", "file": "f", "strength": "info", "text": "t"}
  ], "y": null},
  "reviewFirst": [ {"x": 1.0, "file": "f", "hunks": [
      {"x": [ ], "line": 3, "weight": 5.00, "reason": "r\u0041", "y": {"z" : 1} }, {"line": 4}], "y": "\u00e9"},
    {"file": "g", "hunks": []} ],
  "checks": [{"x": 1E2, "file": "f", "line": 1, "text": "\u0049s it?", "y": [ ]}],
  "risky_snippets": [ {"line": 1.50} ], "notes": [ "a\u0041" , "b" ],
  "after": "\/"
}
"""


def brief(text: str) -> Brief:
    return read_brief(text.encode())


def unchanged(came: Brief, written: str) -> None:
    """Asserts that nothing but `verification` was added."""
    written.encode()
    again = read_brief(written.encode(), verified=True)
    read = {"captain", "reviewFirst", "checks"}
    assert list(again.parts.top) == [*came.parts.top, "verification"]
    for name, text in came.parts.top.items():
        assert name in read or again.parts.top[name] == text
    assert list(again.parts.captain) == list(came.parts.captain)
    for name, text in came.parts.captain.items():
        assert name == "facts" or again.parts.captain[name] == text
    for file, before in zip(again.parts.files, came.parts.files, strict=True):
        assert list(file) == list(before)
        assert {**file, "hunks": ""} == {**before, "hunks": ""}
    for now, before in zip(
        (*again.parts.facts, *again.parts.checks, *(hunk for hunks in again.parts.hunks for hunk in hunks)),
        (*came.parts.facts, *came.parts.checks, *(hunk for hunks in came.parts.hunks for hunk in hunks)),
        strict=True,
    ):
        assert list(now.items()) == list(before.items())
    assert again.model == came.model


def test_b1_what_came_goes_out_as_it_came() -> None:
    came = brief(RICH)
    unchanged(came, write_brief(came, as_it_came(came), VERIFICATION))


def test_s21_the_gate_is_byte_for_byte_the_same() -> None:
    came = brief(RICH)
    sunk = [replace(item, suffix="[downgraded by verifier: x]", sunk=True) for item in as_it_came(came).facts]
    layout = Layout((replace(sunk[1], strength="info"),), (), (), why="new", notes=("dropped by verifier: docs",))
    for chosen in (layout, Layout((), (), ()), as_it_came(came)):
        top = members(write_brief(came, chosen, VERIFICATION))
        assert top["score"] == "62.50"
        assert top["tier"] == r'"T\u0032"'
        assert top["policy"] == members(RICH)["policy"]
        assert members(top["captain"])["priority"] == r'"quick\u0020confirm"'
        for name in ("before", "generator", "risky_snippets", "after"):
            assert top[name] == members(RICH)[name]


def test_b1_only_what_the_layout_changes_is_written_anew() -> None:
    came = brief(RICH)
    layout = as_it_came(came)
    hunks = layout.files[0].hunks
    changed = Layout(
        facts=(layout.facts[1], replace(layout.facts[0], strength="info", suffix="[verified]")),
        files=(layout.files[1], replace(layout.files[0], hunks=(replace(hunks[1], suffix="[unverified]"), hunks[0]))),
        checks=(),
        why="two; facts",
        notes=("ours: \ud800 1",),
    )
    again = read_brief(write_brief(came, changed, VERIFICATION).encode(), verified=True)
    parts, before = again.parts, came.parts
    assert list(parts.top) == [*before.top, "verification"]
    assert parts.facts[0] == before.facts[1]
    assert parts.facts[1] == before.facts[0] | {"strength": '"info"', "text": '"lost A [verified]"'}
    assert list(parts.facts[1]) == list(before.facts[0])
    assert parts.files[1] | {"hunks": ""} == before.files[0] | {"hunks": ""}
    assert parts.hunks == ((), (before.hunks[0][1] | {"reason": '"[unverified]"'}, before.hunks[0][0]))
    assert parts.checks == ()
    assert parts.captain["why"] == '"two; facts"'
    assert list(parts.captain) == list(before.captain)
    assert again.parts.top["notes"] == '[\n    "a\\u0041",\n    "b",\n    "ours: \\ud800 1"\n  ]'


def test_b1_the_brief_that_was_read_is_not_changed_by_writing() -> None:
    came, fresh = brief(RICH), brief(RICH)
    layout = Layout(
        tuple(replace(item, strength="info", suffix="[verified]") for item in as_it_came(came).facts),
        (),
        (),
        "w",
        ("n",),
    )
    first = write_brief(came, layout, VERIFICATION)
    assert came == fresh
    assert write_brief(came, layout, VERIFICATION) == first


def test_b1_fields_that_were_not_there_are_added_last() -> None:
    came = brief('{"checks": [], "captain": {"facts": []}, "reviewFirst": [{"hunks": [{"line": 1}], "file": "f"}]}')
    hunk = Shown(0, "hunk:f:1", "f", 1, "", "[unverified]")
    layout = Layout((), (replace(as_it_came(came).files[0], hunks=(hunk,)),), (), why="because", notes=("note",))
    assert write_brief(came, layout, VERIFICATION) == (
        '{\n  "checks": [],\n  "captain": {\n    "facts": [],\n    "why": "because"\n  },\n  "reviewFirst": [\n    {\n'
        '      "hunks": [\n        {\n          "line": 1,\n          "reason": "[unverified]"\n        }\n      ],\n'
        '      "file": "f"\n    }\n  ],\n  "notes": [\n    "note"\n  ],\n  "verification": {"status": "verified"}\n}\n'
    )


@pytest.mark.parametrize("notes", [{"notes": None}, {"notes": "[]"}, {"notes": '["own"]'}])
def test_s34_our_notes_stand_behind_the_briefs_own(notes: dict[str, str | None]) -> None:
    came = brief(source(notes))
    written = json.loads(write_brief(came, replace(as_it_came(came), notes=("b", "a")), VERIFICATION))
    assert written["notes"] == [*came.model.notes, "b", "a"]


@pytest.mark.parametrize("space", ["", "\r\n", "\t"])
def test_b1_white_space_around_is_no_part_of_a_value(space: str) -> None:
    came = brief(space + source({"score": f"{space}6.0{space}"}) + space)
    assert members(write_brief(came, as_it_came(came), VERIFICATION))["score"] == "6.0"


FIELDS = st.dictionaries(
    st.text(max_size=3).filter(lambda name: name not in ("id", "file", "line")), SOURCES, max_size=3
)


@PROPERTY
@given(SOURCES, SOURCES, SOURCES, SOURCES, FIELDS, FIELDS, FIELDS, FIELDS, FIELDS, FIELDS)
def test_b1_any_value_in_an_opaque_place_is_carried_through(
    score: str,
    tier: str,
    policy: str,
    priority: str,
    top: dict[str, str],
    captain: dict[str, str],
    fact: dict[str, str],
    file: dict[str, str],
    hunk: dict[str, str],
    check: dict[str, str],
) -> None:
    came = brief(
        source(
            {**top, "score": score, "tier": tier, "policy": policy},
            captain={**captain, "priority": priority},
            fact=fact,
            file=file,
            hunk=hunk,
            check=check,
        )
    )
    unchanged(came, write_brief(came, as_it_came(came), VERIFICATION))
    assert came.parts.top["score"] == score
    assert came.parts.top["tier"] == tier
    assert came.parts.top["policy"] == policy
    assert came.parts.captain["priority"] == priority


@PROPERTY
@given(st.text(), st.text(), st.text(), st.text())
def test_s15_texts_of_every_kind_are_written_with_their_ending(fact: str, reason: str, check: str, note: str) -> None:
    came = brief(
        source(fact={"text": json.dumps(fact)}, hunk={"reason": json.dumps(reason)}, check={"text": json.dumps(check)})
    )
    layout = as_it_came(came)
    suffixed = Layout(
        tuple(replace(item, suffix="[verified]") for item in layout.facts),
        tuple(
            replace(file, hunks=tuple(replace(hunk, suffix="[verified]") for hunk in file.hunks))
            for file in layout.files
        ),
        tuple(replace(item, suffix="[verified]") for item in layout.checks),
        note,
        (note,),
    )
    again = read_brief(write_brief(came, suffixed, VERIFICATION).encode(), verified=True)
    for text, shown in (
        (fact, again.facts[0].text),
        (reason, again.files[0].hunks[0].reason),
        (check, again.checks[0].text),
    ):
        assert shown == f"{text.rstrip()} [verified]".removeprefix("" if text.rstrip() else " ")
    assert (again.captain.why, again.model.notes[-1]) == (note, note)
