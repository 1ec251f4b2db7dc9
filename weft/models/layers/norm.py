"""The layer BatchNormalization and its function.

The moving averages follow the batches only when the operations in the collection UPDATE_OPS run.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence

from weft.framework.building.aliases import (
    Array,
    Constraint,
    DTypeLike,
    Initializer,
    Regularizer,
    ShapeLike,
    TensorLike,
    VariableLike,
)
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.tensor_shape import TensorShape, as_dims
from weft.models.layers.core import either_branch, known_condition
from weft.models.layers.layer import Layer
from weft.models.layers.named_objects import WeightOptions, initializer_of, weight_options
from weft.models.layers.renorm import Clipping, Renormalization
from weft.models.layers.virtual_batches import VirtualBatches
from weft.ops.array.filling import ones_like, zeros_like
from weft.ops.array.identity import identity
from weft.ops.array.shape_ops import reshape
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.math.casting import cast
from weft.ops.math.elementwise import mul, sub
from weft.ops.math.unary import sqrt
from weft.ops.nn.activation import relu
from weft.ops.nn.fused_norm import fused_batch_norm
from weft.ops.nn.norm import batch_normalization as normalize
from weft.ops.nn.norm import moments
from weft.ops.variables.matrix_initializers import ones_initializer, zeros_initializer
from weft.ops.variables.options import VariableAggregation, VariableSynchronization
from weft.ops.variables.resource_variable import is_resource_variable
from weft.ops.variables.scopes import ScopeLike, get_variable_scope
from weft.ops.variables.variable import Variable
from weft.ops.variables.variable_store import Reuse

_ZEROS, _ONES = zeros_initializer(), ones_initializer()


Adjustment = Callable[[Tensor], tuple[Tensor, Tensor]]


class BatchNormalization(Layer):
    """Inputs normalized by the mean and variance of the batch in training, and by their moving averages otherwise.

    `[..., channels] -> [..., channels]`, or with the channels in the dimension `axis`; mean and variance are `[channels]`.
    The
    moving averages change only when what the layer adds to the collection UPDATE_OPS is run.

    Args:
        axis: the dimension of the channels, an int.
        momentum: how slowly the moving averages follow: `average * momentum + batch * (1 - momentum)`.
        epsilon: a small float that is added to the variance.
        center: whether an offset `beta` per channel is added.
        scale: whether there is a factor `gamma` per channel.
        beta_initializer, gamma_initializer, moving_mean_initializer, moving_variance_initializer: make the variables' first
            values.
        beta_regularizer, gamma_regularizer: functions of the variable; what they return is added to the collection
            REGULARIZATION_LOSSES.
        beta_constraint, gamma_constraint: functions that project a variable's value after an optimizer has updated it.
        renorm: whether the batch is renormalized: training sees then what inference will (Ioffe, 2017).
        renorm_clipping: a dict of scalars by "rmin", "rmax" and "dmax", the limits of what renormalization puts right.
        renorm_momentum: how slowly the averages that renormalization uses follow the batches.
        virtual_batch_size: the examples of a part of the batch that has mean and variance of its own; the whole batch when
            None. The variables have the inputs' rank and one more then.
        adjustment: a function of the inputs' shape, an int32 vector, that returns a scale and an offset of the normalized
            inputs in training.
        fused: whether one node computes all; for `[batch, height, width, channels]`, or the channels second, when None.
        trainable: whether beta and gamma are added to the collection TRAINABLE_VARIABLES.
        name: the layer's variable scope; made of the class's name, and made unique, when None.
        dtype: the type of the variables, float32 for half-precision ones; that of the first inputs when None.

    Raises:
        ValueError: both virtual_batch_size and adjustment are given, or the channels are in the dimension of
            a virtual batch; `axis` is no single dimension of the inputs, that is not known, or `renorm_clipping` has
            another key.
    """

    def __init__(
        self, axis: int = -1, momentum: TensorLike = 0.99, epsilon: float = 1e-3, center: bool = True,
        scale: bool = True, beta_initializer: Initializer = _ZEROS, gamma_initializer: Initializer = _ONES,
        moving_mean_initializer: Initializer = _ZEROS, moving_variance_initializer: Initializer = _ONES,
        beta_regularizer: Regularizer | None = None, gamma_regularizer: Regularizer | None = None,
        beta_constraint: Constraint | None = None, gamma_constraint: Constraint | None = None, renorm: bool = False,
        renorm_clipping: Clipping | None = None, renorm_momentum: float = 0.99, fused: bool | None = None,
        trainable: bool = True, virtual_batch_size: int | None = None, adjustment: Adjustment | None = None,
        name: str | None = None, *,
        dtype: DTypeLike | None = None, _scope: ScopeLike = None, _reuse: Reuse = None,
    ) -> None:  # fmt: skip
        super().__init__(trainable, name, dtype, None, _scope, _reuse)
        self.configure(
            axis, momentum, epsilon, center, scale, fused, (gamma_initializer, gamma_regularizer, gamma_constraint),
            (beta_initializer, beta_regularizer, beta_constraint), (moving_mean_initializer, moving_variance_initializer),
            Renormalization(renorm_clipping, renorm_momentum) if renorm else None, virtual_batch_size, adjustment,
        )  # fmt: skip

    def configure(
        self, axis: int, momentum: TensorLike, epsilon: float, center: bool, scale: bool, fused: bool | None,
        gamma: WeightOptions, beta: WeightOptions, moving: tuple[Initializer, Initializer],
        renormalization: Renormalization | None, virtual_batch_size: int | None = None, adjustment: Adjustment | None = None,
    ) -> None:  # fmt: skip
        """Take the arguments of the constructor that are not any layer's.

        Args:
            axis: the dimension that keeps a mean and a variance of its own for each place.
            momentum: what a moving average keeps of itself at each step.
            epsilon: added to the variance.
            center, scale: whether there are beta and gamma.
            fused: whether the kernel is one; None where that can be.
            gamma, beta: initializer, regularizer and constraint of each.
            moving: the initializers of the moving mean and variance.
            renormalization: what puts a batch's statistics right; None leaves them as they are.
            virtual_batch_size, adjustment: see the class.

        Raises:
            TypeError: `axis` is no whole number.
            ValueError: an argument does not fit, such as a fused kernel for another axis than that of channels.
        """
        if isinstance(axis, list | tuple):
            if len(axis) != 1:
                raise ValueError(f"BatchNormalization: axis must be one dimension, got {list(axis)}")
            axis = axis[0]
        if isinstance(axis, bool) or not hasattr(type(axis), "__index__"):
            raise TypeError(f"axis must be int or list, type given: {type(axis)} (axis={axis!r}); -1 is the last dimension")
        self.axis, self.momentum, self.epsilon, self.center, self.scale = axis, momentum, epsilon, center, scale
        is_plain = renormalization is None and virtual_batch_size is None and adjustment is None
        self.fused = fused if is_plain else False
        self.renormalization, self.adjustment = renormalization, adjustment
        self.virtual_batch_size = virtual_batch_size
        self._virtual = None if virtual_batch_size is None else VirtualBatches(virtual_batch_size)
        self._options = {"gamma": weight_options(gamma), "beta": weight_options(beta)}
        self._moving_initializers = tuple(map(initializer_of, moving))
        self.gamma: VariableLike = None
        self.beta: VariableLike = None
        self.moving_mean: VariableLike = None
        self.moving_variance: VariableLike = None

    def build(self, input_shape: ShapeLike) -> None:
        """Make offset, scale and averages."""
        dims = as_dims(input_shape)
        if dims is None:
            raise ValueError("Input has undefined rank: BatchNormalization needs to know it.")
        axis = self.axis % len(dims) if -len(dims) <= self.axis < len(dims) else None
        if axis is None:
            raise ValueError(
                f"Invalid axis: {self.axis}. The inputs of {self.name!r} have {len(dims)} dimensions, {list(dims)}."
            )
        if dims[axis] is None:
            raise ValueError(f"Input has undefined `axis` dimension. Input shape: {dims}")
        self.axis, size = axis, [dims[axis]]
        if self._virtual is not None:
            self._check_parts()
            self.axis, size = axis + 1, [1, *(count if place == axis else 1 for place, count in enumerate(dims))]
        # As in TensorFlow, True is a wish: other inputs than images are normalized by the formula.
        self.fused = self.fused is not False and len(dims) == 4 and axis in (1, 3)
        kind = dtypes.float32 if self._dtype in (dtypes.float16, dtypes.bfloat16) else self._dtype

        def vector(name: str) -> VariableLike:
            initializer, regularizer, constraint = self._options[name]
            return self.add_variable(name, size, kind, initializer, regularizer, constraint=constraint)

        self.gamma = vector("gamma") if self.scale else None
        self.beta = vector("beta") if self.center else None
        # The averages are updated as wholes, so they are not cut where the scope's other variables are.
        scope = get_variable_scope() if self._scope is None else self._scope
        partitioner = scope.partitioner
        scope.set_partitioner(None)
        # Each replica of a strategy has its own, and they are saved as their mean.
        together = {"synchronization": VariableSynchronization.ON_READ, "aggregation": VariableAggregation.MEAN}

        def average(name: str, initializer: Initializer | None) -> VariableLike:
            return self.add_variable(name, size, kind, initializer, trainable=False, **together)

        of_mean, of_variance = self._moving_initializers
        try:
            self.moving_mean, self.moving_variance = average("moving_mean", of_mean), average("moving_variance", of_variance)
            if self.renormalization is not None:
                self.renormalization.make_variables(average, of_mean, of_variance)
        finally:
            scope.set_partitioner(partitioner)
        self.built = True

    def call(self, inputs: Tensor, training: TensorLike = False) -> Tensor:
        """The normalized inputs.

        Args:
            training: whether this is training, a bool or a scalar bool tensor: the batch's own mean and variance count
                then.
        """
        if isinstance(training, int):
            training = bool(training)
        if self.fused:
            made, mean, variance = self._fused(inputs, training)
            self._move_averages(mean, variance, training)
            return made
        if self._virtual is None:
            return self._normalized(inputs, training)
        return self._virtual.joined(self._normalized(self._virtual.cut(inputs), training), inputs.dims)

    def _check_parts(self) -> None:
        if self.axis == 0:
            raise ValueError(
                "When using virtual_batch_size, the batch dimension must be 0 and thus axis cannot include 0; "
                f"layer {self.name!r}"
            )
        if self.adjustment is not None:
            raise ValueError(f"When using virtual_batch_size, adjustment cannot be specified; layer {self.name!r}")

    def _normalized(self, inputs: Tensor, training: TensorLike) -> Tensor:
        transforms: list[tuple[Tensor, Tensor]] = []
        may_train = known_condition(training) is not False
        if self.adjustment is not None and may_train:
            transforms.append(_where_training(training, *self.adjustment(shape_of(inputs))))
        if self._virtual is not None and known_condition(training) is None:
            get_default_graph().node_count.total += 2  # TensorFlow has two more: later seeds go by the count.
        correction: list[Tensor] = []
        with counted_where_fed(training, self.moving_mean, self.renormalization):
            mean, variance = moments_now = self._statistics(inputs, training)
            if self._virtual is not None and may_train:
                moments_now = self._virtual.mean(mean), self._virtual.mean(variance)
            if self.renormalization is not None and may_train:
                *correction, new_mean, new_variance = self.renormalization.corrected(
                    *moments_now, self.epsilon, training, _moved
                )
                moments_now = new_mean, new_variance
            self._move_averages(*moments_now, training)
        if correction:
            factor, shift = correction
            transforms.append((self._wide(inputs, factor), self._wide(inputs, shift)))
        return self._by_formula(inputs, mean, variance, transforms)

    def _move_averages(self, mean: Tensor, variance: Tensor, training: TensorLike) -> None:
        is_training = known_condition(training)
        if is_training is None or is_training:
            momentum = self.momentum
            if is_training is None:
                momentum = either_branch(training, self._momentum, lambda: convert_to_tensor(1.0))
            elif self.fused:
                momentum = self._momentum()
            self.add_update(_moved(self.moving_mean, mean, momentum))
            if self.renormalization is None:
                self.add_update(_moved(self.moving_variance, variance, momentum))
            else:
                self.add_update(self._move_deviation(self.renormalization.moving_stddev, variance, momentum, training))
        elif self.fused:  # TensorFlow makes the momentum here, too; later random nodes get their seeds by the count.
            get_default_graph().node_count.total += 1

    def _move_deviation(self, average: VariableLike, variance: Tensor, momentum: TensorLike, training: TensorLike) -> Tensor:
        """Move the average of deviations, and let the moving variance be what follows of it."""
        moved = _moved(average, sqrt(variance + self.epsilon), momentum)
        graph = get_default_graph()
        with graph.name_scope("AssignNewValue") as scope, graph.colocate_with(self.moving_variance.op):
            new = either_branch(training, lambda: relu(moved * moved - self.epsilon), lambda: identity(self.moving_variance))
            assigned: Tensor = self.moving_variance.assign(new, name=scope)
            return assigned

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The shape of the outputs for a shape of inputs, which is theirs.

        Args:
            input_shape: the inputs' shape, the size of the batch in front.
        """
        return TensorShape(input_shape)

    def _momentum(self) -> Tensor:
        return convert_to_tensor(self.momentum, dtypes.float32)

    def _fused(self, inputs: Tensor, training: TensorLike) -> tuple[Tensor, Tensor, Tensor]:
        layout = "NCHW" if self.axis == 1 else "NHWC"
        channels = self.moving_mean.shape
        scale = convert_to_tensor([1.0] * channels[0].value) if self.gamma is None else self.gamma
        offset = convert_to_tensor([0.0] * channels[0].value) if self.beta is None else self.beta
        return either_branch(
            training,
            lambda: fused_batch_norm(inputs, scale, offset, epsilon=self.epsilon, data_format=layout),
            lambda: fused_batch_norm(
                inputs, scale, offset, self.moving_mean, self.moving_variance, self.epsilon, layout, False
            ),
        )

    def _statistics(self, inputs: Tensor, training: TensorLike) -> tuple[Tensor, Tensor]:
        """Mean and variance: the batch's in training, the moving ones otherwise."""
        assert inputs.dims is not None
        in_parts = self._virtual is not None
        axes = [axis for axis in range(len(inputs.dims)) if axis != self.axis and not (in_parts and axis == 1)]

        def batch() -> tuple[Tensor, Tensor]:
            return moments(cast(inputs, self.moving_mean.dtype.base_dtype), axes, keep_dims=in_parts)

        def moving() -> tuple[Tensor, Tensor]:
            return identity(self.moving_mean), identity(self.moving_variance)

        if known_condition(training) is False:
            return self.moving_mean, self.moving_variance
        return either_branch(training, batch, moving)

    def _wide(self, inputs: Tensor, vector: VariableLike) -> VariableLike:
        """A number for each channel in a form that broadcasts to the inputs."""
        rank = len(inputs.dims or ())
        if vector is None or self._virtual is not None or self.axis == rank - 1:
            return vector
        return reshape(vector, [-1 if axis == self.axis else 1 for axis in range(rank)])

    def _by_formula(
        self, inputs: Tensor, mean: Tensor, variance: Tensor, transforms: Sequence[tuple[Tensor, Tensor]]
    ) -> Tensor:
        """The normalized inputs times gamma plus beta, behind each of the transforms: the last one comes first."""
        wide = functools.partial(self._wide, inputs)
        mean, variance, offset, scale = wide(mean), wide(variance), wide(self.beta), wide(self.gamma)
        for factor, shift in transforms:
            shift = shift if scale is None else shift * scale
            offset = shift if offset is None else shift + offset
            scale = factor if scale is None else factor * scale
        made = normalize(inputs, mean, variance, offset, scale, self.epsilon)
        made.set_shape(inputs.dims)
        return made


