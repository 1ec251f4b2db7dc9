"""Plans: a session's prepared steps, found again by what is fetched and fed."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from weft.client.backend import PreparedStep
from weft.client.fetches import FetchPlan, as_result
from weft.client.tensor_handle import handle_dtype
from weft.framework.building.aliases import Array, Fetches
from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType

MAX_PLANS: Final = 1024
_ELEMENTS: Final = frozenset((Tensor, Operation))

Prepare = Callable[[Sequence[Tensor], Sequence[Tensor], Sequence[Operation]], PreparedStep]
MakeHandle = Callable[[Any, DType], Any]


class Plan:
    """A prepared step with the conversion of its fetches.

    `echoes` are the fetches that are fed as well: (place among the fetches, place among the feeds); `handles` those that are
    handles of tensors that stay in the session: (place, dtype).
    """

    __slots__ = ("echoes", "handles", "rebuild", "single", "step")

    def __init__(self, step: PreparedStep, fed: Sequence[Tensor], wanted: FetchPlan, fetches: Fetches) -> None:
        self.step = step
        places = {tensor: place for place, tensor in enumerate(fed)}
        kept = [(place, handle_dtype(tensor)) for place, tensor in enumerate(wanted.tensors)]
        self.echoes = [(place, places[tensor]) for place, tensor in enumerate(wanted.tensors) if tensor in places]
        self.handles = [(place, dtype) for place, dtype in kept if dtype is not None]
        self.rebuild = wanted.rebuild
        # The value of a single tensor is the result as it is, except for strings: see `FetchPlan`.
        is_one = isinstance(fetches, Tensor | str | bytes) and len(wanted.tensors) == 1
        self.single = is_one and wanted.tensors[0].dtype.base_dtype != dtypes.string

    def results(self, fetched: Sequence[Array], fed: Sequence[object], make_handle: MakeHandle) -> Any:
        """The values for the program. A fetch that is fed as well is the array that was fed."""
        results = [as_result(value) for value in fetched]
        for place, source in self.echoes:
            results[place] = np.asarray(fed[source])
        for place, dtype in self.handles:
            results[place] = make_handle(results[place], dtype)
        return results[0] if self.single else self.rebuild(results)


class Plans:
    """The plans of one session; the oldest go when there are too many. Safe from many threads.

    What a plan needs from the tasks is given back when the last run that uses it lets it go.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._lock = threading.Lock()
        self._by_structure: dict[Any, Plan] = {}
        self._steps: dict[Any, PreparedStep] = {}

    def find(self, fetches: Fetches, fed: Sequence[Tensor]) -> Plan | None:
        """The plan for these fetches and feeds, if there is one."""
        key = fetches if type(fetches) in _ELEMENTS else _key_of(fetches)
        return None if key is None else self._by_structure.get((key, tuple(fed)))

    def make(self, fetches: Fetches, fed: Sequence[Tensor], prepare: Prepare) -> Plan:
        """The plan for these fetches and feeds; `prepare` is asked for the step unless other fetches of the same had it."""
        wanted = FetchPlan(self._graph, fetches)
        step_key = tuple(wanted.tensors), tuple(wanted.targets), tuple(fed)
        step = self._steps.get(step_key)
        if step is None:
            step = prepare(fed, wanted.tensors, wanted.targets)
            self._remember(self._steps, step_key, step)
        plan = Plan(step, fed, wanted, fetches)
        key = _key_of(fetches)
        if key is not None:
            # The key holds identities: what they belong to lives as long as the plan.
            self._remember(self._by_structure, (key, tuple(fed)), plan)
        return plan

    def _remember(self, plans: dict[Any, Any], key: Any, value: object) -> None:
        with self._lock:
            if len(plans) >= MAX_PLANS:
                plans.pop(next(iter(plans)))
            plans[key] = value

    def clear(self) -> None:
        """Forget all plans."""
        with self._lock:
            self._by_structure.clear()
            self._steps.clear()


def _key_of(fetches: object) -> Any:
    """A hashable key for structures of graph elements, None for anything else; tensors hash by identity."""
    if type(fetches) in _ELEMENTS:
        return fetches
    if isinstance(fetches, list | tuple):
        parts = [_key_of(item) for item in fetches]
        return None if None in parts else (type(fetches), tuple(parts))
    if isinstance(fetches, Mapping):
        # What a defaultdict makes of a missing key is the program's, and no part of the key.
        parts = [None] if isinstance(fetches, defaultdict) else [_key_of(item) for item in fetches.values()]
        return None if None in parts else (type(fetches), tuple(fetches), tuple(parts))
    if isinstance(fetches, Tensor | Operation | str | bytes) or hasattr(fetches, "_as_graph_element"):
        return fetches
    return None
