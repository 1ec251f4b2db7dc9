"""One case: a node of an op, what comes into it and its attributes, as a graph that any TensorFlow takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from tensorboard.compat.proto import graph_pb2, node_def_pb2, op_def_pb2

from tests.differential.ops.archive import Writer
from tests.differential.ops.known import GRADIENT_OF
from weft.framework.types import attr_value, dtypes
from weft.framework.types.dtypes import DType, as_dtype
from weft.testing.op_checks import as_array

NODE = "node"
_VERSION = 1087  # of graphs that TensorFlow 1.15 and 2.21 both read


@dataclass(frozen=True)
class Variable:
    """An input that is a variable, resource or Ref as the op wants it, with this value before the op runs."""

    value: Any


@dataclass(frozen=True)
class Node:
    """A node beside the op's own: its inputs are names of tensors, or arrays, which are fed."""

    name: str
    op: str
    inputs: Sequence[Any] = ()
    attrs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class OpCase:
    """A node of an op.

    Args:
        op: the op's type.
        inputs: a value for each input, a list of values for a list: an array, a `Variable`, or the name of a tensor of
            `before`; None where the nodes before are the whole program.
        attrs: attributes beyond those that the inputs tell.
        kind: how the case came about, for the table.
        form: "known" placeholders with the values' shapes, "unknown" ones without, or "constant".
        before: further nodes, such as the queue that the op takes from.
        runs: what each run of the session fetches, by name; the node's outputs when there is nothing here.
        functions: a FunctionDefLibrary for attributes that name functions.
    """

    op: str
    inputs: Sequence[Any] | None = ()
    attrs: Mapping[str, Any] = field(default_factory=dict)
    kind: str = "seed"
    form: str = "known"
    before: Sequence[Node] = ()
    runs: Sequence[Sequence[str]] = ()
    functions: Any = None

    def but(self, **changes: Any) -> OpCase:
        """This case with something changed."""
        return replace(self, **changes)

    @property
    def values(self) -> list[Any]:
        """The inputs as arrays, a list of them for a list."""
        return [
            [_value(each) for each in value] if isinstance(value, list | tuple) else _value(value)
            for value in self.inputs or ()
        ]


def _value(value: Any) -> Any:
    return value if isinstance(value, Variable | str) else as_array(value)


def arrays_of(case: OpCase) -> list[Any]:
    """All arrays that a case's node takes, those in lists and in variables as well."""
    members = [each for value in case.values for each in (value if isinstance(value, list) else [value])]
    return [np.asarray(each.value if isinstance(each, Variable) else each) for each in members]


def type_of(value: Any) -> DType:
    """The type of an input's value."""
    return as_dtype((value.value if isinstance(value, Variable) else value).dtype)


def attributes(definition: op_def_pb2.OpDef, case: OpCase) -> dict[str, Any]:
    """All attributes that the case gives or its inputs tell."""
    found: dict[str, Any] = dict(case.attrs)
    for arg, value in zip(definition.input_arg, case.values, strict=False):
        members = value if isinstance(value, list) else [value]
        typed = [type_of(each) for each in members if not isinstance(each, str)]
        if arg.type_list_attr:
            found.setdefault(arg.type_list_attr, typed)
            continue
        if arg.number_attr:
            found.setdefault(arg.number_attr, len(members))
        if arg.type_attr and typed:
            found.setdefault(arg.type_attr, typed[0])
    return found


