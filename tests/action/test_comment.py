"""The one comment: found, written once, updated in place, short enough, and nothing in it is live (A4, A8)."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pytest

from tests.action.conftest import Make
from tests.action.job import Ended, Project, job
from tests.command import ON, answers, brief, document
from tests.command import says as said
from tests.rendering import LIVE, page
from tests.servers.github import (
    Action,
    Exchange,
    Reply,
    broken,
    changed,
    close,
    fault,
    performed,
    reply,
    secondary_rate_limit,
    zip_of,
)
from tests.servers.model import ModelServer, ok
from tests.unit.test_text import HOSTILE
from verifier.action.report import SUMMARY_LIMIT
from verifier.comment import MARKER

BOT: Final = "github-actions[bot]"
POST: Final = r"/issues/\d+/comments$"
ONE: Final = r"/issues/comments/\d+$"
OLD: Final = f"{MARKER}\nold"
ROOMY: Final = f"{ON}    maxTokens: 10000000\n"
MOST_CHARACTERS: Final = 65_536
MOST_BYTES: Final = 1_048_576


def writes(subject: Project) -> list[str]:
    """The requests that write a comment, in order."""
    return [
        f"{one.method} {one.path.rpartition('/')[2]}"
        for one in subject.github.requests
        if "/issues/" in one.path and one.method != "GET"
    ]


def is_now(subject: Project, ended: Ended, *others: str) -> str:
    """The run ended well, and its comment is the only one that is not somebody else's; gives its body."""
    assert (ended.code, ended.outputs["status"]) == (0, "verified")
    ours = [comment for comment in subject.github.comments_on(subject.pull) if comment.body not in others]
    assert len(ours) == 1
    assert ended.outputs["comment-url"] == subject.github.comment_page(ours[0])
    assert "[verified · new]" in ours[0].body
    return ours[0].body


@pytest.mark.parametrize("behind", [100, 200])
def test_a4_our_comment_is_found_behind_whole_pages(make: Make, model: ModelServer, behind: int) -> None:
    subject = make()
    ours = subject.github.add_comment(subject.pull, OLD, login=BOT)
    for number in range(behind):
        subject.github.add_comment(subject.pull, f"comment {number}")
    is_now(subject, job(subject, model), *(f"comment {number}" for number in range(behind)))
    assert writes(subject) == [f"PATCH {ours.id}"]


@pytest.mark.parametrize("then", [broken(502), close(), reply(201, {"id": "x"})], ids=["502", "closed", "no comment"])
def test_a4_a_post_that_counted_is_not_made_again(make: Make, model: ModelServer, then: Action) -> None:
    subject = make()
    subject.github.faults.append(fault(performed(then), POST, method="POST", nth=1))
    is_now(subject, job(subject, model))
    assert [write.partition(" ")[0] for write in writes(subject)] == ["POST", "PATCH"]


def test_a4_a_post_that_did_not_count_is_made_once_more_and_no_oftener(make: Make, model: ModelServer) -> None:
    subject = make()
    subject.github.faults.append(fault(broken(502), POST, method="POST", nth=(1, 2, 3)))
    ended = job(subject, model)
    assert (ended.code, ended.outputs["status"], ended.said[0]) == (1, "failed", "error")
    assert "(502)" in ended.said[1]
    assert writes(subject) == ["POST comments"] * 2
    is_now(subject, job(subject, model))
    assert writes(subject) == ["POST comments"] * 4


@pytest.mark.parametrize(("hidden_for", "left"), [(1, 1), (2, 2)])
def test_a4_a_post_that_was_lost_and_cannot_be_seen_yet_is_healed(
    make: Make, model: ModelServer, hidden_for: int, left: int
) -> None:
    subject = make()
    subject.github.hide_new_comments_for = hidden_for
    subject.github.faults.append(fault(performed(broken(502)), POST, method="POST", nth=1))
    ended = job(subject, model)
    assert (ended.code, ended.outputs["status"]) == (0, "verified")
    assert len(subject.comment_bodies()) == left
    is_now(subject, job(subject, model))


def test_a4_an_update_that_may_have_counted_is_sent_again(make: Make, model: ModelServer) -> None:
    subject = make()
    ours = subject.github.add_comment(subject.pull, OLD, login=BOT)
    subject.github.faults.append(fault(broken(502), ONE, method="PATCH", nth=1))
    is_now(subject, job(subject, model))
    assert writes(subject) == [f"PATCH {ours.id}"] * 2
    subject.github.faults.append(fault(broken(502), ONE, method="PATCH"))
    ended = job(subject, model)
    assert (ended.code, ended.outputs["status"], ended.said[0]) == (1, "failed", "error")
    assert writes(subject) == [f"PATCH {ours.id}"] * 4


