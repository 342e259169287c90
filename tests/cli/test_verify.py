"""`verifier verify`, from the shell to the files it leaves (sections 1 to 9)."""

import json
import os
import pty
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.command import (
    GATE,
    IDS,
    ON,
    README,
    SESSION,
    VERIFIER,
    Shop,
    answers,
    brief,
    document,
    environment,
    run,
    says,
    shop,
)
from tests.servers.model import ModelServer, empty, ok, refusal, silent, status, stop
from verifier import lossless
from verifier.text import fact_hash

KEY = {"ANTHROPIC_API_KEY": "sk-test-0123456789"}
KEEP = answers(lambda *_: says("keep"))
DROP_ALL = answers(lambda *_: says("drop", **{"class": "docs"}))
COUPLING = fact_hash("coupling.missing", "src/session.ts", brief()["captain"]["facts"][1]["text"])


def dismissed(verdict: str, hashed: str = COUPLING) -> str:
    line = {
        "hash": hashed,
        "id": "coupling.missing",
        "file": "src/session.ts",
        "verdict": verdict,
        "note": "",
        "at": "",
    }
    return json.dumps(line) + "\n"


def gate(text: str) -> dict[str, str]:
    top = lossless.members(text)
    return {name: top[name] for name in GATE}


def live(pull: Shop, server: ModelServer, *arguments: str):  # type: ignore[no-untyped-def]
    return pull.verify("--llm-base-url", server.url, *arguments, env=KEY)


# off, S23


@pytest.mark.parametrize(
    "config",
    [
        None,
        "",
        "other: 1\n",
        "llm:\n  enabled: true\n",
        "llm:\n  verify: {enabled: true}\n",
        "llm: {enabled: false, verify: {enabled: true}}\n",
        "llm: {enabled: true, verify: {enabled: false}}\n",
        "llm: {enabled: false, verify: {enabled: true, maxTokens: many}}\n",
    ],
)
def test_s23_off_changes_nothing(tmp_path: Path, config: str | None) -> None:
    pull = shop(tmp_path, config=config, memory="not JSON\n")
    ran = pull.verify("--reader", "offline")
    assert ran.code == 0
    assert (pull.out / "brief.json").read_bytes() == pull.brief.read_bytes()
    assert "verified" not in ran.out
    assert ran.out == (pull.out / "comment.md").read_text()
    assert "2 files read" in ran.out
    assert not (pull.out / "record.json").exists()
    assert "off: " in ran.err


def test_s23_no_llm_wins_over_a_broken_configuration_and_needs_no_repository(tmp_path: Path) -> None:
    pull = shop(tmp_path, config="llm: [\n")
    assert pull.verify("--no-llm").code == 0
    assert (pull.out / "brief.json").read_bytes() == pull.brief.read_bytes()
    ran = run("verify", "--brief", pull.brief, "--no-llm", "--out", tmp_path / "other", cwd=tmp_path)
    assert ran.code == 0
    assert (tmp_path / "other" / "comment.md").read_text() == ran.out


def test_an_off_run_leaves_no_record_of_an_earlier_one(tmp_path: Path) -> None:
    pull = shop(tmp_path)
    pull.verify("--reader", "offline")
    assert (pull.out / "record.json").exists()
    pull.verify("--no-llm")
    assert not (pull.out / "record.json").exists()


# the pass


def test_the_offline_reader_drops_what_rules_prove_and_leaves_the_rest_unverified(tmp_path: Path) -> None:
    pull = shop(tmp_path)
    ran = pull.verify("--reader", "offline")
    assert ran.code == 0
    result = pull.result()
    actions = {verdict["id"]: verdict["action"] for verdict in result["verification"]["verdicts"]}
    assert actions == dict.fromkeys(IDS, "unverified") | {"hunk:README.md:1": "drop"}
    assert [file["file"] for file in result["reviewFirst"]] == ["src/session.ts"]
    assert result["reviewFirst"][0]["hunks"][0]["reason"] == "signature changed [unverified]"
    assert any(re.fullmatch(r"dropped by verifier: docs — .+ \(hunk:README\.md:1\)", note) for note in result["notes"])
    assert "`hunk:README.md:1` (docs)" in ran.out
    verdict = next(found for found in result["verification"]["verdicts"] if found["id"] == "hunk:README.md:1")
    assert verdict["confirmedByRules"] is True


