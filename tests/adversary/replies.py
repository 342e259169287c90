"""What a model may answer."""

from typing import Any, Final

from tests.adversary.case import Case, Family
from tests.command import answers, says
from tests.servers.model import ok


def _drops(number: int, kind: str, place: str) -> dict[str, Any]:
    cited = {"file": "README.md", "line": 5} if place.startswith("README.md") else None
    return says("drop", **{"class": "docs", "reason": "@ada closes #1 <b>", "citation": cited})


REPLIES: Final = Family(
    "model replies",
    "a drop that needs no citation of its own",
    (
        Case(
            "everything dropped, one with evidence",
            answer=ok(answers(_drops)),
            shown=["1 dropped: hunk:README.md:1 (docs)"],
        ),
    ),
)
