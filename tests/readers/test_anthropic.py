"""The reader that asks a model, over real sockets: A9, S24, S28, S33, S34, S35."""

import gzip
import json
import logging
import os
import socket
import subprocess
import sys
import threading
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.servers.model import (
    Answer,
    ModelServer,
    broken_json_200,
    close_before_reply,
    close_mid_body,
    empty,
    html,
    html_200,
    json_200,
    message_like,
    ok,
    plain,
    redirect,
    refusal,
    schema_faults,
    silent,
    status,
    stop,
    trickle,
    wrong_shape_200,
)
from verifier.readers import anthropic
from verifier.readers.anthropic import anthropic_reader
from verifier.verification.model import Prompt, Question, ReaderError, Reply, Settings, Usage

KEY = "sk-ant-test-0123456789abcdefghij"
MODEL = "claude-sonnet-5-5"
SCHEMA = {
    "type": "object",
    "properties": {"verdicts": {"type": "array", "items": {"type": "string"}}},
    "required": ["verdicts"],
    "additionalProperties": False,
}
PROMPT = Prompt("the system prompt", json.dumps(SCHEMA), "block one\nblock two", "0" * 12, blocks=2)
FINE = ok({"verdicts": ["fine"]})
SPENT = {"input_tokens": 7, "output_tokens": 5, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 300}
# Far beyond what a bound that works ever takes, far below what a broken one does.
AMPLE = 8.0
# No case here waits for it: a failure that runs into it is a failure of the test.
LONG = 60.0
# The waits between attempts, as the server may name them: short.
SOON = {"retry-after": "0.01"}


def question(prompt: Prompt = PROMPT, **settings: Any) -> Question:
    return Question(prompt, (), Settings(**{"timeout_seconds": LONG, **settings}))


def failure(url: str, key: str = KEY, **settings: Any) -> ReaderError:
    with pytest.raises(ReaderError) as caught:
        anthropic_reader(key, url)(question(**settings))
    return caught.value


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """A bound that only a hang breaks; how long anything takes is measured in bench/, never here."""
    begin = time.monotonic()
    yield
    assert time.monotonic() - begin < seconds


def join_calls() -> None:
    """Wait for the threads that calls run in."""
    for thread in threading.enumerate():
        if thread.name == "verifier-model-call":
            thread.join(AMPLE)
            assert not thread.is_alive()


@pytest.fixture(autouse=True, scope="module")
def _imported() -> None:
    """The SDK takes a second to import; the tests of the wall bound must not measure that."""
    anthropic._sdk()


@pytest.fixture(autouse=True)
def _whole_log(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every test runs with every logger at its most talkative, and the key and the prompt are in no line of it (A9)."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr(anthropic, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(anthropic, "JITTER", 0.0)
    yield
    lines = "\n".join(record.getMessage() for record in caplog.get_records("call"))
    for secret in (KEY, PROMPT.system, "block one", "block two"):
        assert secret not in lines


# What is asked, and what comes back.


def test_one_request_with_a_fixed_set_of_keys() -> None:
    """S33, S35: one call; effort and schema as given; no sampling parameter, no thinking setting."""
    with ModelServer([FINE], key=KEY) as server:
        reply = anthropic_reader(KEY, server.url)(question())
    assert reply == Reply('{"verdicts": ["fine"]}', MODEL, Usage(1200, 300))
    [request] = server.requests
    assert server.violations == []
    assert request.path == "/v1/messages"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": MODEL,
        "max_tokens": 8_500,
        "system": PROMPT.system,
        "messages": [{"role": "user", "content": PROMPT.message}],
        "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": SCHEMA}},
    }


def test_the_schema_of_the_pass_can_be_enforced() -> None:
    """S35: what the pass asks for breaks no rule of structured output."""
    from verifier.verification.prompt import SCHEMA as OF_THE_PASS

    assert list(schema_faults(json.loads(OF_THE_PASS))) == []


def test_the_same_question_is_the_same_bytes() -> None:
    """S37, and a schema that the provider compiles once."""
    with ModelServer([FINE]) as server:
        reader = anthropic_reader(KEY, server.url)
        reader(question())
        reader(question())
    assert server.requests[0].raw == server.requests[1].raw


@pytest.mark.parametrize(("blocks", "tokens"), [(1, 8_250), (60, 23_000), (224, 64_000), (10_000, 64_000)])
def test_room_for_thinking_and_every_block(blocks: int, tokens: int) -> None:
    """S35; beyond 21,333 the SDK wants streaming, unless it is told the timeout."""
    with ModelServer([FINE]) as server:
        anthropic_reader(KEY, server.url)(question(Prompt("s", json.dumps(SCHEMA), "m", "0" * 12, blocks)))
    assert server.requests[0].body["max_tokens"] == tokens


@pytest.mark.parametrize("prefix", ["", "/", "/gw", "/gw/"])
def test_a_base_url_may_have_a_path(prefix: str) -> None:
    with ModelServer([FINE]) as server:
        anthropic_reader(f" {KEY}\n", f" {server.url}{prefix}\n")(question())
    assert server.requests[0].path == f"{prefix.rstrip('/')}/v1/messages"


def test_thinking_comes_first_and_is_skipped() -> None:
    with ModelServer([ok("text", thinking=True)]) as server:
        assert anthropic_reader(KEY, server.url)(question()).text == "text"


