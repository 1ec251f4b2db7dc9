"""What `tf.parse_example` must look for, to feed a canned estimator its features, labels and weights."""

from __future__ import annotations

from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.models.feature_columns.column import FeatureColumns
from weft.models.feature_columns.column_checks import make_parse_example_spec
from weft.models.feature_columns.numeric import NumericColumn, numeric_column
from weft.ops.io.example_features import FixedLenFeature


def classifier_parse_example_spec(
    feature_columns: FeatureColumns,
    label_key: str,
    label_dtype: DType = dtypes.int64,
    label_default: TensorLike | None = None,
    weight_column: str | NumericColumn | None = None,
) -> dict[str, Nest]:
    """The features to parse, by name, for a classifier.

    Args:
        feature_columns: its columns.
        label_key: the feature that is the label.
        label_dtype: its type, int64 or string.
        label_default: the label of Examples without one; parsing fails for them when None.
        weight_column: the feature with the weights.

    Raises:
        ValueError: label or weights are also a column's, or the weights' column is not numeric.
    """
    return _spec(feature_columns, label_key, FixedLenFeature((1,), label_dtype, label_default), weight_column)


def regressor_parse_example_spec(
    feature_columns: FeatureColumns,
    label_key: str,
    label_dtype: DType = dtypes.float32,
    label_default: TensorLike | None = None,
    label_dimension: int = 1,
    weight_column: str | NumericColumn | None = None,
) -> dict[str, Nest]:
    """The features to parse, by name, for a regressor: `classifier_parse_example_spec` with numbers as labels.

    Args:
        feature_columns, label_key, label_dtype, label_default, weight_column: see there.
        label_dimension: how many numbers a label has.
    """
    label = FixedLenFeature((label_dimension,), label_dtype, label_default)
    return _spec(feature_columns, label_key, label, weight_column)


def _spec(
    feature_columns: FeatureColumns, label_key: str, label: object, weight_column: str | NumericColumn | None
) -> dict[str, Nest]:
    spec: dict[str, Nest] = dict(make_parse_example_spec(feature_columns))
    if label_key in spec:
        raise ValueError(f"label should not be used as feature. label_key: {label_key}, features: {spec.keys()}")
    spec[label_key] = label
    if weight_column is None:
        return spec
    if isinstance(weight_column, str):
        weight_column = numeric_column(weight_column)
    if not isinstance(weight_column, NumericColumn):
        raise ValueError(
            "weight_column should be an instance of tf.feature_column.numeric_column. Given type: "
            f"{type(weight_column)} value: {weight_column}"
        )
    if weight_column.key in spec:
        raise ValueError(
            f"weight_column should not be used as feature. weight_column: {weight_column.key}, features: {spec.keys()}"
        )
    return {**spec, **weight_column.parse_example_spec}
