"""What a checkpoint of objects says of them, and which objects a checkpoint would save."""

from __future__ import annotations

import os

from tensorboard.compat.proto.trackable_object_graph_pb2 import TrackableObjectGraph

from weft.checkpoint.checkpoint_reader import NewCheckpointReader
from weft.checkpoint.object_description import OBJECT_GRAPH_KEY, described_objects
from weft.training.tracking.object_graph import VALUE, ObjectGraph


def object_metadata(save_path: str) -> TrackableObjectGraph:
    """The description of the objects in a checkpoint: what holds what, and under which keys the values are.

    Args:
        save_path: the checkpoint's path without suffix.

    Raises:
        NotFoundError: there is no such checkpoint.
        ValueError: it is none of objects, but a Saver's.
    """
    saved = described_objects(save_path)
    if saved is None:
        raise ValueError(
            f'The specified checkpoint "{os.fsdecode(save_path)}" does not appear to be object-based (it is missing the key '
            f'"{OBJECT_GRAPH_KEY}"). It has values by the names of variables, as a Saver writes them: tf.train.list_variables '
            "tells these."
        )
    return saved


def list_objects(root_trackable: object) -> list[object]:
    """The objects that a checkpoint saves which holds one, that one first, slots of optimizers last.

    Args:
        root_trackable: the object.
    """
    return list(ObjectGraph(root_trackable).objects)


def dot_graph_from_checkpoint(save_path: str) -> str:
    """A drawing of the objects in a checkpoint, in Graphviz's language: variables are blue, optimizers red, slots orange.

    Args:
        save_path: the checkpoint's path without suffix.

    Raises:
        NotFoundError, ValueError: as `object_metadata` does.
    """
    reader = NewCheckpointReader(os.fsdecode(save_path))
    nodes = object_metadata(save_path).nodes
    slots = {slot.slot_variable_node_id for node in nodes for slot in node.slot_variables}
    shapes, types = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    lines = ["digraph {"]
    for number, node in enumerate(nodes):
        value = next((each for each in node.attributes if each.name == VALUE), None)
        look = ""
        if value is not None:
            key = value.checkpoint_key
            kind, color = ("Slot variable", "orange") if number in slots else ("Variable", "blue")
            look = f' color={color} width=.25 tooltip="{kind} {value.full_name} shape={shapes[key]} {types[key].name}"'
        elif node.slot_variables:
            look = ' width=.25 color=red,tooltip="Optimizer"'
        lines.append(f'N_{number} [shape=point label=""{look or " width=.25"}]')
        lines += [f'N_{number} -> N_{child.node_id} [label="{child.local_name}"]' for child in node.children]
        for slot in node.slot_variables:
            lines.append(f'N_{number} -> N_{slot.slot_variable_node_id} [label="{slot.slot_name}" style=dotted]')
            lines.append(f"N_{slot.original_variable_node_id} -> N_{slot.slot_variable_node_id} [style=dotted]")
    return "\n".join([*lines, "}", ""])
