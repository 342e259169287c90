"""What must hold whatever a case brings, looked for in all that a run left, by the rules of runner and GitHub."""

import io
import json
import re
import unicodedata
import zipfile
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any, Final

import cmarkgfm  # type: ignore[import-untyped]
from cmarkgfm.cmark import Options  # type: ignore[import-untyped]

from tests.action.job import KEY, Ended, Project, commands_in
from tests.adversary.case import Case
from tests.command import GATE
from tests.rendering import LIVE, page
from tests.servers.model import ModelServer

CPU_SECONDS: Final = 15.0
PEAK_BYTES: Final = 300_000_000
LIMIT: Final = 65_536  # characters of a comment that GitHub takes
LINE_LIMIT: Final = 4_096  # characters of an annotation that a runner shows
BREAK: Final = "\u200b"
OUTPUTS: Final = frozenset(
    {"status", "kept", "dropped", "downgraded", "unverified", "input-tokens", "output-tokens", "prompt-hash"}
    | {"comment-url", "brief", "record"}
)
STATUSES: Final = ("verified", "skipped", "failed", "off", "stale", "no-brief")
ELEMENTS: Final = frozenset(
    {"h1", "h2", "h3", "p", "ul", "li", "strong", "code", "details", "summary", "blockquote", "hr", "comment"}
)
SUFFIX: Final = re.compile(
    r"(?:^| )\[(verified|verified · new|verified · pre-existing|unverified|downgraded by verifier: [^\[\]]+"
    r"|downgraded: dismissed earlier as (wrong|intentional|ignored))\]$"
)
MARKER: Final = "<!-- verifier: review brief -->"
CLASSES: Final = ("docs", "tests", "fixtures", "generated", "formatting")


def faults(case: Case, subject: Project, model: ModelServer, ended: Ended) -> Iterator[str]:
    """What did not hold, a sentence each."""
    comments = subject.comment_bodies()
    for name, expected, found in (
        ("exit code", case.code, ended.code),
        ("status", case.status, ended.outputs.get("status")),
        ("comments", case.comments, len(comments)),
        ("calls of the model", case.calls, len(model.requests)),
    ):
        if found != expected:
            yield f"{name}: expected {expected}, found {found} ({ended.unmasked!r})"
    yield from _log(case, ended)
    yield from _outputs(subject, ended)
    yield from _secrets(case, subject, model, ended)
    ours = [comment for comment in comments if comment.startswith(MARKER)]
    for comment in ours:
        yield from _comment(comment)
    for text in case.shown:
        if not any(text in above_the_fold(comment) for comment in ours):
            yield f"not shown above the fold: {text}"
    yield from _markdown("summary", ended.summary)
    yield from _documents(subject, ended, ours)
    if ended.cpu_seconds > CPU_SECONDS:
        yield f"{ended.cpu_seconds:.1f} s of CPU"
    if ended.peak_bytes > PEAK_BYTES:
        yield f"{ended.peak_bytes:,} bytes of memory"


def _log(case: Case, ended: Ended) -> Iterator[str]:
    lines = ended.unmasked.split("\n")
    commands = list(commands_in(ended.unmasked))
    if len(commands) != 1 or commands[0][0] not in ("notice", "warning", "error"):
        yield f"not one annotation: {commands}"
        return
    if (commands[0][0] == "error") != (case.code != 0):
        yield f"exit code {case.code} with an annotation {commands[0][0]}"
    if len(commands[0][1]) > LINE_LIMIT:
        yield "an annotation longer than a runner shows"
    for line in lines:
        if line and not line.startswith(("verifier: ", "::")):
            yield f"a line that is not ours: {line!r}"
        yield from _odd("log", line.replace(f":{BREAK}:", "").replace(f"##{BREAK}[", ""), ())
    said = commands[0][1].replace("%25", "%").replace(BREAK, "")
    yield from (f"the annotation does not say {words!r}: {said!r}" for words in case.said if words not in said)


