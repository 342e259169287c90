"""What the tests of the pass are made of: briefs, diffs, evidence in memory, readers that answer from a function."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from hypothesis import HealthCheck, settings

from verifier.brief.document import Brief, read_brief
from verifier.diff import Diff, parse_diff
from verifier.verification.candidates import find_candidates
from verifier.verification.model import (
    MISSING,
    BaseText,
    Candidate,
    Dismissal,
    Question,
    Reader,
    Reply,
    Settings,
    Usage,
)
from verifier.verification.prompt import shown_place
from verifier.verification.verify import Verified, verify

Json = dict[str, Any]
Answer = Callable[[Candidate], Json | None]

ON: Final = Settings(enabled=True)

# For properties: a slow machine is no failure.
patient: Final = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


# Briefs.


def fact(detector: str, file: str, line: int | None = None, **more: Any) -> Json:
    """A captain fact; info unless told otherwise."""
    return {"id": detector, "file": file, **_placed(line), "strength": "info", "text": f"{detector} in {file}", **more}


def file(path: str, *hunks: Json) -> Json:
    """A file under `reviewFirst`."""
    return {"file": path, "hunks": list(hunks)}


def item(line: int, reason: str = "look here", **more: Any) -> Json:
    """A hunk to review first."""
    return {"line": line, "reason": reason, **more}


def check(path: str, line: int | None = None, text: str = "Is it tested?") -> Json:
    """A question to a reviewer."""
    return {"file": path, **_placed(line), "text": text}


def _placed(line: int | None) -> Json:
    return {} if line is None else {"line": line}


def brief(
    facts: Sequence[Json] = (), files: Sequence[Json] = (), checks: Sequence[Json] = (), **captain_and_top: Any
) -> Brief:
    """A brief, read as any other. `why` and `priority` go to the captain, other fields to the top."""
    captain: Json = {name: captain_and_top.pop(name) for name in ("priority", "why") if name in captain_and_top}
    captain["facts"] = list(facts)
    document = {**captain_and_top, "captain": captain, "reviewFirst": list(files), "checks": list(checks)}
    return read_brief(json.dumps(document).encode())


# Diffs.


def hunk(*lines: str, old: int = 1, new: int = 1, context: str = "") -> str:
    """A hunk of the given lines, each with its sign; its header counts them."""
    before = sum(line[:1] in (" ", "-") for line in lines)
    after = sum(line[:1] in (" ", "+") for line in lines)
    return "\n".join((f"@@ -{old},{before} +{new},{after} @@{context}", *lines)) + "\n"


def modified(path: str, *hunks: str) -> str:
    """A changed file, as git writes it."""
    return f"diff --git a/{path} b/{path}\nindex 1..2 100644\n--- a/{path}\n+++ b/{path}\n{''.join(hunks)}"


def created(path: str, *hunks: str) -> str:
    """A new file."""
    return f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n{''.join(hunks)}"


def deleted(path: str, *hunks: str) -> str:
    """A file that is gone."""
    return f"diff --git a/{path} b/{path}\ndeleted file mode 100644\n--- a/{path}\n+++ /dev/null\n{''.join(hunks)}"


def renamed(old: str, new: str, *hunks: str) -> str:
    """A file that moved, changed or not."""
    shown = f"--- a/{old}\n+++ b/{new}\n{''.join(hunks)}" if hunks else ""
    return f"diff --git a/{old} b/{new}\nsimilarity index 90%\nrename from {old}\nrename to {new}\n{shown}"


def diff(*files: str) -> Diff:
    """The diff of those files."""
    return parse_diff("".join(files).encode())


@dataclass
class Held:
    """Evidence in memory. `asked` keeps which base texts were wanted."""

    changes: Diff
    bases: Mapping[str, BaseText] = field(default_factory=dict)
    asked: list[frozenset[str]] = field(default_factory=list)

    def diff(self) -> Diff:
        """The changes."""
        return self.changes

    def base_texts(self, paths: frozenset[str]) -> Mapping[str, BaseText]:
        """The texts of those paths; what is not held is not there."""
        self.asked.append(paths)
        return {path: self.bases.get(path, MISSING) for path in paths}


# Replies.


def entry(candidate: Candidate, action: str = "keep", **more: Any) -> Json:
    """A well-formed entry of a reply for `candidate`."""
    return {
        "n": candidate.number,
        "kind": candidate.kind,
        "place": shown_place(candidate),
        "reason": "because",
        "citation": None,
        "action": action,
        "class": None,
        "status": None,
        **more,
    }


def cited(candidate: Candidate) -> Json:
    """A valid citation: the first numbered line that the candidate's block shows."""
    if candidate.excerpt:
        return {
            "file": candidate.excerpt.file,
            "line": next(row.number for row in candidate.excerpt.rows if row.side),
        }
    assert candidate.partner
    assert candidate.partner.rows
    return {"file": candidate.partner.file, "line": candidate.partner.rows[0].number}


def keep(candidate: Candidate) -> Json:
    """Keep, without more."""
    return entry(candidate)


def silent(_: Candidate) -> None:
    """No answer for anything."""


def drop(candidate: Candidate) -> Json:
    """A drop that no guard touches."""
    return entry(candidate, "drop", citation=cited(candidate), **{"class": "docs"})


def downgrade(candidate: Candidate) -> Json:
    """A downgrade that no guard touches."""
    return entry(candidate, "downgrade", citation=cited(candidate))


def by_id(actions: Mapping[str, Answer], otherwise: Answer = keep) -> Answer:
    """An answer that depends on the candidate's id."""
    return lambda candidate: actions.get(candidate.id, otherwise)(candidate)


def reply_text(entries: Iterable[Any]) -> str:
    """Entries as a reply."""
    return json.dumps({"verdicts": list(entries)}, ensure_ascii=False)


def saying(text: str, model: str = "claude-test") -> Reader:
    """A reader that says `text`, whatever it is asked."""
    return lambda _: Reply(text, model, Usage(1200, 34))


def reader(answer: Answer) -> Reader:
    """A reader that answers for each block it is shown; None says nothing of it."""

    def read(question: Question) -> Reply:
        shown = [candidate for candidate in question.candidates if candidate.number is not None]
        return Reply(reply_text(said for said in map(answer, shown) if said), "claude-test", Usage(1200, 34))

    return read


def unasked(question: Question) -> Reply:
    """A reader that must not be asked."""
    raise AssertionError(f"asked about {question.prompt.blocks} blocks")


# A whole pass.


def candidates(
    of: Brief,
    changes: Diff,
    bases: Mapping[str, BaseText] | None = None,
    dismissals: Mapping[str, Dismissal] | None = None,
) -> dict[str, Candidate]:
    """The candidates of a brief, by id."""
    return {found.id: found for found in find_candidates(of, changes, bases or {}, dismissals or {})}


def passed(
    of: Brief,
    changes: Diff,
    answer: Answer = keep,
    *,
    read: Reader | None = None,
    bases: Mapping[str, BaseText] | None = None,
    dismissals: Mapping[str, Dismissal] | None = None,
    settings: Settings = ON,
    **more: Any,
) -> Verified:
    """The pass over a brief, with a reader that answers so, or with `read`."""
    return verify(of, Held(changes, bases or {}), dismissals or {}, settings, read or reader(answer), **more)


def document(verified: Verified) -> Json:
    """The document that a pass left, as values."""
    found: Json = json.loads(verified.document)
    return found
