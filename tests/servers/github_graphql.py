"""The GraphQL endpoint of the fake GitHub: graphql-core runs the query against the published schema."""

import base64
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, TypeVar

from graphql import (
    DocumentNode,
    ExecutionResult,
    FieldNode,
    GraphQLError,
    GraphQLSchema,
    Visitor,
    build_schema,
    execute_sync,
    parse,
    validate,
    visit,
)

from tests.servers.github_git import HEX, Change, Entry, shown
from tests.servers.github_http import Refusal, Reply, Request
from tests.servers.github_rest import FORBIDDEN
from tests.servers.github_schema import DATA
from tests.servers.github_state import Comment, Pull, Token, account_id
from tests.servers.github_world import World, node_id

Json = Any
T = TypeVar("T")

PATCH_STATUS: Final = {
    "added": "ADDED",
    "removed": "DELETED",
    "modified": "MODIFIED",
    "renamed": "RENAMED",
    "copied": "COPIED",
    "changed": "CHANGED",
}
KEYS: Final = {"query", "variables", "operationName"}
TIMEOUT: Final = (
    "Something went wrong while executing your query. This may be the result of a timeout, or it could be a GitHub "
    "bug. Please include `C0DE:1234:5678:9ABC:DEF0` when reporting this issue."
)


class Declined(Exception):
    """An error in one field: GitHub gives it a type."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@cache
def schema() -> GraphQLSchema:
    """The subset of GitHub's schema."""
    return build_schema((DATA / "schema-subset.graphql").read_text())


def answered(world: World, request: Request, token: Token, violation: Callable[[str], None]) -> Reply:
    """The reply to a query; what is wrong with the query itself goes to `violation`."""
    body = request.body
    if not isinstance(body, dict) or not isinstance(body.get("query"), str):
        violation("body: an object with a query is required")
        raise Refusal(400, "Problems parsing JSON")
    for name in sorted(body.keys() - KEYS):
        violation(f"body.{name}: not part of a GraphQL request")
    try:
        document = parse(body["query"])
    except GraphQLError as error:
        violation(f"query: {error.message}")
        return Reply(200, {"errors": [_formatted(error)]})
    faults = validate(schema(), document)
    if faults:
        for fault in faults:
            violation(f"query: {fault.message}")
        return Reply(200, {"errors": [_formatted(fault) for fault in faults]})
    if world.limits.aliases is not None and _aliases(document) > world.limits.aliases:
        return Reply(502, {"errors": [{"message": TIMEOUT}]})
    result = execute_sync(
        schema(),
        document,
        root_value=_Root(world, token).fields(),
        variable_values=body.get("variables") or {},
        operation_name=body.get("operationName"),
    )
    return _reply(result, violation)


def _reply(result: ExecutionResult, violation: Callable[[str], None]) -> Reply:
    for error in result.errors or ():
        cause = error.original_error
        if cause is None or isinstance(cause, GraphQLError):
            # Of the query's making: a variable that is missing or of another type.
            violation(f"query: {error.message}")
        elif not isinstance(cause, Declined):
            # Of ours.
            raise cause
        elif cause.kind not in ("NOT_FOUND", "FORBIDDEN"):
            violation(f"query: {error.message}")
    if result.errors is None:
        return Reply(200, {"data": result.data})
    errors = [_formatted(error) for error in result.errors]
    refused = result.data is None and "path" not in errors[0]
    return Reply(200, {"errors": errors} if refused else {"data": result.data, "errors": errors})


def _formatted(error: GraphQLError) -> Json:
    made: dict[str, Json] = {**error.formatted}
    if isinstance(error.original_error, Declined):
        made = {"type": error.original_error.kind, **made}
    return made


class _AliasCount(Visitor):
    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def enter_field(self, node: FieldNode, *_: Any) -> None:
        self.count += node.alias is not None


def _aliases(document: DocumentNode) -> int:
    counter = _AliasCount()
    visit(document, counter)
    return counter.count


