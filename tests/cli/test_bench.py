"""`verifier bench`: labelled cases in, figures out; asked once, kept, gone on with, or answered elsewhere."""

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from tests.command import Answering, Ran, answers, environment, run, says
from tests.servers.model import ModelServer, ok, refusal, status
from tests.unit.test_text import BREAK
from verifier.verification.prompt import PROMPT_HASH

ROOT: Final = Path(__file__).parents[2]
KEY: Final = {"ANTHROPIC_API_KEY": "sk-test-0123456789"}
USAGE: Final = {"input_tokens": 900, "output_tokens": 100}
STEM: Final = f"results-anthropic-claude-sonnet-5-5-low-{PROMPT_HASH}"

PROSE: Final = """\
label = "noise"
class = "docs"
why = "Only a comment for people changes here."
source = "written for this test"
language = "python"
pool = "hunk"
hunk = '''
@@ -1,3 +1,3 @@
 import os
-# reads teh file
+# reads the file
 text = open(NAME).read()
'''

[item]
file = "docs/NAME.py"
line = 1
text = "2 lines changed"
"""
GUARD: Final = """\
label = "true"
why = "MARK-OF-A-LABEL: the guard against an empty cart is gone."
source = "written for this test"
language = "typescript"
pool = "check"
hunk = '''
@@ -4,4 +4,3 @@ export function pay(cart: Cart) {
   log(cart.id);
-  if (cart.empty) throw new EmptyCart();
   charge(cart);
 }
'''

[item]
file = "shop/NAME.ts"
line = 5
text = "Is an empty cart still refused here?"
"""
MOOT: Final = """\
label = "moot"
why = "The partner is shown whole and holds nothing of what changed."
source = "written for this test"
language = "go"
pool = "fact"
hunk = '''
@@ -4,3 +4,3 @@ package cart
 // Total is in cents.
-func Total(c Cart) int {
+func Total(c *Cart) int {
 \treturn c.total
'''

[item]
id = "coupling.missing"
file = "cart/NAME.go"
partner = "mail/NAME.go"
text = "mail/NAME.go changed in 9 of 11 commits with cart/NAME.go, and not here"

[base]
"mail/NAME.go" = "package mail\\n"
"""


def cases(directory: Path, guards: int = 10, prose: int = 10, moot: int = 10) -> Path:
    """A directory with cases of each label."""
    for text, folder, count in ((GUARD, "guard", guards), (PROSE, "prose", prose), (MOOT, "moot", moot)):
        (directory / folder).mkdir(parents=True, exist_ok=True)
        for at in range(count):
            (directory / folder / f"{at:02}.toml").write_text(text.replace("NAME", f"n{at:02}"))
    return directory


def one_case(directory: Path, text: str) -> Path:
    directory.mkdir()
    (directory / "one.toml").write_text(text)
    return directory


def bench(tmp_path: Path, *arguments: str | Path, env: Mapping[str, str] | None = None) -> Ran:
    return run("bench", tmp_path / "cases", "--out", tmp_path / "out", *arguments, cwd=tmp_path, env=env)


def live(tmp_path: Path, server: ModelServer, *arguments: str | Path) -> Ran:
    return bench(tmp_path, "--reader", "anthropic", "--llm-base-url", server.url, *arguments, env=KEY)


def results(tmp_path: Path, stem: str = STEM) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((tmp_path / "out" / f"{stem}.json").read_text())
    return found


def perfect(number: int, kind: str, place: str) -> dict[str, Any] | None:
    if kind == "hunk":
        return says("drop", **{"class": "docs"}, citation={"file": place.partition(":")[0], "line": 2})
    if kind.startswith("fact"):
        return says("downgrade", citation={"file": place, "line": 5})
    return says("keep")


def scripted(answer: Answering = perfect) -> Any:
    return ok(answers(answer), usage=USAGE)


def test_every_case_is_asked_about_once_and_counted_against_its_label(tmp_path: Path) -> None:
    cases(tmp_path / "cases")
    with ModelServer([scripted()]) as server:
        ran = live(tmp_path, server)
    assert (ran.code, len(server.requests), server.violations) == (0, 2, [])
    written = (tmp_path / "out" / f"{STEM}.md").read_text()
    assert ran.out == written
    assert written.startswith(f"# anthropic-claude-sonnet-5-5-low · prompt {PROMPT_HASH} · 30 cases\n")
    assert "**True items dropped: 0 of 10**, of which 10 were answered (0.0 to 27.8 % of these)" in written
    whole = "10 of 10 (72.2 to 100.0 %)"
    assert f"| `noise` | dropped with its class: right | {whole} | {whole} |" in written
    assert "| true | 10 | 10 |  |  |  |  |  |" in written
    assert "1800+200 tokens, told by 2 answers" in written
    found = results(tmp_path)
    assert (found["cases"], found["trueItems"], found["trueItemsDropped"]) == (30, 10, 0)
    assert {verdict["worth"] for verdict in found["verdicts"]} == {"right"}
    assert sum(request["usage"]["input"] for request in found["requests"]) == 1800


