"""The reader that asks a model: one paid request to Anthropic's Messages API, inside one wall bound.

The SDK takes a second to import, so it is imported in threads only, and never by a run that asks nobody. What it
does by itself (retries, redirects, reading the environment, a timeout a socket read) is switched off, and done here
where it is done at all: S28 and A9 ask for less than it offers.
"""

import json
import logging
import os
import queue
import re
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from verifier.text import cut, one_line
from verifier.verification.model import Question, Reader, ReaderError, Reply, Settings, Usage

if TYPE_CHECKING:
    import anthropic
    from tenacity import RetryCallState

API: Final = "https://api.anthropic.com"

ATTEMPTS: Final = 3
FIRST_WAIT: Final = 0.5
JITTER: Final = 0.1
LONGEST_WISH: Final = 1e9

# A black hole is given up in time for another attempt; everything after the connection may take all the time left.
CONNECT_SECONDS: Final = 10.0
# What the waiting thread allows beyond the deadline for the other one to say what happened.
GRACE: Final = 0.5
CLOSING: Final = 0.1

# Thinking counts as output, so the cap leaves room for it (S35).
THINKING_TOKENS: Final = 8_000
TOKENS_PER_BLOCK: Final = 250
MOST_TOKENS: Final = 64_000
# A shorter key is a word that stands for one, such as `test`, and a reply may hold it for reasons of its own.
SHORTEST_SECRET: Final = 12
# No call takes so many. Python would not even write the sum of two numbers as long as it reads.
MOST_COUNTED: Final = 10**12

_KEY: Final = re.compile(r"[\x21-\x7e]+")
_URL: Final = re.compile(
    r"(?P<scheme>https?)://(?P<host>[a-z0-9._-]+|\[[0-9a-f:.]+\])(:(?P<port>[0-9]{1,5}))?(/[a-z0-9._~!$&'()*+,;=:@%/-]*)?",
    re.IGNORECASE,
)
_SECONDS: Final = re.compile(r"[0-9]+(\.[0-9]+)?", re.ASCII)

_log: Final = logging.getLogger("verifier")

Answer = Reply | ReaderError


@dataclass(frozen=True, slots=True)
class _Access:
    """Where the request goes and with what. The key is in no repr, and no sentence (A9)."""

    key: str = field(repr=False)
    base_url: str
    host: str


@cache
def warm() -> None:
    """Start importing the SDK in a daemon thread, once; never raises. The key in the environment may be read later."""
    _forget_environment(keep="ANTHROPIC_API_KEY")

    def work() -> None:
        # Whatever is wrong with the SDK is told by the call, which imports it again.
        with suppress(Exception):
            _sdk()

    # No thread to be had is no reason to fail here either.
    with suppress(RuntimeError):
        threading.Thread(target=work, name="verifier-warm", daemon=True).start()


def anthropic_reader(key: str, base_url: str | None = None) -> Reader:
    """A reader that sends `key` to `base_url` (else to Anthropic) and nowhere else; raises for an unusable one (A9)."""
    access = _access(key, base_url)

    def read(question: Question) -> Reply:
        return _read(access, question)

    return read


def _access(key: str, base_url: str | None) -> _Access:
    """Key and address, tested before the SDK sees them: it would send `Bearer ` and call that a failed connection."""
    key, url = key.strip(), (base_url or "").strip() or API
    if not key:
        raise _unasked("no key: set llm-api-key (Action) or ANTHROPIC_API_KEY (shell)")
    if not _KEY.fullmatch(key):
        raise _unasked(
            "the key holds white space, a line break or a character that no key has: "
            "copy it again into llm-api-key (Action) or ANTHROPIC_API_KEY (shell)"
        )
    match = _URL.fullmatch(url)
    if match is None or int(match["port"] or 0) > 65_535:
        # Not quoted: what is wrong with it may be that it holds a password.
        raise _unasked(
            "llm-base-url is not an address that a key may go to: "
            "write http:// or https://, a host, and at most a port and a path (no user name, query or fragment)"
        )
    return _Access(key, url, cut(match["host"], 100))


def _forget_environment(keep: str | None = None) -> None:
    """Drop every `ANTHROPIC_*` variable: the SDK lets them add headers, move requests and log contents (A9)."""
    for name in [name for name in os.environ if name.startswith("ANTHROPIC_") and name != keep]:
        os.environ.pop(name, None)


