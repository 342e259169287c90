"""docs/mutants.md names mutants that there are; `make mutate` runs them."""

import pytest

from tools.mutate import MODULES, ROOT, mutants, named


def test_every_named_mutant_is_one_of_the_code_as_it_is() -> None:
    known = {mutant.name for module in MODULES for mutant in mutants(module)}
    assert [name for name in named() if name not in known] == []


def test_no_mutant_is_named_twice() -> None:
    assert len(named()) == len(set(named()))


@pytest.mark.parametrize("module", MODULES)
def test_mutants_differ_from_the_code_and_from_each_other(module: str) -> None:
    found = mutants(module)
    sources = {(ROOT / module).read_text(), *(mutant.source for mutant in found)}
    assert len(sources) == len({mutant.name for mutant in found}) + 1 > 50