class _Root:
    """The values behind the schema's fields, for one query: functions where they cost something or take arguments."""

    def __init__(self, world: World, token: Token) -> None:
        self.world = world
        self.token = token

    def fields(self) -> Json:
        return {"viewer": self.viewer, "rateLimit": self.rate_limit, "repository": self.repository}

    def need(self, *permissions: str) -> None:
        if not self.token.may("read", *permissions):
            raise Declined("FORBIDDEN", FORBIDDEN)

    def viewer(self, _: Any) -> Json:
        # A User by the schema, and with its suffix where it is an app.
        return {**self.actor(self.token.login), "__typename": "User", "login": self.token.login}

    def rate_limit(self, _: Any, **__: Json) -> Json:
        limit, used = self.world.limits.graphql_points, self.world.graphql_used
        facts = {"cost": 1, "nodeCount": 1, "limit": limit, "used": used, "remaining": max(limit - used, 0)}
        return {**facts, "resetAt": "2100-01-01T00:00:00Z"}

    def repository(self, _: Any, owner: str, name: str, **__: Json) -> Json:
        full = f"{owner}/{name}"
        if full.lower() != self.world.repository.lower():
            raise Declined("NOT_FOUND", f"Could not resolve to a Repository with the name '{full}'.")
        return self.repository_named(self.world.repository)

    def repository_named(self, name: str) -> Json:
        number = account_id(name)
        return {
            "id": node_id("Repository", number),
            "databaseId": number,
            "name": name.partition("/")[2],
            "nameWithOwner": name,
            "isFork": name != self.world.repository,
            "isPrivate": True,
            "defaultBranchRef": self.default_branch,
            "object": self.object,
            "pullRequest": self.pull_request,
        }

    def default_branch(self, _: Any) -> Json:
        name = self.world.default_branch
        commit = self.world.revision(name)
        target = None if commit is None else self.commit(commit)
        return {"id": node_id("Ref", account_id(name)), "name": name, "prefix": "refs/heads/", "target": target}

    # Objects.

    def object(self, _: Any, expression: str | None = None, oid: str | None = None) -> Json:
        self.need("contents")
        if oid is not None:
            return self.by_id(oid)
        if expression is None:
            raise Declined("MISSING_ARGUMENT", "An oid or expression argument is required")
        revision, colon, path = expression.partition(":")
        if revision == "HEAD":
            revision = self.world.default_branch
        commit = self.world.revision(revision)
        if commit is None:
            return None
        if not colon:
            return self.commit(commit)
        entry = self.world.store.entry(commit, path)
        return None if entry is None else self.at(entry)

    def by_id(self, oid: str) -> Json:
        found = self.world.store.object(oid) if HEX.fullmatch(oid) else None
        if found is None:
            return None
        kind, data = found
        if kind == "commit":
            return self.commit(oid)
        if kind == "blob":
            return self.blob(oid, len(data), "")
        return self.git_object("Tree" if kind == "tree" else "Tag", oid)

    def at(self, entry: Entry) -> Json:
        if entry.type == "blob":
            return self.blob(entry.oid, entry.size, shown(entry.path))
        if entry.type == "tree":
            return self.tree(entry)
        # A submodule: the commit is another repository's.
        return None

    def git_object(self, kind: str, oid: str) -> Json:
        page = f"{self.world.page_url}/commit/{oid}"
        return {
            "__typename": kind,
            "id": node_id(kind, account_id(oid)),
            "oid": oid,
            "abbreviatedOid": oid[:7],
            "commitUrl": page,
            "commitResourcePath": page.removeprefix(self.world.server_url),
            "repository": lambda _: self.repository_named(self.world.repository),
        }

    def blob(self, oid: str, size: int, path: str) -> Json:
        data = self.world.store.blob(oid)
        limit = self.world.limits.text
        text: str | None
        try:
            data.decode()
            # The cut may fall inside a character.
            text = data[:limit].decode(errors="ignore")
        except UnicodeDecodeError:
            text = None
        if text is not None and b"\0" in data[:8000]:
            text = None
        return {
            **self.git_object("Blob", oid),
            "byteSize": size,
            "text": text,
            "isBinary": text is None,
            "isTruncated": text is not None and size > limit,
            **self.world.blob_overrides.get(path, {}),
        }

    def tree(self, entry: Entry, commit: str | None = None) -> Json:
        def entries(_: Any) -> list[Json]:
            holder = commit or self._holder(entry)
            return [self.tree_entry(child) for child in self.world.store.folder(holder, shown(entry.path))]

        return {**self.git_object("Tree", entry.oid), "entries": entries}

    def _holder(self, entry: Entry) -> str:
        trees = self.world.store.trees
        return next(commit for commit, tree in trees.items() if tree.get(entry.path) == entry)

    def tree_entry(self, entry: Entry) -> Json:
        return {
            "mode": int(entry.mode, 8),
            "name": entry.name,
            "nameRaw": base64.b64encode(entry.path.rpartition(b"/")[2]).decode(),
            "path": shown(entry.path),
            "pathRaw": base64.b64encode(entry.path).decode(),
            "extension": "." + entry.name.rpartition(".")[2] if "." in entry.name else "",
            "isGenerated": False,
            "lineCount": None,
            "size": entry.size,
            "type": entry.type,
            "oid": entry.oid,
            "object": lambda _: self.at(entry),
            "repository": lambda _: self.repository_named(self.world.repository),
        }

    def commit(self, oid: str) -> Json:
        store = self.world.store
        facts = store.facts(oid)

        def file(_: Any, path: str) -> Json:
            entry = store.entry(oid, path)
            return None if entry is None else self.tree_entry(entry)

        def changed(_: Any) -> int | None:
            return len(store.diff(facts.parents[0], oid).changes) if facts.parents else None

        return {
            **self.git_object("Commit", oid),
            "changedFilesIfAvailable": changed,
            "committedDate": facts.date,
            "message": facts.message,
            "messageHeadline": facts.message.partition("\n")[0],
            "file": file,
            "tree": lambda _: self.tree(store.tree(oid)[b""], oid),
        }

    # Pull requests.

    def pull_request(self, _: Any, number: int) -> Json:
        self.need("pull-requests")
        pull = self.world.pulls.get(number)
        if pull is None:
            raise Declined("NOT_FOUND", f"Could not resolve to a PullRequest with the number of {number}.")
        closed = "MERGED" if pull.merged else "CLOSED"
        changes = self._changes(pull)
        head = pull.head_repository
        return {
            "id": node_id("PullRequest", pull.number),
            "databaseId": account_id(f"{self.world.repository}#{pull.number}"),
            "fullDatabaseId": str(account_id(f"{self.world.repository}#{pull.number}")),
            "number": pull.number,
            "title": pull.title,
            "body": pull.body or "",
            "state": "OPEN" if pull.state == "open" else closed,
            "locked": pull.locked,
            "isDraft": pull.draft,
            "isCrossRepository": head != self.world.repository,
            "author": self.actor(pull.author),
            "authorAssociation": pull.author_association,
            "baseRefName": pull.base_ref,
            "baseRefOid": pull.base_sha,
            "baseRepository": lambda _: self.repository_named(self.world.repository),
            "headRefName": pull.head_ref,
            "headRefOid": pull.head_sha,
            "headRepository": lambda _: None if head is None else self.repository_named(head),
            "additions": lambda _: sum(change.additions for change in changes()),
            "deletions": lambda _: sum(change.deletions for change in changes()),
            "changedFiles": lambda _: len(changes()),
            "comments": self._comments(pull),
            "files": self._files(pull),
        }

    def _changes(self, pull: Pull) -> Callable[[], Sequence[Change]]:
        return lambda: self.world.changes(pull)

    def _comments(self, pull: Pull) -> Callable[..., Json]:
        def resolve(_: Any, orderBy: Json = None, **bounds: Json) -> Json:  # noqa: N803 (the schema's name)
            found = self.world.seen_comments(pull.number)
            if orderBy is not None:
                down = orderBy["direction"] == "DESC"
                found = sorted(found, key=lambda comment: (comment.updated_at, comment.id), reverse=down)
            return connection([(f"comment:{one.id}", self.comment(one)) for one in found], **bounds)

        return resolve

    def _files(self, pull: Pull) -> Callable[..., Json]:
        def resolve(_: Any, **bounds: Json) -> Json:
            return connection([(f"file:{one.path}", _file(one)) for one in self.world.changes(pull)], **bounds)

        return resolve

    def comment(self, comment: Comment) -> Json:
        return {
            "id": node_id("IssueComment", comment.id),
            "databaseId": comment.id if comment.id < 2**31 else None,
            "fullDatabaseId": str(comment.id),
            "author": self.actor(comment.login),
            "authorAssociation": "NONE",
            "body": comment.body,
            "createdAt": comment.created_at,
            "updatedAt": comment.updated_at,
            "url": self.world.comment_page(comment),
            "isMinimized": comment.minimized is not None,
            "minimizedReason": comment.minimized,
            "viewerDidAuthor": comment.login == self.token.login,
            "viewerCanUpdate": self.token.may("write", "issues", "pull-requests"),
        }

    def actor(self, login: str) -> Json:
        """An account; an app's name comes without its suffix here."""
        bot = login.endswith("[bot]")
        short = login.removesuffix("[bot]")
        path = f"/apps/{short}" if bot else f"/{short}"
        return {
            "__typename": "Bot" if bot else "User",
            "id": node_id("Bot" if bot else "User", account_id(login)),
            "databaseId": account_id(login),
            "login": short,
            "avatarUrl": f"{self.world.server_url}/avatars/{account_id(login)}",
            "resourcePath": path,
            "url": f"{self.world.server_url}{path}",
        }


