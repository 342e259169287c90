"""What a verdict is worth: citations and re-labelling, as one table over all cases (S11, S12, S13, S14, S20, S30)."""

from dataclasses import replace
from itertools import product
from typing import Any, Final, get_args

import pytest

from tests.unit.material import brief, candidates, check, deleted, diff, fact, file, hunk, item, modified, renamed
from verifier.verification.guards import judge, valid_citation
from verifier.verification.model import (
    MISSING,
    UNREADABLE,
    Action,
    BaseText,
    Candidate,
    Citation,
    Dismissal,
    DropClass,
    Proof,
    Said,
    Status,
)

DIFF = diff(
    modified("src/api.ts", hunk(" a", "-b", "-b2", "+c", " d", old=40, new=50), hunk("+far", old=90, new=100)),
    renamed("old.py", "new.py", hunk(" a", "-b", "+c", old=7, new=17)),
    deleted("gone.py", hunk("-a", "-b", old=1, new=0)),
)
GOOD: Final = Citation("src/api.ts", 51)


def hunk_at(path: str, line: int) -> Candidate:
    (found,) = candidates(brief(files=[file(path, item(line))]), DIFF).values()
    return found


def coupled(text: BaseText) -> Candidate:
    of = brief([fact("coupling.missing", "src/api.ts", 50, partner="src/client.ts")])
    (found,) = candidates(of, DIFF, {"src/client.ts": text}).values()
    return found


API = hunk_at("src/api.ts", 50)


def said(action: Action, citation: Citation | None = GOOD, drop_class: DropClass | None = None, **more: Any) -> Said:
    fields: dict[str, Any] = {"reason": "because", "status": None, **more}
    return Said(1, "hunk", "src/api.ts:50", citation=citation, drop_class=drop_class, action=action, **fields)


# Citations.

LONG = "src/" + "x" * 300 + ".ts"


@pytest.mark.parametrize(
    ("candidate", "path", "line", "side"),
    [
        (API, "src/api.ts", 50, "new"),  # context
        (API, "src/api.ts", 51, "new"),  # added
        (API, "src/api.ts", 41, "old"),  # removed
        (API, "src/api.ts", 42, "old"),
        (API, "src/api.ts", 40, None),  # context has the number of the new side only
        (API, "src/api.ts", 43, None),
        (API, "src/api.ts", 49, None),  # one above, one below
        (API, "src/api.ts", 53, None),
        (API, "src/api.ts", 100, None),  # another hunk of the file
        (API, "src/api.ts", 0, None),  # the header has no number
        (API, "src/api.ts", -51, None),
        (API, "new.py", 17, None),  # a line of another candidate
        (API, "api.ts", 51, None),
        (API, "./src/api.ts", 51, None),
        (API, "SRC/API.TS", 51, None),
        (API, "src/api.ts:51", 51, None),
        (API, " src/api.ts", 51, None),
        (API, "", 51, None),
        (hunk_at("new.py", 17), "new.py", 17, "new"),
        (hunk_at("new.py", 17), "old.py", 8, "old"),
        (hunk_at("new.py", 17), "new.py", 8, "old"),  # either side, by either path
        (hunk_at("new.py", 17), "old.py", 17, "new"),
        (hunk_at("old.py", 17), "new.py", 18, "new"),
        (hunk_at("new.py", 17), "other.py", 17, None),
        (hunk_at("gone.py", 0), "gone.py", 2, "old"),
        (hunk_at("gone.py", 0), "gone.py", 3, None),
        (coupled("a\nb\n"), "src/client.ts", 2, "old"),  # the partner is shown as it is at base
        (coupled("a\nb\n"), "src/client.ts", 3, None),
        (coupled("a\nb\n"), "src/client.ts", 51, None),  # a line of the excerpt, not of the partner
        (coupled("a\nb\n"), "src/api.ts", 2, None),  # and the other way round
        (coupled("a\nb\n"), "src/api.ts", 51, "new"),
        (coupled("x" * 1998 + "\ny\nz\n"), "src/client.ts", 2, "old"),  # the last line that is shown of it
        (coupled("x" * 1998 + "\ny\nz\n"), "src/client.ts", 3, None),  # beyond the cut
    ],
)
def test_a_citation_is_valid_where_its_line_is_shown(
    candidate: Candidate, path: str, line: int, side: str | None
) -> None:
    """S12: its file and line, on either side, in that candidate's own excerpt or partner text."""
    found = valid_citation(candidate, Citation(path, line))
    assert found == (None if side is None else Citation(path, line, side))  # type: ignore[arg-type]


