"""ResourceVariable: a variable behind a handle, whose reads and writes are ordered by control dependencies alone."""

from __future__ import annotations

from typing import Any

from weft.framework.collections import GraphKeys
from weft.framework.dtypes import DType
from weft.framework.graph import Graph, get_default_graph
from weft.framework.name_prefix import prepend_name_scope, strip_name_scope
from weft.framework.op_builder import graph_of
from weft.framework.operation import Operation, Tensor
from weft.framework.tensor_conversion import convert_to_tensor
from weft.framework.tensor_shape import Dims, TensorShape, as_dims, dims_compatible
from weft.ops import resource_state as state
from weft.ops import scatter_update as scatter
from weft.ops.identity import identity_node
from weft.ops.init_scope import init_scope
from weft.ops.initialized_value import guarded_initial_value, initialized_value
from weft.ops.variable import (
    Variable,
    VariableAggregation,
    VariableDef,
    VariableSynchronization,
    checked_trainable,
    with_trainable_collection,
)


class ResourceVariable(Variable, use_resource=True):
    """A variable made of `name` (VarHandleOp) and the nodes that initialize, check and read what is behind it."""

    _is_resource_variable = True
    _handle: Tensor
    _is_initialized_op: Tensor
    _graph_element: Tensor
    _cached_value: Tensor | None
    _dtype: DType
    _shape: Dims

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        dtype: Any = None,
        variable_def: Any = None,
        import_scope: str | None = None,
        constraint: Any = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
        shape: Any = None,
        expected_shape: Any = None,
    ) -> None:
        if variable_def is not None:
            if initial_value is not None:
                raise ValueError("variable_def and initial_value are mutually exclusive.")
            self._restore(variable_def, import_scope)
            return
        if initial_value is None:
            raise ValueError("initial_value must be specified.")
        self._trainable = checked_trainable(trainable, synchronization, name)
        collections = with_trainable_collection(
            collections, self._trainable, GraphKeys.GLOBAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES
        )
        if constraint is not None and not callable(constraint):
            raise ValueError("The `constraint` argument must be a callable.")
        self._constraint = constraint
        self._synchronization, self._aggregation = synchronization, aggregation
        self._caching_device = caching_device
        self._save_slice_info = None
        self._validate_shape = validate_shape
        with init_scope():
            graph = get_default_graph() if callable(initial_value) else graph_of([initial_value])
            with graph.as_default(), graph.name_scope("Variable" if name is None else name) as scope:
                self._build(graph, scope, initial_value, dtype, shape)
            graph.add_to_collections(collections, self)

    def _build(self, graph: Graph, scope: str, initial_value: Any, dtype: Any, shape: Any) -> None:
        true_name = scope[:-1]
        with graph._attr_scope({"_class": [f"loc:@{true_name}"]}):
            with graph.name_scope("Initializer"), graph.device(None):
                value = convert_to_tensor(initial_value() if callable(initial_value) else initial_value, dtype,
                                          "initial_value")  # fmt: skip
            self._shape = value._dims if shape is None else as_dims(shape)
            self._dtype = value.dtype.base_dtype
            self._initial_value = value
            self._handle = state.var_handle_op(dtype=self._dtype, shape=self._shape, shared_name=true_name, name=scope)
        if self._validate_shape and not value.get_shape().is_fully_defined():
            raise ValueError(f"initial_value must have a shape specified: {value}")
        if value.op._get_control_flow_context() is not None:
            raise ValueError(
                f"Initializer for variable {scope} is from inside a control-flow construct, such as a loop or "
                "conditional. When creating a variable inside a loop or conditional, use a lambda as the initializer."
            )
        device = self._handle.device
        with graph.name_scope("IsInitialized"), graph.device(device):
            self._is_initialized_op = state.var_is_initialized_op(self._handle)
        guarded = guarded_initial_value(scope, value)
        alone = graph.colocate_with(None, ignore_existing=True)
        with graph.name_scope("Assign") as assign_scope, alone, graph.device(device):
            self._initializer_op = state.assign_variable_op(self._handle, guarded, dtype=self._dtype, name=assign_scope)
        self._cached_value = None
        with graph.name_scope("Read"):
            with graph.device(device):
                self._graph_element = self._read()
            if self._caching_device is not None:
                with graph.device(self._caching_device):
                    self._cached_value = identity_node(self._graph_element)

    def _restore(self, variable_def: Any, import_scope: str | None) -> None:
        if not variable_def.is_resource:
            raise ValueError("Trying to restore Variable as ResourceVariable.")
        graph = get_default_graph()

        def element(name: str) -> Any:
            return graph.as_graph_element(prepend_name_scope(name, import_scope))

        self._handle = element(variable_def.variable_name)
        self._shape, self._dtype = self._handle.op.attrs["shape"], self._handle.op.attrs["dtype"]
        self._initializer_op = element(variable_def.initializer_name)
        self._initial_value = element(variable_def.initial_value_name) if variable_def.initial_value_name else None
        snapshot = element(variable_def.snapshot_name)
        self._cached_value = snapshot if snapshot.op.type != "ReadVariableOp" else None
        self._graph_element = snapshot
        with graph.name_scope(None):
            self._is_initialized_op = element(f"{variable_def.variable_name[:-2]}/IsInitialized/VarIsInitializedOp:0")
        self._restore_common(variable_def, import_scope)

    # What it is.

    @property
    def name(self) -> str:
        """`op:0`."""
        return self._handle.name

    @property
    def _shared_name(self) -> str:
        return self._handle.op.name

    @property
    def handle(self) -> Tensor:
        """The tensor with the handle."""
        return self._handle

    @property
    def op(self) -> Operation:
        """The operation that makes the handle."""
        return self._handle.op

    @property
    def graph(self) -> Graph:
        """The graph that this variable belongs to."""
        return self._handle.graph

    @property
    def device(self) -> str:
        """The device asked for."""
        return self._handle.device

    @property
    def dtype(self) -> DType:
        """The type."""
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        """What is known of the shape."""
        return TensorShape(self._shape)

    @property
    def create(self) -> Operation:
        """The operation that gives it its initial value."""
        return self._initializer_op

    def set_shape(self, shape: Any) -> None:
        """Add what the program knows of the shape."""
        merged = TensorShape(self._shape).merge_with(shape)
        self._shape = as_dims(merged)

    def _as_graph_element(self) -> Tensor:
        return self._graph_element

    def is_initialized(self, name: str | None = None) -> Tensor:
        """A scalar bool tensor: whether it has a value."""
        return state.var_is_initialized_op(self._handle, name=name)

    # Its value.

    def _read(self) -> Tensor:
        value: Tensor = state.read_variable_op(self._handle, dtype=self._dtype)
        value._dims = self._shape
        return value

    def value(self) -> Tensor:
        """A tensor with the value as it is here, after the control dependencies that are open; or the cached one."""
        if self._cached_value is not None:
            return self._cached_value
        graph = get_default_graph()
        with graph.colocate_with(None, ignore_existing=True), graph.device(self._handle.device):
            return self._read()

    def read_value(self) -> Tensor:
        """A tensor with the value as it is here, after the control dependencies that are open."""
        graph = get_default_graph()
        with graph.name_scope("Read"), graph.device(self._handle.device):
            value = self._read()
        return identity_node(value)

    def initialized_value(self) -> Tensor:
        """The value, or the initial value while it has none."""
        with init_scope():
            return initialized_value(self.is_initialized(), self.read_value, self._initial_value)

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        """The rows that `indices` name, without the rest."""
        graph = get_default_graph()
        with graph.name_scope("Gather" if name is None else name) as scope:
            return state.resource_gather(self._handle, indices, dtype=self._dtype, name=scope)

    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        """The parts that the rows of `indices` name, without the rest."""
        graph = get_default_graph()
        with graph.name_scope("GatherNd" if name is None else name) as scope:
            return state.resource_gather_nd(self._handle, indices, dtype=self._dtype, name=scope)

    def _to_tensor(self, dtype: DType | None, name: str | None, as_ref: bool) -> Tensor:
        if dtype is not None and not dtype.is_compatible_with(self._dtype):
            raise ValueError(
                f"Incompatible type conversion requested to type '{dtype.name}' for variable of type '{self._dtype.name}'"
            )
        return self.read_value().op.inputs[0] if as_ref else self.value()

    def eval(self, session: Any = None) -> Any:
        """The value in the session given or the default one."""
        return self._graph_element.eval(session=session)

    def load(self, value: Any, session: Any = None) -> None:
        """Give the variable a value in the session given or the default one, without adding nodes."""
        self._initializer_op.run({self._initializer_op.inputs[1]: value}, session)

    # Its changes.

    def _lazy_read(self, done: Operation) -> Any:
        return UnreadVariable(self, done)

    def _changed(self, done: Operation, read_value: bool) -> Any:
        return self._lazy_read(done) if read_value else done

    def _value_to_assign(self, value: Any) -> Tensor:
        tensor = convert_to_tensor(value, self._dtype)
        if not dims_compatible(self._shape, tensor._dims):
            raise ValueError(f"Shapes {TensorShape(self._shape)} and {tensor.get_shape()} are incompatible")
        return tensor

    def assign(self, value: Any, use_locking: bool | None = None, name: str | None = None, read_value: bool = True) -> Any:
        """Replace the value; the result is the variable after that, or the operation unless `read_value`."""
        tensor = self._value_to_assign(value)
        done = state.assign_variable_op(self._handle, tensor, dtype=self._dtype, name=name)
        return self._changed(done, read_value)

    def assign_add(self, delta: Any, use_locking: bool | None = None, name: str | None = None, read_value: bool = True) -> Any:
        """Add to the value; the result is the variable after that, or the operation unless `read_value`."""
        tensor = self._value_to_assign(delta)
        done = state.assign_add_variable_op(self._handle, tensor, dtype=self._dtype, name=name)
        return self._changed(done, read_value)

    def assign_sub(self, delta: Any, use_locking: bool | None = None, name: str | None = None, read_value: bool = True) -> Any:
        """Subtract from the value; the result is the variable after that, or the operation unless `read_value`."""
        tensor = self._value_to_assign(delta)
        done = state.assign_sub_variable_op(self._handle, tensor, dtype=self._dtype, name=name)
        return self._changed(done, read_value)

    def count_up_to(self, limit: int) -> Tensor:
        """The counter before it is raised by one; the run raises OutOfRangeError when it has reached `limit`."""
        return state.resource_count_up_to(self._handle, limit=limit, T=self._dtype)

    def scatter_sub(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Subtract IndexedSlices; the result is the variable after that."""
        return self._scattered(scatter.resource_scatter_sub, sparse_delta, name)

    def scatter_add(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Add IndexedSlices; the result is the variable after that."""
        return self._scattered(scatter.resource_scatter_add, sparse_delta, name)

    def scatter_max(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Take the maximum with IndexedSlices; the result is the variable after that."""
        return self._scattered(scatter.resource_scatter_max, sparse_delta, name)

    def scatter_min(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Take the minimum with IndexedSlices; the result is the variable after that."""
        return self._scattered(scatter.resource_scatter_min, sparse_delta, name)

    def scatter_mul(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Multiply by IndexedSlices; the result is the variable after that."""
        return self._scattered(scatter.resource_scatter_mul, sparse_delta, name)

    def scatter_div(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Divide by IndexedSlices; the result is the variable after that."""
        return self._scattered(scatter.resource_scatter_div, sparse_delta, name)

    def scatter_update(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Replace the rows that IndexedSlices name; the result is the variable after that."""
        return self._scattered(scatter.resource_scatter_update, sparse_delta, name)

    def _scattered(self, node: Any, sparse_delta: Any, name: str | None) -> Any:
        if not hasattr(sparse_delta, "indices") or not hasattr(sparse_delta, "values"):
            raise TypeError(f"sparse_delta is not IndexedSlices: {sparse_delta}")
        values = convert_to_tensor(sparse_delta.values, self._dtype)
        return self._lazy_read(node(self._handle, sparse_delta.indices, values, dtype=self._dtype, name=name))

    def scatter_nd_sub(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Subtract `updates` at the positions that the rows of `indices` name."""
        return self._scattered_nd(scatter.resource_scatter_nd_sub, indices, updates, name)

    def scatter_nd_add(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Add `updates` at the positions that the rows of `indices` name."""
        return self._scattered_nd(scatter.resource_scatter_nd_add, indices, updates, name)

    def scatter_nd_update(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Replace what the rows of `indices` name by `updates`."""
        return self._scattered_nd(scatter.resource_scatter_nd_update, indices, updates, name)

    def _scattered_nd(self, node: Any, indices: Any, updates: Any, name: str | None) -> Any:
        return self._lazy_read(node(self._handle, indices, convert_to_tensor(updates, self._dtype), name=name))

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The VariableDef; None when the variable is outside `export_scope`."""
        if export_scope is not None and not self._handle.name.startswith(export_scope):
            return None
        snapshot = self._graph_element if self._cached_value is None else self._cached_value
        variable_def = VariableDef(
            variable_name=strip_name_scope(self._handle.name, export_scope),
            trainable=self._trainable,
            synchronization=self._synchronization.value,
            aggregation=self._aggregation.value,
            initializer_name=strip_name_scope(self._initializer_op.name, export_scope),
            snapshot_name=strip_name_scope(snapshot.name, export_scope),
            is_resource=True,
        )
        if self._initial_value is not None:
            variable_def.initial_value_name = strip_name_scope(self._initial_value.name, export_scope)
        self._save_slice_info_to(variable_def, export_scope)
        return variable_def

    def __repr__(self) -> str:
        return f"<tf.Variable '{self.name}' shape={self.get_shape()} dtype={self.dtype.name}>"


class UnreadVariable(ResourceVariable):
    """A resource variable after an update: whatever reads it waits for that update."""

    def __init__(self, variable: ResourceVariable, done: Operation) -> None:
        vars(self).update(vars(variable))
        self._done = done
        self._cached_value = None
        graph = done.graph
        with graph.as_default(), graph.control_dependencies([done]), graph.device(self._handle.device):
            self._graph_element = self._read()

    @property
    def name(self) -> str:
        """The name of the update."""
        return self._done.name

    @property
    def op(self) -> Operation:
        """The update."""
        return self._done

    def value(self) -> Tensor:
        """A tensor with the value after the update."""
        with get_default_graph().control_dependencies([self._done]):
            return super().value()

    def read_value(self) -> Tensor:
        """A tensor with the value after the update."""
        with get_default_graph().control_dependencies([self._done]):
            return super().read_value()
