"""The layers that add noise in training: GaussianNoise, GaussianDropout, AlphaDropout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.nodes.operation import Tensor
from weft.networks.config import Config, Options
from weft.networks.engine.layer import Layer
from weft.networks.objects.arguments import keeps_arguments
from weft.networks.state.own_seeds import own_seed
from weft.networks.state.phase import in_train_phase
from weft.ops.array.identity import identity
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.math.casting import cast
from weft.ops.math.comparison import greater_equal
from weft.ops.random.functions import random_normal, random_uniform

# Where selu's outputs go for very negative inputs: minus its scale times its alpha (Klambauer et al., 2017).
_LOWEST: Final = -1.0507009873554804934193349852946 * 1.6732632423543772848170429916717


class GaussianNoise(Layer):
    """The inputs plus normal noise of a standard deviation, in training only: `[...] -> [...]`.

    Args:
        stddev: the standard deviation.
        kwargs: `name`, `trainable`, `dtype`, `input_shape` and others of `tf.keras.layers.Layer`.
    """

    supports_masking = True

    @keeps_arguments
    def __init__(self, stddev: float, **kwargs: Options) -> None:
        super().__init__(**kwargs)
        self.stddev = stddev

    def call(self, inputs: Tensor, training: TensorLike | None = None) -> Nest:
        """The inputs, in training with noise.

        Args:
            training: whether to add noise; Keras' learning phase when None.
        """
        return in_train_phase(
            lambda: inputs + random_normal(shape_of(inputs), 0.0, self.stddev, inputs.dtype, own_seed()),
            lambda: inputs,
            training,
        )


class GaussianDropout(Layer):
    """The inputs times normal noise around 1, in training only; its variance is that of dropout with this rate.

    Args:
        rate: the part that dropout would drop, at least 0 and below 1.
        kwargs: `name`, `trainable`, `dtype`, `input_shape` and others of `tf.keras.layers.Layer`.
    """

    supports_masking = True

    @keeps_arguments
    def __init__(self, rate: float, **kwargs: Options) -> None:
        super().__init__(**kwargs)
        self.rate = rate

    def call(self, inputs: Tensor, training: TensorLike | None = None) -> Nest:
        """The inputs, in training with noise.

        Args:
            training: whether to add noise; Keras' learning phase when None.
        """
        if not 0 < self.rate < 1:
            return inputs
        stddev = float(np.sqrt(self.rate / (1.0 - self.rate)))
        return in_train_phase(
            lambda: inputs * random_normal(shape_of(inputs), 1.0, stddev, inputs.dtype, own_seed()), lambda: inputs, training
        )


class AlphaDropout(Layer):
    """Dropout that keeps mean and variance of what follows selu, in training only (Klambauer et al., 2017).

    Args:
        rate: the part that is dropped, at least 0 and below 1.
        noise_shape: the shape of what is drawn; that of the inputs when None.
        seed: the op seed.
        kwargs: `name`, `trainable`, `dtype`, `input_shape` and others of `tf.keras.layers.Layer`.
    """

    supports_masking = True

    @keeps_arguments
    def __init__(
        self, rate: float, noise_shape: Sequence[int] | None = None, seed: int | None = None, **kwargs: Options
    ) -> None:
        super().__init__(**kwargs)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def get_config(self) -> Config:
        """The arguments, the shape of the noise and the seed excepted, as TensorFlow's configs of it have them."""
        return {name: value for name, value in super().get_config().items() if name not in ("noise_shape", "seed")}

    def call(self, inputs: Tensor, training: TensorLike | None = None) -> Nest:
        """The inputs, in training with dropout.

        Args:
            training: whether to add noise; Keras' learning phase when None.
        """
        if not 0.0 < self.rate < 1.0:
            return inputs

        def dropped() -> Nest:
            shape = shape_of(inputs) if self.noise_shape is None else self.noise_shape
            kept = cast(greater_equal(random_uniform(shape, seed=own_seed(self.seed)), self.rate), inputs.dtype)
            a = ((1 - self.rate) * (1 + self.rate * _LOWEST**2)) ** -0.5
            return a * (inputs * kept + _LOWEST * (1 - kept)) - a * _LOWEST * self.rate

        return in_train_phase(dropped, lambda: identity(inputs), training)