def _sdk() -> Any:
    """The SDK and all that a call imports beside it."""
    import anthropic
    import anthropic.resources.messages
    import httpx2  # noqa: F401
    import tenacity  # noqa: F401

    return anthropic


def _read(access: _Access, question: Question) -> Reply:
    """The answer, or a ReaderError, by the deadline (S28).

    The call runs in a thread of its own, because not everything that can hang there can be interrupted: an import,
    a name server. That thread is left behind with whatever holds it; nothing waits for a daemon.
    """
    _forget_environment()
    deadline = time.monotonic() + question.settings.timeout_seconds
    answers: queue.SimpleQueue[Answer] = queue.SimpleQueue()
    sent = threading.Event()
    worker = threading.Thread(
        target=_work, args=(access, question, deadline, sent, answers.put), name="verifier-model-call", daemon=True
    )
    worker.start()
    try:
        answer = answers.get(timeout=min(max(deadline + GRACE - time.monotonic(), 0), threading.TIMEOUT_MAX))
    except queue.Empty:
        raise _late(question.settings, asked=sent.is_set()) from None
    # Almost always at once: it closes its loop. A hanging name server would keep it longer, and does not get to.
    worker.join(CLOSING)
    if isinstance(answer, ReaderError):
        raise answer
    return answer


def _work(
    access: _Access, question: Question, deadline: float, sent: threading.Event, hand_over: Callable[[Answer], None]
) -> None:
    """The thread: hands over one answer, from inside the loop, whose own end may have to wait for a name server."""
    try:
        sdk = _sdk()
    except Exception as error:  # noqa: BLE001 (what this thread does not hand over is lost)
        hand_over(_unasked(f"the anthropic package cannot be imported ({type(error).__name__}): install it again"))
        return
    import asyncio

    async def deliver() -> None:
        try:
            hand_over(await _ask(sdk, access, question, deadline, sent))
        except ReaderError as error:
            hand_over(error)
        except Exception as error:  # noqa: BLE001 (what this thread does not hand over is lost)
            hand_over(_unforeseen(error))

    asyncio.run(deliver())


async def _ask(sdk: Any, access: _Access, question: Question, deadline: float, sent: threading.Event) -> Reply:
    """One call with its retries, all of it inside the deadline; `sent` is set from the first request on."""
    import asyncio

    settings = question.settings
    _hush(sdk, settings.model)
    client = _client(sdk, access)
    if (left := deadline - time.monotonic()) <= 0:  # the import took all the time: nobody is asked
        raise _late(settings, asked=False)
    try:
        async with asyncio.timeout(left), client:
            message = await _send(client, access, question, deadline, sent)
    except TimeoutError:
        raise _late(settings) from None
    return _reply(sdk, message, access, settings)


def _client(sdk: Any, access: _Access) -> Any:
    """The SDK's client, told everything that it would otherwise look up or decide by itself (A9)."""
    import httpx2

    from verifier.readers.bounded import bound

    try:
        return sdk.AsyncAnthropic(
            api_key=access.key,
            base_url=access.base_url,
            default_headers={"accept-encoding": "identity"},
            max_retries=0,
            open_telemetry=False,
            http_client=sdk.DefaultAsyncHttpxClient(
                # A redirect would carry the prompt, and to the same host the key, where nobody sent them.
                follow_redirects=False,
                # A proxy sees nothing of TLS but the host; of plain http it would see the key.
                trust_env=access.base_url.lower().startswith("https:"),
                # An idle connection that the server has dropped would look like a reply that broke off.
                limits=httpx2.Limits(max_keepalive_connections=0),
                event_hooks={"response": [bound]},
            ),
        )
    except Exception as error:  # noqa: BLE001 (what the environment can break here is of many kinds)
        # A SOCKS proxy (ImportError), SSL_CERT_FILE without its file (OSError), a proxy that is no URL (ValueError).
        raise _unasked(
            f"no connection to {access.host} could be set up ({type(error).__name__}): "
            "check llm-base-url, HTTPS_PROXY, ALL_PROXY (SOCKS is not supported) and SSL_CERT_FILE"
        ) from None


