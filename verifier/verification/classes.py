"""The drop classes that path and changed lines alone prove (S14).

A false proof hides a true item from a reviewer; a noise item without a proof costs a glance. So each rule lists what
is known to be harmless, and whatever is in doubt stays unproven. What a hunk does not show (a string or a fenced block
that was opened far above) is guarded by asking that its lines look like what they claim to be.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from verifier.diff import FileDiff, Hunk
from verifier.verification.lockfiles import is_bump, is_lockfile
from verifier.verification.model import DropClass, Proof

Rule = Callable[[FileDiff, Sequence[Hunk]], str | None]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_JS: Final = _names("js mjs cjs jsx ts mts cts tsx")
_C: Final = _names("c h cc cpp cxx hpp hh")
_SLASH: Final = _JS | _C | _names("go java kt kts cs rs swift scala php scss css")
_HASH: Final = _names("py pyi rb sh bash yml yaml")
_LAYOUT: Final = _JS | _C | _names("go java kt kts cs rs swift php css scss json proto")
_NO_LONG_STRINGS: Final = _names("c css scss json proto")
# in CSS a space is a combinator, in Swift it decides what an operator is, in JSX it is shown
_INNER_LAYOUT: Final = _LAYOUT - _names("css scss php swift js jsx tsx json")

# directories whose text a program, a test or a model reads, whatever the suffix says
_READ_DIRS: Final = _names(
    """templates template _templates _includes includes partials snippets prompts prompt skills skill rules agents ai
    llm commands fixtures testdata test-data test_data __fixtures__ __snapshots__ snapshots golden goldens expected
    baseline baselines cassettes corpus seeds migrations data"""
)
_CODE_DIRS: Final = _names(
    """src lib app apps resources public static assets www web content test tests spec locale locales i18n lang schema
    schemas scripts bin vendor third_party node_modules dist build archetypes layouts specs features examples help
    emails mails messages res raw embed"""
)
_DOC_SUFFIXES: Final = _names("md markdown rst adoc")
_DOC_NAME: Final = re.compile(
    r"(?:readme|changelog|changes|history|contributing|contributors|authors|credits|thanks|code_of_conduct|security"
    r"|support|governance|roadmap|faq|news|upgrading|release[_-]?notes)(?:[._-][a-z]{2}(?:[_-][a-z]{2})?)?"
)
_NOT_DOC_NAME: Final = re.compile(
    r"agent|claude|gemini|copilot|skill|prompt|instruction|cursor|memory|system|rule|licen[cs]e|copying|notice|patent"
    r"|eula|schema|templ|tmpl|requirements|constraints|robots|cmakelists|llms|summary|sidebar|navbar|\btoc|index|\bspec"
    r"|fixture|example|policy|terms|privacy|convention"
)

# signs that Unicode calls printable, and yet nothing is seen of them
_BLANK: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\ufffc\ufffd\U000e0100-\U000e01ef]"
)
# Greek, Cyrillic and their like, and letters that stand for Latin ones, in one word with a Latin letter
_LOOKALIKES: Final = (
    "\u0250-\u02af\u0370-\u058f\u13a0-\u13ff\u1d00-\u1dbf\ua640-\ua69f\uff21-\uff5a\U0001d400-\U0001d7ff"
)
_TWO_SCRIPTS: Final = re.compile(rf"[A-Za-z][\d_]*[{_LOOKALIKES}]|[{_LOOKALIKES}][\d_]*[A-Za-z]")
_LONG_WORD: Final = re.compile(r"[A-Za-z0-9]{20,}")
_SECRET: Final = re.compile(
    r"passw|secret|private|credential|(?:api|access)[ _-]?key|authoriz|bearer|cookie|token|ssh-"
)

# words of comments that tools read, or the law does
_WATCHED: Final = re.compile(
    r"noqa|lint|js[hc][is]|pep8|nosec|sonar|semgrep|codeql|lgtm|gitleaks|checkov|tfsec|trivy|pragma|disable|enable"
    r"|ignore|suppress|skip|istanbul|\b[cv]8\b|cover|lcov|gcov|prettier|format|fall(?:s|ing)?[ \t-]*thr|region|snippet"
    r"|\bglobals?\b|exported|generate|codegen|licen[cs]|copyright|spdx|\(c\)|rights reserved|coding|\bvim?\b|emacs|mypy"
    r"|pyright|pytype|pyre|ruff|flake|black|isort|yapf|typed|typecheck|flow\b|inspection|resharper|nullable|doctest"
    r"|renovate|zizmor|dependabot|webpack|vite|turbopack|language|rubocop|sorbet|steep|shellcheck|spotless|checkstyle"
    r"|phpstan|psalm|phpcs|kubebuilder|swagger|openapi|fmt|unreachable|notreached|argsused|cspell|expect-error|iwyu"
    r"|intentional|do not edit|managed|release-please|keep[- ]sorted|no (?:default|break)"
)
_DOC_WATCHED: Final = re.compile(
    r"licen[cs]|copyright|spdx|all rights|doctest|\bcurl\b|wget|sudo|download|install|\bnpm\b|\bpip\b|command|\brun\b"
    r"|\bexec|docker|kubectl|chmod|\.(?:tar|t?gz|zip|exe|msi|dmg|pkg|deb|rpm|sh|ps1|jar|whl)\b"
)
_TOOLS: Final = _names(
    """npm npx yarn pnpm bun node pip pipx uv python python3 poetry cargo rustup cmake docker podman kubectl helm
    terraform aws gcloud az git gh curl wget sudo apt brew dnf yum apk cd cp mv rm mkdir chmod chown cat echo bash sh
    zsh ssh scp tar unzip java mvn gradle dotnet nuget ruby gem bundle rake php composer mix env systemctl
    service reboot shutdown kill killall crontab mount umount dd ln sed awk grep find xargs tee psql mysql sqlite3
    vagrant ansible nix pacman snap choco winget scoop iptables"""
)
_VERBS: Final = _names("go make export source set select insert update delete drop create alter grant from run copy")
# words that prose has and hardly any programming, query or shell language
_ENGLISH: Final = re.compile(
    r"\b(?:the|an?|of|to|are|be|that|this|which|you|we|can|will|should|its|your|was|were|has|have|been)\b"
)
_PLAIN: Final = re.compile(r"[\w \t.,;:'\"()!?&+*/`#%–—…“”‘’-]*")
_OPTION: Final = re.compile(r"\s-\w|--|\s#\s")
_GLUED_COLON: Final = re.compile(r":[^\s/]|\w:/(?!/)")
# `word:`, `tool word: value`, a shouted first word
_DIRECTIVE: Final = re.compile(r"(?:[\w.-]+ ){0,4}[\w.-]+ ?:(?!//)|[A-Z_]{3,}\b|using ")
_MARKER: Final = re.compile(r"#{1,6} +|[-*+] +|\d{1,3}[.)] +|> +")
_LINK: Final = re.compile(r"\[([^\[\]]{1,200})\]\((?:https?://)?[^()\s<>:]{1,500}\)")
_SPAN: Final = re.compile(r"`[^`\s]{1,80}`")
_DOC_BLOCK: Final = re.compile(r"\s*(?:>>>|\.\. |:::|\$ |<|\+\+\+$|\.\.\.$|---$|\||\./|[a-z_][\w.-]*:(?:\s|$))")
_ADOC_FENCE: Final = re.compile(r"([-=.+_*/])\1{3,}\s*")
_RAW_STRING: Final = re.compile(r"\b(?:u8|[uLU])?R\"|\br#*\"|@\"|\$\"\"")
_MARKUP: Final = re.compile(r"</|/>|^<|(?:^|[^=])>$")
# what C, Go, Java and their like never hold outside of a string: a shell's lines, a variable's mark, a quoted word
_NOT_OURS: Final = re.compile(
    r"^(?:#(?:\s|!|$)|\|(?!\|)|(?:fi|done|esac|then|end|do)$|(?:local|echo|elif|def|export|set|printf) )|\$\w|\$[{(]"
)
_STRINGS: Final = re.compile(r"\"(?:[^\"\\]|\\.)*(?:\"|$)|'(?:[^'\\]|\\.[^']{0,8})'")
_TALK: Final = re.compile(r"[\W\d]*[A-Za-z]+(?: [a-z]+,?){4}")


class _Path(NamedTuple):
    folders: tuple[str, ...]
    name: str
    stem: str
    suffix: str


class _Run(NamedTuple):
    """Changed lines that touch each other, and the nearest shown lines around them that are not blank."""

    removed: tuple[str, ...]
    added: tuple[str, ...]
    before: str | None
    after: str | None


def proofs(file: FileDiff, hunks: Sequence[Hunk]) -> tuple[Proof, ...]:
    """Every drop class that path and changed lines alone prove of these hunks, each with a changed line that shows it.

    `hunks` are the item's own, of `file`. Nothing is proven without a changed line, of a file that was deleted, copied
    or may be a link or a submodule, nor where a line holds what cannot be seen or is not what it looks like (S14).
    """
    changed = [line for hunk in hunks for line in hunk.changed]
    shown = next((line for line in changed if line.text.strip()), changed[0] if changed else None)
    if shown is None or file.new_path is None or file.copied or file.submodule:
        return ()
    if any(_hides(line.text.removesuffix("\r")) for hunk in hunks for line in hunk.lines) or _may_be_links(hunks):
        return ()
    place, number = (file.new_path, shown.new) if shown.new is not None else (file.old_path or "", shown.old or 0)
    found = ((drop_class, rule(file, hunks)) for drop_class, rule in _RULES)
    return tuple(Proof(drop_class, place, number, why) for drop_class, why in found if why is not None)


def _hides(text: str) -> bool:
    """Whether a line holds what nobody sees, what ends it for a compiler alone, or letters that look like others."""
    if not text.replace("\t", " ").isprintable():
        return True
    return not text.isascii() and bool(_BLANK.search(text) or _TWO_SCRIPTS.search(text))


def _may_be_links(hunks: Sequence[Hunk]) -> bool:
    """Whether the file is one line without its end, as a symbolic link is shown: its text is where it leads."""
    signs = ["".join(line.sign for line in hunk.lines) for hunk in hunks]
    return any(shape in ("+\\", "-\\+\\", "+\\-\\") for shape in signs)


# docs


def _docs(file: FileDiff, hunks: Sequence[Hunk]) -> str | None:
    paths = [_path(path) for path in file.paths]
    suffix = paths[0].suffix
    if all(_is_doc_path(path) and path.suffix == suffix for path in paths):
        if not all(_is_doc_hunk(hunk, suffix) for hunk in hunks):
            return None
        return f"{paths[0].name} is prose for people, and so is each changed line."
    if file.old_path == file.new_path and all(_only_comments(paths[0], hunk) for hunk in hunks):
        return "Each changed line is a comment, and none that a tool reads."
    return None


def _is_doc_path(path: _Path) -> bool:
    folders = set(path.folders)
    if path.name.startswith(".") or any(folder.startswith(".") for folder in folders) or folders & _READ_DIRS:
        return False
    if _NOT_DOC_NAME.search(path.name.lower()):
        return False
    if _DOC_NAME.fullmatch(path.stem.lower()):
        # without a suffix only AUTHORS, never a program called `history` or Debian's `changelog`, which is parsed
        sure = path.suffix in _DOC_SUFFIXES | {"txt"} or (path.suffix == "" and path.name.isupper())
        return sure and not folders & {"public", "static", "assets", "resources", "res", "raw", "content"}
    # elsewhere a .txt is no prose: requirements, word lists and Vim's help stand under docs/ too
    return (
        path.suffix in _DOC_SUFFIXES and bool(folders & {"docs", "doc", "documentation"}) and not folders & _CODE_DIRS
    )


def _is_doc_hunk(hunk: Hunk, suffix: str) -> bool:
    if any(_DOC_BLOCK.match(line.text) or _has(line.text, "```", "~~~", "{{", "{%") for line in hunk.lines):
        return False
    if suffix == "adoc" and any(_ADOC_FENCE.fullmatch(line.text) for line in hunk.lines):
        return False
    # a command beside the change: the block of code that both stand in was opened above
    if any(line.text.strip().partition(" ")[0] in _TOOLS for line in hunk.lines):
        return False
    return all(_is_doc_line(line.text.rstrip(" \t\r"), suffix) for line in hunk.changed) and any(
        line.text.strip() for line in hunk.changed
    )


def _is_doc_line(text: str, suffix: str) -> bool:
    """Whether a line of a document is prose, for it may stand in a fenced block whose fence is not shown."""
    body = text.lstrip(" ")
    # an indented line is code in Markdown and the body of a directive in reStructuredText
    if len(text) - len(body) >= (2 if suffix == "rst" else 4):
        return False
    if not body or (len(body) > 3 and set(body) <= set("=-^")):
        return True
    marked = _MARKER.match(body)
    body = _SPAN.sub("code", _LINK.sub(r"\1", body[marked.end() if marked else 0 :])).strip("*_\"'( ")
    words = body.split()
    # a heading may be one word
    if (
        len(words) < 2 - text.startswith("#")
        or not _is_plain(body)
        or re.search(r"\w\(|[`_]", body)
        or _DOC_WATCHED.search(text.lower())
    ):
        return False
    if re.match(r"[\w.-]+:", body) and not body.startswith(("Note:", "Tip:", "Hint:", "Warning:", "Important:")):
        return False
    # release tools read the version in a heading, WordPress the header of a readme.txt
    if (text.startswith("#") and re.search(r"\d\.\d", body)) or (suffix in ("txt", "") and _DIRECTIVE.match(body)):
        return False
    # prose that begins with one of these begins a sentence, and so with a capital
    if _holds_secret(text) or words[0].strip(".,:") in _TOOLS | _VERBS or re.match(r"[A-Z]\w+-[A-Z]\w", words[0]):
        return False
    return bool(_ENGLISH.search(body.lower())) or (marked is not None and words[0].lower() not in _VERBS)


def _only_comments(path: _Path, hunk: Hunk) -> bool:
    """Whether every changed line of the hunk is a comment that stands alone on its line, on both sides."""
    suffix = path.suffix
    # a comment in a Go test may be the output that an example must print
    if suffix not in _SLASH | _HASH or set(path.folders) & _READ_DIRS or path.name.endswith((".blade.php", "_test.go")):
        return False
    inside = {"-": False, "+": False}
    tagged = said = False
    code: list[str] = []
    for line in hunk.lines:
        if line.sign == "\\":
            continue
        # a comment that ends so takes the next line into itself
        if line.text.rstrip(" \t\r").endswith(("\\", "??/")):
            return False
        sides = "-+" if line.sign == " " else line.sign
        if line.sign == " " and inside["-"] != inside["+"]:
            return False
        was_inside = inside[sides[0]]
        body, inside_after = _comment(line.text, was_inside, suffix)
        if inside_after is None:
            return False
        inside |= dict.fromkeys(sides, inside_after)
        if not line.text.strip(" \t\r"):
            continue
        if body is None:
            if line.sign != " " or line.text.startswith("#!/"):
                return False
            code.append(line.text.strip(" \t\r"))
        elif line.sign == " ":
            is_tag = was_inside and body.startswith("@")
            tagged |= is_tag
            # a pragma beside the change would no longer stand where it did
            if not (is_tag or _is_rule(body)) and (_WATCHED.search(body.lower()) or not body[0].isalnum()):
                return False
        elif tagged or not (_is_rule(body) or _is_said(body)):
            return False
        else:
            said = True
    if (
        not said
        or inside["-"]
        or inside["+"]
        or _may_be_text([*code, _heading(hunk)], suffix)
        or any(map(_TALK.match, code))
    ):
        return False
    return any(_looks_like_code(text, suffix) for text in code)


def _comment(text: str, inside: bool, suffix: str) -> tuple[str | None, bool | None]:
    """What a comment line says (None for code), and whether a block comment is open after it (None: cannot tell)."""
    body = text.strip(" \t\r")
    if suffix in _HASH:
        # in YAML an indented line may stand in a block of text
        alone = body.startswith("#") and (text.startswith("#") or suffix not in ("yml", "yaml"))
        return (_after_leader(body[1:]) if alone else None), False
    if not inside and body.startswith("//") and suffix != "css":
        return _after_leader(body[2:]), False
    if not inside and not body.startswith("/*"):
        return None, None if _has(body, "/*", "*/") else False
    body = body if inside else body[2:]
    closed = body.endswith("*/")
    body = body.removesuffix("*/")
    unclear = _has(body, "/*", "*/")
    if inside:
        body = body.removeprefix("*").strip()
    else:
        # what Rust calls documentation is run, what Swift does is shown
        body = _after_leader(body if suffix in ("rs", "swift") else body.removeprefix("*"))
    return body, None if unclear else not closed


def _after_leader(rest: str) -> str:
    """The words of a comment, after a `!` where they are glued to the leader (`//go:`, `#!`, `///`)."""
    return rest.strip() if rest[:1] in ("", " ", "\t") or _is_rule(rest) else "!" + rest


def _is_rule(body: str) -> bool:
    return set(body) <= set("-=*~ ")


def _is_plain(body: str) -> bool:
    """Whether a text begins with a letter and holds nothing but words: no option, no key, no statement."""
    if not body[:1].isalpha() or body.endswith(";") or not _PLAIN.fullmatch(body):
        return False
    return not (_GLUED_COLON.search(body) or _OPTION.search(body) or _has(body, "/*", "*/"))


def _is_said(body: str) -> bool:
    if len(body.split()) < 2 or not _is_plain(body) or _DIRECTIVE.match(body):
        return False
    return not _WATCHED.search(body.lower()) and not _holds_secret(body)


# tests

_TEST_NAMES: Final = (
    (re.compile(r"\w+_test\.go"), False),
    (re.compile(r".+\.(?:test|spec)\.[cm]?[jt]sx?"), False),
    (re.compile(r"test_\w+\.py|\w+_test\.py|\w+_(?:spec|test)\.rb|\w+Tests?\.(?:java|kt|cs|php)|\w+\.rs"), True),
)
_TEST_DIRS: Final = _names("test tests spec __tests__")
_NOT_TEST: Final = re.compile(r"conftest|helper|util|fixture|factor|mock|config|setup|base|support|common|^mod\.|^main")
_NOT_TEST_DIRS: Final = _names(
    "testing helpers support utils util mocks __mocks__ stubs common main lib resources prod production"
)
# an added line with one of these can weaken a test, or does more than test
_WEAK: Final = re.compile(
    r"skip|xfail|todo|\bonly\b|ignore|disable|pending|\breturn\b|except|catch|rescue|finally|exit|mock|patch|stub"
    r"|continue|\bpass\b|\bbreak\b|retr[iy]|flaky|timeout|sleep|\btry\b|suppress|quarantine|environ|getenv|process\b|exec"
    r"|eval|spawn|popen|system|socket|fetch|https?:|setup|teardown|(?:before|after)_?(?:each|all)|fixture|autouse|global"
    r"|prototype|setattr|__|testmain|\binit\b|panic|recover|failing|anything|any\(|warning|filter|plugin"
    r"|(?:expect|assert|asserttrue|assert!)\(true|assert true|assert 1\b|\bor true\b|\|\| ?true|unlink|remove|rmtree"
    r"|chmod|\bopen\(|write|import\(|require\(|unsafe|reflect|it\.each|\bassume"
    r"|jest\.|\bvi\.|object\.|^(?!self\.|this\.)\w+\.[\w.]+ ?=[^=]|\] ?=[^=>]|\bdel(?:ete|attr)?\b"
    r"|\bcls\.|clear\(|\bpop\(|\bnext\(|seed\(|chdir|locale|config|settings|modules|reload|connect\(|truncate"
    r"|drop_|fatal|\b[fx](?:it|describe)\b"
    r"|fake|\bspy|\b(?:os|sys|gc|shutil|signal|importlib|urllib|requests|ctypes|builtins|syscall|pickle|marshal)\b"
)
_GUARDED: Final = re.compile(r"raises|throw|\btry\b|except|catch|rescue|recover|suppress|skip|xfail|panic|fails|assume")
_ASSIGNED: Final = re.compile(r"(?<![=!<>])=(?![=>~])|\+\+|--")
_ASSERTION: Final = {
    "py": re.compile(r"assert [^(\s,].*[\w)\]}\"']|self\.assert\w+\(.*\)"),
    "go": re.compile(r"(?:assert|require)\.[A-Z]\w*\(t, .*\)"),
    "rs": re.compile(r"assert(?:_eq|_ne)?!\(.*\);"),
    "rb": re.compile(r"expect\(.*\)|assert_\w+ .+"),
    "java": re.compile(r"(?:Assertions\.|Assert\.)?assert\w+\(.*\);"),
    "kt": re.compile(r"assert\w+\(.*\)"),
    "cs": re.compile(r"Assert\.\w+\(.*\);"),
    "php": re.compile(r"(?:\$this->|self::|static::)assert\w+\(.*\);"),
} | dict.fromkeys(_JS, re.compile(r"(?:await )?expect\(.*\);?"))
_TEST_START: Final = (
    dict.fromkeys(("java", "kt", "cs", "rs"), re.compile(r"@Test|\[(?:Fact|Test)\]|#\[(?:tokio::)?test\]"))
    | {
        "py": re.compile(r"(?:async )?def test_\w+\([\w, ]*\)(?: -> None)?:"),
        "go": re.compile(r"func Test[A-Z_]\w*\(t \*testing\.T\) \{"),
    }
    | dict.fromkeys(_JS, re.compile(r"(?:it|test)\((?:\"[^\"]*\"|'[^']*'), (?:async )?(?:\(\) =>|function ?\(\)) \{"))
)
_DEFINED: Final = re.compile(r"\s*(?:async )?def (test_\w+)")
_ASSERTS: Final = re.compile(r"[Aa]ssert|expect\(|raises\(|require\.|\bt\.(?:Error|Fatal)")


def _tests(file: FileDiff, hunks: Sequence[Hunk]) -> str | None:
    path = _path(file.new_path or "")
    if file.old_path not in (None, file.new_path) or not _is_test_path(path):
        return None
    runs = [run for hunk in hunks for run in _runs(hunk) if _stripped(run.removed) or _stripped(run.added)]
    added = [text for run in runs for text in _stripped(run.added)]
    if not added or any(_stripped(run.removed) for run in runs):
        return None
    if any(_WEAK.search(text.lower()) or _holds_secret(text) for text in added):
        return None
    start = _TEST_START.get(path.suffix)
    if file.old_path is None:
        whole = start and any(map(start.fullmatch, added)) and any(map(_ASSERTS.search, added))
        return "A new test file can only add to what the tests refuse." if whole else None
    shown = [line.text.strip(" \t\r") for hunk in hunks for line in hunk.lines]
    if any(_has(text, '"""', "'''", "`") or text.endswith("\\") for text in shown):
        return None
    # in Python and Ruby a second test of one name takes the place of the first
    if path.suffix in ("py", "rb"):
        names = [match[1] for hunk in file.hunks for line in hunk.lines if (match := _DEFINED.match(line.text))]
        if len(names) > len(set(names)):
            return None
    if start and all(_is_whole_test(run, start, path.suffix) for run in runs):
        return "Only whole new tests are added; no line of a test goes."
    if any(map(_GUARDED.search, shown)) or not all(_is_more_asserted(run, path.suffix) for run in runs):
        return None
    return "Only assertions are added; no line of a test goes."


def _is_test_path(path: _Path) -> bool:
    folders = set(path.folders)
    if folders & (_READ_DIRS | _NOT_TEST_DIRS) or _NOT_TEST.search(path.name.lower()):
        return False
    in_tests = bool(folders & _TEST_DIRS) if path.suffix != "rs" else path.folders[-1:] == ("tests",)
    return any(pattern.fullmatch(path.name) and (in_tests or not needs) for pattern, needs in _TEST_NAMES)


def _is_more_asserted(run: _Run, suffix: str) -> bool:
    form = _ASSERTION.get(suffix)
    if form is None or run.before is None:
        return False
    # what stands above must be finished: an added line may not come under its `if`, into its call, after its decorator
    above = run.before.strip(" \t\r")
    ends = above.endswith((";", "{", "}")) or form.fullmatch(above) is not None
    if suffix in ("py", "rb", "go"):
        ends = not above.endswith(tuple("\\(,[=+|&" if suffix == "go" else "\\(,[=+|&{"))
    if not ends or above.startswith(("@", "#[")) or re.match(r"return\b|raise\b|break\b|continue\b", above):
        return False
    added = [text for text in run.added if text.strip(" \t\r")]
    if suffix == "py" and {_indent(text) for text in added} != {_indent(run.before)} and not above.endswith(":"):
        return False
    return all(
        form.fullmatch(text) and text.count("(") == text.count(")") and not _ASSIGNED.search(text)
        for text in _stripped(added)
    )


def _is_whole_test(run: _Run, start: re.Pattern[str], suffix: str) -> bool:
    lines = [text.rstrip(" \t\r") for text in run.added if text.strip(" \t\r")]
    if run.before is None or not any(map(_ASSERTS.search, lines)):
        return False
    if suffix != "py":
        # what stands above must be finished, so that no attribute of an old test passes to the new one
        return run.before.rstrip(" \t\r").endswith((";", "}", "{")) and _is_balanced(lines, start)
    top = _indent(lines[0])
    if _indent(run.before) <= top and not run.before.lstrip(" ").startswith("class "):
        return False
    # what stands below must not become the new test's
    if run.after is not None and _indent(run.after) > top:
        return False
    starts = [bool(start.fullmatch(text.strip(" \t"))) and _indent(text) == top for text in lines]
    has_bodies = not any(upper and lower for upper, lower in pairwise([*starts, True]))
    return starts[0] and has_bodies and all(at or _indent(text) > top for at, text in zip(starts, lines, strict=True))


def _is_balanced(lines: list[str], start: re.Pattern[str]) -> bool:
    """Whether the lines are whole blocks, each opened by a test's first line or by the attribute above it."""
    depth, declared = 0, False
    for text in (line.strip(" \t") for line in lines):
        starts = start.fullmatch(text) is not None
        # the first line of a test, or attributes alone above one: no field, no hook
        if depth == 0 and not starts and (not declared or text.startswith(("@", "[", "#[")) or text.endswith(";")):
            return False
        declared = declared or starts
        depth += sum(map(text.count, "{([")) - sum(map(text.count, "})]"))
        if depth < 0:
            return False
        # a declaration may take several lines; the end of its block ends it
        declared = depth > 0 or "}" not in text
    return depth == 0 and not declared


# fixtures

_DATA: Final = _names("json yaml yml csv tsv txt xml html ndjson jsonl")
_FIXTURE_DIRS: Final = _names("fixtures fixture cassettes")
# what stands here is as often what a test expects, unless its name tells
_MIXED_DIRS: Final = _names("testdata test-data test_data data")
_INPUT: Final = re.compile(r"input|request|sample|payload|users|words")
_NOT_FIXTURE: Final = re.compile(
    r"snap|golden|expect|baseline|approv|out(?:put)?\b|result|want|seed|migrat|schema|config|settings|package|lock"
    r"|require|options|respon|repl(?:y|ies)|render|actual|truth|answer"
    r"|compose|pom\.|build|manifest|workflow|rules|prompt|polic|openapi|swagger|graphql"
)
_NOT_FIXTURE_DIRS: Final = _names("main db database prod production public static deploy config seeds dist sql")
_JUDGED: Final = re.compile(
    r"expect|golden|\bwant|assert|result|outcome|skip|xfail|ignore|disable|valid|allow|deny|error|fail|status"
)
_KEYED: Final = re.compile(r"(?:- )?(\"[^\"\\]*\"|[\w.-]+)\s*:\s*(.*)")


def _fixtures(file: FileDiff, hunks: Sequence[Hunk]) -> str | None:
    path = _path(file.new_path or "")
    if file.old_path not in (None, file.new_path) or not _is_fixture_path(path):
        return None
    lines = [line for hunk in hunks for line in hunk.lines]
    # a tag in YAML may make any object of a program
    if path.suffix in ("yaml", "yml") and any("!" in line.text for line in lines):
        return None
    if any(_JUDGED.search(line.text.lower()) or (line.sign in "+-" and _holds_secret(line.text)) for line in lines):
        return None
    for run in (run for hunk in hunks for run in _runs(hunk)):
        # a sample that goes, or whose kind of value changes, is a case that is no longer tried
        gone, come = (Counter(_sample(text, path.suffix) for text in _stripped(side)) for side in run[:2])
        if gone - come:
            return None
    return f"{path.name} is sample data in a directory that only tests read; no sample goes."


def _is_fixture_path(path: _Path) -> bool:
    folders = path.folders
    if path.suffix not in _DATA or path.name.startswith(".") or set(folders) & _NOT_FIXTURE_DIRS:
        return False
    first = next((at for at, name in enumerate(folders) if name in _TEST_DIRS | {"testdata", "__fixtures__"}), None)
    if first is None or any(map(_NOT_FIXTURE.search, (*folders[first:], path.name.lower()))):
        return False
    below = set(folders[first + 1 :])
    if folders[first] == "__fixtures__" or below & (_FIXTURE_DIRS | {"__fixtures__"}):
        return True
    return bool(_MIXED_DIRS & {folders[first], *below}) and _INPUT.search(path.name.lower()) is not None


def _sample(body: str, suffix: str) -> str:
    """What a line of data is but for the words and numbers in it: its keys and the kinds of its values."""
    if suffix in ("csv", "tsv") and '"' not in body:
        return "|".join(_kind(cell) for cell in body.split("," if suffix == "csv" else "\t"))
    keyed = _KEYED.fullmatch(body) if suffix in ("json", "yaml", "yml") else None
    if keyed is None:
        return body.rstrip(",")
    return keyed[1].strip('"') + ": " + _kind(keyed[2].rstrip(", "))


def _kind(value: str) -> str:
    """The kind of a value, so that no empty, negative, long or odd one goes: those are what a test is for."""
    if not value or value[0] in "{[&*!|>" or value.lower() in ("true", "false", "null", "~", "yes", "no", "on", "off"):
        return value
    if re.fullmatch(r"-?[0-9]+(?:\.[0-9]+)?", value):
        size = "zero" if float(value) == 0 else f"{len(value) // 6}"
        return f"number {value[:1] == '-'} {'.' in value} {size}"
    odd = "".join(sorted(set(re.sub(r"[A-Za-z0-9 ]", "", value))))
    empty = value in ('""', "''")
    return f"text {len(value) // 64} {empty} {odd}"


# generated

_GENERATED_NAME: Final = re.compile(
    r".+\.pb\.go|.+_pb2(?:_grpc)?\.pyi?|.+\.(?:g|freezed)\.dart|.+\.generated\.\w+|zz_generated.+"
)
_GENERATED_MARK: Final = re.compile(
    r"\s*(?://|#|/?\*{1,2}|--|<!--) ?(?:.{0,80}@generated\b|Code generated .{0,200}DO NOT EDIT"
    r"|This file (?:is|was) auto(?:matically |-)generated)"
)
_BY_HAND: Final = re.compile(r"hack|todo|fixme|manual|by hand|patched|workaround|hotfix|temporar")
# what only a tool writes: stamps of its version (a digest may hide that the file is stale), serialised descriptors
_STAMP: Final = re.compile(r"(?://|#|\*)\s+(?:- )?(?:protoc[\w-]*\s+\(?v?[0-9.]+\)?|Protobuf Python Version: [0-9.]+)")
_SERIAL: Final = {
    "pb.go": re.compile(
        r"(?:0x[0-9a-f]{2}, ?)*0x[0-9a-f]{2},?|\"(?=[^\\]{0,80}\\)(?:\\[xnrt\"\\]|[\w .*/;:!-])*\" ?\+?"
    ),
    "_pb2.py": re.compile(
        r"DESCRIPTOR = _descriptor_pool\.Default\(\)\.AddSerializedFile\(b'(?:[^'\\]|\\.)*'\)"
        r"|_globals\['\w+'\]\._serialized_(?:start|end)=[0-9]+|_\w+\._serialized_(?:start|end)=[0-9]+"
    ),
}
# declarations that do nothing by themselves; they may come, never go or change
_MEMBER: Final = {
    "pb.go": re.compile(r"[A-Z]\w*\s+[\w.*\[\]]+\s+`protobuf:\"[\w,=.]+\" json:\"[\w,]+\"`"),
    "_pb2.pyi": re.compile(r"[A-Z0-9_]+_FIELD_NUMBER: _?ClassVar\[int\]|\w+: [\w.\[\], ]+"),
}
_GETTERS: Final = re.compile(
    r"(?: ?func \(x \*\w+\) Get(\w+)\(\) [\w.*\[\]]+ \{ if x != nil \{ return x\.\1 \} return [\w\"]+ \})+"
)


