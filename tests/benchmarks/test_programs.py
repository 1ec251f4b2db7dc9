"""The programs of growth and overlap run on weft, at their smallest, and give what their curves plot."""

from __future__ import annotations

import sys

import pytest

from benchmarks.contender import Contender
from benchmarks.curves import CURVES, Curve
from benchmarks.framework import WEFT
from benchmarks.overlap import hidden_share
from benchmarks.programs.overlap import Span

SMALL = {
    "tasks": 2, "variables": 3, "nodes": 20, "clients": 3, "steps": 200, "messages": 1024, "workers": 2, "servers": 2,
    "restore": 2, "payload": 1024, "checkpoint": 4096, "build": 20, "model": 3,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)
def test_a_curves_program_gives_the_figures_of_its_panels(curve: Curve) -> None:
    answer = Contender(WEFT, sys.executable).ask(curve.program, SMALL[curve.name], time_limit_s=110.0)
    assert answer.message is not None, answer.reason
    wanted = {name for panel in curve.panels for name in (*panel.figures, *(panel.reference or ())[:1])}
    points = answer.message["points"]
    assert points[-1]["size"] == SMALL[curve.name]
    assert all(wanted <= set(point["figures"]) for point in points)
    assert all(value >= 0 for point in points for value in point["figures"].values())


@pytest.mark.slow
def test_a_traced_step_shows_that_sending_overlaps_computing() -> None:
    answer = Contender(WEFT, sys.executable).ask("overlap:two_layers", 1536, time_limit_s=100.0)
    assert answer.message is not None, answer.reason
    assert hidden_share([Span(**span) for span in answer.message["spans"]]) > 0
