"""Functions of datasets: traced once into the graph's library, with what they use of the graph around as further arguments."""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Callable
from typing import Final

from weft.datasets import nest, structure
from weft.datasets.leaves import as_leaf
from weft.framework.building.aliases import Nest
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.control_flow.function_graph import FunctionGraph
from weft.translation.calls import call

_NUMBERS: Final = itertools.count()


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
            result = call(function, element if type(element) is tuple else (element,), {})
            self.given = result
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
    if not callable(function):
        raise ValueError(f"Argument must be callable: {transformation} takes a function of an element, got {function!r}")
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
