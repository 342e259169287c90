"""The configuration (section 9, C1)."""

import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifier.config import BadConfig, read_config
from verifier.verification.model import Settings

ON = "llm:\n  enabled: true\n  verify:\n    enabled: true\n"
FULL = """\
other: [1, 2]
llm:
  enabled: true
  provider: anthropic
  model: claude-haiku-5-5
  effort: high
  verify:
    enabled: true
    maxTokens: 1000
    timeoutSeconds: 0.5
    strictDrops: true
"""


def read(text: str) -> Settings:
    found = read_config(text.encode(), "c.yml")
    assert found.warnings == ()
    return found.settings


def test_the_defaults_are_those_of_the_specification() -> None:
    expected = Settings(
        enabled=False,
        provider="anthropic",
        model="claude-sonnet-5-5",
        effort="low",
        max_tokens=40_000,
        timeout_seconds=120,
        strict_drops=False,
    )
    assert read_config(None, "c.yml").settings == expected
    assert read("") == expected
    assert read(ON) == replace(expected, enabled=True)


def test_every_key_is_read() -> None:
    assert read(FULL) == Settings(
        enabled=True,
        provider="anthropic",
        model="claude-haiku-5-5",
        effort="high",
        max_tokens=1000,
        timeout_seconds=0.5,
        strict_drops=True,
    )


@pytest.mark.parametrize(
    "text",
    ["", "# nothing\n", "llm:\n", "llm:\n  verify:\n", "a: &x [*x]\n", "llm: {enabled: true, verify: null}\n"],
)
def test_what_says_nothing_of_ours_leaves_the_defaults(text: str) -> None:
    assert read(text) == Settings()


@pytest.mark.parametrize("text", ["- 1\n", "just words\n", "7\n", "../other.yml", "true"])
def test_c1_what_is_no_mapping_is_an_error_and_not_off(text: str) -> None:
    """A link at base comes as the path that it leads to: that is no configuration that says nothing."""
    with pytest.raises(BadConfig, match=r"c.yml line 1, column 1: expected a mapping, such as `llm:`$"):
        read(text)


def test_anchors_and_merges_count() -> None:
    assert read("on: &on {enabled: &yes true}\nllm:\n  enabled: *yes\n  verify:\n    <<: *on\n").enabled


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("llm: [\n", "c.yml line 2, column 1: not YAML (expected the node content"),
        ("a: 1\na: 2\n", "c.yml line 2, column 1: not YAML (found duplicate key"),
        ("\tx\n", "c.yml line 1, column 1: not YAML (found character"),
        ("a: *nowhere\n", "c.yml line 1, column 4: not YAML (found undefined alias"),
        ("a: !!python/object:os.system x\n", "c.yml line 1, column 4: not YAML (could not determine a constructor"),
        ("x\x00\n", "c.yml: not YAML ("),
        ("[" * 5000, "c.yml: not YAML that can be read (nested too deeply)"),
        ("llm: 5\n", "c.yml line 1, column 1: llm: expected"),
        ("llm: {enabled: true, verify: true}\n", "c.yml line 1, column 22: llm.verify: expected"),
        (
            ON.replace("  enabled: true\n", "  enabled: yes\n", 1),
            "c.yml line 2, column 3: llm.enabled: expected true or false",
        ),
        (
            ON + "    maxTokens: '9'\n",
            "c.yml line 5, column 5: llm.verify.maxTokens: expected a whole number, not '9'",
        ),
        (ON + "    maxTokens: 1.0\n", "c.yml line 5, column 5: llm.verify.maxTokens"),
        (ON + "    maxTokens: true\n", "c.yml line 5, column 5: llm.verify.maxTokens"),
        (ON + "    maxTokens: 0\n", "c.yml line 5, column 5: llm.verify.maxTokens"),
        (ON + "    timeoutSeconds: 0\n", "c.yml line 5, column 5: llm.verify.timeoutSeconds"),
        (ON + "    timeoutSeconds: .inf\n", "c.yml line 5, column 5: llm.verify.timeoutSeconds"),
        (ON + "    strictDrops: 1\n", "c.yml line 5, column 5: llm.verify.strictDrops"),
        (ON + "  model: 5\n", "c.yml line 5, column 3: llm.model"),
        (ON + "  model: ''\n", "c.yml line 5, column 3: llm.model"),
        (
            ON + "  effort: some\n",
            "c.yml line 5, column 3: llm.effort: expected 'low', 'medium', 'high', 'xhigh' or 'max'",
        ),
        (ON + "  provider: other\n", "c.yml line 5, column 3: llm.provider: expected 'anthropic', not 'other'"),
    ],
)
def test_c1_an_error_says_file_line_and_column(text: str, message: str) -> None:
    with pytest.raises(BadConfig) as raised:
        read_config(text.encode(), "c.yml")
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)


