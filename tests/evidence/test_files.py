"""Evidence from a diff file and a directory: nothing outside is opened, nothing waits (S4, S10, S31)."""

import os
import socket
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.repos import Repo
from verifier.diff import parse_diff
from verifier.evidence import files as module
from verifier.evidence.files import TEXT_LIMIT, EvidenceError, FileEvidence, open_diff
from verifier.verification.model import MISSING, UNREADABLE

DIFF = b"diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n"


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A base directory, with a secret beside it."""
    (tmp_path / "secret").write_text("secret\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/file").write_text("outside\n")
    made = tmp_path / "base"
    (made / "d").mkdir(parents=True)
    (made / "d/x").write_text("x\n")
    return made


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is opened, by the name it is opened under."""
    names: list[str] = []
    real = os.open

    def noted(path: str | Path, flags: int, *more: int, dir_fd: int | None = None) -> int:
        names.append(str(path))
        return real(path, flags, *more, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", noted)
    return names


def at(base: Path | None) -> FileEvidence:
    return FileEvidence(parse_diff(DIFF), base)


# The diff.


def test_diff_and_base(tmp_path: Path, base: Path) -> None:
    file = tmp_path / "change.diff"
    file.write_bytes(DIFF)
    evidence = open_diff(file, base)
    assert [changed.new_path for changed in evidence.diff().files] == ["x"]
    assert evidence.base_texts(frozenset({"d/x", "y"})) == {"d/x": "x\n", "y": MISSING}
    assert evidence.base_file("d/x") == b"x\n"
    assert evidence.base_files(["d/x", "y", "z/y"]) == {"d/x": b"x\n", "y": None, "z/y": None}


def test_without_a_base_nothing_can_be_had(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x\n")
    file = tmp_path / "change.diff"
    file.write_bytes(DIFF)
    evidence = open_diff(file, None)
    assert evidence.base_texts(frozenset({"x", "y"})) == {"x": UNREADABLE, "y": UNREADABLE}
    assert evidence.base_files(["x", "y"]) == {"x": None, "y": None}


def test_same_diff_as_from_the_repository(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    base, head = repo.commit({"x": "1\n", "naïve": "1\n"}), repo.commit({"x": "2\n", "naïve": "2\n"})
    (tmp_path / "change.diff").write_bytes(repo.diff(base, head))
    assert [file.new_path for file in open_diff(tmp_path / "change.diff", None).diff().files] == ["naïve", "x"]


@pytest.mark.parametrize("data", [b"", b"\n", b" \r\n\n"])
def test_empty_diff_is_one_without_changes(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(data)
    assert open_diff(tmp_path / "empty", None).diff().files == ()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"hello\n", r"holds no diff: write one with `git diff BASE\.\.\.HEAD`$"),
        (DIFF.decode().encode("utf-16"), "holds no diff: it is UTF-16"),
        (
            b"".join(b"\x1b[1m%s\x1b[m\n" % line for line in DIFF.splitlines()),
            "holds no diff: it has terminal colours in it",
        ),
        (b"diff --cc x\nindex 1,2..3\n--- a/x\n+++ b/x\n@@@ -1,1 -1,1 +1,1 @@@\n++x\n", "holds no diff"),
        (b"\0" * 100, "holds no diff"),
    ],
)
def test_file_without_a_diff(data: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(EvidenceError, match=f"^the file {tmp_path / 'file'} {said}"):
        open_diff(tmp_path / "file", None)


def test_diff_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match=r"^a diff is not read from standard input"):
        open_diff(Path("-"), None)
    for path, why in ((tmp_path / "nope", "No such file or directory"), (tmp_path, "Is a directory")):
        with pytest.raises(EvidenceError, match=rf"^the diff {path} cannot be read \({why}\): check the path$"):
            open_diff(path, None)
    with pytest.raises(EvidenceError, match=r"cannot be read \(embedded null byte\)"):
        open_diff(Path("a\0b"), None)


def test_diff_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "large").write_bytes(DIFF)
    monkeypatch.setattr(module, "DIFF_LIMIT", len(DIFF))
    assert open_diff(tmp_path / "large", None).diff().files
    monkeypatch.setattr(module, "DIFF_LIMIT", len(DIFF) - 1)
    with pytest.raises(EvidenceError, match=r"is larger than \d+ bytes: leave generated files out of it$"):
        open_diff(tmp_path / "large", None)