def test_blocks_are_chosen_by_type_and_joined() -> None:
    """The SDK builds a block of an unknown type as a text block."""
    content = [{"type": "novel", "text": "no"}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    with ModelServer([json_200(message_like({"model": MODEL}, content))]) as server:
        assert anthropic_reader(KEY, server.url)(question()).text == "ab"


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (SPENT, Usage(327, 5)),
        ({"cache_creation_input_tokens": None, "cache_read_input_tokens": None}, Usage(1200, 300)),
    ],
)
def test_usage_counts_cached_input(usage: dict[str, int | None], expected: Usage) -> None:
    """S34."""
    with ModelServer([ok("text", usage=usage)]) as server:
        assert anthropic_reader(KEY, server.url)(question()).usage == expected


@pytest.mark.parametrize("usage", [None, [], {}, {"input_tokens": "many", "output_tokens": 3}, {"input_tokens": -1}])
def test_usage_that_cannot_be_read_is_unknown(usage: object) -> None:
    message = message_like({"model": MODEL}, [{"type": "text", "text": "text"}]) | {"usage": usage}
    with ModelServer([json_200(message)]) as server:
        assert anthropic_reader(KEY, server.url)(question()).usage is None


@pytest.mark.parametrize(
    ("named", "expected"),
    [("claude-other-1", "claude-other-1"), ("a\nb\x1b[31m" + "c" * 200, "a b [31m" + "c" * 91 + "…")],
)
def test_the_model_that_answered_is_one_line(named: str, expected: str) -> None:
    """S34: the server says which model that was, and may say anything."""
    with ModelServer([ok("text", model=named)]) as server:
        assert anthropic_reader(KEY, server.url)(question()).model == expected


def test_the_request_id_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with ModelServer([ok("text", headers={"request-id": "req_reply"}), status(400, "e", "m")]) as server:
        reader = anthropic_reader(KEY, server.url)
        reader(question())
        with pytest.raises(ReaderError):
            reader(question())
    lines = [record.getMessage() for record in caplog.records if record.name == "verifier"]
    assert lines == [
        "model call: answered, request id req_reply",
        "model call: status 400, request id req_0002",
    ]


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "claude-opus-4-5"])
def test_a_deprecated_model_is_a_line_in_the_log(model: str, caplog: pytest.LogCaptureFixture) -> None:
    with ModelServer([FINE]) as server, warnings.catch_warnings():
        warnings.simplefilter("error")
        assert anthropic_reader(KEY, server.url)(question(model=model)).model == model
    assert f"the model {model} is deprecated and ends on " in caplog.text