def test_c1_bytes_and_size() -> None:
    with pytest.raises(BadConfig, match=r"c\.yml is not UTF-8 \(byte 5\)"):
        read_config(b"llm: \xff", "c.yml")
    with pytest.raises(BadConfig, match="at most 65536"):
        read_config(b"#" * 65_537, "c.yml")


@pytest.mark.parametrize("switch", ["llm: {enabled: false, effort: 5}\n", "llm: {enabled: true, effort: 5}\n"])
def test_off_comes_before_an_error_which_is_still_told(switch: str) -> None:
    found = read_config(switch.encode(), "c.yml")
    assert found.settings == Settings()
    assert "llm.effort" in found.warnings[0]


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        (
            ON + "    maxToken: 5\n",
            "c.yml line 5, column 5: unknown key llm.verify.maxToken; the nearest known one is llm.verify.maxTokens",
        ),
        (ON + "  max_tokens: 5\n", "c.yml line 5, column 3: unknown key llm.max_tokens; the nearest known one is llm."),
        (ON + "  7: 5\n", "c.yml line 5, column 3: unknown key llm.7; the nearest known one is llm."),
    ],
)
def test_c1_an_unknown_key_is_a_warning_with_the_nearest_known_one(text: str, warning: str) -> None:
    found = read_config(text.encode(), "c.yml")
    assert found.settings.enabled
    assert found.warnings[0].startswith(warning)


@given(
    st.one_of(
        st.binary(max_size=60),
        st.text(alphabet="llm:enabdvrify{}[]&*!-?|>'\"#%@` \n\t12.", max_size=60).map(str.encode),
    )
)
def test_any_bytes_are_a_configuration_or_one_sentence(data: bytes) -> None:
    try:
        read_config(b"llm:\n enabled: true\n verify: {enabled: true}\n" + data, "c.yml")
    except BadConfig as error:
        assert "\n" not in str(error)  # noqa: PT017 (either outcome is right)


@pytest.mark.parametrize("text", ["%YAML 3.1", "llm:\n%YAML 3.1", "--- !!timestamp x", "? {a: 1}\n: !!set 1"])
def test_c1_whatever_the_yaml_library_raises_is_an_error_of_the_file(text: str) -> None:
    with pytest.raises(BadConfig, match=r"^c\.yml"):
        read_config(text.encode(), "c.yml")


def test_c1_an_anchor_that_stands_twice_writes_nothing_to_the_log() -> None:
    """The library would warn, with lines of the file; here a warning is an error."""
    assert read_config(b"a: &a x\nb: &a\n  ::error::forged\nllm: {enabled: true, other: 1}\n", "c.yml").warnings


def test_c1_an_unknown_key_that_is_merged_in_is_told_where_it_is_merged() -> None:
    found = read_config(b"a: &a {x: 1}\nllm:\n  enabled: true\n  verify:\n    <<: *a\n", "c.yml")
    assert found.warnings == (
        "c.yml line 4, column 3: unknown key llm.verify.x; the nearest known one is llm.verify.maxTokens",
    )


def test_c1_of_many_unknown_keys_the_first_are_named() -> None:
    text = "llm:\n" + "".join(f"  k{at}: 1\n" for at in range(300))
    start = time.process_time()
    found = read_config(text.encode(), "c.yml")
    assert time.process_time() - start < 3, "the file is read again for each key"
    assert len(found.warnings) == 21
    assert found.warnings[19].startswith("c.yml line 21, column 3: unknown key llm.k19;")
    assert found.warnings[20] == "c.yml: and 280 more unknown keys"
