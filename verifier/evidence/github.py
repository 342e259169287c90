"""Evidence through GitHub's API: the diff, and texts at the merge base in one request (S10, A7)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import compress, islice
from typing import Any, Final, TypeVar
from urllib.parse import quote

from verifier.diff import Diff, FileDiff, parse_diff, parse_hunks
from verifier.evidence.api import ATTEMPTS, Api, GitHubError, Repository
from verifier.evidence.compare import compare_texts
from verifier.verification.model import MISSING, UNREADABLE, BaseText

_BLOBS_A_REQUEST: Final = 100
_SPLIT_ABOVE: Final = 12  # below, a server that fails is not short of time
_TOO_LARGE: Final = 406
_FRAGMENT: Final = "fragment file on GitObject { __typename ... on Blob { text isBinary isTruncated } }"
_COMMIT: Final = re.compile("[0-9a-f]{40,64}")
_SUBMODULE: Final = re.compile(r"Subproject commit [0-9a-f]{40,64}(-dirty)?$")
_Item = TypeVar("_Item")

Place = tuple[str, str]  # commit and path


@dataclass(frozen=True, slots=True)
class GitHubEvidence:
    """The evidence for one pull request; `diff` and texts are fetched when they are asked for."""

    api: Api
    number: int
    merge_base: str
    head: str
    found: Diff

    def diff(self) -> Diff:
        """Merge base to head, as GitHub shows it."""
        return self.found

    def base_texts(self, paths: frozenset[str]) -> Mapping[str, BaseText]:
        """Texts at the merge base, by path (S10). Raises GitHubError."""
        found = texts_at(self.api, [(self.merge_base, path) for path in sorted(paths)])
        return {path: text for (_, path), text in found.items()}


def fetch_diff(api: Api, number: int) -> Diff | None:
    """The pull request's diff by media type; None where GitHub says that it is too large. Raises GitHubError."""
    try:
        data = api.get(f"/pulls/{number}", accept="application/vnd.github.diff").body.encode()
    except GitHubError as error:
        if error.status == _TOO_LARGE:
            return None
        raise
    diff = parse_diff(data)
    if data.strip() and not (diff.files and data.endswith(b"\n")):
        raise GitHubError("GitHub answered with something else than a diff; run the job again")
    return diff


def fetch_files(api: Api, number: int, merge_base: str, head: str, wanted: frozenset[str]) -> Diff:
    """The diff from the list of files, where the whole was refused. Raises GitHubError.

    Of the files in `wanted` whose patch is left out, the two blobs are compared; of others nothing is shown.
    """
    files = [entry for entry in api.pages(f"/pulls/{number}/files") if isinstance(entry, dict)]
    listed = [(_file(entry), entry) for entry in files]
    bare = [_lacks_its_patch(entry) and not wanted.isdisjoint(file.paths) for file, entry in listed]
    sides = [(merge_base, file.old_path) for file, _ in compress(listed, bare) if file.old_path]
    sides += [(head, file.new_path) for file, _ in compress(listed, bare) if file.new_path]
    texts = texts_at(api, sides)

    def compared(file: FileDiff) -> FileDiff:
        old = texts.get((merge_base, file.old_path), UNREADABLE) if file.old_path else ""
        new = texts.get((head, file.new_path), UNREADABLE) if file.new_path else ""
        if not isinstance(old, str) or not isinstance(new, str):
            return file
        return replace(file, hunks=compare_texts(old, new))

    return Diff(tuple(compared(file) if lacks else file for (file, _), lacks in zip(listed, bare, strict=True)))


def texts_at(api: Api, places: Sequence[Place]) -> dict[Place, BaseText]:
    """The texts of files, in as few requests as GitHub's limits allow, side by side where they are more than one.

    Raises GitHubError.
    """
    asked = [api.start(partial(_texts, api, chunk)) for chunk in _chunks(places, _BLOBS_A_REQUEST)]
    return {place: text for pending in asked for place, text in pending.result().items()}


