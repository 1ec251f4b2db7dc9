"""The scopes that a program opens while it builds a graph: devices, colocation, order, containers, gradients."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from weft.framework.context import scopes
from weft.framework.context.scopes import ControlFrame
from weft.framework.devices import device_spec
from weft.framework.nodes.operation import Operation, Tensor


class BuildingScopes:
    """A graph's scopes other than name scopes. Each thread has its own."""

    def switch_to_thread_local(self) -> None:
        """Have each thread open its own scopes, as it does in any case."""

    @contextlib.contextmanager
    def device(self, device_name_or_function: object) -> Iterator[None]:
        """Put nodes made in the block on a device: a name, a DeviceSpec, a function of the op, or None to stop outer ones.

        Args:
            device_name_or_function: a name such as "/job:ps/task:0", a DeviceSpec, a function from an operation to one of
                these, or None for no device of the blocks around.

        Raises:
            RuntimeError: at the end of the block, when blocks opened in it are still open.
        """
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
        with scopes.entered(self, **changes) as entered:
            yield
            if len(scopes.current(self).devices) > len(entered.devices):
                raise RuntimeError(
                    f"Exiting device scope without proper scope nesting. Blocks opened in that of {spec!r} are still open: the "
                    "scope opened last is left first, as `with` does it."
                )

    @contextlib.contextmanager
    def colocate_with(self, op: object, ignore_existing: bool = False) -> Iterator[None]:
        """Put nodes made in the block beside `op`, or nowhere in particular for None; devices around don't count inside.

        Args:
            op: an operation, tensor or variable, or None for none of the blocks around.
            ignore_existing: whether the devices and operations of the blocks around are left out.

        Raises:
            ValueError: `ignore_existing` without an operation.
        """
        if op is None and not ignore_existing:
            raise ValueError("Trying to reset colocation (op is None) but ignore_existing is not True")
        state = scopes.current(self)
        stack = () if ignore_existing else state.colocation
        if op is not None:
            stack = (*stack, _operation_of(op))
        with scopes.entered(self, colocation=stack, devices=(), device_name=""):
            yield

    @contextlib.contextmanager
    def control_dependencies(self, control_inputs: Iterable[object] | None) -> Iterator[None]:
        """Make nodes of the block wait for the operations and tensors given; None forgets those of outer blocks.

        Args:
            control_inputs: operations and tensors that are done first, or None for none of those of the blocks around.
        """
        if control_inputs is None:
            changes: dict[str, Any] = {"control": (), "control_flow": None}
        else:
            frame = ControlFrame(tuple(self._control_operations(control_inputs)))
            changes = {"control": (*scopes.current(self).control, frame)}
        with scopes.entered(self, **changes):
            yield

    def _control_operations(self, items: Iterable[object]) -> Iterator[Operation]:
        if not isinstance(items, Iterable) or hasattr(items, "op") or hasattr(items, "outputs"):
            raise TypeError(f"control_dependencies takes a list of operations and tensors, not {items!r}: put it into a list.")
        for index, item in enumerate(items):
            if item is None:
                raise TypeError(
                    f"Can not convert a NoneType into a Tensor or Operation. It is item {index} of control_dependencies: what "
                    "was to make the operation has returned none."
                )
            try:
                yield self._control_operation(item)
            except KeyError as error:
                if not isinstance(items, str):
                    raise
                raise KeyError(
                    f"{error.args[0]} control_dependencies takes a list, and was given the text {items!r}: "
                    f"tf.get_collection({items!r}) is the list of what the graph has under this name."
                ) from None

    def _control_operation(self, item: object) -> Operation:
        """The operation that an item of `control_dependencies` stands for; the graph knows."""
        raise NotImplementedError

    def _control_dependencies_for_inputs(self, inputs: Sequence[Tensor]) -> Sequence[Operation]:
        return self._implied_control_inputs(scopes.current(self), inputs)

    @contextlib.contextmanager
    def container(self, container_name: str) -> Iterator[str]:
        """Keep the state of variables, queues and tables made in the block in the resource container of that name.

        Args:
            container_name: the container's name.
        """
        with scopes.entered(self, container=container_name):
            yield container_name

    @contextlib.contextmanager
    def gradient_override_map(self, op_type_map: dict[str, str]) -> Iterator[None]:
        """Use the gradients registered under other names for op types made in the block.

        Args:
            op_type_map: names of gradients (`tf.RegisterGradient`) by op type.

        Raises:
            TypeError: `op_type_map` is no dict of names to names.
        """
        if not isinstance(op_type_map, dict):
            raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        for key, value in op_type_map.items():
            if not isinstance(key, str) or not isinstance(value, str):
                raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        overrides = {**scopes.current(self).gradient_overrides, **op_type_map}
        with scopes.entered(self, gradient_overrides=overrides):
            yield

    @contextlib.contextmanager
    def attr_scope(self, attr_map: dict[str, Any]) -> Iterator[None]:
        """Give nodes made in the block attributes; None takes one of a block around away.

        Args:
            attr_map: values by the attributes' names.
        """
        merged = {**scopes.current(self).attrs, **attr_map}
        with scopes.entered(self, attrs={k: v for k, v in merged.items() if v is not None}):
            yield

    # By this name, TensorFlow's own, variables of libraries are put beside what they belong to.
    _attr_scope = attr_scope

    @contextlib.contextmanager
    def _kernel_label_map(self, op_to_kernel_label_map: dict[str, str]) -> Iterator[None]:
        yield

    @contextlib.contextmanager
    def original_op(self, op: Operation) -> Iterator[None]:
        """Note of nodes made in the block which operation they come from.

        Args:
            op: the operation.
        """
        with scopes.entered(self, original_op=op):
            yield

    # By this name, TensorFlow's own, programs build gradients of an operation.
    _original_op = original_op

    def _get_control_flow_context(self) -> Any:
        return scopes.current(self).control_flow

    @contextlib.contextmanager
    def control_flow_context(self, context: object) -> Iterator[None]:
        """Mark nodes of the block as belonging to a branch or loop.

        Args:
            context: the branch or loop, None for none.
        """
        with scopes.entered(self, control_flow=context):
            yield

    def _implied_control_inputs(self, state: Any, inputs: Sequence[Tensor]) -> Sequence[Operation]:
        return scopes.implied_control_inputs(state.control, {t.op for t in inputs}) if state.control else ()

    # Standalone Keras asks by this name, with an object that only takes the device.
    def _apply_device_functions(self, op: Operation) -> None:
        state = scopes.current(self)
        if state.device_name:
            op._set_device(state.device_name)
        else:
            scopes.apply_device_functions(state.devices, op)

    def _apply_scopes(self, op: Operation, state: Any) -> None:
        if state.device_name is None:
            scopes.apply_device_functions(state.devices, op)
        elif state.device_name:
            op.place(state.device_name)
        for key, value in state.attrs.items():
            if key not in op.attrs:
                op._set_attr(key, value(op) if callable(value) else value)
        if state.colocation:
            groups: set[str] = set()
            for other in reversed(state.colocation):
                groups.update(group.decode() for group in other.colocation_groups())
                if other.device:
                    op.place(other.device)
            op.attrs["_class"] = sorted(groups)
        if state.container and op.op_def.stateful and op.attrs.get("container") == "":
            op.attrs["container"] = state.container
        override = state.gradient_overrides.get(op.type)
        if override is not None:
            op.attrs["_gradient_op_type"] = override
        op.original_op = state.original_op
        op.control_flow_context = state.control_flow


def _operation_of(op: object) -> Operation:
    if isinstance(op, Operation):
        return op
    inner = getattr(op, "handle", None) if getattr(op, "_is_resource_variable", False) else None
    element = inner if inner is not None else op
    found = getattr(element, "op", None)
    if isinstance(found, Operation):
        return found
    raise TypeError(f"colocate_with: expected an Operation, Tensor or Variable, got {type(op).__name__}{_of_name(op)}")


def _of_name(op: object) -> str:
    return f": graph.get_operation_by_name({op!r}) finds one by its name" if isinstance(op, str) else ""
