"""Activations with arguments or weights as layers: LeakyReLU, PReLU, ELU, ThresholdedReLU, Softmax, ReLU."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.framework.building.aliases import Nest, ShapeLike
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.models.layers.input_spec import InputSpec
from weft.networks.config import Options
from weft.networks.engine.layer import Layer
from weft.networks.objects import activations
from weft.networks.objects.arguments import keeps_arguments
from weft.networks.state.defaults import floatx
from weft.ops.math.casting import cast
from weft.ops.math.comparison import greater
from weft.ops.nn import activation as nn
from weft.ops.nn.softmax import softmax


def as_number(layer: str, argument: str, value: Nest) -> float:
    """A slope or threshold as the number that Keras's type of floats has for it; ValueError or TypeError for what is none."""
    try:
        return float(np.asarray(value, floatx()))
    except ValueError:
        raise ValueError(f"could not convert string to float: {value!r}: {argument} of {layer} is a number") from None


class LeakyReLU(Layer):
    """The inputs where positive, else `alpha` times them.

    Args:
        alpha: the slope below 0.
        kwargs: `name`, `trainable`, `dtype`, `input_shape` and others of `tf.keras.layers.Layer`.
    """

    supports_masking = True

    @keeps_arguments
    def __init__(self, alpha: float = 0.3, **kwargs: Options) -> None:
        super().__init__(**kwargs)
        self.alpha = as_number("LeakyReLU", "alpha", alpha)

    def call(self, inputs: Tensor) -> Tensor:
        """The activated inputs."""
        return activations.relu(inputs, alpha=self.alpha)


class PReLU(Layer):
    """The inputs where positive, else `alpha` times them, with an `alpha` per element that is trained (He et al., 2015).

    Args:
        alpha_initializer, alpha_regularizer, alpha_constraint: of the weights.
        shared_axes: the dimensions, from 1, along which one `alpha` serves all.
        kwargs: see Layer.
    """

    supports_masking = True

    @keeps_arguments
    def __init__(
        self,
        alpha_initializer: Nest = "zeros",
        alpha_regularizer: Nest = None,
        alpha_constraint: Nest = None,
        shared_axes: int | Sequence[int] | None = None,
        **kwargs: Options,
    ) -> None:
        super().__init__(**kwargs)
        self._options = (alpha_initializer, alpha_regularizer, alpha_constraint)
        self.shared_axes = [shared_axes] if isinstance(shared_axes, int) else shared_axes and list(shared_axes)

    def build(self, input_shape: ShapeLike) -> None:
        """Make the weights."""
        sizes = TensorShape(input_shape).as_list()
        shared = self.shared_axes or ()
        shape = [1 if axis in shared else size for axis, size in enumerate(sizes)][1:]
        initializer, regularizer, constraint = self._options
        self.alpha = self.add_weight("alpha", shape, None, initializer, regularizer, constraint=constraint)
        axes = {axis: size for axis, size in enumerate(sizes) if axis and axis not in shared}
        self.input_spec = InputSpec(ndim=len(sizes), axes=axes)
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        """The activated inputs."""
        made: Tensor = nn.relu(inputs) + -self.alpha * nn.relu(-inputs)
        return made


class ELU(Layer):
    """The inputs where positive, else `alpha * (exp(x) - 1)`.

    Args:
        alpha: what very negative inputs come to, with a minus.
        kwargs: `name`, `trainable`, `dtype`, `input_shape` and others of `tf.keras.layers.Layer`.
    """

    supports_masking = True

    @keeps_arguments
    def __init__(self, alpha: float = 1.0, **kwargs: Options) -> None:
        super().__init__(**kwargs)
        self.alpha = as_number("ELU", "alpha", alpha)

    def call(self, inputs: Tensor) -> Tensor:
        """The activated inputs."""
        return activations.elu(inputs, self.alpha)


class ThresholdedReLU(Layer):
    """The inputs above `theta`, else 0.

    Args:
        theta: the bound, 0 or more.
        kwargs: `name`, `trainable`, `dtype`, `input_shape` and others of `tf.keras.layers.Layer`.
    """

    supports_masking = True

    @keeps_arguments
    def __init__(self, theta: float = 1.0, **kwargs: Options) -> None:
        super().__init__(**kwargs)
        self.theta = as_number("ThresholdedReLU", "theta", theta)

    def call(self, inputs: Tensor) -> Tensor:
        """The activated inputs."""
        return inputs * cast(greater(inputs, self.theta), inputs.dtype)


class Softmax(Layer):
    """Softmax over an axis.

    Args:
        axis: the dimension whose outputs come to a sum of 1.
        kwargs: `name`, `trainable`, `dtype`, `input_shape` and others of `tf.keras.layers.Layer`.
    """

    supports_masking = True

    @keeps_arguments
    def __init__(self, axis: int = -1, **kwargs: Options) -> None:
        super().__init__(**kwargs)
        self.axis = axis

    def call(self, inputs: Tensor) -> Tensor:
        """The activated inputs."""
        return softmax(inputs, axis=self.axis)


class ReLU(Layer):
    """The inputs above `threshold`, up to `max_value`, and `negative_slope * (x - threshold)` below it.

    Args:
        max_value: the greatest output; none when None.
        negative_slope: the slope below the threshold, 0 or more.
        threshold: where the upper line begins.
        kwargs: `name`, `trainable`, `dtype`, `input_shape` and others of `tf.keras.layers.Layer`.

    Raises:
        ValueError: a negative slope or greatest output.
    """

    supports_masking = True

    @keeps_arguments
    def __init__(
        self, max_value: float | None = None, negative_slope: float = 0, threshold: float = 0, **kwargs: Options
    ) -> None:
        super().__init__(**kwargs)
        if max_value is not None and max_value < 0.0:
            raise ValueError(f"max_value of Relu layer cannot be negative value: {max_value}")
        if negative_slope < 0.0:
            raise ValueError(f"negative_slope of Relu layer cannot be negative value: {negative_slope}")
        self.max_value = None if max_value is None else as_number("ReLU", "max_value", max_value)
        self.negative_slope = as_number("ReLU", "negative_slope", negative_slope)
        self.threshold = as_number("ReLU", "threshold", threshold)

    def call(self, inputs: Tensor) -> Tensor:
        """The activated inputs."""
        return activations.relu(inputs, self.negative_slope, self.max_value, self.threshold)
