"""What must hold for each parser of outside bytes: one function each, which takes bytes.

Each raises AssertionError where something does not hold; any other exception is one that the parser never declared.
The parser is an argument, so that a broken one can show that its function sees it.
"""

import io
import json
import re
import unicodedata
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from tests.rendering import LIVE, page
from verifier.action.artifact import BRIEF_LIMIT, BadArtifact, NoBriefFound, file_inside
from verifier.brief.document import Brief, NotABrief, read_brief
from verifier.brief.ids import item_ids
from verifier.brief.layout import as_it_came
from verifier.brief.markdown import brief_markdown
from verifier.brief.writer import write_brief
from verifier.comment import LIMIT, comment
from verifier.config import BadConfig, Configured, read_config
from verifier.diff import Diff, FileDiff, Hunk, Line, parse_diff, parse_hunks
from verifier.evidence.api import Repository
from verifier.evidence.compare import compare_texts
from verifier.evidence.github import blobs
from verifier.memory import BadMemory, read_memory
from verifier.text import code_span, inert, markdown, one_line, visible, without_our_marks
from verifier.verification.candidates import COUPLING, bare_candidates, find_candidates, wanted_base_texts
from verifier.verification.excerpts import covering_hunk
from verifier.verification.model import (
    DROP_CLASSES,
    EXCERPT_LIMIT,
    MISSING,
    UNREADABLE,
    BaseText,
    Candidate,
    Dismissal,
    Failed,
    Reply,
    Said,
    Settings,
    Verdict,
)
from verifier.verification.prompt import make_prompt
from verifier.verification.record import BadRecord, read_record, write_record
from verifier.verification.reply import ReplyError, parse_reply
from verifier.verification.verify import Case, Verified, conclude

ROOT: Final = Path(__file__).resolve().parents[1]
BREAK: Final = "\u200b"
GATE: Final = ("score", "tier", "policy", "risky_snippets")
WRITTEN: Final = ("captain", "reviewFirst", "checks", "notes", "verification")
# What our own Markdown is made of; anything else came alive out of a text.
ELEMENTS: Final = frozenset({"h1", "h2", "h3", "p", "ul", "li", "strong", "code", "blockquote", "details", "summary"})
SUFFIX: Final = re.compile(
    r"(?:^| )\[(verified|verified · new|verified · pre-existing|unverified|downgraded by verifier: [^\[\]]+"
    r"|downgraded: dismissed earlier as (wrong|intentional|ignored))\]$"
)
_ON: Final = Settings(enabled=True)
_DISMISSALS: Final = ("wrong", "intentional", "ignored", "useful")
_ITEMS: Final = 12  # of a diff that are looked at


def brief(data: bytes, read: Callable[..., Brief] = read_brief) -> None:
    """A brief is refused with one sentence (B2), or written again with all that is opaque byte for byte (B1)."""
    try:
        came = read(data, verified=True)
    except NotABrief as error:
        _sentence(error)
        return
    _markdown(comment(came, as_it_came(came), None))
    ids = item_ids(came).all()
    assert len({*ids}) == len(ids), "an id stands twice (S2)"
    again = read_brief(write_brief(came, as_it_came(came), "null").encode(), verified=True)
    assert again.model == came.model, "a brief that was written again says something else"
    _opaque(came, again, verified=False)
    assert again.parts.facts == came.parts.facts
    assert again.parts.hunks == came.parts.hunks
    assert again.parts.checks == came.parts.checks
    failed = conclude(Case(came, _ON, bare_candidates(came), failure="it is not asked"), None)
    _verified(failed)
    assert all(verdict.action == "unverified" for verdict in failed.outcome.verdicts), "a failure decides (S24)"


def archive(data: bytes, read: Callable[[bytes, str], bytes] = file_inside) -> None:
    """An artifact's file comes back whole and bounded, or there is a sentence (A8)."""
    try:
        found = read(data, "brief.json")
        assert len(found) <= BRIEF_LIMIT, f"{len(found)} bytes"
        assert found == (zipfile.ZipFile(io.BytesIO(data)).read("brief.json") if data.startswith(b"PK") else data)
    except (NoBriefFound, BadArtifact) as error:
        _sentence(error)


def diff(data: bytes, read: Callable[[bytes], Diff] = parse_diff) -> None:
    """A diff never raises; its lines are numbered without a gap, and each file is found by its paths."""
    found = read(data)
    for file in found.files:
        assert file.paths, "a file without a path"
        assert all(found.file(path) is not None for path in file.paths)
        _numbered(file.hunks)
    _numbered(parse_hunks(data.decode("utf-8", "replace").split("\n"))[0])  # as the API's list of files has them


