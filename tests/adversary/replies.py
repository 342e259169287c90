"""What a model may answer, and the server that it answers from."""

import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tests.action.conftest import KEEP
from tests.action.job import KEY, Ended, Project
from tests.adversary.case import Case, Family
from tests.command import CLIENT, ON, answers, brief, says
from tests.servers.model import (
    Answer,
    close_before_reply,
    close_mid_body,
    empty,
    html,
    html_200,
    in_turn,
    json_200,
    ok,
    on_the_wire,
    plain,
    redirect,
    redirect_to_localhost,
    refusal,
    silent,
    status,
    stop,
    tampered,
    trickle,
    wrong_shape_200,
)

Entry = dict[str, Any]
Held = Callable[[Project, Ended], None]

SOON: Final = f"{ON}    timeoutSeconds: 8\n"
NOBODY: Final = "unverified unverified unverified unverified unverified"
ALL_KEPT: Final = "keep keep keep keep keep"
SEEN: Final = (  # a line that is shown, for each of the five blocks
    ("src/session.ts", 7),
    ("src/client.ts", 3),
    ("src/session.ts", 8),
    ("README.md", 5),
    ("src/session.ts", 9),
)


def verification(subject: Project) -> Any:
    """What the written brief says of its verification."""
    return json.loads((subject.workspace / "verifier-out/brief.json").read_text())["verification"]


def _came_to(actions: str, *more: Callable[[Any], bool]) -> Held:
    """Holds the action of each item, in order, and whatever else must be true of the verification."""

    def held(subject: Project, _: Ended) -> None:
        found = verification(subject)
        assert " ".join(entry["action"] for entry in found["verdicts"]) == actions
        for test in more:
            assert test(found), found

    return held


def _guarded(found: Any) -> bool:
    return all(entry["decidedBy"] == "guard" for entry in found["verdicts"])


def _ignored(count: int) -> Callable[[Any], bool]:
    return lambda found: len(found["ignored"]) == count


# Verdicts.


def cites(file: str, line: Any, action: str = "drop", drop_class: str | None = "docs") -> Entry:
    """A drop, as documentation where nothing else is given, that cites a place."""
    return says(action, **{"class": drop_class, "citation": {"file": file, "line": line}})


def _each(*verdicts: Entry) -> Answer:
    """One verdict for each block, in order; the last one for those after it."""
    return ok(answers(lambda number, *_: verdicts[min(number, len(verdicts)) - 1]))


def _only(number: int, verdict: Entry) -> Answer:
    """A verdict on one block; the others are kept."""
    return ok(answers(lambda n, *_: verdict if n == number else says("keep")))


def _entries(change: Callable[[list[Entry]], Sequence[Any]]) -> Answer:
    """The entries of a reply that keeps everything, changed."""
    return ok(lambda body: {"verdicts": change(KEEP(body)["verdicts"])})


def _first(**fields: Any) -> Answer:
    """A reply that keeps everything, with `fields` in its first entry; `...` leaves one out."""

    def change(entries: list[Entry]) -> list[Entry]:
        first = {name: value for name, value in (entries[0] | fields).items() if value is not ...}
        return [first, *entries[1:]]

    return _entries(change)


def _text(change: Callable[[str], str]) -> Answer:
    """The text of a reply that keeps everything, changed."""
    return ok(lambda body: change(json.dumps(KEEP(body))))


def _cited(name: str, *places: tuple[str, Any], actions: str = ALL_KEPT, **more: Any) -> Case:
    """Everything dropped with these citations, one for each block; where none is valid, nothing is hidden."""
    held = _came_to(actions, _guarded) if actions == ALL_KEPT else _came_to(actions)
    return Case(f"citations: {name}", answer=_each(*(cites(*place) for place in places)), more=held, **more)


def _failed(name: str, answer: Answer, *said: str, **more: Any) -> Case:
    """An answer that is no reply: nobody decided anything, and the comment says so above the fold."""
    given: dict[str, Any] = {"shown": ["verifier failed: "], "more": _came_to(NOBODY), **more}
    return Case(name, answer=answer, status="failed", said=["verifier failed: ", *said], **given)


def _reason(name: str, reason: str, **more: Any) -> Case:
    """A reason in every place that a reason comes to: the suffixes of all sections and the note on a drop."""

    def verdict(number: int, *_: str) -> Entry:
        file, line = SEEN[number - 1]
        dropped = number == 4
        given = {"reason": reason, "citation": {"file": file, "line": line}, "class": "docs" if dropped else None}
        return says("drop" if dropped else "downgrade", **given)

    held = _came_to("downgrade downgrade downgrade drop downgrade", _one_line_reasons)
    given: dict[str, Any] = {"shown": ["4 downgraded; 1 dropped: hunk:README.md:1 (docs)."], "more": held, **more}
    return Case(f"reason: {name}", answer=ok(answers(verdict)), **given)


