"""GitHub's API as a job meets it: limits, silence, refusals, odd files (S10, A3, A6, A7), against a stateful fake."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.action.job import Project, job, projects
from tests.command import answers, says
from tests.repos import Repo
from tests.servers.github import (
    Action,
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
)
from tests.servers.model import ModelServer, ok
from verifier.diff import Diff, FileDiff, Hunk, Line, parse_diff, parse_hunks
from verifier.evidence.api import Answer, Api, GitHubError
from verifier.evidence.compare import compare_texts
from verifier.evidence.github import GitHubEvidence, fetch_diff, fetch_files, fetch_merge_base, raw_text, texts_at
from verifier.text import fact_hash
from verifier.verification.model import MISSING, UNREADABLE

LFS: Final = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 12345\n"
LONG: Final = "0123456789abcde\n" * 32_001
GRAPHQL: Final = "POST /graphql"
SOON: Final = {"Retry-After": "0"}


@pytest.fixture
def github(tmp_path: Path) -> Iterator[FakeGitHub]:
    """A repository whose one pull request, 42, changes `a.txt`; every request must fit GitHub's description."""
    repo = Repo(tmp_path / "shop")
    base = repo.commit({"a.txt": "one\n", "b.txt": "two\n"})
    with FakeGitHub(repo) as server:
        server.add_pull(base, repo.commit({"a.txt": "1\n"}))
        yield server
        assert server.violations == []


def api_of(github: FakeGitHub, token: str = "", /, **seconds: float) -> Api:
    return Api(token or github.token, github.api_url, github.repository, **seconds)


def read(github: FakeGitHub, **seconds: float) -> Any:
    return api_of(github, **seconds).get("/pulls/42").json()


def ask(github: FakeGitHub, **seconds: float) -> Any:
    pull = github.pulls[42]
    return texts_at(api_of(github, **seconds), [(pull.base_sha, "a.txt"), (pull.base_sha, "b.txt")])


def post(github: FakeGitHub, **seconds: float) -> Any:
    return api_of(github, **seconds).send("POST", "/issues/42/comments", {"body": "hello"}).json()


Asking = Callable[..., Any]
READS: Final[tuple[Asking, ...]] = (read, ask)
REFUSED: Final = pytest.mark.parametrize("asking", [read, ask, post])


# Time.


@pytest.mark.parametrize("asking", READS)
@pytest.mark.parametrize("action", [hang(), trickle()], ids=["silent", "slow"])
def test_a3_reading_ends_with_its_time_whatever_trickles_in(github: FakeGitHub, action: Action, asking: Asking) -> None:
    github.faults.append(fault(action))
    started = time.monotonic()
    with pytest.raises(GitHubError, match="did not answer in the time that a job waits for it") as caught:
        asking(github, read_seconds=0.3)
    assert caught.value.may_have_counted
    assert time.monotonic() - started < 5


def test_a3_writing_has_a_time_of_its_own(github: FakeGitHub) -> None:
    api = api_of(github, read_seconds=0.0, write_seconds=20)
    with pytest.raises(GitHubError):
        api.get("/pulls/42")
    api.now_writing()
    assert api.get("/pulls/42").json()["number"] == 42


# Tried again, or not.


@pytest.mark.parametrize("asking", READS)
def test_a7_a_read_is_tried_three_times(github: FakeGitHub, asking: Asking) -> None:
    github.faults.append(fault(broken(502), nth=1))
    github.faults.append(fault(broken(503, headers=SOON), nth=2))
    assert asking(github)
    assert len(github.requests) == 3


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (broken(503, headers=SOON), "GitHub failed for pulls/42 (503); run the job again. It says: Server Error"),
        (broken(500), "GitHub failed for pulls/42 (500); run the job again. It says: Server Error"),
        (html(500), "GitHub failed for pulls/42 (500); run the job again."),
        (reply(500, "[" * 100_000), "GitHub failed for pulls/42 (500); run the job again."),
        (reset(), "GitHub could not be reached for pulls/42 (ConnectionError); run the job again"),
        (close(), "GitHub could not be reached for pulls/42 (ConnectionError); run the job again"),
        (close_mid_body(), "GitHub could not be reached for pulls/42 (ChunkedEncodingError); run the job again"),
    ],
    ids=["503", "500", "page", "nested", "reset", "closed", "cut"],
)
def test_a6_a_read_that_always_fails_is_one_sentence(github: FakeGitHub, action: Action, words: str) -> None:
    github.faults.append(fault(action))
    with pytest.raises(GitHubError) as caught:
        read(github, read_seconds=1.2)
    assert str(caught.value) == words
    assert len(github.requests) in (2, 3)


