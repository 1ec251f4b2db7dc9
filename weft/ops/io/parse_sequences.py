"""parse_sequence_example: a batch of serialized SequenceExamples as tensors, those of contexts and those of lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from google.protobuf.message import DecodeError

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.array.constant import constant
from weft.ops.declaration import op
from weft.ops.io.parse_sequence import TYPE_LISTS, context_dense, context_sparse, list_dense, list_sparse, stacked
from weft.ops.io.requested_features import EXAMPLE_TYPES
from weft.ops.io.sequence_features import Parsed, SequenceFeatures
from weft.proto import example_pb2

_SPLITS: Final = (dtypes.int32, dtypes.int64)
_KEY_LISTS: Final = (
    "feature_list_dense_missing_assumed_empty", "context_sparse_keys", "context_dense_keys", "feature_list_sparse_keys",
    "feature_list_dense_keys",
)  # fmt: skip
_SPLIT_LISTS: Final = ("context_ragged_split_types", "feature_list_ragged_split_types")
_RAGGED_LISTS: Final = ("context_ragged_value_types", "feature_list_ragged_value_types")

_Sparse: TypeAlias = tuple[Array, Array, Array]
"""The indices, values and shape of a sparse tensor."""


class _Key(NamedTuple):
    """One feature that is asked for; `dims` and `default` are those of a dense one."""

    name: str
    dtype: DType
    dims: Array = ()
    default: Array | None = None
    may_lack: bool = False


class _Keys(NamedTuple):
    """What is asked of each example."""

    context_sparse: list[_Key]
    context_dense: list[_Key]
    list_sparse: list[_Key]
    list_dense: list[_Key]


def _parsed(serialized: Array, names: Array) -> list[tuple[Array, Array, str]]:
    """The features of each example's context, those of its lists, and its name in errors."""
    found = []
    for index, item in enumerate(serialized):
        name = names[index].decode(errors="replace") if index < len(names) and names[index] else "<unknown>"
        try:
            example = example_pb2.SequenceExample.FromString(item)
        except DecodeError:
            text = f"Name: {name}, Could not parse example input, value: {item[:200]!r}"
            raise InvalidArgumentError.of(text) from None
        found.append((example.context.feature, example.feature_lists.feature_list, name))
    return found


def _batched(parts: Sequence[_Sparse], dtype: DType, rank: int) -> _Sparse:
    """Sparse tensors, each of an example, as one with the example's number before their own indices."""
    indices = [np.insert(each, 0, index, axis=1) for index, (each, _, _) in enumerate(parts)]
    shape = np.max([size for _, _, size in parts], axis=0) if parts else np.zeros(rank, np.int64)
    return (
        np.concatenate(indices) if indices else np.zeros((0, rank + 1), np.int64),
        np.concatenate([values for _, values, _ in parts]) if parts else np.empty(0, dtype.as_numpy_dtype),
        np.array([len(parts), *shape], np.int64),
    )


def _padded(rows: Sequence[Array], key: _Key) -> Array:
    """Lists of steps, each of an example, in one array; behind the end of a shorter one stand zeros or empty strings."""
    longest = max((len(each) for each in rows), default=0)
    fill: object = b"" if key.dtype is dtypes.string else 0
    made = np.full((len(rows), longest, *(int(size) for size in key.dims)), fill, key.dtype.as_numpy_dtype)
    for index, each in enumerate(rows):
        made[index, : len(each)] = each
    return made


