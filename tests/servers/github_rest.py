"""The REST operations of the fake GitHub, each a function from a call to a reply."""

import base64
import binascii
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlencode

from tests.servers.github_git import Diff, Entry, link_target, shown
from tests.servers.github_http import Refusal, Reply, Request
from tests.servers.github_schema import Operation
from tests.servers.github_state import Artifact, Comment, Level, Pull, Run, Token
from tests.servers.github_world import World, head_owner

Json = Any
Answer = Callable[["Call"], Reply]
T = TypeVar("T")

REPO: Final = "/repos/{owner}/{repo}"
OBJECT_TYPE: Final = "application/vnd.github.object+json; charset=utf-8"
FORBIDDEN: Final = "Resource not accessible by integration"
# What each operation wants of a token: a level, and the permissions of which one suffices.
WANTED: Final[list[tuple[str, Level, tuple[str, ...]]]] = [
    (r"(POST|PATCH|DELETE) .*/issues/", "write", ("issues", "pull-requests")),
    (r"GET .*/issues/", "read", ("issues", "pull-requests")),
    (r"GET .*/actions/", "read", ("actions",)),
    (r"GET .*/pulls", "read", ("pull-requests",)),
    (r"GET .*/(contents|compare)/", "read", ("contents",)),
]


@dataclass(frozen=True)
class Call:
    """A request that was understood: the path's and the query's parameters, and who asks."""

    world: World
    request: Request
    operation: Operation
    values: Mapping[str, str]
    token: Token
    media: str

    def number(self, name: str) -> int:
        """A number of the path; GitHub finds nothing under a word."""
        text = self.values[name]
        if not re.fullmatch(r"\d{1,18}", text):
            raise Refusal(404, "Not Found")
        return int(text)

    def query(self, name: str, default: str = "") -> str:
        """A parameter of the query: the last one counts."""
        return self.request.query.get(name, [default])[-1]

    @property
    def pull(self) -> Pull:
        """The pull request that the path names."""
        name = "pull_number" if "pull_number" in self.values else "issue_number"
        found = self.world.pulls.get(self.number(name))
        if found is None:
            raise Refusal(404, "Not Found")
        return found


_ANSWERS: Final[dict[str, Answer]] = {}


def _answers(name: str) -> Callable[[Answer], Answer]:
    def register(answer: Answer) -> Answer:
        _ANSWERS[name] = answer
        return answer

    return register


def wanted(operation: Operation) -> tuple[Level, tuple[str, ...]] | None:
    """The level and the permissions, of which one suffices, that an operation wants."""
    return next((rest for form, *rest in WANTED if re.match(form, operation.name)), None)  # type: ignore[return-value]


def answered(call: Call) -> Reply:
    """The reply to a call, or the `Refusal` that GitHub would give."""
    owner, repo = call.values.get("owner"), call.values.get("repo")
    if owner is not None and f"{owner}/{repo}".lower() != call.world.repository.lower():
        raise Refusal(404, "Not Found")
    wants = wanted(call.operation)
    headers = {}
    if wants is not None:
        level, permissions = wants
        headers["X-Accepted-GitHub-Permissions"] = "; ".join(f"{one.replace('-', '_')}={level}" for one in permissions)
        if not call.token.may(level, *permissions):
            status = 403 if level == "write" else call.world.missing_read_status
            raise Refusal(status, FORBIDDEN if status == 403 else "Not Found", headers=headers)
    try:
        reply = _ANSWERS[call.operation.name](call)
    except Refusal as refusal:
        reply = refusal.reply
    return replace(reply, headers={**headers, **reply.headers})