def test_a_line_that_was_cut_off_is_not_cited() -> None:
    """S12: what is not shown proves nothing, though it is in the hunk."""
    changes = diff(modified("a.py", hunk(*(f"+line {number:04}" for number in range(1, 1001)))))
    (found,) = candidates(brief(checks=[check("a.py", 500)]), changes).values()
    assert found.excerpt
    shown = [row.number for row in found.excerpt.rows]
    assert [bool(valid_citation(found, Citation("a.py", line))) for line in (shown[0] - 1, shown[0])] == [False, True]
    assert [bool(valid_citation(found, Citation("a.py", line))) for line in (shown[-1], shown[-1] + 1)] == [True, False]


@pytest.mark.parametrize("path", ["with\ttab.py", "with\u200bnothing.py", LONG])
def test_a_path_may_be_cited_as_it_is_shown(path: str) -> None:
    """S12: the block shows a path on one line, a very long one cut; that is what the reader can write."""
    (found,) = candidates(
        brief(checks=[check(path, 1)]),
        diff('diff --git "a/{0}" "b/{0}"\n--- "a/{0}"\n+++ "b/{0}"\n'.format(path.replace("\t", "\\t")), hunk("+a")),
    ).values()
    shown = path.replace("\t", " ").replace("\u200b", "") if path != LONG else path[:199] + "…"
    assert valid_citation(found, Citation(shown, 1))
    assert valid_citation(found, Citation(path, 1))
    assert not valid_citation(found, Citation(shown + "x", 1))


@pytest.mark.parametrize("path", ["with\ttab.py", "with\u200bnothing.py", LONG])
def test_a_partner_may_be_cited_as_it_is_shown(path: str) -> None:
    """S12: in full, or as its block shows it."""
    of = brief([fact("coupling.missing", "src/api.ts", 50, partner=path)])
    (found,) = candidates(of, DIFF, {path: "a\nb\n"}).values()
    shown = path.replace("\t", " ").replace("\u200b", "") if path != LONG else path[:199] + "…"
    assert valid_citation(found, Citation(path, 2)) == Citation(path, 2, "old")
    assert valid_citation(found, Citation(shown, 2)) == Citation(shown, 2, "old")
    assert not valid_citation(found, Citation(shown[:-1], 2))
    assert not valid_citation(found, Citation(shown + "x", 2))


def test_a_part_of_a_partners_path_is_not_cited() -> None:
    """S12: the whole path names a file, a piece of it none."""
    assert not valid_citation(coupled("a\nb\n"), Citation("client.ts", 2))
    assert not valid_citation(coupled("a\nb\n"), Citation("", 2))


@pytest.mark.parametrize("text", [MISSING, UNREADABLE])
def test_a_partner_that_is_not_shown_is_not_cited(text: BaseText) -> None:
    """S12, S4: nor one that is not there, nor one that cannot be read."""
    assert valid_citation(coupled(text), Citation("src/client.ts", 1)) is None


def test_no_citation_is_none() -> None:
    """S12: and where nothing is shown none is valid."""
    assert valid_citation(API, None) is None
    assert valid_citation(replace(API, excerpt=None), GOOD) is None
    assert valid_citation(coupled(""), Citation("src/client.ts", 1)) is None


# Re-labelling: every case has exactly one line of this table.

TABLE: Final = """
    said       class  cited  strict  proven  becomes    by
    keep       any    any    any     any     keep       model
    downgrade  any    yes    any     any     downgrade  model
    downgrade  any    no     any     any     keep       guard
    drop       no     yes    any     any     downgrade  guard
    drop       no     no     any     any     keep       guard
    drop       yes    no     any     any     keep       guard
    drop       yes    yes    no      any     drop       model
    drop       yes    yes    yes     yes     drop       model
    drop       yes    yes    yes     no      downgrade  guard
"""
ROWS: Final = [line.split() for line in TABLE.strip().splitlines()[1:]]

ACTIONS: Final[tuple[Action, ...]] = get_args(Action)
CLASSES: Final[tuple[DropClass | None, ...]] = (None, *get_args(DropClass))
CITATIONS: Final = (GOOD, None, Citation("src/api.ts", 53), Citation("src/other.ts", 51))


def expected(*case: str) -> tuple[str, str]:
    """What the table says; it must say it once."""
    (row,) = [row for row in ROWS if all(cell in ("any", here) for cell, here in zip(row[:5], case, strict=True))]
    return row[5], row[6]


def yes(condition: object) -> str:
    return "yes" if condition else "no"


CASES: Final = list(product(ACTIONS, CLASSES, CITATIONS, (False, True), (None, *get_args(DropClass))))


