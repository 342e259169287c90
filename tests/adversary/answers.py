"""What GitHub, or whoever answers in its place, may say to each request (A3, A4, A7, A9)."""

import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from tests.action.job import Ended, Project
from tests.adversary.briefs import ALARM, HOSTILE, decides
from tests.adversary.case import Case, Family
from tests.adversary.holding import MARKER
from tests.command import IDS
from tests.servers.github import Action, Exchange, Reply, fault, reply
from tests.servers.github import changed as with_answer
from tests.servers.github_world import WRITER

PULL: Final = (r"/pulls/42$", "GET", 1)
ARTIFACTS: Final = (r"/artifacts$", "GET", None)
DOWNLOAD: Final = (r"/zip$", "GET", None)
COMPARE: Final = (r"/compare/", "GET", None)
DIFF: Final = (r"/pulls/42$", "GET", 2)
AT_BASE: Final = (r"/graphql$", "POST", 1)
TEXTS: Final = (r"/graphql$", "POST", 2)
LAST_LOOK: Final = (r"/graphql$", "POST", 3)
POSTED: Final = (r"/issues/42/comments$", "POST", None)
Where = tuple[str, str, int | None]
GRAPHQL: Final[Where] = (r"/graphql$", "POST", None)


def at(where: Where, action: Action) -> Callable[[Project], None]:
    """What becomes of one request of the run."""

    def arrange(subject: Project) -> None:
        path, method, nth = where
        subject.github.faults.append(fault(action, path, method=method, nth=nth, host="api"))

    return arrange


def each(*arrangements: Callable[[Project], None]) -> Callable[[Project], None]:
    def arrange(subject: Project) -> None:
        for one in arrangements:
            one(subject)

    return arrange


def edited(change: Callable[[Any], Any]) -> Action:
    """The true answer with its JSON changed in place, or replaced by what `change` gives back."""

    def other(answer: Reply) -> Reply:
        value = json.loads(answer.data)
        given = change(value)
        return replace(answer, body=value if given is None else given)

    return with_answer(other)


def without_the_configuration(value: Any) -> None:
    value["data"]["repository"]["f0"] = None
    value["errors"] = [{"path": ["repository", "f0"], "message": "x"}]


def headed(**headers: str) -> Action:
    """The true answer with more headers."""
    more = {name.replace("_", "-"): value for name, value in headers.items()}
    return with_answer(lambda answer: replace(answer, headers={**answer.headers, **more}))


def refusal(status: int, headers: Mapping[str, str] | None = None, message: Any = HOSTILE) -> Action:
    return reply(status, {"message": message, "documentation_url": HOSTILE}, headers)


def stops(name: str, arrange: Callable[[Project], None], *said: str, **more: Any) -> Case:
    """An answer that the run cannot go on with: one error, and nothing posted or paid for."""
    known = {"status": "failed", "code": 1, "comments": 0, "calls": 0, "said": said}
    return Case(name, arrange=arrange, **{**known, **more})


def works(name: str, arrange: Callable[[Project], None], **more: Any) -> Case:
    """An odd answer in which everything that is needed stands."""
    return Case(name, arrange=arrange, **{"more": decides(*IDS), **more})


def unposted(name: str, arrange: Callable[[Project], None], *said: str, **more: Any) -> Case:
    """An answer that keeps the comment from being written, after all was paid for."""
    known = {"status": "failed", "code": 1, "comments": 0, "said": ["verified: 5 kept", *said]}
    return Case(name, arrange=arrange, **{**known, **more})


def hostile_pull(value: Any) -> None:
    """Anybody's words wherever a pull request has room for them."""
    value.update(
        title=HOSTILE, body=HOSTILE, html_url="javascript:alert(1)", url=HOSTILE, _links=None, labels=[HOSTILE]
    )
    value["user"] = {"login": HOSTILE}
    value["head"].update(ref=HOSTILE, label=HOSTILE)


def other_number(value: Any) -> None:
    value["number"] = 7


def with_sha(side: str, sha: Any) -> Callable[[Any], None]:
    def change(value: Any) -> None:
        value[side]["sha"] = sha

    return change


def artifacts(*entries: Any) -> Callable[[Any], Any]:
    """The list with these entries; each is the true one with these fields, or something else altogether."""

    def change(value: Any) -> Any:
        (true,) = value["artifacts"]
        return {"total_count": -1, "artifacts": [true | one if isinstance(one, dict) else one for one in entries]}

    return change


