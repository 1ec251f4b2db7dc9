"""parse_single_sequence_example: a serialized SequenceExample as tensors, those of its context and those of its lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from google.protobuf.message import DecodeError

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.array.constant import constant
from weft.ops.declaration import op
from weft.ops.io.parse_example import remedy_for_kind
from weft.ops.io.requested_features import EXAMPLE_TYPES
from weft.ops.io.sequence_features import Parsed, SequenceFeatures
from weft.proto import example_pb2

TYPE_LISTS: Final = ("context_sparse_types", "Tcontext_dense", "feature_list_dense_types", "feature_list_sparse_types")
_KINDS: Final = {"float_list": dtypes.float32, "int64_list": dtypes.int64, "bytes_list": dtypes.string}


def _invalid(message: str) -> InvalidArgumentError:
    return InvalidArgumentError.of(message)


def _values(feature: Any, wanted: DType, where: str) -> Array:
    """The values of a feature as a vector; empty when it has none."""
    kind = feature.WhichOneof("kind")
    if kind is None:
        return np.empty(0, wanted.as_numpy_dtype)
    if _KINDS[kind] is not wanted:
        raise _invalid(
            f"{where}Data types don't match. Expected type: {wanted.name}, found: {_KINDS[kind].name}"
            f"{remedy_for_kind(_KINDS[kind], wanted)}"
        )
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
    infer=_shapes, gradient=None, types=dict.fromkeys(TYPE_LISTS, EXAMPLE_TYPES))  # fmt: skip
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
    features = SequenceFeatures.of(context_features, sequence_features)
    with get_default_graph().name_scope(name or "ParseSingleSequenceExample"):
        outputs = parse_single_sequence_example_node(
            serialized, constant(features.may_lack(), dtypes.string), *features.keys(), features.defaults(),
            "" if example_name is None else example_name, **features.attributes(), name="ParseSingleSequenceExample",
        )  # fmt: skip
    return features.named([list(part) if isinstance(part, list | tuple) else [part] for part in outputs])