def test_one_call_verifies_every_item(tmp_path: Path) -> None:
    pull = shop(tmp_path)
    usage = {"input_tokens": 900, "output_tokens": 80, "cache_read_input_tokens": 100}
    with ModelServer([ok(KEEP, usage=usage, model="claude-sonnet-5-5-20261001", thinking=True)]) as server:
        ran = live(pull, server)
    assert ran.code == 0
    assert (len(server.requests), server.violations) == (1, [])
    result = pull.result()
    assert gate((pull.out / "brief.json").read_text()) == GATE
    suffixes = [fact["text"].rpartition(" [")[2] for fact in result["captain"]["facts"]]
    assert suffixes == ["verified · new]", "verified]"]
    assert result["captain"]["priority"] == "careful"
    assert result["verification"]["status"] == "verified"
    assert result["verification"]["model"] == "claude-sonnet-5-5"
    assert result["verification"]["answeredBy"] == "claude-sonnet-5-5-20261001"
    assert result["verification"]["usage"] == {"input": 1000, "output": 80}
    call = f"verifier: claude-sonnet-5-5-20261001 · prompt {result['verification']['promptHash']} · 1000+80 tokens"
    assert result["notes"] == ["2 files read", call]
    assert re.search(r"asking claude-sonnet-5-5 about 5 items …\nverifier: done after \d", ran.err)
    assert "verifier: verified: 5 kept; 1000+80 tokens" in ran.err


def test_s21_the_gate_is_the_same_off_on_failing_and_with_everything_dropped(tmp_path: Path) -> None:
    pull = shop(tmp_path)
    evidence = answers(lambda _n, _k, place: says("drop", **{"class": "docs"}, citation=cited(place)))

    def cited(place: str) -> dict[str, object]:
        path = place.partition(":")[0]
        return {"file": path, "line": 7 if path == "src/session.ts" else 4}

    for script in ([ok(KEEP)], [status(401, "authentication_error", "no")], [ok(DROP_ALL)], [ok(evidence)], [ok("{")]):
        with ModelServer(script) as server:
            assert live(pull, server).code == 0
        assert gate((pull.out / "brief.json").read_text()) == GATE
        assert pull.result()["captain"]["priority"] == "careful"
    pull.verify("--no-llm")
    assert gate((pull.out / "brief.json").read_text()) == GATE


def test_s13_a_reply_that_drops_everything_without_evidence_changes_nothing(tmp_path: Path) -> None:
    pull = shop(tmp_path)
    with ModelServer([ok(DROP_ALL)]) as server:
        live(pull, server)
    assert {verdict["action"] for verdict in pull.result()["verification"]["verdicts"]} == {"keep"}
    assert {verdict["decidedBy"] for verdict in pull.result()["verification"]["verdicts"]} == {"guard"}


def test_strict_drops_turn_an_unconfirmed_drop_into_a_downgrade(tmp_path: Path) -> None:
    pull = shop(tmp_path, config=ON + "    strictDrops: true\n")
    said = answers(lambda *_: says("drop", **{"class": "tests"}, citation={"file": "src/session.ts", "line": 7}))
    with ModelServer([ok(said)]) as server:
        live(pull, server)
    verdicts = {verdict["id"]: verdict for verdict in pull.result()["verification"]["verdicts"]}
    assert verdicts["contract.api:src/session.ts:7"]["action"] == "downgrade"
    assert verdicts["contract.api:src/session.ts:7"]["modelSaid"]["action"] == "drop"
    assert verdicts["hunk:README.md:1"]["action"] == "keep"


# failures, S24


FAILURES = {
    "rejected key": (status(401, "authentication_error", "invalid"), "401"),
    "unknown model": (status(404, "not_found_error", "model: x"), "llm.model"),
    "refused": (refusal("cyber"), "refused"),
    "truncated": (stop("max_tokens", text='{"verdicts":'), "cut"),
    "empty": (empty(), "no text"),
    "not JSON": (ok("Certainly! Here is"), "not JSON"),
    "other JSON": (ok({"verdicts": [{"n": 1}]}), "schema"),
}