def candidates(data: bytes, find: Callable[..., tuple[Candidate, ...]] = find_candidates) -> None:
    """What is shown of a diff is short, holds the line it is about, and closes no block (S3, S36)."""
    changes = parse_diff(data)
    about = _brief_about(changes.files)
    bases = dict(_bases(about, changes))
    found = find(about, changes, bases, {})
    assert [candidate.id for candidate in found] == [*item_ids(about).all()]
    for candidate in found:
        _excerpt(candidate, changes)
    prompt = make_prompt(found)
    mark = prompt.message.partition("mark ")[2][:16]
    marked = [line for line in prompt.message.split("\n") if mark in line]
    assert len(marked) == 1 + 2 * prompt.blocks, "a block does not end where it should (S36)"


def compare(data: bytes, between: Callable[[str, str], tuple[Hunk, ...]] = compare_texts) -> None:
    """The hunks between two texts (a NUL stands between them) make the one of the other."""
    old, _, new = data.decode("utf-8", "replace").partition("\0")
    hunks = between(old, new)
    _numbered(hunks)
    before, after = (text.removesuffix("\n").split("\n") if text else [] for text in (old, new))
    made: list[str] = []
    at = 0
    for hunk in hunks:
        start = hunk.old_start - (hunk.old_count > 0)
        made += before[at:start]
        at = start + hunk.old_count
        assert [line.text for line in hunk.lines if line.old] == before[start:at]
        made += [line.text for line in hunk.lines if line.new]
    assert [*made, *before[at:]] == after, "the hunks do not make the new text of the old one"