def _outputs(subject: Project, ended: Ended) -> Iterator[str]:
    if unknown := set(ended.outputs) - OUTPUTS:
        yield f"unknown outputs: {unknown}"
    for name, value in ended.outputs.items():
        match name:
            case "status":
                fine = value in STATUSES
            case "comment-url":
                fine = value == "" or value.startswith(f"{subject.github.page_url}/")
            case "brief" | "record":
                fine = value == f"verifier-out/{name}.json"
            case "prompt-hash":
                fine = re.fullmatch("([0-9a-f]{12})?", value) is not None
            case _:
                fine = re.fullmatch("[0-9]*", value) is not None
        if not fine:
            yield f"output {name} is {value!r}"


def _secrets(case: Case, subject: Project, model: ModelServer, ended: Ended) -> Iterator[str]:
    files = [path.read_text(errors="replace") for path in (subject.workspace / "verifier-out").glob("*.json")]
    told = "\n".join([ended.unmasked, str(ended.outputs), ended.summary, *subject.comment_bodies()])
    given = {"key": case.inputs.get("llm-api-key", KEY), "token": subject.github.token, "signed address": "sig="}
    for name, secret in given.items():
        if secret and secret in "\n".join([told, *files]):
            yield f"the {name} is given away"
    yield from (f"told: {text!r}" for text in case.never if text in told)
    github = [f"{one.path} {one.headers} {one.raw!r}" for one in subject.github.requests]
    if any(KEY in request for request in github):
        yield "the key went to GitHub"
    blobs = [one for one in subject.github.requests if one.host == "blob"]
    if any(subject.github.token in f"{one.path} {one.headers} {one.raw!r}" for one in blobs):
        yield "the token went to the artifact's store"
    if any(subject.github.token in f"{one.headers} {one.raw!r}" for one in model.requests):
        yield "the token went to the model"


def above_the_fold(comment: str) -> str:
    """What a reader of the comment sees without a click, as text."""
    html = _html(comment.partition("<details>")[0])
    return re.sub(r"\s+", " ", _Text(html).text.replace(BREAK, ""))


def _comment(comment: str) -> Iterator[str]:
    if len(comment) > LIMIT:
        yield f"a comment of {len(comment):,} characters"
    if comment.count(MARKER) != 1:
        yield "the marker stands more than once"
    if comment.count("<details>") > 1 or comment.count("<details>") != comment.count("</details>"):
        yield "a broken fold"
    yield from _markdown("comment", comment)


def _markdown(name: str, source: str) -> Iterator[str]:
    """Rendered by GitHub's parser: only our own elements, closed in order, and nothing that GitHub makes live."""
    rendered = page(source)
    if strange := {element for element in rendered.elements if element not in ELEMENTS}:
        yield f"{name}: {strange}"
    if rendered.elements.count("comment") > (name == "comment"):
        yield f"{name}: a comment of HTML"
    if live := LIVE.search(rendered.text):
        at = live.start()
        yield f"{name}: live text {rendered.text[max(at - 20, 0) : at + 40]!r}"
    if rendered.elements.count("blockquote") > (name == "comment"):
        yield f"{name}: a quotation, or an alert, that is not ours"
    yield from _nesting(name, _html(source))
    yield from _odd(name, source, ("\n",))


def _odd(name: str, text: str, allowed: tuple[str, ...]) -> Iterator[str]:
    """No control, no character that reorders or hides, and no half of a pair; the neutraliser's own break apart."""
    for sign in text:
        if sign not in (*allowed, BREAK) and unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
            yield f"{name}: U+{ord(sign):04X}"
            return


def _html(source: str) -> str:
    options = Options.CMARK_OPT_FOOTNOTES | Options.CMARK_OPT_UNSAFE
    html: str = cmarkgfm.github_flavored_markdown_to_html(source, options)
    return html


