"""Docs: a docs path with prose, or nothing but comments (S14)."""

import re
from collections.abc import Sequence
from typing import Final

from verifier.diff import FileDiff, Hunk
from verifier.verification.classes.lines import (
    JS,
    READ_DIRS,
    TALK,
    WATCHED,
    C,
    PathParts,
    has_any,
    heading_of,
    holds_secret,
    looks_like_code,
    may_be_text,
    names,
    parts_of,
)

_SLASH: Final = JS | C | names("go java kt kts cs rs swift scala php scss css")
_HASH: Final = names("py pyi rb sh bash yml yaml")
_CODE_DIRS: Final = names(
    """src lib app apps resources public static assets www web content test tests spec locale locales i18n lang schema
    schemas scripts bin vendor third_party node_modules dist build archetypes layouts specs features examples help
    emails mails messages res raw embed"""
)
_DOC_SUFFIXES: Final = names("md markdown rst adoc")
_DOC_NAME: Final = re.compile(
    r"(?:readme|changelog|changes|history|contributing|contributors|authors|credits|thanks|code_of_conduct|security"
    r"|support|governance|roadmap|faq|news|upgrading|release[_-]?notes)(?:[._-][a-z]{2}(?:[_-][a-z]{2})?)?"
)
_NOT_DOC_NAME: Final = re.compile(
    r"agent|claude|gemini|copilot|skill|prompt|instruction|cursor|memory|system|rule|licen[cs]e|copying|notice|patent"
    r"|eula|schema|templ|tmpl|requirements|constraints|robots|cmakelists|llms|summary|sidebar|navbar|\btoc|index|\bspec"
    r"|fixture|example|policy|terms|privacy|convention"
)
_DOC_WATCHED: Final = re.compile(
    r"licen[cs]|copyright|spdx|all rights|doctest|\bcurl\b|wget|sudo|download|install|\bnpm\b|\bpip\b|command|\brun\b"
    r"|\bexec|docker|kubectl|chmod|\.(?:tar|t?gz|zip|exe|msi|dmg|pkg|deb|rpm|sh|ps1|jar|whl)\b"
)
_TOOLS: Final = names(
    """npm npx yarn pnpm bun node pip pipx uv python python3 poetry cargo rustup cmake docker podman kubectl helm
    terraform aws gcloud az git gh curl wget sudo apt brew dnf yum apk cd cp mv rm mkdir chmod chown cat echo bash sh
    zsh ssh scp tar unzip java mvn gradle dotnet nuget ruby gem bundle rake php composer mix env systemctl
    service reboot shutdown kill killall crontab mount umount dd ln sed awk grep find xargs tee psql mysql sqlite3
    vagrant ansible nix pacman snap choco winget scoop iptables"""
)
_VERBS: Final = names("go make export source set select insert update delete drop create alter grant from run copy")
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


def shows_docs(file: FileDiff, hunks: Sequence[Hunk]) -> str | None:
    """A docs path and prose, or comments alone: why it is proven, None where it is not."""
    paths = [parts_of(path) for path in file.paths]
    suffix = paths[0].suffix
    if all(_is_doc_path(path) and path.suffix == suffix for path in paths):
        if not all(_is_doc_hunk(hunk, suffix) for hunk in hunks):
            return None
        return f"{paths[0].name} is prose for people, and so is each changed line."
    if file.old_path == file.new_path and all(_only_comments(paths[0], hunk) for hunk in hunks):
        return "Each changed line is a comment, and none that a tool reads."
    return None


def _is_doc_path(path: PathParts) -> bool:
    folders = set(path.folders)
    if path.name.startswith(".") or any(folder.startswith(".") for folder in folders) or folders & READ_DIRS:
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
    if any(_DOC_BLOCK.match(line.text) or has_any(line.text, "```", "~~~", "{{", "{%") for line in hunk.lines):
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
    if holds_secret(text) or words[0].strip(".,:") in _TOOLS | _VERBS or re.match(r"[A-Z]\w+-[A-Z]\w", words[0]):
        return False
    return bool(_ENGLISH.search(body.lower())) or (marked is not None and words[0].lower() not in _VERBS)


def _only_comments(path: PathParts, hunk: Hunk) -> bool:
    """Whether every changed line of the hunk is a comment that stands alone on its line, on both sides."""
    suffix = path.suffix
    # a comment in a Go test may be the output that an example must print
    if suffix not in _SLASH | _HASH or set(path.folders) & READ_DIRS or path.name.endswith((".blade.php", "_test.go")):
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
            if not (is_tag or is_rule(body)) and (WATCHED.search(body.lower()) or not body[0].isalnum()):
                return False
        elif tagged or not (is_rule(body) or _is_said(body)):
            return False
        else:
            said = True
    if (
        not said
        or inside["-"]
        or inside["+"]
        or may_be_text([*code, heading_of(hunk)], suffix)
        or any(map(TALK.match, code))
    ):
        return False
    return any(looks_like_code(text, suffix) for text in code)


def _comment(text: str, inside: bool, suffix: str) -> tuple[str | None, bool | None]:
    """What a comment line says (None for code), and whether a block comment is open after it (None: cannot tell)."""
    body = text.strip(" \t\r")
    if suffix in _HASH:
        # in YAML an indented line may stand in a block of text
        alone = body.startswith("#") and (text.startswith("#") or suffix not in ("yml", "yaml"))
        return (after_leader(body[1:]) if alone else None), False
    if not inside and body.startswith("//") and suffix != "css":
        return after_leader(body[2:]), False
    if not inside and not body.startswith("/*"):
        return None, None if has_any(body, "/*", "*/") else False
    body = body if inside else body[2:]
    closed = body.endswith("*/")
    body = body.removesuffix("*/")
    unclear = has_any(body, "/*", "*/")
    if inside:
        body = body.removeprefix("*").strip()
    else:
        # what Rust calls documentation is run, what Swift does is shown
        body = after_leader(body if suffix in ("rs", "swift") else body.removeprefix("*"))
    return body, None if unclear else not closed


def after_leader(rest: str) -> str:
    """The words of a comment, after a `!` where they are glued to the leader (`//go:`, `#!`, `///`)."""
    return rest.strip() if rest[:1] in ("", " ", "\t") or is_rule(rest) else "!" + rest


def is_rule(body: str) -> bool:
    return set(body) <= set("-=*~ ")


def _is_plain(body: str) -> bool:
    """Whether a text begins with a letter and holds nothing but words: no option, no key, no statement."""
    if not body[:1].isalpha() or body.endswith(";") or not _PLAIN.fullmatch(body):
        return False
    return not (_GLUED_COLON.search(body) or _OPTION.search(body) or has_any(body, "/*", "*/"))


def _is_said(body: str) -> bool:
    if len(body.split()) < 2 or not _is_plain(body) or _DIRECTIVE.match(body):
        return False
    return not WATCHED.search(body.lower()) and not holds_secret(body)