def repository(change: Callable[[Any], Any]) -> Action:
    """The true GraphQL answer with its repository changed."""
    return edited(lambda value: change(value["data"]["repository"]))


def comments(*nodes: Any, **page: Any) -> Action:
    """The true answer with these comments in it."""

    def change(found: Any) -> None:
        held = found["pullRequest"]["comments"]
        held["nodes"] = list(nodes)
        held["pageInfo"] |= page

    return repository(change)


def ours(**changes: Any) -> dict[str, Any]:
    """A comment of ours as GraphQL lists it, changed."""
    url = "http://127.0.0.1/acme/shop/pull/42#issuecomment-70001"
    return {"fullDatabaseId": "70001", "body": f"{MARKER}\nold", "viewerDidAuthor": True, "url": url, **changes}


def posted_once(subject: Project, ended: Ended) -> None:
    """One comment was made, and none that was somebody else's was touched."""
    made = [request for request in subject.github.requests if request.method in ("POST", "PATCH", "DELETE")]
    writes = [f"{request.method} {request.path}" for request in made if "/issues/" in request.path]
    assert len(writes) == 1
    assert writes[0].startswith("POST ")


def blob(at_base: int, **changes: Any) -> Action:
    """The true answer with one of its files changed."""
    return repository(lambda found: found[f"f{at_base}"].update(changes))


def error(**fields: Any) -> Action:
    """A GraphQL error and nothing else, with status 200."""
    return reply(200, {"data": None, "errors": [{"message": HOSTILE, **fields}]})


def stored_at(location: str) -> Callable[[Project], None]:
    """Where GitHub says that the artifact is."""
    return at(DOWNLOAD, reply(302, b"", {"Location": location}))


def sent_on(location: str) -> Callable[[Project], None]:
    """Where the store sends whoever asks for the artifact; `{store}` is its own address."""

    def action(exchange: Exchange) -> None:
        place = location.format(store=f"http://{exchange.request.headers['host']}", path=exchange.request.path)
        exchange.send(Reply(302, b"", {"Location": place}))

    def arrange(subject: Project) -> None:
        subject.github.faults.append(fault(action, host="blob"))

    return arrange


def store(action: Action) -> Callable[[Project], None]:
    return lambda subject: subject.github.faults.append(fault(action, host="blob"))


def asked_nobody(subject: Project, ended: Ended) -> None:
    """Whatever address was named, no request carried the token to the store, and few were made."""
    blobs = [request for request in subject.github.requests if request.host == "blob"]
    assert not [request for request in blobs if "authorization" in request.headers]
    assert len(blobs) <= 12


BOMB: Final = gzip.compress(b" " * 200_000_000, compresslevel=1)
BURSTS: Final = reply(200, BOMB, {"Content-Encoding": "gzip"})


def may_not(name: str) -> Callable[[Project], None]:
    """A token without one of its permissions."""

    def arrange(subject: Project) -> None:
        left = {one: level for one, level in WRITER.items() if one != name}
        subject.github.add_token(subject.github.token, permissions=left)

    return arrange


def ever_more(subject: Project) -> None:
    """A list that always has one more page."""
    at(ARTIFACTS, with_answer(lambda answer: with_next(answer)))(subject)


def soon_enough(subject: Project, ended: Ended) -> None:
    """No list of anybody's takes the hour's requests."""
    assert len(subject.github.requests) < 200


def with_next(answer: Reply) -> Reply:
    value = json.loads(answer.data)
    if "artifacts" not in value:
        return answer
    value["artifacts"] = [{**one, "name": "another"} for one in value["artifacts"]] or [{"name": "another"}]
    return replace(answer, body=value, headers={**answer.headers, "Link": '<http://127.0.0.1/x?page=1>; rel="next"'})


