"""GitHub's API, asked the way a job that people wait for needs it: few tries, short waits, one deadline (A3, A7, A9).

PyGithub signs and sends; its own throttle, retries and hour-long sleeps are off. What can be read twice is tried
again here; what writes is sent once, and the caller looks before it writes again.
"""

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar
from urllib.parse import quote

from verifier import __version__
from verifier.evidence.files import EvidenceError
from verifier.text import one_line

READ_SECONDS: Final = 90.0
ATTEMPTS: Final = 3
LONGEST_WAIT: Final = 20.0
_FIRST_WAIT: Final = 0.5
_SECONDS_AN_ATTEMPT: Final = 20
_API_VERSION: Final = "2022-11-28"
_JSON: Final = "application/vnd.github+json"

_Found = TypeVar("_Found")


class GitHubError(EvidenceError):
    """GitHub refused or did not answer: what was asked, and what to do. `status` is None where there was no reply."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


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


class Pending(Generic[_Found]):
    """Work in a daemon thread, so that requests which do not need each other run side by side."""

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
            raise GitHubError(f"GitHub did not answer within {READ_SECONDS:.0f} s in all; run the job again")
        return self._outcome()


class Api:
    """One repository's API. Every call ends by the deadline, which `renew` sets anew."""

    def __init__(self, token: str, api_url: str, repository: str) -> None:
        self._token = token
        self._url = api_url
        self._local = threading.local()
        owner, _, name = repository.partition("/")
        self.owner, self.name = owner, name
        self._root = f"/repos/{quote(owner, safe='')}/{quote(name, safe='')}"
        self.renew()

    def renew(self) -> None:
        """A new deadline: the wait for a model is not GitHub's."""
        self._deadline = time.monotonic() + READ_SECONDS

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
        page = 1
        while True:
            answer = self.get(path, **parameters, per_page=100, page=page)
            value = answer.json()
            if isinstance(value, dict):
                value = next((inner for inner in value.values() if isinstance(inner, list)), None)
            if not isinstance(value, list):
                raise GitHubError(f"GitHub answered {_asked(path)} with no list; run the job again", answer.status)
            found += value
            if 'rel="next"' not in answer.headers.get("link", "") or not value:
                return found
            page += 1

    def query(self, query: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        """A GraphQL query's `data`. Raises GitHubError where there is none, or where it came with errors."""

        def ask() -> Answer:
            return self._send(
                "POST", self._requester().graphql_url, body={"query": query, "variables": dict(variables)}
            )

        answer = self._again(ask, "GraphQL")
        value = answer.json()
        errors = value.get("errors") if isinstance(value, dict) else None
        if errors:
            first = errors[0].get("message", "") if isinstance(errors, list) and isinstance(errors[0], dict) else ""
            raise GitHubError(f"GitHub's GraphQL API refused the query: {one_line(str(first), 200)}", answer.status)
        data = value.get("data") if isinstance(value, dict) else None
        if not isinstance(data, dict):
            raise GitHubError("GitHub's GraphQL API answered without data; run the job again", answer.status)
        return data

    def send(self, verb: str, path: str, body: Mapping[str, Any] | None = None) -> Answer:
        """One write, sent once. Raises GitHubError; where its status is None or 5xx the write may have counted."""
        answer = self._send(verb, self._root + path, body=body)
        if not 200 <= answer.status < 300:
            raise _refusal(answer, path)
        return answer

    def _again(self, ask: Callable[[], Answer], path: str, *, redirect: bool = False) -> Answer:
        attempt = 1
        while True:
            failure: GitHubError
            wait = _FIRST_WAIT * 2 ** (attempt - 1)
            try:
                answer = ask()
            except GitHubError as error:
                failure = error
            else:
                if 200 <= answer.status < 300 or (redirect and answer.status in (302, 303, 307)):
                    return answer
                failure = _refusal(answer, path)
                asked_to_wait = _asked_to_wait(answer)
                if asked_to_wait is None and answer.status < 500:
                    raise failure
                wait = wait if asked_to_wait is None else asked_to_wait
            if attempt == ATTEMPTS or wait > LONGEST_WAIT or time.monotonic() + wait >= self._deadline:
                raise failure
            threading.Event().wait(wait)
            attempt += 1

    def _send(
        self,
        verb: str,
        path: str,
        *,
        accept: str = _JSON,
        parameters: Mapping[str, str | int] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Answer:
        import requests
        from github import GithubException

        try:
            status, headers, text = self._requester().requestJson(
                verb, path, parameters=dict(parameters or {}), headers={"Accept": accept}, input=body
            )
        except (requests.RequestException, GithubException, RuntimeError, ValueError, OSError) as error:
            where = _asked(path.removeprefix(self._root))
            raise GitHubError(
                f"GitHub could not be reached for {where} ({type(error).__name__}); run the job again"
            ) from None
        return Answer(status, headers, text or "")

    def _requester(self) -> Any:
        """A requester for this thread: PyGithub keeps a request's parts on its one connection until it is sent."""
        found = getattr(self._local, "requester", None)
        if found is None:
            from github import Auth
            from github.Requester import Requester

            # It logs requests, and puts a handler of its own on stderr: no line of the log is anybody's but ours.
            logging.getLogger("github").handlers.clear()
            logging.getLogger("github").setLevel(logging.CRITICAL)
            found = self._local.requester = Requester(
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
        return found


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
    if wait is not None:
        minutes = f"{wait / 60:.0f} min" if wait >= 120 else f"{wait:.0f} s"
        return GitHubError(
            f"GitHub limits the rate for {what} ({status}) for {minutes}: run the job again then", status
        )
    if status == 403:
        needed = answer.headers.get("x-accepted-github-permissions", "") or _permission(path)
        return GitHubError(
            f"the token may not do this: {what} (403). The job needs `permissions: {one_line(needed, 100)}`.{says}",
            status,
        )
    if status == 404:
        return GitHubError(f"GitHub has no {what} (404), or the job lacks `permissions: {_permission(path)}`", status)
    return GitHubError(f"GitHub failed for {what} ({status}); run the job again.{says}", status)


def _message(answer: Answer) -> str:
    try:
        value = json.loads(answer.body)
    except (ValueError, RecursionError):
        return ""
    return one_line(str(value.get("message", "")), 200) if isinstance(value, dict) else ""


def _asked(path: str) -> str:
    return one_line(path.partition("?")[0].lstrip("/"), 120)


def _permission(path: str) -> str:
    if "/comments" in path:
        return "pull-requests: write"
    if path.startswith("/actions"):
        return "actions: read"
    if path.startswith(("/pulls", "/issues")):
        return "pull-requests: read"
    return "contents: read"