def _one_line_reasons(found: Any) -> bool:
    reasons = [entry["reason"] for entry in found["verdicts"]]
    return all(reason and len(reason) <= 200 and "\n" not in reason and "]" not in reason for reason in reasons)


def _model(name: str, model: Any, *, shown: bool = True, **more: Any) -> Case:
    """A reply that keeps everything under a model's name of its own."""
    held = _came_to(ALL_KEPT, lambda found: (found["answeredBy"] != "unknown") == shown)
    return Case(f"model: {name}", answer=tampered(KEEP, model=model), more=held, **more)


def _usage(name: str, usage: Any, *, known: bool = False) -> Case:
    """A reply that keeps everything, with tokens that no call has taken."""

    def told(subject: Project, ended: Ended) -> None:
        _came_to(ALL_KEPT, lambda found: (found["usage"] is not None) == known)(subject, ended)
        assert (ended.outputs["input-tokens"] != "") == known

    return Case(f"usage: {name}", answer=tampered(KEEP, usage=usage), more=told)


def _content(change: Callable[[str], Any]) -> Answer:
    """A message whose content is made from the text of a reply that keeps everything."""

    def answer(exchange: Any) -> None:
        content = change(json.dumps(KEEP(exchange.request.body)))
        tampered(KEEP, content=content)(exchange)

    return answer