class _Batch:
    """The examples of a batch, or the one of a scalar, and what they have of each feature."""

    def __init__(self, serialized: Array, names: Array) -> None:
        self._is_one = serialized.ndim == 0
        self._examples = _parsed(np.atleast_1d(serialized), np.atleast_1d(names))

    def context_sparse(self, key: _Key) -> _Sparse:
        found = self._context_parts(key)
        return found[0] if self._is_one else _batched(found, key.dtype, 1)

    def _context_parts(self, key: _Key) -> list[_Sparse]:
        return [context_sparse(features, key.name, key.dtype, name) for features, _, name in self._examples]

    def context_dense(self, key: _Key) -> Array:
        found = [
            context_dense(features, key.name, key.dtype, key.dims, key.default, name) for features, _, name in self._examples
        ]
        if self._is_one:
            return found[0]
        return stacked(found, key.dtype, key.dims)

    def list_sparse(self, key: _Key) -> _Sparse:
        found = self._list_parts(key)
        return found[0] if self._is_one else _batched(found, key.dtype, 2)

    def _list_parts(self, key: _Key) -> list[_Sparse]:
        return [list_sparse(lists, key.name, key.dtype, name) for _, lists, name in self._examples]

    def list_dense(self, key: _Key) -> tuple[Array, Array]:
        """The steps of each example, and how many they are."""
        lacking = {key.name} if key.may_lack else set()
        found = [list_dense(lists, key.name, key.dtype, key.dims, lacking, name) for _, lists, name in self._examples]
        lengths = np.array([len(each) for each in found], np.int64)
        return (found[0], lengths[0]) if self._is_one else (_padded(found, key), lengths)

    def context_ragged(self, key: _Key, split: DType) -> tuple[Array, Array]:
        """The values, and where those of each example begin, as for a batch of one where there is one example."""
        indices, values, shape = _batched(self._context_parts(key), key.dtype, 1)
        return values, np.searchsorted(indices[:, 0], np.arange(shape[0] + 1)).astype(split.as_numpy_dtype)

    def list_ragged(self, key: _Key, split: DType) -> tuple[Array, Array, Array]:
        """The values, where the steps of each example begin, and where the values of each step do."""
        steps = [len(lists[key.name].feature) if key.name in lists else 0 for _, lists, _ in self._examples]
        indices, values, _ = _batched(self._list_parts(key), key.dtype, 2)
        outer = np.concatenate([[0], np.cumsum(steps, dtype=np.int64)])
        places = outer[indices[:, 0]] + indices[:, 1]
        inner = np.searchsorted(places, np.arange(outer[-1] + 1))
        return values, outer.astype(split.as_numpy_dtype), inner.astype(split.as_numpy_dtype)


def _parse(batch: _Batch, keys: _Keys) -> tuple[list[Array], list[Array], list[Array], list[Array]]:
    """The outputs of the contexts' sparse and dense features, and of the lists'."""
    context = [batch.context_sparse(key) for key in keys.context_sparse]
    lists = [batch.list_sparse(key) for key in keys.list_sparse]
    dense = [batch.list_dense(key) for key in keys.list_dense]
    return (
        [found[part] for part in range(3) for found in context],
        [batch.context_dense(key) for key in keys.context_dense],
        [found[part] for part in range(3) for found in lists],
        [found[part] for part in range(2) for found in dense],
    )


def _shapes(node: Operation) -> list[Dims]:
    attrs, serialized = node.attrs, node.inputs[0].dims
    if serialized is not None and len(serialized) > 1:
        raise ValueError(f"Shape must be at most rank 1 but is rank {len(serialized)}")
    known = serialized is not None
    batch = serialized or ()
    rank = len(batch)

    def dense(dims: Dims, *before: None) -> Dims:
        return (*batch, *before, *dims) if known and dims is not None else None

    def sparse(count: int, own: int) -> list[Dims]:
        size = own + rank if known else None
        return [*[(None, size)] * count, *[(None,)] * count, *[(size,)] * count]

    ragged, list_ragged = (len(attrs.get(key, ())) for key in _RAGGED_LISTS)
    return [
        *sparse(attrs["Ncontext_sparse"], 1),
        *(dense(dims) for dims in attrs["context_dense_shapes"]),
        *[(None,)] * (2 * ragged),
        *sparse(attrs["Nfeature_list_sparse"], 2),
        *(dense(dims, None) for dims in attrs["feature_list_dense_shapes"]),
        *[batch if known else None] * attrs["Nfeature_list_dense"],
        *[(None,)] * (3 * list_ragged),
    ]


@op("ParseSequenceExample",
    "serialized: string, debug_name: string, context_dense_defaults: [Tcontext_dense] -> "
    "context_sparse_indices: Ncontext_sparse*int64, context_sparse_values: [context_sparse_types], "
    "context_sparse_shapes: Ncontext_sparse*int64, context_dense_values: [Tcontext_dense], "
    "feature_list_sparse_indices: Nfeature_list_sparse*int64, feature_list_sparse_values: [feature_list_sparse_types], "
    "feature_list_sparse_shapes: Nfeature_list_sparse*int64, feature_list_dense_values: [feature_list_dense_types], "
    "feature_list_dense_lengths: Nfeature_list_dense*int64",
    infer=_shapes, gradient=None, ranks={"serialized": 1, "debug_name": 1}, types=dict.fromkeys(TYPE_LISTS, EXAMPLE_TYPES),
    limits=dict.fromkeys(_KEY_LISTS, 0))  # fmt: skip