def _generated(file: FileDiff, hunks: Sequence[Hunk]) -> str | None:
    path = _path(file.new_path or "")
    if file.old_path != file.new_path:
        return None
    if is_lockfile(path.name):
        bump = is_bump(path.name, map(_pieces, hunks))
        return "Versions rise within their major, from the same sources." if bump else None
    lines = [line for hunk in hunks for line in hunk.lines]
    named = _GENERATED_NAME.fullmatch(path.name) or "__generated__" in path.folders
    if not named and not any(line.sign == " " and _GENERATED_MARK.match(line.text) for line in lines):
        return None
    if any(_BY_HAND.search(line.text.lower()) for line in lines):
        return None
    # the mark says who wrote the file, not who wrote the change: each line must have the form that the tool gives it
    for run in (run for hunk in hunks for run in _runs(hunk)):
        if path.name.endswith(".pb.go") and not run.removed and _GETTERS.fullmatch(" ".join(_stripped(run.added))):
            continue
        gone, come = ({_tool_made(text, path.name) for text in _stripped(side)} for side in run[:2])
        if not come or None in come or gone - come:
            return None
    return "A generated file, and each changed line has the form that only its tool writes."


def _tool_made(body: str, name: str) -> str | None:
    """What a line is that only a generator writes: a stamp, serialised bytes, a declaration. None for any other."""
    if _STAMP.fullmatch(body):
        return "stamp " + re.sub(r"[0-9a-f.]+", "", body)
    for end, form in _SERIAL.items():
        if name.endswith(end) and form.fullmatch(body):
            return "serial"
    declares = any(name.endswith(end) and form.fullmatch(body) for end, form in _MEMBER.items())
    return " ".join(body.split()) if declares else None


