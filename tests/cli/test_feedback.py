"""`verifier feedback` and `verifier brief` (S29, S32)."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.command import IDS, VERIFIER, Ran, answers, brief, document, environment, run, says, shop
from tests.servers.model import ModelServer, ok
from verifier.text import fact_hash

FACTS = brief()["captain"]["facts"]
COUPLING = fact_hash("coupling.missing", "src/session.ts", FACTS[1]["text"])


def feedback(directory: Path, *arguments: str, fact: str = IDS[1], verdict: str = "wrong") -> Ran:
    if not (directory / "brief.json").exists():
        (directory / "brief.json").write_text(document(brief()))
    given = ["--fact", fact, "--verdict", verdict, "--brief", "brief.json"]
    return run("feedback", *given, *arguments, cwd=directory)


def lines(directory: Path) -> list[dict[str, str]]:
    text = (directory / ".opendrs/facts.jsonl").read_text()
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def test_s32_one_line_is_appended_and_the_next_run_heeds_it(tmp_path: Path) -> None:
    ran = feedback(tmp_path, "--note", "never\nheld it")
    assert ran.code == 0
    assert ran.err == (
        "verifier: appended to .opendrs/facts.jsonl: wrong for coupling.missing:src/session.ts; it covers 1 fact of "
        "this brief, and counts once it is on the base branch\n"
    )
    (line,) = lines(tmp_path)
    assert line | {"at": ""} == {
        "hash": COUPLING,
        "id": "coupling.missing",
        "file": "src/session.ts",
        "verdict": "wrong",
        "note": "never held it",
        "at": "",
    }
    assert list(line) == ["hash", "id", "file", "verdict", "note", "at"]
    pull = shop(tmp_path / "next", memory=(tmp_path / ".opendrs/facts.jsonl").read_text())
    pull.verify("--reader", "offline")
    assert pull.result()["captain"]["facts"][1]["text"].endswith("[downgraded: dismissed earlier as wrong]")


def test_s29_other_digits_and_white_space_are_the_same_fact(tmp_path: Path) -> None:
    twice = [
        FACTS[1],
        {**FACTS[1], "text": " src/client.ts  changed in 15 of 18 commits with src/session.ts, and not\nhere"},
    ]
    changed = brief(captain={"priority": "careful", "facts": twice})
    (tmp_path / "brief.json").write_text(document(changed))
    ran = feedback(tmp_path)
    assert "it covers 2 facts" in ran.err
    assert lines(tmp_path)[0]["hash"] == COUPLING


@pytest.mark.parametrize("action", ["keep", "downgrade", "drop"])
def test_s32_a_brief_after_the_pass_serves_too_even_for_a_dropped_fact(tmp_path: Path, action: str) -> None:
    captain = {"priority": "careful", "facts": [{**FACTS[1], "text": "changed in 3 of 4 commits [verified]"}]}
    pull = shop(tmp_path, of=brief(captain=captain))
    cited = {"file": "src/session.ts", "line": 7}
    said = answers(lambda *_: says(action, citation=cited, **({"class": "docs"} if action == "drop" else {})))
    with ModelServer([ok(said)]) as server:
        pull.verify("--llm-base-url", server.url, env={"ANTHROPIC_API_KEY": "key"})
    assert pull.result()["verification"]["verdicts"][0]["action"] == action
    after = tmp_path / "after"
    after.mkdir()
    (after / "brief.json").write_bytes((pull.out / "brief.json").read_bytes())
    assert feedback(after).code == 0
    before = tmp_path / "before"
    before.mkdir()
    (before / "brief.json").write_bytes(pull.brief.read_bytes())
    assert feedback(before).code == 0
    assert lines(after)[0]["hash"] == lines(before)[0]["hash"]


def test_s32_an_unknown_id_lists_the_nearest_first_and_touches_nothing(tmp_path: Path) -> None:
    ran = feedback(tmp_path, fact="coupling.mising:src/session.ts")
    assert ran.code == 2
    assert "it holds coupling.missing:src/session.ts, contract.api:src/session.ts:7\n" in ran.err
    assert not (tmp_path / ".opendrs").exists()


def test_s32_a_brief_without_facts_says_so(tmp_path: Path) -> None:
    (tmp_path / "brief.json").write_text(document(brief(captain={"facts": []})))
    ran = feedback(tmp_path)
    assert (ran.code, ran.err) == (2, "verifier: brief.json holds no fact\n")


def test_s32_a_last_line_without_its_newline_is_mended(tmp_path: Path) -> None:
    feedback(tmp_path)
    file = tmp_path / ".opendrs/facts.jsonl"
    file.write_text(file.read_text().rstrip("\n"))
    feedback(tmp_path, verdict="useful")
    assert [line["verdict"] for line in lines(tmp_path)] == ["wrong", "useful"]


def test_s32_writers_beside_each_other_lose_nothing(tmp_path: Path) -> None:
    (tmp_path / "brief.json").write_text(document(brief()))
    command: list[str | Path] = [
        VERIFIER,
        "feedback",
        "--fact",
        IDS[1],
        "--brief",
        "brief.json",
        "--verdict",
        "wrong",
        "--note",
    ]
    writers = [
        subprocess.Popen([*command, str(number)], cwd=tmp_path, env=environment(tmp_path), stderr=subprocess.DEVNULL)
        for number in range(12)
    ]
    assert [writer.wait() for writer in writers] == [0] * 12
    assert sorted(int(line["note"]) for line in lines(tmp_path)) == list(range(12))


def test_feedback_names_what_it_cannot_read_or_write(tmp_path: Path) -> None:
    (tmp_path / "brief.json").write_text("{")
    assert feedback(tmp_path).code == 1
    (tmp_path / "brief.json").write_text(document(brief()))
    ran = feedback(tmp_path, "--memory", "/dev/null/x")
    assert (ran.code, "/dev/null" in ran.err) == (1, True)
    ran = feedback(tmp_path, "--memory", ".")
    assert (ran.code, "cannot write" in ran.err) == (1, True)
    (tmp_path / "brief.json").write_text(document(brief(verification={"verdicts": 1})))
    ran = feedback(tmp_path)
    assert (ran.code, "$.verification" in ran.err) == (1, True)


def test_s32_the_self_check_template_shows_the_ids(tmp_path: Path) -> None:
    (tmp_path / "brief.json").write_text(document(brief()))
    ran = run("brief", "--self-check-template", "--brief", "brief.json", cwd=tmp_path)
    assert ran.code == 0
    assert [line.split("`")[1] for line in ran.out.splitlines()] == list(IDS)
    assert ran.out.startswith("- [ ] `contract.api:src/session.ts:7` exported function createSession lost")


def test_usage_errors_exit_with_2(tmp_path: Path) -> None:
    assert run(cwd=tmp_path).code == 2
    assert run("feedback", cwd=tmp_path).code == 2
    assert run("schema", "other", cwd=tmp_path).code == 2
    assert run("--version", cwd=tmp_path).out.startswith("verifier ")