def _where_training(training: TensorLike, scale: Tensor, offset: Tensor) -> tuple[Tensor, Tensor]:
    """An adjustment in training; 1 and 0 otherwise."""
    return (
        either_branch(training, lambda: scale, lambda: ones_like(scale)),
        either_branch(training, lambda: offset, lambda: zeros_like(offset)),
    )


def counted_where_fed(
    training: TensorLike, average: Variable, renormalization: Renormalization | None = None
) -> contextlib.AbstractContextManager[None]:
    """Count TensorFlow's nodes for statistics and averages where a step tells whether it trains.

    They are the batch's moments and four branches: two choose mean and variance, and two move their averages.

    Args:
        training: whether this is training.
        average: one of the averages.
        renormalization: what puts the statistics right, with four more branches.

    Returns:
        A context manager for the block that makes both; it counts as usual where `training` is known.
    """
    if known_condition(training) is not None:
        return contextlib.nullcontext()
    nodes = 56 if is_resource_variable(average) else 48
    branches = 4
    if renormalization is not None:
        branches = 8
        nodes = (137 if is_resource_variable(average) else 118) + renormalization.nodes_of_limits
    if is_resource_variable(training):
        nodes += 4 * branches  # Each of them reads the variable four times.
    return get_default_graph().node_count.as_many_as(nodes)


