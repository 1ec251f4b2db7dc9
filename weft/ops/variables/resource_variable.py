"""ResourceVariable: a variable behind a handle, whose reads and writes are ordered by control dependencies alone."""

from __future__ import annotations

from collections.abc import Callable

from tensorboard.compat.proto.variable_pb2 import VariableDef

from weft.framework.building.aliases import Array, DTypeLike, SessionLike, ShapeLike, TensorLike, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dims import Dims, dims_compatible
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_shape import TensorShape, as_dims
from weft.ops.array.identity import identity_node
from weft.ops.control_flow.init_scope import init_scope
from weft.ops.declaration import Role
from weft.ops.state import resource_state as state
from weft.ops.variables.eager_value import EagerValue
from weft.ops.variables.initialized_value import guarded_initial_value, initialized_value
from weft.ops.variables.variable import Variable


class ResourceVariable(EagerValue, Variable, use_resource=True):
    """A variable made of `name` (VarHandleOp) and the nodes that initialize, check and read what is behind it."""

    _is_resource_variable = True
    _is_initialized_op: Tensor
    _graph_element: Tensor
    _is_cached: bool
    _dtype: DType
    _shape: Dims

    def _build(
        self,
        graph: Graph,
        scope: str,
        initial_value: TensorLike | Callable[[], TensorLike],
        dtype: DTypeLike | None,
        shape: ShapeLike,
    ) -> None:
        true_name = scope[:-1]
        with graph.attr_scope({"_class": [f"loc:@{true_name}"]}):
            with graph.name_scope("Initializer"), graph.device(None):
                value = convert_to_tensor(initial_value() if callable(initial_value) else initial_value, dtype,
                                          "initial_value")  # fmt: skip
            self._shape = value.dims if shape is None else as_dims(shape)
            self._dtype = value.dtype.base_dtype
            self._initial_value = value
            self._variable = state.var_handle_op(dtype=self._dtype, shape=self._shape, shared_name=true_name, name=scope)
        if shape is not None and not dims_compatible(self._shape, value.dims):
            raise ValueError(
                f"The initial value's shape ({value.get_shape()}) is not compatible with the explicitly supplied `shape` "
                f"argument ({TensorShape(shape)})."
            )
        if value.op.control_flow_context is not None:
            raise ValueError(
                f"Initializer for variable {scope} is from inside a control-flow construct, such as a loop or "
                "conditional. When creating a variable inside a loop or conditional, use a lambda as the initializer."
            )
        device = self._variable.device
        with graph.name_scope("IsInitialized"), graph.device(device):
            self._is_initialized_op = state.var_is_initialized_op(self._variable)
        guarded = guarded_initial_value(scope, value)
        alone = graph.colocate_with(None, ignore_existing=True)
        with graph.name_scope("Assign") as assign_scope, alone, graph.device(device):
            self._initializer_op = state.assign_variable_op(self._variable, guarded, dtype=self._dtype, name=assign_scope)
        self._is_cached = self._caching_device is not None
        with graph.name_scope("Read"):
            with graph.device(device):
                self._snapshot = self._graph_element = self._read()
            if self._is_cached:
                # Nobody expects the devices around to be merged into the one that was named for the copy.
                with graph.colocate_with(None, ignore_existing=True), graph.device(self._caching_device):
                    self._snapshot = identity_node(self._graph_element)

    def _restore(self, variable_def: VariableDef, import_scope: str | None) -> None:
        if not variable_def.is_resource:
            raise ValueError("Trying to restore Variable as ResourceVariable.")
        super()._restore(variable_def, import_scope)
        graph, handle = get_default_graph(), self._variable.op
        self._shape, self._dtype = handle.attrs["shape"], handle.attrs["dtype"]
        self._graph_element, self._is_cached = self._snapshot, self._snapshot.op.op_def.role is not Role.READ
        self._is_initialized_op = graph.get_tensor_by_name(f"{handle.name}/IsInitialized/VarIsInitializedOp:0")

    # What it is.

    @property
    def handle(self) -> Tensor:
        """The tensor with the handle."""
        return self._variable

    @property
    def dtype(self) -> DType:
        """The type."""
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        """The shape, as far as it is known."""
        return TensorShape(self._shape)

    @property
    def create(self) -> Operation:
        """The operation that gives it its initial value."""
        return self._initializer_op

    def set_shape(self, shape: ShapeLike) -> None:
        """Add what the program knows of the shape.

        Args:
            shape: the shape, with None for unknown sizes.
        """
        merged = TensorShape(self._shape).merge_with(shape)
        self._shape = as_dims(merged)

    def _as_graph_element(self) -> Tensor:
        return self._graph_element

    def is_initialized(self, name: str | None = None) -> Tensor:
        """A scalar bool tensor: whether it has a value."""
        return state.var_is_initialized_op(self._variable, name=name)

    # Its value.

    def _read(self) -> Tensor:
        value: Tensor = state.read_variable_op(self._variable, dtype=self._dtype)
        value.dims = self._shape
        return value

    def value(self) -> Tensor:
        """A tensor with the value as it is here, after the control dependencies that are open; or the cached one."""
        if self._is_cached:
            return self._snapshot
        graph = get_default_graph()
        with graph.colocate_with(None, ignore_existing=True), graph.device(self._variable.device):
            return self._read()

    def read_value(self) -> Tensor:
        """A tensor with the value as it is here, after the control dependencies that are open."""
        graph = get_default_graph()
        with graph.name_scope("Read"), graph.device(self._variable.device):
            value = self._read()
        return identity_node(value)

    def initialized_value(self) -> Tensor:
        """The value, or the initial value while it has none."""
        with init_scope():
            return initialized_value(self.is_initialized(), self.read_value, self._initial_value)

    def sparse_read(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """The rows that `indices` name, without the rest.

        Args:
            indices: the rows' numbers, in any shape: the result has a row in the place of each.
        """
        graph = get_default_graph()
        with graph.name_scope("Gather" if name is None else name) as scope:
            value: Tensor = state.resource_gather(self._variable, indices, dtype=self._dtype, name=scope)
        return identity_node(value)

    def gather_nd(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """The parts that the rows of `indices` name, without the rest.

        Args:
            indices: `[..., k]`: each row has k coordinates, the first dimensions of the variable.
        """
        graph = get_default_graph()
        with graph.name_scope("GatherNd" if name is None else name) as scope:
            value: Tensor = state.resource_gather_nd(self._variable, indices, dtype=self._dtype, name=scope)
        return identity_node(value)

    def _ref(self) -> Tensor:
        return self.read_value().op.inputs[0]

    def eval(self, session: SessionLike | None = None) -> Array:
        """The value in the session given or the default one."""
        return self._graph_element.eval(session=session)

    def __bool__(self) -> bool:
        return bool(self.read_value())

    # Its changes.

    def lazy_read(self, done: Operation) -> _UnreadVariable:
        """The variable after an update, which is read when it is used.

        Args:
            done: the update.
        """
        return _UnreadVariable(self, done)

    def _changed(self, done: Operation, read_value: bool) -> VariableLike:
        return self.lazy_read(done) if read_value else done

    def _value_to_assign(self, value: TensorLike) -> Tensor:
        tensor = convert_to_tensor(value, self._dtype)
        if not dims_compatible(self._shape, tensor.dims):
            raise ValueError(f"Shapes {TensorShape(self._shape)} and {tensor.get_shape()} are incompatible")
        return tensor

    def assign(
        self, value: TensorLike, use_locking: bool | None = None, name: str | None = None, read_value: bool = True
    ) -> VariableLike:
        """Replace the value; the result is the variable after that, or the operation unless `read_value`."""
        tensor = self._value_to_assign(value)
        done = state.assign_variable_op(self._variable, tensor, dtype=self._dtype, name=name)
        return self._changed(done, read_value)

    def assign_add(
        self, delta: TensorLike, use_locking: bool | None = None, name: str | None = None, read_value: bool = True
    ) -> VariableLike:
        """Add to the value; the result is the variable after that, or the operation unless `read_value`."""
        tensor = self._value_to_assign(delta)
        done = state.assign_add_variable_op(self._variable, tensor, dtype=self._dtype, name=name)
        return self._changed(done, read_value)

    def assign_sub(
        self, delta: TensorLike, use_locking: bool | None = None, name: str | None = None, read_value: bool = True
    ) -> VariableLike:
        """Subtract from the value; the result is the variable after that, or the operation unless `read_value`."""
        tensor = self._value_to_assign(delta)
        done = state.assign_sub_variable_op(self._variable, tensor, dtype=self._dtype, name=name)
        return self._changed(done, read_value)

    def count_up_to(self, limit: int) -> Tensor:
        """The counter before it is raised by one; the run raises OutOfRangeError when it has reached `limit`."""
        counted: Tensor = state.resource_count_up_to(self._variable, limit=limit, T=self._dtype)
        return counted


def is_resource_variable(var: object) -> bool:
    """Whether an object is a resource variable: one whose reads are operations of their own."""
    return isinstance(var, ResourceVariable)


class _UnreadVariable(ResourceVariable):
    """A resource variable after an update: whatever reads it waits for that update."""

    def __init__(self, variable: ResourceVariable, done: Operation) -> None:
        vars(self).update(vars(variable))
        self._done = done
        self._is_cached = False
        graph = done.graph
        with graph.as_default(), graph.control_dependencies([done]), graph.device(self._variable.device):
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
