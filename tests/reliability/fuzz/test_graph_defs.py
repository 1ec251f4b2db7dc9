"""Bad GraphDefs are refused with an error that names what is wrong, and with no other exception."""

from __future__ import annotations

from reliability.fuzz.driver import fuzz, text
from reliability.fuzz.graph_defs import GraphDefs


def test_mutated_graphs_are_accepted_or_refused_by_name() -> None:
    result = fuzz(GraphDefs(), 150, seed=7)
    assert not result.failures, text(result)
    assert len(result.outcomes) > 2