def test_no_request_shows_a_label_or_its_argument(tmp_path: Path) -> None:
    cases(tmp_path / "cases")
    with ModelServer([scripted()]) as server:
        live(tmp_path, server)
    for request in server.requests:
        assert b"MARK-OF-A-LABEL" not in request.raw
        assert b"written for this test" not in request.raw
        assert b"guard/0" not in request.raw


def test_a_dropped_true_item_is_the_first_thing_said_and_named_with_the_readers_reason(tmp_path: Path) -> None:
    def careless(number: int, kind: str, place: str) -> dict[str, Any] | None:
        if kind == "check" and "n03" in place:
            cited = {"file": place.partition(":")[0], "line": 5}
            return says("drop", **{"class": "tests"}, citation=cited, reason="it is | <b>only</b> a test")
        return perfect(number, kind, place)

    cases(tmp_path / "cases")
    with ModelServer([scripted(careless)]) as server:
        ran = live(tmp_path, server)
    assert "**True items dropped: 1 of 10**" in ran.out.split("\n## ")[0]
    (row,) = (line for line in ran.out.splitlines() if line.startswith("| `guard/03`"))
    assert "<b>" not in row
    assert row.count("|") == 7
    assert results(tmp_path)["trueItemsDropped"] == 1


def test_what_a_guard_relabels_a_void_echo_and_a_missing_answer_are_counted_apart(tmp_path: Path) -> None:
    def sloppy(number: int, kind: str, place: str) -> dict[str, Any] | None:
        if kind == "hunk":
            return says("drop", **{"class": "docs"})
        if kind == "check" and "n00" in place:
            return None
        if kind == "check" and "n01" in place:
            return {**says("drop", **{"class": "docs"}), "place": "elsewhere.ts:5"}
        return says("keep")

    cases(tmp_path / "cases")
    with ModelServer([scripted(sloppy)]) as server:
        ran = live(tmp_path, server)
    assert re.search(r"\| drop \| keep \| a downgrade needs a citation .* \| 10 \|", ran.out)
    assert "| true | 10 | 8 |  |  |  | 1 | 1 |" in ran.out


def test_a_drop_with_another_class_is_harmless_for_noise_and_not_right(tmp_path: Path) -> None:
    def other(number: int, kind: str, place: str) -> dict[str, Any] | None:
        said = perfect(number, kind, place)
        return said if said is None or said["action"] != "drop" else {**said, "class": "formatting"}

    cases(tmp_path / "cases")
    with ModelServer([scripted(other)]) as server:
        ran = live(tmp_path, server)
    assert "| noise, docs | 10 |  |  |  | 10 |  |  |" in ran.out
    assert "| `noise` | dropped with its class: right | 0 of 10" in ran.out
    assert {one["worth"] for one in results(tmp_path)["verdicts"] if one["label"] == "noise"} == {"harmless"}


def test_a_stopped_run_goes_on_where_it_stood_and_spends_no_call_twice(tmp_path: Path) -> None:
    cases(tmp_path / "cases")
    with ModelServer([scripted(), status(401, "authentication_error", "no"), scripted()]) as server:
        stopped = live(tmp_path, server)
        assert not (tmp_path / "out" / f"{STEM}.md").exists()
        ran = live(tmp_path, server)
        repeated = live(tmp_path, server)
    assert (stopped.code, ran.code, repeated.code) == (1, 0, 0)
    assert "request 2 of 2: " in stopped.err
    assert "the same command goes on from there" in stopped.err
    assert "1 of 2 requests are answered" in ran.err
    assert len(server.requests) == 3
    assert server.requests[1].raw == server.requests[2].raw
    assert repeated.out == ran.out