def test_a4_a_write_is_sent_once(github: FakeGitHub) -> None:
    """One dispatch became 47 runs, by way of retries."""
    github.faults.append(fault(performed(broken(502)), method="POST"))
    with pytest.raises(GitHubError) as caught:
        post(github)
    assert caught.value.may_have_counted
    assert len(github.comments_on(42)) == 1


def test_a4_a_write_that_a_limit_kept_from_being_done_tells_how_long(github: FakeGitHub) -> None:
    """Whoever writes looks at the pull request again before the second try."""
    github.faults.append(fault(secondary_rate_limit(7)))
    with pytest.raises(GitHubError) as caught:
        post(github)
    assert (caught.value.wait, caught.value.may_have_counted, len(github.requests)) == (7, False, 1)


@pytest.mark.parametrize("asking", READS)
@pytest.mark.parametrize(
    "action",
    [secondary_rate_limit(0), too_many(0), primary_rate_limit(-5)],
    ids=["secondary", "429", "primary, over by now"],
)
def test_a7_a_short_limit_is_waited_for(github: FakeGitHub, action: Action, asking: Asking) -> None:
    github.faults.append(fault(action, nth=1))
    assert asking(github)
    assert len(github.requests) == 2


def test_a7_a_limit_of_a_second_takes_a_second(github: FakeGitHub) -> None:
    github.faults.append(fault(secondary_rate_limit(1), nth=1))
    started = time.monotonic()
    assert read(github)
    assert 1 <= time.monotonic() - started < 10


@REFUSED
@pytest.mark.parametrize(
    ("action", "wait"),
    [
        (primary_rate_limit(1500), "25 min"),
        (secondary_rate_limit(3600), "60 min"),
        (secondary_rate_limit(99), "99 s"),
        (too_many(3600), "60 min"),
        (secondary_rate_limit(), "5 s"),
        (too_many(), "5 s"),
        (too_many("Wed, 21 Oct 2026 07:28:00 GMT"), "5 s"),
        (broken(403, "API rate limit exceeded", {"X-RateLimit-Remaining": "0"}), "21 s"),
        (broken(429, "no", {"Retry-After": "9" * 5_000}), "16666667 min"),
    ],
    ids=["primary", "secondary 3600", "secondary 99", "429 3600", "secondary", "429", "429 date", "no reset", "absurd"],
)
def test_a7_a_limit_longer_than_a_job_waits_is_told_at_once(
    github: FakeGitHub, action: Action, wait: str, asking: Asking
) -> None:
    """24 minutes asleep on the hour's limit."""
    github.faults.append(fault(action))
    with pytest.raises(GitHubError, match=rf"GitHub limits the rate for .* for {wait}: run the job again then"):
        asking(github, read_seconds=3)
    assert len(github.requests) == 1


@REFUSED
def test_a7_a_limit_that_the_deadline_would_bear_is_too_long_all_the_same(github: FakeGitHub, asking: Asking) -> None:
    github.faults.append(fault(secondary_rate_limit(30)))
    with pytest.raises(GitHubError, match=r"limits the rate for .* for 30 s"):
        asking(github, read_seconds=60)
    assert len(github.requests) == 1


def test_a7_used_up_requests_are_told_with_the_time_of_the_next(github: FakeGitHub) -> None:
    github.limits.rest_requests = 1
    read(github)
    with pytest.raises(GitHubError, match=r"for .* min: run the job again then"):
        read(github)


@pytest.mark.parametrize(
    ("headers", "wait"),
    [({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "{}"}, "25 min"), ({"X-RateLimit-Remaining": "7"}, "5 s")],
    ids=["primary", "secondary"],
)
def test_a7_a_graphql_limit_with_status_200_is_one(github: FakeGitHub, headers: dict[str, str], wait: str) -> None:
    headers = {name: value.format(int(time.time()) + 1501) for name, value in headers.items()}
    errors = [{"type": "RATE_LIMITED", "message": "API rate limit exceeded for installation ID 1."}]
    github.faults.append(fault(reply(200, {"errors": errors}, headers)))
    with pytest.raises(GitHubError, match=rf"GitHub limits the rate for GraphQL \(429\) for {wait}"):
        ask(github, read_seconds=3)
    assert len(github.requests) == 1