# Key and address.


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("", "no key: set llm-api-key (Action) or ANTHROPIC_API_KEY (shell)"),
        (" \n", "no key: set llm-api-key (Action) or ANTHROPIC_API_KEY (shell)"),
        *((key, "the key holds white space") for key in ("sk ant", "sk\nant", "sk\tant", "skänt", "sk\x00", "sk\x7f")),
    ],
)
def test_an_unusable_key_is_told_before_any_request(key: str, reason: str) -> None:
    """S24; the SDK would send `Bearer ` and call it a failed connection."""
    with pytest.raises(ReaderError) as caught:
        anthropic_reader(key)
    assert str(caught.value).startswith(reason)
    assert caught.value.failed.asked is False
    assert not key.strip() or key not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://host",
        "host",
        "//host",
        "https://",
        "https://user:secret@host",
        "https://secret@host/v1",
        "https://host?secret",
        "https://host/#secret",
        "https://host:99999",
        "https://host:port",
        "https://ho st",
        "https://host/a b",
        "https://host\\@secret",
        "https://h\nost",
        "https://höst",
        "https://[::1",
    ],
)
def test_an_address_that_no_key_may_go_to(url: str) -> None:
    """A9."""
    with pytest.raises(ReaderError, match=r"llm-base-url is not an address") as caught:
        anthropic_reader(KEY, url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("url", [None, "", " "])
def test_without_an_address_it_is_anthropic(url: str | None) -> None:
    assert anthropic._access(KEY, url).base_url == "https://api.anthropic.com"


@pytest.mark.parametrize(
    ("url", "host"), [("HTTPS://Gw.Example:8443/a-b/v1", "Gw.Example"), ("http://[::1]:8080", "[::1]")]
)
def test_addresses_that_will_do(url: str, host: str) -> None:
    assert anthropic._access(KEY, url).host == host


def test_the_key_is_in_no_repr() -> None:
    assert KEY not in repr(anthropic._access(KEY, None))


# Failures: one sentence each, and one request where another could cost or cannot help.

NO_MESSAGE = "a web page or another document instead of a message"


def refused(code: int, says: str) -> str:
    return (
        f"127.0.0.1 refused the request ({code}): "
        f"check llm.model (claude-sonnet-5-5) and llm.effort (low); it says: {says}"
    )


def foreign(what: str) -> str:
    return f"127.0.0.1 does not speak the Messages API ({what}): check llm-base-url, and proxies on the way"


def broken_off(how: str) -> str:
    return (
        f"127.0.0.1 broke off before the reply was complete ({how}); "
        "not tried again, as it may have been paid for: run the job again"
    )


CASES: dict[str, tuple[Answer, int, str]] = {
    "400": (
        status(400, "invalid_request_error", "effort: not\nsupported"),
        1,
        refused(400, "effort: not supported"),
    ),
    "400, long": (status(400, "invalid_request_error", "x" * 500), 1, refused(400, "x" * 199 + "…")),
    "401": (
        status(401, "authentication_error", f"invalid key {KEY}"),
        1,
        (
            "127.0.0.1 rejected the key (401): check llm-api-key (Action) or ANTHROPIC_API_KEY (shell)"
            "; it says: invalid key ***"
        ),
    ),
    "402": (
        status(402, "billing_error", "no credit"),
        1,
        (
            "the credit or spend limit of the key is used up (402): add credit or raise the limit at 127.0.0.1"
            "; it says: no credit"
        ),
    ),
    "403": (
        status(403, "permission_error", "not yours"),
        1,
        (
            "the key may not use claude-sonnet-5-5 at 127.0.0.1 (403): give it that permission, "
            "or set another llm.model; it says: not yours"
        ),
    ),
    "404": (
        status(404, "not_found_error", "model: claude-sonnet-5-5"),
        1,
        (
            "unknown model claude-sonnet-5-5 (404): set llm.model to a model that 127.0.0.1 has and the key may use"
            "; it says: model: claude-sonnet-5-5"
        ),
    ),
    "404, page": (html(404), 1, "127.0.0.1 has no Messages API at this address (404): check llm-base-url"),
    "409": (status(409, "conflict_error", "busy"), 1, refused(409, "busy")),
    "413": (
        status(413, "request_too_large", "too large"),
        1,
        (
            "the prompt is too large for 127.0.0.1 (413): lower llm.verify.maxTokens (40000), or split the pull request"
            "; it says: too large"
        ),
    ),
    "429": (
        status(429, "rate_limit_error", "slow down", headers=SOON),
        3,
        (
            "127.0.0.1 limits the rate (429) after 3 attempts: run the job again later, or raise the limit of the key"
            "; it says: slow down"
        ),
    ),
    "429, spend": (
        status(429, "rate_limit_error", "limit", error_code="enforced_spend_limit_reached"),
        1,
        (
            "the credit or spend limit of the key is used up (429): add credit or raise the limit at 127.0.0.1"
            "; it says: limit"
        ),
    ),
    "500": (
        status(500, "api_error", "internal", headers=SOON),
        3,
        "127.0.0.1 failed (500) after 3 attempts: run the job again later; it says: internal",
    ),
    "502, page": (html(502), 3, "127.0.0.1 failed (502) after 3 attempts: run the job again later"),
    "529": (
        status(529, "overloaded_error", "Overloaded", headers=SOON),
        3,
        "127.0.0.1 is overloaded (529) after 3 attempts: run the job again later; it says: Overloaded",
    ),
    "redirect": (
        redirect("/elsewhere"),
        1,
        (
            "127.0.0.1 redirects to another address (307), and the key is sent to no other: "
            "set llm-base-url to the final address"
        ),
    ),
    "page": (html_200(), 1, foreign(NO_MESSAGE)),
    "list": (json_200([1]), 1, foreign(NO_MESSAGE)),
    "broken JSON": (broken_json_200(), 1, foreign("a reply that could not be read")),
    "wrong shape": (wrong_shape_200(), 1, foreign("JSON that is not a message")),
    "closed before the reply": (close_before_reply(), 1, broken_off("RemoteProtocolError")),
    "closed in the reply": (close_mid_body(), 1, broken_off("RemoteProtocolError")),
    "reset in the reply": (close_mid_body(reset=True), 1, broken_off("ReadError")),
}


@pytest.mark.parametrize(("answer", "requests", "reason"), CASES.values(), ids=CASES)
def test_every_failure_says_what_to_do(answer: Answer, requests: int, reason: str) -> None:
    """S24, S28, A9: one sentence; at most three requests, and one where it may have been paid for or cannot help."""
    with ModelServer([answer]) as server:
        error = failure(server.url)
    assert str(error) == error.failed.reason == reason
    assert len(server.requests) == requests
    assert server.violations == []
    assert error.failed.asked
    assert KEY not in repr(error)


CUT_OFF = "the reply was cut off at its token limit: set a lower llm.effort, or split the pull request"
NO_TEXT = "the model answered with no text: run the job again, or set another llm.model"
STOPS: dict[str, tuple[Answer, str]] = {
    "refusal": (
        refusal("cyber", usage=SPENT),
        "claude-sonnet-5-5 refused to answer (category: cyber): set another llm.model, or review this brief as it is",
    ),
    "refusal, no category": (
        refusal(None, text='{"verdicts": [', usage=SPENT),
        "claude-sonnet-5-5 refused to answer: set another llm.model, or review this brief as it is",
    ),
    "max_tokens": (stop("max_tokens", usage=SPENT), CUT_OFF),
    "max_tokens, only thinking": (stop("max_tokens", text="", usage=SPENT), CUT_OFF),
    "window": (
        stop("model_context_window_exceeded", usage=SPENT),
        (
            "prompt and reply do not fit into the context window of claude-sonnet-5-5: "
            "lower llm.verify.maxTokens (40000), or set an llm.model with a larger window"
        ),
    ),
    "pause_turn": (
        stop("pause_turn", usage=SPENT),
        "claude-sonnet-5-5 paused its turn, and one call does not resume it: run the job again",
    ),
    "tool_use": (
        stop("tool_use", usage=SPENT),
        "claude-sonnet-5-5 asked for a tool, and none was offered: check llm-base-url, or set another llm.model",
    ),
    "stop_sequence": (
        stop("stop_sequence", usage=SPENT),
        "claude-sonnet-5-5 ended at a stop sequence, and none was set: check llm-base-url, or set another llm.model",
    ),
    "unknown": (
        stop("tired\nout", text='{"verdicts": []}', usage=SPENT),
        "claude-sonnet-5-5 stopped for a reason not known here (tired out): upgrade verifier",
    ),
    "none": (stop(None, text='{"verdicts": []}', usage=SPENT), foreign("JSON that is not a message")),
    "empty": (empty(usage=SPENT), NO_TEXT),
    "blank": (stop("end_turn", text=" \n", usage=SPENT), NO_TEXT),
}


@pytest.mark.parametrize(("answer", "reason"), STOPS.values(), ids=STOPS)
def test_the_stop_reason_comes_before_the_text_and_the_usage_before_both(answer: Answer, reason: str) -> None:
    """S24, S35: complete JSON of a reply that did not end by itself is none; what was spent is told."""
    with ModelServer([answer]) as server:
        error = failure(server.url)
    assert str(error) == reason
    assert error.failed.usage == Usage(327, 5)
    assert error.failed.model == MODEL
    assert len(server.requests) == 1
    assert server.violations == []


@pytest.mark.parametrize(
    "message",
    [
        {"stop_details": None},
        {"stop_details": "cyber"},
        {"stop_details": {"category": ["cyber"]}},
        {"content": None, "stop_reason": "end_turn"},
        {"content": [None, "text", {"type": "text"}, {"type": "text", "text": 3}], "stop_reason": "end_turn"},
        {"content": "text", "stop_reason": "end_turn"},
        {"model": None, "stop_reason": ["end_turn"]},
    ],
)
def test_a_message_of_odd_parts_is_a_failure_with_its_usage(message: dict[str, Any]) -> None:
    """S24: the SDK checks nothing of a reply."""
    odd = message_like({"model": MODEL}, [], reason="refusal", usage=SPENT) | message
    with ModelServer([json_200(odd)]) as server:
        error = failure(server.url)
    assert error.failed.usage == Usage(327, 5)


@pytest.mark.parametrize("value", [None, True, 3, "text", [], [{}], {}, {"usage": 3}, {"content": [[]], "model": {}}])
def test_json_that_is_no_message(value: object) -> None:
    with ModelServer([json_200(value)]) as server:
        assert "does not speak the Messages API" in str(failure(server.url))


def test_bytes_that_are_no_text() -> None:
    with ModelServer([lambda exchange: exchange.send(200, b"\xff\xfe{}")]) as server:
        assert "does not speak the Messages API" in str(failure(server.url))


def test_a_body_that_is_not_what_its_encoding_says() -> None:
    headers = {"content-encoding": "gzip"}
    with ModelServer([lambda exchange: exchange.send(200, b"{}", headers)]) as server:
        assert "broke off before the reply was complete (DecodingError)" in str(failure(server.url))
    assert len(server.requests) == 1


def test_s34_time_that_is_up_before_the_first_request_has_asked_nobody() -> None:
    with ModelServer([FINE]) as server:
        failed = failure(server.url, timeout_seconds=0.0001).failed
        assert (failed.asked, server.requests) == (False, [])
        assert failed.reason.startswith("no answer within 0.0001 s")


def _packed_spaces(megabytes: int) -> bytes:
    packer = zlib.compressobj(wbits=31)
    return b"".join([*(packer.compress(b" " * 1_000_000) for _ in range(megabytes)), packer.flush()])


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (plain(_packed_spaces(400), headers={"content-encoding": "gzip"}), "a reply larger than any message"),
        (plain(b" " * 9_000_000), "a reply larger than any message"),
        (plain(b"x", headers={"content-encoding": "gzip, gzip"}), "a reply in a packing that was not asked for"),
    ],
    ids=["packed", "plain", "packed twice"],
)
def test_a8_a_reply_of_a_size_that_no_message_has_is_left(answer: Answer, what: str) -> None:
    with ModelServer([answer]) as server:
        assert failure(server.url).failed.reason == foreign(what)
        assert len(server.requests) == 1


