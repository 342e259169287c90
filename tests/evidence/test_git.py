"""Evidence from a local repository: the same hunks on every machine, nothing run, every path literal (S4, S10, S31)."""

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.repos import Repo, git
from verifier.diff import parse_diff
from verifier.evidence import git as module
from verifier.evidence.files import TEXT_LIMIT, EvidenceError
from verifier.evidence.git import GitEvidence, open_repository
from verifier.verification.model import MISSING, UNREADABLE

REAL_GIT = shutil.which("git") or ""

CODE = """\
class Shop:
    def open(self):
        self.a = 1
        self.b = 2

    def shut(self):
        self.a = 0
        self.b = 0

    def count(self):
        return self.a + self.b

    def name(self):
        return "shop"

    def last(self):
        return None
"""

# Every other algorithm of git's, and its own without the indent heuristic, tells another story of these two.
TANGLED = "x,end,end,    c,x,  b,  a,{,,{,    c,    c,", "x,    c,,end,    c,  b,    c,x,x,  b,,},  a,{,,{,    c,,"


def changed(repo: Repo) -> tuple[str, str]:
    """A base and a head between which every knob of git's diff has something to turn."""
    numbers = "".join(f"line {n}\n" for n in range(40))
    first = repo.commit(
        {
            "shop.py": CODE,
            "numbers.txt": numbers,
            "kept.txt": numbers.replace("line", "kept"),
            "windows.txt": "a\r\nb\r\n",
            "blank.txt": "a\n\nb\n\nc\n",
            "naïve.txt": "1\n",
            "sub/deep.txt": "1\n",
            "moved.txt": numbers.replace("line", "moved"),
            "blob.bin": b"\0\1\2",
            "tangled.txt": TANGLED[0].replace(",", "\n"),
        }
    )
    repo.submodule("dep", first)
    base = repo.commit()
    repo.move("moved.txt", "elsewhere.txt")
    repo.commit(
        {
            "shop.py": CODE.replace(
                "    def count", "    def twice(self):\n        self.a = 0\n        self.b = 0\n\n    def count"
            ).replace('"shop"', '"shop" '),
            "numbers.txt": numbers.replace("line 3\n", "three\n").replace("line 12\n", "twelve\n"),
            "copied.txt": numbers.replace("line", "kept") + "and more\n",
            "kept.txt": numbers.replace("line", "kept") + "more\n",
            "windows.txt": "a\r\nc\r\n",
            "blank.txt": "a\n\nB\n\nc\n",
            "naïve.txt": "2\n",
            "sub/deep.txt": "2\n",
            "elsewhere.txt": numbers.replace("line", "moved").replace("moved 5\n", "five\n"),
            "blob.bin": b"\0\1\3",
            "tangled.txt": TANGLED[1].replace(",", "\n"),
        }
    )
    repo.submodule("dep", base)
    return base, repo.commit()


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str, GitEvidence]:
    repo = Repo(tmp_path_factory.mktemp("template") / "repo")
    base, head = changed(repo)
    return repo.path, base, head, open_repository(repo.path, base, head)


@pytest.fixture
def copy(template: tuple[Path, str, str, GitEvidence], tmp_path: Path) -> Repo:
    """The changed repository, to be spoilt by the test."""
    shutil.copytree(template[0], tmp_path / "repo", symlinks=True)
    return Repo(tmp_path / "repo")


