"""The layers Dense, Dropout and Flatten, and the functions that make and call them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from weft.framework.building.aliases import (
    Activation,
    Constraint,
    DTypeLike,
    Initializer,
    Regularizer,
    ShapeLike,
    TensorLike,
    VariableLike,
)
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape, as_dims
from weft.models.layers.layer import Layer, activated
from weft.models.layers.named_objects import WeightOptions, activation_of, weight_options
from weft.ops.array.identity import identity
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.array.transposing import transpose
from weft.ops.control_flow.cond import cond
from weft.ops.math.contraction import tensordot
from weft.ops.math.products import matmul
from weft.ops.nn.bias import bias_add
from weft.ops.nn.dropout import dropout as nn_dropout
from weft.ops.variables.matrix_initializers import zeros_initializer
from weft.ops.variables.scopes import ScopeLike
from weft.ops.variables.variable_store import Reuse

ZEROS = zeros_initializer()


T = TypeVar("T")


class Dense(Layer):
    """`activation(inputs x kernel + bias)`, over the last dimension: `[..., depth] -> [..., units]`.

    Args:
        units: the number of outputs.
        activation: a function of the outputs, such as tf.nn.relu, or a name as "relu"; None leaves them as they are.
        use_bias: whether a vector, one number per output channel, is added before the activation.
        kernel_initializer: makes the kernel's first value; the variable scope's initializer, else Glorot's uniform one, when
            None.
        bias_initializer: makes the bias's first value.
        kernel_regularizer, bias_regularizer: functions of the variable; what they return is added to the collection
            REGULARIZATION_LOSSES, once for each variable.
        activity_regularizer: a function of the outputs; what it returns is added to REGULARIZATION_LOSSES at each call.
        kernel_constraint, bias_constraint: functions that project a variable's value after an optimizer has updated it.
        trainable: whether the variables are added to the collection TRAINABLE_VARIABLES.
        name: the layer's variable scope; made of the class's name, and made unique, when None.
        dtype: the type of the variables; that of the first inputs when None.

    Raises:
        ValueError: at the first call, the inputs' last dimension is not known.
        TypeError: at the first call, the variables' type would be no floating or complex one.
    """

    def __init__(
        self, units: int, activation: Activation | None = None, use_bias: bool = True,
        kernel_initializer: Initializer | None = None, bias_initializer: Initializer = ZEROS,
        kernel_regularizer: Regularizer | None = None, bias_regularizer: Regularizer | None = None,
        activity_regularizer: Regularizer | None = None, kernel_constraint: Constraint | None = None,
        bias_constraint: Constraint | None = None, trainable: bool = True, name: str | None = None, *,
        dtype: DTypeLike | None = None, _scope: ScopeLike = None, _reuse: Reuse = None,
    ) -> None:  # fmt: skip
        super().__init__(trainable, name, dtype, activity_regularizer, _scope, _reuse)
        kernel = (kernel_initializer, kernel_regularizer, kernel_constraint)
        self.configure(units, activation, use_bias, kernel, (bias_initializer, bias_regularizer, bias_constraint))

    def configure(
        self, units: int, activation: Activation | None, use_bias: bool, kernel: WeightOptions, bias: WeightOptions
    ) -> None:
        """Take the arguments of the constructor that are not any layer's.

        Args:
            units: the width of the outputs.
            activation: a function of the sums; None for none.
            use_bias: whether a bias is added.
            kernel, bias: initializer, regularizer and constraint of each.

        Raises:
            TypeError: `units` is no whole number.
        """
        if units is None:
            raise TypeError("units of a Dense layer must be a whole number, the size of its output, got None")
        self.units, self.activation, self.use_bias = int(units), activation_of(activation), use_bias
        self._kernel_options, self._bias_options = weight_options(kernel), weight_options(bias)
        self.kernel: VariableLike = None
        self.bias: VariableLike = None

    least_input_rank = 2

    def build(self, input_shape: ShapeLike) -> None:
        """Make kernel and bias."""
        if self._dtype is not None and not (self._dtype.is_floating or self._dtype.is_complex):
            raise TypeError(
                f"Unable to build `Dense` layer with non-floating point dtype {self._dtype!r}. Of the inputs of {self.name!r}, "
                "floats are made by tf.cast(x, tf.float32), of class numbers tf.one_hot, of text by an embedding."
            )
        dims = as_dims(input_shape)
        if dims is None or not dims or dims[-1] is None:
            raise ValueError("The last dimension of the inputs to `Dense` should be defined. Found `None`.")
        self.input_axis = (-1, dims[-1])
        self._make_kernel([dims[-1], self.units])
        if self.use_bias:
            initializer, regularizer, constraint = self._bias_options
            self.bias = self.add_variable("bias", [self.units], None, initializer, regularizer, constraint=constraint)
        self.built = True

    def _make_kernel(self, shape: list[int]) -> None:
        initializer, regularizer, constraint = self._kernel_options
        self.kernel = self.add_variable("kernel", shape, None, initializer, regularizer, constraint=constraint)

    @property
    def _factor(self) -> TensorLike:
        """What the inputs are multiplied by."""
        factor: TensorLike = self.kernel
        return factor

    def call(self, inputs: Tensor) -> Tensor:
        """The activated product."""
        dims = inputs.dims
        if dims is not None and len(dims) > 2:
            outputs: Any = tensordot(inputs, self._factor, [[len(dims) - 1], [0]])
            outputs.set_shape([*dims[:-1], self.units])
        else:
            outputs = matmul(inputs, self._factor)
        if self.use_bias:
            outputs = bias_add(outputs, self.bias)
        return activated(self.activation, outputs)

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The shape of the outputs for a shape of inputs, which must have a last size.

        Args:
            input_shape: the inputs' shape, the size of the batch in front.
        """
        dims = TensorShape(input_shape).with_rank_at_least(2).sizes
        if dims is None or dims[-1] is None:
            raise ValueError(f"The innermost dimension of input_shape must be defined, but saw: {TensorShape(input_shape)}")
        return TensorShape([*dims[:-1], self.units])


