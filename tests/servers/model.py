"""A scripted Messages API on loopback: as strict about requests as the real one, and as rude as a script says.

    with ModelServer([status(529, "overloaded_error", "Overloaded"), ok({"verdicts": []})]) as server:
        ...  # server.url, server.requests, server.violations

Each request takes the next answer of the script; the last one repeats. A request that the real API would refuse gets
a 400 in its shape, takes no answer, and is noted in `violations`.
"""

import json
import os
import re
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Final, Self

Json = Any

TOP_LEVEL: Final = frozenset(
    {
        "cache_control",
        "container",
        "diagnostics",
        "inference_geo",
        "max_tokens",
        "messages",
        "metadata",
        "model",
        "output_config",
        "service_tier",
        "speed",
        "stop_sequences",
        "stream",
        "system",
        "thinking",
        "tool_choice",
        "tools",
    }
)
EFFORTS: Final = ("low", "medium", "high", "xhigh", "max")
REFUSALS: Final = (None, "cyber", "bio", "frontier_llm", "reasoning_extraction", "general_harms")
KEYWORDS: Final = frozenset(
    {
        "$defs",
        "$ref",
        "additionalProperties",
        "allOf",
        "anyOf",
        "const",
        "definitions",
        "description",
        "enum",
        "format",
        "items",
        "minItems",
        "pattern",
        "properties",
        "required",
        "title",
        "type",
    }
)
FORMATS: Final = ("date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid")
MOST_OPTIONAL: Final = 24
MOST_UNIONS: Final = 16
BEYOND_PATTERN: Final = re.compile(r"\(\?[=!<]|\\[1-9]")


@dataclass(frozen=True)
class Request:
    """A request as it came: names of headers in lower case, the body parsed where it is JSON, else None.

    `times`, for a benchmark, are the monotonic seconds at which it came and at which its answer began.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes
    body: Json
    times: list[float] = field(default_factory=list, compare=False)


@dataclass(frozen=True)
class Exchange:
    """What an answer has to work with: the request, the socket behind it, and the server's end."""

    request: Request
    handler: BaseHTTPRequestHandler
    closing: threading.Event
    request_id: str

    def head(self, status: int, length: int, headers: Mapping[str, str], content_type: str) -> None:
        """Send status line and headers of a body of `length` bytes."""
        self.handler.send_response(status)
        fields = {"content-type": content_type, "content-length": str(length), "request-id": self.request_id}
        for name, value in {**fields, **headers}.items():
            self.handler.send_header(name, value)
        self.handler.end_headers()

    def body(self, data: bytes) -> None:
        """Send bytes of the body, at once."""
        self.handler.wfile.write(data)
        self.handler.wfile.flush()

    def send(
        self, status: int, data: bytes, headers: Mapping[str, str] | None = None, content_type: str = "application/json"
    ) -> None:
        """Send a whole reply."""
        self.head(status, len(data), headers or {}, content_type)
        self.body(data)

    def hang_up(self, *, reset: bool = False) -> None:
        """Close the connection, in good order or with a reset."""
        self.handler.close_connection = True
        if reset:
            linger = struct.pack("ii", 1, 0)
            self.handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            # The handler's files hold the socket open beyond its own close().
            os.close(self.handler.connection.detach())


Answer = Callable[[Exchange], None]
Script = Sequence[Answer] | Callable[[Json], Answer]


