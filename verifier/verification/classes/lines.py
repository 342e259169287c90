"""What paths and lines show, for the rules of all classes."""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from verifier.diff import Hunk


def names(text: str) -> frozenset[str]:
    """The words of a text, as a set to look names up in."""
    return frozenset(text.split())


JS: Final = names("js mjs cjs jsx ts mts cts tsx")
C: Final = names("c h cc cpp cxx hpp hh")
# directories whose text a program, a test or a model reads, whatever the suffix says
READ_DIRS: Final = names(
    """templates template _templates _includes includes partials snippets prompts prompt skills skill rules agents ai
    llm commands fixtures testdata test-data test_data __fixtures__ __snapshots__ snapshots golden goldens expected
    baseline baselines cassettes corpus seeds migrations data"""
)
_LONG_WORD: Final = re.compile(r"[A-Za-z0-9]{20,}")
_SECRET: Final = re.compile(
    r"passw|secret|private|credential|(?:api|access)[ _-]?key|authoriz|bearer|cookie|token|ssh-"
)
# words of comments that tools read, or the law does
WATCHED: Final = re.compile(
    r"noqa|lint|js[hc][is]|pep8|nosec|sonar|semgrep|codeql|lgtm|gitleaks|checkov|tfsec|trivy|pragma|disable|enable"
    r"|ignore|suppress|skip|istanbul|\b[cv]8\b|cover|lcov|gcov|prettier|format|fall(?:s|ing)?[ \t-]*thr|region|snippet"
    r"|\bglobals?\b|exported|generate|codegen|licen[cs]|copyright|spdx|\(c\)|rights reserved|coding|\bvim?\b|emacs|mypy"
    r"|pyright|pytype|pyre|ruff|flake|black|isort|yapf|typed|typecheck|flow\b|inspection|resharper|nullable|doctest"
    r"|renovate|zizmor|dependabot|webpack|vite|turbopack|language|rubocop|sorbet|steep|shellcheck|spotless|checkstyle"
    r"|phpstan|psalm|phpcs|kubebuilder|swagger|openapi|fmt|unreachable|notreached|argsused|cspell|expect-error|iwyu"
    r"|intentional|do not edit|managed|release-please|keep[- ]sorted|no (?:default|break)"
)
_RAW_STRING: Final = re.compile(r"\b(?:u8|[uLU])?R\"|\br#*\"|@\"|\$\"\"")
_MARKUP: Final = re.compile(r"</|/>|^<|(?:^|[^=])>$")
# what C, Go, Java and their like never hold outside of a string: a shell's lines, a variable's mark, a quoted word
_NOT_OURS: Final = re.compile(
    r"^(?:#(?:\s|!|$)|\|(?!\|)|(?:fi|done|esac|then|end|do)$|(?:local|echo|elif|def|export|set|printf) )|\$\w|\$[{(]"
)
_STRINGS: Final = re.compile(r"\"(?:[^\"\\]|\\.)*(?:\"|$)|'(?:[^'\\]|\\.[^']{0,8})'")
TALK: Final = re.compile(r"[\W\d]*[A-Za-z]+(?: [a-z]+,?){4}")


class PathParts(NamedTuple):
    folders: tuple[str, ...]
    name: str
    stem: str
    suffix: str


class Run(NamedTuple):
    """Changed lines that touch each other, and the nearest shown lines around them that are not blank."""

    removed: tuple[str, ...]
    added: tuple[str, ...]
    before: str | None
    after: str | None


_HEREDOC_END: Final = re.compile(r"[A-Z][A-Z_]{2,};?")
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


def looks_like_code(text: str, suffix: str) -> bool:
    """Whether a line is surely of its language, and not text that stands in a string."""
    family = {"pyi": "py", "bash": "sh", "yml": "yaml"}.get(suffix, suffix)
    if family in _CODE:
        return _CODE[family].match(text) is not None
    if re.match(r"[\w\"'-]+: ", text) or TALK.match(text):
        return False
    is_call = text.endswith(")") and re.search(r"\w\(", text) is not None
    return is_call or text.endswith((";", "{", "(")) or _BRACE_CODE.match(text) is not None


def may_be_text(texts: Iterable[str], suffix: str) -> bool:
    """Whether these lines show a string, a heredoc or markup that may reach over a line's end."""
    strict = suffix in C | {"go", "java", "kt", "kts", "cs", "rs", "swift", "scala"}
    heredocs, markup = suffix in ("rb", "sh", "bash", "php"), suffix in JS | {"php"}
    return any(
        has_any(text, '"""', "'''", "`", '"C"', "{{", "{%", "<<<", "\\$")
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


def heading_of(hunk: Hunk) -> str:
    """What git shows of the lines above a hunk: where a long string was opened there, it may be its beginning."""
    return hunk.header.rpartition("@@")[2].strip(" \t\r")


def _is_foreign(text: str, suffix: str) -> bool:
    bare = _STRINGS.sub("", text.partition("// ")[0])
    quoted = "'" in bare and suffix != "rs"  # a lifetime
    return quoted or _NOT_OURS.search(bare) is not None or (suffix == "go" and has_any(bare, "@", "#", "?", "\\"))


def runs_of(hunk: Hunk) -> Iterator[Run]:
    """The changed lines that touch each other, with the shown lines that are not blank before and after them."""
    before: str | None = None
    waiting: list[Run] = []
    for removed, added, context in pieces_of(hunk):
        if removed or added:
            waiting.append(Run(tuple(removed), tuple(added), before, None))
        if context is not None and context.strip(" \t\r"):
            yield from (run._replace(after=context) for run in waiting)
            waiting, before = [], context
    yield from waiting


def pieces_of(hunk: Hunk) -> Iterator[tuple[list[str], list[str], str | None]]:
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


def parts_of(path: str) -> PathParts:
    """A path taken apart; folders and suffix in lower case."""
    *folders, name = path.split("/")
    stem, dot, suffix = name.rpartition(".")
    return PathParts(tuple(map(str.lower, folders)), name, stem if dot else name, suffix.lower() if dot else "")


def stripped(texts: Iterable[str]) -> list[str]:
    """The lines that are not blank, without white space around them."""
    return [body for text in texts if (body := text.strip(" \t\r"))]


def indent(text: str) -> int:
    """How many blanks and tabs a line begins with."""
    return len(text) - len(text.lstrip(" \t"))


def has_any(text: str, *parts: str) -> bool:
    """Whether one of the parts stands in a text."""
    return any(part in text for part in parts)


def holds_secret(text: str) -> bool:
    """Whether a line may hold a key: a word for one, or a long run of letters mixed with digits."""
    long_words = _LONG_WORD.findall(text)
    return bool(_SECRET.search(text.lower())) or not all(word.isalpha() or word.isdigit() for word in long_words)