@pytest.mark.parametrize("count", [1, 2])
def test_a4_a_comment_that_was_deleted_meanwhile_is_made_anew(make: Make, model: ModelServer, count: int) -> None:
    subject = make()
    first, *rest = [subject.github.add_comment(subject.pull, OLD, login=BOT) for _ in range(count)]
    subject.github.before(ONE, lambda: subject.github.comments.pop(first.id), method="PATCH")
    is_now(subject, job(subject, model))
    assert writes(subject) == [f"PATCH {first.id}", *([f"PATCH {rest[0].id}"] if rest else ["POST comments"])]


def test_a4_of_two_the_older_stays_and_one_that_cannot_be_deleted_harms_nothing(make: Make, model: ModelServer) -> None:
    subject = make()
    first, second = (subject.github.add_comment(subject.pull, OLD, login=BOT) for _ in range(2))
    subject.github.faults.append(fault(broken(403), ONE, method="DELETE", nth=1))
    is_now(subject, job(subject, model), OLD)
    assert writes(subject) == [f"PATCH {first.id}", f"DELETE {second.id}"]
    is_now(subject, job(subject, model))
    assert [comment.id for comment in subject.github.comments_on(subject.pull)] == [first.id]


def test_a4_a_second_run_s_comment_right_before_ours_leaves_one(make: Make, model: ModelServer) -> None:
    subject = make()
    subject.github.before(POST, lambda: subject.github.add_comment(subject.pull, OLD, login=BOT), method="POST")
    is_now(subject, job(subject, model))
    assert [write.partition(" ")[0] for write in writes(subject)] == ["POST", "PATCH", "DELETE"]


def test_a4_a_second_run_for_a_newer_head_keeps_its_own_words(make: Make, model: ModelServer) -> None:
    subject = make()

    def newer() -> None:
        subject.github.push(subject.pull, subject.pull.base_sha)
        subject.github.add_comment(subject.pull, OLD, login=BOT)

    subject.github.before(POST, newer, method="POST")
    assert job(subject, model).code == 0
    assert subject.comment_bodies() == [OLD]


def _then(action: Action, then: Callable[[], None]) -> Action:
    def both(exchange: Exchange) -> None:
        then()
        action(exchange)

    return both


@pytest.mark.parametrize("kind", ["502", "lost", "limited"])
@pytest.mark.parametrize("is_there", [False, True], ids=["POST", "PATCH"])
def test_a4_a_head_that_moves_between_two_tries_is_left_to_its_own_run(
    make: Make, model: ModelServer, kind: str, is_there: bool
) -> None:
    """Before each write, also one that is tried again, the head is looked at: a newer run's comment stays."""
    subject = make()
    if is_there:
        subject.github.add_comment(subject.pull, OLD, login=BOT)

    def newer() -> None:
        subject.github.push(subject.pull, subject.pull.base_sha)
        subject.github.comments.clear()
        subject.github.add_comment(subject.pull, f"{MARKER}\nnewer", login=BOT)

    action = {"502": broken(502), "lost": close(), "limited": secondary_rate_limit(0)}[kind]
    subject.github.faults.append(fault(_then(action, newer), r"/issues/", nth=1))
    ended = job(subject, model)
    assert (ended.code, ended.outputs["status"]) == (0, "stale")
    assert subject.comment_bodies() == [f"{MARKER}\nnewer"]
    assert len(writes(subject)) == 1


def test_a4_comments_that_cannot_be_seen_are_not_taken_for_none(make: Make, model: ModelServer) -> None:
    subject = make()
    subject.github.add_comment(subject.pull, OLD, login=BOT)

    def broken_node(answer: Reply) -> Reply:
        value = json.loads(answer.data)
        value["data"]["repository"]["pullRequest"]["comments"]["nodes"].append(None)
        path = ["repository", "pullRequest", "comments", "nodes", 1]
        return replace(answer, body={**value, "errors": [{"type": "INTERNAL", "path": path, "message": "no"}]})

    subject.github.faults.append(fault(changed(broken_node), r"/graphql$", nth=(1, 3)))
    is_now(subject, job(subject, model))  # one comment that cannot be shown hides no other

    def without_comments(answer: Reply) -> Reply:
        value = json.loads(answer.data)
        value["data"]["repository"]["pullRequest"]["comments"] = None
        return replace(answer, body=value)

    subject.github.faults[:] = [fault(changed(without_comments), r"/graphql$", nth=1)]
    ended = job(subject, model)
    assert (ended.code, ended.outputs["status"]) == (1, "failed")
    assert "does not show the pull request's conversation" in ended.said[1]
    assert len(subject.comment_bodies()) == 1


def test_a4_a_last_look_that_fails_does_not_undo_a_comment(make: Make, model: ModelServer) -> None:
    subject = make()
    subject.github.faults.append(fault(broken(400), r"/graphql$", nth=4))
    is_now(subject, job(subject, model))