def answer(data: bytes, read: Callable[[Repository, int], list[BaseText]] = blobs) -> None:
    """Of an answer of GitHub's, of any shape, each file that was asked for is a text, missing, or unreadable (S10)."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return
    fields = value if isinstance(value, dict) else {}
    found = read(Repository(fields, frozenset({"f1"})), 3)
    assert len(found) == 3
    assert found[1] is UNREADABLE, "a field that came with an error"
    for at, text in enumerate(found):
        assert text in (MISSING, UNREADABLE) or text == fields[f"f{at}"]["text"]


def memory(data: bytes, read: Callable[[bytes], dict[str, Dismissal]] = read_memory) -> None:
    """A memory is read whole, the last line for a hash standing, or refused with the number of a line (S31)."""
    try:
        found = read(data)
    except BadMemory as error:
        _sentence(error)
        number = re.search(r" line (\d+) ", str(error))
        assert number, "the line is not named"
        assert data.split(b"\n")[int(number[1]) - 1].strip(), "a blank line is named"
        return
    lines = [line for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()]
    read_here = [json.loads(line.decode()) for line in lines]
    assert found == {line["hash"]: line["verdict"] for line in read_here}
    assert all(re.fullmatch("[0-9a-f]{16}", key) and said in _DISMISSALS for key, said in found.items())


def configuration(data: bytes, read: Callable[[bytes, str], Configured] = read_config) -> None:
    """A configuration is settings within their bounds, or refused with a sentence that names the file (C1)."""
    try:
        found = read(data, ".opendrs.yml")
    except BadConfig as error:
        _sentence(error)
        _of_the_file(str(error))
        return
    settings = found.settings
    assert type(settings.enabled) is bool
    assert type(settings.strict_drops) is bool
    assert 1 <= settings.max_tokens <= 10_000_000
    assert 0 < settings.timeout_seconds <= 3600
    assert settings.provider == "anthropic"
    assert settings.effort in ("low", "medium", "high", "xhigh", "max")
    assert 0 < len(settings.model) <= 200
    for warning in found.warnings:
        assert one_line(warning) == warning
        _of_the_file(warning)


def reply(data: bytes, read: Callable[[str], tuple[Said, ...]] = parse_reply) -> None:
    """A reply is entries or a sentence; whatever it says, nothing is hidden without class and citation (S13)."""
    text = data.decode("utf-8", "replace")
    try:
        read(text)
        valid = True
    except ReplyError as error:
        _sentence(error)
        valid = False
    case = demo_case()
    ended = conclude(case, Reply(text, "a-model", None))
    assert (ended.outcome.status == "verified") is valid, ended.outcome.reason
    _verified(ended)
    if not valid:
        return
    replayed = conclude(*read_record(write_record(ended).encode()))
    assert replayed.document == ended.document
    assert replayed.layout == ended.layout


def record(data: bytes, read: Callable[[bytes], tuple[Case, Reply | Failed | None]] = read_record) -> None:
    """A record is refused with a sentence, or is a case that comes to a whole brief (S38)."""
    try:
        case, answered = read(data)
    except BadRecord as error:
        _sentence(error)
        return
    ended = conclude(case, answered)
    _verified(ended)
    again = conclude(*read_record(write_record(ended).encode()))
    assert again.document == ended.document


def text(data: bytes, neutral: Callable[[str, int], str] = inert) -> None:
    """Text stays text wherever it is put, on one line, within its limit (A8, S15, S20)."""
    limit, given = (data[0] if data else 0), data[1:].decode("utf-8", "replace")
    if given.endswith("\ufffd"):
        given = f"{given[:-1]}\ud800"
    line = one_line(given)
    assert line == " ".join(line.split())
    assert one_line(line) == line
    assert len(one_line(given, limit)) <= limit
    _nothing_hidden(line)
    _nothing_hidden(visible(given).replace("\t", ""))

    still = neutral(given, limit)
    assert len(still) <= limit
    assert still == " ".join(still.split())
    _inline(f"first\n{still}")
    _inline(f"text [downgraded by verifier: {still}]")

    marked = markdown(given)
    shown = _inline(marked)
    assert shown.replace(BREAK, "").strip("\n") == line.replace("$", "＄")
    _inline(f"first\n{marked}")
    shown = _inline(markdown(given, limit))
    assert shown.replace(BREAK, "").strip("\n") == one_line(given, limit).replace("$", "＄")

    (code,) = page(f"- {code_span(given)}: x").code
    assert code in {sign.replace("##[", f"##{BREAK}[") for sign in (line or " ", (line or " ").replace("`", "'"))}

    plain = without_our_marks(given)
    assert len(plain) == len(given)
    assert without_our_marks(plain) == plain
    assert not SUFFIX.search(f" {plain}"), "a text that came ends like a suffix of ours (S15)"


@cache
def demo_case() -> Case:
    """The case of the bundled pull request, as it is asked."""
    case, _ = read_record((ROOT / "examples/demo/record.json").read_bytes())
    return case


def _sentence(error: Exception) -> None:
    said = str(error)
    assert said == one_line(said), f"not a sentence on one line: {said!r}"
    assert 0 < len(said) <= 2_000


def _of_the_file(said: str) -> None:
    assert said.startswith(".opendrs.yml"), "the file is not named"


def _opaque(came: Brief, now: Brief, *, verified: bool) -> None:
    """All that the writer has no business with is the same text as it was, in its place (B1, S21, S22)."""
    before, after = came.parts, now.parts
    kept = [name for name in after.top if name in before.top]
    assert kept == [*before.top], "a field is lost, or has moved"
    assert {*after.top} - {*before.top} <= {"notes", "verification"}
    for name in before.top.keys() - {*WRITTEN}:
        assert after.top[name] == before.top[name], f"{name} is not what it was"
    for name in before.captain.keys() - ({"facts", "why"} if verified else {"facts"}):
        assert after.captain[name] == before.captain[name], f"captain.{name} is not what it was"


def _verified(ended: Verified) -> None:
    """What holds after every pass: gate fields, suffixes, citations, Markdown."""
    now = read_brief(ended.document.encode(), verified=True)
    _opaque(ended.case.brief, now, verified=True)
    texts = [fact.text for fact in now.facts] + [check.text for check in now.checks]
    texts += [hunk.reason for file in now.files for hunk in file.hunks]
    assert all(SUFFIX.search(shown) for shown in texts), "an item without its suffix (S15)"
    by_id = {candidate.id: candidate for candidate in ended.case.candidates}
    assert [verdict.id for verdict in ended.outcome.verdicts] == [*by_id], "an item without its verdict (S19)"
    dropped = [verdict for verdict in ended.outcome.verdicts if verdict.action == "drop"]
    assert len(texts) == len(by_id) - len(dropped), "an item is hidden that nobody dropped"
    for verdict in ended.outcome.verdicts:
        _founded(verdict, by_id[verdict.id])
    _markdown(comment(ended.case.brief, ended.layout, ended.outcome))
    assert brief_markdown(ended.case.brief, ended.layout)


def _founded(verdict: Verdict, candidate: Candidate) -> None:
    """Nothing is dropped or downgraded by a reply without what S13 asks for."""
    if verdict.action == "drop":
        assert verdict.drop_class in DROP_CLASSES, "a drop without a class (S13)"
    if verdict.action in ("drop", "downgrade") and verdict.by != "memory":
        cited = verdict.citation
        assert cited is not None, f"a {verdict.action} without a citation (S13)"
        rows = [*(candidate.excerpt.rows if candidate.excerpt else ())]
        rows += (candidate.partner.rows or ()) if candidate.partner else ()
        assert any(row.side and row.number == cited.line for row in rows), "a citation of what was not shown (S12)"
    if candidate.dismissal == "useful":
        assert verdict.action not in ("drop", "downgrade"), "a pinned fact is hidden (S30)"


def _markdown(source: str) -> None:
    """A comment of ours: short enough, nothing but our own elements, nothing live in its text (A4, A8)."""
    assert len(source) <= LIMIT, f"{len(source)} characters"
    shown = page(source)
    strange = {*shown.elements} - ELEMENTS - {"comment"}
    assert not strange, f"alive in Markdown: {strange}"
    assert shown.elements.count("comment") == 1
    assert not (live := LIVE.search(shown.text)), live


def _inline(source: str) -> str:
    shown = page(source)
    assert {*shown.elements} <= {"p"}, f"alive in Markdown: {shown.elements}"
    assert not (live := LIVE.search(shown.text)), live
    return shown.text


def _nothing_hidden(shown: str) -> None:
    hidden = {sign for sign in shown if unicodedata.category(sign) in ("Cc", "Cs", "Zl", "Zp")}
    assert not hidden, f"a control character: {hidden}"


def _numbered(hunks: Sequence[Hunk]) -> None:
    """The lines of each hunk count up from its start on either side, as many as it says."""
    for hunk in hunks:
        assert hunk.lines, "a hunk without a line"
        old, new = hunk.old_start, hunk.new_start
        for line in hunk.lines:
            assert (line.old is not None) is (line.sign in " -"), line
            assert (line.new is not None) is (line.sign in " +"), line
            assert "\n" not in line.text
            if line.old is not None:
                assert line.old == old, f"old line {line.old}, expected {old}"
                old += 1
            if line.new is not None:
                assert line.new == new, f"new line {line.new}, expected {new}"
                new += 1
        assert (hunk.old_count, hunk.new_count) == (old - hunk.old_start, new - hunk.new_start)


def _brief_about(files: Sequence[FileDiff]) -> Brief:
    """A brief that has something to say of each file and hunk of a diff."""
    places = [(file, hunk) for file in files for hunk in file.hunks][:_ITEMS]
    paths = [path for file in files[:_ITEMS] for path in file.paths if path]
    lines = [(file, _middle(hunk.lines)) for file, hunk in places]
    return read_brief(
        json.dumps(
            {
                "captain": {
                    "facts": [
                        {"id": COUPLING, "file": path, "partner": path, "strength": "info", "text": "x"}
                        for path in paths
                    ]
                },
                "reviewFirst": [
                    {"file": file.paths[0], "hunks": [{"line": hunk.new_start}]}
                    for file, hunk in places
                    if file.paths[0]
                ],
                "checks": [
                    {"file": file.paths[0], "line": line, "text": "?"} for file, line in lines if file.paths[0] and line
                ],
            }
        ).encode()
    )


def _middle(lines: Sequence[Line]) -> int:
    line = lines[len(lines) // 2]
    return line.new or line.old or 0


def _bases(about: Brief, changes: Diff) -> Iterator[tuple[str, BaseText]]:
    """Base texts that begin with what the diff removes or leaves."""
    for path in wanted_base_texts(about, changes):
        file = changes.file(path)
        lines = [line.text for hunk in (file.hunks if file else ()) for line in hunk.lines if line.old is not None]
        yield path, "\n".join(lines)


def _excerpt(candidate: Candidate, changes: Diff) -> None:
    rows = candidate.excerpt.rows if candidate.excerpt else ()
    partner = (candidate.partner.rows or ()) if candidate.partner else ()
    for shown in (rows, partner):
        assert sum(len(row.text) + 1 for row in shown) - bool(shown) <= EXCERPT_LIMIT, "a long excerpt (S3)"
        assert all(visible(row.text) == row.text for row in shown), "a control character is shown (S36)"
    file = changes.file(candidate.file)
    hunk = covering_hunk(file, candidate.line) if file and candidate.line else None
    at = (hunk.by_old | hunk.by_new).get(candidate.line or 0) if hunk else None
    if hunk and at is not None:
        number = hunk.lines[at].new or hunk.lines[at].old  # a line that stayed is shown by its new number
        assert any(row.side and row.number == number for row in rows), "its line is not shown (S3)"
    for proof in candidate.proofs:
        assert proof.drop_class in DROP_CLASSES
        assert file is not None


TARGETS: Final[Mapping[str, Callable[[bytes], None]]] = {
    "brief": brief,
    "archive": archive,
    "diff": diff,
    "candidates": candidates,
    "compare": compare,
    "answer": answer,
    "memory": memory,
    "configuration": configuration,
    "reply": reply,
    "record": record,
    "text": text,
}
