"""A brief as Markdown: its sections, and that nothing in it comes to life (B4, S15, A8)."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from tests.rendering import LIVE, page
from tests.unit.test_brief import source
from tests.unit.test_brief_writer import RICH
from tests.unit.test_text import BREAK, HOSTILE, PROPERTY, hostile_text, text_of
from verifier.brief.document import Brief, read_brief
from verifier.brief.layout import Layout, Shown, as_it_came
from verifier.brief.markdown import (
    brief_markdown,
    fact_line,
    headline,
    item_text,
    note_lines,
    raw_value,
    shown_why,
    suffix_markdown,
)

EMPTY = '{"captain": {"facts": []}, "reviewFirst": [], "checks": []}'


def brief(text: str) -> Brief:
    return read_brief(text.encode())


def rendered(text: str) -> str:
    came = brief(text)
    return brief_markdown(came, as_it_came(came))


def test_b4_the_sections_stand_in_order() -> None:
    assert (
        rendered(source())
        == """\
# Review brief

Score `62` · tier `T2` · priority `careful` · policy `human-review`

## For the captain

**Why:** see below

- **strong** `src/api.ts:42`: lost ttl

## Review first

- `src/session.ts`
  - line 3: error path rewritten

## Check specifically

- `src/a.ts:1`: Is it?

## Notes

- first
"""
    )


def test_b4_empty_pools_say_so() -> None:
    assert (
        rendered(EMPTY)
        == """\
# Review brief



## For the captain

No facts.

## Review first

No hunks.

## Check specifically