@pytest.mark.parametrize(("kind", "login"), [("app", "my-app[bot]"), ("user", "ada")])
def test_a4_ours_is_the_viewer_s_whoever_that_is(make: Make, model: ModelServer, kind: Any, login: str) -> None:
    subject = make()
    theirs = [f"{OLD} of {name}" for name in (BOT, "eve")]
    for body, name in zip(theirs, (BOT, "eve"), strict=True):
        subject.github.add_comment(subject.pull, body, login=name)
    ours = subject.github.add_comment(subject.pull, OLD, login=login)
    token = subject.github.add_token("ghs_other", kind=kind).value
    is_now(subject, job(subject, model, inputs={"github-token": token}), *theirs)
    assert writes(subject) == [f"PATCH {ours.id}"]


def test_a4_a_marker_is_ours_only_in_its_place_and_from_us(make: Make, model: ModelServer) -> None:
    subject = make()
    planted = subject.github.add_comment(subject.pull, f"{OLD}, planted", login="eve")
    quoted = subject.github.add_comment(subject.pull, f"> {OLD}, quoted in another comment of the bot's", login=BOT)
    is_now(subject, job(subject, model), planted.body, quoted.body)
    assert writes(subject) == ["POST comments"]
    assert subject.comment_bodies()[0].endswith("planted")
    sent = model.requests[0].raw.decode()
    assert "planted" not in sent
    assert "quoted" not in sent


def test_a4_a_rate_limit_on_the_comment_is_waited_for_as_long_as_it_asks(make: Make, model: ModelServer) -> None:
    subject = make()
    subject.github.faults.append(fault(secondary_rate_limit(1), POST, method="POST", nth=1))
    is_now(subject, job(subject, model))
    assert writes(subject) == ["POST comments"] * 2
    subject.github.faults.append(fault(secondary_rate_limit(3600), ONE, method="PATCH"))
    ended = job(subject, model)
    assert (ended.code, ended.said[0]) == (1, "error")
    assert "limits the rate" in ended.said[1]
    assert "60 min" in ended.said[1]


# What stands in it.

SHOWN: Final = {"h3", "p", "strong", "ul", "li", "code", "comment", "details", "summary", "blockquote"}
IN_SUMMARY: Final = {"h1", "h2", "p", "strong", "ul", "li", "code"}


def is_inert(subject: Project, ended: Ended) -> None:
    (body,) = subject.comment_bodies()
    assert len(body) < MOST_CHARACTERS
    for text, elements in ((body, SHOWN), (ended.summary, IN_SUMMARY)):
        shown = page(text)
        assert set(shown.elements) <= elements
        assert not LIVE.search(shown.text)
        assert not [line for line in text.splitlines() if "##[" in line or line.lstrip().startswith("::")]
    assert body.startswith(MARKER)
    assert page(body).elements.count("comment") == 1
    assert ended.said  # one command in the log, and that is our own
    assert set(ended.outputs) == {
        "status",
        "comment-url",
        "kept",
        "downgraded",
        "dropped",
        "unverified",
        "input-tokens",
        "output-tokens",
        "prompt-hash",
        "brief",
        "record",
    }
    assert not [value for value in ended.outputs.values() if "\n" in value]


def test_a8_nothing_that_a_brief_a_model_or_a_file_s_name_says_comes_to_life(make: Make) -> None:
    name = "docs/@octocat #1 <b> [x](http:) `q` ##[error]y ::z::.md"
    texts = [*HOSTILE, f"{MARKER}", f"</details>{MARKER}", "x<<EOF\nstatus=forged\nEOF", "##[set-output name=status;]a"]
    cited = {"file": "src/session.ts", "line": 7}
    facts = [
        {"id": text, "file": "src/session.ts", "line": 7, "strength": "info", "text": text, "short": text}
        for text in texts
    ]
    hostile = brief(
        captain={"priority": texts[3], "why": "\n".join(texts), "facts": facts},
        reviewFirst=[{"file": text, "hunks": [{"line": 1, "reason": text}]} for text in [*texts, name]],
        checks=[{"file": text, "line": 1, "text": text} for text in [*texts, name]],
        notes=texts,
    )
    gate = '"score": "@octocat #1", "tier": "`<img src=x>`", "policy": {"decision": "##[error]x\\n::error::y"}'
    data = f"{{{gate}, {json.dumps(hostile)[1:]}".encode()
    # Every third is kept, downgraded, dropped, each with a hostile reason; the first ones stay among the five facts.
    actions = ("downgrade", "drop", "keep")

    def answer(number: int, kind: str, place: str) -> dict[str, Any]:
        reason = texts[number % len(texts)].replace("\ud800", "")
        return said(actions[number % 3], **{"class": "docs"}, citation=cited, reason=reason)

    with ModelServer([ok(answers(answer))]) as model:
        subject = make(
            config=ROOMY,
            change={name: "# A\n\nThe shop takes things back.\n"},
            artifact=zip_of({"brief.json": data}),
        )
        ended = job(subject, model)
        assert model.violations == []
    assert ended.outputs["status"] == "verified"
    assert int(ended.outputs["downgraded"]) > 10
    assert int(ended.outputs["dropped"]) > 10
    is_inert(subject, ended)