def parse_sequence_example_node(
    ctx: OpContext, serialized: Array, debug_name: Array, context_dense_defaults: Array, *,
    feature_list_dense_missing_assumed_empty: list[str], context_sparse_keys: list[str], context_dense_keys: list[str],
    feature_list_sparse_keys: list[str], feature_list_dense_keys: list[str], Ncontext_sparse: int = 0, Ncontext_dense: int = 0,
    Nfeature_list_sparse: int = 0, Nfeature_list_dense: int = 0, context_sparse_types: list[DType] = [],  # noqa: B006 - a declaration
    Tcontext_dense: list[DType] = [], feature_list_dense_types: list[DType] = [],  # noqa: B006 - a declaration
    context_dense_shapes: list[Dims] = [], feature_list_sparse_types: list[DType] = [],  # noqa: B006 - a declaration
    feature_list_dense_shapes: list[Dims] = [],  # noqa: B006 - a declaration
) -> Array:  # fmt: skip
    """Parse a batch of sequence examples.

    `[batch] string, [names] string, Tcontext_dense*[*default] -> Ncontext_sparse*[n, 2] int64, Ncontext_sparse*[n],
    Ncontext_sparse*[2] int64, Tcontext_dense*[batch, *shape], Nfeature_list_sparse*[n, 3] int64, Nfeature_list_sparse*[n],
    Nfeature_list_sparse*[3] int64, Nfeature_list_dense*[batch, steps, *shape], Nfeature_list_dense*[batch] int64`
    """
    may_lack = set(feature_list_dense_missing_assumed_empty)
    keys = _Keys(
        list(map(_Key, context_sparse_keys, context_sparse_types)),
        list(map(_Key, context_dense_keys, Tcontext_dense, context_dense_shapes, context_dense_defaults)),
        list(map(_Key, feature_list_sparse_keys, feature_list_sparse_types)),
        [
            _Key(key, kind, dims, may_lack=key in may_lack)
            for key, kind, dims in zip(
                feature_list_dense_keys, feature_list_dense_types, feature_list_dense_shapes, strict=True
            )
        ],
    )
    context, dense, listed, listed_dense = _parse(_Batch(serialized, debug_name), keys)
    return (*context, *dense, *listed, *listed_dense)


@op("ParseSequenceExampleV2",
    "serialized: string, debug_name: string, context_sparse_keys: string, context_dense_keys: string, "
    "context_ragged_keys: string, feature_list_sparse_keys: string, feature_list_dense_keys: string, "
    "feature_list_ragged_keys: string, feature_list_dense_missing_assumed_empty: bool, "
    "context_dense_defaults: [Tcontext_dense] -> "
    "context_sparse_indices: Ncontext_sparse*int64, context_sparse_values: [context_sparse_types], "
    "context_sparse_shapes: Ncontext_sparse*int64, context_dense_values: [Tcontext_dense], "
    "context_ragged_values: [context_ragged_value_types], context_ragged_row_splits: [context_ragged_split_types], "
    "feature_list_sparse_indices: Nfeature_list_sparse*int64, feature_list_sparse_values: [feature_list_sparse_types], "
    "feature_list_sparse_shapes: Nfeature_list_sparse*int64, feature_list_dense_values: [feature_list_dense_types], "
    "feature_list_dense_lengths: Nfeature_list_dense*int64, feature_list_ragged_values: [feature_list_ragged_value_types], "
    "feature_list_ragged_outer_splits: [feature_list_ragged_split_types], "
    "feature_list_ragged_inner_splits: [feature_list_ragged_split_types]",
    infer=_shapes, gradient=None,
    types=dict.fromkeys((*TYPE_LISTS, *_RAGGED_LISTS), EXAMPLE_TYPES) | dict.fromkeys(_SPLIT_LISTS, _SPLITS),
    limits=dict.fromkeys((*_RAGGED_LISTS, *_SPLIT_LISTS), 0))  # fmt: skip
