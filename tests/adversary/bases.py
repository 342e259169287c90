"""What may stand at base: a configuration and a memory that anybody with write access, or a broken tool, left there.

A pull request changes neither for itself (S31); what cannot be read is told, and nothing of it is used (S24, C1).
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.action.job import Ended, Project
from tests.adversary.briefs import ALARM, HOSTILE, decides, verdicts
from tests.adversary.case import Case, Family
from tests.command import IDS, ON, SESSION_AFTER, brief
from tests.repos import Repo
from verifier.text import fact_hash

CONFIG: Final = ".opendrs.yml"
MEMORY: Final = ".opendrs/facts.jsonl"
FACT: Final = brief()["captain"]["facts"][0]
NUMBERED: Final = brief()["captain"]["facts"][1]  # its text holds numbers


def line(fact: Mapping[str, Any] = FACT, **changes: Any) -> dict[str, Any]:
    """The memory's line for a fact, changed."""
    found = fact_hash(fact["id"], fact["file"], fact["text"])
    said = {"hash": found, "id": fact["id"], "file": fact["file"], "verdict": "wrong", "note": "", "at": "2026-01-01"}
    return {**said, **changes}


def memory(*lines: Mapping[str, Any] | list[Any] | str) -> str:
    return "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in lines)


def fails(name: str, made: Mapping[str, Any], *said: str, **more: Any) -> Case:
    """What cannot be used: the pass fails open and loudly, nothing is paid for, the comment is still there (S24)."""
    shown = ["verifier failed: ", "everything below is unverified", "createSession lost its parameter ttl [unverified]"]
    told = ["verifier failed: ", *said]
    return Case(name, made, status="failed", calls=0, said=told, shown=shown, never=[ALARM], **more)


def works(name: str, made: Mapping[str, Any], *logged: str, **more: Any) -> Case:
    """What is odd and can be used: the pass runs as if nothing were."""

    def holds(subject: Project, ended: Ended) -> None:
        decides(*IDS)(subject, ended)
        assert [text for text in logged if text not in ended.log] == []

    return Case(name, made, more=holds, **more)


def off(name: str, made: Mapping[str, Any], **more: Any) -> Case:
    """Nothing that switches the pass on: the brief as it came (S23)."""
    return Case(name, made, **{"status": "off", "calls": 0, "said": ["off: "], **more})


def remembers(name: str, text: str | bytes, **more: Any) -> Case:
    """A memory whose line for the strong fact counts: it is downgraded without the model (S30)."""
    shown = ["[downgraded: dismissed earlier as wrong]"]
    return Case(name, {"memory": text}, **{"shown": shown, "more": decides(IDS[0], by="memory"), **more})


def forgets(name: str, text: str | bytes) -> Case:
    """A memory that says nothing of the brief's facts, though it looks as if it did."""
    return Case(name, {"memory": text}, more=decides(*IDS))


def based(change: Callable[[Repo], None]) -> Callable[[Project], None]:
    """Another base commit under the same pull request."""

    def arrange(subject: Project) -> None:
        repo = subject.repo
        repo.git("checkout", "--quiet", "--detach", subject.pull.base_sha)
        change(repo)
        subject.pull.base_sha = repo.commit()
        subject.github.push(
            subject.pull, repo.commit({"src/session.ts": SESSION_AFTER, "README.md": "# Shop\n\na\n\nb\n"})
        )

    return arrange


def unread(name: str, change: Callable[[Repo], None], *said: str) -> Case:
    """Something at base that is no file's text: the pass fails open, as with any other that cannot be read."""
    return fails(name, {"of": brief()}, *said, arrange=based(change))


def moved(repo: Repo) -> str:
    repo.move(MEMORY, "old.jsonl")
    return repo.commit()


def linked(path: str, target: str) -> Callable[[Repo], None]:
    def change(repo: Repo) -> None:
        (repo.path / path).unlink(missing_ok=True)
        repo.link(path, target)

    return change


def folder(path: str) -> Callable[[Repo], None]:
    def change(repo: Repo) -> None:
        (repo.path / path).unlink(missing_ok=True)
        repo.write(f"{path}/{ALARM}", ON)

    return change