def test_a7_a_file_that_speaks_of_a_limit_is_none(github: FakeGitHub) -> None:
    github.blob_overrides["a.txt"] = {"text": '"type":"RATE_LIMITED"'}
    assert '"type":"RATE_LIMITED"' in ask(github).values()


# GraphQL's errors.


def with_errors(errors: Any, **data: Any) -> Action:
    """The true answer with errors, and some of its fields of the repository changed."""

    def change(answer: Reply) -> Reply:
        repository = {**answer.body["data"]["repository"], **data}
        return replace(answer, body={"data": {"repository": repository}, "errors": errors})

    return changed(change)


def test_s10_a_file_that_came_with_an_error_is_unreadable_and_the_others_are_not(github: FakeGitHub) -> None:
    error = {"type": "INTERNAL", "path": ["repository", "f0"], "message": "Something went wrong"}
    deeper = {"path": ["repository", "f0", "text"], "message": "again"}
    github.faults.append(fault(with_errors([error, deeper], f0=None)))
    assert list(ask(github).values()) == [UNREADABLE, "two\n"]


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (with_errors([{"message": "Something\n::error::went wrong"}]), " It says: Something ::error::went wrong"),
        (with_errors([{"path": ["repository"], "message": "no"}]), " It says: no"),
        (with_errors([{"path": "repository", "message": "no"}]), " It says: no"),
        (with_errors([None]), ""),
        (with_errors("no"), ""),
        (reply(200, {"data": None}), ""),
        (reply(200, {"data": {"repository": None}}), ""),
        (reply(200, {}), ""),
        (reply(200, []), ""),
        (reply(200, "null"), ""),
    ],
    ids=["no path", "whole", "text for a path", "null", "text", "no data", "no repository", "empty", "list", "nothing"],
)
def test_a6_a_query_without_an_answer_is_one_sentence(github: FakeGitHub, action: Action, said: str) -> None:
    """GitHub tells of its own failures with status 200, and the second try has an answer."""
    github.faults.append(fault(action))
    with pytest.raises(GitHubError) as caught:
        ask(github)
    assert str(caught.value) == f"GitHub failed for GraphQL (502); run the job again.{said}"
    github.faults[:] = [fault(action, nth=1)]
    assert ask(github)


def test_a6_a_repository_that_the_token_may_not_see_is_told_at_once(github: FakeGitHub) -> None:
    error = {"type": "NOT_FOUND", "path": ["repository"], "message": "Could not resolve to a Repository"}
    github.faults.append(fault(reply(200, {"data": {"repository": None}, "errors": [error]})))
    with pytest.raises(GitHubError, match="nothing of acme/shop: Could not resolve to a Repository; may the token"):
        ask(github)
    assert len(github.requests) == 1


@pytest.mark.parametrize(
    "action", [html(), truncated(), reply(200, ""), reply(200, "[" * 100_000)], ids=["page", "cut", "empty", "nested"]
)
def test_a6_what_is_not_json_is_one_sentence(github: FakeGitHub, action: Action) -> None:
    github.faults.append(fault(action))
    for asking in READS:
        with pytest.raises(GitHubError, match=r"^GitHub answered with something else than JSON; run the job again$"):
            asking(github)


# Many files.


def many(github: FakeGitHub, count: int) -> dict[tuple[str, str], str]:
    """Places and texts of so many files at a new commit."""
    files = {f"many/{at:03}.txt": f"{at}\n" for at in range(count)}
    commit = github.repo.commit(files)
    return {(commit, path): text for path, text in files.items()}


def test_a7_a_query_that_takes_github_too_long_is_asked_in_halves(github: FakeGitHub) -> None:
    """A server that gives up on sixty files answers thirty, or fifteen."""
    github.limits.aliases = 15
    places = many(github, 60)
    assert texts_at(api_of(github), list(places)) == places
    assert github.operations == [GRAPHQL] * (1 + 2 + 4)


def test_a7_a_query_is_not_halved_for_ever(github: FakeGitHub) -> None:
    github.faults.append(fault(broken(502)))
    with pytest.raises(GitHubError, match=r"GitHub failed for GraphQL \(502\)"):
        texts_at(api_of(github, read_seconds=1), list(many(github, 26)))
    assert len(github.requests) <= 3 + 3


