"""`pytest --rule S13`: only the tests that name a rule, in their name (`test_s13_…`) or in their docstring.

`pytest --family "model replies" tests/adversary`: only that family's hostile cases.
`pytest --attacks all`: every attack of tests/adversary; otherwise one in thirty-two, drawn evenly: minutes less.
"""

import re
from collections.abc import Callable

import pytest

_ONE_IN = 32


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rule", metavar="RULE", help="only tests that name this rule of the specification")
    parser.addoption("--attacks", choices=["all", "some"], default="some", help="how many attacks of tests/adversary")
    parser.addoption("--family", metavar="NAME", help="only the hostile cases of this family")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if rule := config.getoption("--rule"):
        _keep(config, items, lambda item: _names_rule(item, rule))
    if config.getoption("--attacks") == "some" and not config.getoption("--family"):
        attacks = [item for item in items if "adversary" in item.path.parts and "[" in item.name]
        left = set(attacks) - set(attacks[::_ONE_IN])
        _keep(config, items, lambda item: item not in left)
    if family := config.getoption("--family"):
        module = f"test_{family.replace(' ', '_')}"
        _keep(config, items, lambda item: item.path.stem == module or f"[{family}: " in item.name)


@pytest.fixture(autouse=True)
def _measured(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that a test starts are measured in the first row of its table alone: measuring doubles their time."""
    row = getattr(request.node, "callspec", None)
    if row is not None and any(row.indices.values()):
        monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)


def _keep(config: pytest.Config, items: list[pytest.Item], wanted: Callable[[pytest.Item], bool]) -> None:
    config.hook.pytest_deselected(items=[item for item in items if not wanted(item)])
    items[:] = [item for item in items if wanted(item)]


def _names_rule(item: pytest.Item, rule: str) -> bool:
    docstring = getattr(getattr(item, "function", None), "__doc__", None) or ""
    spoken = re.search(rf"(?i:(?:^|_){rule}(?:_|$))", item.name.partition("[")[0])
    return bool(spoken or re.search(rf"(?i:\b{rule}\b)", docstring))