def submodule(path: str) -> Callable[[Repo], None]:
    def change(repo: Repo) -> None:
        (repo.path / path).unlink(missing_ok=True)
        repo.submodule(path, "a" * 40)

    return change


def both(repo: Repo) -> None:
    repo.write(".opendrs.yaml", "llm: {enabled: false}\n")
    repo.write(".opendrs/config.yml", "llm: [\n")


def edits(name: str, change: Mapping[str, str], shown: str, **more: Any) -> Case:
    """A pull request that edits what its own verification goes by: the base version is used, and that is noted."""

    def holds(subject: Project, ended: Ended) -> None:
        (comment,) = subject.comment_bodies()
        assert shown in comment.replace("\\", "").replace("\u200b", "")
        assert len(verdicts(subject, ended)) == len(IDS)

    return Case(name, {"change": change}, more=holds, **more)


def llm(text: str) -> dict[str, str]:
    """A configuration with these lines under `llm`, switched on."""
    return {"config": f"llm:\n  enabled: true\n  verify: {{enabled: true}}\n  {text}\n"}


def verify(text: str) -> dict[str, str]:
    """A configuration with these lines under `llm.verify`, switched on."""
    return {"config": f"llm:\n  enabled: true\n  verify:\n    enabled: true\n    {text}\n"}


BOMB: Final = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join(['*' + old] * 9)}]\n" for old, new in zip("abcdefg", "bcdefgh", strict=True)
)
LFS: Final = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 12345\n"

CONFIGURATIONS: Final = (
    fails(
        "a tag that makes an object", llm(f"model: !!python/object/apply:os.system ['echo {ALARM}']"), "configuration: "
    ),
    fails("an alias that nobody anchored", llm("model: *gone"), "configuration: .opendrs.yml line 4", "not YAML"),
    works("a bomb of aliases that is not ours", {"config": BOMB + ON}),
    fails("a bomb of aliases as the model", {"config": BOMB + ON + "  model: *h\n"}, "llm.model"),
    fails(
        "an anchor in itself",
        {"config": "llm: &a\n  enabled: true\n  verify: {enabled: true}\n  model: [*a]\n"},
        "llm.model",
    ),
    works("merge keys", {"config": "x: &x {enabled: true}\nllm:\n  <<: *x\n  verify: {<<: *x}\n"}),
    fails("a key twice", llm("enabled: false"), ".opendrs.yml line 4", "not YAML"),
    fails("tabs", {"config": "llm:\n\tenabled: true\n"}, ".opendrs.yml line 2"),
    fails("a date in place of a text", llm("model: 2026-01-01"), ".opendrs.yml line 4, column 3: llm.model: expected"),
    fails(
        "a number in place of a switch", {"config": "llm:\n  enabled: 1\n  verify: {enabled: true}\n"}, "llm.enabled"
    ),
    fails("two documents", {"config": f"{ON}---\n{ON}"}, "not YAML"),
    fails("a megabyte", {"config": ON + "# x\n" * 250_000}, "configuration: "),
    fails("nested without an end", {"config": "[" * 50_000}, "nested too deeply"),
    fails("a NUL", {"config": ON + "x: \0\n"}, "configuration: "),
    works("a BOM", {"config": "\ufeff" + ON}),
    fails("UTF-16", {"config": ON.encode("utf-16")}, "configuration: .opendrs.yml at base cannot be read"),
    fails("Latin-1", {"config": (ON + "# é\n").encode("latin-1")}, "at base cannot be read"),
    works("CR LF", {"config": ON.replace("\n", "\r\n")}),
    fails("a list", {"config": "- llm\n"}, "configuration: "),
    fails("a text", {"config": f"{ALARM} and more\n"}, "configuration: "),
    fails("a pointer in place of the file", {"config": LFS}, "configuration: "),
    off("an empty file", {"config": ""}),
    off("only comments", {"config": "# llm:\n#   enabled: true\n"}),
    fails("a list under llm", {"config": "llm: [enabled, true]\n"}, "llm: expected"),
    fails("a text under verify", {"config": "llm:\n  enabled: true\n  verify: yes please\n"}, "llm.verify"),
    works(
        "hostile keys that nobody knows",
        {"config": ON + f"  {json.dumps(HOSTILE)}: 1\n  emabled: 1\n"},
        "unknown key llm.emabled; the nearest known one is llm.enabled",
    ),
    works("keys that are no texts", {"config": ON + "  2: x\n  true: x\n  2026-01-01: x\n  ? [a]\n  : x\n"}),
    fails("a limit that is huge", verify(f"maxTokens: {'9' * 5_000}"), "configuration: "),
    fails(
        "a limit below nothing",
        verify("maxTokens: -1"),
        ".opendrs.yml line 5, column 5: llm.verify.maxTokens: expected",
    ),
    fails("a limit with a fraction", verify("maxTokens: 40000.5"), "llm.verify.maxTokens"),
    fails("no time at all", verify("timeoutSeconds: 0"), "llm.verify.timeoutSeconds"),
    fails("a time that is no number", verify("timeoutSeconds: .nan"), "llm.verify.timeoutSeconds"),
    fails("a time without an end", verify("timeoutSeconds: .inf"), "llm.verify.timeoutSeconds"),
    fails("a provider nobody knows", llm(f"provider: {json.dumps(HOSTILE)}"), "llm.provider: expected"),
    fails("an effort nobody knows", llm("effort: [low]"), "llm.effort"),
    fails("an empty model", llm("model: ''"), "llm.model"),
    fails("a model of 201 characters", llm("model: " + "m" * 201), "llm.model"),
    works("a host for the key", llm("baseUrl: https://evil.example"), "unknown key llm.baseUrl"),
    unread("a link in place of the file", linked(CONFIG, "README.md"), "configuration: "),
    unread("a folder in place of the file", folder(CONFIG), "configuration: .opendrs.yml at base cannot be read"),
    Case(
        "a submodule in place of the file",
        {"of": brief()},
        based(submodule(CONFIG)),
        status="off",
        calls=0,
        said=["off: "],
    ),
    Case(
        "a second file that says otherwise, and a third that is broken",
        {"of": brief()},
        based(both),
        more=decides(*IDS),
    ),
)

