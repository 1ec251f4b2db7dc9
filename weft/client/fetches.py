"""Fetches: from what a program asks `run` for to graph elements, and from their values back to the same structure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from weft.client.conversions import conversion_for
from weft.errors import InaccessibleTensorError
from weft.framework.building.aliases import Fetches, TensorLike
from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.runtime.state.host_values import as_numpy

Rebuild = Callable[[Sequence[Any]], Any]


class FetchPlan:
    """The distinct tensors and targets behind a fetch structure, and how to rebuild the structure from their values.

    Raises:
        TypeError: an element is no graph element. ValueError: it is not in this graph.
    """

    def __init__(self, graph: Graph, fetches: Fetches) -> None:
        self._graph = graph
        self._places: dict[Tensor, int] = {}
        self._targets: dict[Operation, None] = {}
        self._path: list[str] = []
        self.rebuild: Rebuild = self._visit(fetches)
        self.tensors = list(self._places)
        self.targets = list(self._targets)

    def _visit(self, fetch: Any) -> Rebuild:
        if fetch is None:
            raise TypeError(
                f"Fetch argument {fetch!r} has invalid type {type(fetch)!r}{self._place()}. Has a function, or a hook's "
                "`before_run`, returned an op that is None? tf.summary.merge_all() is None in a graph without summaries. "
                "A gradient is None where nothing depends on the variable."
            )
        if isinstance(fetch, list | tuple):
            return self._visit_sequence(fetch)
        if isinstance(fetch, Mapping):
            return self._visit_mapping(fetch)
        if hasattr(type(fetch), "__attrs_attrs__"):
            names = [attribute.name for attribute in type(fetch).__attrs_attrs__]
            rebuild = self._visit_sequence([getattr(fetch, name) for name in names])
            return lambda values: type(fetch)(**dict(zip(names, rebuild(values), strict=True)))
        conversion = conversion_for(fetch)
        if conversion is not None:
            elements, contract = conversion.fetch(fetch)
            parts = [self._element(element) for element in elements]
            return lambda values: contract([part(values) for part in parts])
        return self._element(fetch)

    def _visit_part(self, step: str, fetch: object) -> Rebuild:
        self._path.append(step)
        rebuild = self._visit(fetch)
        self._path.pop()
        return rebuild

    def _place(self) -> str:
        """The place in the structure that is being visited, for messages."""
        return f", at fetches{''.join(self._path)}" if self._path else ""

    def _visit_sequence(self, fetches: Any) -> Rebuild:
        parts = [self._visit_part(f"[{index}]", fetch) for index, fetch in enumerate(fetches)]
        kind = type(fetches)
        if kind is list:
            return lambda values: [part(values) for part in parts]
        if kind is tuple:
            return lambda values: tuple([part(values) for part in parts])
        if hasattr(kind, "_fields"):
            return lambda values: kind(*[part(values) for part in parts])
        return lambda values: kind([part(values) for part in parts])

    def _visit_mapping(self, fetches: Mapping[Any, Any]) -> Rebuild:
        parts = [(key, self._visit_part(f"[{key!r}]", fetch)) for key, fetch in fetches.items()]
        kind = type(fetches)
        if kind is dict:
            return lambda values: {key: part(values) for key, part in parts}
        if isinstance(fetches, defaultdict):
            return lambda values: defaultdict(fetches.default_factory, {key: part(values) for key, part in parts})
        return lambda values: kind((key, part(values)) for key, part in parts)  # type: ignore[call-arg]

    def _element(self, fetch: object) -> Rebuild:
        try:
            element = self._graph.as_graph_element(fetch, allow_tensor=True, allow_operation=True)
        except TypeError as error:
            raise TypeError(
                f"Fetch argument {fetch!r} has invalid type {type(fetch)!r}, must be a string or Tensor. ({error})"
                f"{self._place()}{_value_hint(fetch)}"
            ) from error
        except ValueError as error:
            raise ValueError(f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. ({error}){self._place()}") from error
        except KeyError as error:
            raise ValueError(f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. ({error}){self._place()}") from error
        if not self._graph.is_fetchable(element):
            name = element.op.name if isinstance(element, Tensor) else element.name
            raise InaccessibleTensorError(
                f"Operation {name!r} has been marked as not fetchable. Typically this happens when it is defined in another "
                "function or code block. Use return values,explicit Python locals or TensorFlow collections to access it."
            )
        if isinstance(element, Operation):
            self._targets[element] = None
            return _nothing
        place = self._places.setdefault(element, len(self._places))
        if element.dtype.base_dtype == dtypes.string:
            return lambda values: _with_truth(values[place])
        return lambda values: values[place]


def _value_hint(fetch: object) -> str:
    if isinstance(fetch, np.ndarray | np.generic | float | int | list):
        return " It is a value: was the name of a tensor used again for what `run` returned?"
    if hasattr(fetch, "as_tensor"):
        return " It is a variable in parts: fetch list(variable), or variable.as_tensor(), made before, which joins them."
    if hasattr(fetch, "make_one_shot_iterator"):
        return " Fetch dataset.make_one_shot_iterator().get_next()."
    if hasattr(fetch, "compute_gradients"):
        return " Fetch the op that its minimize(loss) returned."
    if hasattr(fetch, "restore") and hasattr(fetch, "save"):
        return " It is no op: saver.save(session, path) writes a checkpoint."
    if hasattr(fetch, "get_next"):
        return " Fetch what iterator.get_next() returned before the loop; iterator.initializer runs first where there is one."
    return ""


def _nothing(values: Sequence[TensorLike]) -> None:
    return None


class _EmptyStrings(np.ndarray):
    """An empty array of strings that is false, as empty arrays were until NumPy 2.2 made asking an error.

    Programs wait for variables with `while session.run(tf.report_uninitialized_variables()):`, which ends with such an array.
    What NumPy computes of it is a plain array or scalar: `(found == expected).all()` is a truth of its own.
    """

    def __bool__(self) -> bool:
        return bool(self.view(np.ndarray)) if self.size else False

    def __array_wrap__(self, array: np.ndarray, context: object = None, return_scalar: bool = False) -> Any:
        plain = array.view(np.ndarray)
        return plain[()] if return_scalar else plain

    def __repr__(self) -> str:
        return repr(self.view(np.ndarray))


def _with_truth(value: TensorLike) -> TensorLike:
    return value.view(_EmptyStrings) if isinstance(value, np.ndarray) and value.size == 0 else value


def as_result(value: TensorLike) -> Any:
    """A fetched value as the program gets it: an array of its own, or a NumPy scalar (bytes for a string)."""
    # A value that XLA may still compute is waited for.
    array = as_numpy(value) if hasattr(value, "is_ready") else np.asarray(value)
    if array.ndim == 0:
        return array[()]
    # What the runtime keeps for itself is marked read-only; the program's copy is its own.
    return array if array.flags.writeable else array.copy()
