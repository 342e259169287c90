"""The diff parser: hand-made diffs, what real git writes, and properties. Excerpts, numbers and status (S3, S5, S10)
are only worth what it reads."""

import difflib
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.repos import Repo, git
from verifier.diff import Diff, FileDiff, Hunk, Line, _files, parse_diff, parse_hunks

HUNK = "@@ -1 +1 @@\n-old\n+new\n"


def parsed(text: str | bytes) -> tuple[FileDiff, ...]:
    return parse_diff(text.encode() if isinstance(text, str) else text).files


def only(text: str | bytes) -> FileDiff:
    (file,) = parsed(text)
    return file


def shown(hunk: Hunk) -> list[str]:
    return [line.sign + line.text for line in hunk.lines]


def names(text: str | bytes) -> list[tuple[str | None, str | None]]:
    return [(file.old_path, file.new_path) for file in parsed(text)]


def between(repo: Repo, *options: str) -> bytes:
    """git's own diff of the last two commits."""
    return repo.diff("HEAD~1", "HEAD", *options)


# What a file is.


def test_changed_file() -> None:
    file = only(
        "diff --git a/x.ts b/x.ts\nindex 1..2 100644\n--- a/x.ts\n+++ b/x.ts\n@@ -3,3 +3,3 @@ f()\n a\n-b\n+c\n d\n"
    )
    assert (file.old_path, file.new_path, file.renamed, file.copied, file.submodule) == (
        "x.ts",
        "x.ts",
        False,
        False,
        False,
    )
    assert file.hunks == (
        Hunk(
            "@@ -3,3 +3,3 @@ f()",
            3,
            3,
            3,
            3,
            (Line(" ", "a", 3, 3), Line("-", "b", 4, None), Line("+", "c", None, 4), Line(" ", "d", 5, 5)),
        ),
    )
    assert [line.text for line in file.hunks[0].changed] == ["b", "c"]
    assert file.hunks[0].by_old == {3: 0, 4: 1, 5: 3}
    assert file.hunks[0].by_new == {3: 0, 4: 2, 5: 3}


