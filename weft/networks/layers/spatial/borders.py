"""The layers that change how long sequences and how large images and volumes are: padding, cropping, repeating."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import Nest
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.models.layers.conv_arguments import per_axis
from weft.models.layers.input_spec import InputSpec
from weft.networks.config import Options
from weft.networks.engine.layer import Layer
from weft.networks.objects.arguments import keeps_arguments
from weft.networks.state.defaults import layout_or_default
from weft.ops.array.constant import constant
from weft.ops.array.padding import pad
from weft.ops.array.sequences import repeat
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.transposing import transpose
from weft.ops.image.resize import resize_bilinear, resize_nearest_neighbor

_Pairs = list[tuple[int, int]]


def _pairs(value: Nest, rank: int, name: str) -> _Pairs:
    """A number, one per dimension, or a pair per dimension, as the last."""
    if isinstance(value, int):
        return [(value, value)] * rank
    given = tuple(value)
    if rank == 1 and all(isinstance(each, int) for each in given):
        given = (given,)
    if len(given) != rank:
        raise ValueError(f"`{name}` should have {rank} elements. Found: {value}")
    return [(each, each) if isinstance(each, int) else (int(each[0]), int(each[1])) for each in given]


def _by_axis(pairs: _Pairs) -> Nest:
    """Pairs as the layers show them: one for each axis, that of sequences by itself."""
    return pairs[0] if len(pairs) == 1 else tuple(pairs)


class _Spatial(Layer):
    rank = 2

    def _place(self, data_format: str | None) -> None:
        self.data_format = layout_or_default(data_format)
        self.first = 1 if self.data_format == "channels_last" else 2
        self.input_spec = InputSpec(ndim=self.rank + 2)


class _ZeroPadding(_Spatial):
    @keeps_arguments
    def __init__(self, padding: Nest = 1, data_format: str | None = None, **kwargs: Options) -> None:
        super().__init__(**kwargs)
        self._place(data_format)
        self._pairs = _pairs(padding, self.rank, "padding")
        self.padding = _by_axis(self._pairs)

    def call(self, inputs: Tensor) -> Tensor:
        """The inputs with zeros around them."""
        ahead: list[Sequence[int]] = [(0, 0)] * self.first
        return pad(inputs, [*ahead, *self._pairs, *([(0, 0)] * (2 - self.first))])


class ZeroPadding1D(_ZeroPadding):
    """Sequences with zeros at both ends: `[batch, steps, channels] -> [batch, more, channels]`.

    Args:
        padding: how many at each end, a number or two.
        kwargs: `name`, `trainable`, `dtype`, `input_shape` and others of `tf.keras.layers.Layer`.
    """

    rank = 1

    @keeps_arguments
    def __init__(self, padding: Nest = 1, **kwargs: Options) -> None:
        super().__init__(padding, "channels_last", **kwargs)


class ZeroPadding2D(_ZeroPadding):
    """Images with zeros around them: `[batch, rows, columns, channels] -> [batch, more, more, channels]`."""


class ZeroPadding3D(_ZeroPadding):
    """Volumes with zeros around them."""

    rank = 3


class _Cropping(_Spatial):
    @keeps_arguments
    def __init__(self, cropping: Nest = 0, data_format: str | None = None, **kwargs: Options) -> None:
        super().__init__(**kwargs)
        self._place(data_format)
        self._pairs = _pairs(cropping, self.rank, "cropping")
        self.cropping = _by_axis(self._pairs)

    def call(self, inputs: Tensor) -> Tensor:
        """The inputs without their borders."""
        whole = [slice(None)] * self.first
        return inputs[(*whole, *(slice(before, -after or None) for before, after in self._pairs))]


class Cropping1D(_Cropping):
    """Sequences without their ends: `[batch, steps, channels] -> [batch, fewer, channels]`.

    Args:
        cropping: how many steps from each end, a number or two.
        kwargs: `name`, `trainable`, `dtype`, `input_shape` and others of `tf.keras.layers.Layer`.
    """

    rank = 1

    @keeps_arguments
    def __init__(self, cropping: Nest = (1, 1), **kwargs: Options) -> None:
        super().__init__(cropping, "channels_last", **kwargs)


class Cropping2D(_Cropping):
    """Images without their borders: `[batch, rows, columns, channels] -> [batch, fewer, fewer, channels]`."""


class Cropping3D(_Cropping):
    """Volumes without their borders.

    Args:
        cropping: how many from each end, a number, or a number or a pair for each spatial dimension.
        data_format: "channels_last", or "channels_first" for channels before the rest; `image_data_format()` when None.
        kwargs: `name`, `trainable`, `dtype`, `input_shape` and others of `tf.keras.layers.Layer`.
    """

    rank = 3

    @keeps_arguments
    def __init__(self, cropping: Nest = ((1, 1), (1, 1), (1, 1)), data_format: str | None = None, **kwargs: Options) -> None:
        super().__init__(cropping, data_format, **kwargs)


class UpSampling1D(_Spatial):
    """Sequences with each step repeated: `[batch, steps, channels] -> [batch, size * steps, channels]`.

    Args:
        size: how many times.
        kwargs: `name`, `trainable`, `dtype`, `input_shape` and others of `tf.keras.layers.Layer`.
    """

    rank = 1

    @keeps_arguments
    def __init__(self, size: int = 2, **kwargs: Options) -> None:
        super().__init__(**kwargs)
        self._place("channels_last")
        self.size = int(size)

    def call(self, inputs: Tensor) -> Tensor:
        """The inputs, each step `size` times."""
        return repeat_elements(inputs, self.size, self.first)


class UpSampling2D(_Spatial):
    """Images made larger, by repetition or bilinearly: `[batch, rows, columns, channels] -> [batch, ..., channels]`.

    Args:
        size: how many times as high and as wide.
        data_format: "channels_last", or "channels_first" for channels before the rest; `image_data_format()` when None.
        interpolation: "nearest" or "bilinear".
        kwargs: `name`, `trainable`, `dtype`, `input_shape` and others of `tf.keras.layers.Layer`.

    Raises:
        ValueError: another interpolation.
    """

    @keeps_arguments
    def __init__(
        self,
        size: int | Sequence[int] = (2, 2),
        data_format: str | None = None,
        interpolation: str = "nearest",
        **kwargs: Options,
    ) -> None:
        super().__init__(**kwargs)
        self._place(data_format)
        self.size = per_axis(size, 2, "size")
        if interpolation not in ("nearest", "bilinear"):
            raise ValueError('`interpolation` argument should be one of `"nearest"` or `"bilinear"`.')
        self.interpolation = interpolation

    def call(self, inputs: Tensor) -> Tensor:
        """The larger images."""
        sizes = shape_of(inputs)[self.first : self.first + 2] * constant(list(self.size))
        images = inputs if self.first == 1 else transpose(inputs, [0, 2, 3, 1])
        resize = resize_nearest_neighbor if self.interpolation == "nearest" else resize_bilinear
        # Of the pixels' centres: unlike `tf.image.resize_images`, as Keras has it in TensorFlow 1.15.
        with get_default_graph().name_scope("resize"):
            made = resize(images, sizes, half_pixel_centers=True)
        known = images.shape.as_list()
        made.set_shape(
            [known[0], *(None if n is None else n * k for n, k in zip(known[1:3], self.size, strict=True)), known[3]]
        )
        return made if self.first == 1 else transpose(made, [0, 3, 1, 2])


class UpSampling3D(_Spatial):
    """Volumes made larger by repetition.

    Args:
        size: how many times as deep, high and wide.
        data_format: "channels_last", or "channels_first" for channels before the rest; `image_data_format()` when None.
        kwargs: `name`, `trainable`, `dtype`, `input_shape` and others of `tf.keras.layers.Layer`.
    """

    rank = 3

    @keeps_arguments
    def __init__(self, size: int | Sequence[int] = (2, 2, 2), data_format: str | None = None, **kwargs: Options) -> None:
        super().__init__(**kwargs)
        self._place(data_format)
        self.size = per_axis(size, 3, "size")

    def call(self, inputs: Tensor) -> Tensor:
        """The larger volumes."""
        for axis, count in enumerate(self.size, self.first):
            inputs = repeat_elements(inputs, count, axis)
        return inputs


def repeat_elements(x: Tensor, rep: int, axis: int) -> Tensor:
    """A tensor with each slice along an axis several times.

    Args:
        x: a tensor of known rank.
        rep: how many times.
        axis: the dimension.

    Returns:
        A tensor of the same dtype, `rep` times as long along the axis.
    """
    sizes = x.shape.as_list()
    axis %= len(sizes)
    # TensorFlow splits and joins what has a known size.
    with get_default_graph().node_count.as_many_as(8 if sizes[axis] is None else 5):
        made = repeat(x, rep, axis=axis) if rep != 1 else x
    made.set_shape([size if here != axis or size is None else size * rep for here, size in enumerate(sizes)])
    return made
