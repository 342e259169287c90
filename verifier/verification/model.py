"""The pass's own words: candidate, excerpt, status, claim of a reader, verdict. Frozen data, no behaviour."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, Protocol

from verifier.diff import Diff

Pool = Literal["fact", "hunk", "check"]
Status = Literal["new", "pre-existing", "unknown"]
Action = Literal["keep", "downgrade", "drop"]
DropClass = Literal["docs", "tests", "fixtures", "generated", "formatting"]
Dismissal = Literal["wrong", "intentional", "ignored", "useful"]
Decider = Literal["model", "memory", "guard", "nobody"]

CAUTION: Final[tuple[Action, ...]] = ("keep", "downgrade", "drop")
DROP_CLASSES: Final[tuple[DropClass, ...]] = ("docs", "tests", "fixtures", "generated", "formatting")

EXCERPT_LIMIT: Final = 2000


class Row(NamedTuple):
    """One line of an excerpt: the side and number it is looked up by (0 for a line without one), and its text.

    The text is as it is shown: one line, every control and invisible character spelt out (S36).
    """

    side: Literal["new", "old", ""]
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The lines an item rests on (S3). `file` is the path they are cited by, `whole` whether nothing was cut."""

    file: str
    rows: tuple[Row, ...]
    whole: bool
    old_file: str | None = None


@dataclass(frozen=True, slots=True)
class Partner:
    """The partner file of a `coupling.missing` fact at base (S4). `rows` is None where it could not be read."""

    file: str
    found: bool
    rows: tuple[Row, ...] | None = None
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Proof:
    """What the rules prove of an item: a drop class, and the shown line that shows it (S14)."""

    drop_class: DropClass
    file: str
    line: int
    why: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """One item of the brief, with what the reader sees of it. `number` is its block's, None where it is not sent.

    Kind, claim, excerpt and partner are as they are shown (S7).
    """

    id: str
    pool: Pool
    kind: str
    file: str
    line: int | None
    claim: str
    status: Status
    excerpt: Excerpt | None
    partner: Partner | None = None
    proofs: tuple[Proof, ...] = ()
    detector: str | None = None
    hash: str | None = None
    dismissal: Dismissal | None = None
    number: int | None = None


class Missing:
    """There is no such file at base."""


class Unreadable:
    """There is such a file, and its text cannot be had: binary, too large, not UTF-8, no file."""


MISSING: Final = Missing()
UNREADABLE: Final = Unreadable()
BaseText = str | Missing | Unreadable


class Evidence(Protocol):
    """Where hunks and base texts come from. Base is the merge base, what the diff was made against (S10)."""

    def diff(self) -> Diff: ...

    def base_texts(self, paths: frozenset[str]) -> Mapping[str, BaseText]: ...


@dataclass(frozen=True, slots=True)
class Settings:
    """What the pass is configured to do (section 9)."""

    enabled: bool = False
    provider: str = "anthropic"
    model: str = "claude-sonnet-5-5"
    effort: str = "low"
    max_tokens: int = 40000
    timeout_seconds: float = 120
    strict_drops: bool = False


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request: the fixed system prompt and schema, their hash, and the message with the blocks (S33)."""

    system: str
    schema: str
    message: str
    hash: str
    blocks: int


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, cached input included."""

    input: int
    output: int


@dataclass(frozen=True, slots=True)
class Reply:
    """What a reader answered: its text, the model that answered, the tokens where they are known."""

    text: str
    model: str
    usage: Usage | None


@dataclass(frozen=True, slots=True)
class Failed:
    """A call that gave no reply, and why; tokens that were spent all the same (S24); whether it was made at all."""

    reason: str
    model: str | None = None
    usage: Usage | None = None
    asked: bool = True


class ReaderError(Exception):
    """A reader could not answer. The message is a sentence that says what failed and what to do."""

    def __init__(
        self, reason: str, *, model: str | None = None, usage: Usage | None = None, asked: bool = True
    ) -> None:
        super().__init__(reason)
        self.failed = Failed(reason, model, usage, asked)


class WrongQuestion(Exception):
    """A reader was asked what it cannot answer for: a wrong input, not a failure of the pass. The message says why."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a reader is asked: the prompt, the candidates it shows (by number), and how to ask."""

    prompt: Prompt
    candidates: tuple[Candidate, ...]
    settings: Settings


Reader = Callable[[Question], Reply]


class Citation(NamedTuple):
    """A file and a line of it, on the side where it is shown."""

    file: str
    line: int
    side: Literal["new", "old"] | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """One entry of a reply, its form checked and nothing else."""

    n: int
    kind: str
    place: str
    reason: str
    citation: Citation | None
    drop_class: DropClass | None
    action: Action
    status: Literal["new", "pre-existing"] | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one candidate (S19). `said` is what the model had said where a guard re-labelled it."""

    id: str
    action: Action | Literal["unverified"]
    status: Status
    by: Decider
    reason: str | None = None
    drop_class: DropClass | None = None
    citation: Citation | None = None
    confirmed: bool | None = None
    said: Said | None = None
    guard: str | None = None
    dismissal: Dismissal | None = None
    detector: str | None = None
    file: str | None = None
    hash: str | None = None


@dataclass(frozen=True, slots=True)
class Ignored:
    """An entry of the reply that decides nothing, and why (S6, S7)."""

    n: int
    why: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the pass came to: status, reason, every verdict, and what the call was."""

    status: Literal["verified", "skipped", "failed"]
    reason: str | None
    verdicts: tuple[Verdict, ...]
    ignored: tuple[Ignored, ...] = ()
    called: bool = False
    answered_by: str | None = None
    usage: Usage | None = None
    edited: tuple[str, ...] = field(default=())
