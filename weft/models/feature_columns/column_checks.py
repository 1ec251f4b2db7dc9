"""Checks of what programs pass to the makers of columns, and of lists of columns."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeAlias, TypeVar

from weft.framework.nodes.node_errors import described
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_shape import TensorShape
from weft.models.feature_columns.column import (
    DenseColumn,
    FeatureColumn,
    FeatureColumns,
    gives_sequence,
    is_column,
    is_dense,
)
from weft.models.feature_columns.contracts import ParseSpec

_FOR_SEQUENCES: Final = (
    "A column of sequences is for tf.keras.experimental.SequenceFeatures, or tf.contrib.feature_column.sequence_input_layer."
)
_FOR_CATEGORIES: Final = "You can wrap a categorical column with an embedding_column or indicator_column."
_Feature = TypeVar("_Feature")
Defaults: TypeAlias = "int | float | Sequence[Defaults]"


def check_key(key: object) -> None:
    """Raise ValueError unless the key is a string."""
    if not isinstance(key, str):
        raise ValueError(f"key must be a string. Got: type {type(key)}. Given key: {key}.")


def whole_number(value: int, what: str, key: object) -> int:
    """A number of buckets or of columns, which may be written as 1e6.

    Args:
        value: what was given.
        what: the argument's name.
        key: the feature's name, or the column's.

    Raises:
        ValueError: it has a fraction.
    """
    if not isinstance(value, numbers.Real) or isinstance(value, numbers.Integral):
        return value
    if not float(value).is_integer():
        raise ValueError(f"{what} must be a whole number. {what}: {value}, key: {key}")
    return int(value)


def check_string_or_int(dtype: DType, prefix: str) -> None:
    """Raise ValueError unless this is the type of strings or of integers."""
    if dtype != dtypes.string and not dtype.is_integer:
        raise ValueError(
            f"{prefix} dtype must be string or integer. dtype: {dtype}. tf.as_string and tf.cast(x, tf.int64) make such ids of "
            "numbers; a numeric_column takes fractions, and a bucketized_column makes ids of them."
        )


def check_number(dtype: DType, key: object) -> None:
    """Raise ValueError unless this is a type of numbers."""
    if not (dtype.is_integer or dtype.is_floating):
        texts = (
            f" Texts have ids first: tf.feature_column.categorical_column_with_vocabulary_list({key!r}, [...]), or "
            "categorical_column_with_hash_bucket."
        )
        told = texts if dtype.base_dtype is dtypes.string else ""
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, key: {key}{'.' + told if told else ''}")


def check_numeric(feature: Tensor, key: str) -> None:
    """Raise TypeError for texts in a column of numbers."""
    if feature.dtype.base_dtype == dtypes.string:
        raise TypeError(
            f"The feature of the numeric column {key!r} must be of numbers.\n  {key}: {described(feature)}\n  Words are for "
            f"tf.feature_column.categorical_column_with_vocabulary_list({key!r}, [...]); numbers in text become numbers by "
            "tf.string_to_number."
        )


def normalized(feature: _Feature, normalizer_fn: Callable[[_Feature], _Feature | None], key: str) -> _Feature:
    """What a program's function makes of a column's feature; ValueError where that is nothing."""
    found = normalizer_fn(feature)
    if found is None:
        raise ValueError(
            f"None values not supported. normalizer_fn of the numeric column {key!r} has returned None: is its `return` "
            "lacking?"
        )
    return found


# By whether the column is of whole numbers.
_SAME_KIND: Final = {
    True: "tf.string_to_number makes whole numbers of texts, dtype=tf.string a column of texts.",
    False: "tf.as_string makes texts of numbers, dtype=tf.int64 a column of whole numbers.",
}


def check_same_kind(key: str, wanted: DType, found: DType) -> None:
    """Raise ValueError where strings meet integers."""
    if wanted.is_integer != found.is_integer:
        raise ValueError(
            "Column dtype and SparseTensors dtype must be compatible. "
            f"key: {key}, column dtype: {wanted}, tensor dtype: {found}. {_SAME_KIND[wanted.is_integer]}"
        )


def checked_shape(shape: int | Iterable[int], key: object) -> tuple[int, ...]:
    """The shape as a tuple of positive integers."""
    dims = (shape,) if isinstance(shape, int) or not isinstance(shape, Iterable) else tuple(shape)
    for dimension in dims:
        if not isinstance(dimension, int):
            raise TypeError(f"shape dimensions must be integer. shape: {dims}, key: {key}")
        if dimension < 1:
            raise ValueError(f"shape dimensions must be greater than 0. shape: {dims}, key: {key}")
    return dims


def checked_default(shape: tuple[int, ...], default: object, dtype: DType, key: object) -> Defaults | None:
    """The default value as nested tuples of this shape; None where there is none.

    Raises:
        ValueError: it has another shape. TypeError: it is of another type.
    """
    if default is None:
        return None
    if isinstance(default, int) or (isinstance(default, float) and dtype.is_floating):
        return _filled(shape, default)
    as_list = getattr(default, "tolist", None)
    given = as_list() if callable(as_list) else default
    if isinstance(given, list | tuple):
        if not _has_shape(given, shape):
            raise ValueError(
                f"The shape of default_value must be equal to given shape. default_value: {given}, shape: {shape}, key: {key}"
            )
        leaves = list(_leaves(given))
        if all(isinstance(leaf, int) for leaf in leaves):
            return _as_tuples(given)
        if any(isinstance(leaf, float) for leaf in leaves) and dtype.is_floating:
            return _as_tuples(given)
    raise TypeError(f"default_value must be compatible with dtype. default_value: {given}, dtype: {dtype}, key: {key}")


def _filled(shape: tuple[int, ...], value: float) -> Defaults:
    return tuple(_filled(shape[1:], value) for _ in range(shape[0])) if shape else value


def _has_shape(value: object, shape: tuple[int, ...]) -> bool:
    if isinstance(value, list | tuple) != bool(shape):
        return False
    if not isinstance(value, list | tuple):
        return True
    return len(value) == shape[0] and all(_has_shape(item, shape[1:]) for item in value)


def _leaves(value: object) -> Iterator[object]:
    if not isinstance(value, list | tuple):
        yield value
        return
    for item in value:
        yield from _leaves(item)


def _as_tuples(value: Defaults) -> Defaults:
    return tuple(map(_as_tuples, value)) if isinstance(value, list | tuple) else value


def _column_of(given: object) -> str:
    """The column that was meant by a feature's name or tensor."""
    if isinstance(given, str):
        return (
            f" A column is made of the name of a feature: tf.feature_column.numeric_column({given!r}) of numbers, "
            f"tf.feature_column.categorical_column_with_vocabulary_list({given!r}, [...]) of words."
        )
    if isinstance(given, int):
        return " A number is a size of hidden_units: have the two arguments changed places?"
    if isinstance(given, Tensor):
        return " Tensors belong into `features`, by name; columns tell what to do with them, such as numeric_column('x')."
    return ""


