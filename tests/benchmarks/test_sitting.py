"""Figures and ratios are formed over rounds, and a contender that fails does not stop the others."""

from __future__ import annotations

import json
import threading
from typing import Any
from xml.etree import ElementTree

import pytest

from benchmarks.catalogue import MEASURES, Measure, Unit, select
from benchmarks.contender import Contender, Outcome
from benchmarks.framework import ORIGINAL, TENSORFLOW, WEFT
from benchmarks.machine import Limits
from benchmarks.picture import draw
from benchmarks.report import as_json, from_json, quantity, table
from benchmarks.sitting import FAILURES_ALLOWED, Row, Sitting, Spread, hold
from benchmarks.timing import Sample, once, per_second, seconds_per_call

LIMITS = Limits(16e-6, 10e-6, 3e9, 6e9, 17e9, 250e9)
TIME = Measure("run", "local_runs:run", "A run", Unit.SECONDS, 0.5)
RATE = Measure("rate", "sessions:rate", "A rate", Unit.STEPS, 3.0)
CONTENDERS = [Contender(WEFT, "python"), Contender(TENSORFLOW, "python")]


def outcomes(*values: float | str) -> list[Outcome]:
    return [Outcome(None, value) if isinstance(value, str) else Outcome(once(value)) for value in values]


def sitting_of(*rows: Row) -> Sitting:
    return Sitting(CONTENDERS, {WEFT: "1.0", TENSORFLOW: "2.0"}, list(rows), [LIMITS])


def test_a_ratio_is_formed_within_each_round() -> None:
    row = Row(TIME, {WEFT: outcomes(1.0, 3.0, 2.0), TENSORFLOW: outcomes(2.0, 2.0, 4.0)})
    assert row.ratio() == Spread(0.5, 0.5, 1.5)


def test_waits_stand_under_the_table_beside_the_least_there_can_be() -> None:
    own = Measure("client_only", "sessions:client_only", "A client", Unit.SECONDS, 0.5)
    row = Row(own, {WEFT: [Outcome(Sample(1.0, 1.0, 5, 2.0)), Outcome(Sample(1.0, 1.0, 5, 1.0))], TENSORFLOW: outcomes(2.0)})
    sitting = sitting_of(row, Row(TIME, {WEFT: outcomes(1.0)}))
    assert [line for line in table(sitting).splitlines() if line.startswith("waits")] == [
        "waits of client_only: weft 1.50; the least is 1"
    ]
    assert table(from_json(json.loads(json.dumps(as_json(sitting))))).count("waits of client_only: weft 1.50") == 1


def test_a_call_that_hands_on_to_another_thread_waits_for_it() -> None:
    asked, answered = threading.Semaphore(0), threading.Semaphore(0)

    def answer() -> None:
        while asked.acquire(timeout=30) and not done:
            answered.release()

    def call() -> None:
        asked.release()
        answered.acquire()

    done: list[bool] = []
    thread = threading.Thread(target=answer)
    thread.start()
    sample = seconds_per_call(call, warm_up_s=0.01, measure_s=0.05, batch_s=0.005)
    done.append(True)
    asked.release()
    thread.join()
    alone = seconds_per_call(lambda: None, warm_up_s=0.01, measure_s=0.05, batch_s=0.005)
    assert sample.waits is not None
    assert alone.waits is not None
    assert sample.waits > 0.5 > alone.waits
    assert per_second(sample).waits == sample.waits


def test_a_round_that_lacks_one_figure_gives_no_ratio() -> None:
    row = Row(TIME, {WEFT: outcomes("crashed", 1.0), TENSORFLOW: outcomes(2.0, 4.0)})
    assert row.ratio() == Spread(0.25, 0.25, 0.25)


def test_the_ratio_is_against_the_better_of_both_peers() -> None:
    row = Row(TIME, {WEFT: outcomes(1.0, 1.0), TENSORFLOW: outcomes(4.0, 4.0), ORIGINAL: outcomes(2.0, 5.0)})
    assert (row.peer(), row.ratio()) == (ORIGINAL, Spread(0.35, 0.2, 0.5))
    row = Row(RATE, {WEFT: outcomes(6.0), TENSORFLOW: outcomes(3.0), ORIGINAL: outcomes(2.0)})
    assert (row.peer(), row.ratio()) == (TENSORFLOW, Spread(2.0, 2.0, 2.0))
    row = Row(RATE, {WEFT: outcomes(6.0), TENSORFLOW: outcomes("crashed"), ORIGINAL: outcomes(2.0)})
    assert row.peer() == ORIGINAL
    assert Row(RATE, {WEFT: outcomes(6.0)}).peer() is None


def test_the_original_runs_what_is_trained_and_what_clients_do() -> None:
    assert Row(RATE).may_run(ORIGINAL)
    assert not Row(TIME).may_run(ORIGINAL)


def test_a_figure_of_the_original_is_marked() -> None:
    row = Row(RATE, {WEFT: outcomes(6.0), TENSORFLOW: outcomes(2.0), ORIGINAL: outcomes(3.0)})
    (line,) = (line for line in table(sitting_of(row)).splitlines() if line.startswith("A rate"))
    assert "3 steps/s (1)" in line


