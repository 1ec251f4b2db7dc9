"""Curves are measured point by point; what must hold of them is judged; the picture shows what was found."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any
from xml.etree import ElementTree

import pytest

from benchmarks.contender import Answer, Contender
from benchmarks.curves import CURVES, Curve, select_curves
from benchmarks.framework import TENSORFLOW, WEFT
from benchmarks.growth import Grown, Growth, as_json, from_json, hold, in_words
from benchmarks.growth_picture import draw
from benchmarks.timing import Point

CONTENDERS = [Contender(WEFT, "python"), Contender(TENSORFLOW, "python")]
SVG = "{http://www.w3.org/2000/svg}"


def curve(name: str) -> Curve:
    return next(each for each in CURVES if each.name == name)


def grown(name: str, figure: str, values: dict[int, float]) -> Grown:
    return Grown(curve(name), {WEFT: [Point(size, {figure: value}) for size, value in values.items()]})


def verdict(found: Grown) -> bool | None:
    return found.holds(found.curve.panels[0])


def test_a_flat_curve_may_not_rise_by_more_than_half() -> None:
    assert verdict(grown("nodes", "median", {10: 1.0, 100_000: 1.4})) is True
    assert verdict(grown("nodes", "median", {10: 1.0, 1000: 1.7, 100_000: 1.0})) is False


def test_a_step_over_tasks_may_cost_as_much_more_as_there_are_other_tasks() -> None:
    assert verdict(grown("tasks", "median", {1: 0.1, 2: 1.0, 16: 15.0})) is True
    assert verdict(grown("tasks", "median", {1: 0.1, 2: 1.0, 16: 30.0})) is False


def test_a_hundred_times_the_variables_may_cost_a_hundred_times() -> None:
    assert verdict(grown("variables", "median", {10: 1.0, 1000: 90.0})) is True
    assert verdict(grown("variables", "median", {10: 1.0, 1000: 110.0})) is False


def test_clients_may_wait_ten_times_the_median_and_none_may_starve() -> None:
    clients = curve("clients")
    served = Grown(clients, {WEFT: [Point(64, {"p50": 1.0, "p99": 9.0, "slowest_share": 0.1})]})
    latency, fairness = clients.panels
    assert served.holds(latency) is True
    assert served.holds(fairness) is False


def test_memory_is_judged_from_the_second_look_on() -> None:
    def looks(*worker: float) -> Grown:
        points = [Point(10_000 * (i + 1), {"worker": each, "ps": 1e8}) for i, each in enumerate(worker)]
        return Grown(curve("steps"), {WEFT: points})

    assert verdict(looks(1e8, 2e8, 2.02e8)) is True
    assert verdict(looks(1e8, 2e8, 2.1e8)) is False


def test_nothing_is_said_of_a_curve_with_missing_points() -> None:
    incomplete = grown("nodes", "median", {10: 1.0})
    incomplete.reasons[WEFT] = ["100 nodes: exceeded 1 s"]
    assert verdict(incomplete) is None


def test_a_figure_is_the_median_over_the_rounds() -> None:
    points = [Point(10, {"median": value}) for value in (3.0, 1.0, 2.0)]
    assert Grown(curve("nodes"), {WEFT: points}).points(WEFT) == [Point(10, {"median": 2.0})]


@pytest.fixture
def sitting(monkeypatch: pytest.MonkeyPatch) -> Growth:
    """Return a sitting on contenders that answer at once; TensorFlow fails at 16 tasks."""

    def ask(contender: Contender, program: str, size: int, **_: Any) -> Answer:
        if contender.name == TENSORFLOW and program.endswith("tasks") and size == 16:
            return Answer(None, "exceeded 180 s")
        figures = {name: 0.001 * size for panel in _panels(program) for name in (*panel.figures, *(panel.reference or ())[:1])}
        return Answer({"points": [asdict(Point(size, figures))]})

    monkeypatch.setattr(Contender, "ask", ask)
    monkeypatch.setattr(Contender, "version", lambda _: "1.0")
    return hold(CONTENDERS, list(CURVES), rounds=2, tell=lambda _: None)


def _panels(program: str) -> Any:
    return next(each for each in CURVES if each.program == program).panels


def test_every_point_is_asked_of_every_contender_in_every_round(sitting: Growth) -> None:
    variables = next(each for each in sitting.curves if each.curve.name == "variables")
    assert {name: len(points) for name, points in variables.found.items()} == {WEFT: 8, TENSORFLOW: 8}


def test_the_report_gives_figures_verdicts_and_reasons(sitting: Growth) -> None:
    printed = in_words(sitting)
    assert "grows no faster than the size: holds" in printed
    assert "flat: the highest at most 1.5 times the lowest: BROKEN" in printed
    assert "tensorflow failed at 16 tasks: exceeded 180 s" in printed


def test_json_is_read_back_as_it_was_written(sitting: Growth) -> None:
    again = from_json(json.loads(json.dumps(as_json(sitting))))
    assert as_json(again) == as_json(sitting)
    assert in_words(again) == in_words(sitting)


def test_the_picture_has_a_panel_for_each_and_says_what_was_not_reached(sitting: Growth) -> None:
    root = ElementTree.fromstring(draw(sitting))
    words = [each.text for each in root.iter(f"{SVG}text")]
    for each in CURVES:
        for panel in each.panels:
            assert panel.title in words
    assert "flat: the highest at most 1.5 times the lowest: not reached" in words


def test_a_panel_without_points_is_left_out() -> None:
    root = ElementTree.fromstring(draw(Growth({WEFT: "1.0"}, 1, [grown("nodes", "median", {10: 1.0, 100: 1.0})])))
    words = [each.text for each in root.iter(f"{SVG}text")]
    assert "Step of three nodes, its plan ready" in words
    assert "Step over all tasks" not in words


def test_curves_are_chosen_by_name_or_pattern() -> None:
    assert [each.name for each in select_curves(["cl*", "nodes"])] == ["nodes", "clients"]
    with pytest.raises(ValueError, match="no curve is called nonsense"):
        select_curves(["nonsense"])
