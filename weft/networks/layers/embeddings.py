"""Embedding: a row of a table for each integer."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import Nest, ShapeLike
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.networks.config import Options
from weft.networks.engine.layer import Layer
from weft.networks.objects.arguments import keeps_arguments
from weft.networks.state.defaults import floatx
from weft.ops.math.casting import cast
from weft.ops.math.comparison import not_equal
from weft.ops.nn.embedding import embedding_lookup


class Embedding(Layer):
    """A row of a table for each integer: `[batch, steps] -> [batch, steps, output_dim]`.

    Args:
        input_dim: the number of rows.
        output_dim: the length of a row.
        embeddings_initializer, embeddings_regularizer, embeddings_constraint: of the table.
        activity_regularizer: a penalty on the outputs.
        mask_zero: whether 0 stands for no step, which is masked.
        input_length: the number of steps, where it is constant.
        kwargs: see Layer.
    """

    @keeps_arguments
    def __init__(
        self, input_dim: int, output_dim: int, embeddings_initializer: Nest = "uniform",
        embeddings_regularizer: Nest = None, activity_regularizer: Nest = None, embeddings_constraint: Nest = None,
        mask_zero: bool = False, input_length: int | Sequence[int | None] | None = None, **kwargs: Options,
    ) -> None:  # fmt: skip
        if "input_shape" not in kwargs and "batch_input_shape" not in kwargs:
            lengths = input_length if isinstance(input_length, list | tuple) else (input_length,)
            kwargs["input_shape"] = tuple(lengths)
        kwargs["dtype"] = kwargs.pop("dtype", None) or floatx()
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.input_dim, self.output_dim, self.mask_zero, self.input_length = input_dim, output_dim, mask_zero, input_length
        self._options = (embeddings_initializer, embeddings_regularizer, embeddings_constraint)
        self.supports_masking = mask_zero

    def build(self, input_shape: ShapeLike) -> None:
        """Make the table."""
        initializer, regularizer, constraint = self._options
        self.embeddings = self.add_weight(
            "embeddings", [self.input_dim, self.output_dim], None, initializer, regularizer, constraint=constraint
        )
        self.built = True

    def compute_mask(self, inputs: Nest, mask: Nest = None) -> Tensor | None:
        """Where the integer is not 0, if that is masked."""
        return not_equal(inputs, 0) if self.mask_zero else None

    def call(self, inputs: Tensor) -> Tensor:
        """The rows."""
        if inputs.dtype not in (dtypes.int32, dtypes.int64):
            inputs = cast(inputs, dtypes.int32)
        return embedding_lookup(self.embeddings, inputs)