# formatting

_MEANT: Final = re.compile(r"[\"'`\\/#@$]")
# a macro may make a text of its arguments
_MACRO: Final = re.compile(r"\b(?:[A-Z][A-Z0-9_]*|assert|static_assert) ?\(|\w ?! ?[(\[{]")
# a number with its point and exponent, a word, signs that touch: `1 .a` is not `1.a`, `a+ ++b` is not `a++ +b`
_TOKEN: Final = re.compile(r"\w[\w.]*(?:(?<=[0-9.][eEpP])[+-])?|[^\w \t]+")
_NOT_LAYOUT: Final = re.compile(r"golden|expect|snap|approved|baseline|\.min\.")
_NOT_LAYOUT_DIRS: Final = _names("dist build vendor third_party node_modules")
_HEREDOC_END: Final = re.compile(r"[A-Z][A-Z_]{2,};?")
_STATEMENT: Final = re.compile(r"[)\]}].*|.*[;{(\[]")


def _formatting(file: FileDiff, hunks: Sequence[Hunk]) -> str | None:
    path = _path(file.new_path or "")
    if file.old_path != file.new_path or path.suffix not in _LAYOUT or set(path.folders) & _READ_DIRS:
        return None
    if _NOT_LAYOUT.search(path.name.lower()) or set(path.folders) & _NOT_LAYOUT_DIRS:
        return None
    if path.name.endswith((".blade.php", "_test.go")) or not all(_is_layout(hunk, path.suffix) for hunk in hunks):
        return None
    return "Only white space differs, where it has no meaning; every token is the same."


