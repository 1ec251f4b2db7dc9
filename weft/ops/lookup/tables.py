"""Lookup tables as objects: StaticHashTable, MutableHashTable, MutableDenseHashTable."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, overload

from weft.framework.building.aliases import DTypeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.node_errors import described
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType, as_dtype
from weft.framework.types.printed import printed
from weft.framework.types.tensor_shape import as_dims
from weft.ops.control_flow.ordering import group
from weft.ops.lookup import nodes as lookup_nodes
from weft.ops.lookup.initializers import TableInitializerBase, check_table_dtypes
from weft.ops.variables.saveable_object import SaveableObject, SaveSpec


def tables_initializer(name: str = "init_all_tables") -> Operation:
    """The operation that fills all tables of the graph; it does nothing when there are none.

    Returns:
        An operation, which has no value.
    """
    return group(*get_default_graph().get_collection(GraphKeys.TABLE_INITIALIZERS), name=name)


def initialize_all_tables(name: str = "init_all_tables") -> Operation:
    """The former name of `tables_initializer`."""
    return tables_initializer(name)


def wrong_keys(keys: Tensor, wanted: DType) -> TypeError:
    """The error of keys that have another type than the table's."""
    return TypeError(
        f"Signature mismatch. Keys must be dtype {wanted}, got {keys.dtype}.\n  keys: {described(keys)}\n  The table has keys "
        f"of type {wanted.name}."
    )


class LookupInterface:
    """A table of keys and values that lives on the task it is placed on.

    Args:
        key_dtype, value_dtype: the types of keys and values.
    """

    __repr__ = printed("tf.contrib.lookup", lambda table: f"{table.key_dtype.name} -> {table.value_dtype.name}")

    def __init__(self, key_dtype: DTypeLike, value_dtype: DTypeLike) -> None:
        self._key_dtype = as_dtype(key_dtype)
        self._value_dtype = as_dtype(value_dtype)

    @property
    def key_dtype(self) -> DType:
        """The keys' type."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """The values' type."""
        return self._value_dtype

    @property
    def name(self) -> str:
        """The table's name, without its scope."""
        raise NotImplementedError(f"{type(self).__name__} has no name")

    def size(self, name: str | None = None) -> Tensor:
        """The number of keys, a scalar int64."""
        raise NotImplementedError(f"{type(self).__name__} has no size")

    @overload
    def lookup(self, keys: SparseTensor, name: str | None = None) -> SparseTensor: ...
    @overload
    def lookup(self, keys: TensorLike, name: str | None = None) -> Tensor: ...
    def lookup(self, keys: object, name: str | None = None) -> Tensor | SparseTensor:
        """The values of keys, in the shape of the keys.

        Args:
            keys: a tensor or SparseTensor of the keys' dtype, of any shape.
        """
        raise NotImplementedError(f"{type(self).__name__} cannot be looked into")


