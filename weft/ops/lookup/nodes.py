"""Lookup tables as operations: making one, filling it, reading and changing it."""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np

from weft.errors import FailedPreconditionError, InvalidArgumentError
from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation, Tensor, outermost
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, merge_dims
from weft.framework.types.dtypes import DType
from weft.ops.declaration import no_outputs, op, scalar_shape, unknown
from weft.ops.lookup.state import DenseTable, LookupTable, StaticTable, TableSignature
from weft.ops.lookup.vocabulary_file import read_table


def _handle(ctx: OpContext, signature: TableSignature, make: Callable[[str], LookupTable]) -> Array:
    name = str(ctx.attrs.get("shared_name") or ctx.node_name)
    table = ctx.find_or_create(LookupTable, lambda: make(name))
    if table.signature != signature:
        raise InvalidArgumentError.of(
            f"Table '{name}' is held as {table.signature}, but this graph declares it as {signature}: two programs "
            "disagree about it. Give one of them another name, or clear the container with Session.reset."
        )
    handle = np.empty((), np.object_)
    handle[()] = ctx.handle_for(LookupTable)
    return handle


def _find(ctx: OpContext, handle: Tensor) -> LookupTable:
    return ctx.find(LookupTable, handle)


@op("HashTableV2", "-> table_handle: resource", infer=scalar_shape, gradient=None, stateful=True)
def hash_table_v2(
    ctx: OpContext, *, container: str = "", shared_name: str = "", use_node_name_sharing: bool = False,
    key_dtype: DType, value_dtype: DType,
) -> Result:  # fmt: skip
    """A table that is filled once: `-> scalar resource`."""
    signature = TableSignature("HashTable", key_dtype, value_dtype)
    return _handle(ctx, signature, lambda name: StaticTable(name, signature))


@op("MutableHashTableV2", "-> table_handle: resource", infer=scalar_shape, gradient=None, stateful=True)
def mutable_hash_table_v2(
    ctx: OpContext, *, container: str = "", shared_name: str = "", use_node_name_sharing: bool = False,
    key_dtype: DType, value_dtype: DType,
) -> Result:  # fmt: skip
    """A table of scalars that steps change: `-> scalar resource`."""
    signature = TableSignature("MutableHashTable", key_dtype, value_dtype)
    return _handle(ctx, signature, lambda name: LookupTable(name, signature))


@op("MutableHashTableOfTensorsV2", "-> table_handle: resource", infer=scalar_shape, gradient=None, stateful=True)
def mutable_hash_table_of_tensors_v2(
    ctx: OpContext, *, container: str = "", shared_name: str = "", use_node_name_sharing: bool = False,
    key_dtype: DType, value_dtype: DType, value_shape: Dims = (),
) -> Result:  # fmt: skip
    """A table of vectors that steps change: `-> scalar resource`."""
    signature = TableSignature("MutableHashTableOfTensors", key_dtype, value_dtype, _known(value_shape))
    return _handle(ctx, signature, lambda name: LookupTable(name, signature))


@op("MutableDenseHashTableV2", "empty_key: key_dtype, deleted_key: key_dtype -> table_handle: resource", infer=scalar_shape,
    gradient=None, stateful=True)  # fmt: skip
def mutable_dense_hash_table_v2(
    ctx: OpContext, empty_key: Array, deleted_key: Array, *, container: str = "", shared_name: str = "",
    use_node_name_sharing: bool = False, key_dtype: DType, value_dtype: DType, value_shape: Dims = (),
    initial_num_buckets: int = 131072, max_load_factor: float = 0.8,
) -> Result:  # fmt: skip
    """A table of tensors that steps change, two of whose keys are set aside.

    `[*key], [*key] -> scalar resource`
    """
    if initial_num_buckets < 4 or initial_num_buckets & initial_num_buckets - 1:
        raise InvalidArgumentError.of(f"Number of buckets must be at least 4 and a power of 2, got: {initial_num_buckets}")
    signature = TableSignature("MutableDenseHashTable", key_dtype, value_dtype, _known(value_shape), empty_key.shape)
    return _handle(ctx, signature, lambda name: DenseTable(name, signature, empty_key, deleted_key))


def _known(dims: Dims) -> tuple[int, ...]:
    if dims is None or None in dims:
        raise InvalidArgumentError.of(f"A table's values need a shape that is fully known, got {dims}")
    return tuple(size for size in dims if size is not None)


def _as_many_values(node: Operation) -> list[Dims]:
    _, keys, values = node.inputs
    if keys.dims is not None and values.dims is not None:
        merge_dims(keys.dims[:1], values.dims[:1])
    return []


@op("LookupTableImportV2", "table_handle: resource, keys: Tin, values: Tout ->", infer=_as_many_values, gradient=None,
    stateful=True, at_once=True)  # fmt: skip