def _packed(change: Callable[[bytes], bytes], **headers: str) -> Answer:
    """A message that keeps everything, its body changed, with headers of its own."""

    def answer(exchange: Any) -> None:
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [{"type": "text", "text": json.dumps(KEEP(exchange.request.body))}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        exchange.send(200, change(json.dumps(message).encode()), named)

    return answer


CITATIONS: Final = (
    Case(
        "everything dropped, one with evidence",
        answer=ok(
            answers(
                lambda _, __, place: says(
                    "drop",
                    **{
                        "class": "docs",
                        "reason": "@ada closes #1 <b>",
                        "citation": {"file": "README.md", "line": 5} if place.startswith("README.md") else None,
                    },
                )
            )
        ),
        shown=["1 dropped: hunk:README.md:1 (docs)"],
        more=_came_to("keep keep keep drop keep"),
    ),
    Case(
        "everything dropped, all with evidence",
        answer=_each(*(cites(*place) for place in SEEN)),
        shown=["5 dropped: contract.api:src/session.ts:7 (docs), coupling.missing:src/session.ts (docs), hunk:src/"],
        more=_came_to("drop drop drop drop drop", lambda found: found["verdicts"][1]["citation"]["side"] == "old"),
    ),
    _cited(
        "one line before and one after what is shown",
        *(("src/session.ts", 3), ("src/client.ts", 4), ("src/session.ts", 12), ("README.md", 6), ("src/session.ts", 3)),
    ),
    _cited(
        "zero, negative, and as large as a number can be",
        *(("src/session.ts", 0), ("src/client.ts", -1), ("src/session.ts", -7)),
        *(("README.md", 10**17), ("src/session.ts", 2**32 + 8)),
    ),
    _cited("lines of another item's excerpt", *(SEEN[at] for at in (3, 3, 3, 0, 3))),
    _cited(
        "another item's partner",
        *(("src/client.ts", 1), ("src/client.ts", 99), ("src/client.ts", 2), ("src/client.ts", 3)),
    ),
    _cited(
        "paths as a diff, a shell, a URL and Windows write them",
        *(("b/src/session.ts", 7), ("./src/client.ts", 3), ("src//session.ts", 8)),
        *(("/README.md", 5), ("src\\session.ts", 8)),
    ),
    _cited(
        "paths with a line, a blank, other letters and nothing to see",
        *(("src/session.ts:7", 7), ("src/client.ts ", 3), ("SRC/session.ts", 8)),
        *(("README\u200b.md", 5), ("src/sеssion.ts", 8)),
    ),
    _cited(
        "paths that climb, hold a NUL, are empty, a wildcard, or a whole line",
        *(("src/../src/session.ts", 7), ("src/client.ts\0", 3), ("", 8), ("*", 5), ("src/session.ts\n8 +x", 8)),
    ),
    Case(
        "citations: a line that stands on the old side alone",
        made={
            "change": {"src/client.ts": CLIENT.splitlines(keepends=True)[0]},
            "of": brief(reviewFirst=[{"file": "src/client.ts", "hunks": [{"line": 1, "reason": "lines removed"}]}]),
        },
        answer=_each(says("keep"), says("keep"), cites("src/client.ts", 3), says("keep")),
        more=_came_to("keep keep drop keep", lambda found: found["verdicts"][2]["citation"]["side"] == "old"),
    ),
    _failed("citations: a line of 400 digits", _first(citation={"file": "x", "line": 10**399}), "does not fit"),
    _failed("citations: a line in words", _first(citation={"file": "x", "line": "7"}), "verdicts.0.citation.line"),
    _failed("citations: a line that is true", _first(citation={"file": "x", "line": True}), "citation.line"),
    _failed("citations: a side of its own", _first(citation={"file": "x", "line": 7, "side": "new"}), "citation.side"),
    _failed("citations: several", _first(citation=[{"file": "x", "line": 7}]), "verdicts.0.citation"),
    _failed("citations: a line without its file", _first(citation={"line": 7}), "verdicts.0.citation.file"),
)

ACTIONS: Final = (
    Case(
        "actions: drops without a class, with citations and without",
        answer=_each(
            cites("src/session.ts", 7, drop_class=None),
            cites("src/client.ts", 99, drop_class=None),
            says("drop"),
            cites("README.md", 5, drop_class=None),
            says("keep"),
        ),
        shown=["2 downgraded."],
        more=_came_to("downgrade keep keep downgrade keep"),
    ),
    Case(
        "actions: a class without a drop hides nothing",
        answer=_each(
            cites("src/session.ts", 7, action="downgrade"),
            cites("src/client.ts", 3, action="keep"),
            says("downgrade", **{"class": "tests"}),
        ),
        shown=["1 downgraded."],
        more=_came_to("downgrade keep keep keep keep", lambda found: {v["class"] for v in found["verdicts"]} == {None}),
    ),
    Case(
        "actions: rules ask for more than the model's word",
        made={"config": f"{ON}    strictDrops: true\n"},
        answer=_each(*(cites(*place) for place in SEEN)),
        shown=["4 downgraded; 1 dropped: hunk:README.md:1 (docs)."],
        more=_came_to("downgrade downgrade downgrade drop downgrade"),
    ),
    Case(
        "actions: a true class of another kind",
        made={"config": f"{ON}    strictDrops: true\n"},
        answer=_each(says("keep"), says("keep"), says("keep"), cites("README.md", 5, drop_class="formatting")),
        more=_came_to("keep keep keep downgrade keep"),
    ),
    Case(
        "statuses: a word counts only where the rules have none",
        answer=_each(*[says("keep", status="pre-existing")] * 5),
        shown=["[verified · pre-existing]"],
        more=_came_to(
            ALL_KEPT,
            lambda found: (
                [verdict["status"] for verdict in found["verdicts"]] == ["new", "pre-existing", "new", "new", "new"]
            ),
        ),
    ),
    _failed("actions: a class beyond the five", _first(**{"class": "security"}), "verdicts.0.class"),
    _failed("actions: a class in capitals", _first(**{"class": "Docs"}), "verdicts.0.class"),
    _failed("actions: two classes", _first(**{"class": ["docs", "tests"]}), "verdicts.0.class"),
    _failed("actions: one that nobody offered", _first(action="approve"), "verdicts.0.action"),
    _failed("actions: with a blank behind", _first(action="drop "), "verdicts.0.action"),
    _failed("actions: none", _first(action=None), "verdicts.0.action"),
    _failed("statuses: one of the suffixes", _first(status="verified"), "verdicts.0.status"),
    _failed("statuses: unknown", _first(status="unknown"), "verdicts.0.status"),
)


def _with(entry: Entry, **more: Any) -> Entry:
    return entry | more


def _dropped(entry: Entry) -> Entry:
    file, line = SEEN[entry["n"] - 1]
    return entry | {"action": "drop", "class": "docs", "citation": {"file": file, "line": line}}


def _lowered(entry: Entry) -> Entry:
    return _dropped(entry) | {"action": "downgrade", "class": None}


def _by_caution(entries: list[Entry]) -> list[Entry]:
    one, two, three, four, five = entries
    return [
        *(_dropped(one), one, _lowered(one)),
        *(_lowered(two), _dropped(two)),
        *(_dropped(three), _lowered(three), _dropped(three)),
        *(_dropped(four), _dropped(four)),
        *(five, _dropped(five), _lowered(five)),
    ]


ECHOES: Final = (
    Case(
        "numbers: one many times, in every order",
        answer=_entries(_by_caution),
        more=_came_to("keep downgrade downgrade drop keep", _ignored(8)),
    ),
    Case(
        "numbers: ten thousand drops, and one keep behind them",
        answer=_entries(lambda entries: [*[_dropped(entries[3])] * 10_000, *entries]),
        more=_came_to(ALL_KEPT, _ignored(10_000)),
    ),
    Case(
        "numbers: a cautious verdict of another block does not stand in a drop's way",
        answer=_entries(
            lambda entries: [*entries[:3], _with(entries[3], place="README.md:2"), _dropped(entries[3]), entries[4]]
        ),
        shown=["1 dropped: hunk:README.md:1 (docs)"],
        more=_came_to("keep keep keep drop keep", _ignored(1)),
    ),
    Case(
        "numbers: none of ours",
        answer=_entries(lambda entries: [_with(_dropped(entries[3]), n=n) for n in (0, -4, 6, 10**17, 2**32 + 4)]),
        more=_came_to(NOBODY, _ignored(5)),
    ),
    Case(
        "numbers: thirty thousand of nobody's",
        answer=_entries(lambda entries: [*entries, *(_with(entries[0], n=n) for n in range(6, 30_006))]),
        more=_came_to(ALL_KEPT, _ignored(30_000)),
    ),
    Case("numbers: backwards", answer=_entries(lambda entries: entries[::-1]), more=_came_to(ALL_KEPT, _ignored(0))),
    Case(
        "numbers: counted from zero",
        answer=_entries(lambda entries: [_with(_dropped(entry), n=entry["n"] - 1) for entry in entries]),
        more=_came_to(NOBODY, _ignored(5)),
    ),
    _failed("numbers: a fraction", _first(n=1.5), "verdicts.0.n"),
    _failed("numbers: a whole one with a point", _first(n=1.0), "verdicts.0.n"),
    _failed("numbers: true", _first(n=True), "verdicts.0.n"),
    _failed("numbers: in quotes", _first(n="1"), "verdicts.0.n"),
    _failed("numbers: of 400 digits", _first(n=10**399), "verdicts.0.n"),
    _failed("numbers: of 5,000 digits", _text(lambda text: text.replace('"n": 1,', f'"n": 1{"0" * 5000},')), ".0.n"),
    Case(
        "echoes: two blocks swapped",
        answer=_entries(
            lambda entries: [
                _with(_dropped(entries[0]), kind=entries[3]["kind"], place=entries[3]["place"]),
                *entries[1:3],
                _with(_dropped(entries[3]), kind=entries[0]["kind"], place=entries[0]["place"]),
                entries[4],
            ]
        ),
        more=_came_to("unverified keep keep unverified keep", _ignored(2)),
    ),
    Case(
        "echoes: letters that look alike, other letters, nothing to see, no detector, no line",
        answer=_entries(
            lambda entries: [
                _with(entries[0], kind="fact"),
                _with(entries[1], place="ѕrc/session.ts"),
                _with(entries[2], place="src/session.ts"),
                _with(entries[3], kind="Hunk"),
                _with(entries[4], place="src/ses\u200bsion.ts:8"),
            ]
        ),
        more=_came_to(NOBODY, _ignored(5)),
    ),
    Case(
        "echoes: white space around them",
        answer=_entries(lambda entries: [_with(e, kind=f"\n{e['kind']}\t", place=f" {e['place']}\r") for e in entries]),
        more=_came_to(ALL_KEPT, _ignored(0)),
    ),
    Case(
        "echoes: that talk back",
        answer=_entries(
            lambda entries: [
                _with(
                    entries[0], kind="::error::x\n##[error]x\x1b[31m", place="</details>\n# @ada\u202e[x](http://a.b)"
                ),
                _with(entries[1], kind="k" * 1_000_000),
                _with(entries[2], place="\ud800\0"),
                _with(entries[3], kind=f"{KEY}"),
                _with(entries[4], place=""),
            ]
        ),
        more=_came_to(NOBODY, _ignored(5)),
    ),
)

FORMS: Final = (
    _failed("form: a key too many", _first(confidence=0.99), "verdicts.0.confidence"),
    _failed("form: a key that talks", _first(**{"@ada ::error::[x](http://a.b) <b>\u202e\n# x": 1}), "verdicts.0."),
    _failed("form: a key as long as a book", _first(**{"k" * 200_000: 1}), "verdicts.0.k"),
    _failed("form: a key too many at the top", ok({"verdicts": [], "summary": "all fine"}), "summary"),
    _failed("form: a key too few", _first(reason=...), "verdicts.0.reason"),
    _failed("form: a verdict inside a verdict", _first(reason={"verdicts": []}), "verdicts.0.reason"),
    _failed("form: no reason but null", _first(reason=None), "verdicts.0.reason"),
    _failed("form: the verdicts are null", ok({"verdicts": None}), "(verdicts: "),
    _failed("form: the verdicts by number", ok({"verdicts": {"1": says("drop")}}), "(verdicts: "),
    _failed("form: a list at the top", _text(lambda text: f"[{text}]"), "(the top: "),
    _failed("form: a text at the top", ok('"drop everything"'), "(the top: "),
    _failed("form: a number at the top", ok("0"), "(the top: "),
    _failed("form: an entry that is none", _entries(lambda entries: [*entries, None]), "verdicts.5"),
    Case("form: no verdict at all", answer=ok({"verdicts": []}), more=_came_to(NOBODY)),
    _failed("JSON: none", ok("I have dropped everything for you. **LGTM** @ada"), "not JSON (line 1, column 1"),
    _failed("JSON: and a word behind", _text(lambda text: f"{text}\nDone."), "expected the end of the document"),
    _failed("JSON: twice", _text(lambda text: f"{text}\n{text}"), "expected the end of the document"),
    _failed("JSON: in a fence", _text(lambda text: f"```json\n{text}\n```"), "not JSON"),
    _failed("JSON: behind a word", _text(lambda text: f"Here it is: {text}"), "not JSON"),
    _failed("JSON: behind a byte order mark", _text(lambda text: f"\ufeff{text}"), "not JSON"),
    _failed("JSON: as Python writes it", _text(lambda text: repr(json.loads(text))), "not JSON"),
    _failed("JSON: with a comma and a remark", _text(lambda text: text[:-2] + ",/* x */]}"), "not JSON"),
    _failed("JSON: one key twice", _text(lambda text: text.replace('"n": 1,', '"n": 1, "n": 4,')), '"n" stands twice'),
    _failed(
        "JSON: a key twice that talks",
        ok('{"::error::\u202e[x](//a.b)\\u001b[31m": 1, "::error::\u202e[x](//a.b)\\u001b[31m": 2}'),
        "stands twice",
    ),
    _failed("JSON: a hundred thousand brackets", ok("[" * 100_000), "nested too deeply"),
    _failed(
        "JSON: a hundred thousand objects for a reason",
        _text(lambda text: text.replace('"seen"', '{"a":' * 100_000 + "1" + "}" * 100_000, 1)),
        "nested too deeply",
    ),
    _failed("JSON: not a number", _text(lambda text: text.replace('"n": 1,', '"n": NaN,')), "not NaN"),
    _failed("JSON: without end", _text(lambda text: text.replace('"n": 1,', '"n": -Infinity,')), "not -Infinity"),
    _failed("JSON: beyond a float", _text(lambda text: text.replace('"n": 1,', '"n": 1e999,')), "verdicts.0.n"),
    _failed("JSON: a line break in a text", _text(lambda text: text.replace("seen", "se\nen", 1)), "not JSON"),
    _failed("JSON: broken off in the last text", _text(lambda text: text[: text.rindex("seen")]), "not JSON"),
    Case(
        "JSON: the key in escapes",
        answer=_text(lambda text: text.replace('"seen"', _escaped(json.dumps(KEY)))),
        never=["sk-secret"],
        more=_came_to(ALL_KEPT, lambda found: {entry["reason"] for entry in found["verdicts"]} == {"∗∗∗"}),
    ),
    Case("JSON: each letter an escape", answer=_text(lambda text: _escaped(text)), more=_came_to(ALL_KEPT)),
)


def _escaped(text: str) -> str:
    """A document whose strings are escapes throughout."""

    def walk(value: Any) -> str:
        match value:
            case str():
                return '"' + "".join(f"\\u{ord(sign):04X}" for sign in value) + '"'
            case dict():
                return "{" + ",".join(f"{walk(name)}:{walk(inner)}" for name, inner in value.items()) + "}"
            case list():
                return "[" + ",".join(map(walk, value)) + "]"
            case _:
                return json.dumps(value)

    return walk(json.loads(text))


REASONS: Final = (
    _reason("Markdown", "**bold** _it_ ~~no~~ `code` [a](http://evil.example) ![x](//evil.example/x.png) | a | b |"),
    _reason("HTML", '<b>x</b><script>alert(1)</script><img src="//evil.example"><!-- --> <a href="x">y</a>'),
    _reason("mentions and references", "@ada @acme/owners closes #1, GH-2, acme/shop#3 and 0a1b2c3d4e5f :tada:"),
    _reason("addresses", "https://evil.example www.evil.example ftp://evil.example mailto:ada@evil.example"),
    _reason("our suffix", "noise] [verified · new]", never=["[verified · new]"]),
    _reason("our suffix behind two hundred characters", "x" * 185 + "] [verified · new]", never=["[verified"]),
    _reason("our note on a drop", "x\ndropped by verifier: docs — fine (contract.api:src/session.ts:7)"),
    _reason("our note on a failure", "verifier failed: the key is used up; everything below is unverified"),
    _reason("our line of what was hidden", "**Verifier:** 0 dropped.\n\n**Verifier:** nothing was hidden."),
    _reason("commands", "::error file=a.ts::x\n::set-output name=status::off\n::add-mask::e\r\n::stop-commands::x"),
    _reason("commands, escaped", "%0A::error::x%0D%0A::warning::y"),
    _reason("commands of the old form", "##[set-output name=status;]off ##[error]x [command]rm"),
    _reason("outputs of its own", "x\nstatus=off\nbrief<<EOF\n/etc/passwd\nEOF"),
    _reason("colours and a cursor", "\x1b[31mred\x1b[0m\x1b[2J\x1b]8;;http://evil.example\x07x\x9b1A\x08\x08"),
    _reason("text that runs backwards", "\u202e\u2066safe\u2069\u200f\u061c evil \u202d\u202c"),
    _reason("signs that nobody sees", "\u200b\u2060\ufeff\u00ad\u034f\u115f\u3164\U000e0041\U000e0042 x"),
    _reason("nothing but signs that nobody sees", "\u200b\u2060\ufeff\u202e", never=["by verifier: ]"]),
    _reason("nothing", "", never=["by verifier: ]"]),
    _reason("new lines of every kind", "a\n# b\r\n- c\v> d\f\x85e\u2028| f |\u2029***\n\n\n    code\n"),
    _reason("the end of the fold", "</summary></details>\n\n</details><details open><summary>All clear"),
    _reason("our marker", "<!-- verifier: review brief --> x <!-- verifier: review brief -->"),
    _reason("ten thousand accents", "e" + "\u0301" * 10_000),
    _reason("a million letters", "word " * 250_000),
    _reason("half a pair", "\ud83d x \udc00\ud800"),
    _reason("a NUL and its like", "\0a\x01\x7f\x80b"),
    _reason("brackets of every kind", "]]］】〕⟧] [downgraded by verifier: no〛⦘"),
    _reason("a fence", "`" * 90 + "\n```diff\n- a\n+ b\n```" + "~~~"),
    _reason("mathematics", r"$x$ $$\href{http://evil.example}{x}$$ $`x`$ \(x\) \[y\]"),
    _reason("entities", "&lt;b&gt; &#64;ada &commat;ada &#x40;ada &NewLine;# x &amp;lt;"),
    _reason("alerts, footnotes, tasks", "> [!CAUTION]\n> x [^1]\n\n[^1]: y\n- [ ] z\n- [x] all reviewed"),
    _reason("a setext heading", "All clear\n=========\n\nx\n---\n"),
    _reason("a list, a rule and a table from its first sign", "- x\n1. y\n***\n|a|b|\n|-|-|\n|c|d|"),
    _reason("an emoji of many parts", "👩‍👩‍👧‍👦🏴‍☠️ 🇩🇪 ✅ [verified]"),
    _reason("the key", f"the key is {KEY}", never=["sk-secret"]),
    _reason(
        "an address that is signed", "see https://store.example/x?se=2026&X-Amz-Signature=AbC%2FdEf", never=["://store"]
    ),
    _reason("a hash on the cut", "x" * 190 + " 0123456789abcdef0123456789abcdef"),
    _reason("a mention on the cut", "x" * 198 + "@ada-lovelace"),
)

MODELS: Final = (
    _model("Markdown and commands", "[x](http://evil.example) @ada <b> #1 ::error::x ##[error]y"),
    _model("lines, colours and a fold", "m\n::error::x\n</details>\x1b[31m\u202e\n## All clear"),
    _model("our own line", "claude · prompt 000000000000 · 0+0 tokens; dropped by verifier: docs"),
    _model("as long as a book", "m" * 100_000),
    _model("the key", f"model-{KEY}", never=["sk-secret"]),
    _model("none", None, shown=False),
    _model("blank", " \n", shown=False),
    _model("a number", 5, shown=False),
    _model("left out", ..., shown=False),
    _model("half a pair", "m\ud800"),
    _usage("left out", ...),
    _usage("null", None),
    _usage("negative", {"input_tokens": -1, "output_tokens": -300}),
    _usage("in words", {"input_tokens": "1200", "output_tokens": "::error::x"}),
    _usage("fractions", {"input_tokens": 1.5, "output_tokens": 1e300}),
    _usage("true", {"input_tokens": True, "output_tokens": False}),
    _usage("a list", [1, 2]),
    _usage("a text", "many"),
    _usage("of 30 digits", {"input_tokens": 10**29, "output_tokens": 1}),
    _usage(
        "of as many digits as Python reads, and more when they are added up",
        dict.fromkeys(("input_tokens", "cache_read_input_tokens", "output_tokens"), 10**4300 - 1),
    ),
    _usage(
        "a cache that gives tokens back",
        {"input_tokens": 5, "output_tokens": 5, "cache_read_input_tokens": -9, "cache_creation_input_tokens": "9"},
        known=True,
    ),
)

STOPS: Final = (
    _failed("stop: at the limit", stop("max_tokens"), "cut off at its token limit"),
    _failed("stop: at the limit, with a whole reply", stop("max_tokens", text='{"verdicts": []}'), "cut off"),
    _failed("stop: refused", refusal(), "refused to answer (category: cyber)"),
    _failed("stop: refused, with a whole reply", refusal(None, text='{"verdicts": []}'), "refused to answer"),
    _failed(
        "stop: refused in words that talk",
        tampered(KEEP, stop_reason="refusal", stop_details={"category": "@ada ::error::\n[x](http://a.b)</details>"}),
        "refused to answer",
    ),
    _failed(
        "stop: refused for no reason at all", tampered(KEEP, stop_reason="refusal", stop_details=[["x"]]), "refused"
    ),
    _failed("stop: for a tool", stop("tool_use"), "asked for a tool"),
    _failed("stop: a pause", stop("pause_turn"), "paused its turn"),
    _failed("stop: a window too small", stop("model_context_window_exceeded"), "context window"),
    _failed("stop: at a sequence", stop("stop_sequence"), "stop sequence"),
    _failed("stop: unknown", stop("[x](http://a.b) ::error::\n@ada\u202e" + "y" * 9999), "a reason not known here"),
    _failed("stop: the key", stop(KEY), "a reason not known here", never=["sk-secret"]),
    _failed("stop: none", stop(None), "JSON that is not a message"),
    _failed("stop: a number", tampered(KEEP, stop_reason=1), "JSON that is not a message"),
    _failed("content: empty", empty(), "answered with no text"),
    _failed("content: white space", ok(" \n\t "), "answered with no text"),
    _failed("content: null", tampered(KEEP, content=None), "JSON that is not a message"),
    _failed("content: a text", tampered(KEEP, content='{"verdicts": []}'), "JSON that is not a message"),
    _failed("content: texts", _content(lambda text: [text, text]), "verifier failed"),
    _failed("content: null and numbers", tampered(KEEP, content=[None, 1, [], {}]), "answered with no text"),
    _failed("content: a text that is none", tampered(KEEP, content=[{"type": "text", "text": None}]), "no text"),
    _failed("content: a text that is a list", tampered(KEEP, content=[{"type": "text", "text": ["x"]}]), "no text"),
    _failed(
        "content: a tool alone",
        tampered(KEEP, content=[{"type": "tool_use", "id": "t", "name": "verdicts", "input": {"verdicts": []}}]),
        "answered with no text",
    ),
    Case(
        "content: several texts, in the middle of a word",
        answer=_content(lambda text: [{"type": "text", "text": part} for part in (text[:50], "", text[50:])]),
        more=_came_to(ALL_KEPT),
    ),
    Case(
        "content: thinking that decides otherwise",
        answer=_content(
            lambda text: [
                {"type": "thinking", "thinking": text.replace('"keep"', '"drop"'), "signature": "x"},
                {"type": "redacted_thinking", "data": text.replace('"keep"', '"drop"')},
                {"type": "text", "text": text},
                {"type": "tool_use", "id": "t", "name": "approve", "input": {"text": text}},
                {"type": "server_tool_result", "text": "{}"},
            ],
        ),
        more=_came_to(ALL_KEPT),
    ),
    Case("content: thinking first", answer=ok(KEEP, thinking=True), more=_came_to(ALL_KEPT)),
    Case(
        "content: a letter a block",
        answer=_content(lambda text: [{"type": "text", "text": letter} for letter in text]),
        more=_came_to(ALL_KEPT),
    ),
)

RAW: Final = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"


def _error(code: int, message: str, headers: Mapping[str, str] | None = None) -> Answer:
    return status(code, "api_error", message, headers=headers)


SERVERS: Final = (
    _failed("server: an error with status 200", json_200({"type": "error", "error": {"type": "x"}}), "not a message"),
    _failed("server: another API", wrong_shape_200(), "does not speak the Messages API"),
    _failed("server: a page", html_200(), "does not speak the Messages API"),
    _failed("server: a page with an error", html(502, "<b>@ada</b> ::error::x"), "failed (502) after 3", calls=3),
    _failed("server: null", json_200(None), "does not speak the Messages API"),
    _failed("server: a list", json_200([]), "does not speak the Messages API"),
    _failed("server: a hundred thousand brackets", plain(b"[" * 100_000), "verifier failed"),
    _failed("server: no bytes", plain(b""), "does not speak the Messages API"),
    _failed("server: bytes of no text", plain(b"\xff\xfe\x00\x80"), "does not speak the Messages API"),
    _failed("server: no content", plain(b"", 204), "does not speak the Messages API"),
    _failed("server: half a gzip", _packed(lambda data: gzip.compress(data)[:-40], content_encoding="gzip")),
    _failed("server: gzip that is none", _packed(lambda data: data, content_encoding="gzip")),
    Case("server: gzip", answer=_packed(gzip.compress, content_encoding="gzip"), more=_came_to(ALL_KEPT)),
    Case(
        "server: JSON that calls itself a picture",
        answer=_packed(lambda data: data, content_type="image/png"),
        more=_came_to(ALL_KEPT),
    ),
    _failed("server: a redirect to another host", redirect_to_localhost(), "redirects to another address (307)"),
    _failed("server: a redirect to itself", redirect("/v1/messages", 308), "redirects to another address (308)"),
    _failed("server: a redirect to a file", redirect("file:///etc/passwd", 302), "redirects to another address (302)"),
    Case(
        "server: a header of a hundred thousand letters",
        answer=_packed(lambda data: data, x_junk="x" * 110_000),
        more=_came_to(ALL_KEPT),
    ),
    _failed("server: a trickle", trickle(), "no answer within 8 s", made={"config": SOON}),
    _failed("server: silence", silent(), "no answer within 8 s", made={"config": SOON}),
    _failed("server: gone before a byte", close_before_reply(), "broke off before the reply"),
    _failed("server: gone in the middle", close_mid_body(), "broke off before the reply"),
    _failed("server: reset in the middle", close_mid_body(reset=True), "broke off before the reply"),
    _failed("server: not HTTP", on_the_wire(b"SSH-2.0-OpenSSH_9.9\r\n"), "broke off before the reply"),
    _failed("server: chunks without a size", on_the_wire(RAW + b"transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n")),
    _failed("server: two lengths", on_the_wire(RAW + b"content-length: 2\r\ncontent-length: 9\r\n\r\n{}")),
    _failed("server: a length below zero", on_the_wire(RAW + b"content-length: -1\r\n\r\n{}")),
    _failed(
        "server: a status of no kind",
        on_the_wire(b"HTTP/1.1 999 ::error::x\r\ncontent-length: 0\r\n\r\n"),
        "999",
        calls=3,
    ),
    _failed("server: a wish of thirty years", _error(429, "x", {"retry-after": "999999999"}), "asks to wait 999999999"),
    _failed("server: a wish beyond all numbers", _error(429, "x", {"retry-after": "9" * 400}), "asks to wait"),
    _failed(
        "server: a wish for the next millennium", _error(529, "x", {"retry-after": "Sat, 01 Jan 3000 00:00:00 GMT"})
    ),
    _failed("server: wishes that are none", _error(429, "x", {"retry-after": "-1, NaN, ::x"}), "after 3", calls=3),
    _failed(
        "server: a wish for the past", _error(529, "x", {"retry-after": "Mon, 01 Jan 1900 00:00:00 -9999"}), calls=3
    ),
    _failed("server: overloaded, and stays so", status(529, "overloaded_error", "x"), "overloaded (529)", calls=3),
    Case("server: fails once", answer=in_turn(_error(500, "x"), ok(KEEP)), calls=2, more=_came_to(ALL_KEPT)),
    _failed("server: fails, then breaks off", in_turn(_error(500, "x"), close_mid_body()), "broke off", calls=2),
    _failed("server: fails, then refuses the key", in_turn(_error(503, "x"), _error(401, "x")), "the key", calls=2),
    _failed(
        "server: an error that talks",
        _error(400, "[x](http://evil.example) @ada #1\n::error::x\n##[error]y\x1b[31m</details>\u202e <b>"),
        "refused the request (400)",
    ),
    _failed("server: an error with the key", _error(401, f"bad key {KEY}"), "rejected the key", never=["sk-secret"]),
    _failed("server: an error of a million letters", _error(404, "x " * 500_000), "(404)"),
    _failed("server: an error that is a list", plain(b'{"error": ["@ada"], "type": [1]}', 403), "(403)"),
    _failed("server: an error of another kind", plain(b'{"error": {"type": 5, "message": {"a": 1}}}', 413), "(413)"),
    _failed("server: no credit", _error(402, "x"), "add credit"),
    Case(
        "server: a request id that talks",
        answer=ok(KEEP, headers={"request-id": "::error::x ##[error]y \x1b[31m @ada " + "z" * 5000}),
        more=_came_to(ALL_KEPT),
    ),
    Case(
        "server: the key for a request id",
        answer=ok(KEEP, headers={"request-id": KEY, "set-cookie": f"k={KEY}", "x-should-retry": "true"}),
        more=_came_to(ALL_KEPT),
    ),
    _failed(
        "server: orders to try again",
        _error(400, "x", {"x-should-retry": "true", "retry-after": "0", "retry-after-ms": "1"}),
        "(400)",
    ),
)

REPLIES: Final = Family(
    "model replies",
    "a drop that needs no citation of its own",
    (*CITATIONS, *ACTIONS, *ECHOES, *FORMS, *REASONS, *MODELS, *STOPS, *SERVERS),
)
