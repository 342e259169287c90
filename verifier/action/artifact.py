"""The brief's artifact: by run and name, downloaded without the token, bounded, read in memory (A1, A2, A8)."""

import hashlib
import io
import struct
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from verifier.evidence.api import Api, GitHubError
from verifier.text import one_line

RECEIVED_LIMIT: Final = 20_000_000
BRIEF_LIMIT: Final = 5_000_000  # parsed it takes thirty times as much; real ones have some 100 KB
ENTRIES_LIMIT: Final = 1_000

_DOWNLOADS: Final = 3
_HOPS: Final = 3
_CHUNK: Final = 65_536
_NAMES_SHOWN: Final = 10
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# what zipfile raises for bytes that nobody's zip has
_UNREADABLE: Final = (
    *(zipfile.BadZipFile, zlib.error, struct.error),
    *(EOFError, LookupError, MemoryError, OSError, RuntimeError, ValueError),
)
_ENTRY: Final = b"PK\x01\x02"  # what each entry of a zip's directory begins with


class NoBriefFound(Exception):
    """There is no brief to verify: no artifact, an expired one, no such file in it. The message says what was seen."""


class BadArtifact(Exception):
    """An artifact that cannot be read: too large, broken, ambiguous. The message says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """An artifact of a run, not expired; `digest` is of its archive, empty where GitHub names none."""

    id: int
    name: str
    digest: str


def find_artifact(api: Api, runs: Iterable[int], name: str) -> Artifact:
    """The newest unexpired artifact called `name` of the first of `runs` that has one. Raises NoBriefFound."""
    runs = list(runs)
    for run in runs:
        listed = _artifacts(api, run, name=name)
        named = [entry for entry in listed if entry.get("name") == name and type(entry.get("id")) is int]
        if not named:
            continue
        newest = max(named, key=lambda entry: (str(entry.get("created_at")), entry["id"]))
        if newest.get("expired") is not False:
            raise NoBriefFound(
                f"artifact {name} of run {run} has expired: run the workflow that makes it again, "
                "or keep it longer (retention-days)"
            )
        return Artifact(newest["id"], name, str(newest.get("digest") or ""))
    seen = {str(entry.get("name")) for entry in _artifacts(api, runs[0])} if runs else set()
    names = ", ".join(sorted(seen)[:_NAMES_SHOWN])
    where = f"run {', '.join(map(str, runs))}" if runs else "any run for the head commit, of which there is none"
    raise NoBriefFound(
        f"no artifact {name} in {where}{f' (there is: {one_line(names, 300)})' if names else ''}: "
        "is it uploaded before this job, under this name?"
        + (" Of many runs only the newest are looked through: brief-workflow names the right one." if runs[1:] else "")
    )


def _artifacts(api: Api, run: int, **parameters: str) -> list[dict[str, Any]]:
    return [entry for entry in api.pages(f"/actions/runs/{run}/artifacts", **parameters) if isinstance(entry, dict)]


def download(api: Api, artifact: Artifact, plain_http: bool) -> bytes:
    """The artifact's archive. A signed address lives a minute and may serve once: each try asks for a new one.

    The time is GitHub's: in a thread of its own, since a timeout bounds each read of a socket, never a whole reply.
    Raises NoBriefFound, BadArtifact, GitHubError.
    """
    failure: GitHubError | None = None
    for _ in range(_DOWNLOADS):
        try:
            location = api.location(f"/actions/artifacts/{artifact.id}/zip")
        except GitHubError as error:
            if error.status == 410:
                raise NoBriefFound(
                    f"artifact {artifact.name} has expired: run the workflow that makes it again"
                ) from None
            raise
        try:
            data = api.start(partial(_fetch, location, plain_http)).result()
        except GitHubError as error:
            failure = error
            continue
        expected = artifact.digest.removeprefix("sha256:")
        if expected and artifact.digest != expected and hashlib.sha256(data).hexdigest() != expected:
            raise BadArtifact(f"artifact {artifact.name} does not have the digest that GitHub names for it")
        return data
    raise failure or GitHubError("the artifact could not be downloaded; run the job again")


def _fetch(location: str, plain_http: bool) -> bytes:
    """The bytes at `location`, asked for without any credentials, redirects followed by hand (A9)."""
    import requests

    for _ in range(_HOPS):
        if urlsplit(location).scheme not in (("https", "http") if plain_http else ("https",)):
            raise BadArtifact("GitHub named an address for the artifact that is not https")
        try:
            with requests.Session() as session:
                session.auth = _nobody  # else a .netrc would speak for us
                with session.get(location, stream=True, timeout=(10, 30), allow_redirects=False) as reply:
                    if reply.is_redirect:
                        location = urljoin(location, reply.headers["location"])
                        continue
                    if reply.status_code != 200:
                        raise GitHubError(f"the artifact's store answered {reply.status_code}; run the job again")
                    return _bounded(reply)
        except (requests.RequestException, OSError, ValueError) as error:
            raise GitHubError(
                f"the artifact's store could not be read ({type(error).__name__}); run the job again"
            ) from None
    raise GitHubError("the artifact's store redirects too often; run the job again")


def _nobody(request: Any) -> Any:
    return request


def _bounded(reply: Any) -> bytes:
    """The reply's body; one that ends before its declared length raises, as any broken connection does."""
    data = bytearray()
    for chunk in reply.iter_content(_CHUNK):
        data += chunk
        if len(data) > RECEIVED_LIMIT:
            raise BadArtifact(f"the artifact has more than {RECEIVED_LIMIT:,} bytes")
    return bytes(data)


def file_inside(archive: bytes, name: str) -> bytes:
    """The file called exactly `name` in a zip archive, read in memory. Raises NoBriefFound, BadArtifact.

    What is no zip is taken for the file itself: an artifact may be uploaded without an archive around it.
    """
    if not archive.startswith(b"PK"):
        if len(archive) > BRIEF_LIMIT:
            raise BadArtifact(f"the artifact is no zip archive, and has more than {BRIEF_LIMIT:,} bytes")
        return archive
    if archive.count(_ENTRY) > ENTRIES_LIMIT:  # told before they are read: a directory takes ten times its bytes
        raise BadArtifact(f"the artifact holds more than {ENTRIES_LIMIT:,} files")
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            return _entry(opened, name)
    except _UNREADABLE as error:
        raise BadArtifact(f"the artifact is not a readable zip archive ({type(error).__name__})") from None


def _entry(opened: zipfile.ZipFile, name: str) -> bytes:
    entries = opened.infolist()
    named = [entry for entry in entries if entry.filename == name]
    if not named:
        names = ", ".join(sorted(entry.filename for entry in entries)[:_NAMES_SHOWN])
        raise NoBriefFound(
            f"the artifact holds no file {one_line(name, 100)}; it holds {one_line(names, 300) or 'none'}"
        )
    if len(named) > 1:
        raise BadArtifact(f"the artifact holds {one_line(name, 100)} {len(named)} times")
    if named[0].flag_bits & 0x1:
        raise BadArtifact(f"{one_line(name, 100)} in the artifact is encrypted")
    if named[0].compress_type not in _METHODS:  # zipfile inflates the others without a bound
        raise BadArtifact(f"{one_line(name, 100)} in the artifact is compressed in a way that no upload does")
    data = bytearray()
    with opened.open(named[0]) as file:
        while chunk := file.read(_CHUNK):
            data += chunk
            if len(data) > BRIEF_LIMIT:
                raise BadArtifact(f"{one_line(name, 100)} in the artifact has more than {BRIEF_LIMIT:,} bytes")
    return bytes(data)