def dense(
    inputs: TensorLike, units: int, activation: Activation | None = None, use_bias: bool = True,
    kernel_initializer: Initializer | None = None, bias_initializer: Initializer = ZEROS,
    kernel_regularizer: Regularizer | None = None, bias_regularizer: Regularizer | None = None,
    activity_regularizer: Regularizer | None = None, kernel_constraint: Constraint | None = None,
    bias_constraint: Constraint | None = None, trainable: bool = True, name: str | None = None, reuse: Reuse = None,
) -> Tensor:  # fmt: skip
    """The activated product of `inputs` and a kernel, plus a bias, which this call makes or reuses: a Dense layer.

    >>> tf.layers.dense(tf.zeros([8, 3]), units=5, activation=tf.nn.relu).shape
    TensorShape([Dimension(8), Dimension(5)])

    Args:
        inputs: `[..., depth]` floats or complex numbers; depth must be known.
        units: the number of outputs.
        activation: a function of the outputs, such as tf.nn.relu, or a name as "relu"; None leaves them as they are.
        use_bias: whether a vector, one number per output channel, is added before the activation.
        kernel_initializer: makes the kernel's first value; the variable scope's initializer, else Glorot's uniform one, when
            None.
        bias_initializer: makes the bias's first value.
        kernel_regularizer, bias_regularizer: functions of the variable; what they return is added to the collection
            REGULARIZATION_LOSSES, once for each variable.
        activity_regularizer: a function of the outputs; what it returns is added to REGULARIZATION_LOSSES at each call.
        kernel_constraint, bias_constraint: functions that project a variable's value after an optimizer has updated it.
        trainable: whether the variables are added to the collection TRAINABLE_VARIABLES.
        name: the layer's variable scope. With None each call makes a layer with variables of its own.
        reuse: True to take the variables that an earlier call made under `name`, tf.AUTO_REUSE to make those that are
            missing.

    Returns:
        `[..., units]` of the inputs' type.

    Raises:
        ValueError: the inputs' last dimension is not known, or the variables exist and `reuse` does not ask for them.
        TypeError: the inputs are neither floating nor complex.
    """
    layer = Dense(
        units, activation, use_bias, kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
        activity_regularizer, kernel_constraint, bias_constraint, trainable, name, _scope=name, _reuse=reuse,
    )  # fmt: skip
    return layer(inputs)


def either_branch(condition: TensorLike, if_true: Callable[[], T], if_false: Callable[[], T]) -> T:
    """One function's result, chosen while building if the condition is known, else by a conditional."""
    known = known_condition(condition)
    if known is None:
        chosen: T = cond(condition, if_true, if_false)
        return chosen
    return if_true() if known else if_false()


def known_condition(condition: TensorLike) -> bool | None:
    """What is known of a condition while the graph is built; None of a tensor or a variable that only a step tells.

    Args:
        condition: a [] bool tensor or variable, or a Python value; Python's None counts as False.

    Raises:
        TypeError: it is none of these.
    """
    if isinstance(condition, Tensor):
        found = constant_value(condition)
        return None if found is None else bool(found)
    if hasattr(condition, "_as_graph_element"):
        return None
    if not (condition is None or (np.isscalar(condition) and condition in (0, 1))):
        raise TypeError(
            f"`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: {type(condition)} ({condition!r}); "
            "training=True and training=False are the two."
        )
    return bool(condition)