class _Text(HTMLParser):
    """The text of a page, code included."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text = ""
        self.feed(html)
        self.close()

    def handle_data(self, data: str) -> None:
        self.text += data


class _Tags(HTMLParser):
    """The tags of a page that were not closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if tag != "hr":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def _nesting(name: str, html: str) -> Iterator[str]:
    tags = _Tags(html)
    if wrong := tags.wrong + tags.open:
        yield f"{name}: tags out of order: {wrong}"


def _documents(subject: Project, ended: Ended, comments: list[str]) -> Iterator[str]:
    """The brief that was written, held against the one that came."""
    if "brief" not in ended.outputs:
        return
    written = (subject.workspace / ended.outputs["brief"]).read_text()
    came = _came(subject)
    if came is None:
        yield "a brief was written, and none could be read"
        return
    yield from (f"{field}: {text} is gone" for field, text in GATE.items() if text in came and text not in written)
    before, after = _numbers_kept(came), _numbers_kept(written)
    for field in ("score", "tier", "policy", "risky_snippets", "repository", "pullRequest", "base", "head", "version"):
        if before.get(field) != after.get(field) or (field in before) != (field in after):
            yield f"{field} was {before.get(field)!r}, and is {after.get(field)!r}"
    if before["captain"].get("priority") != after["captain"].get("priority"):
        yield "the priority changed"
    if "record" in ended.outputs:
        record = (subject.workspace / ended.outputs["record"]).read_text()
        _numbers_kept(record)
    if "verification" in after:
        yield from _verdicts(before, after, comments)
    elif written != came:
        yield "the pass was off, and the brief was changed"


def _verdicts(before: Any, after: Any, comments: list[str]) -> Iterator[str]:
    verdicts = after["verification"]["verdicts"]
    kept = [*_texts(after)]
    dropped = [entry for entry in verdicts if entry["action"] == "drop"]
    if len(verdicts) != len([*_texts(before)]):
        yield f"{len(verdicts)} verdicts for {len([*_texts(before)])} items"
    if len(verdicts) != len({entry["id"] for entry in verdicts}):
        yield "an id stands twice"
    if len(kept) != len(verdicts) - len(dropped):
        yield f"{len(kept)} items are left of {len(verdicts)}, {len(dropped)} dropped"
    yield from (f"no suffix: {text[-80:]!r}" for text in kept if not SUFFIX.search(text))
    yield from (f"two suffixes: {text[-120:]!r}" for text in kept if SUFFIX.search(SUFFIX.sub("", text)))
    for entry in dropped:
        if entry["class"] not in CLASSES or not entry["citation"]:
            yield f"dropped without class or citation: {entry['id']}"
        seen = "".join(sign for sign in entry["id"] if unicodedata.category(sign) != "Cf")
        name = re.sub(r"\s+", " ", seen)[:100]
        if len(dropped) < 50 and comments and not any(name in above_the_fold(comment) for comment in comments):
            yield f"dropped and not named above the fold: {entry['id']}"


def _texts(brief: Any) -> Iterator[str]:
    yield from (fact["text"] for fact in brief["captain"]["facts"])
    yield from (hunk.get("reason") or "" for file in brief["reviewFirst"] for hunk in file["hunks"])
    yield from (check["text"] for check in brief["checks"])


def _came(subject: Project) -> str | None:
    """The text of the brief inside the newest artifact of the subject's run, as anybody's unzip shows it."""
    made = [artifact for artifact in subject.github.artifacts.values() if artifact.run_id == subject.made_by.id]
    data = max(made, key=lambda artifact: artifact.id).data
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            data = archive.read("brief.json")
    except (zipfile.BadZipFile, KeyError):
        pass
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def _numbers_kept(source: str) -> Any:
    """A document's value with its numbers as they are written."""

    def number(text: str) -> tuple[str, str]:
        return ("number", text)

    return json.loads(source, parse_int=number, parse_float=number, parse_constant=number)