PULLS: Final = (
    stops("null for the pull request", at(PULL, reply(200, "null")), "something else than a pull request"),
    stops("a list for the pull request", at(PULL, reply(200, [])), "something else than a pull request"),
    stops(
        "a page of HTML, 200",
        at(PULL, reply(200, f"<html>{ALARM}", content_type="text/html")),
        "something else than JSON",
        never=[ALARM],
    ),
    stops("nothing, 200", at(PULL, reply(200, b"")), "something else than JSON"),
    stops("nothing, 204", at(PULL, reply(204)), "something else than JSON"),
    stops("JSON without an end", at(PULL, reply(200, b"[" * 300_000)), "something else than JSON"),
    stops("a number of 5,000 digits", at(PULL, reply(200, '{"number": ' + "9" * 5_000 + "}")), "something else than"),
    stops("a pull request that packs to burst", at(PULL, BURSTS), "with more than 64 MB"),
    stops("texts that pack to burst", at(GRAPHQL, BURSTS), "with more than 64 MB"),
    stops("a diff that packs to burst", at(DIFF, BURSTS), "with more than 64 MB"),
    works("a page without a charset", at(DIFF, with_answer(lambda answer: replace(answer, content_type="text/plain")))),
    stops(
        "a pull request without sides",
        at(PULL, reply(200, {"number": 42, "state": "open"})),
        "something else than a pull",
    ),
    stops("another pull request", at(PULL, edited(other_number)), ""),
    stops(
        "a number that is true", at(PULL, edited(lambda value: value.update(number=True))), "something else than a pull"
    ),
    works("hostile words wherever a pull request has room", at(PULL, edited(hostile_pull))),
    Case(
        "another head",
        arrange=at(PULL, edited(with_sha("head", "a" * 40))),
        status="stale",
        comments=0,
        calls=0,
        said=["stale: "],
    ),
    stops("a base of hostile words", at(PULL, edited(with_sha("base", HOSTILE))), "something else than a pull request"),
    stops(
        "a base that leads elsewhere",
        at(PULL, edited(with_sha("base", "../../../../user?x="))),
        "something else than a pull request",
    ),
    Case(
        "a state nobody knows",
        arrange=at(PULL, edited(lambda value: value.update(state=HOSTILE))),
        status="skipped",
        comments=0,
        calls=0,
        said=["is closed"],
    ),
)

STATUSES: Final = (
    *(
        stops(f"status {status}", at(PULL, refusal(status)), f"({status})")
        for status in (304, 400, 401, 403, 404, 410, 418, 422, 451)
    ),
    works("moved for good", at(PULL, reply(301, b"", {"Location": "http://evil.example/x"}))),
    stops("moved without an address", at(PULL, reply(307, b"")), ""),
    stops("moved in a circle", at(COMPARE, with_answer(lambda _: Reply(302, b"", {"Location": "/api/v3/x"}))), ""),
    stops("a refusal that is a list", at(PULL, reply(403, [HOSTILE])), "(403)"),
    stops("a refusal whose message is a tree", at(PULL, refusal(403, message={"a": [HOSTILE]})), "(403)"),
    works("a refusal without an end", at(PULL, reply(500, b"[" * 300_000))),
    stops(
        "permissions of hostile words",
        at(PULL, refusal(403, {"X-Accepted-GitHub-Permissions": "@ada ::error::x [y](z) ##[error]"})),
        "(403)",
    ),
    works(
        "a limit with odd numbers",
        at(PULL, refusal(403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "-1e999"})),
    ),
    works(
        "a limit that ends in another age",
        at(PULL, refusal(429, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "9" * 400})),
    ),
    works("a limit that is over", at(PULL, refusal(403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "0"}))),
    stops("a wait of 10^400 seconds", at(PULL, refusal(429, {"Retry-After": "9" * 400})), "limits the rate"),
    works("a wait that is a date", at(PULL, refusal(503, {"Retry-After": "Wed, 21 Oct 2099 07:28:00 GMT"}))),
    works("a wait below nothing", at(PULL, refusal(503, {"Retry-After": "-5"}))),
    works("a wait that is no number", at(PULL, refusal(503, {"Retry-After": "NaN"}))),
    works(
        "odd limits where nothing is refused",
        at(
            PULL,
            headed(X_RateLimit_Remaining="-1", X_RateLimit_Limit="NaN", X_RateLimit_Reset="soon", X_RateLimit_Used=""),
        ),
    ),
    works("headers nobody knows, and many", at(PULL, headed(**{f"X_{at}": "x" * 200 for at in range(60)}))),
    works(
        "an old moment as the date of it all",
        at(PULL, headed(Date="Thu, 01 Jan 1970 00:00:00 GMT", Deprecation="true", Sunset="x")),
    ),
    works("packed, and not", at(PULL, headed(Content_Encoding="gzip"))),
)

