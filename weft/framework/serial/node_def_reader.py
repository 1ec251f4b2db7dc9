"""NodeDefs of unknown origin: their attributes as plain values, and errors that name the node.

A GraphDef may come from any writer, so nothing of it is taken on trust: each attribute is held against its declaration before
shape rules see it, and whatever a rule then raises about the rest is raised as the node's fault.
"""

from __future__ import annotations

import contextlib
import platform
import re
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from tensorboard.compat.proto import attr_value_pb2, node_def_pb2, types_pb2

from weft.errors import NotFoundError, OpError
from weft.framework.nodes.node_types import output_types
from weft.framework.op_types.op_def import AttrDef, OpDef
from weft.framework.op_types.op_summary import op_summary
from weft.framework.serial.graph_def import complete_attrs
from weft.framework.types import attr_value

Attrs: TypeAlias = dict[str, Any]
"""A node's attributes as plain values."""

_KINDS: Final = {
    "type": "type", "shape": "shape", "s": "string", "b": "bool", "i": "int", "f": "float", "tensor": "tensor", "func": "func",
}  # fmt: skip
# Attributes that every node may have.
_COMMON: Final = {
    "_class": AttrDef("_class", "list(string)"),
    "_output_shapes": AttrDef("_output_shapes", "list(shape)"),
}
# A Split or Unpack has one output per part. Without a limit twenty bytes ask for any number of Tensor objects.
MAX_OUTPUTS: Final = 1 << 16


# What later TensorFlow versions write besides, and what changes no result: hints for quantization, and for tf.data's runtime.
_LATER: Final = frozenset((
    "grad_a", "grad_b", "grad_x", "grad_y", "metadata", "is_files", "replicate_on_split", "use_unbounded_threadpool",
    "force_synchronous", "warm_start", "buffer_size_min", "use_default_device", "log_warning", "external_state_policy",
    "cardinality_options", "ram_budget",
))  # fmt: skip


class InvalidNodeError(ValueError):
    """A node of a GraphDef is not one; `node_def` has its name and op."""

    def __init__(self, message: str, node_def: node_def_pb2.NodeDef) -> None:
        super().__init__(message)
        self.node_def = node_def

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.args[0], self.node_def)


@contextlib.contextmanager
def naming(node: node_def_pb2.NodeDef) -> Iterator[None]:
    """Raise whatever goes wrong inside as InvalidNodeError, with the node's name in the text."""
    try:
        yield
    except (InvalidNodeError, NotFoundError):
        raise
    # Shape rules are written for attributes and inputs that fit each other; where they don't, any of these may come.
    except (ArithmeticError, AttributeError, LookupError, MemoryError, OpError, TypeError, ValueError) as error:
        text = error.message if isinstance(error, OpError) else str(error)
        if not re.search(rf"'{re.escape(node.name)}'|[/ ]{re.escape(node.name)}[ }}]", text):
            reason = text if isinstance(error, OpError | ValueError) else f"{type(error).__name__}: {text}"
            text = f"Node {node.name!r} (op: {node.op!r}): {reason}"
        raise InvalidNodeError(text, node_def_pb2.NodeDef(name=node.name, op=node.op)) from error


def unknown_op(node: node_def_pb2.NodeDef) -> NotFoundError:
    """The error for a node of an op that weft has not."""
    return NotFoundError(
        node,
        None,
        f"Op type not registered {node.op!r} in binary running on {platform.node()}. Make sure the Op and Kernel are "
        f"registered in the binary running in this process. Node {node.name!r} needs it, and weft has no such op.",
    )


def read_attrs(definition: OpDef, node: node_def_pb2.NodeDef, prefix: str = "") -> Attrs:
    """The attributes of a node as plain values, with the defaults of those that it leaves out.

    Args:
        definition: its op.
        node: the node.
        prefix: that of its name in the graph that it is for.

    Raises:
        ValueError: one is missing, is not of the kind and type declared, or is none of the op's.
    """
    values: Attrs = {}
    for key, proto in node.attr.items():
        declared = definition.attrs.get(key) or _COMMON.get(key)
        if declared is not None:
            _check_kind(declared, proto, definition, prefix + node.name)
        elif key in _LATER:
            continue
        elif not key.startswith("_"):
            raise ValueError(
                f"NodeDef mentions attr {key!r} not in {op_summary(definition)}; NodeDef: {{{{node {prefix}{node.name}}}}}. "
                "(Check whether your GraphDef-interpreting binary is up to date with your GraphDef-generating binary.)."
            )
        values[key] = attr_value.decode(proto)
        if declared is not None:
            _check_value(declared, values[key])
    complete_attrs(definition, values, prefix + node.name)
    _check_counts(definition, values, len(node.input))
    return values


def _check_kind(declared: AttrDef, proto: attr_value_pb2.AttrValue, definition: OpDef, node: str) -> None:
    found = _kind(proto)
    wanted = declared.kind
    if found == "list()" and wanted.startswith("list("):
        return
    if found == wanted and (found != "type" or proto.type in types_pb2.DataType.values()):
        return
    if found == "nothing" and declared.default is None:
        return
    text = f"AttrValue had value with type {found!r} when {wanted!r} expected"
    if found == wanted:
        text = f"AttrValue has invalid DataType enum: {proto.type}"
    raise ValueError(f"{text}\n\t for attr {declared.name!r}\n\t; NodeDef: {{{{node {node}}}}}; {op_summary(definition)}")


def _kind(proto: attr_value_pb2.AttrValue) -> str:
    """The kind of what an AttrValue holds, as declarations write it; `list()` is an empty one of any kind."""
    field = proto.WhichOneof("value") or "nothing"
    if field == "list":
        return f"list({'|'.join(_KINDS[each.name] for each, _ in proto.list.ListFields())})"
    return _KINDS.get(field, field)


def _check_value(declared: AttrDef, value: Any) -> None:
    name = declared.name
    if declared.choices and value not in declared.choices:
        choices = '", "'.join(declared.choices)
        raise ValueError(f'Value for attr {name!r} of "{value}" is not in the list of allowed values: "{choices}"')
    if declared.minimum is not None:
        given, what = (value, "Value") if isinstance(value, int) else (len(value), "Length")
        if given < declared.minimum:
            raise ValueError(f"{what} for attr {name!r} of {given} must be at least minimum {declared.minimum}")
    if declared.kind == "type":
        if value is None and declared.default is not None:
            raise ValueError(f"Attr {declared.name!r} has no type (DT_INVALID)")
        if declared.allowed and value is not None and value.base_dtype not in declared.allowed:
            allowed = ", ".join(dtype.name for dtype in declared.allowed)
            raise ValueError(
                f"Value for attr {declared.name!r} of {value.name} is not in the list of allowed values: {allowed}"
            )


def _check_counts(definition: OpDef, values: Attrs, inputs: int) -> None:
    for arg in definition.inputs:
        if arg.number_attr and not 0 <= values[arg.number_attr] <= inputs:
            raise ValueError(f"Attr {arg.number_attr!r} counts {values[arg.number_attr]} inputs, the node has {inputs}")
    for arg in definition.outputs:
        if arg.number_attr and not 0 <= values[arg.number_attr] <= MAX_OUTPUTS:
            raise ValueError(
                f"Attr {arg.number_attr!r} counts {values[arg.number_attr]} outputs; a node may have {MAX_OUTPUTS} of one name"
            )
    if len(output_types(definition, values)) > MAX_OUTPUTS:
        raise ValueError(f"The node has more than {MAX_OUTPUTS} outputs")