@pytest.mark.parametrize("kind", FAILURES)
def test_s24_a_failure_leaves_everything_unverified_and_says_why(tmp_path: Path, kind: str) -> None:
    answer, word = FAILURES[kind]
    pull = shop(tmp_path, memory=dismissed("wrong"))
    pull.brief.write_text(document(brief()))
    with ModelServer([answer]) as server:
        ran = live(pull, server)
    assert ran.code == 0
    assert len(server.requests) == 1
    result = pull.result()
    assert result["verification"]["status"] == "failed"
    assert {verdict["action"] for verdict in result["verification"]["verdicts"]} == {"unverified"}
    assert [fact["text"].rpartition(" ")[2] for fact in result["captain"]["facts"]] == ["[unverified]"] * 2
    assert result["captain"]["why"] == "createSession lost a parameter"
    note = result["notes"][1]
    assert note.startswith("verifier failed: ")
    assert note.endswith("; everything below is unverified")
    assert word in note
    folded = ran.out.index("<details>")
    assert ran.out.index("verifier failed: ") < folded
    assert KEY["ANTHROPIC_API_KEY"] not in ran.out + ran.err + "".join(map(str, pull.written().values()))


def test_s24_tokens_already_spent_are_recorded(tmp_path: Path) -> None:
    pull = shop(tmp_path)
    with ModelServer([stop("max_tokens", text="{", usage={"input_tokens": 11, "output_tokens": 7})]) as server:
        live(pull, server)
    assert pull.result()["verification"]["usage"] == {"input": 11, "output": 7}
    assert pull.result()["notes"][-1].endswith("· 11+7 tokens")


@pytest.mark.parametrize(
    ("config", "memory", "words"),
    [
        ("llm: [\n", None, "configuration: .opendrs.yml line"),
        (
            "llm:\n  enabled: yes please\n  verify: {enabled: true}\n",
            None,
            ".opendrs.yml line 2, column 3: llm.enabled",
        ),
        (ON + "    maxTokens: 1.5\n", None, ".opendrs.yml line 5, column 5: llm.verify.maxTokens"),
        (ON, dismissed("wrong") + "\n{\n", ".opendrs/facts.jsonl line 3"),
        (ON, dismissed("maybe"), ".opendrs/facts.jsonl line 1"),
    ],
)
def test_s24_configuration_and_memory_that_cannot_be_read_fail_open(
    tmp_path: Path, config: str, memory: str | None, words: str
) -> None:
    pull = shop(tmp_path, config=config, memory=memory)
    with ModelServer([ok(KEEP)]) as server:
        ran = live(pull, server)
    assert ran.code == 0
    assert server.requests == []
    assert words in pull.result()["notes"][1]
    assert pull.result()["verification"]["status"] == "failed"


def test_s24_without_a_key_the_brief_is_shown_and_nothing_is_asked(tmp_path: Path) -> None:
    pull = shop(tmp_path)
    ran = pull.verify()
    assert ran.code == 0
    assert "ANTHROPIC_API_KEY" in pull.result()["notes"][1]
    assert "verifier failed: no key" in ran.out.partition("<details>")[0]
    assert len(pull.result()["notes"]) == 2


def test_s28_the_wait_is_bounded(tmp_path: Path) -> None:
    pull = shop(tmp_path, config=ON + "    timeoutSeconds: 4\n")
    with ModelServer([silent()]) as server:
        ran = live(pull, server)
    assert ran.code == 0
    assert "llm.verify.timeoutSeconds" in pull.result()["notes"][1]
    # a slow machine may spend the time on the import of the SDK: then nobody was asked, and no token is told
    assert pull.result()["notes"][-1].endswith("· ?+? tokens") is bool(server.requests)


# skips, S25 to S27


def quick(**changes: object) -> dict[str, object]:
    facts = [dict(brief()["captain"]["facts"][1])]
    return brief(
        captain={"priority": "quick confirm", "why": "small", "facts": facts}, reviewFirst=[], checks=[], **changes
    )


