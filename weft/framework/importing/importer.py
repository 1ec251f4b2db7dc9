"""import_graph_def: nodes of a GraphDef as operations of a graph."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, overload

from tensorboard.compat.proto import function_pb2, graph_pb2, node_def_pb2, op_def_pb2, versions_pb2

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.context import scopes
from weft.framework.graphs.func_graph import FuncGraph
from weft.framework.graphs.graph import GRAPH_DEF_VERSION, Graph, get_default_graph
from weft.framework.graphs.graph_names import is_valid_name
from weft.framework.graphs.late_reads import LateReads
from weft.framework.nodes.node_types import output_types, types_of
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types import op_def
from weft.framework.op_types.op_summary import op_summary, type_name
from weft.framework.raising.raise_control_flow import raise_control_flow
from weft.framework.registry import op_registry
from weft.framework.serial.function_def import add_arguments, add_results, body_graph_def, functions_run_by
from weft.framework.serial.node_def_reader import Attrs, InvalidNodeError, naming, read_attrs, unknown_op
from weft.framework.serial.node_order import in_order
from weft.framework.types.attr_value import FunctionName
from weft.framework.types.dims import Dims, dims_compatible, merge_dims
from weft.platform.hints.spelling import did_you_mean


@overload
def import_graph_def(
    graph_def: graph_pb2.GraphDef, input_map: Mapping[str, object] | None = None, return_elements: None = None,
    name: str | None = None, op_dict: object = None, producer_op_list: op_def_pb2.OpList | None = None,
) -> None: ...  # fmt: skip
@overload
def import_graph_def(
    graph_def: graph_pb2.GraphDef, input_map: Mapping[str, object] | None = None, return_elements: Sequence[str] = ...,
    name: str | None = None, op_dict: object = None, producer_op_list: op_def_pb2.OpList | None = None,
) -> list[Any]: ...  # fmt: skip
def import_graph_def(
    graph_def: graph_pb2.GraphDef,
    input_map: Mapping[str, object] | None = None,
    return_elements: Sequence[str] | None = None,
    name: str | None = None,
    op_dict: object = None,
    producer_op_list: op_def_pb2.OpList | None = None,
) -> list[Any] | None:
    """Add the nodes of a GraphDef to the default graph, under the name scope `name` ('import' when None).

    Args:
        graph_def: a GraphDef (also one of another package with the same wire form).
        input_map: replaces inputs named `a:0`, `a` or `^a` in the GraphDef by tensors of the graph.
        return_elements: names of operations and tensors in the GraphDef to return.
        name: the prefix; '' for none.
        op_dict, producer_op_list: accepted.

    Returns:
        The elements asked for, or None.

    An import that fails, or that Ctrl-C ends, leaves no node of it in the graph.

    Raises:
        NotFoundError: a node is of an unknown op type.
        TypeError: an argument is of a wrong type.
        ValueError: a node has attributes that its op has not, or lacks some; an input or a requested element is missing; types
            don't fit.
    """
    proto = _as_graph_def(graph_def)
    _check_versions(proto.versions)
    mapped = _checked_map(input_map)
    if return_elements is not None and not all(isinstance(e, str | bytes) for e in return_elements):
        raise TypeError("return_elements must be a list of strings.")
    graph = get_default_graph()
    graph.check_not_finalized()
    with graph.name_scope("import" if name is None else name) as prefix:
        if prefix == "" and name:
            prefix = name
        replacements = {key: _replacement(graph, key, value) for key, value in mapped.items()}
        importer = _Importer(graph, prefix, replacements, uniquify=True, reads=graph.late_reads)
    try:
        with graph.node_count.as_many_as(len(proto.node)):
            importer.add(raise_control_flow(proto))
        unused = [key for key in mapped if key not in importer.used and not importer.has(key)]
        if unused:
            raise ValueError(
                "Attempted to map inputs that were not found in graph_def: "
                f"[{', '.join(sorted(unused))}].{_meant(unused[0].partition(':')[0], [node.name for node in proto.node])}"
            )
        wanted = [e.decode() if isinstance(e, bytes) else e for e in return_elements or ()]
        found = [importer.find(element) for element in wanted]
    except InvalidNodeError as error:
        importer.take_back()
        raise ValueError(str(error)) from error.__cause__  # the class that programs know
    except BaseException:
        importer.take_back()
        raise
    graph.note_producer(proto.versions.producer)
    return None if return_elements is None else found


def add_nodes(graph: Graph, proto: graph_pb2.GraphDef, reads: LateReads | None = None) -> None:
    """Add nodes under their own names and on their own devices; inputs may be nodes that the graph has already.

    For a master or worker that takes over a client's graph, with no scope open; control flow by dead values was raised before.
    `reads` knows the nodes that came before, where the client is TensorFlow's.
    """
    _Importer(graph, "", {}, reads=reads).add(proto)


def _check_versions(versions: versions_pb2.VersionDef) -> None:
    if versions.producer < 0:
        raise ValueError(
            f"GraphDef producer version {versions.producer} below min producer 0 supported by weft: write the graph anew"
        )
    if versions.min_consumer > GRAPH_DEF_VERSION:
        raise ValueError(
            f"GraphDef min consumer version {versions.min_consumer} above current version {GRAPH_DEF_VERSION} for weft: "
            "its writer is newer. Use a newer weft, or write the graph with an older program"
        )
    if GRAPH_DEF_VERSION in versions.bad_consumers:
        raise ValueError(
            f"GraphDef disallows consumer version {GRAPH_DEF_VERSION}, which is that of this weft: it cannot read it"
        )


def _as_graph_def(graph_def: graph_pb2.GraphDef) -> graph_pb2.GraphDef:
    if isinstance(graph_def, graph_pb2.GraphDef):
        return graph_def
    try:
        return graph_pb2.GraphDef.FromString(graph_def.SerializeToString())
    except Exception as error:
        hint = (
            "; read a file by tf.GraphDef.FromString(tf.gfile.GFile(path, 'rb').read())"
            if isinstance(graph_def, str | bytes)
            else ""
        )
        raise TypeError(f"graph_def must be a GraphDef proto. Got {type(graph_def).__name__}{hint}") from error


def _checked_map(input_map: Mapping[str, object] | None) -> dict[str, Any]:
    if input_map is None:
        return {}
    if not isinstance(input_map, Mapping) or not all(isinstance(key, str | bytes) for key in input_map):
        raise TypeError("input_map must be a dictionary mapping strings to Tensor objects.")
    return {key.decode() if isinstance(key, bytes) else key: value for key, value in input_map.items()}


def _replacement(graph: Graph, key: str, value: TensorLike) -> Any:
    if key.startswith("^"):
        element = graph.as_graph_element(value.lstrip("^") if isinstance(value, str) else value)
        return element.op if isinstance(element, Tensor) else element
    return value if isinstance(value, Tensor) else convert_to_tensor(value, name=f"_inputs/{key.replace(':', '_')}")


# Of a graph's nodes that are shown where none of a name is there.
_SHOWN_NODES: Final = 4


def _meant(name: str, known: Sequence[str]) -> str:
    """The node that was probably meant, or the last ones, of which a model's outputs are."""
    return did_you_mean(name, known) or (
        f" The last nodes are {', '.join(known[-_SHOWN_NODES:])}." if known else " It has no nodes."
    )


