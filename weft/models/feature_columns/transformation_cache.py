"""FeatureTransformationCache: the features of one model, each transformed once, however many columns use it."""

from __future__ import annotations

from collections.abc import Mapping

from weft.framework.composites.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.models.feature_columns.column import FeatureMap, is_column
from weft.models.feature_columns.contracts import FeatureTensor, StatefulColumn, StateManager
from weft.models.feature_columns.former_columns import ManagedFeatures
from weft.ops.array.batch_gather import gather_nd
from weft.ops.array.selection import where
from weft.ops.array.shape_ops import expand_dims, rank, shape
from weft.ops.control_flow.cond import cond
from weft.ops.debugging.checks import assert_positive
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal, not_equal
from weft.ops.sparse.layout import sparse_reshape
from weft.platform.hints.spelling import did_you_mean
from weft.platform.logs import tf_logging


class FeatureTransformationCache(ManagedFeatures):
    """Raw features by name, and transformed ones by column.

    Args:
        features: tensors or sparse tensors by feature name; those of rank 1 are seen as `[batch, 1]`.
    """

    def __init__(self, features: FeatureMap) -> None:
        self._features: Mapping[str, object] = dict(features)
        self._transformed: dict[object, FeatureTensor] = {}

    def get(self, key: str | StatefulColumn, state_manager: StateManager) -> FeatureTensor:
        """The raw feature of a name, or the transformed one of a column, which is asked the first time.

        Raises:
            ValueError: there is no feature of this name, it has rank 0, or the column makes nothing of it.
            TypeError: the key is neither a name nor a column.
        """
        known = self._transformed.get(key)
        if known is not None:
            return known
        found: FeatureTensor
        if isinstance(key, str) and key in self._features:
            found = _at_least_matrix(key, self._features[key])
        elif isinstance(key, str):
            names = sorted(each for each in self._features if isinstance(each, str))
            raise ValueError(f"Feature {key} is not in features dictionary. It has {names}.{did_you_mean(key, names)}")
        elif not is_column(key):
            raise TypeError(f'"key" must be either a "str" or "FeatureColumn". Provided: {key}')
        else:
            tf_logging.debug("Transforming feature_column %s.", key)
            found = key.transform_feature(self, state_manager)
            if found is None:
                raise ValueError(f"Column {key.name} is not supported.")
        self._transformed[key] = found
        return found


def _at_least_matrix(key: object, raw: object) -> Tensor | SparseTensor:
    feature = convert_to_tensor_or_sparse_tensor(raw)
    known = feature.get_shape().ndims
    if known == 0:
        raise ValueError(
            f"Feature (key: {key}) cannot have rank 0. Given: {feature}. Features are batches, [batch_size, ...]: does the "
            "dataset of the input_fn lack its .batch(batch_size)?"
        )
    if known is not None:
        return feature if known != 1 else _as_column(feature)
    message = f"Feature (key: {key}) cannot have rank 0. Given: {feature}"
    with get_default_graph().control_dependencies([assert_positive(rank(feature), message=message)]):
        chosen: Tensor | SparseTensor = cond(equal(1, rank(feature)), lambda: _as_column(feature), lambda: feature)
        return chosen


def _as_column(feature: Tensor | SparseTensor) -> Tensor | SparseTensor:
    if isinstance(feature, SparseTensor):
        return sparse_reshape(feature, [shape(feature)[0], 1])
    return expand_dims(feature, -1)


def to_sparse(feature: FeatureTensor, ignored: str | float | None = None) -> SparseTensor:
    """The feature as a SparseTensor without the elements that stand for a missing one.

    Args:
        feature: dense or sparse; a sparse one comes back as it is.
        ignored: the value of elements to leave out; "" for strings, -1 for integers and zero for floats when None.
    """
    tensor = convert_to_tensor_or_sparse_tensor(feature)
    if isinstance(tensor, SparseTensor):
        return tensor
    with get_default_graph().name_scope("to_sparse_input"):
        missing = cast(_missing(tensor.dtype.base_dtype) if ignored is None else ignored, tensor.dtype, name="ignore_value")
        indices = where(not_equal(tensor, missing), name="indices")
        values = gather_nd(tensor, indices, name="values")
        return SparseTensor(indices, values, shape(tensor, out_type=dtypes.int64, name="dense_shape"))


def _missing(dtype: DType) -> str | int | float:
    if dtype is dtypes.string:
        return ""
    return -1 if dtype.is_integer else 0.0