def test_base_that_is_no_directory(tmp_path: Path, base: Path) -> None:
    (tmp_path / "change.diff").write_bytes(DIFF)
    for path in (tmp_path / "nope", tmp_path / "secret"):
        with pytest.raises(EvidenceError, match=f"^the base directory {path} is no directory: check the path$"):
            open_diff(tmp_path / "change.diff", path)
    evidence = open_diff(tmp_path / "change.diff", base)
    base.rename(tmp_path / "gone")
    with pytest.raises(EvidenceError, match=r"^the base directory .* cannot be read \(No such file or directory\)"):
        evidence.base_texts(frozenset({"x"}))


# Files at base.


def test_what_is_readable(base: Path) -> None:
    files = {
        "empty": b"",
        "full": b"x" * TEXT_LIMIT,
        "over": b"x" * (TEXT_LIMIT + 1),
        "nul": b"a\0b",
        "latin": b"caf\xe9",
        "bom": b"\xef\xbb\xbfa\r\nb",
        "line\nfeed": b"1\n",
        "-": b"2\n",
        " *?[": b"3\n",
        "back\\slash": b"4\n",
    }
    for name, data in files.items():
        (base / name).write_bytes(data)
    assert at(base).base_texts(frozenset(files)) == {
        "empty": "",
        "full": "x" * TEXT_LIMIT,
        "over": UNREADABLE,
        "nul": UNREADABLE,
        "latin": UNREADABLE,
        "bom": "\ufeffa\r\nb",
        "line\nfeed": "1\n",
        "-": "2\n",
        " *?[": "3\n",
        "back\\slash": "4\n",
    }


@pytest.mark.parametrize("path", ["nope", "d/nope", "nope/x", "d/x/y", "", "x/", "d//x", "./d/x", "d/./x", "D/X"])
def test_what_is_not_there_is_missing(path: str, base: Path) -> None:
    assert at(base).base_texts(frozenset({path})) == {path: MISSING}
    assert at(base).base_file(path) is None


@pytest.mark.parametrize(
    "path",
    [
        "../secret",
        "d/../../secret",
        "d/../d/x",
        "..",
        "/etc/passwd",
        "/",
        "//etc/passwd",
        "{base}/d/x",
        "{base}/../secret",
    ],
)
def test_path_that_leaves_the_base_is_not_even_opened(path: str, base: Path, opened: list[str]) -> None:
    path = path.replace("{base}", str(base))
    assert at(base).base_texts(frozenset({path})) == {path: UNREADABLE}
    with pytest.raises(EvidenceError, match="cannot be read: it must be a plain file"):
        at(base).base_file(path)
    assert set(opened) == {str(base)}


@pytest.mark.parametrize("target", ["../secret", "{out}/secret", "d/x", "nowhere", "link"])
def test_link_is_not_followed(target: str, base: Path, opened: list[str]) -> None:
    (base / "link").symlink_to(target.replace("{out}", str(base.parent)))
    assert at(base).base_texts(frozenset({"link"})) == {"link": UNREADABLE}
    with pytest.raises(EvidenceError, match="no symbolic link may lead there"):
        at(base).base_file("link")
    assert set(opened) == {str(base)}


@pytest.mark.parametrize("target", ["../outside", "{out}/outside", "d", "nowhere", "link"])
def test_link_on_the_way_is_not_followed(target: str, base: Path, opened: list[str]) -> None:
    (base / "d/link").symlink_to(target.replace("{out}", str(base.parent)))
    (base / "link").symlink_to(target.replace("{out}", str(base.parent)))
    paths = frozenset({"link/file", "d/link/file", "link/x", "link/deeper/file"})
    assert at(base).base_texts(paths) == dict.fromkeys(paths, UNREADABLE)
    assert not {"file", "x", "deeper"} & set(opened)


