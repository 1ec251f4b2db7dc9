"""ConcreteFunction: one trace of a function, and its calls."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from typing import Final

from weft.framework.building.aliases import Nest
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.tensor_spec import TensorSpec
from weft.framework.graphs.func_graph import FuncGraph
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dims import Dims
from weft.framework.types.tensor_shape import as_dims
from weft.ops.composites import as_leaf, flat_tensors, packed, tensors_of
from weft.ops.control_flow.function_graph import FunctionGraph
from weft.translation.functions.call_nodes import add_call
from weft.translation.functions.signature import Arguments, is_traced

_NUMBERS: Final = itertools.count()


class ConcreteFunction:
    """A function of tensors of certain types and shapes; made by `tf.function`.

    A call adds the nodes of the trace to the default graph, behind one node of which the results are outputs.

    Args:
        function: called with the trace's arguments, to build it.
        python_function: the function of Python, for messages.
        arguments: what it is traced for: tensors and specs become arguments of the trace, other values are part of it.
        shapes: the shapes of the trace's tensors.
    """

    def __init__(
        self,
        function: Callable[..., Nest],
        python_function: object,
        arguments: Arguments,
        shapes: Sequence[Dims],
    ) -> None:
        self._python = python_function
        name = re.sub(r"\W", "_", getattr(python_function, "__name__", "function")).strip("_") or "function"
        self.name = f"__inference_{name}_{next(_NUMBERS)}"
        self._graph = FunctionGraph(self.name, get_default_graph())
        self.structured_input_signature = arguments.structure
        with self._graph.building():
            given = self._placeholders(arguments, shapes)
            result = function(*given[0], **given[1])
            self._returned = nest.map_structure(self._converted, result)
        self._results = [leaf for leaf in nest.flatten(self._returned) if leaf is not None]
        self._own_inputs = len(self._graph.inputs) - len(self._graph.captures)
        self._graph.finish(flat_tensors(self._results))
        self._arguments = arguments

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self.name!r}>"

    def _placeholders(self, arguments: Arguments, shapes: Sequence[Dims]) -> tuple[tuple[Nest, ...], dict[str, Nest]]:
        made: list[Nest] = []
        dims = iter(shapes)
        names = _unique(arguments.names)
        for leaf, name in zip(nest.flatten(arguments.structure), names, strict=True):
            if isinstance(leaf, TensorSpec):
                made.append(self._graph.add_argument(leaf.name or name, leaf.dtype, as_dims(leaf.shape), exact=True))
            elif is_traced(leaf):
                parts = tensors_of(leaf)
                tensors = [
                    self._graph.add_argument(
                        name if len(parts) == 1 else f"{name}_{number}", each.dtype.base_dtype,
                        next(dims), exact=True,
                    )
                    for number, each in enumerate(parts)
                ]  # fmt: skip
                made.append(packed(leaf, tensors))
            else:
                made.append(leaf)
        result: tuple[tuple[Nest, ...], dict[str, Nest]] = nest.pack_sequence_as(arguments.structure, made)
        return result

    def _converted(self, leaf: Nest) -> Nest:
        if leaf is None or isinstance(leaf, Operation):
            return None
        try:
            return as_leaf(leaf)
        except (TypeError, ValueError):
            raise TypeError(
                "To be compatible with tf.contrib.eager.defun, Python functions must return zero or more Tensors; in "
                f"compilation of {self._python}, found return value of type {type(leaf)}, which is not a Tensor."
            ) from None

    @property
    def graph(self) -> FuncGraph:
        """The trace."""
        return self._graph

    @property
    def inputs(self) -> list[Tensor]:
        """The trace's arguments, and after them those for what it takes from the graph around."""
        return list(self._graph.inputs)

    @property
    def outputs(self) -> list[Tensor]:
        """What the trace returns."""
        return list(self._graph.outputs)

    @property
    def captured_inputs(self) -> list[Tensor]:
        """The tensors of the graph around that it takes."""
        return self._graph.external_captures

    @property
    def structured_outputs(self) -> Nest:
        """What the function returned, tensors of the trace in it."""
        return self._returned

    @property
    def output_shapes(self) -> Nest:
        """The shapes of the results in the structure that the function returned."""
        return nest.map_structure(lambda leaf: getattr(leaf, "shape", None), self._returned)

    @property
    def output_dtypes(self) -> Nest:
        """The types of the results in the structure that the function returned."""
        return nest.map_structure(lambda leaf: getattr(leaf, "dtype", None), self._returned)

    def __call__(self, *args: Nest, **kwargs: Nest) -> Nest:
        """Call the trace with its tensors, by position or by the names of its arguments.

        Raises:
            TypeError: there are too many or too few, or there is no argument of a name.
        """
        own = self._graph.inputs[: self._own_inputs]
        names = [each.op.name for each in own]
        if len(args) > len(own):
            raise TypeError(
                f"Expected at most {len(own)} positional arguments (and the rest keywords, of {names}), got {args}. When "
                "calling a concrete function, positional arguments may not be bound to Tensors within nested structures."
            )
        given = dict(zip(names, args, strict=False))
        unknown = [key for key in kwargs if key not in names]
        if unknown:
            raise TypeError(f"Got unexpected keyword arguments {unknown}: the arguments of {self.name!r} are {names}")
        given.update(kwargs)
        missing = [name for name in names if name not in given]
        if missing:
            raise TypeError(f"Expected argument names {names} but got values for {sorted(given)}. Missing: {missing}.")
        tensors = [convert_to_tensor(given[tensor.op.name], dtype=tensor.dtype.base_dtype) for tensor in own]
        return self.call_flat(tensors)

    def call_flat(self, tensors: Sequence[Tensor]) -> Nest:
        """Add the nodes of a call with these tensors for the trace's own arguments."""
        graph = get_default_graph()
        inputs = [*tensors, *self.captured_inputs]
        if isinstance(graph, FuncGraph):
            inputs = [graph.capture(each) for each in inputs]
        made = add_call(graph, self._graph, inputs)
        if not made.outputs:
            return made if self._returned is None else self._packed([])
        for result, traced in zip(made.outputs, self._graph.outputs, strict=True):
            result.set_shape(traced.dims)
        return self._packed(made.outputs)

    def _packed(self, tensors: Sequence[Tensor]) -> Nest:
        left = list(tensors)
        leaves: list[Nest] = []
        for leaf in nest.flatten(self._returned):
            if leaf is None:
                leaves.append(None)
                continue
            taken = [left.pop(0) for _ in tensors_of(leaf)]
            leaves.append(packed(leaf, taken))
        return nest.pack_sequence_as(self._returned, leaves)


def _unique(names: Sequence[str]) -> list[str]:
    taken: dict[str, int] = {}
    result = []
    for name in names:
        plain = re.sub(r"\W", "_", name)
        count = taken.get(plain, 0)
        taken[plain] = count + 1
        result.append(plain if count == 0 else f"{plain}_{count}")
    return result
