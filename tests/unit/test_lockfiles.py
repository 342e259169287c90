"""Lockfiles (S14): versions that rise within their major, and the many ways to swap a dependency unseen."""

import pytest

from tests.unit.test_classes import change, classes
from verifier.verification.lockfiles import is_lockfile

D, E = "a" * 86, "b" * 86
LOCK = ' "node_modules/left": {\n'
OLD_ENTRY = (
    '-      "version": "1.2.3",\n-      "resolved": "https://registry.example/left/-/left-1.2.3.tgz",\n'
    f'-      "integrity": "sha512-{"a" * 86}==",\n'
)
NEW_ENTRY = (
    '+      "version": "1.3.0",\n+      "resolved": "https://registry.example/left/-/left-1.3.0.tgz",\n'
    f'+      "integrity": "sha512-{"b" * 86}==",'
)
BUMPS = [
    ("package-lock.json", LOCK + OLD_ENTRY + NEW_ENTRY),
    (
        "package-lock.json",
        (
            '     "node_modules/left": {\n-      "version": "1.2.3",\n'
            '-      "resolved": "https://registry.example/left/-/left-1.2.3.tgz",\n'
            f'-      "integrity": "sha512-{"a" * 86}==",\n+      "version": "1.3.0",\n'
            '+      "resolved": "https://registry.example/left/-/left-1.3.0.tgz",\n'
            f'+      "integrity": "sha512-{"b" * 86}==",\n       "license": "MIT"\n     }},'
        ),
    ),
    (
        "go.sum",
        (
            f"-example.org/a v1.2.3 h1:{'a' * 43}=\n-example.org/a v1.2.3/go.mod h1:{'b' * 43}=\n"
            f"+example.org/a v1.2.4 h1:{'c' * 43}=\n+example.org/a v1.2.4/go.mod h1:{'d' * 43}="
        ),
    ),
    (
        "Cargo.lock",
        (
            ' [[package]]\n name = "a"\n-version = "0.3.1"\n+version = "0.3.2"\n'
            ' source = "registry+https://example.org"\n'
            f'-checksum = "{"a" * 64}"\n+checksum = "{"b" * 64}"'
        ),
    ),
    (
        "yarn.lock",
        (
            ' left@^1.2.0:\n-  version "1.2.3"\n-  resolved "https://registry.example/left/-/left-1.2.3.tgz#'
            f'{"a" * 40}"\n-  integrity sha512-{"a" * 86}==\n+  version "1.2.4"\n'
            f'+  resolved "https://registry.example/left/-/left-1.2.4.tgz#{"b" * 40}"\n'
            f"+  integrity sha512-{'b' * 86}=="
        ),
    ),
    (
        "poetry.lock",
        (
            ' [[package]]\n name = "left"\n-version = "2.1.0"\n+version = "2.2.0"\n description = "x"\n files = [\n'
            f'-    {{file = "left-2.1.0.tar.gz", hash = "sha256:{"a" * 64}"}},\n'
            f'+    {{file = "left-2.2.0.tar.gz", hash = "sha256:{"b" * 64}"}},\n ]'
        ),
    ),
    ("Gemfile.lock", "   specs:\n-    rack (2.2.3)\n+    rack (2.2.4)\n     rake (13.0.0)"),
    # real forms
    (
        "package-lock.json",
        (
            '       "dependencies": {\n-        "left": "^1.2.3"\n+        "left": "^1.2.4"\n       }\n     },\n'
            '     "node_modules/left": {\n-      "version": "1.2.3",\n'
            '-      "resolved": "https://registry.example/left/-/left-1.2.3.tgz",\n'
            f'-      "integrity": "sha512-{D}==",\n+      "version": "1.2.4",\n'
            '+      "resolved": "https://registry.example/left/-/left-1.2.4.tgz",\n'
            f'+      "integrity": "sha512-{E}==",\n       "license": "MIT"'
        ),
    ),
    (
        "poetry.lock",
        (
            ' [[package]]\n name = "left"\n-version = "2.1.0"\n+version = "2.2.0"\n description = "x"\n'
            " optional = false\n"
            ' python-versions = ">=3.8"\n groups = ["main"]\n files = [\n'
            f'-    {{file = "left-2.1.0-py3-none-any.whl", hash = "sha256:{"a" * 64}"}},\n'
            f'-    {{file = "left-2.1.0.tar.gz", hash = "sha256:{"b" * 64}"}},\n'
            f'+    {{file = "left-2.2.0-py3-none-any.whl", hash = "sha256:{"c" * 64}"}},\n'
            f'+    {{file = "left-2.2.0.tar.gz", hash = "sha256:{"d" * 64}"}},\n ]'
        ),
    ),
    (
        "uv.lock",
        (
            ' [[package]]\n name = "left"\n-version = "2.1.0"\n+version = "2.2.0"\n'
            ' source = { registry = "https://index.example/simple" }\n'
            f'-sdist = {{ url = "https://files.example/packages/ab/cd/{"a" * 60}/left-2.1.0.tar.gz", '
            f'hash = "sha256:{"a" * 64}", size = 12, upload-time = "2024-01-01T00:00:00Z" }}\n'
            f'+sdist = {{ url = "https://files.example/packages/ef/cd/{"b" * 60}/left-2.2.0.tar.gz", '
            f'hash = "sha256:{"b" * 64}", size = 13, upload-time = "2024-02-01T00:00:00Z" }}'
        ),
    ),
    (
        "yarn.lock",
        (
            f'-left@^1.2.0:\n-  version "1.2.3"\n'
            f'-  resolved "https://registry.example/left/-/left-1.2.3.tgz#{"a" * 40}"\n'
            f'-  integrity sha512-{D}==\n+left@^1.3.0:\n+  version "1.3.1"\n'
            f'+  resolved "https://registry.example/left/-/left-1.3.1.tgz#{"b" * 40}"\n+  integrity sha512-{E}=='
        ),
    ),
    (
        "yarn.lock",
        (
            '-"left@npm:^1.2.0":\n-  version: 1.2.3\n-  resolution: "left@npm:1.2.3"\n'
            '+"left@npm:^1.3.0":\n+  version: 1.3.1\n+  resolution: "left@npm:1.3.1"\n   dependencies:\n'
            '     right: "npm:^1.0.0"\n'
            f"-  checksum: 10c0/{'a' * 128}\n+  checksum: 10c0/{'b' * 128}\n   languageName: node"
        ),
    ),
    (
        "pnpm-lock.yaml",
        (
            f" packages:\n \n-  left@1.2.3:\n-    resolution: {{integrity: sha512-{D}==}}\n"
            f"+  left@1.2.4:\n+    resolution: {{integrity: sha512-{E}==}}\n     engines: {{node: '>=18'}}"
        ),
    ),
    (
        "Pipfile.lock",
        (
            f'         "left": {{\n             "hashes": [\n-                "sha256:{"a" * 64}"\n'
            f'+                "sha256:{"b" * 64}"\n             ],\n             "index": "pypi",\n'
            '-            "version": "==2.1.0"\n+            "version": "==2.1.1"\n         },'
        ),
    ),
    (
        "go.sum",
        (
            f"-github.com/a/b v1.2.3 h1:{'a' * 43}=\n-github.com/a/b v1.2.3/go.mod h1:{'b' * 43}=\n"
            f"+github.com/a/b v1.2.4 h1:{'c' * 43}=\n+github.com/a/b v1.2.4/go.mod h1:{'d' * 43}="
        ),
    ),
    (
        "Cargo.lock",
        (
            ' name = "a"\n-version = "1.3.1"\n+version = "1.3.2"\n'
            ' source = "registry+https://github.com/rust-lang/crates.io-index"\n'
            f'-checksum = "{"a" * 64}"\n+checksum = "{"b" * 64}"'
        ),
    ),
]
TAMPERED = [
    ("major", "package-lock.json", LOCK + OLD_ENTRY + NEW_ENTRY.replace("1.3.0", "2.0.0")),
    ("lower", "package-lock.json", LOCK + OLD_ENTRY + NEW_ENTRY.replace("1.3.0", "1.1.0")),
    ("another host", "package-lock.json", LOCK + OLD_ENTRY + NEW_ENTRY.replace("registry.example", "evil.example")),
    ("another name", "package-lock.json", LOCK + OLD_ENTRY + NEW_ENTRY.replace("left/-/left", "1eft/-/1eft")),
    ("another file", "package-lock.json", LOCK + OLD_ENTRY + NEW_ENTRY.replace("left-1.3.0", "left-1.4.0")),
    ("weaker digest", "package-lock.json", LOCK + OLD_ENTRY + NEW_ENTRY.replace("sha512", "sha1")),
    (
        "digest alone",
        "package-lock.json",
        LOCK + f'-  "integrity": "sha512-{"a" * 86}=="\n+  "integrity": "sha512-{"b" * 86}=="',
    ),
    (
        "digest alone beside a bump",
        "package-lock.json",
        LOCK + OLD_ENTRY + NEW_ENTRY + '\n },\n "node_modules/right": {\n   "version": "1.0.0",\n'
        f'-  "integrity": "sha512-{"a" * 86}=="\n+  "integrity": "sha512-{"c" * 86}=="',
    ),
    ("version alone", "package-lock.json", LOCK + '-  "version": "1.2.3",\n+  "version": "1.2.4",\n   "a": 1'),
    ("new package", "package-lock.json", " {\n" + NEW_ENTRY),
    ("install script", "package-lock.json", LOCK + OLD_ENTRY + NEW_ENTRY + '\n+      "hasInstallScript": true'),
    (
        "zero minor",
        "Cargo.lock",
        f' name = "a"\n-version = "0.3.1"\n-checksum = "{"a" * 64}"\n+version = "0.4.0"\n+checksum = "{"b" * 64}"',
    ),
    ("pseudo version", "go.sum", f"-a v0.0.0-20200101-abc h1:{'a' * 43}=\n+a v0.0.0-20210101-def h1:{'b' * 43}="),
    ("go digest alone", "go.sum", f"-a v1.0.0 h1:{'a' * 43}=\n+a v1.0.0 h1:{'b' * 43}="),
    (
        "git source",
        "Cargo.lock",
        f'-source = "git+https://a/b?rev={"a" * 40}#1.0.0"\n+source = "git+https://a/b?rev={"b" * 40}#1.0.1"',
    ),
    ("ruby itself", "Gemfile.lock", " RUBY VERSION\n-   ruby 3.1.2p20\n+   ruby 3.2.0p20"),
    ("node range", "package-lock.json", LOCK + OLD_ENTRY + NEW_ENTRY + '\n-  "node": ">=14.0"\n+  "node": ">=14.1"'),
    (
        "another host, of numbers",
        "package-lock.json",
        f' "node_modules/left": {{\n-  "version": "1.2.3",\n-  "integrity": "sha512-{D}=="\n+  "version": "1.2.4",\n'
        f'+  "integrity": "sha512-{E}=="\n }},\n "node_modules/right": {{\n-  "resolved": "https://10.0.0.1/x.tgz"\n'
        f'+  "resolved": "https://10.0.0.2/x.tgz"',
    ),
    (
        "the address is not that of the version",
        "package-lock.json",
        f' "node_modules/left": {{\n-  "version": "1.2.3",\n+  "version": "1.2.4",\n'
        f'   "resolved": "https://r.org/left/-/left-1.2.3.tgz",\n-  "integrity": "sha512-{D}=="\n'
        f'+  "integrity": "sha512-{E}=="\n }},',
    ),
    (
        "a git source",
        "package-lock.json",
        f' "node_modules/left": {{\n-  "version": "1.2.3",\n'
        f'-  "resolved": "git+ssh://git@github.com/a/b.git#{D[:40]}"\n+  "version": "1.2.4",\n'
        f'+  "resolved": "git+ssh://git@github.com/a/b.git#{E[:40]}"\n }},',
    ),
    (
        "two versions in one run",
        "package-lock.json",
        f' "node_modules/left": {{\n-  "version": "1.2.3",\n-  "version": "1.2.3",\n-  "integrity": "sha512-{D}=="\n'
        f'+  "version": "1.2.4",\n+  "version": "1.2.5",\n+  "integrity": "sha512-{E}=="\n }},',
    ),
    (
        "two packages of one run",
        "package-lock.json",
        LOCK + OLD_ENTRY + '-      "version": "1.2.3",\n' + NEW_ENTRY + '\n+      "version": "1.3.0",',
    ),
    (
        "a host that rises with the version",
        "package-lock.json",
        LOCK + OLD_ENTRY.replace("registry", "v1.2.3") + NEW_ENTRY.replace("registry", "v1.3.0"),
    ),
    (
        "the digest of one file stayed",
        "poetry.lock",
        ' name = "left"\n-version = "2.1.0"\n+version = "2.1.1"\n files = [\n'
        f'     {{file = "left.whl", hash = "sha256:{"c" * 64}"}},\n'
        f'-    {{file = "left-2.1.0.tar.gz", hash = "sha256:{"a" * 64}"}},\n'
        f'+    {{file = "left-2.1.1.tar.gz", hash = "sha256:{"b" * 64}"}},\n ]',
    ),
    (
        "another package under the same head",
        "yarn.lock",
        f'-left@^1.2.0:\n-  version "1.2.3"\n-  integrity sha512-{D}==\n+1eft@^1.3.0:\n+  version "1.3.1"\n'
        f"+  integrity sha512-{E}==",
    ),
    (
        "a range that allows another major",
        "yarn.lock",
        f'-left@^1.2.0:\n-  version "1.2.3"\n-  integrity sha512-{D}==\n+left@^2.0.0:\n+  version "1.3.1"\n'
        f"+  integrity sha512-{E}==",
    ),
    (
        "a shorter digest",
        "Cargo.lock",
        f' name = "a"\n-version = "1.3.1"\n-checksum = "{D[:64]}"\n+version = "1.3.2"\n+checksum = "{E[:40]}"',
    ),
    (
        "an empty digest",
        "package-lock.json",
        f'{LOCK}-  "version": "1.2.3",\n-  "integrity": "sha512-{D}=="\n+  "version": "1.2.4",\n+  "integrity": ""',
    ),
    (
        "the digest goes",
        "package-lock.json",
        f'{LOCK}-  "version": "1.2.3",\n-  "integrity": "sha512-{D}=="\n+  "version": "1.2.4"',
    ),
    ("an override", "pnpm-lock.yaml", " overrides:\n-  left: 1.2.3\n+  left: 1.2.4"),
    ("a candidate of a release", "package-lock.json", LOCK + OLD_ENTRY + NEW_ENTRY.replace('"1.3.0"', '"1.3.0-rc.1"')),
    (
        "a host behind an at sign",
        "package-lock.json",
        LOCK + OLD_ENTRY + NEW_ENTRY.replace("registry.example", "registry.example@evil.example"),
    ),
    ("plain http", "package-lock.json", LOCK + (OLD_ENTRY + NEW_ENTRY).replace("https:", "http:")),
    (
        "another folder of the registry",
        "package-lock.json",
        LOCK + OLD_ENTRY.replace("/left/-", "/1.0/left/-") + NEW_ENTRY.replace("/left/-", "/1.1/left/-"),
    ),
    ("the form of the file", "package-lock.json", ' {\n-  "lockfileVersion": 2,\n+  "lockfileVersion": 3,\n   "a": 1'),
    ("the hash of the manifest", "poetry.lock", f'-content-hash = "{D[:64]}"\n+content-hash = "{E[:64]}"'),
    ("only a range", "package-lock.json", ' "dependencies": {\n-  "left": "^1.2.3"\n+  "left": "^1.2.4"\n }'),
    ("a lockfile of no known kind", "flake.lock", ' "a": {\n-  "version": "1.2.3"\n+  "version": "1.2.4"\n }'),
]


