"""parse_example: serialized Example protos as one tensor per feature."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from google.protobuf.message import DecodeError

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.node_errors import ShapeMisfit
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType, datatype_name
from weft.ops.array.constant import constant
from weft.ops.array.shape_ops import reshape
from weft.ops.declaration import op
from weft.ops.io import example_columns, header_table
from weft.ops.io.example_columns import Column
from weft.ops.io.requested_features import EXAMPLE_TYPES, DenseSpec, SparseSpec, assembled, default_of, requested
from weft.proto import example_pb2

_TAGS: Final = {
    dtypes.float32: header_table.FLOATS,
    dtypes.int64: header_table.INTEGERS,
    dtypes.string: header_table.BYTES,
}
# So many features of an example are named at most.
_SHOWN: Final = 8
# Fewer examples are parsed faster one by one.
_FEWEST_AT_ONCE: Final = 8
_KINDS: Final = {"float_list": dtypes.float32, "int64_list": dtypes.int64, "bytes_list": dtypes.string}
_FIELDS: Final = {kind: name for name, kind in _KINDS.items()}


class _Example(NamedTuple):
    """How errors name an example: not at all where it is alone, else by its name and its index in the batch."""

    label: str = ""
    place: int = 0

    @property
    def name(self) -> str:
        return f"Name: {self.label}, " if self.label else ""

    def key(self, key: str) -> str:
        return f"{self.name}Key: {key}{f', Index: {self.place}' if self.label else ''}.  "


def _parsed(serialized: bytes, name: str) -> Any:
    try:
        return example_pb2.Example.FromString(serialized).features.feature
    except DecodeError:
        raise _invalid(f"{name}Could not parse example input, value: {serialized[:200]!r}") from None


def _values(features: Array, key: str, wanted: DType, example: _Example, is_dense: bool = True) -> Array:
    """A feature's values as an array; None where the example has no such feature."""
    feature = features[key] if key in features else None  # noqa: SIM401 - a map of messages makes what `get` does not find
    kind = None if feature is None else feature.WhichOneof("kind")
    if kind is None:
        return None
    if _KINDS[kind] != wanted:
        found, expected = datatype_name(_KINDS[kind]), datatype_name(wanted)
        both = f"Data type: {found} but expected" if is_dense else f"Expected type: {expected}, Actual"
        raise _invalid(
            f"{example.key(key)}Data types don't match. {both} type: {expected if is_dense else found}"
            f"{remedy_for_kind(_KINDS[kind], wanted)}"
        )
    # As a list: NumPy asks a message's field for each element by itself.
    return np.array(list(getattr(feature, kind).value), wanted.as_numpy_dtype)


def remedy_for_kind(found: DType, wanted: DType) -> str:
    """How to ask for a feature of another kind than was wanted, as a line behind an error's first.

    Args:
        found: the type that the example has it in.
        wanted: the type that the program has asked for.
    """
    if dtypes.string not in (found, wanted):
        return f"\n  Ask for it as tf.{found.name}; tf.cast makes {wanted.name} of it."
    if found == dtypes.string:
        return "\n  Ask for it as tf.string: tf.decode_raw makes numbers of an array's bytes, tf.string_to_number of digits."
    return f"\n  Ask for it as tf.{found.name}; tf.as_string makes texts of numbers."


def _there(features: Any) -> str:
    """The end of a message that names what an example has in place of what it lacks."""
    there = sorted(features)
    has = f"It has {', '.join(map(repr, there[:_SHOWN]))}{' and more' if there[_SHOWN:] else ''}" if there else "It is empty"
    return f"\n  {has}. Where not every example has the feature, a default_value or a tf.VarLenFeature is for it."


