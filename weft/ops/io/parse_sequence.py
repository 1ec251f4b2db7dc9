"""parse_single_sequence_example: a serialized SequenceExample as tensors, those of its context and those of its lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from google.protobuf.message import DecodeError

from weft.errors import InvalidArgumentError
from weft.framework import dtypes
from weft.framework.aliases import Array, TensorLike
from weft.framework.dims import Dims
from weft.framework.dtypes import DType
from weft.framework.graph import get_default_graph
from weft.framework.op_context import OpContext
from weft.framework.operation import Operation, Tensor
from weft.framework.sparse_tensor import SparseTensor
from weft.framework.tensor_conversion import convert_to_tensor
from weft.framework.tensor_shape import TensorShape
from weft.ops.array.constant import constant
from weft.ops.declaration import op
from weft.ops.io.example_features import FixedLenFeature, FixedLenSequenceFeature, VarLenFeature
from weft.proto import example_pb2

_TYPES: Final = (dtypes.float32, dtypes.int64, dtypes.string)
_TYPE_LISTS: Final = ("context_sparse_types", "Tcontext_dense", "feature_list_dense_types", "feature_list_sparse_types")
_KINDS: Final = {"float_list": dtypes.float32, "int64_list": dtypes.int64, "bytes_list": dtypes.string}


def _invalid(message: str) -> InvalidArgumentError:
    return InvalidArgumentError.of(message)


def _values(feature: Any, wanted: DType, where: str) -> Array:
    """The values of a feature as a vector; empty when it has none."""
    kind = feature.WhichOneof("kind")
    if kind is None:
        return np.empty(0, wanted.as_numpy_dtype)
    if _KINDS[kind] is not wanted:
        raise _invalid(f"{where}Data types don't match. Expected type: {wanted.name}, found: {_KINDS[kind].name}")
    return np.array(getattr(feature, kind).value, wanted.as_numpy_dtype)


def _shaped(values: Array, dims: Array, wanted: DType, where: str) -> Array:
    shape = tuple(int(dim) for dim in dims)
    if values.size != int(np.prod(shape)):
        raise _invalid(
            f"{where}Number of {wanted.name} values != expected.  values size: {values.size} but output shape: {list(shape)}"
        )
    return values.reshape(shape)


def context_dense(features: Array, key: str, wanted: DType, dims: Array, default: Array, name: str) -> Array:
    """The values of a dense feature of the context, or its default ones."""
    where = f"Name: {name}, Context feature: {key}.  "
    if key not in features:
        if default.size == 0 and int(np.prod([int(dim) for dim in dims])) != 0:
            raise _invalid(f"Name: {name}, Context feature '{key}' is required but could not be found.")
        return _shaped(default, dims, wanted, where)
    return _shaped(_values(features[key], wanted, where), dims, wanted, where)


def list_dense(lists: Array, key: str, wanted: DType, dims: Array, may_lack: set[str], name: str) -> Array:
    """The steps of a dense list `[steps, *dims]`."""
    if key not in lists:
        if key not in may_lack:
            raise _invalid(
                f"Name: {name}, Feature list '{key}' is required but could not be found.  Did you mean to include it in "
                "feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?"
            )
        return np.empty((0, *(int(dim) for dim in dims)), wanted.as_numpy_dtype)
    rows = [
        _shaped(_values(each, wanted, f"{where}"), dims, wanted, where)
        for index, each in enumerate(lists[key].feature)
        for where in [f"Name: {name}, Key: {key}, Index: {index}.  "]
    ]
    return stacked(rows, wanted, dims)


def stacked(rows: Sequence[Array], dtype: DType, dims: Array) -> Array:
    """Arrays of one shape as one: `n*[*dims] -> [n, *dims]`."""
    made = np.empty((len(rows), *(int(dim) for dim in dims)), dtype.as_numpy_dtype)
    for index, each in enumerate(rows):
        made[index] = each.item() if each.ndim == 0 else each
    return made


def list_sparse(lists: Array, key: str, wanted: DType, name: str) -> tuple[Array, Array, Array]:
    """The indices, values and shape of a list whose steps have any number of values."""
    found = lists[key].feature if key in lists else ()
    rows = [_values(each, wanted, f"Name: {name}, Key: {key}, Index: {index}.  ") for index, each in enumerate(found)]
    indices = [(row, column) for row, values in enumerate(rows) for column in range(len(values))]
    values = np.concatenate(rows) if rows else np.empty(0, wanted.as_numpy_dtype)
    shape = np.array([len(rows), max((len(each) for each in rows), default=0)], np.int64)
    return np.array(indices, np.int64).reshape(-1, 2), values, shape


def context_sparse(features: Array, key: str, wanted: DType, name: str) -> tuple[Array, Array, Array]:
    """The indices, values and shape of a feature of the context with any number of values."""
    where = f"Name: {name}, Context feature: {key}.  "
    values = _values(features[key], wanted, where) if key in features else np.empty(0, wanted.as_numpy_dtype)
    return np.arange(len(values), dtype=np.int64)[:, None], values, np.array([len(values)], np.int64)


def _shapes(node: Operation) -> list[Dims]:
    context, lists = node.attrs["Ncontext_sparse"], node.attrs["Nfeature_list_sparse"]
    dense: list[Dims] = [None if dims is None else (None, *dims) for dims in node.attrs["feature_list_dense_shapes"]]
    return [
        *[(None, 1)] * context, *[(None,)] * context, *[(1,)] * context, *node.attrs["context_dense_shapes"],
        *[(None, 2)] * lists, *[(None,)] * lists, *[(2,)] * lists, *dense,
    ]  # fmt: skip


def _texts(keys: Sequence[Array]) -> list[str]:
    return [key.item().decode() for key in keys]


@op("ParseSingleSequenceExample",
    "serialized: string, feature_list_dense_missing_assumed_empty: string, context_sparse_keys: Ncontext_sparse*string, "
    "context_dense_keys: Ncontext_dense*string, feature_list_sparse_keys: Nfeature_list_sparse*string, "
    "feature_list_dense_keys: Nfeature_list_dense*string, context_dense_defaults: [Tcontext_dense], debug_name: string -> "
    "context_sparse_indices: Ncontext_sparse*int64, context_sparse_values: [context_sparse_types], "
    "context_sparse_shapes: Ncontext_sparse*int64, context_dense_values: [Tcontext_dense], "
    "feature_list_sparse_indices: Nfeature_list_sparse*int64, feature_list_sparse_values: [feature_list_sparse_types], "
    "feature_list_sparse_shapes: Nfeature_list_sparse*int64, feature_list_dense_values: [feature_list_dense_types]",
    infer=_shapes, gradient=None, types=dict.fromkeys(_TYPE_LISTS, _TYPES))  # fmt: skip
def parse_single_sequence_example_node(
    ctx: OpContext, serialized: Array, feature_list_dense_missing_assumed_empty: Array, context_sparse_keys: Array,
    context_dense_keys: Array, feature_list_sparse_keys: Array, feature_list_dense_keys: Array,
    context_dense_defaults: Array, debug_name: Array, *, Ncontext_sparse: int = 0, Ncontext_dense: int = 0,
    Nfeature_list_sparse: int = 0, Nfeature_list_dense: int = 0, context_sparse_types: list[DType] = [],  # noqa: B006 - a declaration
    Tcontext_dense: list[DType] = [], feature_list_dense_types: list[DType] = [],  # noqa: B006 - a declaration
    context_dense_shapes: list[Dims] = [], feature_list_sparse_types: list[DType] = [],  # noqa: B006 - a declaration
    feature_list_dense_shapes: list[Dims] = [],  # noqa: B006 - a declaration
) -> Array:  # fmt: skip
    """Parse one sequence example.

    `scalar string, [n] string, Ncontext_sparse*scalar string, Ncontext_dense*scalar string,
    Nfeature_list_sparse*scalar string, Nfeature_list_dense*scalar string, Ncontext_dense*[*default], scalar
    string -> Ncontext_sparse*[n, 1] int64, Ncontext_sparse*[n], Ncontext_sparse*[1] int64,
    Ncontext_dense*[*shape], Nfeature_list_sparse*[n, 2] int64, Nfeature_list_sparse*[n],
    Nfeature_list_sparse*[2] int64, Nfeature_list_dense*[steps, *shape]`
    """
    name = debug_name.item().decode() or "<unknown>" if debug_name.size else "<unknown>"
    try:
        parsed = example_pb2.SequenceExample.FromString(serialized.item())
    except DecodeError:
        raise _invalid(f"Name: {name}, Could not parse example input, value: {serialized.item()[:200]!r}") from None
    features, lists = parsed.context.feature, parsed.feature_lists.feature_list
    may_lack = set(_texts(feature_list_dense_missing_assumed_empty.reshape(-1, 1)))
    context = [
        context_sparse(features, key, kind, name)
        for key, kind in zip(_texts(context_sparse_keys), context_sparse_types, strict=True)
    ]
    dense = [
        context_dense(features, key, kind, dims, default, name)
        for key, kind, dims, default in zip(
            _texts(context_dense_keys), Tcontext_dense, context_dense_shapes, context_dense_defaults, strict=True
        )
    ]
    listed = [
        list_sparse(lists, key, kind, name)
        for key, kind in zip(_texts(feature_list_sparse_keys), feature_list_sparse_types, strict=True)
    ]
    listed_dense = [
        list_dense(lists, key, kind, dims, may_lack, name)
        for key, kind, dims in zip(
            _texts(feature_list_dense_keys), feature_list_dense_types, feature_list_dense_shapes, strict=True
        )
    ]
    by_part = [[found[part] for found in group] for group in (context, listed) for part in range(3)]
    return (*by_part[0], *by_part[1], *by_part[2], *dense, *by_part[3], *by_part[4], *by_part[5], *listed_dense)


# The function of the API.


def _checked(key: str, feature: Any, *allowed: Any) -> Any:
    if not isinstance(feature, allowed):
        raise ValueError(f"Unsupported feature {key}: {feature}; expected one of {[kind.__name__ for kind in allowed]}")
    if not feature.dtype:
        raise ValueError(f"Missing type for feature {key}.")
    return feature


def _split(features: Mapping[str, object] | None, dense: type) -> tuple[_Features, _Features]:
    """The sparse and the dense features, each in the order of the keys."""
    items = [(key, _checked(key, (features or {})[key], VarLenFeature, dense)) for key in sorted(features or {})]
    return [item for item in items if isinstance(item[1], VarLenFeature)], [
        item for item in items if not isinstance(item[1], VarLenFeature)
    ]


_Features: TypeAlias = list[tuple[str, Any]]
Parsed: TypeAlias = Tensor | SparseTensor
"""What a feature becomes."""


def split_sequence_features(
    context: Mapping[str, object] | None, sequence: Mapping[str, object] | None
) -> tuple[_Features, _Features, _Features, _Features]:
    """The sparse and the dense features of the context, then those of the lists, each in the order of the keys."""
    return *_split(context, FixedLenFeature), *_split(sequence, FixedLenSequenceFeature)


def known_dims(key: str, feature: Any) -> tuple[int, ...]:
    """The shape of a dense feature, all of which has to be known."""
    shape = TensorShape(feature.shape)
    if feature.shape is None or not shape.is_fully_defined():
        raise ValueError(f"All dimensions of shape for feature {key} need to be known but received {shape}.")
    return tuple(int(size) for size in shape.as_list() if size is not None)


def default_of(key: str, feature: Any) -> Array:
    """What stands for a dense feature that an example lacks; empty where it may not."""
    if feature.default_value is None:
        return constant([], feature.dtype)
    return convert_to_tensor(feature.default_value, dtypes.as_dtype(feature.dtype), name=f"key_{key}")


def parse_single_sequence_example(
    serialized: TensorLike,
    context_features: Mapping[str, object] | None = None,
    sequence_features: Mapping[str, object] | None = None,
    example_name: TensorLike | None = None,
    name: str | None = None,
) -> tuple[dict[str, Parsed], dict[str, Parsed]]:
    """The tensors of one serialized SequenceExample proto.

    Args:
        serialized: a scalar string.
        context_features: for each key of the context what it is to become, a FixedLenFeature or a VarLenFeature.
        sequence_features: for each key of the lists a FixedLenSequenceFeature (`[steps, ...]`) or a VarLenFeature (a
            SparseTensor `[steps, longest]`).
        example_name: a scalar string that names the example in errors.
        name: the name scope.

    Returns:
        Two dicts, the tensors of the context and those of the lists.

    Raises:
        ValueError: no features are wanted, or one is of an unknown kind or without a shape or type.
    """
    if not (context_features or sequence_features):
        raise ValueError("Missing features.")
    of_context, dense, of_lists, listed_dense = split_sequence_features(context_features, sequence_features)
    with get_default_graph().name_scope(name or "ParseSingleSequenceExample"):
        outputs = parse_single_sequence_example_node(
            serialized, constant([key for key, feature in listed_dense if feature.allow_missing], dtypes.string),
            *([key for key, _ in group] for group in (of_context, dense, of_lists, listed_dense)),
            [default_of(key, feature) for key, feature in dense],
            "" if example_name is None else example_name,
            Ncontext_sparse=len(of_context), Ncontext_dense=len(dense), Nfeature_list_sparse=len(of_lists),
            Nfeature_list_dense=len(listed_dense), context_sparse_types=[feature.dtype for _, feature in of_context],
            Tcontext_dense=[feature.dtype for _, feature in dense],
            feature_list_dense_types=[feature.dtype for _, feature in listed_dense],
            context_dense_shapes=[known_dims(key, feature) for key, feature in dense],
            feature_list_sparse_types=[feature.dtype for _, feature in of_lists],
            feature_list_dense_shapes=[known_dims(key, feature) for key, feature in listed_dense],
            name="ParseSingleSequenceExample",
        )  # fmt: skip
    parts = [list(part) if isinstance(part, list | tuple) else [part] for part in outputs]
    context = named_sparse(of_context, parts[:3]) | {key: value for (key, _), value in zip(dense, parts[3], strict=True)}
    listed = named_sparse(of_lists, parts[4:7]) | {key: value for (key, _), value in zip(listed_dense, parts[7], strict=True)}
    return context, listed


def named_sparse(features: Sequence[tuple[str, object]], parts: Sequence[Sequence[Tensor]]) -> dict[str, Parsed]:
    """Sparse tensors by the features' keys, out of lists of their indices, values and shapes."""
    return {key: SparseTensor(*each) for (key, _), *each in zip(features, *parts, strict=True)}
