"""What is hidden behind computing is read from a trace's names and times."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from benchmarks.drawing import COLOURS
from benchmarks.framework import WEFT
from benchmarks.overlap import Found, Sitting, draw, hidden_share, in_words
from benchmarks.programs.overlap import Overlap, Span

PS, WORKER = "/job:ps/replica:0/task:0/device:CPU:0", "/job:worker/replica:0/task:0/device:CPU:0"


def spans(*, arrives_s: float, applied_s: float) -> list[Span]:
    """Return a step whose second layer's gradient is ready at 10 s and the first's at 20 s."""
    return [
        Span(WORKER, "backward/forward2_grad/MatMul_1 = MatMul(relu, x)", 5, 10),
        Span(PS, "[9.0MB] edge_5_backward/forward2_grad/MatMul_1 from /job:worker/replica:0/task:0", 10, arrives_s),
        Span(PS, "early/update_layer2/ApplyGradientDescent = ApplyGradientDescent(layer2)", arrives_s, applied_s),
        Span(WORKER, "backward/forward1_grad/MatMul_1 = MatMul(x, y)", 12, 20),
        Span(PS, "early/update_layer1/ApplyGradientDescent = ApplyGradientDescent(layer1)", 22, 24),
    ]


def test_a_gradient_that_is_applied_while_the_next_is_computed_is_hidden() -> None:
    assert hidden_share(spans(arrives_s=13, applied_s=15)) == 1.0


def test_what_lasts_longer_than_computing_is_hidden_in_part() -> None:
    assert hidden_share(spans(arrives_s=21, applied_s=30)) == pytest.approx(0.5)


def test_a_trace_without_the_programs_nodes_is_refused() -> None:
    with pytest.raises(ValueError, match="the trace has no backward/forward2_grad"):
        hidden_share([Span(PS, "other", 0, 1)])


def test_words_and_picture_tell_the_gain() -> None:
    found = Found(2048, {WEFT: [Overlap(spans(arrives_s=13, applied_s=15), early_s=0.08, together_s=0.1)]})
    sitting = Sitting({WEFT: "1.0"}, 1, [found])
    assert "80.0 ms sent early, 100 ms together, ratio 0.80; 100% of the first gradient's way" in in_words(sitting)
    root = ElementTree.fromstring(draw(sitting))
    shapes = [each.get("style", "") for each in root.iter()]
    assert sum(f"fill: {COLOURS['peer']}" in each for each in shapes) == 3  # made, sent, applied
