"""DenseFeatures and SequenceFeatures: feature columns as a layer of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weft.framework.building.aliases import DTypeLike, Initializer, Nest, VariableLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.models.feature_columns.column import DenseColumn, FeatureColumn, SequenceDenseColumn
from weft.models.feature_columns.column_checks import dense_columns, element_count
from weft.models.feature_columns.contracts import StatefulColumn
from weft.models.feature_columns.sequence_layer import common_length, sequence_columns
from weft.models.feature_columns.transformation_cache import FeatureTransformationCache
from weft.networks.config import Config, KerasObject, Options
from weft.networks.engine.layer import Layer
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import reshape, shape


class LayerStateManager:
    """Keeps the variables of columns as weights of a layer.

    Args:
        layer: the layer.
        trainable: whether the variables are trained, where their columns and the layer say so too.
    """

    def __init__(self, layer: KerasObject, trainable: bool = True) -> None:
        self._layer, self._trainable = layer, trainable
        self._resources: dict[tuple[StatefulColumn, str], object] = {}
        self._made: dict[tuple[StatefulColumn, str], VariableLike] = {}

    def create_variable(
        self, feature_column: StatefulColumn, name: str, shape: tuple[int, ...], dtype: DTypeLike | None = None,
        trainable: bool = True, use_resource: bool = True, initializer: Initializer | None = None,
    ) -> VariableLike:  # fmt: skip
        """Make a weight of the layer."""
        made: VariableLike = self._layer.add_weight(
            name, shape, dtype, initializer, trainable=self._layer.trainable and self._trainable and trainable,
            use_resource=use_resource,
        )  # fmt: skip
        self._made[feature_column, name] = made
        return made

    def get_variable(self, feature_column: StatefulColumn, name: str) -> VariableLike:
        """The column's variable.

        Raises:
            ValueError: the column has made none of this name.
        """
        if (feature_column, name) not in self._made:
            raise ValueError(f"Variable does not exist: {name!r} of the column {feature_column.name}.")
        return self._made[feature_column, name]

    def add_resource(self, feature_column: StatefulColumn, name: str, resource: object) -> None:
        """Keep what the column has made beside variables, such as a table."""
        self._resources[feature_column, name] = resource

    def has_resource(self, feature_column: StatefulColumn, name: str) -> bool:
        """Whether the column has made it."""
        return (feature_column, name) in self._resources

    def get_resource(self, feature_column: StatefulColumn, name: str) -> object:
        """What the column has made.

        Raises:
            ValueError: it has made nothing of this name.
        """
        if not self.has_resource(feature_column, name):
            raise ValueError(f"Resource does not exist: {name!r} of the column {feature_column.name}.")
        return self._resources[feature_column, name]


class _ColumnLayer(Layer):
    """Columns with their variables, called on features by name."""

    # Told by subclasses, which know what kind their columns are of.
    _columns: Sequence[DenseColumn] | Sequence[SequenceDenseColumn] = ()
    _state: LayerStateManager

    def build(self, input_shape: Nest) -> None:
        """Make the columns' variables."""
        for column in self._columns:
            with get_default_graph().name_scope(column.name):
                column.create_state(self._state)
        self.built = True

    def get_config(self) -> Config:
        """Refuse: columns have no config."""
        raise NotImplementedError(f"{self.name}: feature columns have no config; build the model by its program")


def _cache_of(features: Nest) -> FeatureTransformationCache:
    if not isinstance(features, Mapping):
        raise ValueError(f"We expected a dictionary here. Instead we got: {features}")
    return FeatureTransformationCache(features)


class DenseFeatures(_ColumnLayer):
    """The tensors of all columns, in order of their names, as one `[batch, width]` float32; called on features by name.

    Args:
        feature_columns: dense columns.
        trainable: whether the columns' variables are trained.
        name: the layer's name.
        kwargs: see Layer.

    Raises:
        ValueError: a column is not dense, or two have one name.
    """

    def __init__(self, feature_columns: object, trainable: bool = True, name: str | None = None, **kwargs: Options) -> None:
        super().__init__(trainable=trainable, name=name, **kwargs)
        self._columns: list[DenseColumn] = dense_columns(feature_columns)
        self._state = LayerStateManager(self)

    def call(self, features: Nest, cols_to_output_tensors: dict[FeatureColumn, Tensor] | None = None) -> Tensor:
        """The columns' tensors, side by side; ValueError unless features come by name.

        Args:
            features: tensors by name.
            cols_to_output_tensors: a dict that gets the part of each column.
        """
        cache = _cache_of(features)
        made = []
        for column in self._columns:
            with get_default_graph().name_scope(column.name):
                tensor = column.get_dense_tensor(cache, self._state)
                made.append(reshape(tensor, [shape(tensor)[0], element_count(column.variable_shape)]))
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = made[-1]
        return concat(made, 1)


class SequenceFeatures(_ColumnLayer):
    """The sequences of all columns, in order of their names, side by side; called on sparse features by name.

    A call gives the sequences, `[batch, time, width]` float32, and their lengths, `[batch]` int64; a step fails where columns
    have sequences of different lengths.

    Args:
        feature_columns: columns of sequences: numbers, or ids as indicators or embeddings.
        trainable: whether the columns' variables are trained.
        name: the layer's name.
        kwargs: see Layer.

    Raises:
        ValueError: a column is none of sequences, or two have one name.
    """

    def __init__(self, feature_columns: object, trainable: bool = True, name: str | None = None, **kwargs: Options) -> None:
        super().__init__(trainable=trainable, name=name, **kwargs)
        self._columns: list[SequenceDenseColumn] = sequence_columns(feature_columns)
        self._state = LayerStateManager(self)

    def call(self, features: Nest) -> Nest:
        """The sequences and their lengths; ValueError unless features come by name.

        Args:
            features: tensors by the names that the columns ask for.
        """
        cache = _cache_of(features)
        made, lengths = [], []
        for column in self._columns:
            with get_default_graph().name_scope(column.name):
                steps, length = column.get_sequence_dense_tensor(cache, self._state)
                sizes = shape(steps)
                made.append(reshape(steps, [sizes[0], sizes[1], element_count(column.variable_shape)]))
                lengths.append(length)
        return concat(made, -1), common_length(lengths)