class ModelServer:
    """The server, from `with` to the end of it. `key`, where it is given, is the only one that is accepted."""

    def __init__(self, script: Script = (), *, key: str | None = None) -> None:
        self.requests: list[Request] = []
        self.violations: list[str] = []
        self.errors: list[BaseException] = []
        # Seconds before each answer, for a benchmark; no test waits.
        self.latency = 0.0
        self._script = script
        self._key = key
        self._taken = 0
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._http = _Http(self)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), name="model-server")

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def connections(self) -> int:
        """How many connections were opened, whether or not a request came over them."""
        return len(self._http.sockets)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._http.shutdown()
        self._thread.join()
        # Wakes the handlers that wait for a next request on an open connection; server_close() waits for them all.
        for connection in self._http.sockets:
            _shut(connection)
        self._http.server_close()
        if self.errors:
            if error is None:
                raise self.errors[0]
            error.add_note(f"and in the model server: {self.errors[0]!r}")

    def serve(self, handler: BaseHTTPRequestHandler) -> None:
        """Record a request and answer it."""
        came = time.monotonic()
        raw = handler.rfile.read(int(handler.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        request = Request(handler.command, handler.path, headers, raw, _parsed(raw), [came])
        faults = list(faults_of(request))
        with self._lock:
            self.requests.append(request)
            self.violations.extend(faults)
            exchange = Exchange(request, handler, self._closing, f"req_{len(self.requests):04d}")
            answer = self._answer(request, faults)
        if self.latency:
            self._closing.wait(self.latency)
        request.times.append(time.monotonic())
        answer(exchange)

    def _answer(self, request: Request, faults: list[str]) -> Answer:
        if faults:
            return status(400, "invalid_request_error", "; ".join(faults))
        if self._key is not None and request.headers["authorization"] != f"Bearer {self._key}":
            return status(401, "authentication_error", "invalid bearer token")
        if callable(self._script):
            return self._script(request.body)
        if not self._script:
            raise AssertionError("a request came, and the script has no answer")
        self._taken += 1
        return self._script[min(self._taken, len(self._script)) - 1]


class _Http(ThreadingHTTPServer):
    # Waited for at the end: every answer ends once `closing` is set and its socket is shut.
    daemon_threads = False
    request_queue_size = 64

    def __init__(self, owner: ModelServer) -> None:
        self.owner = owner
        self.sockets: list[socket.socket] = []
        super().__init__(("127.0.0.1", 0), _Handler)

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        self.sockets.append(connection)
        return connection, address

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 (socketserver's)
        error = sys.exc_info()[1]
        # A client that left is the client's business.
        if error is not None and not isinstance(error, OSError):
            self.owner.errors.append(error)


class _Handler(BaseHTTPRequestHandler):
    server: _Http
    protocol_version = "HTTP/1.1"
    # Head and body leave together and at once; otherwise every call on a kept connection costs 40 ms.
    disable_nagle_algorithm = True
    wbufsize = -1

    def _serve(self) -> None:
        self.server.owner.serve(self)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_CONNECT = _serve  # noqa: N815 (http.server's names)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (http.server's name)
        pass


def _shut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        # Closed already.
        return


def _parsed(raw: bytes) -> Json:
    try:
        return json.loads(raw)
    except ValueError:
        return None


# What the API refuses.


def faults_of(request: Request) -> Iterator[str]:
    """Everything about a request that the real API would refuse."""
    path = request.path.partition("?")[0]
    if request.method != "POST" or not path.endswith("/v1/messages"):
        yield f"{request.method} {path}: not an endpoint"
        return
    headers = request.headers
    if not re.fullmatch(r"Bearer \S+", headers.get("authorization", "")):
        yield "authorization: a bearer token is required"
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", headers.get("anthropic-version", "")):
        yield "anthropic-version: a date is required"
    if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        yield "content-type: application/json is required"
    if not isinstance(request.body, dict):
        yield "body: a JSON object is required"
        return
    yield from _body_faults(request.body)


def _body_faults(body: Mapping[str, Json]) -> Iterator[str]:
    for name in sorted(body.keys() - TOP_LEVEL):
        # Sampling parameters among them: this version of the API knows none.
        yield f"{name}: Extra inputs are not permitted"
    model = body.get("model")
    if not isinstance(model, str) or not model:
        yield "model: a string is required"
    tokens = body.get("max_tokens")
    if not isinstance(tokens, int) or isinstance(tokens, bool) or tokens < 1:
        yield "max_tokens: a positive integer is required"
    if not isinstance(body.get("system", ""), str | list):
        yield "system: text or a list of blocks is required"
    yield from _message_faults(body.get("messages"))
    yield from _output_faults(body.get("output_config", {}))


def _message_faults(messages: Json) -> Iterator[str]:
    if not isinstance(messages, list) or not messages:
        yield "messages: at least one message is required"
        return
    for index, message in enumerate(messages):
        if not isinstance(message, dict) or message.keys() != {"role", "content"}:
            yield f"messages.{index}: role and content are required"
        elif message["role"] not in ("user", "assistant"):
            yield f"messages.{index}.role: user or assistant"
        elif not isinstance(message["content"], str | list) or not message["content"]:
            yield f"messages.{index}.content: text or blocks are required"
    if isinstance(messages[0], dict) and messages[0].get("role") != "user":
        yield "messages.0.role: the first message is the user's"
    if isinstance(messages[-1], dict) and messages[-1].get("role") == "assistant":
        yield "messages: assistant prefill is not supported"


def _output_faults(config: Json) -> Iterator[str]:
    if not isinstance(config, dict):
        yield "output_config: an object is required"
        return
    for name in sorted(config.keys() - {"effort", "format"}):
        yield f"output_config.{name}: Extra inputs are not permitted"
    if "effort" in config and config["effort"] not in EFFORTS:
        yield f"output_config.effort: one of {', '.join(EFFORTS)}"
    if "format" not in config:
        return
    form = config["format"]
    if not isinstance(form, dict) or form.keys() != {"type", "schema"} or form["type"] != "json_schema":
        yield "output_config.format: type json_schema and a schema are required"
    else:
        yield from schema_faults(form["schema"])


def schema_faults(schema: Json) -> Iterator[str]:
    """What keeps a schema from being enforced, by the published rules of structured output."""
    if not isinstance(schema, dict):
        yield "schema: an object is required"
        return
    nodes = list(_nodes(schema, "schema"))
    for where, node in nodes:
        yield from _node_faults(node, where)
    optional = sum(len(node.get("properties", {}).keys() - set(node.get("required", []))) for _, node in nodes)
    if optional > MOST_OPTIONAL:
        yield f"schema: {optional} optional properties, at most {MOST_OPTIONAL}"
    unions = sum("anyOf" in node or isinstance(node.get("type"), list) for _, node in nodes)
    if unions > MOST_UNIONS:
        yield f"schema: {unions} properties with union types, at most {MOST_UNIONS}"
    yield from _reference_faults(schema, nodes)


def _nodes(node: Json, where: str) -> Iterator[tuple[str, dict[str, Json]]]:
    """Every schema inside a schema. A property may have any name, so keywords are looked for only where they stand."""
    if not isinstance(node, dict):
        return
    yield where, node
    for keyword in ("properties", "$defs", "definitions"):
        for name, child in node.get(keyword, {}).items():
            yield from _nodes(child, f"{where}.{keyword}.{name}")
    for keyword in ("anyOf", "allOf"):
        for index, child in enumerate(node.get(keyword, [])):
            yield from _nodes(child, f"{where}.{keyword}.{index}")
    yield from _nodes(node.get("items"), f"{where}.items")


def _node_faults(node: dict[str, Json], where: str) -> Iterator[str]:
    for keyword in sorted(node.keys() - KEYWORDS):
        yield f"{where}.{keyword}: not supported"
    types = node.get("type")
    if "object" in (types if isinstance(types, list) else [types]) or "properties" in node:
        if node.get("additionalProperties") is not False:
            yield f"{where}: additionalProperties must be false"
        unknown = set(node.get("required", [])) - node.get("properties", {}).keys()
        if unknown:
            yield f"{where}.required: {', '.join(sorted(unknown))} is no property"
    if node.get("minItems", 0) not in (0, 1):
        yield f"{where}.minItems: 0 or 1"
    if BEYOND_PATTERN.search(node.get("pattern", "")):
        yield f"{where}.pattern: no look-around, no back-reference"
    if node.get("format", FORMATS[0]) not in FORMATS:
        yield f"{where}.format: not supported"
    if any(isinstance(value, dict | list) for value in node.get("enum", [])):
        yield f"{where}.enum: primitives only"


def _reference_faults(schema: dict[str, Json], nodes: list[tuple[str, dict[str, Json]]]) -> Iterator[str]:
    targets: dict[str, set[str]] = {}
    for where, node in nodes:
        reference = node.get("$ref")
        if reference is None:
            continue
        match = re.fullmatch(r"#/(\$defs|definitions)/([^/]+)", str(reference))
        if match is None or match[2] not in schema.get(match[1], {}):
            yield f"{where}.$ref: only a definition of this schema"
            continue
        inside = re.match(r"schema\.(?:\$defs|definitions)\.([^.]+)", where)
        targets.setdefault(inside[1] if inside else "", set()).add(match[2])
    for name in targets:
        if name and name in _reachable(targets, name):
            yield f"schema.$defs.{name}: recursive definitions are not supported"


def _reachable(targets: Mapping[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    waiting = list(targets.get(start, ()))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(targets.get(name, ()))
    return found


# What a script is made of.


def ok(
    reply: str | Mapping[str, Json] | Callable[[Json], Json],
    *,
    usage: Mapping[str, int | None] | None = None,
    model: str | None = None,
    thinking: bool = False,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """A reply that ended by itself: text, JSON, or JSON made from the request's body."""

    def answer(exchange: Exchange) -> None:
        said = reply(exchange.request.body) if callable(reply) else reply
        text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
        content = [{"type": "text", "text": text}]
        if thinking:
            # As the API sends it with its default display: first, and with its text left out.
            content.insert(0, {"type": "thinking", "thinking": "", "signature": "c2lnbmF0dXJl"})
        _send_message(exchange, message_like(exchange.request.body, content, usage=usage, model=model), headers)

    return answer


def refusal(category: str | None = "cyber", *, text: str = "", usage: Mapping[str, int | None] | None = None) -> Answer:
    """A refusal, with or without a beginning of text."""
    details = {"type": "refusal", "category": category, "explanation": None}
    return stop("refusal", text=text, usage=usage, details=details)


def stop(
    reason: str | None,
    *,
    text: str = '{"verdicts": [',
    usage: Mapping[str, int | None] | None = None,
    details: Mapping[str, Json] | None = None,
) -> Answer:
    """A reply that stopped for any reason, known or not, with the text it had by then."""

    def answer(exchange: Exchange) -> None:
        content = [{"type": "text", "text": text}] if text else []
        message = message_like(exchange.request.body, content, usage=usage, reason=reason, details=details)
        _send_message(exchange, message)

    return answer


def empty(*, usage: Mapping[str, int | None] | None = None) -> Answer:
    """A reply that ended by itself and holds nothing."""
    return stop("end_turn", text="", usage=usage)


def message_like(
    request: Json,
    content: Sequence[Mapping[str, Json]],
    *,
    usage: Mapping[str, int | None] | None = None,
    model: str | None = None,
    reason: str | None = "end_turn",
    details: Mapping[str, Json] | None = None,
) -> dict[str, Json]:
    """A Message of the API, all its fields there."""
    counts = {
        "input_tokens": 1200,
        "output_tokens": 300,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        **(usage or {}),
    }
    return {
        "id": "msg_013Zva2CMHLNnXjNJJKqJ2EF",
        "type": "message",
        "role": "assistant",
        "model": request["model"] if model is None else model,
        "content": list(content),
        "stop_reason": reason,
        "stop_sequence": None,
        "stop_details": details,
        "usage": {**counts, "service_tier": "standard"},
    }


def _send_message(exchange: Exchange, message: dict[str, Json], headers: Mapping[str, str] | None = None) -> None:
    _check(message)
    exchange.send(200, json.dumps(message).encode(), headers)


def _check(message: dict[str, Json]) -> None:
    """A script that could not have come from the API proves nothing: only the stop reason may be made up."""
    assert isinstance(message["model"], str)
    assert message["model"]
    for block in message["content"]:
        fields = {"text": {"text"}, "thinking": {"thinking", "signature"}}[block["type"]]
        assert block.keys() == {"type", *fields}
        assert all(isinstance(block[name], str) for name in fields)
    if message["stop_reason"] == "refusal":
        assert message["stop_details"]["category"] in REFUSALS
    else:
        assert message["stop_details"] is None
    counts = {name: value for name, value in message["usage"].items() if name.endswith("_tokens")}
    assert len(counts) == 4
    for name, count in counts.items():
        assert (count is None and name.startswith("cache_")) or (isinstance(count, int) and count >= 0)


def status(
    code: int,
    kind: str,
    message: str,
    *,
    error_code: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """An error in the API's shape."""

    def answer(exchange: Exchange) -> None:
        error: dict[str, Json] = {"type": kind, "message": message}
        if error_code is not None:
            error["details"] = {"error_code": error_code}
        body = {"type": "error", "error": error, "request_id": exchange.request_id}
        exchange.send(code, json.dumps(body).encode(), headers)

    return answer


def html(code: int = 200, page: str = "<!doctype html><title>Sign in</title>") -> Answer:
    """A page of some other server's, with any status."""
    return lambda exchange: exchange.send(code, page.encode(), content_type="text/html; charset=utf-8")


def html_200() -> Answer:
    """A sign-in page with status 200."""
    return html(200)


def json_200(value: Json) -> Answer:
    """Any JSON at all with status 200."""
    return lambda exchange: exchange.send(200, json.dumps(value).encode())


def broken_json_200() -> Answer:
    """JSON that breaks off, in a body that does not."""
    return lambda exchange: exchange.send(200, b'{"type": "message", "content": [')


def wrong_shape_200() -> Answer:
    """JSON of another API."""
    return json_200({"choices": [{"message": {"content": "hello"}}]})


def close_before_reply() -> Answer:
    """The connection ends after the request, without a byte."""
    return lambda exchange: exchange.hang_up()


def close_mid_body(*, reset: bool = False) -> Answer:
    """The connection ends, or is reset, in the middle of the body."""

    def answer(exchange: Exchange) -> None:
        exchange.head(200, 1000, {}, "application/json")
        exchange.body(b'{"type": "message", ')
        exchange.hang_up(reset=reset)

    return answer


def silent() -> Answer:
    """Not a byte, until the server is shut down."""

    def answer(exchange: Exchange) -> None:
        exchange.closing.wait()
        exchange.hang_up()

    return answer


def trickle(interval: float = 0.02) -> Answer:
    """A byte of the body every `interval` seconds, until the server is shut down or the client has left."""

    def answer(exchange: Exchange) -> None:
        exchange.head(200, 1_000_000, {}, "application/json")
        exchange.body(b"{")
        while not exchange.closing.wait(interval):
            exchange.body(b" ")
        exchange.hang_up()

    return answer


def redirect(url: str, code: int = 307) -> Answer:
    """A redirect, by default one that asks for the same request again."""
    return lambda exchange: exchange.send(code, b"", {"location": url})


def in_turn(*answers: Answer) -> Answer:
    """One answer for each request, in order; the last one repeats."""
    return lambda exchange: answers[min(int(exchange.request_id.removeprefix("req_")), len(answers)) - 1](exchange)


def tampered(reply: Callable[[Json], Json], **fields: Json) -> Answer:
    """A reply that the real API would not send: `fields` in place of the message's own; `...` leaves one out."""

    def answer(exchange: Exchange) -> None:
        content = [{"type": "text", "text": json.dumps(reply(exchange.request.body))}]
        message = message_like(exchange.request.body, content) | fields
        kept = {name: value for name, value in message.items() if value is not ...}
        exchange.send(200, json.dumps(kept).encode())

    return answer


def plain(
    data: bytes, code: int = 200, headers: Mapping[str, str] | None = None, content_type: str = "application/json"
) -> Answer:
    """Any bytes as a body, with any headers over those that belong there."""
    return lambda exchange: exchange.send(code, data, headers, content_type)


def on_the_wire(data: bytes) -> Answer:
    """Bytes in place of a whole response, HTTP or not, and the end of the connection."""

    def answer(exchange: Exchange) -> None:
        exchange.body(data)
        exchange.hang_up()

    return answer


def redirect_to_localhost(code: int = 307) -> Answer:
    """A redirect to this server by another name for its host."""

    def answer(exchange: Exchange) -> None:
        port = exchange.handler.connection.getsockname()[1]
        exchange.send(code, b"", {"location": f"http://localhost:{port}/v1/messages"})

    return answer
