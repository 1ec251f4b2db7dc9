"""input_layer: the dense columns of a model side by side, as the tensor that its first layer takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weft.framework.building.aliases import VariableLike
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.models.feature_columns.column import DenseColumn, FeatureColumn, FeatureMap
from weft.models.feature_columns.column_checks import check_batch_sizes, dense_columns
from weft.models.feature_columns.embedding import SharedEmbeddingColumn
from weft.models.feature_columns.flat_rows import flat_rows
from weft.models.feature_columns.scope_state import EarlyStateManager, ScopeStateManager
from weft.models.feature_columns.transformation_cache import FeatureTransformationCache
from weft.ops.array.joining import concat
from weft.ops.variables.scopes import ScopeLike, get_variable_scope
from weft.ops.variables.template import make_template
from weft.ops.variables.variable_scope import variable_scope


def input_layer(
    features: FeatureMap,
    feature_columns: object,
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
    cols_to_vars: dict[FeatureColumn, list[VariableLike]] | None = None,
    cols_to_output_tensors: dict[FeatureColumn, Tensor] | None = None,
) -> Tensor:
    """The tensors of all columns, in order of their names, as one `[batch, width]` float32.

    Args:
        features: tensors or sparse tensors by feature name.
        feature_columns: dense columns.
        weight_collections: collections to add variables to, besides those of global and of model variables.
        trainable: whether the columns' variables are trained.
        cols_to_vars: is given each column's variables.
        cols_to_output_tensors: is given each column's part of the result, `[batch, its width]`.

    Raises:
        ValueError: a column is not dense, two have one name, or a feature is missing.
    """
    columns = dense_columns(feature_columns, "_DenseColumn")
    with variable_scope(None, default_name="input_layer", values=tensors_of(features)):
        return _joined(
            features, columns, ScopeStateManager(weight_collections, trainable), cols_to_vars, cols_to_output_tensors
        )


def scoped_input_layer(
    features: FeatureMap,
    feature_columns: object,
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
    cols_to_vars: dict[FeatureColumn, list[VariableLike]] | None = None,
    scope: ScopeLike = None,
) -> Tensor:
    """`input_layer` in a variable scope that the caller names."""
    columns = dense_columns(feature_columns, "_DenseColumn")
    with variable_scope(scope, default_name="input_layer", values=tensors_of(features)):
        return _joined(features, columns, ScopeStateManager(weight_collections, trainable), cols_to_vars, None)


def network_input_layer(features: FeatureMap, feature_columns: object) -> Tensor:
    """The tensors of all columns as TensorFlow's canned networks make them: the variables come first.

    Where columns share an embedding each makes its own when it computes, as in `input_layer`.
    """
    columns = dense_columns(feature_columns, "_DenseColumn")
    if any(isinstance(column, SharedEmbeddingColumn) for column in columns):
        return input_layer(features, feature_columns)
    with variable_scope(None, default_name="input_layer", values=tensors_of(features)):
        return _joined(features, columns, EarlyStateManager(columns), None, None)


def tensors_of(features: FeatureMap) -> list[Tensor]:
    """The tensors among features, which tell the graph; TypeError for features that are not by name."""
    if not isinstance(features, Mapping):
        raise TypeError(f"features must be a dict of tensors by the columns' keys, such as {{'x': tensor}}, not {features!r}.")
    return [each for each in features.values() if isinstance(each, Tensor)]


def _joined(
    features: FeatureMap,
    columns: Sequence[DenseColumn],
    state: ScopeStateManager,
    cols_to_vars: dict[FeatureColumn, list[VariableLike]] | None,
    cols_to_output_tensors: dict[FeatureColumn, Tensor] | None,
) -> Tensor:
    cache = FeatureTransformationCache(features)
    outputs: list[Tensor] = []
    for column in columns:
        with state.entered(column):
            tensor = column.get_dense_tensor(cache, state)
            outputs.append(flat_rows(tensor, column))
            if cols_to_vars is not None:
                graph = get_default_graph()
                cols_to_vars[column] = graph.get_collection(GraphKeys.GLOBAL_VARIABLES, get_variable_scope().name)
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = outputs[-1]
    check_batch_sizes(outputs, columns)
    return concat(outputs, 1)


class InputLayer:
    """`input_layer` as an object: each call uses the variables of the first.

    Args:
        feature_columns, weight_collections, trainable: as in `input_layer`.
        cols_to_vars: is not used.
        name: the variable scope.
        create_scope_now: whether the scope is chosen now, or at the first call.
    """

    def __init__(
        self,
        feature_columns: object,
        weight_collections: Sequence[str] | None = None,
        trainable: bool = True,
        cols_to_vars: dict[FeatureColumn, list[VariableLike]] | None = None,
        name: str = "feature_column_input_layer",
        create_scope_now: bool = True,
    ) -> None:
        columns = dense_columns(feature_columns, "_DenseColumn")

        def build(features: FeatureMap) -> Tensor:
            return _joined(features, columns, ScopeStateManager(weight_collections, trainable), None, None)

        self.name = name
        self._template = make_template(name, build, create_scope_now_=create_scope_now)

    def __call__(self, features: FeatureMap) -> Tensor:
        """The tensors of all columns, `[batch, width]` float32."""
        joined: Tensor = self._template(features)
        return joined

    @property
    def variables(self) -> list[VariableLike]:
        """All variables."""
        return list(self._template.variables)

    weights = variables

    @property
    def trainable_variables(self) -> list[VariableLike]:
        """The variables that are trained."""
        return list(self._template.trainable_variables)

    trainable_weights = trainable_variables

    @property
    def non_trainable_variables(self) -> list[VariableLike]:
        """The variables that are not trained."""
        return list(self._template.non_trainable_variables)

    non_trainable_weights = non_trainable_variables