def test_a7_a_refusal_is_not_asked_in_halves(github: FakeGitHub) -> None:
    github.faults.append(fault(broken(401)))
    with pytest.raises(GitHubError, match="does not accept the token"):
        texts_at(api_of(github), list(many(github, 60)))
    assert len(github.requests) == 1


def test_a7_more_than_a_hundred_files_are_asked_for_side_by_side(github: FakeGitHub) -> None:
    places = many(github, 250)
    came = threading.Event()
    github.before("/graphql", came.set, nth=3)
    github.faults.append(fault(delayed(came)))
    assert texts_at(api_of(github), list(places)) == places
    assert (len(github.requests), github.most_at_once) == (3, 3)
    assert texts_at(api_of(github), []) == {}


# Odd files.

ODD: Final[dict[str, tuple[bytes, Any]]] = {
    "plain.txt": (b"one\ntwo\n", "one\ntwo\n"),
    "empty.txt": (b"", ""),
    "bom-crlf.txt": (b"\xef\xbb\xbfa\r\nb", "\ufeffa\r\nb"),
    "pointer.bin": (LFS.encode(), LFS),
    "a:b @{1} ü.txt": (b"x\n", "x\n"),
    "long.txt": (LONG.encode(), UNREADABLE),
    "zero.dat": (b"\0\1\2", UNREADABLE),
    "latin-1.txt": (b"caf\xe9\n", UNREADABLE),
    "sign.txt": ("\ufffd\n".encode(), UNREADABLE),
}


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeGitHub]:
    repo = Repo(tmp_path_factory.mktemp("odd") / "shop")
    for path, (data, _) in ODD.items():
        repo.write(path, data)
    repo.write("folder/inner.txt", "x\n")
    repo.link("link", "plain.txt")
    repo.commit()
    repo.submodule("dep", repo.head)
    commit = repo.commit()
    with FakeGitHub(repo) as server:
        server.add_pull(commit, commit)
        yield server
        assert server.violations == []


def test_s10_each_kind_of_file_is_text_or_unreadable_or_missing(odd: FakeGitHub) -> None:
    """Shapes of the contents API that ended in tracebacks."""
    expected = {path: text for path, (_, text) in ODD.items()} | {
        "link": "plain.txt",  # as the diff shows it
        "dep": MISSING,  # its commit is another repository's
        "folder": UNREADABLE,
        "plain.txt/x": MISSING,
        "nowhere.txt": MISSING,
        "caf\ufffd.txt": UNREADABLE,  # the sign may stand for another byte
    }
    evidence = GitHubEvidence(api_of(odd), 42, odd.pulls[42].base_sha, odd.pulls[42].head_sha, Diff(()))
    assert evidence.base_texts(frozenset(expected)) == expected
    assert evidence.diff() == Diff(())


@pytest.mark.parametrize("blob", ["text", ["list"], {"isBinary": None, "isTruncated": False, "text": "x"}, {"text": 1}])
def test_s10_a_blob_of_another_shape_is_unreadable(github: FakeGitHub, blob: Any) -> None:
    def change(answer: Reply) -> Reply:
        return replace(answer, body={"data": {"repository": {"f0": blob}}})

    github.faults.append(fault(changed(change)))
    assert list(ask(github).values()) == [UNREADABLE, MISSING]


@pytest.mark.parametrize(("path", "text"), [("long.txt", LONG), ("a:b @{1} ü.txt", "x\n"), ("latin-1.txt", UNREADABLE)])
def test_s31_what_graphql_cuts_is_read_raw(odd: FakeGitHub, path: str, text: Any) -> None:
    assert raw_text(api_of(odd), odd.pulls[42].base_sha, path) == text


# Permissions.

NEEDED: Final = {
    "/pulls/42": "pull-requests: read",
    "/issues/42/comments": "pull-requests: write",
    "/actions/runs/1/artifacts": "actions: read",
    "/compare/main...main": "contents: read",
}


@pytest.mark.parametrize("path", NEEDED)
def test_a6_a_missing_permission_is_named(github: FakeGitHub, path: str) -> None:
    """A 404 from GitHub is a token that may not read as often as it is a thing that is not there."""
    token = github.add_token("ghs_none", permissions={}).value
    with pytest.raises(GitHubError) as caught:
        api_of(github, token).get(path)
    assert str(caught.value) == (f"GitHub has no {path[1:]} (404), or the job's permissions lack `{NEEDED[path]}`")


