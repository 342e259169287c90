"""The one comment on a pull request: found by its marker and its author, updated in place (A4)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from verifier.comment import MARKER
from verifier.evidence.api import Api, GitHubError

COMMENTS: Final = (
    "pullRequest(number: $number) { comments(last: 100, before: $before) "
    "{ nodes { fullDatabaseId body viewerDidAuthor url } pageInfo { hasPreviousPage startCursor } } }"
)
_PAGES: Final = 50


@dataclass(frozen=True, slots=True)
class Posted:
    """A comment of ours."""

    id: int
    url: str


def ours(api: Api, number: int, connection: Any) -> list[Posted]:
    """Our comments, oldest first, from the newest page of comments and, where none is there, from the pages before it.

    A marker alone is no proof: anybody can write one. Raises GitHubError.
    """
    for _ in range(_PAGES):
        connection = connection if isinstance(connection, dict) else {}
        found = [posted for node in connection.get("nodes") or [] if (posted := _posted(node)) is not None]
        before = connection.get("pageInfo") or {}
        if found or not before.get("hasPreviousPage"):
            return found
        connection = _page(api, number, before.get("startCursor"))
    return []


def upsert(api: Api, number: int, known: Sequence[Posted], body: str) -> Posted:
    """Our comment with this body: updated where there is one, else made. Raises GitHubError.

    A second one, left by an interrupted run, is taken away.
    """
    if known:
        first, *more = known
        try:
            posted = _update(api, first, body)
        except GitHubError as error:
            if error.status != 404:
                raise
            return _create(api, number, body)
        for other in more:
            try:
                api.send("DELETE", f"/issues/comments/{other.id}")
            except GitHubError:
                break  # the next run finds it again
        return posted
    return _create(api, number, body)


def _create(api: Api, number: int, body: str) -> Posted:
    try:
        return _made(api.send("POST", f"/issues/{number}/comments", {"body": body}).json())
    except GitHubError as error:
        if error.status is not None and error.status < 500:
            raise
        # It may have been made all the same: look before a second one is written.
        made = ours(api, number, _page(api, number, None))
        if made:
            return _update(api, made[0], body)
        return _made(api.send("POST", f"/issues/{number}/comments", {"body": body}).json())


def _update(api: Api, posted: Posted, body: str) -> Posted:
    for attempt in (1, 2):
        try:
            return _made(api.send("PATCH", f"/issues/comments/{posted.id}", {"body": body}).json())
        except GitHubError as error:
            if attempt == 2 or (error.status is not None and error.status < 500):
                raise
    return posted


def _page(api: Api, number: int, before: Any) -> Any:
    query = (
        "query($owner: String!, $name: String!, $number: Int!, $before: String) "
        f"{{ repository(owner: $owner, name: $name) {{ {COMMENTS} }} }}"
    )
    variables = {"owner": api.owner, "name": api.name, "number": number, "before": before}
    return comments_in(api.query(query, variables))


def comments_in(data: Any) -> Any:
    """The connection of comments inside a query's data."""
    pull = ((data or {}).get("repository") or {}).get("pullRequest") or {}
    return pull.get("comments")


def _posted(node: Any) -> Posted | None:
    if not isinstance(node, dict) or node.get("viewerDidAuthor") is not True:
        return None
    if not str(node.get("body", "")).startswith(MARKER):
        return None
    number = str(node.get("fullDatabaseId", ""))
    return Posted(int(number), str(node.get("url", ""))) if number.isascii() and number.isdigit() else None


def _made(value: Any) -> Posted:
    if not isinstance(value, dict) or not isinstance(value.get("id"), int):
        raise GitHubError("GitHub answered with something else than a comment; run the job again")
    return Posted(value["id"], str(value.get("html_url", "")))