class _Importer:
    """Adds nodes; with `uniquify` a name that the graph has already gets a suffix, without it is an error."""

    def __init__(
        self,
        graph: Graph,
        prefix: str,
        replacements: Mapping[str, Any],
        uniquify: bool = False,
        reads: LateReads | None = None,
    ) -> None:
        self._graph = graph
        self._prefix = prefix
        self._uniquify = uniquify
        self._replacements = replacements
        self._reads = reads
        self._reads_before = 0 if reads is None else len(reads.made)
        self._nodes: dict[str, Operation] = {}
        self._names: dict[str, str] = {}
        self._functions: dict[str, str] = {}
        self._added_functions: list[str] = []
        self.used: set[str] = set()

    def add(self, proto: graph_pb2.GraphDef) -> None:
        names = {node.name for node in proto.node}
        if len(names) != len(proto.node):
            twice = Counter(node.name for node in proto.node).most_common(1)[0][0]
            raise ValueError(f"Node {twice!r} is not unique: the GraphDef contains two nodes of this name.")
        if self._uniquify and (illegal := next((name for name in names if not is_valid_name(name)), None)) is not None:
            raise ValueError(f"Node {illegal!r}: Node name contains invalid characters")
        if self._uniquify:
            # Bodies have nodes of the same names, which must not take these.
            for node in proto.node:
                self._name_of(node.name)
        grown = [] if self._uniquify else [node for node in proto.node if self._is_grown(node)]
        self._add_functions(proto.library, functions_run_by(grown, proto.library))
        for node in grown:
            with naming(node):
                self._grow(node)
        again = {node.name for node in grown}
        for node in in_order(proto, names):
            if node.name not in again:
                with naming(node):
                    self._add_node(node, names)
        if self._uniquify:
            self._settle_devices()

    def take_back(self) -> None:
        """Remove what was added, in a program's own graph: what failed half-way may come again under the same names."""
        added = list(self._nodes.values())
        if self._reads is not None:
            late = list(self._reads.made)[self._reads_before :]
            added += late
            for op in late:
                del self._reads.made[op]
        self._graph.remove_newest(sorted(added, key=lambda op: op.id))
        for name in self._names.values():
            self._graph.release_name(name)
        for name in self._added_functions:
            self._graph.functions.pop(name, None)

    def _settle_devices(self) -> None:
        """Put nodes that are colocated with others where these are: of the two rules this is the stronger."""
        for op in self._nodes.values():
            for group in op.attrs.get("_class", ()):
                other = self._graph.operations.get(group.removeprefix("loc:@")) if group.startswith("loc:@") else None
                if other is not None and other is not op:
                    op._set_device(other.device)
                    break

    def _is_grown(self, node: node_def_pb2.NodeDef) -> bool:
        """Whether the graph has the node already: one that runs functions may come again with more of them to return."""
        found = self._graph.operations.get(node.name)
        return found is not None and bool(found.op_def.bodies) and op_registry.is_registered(node.op)

    def _grow(self, node: node_def_pb2.NodeDef) -> None:
        """Let a node that the graph has return what its functions return by now."""
        op = self._graph.operations[node.name]
        definition = op_registry.lookup(node.op)
        attrs = read_attrs(definition, node)
        op.op_def, op.type = definition, node.op
        op.attrs.update(attrs)
        for dtype in output_types(definition, attrs)[len(op.outputs) :]:
            op.outputs.append(Tensor(op, len(op.outputs), dtype))
        for tensor, dims in zip(op.outputs, definition.infer(op), strict=True):
            tensor.dims = dims
        self._graph.note_growth(op.name)

    def _add_functions(self, library: function_pb2.FunctionDefLibrary, renewed: Collection[str]) -> None:
        """Take over the library. An import gets functions of its own: what one import does to them is not seen by another."""
        wanted = []
        for function in library.function:
            name = function.signature.name
            if name in renewed:
                self._graph.functions.pop(name, None)
            elif name in self._graph.functions:
                if not self._uniquify:
                    continue
                self._functions[name] = self._unused_function(name)
            wanted.append(function)
        for function in wanted:
            # Errors name a function as they name a node: both are found in the GraphDef by their names.
            name = function.signature.name
            with naming(node_def_pb2.NodeDef(name=name, op="FunctionDef")), self._graph.node_count.as_many_as(0):
                self._add_function(function)

    def _add_function(self, function: function_pb2.FunctionDef) -> None:
        name = self._functions.get(function.signature.name, function.signature.name)
        body = FuncGraph(name, self._graph)
        add_arguments(body, function)
        importer = _Importer(body, "", {})
        importer._functions = self._functions
        importer.add(body_graph_def(function))
        add_results(body, function)
        self._graph.add_function(name, body)
        self._added_functions.append(name)
        body.finalize()

    def _unused_function(self, name: str) -> str:
        return next(n for n in (f"{name}_{i}" for i in itertools.count(1)) if n not in self._graph.functions)

    def _renamed_function(self, value: TensorLike) -> Any:
        if isinstance(value, FunctionName) and value in self._functions:
            return FunctionName(self._functions[value], value.attrs)
        return value

    def _add_node(self, node: node_def_pb2.NodeDef, names: set[str]) -> None:
        try:
            definition = op_registry.lookup(node.op)
        except LookupError:
            raise unknown_op(node) from None
        attrs = {key: self._renamed_function(value) for key, value in read_attrs(definition, node, self._prefix).items()}
        known_shapes = attrs.pop("_output_shapes", ())
        if "_class" in attrs:
            attrs["_class"] = [self._group(item, node.name, names) for item in attrs["_class"]]
        plain = [name for name in node.input if not name.startswith("^")]
        inputs = [self._tensor(name, node.name) for name in plain]
        control = [self._control(name, node.name) for name in node.input if name.startswith("^")]
        _check_types(node, self._prefix, definition, attrs, inputs)
        state = scopes.current(self._graph)
        control += [op for frame in state.control for op in frame.operations if op not in control]
        name = self._graph.settle_name(f"{self._name_of(node.name)}/")
        if self._reads is not None:
            inputs = self._reads.inputs(name, node.device, inputs, control)
        op = self._graph.add_node(definition, name, inputs, output_types(definition, attrs), attrs, control)
        add_shapes(op, known_shapes)
        if node.device:
            op._set_device(node.device)
            scopes.apply_device_functions(state.devices, op)
        if self._reads is not None:
            self._reads.note(op, node.device)
        self._nodes[node.name] = op

    def _name_of(self, node: str) -> str:
        """The name that a node of the GraphDef gets in the graph."""
        if not self._uniquify:
            return self._prefix + node
        if node not in self._names:
            with self._graph.name_scope(None):
                self._names[node] = self._graph.unique_name(self._prefix + node)
        return self._names[node]

    def _group(self, item: str, node: str, names: set[str]) -> str:
        if not item.startswith("loc:@"):
            return item
        other = item[5:]
        if self._uniquify and other not in names:
            raise ValueError(f"Node {node!r} expects to be colocated with unknown node {other!r}")
        return f"loc:@{self._name_of(other)}"

    def _tensor(self, name: str, consumer: str) -> Tensor:
        op_name, _, index = name.partition(":")
        for key in (name, f"{op_name}:{index or 0}", op_name if not index or index == "0" else ""):
            if key in self._replacements:
                self.used.add(key)
                return self._replacements[key]  # type: ignore[no-any-return]
        op = self._operation(op_name, consumer)
        if index and not index.isdecimal():
            raise ValueError(f"Node {consumer!r}: input {name!r} is not the name of a tensor, as in 'node:0'")
        place = int(index or 0)
        if place >= len(op.outputs):
            raise ValueError(f"Node {consumer!r}: Connecting to invalid output {place} of source node {op_name} which has "
                             f"{len(op.outputs)} outputs.")  # fmt: skip
        return op.outputs[place]

    def _control(self, name: str, consumer: str) -> Operation:
        if name in self._replacements:
            self.used.add(name)
            return self._replacements[name]  # type: ignore[no-any-return]
        return self._operation(name[1:], consumer)

    def _operation(self, name: str, consumer: str) -> Operation:
        op = self._nodes.get(name) or (self._graph.operations.get(name) if not self._prefix else None)
        if op is None:
            raise ValueError(f"Node {consumer!r}: Unknown input node {name!r}")
        return op

    def has(self, key: str) -> bool:
        """Whether the GraphDef has what a key of the input map names."""
        op_name, _, index = key.lstrip("^").partition(":")
        op = self._nodes.get(op_name)
        return op is not None and (not index or (index.isdigit() and int(index) < len(op.outputs)))

    def find(self, element: str) -> Operation | Tensor:
        op_name, colon, index = element.partition(":")
        op = self._nodes.get(op_name)
        if op is None or (colon and not index.isdigit()):
            kind = "tensor" if colon else "node"
            meant = _meant(op_name, list(self._nodes))
            raise ValueError(f"Requested return {kind} {element!r} not found in graph def.{meant}")
        if colon and int(index) >= len(op.outputs):
            raise ValueError(f"Invalid return output {index} of node {op_name!r}, which has {len(op.outputs)} output(s)")
        return op.outputs[int(index)] if colon else op


