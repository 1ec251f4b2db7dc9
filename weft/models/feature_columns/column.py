"""FeatureColumn and its kinds: what input layers and linear models ask of a column.

A column is a named tuple, so that equal columns are one key of a dict, and makes no node before a layer asks it to. Every call
takes the cache of this model's transformed features and the state manager that makes or finds the column's variables.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol, TypeAlias

from weft.framework.building.aliases import DTypeLike, Initializer, VariableLike
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.io.example_features import FixedLenFeature, VarLenFeature

FeatureTensor: TypeAlias = "Tensor | SparseTensor | tuple[Tensor | SparseTensor, Tensor | SparseTensor]"
"""A feature, raw or transformed; a pair of ids and their weights where a column makes one."""

ParseSpec: TypeAlias = "dict[str, FixedLenFeature | VarLenFeature]"


class IdWeightPair(NamedTuple):
    """The ids of a categorical column, `[batch, ...]` int64, and their weights of the same shape, None for ones."""

    id_tensor: SparseTensor
    weight_tensor: SparseTensor | None


class TensorSequenceLengthPair(NamedTuple):
    """A dense sequence, `[batch, time, ...]`, and how many of its steps each example has, `[batch]` int64."""

    dense_tensor: Tensor
    sequence_length: Tensor


class StateManager(Protocol):
    """Makes and finds what columns keep: variables, and tables of vocabularies."""

    def create_variable(
        self, feature_column: FeatureColumn, name: str, shape: tuple[int, ...], dtype: DTypeLike | None = None,
        trainable: bool = True, use_resource: bool = True, initializer: Initializer | None = None,
    ) -> VariableLike:  # fmt: skip
        """Make a variable of a column."""
        ...

    def get_variable(self, feature_column: FeatureColumn, name: str) -> VariableLike:
        """The variable of a column by its name there."""
        ...

    def add_resource(self, feature_column: FeatureColumn, name: str, resource: object) -> None:
        """Keep a table of a column."""
        ...


class TransformedFeatures(Protocol):
    """Features by key, and what columns have made of them."""

    def get(self, key: str | FeatureColumn, state_manager: StateManager) -> FeatureTensor:
        """A raw feature by its name, or a column's transformed one."""
        ...


class FeatureColumn(ABC):
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

    def create_state(self, state_manager: StateManager) -> None:  # noqa: B027 - most columns have none
        """Make the column's variables, if it has any."""

    # Columns sort by what they print, for programs that sort lists of them.
    def __lt__(self, other: object) -> bool:
        return str(self) < str(other)

    def __gt__(self, other: object) -> bool:
        return str(self) > str(other)

    # The names by which programs written for TensorFlow 1 read a column.
    @property
    def _parse_example_spec(self) -> ParseSpec:
        return self.parse_example_spec


# Columns are named tuples: a list of different ones is a list of tuples to a type checker that looks for what they share.
FeatureColumns: TypeAlias = Iterable[FeatureColumn | tuple[object, ...]]


class DenseColumn(FeatureColumn):
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


class CategoricalColumn(FeatureColumn):
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


class SequenceDenseColumn(FeatureColumn):
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
    if isinstance(column, FeatureColumn):
        remedy = f"tf.feature_column.bucketized_column({column.name}, [...]) makes one of numbers"
    raise ValueError(f"{what} takes a categorical column, which has ids, got {column!r}: {remedy}")
