"""The workflows that users paste and those of the repository: linters hold their form, these tests their promises."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest
from ruamel.yaml import YAML

from tests.action.job import job, project
from tests.command import answers, says
from tests.servers.github import FakeGitHub
from tests.servers.model import ModelServer, ok
from verifier.action.inputs import DEFAULTS

ROOT: Final = Path(__file__).parents[2]
EXAMPLES: Final = ROOT / "examples" / "workflows"
OWN: Final = ROOT / ".github" / "workflows"
FILES: Final = {path.name: path for folder in (EXAMPLES, OWN) for path in sorted(folder.glob("*.yml"))}

# The zero commit can be pasted by nobody unread; no commit or digest stands anywhere that was not read somewhere.
OURS: Final = "your-org/verifier@0000000000000000000000000000000000000000"
PIN: Final = re.compile(r"uses: ([\w.-]+/[\w./-]+)@([0-9a-f]{40}) # v\d+\.\d+\.\d+")

READ: Final = {"contents": "read"}
VERIFY: Final = {"actions": "read", "contents": "read", "pull-requests": "write"}
PERMISSIONS: Final = {
    "by-hand.yml": {"verify": VERIFY},
    "forks-brief.yml": {"brief": READ},
    "forks-verify.yml": {"verify": VERIFY},
    "one-job.yml": {"brief": {"contents": "read", "pull-requests": "write"}},
    "same-repository.yml": {"brief": READ, "verify": VERIFY},
    "audit.yml": {"audit": READ},
    "ci.yml": {"ci": READ},
    "release.yml": {
        "image": {"attestations": "write", "contents": "read", "id-token": "write", "packages": "write"},
        "release": {"contents": "write"},
    },
}

every_file = pytest.mark.parametrize("name", FILES)
every_example = pytest.mark.parametrize("name", [path.name for path in FILES.values() if path.parent == EXAMPLES])


def load(path: Path) -> Any:
    return YAML(typ="safe", pure=True).load(path.read_text())


def steps(name: str) -> Iterator[tuple[Any, Any]]:
    """The steps of a workflow, each with its job."""
    for of in load(FILES[name])["jobs"].values():
        for step in of["steps"]:
            yield of, step


def ours(name: str) -> list[tuple[Any, Any]]:
    return [(of, step) for of, step in steps(name) if step.get("uses") == OURS]


@every_file
def test_a_workflow_may_do_what_its_row_says_and_no_more(name: str) -> None:
    workflow = load(FILES[name])
    assert workflow["permissions"] == {}
    assert {key: of["permissions"] for key, of in workflow["jobs"].items()} == PERMISSIONS[name]


@every_file
def test_a_workflow_ends_and_does_not_run_twice_at_once(name: str) -> None:
    workflow = load(FILES[name])
    assert set(workflow["concurrency"]) == {"group", "cancel-in-progress"}
    assert all(of["timeout-minutes"] <= 60 for of in workflow["jobs"].values())


@every_file
def test_an_action_is_pinned_by_commit_and_says_its_version(name: str) -> None:
    used = re.findall(r"^ +(?:- )?(uses: .*)$", FILES[name].read_text(), re.MULTILINE)
    others = [line for line in used if not line.startswith(f"uses: {OURS} ")]
    assert len(used) == sum("uses" in step for _, step in steps(name))
    assert [line for line in others if not PIN.fullmatch(line)] == []
    assert len(used) == len(others) or FILES[name].parent == EXAMPLES


def test_one_action_has_one_pin() -> None:
    pins = {match.groups() for path in FILES.values() for match in PIN.finditer(path.read_text())}
    assert len({action for action, _ in pins}) == len(pins)


@every_file
def test_no_expression_gets_into_a_script(name: str) -> None:
    assert [step["run"] for _, step in steps(name) if "${{" in step.get("run", "")] == []


@every_file
def test_a_checkout_leaves_no_token_behind(name: str) -> None:
    checkouts = [step for _, step in steps(name) if step.get("uses", "").startswith("actions/checkout@")]
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


@every_file
def test_what_zizmor_ignores_has_a_reason(name: str) -> None:
    ignored = re.findall(r"zizmor: ignore(.*)", FILES[name].read_text())
    assert all(re.match(r"\[[a-z-]+\] \w+", rest) for rest in ignored)


@every_example
def test_an_example_says_where_to_paste_it(name: str) -> None:
    comment = re.match(r"(?:# .*\n)+", FILES[name].read_text())
    assert comment is not None
    assert "Paste it to .github/workflows/" in comment[0]


@every_example
def test_an_example_gives_our_action_only_inputs_that_it_has(name: str) -> None:
    for _, step in ours(name):
        assert set(step["with"]) <= set(DEFAULTS)


@every_example
def test_the_key_is_a_secret_of_an_environment_and_goes_to_our_action_alone(name: str) -> None:
    for of, step in ours(name):
        assert step["with"]["llm-api-key"] == "${{ secrets.LLM_API_KEY }}"
        assert of["environment"] == {"name": "verifier", "deployment": False}
    assert FILES[name].read_text().count("secrets.") == len(ours(name))


@every_example
def test_an_uploaded_brief_is_the_one_that_our_action_looks_for(name: str) -> None:
    uploads = [step["with"] for _, step in steps(name) if step.get("uses", "").startswith("actions/upload-artifact@")]
    briefs = [upload for upload in uploads if upload["name"] != "verifier-record"]
    assert all(
        (upload["name"], upload["path"]) == (DEFAULTS["brief-artifact"], DEFAULTS["brief-file"]) for upload in briefs
    )


def test_the_half_that_runs_strangers_code_has_no_key() -> None:
    assert "pull_request" in load(FILES["forks-brief.yml"])["on"]
    assert "secrets" not in FILES["forks-brief.yml"].read_text()
    assert ours("forks-brief.yml") == []


def test_the_half_that_has_the_key_runs_nothing_but_our_action() -> None:
    workflow = load(FILES["forks-verify.yml"])
    assert workflow["on"] == {
        "workflow_run": {"workflows": [load(FILES["forks-brief.yml"])["name"]], "types": ["completed"]}
    }
    assert len(ours("forks-verify.yml")) == len(list(steps("forks-verify.yml"))) == 1
    assert workflow["jobs"]["verify"]["if"] == (
        "github.event.workflow_run.event == 'pull_request' && github.event.workflow_run.conclusion == 'success'"
    )
    # A re-run for an older commit must not cancel the run for the newest: each commit waits for its own alone.
    assert "head_sha" in workflow["concurrency"]["group"]
    assert workflow["concurrency"]["cancel-in-progress"] is False


def test_a_run_by_hand_says_which_pull_request() -> None:
    asked = load(FILES["by-hand.yml"])["on"]["workflow_dispatch"]["inputs"]
    ((_, step),) = ours("by-hand.yml")
    assert (asked["pr-number"]["required"], asked["brief-workflow"].get("required", False)) == (True, False)
    assert all(step["with"][name] == f"${{{{ inputs.{name} }}}}" for name in asked)


def test_a1_the_inputs_of_action_yml_are_those_that_the_code_reads() -> None:
    inputs = load(ROOT / "action.yml")["inputs"]
    assert {name: entry.get("default", "") for name, entry in inputs.items()} == {
        **DEFAULTS,
        "github-token": "${{ github.token }}",
    }


def test_a1_the_outputs_of_action_yml_are_those_that_a_run_writes(tmp_path: Path) -> None:
    with ExitStack() as stack:
        model = stack.enter_context(ModelServer([ok(answers(lambda *_: says("keep")))]))
        subject = project(tmp_path, lambda repo: stack.enter_context(FakeGitHub(repo)))
        written = job(subject, model).outputs
    assert set(load(ROOT / "action.yml")["outputs"]) == set(written)