def test_s25_a_quick_confirm_brief_with_only_info_facts_is_skipped(tmp_path: Path) -> None:
    pull = shop(tmp_path, of=quick())
    ran = pull.verify()
    assert ran.code == 0
    assert pull.result()["notes"] == ["2 files read", "verifier skipped: quick-confirm PR with only info facts"]
    assert pull.result()["verification"]["status"] == "skipped"
    assert pull.result()["captain"]["facts"][0]["text"].endswith(" [unverified]")


def test_s25_the_memory_still_applies(tmp_path: Path) -> None:
    pull = shop(tmp_path, of=quick(), memory=dismissed("ignored"))
    pull.verify()
    assert pull.result()["captain"]["facts"][0]["text"].endswith(" [downgraded: dismissed earlier as ignored]")


def test_s25_comes_after_a_failure(tmp_path: Path) -> None:
    pull = shop(tmp_path, of=quick(), memory="{}\n")
    pull.verify()
    assert pull.result()["verification"]["status"] == "failed"


def test_s26_where_the_memory_leaves_nothing_to_send_no_key_is_needed(tmp_path: Path) -> None:
    of = quick()
    of["captain"]["priority"] = "careful"  # type: ignore[index]
    pull = shop(tmp_path, of=of, memory=dismissed("intentional"))
    ran = pull.verify()
    assert ran.code == 0
    assert pull.result()["verification"]["status"] == "verified"
    assert pull.result()["notes"] == ["2 files read"]
    assert pull.result()["captain"]["why"].startswith("src/client.ts changed in 14")


def test_s27_a_prompt_that_is_too_long_is_not_sent(tmp_path: Path) -> None:
    pull = shop(tmp_path, config=ON + "    maxTokens: 100\n", memory=dismissed("wrong"))
    ran = pull.verify(env=KEY)
    assert ran.code == 0
    note = pull.result()["notes"][1]
    assert re.fullmatch(r"verifier skipped: prompt of \d+ tokens exceeds llm\.verify\.maxTokens \(100\)", note)
    assert {verdict["action"] for verdict in pull.result()["verification"]["verdicts"]} == {"unverified"}


# the memory and the base commit, S30 and S31


def test_s30_a_dismissed_fact_is_downgraded_and_not_sent(tmp_path: Path) -> None:
    pull = shop(tmp_path, memory=dismissed("useful") + dismissed("wrong"))
    with ModelServer([ok(KEEP)]) as server:
        live(pull, server)
        assert "coupling.missing" not in server.requests[0].body["messages"][0]["content"]
    fact = pull.result()["captain"]["facts"][-1]
    assert fact["text"].endswith(" [downgraded: dismissed earlier as wrong]")
    assert fact["strength"] == "info"


def test_s30_a_useful_fact_cannot_be_downgraded(tmp_path: Path) -> None:
    pull = shop(tmp_path, memory=dismissed("wrong") + dismissed("useful"))
    said = answers(lambda *_: says("downgrade", citation={"file": "src/client.ts", "line": 1}))
    with ModelServer([ok(said)]) as server:
        live(pull, server)
    verdict = pull.result()["verification"]["verdicts"][1]
    assert (verdict["action"], verdict["decidedBy"]) == ("keep", "memory")
    assert verdict["modelSaid"]["action"] == "downgrade"


def test_s31_a_pull_request_cannot_dismiss_its_own_facts_or_switch_itself_off(tmp_path: Path) -> None:
    edits = {".opendrs.yml": "llm: {enabled: false}\n", ".opendrs/facts.jsonl": dismissed("wrong")}
    pull = shop(tmp_path, change=edits)
    pull.verify("--reader", "offline")
    result = pull.result()
    assert result["captain"]["facts"][1]["text"].endswith(" [unverified]")
    based = [note for note in result["notes"] if note.startswith("base version used: ")]
    assert [path in note for path, note in zip(edits, based, strict=True)] == [True, True]


def test_s31_trial_files_replace_those_at_base(tmp_path: Path) -> None:
    pull = shop(tmp_path, config=None)
    (tmp_path / "on.yml").write_text(ON)
    (tmp_path / "facts.jsonl").write_text(dismissed("ignored"))
    pull.verify("--reader", "offline", "--config", tmp_path / "on.yml", "--memory", tmp_path / "facts.jsonl")
    assert pull.result()["captain"]["facts"][1]["text"].endswith(" [downgraded: dismissed earlier as ignored]")


