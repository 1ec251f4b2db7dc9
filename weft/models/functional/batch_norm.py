"""contrib.layers.batch_norm and layer_norm."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from weft.framework.building.aliases import (
    Activation,
    Collections,
    DTypeLike,
    Initializer,
    Nest,
    TensorLike,
    VariableCollections,
    VariableLike,
)
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested.nest import map_structure
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.models.functional.layer_outputs import add_variable, collected, variable_collections
from weft.models.layers.core import either_branch, known_condition
from weft.models.layers.norm import Adjustment, BatchNormalization, counted_where_fed
from weft.models.layers.renorm import Clipping
from weft.ops.arg_scope import add_arg_scope
from weft.ops.array.constant import constant
from weft.ops.array.identity import identity
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.nn.fused_norm import fused_batch_norm
from weft.ops.nn.norm import batch_normalization, moments, weighted_moments
from weft.ops.variables.initializers import Ones, Zeros
from weft.ops.variables.model_variables import model_variable
from weft.ops.variables.moving_average import assign_moving_average
from weft.ops.variables.scopes import ScopeLike, VariableScope
from weft.ops.variables.variable import Variable
from weft.ops.variables.variable_scope import variable_scope
from weft.ops.variables.variable_store import Reuse


@add_arg_scope
def batch_norm(
    inputs: TensorLike, decay: float = 0.999, center: bool = True, scale: bool = False, epsilon: float = 0.001,
    activation_fn: Activation | None = None, param_initializers: Parameters | None = None,
    param_regularizers: Parameters | None = None, updates_collections: Collections = GraphKeys.UPDATE_OPS,
    is_training: TensorLike = True, reuse: Reuse = None, variables_collections: VariableCollections = None,
    outputs_collections: Collections = None, trainable: bool = True, batch_weights: TensorLike | None = None,
    fused: bool | None = None, data_format: str = "NHWC", zero_debias_moving_mean: bool = False,
    scope: ScopeLike = None, renorm: bool = False, renorm_clipping: Clipping | None = None, renorm_decay: float = 0.99,
    adjustment: Adjustment | None = None,
) -> Tensor:  # fmt: skip
    """Inputs normalized by the batch's mean and variance in training, by their moving averages otherwise.

    Args:
        inputs: `[batch, ..., channels]`, or `[batch, channels, ...]` with `data_format` "NCHW".
        decay: how slowly the averages move.
        center, scale: whether there are an offset "beta" and a factor "gamma" per channel.
        epsilon: what is added to the variance.
        activation_fn: a function of the outputs, or None.
        param_initializers, param_regularizers: dicts of them for "beta", "gamma", "moving_mean" and "moving_variance".
        updates_collections: where to add the updates of the averages, which training must run; None runs them with the layer.
        is_training: a bool or a tensor of one.
        reuse: whether the variables exist already; needs `scope`.
        variables_collections: collections for the variables, or a dict of them by name.
        outputs_collections: where to add the outputs.
        trainable: whether offset and factor are to be trained.
        batch_weights: a weight per example; the one-node form does not take them.
        fused: whether one node is used where it can be, for 2 or 4 dimensions; it can when None.
        data_format: "NHWC", channels last, or "NCHW", channels second, for any rank.
        zero_debias_moving_mean: correct the averaged mean for having begun at zero.
        scope: the variable scope, "BatchNorm" when None.
        renorm, renorm_clipping, renorm_decay, adjustment: see `tf.layers.BatchNormalization`.

    Returns:
        The shape and dtype of `inputs`.

    Raises:
        ValueError: the layout or the shape does not fit, `fused` is asked for with weights, or renormalization or an
            adjustment with them, with other collections of updates or a corrected mean.
    """
    if fused and batch_weights is not None:
        raise ValueError("Weighted mean and variance is not currently supported for fused batch norm.")
    if data_format not in ("NHWC", "NCHW"):
        raise ValueError("data_format has to be either NCHW or NHWC.")
    with variable_scope(scope, "BatchNorm", [inputs], reuse=reuse) as opened:
        inputs = convert_to_tensor(inputs)
        rank, axis, channels = _layout(inputs, fused, data_format)
        state = _State(channels, inputs.dtype.base_dtype, param_initializers, param_regularizers, variables_collections)
        plain = updates_collections == GraphKeys.UPDATE_OPS and batch_weights is None and not zero_debias_moving_mean
        if renorm or adjustment is not None:
            renormalization = (renorm, renorm_clipping, renorm_decay)
            layer = _layer(plain, axis, decay, epsilon, center, scale, state, renormalization, adjustment, trainable, opened)
            return collected(outputs_collections, opened.name, _by_layer(layer, state, inputs, is_training, activation_fn))
        is_layer = plain and (rank != 2 or fused is False)
        gamma, beta = state.parameters(scale, center, trainable, is_layer)
        averages = state.variable("moving_mean", Zeros(), False), state.variable("moving_variance", Ones(), False)
        use_node = rank in (2, 4) and fused is not False and batch_weights is None
        if use_node:
            outputs, *batch = _by_node(inputs, axis, beta, gamma, averages, epsilon, is_training)
            outputs.set_shape(inputs.shape)
            rate = _decay_of_layer(decay, is_training, True) if is_layer else decay
            updates = _Updates(averages, batch, rate, is_training, zero_debias_moving_mean, updates_collections, is_layer)
            outputs = updates.before(outputs)
        else:
            if plain:
                # TensorFlow's class opens a scope of its own here: by the case of letters "batchnorm" is taken then.
                get_default_graph().unique_name(opened.name.rpartition("/")[2])
            counted = counted_where_fed(is_training, averages[0]) if is_layer else contextlib.nullcontext()
            with counted:
                statistics = _statistics(inputs, axis, averages, is_training, batch_weights)
                rate = _decay_of_layer(decay, is_training, False) if is_layer else decay
                updates = _Updates(
                    averages, statistics, rate, is_training, zero_debias_moving_mean, updates_collections, is_layer
                )
                statistics = updates.before(statistics)
            outputs = _by_formula(inputs, axis, beta, gamma, statistics, epsilon)
            outputs.set_shape(inputs.shape)
        if activation_fn is not None:
            outputs = activation_fn(outputs)
        return collected(outputs_collections, opened.name, outputs)


Parameters = Mapping[str, Callable[..., Any]]


def _layer(
    is_plain: bool, axis: int, decay: float, epsilon: float, center: bool, scale: bool, state: _State,
    renormalization: tuple[bool, Clipping | None, float], adjustment: Adjustment | None, trainable: bool,
    opened: VariableScope,
) -> BatchNormalization:  # fmt: skip
    """The layer that does the work where it is renormalized or adjusted."""
    if not is_plain:
        what = "renorm" if renormalization[0] else "adjustment"
        raise ValueError(f"{what} is not supported with batch_weights, updates_collections or zero_debias_moving_mean")
    makers, regularizers = state.initializers, state.regularizers
    return BatchNormalization(
        axis, decay, epsilon, center, scale, makers.get("beta", Zeros()), makers.get("gamma", Ones()),
        makers.get("moving_mean", Zeros()), makers.get("moving_variance", Ones()), regularizers.get("beta"),
        regularizers.get("gamma"), None, None, *renormalization, None, trainable, None, adjustment, opened.name,
        _scope=opened, _reuse=opened.reuse,
    )  # fmt: skip


def _by_layer(
    layer: BatchNormalization, state: _State, inputs: Tensor, is_training: TensorLike, activation_fn: Activation | None
) -> Tensor:
    outputs = layer(inputs, training=is_training)
    for variable in layer.variables:
        get_default_graph().add_to_collection(GraphKeys.MODEL_VARIABLES, variable)
    for name in ("gamma", "beta", "moving_mean", "moving_variance"):
        add_variable(getattr(layer, name), state.collections, name)
    return outputs if activation_fn is None else activation_fn(outputs)


def _layout(inputs: Tensor, fused: bool | None, data_format: str) -> tuple[int, int, int]:
    """The inputs' rank, the axis of their channels and how many there are; ValueError where one is not known."""
    rank = inputs.shape.ndims
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank")
    if rank not in (2, 4) and fused:
        raise ValueError(f"Inputs {inputs.name} has unsupported rank. Expected 2 or 4 but got {rank}")
    axis = 1 if data_format == "NCHW" and rank > 2 else rank - 1
    channels = inputs.shape[axis].value
    if channels is None:
        raise ValueError(f"Inputs {inputs.name} has undefined `C` dimension {inputs.shape}.")
    return rank, axis, channels