def test_a8_no_value_can_end_its_own_output(make: Make, model: ModelServer) -> None:
    subject = make()
    forged = "https://x\nEOF\nstatus=forged\rstatus=forged\x85a<<b\u2028status=forged"

    def change(answer: Reply) -> Reply:
        return replace(answer, body={**answer.body, "html_url": forged})

    subject.github.faults.append(fault(changed(change), POST, method="POST"))
    ended = job(subject, model)
    assert ended.outputs["comment-url"] == ""  # what is no address leads nowhere
    assert ended.outputs["status"] == "verified"
    assert "forged" not in ended.outputs
    ends = re.findall(r"<<verifier-([0-9a-f]{32})$", (subject.place / "output").read_text(), re.MULTILINE)
    assert len(set(ends)) == len(ended.outputs)  # none of them can be guessed


def test_a4_three_thousand_dropped_items_are_counted_and_named_as_far_as_they_go(make: Make) -> None:
    line = {"file": "README.md", "line": 5}
    facts = [{"id": f"doc.{n}", **line, "strength": "info", "text": f"word {n}"} for n in range(3_000)]
    many = brief(captain={"facts": facts}, reviewFirst=[], checks=[])

    def answer(number: int, kind: str, place: str) -> dict[str, Any]:
        return said("drop", **{"class": "docs"}, citation=line, reason="only words 🙂 ``` " * 10)

    with ModelServer([ok(answers(answer))]) as model:
        subject = make(config=ROOMY, of=many)
        ended = job(subject, model)
    assert (ended.code, ended.outputs["dropped"]) == (0, "3000")
    (body,) = subject.comment_bodies()
    assert "**Verifier:** 3000 dropped: " in body
    assert "more, in the notes" in body
    assert "more notes, in the job summary" in body
    is_inert(subject, ended)
    assert len(ended.summary.encode()) <= SUMMARY_LIMIT


@pytest.mark.parametrize("unit", ["🙂", "```\n", "&", "@a <b> "])
def test_a4_a_huge_brief_stays_under_github_s_limits(make: Make, model: ModelServer, unit: str) -> None:
    long = unit * (70_000 // len(unit.encode()))
    fact = {"id": long, "file": long, "line": 1, "strength": "strong", "text": long, "short": long}
    huge = brief(
        captain={"priority": long, "why": long, "facts": [fact] * 6},
        reviewFirst=[{"file": long, "hunks": [{"line": 1, "reason": long}]}],
        checks=[{"file": long, "text": long}] * 6,
        notes=[long] * 3,
    )
    data = json.dumps(huge, ensure_ascii=False).encode()
    subject = make(artifact=zip_of({"brief.json": data}), config=ROOMY)
    ended = job(subject, model)
    assert (ended.code, ended.outputs["status"]) == (0, "skipped"), ended.said  # nothing of it is in the diff
    is_inert(subject, ended)
    (body,) = subject.comment_bodies()
    assert body.count("[unverified]") == 5
    assert "and 1 more" in body
    assert body.endswith("</details>\n")
    assert len(ended.summary.encode()) <= SUMMARY_LIMIT
    if len(unit.encode()) > 1:
        assert "The summary was cut here; the whole brief is in the file" in ended.summary


@pytest.mark.parametrize("size", [1_000_000, SUMMARY_LIMIT - 10, SUMMARY_LIMIT - 2_000])
def test_a5_a_summary_that_others_filled_is_not_lost_for_ours(make: Make, model: ModelServer, size: int) -> None:
    subject = make(of=brief(notes=["a note"] * 1_000))
    before = "x" * (size - 1) + "\n"
    ended = job(subject, model, summary=before)
    assert (ended.code, ended.outputs["status"]) == (0, "verified")
    assert ended.summary.startswith(before)
    added = ended.summary.removeprefix(before)
    assert len(ended.summary.encode()) <= max(size, SUMMARY_LIMIT) < MOST_BYTES
    assert added == "" or added.endswith(
        "The summary was cut here; the whole brief is in the file that the output `brief` names.\n"
    )
    assert bool(added) == (size == SUMMARY_LIMIT - 2_000)
    assert document(brief(notes=["a note"] * 1_000))[:20] in (subject.workspace / ended.outputs["brief"]).read_text()
