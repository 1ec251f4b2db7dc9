"""Trained GraphDefs made ready for inference: cut at new inputs, without what only training needs."""

from __future__ import annotations

from collections.abc import Sequence

from tensorboard.compat.proto import graph_pb2, node_def_pb2

from weft.framework.importing.subgraph import extract_sub_graph, remove_training_nodes


def strip_unused(
    input_graph_def: graph_pb2.GraphDef,
    input_node_names: Sequence[str],
    output_node_names: Sequence[str],
    placeholder_type_enum: int | list[int],
) -> graph_pb2.GraphDef:
    """The part of a graph between some nodes, which become placeholders, and others.

    Args:
        input_graph_def: the graph.
        input_node_names: the nodes to feed.
        output_node_names: the nodes wanted.
        placeholder_type_enum: the placeholders' dtype as `DType.as_datatype_enum`, or one for each of `input_node_names`.

    Raises:
        ValueError: a name is a tensor's, with a colon.
        KeyError: there is no node of an input's name.
        AssertionError: there is no node of an output's name.
    """
    for name in input_node_names:
        if ":" in name:
            raise ValueError(f"Name '{name}' appears to refer to a Tensor, not a Operation.")
    missing = set(input_node_names) - {node.name for node in input_graph_def.node}
    if missing:
        raise KeyError(f"The following input nodes were not found: {missing}")
    many = placeholder_type_enum if isinstance(placeholder_type_enum, list) else [placeholder_type_enum] * len(input_node_names)
    types = dict(zip(input_node_names, many, strict=True))
    cut = graph_pb2.GraphDef(library=input_graph_def.library, versions=input_graph_def.versions)
    for node in input_graph_def.node:
        cut.node.append(_placeholder(node, types[node.name]) if node.name in types else node)
    return extract_sub_graph(cut, output_node_names)


def _placeholder(node: node_def_pb2.NodeDef, dtype: int) -> node_def_pb2.NodeDef:
    made = node_def_pb2.NodeDef(name=node.name, op="Placeholder")
    made.attr["dtype"].type = dtype
    for name in ("_output_shapes", "shape"):
        if name in node.attr:
            made.attr[name].CopyFrom(node.attr[name])
    return made


def optimize_for_inference(
    input_graph_def: graph_pb2.GraphDef,
    input_node_names: Sequence[str],
    output_node_names: Sequence[str],
    placeholder_type_enum: int | list[int],
    toco_compatible: bool = False,
) -> graph_pb2.GraphDef:
    """The part of a frozen graph that inference needs, without identities and checks.

    Batch normalization is not folded into weights and convolutions are not fused with what they read, as TensorFlow's tool does
    beside: XLA fuses them when the graph runs.

    Args:
        input_graph_def: the graph.
        input_node_names: the nodes to feed.
        output_node_names: the nodes wanted.
        placeholder_type_enum: the inputs' dtype as `DType.as_datatype_enum`, or one for each of `input_node_names`.
        toco_compatible: accepted; it has no effect.

    Raises:
        ValueError, KeyError, AssertionError: as `strip_unused`.
    """
    stripped = strip_unused(input_graph_def, input_node_names, output_node_names, placeholder_type_enum)
    return remove_training_nodes(stripped, output_node_names)
