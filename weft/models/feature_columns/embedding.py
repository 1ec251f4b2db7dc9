"""EmbeddingColumn: ids as the rows of a table that is trained."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from weft.framework.building.aliases import Initializer, VariableLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.tensor_shape import TensorShape
from weft.models.feature_columns.column import (
    CategoricalColumn,
    DenseColumn,
    FeatureColumn,
    SequenceDenseColumn,
    check_categorical,
    is_categorical,
)
from weft.models.feature_columns.column_checks import whole_number
from weft.models.feature_columns.combined import WeightedCategoricalColumn
from weft.models.feature_columns.contracts import (
    FeatureTensor,
    IdWeightPair,
    ParseSpec,
    StateManager,
    TensorSequenceLengthPair,
    TransformedFeatures,
)
from weft.models.feature_columns.sequence_ids import check_no_sequence, check_sequence, sequence_length
from weft.ops.io.checkpoint_initializer import init_from_checkpoint
from weft.ops.nn.embedding import safe_embedding_lookup_sparse
from weft.ops.variables.matrix_initializers import truncated_normal_initializer

_TABLE = "embedding_weights"


class TableColumn(DenseColumn, SequenceDenseColumn):
    """What both kinds of columns with a table share; their fields are read through `_ids` and `_found`."""

    def _ids(self) -> CategoricalColumn:
        raise NotImplementedError

    def _rows(self, pair: IdWeightPair, state_manager: StateManager) -> Tensor:
        raise NotImplementedError

    @property
    def parse_example_spec(self) -> ParseSpec:
        """That of the ids."""
        return self._ids().parse_example_spec

    @property
    def parents(self) -> list[FeatureColumn | str]:
        """The column of the ids."""
        return [self._ids()]

    def transform_feature(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> FeatureTensor:
        """The ids."""
        return transformation_cache.get(self._ids(), state_manager)

    def get_dense_tensor(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> Tensor:
        """The rows of each example's ids, combined."""
        check_no_sequence("embedding_column", self.name, self._ids())
        return self._looked_up(transformation_cache, state_manager)[0]

    def get_sequence_dense_tensor(
        self, transformation_cache: TransformedFeatures, state_manager: StateManager
    ) -> TensorSequenceLengthPair:
        """The rows of each step's ids, combined."""
        check_sequence("embedding_column", self.name, self._ids())
        rows, pair = self._looked_up(transformation_cache, state_manager)
        return TensorSequenceLengthPair(rows, sequence_length(pair.id_tensor))

    def _looked_up(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> tuple[Tensor, IdWeightPair]:
        pair = self._ids().get_sparse_tensors(transformation_cache, state_manager)
        return self._rows(pair, state_manager), pair


class _EmbeddingFields(NamedTuple):
    categorical_column: CategoricalColumn
    dimension: int
    combiner: str
    initializer: Initializer
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None
    max_norm: float | None
    trainable: bool


class EmbeddingColumn(TableColumn, _EmbeddingFields):
    """Ids as rows of a table of their own; see `embedding_column`."""

    @property
    def name(self) -> str:
        """The name of the ids' column, marked."""
        return f"{self.categorical_column.name}_embedding"

    @property
    def variable_shape(self) -> TensorShape:
        """One row of the table."""
        return TensorShape([self.dimension])

    def create_state(self, state_manager: StateManager) -> None:
        """Make the table."""
        state_manager.create_variable(
            self, _TABLE, (self.categorical_column.num_buckets, self.dimension), dtypes.float32, self.trainable,
            initializer=self.initializer,
        )  # fmt: skip

    def _ids(self) -> CategoricalColumn:
        return self.categorical_column

    def _rows(self, pair: IdWeightPair, state_manager: StateManager) -> Tensor:
        table = state_manager.get_variable(self, _TABLE)
        load_table(table, self.ckpt_to_load_from, self.tensor_name_in_ckpt)
        return combined_rows(self.name, table, pair, self.combiner, self.max_norm)


class _SharedFields(NamedTuple):
    categorical_column: CategoricalColumn
    dimension: int
    combiner: str
    initializer: Initializer
    shared_embedding_collection_name: str
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None
    max_norm: float | None
    trainable: bool


class SharedEmbeddingColumn(TableColumn, _SharedFields):
    """Ids as rows of a table that several columns use; see `shared_embedding_columns`.

    The table stands in a collection of the graph: the first column that a layer asks makes it.
    """

    @property
    def name(self) -> str:
        """The name of the ids' column, marked."""
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def scope_name(self) -> str:
        """The name that all columns of the table share."""
        return self.shared_embedding_collection_name

    @property
    def variable_shape(self) -> TensorShape:
        """One row of the table."""
        return TensorShape([self.dimension])

    def create_state(self, state_manager: StateManager) -> None:
        """Make the table, unless it is there."""
        shape = (self.categorical_column.num_buckets, self.dimension)
        graph = get_default_graph()
        there = graph.get_collection(self.shared_embedding_collection_name)
        if not there:
            made = state_manager.create_variable(
                self, _TABLE, shape, dtypes.float32, self.trainable, initializer=self.initializer
            )
            graph.add_to_collection(self.shared_embedding_collection_name, made)
        else:
            self._check(there, shape)

    def _check(self, there: list[VariableLike], shape: tuple[int, ...]) -> None:
        remedy = (
            "Suggested fix A: Choose a unique name for this collection. Suggested fix B: Do not add any variables to this "
            "collection. The feature_column library already adds a variable under the hood."
        )
        if len(there) > 1:
            raise ValueError(f"Collection {there} can only contain one variable. {remedy}")
        found = there[0].get_shape()
        if found != shape:
            raise ValueError(
                f"Shared embedding collection {self.shared_embedding_collection_name} contains variable {there[0].name} of "
                f"unexpected shape {found}. Expected shape is {shape}. {remedy}"
            )

    def _ids(self) -> CategoricalColumn:
        return self.categorical_column

    def _looked_up(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> tuple[Tensor, IdWeightPair]:
        with get_default_graph().name_scope(self.name):
            return super()._looked_up(transformation_cache, state_manager)

    def _rows(self, pair: IdWeightPair, state_manager: StateManager) -> Tensor:
        self.create_state(state_manager)
        table = get_default_graph().get_collection(self.shared_embedding_collection_name)[0]
        load_table(table, self.ckpt_to_load_from, self.tensor_name_in_ckpt)
        return combined_rows(self.name, table, pair, self.combiner, self.max_norm)


# Programs compare and match what TensorFlow prints of such a column.
SharedEmbeddingColumn.__name__ = "_SharedEmbeddingColumn"


def load_table(table: VariableLike, checkpoint: str | None, tensor_name: str | None) -> None:
    """Have a table begin with a tensor of a checkpoint, if one is given."""
    if checkpoint is not None and tensor_name is not None:
        init_from_checkpoint(checkpoint, {tensor_name: table})


def combined_rows(name: str, table: VariableLike, pair: IdWeightPair, combiner: str, max_norm: float | None) -> Tensor:
    """The rows of a table at each example's ids, combined."""
    return safe_embedding_lookup_sparse(
        table, pair.id_tensor, pair.weight_tensor, combiner=combiner, name=f"{name}_weights", max_norm=max_norm
    )


def embedding_column(
    categorical_column: CategoricalColumn,
    dimension: int,
    combiner: str = "mean",
    initializer: Initializer | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> EmbeddingColumn:
    """A dense column of the rows of a table, `[num_buckets, dimension]` float32, at the ids of a categorical column.

    Args:
        categorical_column: the column of the ids.
        dimension: the length of a row.
        combiner: how an example's rows become one: "mean", "sqrtn" or "sum".
        initializer: the table's; truncated normal numbers of deviation `1 / sqrt(dimension)` when None.
        ckpt_to_load_from: a checkpoint, or a directory of some, that the table starts from.
        tensor_name_in_ckpt: the table's name in there.
        max_norm: rows with a greater Euclidean norm are scaled down to it.
        trainable: whether the table is trained.

    Returns:
        The column.

    Raises:
        ValueError: the dimension is not positive, only one of the checkpoint and the name is given, or the initializer is
            no function.
    """
    _check_table(dimension, ckpt_to_load_from, tensor_name_in_ckpt)
    check_categorical("embedding_column", categorical_column)
    dimension = whole_number(dimension, "dimension", categorical_column.name)
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable if specified. Embedding of column_name: {categorical_column.name}")
    return EmbeddingColumn(
        categorical_column, dimension, combiner, initializer or _rows_of_norm_one(dimension), ckpt_to_load_from,
        tensor_name_in_ckpt, max_norm, trainable,
    )  # fmt: skip


def _check_table(dimension: int | None, checkpoint: str | None, tensor_name: str | None) -> None:
    if dimension is None or dimension < 1:
        raise ValueError(f"Invalid dimension {dimension}. It is the width of each embedding, a positive number.")
    if (checkpoint is None) != (tensor_name is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")


def _rows_of_norm_one(dimension: int) -> Initializer:
    return truncated_normal_initializer(mean=0.0, stddev=1 / math.sqrt(dimension))


def shared_embedding_columns(
    categorical_columns: Sequence[CategoricalColumn],
    dimension: int,
    combiner: str = "mean",
    initializer: Initializer | None = None,
    shared_embedding_collection_name: str | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> list[SharedEmbeddingColumn]:
    """Dense columns of the rows of one table, for several categorical columns with the same ids.

    Args:
        categorical_columns: columns of one type and one number of buckets, weighted or not.
        dimension: the size of a row, a positive int.
        combiner: how the rows of an example's ids become one: "mean", "sqrtn" or "sum".
        initializer: makes the table's first value; truncated normal numbers of deviation `1 / sqrt(dimension)` when None.
        shared_embedding_collection_name: the collection of the graph that has the table, and the table's variable scope; made
            of the columns' names when None.
        ckpt_to_load_from, tensor_name_in_ckpt: a checkpoint, and the name of the tensor in it, that the table begins with;
            both or none.
        max_norm: the norm to which longer rows are cut when they are used; none are when None.
        trainable: whether the table is trained.

    Returns:
        One column for each that was given, in that order.

    Raises:
        ValueError: the columns do not fit together, the dimension is not positive, or only one of the checkpoint and the name
            is given.
        TypeError: the columns don't come in a list or tuple.
    """
    dimension, start, collection = checked_shared(
        categorical_columns, dimension, initializer, shared_embedding_collection_name, ckpt_to_load_from, tensor_name_in_ckpt
    )
    return [
        SharedEmbeddingColumn(
            ids, dimension, combiner, start, collection, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable
        )
        for ids in categorical_columns
    ]


def checked_shared(
    categorical_columns: Sequence[CategoricalColumn], dimension: int, initializer: Initializer | None, name: str | None,
    ckpt_to_load_from: str | None, tensor_name_in_ckpt: str | None,
) -> tuple[int, Initializer, str]:  # fmt: skip
    """The size of a row, the initializer and the name of a table for several columns; see `shared_embedding_columns`.

    Raises:
        ValueError, TypeError: see there.
    """
    _check_table(dimension, ckpt_to_load_from, tensor_name_in_ckpt)
    if initializer is not None and not callable(initializer):
        raise ValueError("initializer must be callable if specified.")
    if not isinstance(categorical_columns, list) and hasattr(categorical_columns, "name"):
        raise TypeError(f"categorical_columns must be a list of columns; of one, {categorical_columns.name!r}, it is [column].")
    in_order = sorted(categorical_columns, key=lambda column: column.name)
    dimension = whole_number(dimension, "dimension", ", ".join(column.name for column in in_order))
    _check_alike(in_order)
    made = "_".join(column.name for column in in_order) + "_shared_embedding"
    return dimension, initializer or _rows_of_norm_one(dimension), name or made


def _check_alike(columns: Sequence[CategoricalColumn]) -> None:
    first = columns[0]
    if not is_categorical(first):
        raise ValueError(
            f"All categorical_columns must be subclasses of _CategoricalColumn. Given: {first}, of type: {type(first)}"
        )
    count, first = first.num_buckets, _unweighted(first)
    for column in columns[1:]:
        plain = _unweighted(column)
        if not isinstance(plain, type(first)):
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same type, or be "
                f"weighted_categorical_column of the same type. Given column: {first} of type: {type(first)} does not match "
                f"given column: {plain} of type: {type(plain)}"
            )
        if count != plain.num_buckets:
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same number of buckets. "
                f"Given column: {first} with buckets: {count} does  not match column: {plain} with buckets: {plain.num_buckets}"
            )


def _unweighted(column: CategoricalColumn) -> CategoricalColumn:
    return column.categorical_column if isinstance(column, WeightedCategoricalColumn) else column