class Dropout(Layer):
    """Inputs with elements dropped at random, in training only: `[...] -> [...]`.

    What is kept is multiplied by `1 / (1 - rate)`, so that the expected sum stays the same.

    Args:
        rate: [] float, the probability from 0 to 1 that an element is dropped.
        noise_shape: the shape of what is drawn, broadcast to that of the inputs: `[batch, 1, 1, channels]` drops whole
            channels. The inputs' shape when None.
        seed: the op seed, an int.
        name: the name scope.
        trainable, dtype: as each layer has them; this one has no variables.
    """

    def __init__(
        self, rate: TensorLike = 0.5, noise_shape: ShapeLike = None, seed: int | None = None, name: str | None = None,
        *, trainable: bool = True, dtype: DTypeLike | None = None, _scope: ScopeLike = None, _reuse: Reuse = None,
    ) -> None:  # fmt: skip
        super().__init__(trainable, name, dtype, None, _scope, _reuse)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def call(self, inputs: Tensor, training: TensorLike = False) -> Tensor:
        """The inputs, with or without dropout.

        Args:
            training: whether this is training, a bool or a scalar bool tensor: only then is anything dropped.
        """
        return either_branch(
            training,
            lambda: nn_dropout(inputs, noise_shape=self.noise_shape, seed=self.seed, rate=self.rate),
            lambda: identity(inputs),
        )

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The shape of the outputs for a shape of inputs, which is theirs.

        Args:
            input_shape: the inputs' shape, the size of the batch in front.
        """
        return TensorShape(input_shape)


def dropout(
    inputs: TensorLike, rate: TensorLike = 0.5, noise_shape: ShapeLike = None, seed: int | None = None,
    training: TensorLike = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The inputs with elements dropped at random while training, what is kept multiplied by `1 / (1 - rate)`; else the inputs.

    Args:
        inputs: `[...]` floats.
        rate: [] float, the probability from 0 to 1 that an element is dropped.
        noise_shape: the shape of what is drawn, broadcast to that of the inputs: `[batch, 1, 1, channels]` drops whole
            channels. The inputs' shape when None.
        seed: the op seed, an int.
        training: a bool, or a [] bool tensor such as a placeholder. The default False drops nothing.
        name: the name scope.

    Returns:
        The shape and type of `inputs`.

    Raises:
        ValueError: the rate is none from 0 to 1.
    """
    return Dropout(rate, noise_shape, seed, name)(inputs, training=training)


class Flatten(Layer):
    """All dimensions but the batch made one: `[batch, ...] -> [batch, size]`, `[batch]` to `[batch, 1]`.

    Args:
        data_format: "channels_last", also when None, or "channels_first", which moves the channels last before it flattens.
        name: the name scope.
        trainable, dtype: as each layer has them; this one has no variables.

    Raises:
        ValueError: there is no such layout.
    """

    least_input_rank = 1

    def __init__(
        self, data_format: str | None = None, name: str | None = None, *, trainable: bool = True,
        dtype: DTypeLike | None = None, _scope: ScopeLike = None, _reuse: Reuse = None,
    ) -> None:  # fmt: skip
        super().__init__(trainable, name, dtype, None, _scope, _reuse)
        self.data_format = "channels_last" if data_format is None else data_format
        if self.data_format not in ("channels_first", "channels_last"):
            raise ValueError(
                f'The `data_format` argument must be one of "channels_first", "channels_last". Received: {data_format}'
            )

    def call(self, inputs: Tensor) -> Tensor:
        """The flat inputs; channels go last first."""
        dims = inputs.dims
        if self.data_format == "channels_first" and dims is not None and len(dims) > 2:
            inputs = transpose(inputs, [0, *range(2, len(dims)), 1])
            dims = inputs.dims
        batch = dims[0] if dims else None
        known = None if dims is None or None in dims[1:] else math.prod(size for size in dims[1:] if size is not None)
        # TensorFlow's nodes, one for one: the seeds of the layers behind it count them.
        if batch == 0 and known is not None:
            return reshape(inputs, [0, known])
        flat = reshape(inputs, [batch or shape(inputs)[0], -1])
        if dims is not None:
            flat.set_shape([batch, known])
        return flat

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The shape of the outputs for a shape of inputs.

        Args:
            input_shape: the inputs' shape, the size of the batch in front.
        """
        batch, *others = TensorShape(input_shape).with_rank_at_least(1).as_list()
        return TensorShape([batch, None if None in others else math.prod(size or 0 for size in others)])


def flatten(inputs: TensorLike, name: str | None = None, data_format: str = "channels_last") -> Tensor:
    """All dimensions but the batch made one: `[batch, ...] -> [batch, size]`.

    Args:
        inputs: `[batch, ...]` of any type.
        name: the name scope.
        data_format: "channels_last", or "channels_first", which moves the channels last before it flattens.
    """
    return Flatten(data_format, name)(convert_to_tensor(inputs))
