"""What feature columns and those who ask them agree on: what a feature is, who keeps variables, and what a column gives."""

from __future__ import annotations

from typing import NamedTuple, Protocol, TypeAlias

from weft.framework.building.aliases import DTypeLike, Initializer, VariableLike
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.nodes.operation import Tensor
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


class StatefulColumn(Protocol):
    """A column, as the keeper of its variables sees it."""

    @property
    def name(self) -> str:
        """The column's name."""
        ...

    @property
    def scope_name(self) -> str:
        """The variable scope of what the column makes."""
        ...

    def create_state(self, state_manager: StateManager) -> None:
        """Make the column's variables, if it has any."""
        ...


class StateManager(Protocol):
    """Makes and finds what columns keep: variables, and tables of vocabularies."""

    def create_variable(
        self, feature_column: StatefulColumn, name: str, shape: tuple[int, ...], dtype: DTypeLike | None = None,
        trainable: bool = True, use_resource: bool = True, initializer: Initializer | None = None,
    ) -> VariableLike:  # fmt: skip
        """Make a variable of a column."""
        ...

    def get_variable(self, feature_column: StatefulColumn, name: str) -> VariableLike:
        """The variable of a column by its name there."""
        ...

    def add_resource(self, feature_column: StatefulColumn, name: str, resource: object) -> None:
        """Keep a table of a column."""
        ...


class TransformedFeatures(Protocol):
    """Features by key, and what columns have made of them."""

    def get(self, key: str | StatefulColumn, state_manager: StateManager) -> FeatureTensor:
        """A raw feature by its name, or a column's transformed one."""
        ...