def _dense(features: Tensor, spec: DenseSpec, example: _Example) -> Array:
    """A dense feature's value; that of any number of elements is not padded yet."""
    assert spec.dims is not None
    values, kind = _values(features, spec.key, spec.dtype, example), datatype_name(spec.dtype)
    counted = "bytes" if spec.dtype == dtypes.string else kind
    if spec.dims[:1] == (None,):
        row = _count(spec.dims[1:])
        values = np.empty(0, spec.dtype.as_numpy_dtype) if values is None else values
        if row == 0 or values.size % row:
            raise _invalid(
                f"{example.key(spec.key)}Number of {counted} values is not a multiple of stride length. Saw {values.size} "
                f"values but output shape is: {_shown(spec.dims)}"
            )
        return values.reshape(-1, *spec.dims[1:])
    size = _count(spec.dims)
    if values is None:
        if spec.default.size != size:
            raise _invalid(
                f"{example.name}Feature: {spec.key} (data type: {kind}) is required but could not be found.{_there(features)}"
            )
        values = spec.default.astype(spec.dtype.as_numpy_dtype)
    if values.size != size:
        raise _invalid(
            f"{example.key(spec.key)}Number of {counted} values != expected.  Values size: {values.size} but output shape: "
            f"{_shown(spec.dims)}"
        )
    return values.reshape(spec.dims)


def _plain(features: Any, key: str, kind: DType, dims: Dims) -> Array | None:
    """The value of a dense feature that an example has as it is wanted; None for any other, of which `_dense` knows more.

    Maps of datasets parse one by one: half the CPU, 8 us for an image and its label instead of 16 (two cores beside
    other work, December 2026).
    """
    if dims is None or None in dims or key not in features:
        return None
    feature, name = features[key], _FIELDS[kind]
    if feature.WhichOneof("kind") != name:
        return None
    values = getattr(feature, name).value
    if len(values) != math.prod(dims):  # type: ignore[arg-type]
        return None
    if dims:
        return np.array(list(values), kind.as_numpy_dtype).reshape(dims)
    return np.array(values[0], kind.as_numpy_dtype)


def _shown(dims: tuple[int | None, ...]) -> str:
    return f"[{','.join('?' if dim is None else str(dim) for dim in dims)}]"


def _count(dims: tuple[int | None, ...]) -> int:
    return math.prod(dim for dim in dims if dim is not None)


def _stacked(rows: Sequence[Array], spec: DenseSpec) -> Array:
    """The values of a batch as one array; shorter ones are padded with the default."""
    assert spec.dims is not None
    if spec.dims[:1] == (None,):
        result = _blank(len(rows), max((len(row) for row in rows), default=0), spec)
        for index, row in enumerate(rows):
            result[index, : len(row)] = row
        return result
    result = np.empty((len(rows), *spec.dims), spec.dtype.as_numpy_dtype)
    for index, row in enumerate(rows):
        # An array of no dimensions would be an element itself without the dots.
        result[index, ...] = row
    return result


def _blank(count: int, longest: int, spec: DenseSpec) -> Array:
    """A batch of sequences that are all padding."""
    assert spec.dims is not None
    shape: Any = (count, longest, *spec.dims[1:])
    blank: Any = b"" if spec.dtype == dtypes.string else 0
    return np.full(shape, spec.default.reshape(()) if spec.default.size == 1 else blank, spec.dtype.as_numpy_dtype)


def _sparse_batch(rows: Sequence[Array], dtype: DType) -> tuple[Array, Array, Array]:
    kept = [np.empty(0, dtype.as_numpy_dtype) if row is None else row for row in rows]
    counts = [len(row) for row in kept]
    total = sum(counts)
    positions = np.concatenate([np.arange(count) for count in counts]) if counts else np.empty(0)
    indices = np.stack([np.repeat(np.arange(len(kept)), counts), positions], axis=1).astype(np.int64).reshape(total, 2)
    values = np.concatenate(kept) if kept else np.empty(0, dtype.as_numpy_dtype)
    return indices, values, np.array([len(kept), max(counts, default=0)], np.int64)


def _in_order(results: Sequence[tuple[Array, Array, Array]], dense: Sequence[Array]) -> tuple[Array, ...]:
    """Indices, values and shapes of the sparse features, one kind after the other, then the dense ones."""
    parts = [[result[part] for result in results] for part in range(3)]
    return (*parts[0], *parts[1], *parts[2], *dense)


def _batch_shapes(node: Operation) -> list[Dims]:
    serialized = node.inputs[0].dims
    if serialized is not None and len(serialized) != 1:
        raise ValueError(f"Shape must be rank 1 but is rank {len(serialized)}")
    batch = None if serialized is None else serialized[0]
    count = node.attrs["Nsparse"]
    dense: list[Dims] = [(batch, *dims) for dims in node.attrs["dense_shapes"]]
    return [*[(None, 2)] * count, *[(None,)] * count, *[(2,)] * count, *dense]


