"""Functions of datasets: traced once into the graph's library, with what they use of the graph around as further arguments."""

from __future__ import annotations

import contextlib
import inspect
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from weft.datasets import nest, structure
from weft.datasets.leaves import as_leaf
from weft.framework import scopes
from weft.framework.aliases import Nest
from weft.framework.attr_value import FunctionName
from weft.framework.func_graph import FuncGraph
from weft.framework.graph import Graph, get_default_graph
from weft.framework.operation import Operation, Tensor
from weft.ops.array.identity import identity_node
from weft.ops.declaration import Role, definition_of

_NUMBERS: Final = itertools.count()


class FunctionGraph(FuncGraph):
    """A function under construction. Its nodes' names are its own, so that those of the graph around it are what they were.

    Args:
        name: its name in the library.
        outer_graph: the graph in which it is traced.
    """

    def __init__(self, name: str, outer_graph: Graph) -> None:
        super().__init__(name, outer_graph)
        self._names = {}
        self._suffixes = {}

    @property
    def last_id(self) -> int:
        # As TensorFlow counts, which seeds random nodes by it.
        return len(self.operations)

    @contextlib.contextmanager
    def building(self) -> Iterator[FunctionGraph]:
        """Build in this graph for the block, on the devices that are open around it and in no name scope."""
        state = scopes.current(self.outer_graph)
        with self.as_default(), scopes.entered(self, control_flow=self, devices=state.devices, device_name=state.device_name):
            yield self

    def _stand_in(self, tensor: Tensor) -> Tensor:
        reference = read_reference(tensor)
        if reference is None or not self._is_inside(tensor.op.graph):
            return super()._stand_in(tensor)
        # In TensorFlow the read that a variable makes of itself shares its memory, so functions see it as it is by then.
        with self.building(), self.control_dependencies(None):
            return identity_node(self.capture(reference), name=f"{reference.op.name.rpartition('/')[2]}/read")

    def finish(self, outputs: Sequence[Tensor]) -> FunctionName:
        """Have it return these tensors, after all nodes that read or change state, and put it into the library."""
        with self.building():
            self.outputs = [self.output(tensor) for tensor in outputs]
        self.control_outputs = [
            op for op in self.get_operations() if op.op_def.stateful and op.op_def.role is not Role.ARGUMENT
        ]
        self.outer_graph.add_function(self.name, self)
        self.finalize()
        return FunctionName(self.name)


def read_reference(tensor: Tensor) -> Tensor | None:
    """The variable's reference of which a tensor is a read, None for any other tensor."""
    op = tensor.op
    is_read = op.op_def is definition_of(identity_node) and op.inputs[0].dtype.is_ref
    return op.inputs[0] if is_read and op.inputs[0].op.op_def.role is Role.VARIABLE else None


class Traced:
    """A function in the library.

    Args:
        function: what the program gave.
        transformation: the method that it was given to, for messages, such as "Dataset.map()".
        inputs: the specs of its arguments' structure.
    """

    def __init__(self, function: Callable[..., Nest], transformation: str, inputs: Nest) -> None:
        graph = get_default_graph()
        body = FunctionGraph(_library_name(function, transformation), graph)
        with body.building():
            arguments = [
                body.add_argument(f"args_{number}", dtype, dims)
                for number, (dtype, dims) in enumerate(
                    zip(structure.flat_types(inputs), structure.flat_shapes(inputs), strict=True)
                )
            ]
            element = structure.from_tensors(inputs, arguments)
            _check_takes(function, element, transformation)
            result = function(*element) if type(element) is tuple else function(element)
            # A list that a function returns is that of a node's outputs, which need not have one shape.
            result = tuple(result) if isinstance(result, list) else result
            result = _converted(result, transformation)
            self.spec = structure.spec_of(result)
            tensors = structure.to_tensors(self.spec, result)
        self.returned = result
        self.name = body.finish(tensors)
        self.captured = body.external_captures
        self.waits: list[Operation] = list(body.outer_control_inputs)

    @property
    def captures_reference(self) -> bool:
        """Whether it uses a variable that is no resource, or what follows from one, through which optimizers cannot see."""
        return any(_follows_from_reference(tensor, set()) for tensor in self.captured)


def _follows_from_reference(tensor: Tensor, seen: set[Operation]) -> bool:
    if tensor.dtype.is_ref:
        return True
    if tensor.op in seen:
        return False
    seen.add(tensor.op)
    return any(_follows_from_reference(each, seen) for each in tensor.op.inputs)


def _check_takes(function: Callable[..., Nest], element: Nest, transformation: str) -> None:
    """Raise TypeError for a function that cannot be called with the components of an element."""
    components = element if type(element) is tuple else (element,)
    try:
        inspect.signature(function).bind(*components)
    except TypeError as error:
        name = getattr(function, "__name__", repr(function))
        shown = ", ".join(str(each) for each in components)
        raise TypeError(
            f"{name}() cannot take an element of the dataset: {error}. {transformation} calls it with an argument for each of "
            f"the {len(components)} component(s): {shown}"
        ) from None
    except ValueError:
        return  # a function of C, which tells no signature


def _converted(result: Nest, transformation: str) -> Nest:
    try:
        if any(leaf is None or isinstance(leaf, Operation) for leaf in nest.flatten(result)):
            raise TypeError("neither tensors nor values")
        return nest.map_structure(as_leaf, result)
    except (TypeError, ValueError) as error:
        hint = " Does the function lack its `return`?" if result is None else " It returns tensors, or nests of them."
        raise TypeError(f"Unsupported return value from function passed to {transformation}: {result}.{hint}") from error


def _library_name(function: Callable[..., Nest], transformation: str) -> str:
    own = getattr(function, "__name__", type(function).__name__)
    readable = re.sub(r"\W", "_", f"{transformation.removesuffix('()')}_{own}")
    return f"{readable}_{next(_NUMBERS)}"


def check_transformation(given: object) -> None:
    """Raise TypeError for what Dataset.apply cannot call."""
    if not callable(given):
        raise TypeError(
            f"`transformation_func` must be a function of a dataset, got {given!r}. Of two datasets, a.concatenate(b) makes "
            "one after the other, and tf.data.Dataset.zip((a, b)) pairs of their elements."
        )


def instead_of_dataset(function: object, made: object) -> str:
    """What a function made that should have made a dataset, for messages."""
    name = getattr(function, "__name__", repr(function))
    if callable(made):
        return f" {name}() returned a function: was its call lacking, apply({name}(...))?"
    return f" {name}() returned {made!r}."
