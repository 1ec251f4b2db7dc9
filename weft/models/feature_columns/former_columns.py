"""Columns by the methods that TensorFlow 1 first asked them: programs write columns of their own by these.

Each kind answers both ways. A column of a program has the methods with an underscore, and layers ask it by those without; a
column of weft's is the other way round. `inputs`, which the former take, are features by `get(key)`, of one argument.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.models.feature_columns import contracts
from weft.models.feature_columns.contracts import FeatureTensor, ParseSpec, StatefulColumn, StateManager, TransformedFeatures
from weft.models.feature_columns.scope_state import ScopeStateManager


class Inputs(Protocol):
    """Features by key, each transformed once."""

    def get(self, key: str | StatefulColumn) -> FeatureTensor:
        """A raw feature by its name, or a column's transformed one."""
        ...


class ManagedFeatures(ABC):
    """Features whose `get` takes the keeper of columns' variables as well."""

    @abstractmethod
    def get(self, key: str | StatefulColumn, state_manager: StateManager) -> FeatureTensor:
        """A raw feature by its name, or a column's transformed one."""


class BoundFeatures(ManagedFeatures):
    """Features with the keeper of their columns' variables.

    Args:
        features: the features.
        state_manager: the keeper, for a call that names no other.
    """

    def __init__(self, features: TransformedFeatures, state_manager: StateManager) -> None:
        self._managed, self._state_manager = features, state_manager

    def get(self, key: str | StatefulColumn, state_manager: StateManager | None = None) -> FeatureTensor:
        """The raw feature of a name, or the transformed one of a column."""
        return self._managed.get(key, self._state_manager if state_manager is None else state_manager)


class _OfInputs:
    """A program's own features, or a dict of them, for columns that name the keeper of their variables."""

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs

    def get(self, key: str | StatefulColumn, state_manager: StateManager) -> FeatureTensor:
        """What the program has for the key."""
        return self._inputs.get(key)


def managed(inputs: Inputs | ManagedFeatures) -> TransformedFeatures:
    """The inputs of a former method for a present one."""
    return inputs if isinstance(inputs, ManagedFeatures) else _OfInputs(inputs)


def keeper(weight_collections: Sequence[str] | None = None, trainable: bool | None = None) -> ScopeStateManager:
    """What keeps the variables of a column that a former method asks: it makes them in the open variable scope.

    Args:
        weight_collections: the collections of the variables, besides that of global ones.
        trainable: whether they are trained; yes when None.
    """
    return ScopeStateManager(weight_collections, trainable is None or trainable, of_model=False)


class FormerFeatureColumn(ABC):
    """A feature, and what becomes of it before the model."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The column's name, which scopes and orders of columns come from."""

    @property
    @abstractmethod
    def _parse_example_spec(self) -> ParseSpec: ...

    @abstractmethod
    def _transform_feature(self, inputs: Inputs) -> FeatureTensor: ...

    @property
    def _var_scope_name(self) -> str:
        return self.name

    @property
    def scope_name(self) -> str:
        """The variable scope of what the column makes."""
        return self._var_scope_name

    @property
    def parse_example_spec(self) -> ParseSpec:
        """What `tf.parse_example` must look for, by feature name."""
        return self._parse_example_spec

    def transform_feature(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> FeatureTensor:
        """What the column makes of its raw features."""
        return self._transform_feature(BoundFeatures(transformation_cache, state_manager))

    def create_state(self, state_manager: StateManager) -> None:  # noqa: B027 - most columns have none
        """Do nothing: such a column makes its variables where it is asked for a tensor."""

    def __lt__(self, other: object) -> bool:
        # Columns sort by what they print, for programs that sort lists of them.
        return str(self) < str(other)

    def __gt__(self, other: object) -> bool:
        return str(self) > str(other)


class FormerDenseColumn(FormerFeatureColumn):
    """A column that gives a dense tensor, `[batch, ...]`."""

    @property
    @abstractmethod
    def _variable_shape(self) -> TensorShape: ...

    @abstractmethod
    def _get_dense_tensor(
        self, inputs: Inputs, weight_collections: Sequence[str] | None = None, trainable: bool | None = None
    ) -> Tensor: ...

    @property
    def variable_shape(self) -> TensorShape:
        """The shape of one example's part of the tensor."""
        return TensorShape(self._variable_shape)

    def get_dense_tensor(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> Tensor:
        """The tensor, `[batch] + variable_shape`."""
        return self._get_dense_tensor(BoundFeatures(transformation_cache, state_manager), *_options(state_manager))


class FormerCategoricalColumn(FormerFeatureColumn):
    """A column that gives ids, any number of them for each example."""

    IdWeightPair = contracts.IdWeightPair

    @property
    @abstractmethod
    def _num_buckets(self) -> int: ...

    @abstractmethod
    def _get_sparse_tensors(
        self, inputs: Inputs, weight_collections: Sequence[str] | None = None, trainable: bool | None = None
    ) -> contracts.IdWeightPair: ...

    @property
    def num_buckets(self) -> int:
        """How many ids there are."""
        return self._num_buckets

    def get_sparse_tensors(
        self, transformation_cache: TransformedFeatures, state_manager: StateManager
    ) -> contracts.IdWeightPair:
        """The ids, and their weights if they have some."""
        inputs = BoundFeatures(transformation_cache, state_manager)
        return contracts.IdWeightPair(*self._get_sparse_tensors(inputs, *_options(state_manager)))


class FormerSequenceDenseColumn(FormerFeatureColumn):
    """A column that gives a dense sequence for each example."""

    TensorSequenceLengthPair = contracts.TensorSequenceLengthPair

    @abstractmethod
    def _get_sequence_dense_tensor(
        self, inputs: Inputs, weight_collections: Sequence[str] | None = None, trainable: bool | None = None
    ) -> contracts.TensorSequenceLengthPair: ...

    def get_sequence_dense_tensor(
        self, transformation_cache: TransformedFeatures, state_manager: StateManager
    ) -> contracts.TensorSequenceLengthPair:
        """The sequences, padded to the longest, and their lengths."""
        inputs = BoundFeatures(transformation_cache, state_manager)
        return contracts.TensorSequenceLengthPair(*self._get_sequence_dense_tensor(inputs, *_options(state_manager)))


def _options(state_manager: StateManager) -> tuple[Sequence[str] | None, bool | None]:
    """The collections, and whether to train, that a layer says of variables, for a column that makes its own."""
    if not isinstance(state_manager, ScopeStateManager):
        return None, None
    return state_manager.collections, state_manager.trainable
