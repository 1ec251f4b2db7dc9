"""The layers Dense, Activation, Dropout and its kin, Flatten, Reshape, Permute, RepeatVector, Lambda, Masking."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from weft.framework.building.aliases import Nest, ShapeLike, TensorLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.models.layers import core
from weft.models.layers.core import either_branch
from weft.models.layers.input_spec import InputSpec
from weft.networks.config import Config, GivenConfig, Options
from weft.networks.engine.layer import Layer
from weft.networks.objects import regularizers
from weft.networks.objects.arguments import keeps_arguments
from weft.networks.objects.lambdas import FUNCTION_ENTRIES, function_config, function_of, shape_config, shape_function_of
from weft.networks.state.defaults import layout_or_default
from weft.networks.state.phase import learning_phase
from weft.ops.array.identity import identity
from weft.ops.array.shape_ops import expand_dims, reshape
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.stacking import stack
from weft.ops.array.tiling import tile
from weft.ops.array.transposing import transpose
from weft.ops.math.casting import cast
from weft.ops.math.comparison import not_equal
from weft.ops.math.reduce_functions import reduce_any
from weft.ops.nn.dropout import dropout as nn_dropout


class Dense(Layer, core.Dense):
    """`activation(inputs x kernel + bias)`, over the last dimension: `[..., depth] -> [..., units]`.

    Args:
        units: the number of outputs.
        activation: a function of the outputs, its name, or None.
        use_bias: whether there is a bias.
        kernel_initializer, bias_initializer: initializers, or their names.
        kernel_regularizer, bias_regularizer, activity_regularizer: penalties.
        kernel_constraint, bias_constraint: projections after updates.
        kwargs: see Layer.

    >>> tf.keras.layers.Dense(4, activation="relu")(tf.zeros([2, 3])).shape
    TensorShape([Dimension(2), Dimension(4)])
    """

    supports_masking = True

    @keeps_arguments
    def __init__(
        self, units: int, activation: Nest = None, use_bias: bool = True, kernel_initializer: Nest = "glorot_uniform",
        bias_initializer: Nest = "zeros", kernel_regularizer: Nest = None, bias_regularizer: Nest = None,
        activity_regularizer: Nest = None, kernel_constraint: Nest = None, bias_constraint: Nest = None, **kwargs: Options,
    ) -> None:  # fmt: skip
        Layer.__init__(self, activity_regularizer=activity_regularizer, **kwargs)
        self.configure(
            units, activation, use_bias, (kernel_initializer, kernel_regularizer, kernel_constraint),
            (bias_initializer, bias_regularizer, bias_constraint),
        )  # fmt: skip
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape: ShapeLike) -> None:
        """Make kernel and bias."""
        core.Dense.build(self, input_shape)
        self.input_spec = InputSpec(min_ndim=2, axes={-1: TensorShape(input_shape)[-1].value})
        self.built = True

    def compute_output_shape(self, input_shape: Nest) -> TensorShape:
        """The shape of the inputs, with `units` as the last size."""
        shape = TensorShape(input_shape).with_rank_at_least(2)
        return TensorShape([*shape.as_list()[:-1], self.units])


class Activation(Layer):
    """A function of the inputs, element by element: `[...] -> [...]`.

    Args:
        activation: a function, or its name.
        kwargs: `name`, `trainable`, `dtype`, `input_shape` and others of `tf.keras.layers.Layer`.
    """

    supports_masking = True

    @keeps_arguments
    def __init__(self, activation: Nest, **kwargs: Options) -> None:
        super().__init__(**kwargs)
        self.activation = activation

    def call(self, inputs: Tensor) -> Tensor:
        """The function of the inputs."""
        made: Tensor = self.activation(inputs)
        return made


class ActivityRegularization(Layer):
    """The inputs, with a penalty on them: `[...] -> [...]`.

    Args:
        l1, l2: the factors of the sums of magnitudes and of squares.
        kwargs: `name`, `trainable`, `dtype`, `input_shape` and others of `tf.keras.layers.Layer`.
    """

    supports_masking = True

    @keeps_arguments
    def __init__(self, l1: float = 0.0, l2: float = 0.0, **kwargs: Options) -> None:
        super().__init__(activity_regularizer=regularizers.L1L2(l1, l2), **kwargs)

    def call(self, inputs: Tensor) -> Tensor:
        """The inputs."""
        return inputs


class Dropout(Layer):
    """Inputs with elements dropped at random, in training only: `[...] -> [...]`.

    Args:
        rate: the probability that an element is dropped.
        noise_shape: the shape of what is drawn, of which None is the inputs' size.
        seed: the op seed.
        kwargs: see Layer.
    """

    supports_masking = True

    @keeps_arguments
    def __init__(
        self, rate: float, noise_shape: Sequence[int | None] | None = None, seed: int | None = None, **kwargs: Options
    ) -> None:
        super().__init__(**kwargs)
        self.rate = rate

    def noise_shape_of(self, inputs: Tensor) -> Nest:
        """The shape of what is drawn.

        Args:
            inputs: the tensor of which elements are dropped.
        """
        given = getattr(self, "noise_shape", None)
        if given is None:
            return None
        actual = shape_of(inputs)
        return [actual[axis] if size is None else size for axis, size in enumerate(given)]

    def call(self, inputs: Tensor, training: TensorLike | None = None) -> Tensor:
        """The inputs, in training with dropout.

        Args:
            training: whether to drop; Keras' learning phase when None.
        """
        phase = learning_phase() if training is None else training
        return either_branch(
            phase,
            lambda: nn_dropout(
                inputs, noise_shape=self.noise_shape_of(inputs), seed=getattr(self, "seed", None), rate=self.rate
            ),
            lambda: identity(inputs),
        )


class _SpatialDropout(Dropout):
    rank = 1

    def __init__(self, rate: float, data_format: str | None = None, **kwargs: Options) -> None:
        super().__init__(rate, **kwargs)
        self.data_format = layout_or_default(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def get_config(self) -> Config:
        """The arguments; the layout only where it is not Keras's default, as TensorFlow has no word for it there."""
        config = super().get_config()
        is_told = self.rank > 1 and self.data_format != layout_or_default(None)
        return {**config, "data_format": self.data_format} if is_told else config

    def noise_shape_of(self, inputs: Tensor) -> Nest:
        """One number for each channel."""
        actual = shape_of(inputs)
        ones: list[Nest] = [1] * self.rank
        return (
            [actual[0], *ones, actual[self.rank + 1]] if self.data_format == "channels_last" else [actual[0], actual[1], *ones]
        )