def test_diff_and_texts_are_those_of_the_merge_base(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    fork = repo.commit({"x": "fork\n", ".opendrs.yml": "llm: {}\n"})
    main = repo.commit({"x": "main\n", ".opendrs.yml": "llm: {enabled: true}\n"})
    repo.git("checkout", "--quiet", "-b", "topic", fork)
    topic = repo.commit({"y": "topic\n"})
    repo.git("tag", "-a", "-m", "annotated", "v1", topic)
    evidence = open_repository(tmp_path, "main", "v1")
    assert (evidence.base, evidence.head, evidence.merge_base) == (main, topic, fork)
    assert [file.new_path for file in evidence.diff().files] == ["y"]
    assert evidence.base_texts(frozenset({"x", "y"})) == {"x": "fork\n", "y": MISSING}
    # S31: configuration and memory are those of the base commit itself
    assert evidence.base_file(".opendrs.yml") == b"llm: {enabled: true}\n"
    assert evidence.base_files([".opendrs.yml", "x", "nope"]) == {
        ".opendrs.yml": b"llm: {enabled: true}\n",
        "x": b"main\n",
        "nope": None,
    }
    assert open_repository(tmp_path, main[:12], "HEAD").base == main
    assert open_repository(tmp_path, "main^0", "topic@{0}") == evidence


def test_nothing_changed(tmp_path: Path) -> None:
    head = Repo(tmp_path).commit({"x": "1\n"})
    evidence = open_repository(tmp_path, head, head)
    assert evidence.diff().files == ()
    assert evidence.base_texts(frozenset()) == {}
    assert evidence.base_files([]) == {}


def test_diff_is_what_git_says_by_default(template: tuple[Path, str, str, GitEvidence]) -> None:
    path, base, head, evidence = template
    files = {file.new_path: file for file in evidence.diff().files}
    assert sorted(filter(None, files)) == [
        "blank.txt",
        "blob.bin",
        "copied.txt",
        "dep",
        "elsewhere.txt",
        "kept.txt",
        "naïve.txt",
        "numbers.txt",
        "shop.py",
        "sub/deep.txt",
        "tangled.txt",
        "windows.txt",
    ]
    assert files["elsewhere.txt"].old_path == "moved.txt"
    assert (files["copied.txt"].old_path, files["dep"].submodule, files["blob.bin"].hunks) == (None, True, ())
    assert len(files["numbers.txt"].hunks) == 2
    said = parse_diff(Repo(path).diff(base, head))
    assert evidence.diff() == said


# Nothing but the objects has a say, and nothing that is named anywhere is run.

# Each row is one repository's configuration: what stands in a row does not hide one another.
CONFIGURATION = [
    "diff.algorithm=patience diff.context=0 diff.interHunkContext=20 diff.noPrefix=true diff.renames=false",
    "diff.algorithm=histogram diff.interHunkContext=20 diff.mnemonicPrefix=true diff.renames=copies diff.renameLimit=1",
    "diff.algorithm=minimal diff.context=9 diff.srcPrefix=x/ diff.dstPrefix=y/ diff.indentHeuristic=false",
    "diff.suppressBlankEmpty=true diff.orderFile=../order diff.submodule=log diff.relative=true diff.wordRegex=.",
    "diff.ignoreSubmodules=all submodule.dep.ignore=all diff.submodule=diff diff.wsErrorHighlight=all",
    "diff.external=../run diff.trustExitCode=true diff.colorMoved=zebra color.ui=always color.diff=always",
    "core.quotePath=false core.attributesFile=../attributes core.bigFileThreshold=1 core.fsmonitor=../run",
    "core.pager=../run pager.diff-tree=../run pager.rev-parse=../run pager.cat-file=../run core.editor=../run",
    "core.hooksPath=.. core.autocrlf=true core.eol=crlf core.whitespace=cr-at-eol core.ignoreCase=true core.bare=true",
    "core.worktree=/nowhere core.sshCommand=../run core.gitProxy=../run core.alternateRefsCommand=../run core.abbrev=4",
    "alias.diff-tree=!../run alias.rev-parse=!../run alias.cat-file=!../run alias.merge-base=!../run",
    "include.path=../more trace2.eventTarget=../trace i18n.logOutputEncoding=latin1 core.commitGraph=true",
    "diff.odd.textconv=../run diff.odd.cachetextconv=true",
    "diff.odd.command=../run",
    "diff.odd.xfuncname=^.*a.*$ diff.odd.algorithm=histogram diff.odd.binary=false",
    "diff.odd.binary=true attr.tree=HEAD",
    "filter.odd.smudge=../run filter.odd.clean=../run",
    "filter.odd.process=../run filter.odd.required=true uploadpack.packObjectsHook=../run",
    "extensions.partialClone=origin remote.origin.promisor=true remote.origin.url=ext::../run protocol.allow=always",
    "extensions.worktreeConfig=true safe.directory=/nowhere transfer.fsckObjects=true credential.helper=!../run",
]

ATTRIBUTES = ["* diff=odd", "* -diff", "* binary", "* diff", "* text=auto eol=crlf", "* filter=odd", "*.py diff=python"]


def spoilt(repo: Repo) -> Path:
    """Beside the repository: what its configuration may name. Whatever runs leaves a mark."""
    beside = repo.path.parent
    (beside / "order").write_text("windows.txt\nshop.py\n")
    (beside / "attributes").write_text("* -diff\n")
    (beside / "more").write_text("[diff]\n\tnoprefix = true\n\tcontext = 0\n\texternal = ../run\n")
    (beside / "run").write_text(f"#!/bin/sh\ntouch '{beside}/PWNED'\ncat\n")
    (beside / "run").chmod(0o755)
    (repo.path / ".git/hooks").mkdir(exist_ok=True)
    for hook in ("post-checkout", "reference-transaction", "fsmonitor-watchman"):
        shutil.copy(beside / "run", beside / hook)
        shutil.copy(beside / "run", repo.path / ".git" / "hooks" / hook)
    return beside


def assert_same(repo: Repo, template: tuple[Path, str, str, GitEvidence]) -> None:
    """Whether the evidence is that of the unspoilt repository, with nothing run and nothing written."""
    _, base, head, expected = template
    before = {path: path.stat().st_mtime_ns for path in (repo.path / ".git").rglob("*")}
    evidence = open_repository(repo.path, base, head)
    assert (evidence.base, evidence.head, evidence.merge_base) == (base, head, expected.merge_base)
    assert evidence.diff() == expected.diff()
    paths = frozenset({"windows.txt", "shop.py", "dep", "blob.bin"})
    assert evidence.base_texts(paths) == expected.base_texts(paths)
    assert evidence.base_file("windows.txt") == b"a\r\nb\r\n"
    assert not (repo.path.parent / "PWNED").exists()
    assert not (repo.path.parent / "trace").exists()
    assert {path: path.stat().st_mtime_ns for path in (repo.path / ".git").rglob("*")} == before


@pytest.mark.parametrize("row", CONFIGURATION)
def test_configuration_of_the_repository_has_no_say(
    row: str, copy: Repo, template: tuple[Path, str, str, GitEvidence]
) -> None:
    beside = spoilt(copy)
    for place in (".gitattributes", ".git/info/attributes"):
        copy.write(place, "* diff=odd filter=odd\n")
    lines = ["[core]", "repositoryFormatVersion = 1"]
    for setting in row.split(" "):
        key, _, value = setting.partition("=")
        section, _, name = key.rpartition(".")
        kind, _, sub = section.partition(".")
        lines += [f'[{kind} "{sub}"]' if sub else f"[{kind}]", f'{name} = "{value.replace("..", str(beside))}"']
    with (copy.path / ".git/config").open("a") as config:
        config.write("\n".join([*lines, ""]))
    assert_same(copy, template)


@pytest.mark.parametrize("line", ATTRIBUTES)
def test_attributes_of_the_repository_have_no_say(
    line: str, copy: Repo, template: tuple[Path, str, str, GitEvidence]
) -> None:
    spoilt(copy)
    for place in (".gitattributes", "sub/.gitattributes", ".git/info/attributes"):
        copy.write(place, f"{line}\n")
    assert_same(copy, template)


def test_committed_attributes_have_no_say(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    base = repo.commit({".gitattributes": "* -diff\n", "x": "1\n"})
    head = repo.commit({"x": "2\n"})
    assert b"Binary" in repo.diff(base, head)
    for directory in (tmp_path, tmp_path / ".git"):
        (file,) = open_repository(directory, base, head).diff().files
        assert len(file.hunks) == 1


ENVIRONMENT = [
    "GIT_DIR=/nowhere GIT_WORK_TREE=/nowhere GIT_COMMON_DIR=/nowhere GIT_INDEX_FILE=/nowhere GIT_PREFIX=sub/",
    "GIT_OBJECT_DIRECTORY=/nowhere GIT_ALTERNATE_OBJECT_DIRECTORIES=/nowhere GIT_NAMESPACE=n GIT_QUARANTINE_PATH=/no",
    "GIT_EXTERNAL_DIFF=../run",
    "GIT_DIFF_OPTS=-u0 GIT_CONFIG=/nowhere GIT_CONFIG_PARAMETERS='diff.noprefix=1' GIT_CONFIG_COUNT=rubbish",
    "GIT_CONFIG_GLOBAL=../more GIT_CONFIG_SYSTEM=../more GIT_PAGER=../run PAGER=../run TERM=xterm GIT_FLUSH=1",
    "GIT_TRACE=../trace GIT_TRACE2_EVENT=../trace GIT_EXEC_PATH=/nowhere GIT_SSH=../run GIT_ASKPASS=../run",
    "GIT_CEILING_DIRECTORIES=/ GIT_DEFAULT_HASH=sha256 GIT_REPLACE_REF_BASE=refs/heads GIT_ATTR_SOURCE=HEAD",
    "GIT_GRAFT_FILE=../grafts GIT_SHALLOW_FILE=../grafts GIT_LITERAL_PATHSPECS=1 GIT_TEST_ASSUME_DIFFERENT_OWNER=1",
    "LC_ALL=de_DE.UTF-8 LANGUAGE=de XDG_CONFIG_HOME=.. HOME=.. GIT_ICASE_PATHSPECS=1",
]


@pytest.mark.parametrize("row", ENVIRONMENT)
def test_environment_has_no_say(
    row: str, copy: Repo, template: tuple[Path, str, str, GitEvidence], monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = spoilt(copy)
    (beside / "grafts").write_text(f"{template[1]}\n")
    (beside / "git").mkdir()
    (beside / "git/attributes").write_text("* -diff\n")
    for place in ("git/config", ".gitconfig"):
        (beside / place).write_text("[diff]\n\tnoprefix = true\n\texternal = ../run\n")
    for variable in row.split(" "):
        key, _, value = variable.partition("=")
        monkeypatch.setenv(key, value.replace("..", str(beside)))
    assert_same(copy, template)


def test_replacements_and_grafts_have_no_say(copy: Repo, template: tuple[Path, str, str, GitEvidence]) -> None:
    _, base, head, _ = template
    copy.git("replace", base, head)
    tree = copy.git("rev-parse", f"{base}:shop.py")
    copy.git("replace", tree, copy.git("hash-object", "-w", "--stdin", data=b"replaced\n"))
    copy.write(".git/info/grafts", f"{head}\n")
    assert_same(copy, template)


def test_git_of_the_work_tree_is_not_run(
    copy: Repo, template: tuple[Path, str, str, GitEvidence], monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = spoilt(copy)
    shutil.copy(beside / "run", copy.path / "git")
    (copy.path / "bin").mkdir()
    shutil.copy(beside / "run", copy.path / "bin" / "git")
    monkeypatch.chdir(copy.path)
    monkeypatch.setenv("PATH", f".:bin::{os.environ['PATH']}")
    assert_same(copy, template)


# Where a repository can be.


def test_subdirectory_git_directory_and_relative_path(
    copy: Repo, template: tuple[Path, str, str, GitEvidence], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, base, head, expected = template
    monkeypatch.chdir(copy.path / "sub")
    for directory in (copy.path / "sub", copy.path / ".git", Path(), Path("..")):
        evidence = open_repository(directory, base, head)
        assert evidence.diff() == expected.diff()
        assert evidence.base_file("sub/deep.txt") == b"1\n"


def test_bare_shared_and_packed_repositories(copy: Repo, template: tuple[Path, str, str, GitEvidence]) -> None:
    _, base, head, expected = template
    beside = copy.path.parent
    copy.git("gc", "--quiet")
    git("clone", "--quiet", "--bare", copy.path, beside / "bare.git", cwd=beside)
    git("clone", "--quiet", "--shared", "--no-checkout", beside / "bare.git", beside / "shared", cwd=beside)
    for directory in (copy.path, beside / "bare.git", beside / "shared"):
        evidence = open_repository(directory, base, head)
        assert evidence.diff() == expected.diff()
        assert evidence.base_file("sub/deep.txt") == b"1\n"


def test_linked_work_tree(copy: Repo, template: tuple[Path, str, str, GitEvidence]) -> None:
    linked = copy.path.parent / "linked"
    copy.git("worktree", "add", "--quiet", "--detach", linked, template[1])
    copy.git("config", "extensions.worktreeConfig", "true")
    git("config", "--worktree", "diff.noprefix", "true", cwd=linked)
    evidence = open_repository(linked, "HEAD", "main")
    assert (evidence.base, evidence.head) == template[1:3]
    assert evidence.diff() == template[3].diff()


def test_sha_256(tmp_path: Path) -> None:
    repo = Repo(tmp_path, ("--object-format=sha256",))
    base = repo.commit({"a/b/x": "1\n", "y": "same\n"})
    head = repo.commit({"a/b/x": "2\n"})
    evidence = open_repository(tmp_path, base, "HEAD")
    assert (len(base), evidence.head) == (64, head)
    assert [file.new_path for file in evidence.diff().files] == ["a/b/x"]
    texts = {"a/b/x": "1\n", "y": "same\n", "z": MISSING, "a": UNREADABLE}
    assert evidence.base_texts(frozenset(texts)) == texts


@pytest.mark.parametrize("name", ["line\nfeed", "-C", " space ", "dé", "objects\n/x"])
def test_directory_of_any_name(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = Repo(tmp_path / name)
    base, head = repo.commit({"x": "1\n"}), repo.commit({"x": "2\n"})
    monkeypatch.chdir(tmp_path)
    for directory in (tmp_path / name, Path(name)):
        evidence = open_repository(directory, base, head)
        assert evidence.base_texts(frozenset({"x"})) == {"x": "1\n"}


def test_relative_repository_survives_a_change_of_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = Repo(tmp_path / "r")
    base, head = repo.commit({"x": "1\n"}), repo.commit({"x": "2\n"})
    monkeypatch.chdir(tmp_path)
    evidence = open_repository(Path("r"), base, head)
    monkeypatch.chdir("/")
    assert len(evidence.diff().files) == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository away")
def test_repository_of_another_user(copy: Repo, template: tuple[Path, str, str, GitEvidence]) -> None:
    # as in every container whose workspace was checked out outside of it
    for path in (copy.path, *copy.path.rglob("*")):
        os.chown(path, 12345, 12345, follow_symlinks=False)
    assert_same(copy, template)


# What is not all there.


def test_shallow_clone(tmp_path: Path) -> None:
    origin = Repo(tmp_path / "origin")
    for n in range(6):
        origin.commit({"x": f"{n}\n"})
    fork = origin.head
    origin.git("checkout", "--quiet", "-b", "topic")
    head = origin.commit({"y": "1\n"})
    origin.git("checkout", "--quiet", "main")
    base = origin.commit({"x": "main\n"})
    url = f"file://{origin.path}"
    git("clone", "--quiet", "--depth=2", "--no-single-branch", url, "deep", cwd=tmp_path)
    evidence = open_repository(tmp_path / "deep", base, head)
    assert evidence.merge_base == fork
    assert [file.new_path for file in evidence.diff().files] == ["y"]
    git("clone", "--quiet", "--depth=1", "--no-single-branch", url, "flat", cwd=tmp_path)
    with pytest.raises(EvidenceError, match="have no common ancestor; it is a shallow clone: fetch its history"):
        open_repository(tmp_path / "flat", base, head)
    with pytest.raises(EvidenceError, match=f"--base names no commit of the repository at .*: {fork}; fetch it first"):
        open_repository(tmp_path / "flat", fork, head)


@pytest.mark.parametrize("kind", ["blob:none", "tree:0"])
def test_partial_clone_is_never_completed(kind: str, tmp_path: Path) -> None:
    origin = Repo(tmp_path / "origin")
    base = origin.commit({"a/x": "1\n", "a/y": "1\n"})
    head = origin.commit({"a/x": "2\n"})
    origin.git("config", "uploadpack.allowFilter", "true")
    git("clone", "--quiet", "--no-checkout", f"--filter={kind}", f"file://{origin.path}", "part", cwd=tmp_path)
    part = Repo(tmp_path / "part")
    mark = tmp_path / "PWNED"
    part.git("config", "remote.origin.url", f"ext::sh -c touch% {mark}")
    part.git("config", "protocol.ext.allow", "always")
    part.git("config", "protocol.allow", "always")
    objects = sorted((part.path / ".git/objects").rglob("*"))
    evidence = open_repository(part.path, base, head)
    for ask in (
        evidence.diff,
        lambda: evidence.base_texts(frozenset({"a/x"})),
        lambda: evidence.base_file("a/x"),
        lambda: open_repository(part.path, "0" * 39 + "1", head),
    ):
        with pytest.raises(EvidenceError, match="fetch"):
            ask()
    if kind == "blob:none":
        assert evidence.base_file("a/nope") is None
        with pytest.raises(
            EvidenceError, match=r"git cannot tell what changed .* \(unable to read [0-9a-f]{40}\): a part"
        ):
            evidence.diff()
    assert not mark.exists()
    assert sorted((part.path / ".git/objects").rglob("*")) == objects


@pytest.mark.parametrize("broken", ["HEAD~1:x", "HEAD~1:d", "HEAD~1^{tree}"])
@pytest.mark.parametrize("how", ["gone", "emptied"])
def test_lost_object_is_told(broken: str, how: str, tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    base = repo.commit({"x": "1\n", "d/y": "1\n"})
    repo.commit({"x": "2\n", "d/y": "2\n"})
    evidence = open_repository(tmp_path, base, "HEAD")
    name = repo.git("rev-parse", broken)
    loose = tmp_path / ".git/objects" / name[:2] / name[2:]
    loose.chmod(0o644)
    if how == "gone":
        loose.unlink()
    else:
        loose.write_bytes(b"")
    for ask in (evidence.diff, lambda: evidence.base_texts(frozenset({"x", "d/y"}))):
        with pytest.raises(EvidenceError, match=r"git cannot .* in the repository at "):
            ask()


# What is no repository, no commit, no git.


def test_no_repository(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match=r"--repo names .*, which git cannot use as a repository .*not a git repo"):
        open_repository(tmp_path, "main", "topic")
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "nope"):
        with pytest.raises(EvidenceError, match=f"^--repo names {path}, which is no directory: check the path$"):
            open_repository(path, "main", "topic")


def test_repository_that_git_cannot_read(copy: Repo, template: tuple[Path, str, str, GitEvidence]) -> None:
    (copy.path / ".git/config").write_text("[core\n")
    with pytest.raises(EvidenceError, match=r"cannot use as a repository \(bad config line 1"):
        open_repository(copy.path, *template[1:3])
    (copy.path / ".git/config").write_text("[core]\nrepositoryformatversion=1\n[extensions]\nfuture=1\n")
    with pytest.raises(EvidenceError, match=r"cannot use as a repository .*unknown repository extension"):
        open_repository(copy.path, *template[1:3])


REVISIONS = [
    *("nope", "-x", "--all", "--end-of-options", "^main", "main..topic", "main...topic", "", "main\ntopic", "HEAD:x"),
    *(
        "HEAD^{tree}",
        ":x",
        ":/change",
        "HEAD^@",
        "0" * 40,
        "1" * 40,
        "--",
        "HEAD^!",
        "main\0",
        "x",
        "@{-1}",
        "HEAD --all",
    ),
]


@pytest.mark.parametrize("revision", REVISIONS)
def test_unknown_revision_is_told_with_its_option(
    revision: str, template: tuple[Path, str, str, GitEvidence], copy: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, base, head, _ = template
    # a file is no revision, whatever its name
    for name in ("x", "nope^{commit}"):
        copy.write(name, "1\n")
    monkeypatch.chdir(copy.path)
    with pytest.raises(EvidenceError, match=r"^--base names no commit"):
        open_repository(copy.path, revision, head)
    with pytest.raises(EvidenceError, match=r"^--head names no commit"):
        open_repository(copy.path, base, revision)


def test_no_common_ancestor(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    repo.commit({"x": "1\n"})
    repo.git("checkout", "--quiet", "--orphan", "other")
    repo.commit({"x": "2\n"})
    with pytest.raises(EvidenceError, match=r"^--base main and --head other have no common ancestor; check both$"):
        open_repository(tmp_path, "main", "other")


def test_merge_base_that_cannot_be_told(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    first, base = repo.commit({"x": "1\n"}), repo.commit({"x": "2\n"})
    repo.git("checkout", "--quiet", "-b", "topic", first)
    head = repo.commit({"x": "3\n"})
    (tmp_path / ".git/objects" / first[:2] / first[2:]).unlink()
    with pytest.raises(EvidenceError, match=f"git cannot tell where {base} and {head} part in the repository at"):
        open_repository(tmp_path, base, head)


def fake_git(folder: Path, script: str) -> str:
    """A folder for PATH with a `git` that is a script of ours."""
    folder.mkdir()
    (folder / "git").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "git").chmod(0o755)
    return str(folder)


def test_no_git(template: tuple[Path, str, str, GitEvidence], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, base, head, evidence = template
    for programs in (str(tmp_path), "", "."):
        monkeypatch.setenv("PATH", programs)
        for ask in (lambda: open_repository(path, base, head), evidence.diff):
            with pytest.raises(
                EvidenceError, match=r"^git cannot be run \(.*\): install it, or give the diff as a file$"
            ):
                ask()


def test_git_too_old(
    template: tuple[Path, str, str, GitEvidence], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # before 2.31, rev-parse says an option that it does not know
    monkeypatch.setenv("PATH", fake_git(tmp_path / "bin", "echo --path-format=absolute\necho sha1"))
    with pytest.raises(EvidenceError, match=r"^git is too old: 2\.31 or newer is needed"):
        open_repository(*template[:3])


def test_git_that_makes_no_sense(
    template: tuple[Path, str, str, GitEvidence], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, base, head, evidence = template
    lines = f"echo sha1; echo {base}; echo {head}; echo /nowhere; echo 'fatal: \033[31mno' >&2"
    monkeypatch.setenv("PATH", fake_git(tmp_path / "bin", f"{lines}; exit 1"))
    with pytest.raises(EvidenceError, match=r"^git cannot read the repository at .* \( ?\[31mno\)$"):
        open_repository(*template[:3])
    monkeypatch.setenv("PATH", fake_git(tmp_path / "mute", "exit 0"))
    with pytest.raises(EvidenceError, match="cannot read object"):
        evidence.base_texts(frozenset({"x"}))
    assert evidence.diff().files == ()


def test_no_room_for_a_scratch_repository(
    template: tuple[Path, str, str, GitEvidence], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nope"))
    with pytest.raises(EvidenceError, match="git cannot be asked about the repository at"):
        template[3].diff()


def test_scratch_repository_goes(
    template: tuple[Path, str, str, GitEvidence], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    evidence = open_repository(*template[:3])
    evidence.diff()
    evidence.base_texts(frozenset({"shop.py"}))
    evidence.base_file("shop.py")
    assert list(tmp_path.iterdir()) == []


# Files at base.

ODD = [
    *("with space", 'a"quote', "back\\slash", "line\nfeed", "tab\t", "*", "?", "[x]", ":(top)x", ":/x", "!x", "^x"),
    *(
        "--option",
        "naïve",
        "日本",
        "x^{tree}",
        "x@{1}",
        "HEAD",
        "x~1",
        "a:b",
        "\x01",
        "'; touch PWNED; '",
        "$(x)",
        "%s",
    ),
]


def test_paths_are_literal(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    texts = {f"{name}/{name}": f"{at}\n" for at, name in enumerate(ODD)}
    texts |= {f"{name}.txt": f"{at}\n" for at, name in enumerate(ODD)}
    base = repo.commit(texts)
    evidence = open_repository(tmp_path, base, base)
    assert evidence.base_texts(frozenset(texts)) == texts
    assert evidence.base_files(texts) == {path: text.encode() for path, text in texts.items()}


@pytest.mark.parametrize(
    "path",
    [
        *("", "/", "/x", "x/", "d//y", "./x", "d/./y", "d/../x", "../x", ".", "..", "x/y", "d/y/z", "X", "d/Y", "y"),
        *("x\0", "\ud800", "\udcff", "x\n", "a" * 5000, "d/" * 5000 + "y", "*", "d*", ":(glob)**", "x^{}", "HEAD:x"),
    ],
)
def test_what_is_not_there_is_missing(path: str, tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    base = repo.commit({"x": "1\n", "d/y": "2\n"})
    evidence = open_repository(tmp_path, base, base)
    assert evidence.base_texts(frozenset({path, "d/y"})) == {path: MISSING, "d/y": "2\n"}
    assert evidence.base_file(path) is None


def test_path_that_git_would_take_for_an_object(tmp_path: Path) -> None:
    # to git 2.39 and older ones, COMMIT:notes-g<hex> is the object <hex>, whatever stands at that path
    repo = Repo(tmp_path)
    repo.commit({"secret": "secret\n"})
    path = f"notes-g{repo.git('rev-parse', 'HEAD:secret')[:8]}"
    base = repo.commit({path: "notes\n"})
    assert open_repository(tmp_path, base, base).base_texts(frozenset({path})) == {path: "notes\n"}


def test_name_that_may_stand_for_other_bytes_is_unreadable(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    base = repo.commit({os.fsdecode(b"caf\xe9"): "1\n", "\ufffd": "2\n"})
    head = repo.commit({os.fsdecode(b"caf\xe9"): "3\n"})
    evidence = open_repository(tmp_path, base, head)
    (file,) = evidence.diff().files
    assert evidence.base_texts(frozenset({file.old_path or "", "\ufffd"})) == {
        "caf\ufffd": UNREADABLE,
        "\ufffd": "2\n",
    }


def test_what_is_readable(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    files: dict[str, str | bytes] = {
        "empty": "",
        "full": "x" * TEXT_LIMIT,
        "over": "x" * (TEXT_LIMIT + 1),
        "nul": b"a\0b",
        "latin": b"caf\xe9",
        "bom": "\ufeffa\r\nb",
        "run": "1\n",
    }
    repo.commit(files)
    (repo.path / "run").chmod(0o755)
    repo.link("link", "../there")
    repo.submodule("dep", repo.head)
    base = repo.commit({"d/x": "1\n"})
    expected = {
        "empty": "",
        "full": "x" * TEXT_LIMIT,
        "over": UNREADABLE,
        "nul": UNREADABLE,
        "latin": UNREADABLE,
        "bom": "\ufeffa\r\nb",
        "run": "1\n",
        "link": "../there",
        "link/x": MISSING,
        "dep": UNREADABLE,
        "dep/x": MISSING,
        "d": UNREADABLE,
    }
    assert open_repository(tmp_path, base, base).base_texts(frozenset(expected)) == expected


def test_base_file_must_be_a_plain_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = Repo(tmp_path)
    repo.commit({"d/x": "1\n", "large": "12345"})
    repo.link("link", "d/x")
    repo.submodule("dep", repo.head)
    base = repo.commit()
    evidence = open_repository(tmp_path, base, base)
    for path, what in (("d", "a directory"), ("link", "a symbolic link"), ("dep", "a submodule")):
        with pytest.raises(EvidenceError, match=f"^{path} is {what} at {base[:12]}, and must be a plain file"):
            evidence.base_files(["d/x", path])
    monkeypatch.setattr(module, "BASE_FILE_LIMIT", 4)
    with pytest.raises(EvidenceError, match=f"^large has 5 bytes at {base[:12]}, and at most 4 are read"):
        evidence.base_file("large")


def test_diff_that_is_too_large(template: tuple[Path, str, str, GitEvidence], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DIFF_LIMIT", 100)
    with pytest.raises(EvidenceError, match="is larger than 100 bytes"):
        template[3].diff()


# How much is asked.


def test_processes_do_not_grow_with_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = Repo(tmp_path / "repo")
    files: dict[str, str | bytes] = {f"d{n % 40}/e{n % 7}/{n}-{'x' * 60}": f"{n}\n" for n in range(3000)}
    base = repo.commit(files)
    head = repo.commit(dict.fromkeys(list(files)[:50], "changed\n"))
    log = tmp_path / "log"
    folder = fake_git(tmp_path / "bin", f'echo "$*" >> "{log}"\nexec "{REAL_GIT}" "$@"')

    def asked(question: Callable[[], object]) -> list[str]:
        log.write_text("")
        question()
        known = ("rev-parse", "merge-base", "diff-tree", "cat-file")
        return [next(filter(known.__contains__, line.split(" "))) for line in log.read_text().splitlines()]

    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    evidence = open_repository(repo.path, base, head)
    assert asked(lambda: open_repository(repo.path, base, head)) == ["rev-parse", "merge-base"]
    assert asked(evidence.diff) == ["diff-tree"]
    few, many = frozenset(list(files)[:1]), frozenset(files)
    assert asked(lambda: evidence.base_texts(few)) == asked(lambda: evidence.base_texts(many)) == ["cat-file"] * 2
    assert asked(lambda: evidence.base_files(many)) == ["cat-file"] * 2
    assert asked(lambda: evidence.base_file("nope")) == ["cat-file"]
    assert evidence.base_texts(many) == files
