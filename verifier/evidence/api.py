"""GitHub's API, asked the way a job that people wait for needs it: few tries, short waits, one deadline (A3, A7, A9).

PyGithub signs and sends; its own throttle, retries and hour-long sleeps are off. What can be read twice is tried
again here; what writes is sent once, and the caller looks before it writes again.
"""

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, TypeVar
from urllib.parse import quote

from verifier import __version__
from verifier.evidence.files import EvidenceError
from verifier.text import one_line

READ_SECONDS: Final = 90.0
WRITE_SECONDS: Final = 30.0
ATTEMPTS: Final = 3
LONGEST_WAIT: Final = 20.0
_FIRST_WAIT: Final = 0.5
_SECONDS_AN_ATTEMPT: Final = 20
_API_VERSION: Final = "2022-11-28"
_JSON: Final = "application/vnd.github+json"
_RATE_LIMITED: Final = 429
_FAILED: Final = 502
_FINAL: Final = ("FORBIDDEN", "INSUFFICIENT_SCOPES", "NOT_FOUND")
_SHORT: Final = 1_000
_PAGES: Final = 100
_HOPS: Final = 3

_Found = TypeVar("_Found")


class GitHubError(EvidenceError):
    """GitHub refused or did not answer: what was asked, and what to do.

    `status` is None where there was no reply; `wait` is how many seconds a rate limit asks for, None where it is none.
    """

    def __init__(self, message: str, status: int | None = None, wait: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.wait = wait

    @property
    def may_have_counted(self) -> bool:
        """Whether a write that ended so may have been done all the same."""
        return self.status is None or not 400 <= self.status < 500


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply of the API: status, headers (names in lower case), body as text."""

    status: int
    headers: Mapping[str, str]
    body: str

    def json(self) -> Any:
        """The body's value. Raises GitHubError where it is not JSON."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            raise GitHubError("GitHub answered with something else than JSON; run the job again", self.status) from None


@dataclass(frozen=True, slots=True)
class Repository:
    """A GraphQL answer about the repository: its fields, and the names of those that came with an error instead."""

    fields: Mapping[str, Any]
    failed: frozenset[str]


class Pending(Generic[_Found]):
    """Work in a daemon thread, so that requests which do not need each other run side by side, and none outlives us."""

    def __init__(self, work: Callable[[], _Found], deadline: Callable[[], float]) -> None:
        self._deadline = deadline
        self._done = threading.Event()
        self._outcome: Callable[[], _Found]
        threading.Thread(target=self._run, args=(work,), daemon=True).start()

    def _run(self, work: Callable[[], _Found]) -> None:
        try:
            found = work()
            self._outcome = lambda: found
        except BaseException as error:  # noqa: BLE001 (raised again where the result is asked for)
            failure = error

            def fail() -> _Found:
                raise failure

            self._outcome = fail
        self._done.set()

    def result(self) -> _Found:
        """What the work found, or raised. Raises GitHubError where it is not there by the deadline."""
        if not self._done.wait(max(self._deadline() - time.monotonic(), 0)):
            raise GitHubError("GitHub did not answer in the time that a job waits for it; run the job again")
        return self._outcome()


class Api:
    """One repository's API. Every request ends by the deadline, whatever trickles in.

    The time is for all requests together, in seconds: for reading, and, kept for after the model, for writing.
    """

    def __init__(
        self,
        token: str,
        api_url: str,
        repository: str,
        *,
        read_seconds: float = READ_SECONDS,
        write_seconds: float = WRITE_SECONDS,
    ) -> None:
        self._token = token
        self._url = api_url
        self._write_seconds = write_seconds
        self._idle: list[Any] = []
        owner, _, name = repository.partition("/")
        self.owner, self.name = owner, name
        self._root = f"/repos/{quote(owner, safe='')}/{quote(name, safe='')}"
        self._deadline = time.monotonic() + read_seconds
        self._idle.append(self._requester())

    def now_writing(self) -> None:
        """The time kept for writing what was paid for begins: the wait for a model is not GitHub's."""
        self._deadline = time.monotonic() + self._write_seconds

    def start(self, work: Callable[[], _Found]) -> Pending[_Found]:
        """`work` in a thread of its own, against the same deadline."""
        return Pending(work, lambda: self._deadline)

    def get(self, path: str, *, accept: str = _JSON, **parameters: str | int) -> Answer:
        """GET `path` below the repository, tried again where that can help. Raises GitHubError for what is not 2xx."""
        return self._again(lambda: self._send("GET", self._root + path, accept=accept, parameters=parameters), path)

    def location(self, path: str) -> str:
        """Where GET `path` redirects to, not followed. Raises GitHubError where it does not."""
        answer = self._again(lambda: self._send("GET", self._root + path), path, redirect=True)
        location = answer.headers.get("location", "")
        if not location:
            raise GitHubError("GitHub named no place to download the artifact from; run the job again", answer.status)
        return location

    def pages(self, path: str, **parameters: str) -> list[Any]:
        """All items of a list, page after page, 100 a page; a list inside an object is its one list."""
        found: list[Any] = []
        for page in range(1, _PAGES + 1):
            answer = self.get(path, **parameters, per_page=100, page=page)
            value = answer.json()
            if isinstance(value, dict):
                value = next((inner for inner in value.values() if isinstance(inner, list)), None)
            if not isinstance(value, list):
                raise GitHubError(f"GitHub answered {_asked(path)} with no list; run the job again", answer.status)
            found += value
            if 'rel="next"' not in answer.headers.get("link", "") or not value:
                return found
        raise GitHubError(f"GitHub lists more than {_PAGES * 100:,} entries for {_asked(path)}")

    def query(
        self, fields: str, variables: Mapping[str, tuple[str, Any]], fragments: str = "", attempts: int = ATTEMPTS
    ) -> Repository:
        """A GraphQL query for `fields` of the repository; `variables` are (type, value) by name.

        Values never stand in the query's text, so that none can change it. Raises GitHubError where there is no answer;
        an error in a single field is told by its name.
        """
        given = {"owner": ("String!", self.owner), "name": ("String!", self.name), **variables}
        declared = ", ".join(f"${name}: {kind}" for name, (kind, _) in given.items())
        query = f"query({declared}) {{ repository(owner: $owner, name: $name) {{ {fields} }} }} {fragments}".strip()
        body = {"query": query, "variables": {name: value for name, (_, value) in given.items()}}
        answer = self._again(lambda: _with_its_status(self._send_query(body)), "GraphQL", attempts=attempts)
        value = answer.json()
        data, errors = _graphql(value)
        repository = data.get("repository")
        if not isinstance(repository, dict):
            said = f": {one_line(str(errors[0].get('message', '')), 200)}" if errors else ""
            raise GitHubError(
                f"GitHub's GraphQL API shows nothing of {one_line(self.owner, 100)}/{one_line(self.name, 100)}{said}; "
                f"may the token read it (`{_permission('GraphQL')}`)?",
                answer.status,
            )
        named = {str(error["path"][1]) for error in errors if _names_a_field(error)}
        return Repository(repository, frozenset(name for name in named if repository.get(name) is None))

    def send(self, verb: str, path: str, body: Mapping[str, Any] | None = None) -> Answer:
        """One write, sent once: whoever sends it again looks first. Raises GitHubError for what is not 2xx."""
        answer = self._send(verb, self._root + path, body=body)
        if 200 <= answer.status < 300:
            return answer
        raise _refusal(answer, path)

    def wait(self, seconds: float | None) -> bool:
        """Waits before something is done again, a moment if nothing else is asked for; False where that is too long."""
        seconds = _FIRST_WAIT if seconds is None else seconds
        if seconds > LONGEST_WAIT or time.monotonic() + seconds >= self._deadline:
            return False
        threading.Event().wait(seconds)
        return True

    def _again(
        self, ask: Callable[[], Answer], path: str, *, redirect: bool = False, attempts: int = ATTEMPTS
    ) -> Answer:
        attempt = 1
        while True:
            try:
                answer = ask()
                if 200 <= answer.status < 300 or (redirect and answer.status in (302, 303, 307)):
                    return answer
                failure = _refusal(answer, path)
            except GitHubError as error:
                failure = error
            if failure.wait is None and failure.status is not None and failure.status < 500:
                raise failure
            if attempt >= attempts or not self.wait(failure.wait or _FIRST_WAIT * 2 ** (attempt - 1)):
                raise failure
            attempt += 1

    def _send_query(self, body: Mapping[str, Any]) -> Answer:
        return self._send("POST", self._graphql_url, body=body)

    def _send(
        self,
        verb: str,
        path: str,
        *,
        accept: str = _JSON,
        parameters: Mapping[str, str | int] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Answer:
        """One request in a thread of its own: a timeout bounds each read of a socket, never a whole reply."""
        return self.start(lambda: self._exchange(verb, path, accept, dict(parameters or {}), body)).result()

    def _exchange(
        self, verb: str, path: str, accept: str, parameters: dict[str, str | int], body: Mapping[str, Any] | None
    ) -> Answer:
        import requests
        from github import GithubException

        from verifier.evidence.bounded import MOST_MEGABYTES, TooMuch

        try:
            requester = self._idle.pop()
        except IndexError:
            requester = self._requester()
        try:
            for _ in range(_HOPS):
                status, headers, text = requester.requestJson(
                    verb, path, parameters=parameters, headers={"Accept": accept}, input=body
                )
                moved = str(headers.get("location", "")) if status in (307, 308) else ""
                if not moved.startswith(f"{self._url}/"):  # a renamed repository is on the same host
                    break
                path = moved.removeprefix(self._url)
        except TooMuch:
            where = _asked(path.removeprefix(self._root))
            raise GitHubError(
                f"GitHub answered {where} with more than {MOST_MEGABYTES} MB; run the job again", 200
            ) from None
        except (
            requests.RequestException,
            GithubException,
            ArithmeticError,
            RuntimeError,
            ValueError,
            OSError,
        ) as error:
            where = _asked(path.removeprefix(self._root))
            raise GitHubError(
                f"GitHub could not be reached for {where} ({type(error).__name__}); run the job again"
            ) from None
        self._idle.append(requester)
        return Answer(status, headers, text or "")

    def _requester(self) -> Any:
        """One more requester: PyGithub keeps a request's parts on its one connection until it is sent, so that each
        serves one thread at a time. It is used again once its reply is read.
        """
        from github import Auth
        from github.Requester import Requester

        from verifier.evidence.bounded import bound_replies

        bound_replies()
        # It logs requests, and puts a handler of its own on stderr: no line of the log is anybody's but ours.
        logging.getLogger("github").handlers.clear()
        logging.getLogger("github").setLevel(logging.CRITICAL)
        requester = Requester(
            auth=Auth.Token(self._token),
            base_url=self._url,
            timeout=_SECONDS_AN_ATTEMPT,
            user_agent=f"verifier/{__version__}",
            per_page=100,
            verify=True,
            retry=0,
            pool_size=1,
            seconds_between_requests=None,
            seconds_between_writes=None,
            lazy=True,
            api_version=_API_VERSION,
        )
        self._graphql_url = requester.graphql_url
        return requester


def _with_its_status(answer: Answer) -> Answer:
    """A GraphQL answer with the status that it would have elsewhere: a limit and a failure come with 200, too."""
    if answer.status != 200 or ('"errors"' not in answer.body and len(answer.body) > _SHORT):
        return answer
    data, errors = _graphql(answer.json())
    if any(error.get("type") == "RATE_LIMITED" for error in errors):
        return replace(answer, status=_RATE_LIMITED)
    if any(error.get("type") in _FINAL for error in errors):
        return answer
    # An error that names no place, or none below the repository, is none of the query's: it may pass.
    fails = not isinstance(data.get("repository"), dict) or not all(map(_names_a_field, errors))
    return replace(answer, status=_FAILED) if fails else answer


def _graphql(value: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Data and errors of a GraphQL answer, whatever its shape."""
    value = value if isinstance(value, dict) else {}
    data, errors = value.get("data"), value.get("errors") or []
    listed = errors if isinstance(errors, list) else [errors]
    return data if isinstance(data, dict) else {}, [error if isinstance(error, dict) else {} for error in listed]


def _names_a_field(error: Mapping[str, Any]) -> bool:
    path = error.get("path")
    return isinstance(path, list) and len(path) > 1


def _asked_to_wait(answer: Answer) -> float | None:
    """The seconds that a rate limit asks for; None where the refusal is no rate limit."""
    if answer.status not in (403, 429, 503):
        return None
    after = answer.headers.get("retry-after", "")
    if after.isascii() and after.isdigit():
        return float(after[:9])
    if answer.headers.get("x-ratelimit-remaining") == "0":
        reset = answer.headers.get("x-ratelimit-reset", "")
        return max(float(reset[:12]) - time.time(), 1.0) if reset.isascii() and reset.isdigit() else LONGEST_WAIT + 1
    if answer.status == 429 or "secondary rate limit" in answer.body[:5_000].lower():
        return 5.0
    return None


def _refusal(answer: Answer, path: str) -> GitHubError:
    """A sentence for a reply that is not 2xx: what was asked, what GitHub says, what to do."""
    status, what = answer.status, _asked(path)
    said = _message(answer)
    says = f" It says: {said}" if said else ""
    wait = _asked_to_wait(answer)
    if status == 401:
        return GitHubError("GitHub does not accept the token (401): give github-token ${{ github.token }}", status)
    if wait is not None and status != 503:
        minutes = f"{wait / 60:.0f} min" if wait >= 120 else f"{wait:.0f} s"
        return GitHubError(
            f"GitHub limits the rate for {what} ({status}) for {minutes}: run the job again then", status, wait
        )
    if status == 403 and "locked" in said:
        return GitHubError(f"GitHub refuses {what} (403): the conversation is locked", status)
    if status == 403:
        needed = _needed(answer.headers.get("x-accepted-github-permissions", ""), _permission(path))
        return GitHubError(
            f"the token may not do this: {what} (403): add `{needed}` to the job's permissions.{says}", status
        )
    if status == 404:
        return GitHubError(f"GitHub has no {what} (404), or the job's permissions lack `{_permission(path)}`", status)
    if 400 <= status < 500:
        return GitHubError(f"GitHub refuses {what} ({status}).{says}", status)
    return GitHubError(f"GitHub failed for {what} ({status}); run the job again.{says}", status, wait)


def _message(answer: Answer) -> str:
    try:
        value = json.loads(answer.body)
    except (ValueError, RecursionError):
        return ""
    _, errors = _graphql(value)
    said = errors[0] if errors else value
    return one_line(str(said.get("message", "")), 200) if isinstance(said, dict) else ""


def _asked(path: str) -> str:
    return one_line(path.partition("?")[0].lstrip("/"), 120)


def _needed(accepted: str, known: str) -> str:
    """The permission to add, as a workflow writes it: `issues=write; pull_requests=write` says that either will do."""
    ways = [way.strip().replace("_", "-").replace("=", ": ") for way in accepted.split(";")]
    if not accepted or known in ways:
        return known
    return one_line(ways[0], 100)


def _permission(path: str) -> str:
    if path == "GraphQL":
        return "contents: read` and `pull-requests: read"
    if "/comments" in path:
        return "pull-requests: write"
    if path.startswith("/actions"):
        return "actions: read"
    if path.startswith(("/pulls", "/issues")):
        return "pull-requests: read"
    return "contents: read"