def test_a6_the_permission_that_github_names_is_quoted(github: FakeGitHub) -> None:
    github.missing_read_status = 403
    token = github.add_token("ghs_none", permissions={}).value
    with pytest.raises(GitHubError) as caught:
        api_of(github, token).send("POST", "/issues/42/comments", {"body": "x"})
    assert str(caught.value) == (
        "the token may not do this: issues/42/comments (403): add `pull-requests: write` to the job's permissions. "
        "It says: Resource not accessible by integration"
    )
    assert not caught.value.may_have_counted
    github.faults.append(fault(broken(403, "No")))
    for path, permission in NEEDED.items():
        with pytest.raises(GitHubError, match=rf"add `{permission}` to the job's permissions. It says: No"):
            api_of(github).get(path)


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ("issues=read; pull_requests=read", "pull-requests: read"),
        ("organization_projects=admin", "organization-projects: admin"),
        ("a=write; b=write", "a: write"),
    ],
)
def test_a6_of_permissions_that_would_do_the_one_that_we_ask_for_is_named(
    github: FakeGitHub, named: str, told: str
) -> None:
    github.faults.append(fault(reply(403, {"message": "No"}, {"X-Accepted-GitHub-Permissions": named})))
    with pytest.raises(GitHubError, match=rf"add `{told}` to the job's permissions"):
        api_of(github).get("/pulls/42")


@REFUSED
def test_a6_a_token_that_is_none_says_what_to_give(github: FakeGitHub, asking: Asking) -> None:
    github.tokens.clear()
    with pytest.raises(GitHubError) as caught:
        asking(github)
    assert str(caught.value) == "GitHub does not accept the token (401): give github-token ${{ github.token }}"


def test_a7_pages_without_end_are_one_sentence(github: FakeGitHub) -> None:
    more = {"Link": '<http://127.0.0.1/next>; rel="next"'}
    github.faults.append(fault(reply(200, [{}], more), r"/files$"))
    with pytest.raises(GitHubError, match="lists more than 10,000 entries for pulls/42/files"):
        api_of(github).pages("/pulls/42/files")
    assert len(github.requests) == 100


@pytest.mark.parametrize("status", [307, 308])
def test_a6_a_renamed_repository_is_followed_on_the_same_host_only(github: FakeGitHub, status: int) -> None:
    there = f"{github.api_url}/repositories/{github.repository_id}/issues/42/comments"
    github.faults.append(fault(reply(status, {}, {"Location": there}), "/repos/", method="POST"))
    assert post(github)
    assert len(github.comments_on(42)) == 1
    github.faults[:] = [fault(reply(status, {}, {"Location": "https://elsewhere.example/"}))]
    with pytest.raises(GitHubError, match=rf"\({status}\)"):
        post(github)


# Lists, and other shapes.


@pytest.mark.parametrize("body", ["null", "1", {}, {"artifacts": None}, "{}"])
def test_a6_a_list_that_is_none_is_one_sentence(github: FakeGitHub, body: Any) -> None:
    github.faults.append(fault(reply(200, body)))
    with pytest.raises(GitHubError, match=r"^GitHub answered pulls with no list; run the job again$"):
        api_of(github).pages("/pulls")


@pytest.mark.parametrize("body", ["null", "[]", {}, {"merge_base_commit": "x"}, {"merge_base_commit": {"sha": 1}}])
def test_a6_a_comparison_without_merge_base_is_one_sentence(github: FakeGitHub, body: Any) -> None:
    github.faults.append(fault(reply(200, body)))
    with pytest.raises(GitHubError, match=r"^GitHub names no merge base for the pull request; run the job again$"):
        fetch_merge_base(api_of(github), "main", "main")


def test_a6_a_download_without_an_address_is_one_sentence(github: FakeGitHub) -> None:
    with pytest.raises(GitHubError, match=r"^GitHub named no place to download the artifact from; run the job again$"):
        api_of(github).location("/pulls/42")


def test_answers_have_their_headers_in_lower_case(github: FakeGitHub) -> None:
    answer = api_of(github).get("/pulls/42")
    assert isinstance(answer, Answer)
    assert "x-ratelimit-remaining" in answer.headers


# The diff.