def _moved(variable: Variable, value: Tensor, momentum: Array) -> Tensor:
    """Move a variable towards a value.

    The nodes are as many as TensorFlow's, and have their names: seeds of later random nodes come of their count.
    """
    graph, dtype = get_default_graph(), variable.dtype.base_dtype
    with graph.name_scope("AssignMovingAvg") as scope, graph.colocate_with(variable.op):
        if isinstance(momentum, Tensor):
            decay = cast(sub(1.0, momentum, name="sub"), dtype)
        else:
            decay = convert_to_tensor(1.0 - momentum, dtype, name="decay")
        delta = mul(sub(variable, cast(value, dtype), name="sub"), decay, name="mul")
        moved: Tensor = variable.assign_sub(delta, name=scope)
        return moved


def batch_normalization(
    inputs: TensorLike, axis: int = -1, momentum: TensorLike = 0.99, epsilon: float = 1e-3, center: bool = True,
    scale: bool = True, beta_initializer: Initializer = _ZEROS, gamma_initializer: Initializer = _ONES,
    moving_mean_initializer: Initializer = _ZEROS, moving_variance_initializer: Initializer = _ONES,
    beta_regularizer: Regularizer | None = None, gamma_regularizer: Regularizer | None = None,
    beta_constraint: Constraint | None = None, gamma_constraint: Constraint | None = None,
    training: TensorLike = False, trainable: bool = True, name: str | None = None, reuse: Reuse = None,
    renorm: bool = False, renorm_clipping: Clipping | None = None, renorm_momentum: float = 0.99, fused: bool | None = None,
    virtual_batch_size: int | None = None, adjustment: Adjustment | None = None,
) -> Tensor:  # fmt: skip
    """The inputs, normalized by a BatchNormalization layer that this call makes or reuses.

    The moving averages change only when what this adds to the collection UPDATE_OPS is run, usually as a control dependency
    of
    the train_op.

    Args:
        inputs: `[..., channels]` floats, or with the channels in the dimension `axis`.
        axis: the dimension of the channels, an int.
        momentum: how slowly the moving averages follow: `average * momentum + batch * (1 - momentum)`.
        epsilon: a small float that is added to the variance.
        center: whether an offset `beta` per channel is added.
        scale: whether there is a factor `gamma` per channel.
        beta_initializer, gamma_initializer, moving_mean_initializer, moving_variance_initializer: make the variables' first
            values.
        beta_regularizer, gamma_regularizer: functions of the variable; what they return is added to the collection
            REGULARIZATION_LOSSES.
        beta_constraint, gamma_constraint: functions that project a variable's value after an optimizer has updated it.
        renorm: whether the batch is renormalized: training sees then what inference will (Ioffe, 2017).
        renorm_clipping: a dict of scalars by "rmin", "rmax" and "dmax", the limits of what renormalization puts right.
        renorm_momentum: how slowly the averages that renormalization uses follow the batches.
        virtual_batch_size: the examples of a part of the batch that has mean and variance of its own; the whole batch when
            None. The variables have the inputs' rank and one more then.
        adjustment: a function of the inputs' shape, an int32 vector, that returns a scale and an offset of the normalized
            inputs in training.
        fused: whether one node computes all; for `[batch, height, width, channels]`, or the channels second, when None.
        training: a bool, or a [] bool tensor: whether to use the batch's mean and variance, and to move the averages, or to
            use the averages. The default False does the latter.
        trainable: whether beta and gamma are added to the collection TRAINABLE_VARIABLES.
        name: the layer's variable scope. With None each call makes a layer with variables of its own.
        reuse: True to take the variables that an earlier call made under `name`, tf.AUTO_REUSE to make those that are
            missing.

    Returns:
        The shape and type of `inputs`.

    Raises:
        ValueError: both virtual_batch_size and adjustment are given, or the channels are in the dimension of
            a virtual batch; `axis` is no single dimension of the inputs, that is not known, or `renorm_clipping` has
            another key.
    """
    layer = BatchNormalization(
        axis, momentum, epsilon, center, scale, beta_initializer, gamma_initializer, moving_mean_initializer,
        moving_variance_initializer, beta_regularizer, gamma_regularizer, beta_constraint, gamma_constraint, renorm,
        renorm_clipping, renorm_momentum, fused, trainable, virtual_batch_size, adjustment, name, _scope=name, _reuse=reuse,
    )  # fmt: skip
    return layer(inputs, training=training)
