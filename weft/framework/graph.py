"""Graph: the container of Operations, with the scopes, names and collections that programs build it by.

A graph only grows. Appending is atomic under the interpreter's lock, so one thread may build while others run steps: a run sees
the nodes that were there when it began.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from weft.framework import device_spec, graph_def, op_def, scopes
from weft.framework.collections import Collections
from weft.framework.default_stack import default_graphs
from weft.framework.dtypes import DType
from weft.framework.op_def import OpDef
from weft.framework.operation import Operation, Tensor, capture_stack
from weft.framework.scopes import ControlFrame
from weft.framework.tensor_shape import brackets, format_dims

_VALID_OP_NAME: Final = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$")
_VALID_SCOPE_NAME: Final = re.compile(r"^[A-Za-z0-9_.\\/>-]*$")
GRAPH_DEF_VERSION: Final = 134


class Graph(Collections):
    """A dataflow graph. One is the default; `with graph.as_default()` makes another one so for the block."""

    def __init__(self) -> None:
        super().__init__()
        self._operations: dict[str, Operation] = {}
        self._names: dict[str, object] = {}
        self._suffixes: dict[str, int] = {}
        self._ids = itertools.count(1)
        self._changes = itertools.count(1)
        self._version = 0
        self._finalized = False
        self._seed: int | None = None
        self._unfeedable: set[Tensor] = set()
        self._unfetchable: set[Operation] = set()
        self._functions: dict[str, Any] = {}
        # The version in which a node of that name, or of a function of that name, last got further outputs.
        self._grown: dict[str, int] = {}

    # What is in it.

    @property
    def version(self) -> int:
        """A number that grows with every change of the graph."""
        return self._version

    @property
    def graph_def_versions(self) -> Any:
        """The VersionDef that this graph's GraphDef carries."""
        return graph_def.version_def(GRAPH_DEF_VERSION)

    @property
    def seed(self) -> int | None:
        """The graph-level random seed."""
        return self._seed

    @seed.setter
    def seed(self, seed: int | None) -> None:
        self._seed = seed

    @property
    def finalized(self) -> bool:
        """Whether the graph is closed for changes."""
        return self._finalized

    @property
    def building_function(self) -> bool:
        """Whether this is the body of a function or a branch."""
        return False

    def finalize(self) -> None:
        """Close the graph: any later change is a RuntimeError."""
        self._finalized = True

    def _unsafe_unfinalize(self) -> None:
        self._finalized = False

    def _check_not_finalized(self) -> None:
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")

    def note_change(self) -> None:
        """Give the graph a new version after an edge was added or replaced."""
        self._version = next(self._changes)

    def note_growth(self, name: str) -> None:
        """Give the graph a new version after the node of that name got further outputs."""
        self.note_change()
        self._grown[name] = self._version

    def get_operations(self) -> list[Operation]:
        """All operations in the order in which they were made."""
        return list(self._operations.values())

    def find_operation(self, name: str) -> Operation | None:
        """The node of that name, which may be one of a function's, or None."""
        found = self._operations.get(name)
        bodies = (function._operations.get(name) for function in self._functions.values())
        return found or next((op for op in bodies if op is not None), None)

    def get_operation_by_name(self, name: str) -> Operation:
        """The operation of that name; KeyError when there is none."""
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=False, allow_operation=True)  # type: ignore[no-any-return]

    def get_tensor_by_name(self, name: str) -> Tensor:
        """The tensor of that name (`op:index`); KeyError or ValueError when there is none."""
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=True, allow_operation=False)  # type: ignore[no-any-return]

    def as_graph_element(self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True) -> Any:
        """The Tensor or Operation that `obj` is, names or stands for.

        Raises:
            TypeError: `obj` stands for neither. ValueError: it is of another kind or another graph. KeyError: nothing here
            has that name.
        """
        return graph_def.find_element(self, obj, allow_tensor, allow_operation)

    def prevent_feeding(self, tensor: Tensor) -> None:
        """Mark a tensor as not feedable."""
        self._unfeedable.add(tensor)

    def is_feedable(self, tensor: Tensor) -> bool:
        """Whether a run may feed this tensor."""
        return tensor not in self._unfeedable

    def prevent_fetching(self, op: Operation) -> None:
        """Mark an operation as not fetchable."""
        self._unfetchable.add(op)

    def is_fetchable(self, element: Any) -> bool:
        """Whether a run may fetch this tensor or operation."""
        return (element.op if isinstance(element, Tensor) else element) not in self._unfetchable

    # Its serial form.

    def as_graph_def(self, from_version: int | None = None, add_shapes: bool = False) -> Any:
        """The GraphDef; with `from_version` only the nodes that were added after that version."""
        return graph_def.to_graph_def(self, from_version or 0, add_shapes)

    def node_def_of(self, op: Operation) -> Any:
        """The NodeDef of one operation."""
        return graph_def.to_node_def(op)

    def add_function(self, name: str, function: Any) -> None:
        """Put a function (a body graph) into the library, once per name."""
        self._functions.setdefault(name, function)

    def get_function(self, name: str) -> Any:
        """The function of that name; KeyError when there is none."""
        return self._functions[name]

    # Building.

    def create_op(
        self,
        op_type: str,
        inputs: Sequence[Tensor],
        dtypes: Sequence[DType] | None = None,
        input_types: Any = None,
        name: str | None = None,
        attrs: dict[str, Any] | None = None,
        op_def: Any = None,
        compute_shapes: bool = True,
        compute_device: bool = True,
    ) -> Operation:
        """Add a node of a declared op type. `attrs` may hold plain values or AttrValue protos."""
        return graph_def.create_op_from_parts(self, op_type, inputs, dtypes, name, attrs or {}, compute_device)

    def add_node(
        self,
        definition: OpDef,
        name: str,
        inputs: Sequence[Tensor],
        output_types: Sequence[DType],
        attrs: dict[str, Any],
        control_inputs: Sequence[Operation] | None = None,
    ) -> Operation:
        """Add a node whose name is settled and whose inputs are tensors of this graph; the innermost step of building.

        Open scopes give it control inputs (unless they are given), device, colocation and container.

        Raises:
            ValueError: the shapes don't fit, or the name is illegal.
            RuntimeError: the graph is finalized.
        """
        if self._finalized:
            self._check_not_finalized()
        state = scopes.current(self)
        if control_inputs is None:
            control_inputs = self._implied_control_inputs(state, inputs)
        op = Operation(self, definition, name, inputs, control_inputs, output_types, attrs)
        op.built_from = capture_stack()
        self._infer_shapes(op)
        if state is not scopes.EMPTY:
            self._apply_scopes(op, state)
        self._append(op)
        for frame in state.control:
            frame.inside.add(op)
        return op

    def _implied_control_inputs(self, state: Any, inputs: Sequence[Tensor]) -> Sequence[Operation]:
        return scopes.implied_control_inputs(state.control, {t.op for t in inputs}) if state.control else ()

    def _infer_shapes(self, op: Operation) -> None:
        try:
            shapes = op.op_def.infer(op)
        except ValueError as error:
            given = ", ".join(brackets(t._dims) for t in op.inputs)
            raise ValueError(f"{error} for {op.name!r} (op: {op.type!r}) with input shapes: {given}.") from None
        for tensor, dims in zip(op.outputs, shapes, strict=True):
            tensor._dims = dims

    def _apply_scopes(self, op: Operation, state: Any) -> None:
        if state.device_name is None:
            for function in reversed(state.devices):
                if function is None:
                    break
                op._set_device(function(op))
        elif state.device_name:
            op._device = state.device_name
        for key, value in state.attrs.items():
            if key not in op.attrs:
                op._set_attr(key, value(op) if callable(value) else value)
        if state.colocation:
            groups: set[str] = set()
            for other in reversed(state.colocation):
                groups.update(group.decode() for group in other.colocation_groups())
                if other.device:
                    op._device = other.device
            op.attrs["_class"] = sorted(groups)
        if state.container and op.op_def.stateful and op.attrs.get("container") == "":
            op.attrs["container"] = state.container
        override = state.gradient_overrides.get(op.type)
        if override is not None:
            op.attrs["_gradient_op_type"] = override
        op._original_op = state.original_op
        op._control_flow_context = state.control_flow

    def _append(self, op: Operation) -> None:
        for tensor in op.inputs:
            tensor._consumers.append(op)
        for other in op.control_inputs:
            other.control_consumers.append(op)
        op._id = next(self._ids)
        self._operations[op.name] = op
        self._version = next(self._changes)

    @property
    def _last_id(self) -> int:
        return len(self._operations)

    # Names.

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """`name` in the open name scope, with the first suffix `_1`, `_2` ... that makes it new. Case does not count."""
        prefix = scopes.current(self).name
        full = f"{prefix}/{name}" if prefix else name
        token = object()
        if not mark_as_used:
            return next(n for n in self._candidates(full, 0) if n.lower() not in self._names)
        start = self._suffixes.get(full.lower(), 0)
        for candidate in self._candidates(full, start):
            # setdefault is atomic: two threads cannot both win a name.
            if self._names.setdefault(candidate.lower(), token) is token:
                self._suffixes[full.lower()] = start + 1
                return candidate
            start += 1
        raise AssertionError("unreachable: the candidates never end")

    def _candidates(self, full: str, start: int) -> Iterator[str]:
        for index in itertools.count(start):
            yield full if index == 0 else f"{full}_{index}"

    def settle_name(self, name: str) -> str:
        """The full name of a node: unique, or as it is when it ends in '/'; ValueError when it is illegal."""
        settled = name[:-1] if name.endswith("/") else self.unique_name(name)
        if not _VALID_OP_NAME.match(settled):
            raise ValueError(f"'{settled}' is not a valid node name")
        if settled in self._operations:
            raise ValueError(f"Duplicate node name in graph: {settled!r}; give the op another name")
        if name.endswith("/"):
            self._names.setdefault(settled.lower(), settled)
        return settled

    @contextlib.contextmanager
    def name_scope(self, name: str | None) -> Iterator[str]:
        """Prefix the names of nodes made in the block; None or '' goes to the root, 'x/' re-enters scope x."""
        if name:
            valid = _VALID_SCOPE_NAME if scopes.current(self).name else _VALID_OP_NAME
            if not valid.match(name):
                raise ValueError(f"'{name}' is not a valid scope name")
        if not name:
            new = ""
        elif name.endswith("/"):
            new = name[:-1]
        else:
            new = self.unique_name(name)
        with scopes.entered(self, name=new):
            yield f"{new}/" if new else ""

    def get_name_scope(self) -> str:
        """The open name scope, without a '/' at the end."""
        return scopes.current(self).name

    # Devices, colocation, order, containers.

    @contextlib.contextmanager
    def device(self, device_name_or_function: Any) -> Iterator[None]:
        """Put nodes made in the block on a device: a name, a DeviceSpec, a function of the op, or None to stop outer ones."""
        state = scopes.current(self)
        spec = device_name_or_function
        if spec is None:
            changes: dict[str, Any] = {"devices": (*state.devices, None), "device_name": ""}
        elif callable(spec) and not isinstance(spec, type) and not hasattr(spec, "to_string"):
            changes = {"devices": (*state.devices, spec), "device_name": None}
        else:
            function = device_spec.merge_device(spec)
            inner = device_spec.canonical_name(device_spec.as_string(spec))
            merged = None if state.device_name is None else device_spec.merge_names(state.device_name, inner)
            changes = {"devices": (*state.devices, function), "device_name": merged}
        with scopes.entered(self, **changes):
            yield

    @contextlib.contextmanager
    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Iterator[None]:
        """Put nodes made in the block beside `op`; device scopes around don't count inside."""
        if op is None and not ignore_existing:
            raise ValueError("Trying to reset colocation (op is None) but ignore_existing is not True")
        state = scopes.current(self)
        stack = () if ignore_existing else state.colocation
        if op is not None:
            stack = (*stack, _operation_of(op))
        keep_devices = op is None
        with scopes.entered(
            self,
            colocation=stack,
            devices=state.devices if keep_devices else (),
            device_name=state.device_name if keep_devices else "",
        ):
            yield

    @contextlib.contextmanager
    def control_dependencies(self, control_inputs: Iterable[Any] | None) -> Iterator[None]:
        """Make nodes of the block wait for the operations and tensors given; None forgets those of outer blocks."""
        if control_inputs is None:
            changes: dict[str, Any] = {"control": (), "control_flow": None}
        else:
            frame = ControlFrame(tuple(self._control_operation(c) for c in control_inputs))
            changes = {"control": (*scopes.current(self).control, frame)}
        with scopes.entered(self, **changes):
            yield

    def _control_operation(self, item: Any) -> Operation:
        if hasattr(item, "indices") and hasattr(item, "values") and isinstance(item.values, Tensor):
            return item.op  # type: ignore[no-any-return]
        if getattr(item, "_is_resource_variable", False):
            # Waiting for a variable, or for an update of it, is no reason to read it.
            return item.op  # type: ignore[no-any-return]
        element = self.as_graph_element(item)
        return element.op if isinstance(element, Tensor) else element

    def _control_dependencies_for_inputs(self, inputs: Sequence[Tensor]) -> Sequence[Operation]:
        return self._implied_control_inputs(scopes.current(self), inputs)

    @contextlib.contextmanager
    def container(self, container_name: str) -> Iterator[str]:
        """Keep the state of variables, queues and tables made in the block in the resource container of that name."""
        with scopes.entered(self, container=container_name):
            yield container_name

    @contextlib.contextmanager
    def gradient_override_map(self, op_type_map: dict[str, str]) -> Iterator[None]:
        """Use the gradients registered under other names for op types made in the block."""
        if not isinstance(op_type_map, dict):
            raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        for key, value in op_type_map.items():
            if not isinstance(key, str) or not isinstance(value, str):
                raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        overrides = {**scopes.current(self).gradient_overrides, **op_type_map}
        with scopes.entered(self, gradient_overrides=overrides):
            yield

    @contextlib.contextmanager
    def _attr_scope(self, attr_map: dict[str, Any]) -> Iterator[None]:
        merged = {**scopes.current(self).attrs, **attr_map}
        with scopes.entered(self, attrs={k: v for k, v in merged.items() if v is not None}):
            yield

    @contextlib.contextmanager
    def _kernel_label_map(self, op_to_kernel_label_map: dict[str, str]) -> Iterator[None]:
        yield

    @contextlib.contextmanager
    def _original_op(self, op: Operation) -> Iterator[None]:
        with scopes.entered(self, original_op=op):
            yield

    def _get_control_flow_context(self) -> Any:
        return scopes.current(self).control_flow

    @contextlib.contextmanager
    def control_flow_context(self, context: Any) -> Iterator[None]:
        """Mark nodes of the block as belonging to a branch or loop."""
        with scopes.entered(self, control_flow=context):
            yield

    def as_default(self) -> contextlib.AbstractContextManager[Graph]:
        """Make this graph the default for the block."""
        return default_graphs.use(self)