class _State:
    """The options that all variables of one layer are made with."""

    def __init__(
        self,
        size: int,
        dtype: DTypeLike,
        initializers: Parameters | None,
        regularizers: Parameters | None,
        collections: VariableCollections,
    ) -> None:
        self._size = size
        self._dtype = dtypes.float32 if dtype in (dtypes.float16, dtypes.bfloat16) else dtype
        self.initializers = initializers or {}
        self.regularizers = regularizers or {}
        self.collections = collections

    def parameters(
        self, scale: bool, center: bool, trainable: bool, gamma_first: bool
    ) -> tuple[VariableLike | None, VariableLike | None]:
        """The factor and the offset, where there are such.

        TensorFlow makes the factor first where tf.layers' class does the work, and the offset where a node of its own does:
        programs see the order in their lists of variables.
        """
        gamma = self.variable("gamma", Ones(), trainable) if scale and gamma_first else None
        beta = self.variable("beta", Zeros(), trainable) if center else None
        if scale and not gamma_first:
            gamma = self.variable("gamma", Ones(), trainable)
        return gamma, beta

    def variable(self, name: str, initializer: Initializer, trainable: bool) -> VariableLike:
        """A vector of a number per channel."""
        return model_variable(
            name, shape=[self._size], dtype=self._dtype, initializer=self.initializers.get(name, initializer),
            regularizer=self.regularizers.get(name), trainable=trainable,
            collections=variable_collections(self.collections, name),
        )  # fmt: skip


