"""What a fake GitHub knows: tokens, pull requests, comments, runs, artifacts. All may be changed at any time."""

import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

Level = Literal["none", "read", "write"]
TokenKind = Literal["actions", "app", "user", "fork"]
LEVELS: Final[tuple[Level, ...]] = ("none", "read", "write")
ACTIONS_BOT: Final = "github-actions[bot]"
# The ids GitHub gave these two; any other is made from the login.
KNOWN_IDS: Final = {ACTIONS_BOT: 41898282, "dependabot[bot]": 49699333}
START: Final = datetime(2026, 1, 1, tzinfo=UTC)


def account_id(login: str) -> int:
    """The number of an account: the same in every run."""
    return KNOWN_IDS.get(login, 1000 + zlib.crc32(login.encode()) % 10_000_000)


class Clock:
    """Makes a later time at each reading, a minute apart, without looking at the machine's."""

    def __init__(self) -> None:
        self._minutes = 0

    def __call__(self) -> str:
        self._minutes += 1
        return moment(START + timedelta(minutes=self._minutes))


def moment(time: datetime) -> str:
    """A time as GitHub writes it."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def days_later(text: str, days: int) -> str:
    """A time as GitHub writes it, some days after another."""
    return moment(datetime.fromisoformat(text) + timedelta(days=days))


@dataclass
class Token:
    """Who may do what. A permission that is not named is `none`; names are those of a workflow (`pull-requests`)."""

    value: str
    login: str = ACTIONS_BOT
    permissions: Mapping[str, Level] = field(default_factory=dict)
    kind: TokenKind = "actions"

    def may(self, level: Level, *permissions: str) -> bool:
        """Whether one of the permissions reaches a level: a fork's token reads and never writes."""
        if self.kind == "fork" and level == "write":
            return False
        return any(LEVELS.index(self.permissions.get(name, "none")) >= LEVELS.index(level) for name in permissions)

    @property
    def is_bot(self) -> bool:
        return self.kind != "user"


@dataclass
class Pull:
    """A pull request. `head_repository` is None where a fork was deleted."""

    number: int
    base_sha: str
    head_sha: str
    base_ref: str = "main"
    head_ref: str = "feature"
    head_repository: str | None = ""
    title: str = "A change"
    body: str | None = None
    author: str = "ada"
    author_association: str = "CONTRIBUTOR"
    state: Literal["open", "closed"] = "open"
    merged: bool = False
    locked: bool = False
    draft: bool = False
    created_at: str = ""
    updated_at: str = ""


@dataclass
class Comment:
    """A comment on a pull request. A list leaves it out for as many requests as `hidden_for` says."""

    id: int
    number: int
    login: str
    body: str
    created_at: str
    updated_at: str
    app: str | None = None
    minimized: str | None = None
    hidden_for: int = 0

    @property
    def is_bot(self) -> bool:
        return self.login.endswith("[bot]")


@dataclass
class Run:
    """A run of a workflow; `pull_requests` are numbers, none for a fork's."""

    id: int
    path: str
    workflow_id: int
    head_sha: str
    name: str = "Brief"
    event: str = "pull_request"
    head_branch: str | None = "feature"
    head_repository: str | None = ""
    status: str = "completed"
    conclusion: str | None = "success"
    run_number: int = 1
    run_attempt: int = 1
    actor: str = "ada"
    created_at: str = ""
    pull_requests: list[int] = field(default_factory=list)


@dataclass
class Artifact:
    """An artifact of a run.

    `expired` is what the lists say; `gone` makes its download answer 410 all the same, `missing` 404.
    """

    id: int
    name: str
    run_id: int
    data: bytes
    created_at: str
    expired: bool = False
    gone: bool = False
    missing: bool = False
    digest: str | None = None
    size: int | None = None
    content_type: str = "application/zip"

    def __post_init__(self) -> None:
        if self.digest is None:
            self.digest = "sha256:" + hashlib.sha256(self.data).hexdigest()


@dataclass
class Limits:
    """GitHub's limits; tests make them small."""

    diff_lines: int = 20_000
    diff_bytes: int = 1_000_000
    diff_files: int = 300
    file_lines: int = 20_000
    file_bytes: int = 500_000
    files: int = 3_000
    compare_files: int = 300
    compare_commits: int = 250
    page: int = 100
    comment: int = 65_536
    contents_json: int = 1_048_576
    contents_raw: int = 104_857_600
    folder: int = 1_000
    text: int = 512_000
    # What a GraphQL query may alias before the server's time is over; None: anything.
    aliases: int | None = None
    rest_requests: int = 1_000
    graphql_points: int = 1_000