def test_s31_base_texts_come_from_the_merge_base_and_memory_from_base(tmp_path: Path) -> None:
    pull = shop(tmp_path)
    from tests.repos import Repo

    repo = Repo(pull.path)
    repo.git("checkout", "--quiet", "-b", "moved", pull.base)
    moved = repo.commit({".opendrs/facts.jsonl": dismissed("wrong"), "src/client.ts": "export {};\n"})
    pull.base = moved
    with ModelServer([ok(KEEP)]) as server:
        live(pull, server)
        assert server.requests[0].body["messages"][0]["content"].count("<block") == 4
    assert pull.result()["captain"]["facts"][-1]["text"].endswith(" [downgraded: dismissed earlier as wrong]")


# records and replay, S38


def test_s38_a_record_replays_byte_for_byte_without_network_or_sdk(tmp_path: Path) -> None:
    pull = shop(tmp_path, memory=dismissed("wrong"), change={".opendrs.yml": "llm: {}\n"})
    said = answers(lambda n, *_: says("downgrade", citation={"file": "src/session.ts", "line": 7}) if n != 2 else None)
    with ModelServer([ok(said)]) as server:
        first = live(pull, server)
    once = pull.written()
    record = tmp_path / "kept.json"
    record.write_bytes(once["record.json"])
    alone = run("verify", "--reader", f"replay:{record}", "--out", pull.out, cwd=tmp_path)
    assert (alone.code, alone.out) == (0, first.out)
    assert pull.written() == once
    again = pull.verify("--reader", f"replay:{record}", env={"PYTHONPROFILEIMPORTTIME": "1"})
    assert (again.code, again.out) == (0, first.out)
    assert {name: data for name, data in pull.written().items() if name != "record.json"} == {
        name: data for name, data in once.items() if name != "record.json"
    }
    assert not re.search(r"\| +(anthropic|httpx2|tenacity|asyncio)\n", again.err)


def test_s38_a_failed_run_replays_too(tmp_path: Path) -> None:
    pull = shop(tmp_path)
    with ModelServer([refusal("bio")]) as server:
        first = live(pull, server)
    once = pull.written()
    (tmp_path / "kept.json").write_bytes(once["record.json"])
    again = pull.verify("--reader", f"replay:{tmp_path / 'kept.json'}")
    assert again.out == first.out
    assert pull.written() == once


def test_s38_a_record_of_another_prompt_or_question_is_refused(tmp_path: Path) -> None:
    pull = shop(tmp_path)
    pull.verify("--reader", "offline")
    record = json.loads((pull.out / "record.json").read_text())
    kept = tmp_path / "kept.json"
    kept.write_text(json.dumps(record))
    other = brief()
    other["checks"][0]["text"] = "Another question?"
    pull.brief.write_text(document(other))
    ran = pull.verify("--reader", f"replay:{kept}")
    assert ran.code == 2
    assert "another question" in ran.err
    record["prompt"]["hash"] = "0" * 12
    kept.write_text(json.dumps(record))
    ran = run("verify", "--reader", f"replay:{kept}", cwd=tmp_path)
    assert ran.code == 2
    assert "was made with prompt 000000000000" in ran.err


# inputs, A6


def test_a6_all_wrong_options_are_told_at_once(tmp_path: Path) -> None:
    ran = run("verify", "--reader", "oracle", "--base-dir", "x", "--head", "y", cwd=tmp_path)
    assert ran.code == 2
    for words in ("--reader oracle", "--brief is missing", "--base-dir needs --diff", "need --repo", "name the change"):
        assert words in ran.err
    assert ran.out == ""


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--base", "nowhere"], 2, "nowhere"),
        (["--head", "-x"], 2, "-x"),
        (["--repo", "/nonexistent"], 2, "/nonexistent"),
        (["--brief", "/nonexistent"], 1, "/nonexistent"),
        (["--config", "/nonexistent"], 2, "/nonexistent"),
        (["--memory", "/nonexistent"], 2, "/nonexistent"),
        (["--reader", "replay:/nonexistent"], 2, "/nonexistent"),
        (["--out", "/dev/null/x"], 2, "/dev/null/x"),
        (["--diff", "x"], 2, "--repo and --diff"),
    ],
)
def test_a6_each_wrong_input_is_one_sentence(tmp_path: Path, arguments: list[str], code: int, words: str) -> None:
    pull = shop(tmp_path)
    ran = pull.verify(*[f"{name}" for name in arguments]) if arguments[1] != "-x" else pull.verify("--head=-x")
    assert ran.code == code
    assert words in ran.err
    assert "Traceback" not in ran.err
    assert ran.err.count("\n") == 1