class SpatialDropout1D(_SpatialDropout):
    """Sequences with whole channels dropped, in training only: `[batch, steps, channels] -> [batch, steps, channels]`.

    Args:
        rate: the part of the channels that is dropped, at least 0 and below 1.
        kwargs: `name`, `trainable`, `dtype`, `input_shape` and others of `tf.keras.layers.Layer`.
    """

    def __init__(self, rate: float, **kwargs: Options) -> None:
        super().__init__(rate, "channels_last", **kwargs)


class SpatialDropout2D(_SpatialDropout):
    """Images with whole channels dropped, in training only: `[batch, rows, columns, channels] -> the same`."""

    rank = 2


class SpatialDropout3D(_SpatialDropout):
    """Volumes with whole channels dropped, in training only."""

    rank = 3


class Flatten(Layer, core.Flatten):
    """All dimensions but the batch made one: `[batch, ...] -> [batch, size]`.

    Args:
        data_format: "channels_last", or "channels_first" to put channels last before; `image_data_format()` when None.
        kwargs: `name`, `trainable`, `dtype`, `input_shape` and others of `tf.keras.layers.Layer`.
    """

    @keeps_arguments
    def __init__(self, data_format: str | None = None, **kwargs: Options) -> None:
        Layer.__init__(self, **kwargs)
        self.data_format = layout_or_default(data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Tensor) -> Tensor:
        """The flat inputs; a vector becomes a column."""
        return core.Flatten.call(self, inputs)