MEMORIES: Final = (
    remembers("the line", memory(line())),
    remembers("a BOM, CR LF and blank lines", "\ufeff\r\n" + memory(line()).replace("\n", "\r\n") + " \t\r\n\n"),
    remembers("no newline at the end", memory(line()).rstrip()),
    remembers("hostile words in what is not read", memory(line(note=HOSTILE, at=HOSTILE, id=HOSTILE, file=HOSTILE))),
    remembers(
        "100,000 lines before it",
        memory(line(hash="0" * 16)) * 100_000 + memory(line()),
    ),
    remembers("other verdicts before it", memory(line(verdict="useful"), line(verdict="ignored"), line())),
    remembers(
        "a fact whose numbers changed",
        memory(line(NUMBERED, hash=fact_hash(NUMBERED["id"], NUMBERED["file"], NUMBERED["text"].replace("14", "99")))),
        more=decides(IDS[1], by="memory"),
    ),
    forgets("the hash of another fact", memory(line(hash=fact_hash("contract.api", "src/other.ts", FACT["text"])))),
    forgets("a hash of the text alone", memory(line(hash=fact_hash("", "", FACT["text"])))),
    forgets("an id of ours and no hash of ours", memory(line(hash="f" * 16, id=IDS[0]))),
    forgets("nothing but white space", " \n\r\n\t\n" * 1_000),
    fails(
        "a hash in capitals",
        {"memory": memory(line(hash="ABCDEF0123456789"))},
        "memory: ",
        "line 1 cannot be used (hash",
    ),
    fails("a hash that is longer", {"memory": memory(line(), line(hash="0" * 17))}, "line 2 cannot be used (hash"),
    fails(
        "a verdict nobody knows", {"memory": memory(line(), line(verdict=f"wrong {ALARM}"))}, "line 2 cannot be used"
    ),
    fails("half a line", {"memory": memory(line(), json.dumps(line())[:-20])}, "line 2 cannot be used"),
    fails("marks of a conflict", {"memory": memory(line(), "<<<<<<< HEAD", line())}, "line 2 cannot be used"),
    fails("a list in a line", {"memory": memory([line()])}, "line 1 cannot be used"),
    fails("two objects in a line", {"memory": json.dumps(line()) * 2 + "\n"}, "line 1 cannot be used"),
    fails("a key that nobody knows", {"memory": memory({**line(), HOSTILE: 1})}, "line 1 cannot be used"),
    fails(
        "a key that is not there",
        {"memory": '{"hash": "0123456789abcdef", "verdict": "wrong"}\n'},
        "line 1",
        "id: Field",
    ),
    fails("a number as the verdict", {"memory": memory(line(verdict=1))}, "line 1 cannot be used (verdict"),
    fails("lines nested without an end", {"memory": "[" * 100_000 + "\n"}, "line 1 cannot be used"),
    fails("a NUL in the memory", {"memory": memory(line()) + "\0\n"}, "memory: "),
    fails(
        "a memory that is no UTF-8",
        {"memory": memory(line()).encode() + b"\xff\n"},
        "memory: ",
        "at base cannot be read",
    ),
    fails("a memory in UTF-16", {"memory": memory(line()).encode("utf-16")}, "memory: ", "at base cannot be read"),
    fails("a pointer in place of the memory", {"memory": LFS}, "memory: ", "line 1 cannot be used"),
    unread("a memory that is a link", linked(MEMORY, "../README.md"), "memory: "),
    unread("a memory that is a folder", folder(MEMORY), "memory: "),
)