def test_an_answer_that_was_paid_for_is_kept_though_it_decides_nothing(tmp_path: Path) -> None:
    cases(tmp_path / "cases")
    with ModelServer([refusal(usage=USAGE), ok("no JSON \ud800", usage=USAGE)]) as server:
        ran = live(tmp_path, server)
        again = live(tmp_path, server)
    assert (ran.code, len(server.requests)) == (0, 2)
    assert "**2 requests of 2 gave no verdict**" in ran.out
    assert "refused to answer" in ran.out
    assert "the reply is not JSON" in ran.out
    assert "**True items dropped: 0 of 10**, of which 0 were answered (nothing is known of these)" in ran.out
    assert "1 of the answers decided nothing; they are kept, too" in ran.err
    assert "None." in ran.out.partition("## Harms")[2].partition("##")[0]
    assert again.out == ran.out


def test_a_line_that_a_killed_run_left_unfinished_is_told_and_taken_away(tmp_path: Path) -> None:
    cases(tmp_path / "cases")
    kept = tmp_path / "out" / f"{STEM}.replies.jsonl"
    with ModelServer([scripted()]) as server:
        first = live(tmp_path, server)
        lines = kept.read_bytes().splitlines(keepends=True)
        kept.write_bytes(lines[0] + lines[1][:40])
        ran = live(tmp_path, server)
    assert (ran.code, len(server.requests), ran.out) == (0, 3, first.out)
    assert "was not finished" in ran.err
    assert kept.read_bytes() == b"".join(lines)


def test_two_runs_do_not_ask_at_once(tmp_path: Path) -> None:
    cases(tmp_path / "cases")
    kept = tmp_path / "out" / f"{STEM}.replies.jsonl"
    kept.parent.mkdir()
    with ModelServer() as server, kept.open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        ran = live(tmp_path, server)
    assert (ran.code, server.requests) == (2, [])
    assert "another run keeps its replies in" in ran.err


@pytest.mark.parametrize("kind", ["file", "pipe", "link"])
def test_replies_that_could_not_be_kept_are_not_asked_for(tmp_path: Path, kind: str) -> None:
    cases(tmp_path / "cases")
    out = tmp_path / "out"
    if kind == "file":
        out.write_text("in the way")
    else:
        out.mkdir()
        kept = out / f"{STEM}.replies.jsonl"
        os.mkfifo(kept) if kind == "pipe" else kept.symlink_to(tmp_path / "elsewhere")
    with ModelServer() as server:
        ran = live(tmp_path, server)
    assert (ran.code, server.requests) == (2, [])
    assert "cannot keep replies in" in ran.err
    assert not (tmp_path / "elsewhere").exists()


def test_another_address_or_effort_is_asked_anew(tmp_path: Path) -> None:
    cases(tmp_path / "cases", 1, 1, 1)
    (tmp_path / "high.yml").write_text("llm: {effort: high}\n")
    with ModelServer([scripted()]) as one, ModelServer([scripted()]) as other:
        live(tmp_path, one)
        ran = live(tmp_path, other)
        live(tmp_path, other, "--config", tmp_path / "high.yml")
    assert (len(one.requests), len(other.requests)) == (1, 2)
    assert f"--llm-base-url {other.url}" in ran.out
    assert f"was asked at {other.url}," in ran.out.partition("**True items")[0].replace(BREAK, "")
    assert (tmp_path / "out" / f"{STEM.replace('-low-', '-high-')}.md").exists()


def test_a_kept_reply_that_is_none_ends_the_run_with_its_line(tmp_path: Path) -> None:
    cases(tmp_path / "cases")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / f"{STEM}.replies.jsonl").write_text('{"key": 1}\n')
    with ModelServer() as server:
        ran = live(tmp_path, server)
    assert (ran.code, server.requests) == (2, [])
    assert "line 1: not a kept reply" in ran.err


def test_the_orders_of_the_blocks_show_what_hangs_on_them(tmp_path: Path) -> None:
    def first_blocks(number: int, kind: str, place: str) -> dict[str, Any] | None:
        return perfect(number, kind, place) if number < 5 or kind != "hunk" else says("keep")

    cases(tmp_path / "cases", guards=4, prose=8, moot=4)
    with ModelServer([scripted(first_blocks)]) as server:
        ran = live(tmp_path, server, "--shuffles", "3")
    assert (ran.code, len(server.requests)) == (0, 3)
    messages = [request.body["messages"][0]["content"] for request in server.requests]
    assert len(set(messages)) == 3
    places = [sorted(re.findall(r"^place: .*", message, re.MULTILINE)) for message in messages]
    assert places[0] == places[1] == places[2]
    found = results(tmp_path)
    assert len(found["verdicts"]) == 48
    assert found["flips"]
    assert all(name.startswith("prose/") for name in found["flips"])
    assert f"{len(found['flips'])} case" in ran.out
    assert "the worst of 3 orders of the blocks" in ran.out


