"""BatchNormalization and LayerNormalization."""

from __future__ import annotations

from typing import Any

from weft.framework.building.aliases import Nest, ShapeLike, TensorLike
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.models.layers import norm
from weft.models.layers.input_spec import InputSpec
from weft.models.layers.renorm import Renormalization
from weft.networks.config import Config, Options
from weft.networks.engine.layer import Layer
from weft.networks.objects.arguments import keeps_arguments
from weft.networks.state.phase import learning_phase
from weft.ops.array.shape_ops import reshape
from weft.ops.nn.norm import batch_normalization, moments


class BatchNormalization(Layer, norm.BatchNormalization):
    """Inputs normalized by the mean and variance of the batch in training, and by their moving averages otherwise.

    The averages move when `updates` run, which `fit` does; a program that trains by an optimizer of its own runs them
    beside it.

    Args:
        axis: the dimension of the channels.
        momentum: how slowly the averages move.
        epsilon: what is added to the variance.
        center, scale: whether there are an offset and a scale per channel.
        beta_initializer, gamma_initializer, moving_mean_initializer, moving_variance_initializer: initializers.
        beta_regularizer, gamma_regularizer: penalties.
        beta_constraint, gamma_constraint: projections after updates.
        renorm, renorm_clipping, renorm_momentum: see `tf.layers.BatchNormalization`.
        virtual_batch_size, adjustment: see `tf.layers.BatchNormalization`.
        fused: whether one node is used; for images when None.
        trainable: whether offset and scale are trained.
        kwargs: others of `tf.keras.layers.Layer`.
    """

    supports_masking = True

    @keeps_arguments
    def __init__(
        self, axis: Nest = -1, momentum: float = 0.99, epsilon: float = 1e-3, center: bool = True,
        scale: bool = True, beta_initializer: Nest = "zeros", gamma_initializer: Nest = "ones",
        moving_mean_initializer: Nest = "zeros", moving_variance_initializer: Nest = "ones",
        beta_regularizer: Nest = None, gamma_regularizer: Nest = None, beta_constraint: Nest = None,
        gamma_constraint: Nest = None, renorm: bool = False, renorm_clipping: Nest = None, renorm_momentum: float = 0.99,
        fused: bool | None = None, trainable: bool = True, virtual_batch_size: int | None = None, adjustment: Nest = None,
        name: str | None = None, **kwargs: Options,
    ) -> None:  # fmt: skip
        Layer.__init__(self, trainable, name, **kwargs)
        self.configure(
            axis, momentum, epsilon, center, scale, fused, (gamma_initializer, gamma_regularizer, gamma_constraint),
            (beta_initializer, beta_regularizer, beta_constraint), (moving_mean_initializer, moving_variance_initializer),
            Renormalization(renorm_clipping, renorm_momentum) if renorm else None, virtual_batch_size, adjustment,
        )  # fmt: skip

    def build(self, input_shape: ShapeLike) -> None:
        """Make offset, scale and averages."""
        norm.BatchNormalization.build(self, input_shape)
        shape = TensorShape(input_shape)
        channels = self.axis - (self.virtual_batch_size is not None)
        self.input_spec = InputSpec(ndim=shape.ndims, axes={channels: shape[channels].value})
        self.built = True

    def call(self, inputs: Tensor, training: TensorLike | None = None) -> Tensor:
        """The normalized inputs."""
        return norm.BatchNormalization.call(self, inputs, learning_phase() if training is None else training)

    def get_config(self) -> Config:
        """The arguments that make an equal layer, without those that no config can have."""
        config = super().get_config()
        gone = {"fused", "adjustment"} | ({"virtual_batch_size"} if self.virtual_batch_size is None else set())
        if not config["renorm"]:
            gone |= {"renorm", "renorm_clipping", "renorm_momentum"}
        if self.built:
            config["axis"] = [self.axis]
        return {name: value for name, value in config.items() if name not in gone}


class LayerNormalization(Layer):
    """Inputs normalized by the mean and variance of each example along `axis`: `[batch, ...] -> [batch, ...]` (Ba et
    al., 2016).

    Args:
        axis: the dimension, or dimensions, over which mean and variance are taken.
        epsilon: what is added to the variance.
        center, scale: whether there are an offset and a scale.
        beta_initializer, gamma_initializer: what offset and scale begin with.
        beta_regularizer, gamma_regularizer: penalties.
        beta_constraint, gamma_constraint: projections after updates.
        trainable: whether offset and scale are trained.
        name: the name of the layer.
        kwargs: others of `tf.keras.layers.Layer`.
    """

    supports_masking = True

    @keeps_arguments
    def __init__(
        self, axis: Nest = -1, epsilon: float = 1e-3, center: bool = True, scale: bool = True,
        beta_initializer: Nest = "zeros", gamma_initializer: Nest = "ones", beta_regularizer: Nest = None,
        gamma_regularizer: Nest = None, beta_constraint: Nest = None, gamma_constraint: Nest = None,
        trainable: bool = True, name: str | None = None, **kwargs: Options,
    ) -> None:  # fmt: skip
        super().__init__(trainable, name, **kwargs)
        self.axis, self.epsilon, self.center, self.scale = axis, epsilon, center, scale
        self._gamma = (gamma_initializer, gamma_regularizer, gamma_constraint)
        self._beta = (beta_initializer, beta_regularizer, beta_constraint)

    def build(self, input_shape: ShapeLike) -> None:
        """Make offset and scale, of the sizes along the axes."""
        shape = TensorShape(input_shape)
        if shape.ndims is None:
            raise ValueError(f"Input shape {shape} has undefined rank.")
        axes = [self.axis] if isinstance(self.axis, int) else list(self.axis)
        self.axis = [axis % shape.ndims for axis in axes]
        sizes = [shape.as_list()[axis] for axis in self.axis]
        made: list[Nest] = []
        for name, wanted, options in (("gamma", self.scale, self._gamma), ("beta", self.center, self._beta)):
            initializer, regularizer, constraint = options
            made.append(self.add_weight(name, sizes, None, initializer, regularizer, constraint=constraint) if wanted else None)
        self.gamma, self.beta = made
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        """The normalized inputs."""
        dims = inputs.shape.as_list()
        assert isinstance(self.axis, list)
        mean, variance = moments(inputs, self.axis, keep_dims=True)
        wide = [dims[axis] if axis in self.axis else 1 for axis in range(len(dims))]

        def broadcast(vector: Any) -> Nest:
            return vector if vector is None or self.axis == [len(dims) - 1] else reshape(vector, wide)

        made = batch_normalization(inputs, mean, variance, broadcast(self.beta), broadcast(self.gamma), self.epsilon)
        made.set_shape(inputs.shape)
        return made