def shapes(file: FileDiff) -> Any:
    """What a file's diff says, without the words after a hunk's numbers and git's note on a missing line feed."""
    lines = [[line for line in hunk.lines if line.sign != "\\"] for hunk in file.hunks]
    return file.old_path, file.new_path, file.copied, file.submodule, lines


def in_all(diff: Diff) -> dict[str, Any]:
    return {file.paths[0]: shapes(file) for file in diff.files}


@pytest.fixture
def changes(tmp_path: Path) -> Iterator[FakeGitHub]:
    """A pull request with every kind of change."""
    repo = Repo(tmp_path / "shop")
    lines = [f"{at}\n" for at in range(40)]
    for name in ("modified", "omitted", "gone", "gone-omitted", "old-pure", "old-changed", "old-omitted", "unwanted"):
        repo.write(f"{name}.txt", name + "\n" + "".join(lines))
    repo.write("blob.bin", b"\0one")
    repo.write("was-text", "x\n")
    repo.link("link", "a")
    repo.commit()
    repo.submodule("dep", repo.head)
    base = repo.commit()
    lines[5], lines[30] = "five\n", "thirty\n"
    for name in ("modified", "omitted", "unwanted"):
        repo.write(f"{name}.txt", name + "\n" + "".join(lines))
    for name in ("pure", "changed", "omitted"):
        repo.move(f"old-{name}.txt", f"new-{name}.txt")
    for name in ("changed", "omitted"):
        repo.write(f"new-{name}.txt", f"old-{name}\n" + "".join(lines))
    repo.remove("gone.txt")
    repo.remove("gone-omitted.txt")
    repo.remove("link")
    repo.link("link", "b")
    repo.write("blob.bin", b"\0two")
    repo.write("added.txt", "new\n")
    repo.write("added-omitted.txt", "newer\n")
    repo.submodule("dep", base)
    repo.git("add", "--all", "--force", ".", ":!dep")
    repo.git("commit", "--quiet", "-m", "all")
    with FakeGitHub(repo) as server:
        server.add_pull(base, repo.head)
        server.without_patch = {f"{name}.txt" for name in ("omitted", "gone-omitted", "new-omitted", "added-omitted")}
        server.without_patch.add("unwanted.txt")
        yield server
        assert server.violations == []


WANTED: Final = frozenset(f"{name}.txt" for name in ("omitted", "gone-omitted", "old-omitted", "added-omitted", "x"))


def listed(github: FakeGitHub, wanted: frozenset[str] = WANTED) -> Diff:
    pull = github.pulls[42]
    return fetch_files(api_of(github), 42, github.pull_base(pull), pull.head_sha, wanted)


@pytest.mark.parametrize("page", [100, 2])
def test_a7_the_list_of_files_says_what_the_refused_diff_would_have(changes: FakeGitHub, page: int) -> None:
    """Patches that are left out are made from both texts, where an item asks for them."""
    whole = fetch_diff(api_of(changes), 42)
    assert whole is not None
    changes.limits.diff_files = 1
    changes.limits.page = page
    assert fetch_diff(api_of(changes), 42) is None
    expected, found = in_all(whole), in_all(listed(changes))
    assert found.pop("unwanted.txt") == ("unwanted.txt", "unwanted.txt", False, False, [])
    assert expected.pop("unwanted.txt")[-1] != []
    assert found == expected
    assert changes.operations.count(GRAPHQL) == 1


def test_a7_more_files_than_a_page_holds_are_all_listed(github: FakeGitHub) -> None:
    pull = github.pulls[42]
    places = many(github, 130)
    github.push(pull, next(iter(places))[0])
    assert set(in_all(listed(github))) == {"a.txt", *(path for _, path in places)}
    assert len([request for request in github.requests if request.path.endswith("/files")]) == 2


def test_s10_a_patch_that_is_left_out_of_a_file_without_text_shows_nothing(changes: FakeGitHub) -> None:
    changes.blob_overrides["omitted.txt"] = {"isTruncated": True}
    changes.blob_overrides["added-omitted.txt"] = {"isBinary": True, "text": None}
    found = in_all(listed(changes))
    assert found["omitted.txt"][-1] == found["added-omitted.txt"][-1] == []
    assert found["gone-omitted.txt"][-1] != []