LISTS: Final = (
    stops(
        "artifacts that are none",
        at(ARTIFACTS, edited(artifacts(None, 7, "opendrs-brief", [], {"id": "9001"}, {"id": None}))),
        "no artifact opendrs-brief",
        status="no-brief",
    ),
    stops("artifacts that are no list", at(ARTIFACTS, reply(200, {"artifacts": {"0": HOSTILE}})), "with no list"),
    stops(
        "artifacts with hostile names",
        at(ARTIFACTS, edited(artifacts({"name": HOSTILE}, {"name": None}, {"name": [HOSTILE]}))),
        "no artifact opendrs-brief",
        status="no-brief",
    ),
    stops(
        "an artifact whose end nobody knows",
        at(ARTIFACTS, edited(artifacts({"expired": None}))),
        "has expired",
        status="no-brief",
    ),
    stops("an artifact of a number below nothing", at(ARTIFACTS, edited(artifacts({"id": -1}))), ""),
    stops(
        "an artifact whose number is true",
        at(ARTIFACTS, edited(artifacts({"id": True}))),
        "no artifact",
        status="no-brief",
    ),
    works(
        "times that are no times",
        at(
            ARTIFACTS,
            edited(artifacts({"created_at": None}, {"created_at": 7, "id": 1, "name": "x"}, {"created_at": HOSTILE})),
        ),
    ),
    stops("pages that never end", ever_more, "", more=soon_enough),
    works(
        "a link to the first page on the last",
        at(ARTIFACTS, headed(Link='<http://127.0.0.1:9/x>; rel="prev", garbage; rel=next, <')),
    ),
)

STORE: Final = (
    stops("an artifact on the disk", stored_at("file:///etc/passwd"), "not https", never=["root:"]),
    stops("an artifact at another protocol", stored_at("ftp://127.0.0.1/x"), "not https"),
    stops(
        "an artifact in the address itself",
        stored_at("data:application/zip;base64,UEsFBgAAAAAAAAAAAAAAAAAAAAAAAA=="),
        "not https",
    ),
    stops("an artifact nowhere", stored_at(""), "named no place"),
    stops("an artifact at a path", stored_at("/etc/passwd"), "not https"),
    stops("an artifact at words", stored_at("http://[::1"), "", more=asked_nobody),
    stops(
        "an artifact where nobody is",
        stored_at(f"http://eve:{ALARM}@127.0.0.1:9/x?sig={ALARM}"),
        "could not be read",
        never=[ALARM],
    ),
    stops("a store that sends to the disk", sent_on("file:///etc/passwd"), "not https", more=asked_nobody),
    stops("a store that sends in a circle", sent_on("{store}{path}"), "redirects too often", more=asked_nobody),
    stops("a store that sends to a name without a host", sent_on("//"), "", more=asked_nobody),
    stops("a store that sends relative, for ever", sent_on("../x"), "redirects too often", more=asked_nobody),
    stops(
        "a store that packs to burst",
        store(reply(200, BOMB, {"Content-Encoding": "gzip"})),
        "has more than 20,000,000 bytes",
    ),
    stops("a store that answers in hostile words", store(reply(418, HOSTILE)), "store answered 418"),
    stops("a store that answers with nothing", store(reply(204)), "store answered 204"),
    works(
        "a store that says it is a page", store(with_answer(lambda answer: replace(answer, content_type="text/html")))
    ),
)

COMPARED: Final = (
    stops(
        "no merge base",
        at(COMPARE, edited(lambda value: value.pop("merge_base_commit") and None)),
        "names no merge base",
    ),
    stops(
        "a merge base that is a number",
        at(COMPARE, edited(lambda value: value.update(merge_base_commit={"sha": 7}))),
        "no merge base",
    ),
    stops("no common history", at(COMPARE, refusal(404)), "(404)"),
    stops(
        "a merge base of hostile words",
        at(COMPARE, edited(lambda value: value.update(merge_base_commit={"sha": HOSTILE}))),
        "names no merge base",
    ),
)