def _is_layout(hunk: Hunk, suffix: str) -> bool:
    shown = _stripped(line.text for line in hunk.lines if line.sign != "\\")
    if _may_be_text([*shown, _heading(hunk)], suffix) or any(_is_placed(text, suffix) for text in shown):
        return False
    for run in _runs(hunk):
        old, new = _stripped(run.removed), _stripped(run.added)
        if len(old) != len(new) or not all(_same_tokens(*pair, suffix) for pair in zip(old, new, strict=True)):
            return False
        # a blank line, or one that moved, may stand in a string whose quotes are not shown; one that parts comments may
        # say what they belong to
        seen = new or [(text or "//").strip(" \t\r").removeprefix("//") for text in (run.before, run.after)]
        if suffix not in _NO_LONG_STRINGS and not all(_looks_like_code(text, suffix) for text in seen):
            return False
        # another language in a template literal, or the end of a heredoc
        if (suffix in _JS and not all(map(_STATEMENT.fullmatch, new))) or any(re.fullmatch(r"\w+;?", x) for x in new):
            return False
    return True


def _is_placed(text: str, suffix: str) -> bool:
    """Whether a line means something by the lines it stands between: a preprocessor's, a comment that tools read."""
    if text.startswith("#"):
        return suffix in _C | {"cs", "php"}
    if not text.startswith(("//", "/*")):
        return False
    body = _after_leader(text[2:].removesuffix("*/"))
    return not _is_rule(body) and (not body[0].isalnum() or bool(_WATCHED.search(body.lower())))


