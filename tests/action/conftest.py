"""A project on a fake GitHub, and a model that keeps everything: both hold every request against the descriptions."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.action.job import Project, projects
from tests.command import answers, says
from tests.servers.model import ModelServer, ok

KEEP = answers(lambda *_: says("keep"))
Make = Callable[..., Project]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    with projects(tmp_path) as made:
        yield made


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer([ok(KEEP)]) as server:
        yield server
        assert server.violations == []