def test_base_itself_may_be_a_link(base: Path) -> None:
    (base.parent / "link").symlink_to("base")
    assert at(base.parent / "link").base_texts(frozenset({"d/x"})) == {"d/x": "x\n"}


def special(kind: str) -> Callable[[Path], object]:
    return {
        "pipe": os.mkfifo,
        "directory": lambda path: path.mkdir(),
        "device": lambda path: os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 5)),
    }[kind]


@pytest.mark.parametrize("kind", ["pipe", "directory", "device"])
def test_what_is_no_plain_file_is_not_opened(kind: str, base: Path, opened: list[str]) -> None:
    if kind == "device" and os.geteuid() != 0:
        pytest.skip("only root can make a device")
    special(kind)(base / "odd")
    assert at(base).base_texts(frozenset({"odd"})) == {"odd": UNREADABLE}
    with pytest.raises(EvidenceError, match="it must be a plain file"):
        at(base).base_files(["d/x", "odd"])
    assert "odd" not in opened


def test_socket_is_not_opened(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(base)  # the name of a socket must be short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("odd")
        assert at(base).base_texts(frozenset({"odd"})) == {"odd": UNREADABLE}


def test_file_swapped_between_look_and_open(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.open

    def swapped(swap: Callable[[], None]) -> None:
        def opening(path: str | Path, flags: int, *more: int, dir_fd: int | None = None) -> int:
            if path == "x":
                (base / "d/x").unlink(missing_ok=True)
                swap()
            return real(path, flags, *more, dir_fd=dir_fd)

        monkeypatch.setattr(os, "open", opening)

    # the pipe has no writer: an open that waits for one would hang here
    for swap, expected in (
        (lambda: os.mkfifo(base / "d/x"), UNREADABLE),
        (lambda: (base / "d/x").symlink_to(base.parent / "secret"), UNREADABLE),
        (lambda: None, MISSING),
    ):
        (base / "d/x").unlink(missing_ok=True)
        (base / "d/x").write_text("x\n")
        swapped(swap)
        assert at(base).base_texts(frozenset({"d/x"})) == {"d/x": expected}


def test_names_that_no_file_can_have(base: Path) -> None:
    paths = ["a\0b", "\ud800", "a" * 5000]
    assert at(base).base_texts(frozenset(paths)) == dict.fromkeys(paths, UNREADABLE)


def test_link_that_goes_while_it_is_looked_at(base: Path) -> None:
    root = os.open(base, os.O_RDONLY)
    try:
        assert not module._is_link("nope", root)
    finally:
        os.close(root)


@contextmanager
def not_as_root() -> Iterator[None]:
    """As a user who may not read everything, where these tests run as root."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(before)


def test_file_without_permission() -> None:
    with tempfile.TemporaryDirectory() as name:  # a test's own folder lets nobody else in
        base = Path(name)
        base.chmod(0o755)
        (base / "x").write_text("x\n")
        (base / "x").chmod(0)
        with not_as_root():
            assert at(base).base_texts(frozenset({"x"})) == {"x": UNREADABLE}


def test_base_file_that_is_too_large(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BASE_FILE_LIMIT", 2)
    assert at(base).base_file("d/x") == b"x\n"
    monkeypatch.setattr(module, "BASE_FILE_LIMIT", 1)
    with pytest.raises(EvidenceError, match=f"^{base}/d/x cannot be read: it must be a plain file of at most 1 bytes"):
        at(base).base_file("d/x")


@pytest.fixture
def descriptors() -> Iterator[None]:
    """No descriptor is left open."""
    before = os.listdir("/proc/self/fd")  # noqa: PTH208
    yield
    assert len(os.listdir("/proc/self/fd")) == len(before)  # noqa: PTH208


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="there is no such list here")
def test_nothing_stays_open(base: Path, descriptors: None) -> None:
    (base / "link").symlink_to("d")
    paths = frozenset({"d/x", "d/nope", "link/x", "d/x/y", "../secret", "a\0b", *(f"d/e{n}/f/g" for n in range(50))})
    at(base).base_texts(paths)
