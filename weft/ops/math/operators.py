"""Python's operators on tensors: `a + b`, `-a`, `a < b` ...; importing this module gives them to Tensor.

A number or array on the other side takes the tensor's type. `==` stays identity, as in TensorFlow 1.x.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.nodes.node_errors import naming
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.input_scope import input_scope
from weft.ops.math import comparison, division, elementwise
from weft.ops.math.complex_numbers import absolute
from weft.ops.math.products import matmul

BinaryFunction = Callable[..., Tensor]
# `__add__` and its kin: a Tensor, or NotImplemented where the other side may know what to do.
Operator = Callable[[Tensor, Any], Any]


def _forward(function: BinaryFunction, name: str, reflected: str) -> Operator:
    def operate(x: Tensor, y: TensorLike | SparseTensor) -> Any:
        if isinstance(y, Tensor):
            return function(x, y, name=name)
        if isinstance(y, SparseTensor):
            # A product is the sparse side's to make, in whatever order; it has no other operator of this order.
            return operator.mul(y, x) if name == "mul" else NotImplemented
        with input_scope(name, name, (x, y)) as scope:
            try:
                y = convert_to_tensor(y, dtype_hint=x.dtype.base_dtype, name="y")
            except TypeError:
                # The other side may know what to do with a tensor.
                if hasattr(type(y), reflected):
                    return NotImplemented
                raise
            return function(x, y, name=scope)

    return operate


def _reflected(function: BinaryFunction, name: str) -> Operator:
    def operate(y: Tensor, x: TensorLike) -> Tensor:
        with input_scope(name, name, (y, x)) as scope:
            with naming(_cast_remedy(y), **{f"x of {name}": x, f"y of {name}": y}):
                x = convert_to_tensor(x, dtype=y.dtype.base_dtype, name="x")
            return function(x, y, name=scope)

    return operate


def _cast_remedy(tensor: Tensor) -> str:
    return f"Convert it: tf.cast({tensor.op.name}, tf.float32)." if not tensor.dtype.is_floating else ""


def _compare(function: BinaryFunction) -> Operator:
    def operate(x: Tensor, y: TensorLike) -> Tensor:
        return function(x, y)

    return operate


def _unary(function: Callable[..., Tensor]) -> Callable[[Tensor], Tensor]:
    def operate(x: Tensor) -> Tensor:
        return function(x)

    return operate


def _plus(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """`x + y` as the operator makes it: an AddV2, which has no strings, where tf.add makes an Add."""
    return (elementwise.add if x.dtype.base_dtype is dtypes.string else elementwise.add_v2)(x, y, name=name)


_BINARY: tuple[tuple[str, BinaryFunction, str], ...] = (
    ("add", _plus, "add"),
    ("sub", elementwise.sub, "sub"),
    ("mul", elementwise.mul, "mul"),
    ("div", division.div, "div"),
    ("truediv", division.truediv, "truediv"),
    ("floordiv", division.floordiv, "floordiv"),
    ("mod", division.floor_mod, "mod"),
    ("pow", division.power, "pow"),
    ("matmul", matmul, "matmul"),
    ("and", comparison.logical_and, "and"),
    ("or", comparison.logical_or, "or"),
    ("xor", comparison.scoped_xor, "xor"),
)

for _python, _function, _name in _BINARY:
    Tensor.override_operator(f"__{_python}__", _forward(_function, _name, f"__r{_python}__"))
    Tensor.override_operator(f"__r{_python}__", _reflected(_function, _name))

for _python, _function in (
    ("lt", comparison.less),
    ("le", comparison.less_equal),
    ("gt", comparison.greater),
    ("ge", comparison.greater_equal),
):
    Tensor.override_operator(f"__{_python}__", _compare(_function))

for _python, _function in (
    ("neg", elementwise.neg),
    ("invert", comparison.logical_not),
    ("abs", absolute),
):
    Tensor.override_operator(f"__{_python}__", _unary(_function))