def _hush(sdk: Any, model: str) -> None:
    """Keep contents out of every log (A9), and a deprecated model a matter of the log alone."""
    import warnings

    for name in ("anthropic", "httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(logging.WARNING)
    # For good, as `catch_warnings` belongs to the whole process and this thread may be left behind.
    warnings.filterwarnings("ignore", message="The model ", category=DeprecationWarning)
    ends = getattr(sdk.resources.messages, "DEPRECATED_MODELS", {}).get(model)
    if ends is not None:
        _log.warning("the model %s is deprecated and ends on %s: set another llm.model", model, ends)


async def _send(
    client: "anthropic.AsyncAnthropic", access: _Access, question: Question, deadline: float, sent: threading.Event
) -> object:
    """The request, sent at most three times, and again only where nothing can have been paid for (S28)."""
    import asyncio

    import anthropic
    import httpx2
    from tenacity import AsyncRetrying, retry_if_exception, wait_exponential, wait_random

    prompt, settings = question.prompt, question.settings
    form = {"type": "json_schema", "schema": json.loads(prompt.schema)}
    output: Any = {"effort": settings.effort, "format": form}
    backoff = wait_exponential(multiplier=FIRST_WAIT) + wait_random(0, JITTER)
    attempts = 0

    async def attempt() -> object:
        nonlocal attempts
        attempts += 1
        sent.set()
        left = max(deadline - time.monotonic(), 0.001)
        return await client.messages.create(
            model=settings.model,
            max_tokens=_output_tokens(prompt.blocks),
            system=prompt.system,
            messages=[{"role": "user", "content": prompt.message}],
            output_config=output,
            timeout=httpx2.Timeout(left, connect=min(left, CONNECT_SECONDS)),
        )

    def wait(state: "RetryCallState") -> float:
        wished = _wished(_raised(state))
        return backoff(state) if wished is None else wished

    def stop(state: "RetryCallState") -> bool:
        return state.attempt_number >= ATTEMPTS or time.monotonic() + state.upcoming_sleep >= deadline

    def tell(state: "RetryCallState") -> None:
        _log.info("model call: %s; trying again in %.1f s", _brief(_raised(state)), state.upcoming_sleep)

    retrying = AsyncRetrying(
        retry=retry_if_exception(_unpaid), wait=wait, stop=stop, before_sleep=tell, sleep=asyncio.sleep, reraise=True
    )
    try:
        return await retrying(attempt)
    except anthropic.APIStatusError as error:
        _log.info("model call: %s, request id %s", _brief(error), _said(access, error.request_id or "unknown", 100))
        raise ReaderError(_status(error, access, settings, attempts, deadline)) from None
    except anthropic.APIConnectionError as error:
        _log.info("model call: %s", _brief(error))
        raise _connection(error, access, settings, attempts) from None
    except ValueError:
        # The SDK has no guard of its own where a reply is not the JSON that it says it is.
        raise _no_messages_api(access, "a reply that could not be read") from None


def _output_tokens(blocks: int) -> int:
    """Room for thinking and for every block (S35)."""
    return min(THINKING_TOKENS + TOKENS_PER_BLOCK * blocks, MOST_TOKENS)


def _raised(state: "RetryCallState") -> BaseException | None:
    return state.outcome.exception() if state.outcome is not None else None


def _unpaid(error: BaseException) -> bool:
    """Whether nothing can have been paid for, and another attempt can help: no connection, 429, 5xx (S28)."""
    import anthropic
    import httpx2

    if isinstance(error, anthropic.APIStatusError):
        return error.status_code >= 500 or (error.status_code == 429 and not _out_of_money(error))
    return isinstance(error, anthropic.APIConnectionError) and isinstance(
        error.__cause__, (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
    )


def _wished(error: object) -> float | None:
    """The seconds that the server asks to wait (`retry-after`, seconds or a date); None without a usable wish."""
    headers = getattr(getattr(error, "response", None), "headers", {})
    value = str(headers.get("retry-after", "")).strip()
    if _SECONDS.fullmatch(value):
        seconds = float(value)
    else:
        from email.utils import parsedate_to_datetime

        try:
            when = parsedate_to_datetime(value)
            seconds = (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() - datetime.now(UTC).timestamp()
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
    return min(seconds, LONGEST_WISH) if seconds > 0 else None


def _brief(error: object) -> str:
    """What failed, for the log: a status, or the kind of broken connection. No text of the server's (A9)."""
    status = getattr(error, "status_code", None)
    cause = getattr(error, "__cause__", None) or error
    return f"status {status}" if status is not None else type(cause).__name__


def _said(access: _Access, text: str, limit: int) -> str:
    """What a server said, on one line of at most `limit` characters, and without the key should it echo that (A9)."""
    return cut(one_line(text[:10_000]).replace(access.key, "***"), limit)


def _without_key(access: _Access, text: str) -> str:
    """A reply's JSON without the key should it echo that, its signs as they are or as escapes (A9)."""
    if len(access.key) < SHORTEST_SECRET:
        return text
    signs = (rf"(?:\\?{re.escape(sign)}|(?i:\\u{ord(sign):04x}))" for sign in access.key)
    return re.sub("".join(signs), "***", text)


def _unasked(reason: str) -> ReaderError:
    """A failure before anything was sent."""
    return ReaderError(reason, asked=False)


def _late(settings: Settings, *, asked: bool = True) -> ReaderError:
    seconds = f"{settings.timeout_seconds:g}"
    return ReaderError(
        f"no answer within {seconds} s: raise llm.verify.timeoutSeconds ({seconds}), "
        "or set a lower llm.effort or a faster llm.model",
        asked=asked,
    )


def _unforeseen(error: Exception) -> ReaderError:
    return ReaderError(
        f"the call of the model failed in an unforeseen way ({type(error).__name__}): "
        "run the job again, and report it if it stays"
    )


def _no_messages_api(access: _Access, what: str, **known: Any) -> ReaderError:
    return ReaderError(
        f"{access.host} does not speak the Messages API ({what}): check llm-base-url, and proxies on the way", **known
    )


def _out_of_money(error: "anthropic.APIStatusError") -> bool:
    return error.status_code == 402 or "spend_limit" in (error.error_code or "")


def _status(
    error: "anthropic.APIStatusError", access: _Access, settings: Settings, attempts: int, deadline: float
) -> str:
    """One sentence for a status: what is wrong, what to do, and last, as it may be long, what the API says (S24)."""
    message = error.api_message
    says = f"; it says: {_said(access, message, 200)}" if isinstance(message, str) and message.strip() else ""
    wished = _wished(error)
    wish = ""
    if wished is not None and time.monotonic() + wished >= deadline:
        wish = (
            f", and asks to wait {wished:.0f} s, longer than what is left "
            f"of llm.verify.timeoutSeconds ({settings.timeout_seconds:g})"
        )
    return _advice(error, access.host, settings, f"after {_counted(attempts)}{wish}") + says


def _advice(error: "anthropic.APIStatusError", host: str, settings: Settings, tried: str) -> str:
    status, model = error.status_code, one_line(settings.model, 100)
    if _out_of_money(error):
        return f"the credit or spend limit of the key is used up ({status}): add credit or raise the limit at {host}"
    if 300 <= status < 400:
        return (
            f"{host} redirects to another address ({status}), and the key is sent to no other: "
            "set llm-base-url to the final address"
        )
    if status == 401:
        return f"{host} rejected the key (401): check llm-api-key (Action) or ANTHROPIC_API_KEY (shell)"
    if status == 403:
        return f"the key may not use {model} at {host} (403): give it that permission, or set another llm.model"
    if status == 404 and error.type is None:
        return f"{host} has no Messages API at this address (404): check llm-base-url"
    if status == 404:
        return f"unknown model {model} (404): set llm.model to a model that {host} has and the key may use"
    if status == 413:
        return (
            f"the prompt is too large for {host} (413): "
            f"lower llm.verify.maxTokens ({settings.max_tokens}), or split the pull request"
        )
    if status == 429:
        return f"{host} limits the rate (429) {tried}: run the job again later, or raise the limit of the key"
    if status == 529:
        return f"{host} is overloaded (529) {tried}: run the job again later"
    if status >= 500:
        return f"{host} failed ({status}) {tried}: run the job again later"
    effort = one_line(settings.effort, 20)
    return f"{host} refused the request ({status}): check llm.model ({model}) and llm.effort ({effort})"


def _counted(attempts: int) -> str:
    return f"{attempts} attempt{'s' if attempts > 1 else ''}"


def _connection(
    error: "anthropic.APIConnectionError", access: _Access, settings: Settings, attempts: int
) -> ReaderError:
    """One sentence for a connection: never made, refused on the way, or broken off (S24). The host is all it names."""
    import httpx2

    from verifier.readers.bounded import TooMuch

    cause, host = error.__cause__, access.host
    if isinstance(cause, TooMuch):
        return _no_messages_api(access, str(cause))
    if isinstance(cause, (httpx2.ReadTimeout, httpx2.WriteTimeout)):
        return _late(settings)
    if isinstance(cause, httpx2.ProxyError):
        return _unasked(f"the proxy did not let the connection to {host} through: check HTTPS_PROXY and NO_PROXY")
    if _bad_certificate(cause):
        return _unasked(
            f"the certificate of {host} was not accepted: install ca-certificates, "
            "or set SSL_CERT_FILE to the bundle of your proxy"
        )
    if _unpaid(error):
        return _unasked(
            f"no connection to {host} in {_counted(attempts)}: check llm-base-url and the network of the runner"
        )
    return ReaderError(
        f"{host} broke off before the reply was complete ({_brief(error)}); "
        "not tried again, as it may have been paid for: run the job again"
    )


def _bad_certificate(error: BaseException | None) -> bool:
    import ssl

    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _reply(sdk: Any, message: object, access: _Access, settings: Settings) -> Reply:
    """The text of a reply that ended by itself. What was spent and who answered go with every failure (S24, S35)."""
    # A web page with status 200 is a str here, JSON of another shape a Message whose fields are None.
    if not isinstance(message, sdk.types.Message):
        raise _no_messages_api(access, "a web page or another document instead of a message")
    request_id = getattr(message, "_request_id", None)
    _log.info("model call: answered, request id %s", _said(access, str(request_id or "unknown"), 100))
    usage = _usage(message.usage)
    named: object = message.model
    model = _said(access, named, 100) if isinstance(named, str) and named.strip() else None
    stop: object = message.stop_reason
    if not isinstance(stop, str) or not isinstance(message.content, list):
        raise _no_messages_api(access, "JSON that is not a message", model=model, usage=usage)
    if stop != "end_turn":
        raise ReaderError(_stopped(stop, message, access, settings), model=model, usage=usage)
    # By type: thinking comes first, and a block of an unknown type has the class of a text block.
    texts = [block.text for block in message.content if getattr(block, "type", None) == "text"]
    text = "".join(text for text in texts if isinstance(text, str))
    if not text.strip():
        raise ReaderError(
            "the model answered with no text: run the job again, or set another llm.model", model=model, usage=usage
        )
    return Reply(_without_key(access, text), model or "unknown", usage)


def _usage(usage: object) -> Usage | None:
    """Tokens of a call, cached input included; None where the reply does not tell."""

    def tokens(name: str) -> int | None:
        count = getattr(usage, name, None)
        return count if isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= MOST_COUNTED else None

    fresh, output = tokens("input_tokens"), tokens("output_tokens")
    if fresh is None or output is None:
        return None
    cached = (tokens("cache_creation_input_tokens") or 0) + (tokens("cache_read_input_tokens") or 0)
    return Usage(fresh + cached, output)


def _stopped(stop: str, message: "anthropic.types.Message", access: _Access, settings: Settings) -> str:
    """One sentence for a reply that did not end by itself, whatever text it holds (S24)."""
    model = one_line(settings.model, 100)
    if stop == "refusal":
        category = getattr(message.stop_details, "category", None)
        named = f" (category: {_said(access, str(category), 60)})" if category else ""
        return f"{model} refused to answer{named}: set another llm.model, or review this brief as it is"
    if stop == "max_tokens":
        return "the reply was cut off at its token limit: set a lower llm.effort, or split the pull request"
    if stop == "model_context_window_exceeded":
        return (
            f"prompt and reply do not fit into the context window of {model}: "
            f"lower llm.verify.maxTokens ({settings.max_tokens}), or set an llm.model with a larger window"
        )
    if stop == "pause_turn":
        return f"{model} paused its turn, and one call does not resume it: run the job again"
    if stop == "tool_use":
        return f"{model} asked for a tool, and none was offered: check llm-base-url, or set another llm.model"
    if stop == "stop_sequence":
        return f"{model} ended at a stop sequence, and none was set: check llm-base-url, or set another llm.model"
    return f"{model} stopped for a reason not known here ({_said(access, stop, 60)}): upgrade verifier"
