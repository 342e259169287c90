"""The wire of the fake GitHub: requests, replies, faults, and the two servers they pass through."""

import json
import os
import re
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Literal, Protocol

Json = Any
Host = Literal["api", "blob"]

JSON_TYPE: Final = "application/json; charset=utf-8"
LIMITS_PAGE: Final = "https://docs.github.com/rest/overview/rate-limits-for-the-rest-api"


@dataclass(frozen=True)
class Request:
    """A request as it came.

    `path` is the URL's, undecoded and without the query; header names are in lower case; `body` is parsed where it is
    JSON, else None; `operation` is the method and the path as the OpenAPI description writes it, `POST /graphql`,
    `GET blob`, or empty for what is none of these. `times`, for a benchmark, are the monotonic seconds at which it came
    and at which its answer began.
    """

    host: Host
    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    raw: bytes
    body: Json
    operation: str
    times: list[float] = field(default_factory=list, compare=False)


@dataclass(frozen=True)
class Reply:
    """A reply: a body that is neither bytes nor None is sent as JSON."""

    status: int
    body: Json = None
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = JSON_TYPE

    @property
    def data(self) -> bytes:
        """The body on the wire."""
        if self.body is None:
            return b""
        if isinstance(self.body, bytes):
            return self.body
        return json.dumps(self.body, ensure_ascii=False).encode()


class Refusal(Exception):
    """An error that GitHub answers: raised where it is found out."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        errors: Iterable[Mapping[str, Json]] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(status, message)
        self.reply = error_reply(status, message, errors=errors, headers=headers)


def error_reply(
    status: int,
    message: str,
    *,
    errors: Iterable[Mapping[str, Json]] | None = None,
    headers: Mapping[str, str] | None = None,
    page: str = "https://docs.github.com/rest",
) -> Reply:
    """An error in GitHub's shape."""
    body: dict[str, Json] = {"message": message, "documentation_url": page}
    body |= {"status": str(status)} if errors is None else {"errors": [dict(error) for error in errors]}
    return Reply(status, body, dict(headers or {}))


@dataclass(frozen=True)
class Exchange:
    """What a fault has to work with: the request, the true answer (not yet made), the socket, and the servers' end."""

    request: Request
    perform: Callable[[], Reply]
    handler: BaseHTTPRequestHandler
    closing: threading.Event

    def head(self, answer: Reply, length: int) -> None:
        """Send status line and headers of a body of `length` bytes."""
        self.handler.send_response(answer.status)
        fields = {"Content-Type": answer.content_type, "Content-Length": str(length)}
        for name, value in {**fields, **answer.headers}.items():
            if answer.status != 204 or name not in fields:
                self.handler.send_header(name, value)
        self.handler.end_headers()

    def body(self, data: bytes) -> None:
        """Send bytes of the body, at once."""
        if self.request.method == "HEAD":
            return
        self.handler.wfile.write(data)
        self.handler.wfile.flush()

    def send(self, answer: Reply) -> None:
        """Send a whole reply."""
        self.head(answer, len(answer.data))
        self.body(answer.data)

    def hang_up(self, *, with_reset: bool = False) -> None:
        """Close the connection, in good order or with a reset."""
        self.handler.close_connection = True
        if with_reset:
            linger = struct.pack("ii", 1, 0)
            self.handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            # The handler's files hold the socket open beyond its own close().
            os.close(self.handler.connection.detach())


Action = Callable[[Exchange], None]


# Faults.


@dataclass
class Fault:
    """A rule: which requests, and what becomes of them. The first rule that fits a request decides."""

    action: Action
    path: re.Pattern[str]
    method: str | None = None
    nth: Collection[int] | None = None
    host: Host | None = None
    seen: int = 0

    def takes(self, request: Request) -> bool:
        """Count a request that fits, and say whether it is one of those meant."""
        if not _fits(self.path, self.method, request) or self.host not in (None, request.host):
            return False
        self.seen += 1
        return self.nth is None or self.seen in self.nth


@dataclass
class Hook:
    """Something to do right before a request is answered."""

    call: Callable[[], None]
    path: re.Pattern[str]
    method: str | None
    nth: Collection[int] | None
    seen: int = 0

    def takes(self, request: Request) -> bool:
        """Count a request that fits, and say whether it is one of those meant."""
        if not _fits(self.path, self.method, request):
            return False
        self.seen += 1
        return self.nth is None or self.seen in self.nth


def _fits(path: re.Pattern[str], method: str | None, request: Request) -> bool:
    return path.search(request.path) is not None and method in (None, request.method)


def numbers(nth: int | Collection[int] | None) -> Collection[int] | None:
    """One number as a collection of one."""
    return (nth,) if isinstance(nth, int) else nth


def fault(
    action: Action,
    path: str = "",
    *,
    method: str | None = None,
    nth: int | Collection[int] | None = None,
    host: Host | None = None,
) -> Fault:
    """A rule for `github.faults`: requests whose path holds the pattern `path`, only the `nth` of them (from 1)."""
    return Fault(action, re.compile(path), method, numbers(nth), host)


def sent(exchange: Exchange) -> None:
    """The true reply: no fault."""
    exchange.send(exchange.perform())


def reply(
    status: int, body: Json = None, headers: Mapping[str, str] | None = None, content_type: str = JSON_TYPE
) -> Action:
    """Any reply at all; a text goes out as it is."""
    data = body.encode() if isinstance(body, str) else body
    return lambda exchange: exchange.send(Reply(status, data, dict(headers or {}), content_type))


