"""Parts that cells share: a linear map of several tensors, and layer normalization, with variables made at the first use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from weft.framework.building.aliases import Initializer, VariableLike
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.joining import concat
from weft.ops.math.products import matmul
from weft.ops.nn.bias import bias_add
from weft.ops.nn.norm import batch_normalization, moments
from weft.ops.variables.matrix_initializers import constant_initializer

# As contrib's layer_norm has it: the small one would be lost in float16.
_EPSILON, _HALF_EPSILON = 1e-12, 1e-3


class Maker(Protocol):
    """What makes a variable, such as the `add_variable` of a cell."""

    def __call__(self, name: str, shape: Sequence[object], *, initializer: Initializer | None = None) -> VariableLike:
        """Make it in the innermost scope."""


class Linear:
    """`concat(args) W + b`, `[batch, size]`, of tensors `[batch, depth]`; the variables are made at construction.

    Args:
        make: makes a variable of the cell.
        args: tensors as those that the map will be used on; their depths must be known.
        size: the depth of the result.
        prefix: goes before the names "kernel" and "bias".
        use_bias: whether `b` is there.
        initializer: of the kernel.
    """

    def __init__(
        self,
        make: Maker,
        args: Sequence[Tensor],
        size: int,
        prefix: str = "",
        use_bias: bool = True,
        initializer: Initializer | None = None,
    ) -> None:
        shapes = [each.get_shape() for each in args]
        for shape in shapes:
            if shape.ndims != 2:
                raise ValueError(f"linear is expecting 2D arguments: {shapes}")
            if shape[1].value is None:
                raise ValueError(f"linear expects shape[1] to be provided for shape {shape}, but saw {shape[1]}")
        depth = sum(shape[1].value for shape in shapes)
        self._kernel = make(f"{prefix}kernel", [depth, size], initializer=initializer)
        self._bias = (
            make(f"{prefix}bias", [size], initializer=constant_initializer(0.0, dtype=args[0].dtype)) if use_bias else None
        )

    def __call__(self, args: Sequence[Tensor]) -> Tensor:
        """The map of tensors."""
        side_by_side = args[0] if len(args) == 1 else concat(list(args), 1)
        product = matmul(side_by_side, self._kernel)
        return product if self._bias is None else bias_add(product, self._bias)


def in_shards(make: Maker, name: str, rows: int, columns: int, shards: int) -> list[VariableLike]:
    """A kernel `[rows, columns]` as that many variables, named by their numbers; ValueError when there are fewer rows."""
    if shards > rows:
        raise ValueError(f"Too many shards: shape=[{rows}, {columns}], num_shards={shards}")
    each, more = divmod(rows, shards)
    sizes = [each + (index < more) for index in range(shards)]
    return [make(f"{name}_{index}", [size, columns]) for index, size in enumerate(sizes)]


def joined(shards: Sequence[VariableLike]) -> VariableLike:
    """The kernel of its shards."""
    return shards[0] if len(shards) == 1 else concat(list(shards), 0)


class LayerNorm:
    """Layer normalization over the features (Ba et al., 2016, arXiv:1607.06450), with gain and shift.

    Args:
        make: makes a variable of the cell.
        size: how many features there are.
        scope: goes before the names "gamma" and "beta".
        gain, shift: what gain and shift are at first.
    """

    def __init__(self, make: Maker, size: int, scope: str, gain: float, shift: float) -> None:
        self._gamma = make(f"{scope}/gamma", [size], initializer=constant_initializer(gain))
        self._beta = make(f"{scope}/beta", [size], initializer=constant_initializer(shift))

    def __call__(self, features: Tensor) -> Tensor:
        """The features, `[batch, size]`, of each row with mean 0 and variance 1, times the gain, plus the shift."""
        mean, variance = moments(features, [1], keep_dims=True)
        epsilon = _HALF_EPSILON if features.dtype.base_dtype == dtypes.float16 else _EPSILON
        return batch_normalization(features, mean, variance, self._beta, self._gamma, epsilon)
