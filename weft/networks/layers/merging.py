"""The layers that make one tensor of several, and their functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from weft.framework.building.aliases import Nest
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.tensor_shape import TensorShape
from weft.networks.config import Options
from weft.networks.engine.layer import Layer
from weft.networks.objects.arguments import keeps_arguments
from weft.ops.array.filling import ones_like
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import expand_dims, reshape, squeeze
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.transposing import transpose
from weft.ops.math.casting import cast
from weft.ops.math.comparison import maximum, minimum
from weft.ops.math.products import matmul
from weft.ops.math.reduce_functions import reduce_all, reduce_sum
from weft.ops.nn.norm import l2_normalize


class _Merge(Layer):
    """What the layers that merge share: inputs of the same shape but for sizes of 1, which are broadcast."""

    least, most = 2, 10**9
    supports_masking = True

    def build(self, input_shape: Nest) -> None:
        """Check the inputs."""
        if not isinstance(input_shape, list | tuple) or not isinstance(input_shape[0], TensorShape):
            raise ValueError("A merge layer should be called on a list of inputs.")
        if len(input_shape) < self.least:
            raise ValueError(f"A merge layer should be called on a list of at least 2 inputs. Got {len(input_shape)} inputs.")
        if len(input_shape) > self.most:
            raise ValueError(f"A `{type(self).__name__}` layer should be called on exactly {self.most} inputs")
        self._check(input_shape)
        self.built = True

    def _check(self, shapes: Sequence[TensorShape]) -> None:
        batches = {shape.as_list()[0] for shape in shapes if shape.ndims} - {None}
        if len(batches) > 1:
            raise ValueError(
                f"Can not merge tensors with different batch sizes. Got tensors with shapes : {[*map(tuple, shapes)]}"
            )
        known = [shape.as_list()[1:] for shape in shapes if shape.ndims]
        for first in known:
            for sizes in zip(reversed(known[0]), reversed(first), strict=False):
                if None not in sizes and 1 not in sizes and len(set(sizes)) > 1:
                    raise ValueError(
                        f"Operands could not be broadcast together with shapes {tuple(known[0])} {tuple(first)}: inputs of "
                        f"{type(self).__name__} '{self.name}', without the batch. tf.keras.layers.concatenate puts unlike "
                        "widths side by side; a Dense layer before it gives them one width."
                    )

    def merge(self, inputs: Sequence[Tensor]) -> Tensor:
        """One tensor of several of the same rank.

        Args:
            inputs: at least two tensors.
        """
        raise NotImplementedError

    def call(self, inputs: Nest) -> Tensor:
        """The inputs, merged."""
        ranks = [each.shape.ndims for each in inputs]
        if None in ranks or len(set(ranks)) == 1:
            return self.merge(inputs)
        most = max(rank for rank in ranks if rank is not None)
        return self.merge([_widened(each, most) for each in inputs])

    def compute_mask(self, inputs: Nest, mask: Nest = None) -> Nest:
        """Where all inputs that have a mask have theirs."""
        masks = [] if mask is None else [each for each in mask if each is not None]
        if not masks:
            return None
        return reduce_all(concat([expand_dims(each, 0) for each in masks], 0), axis=0)


def _widened(tensor: Tensor, rank: int) -> Tensor:
    while (tensor.shape.ndims or 0) < rank:
        tensor = expand_dims(tensor, 1)
    return tensor


def _folded(function: Callable[[Tensor, Tensor], Tensor], inputs: Sequence[Tensor]) -> Tensor:
    made = inputs[0]
    for each in inputs[1:]:
        made = function(made, each)
    return made


class Add(_Merge):
    """The sum of the inputs."""

    def merge(self, inputs: Sequence[Tensor]) -> Tensor:
        """The sum."""
        return _folded(lambda a, b: a + b, inputs)


class Subtract(_Merge):
    """The first of two inputs without the second."""

    most = 2

    def merge(self, inputs: Sequence[Tensor]) -> Tensor:
        """The difference."""
        return inputs[0] - inputs[1]


class Multiply(_Merge):
    """The product of the inputs, element by element."""

    def merge(self, inputs: Sequence[Tensor]) -> Tensor:
        """The product."""
        return _folded(lambda a, b: a * b, inputs)


class Average(_Merge):
    """The mean of the inputs, element by element."""

    def merge(self, inputs: Sequence[Tensor]) -> Tensor:
        """The mean."""
        return _folded(lambda a, b: a + b, inputs) / len(inputs)


class Maximum(_Merge):
    """The greatest of the inputs, element by element."""

    def merge(self, inputs: Sequence[Tensor]) -> Tensor:
        """The greatest."""
        return _folded(maximum, inputs)


class Minimum(_Merge):
    """The least of the inputs, element by element."""

    def merge(self, inputs: Sequence[Tensor]) -> Tensor:
        """The least."""
        return _folded(minimum, inputs)


class Concatenate(_Merge):
    """The inputs one after the other along `axis`.

    Args:
        axis: the dimension.
        kwargs: `name`, `trainable`, `dtype`, `input_shape` and others of `tf.keras.layers.Layer`.
    """

    @keeps_arguments
    def __init__(self, axis: int = -1, **kwargs: Options) -> None:
        super().__init__(**kwargs)
        self.axis = axis

    def build(self, input_shape: Nest) -> None:
        """Check the inputs."""
        if not isinstance(input_shape, list | tuple) or len(input_shape) < self.least:
            raise ValueError("A `Concatenate` layer should be called on a list of at least 2 inputs")
        super().build(input_shape)

    def _check(self, shapes: Sequence[TensorShape]) -> None:
        if any(shape.ndims is None for shape in shapes):
            return
        lists = [shape.as_list() for shape in shapes]
        kept = [[size for axis, size in enumerate(each) if axis != self.axis % len(each)] for each in lists]
        for each in kept[1:]:
            if len(each) != len(kept[0]) or any(
                None not in pair and pair[0] != pair[1] for pair in zip(kept[0], each, strict=True)
            ):
                raise ValueError("A `Concatenate` layer requires inputs with matching shapes except for the concat axis. "
                                 f"Got inputs shapes: {[tuple(shape) for shape in lists]}")  # fmt: skip

    def call(self, inputs: Nest) -> Tensor:
        """The inputs, joined."""
        return concat(list(inputs), self.axis)

    def compute_mask(self, inputs: Nest, mask: Nest = None) -> Nest:
        """The masks, joined; ones for the inputs that have none."""
        if mask is None or all(each is None for each in mask):
            return None
        wide = []
        for tensor, each in zip(inputs, mask, strict=True):
            if each is None:
                wide.append(cast(ones_like(tensor), dtypes.bool))
            else:
                wide.append(expand_dims(each, -1) if each.shape.ndims < tensor.shape.ndims else each)
        return reduce_all(concat(wide, self.axis), axis=-1)


class Dot(_Merge):
    """The product of two inputs over an axis of each, for each example.

    Args:
        axes: one axis for both, or one for each; they count the batch.
        normalize: whether vectors along the axes are given the length 1 first.
        kwargs: see Layer.

    Raises:
        TypeError: `axes` is neither a number nor two.
    """

    most = 2

    @keeps_arguments
    def __init__(self, axes: int | Sequence[int], normalize: bool = False, **kwargs: Options) -> None:
        super().__init__(**kwargs)
        if not isinstance(axes, int) and not (isinstance(axes, list | tuple) and len(axes) == 2):
            raise TypeError(f"Invalid type for `axes` - should be a list or an int: {axes}")
        self.axes, self.normalize = axes, normalize
        self.supports_masking = True

    def _check(self, shapes: Sequence[TensorShape]) -> None:
        first, second = self._axes_of(shapes)
        a, b = shapes[0].as_list()[first], shapes[1].as_list()[second]
        if a is not None and b is not None and a != b:
            raise ValueError(f"Dimension incompatibility {a} != {b}. Layer shapes: {tuple(shapes[0])}, {tuple(shapes[1])}")

    def _axes_of(self, shapes: Sequence[TensorShape]) -> tuple[int, int]:
        given = [self.axes] * 2 if isinstance(self.axes, int) else self.axes
        first, second = (axis % int(shape.ndims or 1) for axis, shape in zip(given, shapes, strict=True))
        return first, second

    def merge(self, inputs: Sequence[Tensor]) -> Tensor:
        """The product."""
        return batch_dot(inputs[0], inputs[1], self._axes_of([each.shape for each in inputs]), self.normalize)

    call = merge

    def compute_mask(self, inputs: Nest, mask: Nest = None) -> None:
        """None."""
        return


def batch_dot(x: Tensor, y: Tensor, axes: tuple[int, int], normalize: bool = False) -> Tensor:
    """The product of tensors over an axis of each, for each example; a column when both are matrices."""
    first, second = axes
    if normalize:
        x, y = l2_normalize(x, first), l2_normalize(y, second)
    if x.shape.ndims == 2 and y.shape.ndims == 2:
        return expand_dims(reduce_sum(x * y, axis=1), 1)
    ranks = [int(each.shape.ndims or 0) for each in (x, y)]
    if max(ranks) == 3:
        made = matmul(_with_rank_3(x), _with_rank_3(y), transpose_a=first == 1, transpose_b=second == 2)
    else:
        left = expand_dims(x, 1) if ranks[0] == 2 else transpose(x, _axis_at(x, first, last=True))
        right = expand_dims(y, 2) if ranks[1] == 2 else transpose(y, _axis_at(y, second, last=False))
        made = matmul(left, right)
    if ranks[0] == 2:
        return squeeze(made, [1])
    return squeeze(made, [-1]) if ranks[1] == 2 else made


def _with_rank_3(tensor: Tensor) -> Tensor:
    return reshape(tensor, concat([shape_of(tensor), [1]], 0)) if tensor.shape.ndims == 2 else tensor


def _axis_at(tensor: Tensor, axis: int, last: bool) -> list[int]:
    rest = [each for each in range(1, int(tensor.shape.ndims or 0)) if each != axis]
    if last:
        return [0, *rest, axis]
    return [0, *rest[:-1], axis, *rest[-1:]] if len(rest) > 1 else [0, axis, *rest]


_MERGED_ARGS: Final = """\
Args:
    inputs: tensors whose shapes broadcast.
    kwargs: `name` and others of `tf.keras.layers.Layer`.