NOTED: Final = "base version used: this pull request changes "
CHANGED: Final = (
    edits("the branch switches its verification off", {CONFIG: "llm: {enabled: false}\n"}, f"{NOTED}{CONFIG}"),
    edits("the branch breaks the configuration", {CONFIG: "llm: [\n"}, f"{NOTED}{CONFIG}"),
    edits("the branch dismisses its own fact", {MEMORY: memory(line())}, f"{NOTED}{MEMORY}"),
    edits(
        "the branch adds a second configuration", {".opendrs.yaml": "llm: {enabled: false}\n"}, f"{NOTED}.opendrs.yaml"
    ),
    Case(
        "the branch moves the memory away",
        {"of": brief(), "memory": memory(line())},
        lambda subject: subject.github.push(subject.pull, moved(subject.repo)),
        shown=["[downgraded: dismissed earlier as wrong]"],
        more=decides(IDS[0], by="memory"),
    ),
    off("the branch switches its verification on", {"config": None, "change": {CONFIG: ON}}),
    off(
        "the branch alone has a configuration, and a path names it",
        {"config": None, "change": {"my.yml": ON}},
        inputs={"config-path": "my.yml"},
    ),
)


def elsewhere(name: str, path: str) -> Case:
    """A path that is no path of the base: nothing is there, so the pass is off, and that nothing was there is said."""
    return Case(name, inputs={"config-path": path}, status="off", calls=0, said=["off: "], never=["root:"])


PATHS: Final = (
    elsewhere("a configuration above the repository", "../../etc/passwd"),
    elsewhere("a configuration on the disk", "/etc/passwd"),
    elsewhere("a configuration of another commit", "HEAD:.opendrs.yml"),
    elsewhere("a configuration with a query in its name", '.opendrs.yml") { id } } viewer { login } #'),
    elsewhere("a configuration with a line in its name", ".opendrs.yml\n::error::x"),
    elsewhere("a configuration that is a pattern", ".opendrs.*"),
    Case("a memory above the repository", inputs={"memory-path": "../facts.jsonl"}, more=decides(*IDS)),
    Case(
        "a memory with hostile words in its name", inputs={"memory-path": HOSTILE.replace("\0", "")}, more=decides(*IDS)
    ),
    Case(
        "a memory that is a folder of the base",
        inputs={"memory-path": "src"},
        status="failed",
        calls=0,
        said=["memory: src"],
    ),
    Case(
        "a memory that is the configuration",
        inputs={"memory-path": CONFIG},
        status="failed",
        calls=0,
        said=["memory: "],
    ),
    Case(
        "a configuration that is the source",
        inputs={"config-path": "src/session.ts"},
        status="failed",
        calls=0,
        said=["configuration: "],
    ),
)

BASES: Final = Family(
    "memory and configuration",
    "the head's version of a file that is read at base",
    (*CONFIGURATIONS, *MEMORIES, *CHANGED, *PATHS),
)