def _texts(api: Api, places: Sequence[Place]) -> dict[Place, BaseText]:
    """One request; where GitHub's servers cannot answer it in their time, its halves."""
    can_split = len(places) > _SPLIT_ABOVE
    try:
        repository = api.query(*blob_query(places), attempts=1 if can_split else ATTEMPTS)
    except GitHubError as error:
        if not can_split or error.status is None or error.status < 500:
            raise
        half = len(places) // 2
        return _texts(api, places[:half]) | _texts(api, places[half:])
    return {place: _found(place, text) for place, text in zip(places, blobs(repository, len(places)), strict=True)}


def _found(place: Place, text: BaseText) -> BaseText:
    # U+FFFD in a path may stand for a byte that is not UTF-8: then the file may well be there under its true name
    return UNREADABLE if text is MISSING and "\ufffd" in place[1] else text


def blob_query(places: Sequence[Place]) -> tuple[str, dict[str, tuple[str, Any]], str]:
    """Fields, variables and fragment for many files in one query (`Api.query`)."""
    fields = " ".join(f"f{at}: object(expression: $e{at}) {{ ...file }}" for at in range(len(places)))
    variables = {f"e{at}": ("String!", f"{commit}:{path}") for at, (commit, path) in enumerate(places)}
    return fields, variables, _FRAGMENT if places else ""


def blobs(repository: Repository, count: int) -> list[BaseText]:
    """The texts that `blob_query` asked for; what is cut, binary, no file or came with an error is unreadable (S10)."""
    names = [f"f{at}" for at in range(count)]
    return [UNREADABLE if name in repository.failed else _text(repository.fields.get(name)) for name in names]


def is_cut(repository: Repository, at: int) -> bool:
    """Whether GitHub gave only the beginning of the file at this place of `blob_query`."""
    blob = repository.fields.get(f"f{at}")
    return isinstance(blob, dict) and blob.get("isTruncated") is True


def raw_text(api: Api, commit: str, path: str) -> BaseText:
    """A file's text as it lies at a commit, for one that GraphQL cuts. Raises GitHubError."""
    return _readable(api.get(f"/contents/{quote(path)}", accept="application/vnd.github.raw+json", ref=commit).body)


def fetch_merge_base(api: Api, base: str, head: str) -> str:
    """The commit that the pull request's diff is made against. Raises GitHubError."""
    value = api.get(f"/compare/{base}...{head}", per_page=1).json()
    commit = value.get("merge_base_commit") if isinstance(value, dict) else None
    sha = commit.get("sha") if isinstance(commit, dict) else None
    if not isinstance(sha, str) or not _COMMIT.fullmatch(sha):  # at anything else no file would seem to be there
        raise GitHubError("GitHub names no merge base for the pull request; run the job again")
    return sha


def _text(blob: Any) -> BaseText:
    if blob is None:
        return MISSING
    whole = isinstance(blob, dict) and blob.get("isBinary") is False and blob.get("isTruncated") is False
    return _readable(blob.get("text")) if whole else UNREADABLE


def _readable(text: Any) -> BaseText:
    # where GitHub met bytes that are no UTF-8 it may have put this sign: then the text is not the file's
    return text if isinstance(text, str) and "\ufffd" not in text else UNREADABLE


def _file(entry: Mapping[str, Any]) -> FileDiff:
    path, status = str(entry.get("filename", "")), entry.get("status")
    old = str(entry.get("previous_filename") or path)
    patch = entry.get("patch")
    hunks = parse_hunks(patch.split("\n"))[0] if isinstance(patch, str) else ()
    return FileDiff(
        old_path=None if status == "added" else old,
        new_path=None if status == "removed" else path,
        hunks=hunks,
        copied=status == "copied",
        submodule=bool(hunks) and all(_SUBMODULE.match(line.text) for hunk in hunks for line in hunk.lines),
    )


def _lacks_its_patch(entry: Mapping[str, Any]) -> bool:
    """Whether lines changed that the list does not show; a binary file and a pure rename have none."""
    changes = entry.get("changes")
    return "patch" not in entry and isinstance(changes, int) and changes > 0


def _chunks(items: Sequence[_Item], size: int) -> Iterator[Sequence[_Item]]:
    left = iter(items)
    while chunk := list(islice(left, size)):
        yield chunk