No checks.
"""
    )


def test_b4_items_stand_in_the_layouts_order_with_their_suffixes() -> None:
    came = brief(RICH)
    shown = as_it_came(came)
    layout = Layout(
        facts=(shown.facts[1], replace(shown.facts[0], strength="info", suffix="[downgraded by verifier: moot]")),
        files=(
            shown.files[1],
            replace(shown.files[0], hunks=tuple(replace(hunk, suffix="[verified]") for hunk in shown.files[0].hunks)),
        ),
        checks=(replace(shown.checks[0], suffix="[verified · new]"),),
        why="two facts",
        notes=("verifier failed: no key; everything below is unverified",),
    )
    text = brief_markdown(came, layout)
    assert "\n**Why:** two facts\n" in text
    assert "\n- `f`: t\n- `src/api.ts:42`: lost A [downgraded by verifier: moot]\n" in text
    assert "\n- `g`\n- `f`\n  - line 3: rA [verified]\n  - line 4: [verified]\n" in text
    assert "\n- `f:1`: Is it? [verified · new]\n" in text
    assert text.endswith("## Notes\n\n- aA\n- b\n- verifier failed: no key; everything below is unverified\n")


@pytest.mark.parametrize(
    ("top", "captain", "expected"),
    [
        (
            {"score": "62.50", "tier": "2", "policy": "null"},
            {"priority": "[1, 2]"},
            "Score `62.50` · tier `2` · priority `[1, 2]` · policy `null`",
        ),
        ({"score": "1E400", "tier": None, "policy": None}, {"priority": None}, "Score `1E400`"),
        (
            {"score": None, "tier": None, "policy": '"go"'},
            {"priority": '"quick confirm"'},
            "priority `quick confirm` · policy `go`",
        ),
        ({"score": None, "tier": None, "policy": '{"x": 1}'}, {"priority": None}, 'policy `{"x": 1}`'),
        (
            {"score": None, "tier": None, "policy": '{"x": 1, "x": 2, "decision": "go"}'},
            {"priority": None},
            'policy `{"x": 1, "x": 2, "decision": "go"}`',
        ),
        (
            {"score": None, "tier": None, "policy": '{"decision": ["a",\n "b"]}'},
            {"priority": None},
            'policy `["a", "b"]`',
        ),
        ({"score": '"\\u0041`\\n@octocat"', "tier": None, "policy": None}, {"priority": None}, "Score ``A` @octocat``"),
        ({"score": '""', "tier": None, "policy": None}, {"priority": None}, "Score ` `"),
        ({"score": "9" * 5000, "tier": None, "policy": None}, {"priority": None}, f"Score `{'9' * 119}…`"),
    ],
)
def test_a4_the_gate_is_shown_as_it_came(
    top: dict[str, str | None], captain: dict[str, str | None], expected: str
) -> None:
    assert headline(brief(source(top, captain=captain))) == expected


def test_a8_a_value_nested_to_the_limit_is_shown_or_refused() -> None:
    for depth in range(900, 1000):
        deep = "[" * depth + "]" * depth
        assert raw_value(deep) == f"`{'[' * 119}…`"


def test_s18_the_why_that_is_shown() -> None:
    came = brief(source(captain={"why": '"as it came"'}))
    layout = as_it_came(came)
    assert shown_why(came, layout) == "as it came"
    assert shown_why(came, replace(layout, why="rebuilt")) == "rebuilt"
    assert shown_why(came, replace(layout, why="")) == ""
    assert shown_why(brief(EMPTY), layout) == ""
    assert "Why" not in rendered(EMPTY)


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        (
            "verifier failed: no key; everything below is unverified",
            "From the brief: verifier failed: no key; everything below is unverified",
        ),
        ("Dropped by verifier: docs", "From the brief: Dropped by verifier: docs"),
        ("base version used: x", "From the brief: base version used: x"),
        ("v\u0435rifier: a-model · prompt 0123", "From the brief: v\u0435rifier: a-model · prompt 0123"),
        ("the verifier agrees", "the verifier agrees"),
        ("# not a heading", "\\# not a heading"),
    ],
)
def test_s15_a_note_of_the_briefs_own_that_looks_like_ours_says_whose_it_is(note: str, expected: str) -> None:
    came = brief(source({"notes": json.dumps([note])}))
    layout = replace(as_it_came(came), notes=("verifier skipped: x",))
    assert list(note_lines(came, layout)) == [f"- {expected}", "- verifier skipped: x"]


def test_s15_text_is_cut_and_never_the_suffix() -> None:
    item = Shown(0, "id", "f", 1, "x" * 100, "[downgraded by verifier: " + "y" * 200 + "]", "strong")
    assert item_text(item, 10) == "x" * 9 + "… " + item.suffix
    assert fact_line(item, 10) == f"- **strong** `f:1`: {'x' * 9}… {item.suffix}"
    assert item_text(replace(item, text=" \n")) == item.suffix
    assert item_text(replace(item, suffix="")) == "x" * 100


@pytest.mark.parametrize("reason", HOSTILE)
def test_a8_a_suffix_renders_as_itself(reason: str) -> None:
    shown = page(f"- text {suffix_markdown(f'[downgraded by verifier: {reason}]')}")
    assert shown.elements == ["ul", "li"]
    assert not LIVE.search(shown.text)
    assert shown.text.strip("\n").startswith("text [downgraded by verifier:")
    assert shown.text.strip("\n").endswith("]")


def hostile_brief(text: str) -> tuple[Brief, Layout]:
    """A brief with `text` in every field, and a layout with it in every place of ours."""
    quoted = json.dumps(text)
    named = json.dumps(text or "x")
    fields: dict[str, Any] = {
        "top": {
            "score": quoted,
            "tier": json.dumps([text]),
            "policy": json.dumps({"decision": text}),
            "notes": f"[{quoted}, {quoted}]",
        },
        "captain": {"priority": quoted, "why": quoted},
        "fact": {"id": named, "file": named, "text": quoted, "short": quoted, "partner": named},
        "file": {"file": named},
        "hunk": {"reason": quoted},
        "check": {"file": named, "text": quoted},
    }
    came = brief(source(**fields))
    shown = as_it_came(came)
    suffix = f"[downgraded by verifier: {text}]"
    return came, replace(
        shown,
        facts=(replace(shown.facts[0], suffix=suffix), replace(shown.facts[0], suffix="[unverified]")),
        notes=(text,),
    )


def assert_nothing_lives(text: str) -> None:
    came, layout = hostile_brief(text)
    expected = page(brief_markdown(*hostile_brief("plain")))
    shown = page(brief_markdown(came, layout))
    optional = [] if text_of(text) else ["p", "strong"]  # a why that says nothing is still a why
    assert sorted(shown.elements) in (sorted(expected.elements), sorted(_without(expected.elements, optional)))
    assert not LIVE.search(shown.text)
    assert shown.text.replace(BREAK, "").count(text_of(came.facts[0].text)) >= 6


def _without(elements: list[str], some: list[str]) -> list[str]:
    left = list(elements)
    for element in some:
        left.remove(element)
    return left


@pytest.mark.parametrize("text", HOSTILE)
def test_a8_hostile_text_in_every_field_is_only_text(text: str) -> None:
    assert_nothing_lives(text)


@PROPERTY
@given(hostile_text)
def test_a8_any_text_in_every_field_is_only_text(text: str) -> None:
    assert_nothing_lives(text)