def _same_tokens(old: str, new: str, suffix: str) -> bool:
    if old == new or suffix not in _INNER_LAYOUT or _MEANT.search(old) or _MEANT.search(new):
        return old == new
    return not _MACRO.search(new) and _TOKEN.findall(old) == _TOKEN.findall(new)


# what lines show

_CODE: Final = {
    "py": re.compile(
        r"@\w|(?:async )?def \w+\(|class \w+[(:]|import \w[\w.]*(?: as \w+)?$|from [\w.]+ import \w"
        r"|return(?:$| [\w.]+[(\[])|(?:else|try|finally):$|(?:if|elif|while|for|with|except)\b.*:$"
        r"|(?:pass|break|continue)$|raise \w+\(|[\w.\[\]'\"]+(?:: ?[\w\[\], .|]+)? ?[-+*/|&]?= ?\S|[\w.]+\(.*\)$"
    ),
    "rb": re.compile(
        r"(?:end|else|begin)$|(?:def|class|module) \w|require(?:_relative)? ['\"]|@?[\w.]+ (?:\|\|)?= \S"
        r"|.*\bdo(?: \|[\w, ]+\|)?$"
    ),
    "sh": re.compile(
        r"(?:fi|done|esac|else|then|do|;;|\})$|set -\w|(?:export )?\w+=\S*$|(?:if|while) \[|\w+\(\) \{$"
        r"|(?:if|for|while|case) .*(?:then|do|in)$"
    ),
    "yaml": re.compile(r"(?:- )?[\w./'\"-]+:(?: .*)?$|- \S"),
}
_BRACE_CODE: Final = re.compile(
    r"[)\]}]+[;,]*$|(?:return|import|package|using|use|fn|func|const|let|var|val|fun|pub|public|private|protected|static)"
    r" [\w{*(.\[]|[\w.\[\]*]+(?: [\w<>\[\]]+)? :?[-+*/|&]?= \S|// "
)