def test_a_reply_is_asked_for_as_it_is_and_may_come_packed() -> None:
    message = message_like({"model": MODEL}, [{"type": "text", "text": "text"}])
    packed = plain(gzip.compress(json.dumps(message).encode()), headers={"content-encoding": "gzip"})
    with ModelServer([packed]) as server:
        assert anthropic_reader(KEY, server.url)(question()).text == "text"
        assert server.requests[0].headers["accept-encoding"] == "identity"


def test_text_of_the_server_is_one_line_without_the_key_wherever_it_is_cut(caplog: pytest.LogCaptureFixture) -> None:
    """A9: an echoed key is replaced before anything is cut, so no half of it is left."""
    headers = {"request-id": f"req {KEY}"}
    message = "a\r\n::error::b\u200b " + "x" * 160 + KEY
    with ModelServer([status(400, "e", message, headers=headers)]) as server:
        said = str(failure(server.url)).partition("it says: ")[2]
    assert said == "a ::error::b " + "x" * 160 + "***"
    assert "request id req ***" in caplog.text


@pytest.mark.parametrize("answer", [refusal("cyber"), ok("")])
def test_a_model_name_from_the_configuration_is_one_line(answer: Answer) -> None:
    with ModelServer([answer]) as server:
        assert "\n" not in str(failure(server.url, model="a\nb"))


# Trying again.


