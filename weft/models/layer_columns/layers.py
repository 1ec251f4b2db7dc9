"""The layers that read contrib.layers' columns: side by side for a network, and summed up by weight for a linear model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from weft.framework.building.aliases import Initializer, TensorLike, VariableLike
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.feature_columns.column import FeatureColumn, FeatureMap, dense, is_dense
from weft.models.feature_columns.column_checks import element_count
from weft.models.feature_columns.contracts import FeatureTensor, ParseSpec
from weft.models.feature_columns.input_layer import tensors_of
from weft.models.feature_columns.scope_state import ScopeStateManager
from weft.models.feature_columns.transformation_cache import FeatureTransformationCache
from weft.models.layer_columns.column import LayerColumn, Lookup
from weft.models.layer_columns.real_valued import RealValuedColumn, real_valued_column
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.io.checkpoint_initializer import init_from_checkpoint
from weft.ops.io.parse_example import parse_example
from weft.ops.math.elementwise import add_n
from weft.ops.math.products import matmul
from weft.ops.nn.bias import bias_add
from weft.ops.nn.embedding import safe_embedding_lookup_sparse
from weft.ops.sparse.joining import sparse_concat
from weft.ops.variables.matrix_initializers import zeros_initializer
from weft.ops.variables.model_variables import model_variable
from weft.ops.variables.partitioned_variable import PartitionedVariable
from weft.ops.variables.scopes import ScopeLike
from weft.ops.variables.variable_scope import variable_scope


def check_feature_columns(feature_columns: Iterable[LayerColumn]) -> None:
    """Refuse two columns that are the same but for a function, and columns in a dict.

    Args:
        feature_columns: the columns, in any other iterable.

    Raises:
        TypeError: a column is not one of contrib.layers.
        ValueError: there are two such columns, or a dict.
    """
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict. Its columns are list(columns.values()).")
    seen: set[str] = set()
    for column in feature_columns:
        if not isinstance(column, LayerColumn):
            raise TypeError(
                f"feature_columns are columns of tf.contrib.layers; {column} is one of tf.feature_column, or none at all. "
                "tf.feature_column.input_layer and tf.feature_column.linear_model read those."
            )
        if column.key in seen:
            raise ValueError(
                f"Duplicate feature column key found for column: {column.name}. This usually means that the column is almost "
                "identical to another column, and one must be discarded."
            )
        seen.add(column.key)


def _in_order(feature_columns: Iterable[LayerColumn]) -> list[LayerColumn]:
    columns = feature_columns if isinstance(feature_columns, dict) else list(feature_columns)
    check_feature_columns(columns)
    return sorted(columns, key=lambda column: column.key)


def input_from_feature_columns(
    columns_to_tensors: FeatureMap,
    feature_columns: Iterable[LayerColumn],
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
    scope: ScopeLike = None,
    cols_to_outs: dict[FeatureColumn, Tensor] | None = None,
) -> Tensor:
    """The tensors of all columns, in order of their keys, as one `[batch, width]` float32.

    Args:
        columns_to_tensors: tensors or sparse tensors by feature name.
        feature_columns: dense columns.
        weight_collections: collections to add variables to, besides those of global and of model variables.
        trainable: whether the columns' variables are trained.
        scope: the variable scope.
        cols_to_outs: is given each column's part of the result.

    Raises:
        ValueError: a column is not dense, or two are the same.
    """
    columns = _in_order(feature_columns)
    if cols_to_outs is not None and not isinstance(cols_to_outs, dict):
        raise ValueError("cols_to_outs must be a dict unless None")
    state = ScopeStateManager(weight_collections, trainable)
    with variable_scope(scope, default_name="input_from_feature_columns", values=tensors_of(columns_to_tensors)):
        cache = FeatureTransformationCache(columns_to_tensors)
        outputs: list[Tensor] = []
        for column in columns:
            with variable_scope(None, default_name=column.name):
                outputs.append(_dense(column, cache, state))
                if cols_to_outs is not None:
                    cols_to_outs[column] = outputs[-1]
        return concat(outputs, 1)


def _dense(column: LayerColumn, cache: FeatureTransformationCache, state: ScopeStateManager) -> Tensor:
    if not is_dense(column):
        raise ValueError(
            f"Error creating input layer for column: {column.name}.\n{type(column).__name__.lstrip('_')} is not supported in "
            f"DNN. Please use embedding_column or one_hot_column. column: {column}"
        )
    tensor = column.get_dense_tensor(cache, state)
    dims = tensor.dims
    if dims is not None and len(dims) == 2:
        return tensor
    return reshape(tensor, [shape(tensor)[0], element_count(column.variable_shape)])


def weighted_sum_from_feature_columns(
    columns_to_tensors: FeatureMap,
    feature_columns: Iterable[LayerColumn],
    num_outputs: int,
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
    scope: ScopeLike = None,
) -> tuple[Tensor, dict[LayerColumn, list[VariableLike]], VariableLike]:
    """The weighted sums of all columns and a bias.

    Args:
        columns_to_tensors: tensors or sparse tensors by feature name.
        feature_columns: columns of numbers and of ids.
        num_outputs: the number of sums.
        weight_collections: collections to add variables to, besides those of global and of model variables.
        trainable: whether the variables are trained.
        scope: the variable scope.

    Returns:
        The sums, `[batch, num_outputs]` float32; each column's variables; the bias. All variables start at zero.

    Raises:
        ValueError: two columns are the same, or one has no place in a linear model.
    """
    columns = _in_order(feature_columns)
    state = ScopeStateManager(weight_collections, trainable)
    sums: list[Tensor] = []
    variables: dict[LayerColumn, list[VariableLike]] = {}
    with variable_scope(scope, default_name="weighted_sum_from_feature_columns", values=tensors_of(columns_to_tensors)):
        cache = FeatureTransformationCache(columns_to_tensors)
        for column in columns:
            lookup = column.wide_lookup(cache, state)
            if lookup is None:
                weights, total = _dense_sum(column, cache, state, num_outputs, trainable)
            else:
                weights, total = _sparse_sum(column.name, lookup, num_outputs, state, trainable)
            sums.append(reshape(total, (-1, num_outputs)))
            variables[column] = weights
            if column.checkpoint is not None:
                path, name = column.checkpoint
                init_from_checkpoint(path, {name: weights if len(weights) > 1 else weights[0]})
        bias = _zeros("bias_weight", [num_outputs], state, trainable)
        return bias_add(add_n(sums), bias), variables, bias


def _zeros(name: str, dims: Sequence[int], state: ScopeStateManager, trainable: bool) -> VariableLike:
    start: Initializer = zeros_initializer()
    return model_variable(
        name,
        shape=list(dims),
        dtype=dtypes.float32,
        initializer=start,
        trainable=trainable,
        collections=state.extra_collections,
    )


def _parts(variable: VariableLike) -> list[VariableLike]:
    return list(variable) if isinstance(variable, PartitionedVariable) else [variable]


def _sparse_sum(
    name: str, lookup: Lookup, outputs: int, state: ScopeStateManager, trainable: bool
) -> tuple[list[VariableLike], Tensor]:
    with variable_scope(None, default_name=name):
        weights = _parts(_zeros("weights", (lookup.size, outputs), state, trainable))
        total = safe_embedding_lookup_sparse(
            weights, lookup.ids, lookup.weights, combiner=lookup.combiner, name=f"{name}_weights"
        )
        return weights, total


def _dense_sum(
    column: LayerColumn, cache: FeatureTransformationCache, state: ScopeStateManager, outputs: int, trainable: bool
) -> tuple[list[VariableLike], Tensor]:
    if not isinstance(column, RealValuedColumn):
        raise ValueError(
            f"Error creating weighted sum for column: {column.name}.\nColumn {column} is not supported in linear models. "
            "Please use sparse_column."
        )
    tensor = dense(cache.get(column, state))
    with variable_scope(None, default_name=column.name):
        if tensor.dims is None or len(tensor.dims) != 2 or tensor.dims[1] is None:
            tensor = reshape(tensor, [shape(tensor)[0], column.dimension])
        weights = _zeros("weight", (column.dimension, outputs), state, trainable)
        return [weights], matmul(tensor, weights, name="matmul")


def joint_weighted_sum_from_feature_columns(
    columns_to_tensors: FeatureMap,
    feature_columns: Iterable[LayerColumn],
    num_outputs: int,
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
    scope: ScopeLike = None,
) -> tuple[Tensor, list[VariableLike], VariableLike]:
    """The sums of weights over all columns, the weights of all of them in one variable.

    Args:
        columns_to_tensors: tensors or SparseTensors by the features' names.
        feature_columns: sparse columns, which all sum their weights.
        num_outputs: how many sums there are for an example.
        weight_collections: further collections for the variables.
        trainable: whether the variables are trained.
        scope: the variable scope, "joint_weighted_sum_from_feature_columns" when None.

    Returns:
        The sums `[batch, num_outputs]` float32 with the bias, a list of the weights, and the bias.

    Raises:
        NotImplementedError: a column is one of numbers.
        AssertionError: a column has weights or a combiner other than "sum".
    """
    columns = _in_order(feature_columns)
    state = ScopeStateManager(weight_collections, trainable)
    with variable_scope(scope, default_name="joint_weighted_sum_from_feature_columns", values=tensors_of(columns_to_tensors)):
        cache = FeatureTransformationCache(columns_to_tensors)
        ids: list[SparseTensor] = []
        size = 0
        for column in columns:
            lookup = column.wide_lookup(cache, state)
            if lookup is None:
                raise NotImplementedError(
                    "Real-valued columns are not supported. Use weighted_sum_from_feature_columns instead, or bucketize these "
                    "columns."
                )
            _check_joint(lookup)
            ids.append(lookup.ids.with_values(lookup.ids.values + size))
            size += lookup.size
        with variable_scope(None, default_name="linear_weights"):
            weights = _parts(_zeros("weights", (size, num_outputs), state, trainable))
            total = safe_embedding_lookup_sparse(weights, sparse_concat(1, ids), combiner="sum", name="_weights")
        bias = _zeros("bias_weight", [num_outputs], state, trainable)
        return bias_add(total, bias), weights, bias


def _check_joint(lookup: Lookup) -> None:
    instead = "Please use weighted_sum_from_feature_columns instead."
    if lookup.weights is not None:
        raise AssertionError(f"Joint sums for weighted sparse columns are not supported. {instead}")
    if lookup.combiner != "sum":
        raise AssertionError(f"Combiners other than sum are not supported for joint sums. {instead}")


def create_feature_spec_for_parsing(feature_columns: Iterable[LayerColumn] | dict[str, LayerColumn]) -> ParseSpec:
    """What `tf.parse_example` must look for, to feed these columns.

    Args:
        feature_columns: columns of tf.contrib.layers, in an iterable or as the values of a dict.

    Returns:
        FixedLenFeatures and VarLenFeatures by the features' names.

    Raises:
        TypeError: something is no column.
    """
    columns = feature_columns.values() if isinstance(feature_columns, dict) else feature_columns
    spec: ParseSpec = {}
    for column in columns:
        if not isinstance(column, LayerColumn):
            raise TypeError(f"feature_columns should only contain instances of _FeatureColumn. Given column is {column}")
        spec.update(column.parse_example_spec)
    return spec


def parse_feature_columns_from_examples(
    serialized: TensorLike,
    feature_columns: Iterable[LayerColumn],
    name: str | None = None,
    example_names: TensorLike | None = None,
) -> dict[object, FeatureTensor]:
    """Parse Examples: the features that the columns want by name, and what the columns make of them by column.

    Args:
        serialized: `[batch]` strings, serialized Examples.
        feature_columns: columns of tf.contrib.layers.
        name: the name of the parsing operation.
        example_names: `[batch]` strings that errors name the examples by; none when None.

    Returns:
        One dict of tensors and SparseTensors with both kinds of keys.
    """
    columns = _in_order(feature_columns)
    features = parse_example(serialized, create_feature_spec_for_parsing(columns), name=name, example_names=example_names)
    parsed: dict[object, FeatureTensor] = {}
    parsed.update(features)
    parsed.update(transform_features(features, columns))
    return parsed


def transform_features(features: FeatureMap, feature_columns: Iterable[LayerColumn]) -> dict[object, FeatureTensor]:
    """What the columns make of features, by column.

    Args:
        features: tensors or SparseTensors by the features' names; a new dict is returned.
        feature_columns: columns of tf.contrib.layers.
    """
    cache, state = FeatureTransformationCache(features), ScopeStateManager(None, True)
    return {column: cache.get(column, state) for column in _in_order(feature_columns)}


def infer_real_valued_columns(features: Tensor | dict[str, Tensor]) -> list[RealValuedColumn]:
    """A column of numbers for each tensor; one alone has the name "".

    Args:
        features: a tensor `[batch, size]` of numbers, or a dict of them by name.

    Raises:
        ValueError: a tensor is sparse, or not of numbers.
    """
    return [_inferred(name, each) for name, each in (features if isinstance(features, dict) else {"": features}).items()]


def _inferred(name: str, tensor: Tensor) -> RealValuedColumn:
    remedy = f"Please define corresponding FeatureColumn for tensor {name} {tensor}."
    if isinstance(tensor, SparseTensor):
        raise ValueError(f"SparseTensor is not supported for auto detection. {remedy}")
    if not (tensor.dtype.is_integer or tensor.dtype.is_floating):
        raise ValueError(f"Non integer or non floating types are not supported for auto detection. {remedy}")
    width = tensor.get_shape()[1:].num_elements()
    if width is None:
        raise ValueError(f"The shape of tensor {name} {tensor} is not known. {remedy}")
    return real_valued_column(name, dimension=width, dtype=tensor.dtype)
