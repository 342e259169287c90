"""Evidence through GitHub's API: the diff, and texts at the merge base in one request (S10, A7)."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final, TypeVar

from verifier.diff import Diff, FileDiff, parse_diff, parse_hunks
from verifier.evidence.api import Api, GitHubError
from verifier.evidence.compare import compare_texts
from verifier.verification.model import MISSING, UNREADABLE, BaseText

_BLOBS_A_REQUEST: Final = 100
_TOO_LARGE: Final = 406
_Item = TypeVar("_Item")


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
        return texts_at(self.api, [(self.merge_base, path) for path in sorted(paths)], by_path=True)


def fetch_diff(api: Api, number: int) -> Diff | None:
    """The pull request's diff by media type; None where GitHub says that it is too large. Raises GitHubError."""
    try:
        return parse_diff(api.get(f"/pulls/{number}", accept="application/vnd.github.diff").body.encode())
    except GitHubError as error:
        if error.status == _TOO_LARGE:
            return None
        raise


def fetch_files(api: Api, number: int, merge_base: str, head: str, wanted: Collection[str]) -> Diff:
    """The diff from the list of files, where the whole was refused. Raises GitHubError.

    Of the files in `wanted` whose patch is left out, the two blobs are compared; of others nothing is shown.
    """
    files = [entry for entry in api.pages(f"/pulls/{number}/files") if isinstance(entry, dict)]
    listed = [(_file(entry), entry) for entry in files]
    bare = [file for file, entry in listed if _lacks_its_patch(entry) and set(file.paths) & set(wanted)]
    sides = [(merge_base, file.old_path) for file in bare if file.old_path]
    sides += [(head, file.new_path) for file in bare if file.new_path]
    texts = texts_at(api, sides)

    def compared(file: FileDiff) -> FileDiff:
        old = texts.get((merge_base, file.old_path), UNREADABLE) if file.old_path else ""
        new = texts.get((head, file.new_path), UNREADABLE) if file.new_path else ""
        if not isinstance(old, str) or not isinstance(new, str):
            return file
        return replace(file, hunks=compare_texts(old, new))

    return Diff(tuple(compared(file) if file in bare else file for file, _ in listed))


def texts_at(api: Api, places: Sequence[tuple[str, str]], *, by_path: bool = False) -> dict[Any, BaseText]:
    """The texts of files, by (commit, path) or by path alone; as few requests as GitHub's limits allow."""
    found: dict[Any, BaseText] = {}
    for chunk in _chunks(places, _BLOBS_A_REQUEST):
        blobs = fetch_blobs(api, chunk)
        for place, blob in zip(chunk, blobs, strict=True):
            found[place[1] if by_path else place] = blob_text(blob)
    return found


def fetch_blobs(api: Api, places: Sequence[tuple[str, str]]) -> list[Any]:
    """What GraphQL says of each (commit, path), None for what is not there."""
    data = api.query(*blob_query(api, places))
    repository = data.get("repository") or {}
    return [repository.get(f"f{at}") for at in range(len(places))]


def blob_query(api: Api, places: Sequence[tuple[str, str]], more: str = "") -> tuple[str, dict[str, Any]]:
    """One query for many files: each path is a variable, so that none can change the query."""
    variables: dict[str, Any] = {"owner": api.owner, "name": api.name}
    variables |= {f"e{at}": f"{commit}:{path}" for at, (commit, path) in enumerate(places)}
    declared = "".join(f", $e{at}: String!" for at in range(len(places)))
    fields = " ".join(f"f{at}: object(expression: $e{at}) {{ ...file }}" for at in range(len(places)))
    query = (
        f"query($owner: String!, $name: String!{declared}) "
        f"{{ repository(owner: $owner, name: $name) {{ {fields} {more} }} }} "
        "fragment file on GitObject { __typename ... on Blob { text isBinary isTruncated } }"
    )
    return query, variables


def blob_text(blob: Any) -> BaseText:
    """A file's text; what is cut, binary or no file counts as unreadable (S10)."""
    if blob is None:
        return MISSING
    whole = isinstance(blob, dict) and blob.get("isBinary") is False and blob.get("isTruncated") is False
    text = blob.get("text") if whole else None
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
    )


def _lacks_its_patch(entry: Mapping[str, Any]) -> bool:
    """Whether lines changed that the list does not show; a binary file and a pure rename have none."""
    changes = entry.get("changes")
    return "patch" not in entry and isinstance(changes, int) and changes > 0


def _chunks(items: Sequence[_Item], size: int) -> Iterator[Sequence[_Item]]:
    left = iter(items)
    while chunk := list(islice(left, size)):
        yield chunk
