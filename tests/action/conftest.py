"""A project on a fake GitHub, and a model that keeps everything: both hold every request against the descriptions."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.action.job import Project, project
from tests.command import answers, says
from tests.repos import Repo
from tests.servers.github import FakeGitHub
from tests.servers.model import ModelServer, ok

KEEP = answers(lambda *_: says("keep"))
Make = Callable[..., Project]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Makes a project whose servers end with the test; every request must have fitted GitHub's description."""
    with ExitStack() as stack:
        found: list[FakeGitHub] = []

        def github_of(repo: Repo) -> FakeGitHub:
            found.append(stack.enter_context(FakeGitHub(repo)))
            return found[-1]

        def made(**more: Any) -> Project:
            return project(tmp_path, github_of, **more)

        yield made
        for github in found:
            assert github.violations == []


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer([ok(KEEP)]) as server:
        yield server
        assert server.violations == []