@pytest.mark.parametrize(
    "first",
    [
        status(429, "rate_limit_error", "slow down", headers=SOON),
        status(500, "api_error", "internal"),
        status(529, "overloaded_error", "Overloaded", headers={"retry-after": "0"}),
        status(503, "api_error", "later", headers={"retry-after": "soon"}),
    ],
)
def test_what_cannot_have_been_paid_for_is_tried_again(first: Answer) -> None:
    """S28."""
    with ModelServer([first, first, FINE]) as server:
        assert anthropic_reader(KEY, server.url)(question()).usage == Usage(1200, 300)
    assert len(server.requests) == 3
    assert server.connections == 3  # an idle connection that was dropped would look like a reply that broke off
    assert len({request.raw for request in server.requests}) == 1


@pytest.mark.parametrize("mark", ["3600", "99999999999999999999999", "date"])
def test_a_wait_that_does_not_fit_is_not_begun(mark: str) -> None:
    """S28: the server's wishes count within the bound, and a pointless attempt is not made either."""
    wish = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True) if mark == "date" else mark
    with ModelServer([status(429, "rate_limit_error", "no", headers={"retry-after": wish})]) as server, within(AMPLE):
        reason = str(failure(server.url))
    assert len(server.requests) == 1
    assert reason.startswith("127.0.0.1 limits the rate (429) after 1 attempt, and asks to wait ")
    assert " s, longer than what is left of llm.verify.timeoutSeconds (60): run the job again later" in reason


def test_a_wait_of_our_own_that_does_not_fit_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """S28."""
    monkeypatch.setattr(anthropic, "FIRST_WAIT", LONG + 1)
    with ModelServer([status(500, "api_error", "internal")]) as server, within(AMPLE):
        assert "failed (500) after 1 attempt:" in str(failure(server.url))
    assert len(server.requests) == 1


def _headers(**headers: str) -> object:
    return SimpleNamespace(response=SimpleNamespace(headers=headers))


@pytest.mark.parametrize("value", ["", "0", "-5", "nan", "inf", "1e3", "soon", "½", "Tue, 99 Foo 2026", "\x00", "1 2"])
def test_a_wish_that_is_none(value: str) -> None:
    """S28: garbage in `retry-after` is as good as nothing."""
    assert anthropic._wished(_headers(**{"retry-after": value})) is None


def test_wishes() -> None:
    """S28: seconds, or a date with or without its zone; what is past is no wish."""
    now = datetime.now(UTC)
    assert anthropic._wished(_headers(**{"retry-after": " 7.5 "})) == 7.5
    assert anthropic._wished(_headers(**{"retry-after": "9" * 400})) == anthropic.LONGEST_WISH
    later = format_datetime(now + timedelta(seconds=100))
    for value in (later, later.replace("+0000", "GMT"), later.replace("+0000", "-0000")):
        wished = anthropic._wished(_headers(**{"retry-after": value}))
        assert wished is not None
        assert 50 < wished <= 100
    assert anthropic._wished(_headers(**{"retry-after": format_datetime(now - timedelta(hours=1))})) is None
    assert anthropic._wished(ValueError()) is None


