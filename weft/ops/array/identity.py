"""Ops that pass their inputs on: identities, and the marks that gradients and readers of a graph look for."""

from __future__ import annotations

from typing import overload

from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result, TensorLike
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.declaration import Role, not_differentiable, op, same_as_input
from weft.ops.dispatch import dispatchable


def _each_input(node: Operation) -> list[Dims]:
    return [tensor.dims for tensor in node.inputs]


def _pass_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [grad]


@op("Identity", "input: T -> output: T", role=Role.ALIAS, infer=same_as_input, gradient=_pass_gradient)
def identity_node(xp: ArrayModule, input: Array) -> Result:
    """The input: `[...] -> [...]`."""
    return input


@op("DebugGradientIdentity", "input: T -> output: T", role=Role.ALIAS, infer=same_as_input, gradient=_pass_gradient)
def debug_gradient_identity(xp: ArrayModule, input: Array) -> Result:
    """The input, which a debugger of gradients finds by its name: `[...] -> [...]`."""
    return input


@overload
def identity(input: TensorLike, name: str | None = None) -> Tensor: ...
@overload
def identity(input: IndexedSlices, name: str | None = None) -> IndexedSlices: ...
@overload
def identity(input: SparseTensor, name: str | None = None) -> SparseTensor: ...
@dispatchable
def identity(
    input: TensorLike | IndexedSlices | SparseTensor, name: str | None = None
) -> Tensor | IndexedSlices | SparseTensor:
    """A tensor with the value of `input`, made by a node of its own.

    >>> sess.run(tf.identity([1, 2]))
    array([1, 2], dtype=int32)

    Args:
        input: [...] tensor of any dtype, a SparseTensor or IndexedSlices; of a variable, its value.

    Returns:
        A tensor of the type and shape of the argument.

    Raises:
        TypeError: `input` becomes no tensor.
    """
    if isinstance(input, IndexedSlices | SparseTensor):
        values, indices = identity_node(input.values), identity_node(input.indices)
        shape = None if input.dense_shape is None else identity_node(input.dense_shape)
        if isinstance(input, IndexedSlices):
            return IndexedSlices(values, indices, shape)
        return SparseTensor(indices, values, shape)
    return identity_node(input, name=name)


def _pass_gradients(node: Operation, *grads: Tensor | None) -> Gradients:
    return list(grads)


@op("IdentityN", "input: [T] -> output: [T]", limits={"T": 1}, role=Role.ALIAS, infer=_each_input, gradient=_pass_gradients)
def identity_n(xp: ArrayModule, input: list[Array], *, T: list[DType]) -> list[Result]:
    """The inputs, each of which waits for all of them: `N*[...] -> N*[...]`.

    Args:
        input: a list of tensors, of any shapes and dtypes.
    """
    return list(input)


@op("StopGradient", "input: T -> output: T", role=Role.ALIAS, infer=same_as_input, gradient=not_differentiable)
def stop_gradient(xp: ArrayModule, input: Array) -> Result:
    """The input, as a constant to gradients: `[...] -> [...]`.

    Args:
        input: [...] tensor of any dtype.

    Returns:
        [...] tensor of the type and shape of the argument.
    """
    return input


def _refuse_gradient(node: Operation, grad: Tensor) -> Gradients:
    raise LookupError(f"Gradient explicitly disabled. Reason: {node.get_attr('message')!r}")


@op("PreventGradient", "input: T -> output: T", role=Role.ALIAS, infer=same_as_input, gradient=_refuse_gradient)
def prevent_gradient(xp: ArrayModule, input: Array, *, message: str = "") -> Result:
    """The input, whose gradient may not be asked for (LookupError): `[...] -> [...]`."""
    return input


@op("Snapshot", "input: T -> output: T", role=Role.ALIAS, infer=same_as_input, gradient=_pass_gradient)
def snapshot(xp: ArrayModule, input: Array) -> Result:
    """The input, which nothing overwrites (values never change here): `[...] -> [...]`."""
    return input


@op("DeepCopy", "x: T -> y: T", role=Role.ALIAS, infer=same_as_input, gradient=None, stateful=True)
def deep_copy(xp: ArrayModule, x: Array) -> Result:
    """The input itself, since values never change here: `[...] -> [...]`."""
    return x


@op("GuaranteeConst", "input: T -> output: T", role=Role.ALIAS, infer=same_as_input, gradient=None, stateful=True)
def guarantee_const(xp: ArrayModule, input: Array) -> Result:
    """The input, which the program promises never to change: `[...] -> [...]`.

    Args:
        input: [...] tensor of any dtype.
    """
    return input