def broken(status: int = 502, message: str = "Server Error", headers: Mapping[str, str] | None = None) -> Action:
    """A server's error."""
    return lambda exchange: exchange.send(error_reply(status, message, headers=headers))


def performed(then: Action) -> Action:
    """The request is done, and then something else is answered: a comment that is stored, and a 502."""

    def action(exchange: Exchange) -> None:
        exchange.perform()
        then(exchange)

    return action


def changed(change: Callable[[Reply], Reply]) -> Action:
    """The true reply, changed."""
    return lambda exchange: exchange.send(change(exchange.perform()))


def html(status: int = 200, page: str = "<!doctype html><title>Sign in</title>") -> Action:
    """A page of some proxy's, with any status."""
    return reply(status, page, content_type="text/html; charset=utf-8")


def reset() -> Action:
    """The connection is reset, without a byte."""
    return lambda exchange: exchange.hang_up(with_reset=True)


def close() -> Action:
    """The connection ends, without a byte."""
    return lambda exchange: exchange.hang_up()


def close_mid_body(*, with_reset: bool = False) -> Action:
    """The connection ends, or is reset, in the middle of the true reply."""

    def action(exchange: Exchange) -> None:
        answer = exchange.perform()
        exchange.head(answer, len(answer.data))
        exchange.body(answer.data[: len(answer.data) // 2])
        exchange.hang_up(with_reset=with_reset)

    return action


def truncated(keep: int | None = None) -> Action:
    """The beginning of the true body (`keep` bytes, else half), as if that were all of it."""

    def cut(answer: Reply) -> Reply:
        return replace(answer, body=answer.data[: len(answer.data) // 2 if keep is None else keep])

    return changed(cut)


def hang() -> Action:
    """Not a byte, until the servers end."""

    def action(exchange: Exchange) -> None:
        exchange.closing.wait()
        exchange.hang_up()

    return action


def delayed(until: threading.Event) -> Action:
    """The true reply, once an event is set (the servers' end sets free whoever waits)."""

    def action(exchange: Exchange) -> None:
        while not until.wait(0.01):
            if exchange.closing.is_set():
                exchange.hang_up()
                return
        exchange.send(exchange.perform())

    return action


def trickle(interval: float = 0.02) -> Action:
    """The true reply, a byte every `interval` seconds, until it is sent or the servers end."""

    def action(exchange: Exchange) -> None:
        answer = exchange.perform()
        exchange.head(answer, len(answer.data))
        for byte in answer.data:
            if exchange.closing.wait(interval):
                break
            exchange.body(bytes([byte]))
        exchange.hang_up()

    return action


def primary_rate_limit(seconds: int = 1500) -> Action:
    """403: the hour's requests are used up, and the hour ends in so many seconds."""

    def action(exchange: Exchange) -> None:
        headers = {
            "X-RateLimit-Limit": "1000",
            "X-RateLimit-Remaining": "0",
            "X-RateLimit-Used": "1000",
            "X-RateLimit-Reset": str(int(time.time()) + seconds),
            "X-RateLimit-Resource": "core",
        }
        message = "API rate limit exceeded for installation."
        exchange.send(error_reply(403, message, headers=headers, page=LIMITS_PAGE))

    return action


def secondary_rate_limit(retry_after: int | str | None = None, status: int = 403) -> Action:
    """403 or 429: too much at once, with or without a word on how long to wait."""
    message = (
        "You have exceeded a secondary rate limit. Please wait a few minutes before you try again. "
        "For more on scraping GitHub and how it may affect your rights, please review our Terms of Service"
    )
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    page = f"{LIMITS_PAGE}#about-secondary-rate-limits"
    return lambda exchange: exchange.send(error_reply(status, message, headers=headers, page=page))


def too_many(retry_after: int | str | None = None) -> Action:
    """429."""
    return secondary_rate_limit(retry_after, 429)


# Servers.


class Owner(Protocol):
    """Whoever answers: `serve` is called in a thread a connection."""

    errors: list[BaseException]

    def serve(self, host: Host, handler: BaseHTTPRequestHandler) -> None: ...


class Server(ThreadingHTTPServer):
    """One host, on a free port, until `stop()`."""

    # Waited for at the end: every answer ends once `closing` is set and its socket is shut.
    daemon_threads = False
    request_queue_size = 128

    def __init__(self, owner: Owner, host: Host) -> None:
        self.owner = owner
        self.host = host
        self.sockets: list[socket.socket] = []
        super().__init__(("127.0.0.1", 0), _Handler)
        self._thread = threading.Thread(target=self.serve_forever, args=(0.01,), name=f"github-{host}")

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Take no more connections, and wait for those that are open."""
        self.shutdown()
        self._thread.join()
        for connection in self.sockets:
            _shut(connection)
        self.server_close()

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
    server: Server
    protocol_version = "HTTP/1.1"
    # Head and body leave together and at once; otherwise every call on a kept connection costs 40 ms.
    disable_nagle_algorithm = True
    wbufsize = -1

    def _serve(self) -> None:
        self.server.owner.serve(self.server.host, self)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _serve  # noqa: N815 (http.server's names)

    def version_string(self) -> str:
        return {"api": "github.com", "blob": "Windows-Azure-Blob/1.0 Microsoft-HTTPAPI/2.0"}[self.server.host]

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (http.server's name)
        pass


def _shut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        # Closed already.
        return
