"""linear_model: a weighted sum of all columns, where categorical ones count as their indicators."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import VariableLike
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.models.feature_columns.column import (
    FeatureColumn,
    FeatureMap,
    is_categorical,
    is_dense,
)
from weft.models.feature_columns.column_checks import check_batch_sizes, column_list, element_count
from weft.models.feature_columns.flat_rows import flat_rows
from weft.models.feature_columns.scope_state import ScopeStateManager
from weft.models.feature_columns.transformation_cache import FeatureTransformationCache
from weft.ops.array.shape_ops import shape
from weft.ops.math.elementwise import add_n
from weft.ops.math.products import matmul
from weft.ops.nn.bias import bias_add
from weft.ops.nn.embedding import safe_embedding_lookup_sparse
from weft.ops.sparse.layout import sparse_reshape
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.matrix_initializers import zeros_initializer
from weft.ops.variables.partitioned_variable import PartitionedVariable
from weft.ops.variables.variable_scope import variable_scope


def linear_model(
    features: FeatureMap,
    feature_columns: object,
    units: int = 1,
    sparse_combiner: str = "sum",
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
    cols_to_vars: dict[FeatureColumn | str, list[VariableLike]] | None = None,
) -> Tensor:
    """The weighted sum of all columns and a bias, `[batch, units]` float32. Weights and bias start at zero.

    Args:
        features: tensors or sparse tensors by feature name.
        feature_columns: dense and categorical columns.
        units: the number of sums.
        sparse_combiner: how the weights of one example's ids in a column become one: "sum", "mean" or "sqrtn".
        weight_collections: collections to add variables to, besides those of global and of model variables.
        trainable: whether the variables are trained.
        cols_to_vars: is given each column's variables, and under "bias" the bias.

    Raises:
        ValueError: a column is neither dense nor categorical, two have one name, or a feature is missing.
    """
    with variable_scope(None, "linear_model") as outer:
        model = _last_part(outer.name)
    columns = column_list(feature_columns)
    # A column's scope is made unique outside of the model's: the second model of a program has `linear_model_1/x_1`.
    scopes: dict[str, FeatureColumn] = {}
    for column in columns:
        with variable_scope(None, default_name=column.scope_name) as scope:
            scopes[_last_part(scope.name)] = column
    for column in columns:
        if not (is_dense(column) or is_categorical(column)):
            raise ValueError(f"Items of feature_columns must be either a _DenseColumn or _CategoricalColumn. Given: {column}")
    state = ScopeStateManager(weight_collections, trainable)
    graph = get_default_graph()
    with graph.name_scope(model), variable_scope(model):
        cache = FeatureTransformationCache(features)
        sums: list[Tensor] = []
        for name, column in sorted(scopes.items()):
            with variable_scope(None, default_name=name) as scope:
                sums.append(_weighted(column, cache, state, units, sparse_combiner, trainable))
            if cols_to_vars is not None:
                cols_to_vars[column] = graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope.name)
        check_batch_sizes(sums, [column for _, column in sorted(scopes.items())])
        total = add_n(sums, name="weighted_sum_no_bias")
        bias = _zeros("bias_weights", (units,), state, trainable)
        if cols_to_vars is not None:
            cols_to_vars["bias"] = list(bias) if isinstance(bias, PartitionedVariable) else [bias]
        return bias_add(total, bias, name="weighted_sum")


def _last_part(name: str) -> str:
    return name.rpartition("/")[2]


def _zeros(name: str, dims: tuple[int, ...], state: ScopeStateManager, trainable: bool) -> VariableLike:
    return get_variable(
        name, dims, initializer=zeros_initializer(), trainable=trainable, collections=state.collections, use_resource=True
    )


def _weighted(
    column: FeatureColumn,
    cache: FeatureTransformationCache,
    state: ScopeStateManager,
    units: int,
    combiner: str,
    trainable: bool,
) -> Tensor:
    """The column's part of the sum, `[batch, units]`."""
    if is_categorical(column):
        weights = _zeros("weights", (column.num_buckets, units), state, trainable)
        ids, per_id = column.get_sparse_tensors(cache, state)
        batch = ids.shape.as_list()[0] if ids.shape.ndims else None
        ids = sparse_reshape(ids, [shape(ids)[0], -1])
        if per_id is not None:
            per_id = sparse_reshape(per_id, [shape(per_id)[0], -1])
        total = safe_embedding_lookup_sparse(weights, ids, per_id, combiner=combiner, name="weighted_sum")
        total.set_shape([batch, units])
        return total
    assert is_dense(column)
    width = element_count(column.variable_shape)
    weights = _zeros("weights", (width, units), state, trainable)
    tensor = column.get_dense_tensor(cache, state)
    return matmul(flat_rows(tensor, column), weights, name="weighted_sum")