class _Table(LookupInterface):
    """A table that is one resource."""

    def __init__(
        self, key_dtype: DTypeLike, value_dtype: DTypeLike, default_value: TensorLike, handle: Tensor, find: str, export: str
    ) -> None:
        super().__init__(key_dtype, value_dtype)
        self._default_value = default_value
        self._handle = handle
        self._table_name = handle.op.name.split("/")[-1]
        self._scopes = {"find": find, "export": export}

    @property
    def resource_handle(self) -> Tensor:
        """The handle."""
        return self._handle

    @property
    def table_ref(self) -> Tensor:
        """The handle, by its former name."""
        return self._handle

    @property
    def name(self) -> str:
        """The table's name, without its scope."""
        return self._table_name

    @property
    def default_value(self) -> Any:
        """The value of keys that are not there."""
        return self._default_value

    def size(self, name: str | None = None) -> Tensor:
        """The number of keys, a scalar int64."""
        with get_default_graph().name_scope(name or f"{self.name}_Size"):
            return lookup_nodes.lookup_table_size_v2(self._handle)

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys, [n], and their values, [n, ...], in no order."""
        with get_default_graph().name_scope(name or f"{self.name}_{self._scopes['export']}"):
            found = lookup_nodes.lookup_table_export_v2(self._handle, Tkeys=self._key_dtype, Tvalues=self._value_dtype)
            return found[0], found[1]

    def _find(self, keys: object, default: TensorLike, name: str | None) -> Tensor | SparseTensor:
        sparse = keys if isinstance(keys, SparseTensor) else None
        given = sparse.values if sparse is not None else self._checked_keys(keys)
        if given.dtype.base_dtype != self._key_dtype:
            raise wrong_keys(given, self._key_dtype)
        with get_default_graph().name_scope(name or f"{self.name}_{self._scopes['find']}"):
            values = lookup_nodes.lookup_table_find_v2(self._handle, given, default)
        return values if sparse is None else SparseTensor(sparse.indices, values, sparse.dense_shape)

    def _checked_keys(self, keys: Any) -> Tensor:
        return keys if isinstance(keys, Tensor) else convert_to_tensor(keys, dtype=self._key_dtype, name="keys")


class StaticHashTable(_Table):
    """A table that is filled once, by `tf.tables_initializer`, and not changed.

    Args:
        initializer: what fills it, such as a KeyValueTensorInitializer.
        default_value: the value of keys that are not there.
        shared_name: the name by which programs share it.
        name: the node's name, "hash_table" when None.
    """

    def __init__(
        self,
        initializer: TableInitializerBase,
        default_value: int | TensorLike,
        shared_name: str | None = None,
        name: str | None = None,
    ) -> None:
        self._initializer = initializer
        key_dtype, value_dtype = initializer.key_dtype, initializer.value_dtype
        default = convert_to_tensor(default_value, dtype=value_dtype)
        default.get_shape().merge_with([])
        # Two graphs' tables of one node name rarely have the same contents.
        shared = shared_name or initializer.shared_name or f"hash_table_{uuid.uuid4()}"
        handle = lookup_nodes.hash_table_v2(
            shared_name=shared, key_dtype=key_dtype, value_dtype=value_dtype, name=name or "hash_table"
        )
        super().__init__(key_dtype, value_dtype, default, handle, "Lookup", "Export")
        self._init_op = initializer.initialize(self)

    @property
    def initializer(self) -> Operation:
        """The operation that fills it."""
        return self._init_op

    @property
    def init(self) -> Operation:
        """The operation that fills it, by its former name."""
        return self._init_op

    @overload
    def lookup(self, keys: SparseTensor, name: str | None = None) -> SparseTensor: ...
    @overload
    def lookup(self, keys: TensorLike, name: str | None = None) -> Tensor: ...
    def lookup(self, keys: object, name: str | None = None) -> Tensor | SparseTensor:
        """The values of keys, dense or sparse like these; FailedPreconditionError before the table is filled."""
        return self._find(keys, self._default_value, name)


class _MutableTable(_Table):
    """A table that steps change, and that checkpoints hold."""

    def __init__(
        self, key_dtype: DTypeLike, value_dtype: DTypeLike, default_value: TensorLike, handle: Tensor, checkpoint: bool
    ) -> None:
        super().__init__(key_dtype, value_dtype, default_value, handle, "lookup_table_find", "lookup_table_export_values")
        if checkpoint:
            get_default_graph().add_to_collection(GraphKeys.SAVEABLE_OBJECTS, _TableSaveable(self))

    @overload
    def lookup(
        self, keys: SparseTensor, name: str | None = None, dynamic_default_values: TensorLike | None = None
    ) -> SparseTensor: ...
    @overload
    def lookup(self, keys: TensorLike, name: str | None = None, dynamic_default_values: TensorLike | None = None) -> Tensor: ...
    def lookup(
        self, keys: object, name: str | None = None, dynamic_default_values: TensorLike | None = None
    ) -> Tensor | SparseTensor:
        """The values of keys; where there is none, the default.

        Args:
            keys: of any shape.
            name: the name scope.
            dynamic_default_values: the default in place of the table's own: one, or one for each key.
        """
        default = self._default_value if dynamic_default_values is None else dynamic_default_values
        if not isinstance(keys, SparseTensor):
            keys = convert_to_tensor(keys, dtype=self._key_dtype, name="keys")
        return self._find(keys, default, name)

    def insert(self, keys: TensorLike, values: TensorLike, name: str | None = None) -> Operation:
        """An operation that sets the values of keys.

        Args:
            keys: `[...]` tensor of the keys' dtype.
            values: `[..., *shape of a value]` tensor of the values' dtype.
        """
        with get_default_graph().name_scope(name or f"{self.name}_lookup_table_insert"):
            given = convert_to_tensor(keys, dtype=self._key_dtype, name="keys")
            put = convert_to_tensor(values, dtype=self._value_dtype, name="values")
            check_table_dtypes(self, given.dtype, put.dtype)
            return lookup_nodes.lookup_table_insert_v2(self._handle, given, put)

    def insert_or_assign(self, keys: TensorLike, values: TensorLike, name: str | None = None) -> Operation:
        """`insert` by another name.

        Args:
            keys, values: those of `insert`.
        """
        return self.insert(keys, values, name)

    def remove(self, keys: TensorLike, name: str | None = None) -> Operation:
        """An operation that drops keys; those that are not there are no error.

        Args:
            keys: `[...]` tensor of the keys' dtype; those that are not there are passed over.
        """
        given = self._checked_keys(keys)
        if given.dtype.base_dtype != self._key_dtype:
            raise wrong_keys(given, self._key_dtype)
        with get_default_graph().name_scope(name or f"{self.name}_lookup_table_remove"):
            return lookup_nodes.lookup_table_remove_v2(self._handle, given)

    def erase(self, keys: TensorLike, name: str | None = None) -> Operation:
        """`remove` by another name.

        Args:
            keys: those of `remove`.
        """
        return self.remove(keys, name)


class _TableSaveable(SaveableObject):
    """A mutable table in a checkpoint: its keys and its values."""

    def __init__(self, table: _MutableTable) -> None:
        keys, values = table.export()
        name = table.name
        super().__init__(table, [SaveSpec(keys, "", f"{name}-keys"), SaveSpec(values, "", f"{name}-values")], name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[object] | None) -> Operation:
        """Make what was read the table's contents."""
        handle = self.op.resource_handle
        with get_default_graph().colocate_with(handle):
            return lookup_nodes.lookup_table_import_v2(handle, *restored_tensors)


