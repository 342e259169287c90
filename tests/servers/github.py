"""A stateful GitHub on loopback, over a real repository: REST and GraphQL on one host, artifact blobs on another.

    with FakeGitHub(repo) as github:
        pull = github.add_pull(base, head)
        run = github.add_run(pull)
        github.add_artifact(run, zip_of({"brief.json": data}))
        ...  # github.api_url, github.token; afterwards github.requests, github.violations, github.comments_on(pull)

State may be changed at any time; `before` does it right before a chosen request. `faults` decide what becomes of some
requests instead of the true answer. A request that does not fit the published descriptions is noted in `violations`
(and answered as GitHub would); a reply of ours that does not fit them is raised when the servers end.
"""

import contextlib
import io
import json
import re
import struct
import threading
import time
import warnings
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import parse_qs

from tests.repos import Repo
from tests.servers import github_graphql, github_rest
from tests.servers.github_http import (
    Action,
    Exchange,
    Fault,
    Hook,
    Host,
    Refusal,
    Reply,
    Request,
    Server,
    broken,
    changed,
    close,
    close_mid_body,
    delayed,
    fault,
    hang,
    html,
    numbers,
    performed,
    primary_rate_limit,
    reply,
    reset,
    secondary_rate_limit,
    sent,
    too_many,
    trickle,
    truncated,
)
from tests.servers.github_rest import Call, rate_headers
from tests.servers.github_schema import Operation, body_faults, operation_of, parameter_faults, reply_faults
from tests.servers.github_state import Artifact, Comment, Limits, Pull, Run, Token
from tests.servers.github_world import World

__all__ = [
    "Action",
    "Artifact",
    "Comment",
    "Exchange",
    "FakeGitHub",
    "Fault",
    "Limits",
    "Pull",
    "Refusal",
    "Reply",
    "Request",
    "Run",
    "Token",
    "broken",
    "changed",
    "close",
    "close_mid_body",
    "delayed",
    "fault",
    "hang",
    "html",
    "performed",
    "primary_rate_limit",
    "reply",
    "reset",
    "secondary_rate_limit",
    "too_many",
    "trickle",
    "truncated",
    "zip_bomb",
    "zip_of",
]

Json = Any

VERSIONS: Final = ("2022-11-28", "2026-03-10")
# What each operation gives besides JSON.
MEDIA: Final = {
    "GET /repos/{owner}/{repo}/pulls/{pull_number}": ("diff",),
    "GET /repos/{owner}/{repo}/compare/{basehead}": ("diff",),
    "GET /repos/{owner}/{repo}/contents/{path}": ("raw", "object"),
}
GRAPHQL: Final = "POST /graphql"
BLOB: Final = "GET blob"
DOWNLOAD: Final = "GET /repos/{owner}/{repo}/actions/artifacts/{artifact_id}/{archive_format}"
USER: Final = "GET /user"


