"""New or pre-existing: the whole table of S10, through the candidates."""

import pytest

from tests.unit.material import brief, candidates, check, created, deleted, diff, file, hunk, item, modified, renamed
from verifier.verification.model import MISSING, UNREADABLE, BaseText

BASE = "def f():\n    return 1\n\n\tlog(x)\n"

TABLE: dict[str, tuple[str, int, dict[str, BaseText], str]] = {
    "re-indented": (modified("a.py", hunk("-    return 1", "+        return 1")), 1, {"a.py": BASE}, "pre-existing"),
    "other indent": (modified("a.py", hunk("-\tlog(x)", "+  log(x)  ")), 1, {"a.py": BASE}, "pre-existing"),
    "CRLF": (modified("a.py", hunk("-    return 1", "+    return 1\r")), 1, {"a.py": BASE}, "pre-existing"),
    "moved within": (modified("a.py", hunk("+def f():", "+", "+    return 1")), 1, {"a.py": BASE}, "pre-existing"),
    "context is not compared": (modified("a.py", hunk(" nowhere", "+def f():")), 1, {"a.py": BASE}, "pre-existing"),
    "one line is new": (modified("a.py", hunk("+def f():", "+    return 2")), 1, {"a.py": BASE}, "new"),
    "part of a line": (modified("a.py", hunk("+return")), 1, {"a.py": BASE}, "new"),
    "inner space differs": (modified("a.py", hunk("+def  f():")), 1, {"a.py": BASE}, "new"),
    "case differs": (modified("a.py", hunk("+DEF f():")), 1, {"a.py": BASE}, "new"),
    "all of the hunk, not the line": (
        modified("a.py", hunk("+def f():", *[" x"] * 9, "+fresh")),
        1,
        {"a.py": BASE},
        "new",
    ),
    "only blank added": (modified("a.py", hunk("+", "+  ", "+\t")), 1, {"a.py": BASE}, "new"),
    "only blank added, base unreadable": (modified("a.py", hunk("+")), 1, {"a.py": UNREADABLE}, "new"),
    "pure deletion": (modified("a.py", hunk(" def f():", "-    return 1")), 1, {"a.py": BASE}, "new"),
    "pure deletion, base unreadable": (modified("a.py", hunk("-x", new=0)), 0, {"a.py": UNREADABLE}, "new"),
    "deleted file": (deleted("a.py", hunk("-x", new=0)), 0, {"a.py": "x\n"}, "new"),
    "new file": (created("a.py", hunk("+def f():", old=0)), 1, {"a.py": BASE}, "new"),
    "renamed, in the old path's text": (
        renamed("a.py", "b.py", hunk("+  def f():")),
        1,
        {"a.py": BASE, "b.py": ""},
        "pre-existing",
    ),
    "renamed, in the new path's text only": (
        renamed("a.py", "b.py", hunk("+def f():")),
        1,
        {"a.py": "", "b.py": BASE},
        "new",
    ),
    "base unreadable": (modified("a.py", hunk("+def f():")), 1, {"a.py": UNREADABLE}, "unknown"),
    "base missing": (modified("a.py", hunk("+def f():")), 1, {"a.py": MISSING}, "unknown"),
    "base not had": (modified("a.py", hunk("+def f():")), 1, {}, "unknown"),
    "base empty": (modified("a.py", hunk("+def f():")), 1, {"a.py": ""}, "new"),
    "line not in the diff": (modified("a.py", hunk("+def f():")), 50, {"a.py": BASE}, "unknown"),
    "line not in a new file's diff": (created("a.py", hunk("+def f():", old=0)), 50, {"a.py": BASE}, "unknown"),
    "file not in the diff": (modified("c.py", hunk("+def f():")), 1, {"a.py": BASE}, "unknown"),
    "binary": ("diff --git a/a.py b/a.py\nindex 1..2\nBinary files differ\n", 1, {"a.py": UNREADABLE}, "unknown"),
}


@pytest.mark.parametrize(("changes", "line", "bases", "status"), TABLE.values(), ids=TABLE.keys())
def test_status_of_a_hunk_and_of_a_check(changes: str, line: int, bases: dict[str, BaseText], status: str) -> None:
    """S10: every non-blank added line of the whole hunk already stands at base, and there is one; else new."""
    path = "b.py" if "rename" in changes else "a.py"
    of = brief(files=[file(path, item(line))], checks=[check(path, max(line, 1))])
    found = candidates(of, diff(changes), bases)
    assert found[f"hunk:{path}:{line}"].status == status
    if line:
        assert found[f"check:{path}:{line}:0"].status == status


@pytest.mark.parametrize("changes", [modified("a.py", hunk("+def f():")), created("a.py", hunk("+def f():", old=0))])
def test_a_check_without_a_line_is_unknown(changes: str) -> None:
    """S10: it rests on no one hunk."""
    (found,) = candidates(brief(checks=[check("a.py")]), diff(changes), {"a.py": BASE}).values()
    assert found.status == "unknown"
    assert found.number == 1
