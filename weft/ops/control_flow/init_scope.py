"""init_scope: building where initializers belong, outside of branches, loop bodies and control dependencies."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from weft.framework.graphs.graph import Graph, get_default_graph


@contextlib.contextmanager
def init_scope() -> Iterator[None]:
    """Build in the outermost graph and without control dependencies for the block; name and device scopes stay."""
    graph: Graph = get_default_graph()
    if not graph.building_function:
        with graph.control_dependencies(None):
            yield
        return
    scope = graph.get_name_scope()
    while graph.building_function:
        graph = graph.outer_graph  # type: ignore[attr-defined]
    # A body may have left the name scope in which it is built, as it does for a variable.
    with graph.as_default(), graph.control_dependencies(None), graph.name_scope(f"{scope}/" if scope else None):
        yield
