"""tf.test.compute_gradient: Jacobians as the graph computes them, beside those that finite differences give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from weft.autodiff.gradients import gradients
from weft.client.session import BaseSession, get_default_session
from weft.framework.building.aliases import Feeds, Fetches, SessionLike, TensorLike
from weft.framework.nodes.operation import Tensor
from weft.ops.array.placeholder import placeholder


def _parts(array: object) -> Any:
    """The real numbers of an array, in one row; a complex number is two."""
    flat = np.ascontiguousarray(array).ravel()
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat


def _theoretical(session: SessionLike, x: TensorLike, y: Any, y_shape: Any, values: TensorLike, feeds: Feeds) -> Any:
    weights = placeholder(y.dtype.base_dtype, tuple(y_shape))
    (grad,) = gradients(y, x, [weights])
    kind = y.dtype.base_dtype.as_numpy_dtype
    columns = []
    for position in range(_parts(np.zeros(y_shape, kind)).size):
        unit = np.zeros(y_shape, kind)
        _set_part(unit, position)
        column = (
            np.zeros_like(values) if grad is None else _dense(session.run(grad, {**feeds, x: values, weights: unit}), values)
        )
        columns.append(_parts(column))
    return np.stack(columns, 1) if columns else np.zeros((_parts(values).size, 0))


def _set_part(array: Any, position: int) -> None:
    flat = array.reshape(-1)
    if flat.dtype.kind == "c":
        flat[position // 2] = 1j if position % 2 else 1
    else:
        flat[position] = 1


def _dense(grad: Any, like: object) -> Any:
    if not hasattr(grad, "indices"):
        return grad
    dense = np.zeros_like(like)
    np.add.at(dense, grad.indices, grad.values)
    return dense


def _numeric(session: BaseSession, x: Any, y: Any, values: Any, delta: float, feeds: Mapping[Any, Any]) -> Any:
    rows = []
    for position in range(_parts(values).size):
        unit = np.zeros_like(values)
        _set_part(unit, position)
        high, low = (session.run(y, {**feeds, x: values + sign * delta * unit}) for sign in (1, -1))
        rows.append(_parts((np.asarray(high) - np.asarray(low)) / (2 * delta)))
    return np.stack(rows) if rows else np.zeros((0, 0))


def jacobians(
    session: BaseSession, x: Tensor, y: TensorLike, y_shape: object, values: np.ndarray, delta: float, feeds: Feeds
) -> tuple[np.ndarray, np.ndarray]:
    """The Jacobian of `y` for `x` where `x` is `values`: the gradient's, and the one of finite differences."""
    return _theoretical(session, x, y, y_shape, values, feeds), _numeric(session, x, y, values, delta, feeds)


def compute_gradient(
    x: Any,
    x_shape: Any,
    y: TensorLike,
    y_shape: object,
    x_init_value: Any = None,
    delta: float = 1e-3,
    init_targets: Fetches = None,
    extra_feed_dict: Feeds | None = None,
) -> Any:
    """Compute the Jacobian of `y` for `x` both ways, in the default session.

    Args:
        x: a tensor, or a list of them.
        x_shape: its shape (a list of lists for several).
        y: a tensor that depends on it.
        y_shape: its shape.
        x_init_value: where to compute; random numbers when None.
        delta: the step of the finite differences.
        init_targets: operations to run first.
        extra_feed_dict: further tensors to feed.

    Returns:
        For each x a pair of arrays `[elements of x, elements of y]`, the gradient's and the one of finite differences.

    Raises:
        ValueError: there is no default session.
    """
    session = get_default_session()
    if session is None:
        raise ValueError("compute_gradient needs a default session: call it inside `with session.as_default():`")
    if init_targets is not None:
        for target in init_targets if isinstance(init_targets, list | tuple) else [init_targets]:
            session.run(target)
    several = isinstance(x, list | tuple)
    xs, shapes = (list(x), list(x_shape)) if several else ([x], [x_shape])
    given = [None] * len(xs) if x_init_value is None else list(x_init_value) if several else [x_init_value]
    values = [_start(each, shape, init) for each, shape, init in zip(xs, shapes, given, strict=True)]
    feeds = {**(extra_feed_dict or {}), **dict(zip(xs, values, strict=True))}
    with session.graph.as_default():
        pairs = [jacobians(session, each, y, y_shape, value, delta, feeds) for each, value in zip(xs, values, strict=True)]
    return pairs if several else pairs[0]


def _start(x: Any, shape: Any, given: object) -> Any:
    kind = x.dtype.base_dtype.as_numpy_dtype
    if given is None:
        drawn = np.random.random_sample(shape)
        return (drawn + 1j * np.random.random_sample(shape) if np.dtype(kind).kind == "c" else drawn).astype(kind)
    # One element is moved at a time through a flat view, which only arrays in C's order have.
    return np.array(given, kind, order="C")


def compute_gradient_error(
    x: TensorLike,
    x_shape: object,
    y: TensorLike,
    y_shape: object,
    x_init_value: object = None,
    delta: float = 1e-3,
    init_targets: Fetches = None,
    extra_feed_dict: Feeds | None = None,
) -> float:
    """The largest difference between the two Jacobians of `compute_gradient`, whose arguments it takes.

    Args: those of `tf.test.compute_gradient`.
    """
    pairs = compute_gradient(x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict)
    pairs = pairs if isinstance(pairs, list) else [pairs]
    return max((float(np.fabs(have - want).max()) for have, want in pairs if have.size), default=0.0)