def _looks_like_code(text: str, suffix: str) -> bool:
    """Whether a line is surely of its language, and not text that stands in a string."""
    family = {"pyi": "py", "bash": "sh", "yml": "yaml"}.get(suffix, suffix)
    if family in _CODE:
        return _CODE[family].match(text) is not None
    if re.match(r"[\w\"'-]+: ", text) or _TALK.match(text):
        return False
    is_call = text.endswith(")") and re.search(r"\w\(", text) is not None
    return is_call or text.endswith((";", "{", "(")) or _BRACE_CODE.match(text) is not None


def _may_be_text(texts: Iterable[str], suffix: str) -> bool:
    """Whether these lines show a string, a heredoc or markup that may reach over a line's end."""
    strict = suffix in _C | {"go", "java", "kt", "kts", "cs", "rs", "swift", "scala"}
    heredocs, markup = suffix in ("rb", "sh", "bash", "php"), suffix in _JS | {"php"}
    return any(
        _has(text, '"""', "'''", "`", '"C"', "{{", "{%", "<<<", "\\$")
        or _HEREDOC_END.fullmatch(text)
        or text.endswith("\\")
        or text.count('"') % 2
        or _RAW_STRING.search(text)
        or (strict and _is_foreign(text, suffix))
        or (heredocs and ("<<" in text or text in ("__END__", "=begin", "=end")))
        or (suffix in ("sh", "bash", "php") and text.count("'") % 2)
        or text.startswith((">>>", "... "))
        or (markup and (_MARKUP.search(text) or "${" in text or "?>" in text or "<?" in text))
        for text in texts
    )


