"""The drop classes that path and changed lines alone prove (S14).

A false proof hides a true item from a reviewer; a noise item without a proof costs a glance. So each rule lists what
is known to be harmless, not what is known to be harmful, and whatever is in doubt stays unproven. What a hunk does not
show (a string or a fenced block opened far above) is guarded by asking that the lines look like what they claim to be.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from verifier.diff import FileDiff, Hunk, Line
from verifier.verification.model import DropClass, Proof

_JS: Final = frozenset({"js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"})
_C: Final = frozenset({"c", "h", "cc", "cpp", "cxx", "hpp", "hh"})
_SLASH: Final = _JS | _C | {"go", "java", "kt", "kts", "cs", "rs", "swift", "scala", "php", "scss"}
_HASH: Final = frozenset({"py", "pyi", "rb", "sh", "bash", "yml", "yaml"})
# scala 3 reads indentation, Python and YAML do; a C++, Rust or Go line may stand in a string that was opened above
_LAYOUT: Final = _JS | _C | {"go", "java", "kt", "kts", "cs", "rs", "swift", "php", "css", "scss", "json", "proto"}
_NO_LONG_STRINGS: Final = frozenset({"c", "h", "css", "scss", "json", "proto"})
# in CSS a space is a combinator, in Swift and in JSX it decides how a line is read
_INNER_LAYOUT: Final = _LAYOUT - {"css", "scss", "php", "swift", "jsx", "tsx", "json"}

# Directories whose text a program, a test or a model reads, whatever the file's suffix says
_READ_DIRS: Final = frozenset(
    "templates template _templates _includes includes partials snippets prompts prompt skills skill rules agents "
    "commands fixtures testdata test-data test_data __fixtures__ __snapshots__ snapshots golden goldens expected "
    "baseline baselines cassettes corpus seeds migrations data".split()
)
_CODE_DIRS: Final = frozenset(
    "src lib app apps resources public static assets www web content test tests spec locale locales i18n lang schema "
    "schemas scripts bin vendor third_party node_modules dist build archetypes layouts".split()
)
_DOC_NAME: Final = re.compile(
    r"(?:readme|changelog|changes|history|contributing|contributors|authors|credits|thanks|code_of_conduct|security"
    r"|support|governance|roadmap|faq|news|upgrading|release[_-]?notes)(?:[._-][a-z]{2}(?:[_-][a-z]{2})?)?"
)
_NOT_DOC_NAME: Final = re.compile(
    r"agents?|claude|gemini|copilot|skills?|prompt|instruction|cursor|memory|system|rules?|licen[cs]e|copying|notice"
    r"|patent|eula|schema|templ|tmpl|requirements|constraints|robots|cmakelists|llms|summary|sidebar|navbar|toc|index"
    r"|\bspec\b|fixture|example|policy|terms|privacy"
)
_DOC_SUFFIXES: Final = frozenset({"md", "markdown", "rst", "adoc"})

# Characters that a reviewer does not see, or that end a line for a compiler but not for git
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffd"
    "\U000e0000-\U000e0fff]"
)
_TOKEN: Final = re.compile(r"[A-Za-z0-9]{20,}")
_SECRET: Final = re.compile(
    r"passw|secret|private|credential|api[ _-]?key|access[ _-]?key|authoriz|bearer|cookie|token|\bssh-|begin [a-z]+ key"
)

# Words of comments that tools read, or that the law does; a comment that holds one is never mere prose
_WATCHED: Final = re.compile(
    r"noqa|lint|nosec|sonar|semgrep|codeql|lgtm|gitleaks|checkov|tfsec|trivy|hadolint|pragma|disable|enable|ignore"
    r"|suppress|skip|istanbul|\bc8\b|\bv8\b|cover|lcov|gcov|prettier|format|fall(?:s|ing)?[ -]?thr|region|\bglobals?\b"
    r"|exported|generate|codegen|licen[cs]|copyright|spdx|\(c\)|rights reserved|coding|\bvim?\b|emacs|mypy|pyright"
    r"|pytype|pyre|pylint|ruff|flake|black|isort|yapf|typed|typecheck|flow\b|noinspection|resharper|nullable|doctest"
    r"|renovate|zizmor|dependabot|webpack|vite|turbopack|language|rubocop|sorbet|steep|shellcheck|spotless"
    r"|checkstyle|phpstan|psalm|phpcs|kubebuilder|swagger|openapi|fmt|unreachable|notreached|argsused|cspell"
    r"|expect-error|iwyu|intentional|\bdo not edit|\bmanaged\b"
)
_DOC_WATCHED: Final = re.compile(
    r"licen[cs]|copyright|spdx|all rights|doctest|literalinclude|\bcurl\b|wget|sudo|download|install|\bnpm\b|\bpip\b"
    r"|\bcommand|\brun\b|\bexec|docker|kubectl|chmod"
)
_COMMANDS: Final = frozenset(
    "npm npx yarn pnpm bun node pip pipx uv python python3 poetry cargo rustup go make cmake docker podman kubectl helm "
    "terraform aws gcloud az git gh curl wget sudo apt brew dnf yum apk cd cp mv rm mkdir chmod chown cat echo export "
    "source set bash sh zsh ssh scp tar unzip java mvn gradle dotnet nuget ruby gem bundle rake php composer mix swift "
    "select insert update delete drop create alter grant from run copy env".split()
)
_PLAIN: Final = re.compile(r"[\w \t.,;:'\"()!?&+*/`#%–—…“”‘’-]*")
_OPTION: Final = re.compile(r"\s-{1,2}\w|--")
_DIRECTIVE: Final = re.compile(r"[\w.-]+\s*[:=]|[A-Z_]{3,}\b|\W")
_GLUED_COLON: Final = re.compile(r":[^\s/]|\w:/(?!/)")
# words that prose has and no programming, query or shell language does
_ENGLISH: Final = re.compile(
    r"\b(?:the|an?|of|to|are|be|that|this|which|you|we|can|will|should|its|your|was|were|has|have|been)\b"
)
_MARKER: Final = re.compile(r"(?:#{1,6} +|[-*+] +|\d{1,3}[.)] +|> +)")
_LINK: Final = re.compile(r"\[([^\[\]]{1,200})\]\([^()\s<>]{1,500}\)")
_SPAN: Final = re.compile(r"`[^`\s]{1,80}`")
_DOC_BLOCK: Final = re.compile(r"\s*(?:>>>|\.\. |:::|\$ |<|\+\+\+$|\.\.\.$|---$|\|)")
_RAW_STRING: Final = re.compile(r"\b(?:u8|[ruLU])?R\"|\br#*\"|@\"|\$\"\"")
_MARKUP: Final = re.compile(r"</|/>|^\s*<|(?:^|[^=])>\s*$|\?>")
_TALK: Final = re.compile(r"[\W\d]*[A-Za-z]+(?: [a-z]+,?){4}")


class _Path(NamedTuple):
    folders: tuple[str, ...]
    name: str
    stem: str
    suffix: str


class _Run(NamedTuple):
    """Changed lines that touch each other, and the nearest shown lines around them that are not blank."""

    removed: list[Line]
    added: list[Line]
    before: str | None
    after: str | None


def proofs(file: FileDiff, hunks: Sequence[Hunk]) -> tuple[Proof, ...]:
    """Every drop class that path and changed lines alone prove of these hunks, each with a changed line that shows it.

    `hunks` are the item's own, of `file`. Nothing is proven without a changed line, nor of a deleted, copied or
    submodule file, nor where a changed line holds characters that cannot be seen (S14).
    """
    changed = [line for hunk in hunks for line in hunk.changed]
    shown = next((line for line in changed if line.text.strip()), changed[0] if changed else None)
    if shown is None or file.new_path is None or file.copied or file.submodule:
        return ()
    if any(_UNSEEN.search(line.text.removesuffix("\r")) for line in changed):
        return ()
    place, number = (file.new_path, shown.new) if shown.new is not None else (file.old_path or "", shown.old or 0)
    return tuple(
        Proof(drop_class, place, number, why) for drop_class, rule in _RULES if (why := rule(file, hunks)) is not None
    )


# docs ---------------------------------------------------------------------------------------------------------------


def _docs(file: FileDiff, hunks: Sequence[Hunk]) -> str | None:
    paths = [_path(path) for path in file.paths]
    if all(map(_is_doc_path, paths)) and all(_is_doc_hunk(hunk, paths[0].suffix) for hunk in hunks):
        return f"{paths[0].name} is prose for people, and so is each changed line."
    if file.old_path == file.new_path and all(_only_comments(paths[0], hunk) for hunk in hunks):
        return "Each changed line is a comment, and none that a tool reads."
    return None


def _is_doc_path(path: _Path) -> bool:
    folders = set(path.folders)
    hidden = path.name.startswith(".") or any(folder.startswith(".") for folder in folders)
    if hidden or folders & _READ_DIRS or _NOT_DOC_NAME.search(path.name.lower()):
        return False
    if _DOC_NAME.fullmatch(path.stem.lower()):
        return path.suffix in _DOC_SUFFIXES | {"txt", ""}
    # a .txt is prose only where its name says so: requirements, word lists and Vim's help stand under docs/ too
    return path.suffix in _DOC_SUFFIXES and bool(folders & {"docs", "doc", "documentation"}) and not folders & _CODE_DIRS


def _is_doc_hunk(hunk: Hunk, suffix: str) -> bool:
    if any(_DOC_BLOCK.match(line.text) or _has(line.text, "```", "~~~", "{{", "{%") for line in hunk.lines):
        return False
    return all(_is_doc_line(line.text.rstrip(" \t\r"), suffix) for line in hunk.changed)


def _is_doc_line(text: str, suffix: str) -> bool:
    """Whether a line of a document is prose: it may stand in a fenced block whose fence is not shown."""
    body = text.lstrip(" ")
    # an indented line is code in Markdown and the body of a directive in reStructuredText
    if len(text) - len(body) >= (2 if suffix == "rst" else 4):
        return False
    if not body or (len(body) > 3 and set(body) <= set("=-^")):
        return True
    marked = _MARKER.match(body)
    body = _SPAN.sub("code", _LINK.sub(r"\1", body[marked.end() if marked else 0 :])).strip("*_\"'( ")
    words = body.lower().split()
    if len(words) < 2 or words[0].strip(".,:") in _COMMANDS or "`" in body or "_" in body.replace("__", ""):
        return False
    if not body[0].isalpha() or not _PLAIN.fullmatch(body) or _GLUED_COLON.search(body) or _OPTION.search(body):
        return False
    if re.match(r"[\w.-]+:", body) and not body.startswith(("Note:", "Tip:", "Hint:", "Warning:", "Important:")):
        return False
    if re.search(r"\w\(", body) or body.endswith(";") or _holds_secret(text) or _DOC_WATCHED.search(body.lower()):
        return False
    return marked is not None or _ENGLISH.search(body.lower()) is not None


def _only_comments(path: _Path, hunk: Hunk) -> bool:
    """Whether every changed line of the hunk is a comment that stands alone on its line, on both sides."""
    suffix, folders = path.suffix, set(path.folders)
    if suffix not in _SLASH | _HASH | {"css"} or folders & _READ_DIRS or path.name.endswith((".blade.php", "_test.go")):
        return False
    # what stands inside a block comment differs by side only while lines of one side are read
    inside = {"-": False, "+": False}
    tagged, talked, said = False, False, False
    code: list[str] = []
    for line in hunk.lines:
        if line.sign == "\\":
            continue
        read = [_comment(line.text, inside[side], suffix) for side in ("-+" if line.sign == " " else line.sign)]
        body, _ = read[0]
        if None in (after for _, after in read) or len({body for body, _ in read}) > 1:
            return False
        for side, (_, after) in zip("-+" if line.sign == " " else line.sign, read, strict=True):
            inside[side] = after is True
        if line.text.strip(" \t\r") == "":
            continue
        if body is None:
            if line.sign != " ":
                return False
            code.append(line.text.strip(" \t\r"))
            continue
        tagged = (tagged or body.startswith("@")) and inside["+"]
        if line.sign == " ":
            # a pragma beside the change would no longer stand where it did
            if not (body.startswith("@") or _is_rule(body)) and (_WATCHED.search(body.lower()) or not body[0].isalnum()):
                return False
            continue
        if tagged or not (_is_rule(body) or _is_said(body)):
            return False
        said = True
    if inside["-"] or inside["+"]:
        return False
    talked = any(_TALK.match(text) for text in code)
    return said and not talked and not _may_be_text(code, suffix) and any(_looks_like_code(text, suffix) for text in code)


def _comment(text: str, inside: bool, suffix: str) -> tuple[str | None, bool | None]:
    """What a comment line says (None for code), and whether a block comment is open behind it (None: cannot tell)."""
    body = text.strip(" \t\r")
    if suffix in _HASH:
        # in YAML an indented line may stand in a block of text
        alone = body.startswith("#") and not (suffix in ("yml", "yaml") and text[:1] != "#")
        return (_after_leader(body[1:]), False) if alone else (None, False)
    if inside:
        body, closed = (body[:-2], True) if body.endswith("*/") else (body, False)
        return body.removeprefix("*").strip(), None if _has(body, "/*", "*/") else not closed
    if body.startswith("//") and suffix != "css":
        return _after_leader(body[2:]), False
    if body.startswith("/*"):
        body, closed = (body[2:-2], True) if body.endswith("*/") and len(body) > 3 else (body[2:], False)
        # Rust's and Swift's documentation is run or shown by programs
        body = body if suffix in ("rs", "swift") else body.removeprefix("*")
        return _after_leader(body), None if _has(body, "/*", "*/") else not closed
    return None, None if _has(body, "/*", "*/") else False


def _after_leader(rest: str) -> str:
    """The words of a comment; a mark that is glued to the leader (`//go:`, `#!`, `///`) stays as its first character."""
    return rest.strip() if rest[:1] in ("", " ", "\t") or _is_rule(rest) else "!" + rest


def _is_rule(body: str) -> bool:
    return set(body) <= set("-=*~ ")


def _is_said(body: str) -> bool:
    """Whether a comment is prose: words that begin like a sentence, no directive of any tool, nothing secret."""
    if len(body.split()) < 2 or not _PLAIN.fullmatch(body) or _DIRECTIVE.match(body) or not body[0].isalpha():
        return False
    if body.endswith(";") or _GLUED_COLON.search(body) or _OPTION.search(body) or _has(body, "/*", "*/"):
        return False
    return not _WATCHED.search(body.lower()) and not _holds_secret(body)


# tests --------------------------------------------------------------------------------------------------------------

_TEST_NAMES: Final = (
    (re.compile(r"\w+_test\.go"), False),
    (re.compile(r".+\.(?:test|spec)\.[cm]?[jt]sx?"), False),
    (re.compile(r"test_\w+\.py|\w+_test\.py"), True),
    (re.compile(r"\w+(?:Test|Tests)\.(?:java|kt|cs|php)"), True),
    (re.compile(r"\w+_(?:spec|test)\.rb"), True),
    (re.compile(r"\w+\.rs"), True),
)
_NOT_TEST: Final = re.compile(r"conftest|helper|util|fixture|factor|mock|config|setup|base|support|common|stub|^mod\.|^main")
_NOT_TEST_DIRS: Final = frozenset(
    "testing helpers support utils util mocks __mocks__ stubs common main lib resources prod production".split()
)
# An added line with one of these can make a test weaker, or does more than test
_WEAK: Final = re.compile(
    r"skip|xfail|todo|\bonly\b|ignore|disable|pending|\breturn\b|except|catch|rescue|finally|exit|mock|patch|stub"
    r"|continue|\bpass\b|\bbreak\b|retr[iy]|flaky|timeout|sleep|\btry\b|suppress|quarantine|environ|getenv|process\b"
    r"|subprocess|exec|eval|spawn|popen|system|socket|fetch|https?:|setup|teardown|(?:before|after)_?(?:each|all)"
    r"|fixture|autouse|global|prototype|setattr|__|testmain|\binit\b|should_panic|panic|recover|raises|throw|failing"
    r"|anything|any\(|assert ?\(?true|assert!\(true|\(true\)|assert 1\b|\bor true\b|\|\| ?true|warning|filter|plugin"
    r"|unlink|remove|rmtree|chmod|\bopen\(|write|import\(|require\(|unsafe|reflect"
)
_GUARDED: Final = re.compile(r"raises|throw|\btry\b|except|catch|rescue|recover|suppress|skip|xfail|panic|fails")
_ASSIGNED: Final = re.compile(r"(?<![=!<>])=(?![=>~])|\+\+|--|:=")
_ASSERTION: Final = {
    "py": re.compile(r"assert [^(\s,].*[\w)\]}\"']|self\.assert\w+\(.*\)"),
    "go": re.compile(r"(?:assert|require)\.[A-Z]\w*\(t, .*\)"),
    "rs": re.compile(r"assert(?:_eq|_ne)?!\(.*\);"),
    "rb": re.compile(r"expect\(.*\)\.(?:to|not_to|to_not) \w.*|assert_\w+ .+"),
    "java": re.compile(r"(?:Assertions\.|Assert\.)?assert\w+\(.*\);"),
    "kt": re.compile(r"assert\w+\(.*\)"),
    "cs": re.compile(r"Assert\.\w+\(.*\);"),
    "php": re.compile(r"(?:\$this->|self::|static::)assert\w+\(.*\);"),
} | dict.fromkeys(_JS, re.compile(r"(?:await )?expect\(.*\)\.[\w.]+\(.*\);?"))
_ATTRIBUTE: Final = re.compile(r"@Test|\[(?:Fact|Test|TestMethod)\]|#\[(?:tokio::)?test\]")
_TEST_START: Final = {
    "py": re.compile(r"(?:async )?def test_\w+\([\w, ]*\)(?: -> None)?:"),
    "go": re.compile(r"func Test[A-Z_]\w*\(t \*testing\.T\) \{"),
} | dict.fromkeys(_JS, re.compile(r"(?:it|test)\((?:\"[^\"]*\"|'[^']*'), (?:async )?(?:\(\) =>|function ?\(\)) \{"))
_ASSERTS: Final = re.compile(r"assert|expect\(|require\.|\bt\.(?:Error|Fatal)")


def _tests(file: FileDiff, hunks: Sequence[Hunk]) -> str | None:
    path = _path(file.new_path or "")
    if (file.old_path not in (None, file.new_path)) or not _is_test_path(path):
        return None
    if any(line.sign == "-" and line.text.strip() for hunk in hunks for line in hunk.changed):
        return None
    added = [line.text.strip(" \t\r") for hunk in hunks for line in hunk.changed if line.text.strip()]
    if not added or any(_WEAK.search(text.lower()) or _holds_secret(text) for text in added):
        return None
    if file.old_path is None:
        starts = _TEST_START.get(path.suffix, _ATTRIBUTE)
        if any(map(starts.fullmatch, added)) and any(map(_ASSERTS.search, added)):
            return "A new test file can only add to what the tests refuse."
        return None
    shown = [line.text for hunk in hunks for line in hunk.lines]
    if any(_has(text, '"""', "'''", "`") or text.rstrip(" \t\r").endswith("\\") for text in shown):
        return None
    runs = [run for hunk in hunks for run in _runs(hunk) if any(line.text.strip() for line in run.added)]
    if all(_is_whole_test(run, path.suffix) for run in runs):
        return "Only whole new tests are added; no line of a test goes."
    if any(map(_GUARDED.search, shown)) or not all(_is_more_asserted(run, path.suffix) for run in runs):
        return None
    return "Only assertions are added; no line of a test goes."


def _is_test_path(path: _Path) -> bool:
    folders = set(path.folders)
    in_tests = bool(folders & {"test", "tests", "spec", "__tests__"})
    if path.suffix == "rs":
        in_tests = path.folders[-1:] == ("tests",)
    if folders & (_READ_DIRS | _NOT_TEST_DIRS) or _NOT_TEST.search(path.name.lower()):
        return False
    return any(pattern.fullmatch(path.name) and (in_tests or not needs) for pattern, needs in _TEST_NAMES)


def _is_more_asserted(run: _Run, suffix: str) -> bool:
    form = _ASSERTION.get(suffix)
    texts = [line.text.strip(" \t\r") for line in run.added if line.text.strip()]
    if form is None or run.before is None:
        return False
    # the line above must be a whole statement: the added one may not come under its `if`, into its call or decorate
    above = run.before.strip(" \t\r")
    ends = above.endswith((";", "{", "}")) if suffix not in ("py", "rb", "go", "kt") else not above.endswith(tuple("\\(,[{=+|&"))
    if not ends or above.startswith(("@", "#[", "else")):
        return False
    indents = {_indent(line.text) for line in run.added if line.text.strip()}
    if suffix == "py" and indents != {_indent(run.before)} and not above.endswith(":"):
        return False
    return all(form.fullmatch(text) and text.count("(") == text.count(")") and not _ASSIGNED.search(text) for text in texts)


def _is_whole_test(run: _Run, suffix: str) -> bool:
    lines = [line.text.rstrip(" \t\r") for line in run.added if line.text.strip()]
    if run.before is None or not any(map(_ASSERTS.search, lines)):
        return False
    if suffix == "py":
        return _is_whole_python_test(run, lines)
    # what stands above must be finished, so that no attribute of an old test passes to the new one
    if suffix not in _TEST_START and suffix not in ("java", "kt", "cs", "rs"):
        return False
    return run.before.rstrip(" \t\r").endswith((";", "}", "{")) and _is_balanced(lines, suffix)


def _is_whole_python_test(run: _Run, lines: list[str]) -> bool:
    start, top = _TEST_START["py"], _indent(lines[0])
    before = run.before or ""
    above_ends = _indent(before) > top or before.lstrip().startswith("class ")
    below_ends = run.after is None or _indent(run.after) <= top
    if not (above_ends and below_ends and start.fullmatch(lines[0].strip())):
        return False
    has_body = all(_indent(lower) > top for upper, lower in pairwise([*lines, " " * (top + 1)]) if _indent(upper) == top)
    return has_body and all(_indent(text) > top or bool(start.fullmatch(text.strip())) for text in lines)


def _is_balanced(lines: list[str], suffix: str) -> bool:
    """Whether the lines are whole blocks, each opened by a test's first line or by its attribute."""
    depth, declared = 0, False
    for text in (line.strip(" \t") for line in lines):
        if depth == 0:
            starts = _TEST_START.get(suffix)
            if _ATTRIBUTE.fullmatch(text) if starts is None else starts.fullmatch(text):
                declared = True
            elif not declared:
                return False
        opened = sum(map(text.count, "{([")) - sum(map(text.count, "})]"))
        depth += opened
        if depth < 0:
            return False
        # a declaration may take several lines; its block ends it
        declared = depth > 0 or (declared and "}" not in text)
    return depth == 0 and not declared


# fixtures -----------------------------------------------------------------------------------------------------------

_DATA: Final = frozenset("json yaml yml csv tsv txt xml html ndjson jsonl".split())
_SURE_FIXTURE_DIRS: Final = frozenset({"testdata", "__fixtures__"})
_FIXTURE_DIRS: Final = frozenset({"fixtures", "fixture", "cassettes", "test-data", "test_data", "data"})
_TEST_DIRS: Final = frozenset({"test", "tests", "spec", "__tests__"})
_NOT_FIXTURE: Final = re.compile(
    r"snap|golden|expect|baseline|approv|output|result|want|seed|migrat|schema|config|settings|package|lock|require"
    r"|compose|pom\.|build|manifest|workflow|rules|prompt"
)
_NOT_FIXTURE_DIRS: Final = frozenset("main db database prod production public static deploy config seeds dist sql".split())
_JUDGED: Final = re.compile(r"expect|golden|\bwant|assert|result|outcome|skip|xfail|ignore|disable|valid|allow|deny|error|fail")
_PAIR: Final = re.compile(r"\s*(?:- )?(\"[^\"\\]*\"|[\w.-]+)\s*:\s*(.*)")


def _fixtures(file: FileDiff, hunks: Sequence[Hunk]) -> str | None:
    path = _path(file.new_path or "")
    if file.old_path not in (None, file.new_path) or not _is_fixture_path(path):
        return None
    for hunk in hunks:
        if any(_JUDGED.search(line.text.lower()) for line in hunk.lines) or any(_holds_secret(line.text) for line in hunk.changed):
            return None
        for run in _runs(hunk):
            # a sample that goes, or whose kind of value changes, is a case that is no longer tried
            gone = Counter(_sample(line.text, path.suffix) for line in run.removed if line.text.strip())
            if gone - Counter(_sample(line.text, path.suffix) for line in run.added if line.text.strip()):
                return None
    return f"{path.name} is sample data under a directory that only tests read; no sample goes."


def _is_fixture_path(path: _Path) -> bool:
    if path.suffix not in _DATA or path.name.startswith(".") or _NOT_FIXTURE.search(path.name.lower()):
        return False
    folders = path.folders
    if any(folder in _NOT_FIXTURE_DIRS or _NOT_FIXTURE.search(folder) for folder in folders):
        return False
    tests = next((at for at, folder in enumerate(folders) if folder in _TEST_DIRS), len(folders))
    return bool(set(folders) & _SURE_FIXTURE_DIRS or set(folders[tests + 1 :]) & _FIXTURE_DIRS)


def _sample(text: str, suffix: str) -> str:
    """What a line of data says but for its strings and numbers: key and kind of value, or the count of its columns."""
    body = text.strip(" \t\r")
    if suffix in ("csv", "tsv"):
        return str(body.count("," if suffix == "csv" else "\t"))
    pair = _PAIR.fullmatch(body) if suffix in ("json", "yaml", "yml") else None
    if pair is None:
        return body.rstrip(",")
    key, value = pair[1].strip('"'), pair[2].rstrip(", ")
    if not value or value[0] in "{[&*!|>" or value.lower() in ("true", "false", "null", "~", "yes", "no", "on", "off"):
        return f"{key}: {value}"
    return f"{key}: {'number' if re.fullmatch(r'-?[0-9][0-9.]*', value) else 'string'}"


# generated ----------------------------------------------------------------------------------------------------------

_LOCKFILES: Final = frozenset(
    "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml poetry.lock uv.lock pdm.lock pipfile.lock "
    "cargo.lock go.sum gemfile.lock".split()
)
# the name of the algorithm stays: another one is a change of integrity
_DIGEST: Final = re.compile(
    r"(?<=packages/)[0-9a-f]{2}/[0-9a-f]{2}/[0-9a-f]{60}|(?<=[0-9][-:])[A-Za-z0-9+/]{32,}={0,2}|\b[0-9a-f]{40,}\b|(?<=h1:)[A-Za-z0-9+/]{32,}={0,2}"
)
_MEASURE: Final = re.compile(r"\b(size = |upload-time = \")[0-9TZ:.+-]+")
_VERSION: Final = re.compile(r"[0-9]+(?:\.[0-9]+)+")
_OTHER_SOURCE: Final = re.compile(r"git\+|git@|\bgit\b|github|gitlab|bitbucket|http://|ssh:|file:|link:|workspace:|path|editable|python|engines|\"node\"")
_PACKAGE: Final = re.compile(r"\[\[package\]\]|.*[:{]$")
_GENERATED_NAME: Final = re.compile(r".+\.pb\.go|.+_pb2(?:_grpc)?\.pyi?|.+\.(?:g|freezed)\.dart|.+\.generated\.\w+|zz_generated.+")
_GENERATED_MARK: Final = re.compile(
    r"\s*(?://|#|/?\*+|--|<!--)\s*(?:.{0,80}@generated\b|Code generated .{0,200}DO NOT EDIT|This file (?:is|was) auto(?:matically |-)generated)"
)
_BY_HAND: Final = re.compile(r"hack|todo|fixme|manual|by hand|patched|workaround|hotfix|temporar")
# What only a tool writes: stamps of its version, serialised descriptors
_STAMP: Final = re.compile(
    r"(?://|#|\*)\s+(?:- )?(?:protoc[\w-]*\s+\(?v?[0-9.]+\)?|Protobuf Python Version: [0-9.]+|(?:source |schema )?(?:sha256|checksum|hash): [0-9a-f]+)"
)
_SERIAL: Final = {
    "go": re.compile(r"(?:0x[0-9a-f]{2}, ?)*0x[0-9a-f]{2},?|\"(?:\\x[0-9a-f]{2}|\\[nrt\"\\]|\\[0-7]{3}|[\w .*/;:!-])*\\x[0-9a-f]{2}(?:\\x[0-9a-f]{2}|\\[nrt\"\\]|[\w .*/;:!-])*\" ?\+?"),
    "py": re.compile(
        r"DESCRIPTOR = _descriptor_pool\.Default\(\)\.AddSerializedFile\(b'(?:[^'\\]|\\.)*'\)"
        r"|_globals\['\w+'\]\._serialized_(?:start|end)=[0-9]+|_\w+\._serialized_(?:start|end)=[0-9]+"
    ),
}
# Declarations that do nothing by themselves; they may come, never go or change
_MEMBER: Final = {
    "go": re.compile(r"[A-Z]\w*\s+[\w.*\[\]]+\s+`protobuf:\"[\w,=.]+\" json:\"[\w,]+\"`"),
    "dart": re.compile(r"'(\w+)': instance\.\1,|(\w+): json\['\2'\] as [\w<>?]+,"),
    "ts": re.compile(r"(?!default\b|case\b)(?:readonly )?\w+\??: [\w<>\[\]'\"| .]+;"),
}