def test_replies_from_elsewhere_score_as_those_that_were_asked_for(tmp_path: Path) -> None:
    cases(tmp_path / "cases")
    with ModelServer([scripted()]) as server:
        asked = live(tmp_path, server)
    exported = bench(tmp_path, "--export", tmp_path / "ex")
    assert exported.code == 0
    reply = answers(perfect)
    for path in sorted((tmp_path / "ex").glob("*.request.json")):
        request = json.loads(path.read_text())
        assert request["promptHash"] == PROMPT_HASH
        said = reply({"messages": [{"content": request["message"]}]})
        path.with_name(path.name.replace("request", "reply")).write_text(json.dumps(said))
    sent = [request.body["messages"][0]["content"] for request in server.requests]
    assert [
        json.loads(path.read_text())["message"] for path in sorted((tmp_path / "ex").glob("*.request.json"))
    ] == sent
    ran = bench(tmp_path, "--import", tmp_path / "ex", "--name", "a-person")
    assert ran.code == 0
    assert ran.out.startswith(f"# a-person · prompt {PROMPT_HASH} · 30 cases\n")
    assert "Answered elsewhere; the name was given by who imported" in ran.out
    assert "Spent: not known" in ran.out

    def figures(text: str) -> str:
        return text[text.index("## What it is worth") : text.index("## Cost")]

    assert figures(ran.out) == figures(asked.out)
    assert (tmp_path / "out" / f"results-a-person-{PROMPT_HASH}.json").exists()


def test_a_reply_that_is_not_there_is_named_and_no_reply_at_all_refused(tmp_path: Path) -> None:
    cases(tmp_path / "cases")
    bench(tmp_path, "--export", tmp_path / "ex")
    ran = bench(tmp_path, "--import", tmp_path / "ex", "--name", "nobody")
    assert (ran.code, ran.out) == (2, "")
    assert "there is no reply in" in ran.err
    (tmp_path / "ex" / "1-01.reply.json").write_text('{"verdicts": []}')
    ran = bench(tmp_path, "--import", tmp_path / "ex", "--name", "half")
    assert ran.code == 0
    assert "- `1-02`: there is no 1-02.reply.json" in ran.out


def test_replies_to_another_question_are_refused(tmp_path: Path) -> None:
    cases(tmp_path / "cases")
    bench(tmp_path, "--export", tmp_path / "ex")
    (tmp_path / "ex" / "1-01.reply.json").write_text('{"verdicts": []}')
    changed = tmp_path / "cases" / "guard" / "00.toml"
    changed.write_text(changed.read_text().replace("still refused", "ever refused"))
    ran = bench(tmp_path, "--import", tmp_path / "ex", "--name", "late")
    assert (ran.code, ran.out) == (2, "")
    assert "is not what is asked now" in ran.err


def test_strict_drops_of_the_configuration_count(tmp_path: Path) -> None:
    def bold(number: int, kind: str, place: str) -> dict[str, Any] | None:
        if kind == "check":
            return says("drop", **{"class": "docs"}, citation={"file": place.partition(":")[0], "line": 5})
        return perfect(number, kind, place)

    cases(tmp_path / "cases", guards=2, prose=2, moot=0)
    (tmp_path / "strict.yml").write_text("llm:\n  model: other-model\n  verify:\n    strictDrops: true\n")
    with ModelServer([scripted(bold)]) as server:
        ran = live(tmp_path, server, "--config", tmp_path / "strict.yml")
    assert server.requests[0].body["model"] == "other-model"
    assert "`strictDrops` on" in ran.out
    assert "**True items dropped: 0 of 2**" in ran.out
    assert "| true | 2 |  | 2 |  |  |  |  |" in ran.out
    assert "| noise, docs | 2 |  |  | 2 |  |  |  |" in ran.out


def test_a_run_tells_what_it_will_spend_and_that_it_is_alive(tmp_path: Path) -> None:
    cases(tmp_path / "cases")
    with ModelServer([scripted()]) as server:
        ran = live(tmp_path, server)
    assert re.search(r"0 of 2 requests are answered in .*; 2 to ask, about \d+ tokens of input", ran.err)
    assert re.search(r"request 1 of 2 \(24 blocks\)", ran.err)
    assert re.search(r"request 2 of 2 \(6 blocks, about \d+ s left\)", ran.err)
    with ModelServer([scripted()]) as server:
        assert live(tmp_path, server, "--quiet").err == ""


