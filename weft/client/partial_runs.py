"""PartialRuns: a session's steps that are run in pieces, by the handles that the program has for them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

from weft.client import feeds
from weft.client.backend import Backend, PartialStep
from weft.client.fetches import FetchPlan, as_result
from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Feeds, Fetches
from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Tensor


@dataclass(frozen=True, slots=True)
class _Open:
    """A run that is not over, and what it may still feed and fetch."""

    step: PartialStep
    unfed: set[Tensor]
    unfetched: set[Tensor]


class PartialRuns:
    """The partial runs of one session. Safe from many threads."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._numbers = itertools.count(1)
        self._open: dict[str, _Open] = {}

    def set_up(self, backend: Backend, fetches: Fetches, feed_list: object) -> str:
        """Begin a run; returns its handle."""
        wanted = FetchPlan(self._graph, fetches)
        fed = feeds.tensors_of(self._graph, feed_list)
        if not wanted.tensors and not wanted.targets:
            raise InvalidArgumentError.of("Must specify at least one target to fetch or execute.")
        step = backend.prepare_partial(fed, wanted.tensors, wanted.targets)
        handle = f"partial-run-{next(self._numbers)}"
        self._open[handle] = _Open(step, set(fed), set(wanted.tensors))
        return handle

    def run(self, handle: str, fetches: object, feed_dict: Feeds | None) -> Any:
        """Run a piece and return the values in the structure of `fetches`."""
        pairs = feeds.resolve(self._graph, feed_dict or {})
        values = {tensor: feeds.as_feed(tensor, value) for tensor, value in pairs.items()}
        wanted = FetchPlan(self._graph, fetches)
        if wanted.targets:
            names = [op.name for op in wanted.targets]
            raise RuntimeError(f"partial_run() requires empty target_list: operations have no value, but {names} are fetched")
        run = self._open.get(handle)
        if run is None:
            raise InvalidArgumentError.of(
                f"Must run 'setup' before performing partial runs! The run {handle!r} was not set up or is over: "
                "session.partial_run_setup(fetches, feeds) gives the handle of a new one"
            )
        fetched = run.step.run(values, wanted.tensors)
        run.unfed.difference_update(values)
        run.unfetched.difference_update(wanted.tensors)
        if not run.unfed and not run.unfetched:
            self._open.pop(handle, None)
        return wanted.rebuild([as_result(value) for value in fetched])