def _page(call: Call, items: Sequence[T]) -> tuple[list[T], dict[str, str]]:
    """The page that was asked for, and the `Link` header to the others."""
    world = call.world
    size = world.fixed_page_size or min(max(_count(call.query("per_page"), 30), 1), world.limits.page)
    page = max(_count(call.query("page"), 1), 1)
    last = max(-(-len(items) // size), 1)
    links = {}
    if page > 1:
        links["prev"] = min(page - 1, last)
    if page < last:
        links |= {"next": page + 1, "last": last}
    if page > 1:
        links["first"] = 1
    headers = {"Link": ", ".join(f'<{_page_url(call, to)}>; rel="{rel}"' for rel, to in links.items())} if links else {}
    return list(items[(page - 1) * size : page * size]), headers


def _page_url(call: Call, page: int) -> str:
    # GitHub writes the repository's number here, not its name.
    rest = re.sub(r".*?/(repos/[^/]+|repositories)/[^/]+/", "", call.request.path, count=1)
    query = [(name, values[-1]) for name, values in call.request.query.items() if name != "page"]
    where = f"{call.world.api_url}/repositories/{call.world.repository_id}/{rest}"
    return f"{where}?{urlencode([*query, ('page', str(page))])}"


def _count(text: str, default: int) -> int:
    return int(text) if re.fullmatch(r"\d{1,9}", text) else default


# Pull requests.


@_answers(f"GET {REPO}/pulls/{{pull_number}}")
def _pull(call: Call) -> Reply:
    world, pull = call.world, call.pull
    if call.media == "diff":
        diff = world.store.diff(world.pull_base(pull), pull.head_sha)
        return _diff(world, diff, "PullRequest")
    return Reply(200, world.pull(pull))


def _diff(world: World, diff: Diff, resource: str) -> Reply:
    """A diff as a text, or the refusal of one beyond GitHub's limits."""
    limits = world.limits
    texts = [change.patch or "" for change in diff.changes]
    beyond = [
        (diff.text.count(b"\n") > limits.diff_lines, f"number of lines ({limits.diff_lines})"),
        (len(diff.text) > limits.diff_bytes, f"size ({limits.diff_bytes} bytes)"),
        (len(diff.changes) > limits.diff_files, f"number of files ({limits.diff_files})"),
        (
            any(text.count("\n") > limits.file_lines for text in texts),
            f"number of lines of a file ({limits.file_lines})",
        ),
        (any(len(text.encode()) > limits.file_bytes for text in texts), f"size of a file ({limits.file_bytes} bytes)"),
    ]
    for over, what in beyond:
        if over:
            hint = "Consider using 'List pull requests files' API or locally cloning the repository instead."
            error = {"resource": resource, "field": "diff", "code": "too_large"}
            raise Refusal(406, f"Sorry, the diff exceeded the maximum {what}. {hint}", errors=[error])
    return Reply(200, diff.text, content_type="application/vnd.github.diff; charset=utf-8")


@_answers(f"GET {REPO}/pulls/{{pull_number}}/files")
def _files(call: Call) -> Reply:
    world, pull = call.world, call.pull
    changes, links = _page(call, world.changes(pull))
    base = world.pull_base(pull)
    return Reply(200, [world.diff_entry(change, pull.head_sha, base) for change in changes], links)


@_answers(f"GET {REPO}/pulls")
def _pulls(call: Call) -> Reply:
    state, head, base = call.query("state", "open"), call.query("head"), call.query("base")
    if state not in ("open", "closed", "all"):
        raise Refusal(
            422, "Validation Failed", errors=[{"resource": "PullRequest", "field": "state", "code": "invalid"}]
        )
    found = [pull for pull in call.world.pulls.values() if state in (pull.state, "all")]
    if ":" in head:
        # Without an owner the filter is as good as not there.
        owner, _, ref = head.partition(":")
        found = [pull for pull in found if head_owner(pull).lower() == owner.lower() and pull.head_ref == ref]
    if base:
        found = [pull for pull in found if pull.base_ref == base]
    sort = call.query("sort", "created")
    down = call.query("direction", "desc" if sort == "created" else "asc") == "desc"
    found.sort(key=lambda pull: (pull.updated_at if sort == "updated" else pull.created_at, pull.number), reverse=down)
    page, links = _page(call, found)
    return Reply(200, [call.world.pull(pull, simple=True) for pull in page], links)


@_answers(f"GET {REPO}/commits/{{commit_sha}}/pulls")
def _commit_pulls(call: Call) -> Reply:
    world = call.world
    commit = world.revision(call.values["commit_sha"])
    if commit is None:
        raise Refusal(422, f"No commit found for SHA: {call.values['commit_sha']}", errors=[])
    found = [
        pull
        for number, pull in sorted(world.pulls.items())
        if (pull.head_repository == world.repository or world.fork_commits_listed)
        and commit in world.store.commits(world.pull_base(pull), pull.head_sha)
    ]
    page, links = _page(call, found)
    return Reply(200, [world.pull(pull, simple=True) for pull in page], links)


@_answers(f"GET {REPO}/compare/{{basehead}}")
def _compare(call: Call) -> Reply:
    world = call.world
    basehead = call.values["basehead"]
    dots = "..." if "..." in basehead else ".."
    left, found, right = basehead.partition(dots)
    base, head = world.revision(left), world.revision(right)
    if not found or base is None or head is None:
        raise Refusal(404, "Not Found")
    merge_base = world.store.merge_base(base, head)
    if merge_base is None:
        raise Refusal(404, f"No common ancestor between {left} and {right}.")
    start = merge_base if dots == "..." else base
    diff = world.store.diff(start, head)
    if call.media == "diff":
        return _diff(world, diff, "Comparison")
    ahead, behind = world.store.commits(base, head), world.store.commits(head, base)
    paged = "page" in call.request.query or "per_page" in call.request.query
    commits, links = _page(call, ahead) if paged else (ahead[-world.limits.compare_commits :], {})
    status = {(False, False): "identical", (True, False): "ahead", (False, True): "behind", (True, True): "diverged"}
    url = f"{world.repository_url}/compare/{quote(basehead)}"
    page = f"{world.page_url}/compare/{quote(basehead)}"
    owner = world.repository.partition("/")[0]
    body = {
        "url": url,
        "html_url": page,
        "permalink_url": f"{world.page_url}/compare/{owner}:{base[:7]}{dots}{owner}:{head[:7]}",
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "base_commit": world.commit(base),
        "merge_base_commit": world.commit(merge_base),
        "status": status[bool(ahead), bool(behind)],
        "ahead_by": len(ahead),
        "behind_by": len(behind),
        "total_commits": len(ahead),
        "commits": [world.commit(oid) for oid in commits],
    }
    if _count(call.query("page"), 1) <= 1:
        # All the files stand on the first page, and only there.
        changes = diff.changes[: world.limits.compare_files]
        body["files"] = [world.diff_entry(change, head, start) for change in changes]
    return Reply(200, body, links)


# Runs and artifacts.


@_answers(f"GET {REPO}/actions/runs")
def _runs(call: Call) -> Reply:
    return _run_list(call, list(call.world.runs.values()))


@_answers(f"GET {REPO}/actions/workflows/{{workflow_id}}/runs")
def _workflow_runs(call: Call) -> Reply:
    world, name = call.world, call.values["workflow_id"]
    ids = {number for path, number in world.workflows.items() if name in (str(number), path.rpartition("/")[2])}
    if not ids:
        raise Refusal(404, "Not Found")
    return _run_list(call, [run for run in world.runs.values() if run.workflow_id in ids])


def _run_list(call: Call, runs: list[Run]) -> Reply:
    for name in ("created", "check_suite_id"):
        assert not call.query(name), f"the fake does not filter runs by {name}"
    filters: dict[str, Callable[[Run], tuple[str | None, ...]]] = {
        "head_sha": lambda run: (run.head_sha,),
        "event": lambda run: (run.event,),
        "branch": lambda run: (run.head_branch,),
        "actor": lambda run: (run.actor,),
        "status": lambda run: (run.status, run.conclusion),
    }
    for name, values in filters.items():
        if call.query(name) and not call.world.ignore_filters:
            runs = [run for run in runs if call.query(name) in values(run)]
    runs = sorted(runs, key=lambda run: (run.created_at, run.id), reverse=True)
    page, links = _page(call, runs)
    with_pulls = call.query("exclude_pull_requests") != "true"
    shapes = [call.world.run(run, with_pulls=with_pulls) for run in page]
    return Reply(200, {"total_count": len(runs), "workflow_runs": shapes}, links)


@_answers(f"GET {REPO}/actions/runs/{{run_id}}")
def _run(call: Call) -> Reply:
    with_pulls = call.query("exclude_pull_requests") != "true"
    return Reply(200, call.world.run(_found(call.world.runs, call.number("run_id")), with_pulls=with_pulls))


@_answers(f"GET {REPO}/actions/runs/{{run_id}}/artifacts")
def _run_artifacts(call: Call) -> Reply:
    run = _found(call.world.runs, call.number("run_id"))
    own = [artifact for artifact in call.world.artifacts.values() if artifact.run_id == run.id]
    return _artifact_list(call, own)


@_answers(f"GET {REPO}/actions/artifacts")
def _artifacts(call: Call) -> Reply:
    return _artifact_list(call, list(call.world.artifacts.values()))


def _artifact_list(call: Call, artifacts: list[Artifact]) -> Reply:
    name = call.query("name")
    if name and not call.world.ignore_filters:
        artifacts = [artifact for artifact in artifacts if artifact.name == name]
    down = call.query("direction", "desc") == "desc" and not call.world.artifacts_ascending
    artifacts = sorted(artifacts, key=lambda artifact: artifact.id, reverse=down)
    page, links = _page(call, artifacts)
    shapes = [call.world.artifact(artifact) for artifact in page]
    return Reply(200, {"total_count": len(artifacts), "artifacts": shapes}, links)


@_answers(f"GET {REPO}/actions/artifacts/{{artifact_id}}/{{archive_format}}")
def _download(call: Call) -> Reply:
    world = call.world
    artifact = _found(world.artifacts, call.number("artifact_id"))
    if artifact.missing or call.values["archive_format"] != "zip":
        raise Refusal(404, "Not Found")
    if artifact.expired or artifact.gone:
        raise Refusal(410, "Artifact has expired")
    world.signed += 1
    signature = binascii.hexlify(f"signature {world.signed}".encode()).decode()
    world.signatures[signature] = artifact.id
    query = urlencode({"se": world.clock(), "sp": "r", "sv": "2025-07-05", "sig": signature})
    location = f"{world.blob_url}/actions-results/{artifact.run_id}/{artifact.id}.zip?{query}"
    return Reply(302, None, {"Location": location}, "text/html;charset=utf-8")


def downloaded(world: World, request: Request) -> Reply:
    """What the blob host answers: it knows nothing but signatures, and takes each once."""
    if "authorization" in request.headers:
        return _blob_refusal(
            "InvalidAuthenticationInfo", "Authentication information is not given in the correct format."
        )
    artifact = world.artifacts.get(world.signatures.pop(request.query.get("sig", [""])[-1], -1))
    if artifact is None:
        return _blob_refusal("AuthenticationFailed", "Server failed to authenticate the request. Signature not valid.")
    disposition = f"attachment; filename=\"{artifact.name}.zip\"; filename*=UTF-8''{quote(artifact.name)}.zip"
    return Reply(200, artifact.data, {"Content-Disposition": disposition}, artifact.content_type)


def _blob_refusal(code: str, message: str) -> Reply:
    text = f'<?xml version="1.0" encoding="utf-8"?><Error><Code>{code}</Code><Message>{message}</Message></Error>'
    return Reply(403, text.encode(), {"x-ms-error-code": code}, "application/xml")


def _found(things: Mapping[int, T], number: int) -> T:
    if number not in things:
        raise Refusal(404, "Not Found")
    return things[number]


# Contents.


@_answers(f"GET {REPO}/contents/{{path}}")
def _contents(call: Call) -> Reply:
    world = call.world
    ref = call.query("ref") or world.default_branch
    commit = world.revision(ref)
    if commit is None:
        raise Refusal(404, f"No commit found for the ref {ref}")
    path = call.values["path"].strip("/")
    entry = world.store.entry(commit, "" if path == "." else path)
    if entry is None:
        raise Refusal(404, "Not Found")
    if entry.kind == "symlink":
        target = _linked(world, commit, entry)
        if target is not None:
            entry = Entry(target.mode, target.type, target.oid, target.size, entry.path)
    if entry.kind == "dir":
        return _folder(call, commit, entry, ref)
    if call.media == "raw":
        return _raw(world, entry)
    return Reply(200, _content(world, commit, entry, ref))


def _linked(world: World, commit: str, entry: Entry) -> Entry | None:
    """The file that a symbolic link leads to, where that is a file of the repository."""
    folder = os.path.dirname(shown(entry.path))  # noqa: PTH120 (a path of the repository, not of ours)
    path = link_target(folder, world.store.blob(entry.oid))
    target = None if path is None else world.store.entry(commit, path)
    return target if target is not None and target.kind == "file" else None


def _folder(call: Call, commit: str, entry: Entry, ref: str) -> Reply:
    world = call.world
    entries = world.store.folder(commit, shown(entry.path))[: world.limits.folder]
    shapes = []
    for child in entries:
        shape = _place(world, child, ref)
        # Described as it was before there was a word for it.
        shapes.append({**shape, "type": "file"} if child.kind == "submodule" else shape)
    if call.media == "object":
        return Reply(200, {**_place(world, entry, ref), "entries": shapes}, content_type=OBJECT_TYPE)
    return Reply(200, shapes)


def _content(world: World, commit: str, entry: Entry, ref: str) -> Json:
    shape = _place(world, entry, ref)
    if entry.kind == "submodule":
        return {**shape, "submodule_git_url": _submodule_url(world, commit, entry)}
    data = world.store.blob(entry.oid)
    if entry.kind == "symlink":
        return {**shape, "target": shown(data)}
    if entry.size > world.limits.contents_raw:
        raise _too_large()
    if entry.size > world.limits.contents_json:
        return {**shape, "content": "", "encoding": "none"}
    return {**shape, "content": base64.encodebytes(data).decode(), "encoding": "base64"}


def _raw(world: World, entry: Entry) -> Reply:
    if entry.kind == "submodule":
        raise Refusal(404, "Not Found")
    if entry.size > world.limits.contents_raw:
        raise _too_large()
    return Reply(200, world.store.blob(entry.oid), content_type="application/vnd.github.raw; charset=utf-8")


def _too_large() -> Refusal:
    error = {"resource": "Blob", "field": "data", "code": "too_large"}
    return Refusal(403, "This API returns blobs up to 100 MB in size. The requested blob is too large.", errors=[error])


def _submodule_url(world: World, commit: str, entry: Entry) -> str:
    listed = world.store.entry(commit, ".gitmodules")
    text = "" if listed is None else shown(world.store.blob(listed.oid))
    for section in text.split("[submodule ")[1:]:
        facts = dict(re.findall(r"^\s*(path|url)\s*=\s*(.+?)\s*$", section, re.MULTILINE))
        if facts.get("path") == shown(entry.path) and "url" in facts:
            return str(facts["url"])
    return f"{world.server_url}/{world.repository}-{quote(entry.name)}.git"


def _place(world: World, entry: Entry, ref: str) -> Json:
    path = quote(shown(entry.path))
    kind = {"dir": "tree", "submodule": "tree"}.get(entry.kind, "blob")
    url = f"{world.repository_url}/contents/{path}?ref={quote(ref)}"
    git = f"{world.repository_url}/git/{kind}s/{entry.oid}"
    page = f"{world.page_url}/{kind}/{quote(ref)}/{path}"
    has_raw = entry.kind in ("file", "symlink")
    return {
        "type": entry.kind,
        "size": entry.size,
        "name": entry.name,
        "path": shown(entry.path),
        "sha": entry.oid,
        "url": url,
        "git_url": git,
        "html_url": page,
        "download_url": f"{world.server_url}/raw/{world.repository}/{quote(ref)}/{path}" if has_raw else None,
        "_links": {"self": url, "git": git, "html": page},
    }


# Comments.


@_answers(f"GET {REPO}/issues/{{issue_number}}/comments")
def _comments(call: Call) -> Reply:
    found = call.world.seen_comments(call.pull.number)
    since = call.query("since")
    if since:
        found = [comment for comment in found if comment.updated_at >= since]
    page, links = _page(call, found)
    return Reply(200, [call.world.comment(comment) for comment in page], links)


@_answers(f"POST {REPO}/issues/{{issue_number}}/comments")
def _create(call: Call) -> Reply:
    world, pull = call.world, call.pull
    if pull.locked:
        raise Refusal(403, "Unable to create comment because issue is locked.")
    comment = world.add_comment(pull, _body(call), login=call.token.login)
    comment.hidden_for = world.hide_new_comments_for
    shape = world.comment(comment)
    return Reply(201, shape, {"Location": shape["url"]})


@_answers(f"GET {REPO}/issues/comments/{{comment_id}}")
def _comment(call: Call) -> Reply:
    return Reply(200, call.world.comment(_found(call.world.comments, call.number("comment_id"))))


@_answers(f"PATCH {REPO}/issues/comments/{{comment_id}}")
def _edit(call: Call) -> Reply:
    comment: Comment = _found(call.world.comments, call.number("comment_id"))
    comment.body = _body(call)
    comment.updated_at = call.world.clock()
    return Reply(200, call.world.comment(comment))


@_answers(f"DELETE {REPO}/issues/comments/{{comment_id}}")
def _delete(call: Call) -> Reply:
    del call.world.comments[_found(call.world.comments, call.number("comment_id")).id]
    return Reply(204)


def _body(call: Call) -> str:
    """The text of a comment that is to be stored."""
    if not isinstance(call.request.body, dict):
        raise Refusal(400, "Problems parsing JSON")
    text = call.request.body.get("body")
    error = {"resource": "IssueComment", "field": "body"}
    if not isinstance(text, str):
        raise Refusal(422, "Validation Failed", errors=[{**error, "code": "missing_field"}])
    if not _is_text(text):
        raise Refusal(400, "Problems parsing JSON")
    if not text.strip():
        raise Refusal(422, "Validation Failed", errors=[{**error, "code": "custom", "message": "body cannot be blank"}])
    if len(text) > call.world.limits.comment:
        message = f"Body is too long (maximum is {call.world.limits.comment} characters)"
        error = {"resource": "IssueComment", "code": "unprocessable", "field": "data", "message": message}
        raise Refusal(422, "Validation Failed", errors=[error])
    return text


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


# Limits.


@_answers("GET /rate_limit")
def _rate_limit(call: Call) -> Reply:
    world = call.world
    core = rate(world.limits.rest_requests, world.rest_used)
    graphql = rate(world.limits.graphql_points, world.graphql_used)
    return Reply(200, {"resources": {"core": core, "graphql": graphql, "search": rate(30, 0)}, "rate": core})


def rate(limit: int, used: int) -> dict[str, int]:
    """One of the limits: the hour ends in 2100, so that nobody waits for it unnoticed."""
    return {"limit": limit, "used": used, "remaining": max(limit - used, 0), "reset": 4102444800}


def rate_headers(resource: str, limit: int, used: int) -> dict[str, str]:
    """One of the limits as headers."""
    facts = rate(limit, used)
    return {
        **{f"X-RateLimit-{name.title()}": str(value) for name, value in facts.items()},
        "X-RateLimit-Resource": resource,
    }