def test_a_copied_file_is_not_its_source(changes: FakeGitHub) -> None:
    def copied(answer: Reply) -> Reply:
        body = [{**entry, "status": "copied"} if "previous_filename" in entry else entry for entry in answer.body]
        return replace(answer, body=[*body, "no entry"])

    changes.faults.append(fault(changed(copied), "/files$"))
    files = {file.new_path: file for file in listed(changes).files}
    assert files["new-pure.txt"] == FileDiff("old-pure.txt", "new-pure.txt", copied=True)
    assert files["new-pure.txt"].paths == ("new-pure.txt",)


@pytest.mark.parametrize(
    "action", [html(), reply(200, "{}"), reply(200, "null"), truncated()], ids=["page", "{}", "null", "cut"]
)
def test_a6_a_diff_that_is_none_is_one_sentence(github: FakeGitHub, action: Action) -> None:
    github.faults.append(fault(action))
    with pytest.raises(GitHubError, match=r"^GitHub answered with something else than a diff; run the job again$"):
        fetch_diff(api_of(github), 42)


def test_a_pull_request_without_changes_has_an_empty_diff(odd: FakeGitHub) -> None:
    assert fetch_diff(api_of(odd), 42) == Diff(())


def test_a_diff_that_is_refused_for_another_reason_is_an_error(github: FakeGitHub) -> None:
    github.faults.append(fault(broken(422, "Sorry, this diff is taking too long to generate.")))
    with pytest.raises(GitHubError, match=r"refuses pulls/42 \(422\). It says: Sorry"):
        fetch_diff(api_of(github), 42)


# Two texts.


def applied(old: str, hunks: Sequence[Hunk]) -> list[str]:
    """What the hunks make of a text, held against all their numbers on the way."""
    before = old.split("\n")
    before = before[:-1] if before[-1] == "" else before
    after: list[str] = []
    at = 0
    for hunk in hunks:
        start = hunk.old_start - (hunk.old_count > 0)
        assert start >= at
        after += before[at:start]
        at = start
        assert hunk.new_start == len(after) + (hunk.new_count > 0)
        for line in hunk.lines:
            if line.sign != "+":
                assert (line.text, line.old) == (before[at], at + 1)
                at += 1
            if line.sign != "-":
                after.append(line.text)
                assert line.new == len(after)
        assert at - start == hunk.old_count
        assert parse_hunks([hunk.header, *(line.sign + line.text for line in hunk.lines)])[0] == (hunk,)
    return after + before[at:]


def lines_of(text: str) -> list[str]:
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def context_is_as_git_has_it(hunks: Sequence[Hunk]) -> bool:
    """At most three lines of it at each end, at most six between changes, and none of it shown twice."""
    for hunk in hunks:
        signs = "".join(line.sign for line in hunk.lines)
        if signs.startswith(" " * 4) or signs.endswith(" " * 4) or " " * 7 in signs:
            return False
    return all(one.old_start + one.old_count < two.old_start for one, two in pairwise(hunks))


TEXTS: Final = st.lists(st.sampled_from(["", "a", "b", "c", "d", "e", "f", " a", "x\r", "\f"]), max_size=40).flatmap(
    lambda lines: st.sampled_from(["\n".join(lines), "\n".join([*lines, ""])])
)


@given(TEXTS, TEXTS)
def test_the_hunks_of_two_texts_turn_one_into_the_other(old: str, new: str) -> None:
    hunks = compare_texts(old, new)
    assert applied(old, hunks) == lines_of(new)
    assert context_is_as_git_has_it(hunks)
    assert bool(hunks) == (lines_of(old) != lines_of(new))


NUMBERED: Final = [f"line {at}" for at in range(60)]
EDITS: Final[dict[str, tuple[list[str], list[str]]]] = {
    "one line": (NUMBERED, [*NUMBERED[:20], "new", *NUMBERED[21:]]),
    "first and last": (NUMBERED, ["new", *NUMBERED[1:-1], "newer"]),
    "near": (NUMBERED, [*NUMBERED[:20], "new", *NUMBERED[21:27], "newer", *NUMBERED[28:]]),
    "apart": (NUMBERED, [*NUMBERED[:20], "new", *NUMBERED[21:28], "newer", *NUMBERED[29:]]),
    "taken out": (NUMBERED, [*NUMBERED[:10], *NUMBERED[20:]]),
    "put in": (NUMBERED, [*NUMBERED[:10], "x", "y", *NUMBERED[10:]]),
    "added": ([], NUMBERED),
    "removed": (NUMBERED, []),
    "among equals": (["{", "x", "}", "{", "y", "}"], ["{", "x", "}", "{", "z", "}"]),
}


