"""A graph in TensorFlow's ops: what `as_graph_def`, and all that writes graphs to files, gives away.

weft has ops of its own where TensorFlow needs several nodes, or none of its ops will do: gradients of broadcasting, stacks of
what loops compute, buffers of TensorArrays. Each has a form in TensorFlow's ops
(`weft.ops.tensorflow_forms`), and is written so.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable

from tensorboard.compat.proto import function_pb2, graph_pb2, versions_pb2

from weft.framework.lowered.recorded_lists import recorded_lists
from weft.framework.lowered.recording import add_lists, record
from weft.framework.nodes.graph_elements import Elements
from weft.framework.nodes.operation import Operation
from weft.framework.op_types.op_role import Role
from weft.framework.registry.tensorflow_form import Lists
from weft.framework.serial.export_cache import written_once
from weft.framework.serial.function_def import functions_run_by, reference, to_function_def
from weft.framework.serial.node_writer import TensorFlowWriter, graph_reference
from weft.framework.types.dtypes import DType, variant


def exported_graph_def(
    graph: Elements, versions: versions_pb2.VersionDef, from_version: int = 0, add_shapes: bool = False
) -> graph_pb2.GraphDef:
    """The GraphDef of the operations that were made after `from_version`, in TensorFlow's ops, and of all functions."""
    operations = graph.get_operations()
    wanted = {op for op in operations if op.id > from_version}
    if from_version:
        return _exported(graph, versions, operations, wanted, add_shapes)
    return written_once(graph, versions, add_shapes, lambda: _exported(graph, versions, operations, wanted, add_shapes))


def exported_part(
    graph: Elements, versions: versions_pb2.VersionDef, operations: Collection[Operation], known: Collection[str]
) -> graph_pb2.GraphDef:
    """The GraphDef of some operations, in TensorFlow's ops, with the functions that they run.

    What these use is among them, or among the operations whose names are `known`, which whoever reads it has already.
    """
    wanted = set(operations)
    among = [op for op in graph.get_operations() if op in wanted or op.name in known]
    proto = _exported(graph, versions, among, wanted)
    needed = functions_run_by(proto.node, proto.library)
    kept = [function for function in proto.library.function if function.signature.name in needed]
    del proto.library.function[:]
    proto.library.function.extend(kept)
    return proto


def _exported(
    graph: Elements,
    versions: versions_pb2.VersionDef,
    operations: Iterable[Operation],
    wanted: Container[Operation],
    add_shapes: bool = False,
) -> graph_pb2.GraphDef:
    """The nodes of the operations wanted; those of the others are made, as names and references depend on them."""
    proto = graph_pb2.GraphDef(versions=versions)
    lists = recorded_lists(graph)
    write = TensorFlowWriter(graph_reference, graph.operations, lists, add_shapes)
    for op in operations:
        nodes = write(op)
        if op in wanted:
            proto.node.extend(nodes)
    if graph.functions:
        proto.library.function.extend(_exported_functions(graph, lists))
        _drop_opened(proto, write.opened)
    if proto.library.function:
        # The first version that reads functions.
        proto.versions.min_consumer = 12
    return proto


def _drop_opened(proto: graph_pb2.GraphDef, opened: set[str]) -> None:
    """Remove the functions of branches whose nodes stand in the graph, where no other node runs them."""
    if not opened:
        return
    kept = [function for function in proto.library.function if function.signature.name not in opened]
    nodes = [*proto.node, *(node for function in kept for node in function.node_def)]
    needed = functions_run_by(nodes, proto.library)
    kept = [
        function for function in proto.library.function
        if function.signature.name not in opened or function.signature.name in needed
    ]  # fmt: skip
    del proto.library.function[:]
    proto.library.function.extend(kept)


def _exported_functions(graph: Elements, lists: Lists) -> list[function_pb2.FunctionDef]:
    """The functions of a graph, in order of name; those of loops that record have a list for each stack."""
    functions = graph.functions
    nodes = [*graph.get_operations(), *(op for function in functions.values() for op in function.get_operations())]
    loops = [op for op in nodes if op.op_def.role is Role.RECORDING_LOOP]
    recording: dict[str, tuple[bool, list[DType]]] = {}
    for loop in loops:
        types = [variant if lists.get(stack, 1) > 1 else stack.dtype for stack in loop.outputs[len(loop.inputs) :]]
        for attr in loop.op_def.bodies:
            recording[loop.attrs[attr]] = (attr == loop.op_def.bodies[-1], types)
    written = []
    for name in sorted(functions):
        function = functions[name]
        proto = to_function_def(function, TensorFlowWriter(reference, function.operations, lists, is_function=True))
        if name in recording:
            is_body, types = recording[name]
            (record if is_body else add_lists)(proto, types)
        written.append(proto)
    return written