@op("ParseExample",
    "serialized: string, names: string, sparse_keys: Nsparse*string, dense_keys: Ndense*string, dense_defaults: [Tdense] -> "
    "sparse_indices: Nsparse*int64, sparse_values: [sparse_types], sparse_shapes: Nsparse*int64, dense_values: [Tdense]",
    infer=_batch_shapes, gradient=None, types={"sparse_types": EXAMPLE_TYPES, "Tdense": EXAMPLE_TYPES})  # fmt: skip
def parse_example_node(
    ctx: OpContext, serialized: Array, names: Array, sparse_keys: Array, dense_keys: Array, dense_defaults: Array, *,
    Nsparse: int, Ndense: int, sparse_types: list[DType], Tdense: list[DType], dense_shapes: list[Dims],
) -> Array:  # fmt: skip
    """Parse a batch of examples; there are as many names as examples, or none.

    `[batch] string, [names] string, Nsparse*scalar string, Ndense*scalar string, Ndense*[*default] ->
    Nsparse*[n, 2] int64, Nsparse*[n], Nsparse*[2] int64, Ndense*[batch, *shape]`
    """
    wanted = zip(dense_keys, Tdense, dense_shapes, dense_defaults, strict=True)
    return parsed_batch(serialized, names, list(zip(sparse_keys, sparse_types, strict=True)), list(wanted))


def parsed_batch(
    serialized: Array, names: Array, sparse_features: Sequence[tuple[Array, DType]],
    dense_features: Sequence[tuple[Array, DType, Dims, Array]],
) -> tuple[Array, ...]:  # fmt: skip
    """The features of a batch of examples, by keys and types, and for dense ones shapes and defaults.

    Indices, values and shapes of the sparse ones come first.
    """
    sparse = [SparseSpec(_key(key), dtypes.as_dtype(kind)) for key, kind in sparse_features]
    dense = [DenseSpec(_key(key), dtypes.as_dtype(kind), _dims(dims), default) for key, kind, dims, default in dense_features]
    texts = serialized.tolist()
    found = _by_column(texts, sparse, dense) if len(texts) >= _FEWEST_AT_ONCE else None
    return _by_record(texts, names, sparse, dense) if found is None else found


def _by_record(
    texts: Sequence[bytes], names: Array, sparse: Sequence[SparseSpec], dense: Sequence[DenseSpec]
) -> tuple[Array, ...]:
    """The features of each example alone; InvalidArgumentError for the first that is wrong."""
    sparse_rows: list[list[Array]] = [[] for _ in sparse]
    dense_rows: list[list[Array]] = [[] for _ in dense]
    labels = names.tolist() if names.size else [b""] * len(texts)
    for index, (text, label) in enumerate(zip(texts, labels, strict=True)):
        example = _Example(label.decode(errors="replace") or "<unknown>", index)
        features = _parsed(text, example.name)
        for spec, rows in zip(sparse, sparse_rows, strict=True):
            rows.append(_values(features, spec.key, spec.dtype, example, is_dense=False))
        for wanted, rows in zip(dense, dense_rows, strict=True):
            rows.append(_dense(features, wanted, example))
    results = [_sparse_batch(rows, spec.dtype) for spec, rows in zip(sparse, sparse_rows, strict=True)]
    return _in_order(results, [_stacked(rows, wanted) for wanted, rows in zip(dense, dense_rows, strict=True)])


def _by_column(texts: Sequence[bytes], sparse: Sequence[SparseSpec], dense: Sequence[DenseSpec]) -> tuple[Array, ...] | None:
    """All examples' features at once; None where something is wrong, which the way by record finds and names."""
    wanted = [(spec.key, spec.dtype) for spec in sparse] + [(spec.key, spec.dtype) for spec in dense]
    columns = example_columns.columns_of(texts, [(key.encode(), _TAGS[dtype]) for key, dtype in wanted])
    if columns is None:
        return None
    batches = [_dense_column(column, spec) for column, spec in zip(columns[len(sparse) :], dense, strict=True)]
    whole = [batch for batch in batches if batch is not None]
    return _in_order(list(map(_sparse_column, columns[: len(sparse)])), whole) if len(whole) == len(dense) else None


