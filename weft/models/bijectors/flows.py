"""Normalizing flows: masked autoregressive flows (arXiv:1705.07057), RealNVP (arXiv:1605.08803), and their networks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from weft.framework.building.aliases import Nest
from weft.framework.nodes.operation import Tensor
from weft.models.bijectors.bijector import Bijector
from weft.models.layers.core import Dense, dense
from weft.ops.array.constant import constant
from weft.ops.array.filling import zeros_like
from weft.ops.array.identity import stop_gradient
from weft.ops.array.joining import concat, split
from weft.ops.array.shape_ops import reshape
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.control_flow.while_loop import while_loop
from weft.ops.input_scope import input_scope
from weft.ops.math.clip import clip_by_value
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.math.unary import exp
from weft.ops.nn.activation import relu
from weft.ops.variables.matrix_initializers import glorot_normal_initializer
from weft.ops.variables.template import make_template

_Network = Callable[..., Nest]
# Their further positional arguments are the program's to give.
_dense: _Network = dense
_dense_layer: _Network = Dense


def _event_size(x: Tensor) -> int:
    size: int | None = x.shape.with_rank_at_least(1).as_list()[-1]
    if size is None:
        raise NotImplementedError("Rightmost dimension must be known prior to graph execution.")
    return size


def _stretched(x: Tensor, shift: Tensor | None, log_scale: Tensor | None) -> Tensor:
    y = x if log_scale is None else x * exp(log_scale)
    return y if shift is None else y + shift


def _shrunk(y: Tensor, shift: Tensor | None, log_scale: Tensor | None) -> Tensor:
    x = y if shift is None else y - shift
    return x if log_scale is None else x * exp(-log_scale)


def _log_of(log_scale: Tensor | None, like: Tensor) -> Tensor:
    return constant(0.0, dtype=like.dtype) if log_scale is None else reduce_sum(log_scale, -1)


class MaskedAutoregressiveFlow(Bijector):
    """Stretches and shifts each element of a vector by a function of the elements before it.

    `inverse` takes one call of the function, `forward` one for each element, in a loop.

    Args:
        shift_and_log_scale_fn: of `y`, `[..., size]`, to the shift and the logarithm of the scale, `[..., size]` each or None;
            what it gives for an element depends on those before it alone; see `masked_autoregressive_default_template`.
        is_constant_jacobian: whether the scale depends on nothing.
        validate_args: kept.
        unroll_loop: whether `forward` has the nodes of each step in place of a loop; the size must be known.
        name: of its scopes.
    """

    def __init__(
        self,
        shift_and_log_scale_fn: _Network,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        unroll_loop: bool = False,
        name: str | None = None,
    ) -> None:
        self._network = shift_and_log_scale_fn
        self._unroll_loop = unroll_loop
        super().__init__(
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            forward_min_event_ndims=1,
            name=name or "masked_autoregressive_flow",
        )

    def _forward(self, x: Tensor, **kwargs: Nest) -> Tensor:
        y = zeros_like(x, name="y0")
        size = x.shape.with_rank_at_least(1).as_list()[-1]
        if self._unroll_loop:
            if size is None:
                raise ValueError(
                    "The final dimension of `x` must be known at graph construction time if `unroll_loop=True`. "
                    f"`x.shape: {x.shape!r}`"
                )
            for _ in range(size):
                y = _stretched(x, *self._network(y))
            return y
        # The first call makes the variables, outside of the loop.
        self._network(y)
        found: tuple[Tensor, Tensor] = while_loop(
            lambda index, _: index < shape_of(x)[-1],
            lambda index, before: (index + 1, _stretched(x, *self._network(before))),
            (0, y),
            maximum_iterations=size,
        )
        return found[1]

    def _inverse(self, y: Tensor, **kwargs: Nest) -> Tensor:
        return _shrunk(y, *self._network(y))

    def _inverse_log_det_jacobian(self, y: Tensor, **kwargs: Nest) -> Tensor:
        return -_log_of(self._network(y)[1], y)


class RealNVP(Bijector):
    """Stretches and shifts the last elements of a vector by a function of the first ones, which stay.

    Args:
        num_masked: how many elements stay.
        shift_and_log_scale_fn: of these, `[batch, num_masked]`, and the number of the others to the shift and the logarithm of
            the scale, `[batch, size - num_masked]` each or None.
        is_constant_jacobian: whether the scale depends on nothing.
        validate_args: kept.
        name: of its scopes.

    Raises:
        ValueError: `num_masked` is not positive, or, when it is used, not less than the size.
    """

    def __init__(
        self,
        num_masked: int,
        shift_and_log_scale_fn: _Network,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        if num_masked <= 0:
            raise ValueError(f"num_masked must be a positive integer. It is {num_masked}.")
        self._num_masked = num_masked
        self._network = shift_and_log_scale_fn
        super().__init__(
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            forward_min_event_ndims=1,
            name=name or "real_nvp",
        )

    def _parts(self, x: Tensor) -> tuple[Tensor, Tensor, Nest]:
        size = _event_size(x)
        if self._num_masked >= size:
            raise ValueError(
                f"Number of masked units must be smaller than the event size. They are {self._num_masked} and {size}."
            )
        kept, moved = x[..., : self._num_masked], x[..., self._num_masked :]
        return kept, moved, self._network(kept, size - self._num_masked)

    def _forward(self, x: Tensor, **kwargs: Nest) -> Tensor:
        kept, moved, found = self._parts(x)
        return concat([kept, _stretched(moved, *found)], -1)

    def _inverse(self, y: Tensor, **kwargs: Nest) -> Tensor:
        kept, moved, found = self._parts(y)
        return concat([kept, _shrunk(moved, *found)], -1)

    def _inverse_log_det_jacobian(self, y: Tensor, **kwargs: Nest) -> Tensor:
        return -_log_of(self._parts(y)[2][1], y)

    def _forward_log_det_jacobian(self, x: Tensor, **kwargs: Nest) -> Tensor:
        return _log_of(self._parts(x)[2][1], x)


def _mask(blocks: int, inputs: int, outputs: int, exclusive: bool) -> np.ndarray:
    """Which weights a unit may have: those of the inputs in its block and before it, without its block if `exclusive`."""
    mask = np.zeros([inputs, outputs], np.float32)
    for block in range(blocks):
        rows = slice(block * (inputs // blocks), (block + 1) * (inputs // blocks))
        mask[rows, (block + exclusive) * (outputs // blocks) :] = 1.0
    return mask


def masked_dense(
    inputs: Tensor,
    units: int,
    num_blocks: int,
    exclusive: bool = False,
    kernel_initializer: Callable[..., Nest] | None = None,
    reuse: bool | None = None,
    name: str | None = None,
    *args: Nest,
    **kwargs: Nest,
) -> Tensor:
    """A dense layer whose units depend on the inputs of their block and of those before it alone (arXiv:1502.03509).

    Args:
        inputs: `[batch, size]`.
        units: the number of units.
        num_blocks: in how many blocks inputs and units are divided.
        exclusive: whether a unit does without the inputs of its own block.
        kernel_initializer: of the kernel before it is masked; `glorot_normal_initializer()` when None.
        reuse, name: see `tf.layers.dense`.
        args, kwargs: further arguments of `tf.layers.Dense`.

    Returns:
        `[batch, units]`.
    """
    mask = _mask(num_blocks, _event_size(inputs), units, exclusive)
    initializer = glorot_normal_initializer() if kernel_initializer is None else kernel_initializer

    def masked_initializer(shape: Nest, dtype: Nest = None, partition_info: Nest = None) -> Nest:
        return mask * initializer(shape, dtype, partition_info)

    with input_scope(name, "masked_dense", [inputs]):
        layer = _dense_layer(
            units, *args, kernel_initializer=masked_initializer, kernel_constraint=lambda kernel: mask * kernel, name=name,
            dtype=inputs.dtype.base_dtype, _scope=name, _reuse=reuse, **kwargs,
        )  # fmt: skip
        made: Tensor = layer.apply(inputs)
        return made


def masked_autoregressive_default_template(
    hidden_layers: Sequence[int],
    shift_only: bool = False,
    activation: Callable[..., Tensor] | None = relu,
    log_scale_min_clip: float = -5.0,
    log_scale_max_clip: float = 3.0,
    log_scale_clip_gradient: bool = False,
    name: str | None = None,
    *args: Nest,
    **kwargs: Nest,
) -> _Network:
    """A network for `MaskedAutoregressiveFlow`, of masked dense layers (MADE, arXiv:1502.03509).

    Args:
        hidden_layers: the units of each hidden layer.
        shift_only: whether the scale is 1.
        activation: of the hidden layers.
        log_scale_min_clip, log_scale_max_clip: the bounds of the logarithm of the scale.
        log_scale_clip_gradient: whether the gradient stops at the bounds.
        name: of the template, which holds the variables.
        args, kwargs: further arguments of `masked_dense`.

    Returns:
        A function of `[..., size]` to the shift and the logarithm of the scale, `[..., size]` each; the latter None with
        `shift_only`.
    """
    scope = name or "masked_autoregressive_default_template"

    layer: _Network = masked_dense

    def network(x: Tensor) -> Nest:
        size = _event_size(x)
        sizes: Nest = x.shape.as_list() if x.shape.is_fully_defined() else shape_of(x)
        for number, units in enumerate(hidden_layers):
            x = layer(*args, inputs=x, units=units, num_blocks=size, exclusive=number == 0, activation=activation, **kwargs)
        outputs = (1 if shift_only else 2) * size
        x = layer(*args, inputs=x, units=outputs, num_blocks=size, activation=None, **kwargs)
        if shift_only:
            return reshape(x, sizes), None
        pairs = reshape(x, concat([sizes, [2]], 0))
        shift, log_scale = pairs[..., 0], pairs[..., 1]
        clipped = clip_by_value(log_scale, log_scale_min_clip, log_scale_max_clip)
        return shift, clipped if log_scale_clip_gradient else log_scale + stop_gradient(clipped - log_scale)

    with input_scope(scope, scope):
        made: _Network = make_template(scope, network)
        return made


def real_nvp_default_template(
    hidden_layers: Sequence[int],
    shift_only: bool = False,
    activation: Callable[..., Tensor] | None = relu,
    name: str | None = None,
    *args: Nest,
    **kwargs: Nest,
) -> _Network:
    """A network for `RealNVP`, of dense layers.

    Args:
        hidden_layers: the units of each hidden layer.
        shift_only: whether the scale is 1.
        activation: of the hidden layers.
        name: of the scope.
        args, kwargs: further arguments of `tf.layers.dense`.

    Returns:
        A function of `[batch, kept]` and a number of units to the shift and the logarithm of the scale, `[batch, units]` each;
        the latter None with `shift_only`.
    """

    def network(x: Tensor, output_units: int) -> Nest:
        for units in hidden_layers:
            x = _dense(*args, inputs=x, units=units, activation=activation, **kwargs)
        x = _dense(*args, inputs=x, units=(1 if shift_only else 2) * output_units, activation=None, **kwargs)
        return (x, None) if shift_only else tuple(split(x, 2, axis=-1))

    with input_scope(name, "real_nvp_default_template"):
        made: _Network = make_template("real_nvp_default_template", network)
        return made
