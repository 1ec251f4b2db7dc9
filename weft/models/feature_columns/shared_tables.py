"""Columns that share a table, as layers of Keras take them: the table is found by the columns, not in a collection."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import NamedTuple

from weft.framework.building.aliases import Initializer, VariableLike
from weft.framework.compat.behavior import executing_eagerly
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.tensor_shape import TensorShape
from weft.models.feature_columns.column import CategoricalColumn
from weft.models.feature_columns.contracts import IdWeightPair, StateManager, TransformedFeatures
from weft.models.feature_columns.embedding import TableColumn, checked_shared, combined_rows, load_table
from weft.ops.variables.get_variable import get_variable


class SharedEmbeddingColumnCreator:
    """The table of several columns, which each graph has once.

    Args:
        dimension: the size of a row.
        initializer: the table's.
        ckpt_to_load_from, tensor_name_in_ckpt: a checkpoint, and the name of the tensor in it, that the table begins with.
        num_buckets: how many rows there are.
        trainable: whether the table is trained.
        name: the variable's name.
    """

    def __init__(
        self, dimension: int, initializer: Initializer, ckpt_to_load_from: str | None, tensor_name_in_ckpt: str | None,
        num_buckets: int, trainable: bool, name: str = "shared_embedding_column_creator",
    ) -> None:  # fmt: skip
        self._dimension = dimension
        self._initializer = initializer
        self._checkpoint = ckpt_to_load_from, tensor_name_in_ckpt
        self._num_buckets = num_buckets
        self._trainable = trainable
        self._name = name
        self._tables: weakref.WeakKeyDictionary[Graph, VariableLike] = weakref.WeakKeyDictionary()

    def __call__(self, categorical_column: CategoricalColumn, combiner: str, max_norm: float | None) -> SharedTableColumn:
        return SharedTableColumn(categorical_column, self, combiner, max_norm)

    @property
    def dimension(self) -> int:
        """The size of a row."""
        return self._dimension

    @property
    def embedding_weights(self) -> VariableLike:
        """The table of the default graph, which the first column makes in the open variable scope."""
        graph = get_default_graph()
        if graph not in self._tables:
            table = get_variable(
                self._name, shape=(self._num_buckets, self._dimension), dtype=dtypes.float32, initializer=self._initializer,
                trainable=self._trainable,
            )  # fmt: skip
            load_table(table, *self._checkpoint)
            self._tables[graph] = table
        return self._tables[graph]


class _Fields(NamedTuple):
    categorical_column: CategoricalColumn
    shared_embedding_column_creator: SharedEmbeddingColumnCreator
    combiner: str
    max_norm: float | None


class SharedTableColumn(TableColumn, _Fields):
    """Ids as rows of a table that several columns use; see `shared_embeddings`."""

    @property
    def name(self) -> str:
        """The name of the ids' column, marked."""
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def variable_shape(self) -> TensorShape:
        """One row of the table."""
        return TensorShape([self.shared_embedding_column_creator.dimension])

    def _ids(self) -> CategoricalColumn:
        return self.categorical_column

    def _looked_up(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> tuple[Tensor, IdWeightPair]:
        with get_default_graph().name_scope(self.name):
            return super()._looked_up(transformation_cache, state_manager)

    def _rows(self, pair: IdWeightPair, state_manager: StateManager) -> Tensor:
        table = self.shared_embedding_column_creator.embedding_weights
        return combined_rows(self.name, table, pair, self.combiner, self.max_norm)


# Programs compare and match what TensorFlow prints of such a column.
SharedTableColumn.__name__ = "SharedEmbeddingColumn"


def shared_embeddings(
    categorical_columns: Sequence[CategoricalColumn], dimension: int, combiner: str = "mean",
    initializer: Initializer | None = None, shared_embedding_collection_name: str | None = None,
    ckpt_to_load_from: str | None = None, tensor_name_in_ckpt: str | None = None, max_norm: float | None = None,
    trainable: bool = True,
) -> list[SharedTableColumn]:  # fmt: skip
    """Dense columns of the rows of one table, for several categorical columns with the same ids, for `DenseFeatures`.

    Args:
        categorical_columns: columns of one type and one number of buckets, weighted or not.
        dimension: the size of a row, a positive int.
        combiner: how the rows of an example's ids become one: "mean", "sqrtn" or "sum".
        initializer: makes the table's first value; truncated normal numbers of deviation `1 / sqrt(dimension)` when None.
        shared_embedding_collection_name: the table's name; made of the columns' names when None.
        ckpt_to_load_from, tensor_name_in_ckpt: a checkpoint, and the name of the tensor in it, that the table begins with;
            both or none.
        max_norm: the norm to which longer rows are cut when they are used; none are when None.
        trainable: whether the table is trained.

    Returns:
        One column for each that was given, in that order.

    Raises:
        RuntimeError: operations run at once, rather than being built.
        ValueError: the columns do not fit together, the dimension is not positive, or only one of the checkpoint and the name
            is given.
        TypeError: the columns don't come in a list or tuple.
    """
    if executing_eagerly():
        raise RuntimeError("shared_embedding_columns are not supported when eager execution is enabled.")
    dimension, start, name = checked_shared(
        categorical_columns, dimension, initializer, shared_embedding_collection_name, ckpt_to_load_from, tensor_name_in_ckpt
    )
    make = SharedEmbeddingColumnCreator(
        dimension, start, ckpt_to_load_from, tensor_name_in_ckpt, categorical_columns[0].num_buckets, trainable, name
    )
    return [make(column, combiner, max_norm) for column in categorical_columns]
