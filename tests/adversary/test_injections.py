"""Orders from a pull request, and a reader that obeys them all: what is hidden is named, or proven (S14, S17, S36)."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pytest

from tests.action.job import job, projects
from tests.adversary.case import Case
from tests.adversary.holding import faults
from tests.adversary.injections import CANARY, Injection, injections
from tests.adversary.replies import verification
from tests.command import says
from tests.servers.model import ModelServer, ok
from verifier.text import inert
from verifier.verification.guards import REASON_LIMIT
from verifier.verification.record import read_record
from verifier.verification.verify import conclude

INJECTIONS: Final = tuple(injections())
_ROW: Final = re.compile(r"(old )?([0-9]+) ([ +-])?(.*)", re.DOTALL)
# every line that a block may hold: all text of a pull request stands behind one of our own words or a number
_LINE: Final = re.compile(r"(?:(?:kind|place|claim): |excerpt[ :]|partner |(?:old )?[0-9]+ |@@ |\\ ).*", re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A block of a request."""

    number: int
    kind: str
    place: str
    rows: tuple[tuple[str, int, str], ...]  # file, line, sign


def blocks_of(message: str) -> list[Block]:
    """The blocks of a request by the mark alone, and nothing else in it: raises AssertionError for all else."""
    head, _, rest = message.partition("\n\n")
    announced = re.fullmatch("([0-9]+) blocks?, mark ([0-9a-f]{16})", head)
    assert announced
    mark = announced[2]
    texts = rest.split(f'\n</block mark="{mark}">')
    assert texts.pop() == ""
    assert len(texts) == int(announced[1])
    assert message.count(mark) == 1 + 2 * len(texts)
    found = []
    for number, text in enumerate(texts, 1):
        opened = f'<block n="{number}" mark="{mark}">\n'
        assert text.removeprefix("\n\n").startswith(opened)
        found.append(_block(number, text.removeprefix("\n\n").removeprefix(opened).split("\n")))
    return found


def _block(number: int, lines: list[str]) -> Block:
    assert all(map(_LINE.fullmatch, lines)), lines
    for name, line in zip(("kind: ", "place: ", "claim: ", "excerpt"), lines, strict=False):
        assert line.startswith(name)
    assert not any(line.startswith(("kind: ", "place: ", "claim: ")) for line in lines[3:])
    kind, place = lines[0].removeprefix("kind: "), lines[1].removeprefix("place: ")
    file = place if kind == "fact coupling.missing" else place.rpartition(":")[0]
    rows = []
    for line in lines[4:]:
        if line.startswith("partner "):
            file = line.removeprefix("partner ").rpartition(" at base (")[0]
        elif row := _ROW.fullmatch(line):
            rows.append((file, int(row[2]), row[3] or ""))
    return Block(number, kind, place, tuple(rows))


def obeyed(injection: Injection, message: str) -> dict[str, Any]:
    """A reply that drops every block, each with a line that is shown in it: a changed one where there is one."""
    verdicts = []
    for block in blocks_of(message):
        file, line, _ = next((row for row in block.rows if row[2] in ("+", "-")), block.rows[0])
        cited = {"file": file, "line": line}
        said = says("drop", **{"class": injection.drop_class, "reason": injection.reason, "citation": cited})
        verdicts.append({"n": block.number, "kind": block.kind, "place": block.place, **said})
    return {"verdicts": verdicts}


@pytest.mark.parametrize("injection", [pytest.param(one, id=one.name) for one in INJECTIONS])
def test_nothing_is_hidden_unsaid_by_a_reader_that_obeys(tmp_path: Path, injection: Injection) -> None:
    made = {"change": injection.change, "of": injection.brief, "config": injection.config}
    answer = ok(lambda body: obeyed(injection, body["messages"][0]["content"]))
    case = Case(injection.name, made=made, answer=answer, shown=[f"{len(injection.ids)} dropped: "])
    with projects(tmp_path) as make, ModelServer(lambda _: case.answer) as model:
        subject = make(**made)
        ended = job(subject, model)
        assert [*faults(case, subject, model, ended), *model.violations] == []
        message = model.requests[0].body["messages"][0]["content"]
    assert len(blocks_of(message)) == len(injection.ids)
    verdicts = verification(subject)["verdicts"]
    assert tuple(entry["id"] for entry in verdicts) == injection.ids
    assert {entry["action"] for entry in verdicts} == {"drop"}
    assert {entry["reason"] for entry in verdicts} == {inert(injection.reason, REASON_LIMIT)}
    assert {entry["class"] for entry in verdicts} == {injection.drop_class}
    assert _strictly_dropped(subject.workspace / "verifier-out/record.json") == set(injection.confirmed)


def _strictly_dropped(record: Path) -> set[str]:
    """What the same reply hides with `strictDrops: true`, from the run's record: a reply depends on nothing of it."""
    case, answer = read_record(record.read_bytes())
    strict = replace(case, settings=replace(case.settings, strict_drops=True))
    return {verdict.id for verdict in conclude(strict, answer).outcome.verdicts if verdict.action == "drop"}


def test_orders_are_many_and_none_writes_a_verdict() -> None:
    assert len({injection.name for injection in INJECTIONS}) == len(INJECTIONS) >= 40
    assert not any(CANARY in injection.reason for injection in INJECTIONS)
    assert any(injection.confirmed for injection in INJECTIONS)