def test_a_request_over_the_limit_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    cases(tmp_path / "cases")
    (tmp_path / "small.yml").write_text("llm:\n  verify:\n    maxTokens: 2000\n")
    with ModelServer() as server:
        ran = live(tmp_path, server, "--config", tmp_path / "small.yml")
    assert (ran.code, server.requests) == (2, [])
    assert "more than llm.verify.maxTokens (2000)" in ran.err


def test_without_a_key_nothing_is_asked_and_the_reason_told(tmp_path: Path) -> None:
    cases(tmp_path / "cases")
    ran = bench(tmp_path, "--reader", "anthropic")
    assert ran.code == 1
    assert "request 1 of 2: no key: set " in ran.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("label = ", "not a TOML file"),
        (GUARD.replace('label = "true"', 'label = "maybe"'), "label: "),
        (GUARD.replace('label = "true"', 'label = "noise"'), "class: noise has one"),
        (PROSE.replace('label = "noise"', 'label = "true"'), "class: noise has one"),
        (GUARD.replace("line = 5", "line = 50"), "does not cover line 50"),
        (GUARD.replace("+4,3 @@", "+4,4 @@"), "hunk: its lines are those of @@ -4,4 +4,3 @@"),
        (GUARD.replace(" }\n'''", " }\n more\n'''"), "more lines than its @@ headers count"),
        (GUARD.replace("hunk = '''\n", "hunk = '''\ndiff --git a/x b/x\n"), "hunk: "),
        (GUARD + 'id = "contract.api"\n', "only a fact has an id"),
        (MOOT.replace('id = "coupling.missing"\n', ""), "a fact has its detector's id"),
        (PROSE.replace("line = 1\n", ""), "a hunk has its first line"),
        (GUARD + '[base]\n"shop/NAME.ts" = "another text"\n', "is not what the hunk was made against"),
        (GUARD.replace("shop/NAME.ts", "shop/a b.ts"), "item.file: "),
        (GUARD + "colour = 3\n", "item.colour: "),
        ("x = " + "[" * 5_000, "not a TOML file (nested too deeply)"),
        (GUARD.replace("line = 5", f"line = {'9' * 4_000}"), "item.line: "),
        (MOOT.replace('id = "coupling.missing"', 'id = ""'), "item.id: "),
        (GUARD.replace("@@ -4,4 +4,3 @@", "@@ -x @@"), "or no such header"),
    ],
)
def test_a_file_that_is_no_case_is_named_with_what_is_wrong(tmp_path: Path, text: str, said: str) -> None:
    one_case(tmp_path / "cases", text)
    ran = bench(tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert "one.toml: " in ran.err
    assert said in ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--shuffles", "0"], "expected 1 to 100 orders"),
        (["--import", "x"], "--import and --name belong together"),
        (["--name", "x"], "--import and --name belong together"),
        (["--import", "x", "--name", "../x"], "--name: letters"),
        (["--import", "x", "--name", "offline"], "not the name of a reader"),
        (["--import", "x", "--export", "y", "--name", "z"], "--export and --import exclude each other"),
        (["--import", "x", "--name", "Anthropic-claude"], "not the name of a reader"),
        (["--export", "x", "--reader", "offline"], "--export and --reader exclude each other"),
        (["--llm-base-url", "http://127.0.0.1:1"], "--llm-base-url needs --reader anthropic"),
        (["--import", "x", "--name", "z"], "cannot read the exported request"),
        (["--config", "absent.yml"], "cannot read the configuration"),
    ],
)
def test_wrong_options_are_refused_in_a_sentence(tmp_path: Path, arguments: list[str], said: str) -> None:
    cases(tmp_path / "cases", 1, 1, 1)
    ran = bench(tmp_path, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "text", ["llm: {effort: hgih}", "llm: {efort: low}", "llm: {verify: {strictDrops: perhaps}}", "llm: []"]
)
def test_c1_a_configuration_that_a_pass_would_warn_of_is_refused_before_anything_is_paid(
    tmp_path: Path, text: str
) -> None:
    cases(tmp_path / "cases", 1, 1, 1)
    (tmp_path / "wrong.yml").write_text(text)
    with ModelServer() as server:
        ran = live(tmp_path, server, "--config", tmp_path / "wrong.yml")
    assert (ran.code, server.requests) == (2, [])
    assert "configuration: " in ran.err


