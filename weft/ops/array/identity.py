"""Ops that pass their inputs on: identities, and the marks that gradients and readers of a graph look for."""

from __future__ import annotations

from typing import Any

from weft.framework.dtypes import DType
from weft.framework.indexed_slices import IndexedSlices
from weft.framework.operation import Operation
from weft.framework.sparse_tensor import SparseTensor
from weft.framework.tensor_shape import Dims
from weft.ops.declaration import Role, not_differentiable, op, same_as_input


def _each_input(node: Operation) -> list[Dims]:
    return [tensor.dims for tensor in node.inputs]


def _pass_gradient(node: Operation, grad: Any) -> list[Any]:
    return [grad]


@op("Identity", "input: T -> output: T", role=Role.ALIAS, infer=same_as_input, gradient=_pass_gradient)
def identity_node(xp, input):
    """The input."""
    return input


def identity(input: Any, name: str | None = None) -> Any:
    """A tensor with the value of `input`, made by a node of its own."""
    if isinstance(input, IndexedSlices | SparseTensor):
        values, indices = identity_node(input.values), identity_node(input.indices)
        shape = None if input.dense_shape is None else identity_node(input.dense_shape)
        return (
            IndexedSlices(values, indices, shape) if isinstance(input, IndexedSlices) else SparseTensor(indices, values, shape)
        )
    return identity_node(input, name=name)


def _pass_gradients(node: Operation, *grads: Any) -> list[Any]:
    return list(grads)


@op("IdentityN", "input: [T] -> output: [T]", role=Role.ALIAS, infer=_each_input, gradient=_pass_gradients)
def identity_n(xp, input, *, T: list[DType]):
    """The inputs, each of which waits for all of them."""
    return tuple(input)


@op("StopGradient", "input: T -> output: T", role=Role.ALIAS, infer=same_as_input, gradient=not_differentiable)
def stop_gradient(xp, input):
    """The input, as a constant to gradients."""
    return input


def _refuse_gradient(node: Operation, grad: Any) -> list[Any]:
    raise LookupError(f"Gradient explicitly disabled. Reason: {node.get_attr('message')!r}")


@op("PreventGradient", "input: T -> output: T", role=Role.ALIAS, infer=same_as_input, gradient=_refuse_gradient)
def prevent_gradient(xp, input, *, message: str = ""):
    """The input, of which asking the gradient is a LookupError."""
    return input


@op("Snapshot", "input: T -> output: T", role=Role.ALIAS, infer=same_as_input, gradient=_pass_gradient)
def snapshot(xp, input):
    """The input, which nothing overwrites: values never change here."""
    return input


@op("DeepCopy", "x: T -> y: T", role=Role.ALIAS, infer=same_as_input, gradient=None, stateful=True)
def deep_copy(xp, x):
    """A copy of the input: values never change here, so the input itself."""
    return x


@op("GuaranteeConst", "input: T -> output: T", role=Role.ALIAS, infer=same_as_input, gradient=None, stateful=True)
def guarantee_const(xp, input):
    """The input, which the program promises never to change."""
    return input