def test_b2_what_is_not_a_brief_is_an_error_that_names_the_place(tmp_path: Path) -> None:
    pull = shop(tmp_path)
    broken = brief()
    broken["captain"]["facts"][1]["strength"] = "weak"
    pull.brief.write_text(document(broken))
    ran = pull.verify("--reader", "offline")
    assert ran.code == 1
    assert "$.captain.facts[1].strength: expected" in ran.err
    assert ran.out == ""
    assert not pull.out.exists()


def test_a4_a_brief_for_another_head_is_refused(tmp_path: Path) -> None:
    pull = shop(tmp_path)
    pull.brief.write_text(document(brief(head="0" * 40)))
    ran = pull.verify("--reader", "offline")
    assert ran.code == 2
    assert "0" * 40 in ran.err


def test_a_verified_brief_is_not_verified_again(tmp_path: Path) -> None:
    pull = shop(tmp_path)
    pull.verify("--reader", "offline")
    pull.brief.write_bytes((pull.out / "brief.json").read_bytes())
    ran = pull.verify("--reader", "offline")
    assert ran.code == 1
    assert "$.verification" in ran.err


# output


def test_stdout_is_the_comment_alone_and_quiet_says_nothing_else(tmp_path: Path) -> None:
    pull = shop(tmp_path)
    ran = pull.verify("--reader", "offline", "--quiet")
    assert ran.err == ""
    assert ran.out == (pull.out / "comment.md").read_text()


def test_s24_quiet_never_hides_a_failure(tmp_path: Path) -> None:
    ran = shop(tmp_path).verify("--quiet")
    assert (ran.code, ran.err.count("\n")) == (0, 1)
    assert "no key" in ran.err


def test_a6_the_brief_is_not_written_over(tmp_path: Path) -> None:
    subject = shop(tmp_path)
    before = subject.brief.read_bytes()
    ran = subject.verify("--no-llm", "--out", subject.brief.parent)
    assert (ran.code, subject.brief.read_bytes()) == (2, before)
    assert "would take the place of the brief itself" in ran.err


@pytest.mark.parametrize("option", [["--no-llm"], ["--config", "none"], ["--memory", "none"]])
def test_s38_a_record_is_replayed_with_its_own_settings(tmp_path: Path, option: list[str]) -> None:
    subject = shop(tmp_path)
    assert subject.verify("--reader", "offline").code == 0
    ran = run("verify", "--reader", f"replay:{subject.out / 'record.json'}", *option, cwd=tmp_path)
    assert ran.code == 2
    assert f"{option[0]}: a record is replayed with its own" in ran.err


@pytest.mark.parametrize(
    ("redirect", "code", "words"),
    [(">/dev/full", 1, "cannot write to stdout: No space left"), (">&-", 1, "no stdout"), (">/dev/null 2>&-", 0, "")],
)
def test_a6_a_stdout_that_takes_nothing_is_one_sentence(tmp_path: Path, redirect: str, code: int, words: str) -> None:
    command = [VERIFIER, "verify", "--no-llm", "--brief", shop(tmp_path).brief]
    done = subprocess.run(
        ["sh", "-c", f"{shlex.join(map(str, command))} {redirect}"],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        check=False,
        text=True,
    )
    assert (done.returncode, done.stderr.count("\n")) == (code, 1 if words else 0), done.stderr
    assert words in done.stderr


