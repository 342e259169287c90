"""The brief's artifact: found, downloaded and read as what a stranger may have uploaded (A1, A2, A6, A8, A9)."""

import gzip
import io
import stat
import struct
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.action.job import Project, job, projects
from tests.command import brief, document
from tests.repos import Repo
from tests.servers.github import (
    Action,
    Exchange,
    FakeGitHub,
    Reply,
    close_mid_body,
    fault,
    hang,
    html,
    reply,
    reset,
    trickle,
    truncated,
    zip_bomb,
    zip_of,
)
from verifier.action.artifact import BadArtifact, NoBriefFound, download, file_inside, find_artifact
from verifier.evidence.api import Api, GitHubError

Make = Callable[..., Project]
OFF: Final = {"no-llm": "true"}
PEAK: Final = 120_000  # KiB, the whole process
ZIP_CALL: Final = "GET /repos/{owner}/{repo}/actions/artifacts/{artifact_id}/{archive_format}"
BRIEF: Final = document(brief()).encode()
GOOD: Final = zip_of({"brief.json": BRIEF})
WRONG: Final = zip_of({"brief.json": b"an older one"})


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    with projects(tmp_path) as made:
        yield made


@pytest.fixture
def peak(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Runs every job under a parent of its own that writes down the most memory it had, in KiB."""
    wrapper, found = tmp_path / "measured", tmp_path / "peak"
    wrapper.write_text(
        f"#!{sys.executable} -S\n"
        "import pathlib, resource, subprocess, sys\n"
        f"done = subprocess.run([{sys.executable!r}, *sys.argv[1:]])\n"
        f"pathlib.Path({str(found)!r}).write_text(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))\n"
        "sys.exit(done.returncode)\n"
    )
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(sys, "executable", str(wrapper))
    return lambda: int(found.read_text())


# Where it lies.


def redirected(exchange: Exchange) -> None:
    """On to the same address, told as a path: the signature is not used up."""
    query = "&".join(f"{name}={values[-1]}" for name, values in exchange.request.query.items())
    exchange.send(Reply(302, None, {"Location": f"{exchange.request.path}?{query}"}))


@pytest.mark.parametrize("hops", [0, 2])
def test_a9_the_store_is_another_host_and_never_sees_the_token(make: Make, hops: int) -> None:
    """Signed addresses that refuse a token beside the signature, on hosts that no list names."""
    subject = make()
    subject.github.faults.append(fault(redirected, host="blob", nth=range(1, hops + 1)))
    ended = job(subject, inputs=OFF)
    assert (ended.code, ended.outputs["status"]) == (0, "off")
    blobs = [request for request in subject.github.requests if request.host == "blob"]
    assert len(blobs) == 1 + hops
    for request in blobs:
        assert "authorization" not in request.headers
        assert subject.github.token not in str(request)


def test_a8_a_store_that_redirects_for_ever_is_left(make: Make) -> None:
    subject = make()
    subject.github.faults.append(fault(redirected, host="blob"))
    ended = job(subject, inputs=OFF)
    assert (ended.code, ended.said) == (1, ("error", "the artifact's store redirects too often; run the job again"))
    assert subject.github.operations.count("GET blob") == 3 * 3
    assert "sig=" not in ended.log


@pytest.mark.parametrize(("nth", "calls", "status"), [(1, 2, "off"), (None, 3, "failed")], ids=["once", "always"])
def test_a9_each_try_asks_for_a_new_address_that_is_never_logged(
    make: Make, nth: int | None, calls: int, status: str
) -> None:
    """An address lives a minute, and its second use is refused."""
    subject = make()
    github = subject.github
    github.before("/actions-results/", github.expire_signatures, nth=nth)
    ended = job(subject, inputs=OFF)
    assert (ended.outputs["status"], github.operations.count(ZIP_CALL)) == (status, calls)
    blobs = [request for request in github.requests if request.host == "blob"]
    assert len({tuple(request.query["sig"]) for request in blobs}) == calls
    for secret in ("sig=", github.blob_url, "actions-results"):
        assert secret not in ended.log + ended.summary


@pytest.mark.parametrize(
    "action",
    [reset(), close_mid_body(), close_mid_body(with_reset=True), reply(503, "busy")],
    ids=["reset", "cut", "cut by reset", "503"],
)
def test_a8_a_download_that_breaks_once_is_made_again(make: Make, action: Action) -> None:
    subject = make()
    subject.github.faults.append(fault(action, host="blob", nth=1))
    assert job(subject, inputs=OFF).outputs["status"] == "off"
    assert subject.github.operations.count(ZIP_CALL) == 2


def test_a6_a_download_that_always_breaks_is_one_sentence(make: Make) -> None:
    subject = make()
    subject.github.faults.append(fault(close_mid_body(), host="blob"))
    ended = job(subject, inputs=OFF)
    assert (ended.code, ended.said[0]) == (1, "error")
    assert ended.said[1].startswith("the artifact's store could not be read (")
    assert ended.said[1].endswith("run the job again")


# Which one.


def add_another(subject: Project, data: bytes, **fields: Any) -> None:
    subject.github.add_artifact(subject.made_by, data, **fields)


@pytest.mark.parametrize("choice", ["error", "warn", "ignore"])
def test_a6_an_expired_artifact_is_not_even_asked_for(make: Make, choice: str) -> None:
    """Retention is over; the list says so."""
    subject = make()
    for artifact in subject.github.artifacts.values():
        artifact.expired = True
    ended = job(subject, inputs={"if-no-brief": choice})
    assert (ended.code, ended.outputs["status"]) == (int(choice == "error"), "no-brief")
    assert "has expired: run the workflow that makes it again, or keep it longer (retention-days)" in ended.said[1]
    assert ZIP_CALL not in subject.github.operations


@pytest.mark.parametrize("choice", ["error", "warn", "ignore"])
def test_a6_an_artifact_that_expires_on_the_way_is_no_brief_either(make: Make, choice: str) -> None:
    """The list does not say so yet, the download answers 410."""
    subject = make()
    for artifact in subject.github.artifacts.values():
        artifact.gone = True
    ended = job(subject, inputs={"if-no-brief": choice})
    assert (ended.code, ended.outputs["status"]) == (int(choice == "error"), "no-brief")
    assert "has expired: run the workflow that makes it again" in ended.said[1]


EARLY, LATE = "2026-02-01T00:00:00Z", "2026-02-01T00:05:00Z"


@pytest.mark.parametrize(
    ("older", "newer"),
    [((10, EARLY), (20, LATE)), ((20, EARLY), (10, LATE)), ((10, EARLY), (20, EARLY))],
    ids=["later id", "earlier id", "same time"],
)
@pytest.mark.parametrize("ascending", [False, True])
def test_a2_of_one_name_the_newest_artifact_is_read(
    make: Make, older: tuple[int, str], newer: tuple[int, str], ascending: bool
) -> None:
    """A second attempt uploads under the same name."""
    subject = make()
    subject.github.artifacts.clear()
    subject.github.artifacts_ascending = ascending
    data = zip_of({"brief.json": document(brief(head=subject.pull.head_sha))})
    for (number, created), content in ((older, WRONG), (newer, data)):
        add_another(subject, content, id=number, created_at=created)
    assert job(subject, inputs=OFF).outputs["status"] == "off"


@pytest.mark.parametrize("how", ["missing", "expired", "gone"])
def test_a2_an_older_brief_never_stands_in_for_the_newest(make: Make, how: str) -> None:
    """The list names an artifact that cannot be had any more."""
    subject = make()
    add_another(subject, GOOD, **{how: True})
    ended = job(subject, inputs=OFF)
    assert (ended.code, ended.said[0]) == (1, "error")
    assert ended.outputs["status"] == ("failed" if how == "missing" else "no-brief")
    assert "(404)" in ended.said[1] or "has expired" in ended.said[1]
    assert "GET blob" not in subject.github.operations
    assert subject.comment_bodies() == []


def test_a2_an_artifact_behind_a_hundred_others_is_found(make: Make) -> None:
    """A server that ignores the name and counts nothing."""
    subject = make()
    subject.github.ignore_filters = subject.github.drop_total_count = True
    for number in range(100):
        add_another(subject, WRONG, name=f"log-{number}")
    assert job(subject, inputs=OFF).outputs["status"] == "off"


def test_a6_what_there_is_instead_is_named(make: Make) -> None:
    subject = make()
    subject.github.ignore_filters = True
    for artifact in subject.github.artifacts.values():
        artifact.name = "Opendrs-Brief"
    ended = job(subject, inputs=OFF)
    assert "no artifact opendrs-brief in run 5001 (there is: Opendrs-Brief)" in ended.said[1]


# Whose it is.


@pytest.mark.parametrize("of", ["another head", "a fork"])
def test_a2_a_run_of_another_head_or_repository_gives_no_brief(make: Make, of: str) -> None:
    """Whoever opens a pull request can upload under the same name."""
    subject = make()
    if of == "a fork":
        other = subject.github.add_run(subject.pull, head_repository="eve/shop", head_branch="feature")
    else:
        other = subject.github.add_run(subject.repo.commit({"evil.ts": "export {};\n"}))
    subject.github.add_artifact(other, zip_of({"brief.json": document(brief(head=subject.pull.head_sha))}))
    ended = job(subject, inputs={"run-id": str(other.id)})
    assert (ended.code, ended.said[0]) == (1, "error")
    assert f"run {other.id} was for " in ended.said[1]
    assert "head of pull request 42" in ended.said[1]
    assert ZIP_CALL not in subject.github.operations


@pytest.mark.parametrize("workflow", ["", "brief.yml"])
def test_a2_by_hand_the_newest_run_counts_only_for_this_head_and_repository(make: Make, workflow: str) -> None:
    """The newest run with an artifact of that name is for another commit, or from a fork, whatever GitHub filters."""
    subject = make()
    subject.github.ignore_filters = True
    strangers = [
        subject.github.add_run(subject.repo.commit({"evil.ts": "export {};\n"})),
        subject.github.add_run(subject.pull, head_repository="eve/shop"),
    ]
    for run in strangers:
        subject.github.add_artifact(run, WRONG)
    inputs = {"pr-number": "42", "brief-workflow": workflow, **OFF}
    event = subject.github.event_workflow_dispatch()
    ended = job(subject, event=event, event_name="workflow_dispatch", inputs=inputs)
    assert ended.outputs["status"] == "off"


@pytest.mark.parametrize("event_name", ["pull_request", "workflow_run"])
def test_a2_a_brief_that_names_another_pull_request_is_written_nowhere(make: Make, event_name: str) -> None:
    """A number out of the artifact would let a fork speak as us on any pull request."""
    subject = make(of=brief(pullRequest=1), head_repository="eve/shop")
    other = subject.github.add_pull(subject.pull.base_sha, subject.pull.base_sha, number=1)
    event = subject.github.event_workflow_run(subject.made_by) if event_name == "workflow_run" else None
    ended = job(subject, event=event, event_name=event_name)
    assert (ended.code, ended.outputs["status"]) == (0, "stale")
    assert "the brief is for pull request 1, and this is 42" in ended.said[1]
    assert subject.comment_bodies() == []
    assert subject.github.comments_on(other) == []
    assert not any(request.method in ("PATCH", "DELETE") for request in subject.github.requests)


# What is in it.


def packed(data: bytes, method: int) -> bytes:
    """A zip whose brief is `data`, compressed by another method than any upload's."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        archive.writestr("brief.json", data)
    return made.getvalue()


def crowded(entries: int) -> bytes:
    """A zip with one file and a directory that names it over and over."""
    one = zip_of({"a": b""})
    start = one.index(b"PK\x01\x02")
    directory = one[start : one.index(b"PK\x05\x06")] * entries
    end = struct.pack(
        "<4s4H2LH", b"PK\x05\x06", 0, 0, min(entries, 65_535), min(entries, 65_535), len(directory), start, 0
    )
    return one[:start] + directory + end


HOSTILE: Final[dict[str, tuple[bytes, str, str]]] = {
    "two briefs": (zip_of({"brief.json": BRIEF}, extra=[("brief.json", b"{}")]), "failed", "holds brief.json 2 times"),
    "two by a zero byte": (zip_of({"brief.json": BRIEF}, extra=[("brief.json\0x", b"{}")]), "failed", "2 times"),
    "only above": (zip_of({"../brief.json": BRIEF}), "no-brief", "it holds ../brief.json"),
    "only absolute": (zip_of({"/brief.json": BRIEF}), "no-brief", "it holds /brief.json"),
    "only in a folder": (zip_of({"out/brief.json": BRIEF}), "no-brief", "it holds out/brief.json"),
    "empty": (zip_of({}), "no-brief", "it holds none"),
    "a command for a name": (zip_of({"\n::error::x": b""}), "no-brief", "the artifact holds no file brief.json"),
    "a link": (zip_of({}, links={"brief.json": "/proc/self/environ"}), "failed", "the brief is not valid"),
    "encrypted": (zip_of({"brief.json": BRIEF}, encrypted=True), "failed", "brief.json in the artifact is encrypted"),
    "bomb": (zip_bomb(200_000_000), "failed", "has more than 5,000,000 bytes"),
    "bzip2": (packed(BRIEF, zipfile.ZIP_BZIP2), "failed", "compressed in a way that no upload does"),
    "lzma": (packed(BRIEF, zipfile.ZIP_LZMA), "failed", "compressed in a way that no upload does"),
    "more than it says": (zip_of({"brief.json": BRIEF}, forged_sizes={"brief.json": 9}), "failed", "readable zip"),
    "1,001 entries": (zip_of({f"{at}": b"" for at in range(1_001)}), "failed", "holds more than 1,000 files"),
    "400,000 entries": (crowded(400_000), "failed", "holds more than 1,000 files"),
    "cut": (zip_of({"brief.json": BRIEF}, keep=300), "failed", "not a readable zip archive"),
    "bytes in front": (zip_of({"brief.json": BRIEF}, prefix=b"#!/bin/sh\n"), "failed", "expected UTF-8"),
    "too large a brief": (zip_of({"brief.json": b"x" * 5_000_001}), "failed", "has more than 5,000,000 bytes"),
    "no archive, too large": (b"[" * 5_000_001, "failed", "no zip archive, and has more than 5,000,000 bytes"),
    "too large": (zip_of({"brief.json": b"x" * 20_000_001}, stored=True), "failed", "has more than 20,000,000 bytes"),
    "nothing": (b"", "failed", "the brief is not valid"),
    "a page": (b"<!doctype html><title>Sign in</title>", "failed", "the brief is not valid"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a8_a_hostile_archive_is_one_sentence_in_bounded_memory(make: Make, peak: Callable[[], int], name: str) -> None:
    """Names that lead elsewhere, entries that stand twice, bombs, forged and broken archives."""
    data, status, words = HOSTILE[name]
    subject = make(artifact=data)
    ended = job(subject)
    assert (ended.code, ended.outputs["status"], ended.said[0]) == (1, status, "error")
    assert words in ended.said[1]
    assert peak() < PEAK
    assert subject.comment_bodies() == []
    assert list((subject.path / "runner/workspace").rglob("*")) == []


@pytest.mark.parametrize(
    "artifact",
    [
        lambda data: zip_of({"brief.json": data}, extra=[("../brief.json", b"{}"), ("/etc/verifier", b"")]),
        lambda data: zip_of({"brief.json": data}, links={"out": "/", "out/x": "/etc/passwd"}),
        lambda data: zip_of({"brief.json": data}, stored=True),
        lambda data: zip_of({"brief.json": data, **{f"{at}": b"" for at in range(999)}}),
        lambda data: data,
    ],
    ids=["names that lead out", "links", "stored", "1,000 entries", "no archive around it"],
)
def test_a8_only_the_brief_is_read_and_nothing_is_extracted(make: Make, artifact: Callable[[bytes], bytes]) -> None:
    """An archive is a stranger's; the one file in it is read in memory."""
    subject = make()
    data = document(brief(head=subject.pull.head_sha)).encode()
    subject.github.artifacts.clear()
    add_another(subject, artifact(data), content_type="application/octet-stream")
    assert job(subject, inputs=OFF).outputs["status"] == "off"
    written = {str(path.relative_to(subject.path / "runner")) for path in (subject.path / "runner").rglob("*")}
    assert written == {
        *("event.json", "output", "summary", "workspace"),
        *("workspace/verifier-out", "workspace/verifier-out/brief.json"),
    }


@pytest.mark.parametrize(
    ("action", "digest", "words"),
    [
        (truncated(), None, "does not have the digest that GitHub names for it"),
        (truncated(), "", "not a readable zip archive"),
        (truncated(), "md5:0", "not a readable zip archive"),
        (html(), None, "does not have the digest"),
        (html(), "", "the brief is not valid"),
    ],
    ids=["digest", "no digest", "unknown digest", "page", "page without digest"],
)
def test_a8_what_is_not_the_artifact_is_not_read(make: Make, action: Action, digest: str | None, words: str) -> None:
    subject = make()
    if digest is not None:
        for artifact in subject.github.artifacts.values():
            artifact.digest = digest
    subject.github.faults.append(fault(action, host="blob"))
    ended = job(subject)
    assert (ended.code, ended.outputs["status"], ended.said[0]) == (1, "failed", "error")
    assert words in ended.said[1]


def test_a8_a_reply_that_unpacks_itself_is_bounded_too(make: Make, peak: Callable[[], int]) -> None:
    subject = make()
    data = gzip.compress(b" " * 300_000_000)
    subject.github.faults.append(fault(reply(200, data, {"Content-Encoding": "gzip"}), host="blob"))
    ended = job(subject)
    assert (ended.code, ended.said) == (
        1,
        ("error", "the brief is not valid: the artifact has more than 20,000,000 bytes"),
    )
    assert peak() < PEAK


def told(archive: bytes) -> bytes | str:
    """The brief in it, or the sentence that says what is wrong."""
    try:
        return file_inside(archive, "brief.json")
    except (BadArtifact, NoBriefFound) as error:
        return str(error)


CHANGES: Final = st.lists(st.tuples(st.integers(2, len(GOOD) - 1), st.sampled_from([0, 1, 255, 128, 80])), max_size=4)


@given(CHANGES, st.integers(2, len(GOOD)), st.binary(max_size=30))
def test_a8_no_bytes_are_more_than_a_readable_sentence(changes: list[tuple[int, int]], keep: int, end: bytes) -> None:
    data = bytearray(GOOD)
    for at, byte in changes:
        data[at] = byte
    for archive in (bytes(data), bytes(data[:keep]) + end + bytes(data[keep:]), bytes(data[:keep]) + end):
        found = told(archive)
        assert found == BRIEF or (isinstance(found, str) and found.isprintable())


# In process: what needs a bound of its own, or an API that is not on loopback.


@pytest.fixture
def github(tmp_path: Path) -> Iterator[FakeGitHub]:
    repo = Repo(tmp_path / "shop")
    commit = repo.commit({"a": "a\n"})
    with FakeGitHub(repo) as server:
        server.add_artifact(server.add_run(commit), GOOD)
        yield server


@pytest.mark.parametrize("action", [hang(), trickle()], ids=["silent", "slow"])
def test_a3_a_store_that_does_not_get_done_ends_with_the_time_for_github(github: FakeGitHub, action: Action) -> None:
    github.faults.append(fault(action, host="blob"))
    api = Api(github.token, github.api_url, github.repository, read_seconds=0.5)
    artifact = find_artifact(api, [5001], "opendrs-brief")
    started = time.monotonic()
    with pytest.raises(GitHubError, match="did not answer in the time"):
        download(api, artifact, plain_http=True)
    assert time.monotonic() - started < 5


def test_a9_an_address_that_is_not_https_is_not_followed(github: FakeGitHub) -> None:
    api = Api(github.token, github.api_url, github.repository)
    artifact = find_artifact(api, [5001], "opendrs-brief")
    with pytest.raises(BadArtifact, match="not https"):
        download(api, artifact, plain_http=False)
    assert github.operations.count("GET blob") == 0


@pytest.mark.parametrize("location", ["", "ftp://127.0.0.1/x", "/relative", "file:///etc/passwd"])
def test_a9_an_address_of_another_kind_is_not_followed(github: FakeGitHub, location: str) -> None:
    github.faults.append(fault(reply(302, None, {"Location": location}), "/zip$"))
    api = Api(github.token, github.api_url, github.repository)
    artifact = find_artifact(api, [5001], "opendrs-brief")
    with pytest.raises((BadArtifact, GitHubError), match=r"not https|no place to download"):
        download(api, artifact, plain_http=True)
    assert github.operations.count("GET blob") == 0
