"""FeatureColumn and its kinds: what input layers and linear models ask of a column.

A column is a named tuple, so that equal columns are one key of a dict, and makes no node before a layer asks it to. Every call
takes the cache of this model's transformed features and the state manager that makes or finds the column's variables.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias, TypeGuard

from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.models.feature_columns.contracts import (
    FeatureTensor,
    IdWeightPair,
    ParseSpec,
    StateManager,
    TensorSequenceLengthPair,
    TransformedFeatures,
)
from weft.models.feature_columns.former_columns import (
    FormerCategoricalColumn,
    FormerDenseColumn,
    FormerFeatureColumn,
    FormerSequenceDenseColumn,
    Inputs,
    keeper,
    managed,
)


class FeatureColumn(FormerFeatureColumn):
    """A feature, and what becomes of it before the model."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The column's name, which scopes and orders of columns come from."""

    @property
    @abstractmethod
    def parse_example_spec(self) -> ParseSpec:
        """What `tf.parse_example` must look for, by feature name."""

    @property
    @abstractmethod
    def parents(self) -> list[FeatureColumn | str]:
        """The columns and feature names that this one is made of."""

    @property
    def scope_name(self) -> str:
        """The variable scope of what the column makes."""
        return self.name

    @abstractmethod
    def transform_feature(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> FeatureTensor:
        """What the column makes of its raw features; call the cache's `get`, which asks once."""

    def create_state(self, state_manager: StateManager) -> None:
        """Make the column's variables, if it has any."""

    # The names by which programs written for TensorFlow 1 read and ask a column.
    @property
    def _parse_example_spec(self) -> ParseSpec:
        return self.parse_example_spec

    @property
    def _var_scope_name(self) -> str:
        return self.scope_name

    @property
    def _is_v2_column(self) -> bool:
        return all(isinstance(each, str) or getattr(each, "_is_v2_column", False) for each in self.parents)

    def _transform_feature(self, inputs: Inputs) -> FeatureTensor:
        return self.transform_feature(managed(inputs), keeper())


# Columns are named tuples: a list of different ones is a list of tuples to a type checker that looks for what they share.
FeatureColumns: TypeAlias = Iterable[FormerFeatureColumn | tuple[object, ...]]


class DenseColumn(FeatureColumn, FormerDenseColumn):
    """A column that gives a dense tensor, `[batch, ...]`."""

    @property
    @abstractmethod
    def variable_shape(self) -> TensorShape:
        """The shape of one example's part of the tensor."""

    @property
    def _variable_shape(self) -> TensorShape:
        return self.variable_shape

    @abstractmethod
    def get_dense_tensor(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> Tensor:
        """The tensor, `[batch] + variable_shape` float32."""

    def _get_dense_tensor(
        self, inputs: Inputs, weight_collections: Sequence[str] | None = None, trainable: bool | None = None
    ) -> Tensor:
        return self.get_dense_tensor(managed(inputs), keeper(weight_collections, trainable))


class CategoricalColumn(FeatureColumn, FormerCategoricalColumn):
    """A column that gives ids, any number of them for each example."""

    @property
    @abstractmethod
    def num_buckets(self) -> int:
        """How many ids there are."""

    @property
    def _num_buckets(self) -> int:
        return self.num_buckets

    @abstractmethod
    def get_sparse_tensors(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> IdWeightPair:
        """The ids, and their weights if they have some."""

    def _get_sparse_tensors(
        self, inputs: Inputs, weight_collections: Sequence[str] | None = None, trainable: bool | None = None
    ) -> IdWeightPair:
        return self.get_sparse_tensors(managed(inputs), keeper(weight_collections, trainable))


class SequenceDenseColumn(FeatureColumn, FormerSequenceDenseColumn):
    """A column that gives a dense sequence for each example."""

    @property
    @abstractmethod
    def variable_shape(self) -> TensorShape:
        """The shape of one step's part of the tensor."""

    @abstractmethod
    def get_sequence_dense_tensor(
        self, transformation_cache: TransformedFeatures, state_manager: StateManager
    ) -> TensorSequenceLengthPair:
        """The sequences, padded to the longest, and their lengths."""

    def _get_sequence_dense_tensor(
        self, inputs: Inputs, weight_collections: Sequence[str] | None = None, trainable: bool | None = None
    ) -> TensorSequenceLengthPair:
        return self.get_sequence_dense_tensor(managed(inputs), keeper(weight_collections, trainable))


def is_column(given: object) -> TypeGuard[FeatureColumn]:
    """Whether this is a column: of weft's, or of a program's own by the methods of either kind."""
    return isinstance(given, FormerFeatureColumn)


def is_dense(given: object) -> TypeGuard[DenseColumn]:
    """Whether this is a column that gives a dense tensor."""
    return isinstance(given, FormerDenseColumn)


def is_categorical(given: object) -> TypeGuard[CategoricalColumn]:
    """Whether this is a column that gives ids."""
    return isinstance(given, FormerCategoricalColumn)


def gives_sequence(given: object) -> TypeGuard[SequenceDenseColumn]:
    """Whether this is a column that gives a dense sequence for each example."""
    return isinstance(given, FormerSequenceDenseColumn)


FeatureMap: TypeAlias = Mapping[str, object]
"""What programs pass as features: by name, what `convert_to_tensor` or a SparseTensor can be."""


def dense(feature: FeatureTensor) -> Tensor:
    """The feature that its column has made dense."""
    assert isinstance(feature, Tensor)
    return feature


def sparse(feature: FeatureTensor) -> SparseTensor:
    """The feature that its column has made sparse."""
    assert isinstance(feature, SparseTensor)
    return feature


def check_categorical(what: str, column: object) -> None:
    """Raise ValueError for a column whose ids a function wants, and that has none."""
    if hasattr(column, "num_buckets") or hasattr(column, "_num_buckets"):
        return
    remedy = "tf.feature_column.categorical_column_with_identity and its like make one of a feature's name"
    if is_column(column):
        remedy = f"tf.feature_column.bucketized_column({column.name}, [...]) makes one of numbers"
    raise ValueError(f"{what} takes a categorical column, which has ids, got {column!r}: {remedy}")