def add_shapes(op: Operation, known_shapes: Sequence[Dims]) -> None:
    """Take what the writer of the graph knew of the outputs' shapes, where it does not contradict the inputs here."""
    for tensor, dims in zip(op.outputs, known_shapes, strict=False):
        if dims_compatible(tensor.dims, dims):
            tensor.dims = merge_dims(tensor.dims, dims)


def _check_types(
    node: node_def_pb2.NodeDef, prefix: str, definition: op_def.OpDef, attrs: Attrs, inputs: Sequence[Tensor]
) -> None:
    expected = [dtype for arg in definition.inputs for dtype in types_of(arg, attrs)]
    if len(expected) != len(inputs):
        types = ", ".join(type_name(dtype) for dtype in expected)
        raise ValueError(
            f"NodeDef expected inputs '{types}' do not match {len(inputs)} inputs specified; {op_summary(definition)}; "
            f"NodeDef: {{{{node {prefix}{node.name}}}}}\n  Node {node.name!r} has {len(inputs)} inputs, expects {len(expected)}"
        )
    for number, (tensor, dtype) in enumerate(zip(inputs, expected, strict=True)):
        if tensor.dtype.base_dtype is not dtype.base_dtype:
            raise ValueError(
                f"Input {number} of node {prefix}{node.name} was passed {type_name(tensor.dtype)} from {tensor.name} "
                f"incompatible with expected {type_name(dtype)}."
            )
