"""RefVariable: a variable whose state op gives a mutable tensor, TensorFlow 1.x's usual kind."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from weft.framework.building.aliases import Array, DTypeLike, SessionLike, ShapeLike, TensorLike, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.context import scopes
from weft.framework.graphs.func_graph import FuncGraph
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_shape import TensorShape, as_dims
from weft.ops.array.identity import identity_node
from weft.ops.control_flow.init_scope import init_scope
from weft.ops.state import reference_state as state
from weft.ops.variables import assign as assign_functions
from weft.ops.variables.initialized_value import guarded_initial_value, initialized_value, variable_value
from weft.ops.variables.variable import Variable


class RefVariable(Variable, use_resource=False):
    """A variable made of four nodes: the initial value, `name` (VariableV2), `name/Assign` and `name/read`."""

    def _build(
        self,
        graph: Graph,
        scope: str,
        initial_value: TensorLike | Callable[[], TensorLike],
        dtype: DTypeLike | None,
        shape: ShapeLike,
    ) -> None:
        known = None if shape is None else as_dims(shape)
        if callable(initial_value):
            with graph.attr_scope({"_class": [f"loc:@{scope[:-1]}"]}):
                with graph.name_scope("Initializer"), graph.device(None):
                    value = convert_to_tensor(initial_value(), dtype, "initial_value")
                self._make_state(value, known, shape is None, scope)
        else:
            value = convert_to_tensor(initial_value, dtype, "initial_value")
            if value.op.control_flow_context is not None:
                raise ValueError(
                    f"Initializer for variable {scope} is from inside a control-flow construct, such as a loop or "
                    "conditional. When creating a variable inside a loop or conditional, use a lambda as the "
                    "initializer."
                )
            self._make_state(value, known, shape is None, scope)
        if self._validate_shape and not value.get_shape().is_fully_defined():
            raise ValueError(f"initial_value must have a shape specified: {value}")
        guarded = guarded_initial_value(scope, value)
        self._initializer_op = state.assign(self._variable, guarded, validate_shape=self._validate_shape, name=None).op
        with self._read_placement(graph):
            self._snapshot = identity_node(self._variable, name="read")

    def _make_state(self, value: Tensor, known: Dims, take_value_shape: bool, scope: str) -> None:
        if take_value_shape:
            known = value.dims if self._validate_shape else None
        self._initial_value = value
        self._variable = state.variable_v2(shape=known, dtype=value.dtype.base_dtype, name=scope)

    def _read_placement(self, graph: Graph) -> contextlib.AbstractContextManager[object]:
        if self._caching_device is not None:
            return graph.device(self._caching_device)
        return graph.colocate_with(self._variable.op)

    @property
    def dtype(self) -> DType:
        """The type, in its ref form."""
        return self._variable.dtype

    def _as_graph_element(self) -> Tensor:
        return self._variable

    def _ref(self) -> Tensor:
        return self._variable

    def value(self) -> Tensor:
        """The tensor with the value that users of this variable read: `name/read`.

        Where open control dependencies may be waiting for an update, it is another read, which waits for it too. TensorFlow
        reaches the same with one node: there `name/read` shares the variable's memory, so later users see updates.
        """
        if self._caching_device is None and self._may_wait_for_update():
            graph = get_default_graph()
            # TensorFlow has no such node: later seeds go by the count.
            with graph.name_scope(None), graph.colocate_with(self._variable.op), graph.node_count.as_many_as(0):
                return identity_node(self._variable, name=self._snapshot.op.name)
        return self._snapshot

    def _may_wait_for_update(self) -> bool:
        here = get_default_graph()
        graph: Graph | None = here
        while graph is not None and not scopes.current(graph).control:
            graph = graph.outer_graph if isinstance(graph, FuncGraph) and graph is not self._variable.graph else None
        return graph is not None and any(
            (op.op_def.updates or op.op_def.bodies) and op is not self._initializer_op
            for reference in self._known_in(here)
            for op in reference.consumers()
        )

    def _known_in(self, graph: Graph) -> list[Tensor]:
        """The variable, and what stands for it in the bodies that are being built: an update in one of them uses that."""
        found = [self._variable]
        while isinstance(graph, FuncGraph) and graph is not self._variable.graph:
            if (argument := graph.stand_in(self._variable)) is not None:
                found.append(argument)
            graph = graph.outer_graph
        return found

    def read_value(self) -> Tensor:
        """A tensor with the value as it is here, after the control dependencies that are open."""
        return identity_node(self._variable, name="read")

    def initialized_value(self) -> Tensor:
        """The value, or the initial value while it has none."""
        with init_scope():
            known = state.is_variable_initialized(self._variable, name=None)
            return initialized_value(known, lambda: variable_value(self._variable), self._initial_value)

    def eval(self, session: SessionLike | None = None) -> Array:
        """The value in the session given or the default one."""
        return self._variable.eval(session=session)

    def set_shape(self, shape: TensorShape) -> None:
        """Add what the program knows of the shape.

        Args:
            shape: the shape, with None for unknown sizes.
        """
        self._variable.set_shape(shape)
        self._snapshot.set_shape(shape)

    def assign(
        self, value: TensorLike, use_locking: bool | None = False, name: str | None = None, read_value: bool = True
    ) -> VariableLike:
        """Replace the value; the result is the variable after that, or the operation unless `read_value`."""
        assigned = assign_functions.assign(self._variable, value, use_locking=use_locking, name=name)
        return assigned if read_value else assigned.op

    def assign_add(
        self, delta: TensorLike, use_locking: bool | None = False, name: str | None = None, read_value: bool = True
    ) -> VariableLike:
        """Add to the value; the result is the variable after that, or the operation unless `read_value`."""
        assigned = state.assign_add(self._variable, delta, use_locking=use_locking, name=name)
        return assigned if read_value else assigned.op

    def assign_sub(
        self, delta: TensorLike, use_locking: bool | None = False, name: str | None = None, read_value: bool = True
    ) -> VariableLike:
        """Subtract from the value; the result is the variable after that, or the operation unless `read_value`."""
        assigned = state.assign_sub(self._variable, delta, use_locking=use_locking, name=name)
        return assigned if read_value else assigned.op
