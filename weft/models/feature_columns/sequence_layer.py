"""Sequences of numbers as a column, and sequence_input_layer: the dense sequences of a model side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_shape import TensorShape
from weft.models.feature_columns.column import FeatureColumn, FeatureMap, SequenceDenseColumn, gives_sequence, sparse
from weft.models.feature_columns.column_checks import (
    check_batch_sizes,
    check_number,
    checked_shape,
    column_list,
    element_count,
    normalized,
)
from weft.models.feature_columns.contracts import ParseSpec, StateManager, TensorSequenceLengthPair, TransformedFeatures
from weft.models.feature_columns.input_layer import tensors_of
from weft.models.feature_columns.scope_state import ScopeStateManager
from weft.models.feature_columns.sequence_ids import sequence_length
from weft.models.feature_columns.transformation_cache import FeatureTransformationCache
from weft.ops.array.identity import identity
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.debugging.checks import assert_equal
from weft.ops.io.example_features import VarLenFeature
from weft.ops.sparse.tensors import sparse_tensor_to_dense
from weft.ops.variables.variable_scope import variable_scope


class _SequenceNumericFields(NamedTuple):
    key: str
    shape: tuple[int, ...]
    default_value: float
    dtype: DType
    normalizer_fn: Callable[[SparseTensor], SparseTensor] | None


class SequenceNumericColumn(SequenceDenseColumn, _SequenceNumericFields):
    """Numbers in order; see `sequence_numeric_column`."""

    @property
    def name(self) -> str:
        """The feature's name."""
        return self.key

    @property
    def parse_example_spec(self) -> ParseSpec:
        """A feature of any length."""
        return {self.key: VarLenFeature(self.dtype)}

    @property
    def parents(self) -> list[FeatureColumn | str]:
        """The feature."""
        return [self.key]

    @property
    def variable_shape(self) -> TensorShape:
        """The shape of one step's numbers."""
        return TensorShape(self.shape)

    def transform_feature(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> SparseTensor:
        """The numbers, normalized."""
        numbers = sparse(transformation_cache.get(self.key, state_manager))
        return numbers if self.normalizer_fn is None else normalized(numbers, self.normalizer_fn, self.key)

    def get_sequence_dense_tensor(
        self, transformation_cache: TransformedFeatures, state_manager: StateManager
    ) -> TensorSequenceLengthPair:
        """The numbers by step, padded with the default value, and the sequences' lengths."""
        numbers = sparse(transformation_cache.get(self, state_manager))
        padded = sparse_tensor_to_dense(numbers, default_value=self.default_value)
        steps = reshape(padded, concat([shape(padded)[:1], [-1], list(self.shape)], 0))
        # A matrix has the numbers of all steps in a row, one after the other.
        per_step = element_count(self.variable_shape) if numbers.shape.ndims == 2 else 1
        return TensorSequenceLengthPair(steps, sequence_length(numbers, per_step))


def sequence_numeric_column(
    key: str,
    shape: int | Iterable[int] = (1,),
    default_value: float = 0.0,
    dtype: DType = dtypes.float32,
    normalizer_fn: Callable[[SparseTensor], SparseTensor] | None = None,
) -> SequenceNumericColumn:
    """A column of sequences of numbers, out of a sparse feature.

    Args:
        key: the feature's name.
        shape: the shape of one step's numbers.
        default_value: the number that sequences are padded with.
        dtype: the type as which the feature is parsed.
        normalizer_fn: a function of the batch's SparseTensor, applied before anything else.

    Raises:
        TypeError: an argument is of another type. ValueError: the shape or the type does not do.
    """
    dims = checked_shape(shape, key)
    check_number(dtype, key)
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")
    return SequenceNumericColumn(key, dims, default_value, dtype, normalizer_fn)


def sequence_input_layer(
    features: FeatureMap,
    feature_columns: object,
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
) -> tuple[Tensor, Tensor]:
    """The sequences of all columns, in order of their names, side by side.

    Args:
        features: sparse tensors by feature name.
        feature_columns: columns of sequences: numbers, or ids as indicators or embeddings.
        weight_collections: collections to add variables to, besides those of global and of model variables.
        trainable: whether the columns' variables are trained.

    Returns:
        The sequences, `[batch, time, width]` float32, and their lengths, `[batch]` int64. A step fails where the columns'
        sequences are of different lengths.

    Raises:
        ValueError: a column is none of sequences, two have one name, or a feature is missing.
    """
    columns = sequence_columns(feature_columns)
    state = ScopeStateManager(weight_collections, trainable)
    with variable_scope(None, default_name="sequence_input_layer", values=tensors_of(features)):
        cache = FeatureTransformationCache(features)
        outputs: list[Tensor] = []
        lengths: list[Tensor] = []
        for column in columns:
            with variable_scope(None, default_name=column.scope_name):
                steps, length = column.get_sequence_dense_tensor(cache, state)
                sizes = shape(steps)
                outputs.append(reshape(steps, [sizes[0], sizes[1], element_count(column.variable_shape)]))
                lengths.append(length)
        check_batch_sizes(outputs, columns)
        check_batch_sizes(lengths, columns)
        common = common_length(lengths)
        return concat(outputs, -1), common


def sequence_columns(feature_columns: object) -> list[SequenceDenseColumn]:
    """The columns in order of their names; ValueError for one that is none of sequences."""
    columns: list[SequenceDenseColumn] = []
    for column in column_list(feature_columns):
        if not gives_sequence(column):
            raise ValueError(
                "All feature_columns must be of type _SequenceDenseColumn. You can wrap a sequence_categorical_column with an "
                f"embedding_column or indicator_column. Given (type {type(column)}): {column}"
            )
        columns.append(column)
    return columns


def common_length(lengths: Sequence[Tensor]) -> Tensor:
    """The lengths that all columns agree on."""
    with get_default_graph().name_scope("assert_all_equal"):
        if len(lengths) == 1:
            return lengths[0]
        with get_default_graph().control_dependencies([assert_equal(lengths[0], each) for each in lengths[1:]]):
            return identity(lengths[0])
