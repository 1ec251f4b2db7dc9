"""The file `tfprof_log`: for each node of a graph what it computes, and the lines of the program that made it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from tensorboard.compat.proto import config_pb2

from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.nodes.built_at import entries_with_starts
from weft.framework.nodes.operation import Operation
from weft.ops.float_operations import known_float_operations
from weft.platform.files.gfile import GFile
from weft.proto.op_log_pb2 import OpLogEntry, OpLogProto

_FILE = "tfprof_log"
_TRAINABLE = "_trainable_variables"


def write_op_log(
    graph: Graph | None, log_dir: str | os.PathLike[str], op_log: OpLogProto | None = None,
    run_meta: config_pb2.RunMetadata | None = None, add_trace: bool = True,
) -> None:  # fmt: skip
    """Write what a graph's nodes compute to the file `tfprof_log`, which TensorFlow's profilers read.

    Args:
        graph: the graph; the default one when None.
        log_dir: the directory, which must be there.
        op_log: what is known of nodes already, which counts before what weft counts; it is not changed.
        run_meta: the trace of a step. Shapes that it has are given to the graph's tensors, and so more nodes are counted.
        add_trace: whether the lines of the program that made the nodes are written.

    Raises:
        NotFoundError: there is no such directory.
    """
    merged = merge_default_with_oplog(graph, op_log, run_meta, add_trace)
    with GFile(os.path.join(log_dir, _FILE), "wb") as file:
        file.write(merged.SerializeToString())


def merge_default_with_oplog(
    graph: Graph | None, op_log: OpLogProto | None = None, run_meta: config_pb2.RunMetadata | None = None,
    add_trace: bool = True, add_trainable_var: bool = True,
) -> OpLogProto:  # fmt: skip
    """What `write_op_log` writes.

    Args:
        graph, op_log, run_meta, add_trace: see `write_op_log`.
        add_trainable_var: whether the nodes of trainable variables have the type `_trainable_variables`.

    Returns:
        An OpLogProto: first the entries of `op_log`, then those of other nodes in the graph's order.
    """
    graph = get_default_graph() if graph is None else graph
    if run_meta is not None:
        _take_shapes(graph, run_meta)
    numbers = {"none": 0}
    counted, unknown = _counted(graph, numbers, add_trace)
    if unknown and run_meta is None:
        sys.stderr.write(f"{unknown} ops no flops stats due to incomplete shapes.\n")
    if add_trainable_var:
        for variable in graph.get_collection(GraphKeys.TRAINABLE_VARIABLES):
            name = variable.op.name
            counted.setdefault(name, OpLogEntry(name=name)).types.append(_TRAINABLE)
    made = OpLogProto(id_to_string={number: text for text, number in numbers.items()})
    for entry in [] if op_log is None else op_log.log_entries:
        made.log_entries.append(_joined(entry, counted.pop(entry.name, None)))
    made.log_entries.extend(counted.values())
    return made


def _joined(given: OpLogEntry, found: OpLogEntry | None) -> OpLogEntry:
    """What a program says of a node, and what it does not say of it."""
    joined = OpLogEntry()
    joined.CopyFrom(given)
    if found is not None:
        joined.types.extend(found.types)
        joined.float_ops = joined.float_ops or found.float_ops
        if not joined.code_def.traces and found.code_def.traces:
            joined.code_def.CopyFrom(found.code_def)
    return joined


def _counted(graph: Graph, numbers: dict[str, int], add_trace: bool) -> tuple[dict[str, OpLogEntry], int]:
    """The nodes that there is something to say of; and of how many the shapes are not known."""
    entries: dict[str, OpLogEntry] = {}
    unknown = 0
    for node in graph.get_operations():
        operations = known_float_operations(node)
        unknown += operations is None
        entry = OpLogEntry(name=node.name, float_ops=operations or 0)
        if add_trace:
            _trace(entry, node, numbers)
        if operations or add_trace:
            entries[node.name] = entry
    return entries, unknown


def _trace(entry: OpLogEntry, node: Operation, numbers: dict[str, int]) -> None:
    for file, line, function, source, start in entries_with_starts(node.built_from):
        file_id, function_id, line_id = (
            numbers.setdefault(text, len(numbers)) if text else 0 for text in (file, function, source)
        )  # fmt: skip
        entry.code_def.traces.add(
            file_id=file_id, lineno=line or -1, function_id=function_id, line_id=line_id, func_start_line=start or -1
        )


def _take_shapes(graph: Graph, run_meta: config_pb2.RunMetadata) -> None:
    """Give tensors the shapes that a step has found."""
    for node, sizes in _outputs(run_meta):
        try:
            tensors = graph.get_operation_by_name(node).outputs
        except KeyError:
            continue  # such as what sends a tensor to another device
        if len(sizes) != len(tensors):
            continue
        for tensor, size in zip(tensors, sizes, strict=True):
            try:
                tensor.set_shape(size)
            except ValueError as error:
                sys.stderr.write(f"Node {node} incompatible shapes: {error}.\n")


def _outputs(run_meta: config_pb2.RunMetadata) -> Iterator[tuple[str, list[list[int]]]]:
    for device in run_meta.step_stats.dev_stats:
        for node in device.node_stats:
            if node.output:
                shapes = [each.tensor_description.shape for each in node.output]
                yield node.node_name, [[dim.size for dim in shape.dim] for shape in shapes]
