"""The default gradient: JAX's reverse derivative of an op's own kernel, as one node.

An op declared with `gradient=vjp` needs no rule of its own; XLA removes what the forward pass computed already.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.framework.building.aliases import Array, ArrayModule
from weft.framework.nodes.node_types import group
from weft.framework.nodes.operation import Operation
from weft.framework.registry import op_registry
from weft.framework.types.attr_value import FunctionName
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.declaration import op
from weft.ops.traced_checks import unchecked
from weft.platform.imports.jax_modules import jax, jnp


def _input_shapes(node: Operation) -> list[Dims]:
    return [node.inputs[index].dims for index in node.attrs["wanted"]]


def _static_members(node: Operation) -> list[int]:
    """The inputs whose values the differentiated kernel must know: a feed that is an axis, or a size."""
    function = node.attrs["f"]
    definition = op_registry.lookup(function)
    numbers = group(definition.inputs, function.attrs, range(len(node.attrs["Tin"])))
    return [
        number
        for arg, members in numbers
        if arg.name in definition.static
        for number in (members if isinstance(members, list) else [members])
    ]


@op("KernelGradient", "inputs: [Tin], grads: [Tgrad] -> output: [Tout]", infer=_input_shapes, compiled_only=True,
    static_members=_static_members, gradient=lambda node, *grads: vjp(node, *grads))  # fmt: skip
def symbolic_gradient(
    xp: ArrayModule, inputs: Sequence[Array], grads: Sequence[Array], *, Tout: list[DType],
    f: Function, wanted: list[int],  # type: ignore[name-defined]  # noqa: F821
) -> Array:  # fmt: skip
    """The gradients of op `f` (its type, with its attributes) for the inputs listed in `wanted`.

    `n*[*input], m*[*output] -> k*[*input]`
    """
    definition = op_registry.lookup(f)
    keywords = {key: f.attrs.get(key) for key in definition.kernel_attrs}

    def forward(*varied: object) -> Any:
        values = list(inputs)
        for index, value in zip(wanted, varied, strict=True):
            values[index] = value
        arguments = [value for _, value in group(definition.inputs, f.attrs, values)]
        out = (
            definition.kernel(jnp, *arguments, **keywords) if definition.takes_xp else definition.kernel(*arguments, **keywords)
        )
        outs = tuple(out) if isinstance(out, tuple | list) else (out,)
        return tuple(o for o in outs if jnp.issubdtype(o.dtype, jnp.inexact))

    with unchecked():
        primals, pullback = jax.vjp(forward, *(jnp.asarray(inputs[index]) for index in wanted))
    cotangents = tuple(jnp.broadcast_to(jnp.asarray(g, p.dtype), p.shape) for g, p in zip(grads, primals, strict=True))
    # TensorFlow's gradient of a complex tensor is the conjugate of JAX's.
    return tuple(jnp.conj(each) for each in pullback(tuple(jnp.conj(each) for each in cotangents)))


def vjp(node: Operation, *grads: object) -> list[Any]:
    """The gradient rule that differentiates the kernel of `node` itself."""
    wanted = [
        index for index, tensor in enumerate(node.inputs)
        if (tensor.dtype.is_floating or tensor.dtype.is_complex) and not _is_static(node, index)
    ]  # fmt: skip
    result: list[Any] = [None] * len(node.inputs)
    floating = [i for i, t in enumerate(node.outputs) if t.dtype.is_floating or t.dtype.is_complex]
    if not wanted or not floating:
        return result
    filled = [_zeros_for(node.outputs[i]) if grads[i] is None else grads[i] for i in floating]
    function = FunctionName(node.type, {k: v for k, v in node.attrs.items() if not k.startswith("_")})
    outputs = symbolic_gradient(
        list(node.inputs), filled, Tout=[node.inputs[i].dtype.base_dtype for i in wanted], f=function, wanted=wanted
    )
    for index, gradient in zip(wanted, outputs, strict=True):
        result[index] = gradient
    return result


def _is_static(node: Operation, index: int) -> bool:
    return any(arg.name in node.op_def.static for arg, members in group(node.op_def.inputs, node.attrs, range(len(node.inputs)))
               if members == index or (isinstance(members, list) and index in members))  # fmt: skip


def _zeros_for(tensor: Any) -> Any:
    # A scalar zero: the kernel broadcasts it to the output's shape.
    return np.zeros((), tensor.dtype.as_numpy_dtype)