@pytest.mark.parametrize("name", EDITS)
def test_the_hunks_of_two_texts_are_git_s(tmp_path: Path, name: str) -> None:
    old, new = ("".join(f"{line}\n" for line in lines) for lines in EDITS[name])
    repo = Repo(tmp_path)
    base = repo.commit({"x": old})
    (file,) = parse_diff(repo.diff(base, repo.commit({"x": new}))).files

    def rows(hunks: Sequence[Hunk]) -> list[tuple[int, int, int, int, tuple[Line, ...]]]:
        return [(hunk.old_start, hunk.old_count, hunk.new_start, hunk.new_count, hunk.lines) for hunk in hunks]

    assert rows(compare_texts(old, new)) == rows(file.hunks)


def test_no_text_can_stall_the_comparison() -> None:
    """Each gap between lines that stand once is the worst that there is for the way small gaps are compared."""
    old, new = [], []
    for gap in range(60):
        for at in range(149):
            old += ["a", f"x{gap}.{at}"]
            new += ["a", f"y{gap}.{at}"]
        old.append(f"A{gap}")
        new.append(f"A{gap}")
    hunks = compare_texts("\n".join(old), "\n".join(new))
    assert applied("\n".join(old), hunks) == new
    kept = [line.text for hunk in hunks for line in hunk.lines if line.sign == " "]
    assert {f"A{gap}" for gap in range(59)} <= set(kept)
    assert kept.count("a") < 10 * 149


# A whole run, with one answer that is none.

Make = Callable[..., Project]
# Each request of a plain run until the model is asked: its path, and which one of those at it.
UNTIL_PAID: Final = {
    "pull request": ("/pulls/42$", 1),
    "artifacts": ("/artifacts$", 1),
    "files at base": ("/graphql$", 1),
    "merge base": ("/compare/", 1),
    "diff": ("/pulls/42$", 2),
    "texts": ("/graphql$", 2),
}
NONE: Final = {
    "page": html(),
    "cut": truncated(),
    "list": reply(200, [1]),
    "null": reply(200, "null"),
    "object": reply(200, {"data": 1}),
}


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    with projects(tmp_path) as made:
        yield made


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer([ok(answers(lambda *_: says("keep")))]) as server:
        yield server


@pytest.mark.parametrize("kind", NONE)
@pytest.mark.parametrize("request_", UNTIL_PAID)
def test_a6_an_answer_that_is_none_is_one_sentence_and_nothing_is_paid(
    make: Make, model: ModelServer, request_: str, kind: str
) -> None:
    path, nth = UNTIL_PAID[request_]
    subject = make()
    subject.github.faults.append(fault(NONE[kind], path, nth=range(nth, 100)))
    ended = job(subject, model)
    assert (ended.code, ended.said[0], len(model.requests)) == (1, "error", 0)
    assert ended.said[1].endswith(
        ("run the job again", "run the job again.", "is it uploaded before this job, under this name?")
    )
    assert subject.comment_bodies() == []


def test_s31_a_memory_too_long_for_graphql_is_read_whole(make: Make, model: ModelServer) -> None:
    """Half a memory is never used, and its last line counts."""
    text = "src/client.ts changed in 14 of 17 commits with src/session.ts, and not here"
    memory = "".join(remembered(said) for said in [*(f"café {name}" for name in names(4_001)), text])
    assert len(memory.encode()) > 512_000
    subject = make(memory=memory)
    ended = job(subject, model)
    assert ended.outputs["status"] == "verified"
    assert f"{text} [downgraded: dismissed earlier as wrong]" in subject.comment_bodies()[0]


def remembered(text: str) -> str:
    """A line of the memory that dismisses a fact with this text."""
    hash_ = fact_hash("coupling.missing", "src/session.ts", text)
    entry = {"hash": hash_, "id": "coupling.missing", "file": "src/session.ts", "verdict": "wrong", "note": text}
    return json.dumps({**entry, "at": "2026-01-01T00:00:00Z"}, ensure_ascii=False) + "\n"


def names(count: int) -> list[str]:
    """So many words without a digit."""
    return ["".join(chr(97 + int(digit)) for digit in str(at)) for at in range(count)]