class FakeGitHub(World):
    """The servers, from `with` to the end of it."""

    def __init__(self, repo: Repo, *, prefix: str = "/api/v3", repository: str = "acme/shop") -> None:
        super().__init__(repo, repository)
        self.requests: list[Request] = []
        self.violations: list[str] = []
        self.errors: list[BaseException] = []
        self.faults: list[Fault] = []
        # Seconds before each answer, for a benchmark; no test waits.
        self.latency = 0.0
        self.at_once = 0
        # The most requests that were there at one time.
        self.most_at_once = 0
        self._hooks: list[Hook] = []
        self._prefix = prefix.rstrip("/")
        self._closing = threading.Event()
        self._lock = threading.RLock()
        self._api = Server(self, "api")
        self._blob = Server(self, "blob")
        self.server_url = f"http://127.0.0.1:{self._api.port}"
        self.api_url = self.server_url + self._prefix
        self.graphql_path = self._prefix.removesuffix("/v3") + "/graphql"
        self.graphql_url = self.server_url + self.graphql_path
        # The same machine under another name: a client that compares host names sees two.
        self.blob_url = f"http://localhost:{self._blob.port}"

    @property
    def connections(self) -> int:
        """How many connections were opened to both hosts."""
        return len(self._api.sockets) + len(self._blob.sockets)

    @property
    def operations(self) -> list[str]:
        """The operations that were asked for, in order."""
        return [request.operation for request in self.requests]

    @property
    def environment(self) -> dict[str, str]:
        """What a runner says about this server."""
        owner = self.repository.partition("/")[0]
        return {
            "GITHUB_SERVER_URL": self.server_url,
            "GITHUB_API_URL": self.api_url,
            "GITHUB_GRAPHQL_URL": self.graphql_url,
            "GITHUB_REPOSITORY": self.repository,
            "GITHUB_REPOSITORY_ID": str(self.repository_id),
            "GITHUB_REPOSITORY_OWNER": owner,
        }

    def __enter__(self) -> Self:
        self._api.start()
        self._blob.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._api.stop()
        self._blob.stop()
        self.store.close()
        if self.errors:
            if error is None:
                raise self.errors[0]
            error.add_note(f"and in the fake GitHub: {self.errors[0]!r}")

    def before(
        self,
        path: str,
        call: Callable[[], Any],
        *,
        method: str | None = None,
        nth: int | Collection[int] | None = 1,
    ) -> None:
        """Call something right before the `nth` request (each one, if None) whose path holds a pattern is answered."""
        self._hooks.append(Hook(call, re.compile(path), method, numbers(nth)))

    # Events, as a runner writes them to GITHUB_EVENT_PATH.

    def event_pull_request(self, pull: Pull | int, action: str = "synchronize", **changes: Json) -> Json:
        """The event of a pull request as it stands now; what changes later does not change the event."""
        found = self.pulls[pull] if isinstance(pull, int) else pull
        shape = {**self.pull(found), **changes}
        return self._event(found.author, action=action, number=found.number, pull_request=shape)

    def event_workflow_run(self, run: Run | int, action: str = "completed") -> Json:
        """The event of a run that has ended."""
        found = self.runs[run] if isinstance(run, int) else run
        workflow = {
            "id": found.workflow_id,
            "name": found.name,
            "path": found.path,
            "state": "active",
            "url": f"{self.repository_url}/actions/workflows/{found.workflow_id}",
        }
        return self._event(found.actor, action=action, workflow_run=self.run(found), workflow=workflow)

    def event_workflow_dispatch(
        self, inputs: Mapping[str, str] | None = None, *, workflow: str = ".github/workflows/verify.yml"
    ) -> Json:
        """The event of a run by hand: it names no pull request but in its inputs."""
        ref = f"refs/heads/{self.default_branch}"
        return self._event("ada", inputs=dict(inputs) if inputs else None, ref=ref, workflow=workflow)

    def _event(self, sender: str, **fields: Json) -> Json:
        whole = {**fields, "repository": self.full_repository(self.repository), "sender": self.user(sender)}
        # A copy: the test may change it.
        return json.loads(json.dumps(whole))

    # Answers.

    def serve(self, host: Host, handler: BaseHTTPRequestHandler) -> None:
        """Record a request and answer it, or let a fault do so."""
        came = time.monotonic()
        request, path = self._request(host, handler)
        request.times.append(came)
        with self._lock:
            self.requests.append(request)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            hooks = [hook for hook in self._hooks if hook.takes(request)]
            rules = [rule for rule in self.faults if rule.takes(request)]
        if self.latency:
            self._closing.wait(self.latency)

        leave = _once(lambda: self._leave(request))

        def perform() -> Reply:
            with self._lock, _our_errors():
                answer = self._answer(request, path)
            # Before the first byte: the client's next request must not meet this one here.
            leave()
            return answer

        exchange = Exchange(request, perform, handler, self._closing)
        try:
            with self._lock, _our_errors():
                for hook in hooks:
                    hook.call()
            action = rules[0].action if rules else sent
            action(exchange)
        finally:
            leave()

    def _leave(self, request: Request) -> None:
        request.times.append(time.monotonic())
        with self._lock:
            self.at_once -= 1

    def _request(self, host: Host, handler: BaseHTTPRequestHandler) -> tuple[Request, str]:
        """The request, and its path below the prefix."""
        headers = {name.lower(): value for name, value in handler.headers.items()}
        length = int(headers.get("content-length") or 0)
        raw = handler.rfile.read(length)
        if len(raw) < length:
            raise ConnectionResetError("the client left in the middle of its request")
        path, _, query = handler.path.partition("?")
        fields = parse_qs(query, keep_blank_values=True)
        below = path.removeprefix(self._prefix) if path.startswith(f"{self._prefix}/") else ""
        below = re.sub(rf"^/repositories/{self.repository_id}(?=/)", f"/repos/{self.repository}", below)
        method = handler.command
        found = operation_of(method, below)
        operation = found[0].name if found else ""
        if host == "blob":
            operation = BLOB if method == "GET" else ""
        elif method == "POST" and path == self.graphql_path:
            operation = GRAPHQL
        elif not operation and f"{method} {below}" == USER:
            operation = USER
        return Request(host, method, path, fields, headers, raw, _parsed(raw), operation), below

    def _answer(self, request: Request, path: str) -> Reply:
        if request.host == "blob":
            self._judge_blob(request)
            return github_rest.downloaded(self, request)
        found = operation_of(request.method, path)
        try:
            answer = self._api_answer(request, found)
        except Refusal as refusal:
            answer = refusal.reply
        if request.operation != GRAPHQL:
            self._judge(found[0] if found else None, answer)
        if self.drop_total_count and isinstance(answer.body, dict) and "total_count" in answer.body:
            answer = replace(answer, body={name: value for name, value in answer.body.items() if name != "total_count"})
        if request.operation == GRAPHQL:
            self.graphql_used += 1
            rate = rate_headers("graphql", self.limits.graphql_points, self.graphql_used)
        else:
            self.rest_used += request.operation != "GET /rate_limit"
            rate = rate_headers("core", self.limits.rest_requests, self.rest_used)
        headers = {**rate, "X-GitHub-Request-Id": f"C0DE:{len(self.requests):04X}", **answer.headers}
        return replace(answer, headers=headers)

    def _api_answer(self, request: Request, found: tuple[Operation, dict[str, str]] | None) -> Reply:
        media = self._media(request)
        token = self._token(request)
        self._check_rate(request)
        if request.operation == GRAPHQL:
            return github_graphql.answered(self, request, token, self._violation(request))
        violation = self._violation(request)
        if request.operation == USER:
            violation("not in the description: an app's token may not ask who it is")
            if token.is_bot:
                raise Refusal(403, github_rest.FORBIDDEN)
            return Reply(200, self.user(token.login))
        if found is None:
            violation("not an operation of the description")
            raise Refusal(404, "Not Found")
        operation, values = found
        for text in parameter_faults(operation, values, request.query):
            violation(text)
        for text in body_faults(operation, request.body, request.raw):
            violation(text)
        if media not in ("json", *MEDIA.get(operation.name, ())):
            violation(f"accept: no {media} of this")
            raise Refusal(415, "Unsupported 'Accept' header. Must accept 'application/json'.")
        return github_rest.answered(Call(self, request, operation, values, token, media))

    def _violation(self, request: Request) -> Callable[[str], None]:
        return lambda text: self.violations.append(f"{request.method} {request.path}: {text}")

    def _media(self, request: Request) -> str:
        """What kind of answer is asked for: `json`, or GitHub's word for another."""
        violation = self._violation(request)
        if not request.headers.get("user-agent"):
            violation("user-agent: required")
            raise Refusal(
                403, "Request forbidden by administrative rules. Please make sure your request has a User-Agent"
            )
        version = request.headers.get("x-github-api-version", VERSIONS[0])
        if version not in VERSIONS:
            violation(f"x-github-api-version: {version} is not supported")
            raise Refusal(400, f"API version {version} is not supported")
        if "transfer-encoding" in request.headers:
            violation("transfer-encoding: a length is required")
        if request.raw and not request.headers.get("content-type", "").startswith("application/json"):
            violation("content-type: application/json is required")
        accepted = request.headers.get("accept", "*/*").partition(",")[0].partition(";")[0].strip()
        if request.operation == DOWNLOAD:
            # It only says where to go.
            return "json"
        if accepted in ("*/*", "application/json", "application/vnd.github+json", "application/vnd.github.v3+json"):
            return "json"
        match = re.fullmatch(r"application/vnd\.github\.(?:v3\.)?([a-z-]+)(?:\+json)?", accepted)
        if match is None:
            violation(f"accept: {accepted} is not known")
            raise Refusal(415, "Unsupported 'Accept' header. Must accept 'application/json'.")
        return match[1]

    def _token(self, request: Request) -> Token:
        given = request.headers.get("authorization")
        if given is None:
            raise Refusal(401, "Requires authentication")
        scheme, _, value = given.partition(" ")
        if scheme.lower() not in ("token", "bearer") or value not in self.tokens:
            raise Refusal(401, "Bad credentials")
        return self.tokens[value]

    def _check_rate(self, request: Request) -> None:
        graphql = request.operation == GRAPHQL
        limit, used = self.limits.rest_requests, self.rest_used
        if graphql:
            limit, used = self.limits.graphql_points, self.graphql_used
        if used >= limit and request.operation != "GET /rate_limit":
            headers = rate_headers("graphql" if graphql else "core", limit, used)
            raise Refusal(403, "API rate limit exceeded for installation.", headers=headers)

    def _judge(self, operation: Operation | None, answer: Reply) -> None:
        """Our own reply, held against the description: a fault is ours."""
        media = answer.content_type.partition(";")[0]
        body = answer.body.decode(errors="replace") if isinstance(answer.body, bytes) else answer.body
        faults = list(reply_faults(operation, answer.status, media, body))
        assert not faults, f"{operation.name if operation else 'no operation'} {answer.status}: {'; '.join(faults[:5])}"

    def _judge_blob(self, request: Request) -> None:
        violation = self._violation(request)
        if request.method != "GET":
            violation("only GET is signed for")
        carried = [*request.headers.values(), *(value for values in request.query.values() for value in values)]
        if "authorization" in request.headers or any(token in text for token in self.tokens for text in carried):
            violation("the token was sent to the blob host")