def test_a_reason_is_given_only_where_no_round_has_a_figure() -> None:
    row = Row(TIME, {WEFT: outcomes("crashed", "exceeded 1 s"), TENSORFLOW: outcomes("crashed", 1.0)})
    assert row.reason(WEFT) == "exceeded 1 s"
    assert row.reason(TENSORFLOW) is None


def test_a_goal_of_a_time_is_an_upper_bound_and_of_a_rate_a_lower_one() -> None:
    assert TIME.reaches_goal(0.4)
    assert not TIME.reaches_goal(0.6)
    assert RATE.reaches_goal(3.1)
    assert not RATE.reaches_goal(2.9)


@pytest.mark.parametrize(
    ("value", "unit", "printed"),
    [
        (33.14e-6, Unit.SECONDS, "33.1 µs"),
        (1.0e-3, Unit.SECONDS, "1.00 ms"),
        (2.4, Unit.SECONDS, "2.40 s"),
        (1.46e9, Unit.RATE, "1.46 GB/s"),
        (544e6, Unit.BYTES, "544 MB"),
        (2444.4, Unit.STEPS, "2,444 steps/s"),
    ],
)
def test_quantities_have_three_digits_and_a_fitting_unit(value: float, unit: Unit, printed: str) -> None:
    assert quantity(value, unit) == printed


def test_the_table_says_what_was_reached_and_why_a_figure_is_missing() -> None:
    printed = table(
        sitting_of(
            Row(TIME, {WEFT: outcomes(1.0), TENSORFLOW: outcomes(4.0)}),
            Row(RATE, {WEFT: outcomes("RuntimeError: no"), TENSORFLOW: outcomes(4.0)}),
        )
    )
    assert "0.25" in printed
    assert "reached" in printed
    assert "rate failed on weft: RuntimeError: no" in printed


def test_json_keeps_every_round() -> None:
    document = as_json(sitting_of(Row(TIME, {WEFT: outcomes(1.0, 2.0), TENSORFLOW: outcomes(4.0, "no")})))
    rounds = document["measures"]["run"]["rounds"]
    assert [each["value"] for each in rounds[WEFT]] == [1.0, 2.0]
    assert rounds[TENSORFLOW][1] == {"reason": "no"}


def test_the_picture_draws_a_bar_for_each_ratio_and_none_without() -> None:
    svg = draw(
        sitting_of(
            Row(TIME, {WEFT: outcomes(1.0), TENSORFLOW: outcomes(4.0)}),
            Row(RATE, {WEFT: outcomes(1.0), TENSORFLOW: outcomes(4.0)}),
            Row(TIME, {WEFT: outcomes("crashed"), TENSORFLOW: outcomes(4.0)}),
        )
    )
    root = ElementTree.fromstring(svg)
    titles = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert titles.count("A run") == 1
    assert titles.count("A rate") == 1
    assert {"4.0×", "0.2×"} <= set(titles)  # noqa: RUF001
    ids = [each.get("id", "").partition("-")[0] for each in root.iter()]
    assert [each for each in ids if each in ("weft", "peer")] == ["weft", "peer"]  # one for each ratio


def test_json_is_read_back_as_it_was_written() -> None:
    held = sitting_of(
        Row(MEASURES[0], {WEFT: outcomes(1.0, "crashed"), TENSORFLOW: outcomes(4.0, 3.0)}),
        Row(MEASURES[1], {WEFT: outcomes(1.0, 2.0), TENSORFLOW: outcomes("exceeded 1 s", "no")}),
    )
    again = from_json(json.loads(json.dumps(as_json(held))))
    assert as_json(again) == as_json(held)
    assert table(again) == table(held)
    assert draw(again) == draw(held)


def test_measures_are_chosen_by_name_family_and_pattern() -> None:
    assert [each.name for each in select(["constant"])] == ["constant"]
    assert [each.name for each in select(["null_*"])] == ["null_steps_1", "null_steps_8"]
    assert {each.name for each in select(["local_runs"])} == {"constant", "assign_add", "feed"}
    assert select([]) == list(MEASURES)
    with pytest.raises(ValueError, match="no measure is called nonsense"):
        select(["nonsense"])


def test_contenders_alternate_and_one_that_keeps_failing_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    turns: list[str] = []

    def run(contender: Contender, measure: Measure, *_: Any) -> Outcome:
        turns.append(contender.name)
        return Outcome(None, "crashed") if contender.name == WEFT else Outcome(once(1.0))

    monkeypatch.setattr(Contender, "run", run)
    monkeypatch.setattr(Contender, "version", lambda _: "1.0")
    monkeypatch.setattr("benchmarks.machine.measure", lambda: LIMITS)
    held = hold(CONTENDERS, [TIME], rounds=4, tell=lambda _: None)
    assert turns[:4] == [WEFT, TENSORFLOW, TENSORFLOW, WEFT]
    assert turns.count(WEFT) == FAILURES_ALLOWED
    assert turns.count(TENSORFLOW) == 4
    assert held.rows[0].reason(WEFT) == "crashed"