def test_files_that_are_none_are_named_all_at_once_up_to_some(tmp_path: Path) -> None:
    directory = cases(tmp_path / "cases", 1, 0, 0)
    (directory / "a.toml").mkdir()
    os.mkfifo(directory / "b.toml")
    (directory / "c.toml").symlink_to("c.toml")
    (directory / "d\x1b[31m.toml").write_text(GUARD)
    for number in range(30):
        (directory / f"e{number:02}.toml").write_text("no")
    ran = bench(tmp_path)
    assert ran.code == 2
    assert "b.toml: it must be a plain file; " in ran.err
    assert "c.toml: cannot be read" in ran.err
    assert "cannot be printed: rename it" in ran.err
    assert ran.err.count(".toml: ") == 20
    assert ran.err.endswith("; and 13 more\n")
    assert "\x1b" not in ran.err


def test_requests_are_exported_where_nothing_else_lies_and_imported_as_they_are(tmp_path: Path) -> None:
    """Replies to another prompt's requests would else count for this one's."""
    cases(tmp_path / "cases")
    exported = bench(tmp_path, "--export", tmp_path / "ex", "--shuffles", "3")
    assert f"verifier bench {tmp_path}/cases --import {tmp_path}/ex --name WHO --shuffles 3" in exported.err
    again = bench(tmp_path, "--export", tmp_path / "ex", "--shuffles", "3")
    assert (again.code, "export into an empty directory" in again.err) == (2, True)
    (tmp_path / "ex" / "1-01.reply.json").write_text('\ufeff{"verdicts": []}')
    fewer = bench(tmp_path, "--import", tmp_path / "ex", "--name", "who")
    assert (fewer.code, fewer.out) == (2, "")
    assert "is not what is asked now" in fewer.err
    ran = bench(tmp_path, "--import", tmp_path / "ex", "--name", "who", "--shuffles", "3")
    assert ran.code == 0
    assert "of which 0 were answered" in ran.out
    assert "1-01" not in ran.out.partition("gave no verdict")[2].partition("##")[0]


def test_results_lie_beside_their_cases(tmp_path: Path) -> None:
    cases(tmp_path / "mine" / "cases", 1, 1, 1)
    assert run("bench", "mine/cases", cwd=tmp_path).code == 0
    assert (tmp_path / "mine" / f"results-offline-{PROMPT_HASH}.md").exists()


def test_a_directory_without_cases_is_refused(tmp_path: Path) -> None:
    assert "is no directory" in bench(tmp_path).err
    (tmp_path / "cases").mkdir()
    assert "there is no case (*.toml)" in bench(tmp_path).err


def test_a_results_directory_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    cases(tmp_path / "cases", 1, 1, 1)
    (tmp_path / "out").write_text("in the way")
    ran = bench(tmp_path)
    assert ran.code == 2
    assert "cannot make the directory" in ran.err


def test_s33_another_word_in_the_system_prompt_has_its_own_hash_and_result_file(tmp_path: Path) -> None:
    cases(tmp_path / "cases", 1, 1, 1)
    shutil.copytree(ROOT / "verifier", tmp_path / "changed" / "verifier", ignore=shutil.ignore_patterns("__pycache__"))
    prompt = tmp_path / "changed" / "verifier" / "verification" / "prompt.py"
    prompt.write_text(prompt.read_text().replace("some are noise", "many are noise"))
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "verifier",
        "bench",
        tmp_path / "cases",
        "--out",
        tmp_path / "out",
    ]
    env = environment(tmp_path) | {"PYTHONPATH": str(tmp_path / "changed")}
    done = subprocess.run(command, cwd=tmp_path / "changed", env=env, capture_output=True, check=True, text=True)
    assert bench(tmp_path).code == 0
    found = {re.sub(r".*-([0-9a-f]{12})\..*", r"\1", path.name) for path in (tmp_path / "out").iterdir()}
    assert len(found) == 2
    assert PROMPT_HASH in found
    (other,) = found - {PROMPT_HASH}
    assert f"prompt {other}" in done.stdout


# What the repository holds.


def test_the_offline_results_in_the_repository_are_what_their_command_makes(tmp_path: Path) -> None:
    ran = run("bench", "bench/cases", "--reader", "offline", "--out", tmp_path, cwd=ROOT)
    assert ran.code == 0
    for suffix in ("md", "json"):
        name = f"results-offline-{PROMPT_HASH}.{suffix}"
        assert (tmp_path / name).read_text() == (ROOT / "bench" / name).read_text()
