"""The dismissal memory (S29 to S31)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifier.memory import BadMemory, MemoryLine, read_memory

HASH = "0123456789abcdef"


def line(**changes: object) -> bytes:
    found = {"hash": HASH, "id": "contract.api", "file": "a.ts", "verdict": "wrong", "note": "", "at": "", **changes}
    return json.dumps(found).encode() + b"\n"


@pytest.mark.parametrize("data", [None, b"", b"\n", b"\n  \n\t\n\r\n", b"\xef\xbb\xbf"])
def test_s31_absent_and_empty_and_blank_are_no_memory(data: bytes | None) -> None:
    assert read_memory(data) == {}


def test_s30_the_last_line_for_a_hash_wins() -> None:
    other = "f" * 16
    data = line() + line(hash=other, verdict="ignored") + line(verdict="useful") + b"\n" + line(verdict="intentional")
    assert read_memory(data) == {HASH: "intentional", other: "ignored"}


def test_a_line_without_its_newline_and_one_with_crlf_count() -> None:
    assert read_memory(line().replace(b"\n", b"\r\n") + line(hash="f" * 16).rstrip()) == {
        HASH: "wrong",
        "f" * 16: "wrong",
    }


def test_s31_note_and_time_may_be_left_out() -> None:
    data = json.dumps({"hash": HASH, "id": "a", "file": "b", "verdict": "useful"}).encode()
    assert read_memory(data) == {HASH: "useful"}


@pytest.mark.parametrize(
    "broken",
    [
        b"{\n",
        b"[]\n",
        b"null\n",
        b"\xff\xfe\n",
        b"hello\n",
        line(verdict="maybe"),
        line(verdict="WRONG"),
        line(hash="0123"),
        line(hash=HASH.upper()),
        line(hash="0" + HASH),
        line(hash=HASH + "0"),
        line(hash=HASH + "\n"),
        line(hash=None),
        line(id=""),
        line(file=3),
        line(more=1),
        line().replace(b'"verdict": "wrong", ', b""),
        line()[:-1] + line(),
        b"[" * 100_000 + b"\n",
    ],
)
def test_s31_half_a_memory_is_never_used(broken: bytes) -> None:
    with pytest.raises(BadMemory, match=r"^\.opendrs/facts\.jsonl line 3 cannot be used \(.{1,170}\); mend or remove"):
        read_memory(line() + b"\n" + broken + line())


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (line(verdict="maybe"), "verdict: Input should be 'wrong', 'intentional', 'ignored' or 'useful'"),
        (line(more=1), "more: Extra inputs are not permitted"),
        (line(more=1, hash="x"), "hash: String should match pattern '^[0-9a-f]{16}$'"),
        (line(id=""), "id: String should have at least 1 character"),
        (b"[]\n", "Input should be an object"),
        (line(**{"a\nb": 1}), "a b: Extra inputs are not permitted"),
        (line(**{"x" * 200: 1}), "x" * 159 + "…"),
    ],
)
def test_s31_the_error_says_which_line_and_what_is_wrong_with_it(broken: bytes, said: str) -> None:
    with pytest.raises(BadMemory) as caught:
        read_memory(line() + broken, "m.jsonl")
    assert str(caught.value) == f"m.jsonl line 2 cannot be used ({said}); mend or remove that line"
    assert caught.value.__suppress_context__, "a traceback would quote the line as it is"


def test_s29_a_note_and_a_time_that_are_left_out_are_empty() -> None:
    found = MemoryLine(hash=HASH, id="a", file="b", verdict="useful")
    assert (found.note, found.at) == ("", "")


def test_100_000_lines() -> None:
    data = b"".join(line(hash=f"{number:016x}") for number in range(100_000))
    assert len(read_memory(data)) == 100_000


@given(st.binary(max_size=200))
def test_any_bytes_are_a_memory_or_one_sentence(data: bytes) -> None:
    try:
        read_memory(data, "m")
    except BadMemory as error:
        assert "\n" not in str(error)  # noqa: PT017 (either outcome is right)
