"""The name scope of a public function that makes several nodes: in its inputs' graph, under its own name."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from weft.framework.building.op_builder import graph_of, refuse_loop_values
from weft.framework.context.default_stack import default_graphs
from weft.framework.graphs.graph_names import chosen_name


@contextlib.contextmanager
def input_scope(name: str | None, default: str, inputs: Sequence[object] = ()) -> Iterator[str]:
    """Open scope `name` (or `default`) in the graph that `inputs` belong to; gives the scope's name, ending in '/'."""
    graph, chosen = graph_of(inputs), chosen_name(name, default)
    if graph is default_graphs.get_default():
        with graph.name_scope(chosen) as scope:
            yield scope
        return
    refuse_loop_values(graph, inputs, chosen)
    with graph.as_default(), graph.name_scope(chosen) as scope:
        yield scope
