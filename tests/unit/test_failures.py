"""The lists of failures and of promises name tests that exist."""

import re
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
LIST: Final = (ROOT / "docs/failures.md").read_text(encoding="utf-8")
REPORTED: Final = [
    1,
    2,
    3,
    *range(5, 12),
    14,
    15,
    16,
    17,
    19,
    20,
    21,
    23,
    24,
    25,
    27,
    28,
    *range(29, 33),
    *range(34, 41),
]


def names_of_all_tests() -> set[str]:
    return {
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }


def test_every_reported_failure_is_listed_with_a_test() -> None:
    rows = dict(re.findall(r"^\| (\d+) \|.*\|(.*)\|$", LIST, re.MULTILINE))
    assert [int(number) for number in rows] == REPORTED
    assert [number for number, tests in rows.items() if "`test_" not in tests] == []


@pytest.mark.parametrize(("page", "at_least"), [("docs/failures.md", 60), ("SECURITY.md", 25)])
def test_every_test_that_a_page_names_exists(page: str, at_least: int) -> None:
    named = set(re.findall(r"`(test_\w+)`", (ROOT / page).read_text(encoding="utf-8")))
    assert len(named) >= at_least
    assert named - names_of_all_tests() == set()


def test_every_promise_names_a_test() -> None:
    table = (ROOT / "SECURITY.md").read_text(encoding="utf-8").partition("| who |")[2]
    rows = [line.split("|") for line in table.splitlines() if line.startswith("| ")]
    assert [row[1] for row in rows if row[3].strip() and "`test_" not in row[4]] == []
