"""The adversary suite: hostile inputs of every origin against the real entrypoint (A8, A9, S21, S22)."""

from pathlib import Path

import pytest

from tests.adversary.case import Case
from tests.adversary.families import FAMILIES
from tests.adversary.trying import tried

CASES = [(family.name, case) for family in FAMILIES for case in family.cases]


@pytest.mark.parametrize(("family", "case"), [pytest.param(*one, id=f"{one[0]}: {one[1].name}") for one in CASES])
def test_whatever_comes_nothing_is_hurt(tmp_path: Path, family: str, case: Case) -> None:
    assert tried(case, tmp_path) == []


def test_no_two_cases_have_one_name() -> None:
    names = [(family, case.name) for family, case in CASES]
    assert len(names) == len(set(names))