def _operation_of(op: Any) -> Operation:
    if isinstance(op, Operation):
        return op
    inner = getattr(op, "handle", None) if getattr(op, "_is_resource_variable", False) else None
    element = inner if inner is not None else op
    found = getattr(element, "op", None)
    if isinstance(found, Operation):
        return found
    raise TypeError(f"colocate_with: expected an Operation, Tensor or Variable, got {type(op).__name__}")


_global_graph: list[Graph] = []


def get_default_graph() -> Graph:
    """The innermost graph of `as_default` blocks, else the process-wide one."""
    graph = default_graphs.get_default()
    if graph is not None:
        return graph  # type: ignore[no-any-return]
    if not _global_graph:
        _global_graph.append(Graph())
    return _global_graph[0]


def reset_default_graph() -> None:
    """Start over with an empty default graph; an AssertionError inside an `as_default` block."""
    if not default_graphs.is_cleared():
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, exit the nesting and "
            "create a new graph."
        )
    _global_graph[:] = [Graph()]


def lookup_op_def(name: str) -> OpDef:
    """The declaration of an op type; LookupError when there is none."""
    return op_def.lookup(name)


def describe(tensor: Tensor) -> str:
    """Name, dtype and shape of a tensor for an error message."""
    return f"{tensor.name} ({tensor.dtype.name} {format_dims(tensor._dims)})"
