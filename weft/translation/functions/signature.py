"""What a function is called with: its tensors, and what of the arguments decides which trace is called."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import numpy as np

from weft.framework.building.aliases import Nest
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.tensor_spec import TensorSpec
from weft.framework.nested import nest
from weft.framework.nodes.operation import Tensor
from weft.framework.types.dims import Dims
from weft.framework.types.tensor_shape import as_dims
from weft.ops.composites import tensors_of
from weft.ops.variables.variable import Variable


class Arguments(NamedTuple):
    """The arguments of a call by the names of the function, in the order of its signature."""

    args: tuple[Nest, ...]
    kwargs: dict[str, Nest]
    names: tuple[str, ...]
    """A name for each leaf, after the argument that it is in."""

    @property
    def structure(self) -> tuple[Nest, Nest]:
        """All arguments as one nest."""
        return self.args, self.kwargs


class FunctionSpec:
    """How a function takes its arguments.

    Args:
        function: the function of Python.
        input_signature: a nest of TensorSpecs for its arguments; None to take any.

    Raises:
        TypeError: the signature is no list or tuple of TensorSpecs.
    """

    def __init__(self, function: Callable[..., Nest], input_signature: Sequence[Nest] | None = None) -> None:
        self._function = function
        try:
            self._parameters: inspect.Signature | None = inspect.signature(function)
        except (TypeError, ValueError):  # a function of C, which tells none
            self._parameters = None
        if input_signature is not None and not isinstance(input_signature, list | tuple):
            raise TypeError(f"input_signature must be either a tuple or a list, received {type(input_signature)}")
        specs = None if input_signature is None else nest.flatten(input_signature)
        if specs is not None and not all(isinstance(each, TensorSpec) for each in specs):
            raise TypeError(
                f"Invalid input_signature {input_signature}; input_signature must be a possibly nested sequence of TensorSpec "
                "objects."
            )
        self.input_signature = None if input_signature is None else tuple(input_signature)
        self.flat_input_signature = None if specs is None else tuple(specs)

    def __repr__(self) -> str:
        return f"<FunctionSpec of {self._function}>"

    def arguments(self, args: tuple[Nest, ...], kwargs: dict[str, Nest]) -> Arguments:
        """The arguments of a call: arrays as tensors, defaults filled in where there is no signature.

        Raises:
            TypeError: there are more or others than the function, or its signature, takes.
            ValueError: they do not fit the signature.
        """
        if self.input_signature is not None:
            return self._signed(args, kwargs)
        bound = self._bound(args, kwargs)
        if bound is not None:
            bound.apply_defaults()
            args, kwargs = bound.args, bound.kwargs
        given = nest.map_structure(_without_arrays, (args, kwargs))
        return Arguments(given[0], given[1], self._names(given[0], given[1]))

    def _bound(self, args: tuple[Nest, ...], kwargs: dict[str, Nest]) -> inspect.BoundArguments | None:
        return None if self._parameters is None else self._parameters.bind(*args, **kwargs)

    def _signed(self, args: tuple[Nest, ...], kwargs: dict[str, Nest]) -> Arguments:
        signature = self.input_signature or ()
        if len(args) + len(kwargs) > len(signature):
            raise TypeError(
                "When input_signature is provided, only pass arguments covered by it. Received "
                f"{len(args) + len(kwargs)} argument(s)."
            )
        if kwargs and self._parameters is not None:
            args = self._parameters.bind(*args, **kwargs).args
        try:
            leaves = nest.flatten_up_to(list(signature), list(args))
            flat = [_as_specified(each, spec) for each, spec in zip(leaves, self.flat_input_signature or (), strict=True)]
        except (TypeError, ValueError) as error:
            raise ValueError(_incompatible(args, signature)) from error
        for tensor, spec in zip(flat, self.flat_input_signature or (), strict=True):
            if not spec.is_compatible_with(tensor):
                raise ValueError(_incompatible(nest.pack_sequence_as(list(signature), flat), signature))
        packed = tuple(nest.pack_sequence_as(list(signature), flat))
        return Arguments(packed, {}, self._names(packed, {}))

    def _names(self, args: tuple[Nest, ...], kwargs: dict[str, Nest]) -> tuple[str, ...]:
        own = [] if self._parameters is None else list(self._parameters.parameters)
        names: list[str] = []
        for index, value in enumerate(args):
            names += [own[index] if index < len(own) else f"args_{index}"] * len(nest.flatten(value))
        for key in sorted(kwargs):
            names += [key] * len(nest.flatten(kwargs[key]))
        return tuple(names)


def _incompatible(given: Sequence[Nest], signature: Sequence[Nest]) -> str:
    def listed(values: Sequence[Nest]) -> str:
        return "(\n" + ",\n".join(f"    {each}" for each in values) + ")"

    return (
        f"Python inputs incompatible with input_signature:\n  inputs: {listed(given)}\n  input_signature: {listed(signature)}"
    )


def _as_specified(value: Nest, spec: TensorSpec) -> Tensor:
    return value if isinstance(value, Tensor) else convert_to_tensor(value, dtype=spec.dtype)


def _without_arrays(value: Nest) -> Nest:
    return convert_to_tensor(value) if isinstance(value, np.ndarray) else value


def key_of(arguments: Arguments) -> tuple[Hashable, list[Dims]]:
    """What decides which trace is called, but for shapes; and the shapes of the tensors.

    Raises:
        TypeError: an argument cannot be hashed.
    """
    leaves: list[Hashable] = []
    shapes: list[Dims] = []
    for leaf in nest.flatten(arguments.structure):
        if isinstance(leaf, Variable):
            leaves.append(("variable", weakref.ref(leaf)))
        elif is_traced(leaf):
            tensors = tensors_of(leaf)
            leaves.append((type(leaf), *(tensor.dtype.base_dtype for tensor in tensors)))
            shapes += [tensor.dims for tensor in tensors]
        else:
            hash(leaf)
            leaves.append(leaf)
    return (_form(arguments.structure), tuple(leaves)), shapes


def _form(structure: Nest) -> str:
    return str(nest.map_structure(lambda _: 0, structure))


def is_traced(leaf: Nest) -> bool:
    """Whether an argument becomes one of the trace: a tensor, or an object made of tensors."""
    if isinstance(leaf, Variable):
        return False
    found = tensors_of(leaf)
    return bool(found) and all(isinstance(each, Tensor) for each in found)


def arguments_of_specs(
    spec: FunctionSpec, args: tuple[Nest, ...], kwargs: dict[str, Nest]
) -> tuple[tuple[Nest, ...], dict[str, Nest]]:
    """What `get_concrete_function` was given, or the signature where it was given nothing."""
    if spec.input_signature is not None and not args and not kwargs:
        return spec.input_signature, {}
    return args, kwargs


def relaxed(shapes: Sequence[Dims], others: Sequence[Dims]) -> list[Dims]:
    """The shapes that admit both."""
    return [_common(a, b) for a, b in zip(shapes, others, strict=True)]


def _common(a: Dims, b: Dims) -> Dims:
    if a is None or b is None or len(a) != len(b):
        return None
    return as_dims([one if one == other else None for one, other in zip(a, b, strict=True)])