@pytest.mark.parametrize(("name", "body"), BUMPS)
def test_a_bump_within_its_major_is_proven(name: str, body: str) -> None:
    """S14: the real forms of each tool."""
    assert classes(change(name, body)) == {"generated"}
    assert classes(change(f"web/{name}", body)) == {"generated"}


@pytest.mark.parametrize(("why", "name", "body"), TAMPERED)
def test_all_other_changes_of_a_lockfile_are_unproven(why: str, name: str, body: str) -> None:
    """S14: a major, a source, an integrity, a package more or less: what a lockfile is reviewed for."""
    assert classes(change(name, body)) == set(), why


@pytest.mark.parametrize(("name", "body"), BUMPS)
def test_no_line_of_a_bump_may_be_left_out(name: str, body: str) -> None:
    """S14: without any one of its removed or added lines a bump is none."""
    lines = body.split("\n")
    for at, line in enumerate(lines):
        is_range = '"left": "^' in line or line[1:].startswith(("left@^", '"left@npm:'))
        if line[0] in "+-" and not is_range:
            assert classes(change(name, "\n".join(lines[:at] + lines[at + 1 :]))) == set()


def test_a_lockfile_is_known_by_its_name_alone() -> None:
    """S14: whatever the case, never by a part of it."""
    assert is_lockfile("Cargo.lock")
    assert is_lockfile("package-lock.json")
    assert not is_lockfile("my-package-lock.json")
    assert not is_lockfile("package-lock.json.md")