def _sparse_column(column: Column) -> tuple[Array, Array, Array]:
    counts, total = column.counts, len(column.values)
    indices = np.empty((total, 2), np.int64)
    indices[:, 0] = np.repeat(np.arange(len(counts)), counts)
    indices[:, 1] = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
    return indices, column.values, np.array([len(counts), counts.max(initial=0)], np.int64)


def _dense_column(column: Column, spec: DenseSpec) -> Array | None:
    """The values of a batch as one array; None where an example lacks some, or has too many."""
    assert spec.dims is not None
    values, counts, present = column
    if spec.dims[:1] == (None,):
        return _padded_column(column, spec)
    size = _count(spec.dims)
    if counts is None:
        return values.reshape(len(present), *spec.dims) if size == 1 else None
    if (counts[present] != size).any():
        return None
    if present.all():
        return values.reshape(len(counts), *spec.dims)
    if spec.default.size != size:
        return None
    result = np.empty((len(counts), size), spec.dtype.as_numpy_dtype)
    result[:] = spec.default.reshape(size)
    result[present] = values.reshape(np.count_nonzero(present), size)
    return result.reshape(len(counts), *spec.dims)


def _padded_column(column: Column, spec: DenseSpec) -> Array | None:
    assert spec.dims is not None
    row = _count(spec.dims[1:])
    counts = column.counts
    if row == 0 or (counts % row).any():
        return None
    rows = counts // row
    result = _blank(len(rows), int(rows.max(initial=0)), spec)
    result[np.arange(result.shape[1]) < rows[:, None]] = column.values.reshape(-1, *spec.dims[1:])
    return result


def _single_shapes(node: Operation) -> list[Dims]:
    if node.inputs[0].dims:
        text = f"Shape must be rank 0 but is rank {len(node.inputs[0].dims)}"
        raise ShapeMisfit(text, "It takes one record; tf.parse_example takes a batch of them.")
    count = node.attrs["num_sparse"]
    return [*[(None, 1)] * count, *[(None,)] * count, *[(1,)] * count, *node.attrs["dense_shapes"]]


@op("ParseSingleExample",
    "serialized: string, dense_defaults: [Tdense] -> sparse_indices: num_sparse*int64, sparse_values: [sparse_types], "
    "sparse_shapes: num_sparse*int64, dense_values: [Tdense]",
    infer=_single_shapes, gradient=None, types={"sparse_types": EXAMPLE_TYPES, "Tdense": EXAMPLE_TYPES})  # fmt: skip
def parse_single_example_node(
    ctx: OpContext, serialized: Array, dense_defaults: Array, *, num_sparse: int, sparse_keys: list[str],
    dense_keys: list[str], sparse_types: list[DType], Tdense: list[DType], dense_shapes: list[Dims],
) -> Array:  # fmt: skip
    """Parse one example.

    `scalar string, Ndense*[*default] -> num_sparse*[n, 1] int64, num_sparse*[n], num_sparse*[1] int64,
    Ndense*[*shape]`
    """
    if serialized.ndim:
        raise _invalid(f"Expected serialized to be a scalar, got shape: {list(serialized.shape)}")
    features = _parsed(serialized.item(), "")
    results = []
    for key, kind in zip(sparse_keys, sparse_types, strict=True):
        wanted = dtypes.as_dtype(kind)
        values = _values(features, key, wanted, _Example(), is_dense=False)
        values = np.empty(0, wanted.as_numpy_dtype) if values is None else values
        results.append((np.arange(len(values), dtype=np.int64)[:, None], values, np.array([len(values)], np.int64)))
    dense = []
    for key, kind, dims, default in zip(dense_keys, Tdense, dense_shapes, dense_defaults, strict=True):
        spec = DenseSpec(key, dtypes.as_dtype(kind), _dims(dims), default)
        plain = _plain(features, key, spec.dtype, spec.dims)
        dense.append(_dense(features, spec, _Example()) if plain is None else plain)
    return _in_order(results, dense)