def parse_sequence_example_v2(
    ctx: OpContext, serialized: Array, debug_name: Array, context_sparse_keys: Array, context_dense_keys: Array,
    context_ragged_keys: Array, feature_list_sparse_keys: Array, feature_list_dense_keys: Array,
    feature_list_ragged_keys: Array, feature_list_dense_missing_assumed_empty: Array, context_dense_defaults: Array, *,
    Ncontext_sparse: int = 0, Tcontext_dense: list[DType] = [], context_sparse_types: list[DType] = [],  # noqa: B006 - a declaration
    context_ragged_value_types: list[DType] = [], context_ragged_split_types: list[DType] = [],  # noqa: B006 - a declaration
    context_dense_shapes: list[Dims] = [], Nfeature_list_sparse: int = 0, Nfeature_list_dense: int = 0,  # noqa: B006 - a declaration
    feature_list_dense_types: list[DType] = [], feature_list_sparse_types: list[DType] = [],  # noqa: B006 - a declaration
    feature_list_ragged_value_types: list[DType] = [],  # noqa: B006 - a declaration
    feature_list_ragged_split_types: list[DType] = [], feature_list_dense_shapes: list[Dims] = [],  # noqa: B006 - a declaration
) -> Array:  # fmt: skip
    """Parse a batch of sequence examples, or one.

    `[...] string, [names] string, [cs] string, [cd] string, [cr] string, [ls] string, [ld] string, [lr] string, [ld] bool,
    cd*[*default] -> cs*[n, rank] int64, cs*[n], cs*[rank] int64, cd*[..., *shape], cr*[n], cr*[rows],
    ls*[n, rank] int64, ls*[n], ls*[rank] int64, ld*[..., steps, *shape], ld*[...] int64, lr*[n], lr*[rows], lr*[rows]`
    """
    keys = _Keys(
        list(map(_Key, _texts(context_sparse_keys), context_sparse_types)),
        list(map(_Key, _texts(context_dense_keys), Tcontext_dense, context_dense_shapes, context_dense_defaults)),
        list(map(_Key, _texts(feature_list_sparse_keys), feature_list_sparse_types)),
        [
            _Key(key, kind, dims, may_lack=bool(lacking))
            for key, kind, dims, lacking in zip(
                _texts(feature_list_dense_keys), feature_list_dense_types, feature_list_dense_shapes,
                feature_list_dense_missing_assumed_empty, strict=True,
            )
        ],
    )  # fmt: skip
    batch = _Batch(serialized, debug_name)
    context, dense, listed, listed_dense = _parse(batch, keys)
    context_keys = map(_Key, _texts(context_ragged_keys), context_ragged_value_types)
    list_keys = map(_Key, _texts(feature_list_ragged_keys), feature_list_ragged_value_types)
    ragged = list(map(batch.context_ragged, context_keys, context_ragged_split_types))
    listed_ragged = list(map(batch.list_ragged, list_keys, feature_list_ragged_split_types))
    return (
        *context, *dense, *(each[part] for part in range(2) for each in ragged),
        *listed, *listed_dense, *(each[part] for part in range(3) for each in listed_ragged),
    )  # fmt: skip


def _texts(keys: Array) -> list[str]:
    return [key.decode() for key in keys.ravel()]


def parse_sequence_example(
    serialized: TensorLike,
    context_features: Mapping[str, object] | None = None,
    sequence_features: Mapping[str, object] | None = None,
    example_names: TensorLike | None = None,
    name: str | None = None,
) -> tuple[dict[str, Parsed], dict[str, Parsed], dict[str, Tensor]]:
    """The tensors of a batch of serialized SequenceExample protos.

    Args:
        serialized: [batch] strings.
        context_features: for each key of the contexts what it is to become, a FixedLenFeature (`[batch, ...]`) or a
            VarLenFeature (a SparseTensor `[batch, most]`).
        sequence_features: for each key of the lists a FixedLenSequenceFeature (`[batch, steps, ...]`, zeros behind the end of
            shorter ones) or a VarLenFeature (a SparseTensor `[batch, steps, most]`).
        example_names: [batch] strings that name the examples in errors.
        name: the name scope.

    Returns:
        Three dicts: the tensors of the contexts, those of the lists, and how many steps each example has of each list of a
        FixedLenSequenceFeature, `[batch]` int64.

    Raises:
        ValueError: no features are wanted, or one is of an unknown kind or without a shape or type.
    """
    features = SequenceFeatures.of(context_features, sequence_features)
    of_context, dense, of_lists, listed = features.keys()
    with get_default_graph().name_scope(name or "ParseSequenceExample"):
        outputs = parse_sequence_example_node(
            convert_to_tensor(serialized, dtypes.string),
            constant([], dtypes.string) if example_names is None else example_names,
            features.defaults(), feature_list_dense_missing_assumed_empty=features.may_lack(),
            context_sparse_keys=of_context, context_dense_keys=dense, feature_list_sparse_keys=of_lists,
            feature_list_dense_keys=listed, **features.attributes(), name="ParseSequenceExample",
        )  # fmt: skip
    *parts, lengths = [list(part) if isinstance(part, list | tuple) else [part] for part in outputs]
    return *features.named(parts), dict(zip(listed, lengths, strict=True))