def _heading(hunk: Hunk) -> str:
    """What git shows of the lines above a hunk: where a long string was opened there, it may be its beginning."""
    return hunk.header.rpartition("@@")[2].strip(" \t\r")


def _is_foreign(text: str, suffix: str) -> bool:
    bare = _STRINGS.sub("", text.partition("// ")[0])
    quoted = "'" in bare and suffix != "rs"  # a lifetime
    return quoted or _NOT_OURS.search(bare) is not None or (suffix == "go" and _has(bare, "@", "#", "?", "\\"))


def _runs(hunk: Hunk) -> Iterator[_Run]:
    """The changed lines that touch each other, with the shown lines that are not blank before and after them."""
    before: str | None = None
    waiting: list[_Run] = []
    for removed, added, context in _pieces(hunk):
        if removed or added:
            waiting.append(_Run(tuple(removed), tuple(added), before, None))
        if context is not None and context.strip(" \t\r"):
            yield from (run._replace(after=context) for run in waiting)
            waiting, before = [], context
    yield from waiting


def _pieces(hunk: Hunk) -> Iterator[tuple[list[str], list[str], str | None]]:
    """The removed and the added lines (maybe none) before each context line of the hunk, and before its end."""
    removed: list[str] = []
    added: list[str] = []
    for line in hunk.lines:
        if line.sign == " ":
            yield removed, added, line.text
            removed, added = [], []
        elif line.sign in "+-":
            (added if line.sign == "+" else removed).append(line.text)
    yield removed, added, None


def _path(path: str) -> _Path:
    *folders, name = path.split("/")
    stem, dot, suffix = name.rpartition(".")
    return _Path(tuple(map(str.lower, folders)), name, stem if dot else name, suffix.lower() if dot else "")


def _stripped(texts: Iterable[str]) -> list[str]:
    return [body for text in texts if (body := text.strip(" \t\r"))]


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip(" \t"))


def _has(text: str, *parts: str) -> bool:
    return any(part in text for part in parts)


def _holds_secret(text: str) -> bool:
    """Whether a line may hold a key: a word for one, or a long run of letters mixed with digits."""
    long_words = _LONG_WORD.findall(text)
    return bool(_SECRET.search(text.lower())) or not all(word.isalpha() or word.isdigit() for word in long_words)


_RULES: Final[tuple[tuple[DropClass, Rule], ...]] = (
    ("docs", _docs),
    ("tests", _tests),
    ("fixtures", _fixtures),
    ("generated", _generated),
    ("formatting", _formatting),
)
