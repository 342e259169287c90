"""The bench's own rules: what a verdict is worth, intervals, which cases a request holds; and the bundled cases."""

from collections import Counter
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.material import patient
from verifier.bench.cases import Case, read_case
from verifier.bench.requests import BATCH, make_requests, request_key
from verifier.bench.scoring import BECAME, Became, Judged, rate, score
from verifier.verification.guards import unverified
from verifier.verification.model import Reply
from verifier.verification.prompt import PROMPT_HASH

CASES: Final = Path(__file__).parents[2] / "bench" / "cases"
BUNDLED: Final = [
    read_case(path.relative_to(CASES).with_suffix("").as_posix(), path.read_bytes())
    for path in sorted(CASES.rglob("*.toml"))
]


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [
        # computed by hand from Wilson's formula with z = 1.96
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (5, 10, 0.2366, 0.7634),
        (1, 100, 0.0018, 0.0545),
        (0, 0, 0.0, 1.0),
    ],
)
def test_an_interval_is_wilsons(hits: int, of: int, low: float, high: float) -> None:
    found = rate(hits, of)
    assert found.low == pytest.approx(low, abs=1e-4)
    assert found.high == pytest.approx(high, abs=1e-4)


@patient
@given(st.integers(0, 500).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_an_interval_holds_its_rate_and_stays_within_what_is_possible(given_: tuple[int, int]) -> None:
    found = rate(*given_)
    assert 0 <= found.low <= found.high <= 1
    assert found.of == 0 or found.low <= found.hits / found.of <= found.high


WORTH: Final = {
    "true": ("right", "harm", "harm", None, "harmless", "harmless"),
    "moot": ("harmless", "right", "harm", None, "harmless", "harmless"),
    "noise": ("harmless", "harmless", "right", "harmless", "harmless", "harmless"),
}


def of_label(label: str) -> Case:
    return next(case for case in BUNDLED if case.label == label)


@pytest.mark.parametrize("label", WORTH)
@pytest.mark.parametrize(("at", "became"), list(enumerate(BECAME)))
def test_what_a_verdict_is_worth(label: str, at: int, became: Became) -> None:
    case, expected = of_label(label), WORTH[label][at]
    if expected is not None:  # a true or moot item has no class to be dropped with
        assert Judged(case, 1, unverified(case.candidate), became).worth == expected


def test_every_order_shows_every_case_once_in_batches_of_one_size() -> None:
    requests = make_requests(BUNDLED, 2)
    for order in (1, 2):
        shown = [case.name for request in requests if request.order == order for case in request.cases]
        assert sorted(shown) == sorted(case.name for case in BUNDLED)
    assert all(len(request.cases) == BATCH for request in requests if not request.name.endswith(requests[-1].name[1:]))
    assert [request.name for request in requests] == [request.name for request in make_requests(BUNDLED[::-1], 2)]


def test_a_kept_reply_belongs_to_one_reader_one_order_and_one_question() -> None:
    requests = make_requests(BUNDLED[:1], 2)
    assert requests[0].prompt == requests[1].prompt
    keys = {request_key(request, asked_of) for request in requests for asked_of in ("a low", "a high")}
    assert len(keys) == 4


@patient
@given(st.text())
def test_whatever_a_reply_holds_every_case_is_counted_once(text: str) -> None:
    (request,) = make_requests(BUNDLED[:5], 1)
    answered = score(request, Reply(text, "any", None), strict=False)
    assert [one.case.name for one in answered.judged] == [case.name for case in request.cases]


# The bundled cases.


def test_the_bundled_cases_cover_pools_classes_and_languages() -> None:
    assert len(BUNDLED) >= 150
    assert len({case.language for case in BUNDLED}) >= 8
    noise = Counter((case.drop_class, case.candidate.pool) for case in BUNDLED if case.label == "noise")
    classes = Counter(drop_class for drop_class, _ in noise.elements())
    assert len(classes) == 5
    assert min(classes.values()) >= 6
    for label in ("true", "moot", "noise"):
        assert {case.candidate.pool for case in BUNDLED if case.label == label} == {"fact", "hunk", "check"}
    assert sum(case.label == "true" for case in BUNDLED) >= 70


def test_no_two_bundled_cases_share_a_place() -> None:
    """In one request a reader would take two such blocks for one."""
    shared = [file for file, count in Counter(case.candidate.file for case in BUNDLED).items() if count > 1]
    assert shared == []


def test_the_bundled_cases_say_where_they_come_from() -> None:
    assert {case.source for case in BUNDLED} == {"written for this project"}


def test_the_title_of_a_result_is_of_the_prompt_that_is_asked() -> None:
    for path in CASES.parent.glob(f"results-*-{PROMPT_HASH}.md"):
        assert f"· prompt {PROMPT_HASH} ·" in path.read_text().splitlines()[0]
