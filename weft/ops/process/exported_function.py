"""CallExported: a function that JAX has exported, as a node.

The node holds the function's StableHLO in its serial form, so a graph with such nodes can be sent to other tasks and saved
like any other, and needs nothing there of what made the function.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final

from weft.framework.building.aliases import Array, ArrayModule, Result
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.declaration import op
from weft.platform.imports.jax_modules import export, jax

_PLATFORMS: Final = ("cpu", "cuda", "tpu")


def _given_shapes(node: Operation) -> list[Dims]:
    return list(node.attrs["shapes"])


@op("CallExported", "args: [Tin] -> output: [Tout]", infer=_given_shapes, gradient=None, compiled_only=True)
def call_exported_node(xp: ArrayModule, args: Array, *, Tout: list[DType], function: str, shapes: list[Dims]) -> list[Result]:
    """The results of the function, one after the other: `n*[*argument] -> m*[*result]`."""
    results: list[Result] = _deserialized(function)(*(xp.asarray(value) for value in args))
    return results


@functools.lru_cache(maxsize=256)
def _deserialized(function: str) -> Callable[..., Any]:
    exported = export.deserialize(bytearray(function.encode("utf-8", "surrogateescape")))
    return exported.call


def spec_of(tensor: Tensor) -> jax.ShapeDtypeStruct:
    """The shape and type of a tensor or variable for JAX; ValueError when the shape is not fully known."""
    shape = tensor.get_shape()
    if not shape.is_fully_defined():
        raise ValueError(f"{tensor.name}: the shape must be fully known here, but it is {shape}")
    return jax.ShapeDtypeStruct(tuple(shape.as_list()), tensor.dtype.base_dtype.as_numpy_dtype)  # type: ignore[no-untyped-call]


def types_of(specs: Sequence[jax.ShapeDtypeStruct]) -> AbstractContextManager[None]:
    """A block in which JAX has 64-bit types if one of these is: elsewhere functions count on its own defaults."""
    block: AbstractContextManager[None] = jax.enable_x64(any(spec.dtype.itemsize == 8 for spec in specs))
    return block


def call_exported(function: Callable[..., Sequence[object]], inputs: Sequence[Tensor], name: str | None = None) -> list[Tensor]:
    """Add a node that calls a JAX function.

    Args:
        function: takes arrays and gives a sequence of arrays; it is traced here, and not kept.
        inputs: tensors of known rank. Unknown sizes are traced as symbols: all unknown first ones as one, others as their own.
        name: the node's name.
    """
    specs = _specs_of(inputs)
    with types_of(specs):
        exported = export.export(jax.jit(lambda *args: tuple(function(*args))), platforms=_PLATFORMS)(*specs)
    results = call_exported_node(
        list(inputs),
        Tout=[dtypes.as_dtype(result.dtype) for result in exported.out_avals],
        function=bytes(exported.serialize()),
        shapes=[tuple(size if isinstance(size, int) else None for size in result.shape) for result in exported.out_avals],
        name=name,
    )
    return list(results)


def _specs_of(tensors: Sequence[Tensor]) -> list[jax.ShapeDtypeStruct]:
    """The shapes and types of tensors for JAX, where unknown sizes are symbols: one for all first ones, and others' own."""
    if all(tensor.get_shape().is_fully_defined() for tensor in tensors):
        return [spec_of(tensor) for tensor in tensors]
    scope = export.SymbolicScope()
    made = []
    for number, tensor in enumerate(tensors):
        dims = tensor.dims
        if dims is None:
            raise ValueError(f"{tensor.name}: the rank must be known here; use set_shape")
        names = [
            str(size) if size is not None else "batch" if axis == 0 else f"n{number}_{axis}" for axis, size in enumerate(dims)
        ]
        shape = export.symbolic_shape(", ".join(names), scope=scope)
        made.append(jax.ShapeDtypeStruct(shape, tensor.dtype.base_dtype.as_numpy_dtype))  # type: ignore[no-untyped-call]
    return made