def test_waits_of_our_own_grow(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """S28: 0.5 s, then 1 s, here by a hundredth; the log tells."""
    monkeypatch.setattr(anthropic, "FIRST_WAIT", 0.1)
    with ModelServer([status(500, "api_error", "internal")]) as server:
        failure(server.url)
    waits = [record.args for record in caplog.records if "trying again" in record.msg]
    assert waits == [("status 500", pytest.approx(0.1)), ("status 500", pytest.approx(0.2))]


def test_a_refused_connection_is_tried_three_times(caplog: pytest.LogCaptureFixture) -> None:
    """S24, S28: nothing was sent, so nothing was paid for."""
    with refusing_port() as url:
        error = failure(url)
    assert str(error) == "no connection to 127.0.0.1 in 3 attempts: check llm-base-url and the network of the runner"
    assert error.failed.asked is False
    assert caplog.text.count("ConnectError; trying again") == 2


def test_a_connection_that_comes_up_meanwhile_is_used() -> None:
    """S28: the server is there by the second attempt."""
    reserved = socket.create_server(("127.0.0.1", 0))
    port = reserved.getsockname()[1]
    reserved.close()
    listener: list[socket.socket] = []

    class Starter(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "trying again" in record.msg and not listener:
                listener.append(socket.create_server(("127.0.0.1", port)))

    starter = Starter()
    logging.getLogger("verifier").addHandler(starter)
    try:
        # The listener takes the connection and never answers: only the time bound ends this.
        reason = str(failure(f"http://127.0.0.1:{port}", timeout_seconds=0.8))
    finally:
        logging.getLogger("verifier").removeHandler(starter)
        for opened in listener:
            opened.close()
    assert listener
    assert reason.startswith("no answer within 0.8 s")


@contextmanager
def refusing_port() -> Iterator[str]:
    """An address that nothing listens at, held so that nothing else can."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}"


@pytest.mark.parametrize(
    ("name", "again"),
    [
        ("ConnectError", True),
        ("ConnectTimeout", True),
        ("PoolTimeout", True),
        ("ReadError", False),
        ("ReadTimeout", False),
        ("WriteError", False),
        ("WriteTimeout", False),
        ("RemoteProtocolError", False),
        ("ProxyError", False),
    ],
)
def test_only_a_connection_that_was_never_made_is_tried_again(name: str, again: bool) -> None:
    """S28."""
    import anthropic as sdk
    import httpx2

    error = sdk.APIConnectionError(request=httpx2.Request("POST", "http://host"))
    error.__cause__ = getattr(httpx2, name)("broken")
    assert anthropic._unpaid(error) is again


# The wall bound.


@pytest.mark.parametrize("answer", [silent(), trickle()], ids=["silent", "trickle"])
@pytest.mark.parametrize("seconds", [0.5, 1])
def test_the_bound_holds_against_a_server_that_never_ends(answer: Answer, seconds: float) -> None:
    """S28: a timeout of the SDK's is one of a socket read, and a byte every 20 ms renews it."""
    with ModelServer([answer]) as server:
        with within(AMPLE):
            error = failure(server.url, timeout_seconds=seconds)
        # Nothing is left behind that could be ended, though the server is still at it.
        join_calls()
    assert str(error) == (
        f"no answer within {seconds} s: raise llm.verify.timeoutSeconds ({seconds}), "
        "or set a lower llm.effort or a faster llm.model"
    )
    assert error.failed.asked is True
    assert len(server.requests) == 1


def test_the_bound_includes_every_attempt() -> None:
    """S28."""
    with ModelServer([status(500, "api_error", "internal", headers=SOON), silent()]) as server, within(AMPLE):
        assert str(failure(server.url, timeout_seconds=0.5)).startswith("no answer within 0.5 s")
    assert len(server.requests) == 2


@pytest.fixture
def released() -> Iterator[threading.Event]:
    """An event that holds a thread; released, and the thread gone, before anything else is tested."""
    before = set(threading.enumerate())
    event = threading.Event()
    yield event
    event.set()
    for thread in set(threading.enumerate()) - before:
        thread.join(AMPLE)
        assert not thread.is_alive()


def test_the_bound_holds_against_a_name_server(released: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    """S28: nothing interrupts getaddrinfo."""

    def hang(*args: object, **options: object) -> list[object]:
        released.wait()
        raise socket.gaierror(socket.EAI_AGAIN, "no answer")

    with monkeypatch.context() as patch, within(AMPLE):
        patch.setattr(socket, "getaddrinfo", hang)
        error = failure("http://model.invalid", timeout_seconds=0.5)
    # The connection's own limit is here the time left as well; which one ends first is chance.
    assert str(error).startswith(("no answer within 0.5 s", "no connection to model.invalid in 1 attempt"))


def test_a_connection_that_hangs_is_given_up_for_another(
    released: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S28: a black hole gets a part of the time, not all of it."""

    def hang(*args: object, **options: object) -> list[object]:
        released.wait()
        raise socket.gaierror(socket.EAI_AGAIN, "no answer")

    with monkeypatch.context() as patch, within(AMPLE):
        patch.setattr(socket, "getaddrinfo", hang)
        patch.setattr(anthropic, "CONNECT_SECONDS", 0.05)
        error = failure("http://model.invalid")
    assert str(error).startswith("no connection to model.invalid in 3 attempts: ")


def test_the_bound_holds_against_an_import(released: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    """S28; and no paid call begins once nobody waits for it, and none is told of."""
    import anthropic as sdk

    def hang() -> Any:
        released.wait()
        return sdk

    with ModelServer([FINE]) as server:
        with monkeypatch.context() as patch, within(AMPLE):
            patch.setattr(anthropic, "_sdk", hang)
            error = failure(server.url, timeout_seconds=0.3)
        assert str(error).startswith("no answer within 0.3 s")
        assert error.failed.asked is False
        released.set()
        join_calls()
        assert server.connections == 0


def test_a_name_that_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """S24."""

    def unknown(*args: object, **options: object) -> list[object]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with monkeypatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", unknown)
        error = failure("http://model.invalid/path")
    assert str(error).startswith("no connection to model.invalid in 3 attempts: ")


# Nothing breaks out.


def test_an_sdk_that_cannot_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """S24."""

    def missing() -> Any:
        raise ImportError("No module named 'anthropic'")

    monkeypatch.setattr(anthropic, "_sdk", missing)
    error = failure("http://127.0.0.1:9")
    assert str(error) == "the anthropic package cannot be imported (ImportError): install it again"
    assert error.failed.asked is False


def test_a_mistake_of_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """S24: not even that keeps the caller waiting."""

    def broken(*args: object) -> Reply:
        raise KeyError("oops")

    monkeypatch.setattr(anthropic, "_reply", broken)
    with ModelServer([FINE]) as server:
        assert "in an unforeseen way (KeyError)" in str(failure(server.url))


@pytest.mark.parametrize(
    "variables",
    [
        {"HTTPS_PROXY": "socks5://127.0.0.1:9"},
        {"HTTPS_PROXY": "gopher://127.0.0.1:9"},
        {"SSL_CERT_FILE": "/nonexistent/bundle.pem"},
    ],
)
def test_surroundings_that_no_client_can_be_made_in(variables: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """S24."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    error = failure("https://model.invalid")
    assert str(error).startswith("no connection to model.invalid could be set up (")
    assert error.failed.asked is False


def test_a_certificate_that_is_not_accepted() -> None:
    """S24: an image without ca-certificates, a proxy that opens TLS."""
    import ssl

    import anthropic as sdk
    import httpx2

    error = sdk.APIConnectionError(request=httpx2.Request("POST", "https://model.invalid"))
    error.__cause__ = httpx2.ConnectError("certificate verify failed")
    error.__cause__.__cause__ = ssl.SSLCertVerificationError("certificate verify failed")
    told = anthropic._connection(error, anthropic._access(KEY, "https://model.invalid"), Settings(), 3)
    assert str(told).startswith("the certificate of model.invalid was not accepted: install ca-certificates")


@pytest.mark.parametrize("name", ["ReadTimeout", "WriteTimeout"])
def test_a_timeout_of_the_sdk_is_ours(name: str) -> None:
    """S24: both are the time left; which one ends first is chance."""
    import anthropic as sdk
    import httpx2

    error = sdk.APITimeoutError(request=httpx2.Request("POST", "https://model.invalid"))
    error.__cause__ = getattr(httpx2, name)("late")
    told = anthropic._connection(error, anthropic._access(KEY, "https://model.invalid"), Settings(), 1)
    assert str(told).startswith("no answer within 120 s: raise llm.verify.timeoutSeconds (120)")


# Where the key goes.


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(code: int) -> None:
    """A9."""
    with ModelServer([FINE]) as other, ModelServer([redirect(f"{other.url}/v1/messages", code)]) as server:
        assert "redirects to another address" in str(failure(server.url))
    assert other.connections == 0
    assert len(server.requests) == 1


def test_the_environment_moves_nothing_and_adds_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A9: base URL, credentials, headers, log, profile and proxies, all of them set."""
    with ModelServer([FINE]) as other, ModelServer([FINE], key=KEY) as server:
        profile = {"base_url": other.url, "authentication": {"type": "user_oauth"}}
        for place in (tmp_path / "configs", tmp_path / ".config/anthropic/configs"):
            place.mkdir(parents=True)
            (place / "default.json").write_text(json.dumps(profile))
        for name, value in {
            "HOME": str(tmp_path),
            "ANTHROPIC_CONFIG_DIR": str(tmp_path),
            "ANTHROPIC_PROFILE": "default",
            "ANTHROPIC_BASE_URL": other.url,
            "ANTHROPIC_API_KEY": "sk-other",
            "ANTHROPIC_AUTH_TOKEN": "other",
            "ANTHROPIC_CUSTOM_HEADERS": "x-other: 1\nauthorization: Bearer other",
            "ANTHROPIC_LOG": "debug",
            "HTTP_PROXY": other.url,
            "http_proxy": other.url,
            "HTTPS_PROXY": other.url,
            "ALL_PROXY": other.url,
        }.items():
            monkeypatch.setenv(name, value)
        anthropic_reader(KEY, server.url)(question())
        assert [name for name in os.environ if name.startswith("ANTHROPIC_")] == []
    assert other.connections == 0
    [request] = server.requests
    assert "x-other" not in request.headers
    assert "other" not in caplog.text


def test_a_proxy_sees_the_host_of_an_https_address_and_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """A9; and a proxy that says no is told apart from a model that does (S24)."""
    with ModelServer([FINE]) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        error = failure("https://model.invalid/secret/path")
    assert str(error) == (
        "the proxy did not let the connection to model.invalid through: check HTTPS_PROXY and NO_PROXY"
    )
    [request] = proxy.requests
    assert (request.method, request.path) == ("CONNECT", "model.invalid:443")
    assert "authorization" not in request.headers
    assert KEY not in str(request)


# Starting.


def run(code: str, **variables: str) -> None:
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root), **variables}
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=120, cwd=root, env=environment)


def test_importing_the_reader_imports_no_sdk() -> None:
    """S38 and the budget of a dry run."""
    run(
        "import sys, verifier.readers.anthropic as reader\n"
        "reader.anthropic_reader('key')\n"
        "heavy = {'anthropic', 'httpx2', 'tenacity', 'asyncio', 'pydantic'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )


def test_warming_imports_once_and_leaves_the_key_to_be_read() -> None:
    run(
        "import os, sys, threading\n"
        "from verifier.readers.anthropic import warm\n"
        "warm()\n"
        "warm()\n"
        "workers = [thread for thread in threading.enumerate() if thread.name == 'verifier-warm']\n"
        "assert len(workers) == 1 and workers[0].daemon\n"
        "workers[0].join()\n"
        "assert 'anthropic' in sys.modules\n"
        "assert [name for name in os.environ if name.startswith('ANTHROPIC_')] == ['ANTHROPIC_API_KEY']\n",
        ANTHROPIC_API_KEY="key",
        ANTHROPIC_LOG="debug",
    )


@pytest.mark.parametrize("broken", ["sdk", "thread"])
def test_warming_never_raises(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> Any:
        raise RuntimeError("no")

    if broken == "sdk":
        monkeypatch.setattr(anthropic, "_sdk", fail)
    else:
        monkeypatch.setattr(threading.Thread, "start", fail)
    before = set(threading.enumerate())
    warm: Callable[[], None] = anthropic.warm.__wrapped__
    warm()
    for thread in set(threading.enumerate()) - before:
        thread.join()


# The server that the tests rest on is itself held to the SDK's types, and is as strict as it says.


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ([{"type": "text", "text": "text"}], {}),
        ([{"type": "thinking", "thinking": "", "signature": "s"}, {"type": "text", "text": "text"}], {}),
        ([], {"reason": "refusal", "details": {"type": "refusal", "category": "cyber", "explanation": None}}),
        ([], {"reason": "max_tokens", "usage": {"cache_read_input_tokens": None}}),
    ],
)
def test_scripted_messages_are_messages_of_the_sdk(content: list[dict[str, Any]], options: dict[str, Any]) -> None:
    import anthropic as sdk

    message = message_like({"model": MODEL}, content, **options)
    sdk.types.Message.model_validate(message, strict=True)


OBJECT: dict[str, Any] = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
STRING: dict[str, Any] = {"type": "string"}


def with_properties(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return OBJECT | {"properties": properties, "required": list(properties)} | more


@pytest.mark.parametrize(
    ("schema", "fault"),
    [
        (3, "schema: an object is required"),
        ({"type": "object", "properties": {}}, "schema: additionalProperties must be false"),
        ({"type": "array", "items": OBJECT | {"additionalProperties": {}}}, "schema.items: additionalProperties"),
        (with_properties({"a": STRING | {"minLength": 1}}), "schema.properties.a.minLength: not supported"),
        (with_properties({"a": STRING | {"pattern": "(?=a)"}}), "schema.properties.a.pattern: no look-around"),
        (with_properties({"a": STRING | {"default": ""}}), "schema.properties.a.default: not supported"),
        (with_properties({"a": {"type": "integer", "maximum": 3}}), "schema.properties.a.maximum: not supported"),
        (with_properties({"a": {"type": "array", "items": STRING, "minItems": 2}}), "schema.properties.a.minItems"),
        (with_properties({"a": {"oneOf": [STRING]}}), "schema.properties.a.oneOf: not supported"),
        (with_properties({"a": {"enum": [{}]}}), "schema.properties.a.enum: primitives only"),
        (with_properties({"a": STRING | {"format": "regex"}}), "schema.properties.a.format: not supported"),
        (OBJECT | {"required": ["a"]}, "schema.required: a is no property"),
        (OBJECT | {"properties": {f"a{n}": STRING for n in range(25)}}, "schema: 25 optional properties, at most 24"),
        (
            with_properties({f"a{n}": {"anyOf": [STRING, {"type": "null"}]} for n in range(17)}),
            "schema: 17 properties with union types, at most 16",
        ),
        (with_properties({"a": {"$ref": "https://host/schema"}}), "schema.properties.a.$ref: only a definition"),
        (
            with_properties(
                {"a": {"$ref": "#/$defs/b"}}, **{"$defs": {"b": {"type": "array", "items": {"$ref": "#/$defs/b"}}}}
            ),
            "schema.$defs.b: recursive definitions are not supported",
        ),
    ],
)
def test_a_schema_that_the_api_would_refuse_is_refused(schema: Any, fault: str) -> None:
    faults = list(schema_faults(schema))
    assert len(faults) == 1
    assert faults[0].startswith(fault)


def test_a_schema_that_the_api_takes_is_taken() -> None:
    """Properties may be called what keywords are called."""
    properties = {"default": STRING, "pattern": STRING, "minLength": {"$ref": "#/$defs/a"}}
    assert list(schema_faults(with_properties(properties, **{"$defs": {"a": STRING}}))) == []


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"temperature": 0}, "temperature: Extra inputs are not permitted"),
        ({"max_tokens": 0}, "max_tokens: a positive integer is required"),
        ({"max_tokens": True}, "max_tokens: a positive integer is required"),
        ({"model": None}, "model: a string is required"),
        ({"messages": []}, "messages: at least one message is required"),
        ({"messages": [{"role": "assistant", "content": "{"}]}, "messages.0.role: the first message is the user's"),
        ({"messages": [{"role": "user", "content": ""}]}, "messages.0.content: text or blocks are required"),
        ({"output_config": {"effort": "none"}}, "output_config.effort: one of low, medium, high, xhigh, max"),
        ({"output_config": {"mode": "json"}}, "output_config.mode: Extra inputs are not permitted"),
        ({"output_config": {"format": {"type": "json"}}}, "output_config.format: type json_schema and a schema"),
    ],
)
def test_a_request_that_the_api_would_refuse_is_refused_and_noted(change: dict[str, Any], fault: str) -> None:
    import http.client

    body = {"model": MODEL, "max_tokens": 1, "messages": [{"role": "user", "content": "hello"}], **change}
    headers = {"authorization": "Bearer key", "anthropic-version": "2026-10-21", "content-type": "application/json"}
    with ModelServer([FINE]) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=AMPLE)
        connection.request("POST", "/v1/messages", json.dumps(body), headers)
        response = connection.getresponse()
        error = json.loads(response.read())
        connection.close()
    assert response.status == 400
    assert error["error"]["type"] == "invalid_request_error"
    assert server.violations[0].startswith(fault)


def test_headers_are_required() -> None:
    import http.client

    with ModelServer([FINE]) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=AMPLE)
        connection.request("POST", "/v1/messages", "no", {"x-api-key": "key"})
        assert connection.getresponse().status == 400
        connection.close()
    assert [fault.partition(":")[0] for fault in server.violations] == [
        "authorization",
        "anthropic-version",
        "content-type",
        "body",
    ]


def test_a_script_that_is_used_up_or_could_not_be_real_is_an_error_of_the_test() -> None:
    with pytest.raises(AssertionError, match="no answer"), ModelServer() as server:
        failure(server.url)
    with pytest.raises(AssertionError), ModelServer([ok("text", usage={"input_tokens": -1})]) as server:
        failure(server.url)


def test_a_script_may_be_made_from_the_request() -> None:
    with ModelServer(lambda body: ok(lambda again: {"same": body == again})) as server:
        assert json.loads(anthropic_reader(KEY, server.url)(question()).text) == {"same": True}