class Reshape(Layer):
    """The inputs in another shape, of which one size may be -1: `[batch, ...] -> [batch, *target_shape]`.

    Args:
        target_shape: the shape without the batch.
        kwargs: `name`, `trainable`, `dtype`, `input_shape` and others of `tf.keras.layers.Layer`.
    """

    @keeps_arguments
    def __init__(self, target_shape: Sequence[int], **kwargs: Options) -> None:
        super().__init__(**kwargs)
        self.target_shape = tuple(target_shape)

    def compute_output_shape(self, input_shape: Nest) -> TensorShape:
        """The shape of the batch and the target; ValueError when the sizes do not fit."""
        given = TensorShape(input_shape).as_list()
        if None in given[1:]:
            return TensorShape([given[0], *(None if size == -1 else size for size in self.target_shape)])
        total = int(np.prod([size or 1 for size in given[1:]], dtype=np.int64))
        known = int(np.prod([size for size in self.target_shape if size != -1], dtype=np.int64))
        missing = self.target_shape.count(-1)
        if missing > 1:
            raise ValueError("Can only specify one unknown dimension.")
        if (missing and (known == 0 or total % known)) or (not missing and known != total):
            raise ValueError(
                f"total size of new array must be unchanged: {given[1:]} has {total} elements, and {list(self.target_shape)} "
                f"{'a multiple of ' if missing else ''}{known}. One size may be -1, which follows from the others."
            )
        return TensorShape([given[0], *(total // known if size == -1 else size for size in self.target_shape)])

    def call(self, inputs: Tensor) -> Tensor:
        """The inputs, in the target shape."""
        whole = self.compute_output_shape(inputs.shape)
        made = reshape(inputs, [shape_of(inputs)[0], *self.target_shape])
        made.set_shape(whole)
        return made


class Permute(Layer):
    """The dimensions in another order, which counts from 1 behind the batch: `[batch, ...] -> [batch, ...]`.

    Args:
        dims: the old dimension in each new place; 1 is the first behind the batch.
        kwargs: `name`, `trainable`, `dtype`, `input_shape` and others of `tf.keras.layers.Layer`.

    Raises:
        ValueError: `dims` are not all dimensions from 1, each once.
    """

    @keeps_arguments
    def __init__(self, dims: Sequence[int], **kwargs: Options) -> None:
        super().__init__(**kwargs)
        self.dims = tuple(dims)
        if sorted(dims) != list(range(1, len(dims) + 1)):
            raise ValueError(
                f"Invalid permutation `dims` for Permute Layer: {dims}. The set of indices in `dims` must be consecutive and "
                "start from 1."
            )
        self.input_spec = InputSpec(ndim=len(self.dims) + 1)

    def call(self, inputs: Tensor) -> Tensor:
        """The inputs, transposed."""
        return transpose(inputs, [0, *self.dims])


class RepeatVector(Layer):
    """Vectors repeated: `[batch, size] -> [batch, n, size]`.

    Args:
        n: how many times.
        kwargs: `name`, `trainable`, `dtype`, `input_shape` and others of `tf.keras.layers.Layer`.
    """

    @keeps_arguments
    def __init__(self, n: int, **kwargs: Options) -> None:
        super().__init__(**kwargs)
        self.n = n
        self.input_spec = InputSpec(ndim=2)

    def call(self, inputs: Tensor) -> Tensor:
        """The inputs, `n` times."""
        return tile(expand_dims(inputs, 1), stack([1, self.n, 1]))


class Lambda(Layer):
    """Any function of the inputs as a layer.

    Args:
        function: takes the inputs, and `mask` if it asks for it.
        output_shape: kept for the config; the graph knows the shape.
        mask: the mask of the outputs, or a function of inputs and mask.
        arguments: further keyword arguments of the function.
        kwargs: see Layer.
    """

    def __init__(
        self, function: Callable[..., Nest], output_shape: Nest = None, mask: Nest = None,
        arguments: GivenConfig | None = None, **kwargs: Options,
    ) -> None:  # fmt: skip
        super().__init__(**kwargs)
        self.function, self.mask, self._output_shape = function, mask, output_shape
        self.arguments = dict(arguments or {})
        self.supports_masking = self.supports_masking or mask is not None

    def call(self, inputs: Nest, mask: Nest = None, training: TensorLike | None = None) -> Nest:
        """The function of the inputs.

        Args:
            mask: which steps count; handed on where the function has an argument of this name.
            training: whether this is training; handed on where the function has an argument of this name.
        """
        given = dict(self.arguments)
        if not callable(self.function):
            raise TypeError(
                f"{type(self.function).__name__!r} object is not callable: the Lambda layer {self.name!r} takes a function of "
                f"its inputs, such as lambda x: x * 2, and was given {self.function!r}"
            )
        code = getattr(self.function, "__code__", None)
        wanted = () if code is None else code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        given.update({name: each for name, each in (("mask", mask), ("training", training)) if name in wanted})
        return self.function(inputs, **given)

    def compute_mask(self, inputs: Nest, mask: Nest = None) -> Nest:
        """The mask given to the constructor, or its function of inputs and mask."""
        return self.mask(inputs, mask) if callable(self.mask) else self.mask

    def get_config(self) -> Config:
        """The function as its code, which only this Python can read."""
        own = {**super().get_config(), **function_config(self.function), **shape_config(self._output_shape)}
        return {**own, "arguments": self.arguments}

    @classmethod
    def from_config(cls, config: GivenConfig, custom_objects: Mapping[str, object] | None = None) -> Lambda:
        """A layer of its config.

        Args:
            custom_objects: functions by the names that the config has for them.
        """
        given = {name: value for name, value in config.items() if name not in FUNCTION_ENTRIES}
        return cls(function_of(config, custom_objects), shape_function_of(config, custom_objects), **given)


class Masking(Layer):
    """Time steps of which all features are `mask_value` masked: `[batch, steps, features] -> the same`.

    Args:
        mask_value: the number.
        kwargs: `name`, `trainable`, `dtype`, `input_shape` and others of `tf.keras.layers.Layer`.
    """

    supports_masking = True

    @keeps_arguments
    def __init__(self, mask_value: float = 0.0, **kwargs: Options) -> None:
        super().__init__(**kwargs)
        self.mask_value = mask_value

    def compute_mask(self, inputs: Nest, mask: Nest = None) -> Tensor:
        """Where a feature differs from `mask_value`."""
        # In TensorFlow a Squeeze of what `call` has; later random nodes get their seeds by the count.
        with get_default_graph().node_count.as_many_as(1):
            return reduce_any(not_equal(inputs, self.mask_value), axis=-1)

    def call(self, inputs: Tensor) -> Tensor:
        """The inputs, zero where they are masked."""
        kept = reduce_any(not_equal(inputs, self.mask_value), axis=-1, keepdims=True)
        return inputs * cast(kept, inputs.dtype)
