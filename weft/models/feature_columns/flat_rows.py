"""The values of a dense column as one row for each example, which layers put side by side."""

from __future__ import annotations

from weft.framework.nodes.node_errors import described
from weft.framework.nodes.operation import Tensor
from weft.models.feature_columns.column import DenseColumn
from weft.models.feature_columns.column_checks import element_count
from weft.ops.array.shape_ops import reshape, shape


def flat_rows(tensor: Tensor, column: DenseColumn) -> Tensor:
    """A column's values as `[batch, number of elements]`.

    Args:
        tensor: the values, `[batch, ...]`.
        column: the column, which tells the shape of an example's.

    Raises:
        ValueError: examples have another number of values.
    """
    try:
        return reshape(tensor, shape=(shape(tensor)[0], element_count(column.variable_shape)))
    except ValueError as error:
        raise ValueError(
            f"{str(error).splitlines()[0]}\n  {column.name}: {described(tensor)}\n  The column {column.name!r} is of the shape "
            f"{column.variable_shape} for each example: tf.feature_column.numeric_column(key, shape=...) tells another."
        ) from None