QUERIES: Final = (
    works("null for the query, once", at(AT_BASE, reply(200, "null"))),
    stops("null for the query", at(GRAPHQL, reply(200, "null")), "GitHub failed for GraphQL"),
    stops("a repository that is null", at(GRAPHQL, reply(200, {"data": {"repository": None}})), "failed for GraphQL"),
    stops("a repository that is a list", at(GRAPHQL, reply(200, {"data": {"repository": [HOSTILE]}})), "failed for"),
    stops(
        "errors of odd types",
        at(GRAPHQL, reply(200, {"errors": [None, 7, HOSTILE, {"message": [HOSTILE]}], "data": {"repository": {}}})),
        "GitHub failed for GraphQL",
    ),
    works("an error once, with status 200", at(AT_BASE, error(type="INTERNAL"))),
    stops("an error always, with status 200", at(GRAPHQL, error(type="INTERNAL")), "GitHub failed for GraphQL"),
    stops("limited, with status 200", at(GRAPHQL, error(type="RATE_LIMITED")), "limits the rate"),
    Case(
        "errors under a path of hostile words",
        arrange=at(
            AT_BASE,
            edited(lambda value: value.update(errors=[{"path": ["repository", HOSTILE, 0, None], "message": HOSTILE}])),
        ),
        more=decides(*IDS),
    ),
    Case(
        "a configuration of odd types",
        arrange=at(AT_BASE, blob(0, text=7)),
        status="failed",
        calls=0,
        said=["configuration: "],
    ),
    Case(
        "a configuration that came with an error",
        arrange=at(
            AT_BASE,
            edited(without_the_configuration),
        ),
        status="failed",
        calls=0,
        said=["configuration: "],
    ),
    Case(
        "a configuration cut short",
        arrange=at(AT_BASE, blob(0, isTruncated=True)),
        status="failed",
        calls=0,
        said=["configuration: "],
    ),
    works("base texts that are null", at(TEXTS, repository(lambda found: found.update(dict.fromkeys(list(found)))))),
    works(
        "base texts of odd types",
        at(
            TEXTS,
            repository(
                lambda found: found.update(
                    {name: {"text": [HOSTILE], "isBinary": False, "isTruncated": False} for name in found}
                )
            ),
        ),
    ),
)

COMMENTS: Final = (
    works(
        "comments of odd types",
        at(AT_BASE, comments(None, 7, HOSTILE, [], {}, {"body": None, "viewerDidAuthor": True})),
    ),
    stops(
        "comments that are null",
        at(AT_BASE, repository(lambda found: found["pullRequest"].update(comments=None))),
        "does not show the pull request's conversation",
    ),
    works("our marker, not at the start", at(AT_BASE, comments(ours(body=f"> {MARKER}\n"))), more=posted_once),
    works(
        "our marker by somebody else",
        at(AT_BASE, comments(ours(viewerDidAuthor=False), ours(viewerDidAuthor="true"), ours(viewerDidAuthor=1))),
        more=posted_once,
    ),
    works(
        "comments of ours with odd numbers",
        at(
            AT_BASE,
            comments(*(ours(fullDatabaseId=number) for number in (None, "", "-1", "1.5", "٧", "0x1", True, [7]))),
        ),
        more=posted_once,
    ),
    works("pages of comments that never end", at(AT_BASE, comments(hasPreviousPage=True, startCursor=None))),
    unposted(
        "a last look at another's words",
        at(LAST_LOOK, repository(lambda found: found["pullRequest"].update(headRefOid=None))),
        "does not show the pull request's conversation",
    ),
    Case(
        "a last look at a head that moved",
        arrange=at(LAST_LOOK, repository(lambda found: found["pullRequest"].update(headRefOid=HOSTILE))),
        status="stale",
        comments=0,
        said=["moved on to"],
    ),
    unposted(
        "a last look that is forbidden",
        at(
            LAST_LOOK,
            reply(
                200,
                {
                    "errors": [{"type": "FORBIDDEN", "path": ["repository", "pullRequest"], "message": HOSTILE}],
                    "data": {"repository": {"pullRequest": None}},
                },
            ),
        ),
        "",
    ),
    unposted("a comment that is no comment", at(POSTED, reply(201, "null")), "something else than a comment"),
    unposted("a comment refused in hostile words", at(POSTED, refusal(422)), "the comment was refused"),
    unposted(
        "a comment that may not be written",
        may_not("pull-requests"),
        "pull-requests: write",
        calls=0,
        said=["pull-requests"],
    ),
    stops("runs that may not be read", may_not("actions"), "actions: read"),
    stops("contents that may not be read", may_not("contents"), "contents: read"),
    Case(
        "an address of a script for the comment",
        arrange=at(POSTED, edited(lambda value: value.update(html_url="javascript:alert(1)"))),
        never=["javascript:"],
    ),
    Case(
        "an address with hostile words for the comment",
        arrange=at(POSTED, edited(lambda value: value.update(html_url=f"http://x/\nstatus=evil\n{HOSTILE}"))),
        never=["status=evil"],
    ),
)

ANSWERS: Final = Family(
    "answers of GitHub",
    "a comment taken for ours by its marker alone",
    (*PULLS, *STATUSES, *LISTS, *STORE, *COMPARED, *QUERIES, *COMMENTS),
)
