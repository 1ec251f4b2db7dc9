"""TransformGraph, and the transforms that it knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tensorboard.compat.proto import graph_pb2

from weft.client.graph_transforms import nodes
from weft.client.graph_transforms.batch_norms import fold_batch_norms, fold_old_batch_norms
from weft.client.graph_transforms.folding import fold_constants
from weft.client.graph_transforms.request import Transform, requests
from weft.errors import InvalidArgumentError

_TRANSFORMS: Final[Mapping[str, Transform]] = {
    each.__name__: each
    for each in (
        nodes.add_default_attributes, nodes.merge_duplicate_nodes, nodes.remove_attribute, nodes.remove_control_dependencies,
        nodes.remove_device, nodes.remove_nodes, nodes.rename_attribute, nodes.rename_op, nodes.set_device,
        nodes.sort_by_execution_order, nodes.strip_unused_nodes, fold_batch_norms, fold_constants, fold_old_batch_norms,
    )
}  # fmt: skip


def TransformGraph(
    input_graph_def: graph_pb2.GraphDef, inputs: Sequence[str], outputs: Sequence[str], transforms: Sequence[str]
) -> graph_pb2.GraphDef:
    """A graph, changed by one transform after the other.

        frozen = tf.graph_util.convert_variables_to_constants(session, session.graph_def, ["scores"])
        smaller = TransformGraph(frozen, ["images"], ["scores"], [
            "strip_unused_nodes", "fold_constants(ignore_errors=true)", "fold_batch_norms", "fold_old_batch_norms"])

    There are `strip_unused_nodes(type, shape, name, type_for_name, shape_for_name)`, `remove_nodes(op)`,
    `merge_duplicate_nodes`, `fold_constants(ignore_errors, clear_output_shapes)`, `fold_batch_norms`, `fold_old_batch_norms`,
    `remove_attribute(attribute_name, op_name)`, `rename_attribute(old_attribute_name, new_attribute_name, op_name)`,
    `rename_op(old_op_name, new_op_name)`, `remove_device`, `set_device(device, if_default)`, `remove_control_dependencies`,
    `sort_by_execution_order` and `add_default_attributes`.

    Args:
        input_graph_def: the graph; it is left as it is. Its variables are constants, as `convert_variables_to_constants`
            makes them.
        inputs: the names of the nodes that will be fed.
        outputs: the names of those that will be fetched.
        transforms: the transforms, in their order.

    Returns:
        The changed graph. Folded nodes are constants under their own names.

    Raises:
        InvalidArgumentError: there is no such transform, its arguments are wrong, or a node is missing.
    """
    given = [[names] if isinstance(names, str) else list(names) for names in (inputs, outputs, transforms)]
    made = graph_pb2.GraphDef()
    made.CopyFrom(input_graph_def)
    for request in requests(given[2], given[0], given[1]):
        if request.name not in _TRANSFORMS:
            known = ", ".join(sorted(_TRANSFORMS))
            raise InvalidArgumentError.of(f"Transform '{request.name}' not recognized. There are: {known}")
        made = _TRANSFORMS[request.name](made, request)
    return made