def column_list(feature_columns: object, kind: str = "_FeatureColumn") -> list[FeatureColumn]:
    """The columns that a program passed, one or several, as a list in order of their names.

    Raises:
        ValueError: there is none, two have one name, or something is no column.
    """
    if is_column(feature_columns):
        feature_columns = [feature_columns]
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict. Its columns are list(columns.values()).")
    if not isinstance(feature_columns, Iterable):
        raise TypeError(f"feature_columns must be a column or an iterable of columns, found {feature_columns!r}")
    by_name: dict[str, FeatureColumn] = {}
    for column in feature_columns:
        if not is_column(column):
            raise ValueError(
                f"Items of feature_columns must be a {kind}. Given (type {type(column)}): {column}.{_column_of(column)}"
            )
        if column.name in by_name:
            raise ValueError(
                f"Duplicate feature column name found for columns: {column} and {by_name[column.name]}. This usually means "
                "that these columns refer to same base feature. Either one must be discarded or a duplicated but renamed "
                "item must be inserted in features dict."
            )
        by_name[column.name] = column
    if not by_name:
        raise ValueError("feature_columns must not be empty.")
    return [by_name[name] for name in sorted(by_name)]


def dense_columns(feature_columns: object, kind: str = "DenseColumn") -> list[DenseColumn]:
    """The columns that a program passed, where each has a dense tensor; ValueError where one has none.

    Args:
        feature_columns: one column, or several.
        kind: what is wanted, in the words of the message.
    """
    columns: list[DenseColumn] = []
    for column in column_list(feature_columns):
        if not is_dense(column):
            remedy = _FOR_SEQUENCES if gives_sequence(column) else _FOR_CATEGORIES
            raise ValueError(f"Items of feature_columns must be a {kind}. {remedy} Given: {column}")
        columns.append(column)
    return columns


def check_batch_sizes(tensors: Sequence[Tensor], columns: Sequence[FeatureColumn]) -> None:
    """Raise ValueError where two columns' tensors are known to be of different batches."""
    first: tuple[FeatureColumn, int] | None = None
    for tensor, column in zip(tensors, columns, strict=True):
        size = None if not tensor.dims else tensor.dims[0]
        if size is None:
            continue
        if first is None:
            first = column, size
        elif first[1] != size:
            raise ValueError(
                "Batch size (first dimension) of each feature must be same. "
                f"Batch size of columns ({first[0].name}, {column.name}): ({first[1]}, {size})"
            )


def element_count(shape: TensorShape) -> int:
    """The number of elements of a column's known shape."""
    count = shape.num_elements()
    assert count is not None
    return count


def make_parse_example_spec(feature_columns: FeatureColumns) -> ParseSpec:
    """What `tf.parse_example` must look for, to feed these columns.

    Args:
        feature_columns: columns of tf.feature_column, in any iterable.

    Returns:
        FixedLenFeatures, VarLenFeatures and the like by the features' names.

    Raises:
        ValueError: something is no column, or two columns want one feature in two forms.
    """
    spec: ParseSpec = {}
    for column in feature_columns:
        if not is_column(column):
            is_one = is_column(feature_columns)
            meant = " Several are wanted: of one column it is a list, [column]." if is_one else _column_of(column)
            raise ValueError(
                f"All feature_columns must be _FeatureColumn instances. Given: {column}{'.' if meant else ''}{meant}"
            )
        wanted = column.parse_example_spec
        for key, value in wanted.items():
            if spec.get(key, value) != value:
                raise ValueError(f"feature_columns contain different parse_spec for key {key}. Given {value} and {spec[key]}")
        spec.update(wanted)
    return spec