def lookup_table_import_v2(ctx: OpContext, table_handle: Array, keys: Array, values: Array) -> tuple[()]:
    """Make these the table's keys: `scalar resource, [n, *key], [n, *value] ->`."""
    _find(ctx, table_handle).replace(keys, values)
    return ()


@op("InitializeTableV2", "table_handle: resource, keys: Tkey, values: Tval ->", infer=_as_many_values, gradient=None,
    stateful=True, at_once=True)  # fmt: skip
def initialize_table_v2(ctx: OpContext, table_handle: Array, keys: Array, values: Array) -> tuple[()]:
    """Fill a static table: `scalar resource, [n], [n] ->`."""
    _find(ctx, table_handle).replace(keys, values)
    return ()


@op("InitializeTableFromTextFileV2", "table_handle: resource, filename: string ->", infer=no_outputs, gradient=None,
    stateful=True, limits={"key_index": -2, "value_index": -2, "vocab_size": -1})  # fmt: skip
def initialize_table_from_text_file_v2(
    ctx: OpContext, table_handle: Array, filename: Array, *, key_index: int, value_index: int, vocab_size: int = -1,
    delimiter: str = "\t", offset: int = 0,
) -> tuple[()]:  # fmt: skip
    """Fill a static table from a file: `scalar resource, scalar string ->`."""
    table = _find(ctx, table_handle)
    signature = table.signature
    path = os.fsdecode(filename.item())
    keys, values = read_table(path, signature.key_dtype, key_index, signature.value_dtype, value_index, vocab_size, delimiter)
    if not keys.size:
        raise InvalidArgumentError.of(f"Invalid content in {path}: a table needs a line at least, and the file has none")
    try:
        table.replace(keys, values)
    except FailedPreconditionError as error:
        raise FailedPreconditionError.of(f"{error.message}: the file {path} has the key twice") from error
    return ()


def _values_of_keys(node: Operation) -> list[Dims]:
    handle = outermost(node.inputs[0]).op
    keys = node.inputs[1].dims
    shape = handle.attrs.get("value_shape", ()) if handle.type.endswith(("TableV2", "TableOfTensorsV2")) else None
    key_dims = handle.inputs[0].dims if handle.inputs else ()
    if keys is None or shape is None or key_dims is None or len(keys) < len(key_dims):
        return [None]
    return [(*keys[: len(keys) - len(key_dims)], *shape)]


@op("LookupTableFindV2", "table_handle: resource, keys: Tin, default_value: Tout -> values: Tout", infer=_values_of_keys,
    gradient=None, stateful=True, at_once=True, only_looks=True)  # fmt: skip
def lookup_table_find_v2(ctx: OpContext, table_handle: Array, keys: Array, default_value: Array) -> Result:
    """The values of keys: `scalar resource, [..., *key], [*value] -> [..., *value]`."""
    return _find(ctx, table_handle).find(keys, default_value)


@op("LookupTableInsertV2", "table_handle: resource, keys: Tin, values: Tout ->", infer=no_outputs, gradient=None,
    stateful=True, at_once=True)  # fmt: skip
def lookup_table_insert_v2(ctx: OpContext, table_handle: Array, keys: Array, values: Array) -> tuple[()]:
    """Set the values of keys: `scalar resource, [..., *key], [..., *value] ->`."""
    _find(ctx, table_handle).insert(keys, values)
    return ()


@op("LookupTableRemoveV2", "table_handle: resource, keys: Tin ->", infer=no_outputs, gradient=None, stateful=True, at_once=True)
def lookup_table_remove_v2(ctx: OpContext, table_handle: Array, keys: Array) -> tuple[()]:
    """Drop keys: `scalar resource, [..., *key] ->`."""
    _find(ctx, table_handle).remove(keys)
    return ()


@op("LookupTableSizeV2", "table_handle: resource -> size: int64", infer=scalar_shape, gradient=None, stateful=True,
    at_once=True, only_looks=True)  # fmt: skip
def lookup_table_size_v2(ctx: OpContext, table_handle: Array) -> Result:
    """The number of keys: `scalar resource -> scalar int64`."""
    return np.asarray(_find(ctx, table_handle).size, dtypes.int64.as_numpy_dtype)


@op("LookupTableExportV2", "table_handle: resource -> keys: Tkeys, values: Tvalues", infer=unknown, gradient=None,
    stateful=True, at_once=True)  # fmt: skip
def lookup_table_export_v2(ctx: OpContext, table_handle: Array, *, Tkeys: DType, Tvalues: DType) -> tuple[Result, Result]:
    """All keys and their values: `scalar resource -> [n, *key], [n, *value]`."""
    return _find(ctx, table_handle).export()