def test_new_and_deleted_file(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    repo.commit({"gone.txt": "1\n2\n"})
    repo.remove("gone.txt")
    repo.commit({"here.txt": "a\nb\nc\n"})
    gone, here = parsed(between(repo))
    assert (gone.old_path, gone.new_path, gone.paths) == ("gone.txt", None, ("gone.txt",))
    assert (gone.hunks[0].new_start, gone.hunks[0].new_count, gone.hunks[0].by_new) == (0, 0, {})
    assert (here.old_path, here.new_path, here.paths) == (None, "here.txt", ("here.txt",))
    assert (here.hunks[0].old_start, here.hunks[0].old_count, list(here.hunks[0].by_new)) == (0, 0, [1, 2, 3])
    assert not gone.renamed
    assert not here.renamed


@pytest.mark.parametrize("options", [(), ("--no-prefix",), ("--src-prefix=i/", "--dst-prefix=w/")])
@pytest.mark.parametrize("more", ["", "one more\n"])
def test_renamed_file(tmp_path: Path, more: str, options: tuple[str, ...]) -> None:
    repo = Repo(tmp_path)
    text = "".join(f"line {n}\n" for n in range(20))
    repo.commit({"a/old name.ts": text, "b/x": "1\n"})
    repo.move("a/old name.ts", "b/new.ts")
    repo.commit({"b/new.ts": text + more})
    file = only(between(repo, *options))
    assert (file.old_path, file.new_path, file.renamed) == ("a/old name.ts", "b/new.ts", True)
    assert file.paths == ("b/new.ts", "a/old name.ts")
    assert len(file.hunks) == bool(more)


def test_rename_that_looks_like_a_prefix_is_taken_from_its_own_lines(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    text = "".join(f"line {n}\n" for n in range(20))
    repo.commit({"a/x": text})
    repo.move("a/x", "b/x")
    repo.commit({"b/x": text + "more\n"})
    assert names(between(repo, "--no-prefix")) == [("a/x", "b/x")]
    assert names(between(repo)) == [("a/x", "b/x")]


def test_copied_file() -> None:
    diff = parse_diff(
        b"diff --git a/x.ts b/y.ts\nsimilarity index 90%\ncopy from x.ts\ncopy to y.ts\nindex 1..2 100644\n"
        b"--- a/x.ts\n+++ b/y.ts\n" + HUNK.encode()
    )
    (file,) = diff.files
    assert (file.old_path, file.new_path, file.copied, file.renamed) == ("x.ts", "y.ts", True, False)
    # the original is still there: the copy does not stand for it
    assert file.paths == ("y.ts",)
    assert diff.file("x.ts") is None
    assert diff.file("y.ts") is file


def test_copied_file_of_git(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    text = "".join(f"line {n}\n" for n in range(20))
    repo.commit({"x.ts": text})
    repo.commit({"y.ts": text + "more\n"})
    file = only(between(repo, "--find-copies-harder"))
    assert (file.old_path, file.new_path, file.copied) == ("x.ts", "y.ts", True)


def test_mode_only(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    repo.commit({"run me.sh": "true\n", "z": "1\n"})
    (repo.path / "run me.sh").chmod(0o755)
    repo.commit({"z": "2\n"})
    script, other = parsed(between(repo))
    assert (script.old_path, script.new_path, script.hunks) == ("run me.sh", "run me.sh", ())
    assert len(other.hunks) == 1


@pytest.mark.parametrize("options", [(), ("--binary",)])
def test_binary_file(tmp_path: Path, options: tuple[str, ...]) -> None:
    repo = Repo(tmp_path)
    repo.commit({"old.bin": b"\0\1" * 400, "same.bin": bytes(range(256)) * 4})
    repo.remove("old.bin")
    repo.commit({"new.bin": bytes(range(256)), "same.bin": bytes(range(256)) * 5, "z": "text\n"})
    files = parsed(between(repo, *options))
    assert [(file.old_path, file.new_path, len(file.hunks)) for file in files] == [
        (None, "new.bin", 0),
        ("old.bin", None, 0),
        ("same.bin", "same.bin", 0),
        (None, "z", 1),
    ]


def test_symbolic_link(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    repo.link("here", "there")
    repo.link("turned", "x")
    repo.commit()
    repo.remove("here")
    repo.link("here", "elsewhere")
    repo.remove("turned")
    repo.commit({"turned": "a file now\n"})
    here, was, now = parsed(between(repo))
    assert shown(here.hunks[0]) == [
        "-there",
        "\\ No newline at end of file",
        "+elsewhere",
        "\\ No newline at end of file",
    ]
    # git tells a change of type as two files of one name; the one that is there stands for the path
    assert (was.new_path, now.old_path) == (None, None)
    assert parse_diff(between(repo)).file("turned") == now


def test_submodule(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    first = repo.commit({"x": "1\n"})
    repo.submodule("lib/dep", first)
    second = repo.commit({"x": "2\n"})
    repo.submodule("lib/dep", second)
    repo.commit()
    repo.git("rm", "--quiet", "--cached", "lib/dep")
    (repo.path / "lib/dep").rmdir()
    repo.commit()
    added = parse_diff(repo.diff("HEAD~3", "HEAD~2")).file("lib/dep")
    moved = only(repo.diff("HEAD~2", "HEAD~1"))
    gone = only(between(repo))
    assert added
    assert (added.submodule, added.old_path) == (True, None)
    assert (moved.submodule, moved.old_path, moved.new_path) == (True, "lib/dep", "lib/dep")
    assert shown(moved.hunks[0]) == [f"-Subproject commit {first}", f"+Subproject commit {second}"]
    assert (gone.submodule, gone.new_path) == (True, None)


def test_number_of_a_submodule_in_a_name_is_no_mode() -> None:
    assert not only("diff --git a/a 160000 b/b 160000\nrename from a 160000\nrename to b 160000\n").submodule


def test_empty_file(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    repo.commit({"gone": "", "filled": "", "emptied": "x\n"})
    repo.remove("gone")
    repo.commit({"an empty one": "", "filled": "y\n", "emptied": ""})
    assert [(file.old_path, file.new_path, len(file.hunks)) for file in parsed(between(repo, "--no-renames"))] == [
        (None, "an empty one", 0),
        ("emptied", "emptied", 1),
        ("filled", "filled", 1),
        ("gone", None, 0),
    ]


# What a line is.


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("a\nb", "a\nb\n", [" a", "-b", "\\ No newline at end of file", "+b"]),
        ("a\nb\n", "a\nb", [" a", "-b", "+b", "\\ No newline at end of file"]),
        ("a\nb", "c\nb", ["-a", "+c", " b", "\\ No newline at end of file"]),
        ("a", "b", ["-a", "\\ No newline at end of file", "+b", "\\ No newline at end of file"]),
    ],
)
def test_no_newline_at_the_end(tmp_path: Path, old: str, new: str, expected: list[str]) -> None:
    repo = Repo(tmp_path)
    repo.commit({"x": old})
    repo.commit({"x": new, "y": "follows\n"})
    first, second = parsed(between(repo))
    assert shown(first.hunks[0]) == expected
    assert all(line.old is None and line.new is None for line in first.hunks[0].lines if line.sign == "\\")
    assert second.new_path == "y"


def test_carriage_returns_stay_in_their_lines(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    repo.commit({"x": "a\r\n\r\nb\r\n"})
    repo.commit({"x": "a\r\n\r\nc\r\n"})
    assert shown(only(between(repo)).hunks[0]) == [" a\r", " \r", "-b\r", "+c\r"]


@pytest.mark.parametrize("inside", ["\r", "\f", "\v", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"])
def test_only_a_line_feed_ends_a_line(tmp_path: Path, inside: str) -> None:
    repo = Repo(tmp_path)
    repo.commit({"x": "1\n2\n3\n"})
    repo.commit({"x": f"1\nleft{inside}+right\n3\n"})
    hunk = only(between(repo)).hunks[0]
    assert shown(hunk) == [" 1", "-2", f"+left{inside}+right", " 3"]
    assert hunk.by_new == {1: 0, 2: 2, 3: 3}


def test_bytes_that_are_no_utf_8(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    repo.commit({"x": b"caf\xe9\n"})
    repo.commit({"x": b"caf\xc3\xa9 \xff\xfe\n"})
    assert shown(only(between(repo)).hunks[0]) == ["-caf\ufffd", "+caf\u00e9 \ufffd\ufffd"]


def test_long_line(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    repo.commit({"x": "a" * 100_000 + "\n"})
    repo.commit({"x": "b" * 100_000 + "\n"})
    assert [len(line.text) for line in only(between(repo)).hunks[0].lines] == [100_000, 100_000]


def test_20_000_changed_lines(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    repo.commit({"x": "".join(f"old {n}\n" for n in range(20_000))})
    repo.commit({"x": "".join(f"new {n}\n" for n in range(20_000))})
    (hunk,) = only(between(repo)).hunks
    assert len(hunk.lines) == 40_000
    assert hunk.lines[hunk.by_new[20_000]] == Line("+", "new 19999", None, 20_000)


@pytest.mark.parametrize(
    "line",
    [
        "-- a/x",
        "++ b/x",
        "@@ -1 +1 @@",
        "diff --git a/evil b/evil",
        "\\ No newline at end of file",
        "-- /dev/null",
        "rename from x",
        "GIT binary patch",
        "",
        " ",
        "-",
        "+",
    ],
)
def test_content_that_looks_like_a_header(tmp_path: Path, line: str) -> None:
    repo = Repo(tmp_path)
    repo.commit({"x": f"top\n{line}\n1\n2\n3\nkept\n{line}\n4\n5\n6\n{line}\n"})
    repo.commit({"x": f"top\n1\n2\n3\nkept\n{line}\n4\n5\n6\n{line}\n{line}\n+{line}\n", "y": f"{line}\n"})
    first, second = parsed(between(repo))
    assert (first.new_path, second.new_path) == ("x", "y")
    assert shown(second.hunks[0]) == [f"+{line}"]
    assert f"-{line}" in [text for hunk in first.hunks for text in shown(hunk)]
    assert shown(first.hunks[-1])[-1] == f"++{line}"


def test_header_look_alikes_across_the_end_of_a_hunk() -> None:
    # as changed lines they come in the order of a file header, and only the counts tell
    text = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/evil\n+++ b/evil\n@@ -1 +1 @@\n-a\n+b\n"
    file = only(text)
    assert shown(file.hunks[0]) == ["--- a/evil", "+++ b/evil"]
    assert len(file.hunks) == 2


def test_blank_context_lines_without_their_space(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    repo.commit({"x": "a\n\nb\n\n"})
    repo.git("config", "diff.suppressBlankEmpty", "true")
    repo.commit({"x": "a\n\nc\n\n", "y": "\n"})
    first, second = parsed(between(repo))
    assert b"\n\n-b\n+c\n\ndiff" in between(repo)
    assert shown(first.hunks[0]) == [" a", " ", "-b", "+c", " "]
    assert second.new_path == "y"


def test_hunk_headers_without_counts_and_two_hunks() -> None:
    file = only("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n@@ -7 +7,2 @@ class X:\n-c\n+d\n+e\n")
    assert [(h.old_start, h.old_count, h.new_start, h.new_count) for h in file.hunks] == [(1, 1, 1, 1), (7, 1, 7, 2)]


def test_zero_context(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    repo.commit({"x": "1\n2\n3\n4\n"})
    repo.commit({"x": "1\nnew\n2\n4\n"})
    added, removed = only(between(repo, "-U0")).hunks
    assert (added.old_start, added.old_count, added.by_new) == (1, 0, {2: 0})
    assert (removed.new_start, removed.new_count, removed.by_old) == (3, 0, {3: 0})


# What a path is.

NAMES = [
    "plain.ts",
    "with space.ts",
    " leading and trailing ",
    'a"quote',
    "a\ttab",
    "back\\slash",
    "line\nfeed",
    "carriage\rreturn",
    "src:with:colon",
    "naïve/日本.ts",
    "a/x",
    "b/x",
    "a/b/a/b",
    "x b/x",
    "x a/x b/x",
    "b/ b",
    "*glob?[x]",
    "--option",
    "\x01\x7f",
    "dev/null",
    "160000",
    "tail ",
]


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--no-prefix",),
        ("--src-prefix=i/", "--dst-prefix=w/"),
        ("--src-prefix=before/", "--dst-prefix=after/"),
    ],
)
@pytest.mark.parametrize("quoted", ["true", "false"])
def test_every_name(tmp_path: Path, options: tuple[str, ...], quoted: str) -> None:
    repo = Repo(tmp_path)
    repo.git("config", "core.quotePath", quoted)
    repo.commit({f"{n}-{name}/{name}": "1\n" for n, name in enumerate(NAMES)} | {"mode": "x\n"})
    repo.commit({f"{n}-{name}/{name}": "2\n" for n, name in enumerate(NAMES)})
    expected = sorted(f"{n}-{name}/{name}" for n, name in enumerate(NAMES))
    found = parsed(between(repo, *options))
    assert sorted(file.new_path or "" for file in found) == expected
    assert sorted(file.old_path or "" for file in found) == expected
    assert all(len(file.hunks) == 1 for file in found)
    # on one side only, and without a `---` line
    nothing = repo.git("hash-object", "-t", "tree", os.devnull)
    created = [file.new_path for file in parsed(repo.diff(nothing, "HEAD", *options)) if file.old_path is None]
    deleted = [file.old_path for file in parsed(repo.diff("HEAD", nothing, *options)) if file.new_path is None]
    assert sorted(filter(None, created)) == sorted(filter(None, deleted)) == sorted([*expected, "mode"])


@pytest.mark.parametrize("options", [(), ("--no-prefix",), ("--src-prefix=i/", "--dst-prefix=w/")])
def test_every_name_without_hunks_and_at_the_root(tmp_path: Path, options: tuple[str, ...]) -> None:
    flat = [name.replace("/", "|") for name in NAMES]
    repo = Repo(tmp_path)
    repo.commit(dict.fromkeys(flat, ""))
    for name in flat:
        (repo.path / name).chmod(0o755)
    repo.commit()
    assert sorted(file.new_path or "" for file in parsed(between(repo, *options))) == sorted(flat)


@pytest.mark.parametrize("new", [name for name in NAMES if name != "plain.ts"])
def test_every_name_renamed(tmp_path: Path, new: str) -> None:
    repo = Repo(tmp_path)
    text = "".join(f"line {n}\n" for n in range(20))
    repo.commit({"plain.ts": text})
    repo.move("plain.ts", new)
    repo.commit({new: text + "more\n"})
    for options in ((), ("--no-prefix",), ("--src-prefix=i/", "--dst-prefix=w/")):
        assert names(between(repo, *options)) == [("plain.ts", new)]
        assert names(repo.diff("HEAD", "HEAD~1", *options)) == [(new, "plain.ts")]


def test_name_that_is_no_utf_8(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    repo.commit({os.fsdecode(b"caf\xe9"): "1\n"})
    repo.commit({os.fsdecode(b"caf\xe9"): "2\n"})
    assert names(between(repo)) == [("caf\ufffd", "caf\ufffd")]


def test_quoting_that_git_would_not_write_is_taken_as_it_stands() -> None:
    assert names(f'--- "a/\\q\\400\\"\n+++ "b/\\q\\400\\"\n{HUNK}') == [("\\q\\400\\", "\\q\\400\\")]
    assert names(f'--- "\n+++ "\n{HUNK}') == [('"', '"')]


def test_two_different_files_against_each_other(tmp_path: Path) -> None:
    for name, text in (("one.txt", "1\n"), ("an other.txt", "2\n")):
        (tmp_path / name).write_text(text)
    for options in ((), ("--no-prefix",)):
        said = git("diff", "--no-index", *options, "one.txt", "an other.txt", cwd=tmp_path, codes=(1,))
        assert names(said) == [("one.txt", "an other.txt")]


# What is read of a text with more in it than a diff.


def test_plain_diff_with_time_stamps(tmp_path: Path) -> None:
    for folder, files in {"old": {"both": "1\n", "gone": "x\n"}, "new": {"both": "2\n", "here": "y\n"}}.items():
        (tmp_path / folder / "src").mkdir(parents=True)
        for name, text in files.items():
            (tmp_path / folder / "src" / name).write_text(text)
    done = subprocess.run(
        ["diff", "-ruN", "old", "new"], cwd=tmp_path, capture_output=True, check=False, env=dict(os.environ, TZ="EST5")
    )
    assert done.returncode == 1
    assert names(done.stdout) == [("src/both", "src/both"), ("src/gone", None), (None, "src/here")]


def test_plain_diff_by_hand() -> None:
    stamp = "2024-01-02 03:04:05.000000000 +0100"
    text = f"Index: x\n=====\n--- x.ts\t{stamp}\n+++ x.ts\t{stamp}\n{HUNK}Only in new: y\n--- a/z\n+++ b/z\n{HUNK}"
    assert names(text) == [("x.ts", "x.ts"), ("z", "z")]
    assert names(f"--- /dev/null\t{stamp}\n+++ b/x\t{stamp}\n@@ -0,0 +1 @@\n+a\n") == [(None, "x")]
    assert names(f"--- a/x\n+++ /dev/null\n{HUNK}") == [("x", None)]
    assert names(f"--- lib/x.orig\n+++ lib/x\n{HUNK}") == [("lib/x.orig", "lib/x")]
    # an old file that is empty is there all the same
    assert names(f"--- x\t{stamp}\n+++ x\t{stamp}\n@@ -0,0 +1 @@\n+a\n") == [("x", "x")]


def test_no_file_on_either_side_is_no_file() -> None:
    assert parsed(f"--- /dev/null\n+++ /dev/null\n{HUNK}") == ()
    assert parsed("diff --git a/x b/x\nnew file mode 100644\ndeleted file mode 100644\n") == ()


def test_every_line_end_turned_into_crlf() -> None:
    text = f"diff --git a/x y b/x y\nindex 1..2 100644\n--- a/x y\t\n+++ b/x y\t\n{HUNK}"
    text += "diff --git a/p b/q\nrename from p\nrename to q\ndiff --git a/m b/m\nold mode 100644\nnew mode 100755\n"
    text += "Index: plain\n--- plain\n+++ plain\n@@ -1,2 +1,2 @@\n\n-a\n+b\n"
    assert names(text.replace("\n", "\r\n")) == names(text) == [("x y", "x y"), ("p", "q"), ("m", "m"), ("plain",) * 2]


def test_byte_order_mark_hides_no_file() -> None:
    assert names(b"\xef\xbb\xbf" + f"diff --git a/x b/x\n--- a/x\n+++ b/x\n{HUNK}".encode()) == [("x", "x")]


def test_mails_of_format_patch(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    repo.commit({"x": "1\n", "run": "a\n"})
    message = "add\n\nindex of things\nrename from here\n--- not a header\n\ndiff --git is a command\n---\n"
    (repo.path / "run").chmod(0o755)
    repo.commit(message=message)
    repo.commit({"x": "2\n", "empty": ""}, message=message)
    mails = repo.git("format-patch", "--stdout", "HEAD~2").encode()
    assert names(mails) == [("run", "run"), (None, "empty"), ("x", "x")]
    assert shown(parsed(mails)[2].hunks[0]) == ["-1", "+2"]


def test_show_with_a_message(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    repo.commit({"x": "1\n"})
    repo.commit({"x": "2\n"}, message="--- a/evil\n+++ b/evil\n@@ -1 +1 @@\n-a\n+b\n\ndiff --git a/evil b/evil")
    assert names(repo.git("show", "--stat", "--patch", "HEAD").encode()) == [("x", "x")]


def test_combined_diffs_are_passed_over(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    base = repo.commit({"x": "1\n-- a/y\n++ b/y\n2\n"})
    repo.commit({"x": "1\n-- a/y\nleft\n2\n"})
    repo.git("checkout", "--quiet", "-b", "other", base)
    repo.commit({"x": "1\n-- a/y\nright\n2\n"})
    repo.git("merge", "main", codes=(1,))
    repo.commit({"x": "1\nboth\n2\n"})
    for form in ("--cc", "-c"):
        said = repo.git("show", form, "HEAD").encode()
        assert b"\n@@@ " in said
        assert parsed(said + f"\ndiff --git a/z b/z\n--- a/z\n+++ b/z\n{HUNK}".encode()) == parsed(
            f"diff --git a/z b/z\n--- a/z\n+++ b/z\n{HUNK}"
        )


# What is cut short, forged or no diff at all.


def test_forged_counts() -> None:
    head = "diff --git a/x b/x\n--- a/x\n+++ b/x\n"
    more = "diff --git a/y b/y\n--- a/y\n+++ b/y\n" + HUNK
    too_many = parsed(f"{head}@@ -1,9 +1,9 @@\n a\n-b\n+c\n{more}")
    assert [file.new_path for file in too_many] == ["x", "y"]
    assert (too_many[0].hunks[0].old_count, too_many[0].hunks[0].new_count) == (2, 2)
    too_few = parsed(f"{head}@@ -1,1 +1,1 @@\n-b\n+c\n+smuggled\n{more}")
    assert [shown(file.hunks[0]) for file in too_few] == [["-b", "+c"], ["-old", "+new"]]
    # one that would claim a machine's memory, and one that is no number for git
    assert parsed(f"{head}@@ -1,999999999 +1,999999999 @@\n a\n{more}")[0].hunks[0].old_count == 1
    assert [len(file.hunks) for file in parsed(f"{head}@@ -1,99999999999999 +1 @@\n a\n{more}")] == [0, 1]
    assert [len(file.hunks) for file in parsed(f"{head}@@ -١ +١ @@\n-a\n+b\n{more}")] == [0, 1]


def test_hunk_without_a_line_is_none() -> None:
    head = "diff --git a/x b/x\n--- a/x\n+++ b/x\n"
    assert only(f"{head}@@ -1,5 +1,5 @@\n").hunks == ()
    assert only(f"{head}@@ -1,0 +1,0 @@\n\\ No newline at end of file\n").hunks == ()
    assert len(only(f"{head}@@ -1,5 +1,5 @@\n{HUNK}").hunks) == 1


def test_truncated_diff_never_raises_and_keeps_what_stands_before_the_cut(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    text = "".join(f"line {n}\n" for n in range(20))
    repo.commit({"x y": text, "é": "1\n", "gone": "", "m": text})
    repo.move("m", "moved")
    repo.remove("gone")
    repo.commit({"x y": text.replace("line 3\n", "\n"), "é": "2", "b.bin": b"\0" * 30, "moved": text + "\n"})
    whole = between(repo, "--binary")
    before: tuple[FileDiff, ...] = ()
    for end in range(len(whole) + 1):
        files = parsed(whole[:end])
        # whatever is complete stays as it is; only the last file grows
        assert files[: len(before) - 1] == before[:-1]
        before = files
    assert before == parsed(whole)
    assert len(before) == 5


def test_nothing() -> None:
    assert parse_diff(b"") == Diff(())
    assert parse_diff(b"hello\n--- a\n+++ b\nno hunk\n--- a") == Diff(())
    assert parse_hunks(["no hunk"]) == ((), 0)
    assert parse_hunks([], 0) == ((), 0)


def test_patch_of_the_files_api_has_hunks_only() -> None:
    lines = ["@@ -1,2 +1,2 @@", " a", "-b", "\\ No newline at end of file", "+c"]
    (hunk,), after = parse_hunks(lines)
    assert shown(hunk) == [" a", "-b", "\\ No newline at end of file", "+c"]
    assert after == len(lines)


def test_file_is_found_by_either_path() -> None:
    moved, new = FileDiff("old", "new"), FileDiff(None, "old")
    assert Diff((moved,)).file("old") is moved
    # the file that has the name now comes before the one that had it
    assert Diff((moved, new)).file("old") is new
    assert Diff((new, moved)).file("old") is new
    assert Diff((moved, new)).file("other") is None


def test_header_of_nothing_but_spaces_costs_its_length_only() -> None:
    # each way to split it into two names would cost its length: 10^10 steps for this one
    assert parsed("diff --git " + " x" * 100_000 + "\nindex 1..2\n") == ()


class Counted(list[str]):
    """Lines that count how often one is looked at."""

    looks = 0

    def __getitem__(self, at):  # type: ignore[no-untyped-def]
        self.looks += 1
        return super().__getitem__(at)


def test_60_000_lines_are_read_once() -> None:
    hunk = "@@ -{0},10 +{0},10 @@\n" + "".join(f" context {n}\n-old {n}\n+new {n}\n" for n in range(5))
    text = "".join(
        f"diff --git a/d/f{file} b/d/f{file}\nindex 1..2 100644\n--- a/d/f{file}\n+++ b/d/f{file}\n"
        + "".join(hunk.format(1 + 20 * at) for at in range(20))
        for file in range(200)
    )
    lines = Counted(text.split("\n"))
    files = tuple(_files(lines))
    assert files == parsed(text)
    assert (len(files), sum(len(file.hunks) for file in files)) == (200, 4000)
    assert sum(len(hunk.lines) for file in files for hunk in file.hunks) == 60_000
    assert lines.looks < 4 * len(lines)


# Properties.

# the same examples in every run, and no complaint about a slow machine
CALM = settings(deadline=None, database=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])

SIGNS = [
    "",
    "+",
    "-",
    " ",
    "@@ -1 +1 @@",
    "\\ No newline at end of file",
    "diff --git a/x b/x",
    "-- a/x",
    "++ b/x",
    "\r",
]
TAILS = st.text(st.sampled_from("ab +-@\\\t\r\f\x85\u2028é"), max_size=3)
LINES = st.builds(str.__add__, st.sampled_from(SIGNS), TAILS)


@st.composite
def files(draw: st.DrawFn) -> tuple[str, str]:
    """A file before and after: the same lines but for a few, either with or without a line feed at its end."""
    old = draw(st.lists(LINES, max_size=12))
    new = list(old)
    for at in draw(st.lists(st.integers(0, 12), max_size=4)):
        new[at : at + draw(st.integers(0, 2))] = draw(st.lists(LINES, max_size=2))
    ends = st.sampled_from(["\n", ""])
    return tuple("\n".join(side) + (draw(ends) if side else "") for side in (old, new))  # type: ignore[return-value]


def lines_of(text: str) -> list[str]:
    return [line + "\n" for line in text.split("\n")[:-1]] + ([text.split("\n")[-1]] if text.split("\n")[-1] else [])


def applied(old: str, hunks: Sequence[Hunk]) -> str:
    """What `hunks` make of `old`; each line they keep or remove has to be there, under its number."""
    before, after, at = lines_of(old), list[str](), 0
    for hunk in hunks:
        start = hunk.old_start - 1 if hunk.old_count else hunk.old_start
        after += before[at:start]
        at, sign = start, ""
        for line in hunk.lines:
            if line.sign == "\\" and sign in (" ", "+"):
                after[-1] = after[-1].removesuffix("\n")
            if line.sign in (" ", "-"):
                assert (before[at].removesuffix("\n"), line.old) == (line.text, at + 1)
                at += 1
            if line.sign in (" ", "+"):
                after.append(line.text + "\n")
                assert line.new == len(after)
            sign = line.sign
    return "".join(after + before[at:])


@settings(CALM, max_examples=60)
@given(st.lists(files(), min_size=1, max_size=8), st.sampled_from(["-U0", "-U1", "-U3"]))
def test_what_git_writes_makes_the_new_file_of_the_old_one(pairs: list[tuple[str, str]], context: str) -> None:
    with tempfile.TemporaryDirectory() as made:
        for folder, side in (("old", 0), ("new", 1)):
            (Path(made) / folder).mkdir()
            for at, pair in enumerate(pairs):
                (Path(made) / folder / f"f {at}").write_bytes(pair[side].encode())
        said = git("diff", "--no-index", "--no-prefix", context, "old", "new", cwd=Path(made), codes=(0, 1))
    diff = parse_diff(said)
    assert [file.new_path for file in diff.files] == [f"f {at}" for at, (old, new) in enumerate(pairs) if old != new]
    for at, (old, new) in enumerate(pairs):
        file = diff.file(f"f {at}")
        assert applied(old, file.hunks if file else ()) == new


@settings(CALM, max_examples=200)
@given(st.lists(LINES, max_size=15), st.lists(LINES, max_size=15), st.integers(0, 3))
def test_what_difflib_writes_makes_the_new_file_of_the_old_one(old: list[str], new: list[str], context: int) -> None:
    before, after = [line + "\n" for line in old], [line + "\n" for line in new]
    said = "".join(difflib.unified_diff(before, after, "a/x", "b/x", n=context))
    assert applied("".join(before), [hunk for file in parsed(said) for hunk in file.hunks]) == "".join(after)


PIECES = st.sampled_from(
    [
        *(
            b"diff --git ",
            b"diff --cc x\n",
            b"--- ",
            b"+++ ",
            b"a/x",
            b"b/x",
            b'"a/\\303"',
            b"/dev/null",
            b"\n",
            b"\r\n",
        ),
        *(b"@@ -1 +1 @@\n", b"@@ -0,0 +1,3 @@ f", b"@@ -1,999999999 +1 @@\n", b"-x\n", b"+x\n", b" x\n", b"\\ No\n"),
        *(
            b"rename from ",
            b"copy to ",
            b"new file mode 160000\n",
            b"deleted file mode 1\n",
            b"index 1..2\n",
            b"\t",
            b" ",
        ),
        *(b"GIT binary patch\n", b"\xff", b'"', b"\\", b"\0", b"Binary files a and b differ\n"),
    ]
)


def test_s3_a_copy_that_is_deleted_is_named_by_the_path_it_left() -> None:
    (file,) = parse_diff(b"diff --git a/a b/b\ncopy from a\ncopy to b\ndeleted file mode 100644\n").files
    assert file.paths == ("a",)


@settings(CALM, max_examples=400)
@given(st.binary(max_size=200) | st.lists(PIECES, max_size=40).map(b"".join))
@example(b"diff --git")
@example(b"diff --git \n--- \n+++ \n@@ -1 +1 @@")
def test_no_bytes_raise_and_every_file_has_a_path_and_every_hunk_a_line(data: bytes) -> None:
    diff = parse_diff(data)
    for file in diff.files:
        assert file.paths
        for hunk in file.hunks:
            assert hunk.lines
            assert len(hunk.by_old) == hunk.old_count
            assert len(hunk.by_new) == hunk.new_count
        for path in file.paths:
            assert diff.file(path) is not None
