"""What a brief is: the fields that are read. All others are carried through unread (B1, B2)."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr, StringConstraints
from pydantic.alias_generators import to_camel

Name = Annotated[str, StringConstraints(strict=True, min_length=1)]
Commit = Annotated[str, StringConstraints(strict=True, pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})$")]
Line = Annotated[int, Field(strict=True, ge=1)]
Weight = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]


class Model(BaseModel):
    """A frozen model whose unknown fields are ignored, not lost: the writer works on the source text."""

    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel)


class Fact(Model):
    """A captain fact: what a detector found."""

    id: Annotated[Name, Field(description="The detector that found it, such as contract.api")]
    file: Annotated[Name, Field(description="The path that it is about, as the diff has it")]
    line: Annotated[Line | None, Field(description="On the new side, else on the old; absent: the whole file")] = None
    strength: Annotated[Literal["strong", "info"], Field(description="How sure the detector is")]
    text: Annotated[StrictStr, Field(description="The claim; with detector and file it is what the memory knows it by")]
    short: Annotated[StrictStr | None, Field(description="The claim for the why, where that is rebuilt")] = None
    partner: Annotated[
        Name | None,
        Field(description="The file that usually changes along; read where the detector is coupling.missing"),
    ] = None


class Hunk(Model):
    """A hunk to review first; `line` is its first line on the new side (0 where that side is empty)."""

    line: Annotated[int, Field(strict=True, ge=0)]
    weight: Annotated[Weight | None, Field(description="How much it counts toward its file; absent: 1")] = None
    reason: Annotated[StrictStr, Field(description="Why it should be read first")] = ""


class ReviewFile(Model):
    """A file under `reviewFirst` and its hunks."""

    file: Name
    hunks: list[Hunk]


class Check(Model):
    """A question that a reviewer should answer."""

    file: Name
    line: Line | None = None
    text: StrictStr


class Captain(Model):
    """The captain facts, why they matter, and the priority that came with them."""

    priority: Annotated[Any, Field(description="Carried through; `quick confirm` alone is looked for")] = None
    why: Annotated[StrictStr | None, Field(description="The facts that matter most, in one line")] = None
    facts: list[Fact]


class BriefModel(Model):
    """A brief as the deterministic tool writes it."""

    version: Annotated[int, Field(strict=True, ge=1, le=1)] = 1
    repository: StrictStr | None = None
    pull_request: StrictInt | None = None
    base: Commit | None = None
    head: Commit | None = None
    score: Any = None
    tier: Any = None
    policy: Any = None
    captain: Captain
    review_first: list[ReviewFile]
    checks: list[Check]
    risky_snippets: Annotated[Any, Field(alias="risky_snippets")] = None
    notes: list[StrictStr] = []
