"""tf.compat.v2.test.compute_gradient, in a graph: both Jacobians of a function of tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np

from weft.client.session import get_default_session
from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.ops.array.placeholder import placeholder
from weft.testing.gradient_check import jacobians

_Jacobians: TypeAlias = tuple[np.ndarray, ...]


def compute_gradient(f: Callable[..., Tensor], x: list[TensorLike], delta: float = 1e-3) -> tuple[_Jacobians, _Jacobians]:
    """Compute the Jacobian of `f(*x)` for each argument both ways, in the default session.

    Args:
        f: makes a tensor of floating or complex numbers out of tensors; called once.
        x: its arguments, arrays of such numbers: where to compute.
        delta: the step of the finite differences.

    Returns:
        The gradient's Jacobians, one for each argument, and those of finite differences. Each is an array
        `[elements of the argument, elements of f(*x)]`; a complex number counts as two elements.

    Raises:
        ValueError: `x` is no list, or there is no default session.
        AssertionError: an argument or the result has another dtype.
    """
    if not isinstance(x, list):
        raise ValueError(f"`x` must be a list of Tensors (arguments to `f`), not a {type(x)}: write [x] for one")
    session = get_default_session()
    if session is None:
        raise ValueError("compute_gradient needs a default session: call it inside `with session.as_default():`")
    with session.graph.as_default():
        values = session.run([convert_to_tensor(each) for each in x])
        xs = [placeholder(value.dtype, value.shape) for value in values]
        for position, each in enumerate(xs):
            _check_dtype(each, f"argument {position}")
        y = f(*xs)
        _check_dtype(y, "y")
        feeds = dict(zip(xs, values, strict=True))
        y_shape = np.shape(session.run(y, feeds))
        pairs = [jacobians(session, each, y, y_shape, value, delta, feeds) for each, value in feeds.items()]
    return tuple(gradient for gradient, _ in pairs), tuple(numeric for _, numeric in pairs)


def _check_dtype(tensor: Tensor, what: str) -> None:
    base = tensor.dtype.base_dtype
    assert base.is_floating or base.is_complex, f"Cannot compute gradient for unsupported type {base.name} of {what}"


def max_error(grad1: Iterable[object], grad2: Iterable[object]) -> float:
    """The largest difference between elements of two lists of Jacobians, such as `compute_gradient` returns."""
    gaps = (np.fabs(np.asarray(one) - np.asarray(other)) for one, other in zip(grad1, grad2, strict=True))
    return max((float(gap.max()) for gap in gaps if gap.size), default=0.0)