"""


def _function(layer: type[_Merge], what: str) -> Callable[..., Nest]:
    def merge(inputs: Sequence[Tensor], **kwargs: Options) -> Nest:
        return layer(**kwargs)(inputs)

    merge.__name__, merge.__doc__ = what, f"{layer.__doc__}\n\n{_MERGED_ARGS}"
    return merge


add, subtract, multiply = _function(Add, "add"), _function(Subtract, "subtract"), _function(Multiply, "multiply")
average, maximum_of = _function(Average, "average"), _function(Maximum, "maximum")
minimum_of = _function(Minimum, "minimum")


def concatenate(inputs: Sequence[Tensor], axis: int = -1, **kwargs: Options) -> Nest:
    """The inputs one after the other along `axis`.

    Args:
        inputs: tensors of the same shape but along the axis.
        axis: the dimension.
        kwargs: `name` and others of `tf.keras.layers.Layer`.
    """
    return Concatenate(axis=axis, **kwargs)(inputs)


def dot(inputs: Sequence[Tensor], axes: int | Sequence[int], normalize: bool = False, **kwargs: Options) -> Nest:
    """The product of two inputs over an axis of each, for each example.

    Args:
        inputs: two tensors.
        axes: one axis for both, or one for each; they count the batch.
        normalize: whether vectors along the axes are given the length 1 first.
        kwargs: `name` and others of `tf.keras.layers.Layer`.
    """
    return Dot(axes=axes, normalize=normalize, **kwargs)(inputs)