def _generated(file: FileDiff, hunks: Sequence[Hunk]) -> str | None:
    path = _path(file.new_path or "")
    if file.old_path != file.new_path:
        return None
    if path.name.lower() in _LOCKFILES:
        return "A lockfile's versions rise within their major, from the same sources." if _is_bump(path, hunks) else None
    lines = [line for hunk in hunks for line in hunk.lines]
    named = _GENERATED_NAME.fullmatch(path.name) or "__generated__" in path.folders
    if not named and not any(line.sign == " " and _GENERATED_MARK.match(line.text) for line in lines):
        return None
    if any(_BY_HAND.search(line.text.lower()) for line in lines):
        return None
    # the mark says who wrote the file, not who wrote the change: each line must have the form that the tool gives it
    removed, added = (Counter(_tool_made(line.text, path.suffix) for line in lines if line.sign == sign and line.text.strip()) for sign in "-+")
    if not added or None in removed or None in added or removed - added:
        return None
    return "A generated file, and each changed line has the form that only its tool writes."


def _tool_made(text: str, suffix: str) -> str | None:
    """A form that only a generator writes: its own text for a declaration, a word for a stamp or serialised bytes."""
    body = text.strip(" \t\r")
    if _STAMP.fullmatch(body):
        return "stamp " + re.sub(r"[0-9a-f.]+", "", body)
    if suffix in _SERIAL and _SERIAL[suffix].fullmatch(body):
        return None if False else "serial"
    if suffix in _MEMBER and _MEMBER[suffix].fullmatch(body):
        return " ".join(body.split())
    return None