def _once(call: Callable[[], None]) -> Callable[[], None]:
    calls = [call]
    return lambda: calls.pop()() if calls else None


@contextlib.contextmanager
def _our_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        # An OSError elsewhere is a client that left.
        raise AssertionError(f"the fake GitHub: {error!r}") from error


def _parsed(raw: bytes) -> Json:
    try:
        return json.loads(raw)
    except ValueError:
        return None


# Zips.


def zip_of(
    files: Mapping[str, bytes | str],
    *,
    extra: Sequence[tuple[str, bytes]] = (),
    links: Mapping[str, str] | None = None,
    encrypted: bool = False,
    forged_sizes: Mapping[str, int] | None = None,
    stored: bool = False,
    prefix: bytes = b"",
    keep: int | None = None,
) -> bytes:
    """A zip of these files, as good or as odd as wanted.

    `extra` entries follow the files and may repeat a name; `links` are symbolic links (name to target); `encrypted`
    sets the flag; `forged_sizes` changes the inflated size that is declared; `prefix` stands in front of the zip;
    `keep` cuts it.
    """
    made = io.BytesIO()
    method = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(made, "w", method) as archive, _no_warnings():
        for name, data in [*files.items(), *extra]:
            archive.writestr(_entry(name, 0o100644, method), data)
        for name, target in (links or {}).items():
            archive.writestr(_entry(name, 0o120777, method), target)
    whole = bytearray(made.getvalue())
    for name, flags, size in _headers(bytes(whole)):
        if encrypted:
            whole[flags] |= 1
        if forged_sizes and name in forged_sizes:
            struct.pack_into("<I", whole, size, forged_sizes[name])
    return (prefix + bytes(whole))[:keep]


def zip_bomb(size: int, name: str = "brief.json") -> bytes:
    """A small zip of so many spaces."""
    made = io.BytesIO()
    block = b" " * 2**20
    with (
        zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open(_entry(name, 0o100644, zipfile.ZIP_DEFLATED), "w") as entry,
    ):
        for start in range(0, size, len(block)):
            entry.write(block[: size - start])
    return made.getvalue()


def _entry(name: str, mode: int, method: int) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
    made.external_attr = mode << 16
    made.compress_type = method
    return made


@contextlib.contextmanager
def _no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        # A name that stands twice is what was asked for.
        warnings.simplefilter("ignore", UserWarning)
        yield


def _headers(data: bytes) -> Iterator[tuple[str, int, int]]:
    """The name in each local and each central header, and where its flags and its inflated size stand."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in archive.infolist():
            yield info.filename, info.header_offset + 6, info.header_offset + 22
        place = archive.start_dir
        for info in archive.infolist():
            yield info.filename, place + 8, place + 24
            place += 46 + sum(struct.unpack_from("<3H", data, place + 28))
