"""The one comment on a pull request: found by its marker and its author, updated in place (A4)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from verifier.comment import MARKER
from verifier.evidence.api import Api, GitHubError, Repository

COMMENTS: Final = (
    "pullRequest(number: $number) { headRefOid state locked comments(last: 100, before: $before) "
    "{ nodes { fullDatabaseId body viewerDidAuthor url } pageInfo { hasPreviousPage startCursor } } }"
)
_PAGES: Final = 50
_TRIES: Final = 3
_ADDRESS: Final = re.compile(r"https?://[!-~]{1,2000}")
_NOTHING: Final = "GitHub does not show the pull request's conversation; run the job again"


class Left(Exception):
    """The pull request is no longer what was verified, or takes no comment: nothing more is written. `now` says why."""

    def __init__(self, now: "Conversation") -> None:
        super().__init__()
        self.now = now


@dataclass(frozen=True, slots=True, order=True)
class Posted:
    """A comment of ours."""

    id: int
    url: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class Conversation:
    """A pull request as it is now, with our comments among the newest hundred, oldest first."""

    head: str
    is_open: bool
    locked: bool
    ours: tuple[Posted, ...]

    def takes_a_comment_for(self, head: str) -> bool:
        """Whether this is still what was verified, and may be written to."""
        return self.head == head and self.is_open and not self.locked


def conversation(api: Api, number: int) -> Conversation:
    """One request. Raises GitHubError."""
    pull = _pull(_page(api, number, None))
    if not isinstance(pull.get("headRefOid"), str):
        raise GitHubError(_NOTHING)
    return Conversation(
        head=pull["headRefOid"],
        is_open=pull.get("state") == "OPEN",
        locked=pull.get("locked") is True,
        ours=tuple(sorted(_ours(pull))),
    )


def earlier(api: Api, number: int, newest: Repository) -> list[Posted]:
    """Our comments in the newest page, which `COMMENTS` asked for, or in the first page before it that has one.

    A marker alone is no proof: anybody can write one. Raises GitHubError.
    """
    page = newest
    for _ in range(_PAGES):
        pull = _pull(page)
        found = _ours(pull)
        before = _inside(_inside(pull, "comments"), "pageInfo")
        if found or before.get("hasPreviousPage") is not True:
            return found
        page = _page(api, number, before.get("startCursor"))
    return []


def upsert(api: Api, number: int, head: str, known: Iterable[Posted], body: str) -> Posted:
    """Our comment with this body: the oldest updated where there is one, else made. Raises Left and GitHubError.

    Right before each write, and so before one that is tried again, the pull request is looked at: it may have moved on,
    and what was answered with an error may have been done. Where there is more than one comment of ours, as two runs
    side by side or one that was cut off may leave it, the others are taken away; what cannot be, the next run heals.
    """
    known, was_lost = set(known), False
    for _ in range(_TRIES):
        now = conversation(api, number)
        if not now.takes_a_comment_for(head):
            raise Left(now)
        ours = sorted({*known, *now.ours})
        try:
            posted = _update(api, ours[0], body) if ours else _create(api, number, body)
        except GitHubError as error:
            failure = error
            if ours and error.status == 404:  # deleted meanwhile
                known.discard(ours[0])
                continue
            if error.wait is None and (was_lost or not error.may_have_counted):
                raise
            was_lost = error.wait is None
            if not api.wait(error.wait):
                raise
            continue
        if ours:
            _delete(api, ours[1:])
            return posted
        return _settled(api, number, head, posted, body)
    raise failure


def _settled(api: Api, number: int, head: str, made: Posted, body: str) -> Posted:
    """The one comment that stays where another run made one too: the older, with the newest head's body."""
    try:
        now = conversation(api, number)
        oldest = min({made, *now.ours})
        if oldest != made and now.takes_a_comment_for(head):
            oldest = _update(api, oldest, body)
    except GitHubError:
        return made  # the next run heals it
    _delete(api, {made, *now.ours} - {oldest})
    return oldest


def _delete(api: Api, others: Iterable[Posted]) -> None:
    for other in others:
        try:
            api.send("DELETE", f"/issues/comments/{other.id}")
        except GitHubError:
            return  # the next run heals it


def _create(api: Api, number: int, body: str) -> Posted:
    return _made(api.send("POST", f"/issues/{number}/comments", {"body": body}).json())


def _update(api: Api, posted: Posted, body: str) -> Posted:
    return _made(api.send("PATCH", f"/issues/comments/{posted.id}", {"body": body}).json())


def _page(api: Api, number: int, before: Any) -> Repository:
    return api.query(COMMENTS, {"number": ("Int!", number), "before": ("String", before)})


def _pull(page: Repository) -> dict[str, Any]:
    """The pull request with its page of comments; never one that only seems to have none."""
    pull = _inside(page.fields, "pullRequest")
    if not isinstance(_inside(pull, "comments").get("nodes"), list):
        raise GitHubError(_NOTHING)
    return pull


def _ours(pull: dict[str, Any]) -> list[Posted]:
    nodes = _inside(pull, "comments")["nodes"]
    return [found for node in nodes if (found := _posted(node)) is not None]


def _posted(node: Any) -> Posted | None:
    if not isinstance(node, dict) or node.get("viewerDidAuthor") is not True:
        return None
    if not str(node.get("body", "")).startswith(MARKER):
        return None
    number = str(node.get("fullDatabaseId", ""))
    return Posted(int(number), _address(node.get("url"))) if number.isascii() and number.isdigit() else None


def _inside(value: Any, name: str) -> dict[str, Any]:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _made(value: Any) -> Posted:
    if not isinstance(value, dict) or type(value.get("id")) is not int:
        raise GitHubError("GitHub answered with something else than a comment; run the job again")
    return Posted(value["id"], _address(value.get("html_url")))


def _address(value: Any) -> str:
    """An address that a page may lead to; anything else is none."""
    return value if isinstance(value, str) and _ADDRESS.fullmatch(value) else ""