def _by_node(
    inputs: Tensor, axis: int, beta: TensorLike | None, gamma: TensorLike | None, averages: tuple[Variable, Variable],
    epsilon: float, is_training: TensorLike,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    size, flat = averages[0].shape[0].value, inputs.shape.ndims == 2
    images = reshape(inputs, [-1, 1, 1, size]) if flat else inputs
    layout = "NCHW" if axis == 1 and not flat else "NHWC"
    offset = constant(0.0, shape=[size]) if beta is None else beta
    factor = constant(1.0, shape=[size]) if gamma is None else gamma
    outputs, mean, variance = either_branch(
        is_training,
        lambda: fused_batch_norm(images, factor, offset, epsilon=epsilon, data_format=layout),
        lambda: fused_batch_norm(images, factor, offset, *averages, epsilon, layout, False),
    )
    return (reshape(outputs, shape(inputs)) if flat else outputs), mean, variance


def _statistics(
    inputs: Tensor, axis: int, averages: tuple[Variable, Variable], is_training: TensorLike, weights: TensorLike | None
) -> Sequence[TensorLike]:
    """Mean and variance: the batch's in training, the moving ones otherwise."""
    assert inputs.dims is not None
    axes = [each for each in range(len(inputs.dims)) if each != axis]

    def of_batch() -> list[Tensor]:
        if weights is None:
            return list(moments(inputs, axes))
        return list(weighted_moments(inputs, axes, reshape(weights, [-1] + [1] * len(axes))))

    if known_condition(is_training) is False:
        return list(averages)
    return list(either_branch(is_training, of_batch, lambda: [identity(each) for each in averages]))


def _by_formula(
    inputs: Tensor,
    axis: int,
    beta: TensorLike | None,
    gamma: TensorLike | None,
    statistics: Sequence[TensorLike],
    epsilon: float,
) -> Tensor:
    assert inputs.dims is not None
    rank = len(inputs.dims)

    def wide(vector: TensorLike | None) -> TensorLike | None:
        if vector is None or axis == rank - 1:
            return vector
        return reshape(vector, [-1 if each == axis else 1 for each in range(rank)])

    mean, variance = statistics
    return batch_normalization(inputs, wide(mean), wide(variance), wide(beta), wide(gamma), epsilon)


def _decay_of_layer(decay: float, is_training: TensorLike, by_node: bool) -> float | Tensor:
    """How slowly averages move where tf.layers' class does the work in TensorFlow, by nodes as many as its."""
    if known_condition(is_training) is None:
        chosen: Tensor = either_branch(is_training, lambda: convert_to_tensor(decay), lambda: convert_to_tensor(1.0))
        return chosen
    return convert_to_tensor(decay) if by_node else decay


_Values = TypeVar("_Values")


@dataclass(frozen=True)
class _Updates:
    """The updates of a layer's averages of mean and variance.

    Attributes:
        averages: the variables.
        batch: what they move towards.
        decay: how slowly; 1 in a step that does not train where tf.layers' class does the work.
        is_training: whether they move at all.
        debias: whether the mean is corrected for having begun at zero.
        collections: where the updates are added; they run with the layer when None.
        is_layer: whether tf.layers' class does the work in TensorFlow.
    """

    averages: tuple[Variable, Variable]
    batch: Sequence[TensorLike]
    decay: float | Tensor
    is_training: TensorLike
    debias: bool
    collections: Collections
    is_layer: bool

    def before(self, values: _Values) -> _Values:
        """What the layer goes on with, after the updates were added to collections or come before it.

        Args:
            values: a tensor, or several.
        """
        if known_condition(self.is_training) is False:
            return values
        if self.is_layer and self.collections is not None:
            for update in self._of_layer():
                get_default_graph().add_to_collections(self.collections, update)
            return values
        moves = [
            functools.partial(assign_moving_average, average, value, self.decay, zero_debias=self.debias and place == 0)
            for place, (average, value) in enumerate(zip(self.averages, self.batch, strict=True))
        ]
        if self.collections is not None:
            for update in self._moved_or_not(moves):
                get_default_graph().add_to_collections(self.collections, update)
            return values

        def after_moving() -> Nest:
            with get_default_graph().control_dependencies([move() for move in moves]):
                return map_structure(identity, values)

        chosen: _Values = either_branch(self.is_training, after_moving, lambda: values)
        return chosen

    def _of_layer(self) -> Sequence[Operation]:
        """The updates that tf.layers' class makes."""
        moved = (
            assign_moving_average(average, value, self.decay, zero_debias=False)
            for average, value in zip(self.averages, self.batch, strict=True)
        )
        return [getattr(each, "op", each) for each in moved]

    def _moved_or_not(self, moves: Sequence[Callable[[], Nest]]) -> Sequence[Nest]:
        """Both averages after their moves, or as they are where a step does not train."""
        with contextlib.ExitStack() as stack:
            if known_condition(self.is_training) is None:
                # TensorFlow has no node for an average that stays as it is.
                stack.enter_context(get_default_graph().node_count.as_many_as(22))
            made: Sequence[Nest] = either_branch(
                self.is_training, lambda: [move() for move in moves], lambda: [identity(each) for each in self.averages]
            )
        return made


@add_arg_scope
def layer_norm(
    inputs: TensorLike, center: bool = True, scale: bool = True, activation_fn: Activation | None = None,
    reuse: Reuse = None, variables_collections: VariableCollections = None, outputs_collections: Collections = None,
    trainable: bool = True, begin_norm_axis: int = 1, begin_params_axis: int = -1, scope: ScopeLike = None,
) -> Tensor:  # fmt: skip
    """Each example normalized by its own mean and variance from `begin_norm_axis` on (Ba et al. 2016).

    Args:
        inputs: `[batch, ...]` floats of known rank, of known size from `begin_params_axis` on.
        center: whether an offset "beta" is added; it has the inputs' dimensions from `begin_params_axis` on.
        scale: whether there is a factor "gamma", of the same shape.
        activation_fn: a function of the outputs; None for none.
        reuse: whether the variables exist already; needs `scope`.
        variables_collections: collections for the variables, or a dict of them by the variable's name.
        outputs_collections: the collection, or collections, that the outputs are added to; none when None.
        trainable: whether the variables are added to the collection TRAINABLE_VARIABLES.
        begin_norm_axis: the first of the dimensions that mean and variance are taken over.
        begin_params_axis: the first of the dimensions that "beta" and "gamma" have.
        scope: the variable scope, "LayerNorm" when None.

    Returns:
        The shape and dtype of `inputs`.

    Raises:
        ValueError: the rank is not known, an axis is beyond it, or a size that "beta" and "gamma" need is not known.
    """
    with variable_scope(scope, "LayerNorm", [inputs], reuse=reuse) as opened:
        inputs = convert_to_tensor(inputs)
        if inputs.shape.ndims is None:
            raise ValueError(f"Inputs {inputs.name} has undefined rank.")
        rank, dims = inputs.shape.ndims, inputs.shape.as_list()
        begin = begin_norm_axis % rank if begin_norm_axis < 0 else begin_norm_axis
        sizes = dims[begin_params_axis:]
        if begin >= rank or None in sizes:
            raise ValueError(f"Inputs {inputs.name}: shape {inputs.shape} does not fit begin_norm_axis {begin_norm_axis} and "
                             f"begin_params_axis {begin_params_axis}")  # fmt: skip

        def vector(name: str, initializer: Initializer) -> VariableLike:
            names = variable_collections(variables_collections, name)
            return model_variable(
                name,
                shape=sizes,
                dtype=inputs.dtype.base_dtype,
                initializer=initializer,
                collections=names,
                trainable=trainable,
            )

        beta = vector("beta", Zeros()) if center else None
        gamma = vector("gamma", Ones()) if scale else None
        mean, variance = moments(inputs, list(range(begin, rank)), keep_dims=True)
        outputs = batch_normalization(inputs, mean, variance, beta, gamma, 1e-12)
        outputs.set_shape(inputs.shape)
        if activation_fn is not None:
            outputs = activation_fn(outputs)
        return collected(outputs_collections, opened.name, outputs)
