"""The fake GitHub's state as its endpoints see it: what there is, the knobs, and the shapes GitHub gives to things."""

import json
import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Final, Literal
from urllib.parse import quote

from tests.repos import Repo
from tests.servers.github_git import Change, GitStore
from tests.servers.github_schema import example
from tests.servers.github_state import (
    ACTIONS_BOT,
    Artifact,
    Clock,
    Comment,
    Level,
    Limits,
    Pull,
    Run,
    Token,
    TokenKind,
    account_id,
    days_later,
)

Json = Any
WRITER: Final[Mapping[str, Level]] = {"contents": "read", "actions": "read", "pull-requests": "write"}


class World:
    """Everything there is on this GitHub. Tests change it as they please, between requests or in a hook."""

    def __init__(self, repo: Repo, repository: str) -> None:
        self.repo = repo
        self.store = GitStore(repo)
        self.repository = repository
        self.default_branch = "main"
        self.server_url = ""
        self.api_url = ""
        self.blob_url = ""
        self.clock = Clock()
        self.limits = Limits()
        self.tokens: dict[str, Token] = {}
        self.pulls: dict[int, Pull] = {}
        self.comments: dict[int, Comment] = {}
        self.runs: dict[int, Run] = {}
        self.artifacts: dict[int, Artifact] = {}
        self.workflows: dict[str, int] = {}
        # Signatures of the blob host: the artifact each is for; one that was used or has expired is not here.
        self.signatures: dict[str, int] = {}
        self.signed = 0
        self.rest_used = 0
        self.graphql_used = 0
        self._repositories: dict[tuple[str, str, str], Json] = {}
        # Knobs: what this server does otherwise than described, and all of it has been seen somewhere.
        self.ignore_filters = False
        self.drop_total_count = False
        self.fixed_page_size: int | None = None
        self.artifacts_ascending = False
        self.fork_commits_listed = False
        self.missing_read_status: Literal[403, 404] = 404
        self.hide_new_comments_for = 0
        self.without_patch: set[str] = set()
        self.blob_overrides: dict[str, Mapping[str, Json]] = {}
        self.token = self.add_token("ghs_fake0writer").value

    # Builders.

    def add_token(
        self,
        value: str,
        *,
        kind: TokenKind = "actions",
        login: str = "",
        permissions: Mapping[str, Level] | None = None,
        **more: Level,
    ) -> Token:
        """A token that is let in. Permissions by name, in words of Python (`pull_requests="write"`); the usual ones if
        none are named, and none at all for `permissions={}`."""
        names = {"actions": ACTIONS_BOT, "fork": ACTIONS_BOT, "app": "my-app[bot]", "user": "ada"}
        named = {**(permissions or {}), **more} if more or permissions is not None else WRITER
        allowed = {name.replace("_", "-"): level for name, level in named.items()}
        self.tokens[value] = Token(value, login or names[kind], allowed, kind)
        return self.tokens[value]

    def add_pull(
        self,
        base: str,
        head: str,
        *,
        number: int | None = None,
        head_repository: str | None = "",
        **fields: Any,
    ) -> Pull:
        """A pull request from the commit `head` onto the commit `base`; the head is of this repository if not said."""
        chosen = number or max([41, *self.pulls]) + 1
        where = self.repository if head_repository == "" else head_repository
        at = self.clock()
        fields = {"created_at": at, "updated_at": at, **fields}
        self.pulls[chosen] = Pull(chosen, self._commit(base), self._commit(head), head_repository=where, **fields)
        return self.pulls[chosen]

    def push(self, pull: Pull | int, head: str) -> None:
        """A new head for a pull request, by force or not."""
        found = self.pulls[pull] if isinstance(pull, int) else pull
        found.head_sha = self._commit(head)
        found.updated_at = self.clock()

    def add_run(self, head: str | Pull, *, path: str = ".github/workflows/brief.yml", **fields: Any) -> Run:
        """A run for a commit, or for a pull request's head as things stand."""
        if isinstance(head, Pull):
            same = head.head_repository == self.repository
            fields = {
                "head_branch": head.head_ref,
                "head_repository": head.head_repository,
                # GitHub leaves the list empty for a fork's run.
                "pull_requests": [head.number] if same and head.state == "open" else [],
                "actor": head.author,
                **fields,
            }
            head = head.head_sha
        chosen = fields.pop("id", None) or max([5000, *self.runs]) + 1
        fields = {
            "head_repository": self.repository,
            "created_at": self.clock(),
            "run_number": len(self.runs) + 1,
            **fields,
        }
        self.runs[chosen] = Run(chosen, path, self.workflow_id(path), head, **fields)
        return self.runs[chosen]

    def add_artifact(self, run: Run | int, data: bytes, *, name: str = "opendrs-brief", **fields: Any) -> Artifact:
        """An artifact of a run: `data` is the whole zip."""
        chosen = fields.pop("id", None) or max([9000, *self.artifacts]) + 1
        run_id = run.id if isinstance(run, Run) else run
        fields = {"created_at": self.clock(), **fields}
        self.artifacts[chosen] = Artifact(chosen, name, run_id, data, **fields)
        return self.artifacts[chosen]

    def add_comment(self, pull: Pull | int, body: str, *, login: str = "eve", **fields: Any) -> Comment:
        """A comment; a login that ends in `[bot]` is an app's."""
        number = pull.number if isinstance(pull, Pull) else pull
        chosen = fields.pop("id", None) or max([70_000, *self.comments]) + 1
        at = self.clock()
        app = login.removesuffix("[bot]") if login.endswith("[bot]") else None
        fields = {"created_at": at, "updated_at": at, "app": app, **fields}
        self.comments[chosen] = Comment(chosen, number, login, body, **fields)
        return self.comments[chosen]

    def comments_on(self, pull: Pull | int) -> list[Comment]:
        """The comments of a pull request, hidden ones too, by id."""
        number = pull.number if isinstance(pull, Pull) else pull
        return [self.comments[key] for key in sorted(self.comments) if self.comments[key].number == number]

    def seen_comments(self, number: int) -> list[Comment]:
        """What a list shows: a comment that is still hidden comes one request nearer to being seen."""
        shown = []
        for comment in self.comments_on(number):
            if comment.hidden_for:
                comment.hidden_for -= 1
            else:
                shown.append(comment)
        return shown

    def workflow_id(self, path: str) -> int:
        """The number of a workflow file."""
        return self.workflows.setdefault(path.partition("@")[0], 159_000 + len(self.workflows))

    def expire_signatures(self) -> None:
        """No address that was given out so far is good any more."""
        self.signatures.clear()

    def _commit(self, revision: str) -> str:
        found = self.store.commit_id(revision)
        assert found is not None, f"no commit {revision}"
        return found

    # Addresses.

    @property
    def repository_url(self) -> str:
        return f"{self.api_url}/repos/{self.repository}"

    @property
    def page_url(self) -> str:
        return f"{self.server_url}/{self.repository}"

    @property
    def repository_id(self) -> int:
        return account_id(self.repository)

    # Diffs.

    def pull_base(self, pull: Pull) -> str:
        """The commit a pull request's diff is made against."""
        found = self.store.merge_base(pull.base_sha, pull.head_sha)
        assert found is not None, f"#{pull.number}: base and head have nothing in common"
        return found

    def changes(self, pull: Pull) -> tuple[Change, ...]:
        """The files of a pull request, as far as GitHub goes."""
        return self.store.diff(self.pull_base(pull), pull.head_sha).changes[: self.limits.files]

    def diff_entry(self, change: Change, head: str, base: str) -> Json:
        """A file of a diff."""
        path = quote(change.path)
        at = base if change.status == "removed" else head
        made = {
            "sha": change.oid,
            "filename": change.path,
            "status": change.status,
            "additions": change.additions,
            "deletions": change.deletions,
            "changes": change.additions + change.deletions,
            "blob_url": f"{self.page_url}/blob/{at}/{path}",
            "raw_url": f"{self.page_url}/raw/{at}/{path}",
            "contents_url": f"{self.repository_url}/contents/{path}?ref={at}",
        }
        if self._has_patch(change):
            made["patch"] = change.patch
        if change.old_path is not None:
            made["previous_filename"] = change.old_path
        return made

    def _has_patch(self, change: Change) -> bool:
        if not change.patch or change.path in self.without_patch:
            return False
        short = change.patch.count("\n") < self.limits.file_lines
        return short and len(change.patch.encode()) <= self.limits.file_bytes

    # Shapes.

    def user(self, login: str) -> Json:
        """An account."""
        bot = login.endswith("[bot]")
        url = f"{self.api_url}/users/{quote(login)}"
        lists = {name: f"{url}/{name}" for name in ("followers", "subscriptions", "repos", "received_events")}
        return {
            "login": login,
            "id": account_id(login),
            "node_id": node_id("Bot" if bot else "User", account_id(login)),
            "avatar_url": f"{self.server_url}/avatars/{account_id(login)}",
            "gravatar_id": "",
            "url": url,
            "html_url": f"{self.server_url}/{'apps/' if bot else ''}{login.removesuffix('[bot]')}",
            **{f"{name}_url": address for name, address in lists.items()},
            "organizations_url": f"{url}/orgs",
            "following_url": f"{url}/following{{/other_user}}",
            "gists_url": f"{url}/gists{{/gist_id}}",
            "starred_url": f"{url}/starred{{/owner}}{{/repo}}",
            "events_url": f"{url}/events{{/privacy}}",
            "type": "Bot" if bot else "User",
            "site_admin": False,
        }

    def full_repository(self, name: str) -> Json:
        """A repository as a pull request shows it."""
        return self._repository("full", name)

    def minimal_repository(self, name: str) -> Json:
        """A repository as a run shows it."""
        return self._repository("minimal", name)

    @cached_property
    def _templates(self) -> dict[str, str]:
        full = example("pull-request")["base"]["repo"]
        del full["temp_clone_token"]
        return {"full": json.dumps(full), "minimal": json.dumps(example("workflow-run")["repository"])}

    def _repository(self, kind: str, name: str) -> Json:
        # Made once: it stands twice in every pull request of a list.
        key = (kind, name, self.default_branch)
        if key not in self._repositories:
            self._repositories[key] = self._filled(self._templates[kind], name)
        return self._repositories[key]

    def _filled(self, template: str, name: str) -> Json:
        filled = template.replace("octocat/Hello-World", name)
        filled = filled.replace("https://api.github.com", self.api_url).replace("https://github.com", self.server_url)
        made = json.loads(filled)
        owner, _, short = name.partition("/")
        number = account_id(name)
        made |= {"id": number, "node_id": node_id("Repository", number), "name": short, "full_name": name}
        made |= {"owner": self.user(owner), "private": True, "fork": name != self.repository}
        if "default_branch" in made:
            made["default_branch"] = self.default_branch
        return made

    def pull(self, pull: Pull, *, simple: bool = False) -> Json:
        """A pull request, in a list (`simple`) or alone."""
        url = f"{self.repository_url}/pulls/{pull.number}"
        issue = f"{self.repository_url}/issues/{pull.number}"
        page = f"{self.page_url}/pull/{pull.number}"
        statuses = f"{self.repository_url}/statuses/{pull.head_sha}"
        closed = None if pull.state == "open" else pull.updated_at
        links = {
            "self": url,
            "html": page,
            "issue": issue,
            "comments": f"{issue}/comments",
            "review_comments": f"{url}/comments",
            "review_comment": f"{self.repository_url}/pulls/comments{{/number}}",
            "commits": f"{url}/commits",
            "statuses": statuses,
        }
        made = {
            "url": url,
            "id": account_id(f"{self.repository}#{pull.number}"),
            "node_id": node_id("PullRequest", pull.number),
            "html_url": page,
            "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch",
            "issue_url": issue,
            "commits_url": links["commits"],
            "review_comments_url": links["review_comments"],
            "review_comment_url": links["review_comment"],
            "comments_url": links["comments"],
            "statuses_url": statuses,
            "number": pull.number,
            "state": pull.state,
            "locked": pull.locked,
            "title": pull.title,
            "user": self.user(pull.author),
            "body": pull.body,
            "labels": [],
            "milestone": None,
            "active_lock_reason": None,
            "created_at": pull.created_at,
            "updated_at": pull.updated_at,
            "closed_at": closed,
            "merged_at": closed if pull.merged else None,
            "merge_commit_sha": None,
            "assignee": None,
            "assignees": [],
            "requested_reviewers": [],
            "requested_teams": [],
            "head": self._side(pull.head_repository, pull.head_ref, pull.head_sha, pull.author),
            "base": self._side(self.repository, pull.base_ref, pull.base_sha, pull.author),
            "_links": {name: {"href": address} for name, address in links.items()},
            "author_association": pull.author_association,
            "auto_merge": None,
            "draft": pull.draft,
        }
        if not simple:
            changes = self.changes(pull)
            made |= {
                "merged": pull.merged,
                "mergeable": True,
                "rebaseable": True,
                "mergeable_state": "clean",
                "merged_by": None,
                "comments": len(self.comments_on(pull)),
                "review_comments": 0,
                "maintainer_can_modify": False,
                "commits": len(self.store.commits(self.pull_base(pull), pull.head_sha)),
                "additions": sum(change.additions for change in changes),
                "deletions": sum(change.deletions for change in changes),
                "changed_files": len(changes),
            }
        return made

    def _side(self, repository: str | None, ref: str, sha: str, author: str) -> Json:
        owner = author if repository is None else repository.partition("/")[0]
        repo = None if repository is None else self.full_repository(repository)
        return {"label": f"{owner}:{ref}", "ref": ref, "sha": sha, "user": self.user(owner), "repo": repo}

    def pull_minimal(self, pull: Pull) -> Json:
        """A pull request as a run names it."""
        head = pull.head_repository or self.repository
        return {
            "id": account_id(f"{self.repository}#{pull.number}"),
            "number": pull.number,
            "url": f"{self.repository_url}/pulls/{pull.number}",
            "head": {"ref": pull.head_ref, "sha": pull.head_sha, "repo": self._repository_name(head)},
            "base": {"ref": pull.base_ref, "sha": pull.base_sha, "repo": self._repository_name(self.repository)},
        }

    def _repository_name(self, name: str) -> Json:
        return {"id": account_id(name), "url": f"{self.api_url}/repos/{name}", "name": name.partition("/")[2]}

    def run(self, run: Run, *, with_pulls: bool = True) -> Json:
        """A run of a workflow."""
        url = f"{self.repository_url}/actions/runs/{run.id}"
        commit = None
        if self.store.commit_id(run.head_sha):
            facts = self.store.facts(run.head_sha)
            person = {"name": facts.name, "email": facts.email}
            commit = {
                "id": run.head_sha,
                "tree_id": facts.tree,
                "message": facts.message,
                "timestamp": facts.date,
                "author": person,
                "committer": person,
            }
        head = run.head_repository
        pulls = [self.pull_minimal(self.pulls[number]) for number in run.pull_requests] if with_pulls else []
        attempt = run.run_attempt - 1
        return {
            "id": run.id,
            "name": run.name,
            "node_id": node_id("WorkflowRun", run.id),
            "check_suite_id": run.id + 1,
            "check_suite_node_id": node_id("CheckSuite", run.id + 1),
            "head_branch": run.head_branch,
            "head_sha": run.head_sha,
            "path": run.path,
            "display_title": run.name,
            "run_number": run.run_number,
            "run_attempt": run.run_attempt,
            "event": run.event,
            "status": run.status,
            "conclusion": run.conclusion,
            "workflow_id": run.workflow_id,
            "url": url,
            "html_url": f"{self.page_url}/actions/runs/{run.id}",
            "pull_requests": pulls,
            "created_at": run.created_at,
            "updated_at": run.created_at,
            "run_started_at": run.created_at,
            "actor": self.user(run.actor),
            "triggering_actor": self.user(run.actor),
            "referenced_workflows": [],
            "jobs_url": f"{url}/jobs",
            "logs_url": f"{url}/logs",
            "check_suite_url": f"{self.repository_url}/check-suites/{run.id + 1}",
            "artifacts_url": f"{url}/artifacts",
            "cancel_url": f"{url}/cancel",
            "rerun_url": f"{url}/rerun",
            "previous_attempt_url": f"{url}/attempts/{attempt}" if attempt else None,
            "workflow_url": f"{self.repository_url}/actions/workflows/{run.workflow_id}",
            "head_commit": commit,
            "repository": self.minimal_repository(self.repository),
            "head_repository": None if head is None else self.minimal_repository(head),
        }

    def artifact(self, artifact: Artifact) -> Json:
        """An artifact."""
        url = f"{self.repository_url}/actions/artifacts/{artifact.id}"
        run = self.runs.get(artifact.run_id)
        source = None
        if run is not None:
            source = {
                "id": run.id,
                "repository_id": self.repository_id,
                "head_repository_id": account_id(run.head_repository or self.repository),
                "head_branch": run.head_branch or "",
                "head_sha": run.head_sha,
            }
        return {
            "id": artifact.id,
            "node_id": node_id("Artifact", artifact.id),
            "name": artifact.name,
            "size_in_bytes": len(artifact.data) if artifact.size is None else artifact.size,
            "url": url,
            "archive_download_url": f"{url}/zip",
            "expired": artifact.expired,
            "created_at": artifact.created_at,
            "updated_at": artifact.created_at,
            "expires_at": days_later(artifact.created_at, 90),
            "digest": artifact.digest or None,
            "workflow_run": source,
        }

    def comment(self, comment: Comment) -> Json:
        """A comment."""
        url = f"{self.repository_url}/issues/comments/{comment.id}"
        return {
            "id": comment.id,
            "node_id": node_id("IssueComment", comment.id),
            "url": url,
            "html_url": self.comment_page(comment),
            "issue_url": f"{self.repository_url}/issues/{comment.number}",
            "body": comment.body,
            "user": self.user(comment.login),
            "created_at": comment.created_at,
            "updated_at": comment.updated_at,
            "author_association": "NONE",
            "performed_via_github_app": None if comment.app is None else self.app(comment.app),
            "reactions": {
                "url": f"{url}/reactions",
                "total_count": 0,
                **dict.fromkeys(("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes"), 0),
            },
            "minimized": None if comment.minimized is None else {"reason": comment.minimized},
        }

    def comment_page(self, comment: Comment) -> str:
        """Where a reader finds a comment."""
        return f"{self.page_url}/pull/{comment.number}#issuecomment-{comment.id}"

    def app(self, slug: str) -> Json:
        """A GitHub App."""
        return {
            "id": account_id(f"app:{slug}"),
            "slug": slug,
            "node_id": node_id("App", account_id(f"app:{slug}")),
            "owner": self.user("github"),
            "name": slug,
            "description": "",
            "external_url": f"{self.server_url}/apps/{slug}",
            "html_url": f"{self.server_url}/apps/{slug}",
            "created_at": "2018-07-30T09:30:17Z",
            "updated_at": "2019-12-10T19:04:12Z",
            "permissions": {"issues": "write", "metadata": "read"},
            "events": [],
        }

    def commit(self, oid: str) -> Json:
        """A commit."""
        facts = self.store.facts(oid)
        url = f"{self.repository_url}/commits/{oid}"
        person = {"name": facts.name, "email": facts.email, "date": facts.date}
        git = f"{self.repository_url}/git"
        return {
            "url": url,
            "sha": oid,
            "node_id": node_id("Commit", account_id(oid)),
            "html_url": f"{self.page_url}/commit/{oid}",
            "comments_url": f"{url}/comments",
            "commit": {
                "url": f"{git}/commits/{oid}",
                "author": person,
                "committer": person,
                "message": facts.message,
                "comment_count": 0,
                "tree": {"sha": facts.tree, "url": f"{git}/trees/{facts.tree}"},
            },
            "author": None,
            "committer": None,
            "parents": [
                {
                    "sha": parent,
                    "url": f"{self.repository_url}/commits/{parent}",
                    "html_url": f"{self.page_url}/commit/{parent}",
                }
                for parent in facts.parents
            ],
        }

    # Revisions.

    def revision(self, text: str) -> str | None:
        """The commit that a revision in an address names: an id, a branch, a pull request's head, `owner:branch`."""
        numbered = re.fullmatch(r"refs/pull/(\d+)/head", text)
        if numbered:
            pull = self.pulls.get(int(numbered[1]))
            return None if pull is None else pull.head_sha
        owner, colon, ref = text.rpartition(":")
        if not colon:
            return self.store.commit_id(text)
        owner = owner.partition(":")[0]
        if owner == self.repository.partition("/")[0]:
            return self.store.commit_id(ref)
        heads = (pull.head_sha for pull in self.pulls.values() if (head_owner(pull), pull.head_ref) == (owner, ref))
        return next(heads, None)


def head_owner(pull: Pull) -> str:
    """Whose repository a pull request comes from."""
    return (pull.head_repository or "").partition("/")[0]


def node_id(kind: str, number: int) -> str:
    """An id of GraphQL's, which says nothing to anyone."""
    return f"{re.sub('[a-z]', '', kind)}_{kind}{number:x}"


def without(fields: Mapping[str, Json], names: Iterable[str]) -> Json:
    """A mapping without some of its fields."""
    dropped = set(names)
    return {name: value for name, value in fields.items() if name not in dropped}
