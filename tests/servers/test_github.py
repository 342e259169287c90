"""The fake GitHub, asked by PyGithub and by plain requests: it says what git says, and notices what is wrong."""

import base64
import copy
import hashlib
import io
import threading
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import github as pygithub
import pytest
import requests
from jsonschema import Draft202012Validator

from tests.repos import Repo
from tests.servers.github import (
    FakeGitHub,
    Reply,
    broken,
    changed,
    close,
    close_mid_body,
    delayed,
    fault,
    hang,
    html,
    performed,
    primary_rate_limit,
    reply,
    reset,
    secondary_rate_limit,
    too_many,
    trickle,
    truncated,
    zip_bomb,
    zip_of,
)
from tests.servers.github_schema import as_json_schema, compiled, description, operations, resolved

Json = Any

LATIN = "größe\n".encode("latin-1")
BEFORE: dict[str, str | bytes] = {
    "README.md": "# shop\n",
    "src/api.ts": "".join(f"line {number}\n" for number in range(1, 41)),
    "src/gone.ts": "bye\n",
    "src/old name.ts": "".join(f"moved {number}\n" for number in range(20)),
    "src/pure.ts": "".join(f"pure {number}\n" for number in range(20)),
    "docs/latin.txt": LATIN,
    "logo.bin": b"\0\1\2",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """A base, a change of every kind on `feature`, and a base that has moved on: `base`, `head`, `tip` are tags."""
    repo = Repo(tmp_path_factory.mktemp("shop") / "shop")
    repo.link("link.md", "README.md")
    repo.link("away", "/etc/passwd")
    repo.commit({**BEFORE, ".gitmodules": '[submodule "x"]\n\tpath = lib/x\n\turl = https://example.com/x.git\n'})
    repo.submodule("lib/x", "1" * 40)
    repo.git("commit", "--quiet", "-m", "with a submodule")
    repo.git("tag", "base")
    repo.git("checkout", "--quiet", "-b", "feature")
    repo.remove("src/gone.ts")
    repo.move("src/old name.ts", "src/new name.ts")
    repo.move("src/pure.ts", "src/purer.ts")
    repo.write("src/api.ts", str(BEFORE["src/api.ts"]).replace("line 7\n", "line seven\n"))
    repo.write("src/new name.ts", str(BEFORE["src/old name.ts"]).replace("moved 3\n", "moved three\n"))
    repo.write("logo.bin", b"\0\1\3")
    repo.write("added.py", "x = 1")
    repo.git("add", "--all", ":!lib/x")
    repo.git("commit", "--quiet", "-m", "feature")
    repo.git("tag", "head")
    repo.git("checkout", "--quiet", "main")
    repo.write("README.md", "# shop, moved on\n")
    repo.git("add", "README.md")
    repo.git("commit", "--quiet", "-m", "moved on")
    repo.git("tag", "tip")
    return repo


@pytest.fixture
def github(shop: Repo) -> Iterator[FakeGitHub]:
    """A GitHub with pull request 42, whose base has moved on, its run, and the run's brief."""
    with FakeGitHub(shop) as server:
        pull = server.add_pull("tip", "head")
        server.add_artifact(server.add_run(pull), zip_of({"brief.json": b"{}"}))
        yield server


def session(github: FakeGitHub, token: str | None = None) -> pygithub.Github:
    """PyGithub, with nothing that waits."""
    return pygithub.Github(
        auth=pygithub.Auth.Token(token or github.token),
        base_url=github.api_url,
        lazy=True,
        per_page=100,
        timeout=10,
        retry=None,
        seconds_between_requests=None,
        seconds_between_writes=None,
        api_version="2022-11-28",
    )


def repository(github: FakeGitHub, token: str | None = None) -> Any:
    return session(github, token).get_repo(github.repository)


def ask(
    github: FakeGitHub,
    path: str,
    *,
    method: str = "GET",
    token: str | None = None,
    accept: str = "application/vnd.github+json",
    body: Json = None,
    query: dict[str, str] | None = None,
) -> requests.Response:
    """One request below the repository, without PyGithub."""
    return requests.request(
        method,
        f"{github.repository_url}/{path}",
        headers={"Authorization": f"Bearer {token or github.token}", "Accept": accept},
        json=body,
        params=query,
        timeout=10,
        allow_redirects=False,
    )


def graphql(github: FakeGitHub, query: str, token: str | None = None, **variables: Json) -> Json:
    """What the GraphQL endpoint answers."""
    answer = requests.post(
        github.graphql_url,
        headers={"Authorization": f"Bearer {token or github.token}"},
        json={"query": query, "variables": variables},
        timeout=10,
    )
    assert answer.status_code == 200
    return answer.json()


# Schemas.


CHANGES: dict[str, Json] = {"drop": None, "more": None, "null": None, "number": 7, "text": "x:y"}


def mutants(value: Json, most: int) -> Iterator[Json]:
    """The value with one thing wrong, perhaps: a field gone, one too many, another type; a sample over all of it."""
    every = [(path, change) for path in _places(value) for change in CHANGES]
    for path, change in every[:: len(every) // most + 1]:
        made = copy.deepcopy(value)
        holder = made
        for step in path[:-1]:
            holder = holder[step]
        if change == "drop":
            del holder[path[-1]]
        elif change != "more":
            holder[path[-1]] = CHANGES[change]
        elif isinstance(holder[path[-1]], dict):
            holder[path[-1]]["not a field"] = 1
        yield made


def _places(value: Json, path: tuple[Json, ...] = ()) -> Iterator[tuple[Json, ...]]:
    if path:
        yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in inside:
        yield from _places(child, (*path, key))


def _examples() -> Iterator[tuple[str, Json, Json]]:
    for operation in operations():
        for status, answer in operation.node["responses"].items():
            for media, content in resolved(answer).get("content", {}).items():
                for name, node in content.get("examples", {}).items():
                    where = f"{operation.name} {status} {media} {name}"
                    yield where, content["schema"], resolved(node)["value"]


@pytest.mark.parametrize(("schema", "value"), [pytest.param(*rest, id=name) for name, *rest in _examples()])
def test_the_compiled_schemas_judge_as_jsonschema_does(schema: Json, value: Json) -> None:
    root = {"components": as_json_schema({"schemas": description()["components"]["schemas"]}, strict=True)}
    other = Draft202012Validator({**root, "anyOf": [as_json_schema(schema, strict=True)]})
    check = compiled(schema)
    assert other.is_valid(value) == (not list(check(value, "value")))
    for mutant in mutants(value, 40):
        if not _is_about_text_forms(faults := list(check(mutant, "value"))):
            assert other.is_valid(mutant) == (not faults), faults


def _is_about_text_forms(faults: list[str]) -> bool:
    # jsonschema does not look at formats unless it is given a checker.
    return any(" is no " in fault for fault in faults)


def test_the_data_is_the_published_subset() -> None:
    data = Path(__file__).parent / "data"
    names = [operation.name for operation in operations()]
    assert len(names) == len(set(names)) == 18
    assert "Copyright (c) 2020 Octokit contributors" in (data / "README.md").read_text()


# Pull requests and diffs.


def test_a_pull_request_as_pygithub_reads_it(github: FakeGitHub, shop: Repo) -> None:
    pull = repository(github).get_pull(42)
    assert (pull.head.sha, pull.base.sha) == (shop.git("rev-parse", "head"), shop.git("rev-parse", "tip"))
    assert (pull.head.repo.full_name, pull.head.repo.fork) == ("acme/shop", False)
    assert (pull.state, pull.draft, pull.locked, pull.changed_files) == ("open", False, False, 6)
    assert github.violations == []
    assert github.operations == ["GET /repos/{owner}/{repo}/pulls/{pull_number}"]
    assert github.requests[0].headers["authorization"] == f"token {github.token}"
    assert github.requests[0].path == "/api/v3/repos/acme/shop/pulls/42"


def test_the_diff_is_gits_from_the_merge_base(github: FakeGitHub, shop: Repo) -> None:
    answer = ask(github, "pulls/42", accept="application/vnd.github.diff")
    assert answer.content == shop.diff("base", "head", "--find-renames")
    assert answer.headers["content-type"].startswith("application/vnd.github.diff")
    text = session(github).requester.requestJson(
        "GET", "/repos/acme/shop/pulls/42", headers={"Accept": "application/vnd.github.diff"}
    )[2]
    assert text == answer.text


@pytest.mark.parametrize(
    ("limit", "value", "told"),
    [
        ("diff_lines", 10, "number of lines (10)"),
        ("diff_bytes", 100, "100 bytes"),
        ("diff_files", 2, "number of files (2)"),
        ("file_lines", 3, "lines of a file"),
        ("file_bytes", 50, "size of a file"),
    ],
)
def test_a_diff_beyond_a_limit_is_refused(github: FakeGitHub, limit: str, value: int, told: str) -> None:
    setattr(github.limits, limit, value)
    with pytest.raises(pygithub.GithubException) as caught:
        session(github).requester.requestJsonAndCheck(
            "GET", "/repos/acme/shop/pulls/42", headers={"Accept": "application/vnd.github.diff"}
        )
    assert caught.value.status == 406
    assert caught.value.data["errors"][0]["code"] == "too_large"
    assert told in caught.value.data["message"]
    # The list still has it all.
    assert len(list(repository(github).get_pull(42).get_files())) == 6


def test_the_files_with_their_patches(github: FakeGitHub, shop: Repo) -> None:
    files = {file["filename"]: file for file in ask(github, "pulls/42/files").json()}
    facts = {name: (file["status"], file["additions"], file["deletions"]) for name, file in files.items()}
    assert facts == {
        "added.py": ("added", 1, 0),
        "logo.bin": ("modified", 0, 0),
        "src/api.ts": ("modified", 1, 1),
        "src/gone.ts": ("removed", 0, 1),
        "src/new name.ts": ("renamed", 1, 1),
        "src/purer.ts": ("renamed", 0, 0),
    }
    assert files["src/new name.ts"]["previous_filename"] == "src/old name.ts"
    assert files["added.py"]["patch"] == "@@ -0,0 +1 @@\n+x = 1\n\\ No newline at end of file"
    assert "patch" not in files["logo.bin"]
    assert "patch" not in files["src/purer.ts"]
    diff = shop.diff("base", "head", "--find-renames").decode()
    assert all(file["patch"] in diff for file in files.values() if "patch" in file)
    assert files["src/gone.ts"]["sha"] == shop.git("rev-parse", "base:src/gone.ts")


def test_a_patch_that_is_too_long_is_left_out(github: FakeGitHub) -> None:
    github.limits.file_lines = 5
    files = {file["filename"]: file for file in ask(github, "pulls/42/files").json()}
    assert "patch" not in files["src/api.ts"]
    assert "patch" in files["added.py"]
    github.without_patch.add("added.py")
    files = {file["filename"]: file for file in ask(github, "pulls/42/files").json()}
    assert "patch" not in files["added.py"]


def test_the_files_by_page_up_to_the_limit(github: FakeGitHub) -> None:
    first = ask(github, "pulls/42/files", query={"per_page": "4"})
    assert 'page=2>; rel="next"' in first.headers["link"]
    second = requests.get(first.links["next"]["url"], headers={"Authorization": f"Bearer {github.token}"}, timeout=10)
    assert [len(first.json()), len(second.json())] == [4, 2]
    assert set(second.links) == {"prev", "first"}
    github.limits.files = 3
    assert len(ask(github, "pulls/42/files").json()) == 3
    assert github.violations == []


def test_a_type_change_and_strange_names(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "shop")
    names = ["-- a/b", "tab\there", "line\nbreak", 'quote"', "größe.txt"]
    base = repo.commit({**dict.fromkeys(names, "1\n"), "kind": "a file\n"})
    repo.remove("kind")
    repo.link("kind", "quote")
    head = repo.commit(dict.fromkeys(names, "diff --git a/x b/x\n"))
    with FakeGitHub(repo) as github:
        github.add_pull(base, head)
        files = {file["filename"]: file for file in ask(github, "pulls/42/files").json()}
        assert files.keys() == {*names, "kind"}
        assert files["kind"]["status"] == "changed"
        assert all(files[name]["patch"].endswith("+diff --git a/x b/x") for name in names)


def test_compare(github: FakeGitHub, shop: Repo) -> None:
    found = repository(github).compare("main", "head")
    assert found.merge_base_commit.sha == shop.git("rev-parse", "base")
    assert (found.status, found.ahead_by, found.behind_by) == ("diverged", 1, 1)
    assert len(found.files) == 6
    both = ask(github, "compare/main..head").json()
    assert {file["filename"] for file in both["files"]} == {file.filename for file in found.files} | {"README.md"}
    assert ask(github, "compare/head...head").json()["status"] == "identical"
    assert "files" not in ask(github, "compare/main...head", query={"page": "2"}).json()
    github.limits.compare_files = 2
    assert len(ask(github, "compare/main...head").json()["files"]) == 2
    assert ask(github, "compare/main...nowhere").status_code == 404
    diff = ask(github, "compare/main...head", accept="application/vnd.github.diff")
    assert diff.content == shop.diff("base", "head", "--find-renames")
    assert github.violations == []


def test_histories_without_a_common_commit(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "shop")
    repo.commit({"a": "1\n"})
    repo.git("checkout", "--quiet", "--orphan", "other")
    repo.commit({"a": "2\n"})
    with FakeGitHub(repo) as github:
        answer = ask(github, "compare/main...other")
        assert (answer.status_code, "No common ancestor" in answer.text) == (404, True)


def test_the_state_changes_between_two_requests(github: FakeGitHub, shop: Repo) -> None:
    github.before(r"/pulls/42$", lambda: github.push(42, "base"), nth=2)
    heads = [repository(github).get_pull(42).head.sha for _ in range(3)]
    assert heads == [shop.git("rev-parse", name) for name in ("head", "base", "base")]
    github.pulls[42].state = "closed"
    assert repository(github).get_pull(42).state == "closed"


def test_pull_requests_by_head_and_state(github: FakeGitHub, shop: Repo) -> None:
    fork = github.add_pull("base", "head", head_repository="eve/shop", author="eve")
    closed = github.add_pull("base", "head", head_repository="eve/shop", state="closed")
    lost = github.add_pull("base", "head", head_repository=None, author="mallory")
    repo = repository(github)
    assert [pull.number for pull in repo.get_pulls(head="eve:feature")] == [fork.number]
    assert [pull.number for pull in repo.get_pulls(state="all", head="eve:feature")] == [closed.number, fork.number]
    assert [pull.head.repo and pull.head.repo.full_name for pull in repo.get_pulls()] == [None, "eve/shop", "acme/shop"]
    assert github.pulls[42].head_repository == "acme/shop"
    # Commits of forks belong to nothing, as on the site.
    commit = shop.git("rev-parse", "head")
    assert [pull["number"] for pull in ask(github, f"commits/{commit}/pulls").json()] == [42]
    github.fork_commits_listed = True
    assert len(ask(github, f"commits/{commit}/pulls").json()) == 4
    assert ask(github, f"commits/{'0' * 40}/pulls").status_code == 422
    assert lost.number == 45
    assert github.violations == []


def test_a_match_on_page_two(github: FakeGitHub) -> None:
    for number in range(101):
        github.add_pull("base", "head", head_ref=f"other-{number}")
    pulls = list(repository(github).get_pulls())
    assert [pulls[-1].number, len(pulls)] == [42, 102]
    assert github.operations == ["GET /repos/{owner}/{repo}/pulls"] * 2


# Runs and artifacts.


def test_runs_by_their_filters(github: FakeGitHub) -> None:
    head = github.pulls[42].head_sha
    fork = github.add_pull("base", "head", head_repository="eve/shop", author="eve")
    other = github.add_run(fork, path=".github/workflows/other.yml", event="push", conclusion="failure")
    lost = github.add_run("f" * 40, head_repository=None, head_branch=None)
    runs = ask(github, "actions/runs", query={"head_sha": head, "event": "pull_request"}).json()
    assert [run["id"] for run in runs["workflow_runs"]] == [5001]
    assert runs["workflow_runs"][0]["pull_requests"][0]["number"] == 42
    assert ask(github, f"actions/runs/{other.id}").json()["pull_requests"] == []
    assert ask(github, f"actions/runs/{lost.id}").json()["head_repository"] is None
    found = repository(github).get_workflow("other.yml").get_runs()
    assert [run.head_repository.full_name for run in found] == ["eve/shop"]
    by_id = ask(github, f"actions/workflows/{other.workflow_id}/runs", query={"status": "success"}).json()
    assert by_id["total_count"] == 0
    assert ask(github, "actions/workflows/none.yml/runs").status_code == 404
    assert ask(github, "actions/runs/1").status_code == 404
    # PyGithub is not lazy about a workflow.
    assert all("actions/workflows/other.yml: not an operation" in text for text in github.violations)


def test_an_artifact_is_downloaded_by_redirect(github: FakeGitHub) -> None:
    found = repository(github).get_artifacts(name="opendrs-brief")[0]
    status, headers, _ = session(github).requester.requestJson("GET", found.archive_download_url)
    location = headers["location"]
    assert status == 302
    assert urlsplit(location).hostname != urlsplit(github.api_url).hostname
    answer = requests.get(location, timeout=10)
    assert found.digest == "sha256:" + hashlib.sha256(answer.content).hexdigest()
    assert found.size_in_bytes == len(answer.content)
    assert zipfile.ZipFile(io.BytesIO(answer.content)).read("brief.json") == b"{}"
    assert [request.host for request in github.requests] == ["api", "api", "blob"]
    assert github.violations == []
    # Once.
    assert requests.get(location, timeout=10).status_code == 403


def test_the_blob_host_refuses_a_token(github: FakeGitHub) -> None:
    location = ask(github, "actions/artifacts/9001/zip").headers["location"]
    answer = requests.get(location, headers={"Authorization": f"Bearer {github.token}"}, timeout=10)
    assert (answer.status_code, "InvalidAuthenticationInfo" in answer.text) == (403, True)
    assert len(github.violations) == 1
    assert "token was sent" in github.violations[0]


def test_pygithub_refuses_the_redirect(github: FakeGitHub) -> None:
    with pytest.raises(AssertionError):
        session(github).requester.getStream(f"{github.repository_url}/actions/artifacts/9001/zip")


def test_addresses_expire_and_artifacts_too(github: FakeGitHub) -> None:
    location = ask(github, "actions/artifacts/9001/zip").headers["location"]
    github.expire_signatures()
    assert requests.get(location, timeout=10).status_code == 403
    artifact = github.artifacts[9001]
    artifact.gone = True
    assert ask(github, "actions/artifacts/9001/zip").status_code == 410
    assert ask(github, "actions/runs/5001/artifacts").json()["artifacts"][0]["expired"] is False
    artifact.gone, artifact.expired = False, True
    assert ask(github, "actions/artifacts/9001/zip").status_code == 410
    assert ask(github, "actions/runs/5001/artifacts").json()["artifacts"][0]["expired"] is True
    artifact.expired, artifact.missing = False, True
    assert ask(github, "actions/artifacts/9001/zip").status_code == 404


def test_artifacts_of_a_run_by_name_page_and_order(github: FakeGitHub) -> None:
    for number in range(100):
        github.add_artifact(5001, b"", name=f"log-{number}")
    named = {"name": "opendrs-brief", "per_page": "100"}
    listed = ask(github, "actions/runs/5001/artifacts", query=named).json()
    assert (listed["total_count"], [one["id"] for one in listed["artifacts"]]) == (1, [9001])
    github.ignore_filters = github.drop_total_count = True
    first = ask(github, "actions/runs/5001/artifacts", query=named)
    assert (first.json().keys(), len(first.json()["artifacts"])) == ({"artifacts"}, 100)
    assert "name=opendrs-brief" in first.links["next"]["url"]
    second = requests.get(first.links["next"]["url"], headers={"Authorization": f"Bearer {github.token}"}, timeout=10)
    assert [one["id"] for one in second.json()["artifacts"]] == [9001]
    github.artifacts_ascending = True
    assert ask(github, "actions/artifacts").json()["artifacts"][0]["id"] == 9001
    github.fixed_page_size = 10
    assert len(ask(github, "actions/artifacts", query={"per_page": "100"}).json()["artifacts"]) == 10
    assert github.violations == []


def test_zips_of_every_kind() -> None:
    good = zipfile.ZipFile(io.BytesIO(zip_of({"brief.json": b"{}", "a/b": "text"})))
    assert good.namelist() == ["brief.json", "a/b"]
    twice = zipfile.ZipFile(io.BytesIO(zip_of({"x": b"1"}, extra=[("x", b"2"), ("../up", b"")])))
    assert twice.namelist() == ["x", "x", "../up"]
    link = zipfile.ZipFile(io.BytesIO(zip_of({}, links={"brief.json": "/etc/passwd"}))).infolist()[0]
    assert link.external_attr >> 16 == 0o120777
    locked = zipfile.ZipFile(io.BytesIO(zip_of({"x": b"1"}, encrypted=True)))
    with pytest.raises(RuntimeError, match="encrypted"):
        locked.read("x")
    forged = zipfile.ZipFile(io.BytesIO(zip_of({"x": b"1" * 100}, forged_sizes={"x": 5})))
    assert forged.getinfo("x").file_size == 5
    with pytest.raises(zipfile.BadZipFile):
        zipfile.ZipFile(io.BytesIO(zip_of({"x": b"1"}, keep=20)))
    bomb = zip_bomb(3_000_001)
    assert len(bomb) < 10_000
    assert zipfile.ZipFile(io.BytesIO(bomb)).getinfo("brief.json").file_size == 3_000_001


# Contents.


def test_contents_of_every_shape(github: FakeGitHub, shop: Repo) -> None:
    repo = repository(github)
    assert repo.get_contents("src/api.ts", ref="base").decoded_content.decode() == BEFORE["src/api.ts"]
    assert {one.path: one.type for one in repo.get_contents("src", ref="base")} == {
        "src/api.ts": "file",
        "src/gone.ts": "file",
        "src/old name.ts": "file",
        "src/pure.ts": "file",
    }
    root = {one.path: one.type for one in repo.get_contents("", ref="base")}
    assert (root["src"], root["away"], root["lib"]) == ("dir", "symlink", "dir")
    assert ask(github, "contents/lib", query={"ref": "base"}).json()[0]["type"] == "file"
    module = ask(github, "contents/lib/x", query={"ref": "base"}).json()
    assert (module["type"], module["submodule_git_url"]) == ("submodule", "https://example.com/x.git")
    assert ask(github, "contents/away").json()["target"] == "/etc/passwd"
    followed = ask(github, "contents/link.md", query={"ref": "base"}).json()
    assert (followed["type"], base64.b64decode(followed["content"])) == ("file", b"# shop\n")
    assert ask(github, "contents/link.md").json()["sha"] == shop.git("rev-parse", "tip:README.md")
    assert ask(github, "contents/src", accept="application/vnd.github.object").json()["entries"]
    assert ask(github, "contents/none").status_code == 404
    assert ask(github, "contents/src/api.ts", query={"ref": "none"}).status_code == 404
    assert github.violations == []


def test_raw_contents_and_their_sizes(github: FakeGitHub) -> None:
    raw = "application/vnd.github.raw"
    assert ask(github, "contents/docs/latin.txt", accept=raw).content == LATIN
    assert ask(github, "contents/src%2Fapi.ts", accept=f"{raw}+json").text == BEFORE["src/api.ts"]
    github.limits.contents_json = 10
    large = ask(github, "contents/src/api.ts").json()
    assert (large["encoding"], large["content"]) == ("none", "")
    assert ask(github, "contents/src/api.ts", accept=raw).text == BEFORE["src/api.ts"]
    github.limits.contents_raw = 20
    assert ask(github, "contents/src/api.ts", accept=raw).status_code == 403
    assert github.violations == []


# Comments.


def test_a_comment_is_made_changed_and_removed(github: FakeGitHub) -> None:
    issue = repository(github).get_issue(42)
    made = issue.create_comment("hello")
    assert (made.user.login, made.user.type, made.user.id) == ("github-actions[bot]", "Bot", 41898282)
    issue.get_comment(made.id).edit("changed")
    assert [comment.body for comment in issue.get_comments()] == ["changed"]
    assert github.comments_on(42)[0].updated_at > github.comments_on(42)[0].created_at
    issue.get_comment(made.id).delete()
    assert github.comments_on(42) == []
    assert ask(github, f"issues/comments/{made.id}").status_code == 404
    assert github.violations == []


def test_comments_come_by_id_a_hundred_a_page(github: FakeGitHub) -> None:
    for number in range(101):
        github.add_comment(42, f"comment {number}")
    bodies = [comment.body for comment in repository(github).get_issue(42).get_comments()]
    assert bodies == [f"comment {number}" for number in range(101)]
    assert len(github.requests) == 2
    assert len(ask(github, "issues/42/comments").json()) == 30


def test_what_a_comment_may_not_be(github: FakeGitHub) -> None:
    issue = repository(github).get_issue(42)
    with pytest.raises(pygithub.GithubException) as caught:
        issue.create_comment("x" * 65_537)
    assert caught.value.status == 422
    assert "too long" in caught.value.data["errors"][0]["message"]
    assert issue.create_comment("é" * 65_536).id
    with pytest.raises(pygithub.GithubException) as caught:
        issue.get_comment(70_001).edit("x" * 65_537)
    assert caught.value.status == 422
    with pytest.raises(pygithub.GithubException) as caught:
        issue.create_comment(" ")
    assert caught.value.status == 422
    github.pulls[42].locked = True
    with pytest.raises(pygithub.GithubException) as caught:
        issue.create_comment("hello")
    assert (caught.value.status, "issue is locked" in caught.value.data["message"]) == (403, True)
    assert ask(github, "issues/1/comments", method="POST", body={"body": "x"}).status_code == 404
    assert github.violations == []


def test_a_comment_that_is_stored_and_not_confirmed(github: FakeGitHub) -> None:
    github.faults.append(fault(performed(broken(502)), r"/comments$", method="POST", nth=1))
    github.hide_new_comments_for = 1
    assert ask(github, "issues/42/comments", method="POST", body={"body": "once"}).status_code == 502
    lists = [[one["body"] for one in ask(github, "issues/42/comments").json()] for _ in range(2)]
    assert lists == [[], ["once"]]
    assert ask(github, "issues/42/comments", method="POST", body={"body": "again"}).status_code == 201


# Permissions.


def test_tokens_and_what_they_may(github: FakeGitHub) -> None:
    github.add_token("fork", kind="fork")
    github.add_token("nothing", permissions={})
    github.add_token("reader", contents="read", pull_requests="read")
    github.add_token("app", kind="app")
    github.add_token("person", kind="user", login="ada", issues="write")
    assert ask(github, "pulls/42", token="unknown").status_code == 401
    assert requests.get(f"{github.repository_url}/pulls/42", timeout=10).status_code == 401
    for token in ("fork", "reader"):
        with pytest.raises(pygithub.GithubException) as caught:
            repository(github, token).get_issue(42).create_comment("x")
        assert caught.value.status == 403
        assert caught.value.data["message"] == "Resource not accessible by integration"
        headers = {name.lower(): value for name, value in (caught.value.headers or {}).items()}
        assert headers["x-accepted-github-permissions"] == "issues=write; pull_requests=write"
    assert ask(github, "pulls/42", token="nothing").status_code == 404
    assert ask(github, "pulls/42", token="fork").status_code == 200
    assert ask(github, "actions/runs/5001/artifacts", token="reader").status_code == 404
    github.missing_read_status = 403
    assert ask(github, "actions/runs/5001/artifacts", token="reader").status_code == 403
    assert repository(github, "app").get_issue(42).create_comment("x").user.login == "my-app[bot]"
    assert repository(github, "person").get_issue(42).create_comment("x").user.type == "User"
    assert [comment.login for comment in github.comments_on(42)] == ["my-app[bot]", "ada"]
    assert github.violations == []
    assert (
        requests.get(
            f"{github.api_url}/repos/eve/shop/pulls/42", headers={"Authorization": f"token {github.token}"}, timeout=10
        ).status_code
        == 404
    )


def test_an_apps_token_may_not_ask_who_it_is(github: FakeGitHub) -> None:
    with pytest.raises(pygithub.GithubException) as caught:
        assert session(github).get_user().login
    assert caught.value.status == 403
    assert len(github.violations) == 1


# GraphQL.

BLOBS = """query($name: String!, $base: String!, $none: String!, $latin: String!, $bin: String!, $tree: String!) {
  repository(owner: "acme", name: $name) {
    a: object(expression: $base) { __typename oid ... on Blob { text isBinary isTruncated byteSize } }
    b: object(expression: $none) { __typename }
    c: object(expression: $latin) { ... on Blob { text isBinary } }
    d: object(expression: $bin) { ... on Blob { text isBinary } }
    e: object(expression: $tree) { __typename ... on Tree { entries { name type mode object { __typename oid } } } }
  }
}"""


def names_of(shop: Repo) -> dict[str, str]:
    commit = shop.git("rev-parse", "base")
    paths = {"base": "src/api.ts", "none": "src/none.ts", "latin": "docs/latin.txt", "bin": "logo.bin", "tree": "src"}
    return {name: f"{commit}:{path}" for name, path in paths.items()}


def test_graphql_reads_blobs_as_git_has_them(github: FakeGitHub, shop: Repo) -> None:
    headers, answer = session(github).requester.graphql_query(BLOBS, {"name": "shop", **names_of(shop)})
    found = answer["data"]["repository"]
    text = BEFORE["src/api.ts"]
    assert found["a"] == {
        "__typename": "Blob",
        "oid": shop.git("rev-parse", "base:src/api.ts"),
        "text": text,
        "isBinary": False,
        "isTruncated": False,
        "byteSize": len(text),
    }
    assert found["b"] is None
    assert found["c"] == found["d"] == {"text": None, "isBinary": True}
    assert found["e"]["__typename"] == "Tree"
    assert [entry["name"] for entry in found["e"]["entries"]] == ["api.ts", "gone.ts", "old name.ts", "pure.ts"]
    assert found["e"]["entries"][0]["object"]["oid"] == found["a"]["oid"]
    assert headers["x-ratelimit-resource"] == "graphql"
    assert (github.operations, github.violations) == (["POST /graphql"], [])


def test_graphql_objects_by_id_and_commits(github: FakeGitHub, shop: Repo) -> None:
    query = """query($oid: GitObjectID!) { repository(owner: "acme", name: "shop") {
      blob: object(oid: $oid) { __typename ... on Blob { text } }
      commit: object(expression: "refs/pull/42/head") { __typename oid ... on Commit {
        message changedFilesIfAvailable file(path: "added.py") { size } tree { oid entries { name } } } }
      root: object(expression: "HEAD:") { __typename oid }
      gone: object(expression: "nowhere:a") { __typename }
      module: object(expression: "main:lib/x") { __typename }
      defaultBranchRef { name target { oid } } } viewer { login } rateLimit { cost remaining } }"""
    answer = graphql(github, query, oid=shop.git("rev-parse", "base:README.md"))
    found = answer["data"]["repository"]
    assert found["blob"] == {"__typename": "Blob", "text": "# shop\n"}
    assert found["commit"]["oid"] == shop.git("rev-parse", "head")
    assert (found["commit"]["changedFilesIfAvailable"], found["commit"]["file"]["size"]) == (6, 5)
    assert found["root"]["oid"] == shop.git("rev-parse", "main^{tree}")
    assert found["gone"] is found["module"] is None
    assert found["defaultBranchRef"]["target"]["oid"] == shop.git("rev-parse", "main")
    assert answer["data"]["viewer"]["login"] == "github-actions[bot]"
    assert github.violations == []


def test_graphql_cuts_a_long_text(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "shop")
    commit = repo.commit({"long.txt": "a" + "é" * 300_000, "nul.txt": b"a\0b", "empty": b""})
    query = """query($e: String, $n: String, $m: String) { repository(owner: "acme", name: "shop") {
      long: object(expression: $e) { ... on Blob { text isTruncated isBinary byteSize } }
      nul: object(expression: $n) { ... on Blob { text isBinary } }
      empty: object(expression: $m) { ... on Blob { text isBinary } } } }"""
    with FakeGitHub(repo) as github:
        names = {"e": f"{commit}:long.txt", "n": f"{commit}:nul.txt", "m": f"{commit}:empty"}
        found = graphql(github, query, **names)["data"]["repository"]
        assert len(found["long"]["text"].encode()) == 511_999
        assert (found["long"]["isTruncated"], found["long"]["byteSize"]) == (True, 600_001)
        assert found["nul"] == {"text": None, "isBinary": True}
        assert found["empty"] == {"text": "", "isBinary": False}
        github.blob_overrides["empty"] = {"isBinary": None}
        assert graphql(github, query, **names)["data"]["repository"]["empty"]["isBinary"] is None


def test_graphql_pages_through_comments(github: FakeGitHub) -> None:
    github.add_token("app", kind="app")
    for number in range(250):
        github.add_comment(42, f"comment {number}", login="my-app[bot]" if number == 3 else "eve")
    query = """query($last: Int, $before: String, $first: Int, $after: String) {
      repository(owner: "acme", name: "shop") { pullRequest(number: 42) {
        headRefOid baseRefOid isCrossRepository state locked author { __typename login }
        comments(last: $last, before: $before, first: $first, after: $after) {
          totalCount pageInfo { hasPreviousPage hasNextPage startCursor endCursor }
          nodes { fullDatabaseId body viewerDidAuthor isMinimized author { __typename login } } } } } }"""
    bodies: list[str] = []
    found = None
    cursor = None
    while True:
        pull = graphql(github, query, "app", last=100, before=cursor)["data"]["repository"]["pullRequest"]
        page = pull["comments"]
        bodies = [node["body"] for node in page["nodes"]] + bodies
        found = next((node for node in page["nodes"] if node["viewerDidAuthor"]), found)
        cursor = page["pageInfo"]["startCursor"]
        if not page["pageInfo"]["hasPreviousPage"]:
            break
    assert bodies == [f"comment {number}" for number in range(250)]
    assert found is not None
    assert found["author"] == {"__typename": "Bot", "login": "my-app"}
    assert found["fullDatabaseId"] == str(github.comments_on(42)[3].id)
    assert (pull["headRefOid"], pull["isCrossRepository"]) == (github.pulls[42].head_sha, False)
    first = graphql(github, query, first=100, after=cursor)["data"]["repository"]["pullRequest"]["comments"]
    assert first["nodes"][0]["body"] == "comment 1"
    assert len(github.requests) == 4
    assert github.violations == []


def test_graphql_permissions_and_what_is_not_there(github: FakeGitHub) -> None:
    github.add_token("nothing", permissions={})
    query = 'query($n: Int!) { repository(owner: "acme", name: "shop") { pullRequest(number: $n) { number } } }'
    refused = graphql(github, query, "nothing", n=42)
    assert (refused["errors"][0]["type"], refused["data"]["repository"]["pullRequest"]) == ("FORBIDDEN", None)
    unread = graphql(
        github, '{ repository(owner: "acme", name: "shop") { object(expression: "main:a") { oid } } }', "nothing"
    )
    assert unread["errors"][0]["type"] == "FORBIDDEN"
    with pytest.raises(pygithub.UnknownObjectException):
        session(github).requester.graphql_query(query, {"n": 1})
    other = graphql(github, '{ repository(owner: "eve", name: "shop") { id } }')
    assert (other["errors"][0]["type"], other["data"]) == ("NOT_FOUND", {"repository": None})
    assert github.violations == []


def test_graphql_has_its_limits(github: FakeGitHub) -> None:
    github.limits.aliases = 2
    query = '{ repository(owner: "acme", name: "shop") { %s } }'
    fine = query % " ".join(f'b{number}: object(expression: "main:a") {{ oid }}' for number in range(2))
    assert "data" in graphql(github, fine)
    long = query % " ".join(f'b{number}: object(expression: "main:a") {{ oid }}' for number in range(3))
    with pytest.raises(pygithub.GithubException) as caught:
        session(github).requester.graphql_query(long, {})
    assert (caught.value.status, "timeout" in str(caught.value.data)) == (502, True)


# Violations.

COMMENTS = '{ repository(owner: "acme", name: "shop") { pullRequest(number: 42) { comments%s { totalCount } } } }'


@pytest.mark.parametrize(
    ("path", "options", "told"),
    [
        ("pulls/42?ref=x", {}, "query.ref: no parameter"),
        ("pulls?state=merged", {}, "'merged' is none of"),
        ("pulls?per_page=ten", {}, "query.per_page: integer expected"),
        ("pulls?per_page=101", {}, "query.per_page: 1 to 100"),
        ("pulls/forty-two", {}, "path.pull_number: integer expected"),
        ("pulls/42/reviews", {}, "not an operation"),
        ("/pulls/42", {}, "not an operation"),
        ("issues/42/comments", {"method": "POST", "body": {}}, "body is missing"),
        ("issues/42/comments", {"method": "POST", "body": {"body": "x", "event": "y"}}, "event is not described"),
        ("pulls/42", {"body": {}}, "takes none"),
        ("pulls/42", {"accept": "application/vnd.github.raw"}, "no raw of this"),
        ("pulls/42", {"accept": "text/html"}, "text/html is not known"),
    ],
)
def test_what_does_not_fit_the_description_is_noted(
    github: FakeGitHub, path: str, options: dict[str, Json], told: str
) -> None:
    ask(github, path, **options)
    assert len(github.violations) == 1
    assert told in github.violations[0]


@pytest.mark.parametrize(
    ("query", "variables", "told"),
    [
        ("{ viewer { name } }", {}, "Cannot query field 'name'"),
        ("{ viewer { ", {}, "Syntax Error"),
        ('query($n: Int!) { repository(owner: "acme", name: "shop") { pullRequest(number: $n) { id } } }', {}, "$n"),
        (COMMENTS % "", {}, "`first` or `last`"),
        (COMMENTS % "(last: 101)", {}, "101 records"),
    ],
)
def test_a_query_that_does_not_fit_the_schema_is_noted(
    github: FakeGitHub, query: str, variables: dict[str, Json], told: str
) -> None:
    assert "errors" in graphql(github, query, **variables)
    assert len(github.violations) == 1
    assert told in github.violations[0]


def test_headers_that_github_refuses(github: FakeGitHub) -> None:
    url = f"{github.repository_url}/pulls/42"
    known = {"Authorization": f"Bearer {github.token}"}
    no_agent = requests.get(url, headers={**known, "User-Agent": ""}, timeout=10)
    old = requests.get(url, headers={**known, "X-GitHub-Api-Version": "2021-01-01"}, timeout=10)
    assert [no_agent.status_code, old.status_code] == [403, 400]
    assert len(github.violations) == 2


def asked_of_an_odd_pull(shop: Repo, error: BaseException | None, **fields: Json) -> None:
    with FakeGitHub(shop) as github:
        github.add_pull("base", "head", **fields)
        with pytest.raises(requests.ConnectionError):
            ask(github, "pulls/42")
        if error:
            raise error


def test_a_reply_that_does_not_fit_is_raised_at_the_end(shop: Repo) -> None:
    with pytest.raises(AssertionError, match=r"reply\.title: string expected, not int"):
        asked_of_an_odd_pull(shop, None, title=7)
    with pytest.raises(KeyError) as caught:
        asked_of_an_odd_pull(shop, KeyError(), author_association="FRIEND")
    assert "is none of" in caught.value.__notes__[0]


# Faults.


def test_faults_by_rule_and_number(github: FakeGitHub) -> None:
    github.faults += [
        fault(broken(503), "/pulls/", nth=[1, 3]),
        fault(reply(200, {"odd": True}, {"X-Odd": "1"}), "/pulls/42$", method="GET", nth=2),
    ]
    answers = [ask(github, "pulls/42") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [503, 200, 503, 200]
    assert answers[3].json()["number"] == 42
    github.faults[:] = [fault(html(), r"/pulls/")]
    assert ask(github, "pulls/42").text.startswith("<!doctype html>")
    github.faults[:] = [fault(broken(500), host="blob")]
    location = ask(github, "actions/artifacts/9001/zip").headers["location"]
    assert requests.get(location, timeout=10).status_code == 500
    github.faults.clear()
    assert requests.get(location, timeout=10).status_code == 200


@pytest.mark.parametrize("action", [reset(), close(), close_mid_body(), close_mid_body(with_reset=True)])
def test_connections_that_break(github: FakeGitHub, action: Any) -> None:
    github.faults.append(fault(action, "/pulls/", nth=1))
    with pytest.raises((requests.ConnectionError, requests.exceptions.ChunkedEncodingError)):
        ask(github, "pulls/42")
    assert ask(github, "pulls/42").status_code == 200


def test_bodies_that_are_cut_or_slow(github: FakeGitHub) -> None:
    github.faults += [
        fault(truncated(), r"\.zip$", nth=1),
        fault(trickle(0.0001), r"\.zip$", nth=2),
        fault(changed(lambda answer: Reply(answer.status, answer.data + b"more")), r"\.zip$", nth=3),
    ]
    whole = github.artifacts[9001].data
    bodies = [
        requests.get(ask(github, "actions/artifacts/9001/zip").headers["location"], timeout=10).content
        for _ in range(3)
    ]
    assert bodies == [whole[: len(whole) // 2], whole, whole + b"more"]


def test_rate_limits_as_pygithub_takes_them(github: FakeGitHub) -> None:
    github.faults += [
        fault(primary_rate_limit(60), nth=1),
        fault(secondary_rate_limit(), nth=2),
        fault(secondary_rate_limit(3600), nth=3),
        fault(too_many(2), nth=4),
        fault(too_many(), nth=5),
    ]
    answers = [ask(github, "pulls/42") for _ in range(5)]
    assert [answer.status_code for answer in answers] == [403, 403, 403, 429, 429]
    assert [answer.headers.get("retry-after") for answer in answers] == [None, None, "3600", "2", None]
    github.faults[:] = [fault(primary_rate_limit())]
    with pytest.raises(pygithub.RateLimitExceededException):
        assert repository(github).get_pull(42).title
    retry = pygithub.GithubRetry(total=1, max_rate_limit_wait=20)
    patient = pygithub.Github(auth=pygithub.Auth.Token(github.token), base_url=github.api_url, lazy=True, retry=retry)
    with pytest.raises(pygithub.GithubException):
        assert patient.get_repo("acme/shop").get_pull(42).title


def test_the_hours_requests_come_to_an_end(github: FakeGitHub) -> None:
    github.limits.rest_requests = 2
    assert [ask(github, "pulls/42").status_code for _ in range(3)] == [200, 200, 403]
    assert session(github).get_rate_limit().resources.core.remaining == 0


def test_a_server_that_hangs_ends_with_the_test(shop: Repo) -> None:
    came = threading.Event()
    with ThreadPoolExecutor() as pool:
        with FakeGitHub(shop) as github:
            github.add_pull("base", "head")
            github.faults.append(fault(hang(), "/pulls/"))
            github.before("/pulls/", came.set)
            asked = pool.submit(ask, github, "pulls/42")
            assert came.wait(10)
        assert isinstance(asked.exception(10), requests.ConnectionError)


def test_requests_side_by_side(github: FakeGitHub) -> None:
    both = threading.Event()
    seen: list[int] = []

    def note() -> None:
        seen.append(1)
        if len(seen) == 2:
            both.set()

    github.before("/pulls", note, nth=None)
    github.faults.append(fault(delayed(both)))
    with ThreadPoolExecutor() as pool:
        answers = list(pool.map(lambda path: ask(github, path), ["pulls/42", "pulls"]))
    assert [answer.status_code for answer in answers] == [200, 200]
    assert github.most_at_once == 2
    ask(github, "pulls/42")
    assert github.most_at_once == 2


# Events and addresses.


def test_events_as_a_runner_writes_them(github: FakeGitHub) -> None:
    event = github.event_pull_request(42)
    assert event["pull_request"] == ask(github, "pulls/42").json()
    assert (event["number"], event["repository"]["full_name"]) == (42, "acme/shop")
    run = github.event_workflow_run(5001)
    assert run["workflow_run"] == ask(github, "actions/runs/5001").json()
    assert run["workflow"]["path"] == ".github/workflows/brief.yml"
    assert github.event_workflow_dispatch({"pr-number": "42"})["inputs"] == {"pr-number": "42"}
    assert "pull_request" not in github.event_workflow_dispatch()
    event["repository"]["full_name"] = "mine now"
    assert ask(github, "pulls/42").json()["base"]["repo"]["full_name"] == "acme/shop"
    assert github.environment["GITHUB_API_URL"] == github.api_url


def test_addresses_without_a_prefix(shop: Repo) -> None:
    with FakeGitHub(shop, prefix="", repository="octo/thing") as github:
        pull = github.add_pull("base", "head")
        assert repository(github).get_pull(pull.number).base.repo.full_name == "octo/thing"
        assert session(github).requester.graphql_query("{ viewer { login } }", {})[1]["data"]["viewer"]
        assert github.graphql_url == f"{github.server_url}/graphql"
        assert github.violations == []