def test_a_terminal_that_knows_ascii_alone_gets_the_comment_all_the_same(tmp_path: Path) -> None:
    ran = shop(tmp_path).verify("--no-llm", env={"PYTHONIOENCODING": "ascii"})
    assert ran.code == 0
    assert "·" in ran.out


def test_an_unknown_key_is_a_warning_with_the_nearest_one(tmp_path: Path) -> None:
    pull = shop(tmp_path, config=ON + "    strictDrop: true\n  efort: high\nother: {x: 1}\n")
    ran = pull.verify("--reader", "offline")
    assert ran.code == 0
    assert ".opendrs.yml line 5, column 5: unknown key llm.verify.strictDrop; the nearest known one is" in ran.err
    assert "llm.efort; the nearest known one is llm.effort" in ran.err
    assert "other" not in ran.err


def test_a_terminal_shows_elapsed_seconds(tmp_path: Path) -> None:
    pull = shop(tmp_path, config=ON + "    timeoutSeconds: 3\n")
    leader, follower = pty.openpty()
    with ModelServer([silent()]) as server:
        command: list[str | Path] = [
            VERIFIER,
            "verify",
            "--brief",
            pull.brief,
            "--repo",
            pull.path,
            "--base",
            pull.base,
        ]
        command += ["--head", pull.head, "--out", pull.out, "--llm-base-url", server.url]
        process = subprocess.Popen(
            command, env=environment(tmp_path) | KEY, stdout=subprocess.DEVNULL, stderr=follower, cwd=tmp_path
        )
        os.close(follower)
        shown = b""
        while True:
            try:
                shown += os.read(leader, 4096)
            except OSError:
                break
        os.close(leader)
        assert process.wait() == 0
    assert b"asking claude-sonnet-5-5 about 5 items \xe2\x80\xa6 0 s" in shown
    assert b"items \xe2\x80\xa6 1 s" in shown


def test_a_diff_file_serves_where_there_is_no_repository(tmp_path: Path) -> None:
    from tests.repos import Repo

    pull = shop(tmp_path)
    (tmp_path / "pull.diff").write_bytes(Repo(pull.path).diff(pull.base, pull.head))
    before = tmp_path / "before"
    for path, text in {"src/session.ts": SESSION, "README.md": README, ".opendrs.yml": ON}.items():
        (before / path).parent.mkdir(parents=True, exist_ok=True)
        (before / path).write_text(text)
    arguments: list[str | Path] = ["--diff", tmp_path / "pull.diff", "--base-dir", before, "--out", tmp_path / "out"]
    ran = run("verify", "--brief", pull.brief, *arguments, "--reader", "offline", cwd=tmp_path)
    assert ran.code == 0
    actions = [verdict["action"] for verdict in pull.result()["verification"]["verdicts"]]
    assert actions == ["unverified", "unverified", "unverified", "drop", "unverified"]


def test_s38_an_offline_run_never_imports_the_sdk(tmp_path: Path) -> None:
    pull = shop(tmp_path)
    ran = pull.verify("--reader", "offline", env=KEY | {"PYTHONPROFILEIMPORTTIME": "1"})
    assert ran.code == 0
    assert "verifier.verification.verify" in ran.err
    assert not re.search(r"\| +(anthropic|httpx2|tenacity|asyncio)\n", ran.err)


def test_a9_nothing_in_the_environment_sends_the_key_elsewhere(tmp_path: Path) -> None:
    pull = shop(tmp_path)
    with ModelServer([ok(KEEP)]) as server, ModelServer([ok(KEEP)]) as other:
        env = KEY | {
            "ANTHROPIC_BASE_URL": other.url,
            "ANTHROPIC_AUTH_TOKEN": "token",
            "ANTHROPIC_CUSTOM_HEADERS": "X-Evil: 1",
            "ANTHROPIC_LOG": "debug",
            "HTTP_PROXY": other.url,
            "ALL_PROXY": other.url,
        }
        ran = pull.verify("--llm-base-url", server.url, env=env)
    assert ran.code == 0
    assert (len(server.requests), other.connections) == (1, 0)
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY['ANTHROPIC_API_KEY']}"
    assert "x-evil" not in server.requests[0].headers
    assert KEY["ANTHROPIC_API_KEY"] not in ran.err