class MutableHashTable(_MutableTable):
    """A table that steps insert into and remove from.

    Args:
        key_dtype, value_dtype: the types of keys and values.
        default_value: the value of keys that are not there; its shape is that of all values.
        shared_name: the name by which programs share it; the node's name when None.
        name: the node's name.
        checkpoint: whether a Saver saves it.
    """

    def __init__(
        self,
        key_dtype: DTypeLike,
        value_dtype: DTypeLike,
        default_value: TensorLike,
        shared_name: str | None = None,
        name: str = "MutableHashTable",
        checkpoint: bool = True,
    ) -> None:
        default = convert_to_tensor(default_value, dtype=as_dtype(value_dtype))
        types = {"key_dtype": as_dtype(key_dtype), "value_dtype": as_dtype(value_dtype)}
        shared = {"shared_name": "" if shared_name is None else shared_name, "use_node_name_sharing": True}
        if default.get_shape().ndims == 0:
            handle = lookup_nodes.mutable_hash_table_v2(**types, **shared, name=name)
        else:
            handle = lookup_nodes.mutable_hash_table_of_tensors_v2(
                **types, **shared, value_shape=as_dims(default.get_shape()), name=name
            )
        super().__init__(key_dtype, value_dtype, default, handle, checkpoint)


class MutableDenseHashTable(_MutableTable):
    """A mutable table two of whose keys cannot be used.

    Args:
        key_dtype, value_dtype: the types of keys and values.
        default_value: the value of keys that are not there; its shape is that of all values.
        empty_key, deleted_key: the keys that are set aside, which differ.
        initial_num_buckets: a power of 2; programs of the time chose it for speed, here it changes nothing.
        shared_name: the name by which programs share it; the node's name when None.
        name: the node's name.
        checkpoint: whether a Saver saves it.
    """

    def __init__(
        self,
        key_dtype: DTypeLike,
        value_dtype: DTypeLike,
        default_value: TensorLike,
        empty_key: Tensor,
        deleted_key: Tensor,
        initial_num_buckets: int | None = None,
        shared_name: str | None = None,
        name: str = "MutableDenseHashTable",
        checkpoint: bool = True,
    ) -> None:
        keys, values = as_dtype(key_dtype), as_dtype(value_dtype)
        default = convert_to_tensor(default_value, dtype=values, name="default_value")
        empty = convert_to_tensor(empty_key, dtype=keys, name="empty_key")
        deleted = convert_to_tensor(deleted_key, dtype=keys, name="deleted_key")
        handle = lookup_nodes.mutable_dense_hash_table_v2(
            empty, deleted, shared_name=shared_name or "", use_node_name_sharing=True, value_dtype=values,
            value_shape=as_dims(default.get_shape()), initial_num_buckets=initial_num_buckets or 131072, name=name,
        )  # fmt: skip
        super().__init__(keys, values, default, handle, checkpoint)


def is_table_key(dtype: DType) -> bool:
    """Whether a dtype may be that of a vocabulary's entries."""
    return dtype is dtypes.string or dtype.is_integer