def _file(change: Change) -> Json:
    return {
        "path": change.path,
        "additions": change.additions,
        "deletions": change.deletions,
        "changeType": PATCH_STATUS[change.status],
        "viewerViewedState": "UNVIEWED",
    }


# Connections.


def connection(
    items: Sequence[tuple[str, Json]],
    first: int | None = None,
    last: int | None = None,
    after: str | None = None,
    before: str | None = None,
) -> Json:
    """The part of a list that was asked for; a cursor names an item, not a place."""
    if first is None and last is None:
        raise Declined(
            "MISSING_PAGINATION_BOUNDARIES", "You must provide a `first` or `last` value to properly paginate."
        )
    for count in (first, last):
        if count is not None and not 1 <= count <= 100:
            raise Declined(
                "EXCESSIVE_PAGINATION", f"Requesting {count} records exceeds the `first` limit of 100 records."
            )
    keys = [_cursor(key) for key, _ in items]
    start = _place(keys, after) + 1 if after is not None else 0
    end = _place(keys, before) if before is not None else len(items)
    if first is not None:
        end = min(end, start + first)
    if last is not None:
        start = max(start, end - last)
    edges = [{"cursor": _cursor(key), "node": node} for key, node in items[start:end]]
    return {
        "edges": edges,
        "nodes": [edge["node"] for edge in edges],
        "totalCount": len(items),
        "pageInfo": {
            "hasNextPage": end < len(items),
            "hasPreviousPage": start > 0,
            "startCursor": edges[0]["cursor"] if edges else None,
            "endCursor": edges[-1]["cursor"] if edges else None,
        },
    }


def _cursor(key: str) -> str:
    return base64.b64encode(f"cursor:v2:{key}".encode()).decode()


def _place(keys: list[str], cursor: str) -> int:
    if cursor not in keys:
        raise Declined("INVALID_CURSOR_ARGUMENTS", f"`{cursor}` does not appear to be a valid cursor.")
    return keys.index(cursor)
