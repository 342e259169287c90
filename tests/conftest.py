"""`pytest --rule S13`: only the tests that name a rule, in their name (`test_s13_…`) or in their docstring."""

import re

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rule", metavar="RULE", help="only tests that name this rule of the specification")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    rule = config.getoption("--rule")
    if rule is None:
        return
    named = re.compile(rf"(?i:\b{rule}\b)")
    spoken = re.compile(rf"(?i:(?:^|_){rule}(?:_|$))")

    def names_it(item: pytest.Item) -> bool:
        function = getattr(item, "function", None)
        docstring = getattr(function, "__doc__", None) or ""
        return bool(spoken.search(item.name.partition("[")[0]) or named.search(docstring))

    config.hook.pytest_deselected(items=[item for item in items if not names_it(item)])
    items[:] = [item for item in items if names_it(item)]