def _key(tensor: Array) -> str:
    return str(tensor.item().decode())


def _dims(shape: Any) -> Dims:
    return tuple(None if dim in (None, -1) else int(dim) for dim in shape)


def _invalid(message: str) -> InvalidArgumentError:
    return InvalidArgumentError.of(message)


def parse_example(
    serialized: TensorLike, features: Mapping[str, object], name: str | None = None, example_names: TensorLike | None = None
) -> dict[str, Any]:
    """The features of a batch of serialized Example protos.

    Args:
        serialized: `[batch]` strings.
        features: for each feature's key what it is to become: FixedLenFeature (`[batch, ...]`), FixedLenSequenceFeature
            (`[batch, longest, ...]`), VarLenFeature and SparseFeature (a SparseTensor).
        name: the name scope.
        example_names: `[batch]` strings that name the examples in errors.

    Returns:
        A dict of tensors and SparseTensors by the names in `features`, each with a dimension for the examples
        first.

    Raises:
        ValueError: there are no features, or one is of an unknown kind or without a shape or type.

    >>> feature = tf.train.Feature(float_list=tf.train.FloatList(value=[1.5]))
    >>> record = tf.train.Example(features=tf.train.Features(feature={"x": feature})).SerializeToString()
    >>> sess.run(tf.parse_example([record, record], {"x": tf.FixedLenFeature([], tf.float32)})["x"])
    array([1.5, 1.5], dtype=float32)
    """
    sparse, dense = requested(features)
    with get_default_graph().name_scope(name or "ParseExample"):
        names = constant([], dtypes.string) if example_names is None else convert_to_tensor(example_names, dtype=dtypes.string)
        outputs = parse_example_node(
            serialized, names, [spec.key for spec in sparse], [spec.key for spec in dense], list(map(default_of, dense)),
            Nsparse=len(sparse), Ndense=len(dense), sparse_types=[spec.dtype for spec in sparse],
            Tdense=[spec.dtype for spec in dense], dense_shapes=[spec.dims for spec in dense], name="ParseExample",
        )  # fmt: skip
        return assembled(features, sparse, dense, outputs)


def parse_single_example(
    serialized: TensorLike, features: Mapping[str, object], name: str | None = None, example_names: TensorLike | None = None
) -> dict[str, Any]:
    """The features of one serialized Example proto; as `parse_example`, without the batch.

    Args:
        serialized: a scalar string.
        features: for each feature's key what it is to become.
        name: the name scope.
        example_names: a scalar string that names the example in errors.

    Returns:
        A dict of tensors and SparseTensors by the names in `features`.

    Raises:
        ValueError: there are no features, or one has no shape or dtype.
        InvalidArgumentError: in a run, the string is no Example, or a feature without a default value is missing or of
            another type.

    >>> feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2]))
    >>> example = tf.train.Example(features=tf.train.Features(feature={"x": feature}))
    >>> parsed = tf.parse_single_example(example.SerializeToString(), {"x": tf.FixedLenFeature([2], tf.int64)})
    >>> sess.run(parsed["x"])
    array([1, 2])
    """
    if example_names is not None:
        batched = parse_example(
            reshape(convert_to_tensor(serialized, dtype=dtypes.string), [1]), features, name,
            reshape(convert_to_tensor(example_names, dtype=dtypes.string), [1]),
        )  # fmt: skip
        return {key: _unbatched(value) for key, value in batched.items()}
    sparse, dense = requested(features)
    with get_default_graph().name_scope(name or "ParseSingleExample"):
        outputs = parse_single_example_node(
            serialized, [default_of(spec) for spec in dense], num_sparse=len(sparse), sparse_keys=[spec.key for spec in sparse],
            dense_keys=[spec.key for spec in dense], sparse_types=[spec.dtype for spec in sparse],
            Tdense=[spec.dtype for spec in dense], dense_shapes=[spec.dims for spec in dense], name="ParseSingleExample",
        )  # fmt: skip
        return assembled(features, sparse, dense, outputs)


def _unbatched(value: Tensor | SparseTensor) -> Tensor | SparseTensor:
    if not isinstance(value, SparseTensor):
        return value[0]
    return SparseTensor(value.indices[:, 1:], value.values, value.dense_shape[1:])