@pytest.mark.parametrize("pinned", [False, True])
def test_every_case_of_the_guards(pinned: bool) -> None:
    """S12, S13, S14, S30: action x class x citation x strictDrops x what the rules prove, for a pinned fact too."""
    for action, drop_class, citation, strict, proven in CASES:
        proofs = (Proof(proven, "src/api.ts", 51, "it is"),) if proven else ()
        candidate = replace(API, proofs=proofs, dismissal="useful" if pinned else None)
        was = said(action, citation, drop_class)
        becomes, by = expected(
            action, yes(drop_class), yes(citation is GOOD), yes(strict), yes(proven and proven == drop_class)
        )
        if pinned and becomes != "keep":
            becomes, by = "keep", "memory"
        verdict = judge(candidate, was, strict=strict)
        case = (action, drop_class, citation, strict, proven)
        assert (case, verdict.action, verdict.by) == (case, becomes, by)
        assert verdict.drop_class == (drop_class if becomes == "drop" else None)
        assert verdict.citation == (GOOD._replace(side="new") if citation is GOOD else None)
        assert verdict.said == (None if by == "model" else was)
        assert (verdict.guard is None) is (by == "model")
        assert verdict.confirmed == (None if action != "drop" else bool(proven and proven == drop_class))


@pytest.mark.parametrize(
    ("was", "strict", "why"),
    [
        (said("drop"), False, "a drop needs one of the five classes"),
        (said("drop", None, "docs"), False, "a downgrade needs a citation of a line that was shown"),
        (said("downgrade", None), False, "a downgrade needs a citation of a line that was shown"),
        (said("drop", drop_class="docs"), True, "strictDrops: the rules do not confirm the class"),
    ],
)
def test_the_guard_says_why(was: Said, strict: bool, why: str) -> None:
    """S19: which guard changed it, the last where two did."""
    assert judge(API, was, strict=strict).guard == why


def test_what_the_rules_prove_is_recorded_without_strict_drops_too() -> None:
    """S14: one of several proofs is enough, and the class must be the one that was said."""
    candidate = replace(API, proofs=(Proof("docs", "f", 1, "w"), Proof("tests", "f", 1, "w")))
    answers = {name: judge(candidate, said("drop", GOOD, name), strict=False).confirmed for name in get_args(DropClass)}
    assert answers == {"docs": True, "tests": True, "fixtures": False, "generated": False, "formatting": False}


# Memory and nobody.


@pytest.mark.parametrize("dismissal", ["wrong", "intentional", "ignored"])
@pytest.mark.parametrize("was", [None, said("keep"), said("drop", GOOD, "docs")])
def test_a_dismissed_fact_is_downgraded_whatever_was_said(dismissal: Dismissal, was: Said | None) -> None:
    """S30: by the memory, without a call."""
    verdict = judge(replace(API, dismissal=dismissal), was, strict=False)
    assert (verdict.action, verdict.by, verdict.dismissal) == ("downgrade", "memory", dismissal)
    assert (verdict.reason, verdict.citation, verdict.said) == (None, None, None)


@pytest.mark.parametrize("dismissal", [None, "useful"])
def test_without_an_answer_nobody_decided(dismissal: Dismissal | None) -> None:
    """S6, S15: also a pinned fact that the reply does not mention stays unverified."""
    verdict = judge(replace(API, dismissal=dismissal), None, strict=False)
    assert (verdict.action, verdict.by, verdict.reason, verdict.said) == ("unverified", "nobody", None, None)


@pytest.mark.parametrize(
    ("by_rule", "by_model", "status"),
    [
        ("new", "pre-existing", "new"),
        ("pre-existing", "new", "pre-existing"),
        ("new", None, "new"),
        ("unknown", "new", "new"),
        ("unknown", "pre-existing", "pre-existing"),
        ("unknown", None, "unknown"),
    ],
)
@pytest.mark.parametrize("action", ACTIONS)
def test_the_models_status_counts_only_where_the_rules_do_not_know(
    by_rule: Status, by_model: Any, status: Status, action: Action
) -> None:
    """S11: status and action are independent."""
    was = said(action, GOOD, "docs", status=by_model)
    assert judge(replace(API, status=by_rule), was, strict=False).status == status


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        ("plain words", "plain words"),
        ("", "no reason given"),
        (" \n\t\u200b\u2028 ", "no reason given"),
        ("two\nlines\r\nand\u2028more", "two lines and more"),
        ("as in x[0]", "as in x(0)"),
        ("x" * 200, "x" * 200),
        ("x" * 201, "x" * 199 + "…"),
        ("safe] [verified · new]", "safe) (verified · new)"),
        ("`code` <b>", "'code' ‹b›"),
        ("ask @ada", "ask @\u200bada"),
        ("see #12", "see #\u200b12"),
        ("http://x.y", "http:\u200b//x.y"),
    ],
)
def test_a_reason_is_inert(reason: str, shown: str) -> None:
    """S20: one line, at most 200 characters, nothing that renders or notifies, `]` as `)`."""
    assert judge(API, said("keep", reason=reason), strict=False).reason == shown