class _Builder:
    """Makes the graph of one case, and notes what to feed and to fetch."""

    def __init__(self, definitions: Mapping[str, op_def_pb2.OpDef], writer: Writer) -> None:
        self.definitions = definitions
        self.writer = writer
        self.graph = graph_pb2.GraphDef()
        self.graph.versions.producer = _VERSION
        self.feeds: dict[str, Any] = {}
        self.inits: list[str] = []
        self.reads: list[str] = []
        self.fed: list[tuple[str, DType]] = []

    def node(self, name: str, op: str, inputs: Sequence[str], attrs: Mapping[str, Any]) -> node_def_pb2.NodeDef:
        """Add a node."""
        made = self.graph.node.add(name=name, op=op, input=inputs)
        kinds = {attr.name: attr.type for attr in self.definitions[op].attr}
        for key, value in attrs.items():
            kind = kinds.get(key) or attr_value.kind_of(value)
            made.attr[key].CopyFrom(attr_value.encode(kind, value))
        return made

    def value(self, name: str, value: Any, form: str, is_ref: bool) -> str:
        """Add what brings a value, and tell the name of its tensor."""
        if isinstance(value, str):
            return value
        if isinstance(value, Variable):
            return self._variable(name, np.asarray(value.value), is_ref)
        dtype = as_dtype(value.dtype)
        if form == "constant":
            self.node(name, "Const", [], {"dtype": dtype, "value": value})
        else:
            shape = value.shape if form == "known" else None
            self.node(name, "Placeholder", [], {"dtype": dtype, "shape": shape})
            self.feeds[f"{name}:0"] = self.writer.array(dtype.name, value)
        self.fed.append((f"{name}:0", dtype))
        return name

    def _variable(self, name: str, value: Any, is_ref: bool) -> str:
        dtype = as_dtype(value.dtype)
        self.node(f"{name}/initial", "Const", [], {"dtype": dtype, "value": value})
        if is_ref:
            self.node(name, "VariableV2", [], {"dtype": dtype, "shape": value.shape})
            self.node(f"{name}/assign", "Assign", [name, f"{name}/initial"], {"T": dtype})
            self.node(f"{name}/read", "Identity", [name], {"T": dtype})
        else:
            self.node(name, "VarHandleOp", [], {"dtype": dtype, "shape": value.shape, "shared_name": name})
            self.node(f"{name}/assign", "AssignVariableOp", [name, f"{name}/initial"], {"dtype": dtype})
            self.node(f"{name}/read", "ReadVariableOp", [name], {"dtype": dtype})
        self.inits.append(f"{name}/assign")
        self.reads.append(f"{name}/read:0")
        return name


def outputs_of(definition: op_def_pb2.OpDef, attrs: Mapping[str, Any]) -> list[DType]:
    """The types of a node's outputs, one behind the other."""
    defaults = {attr.name: attr_value.decode(attr.default_value) for attr in definition.attr if attr.HasField("default_value")}
    known = {**defaults, **attrs}
    found: list[DType] = []
    for arg in definition.output_arg:
        if arg.type_list_attr:
            found.extend(as_dtype(each) for each in known[arg.type_list_attr])
        else:
            dtype = as_dtype(arg.type) if arg.type else as_dtype(known[arg.type_attr])
            found.extend([dtype] * (int(known[arg.number_attr]) if arg.number_attr else 1))
    return found


def record(case: OpCase, definitions: Mapping[str, op_def_pb2.OpDef], writer: Writer, is_compiled: bool) -> dict[str, Any]:
    """A case as the record of an archive: what `runner.py` runs."""
    builder = _Builder(definitions, writer)
    for node in case.before:
        inputs = [builder.value(f"{node.name}/in{i}", _value(value), "known", False) for i, value in enumerate(node.inputs)]
        builder.node(node.name, node.op, inputs, node.attrs)
    if case.functions is not None:
        builder.graph.library.CopyFrom(case.functions)
    visible, of, by = _own_node(case, definitions[case.op], builder) if case.inputs is not None else ([], [], [])
    runs: list[Sequence[str]] = [visible or [NODE]]
    if case.runs:
        runs = list(case.runs)
    elif builder.inits:
        runs = [builder.inits, *runs, builder.reads]
    has_gradient = bool(of and by and not builder.inits and not case.before)
    return {
        "op": case.op, "kind": case.kind, "form": case.form, "graph": writer.bytes(builder.graph.SerializeToString()),
        "feeds": builder.feeds, "static": visible or [name for run in case.runs for name in run if ":" in name], "runs": runs,
        "compiled": is_compiled, "gradient": {"of": of, "by": by} if has_gradient else None,
    }  # fmt: skip


def _own_node(case: OpCase, definition: op_def_pb2.OpDef, builder: _Builder) -> tuple[list[str], list[str], list[str]]:
    """Add the case's node: its outputs that can be fetched, and those and the inputs that have a gradient."""
    before = len(builder.fed)
    names: list[str] = []
    for arg, value in zip(definition.input_arg, case.values, strict=False):
        for each in value if isinstance(value, list) else [value]:
            names.append(builder.value(f"in{len(names)}", each, case.form, arg.is_ref))
    attrs = attributes(definition, case)
    builder.node(NODE, case.op, names, attrs)
    types = outputs_of(definition, attrs)
    visible = [f"{NODE}:{i}" for i, dtype in enumerate(types) if dtype not in (dtypes.resource, dtypes.variant)]
    of = [f"{NODE}:{i}" for i, dtype in enumerate(types) if dtype.is_floating or dtype.is_complex]
    if case.op in GRADIENT_OF:
        of = of[:1]
    by = [name for name, dtype in builder.fed[before:] if dtype.is_floating or dtype.is_complex]
    return visible, of, by
