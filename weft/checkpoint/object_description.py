"""What a checkpoint of objects says of them: what held what, the names of variables, and the keys of their values."""

from __future__ import annotations

import os
from typing import Final

from tensorboard.compat.proto.trackable_object_graph_pb2 import TrackableObjectGraph

from weft.checkpoint.checkpoint_reader import NewCheckpointReader
from weft.framework.serial.proto_reading import parse

OBJECT_GRAPH_KEY: Final = "_CHECKPOINTABLE_OBJECT_GRAPH"


def described_objects(path: str | os.PathLike[str]) -> TrackableObjectGraph | None:
    """Return the description of the objects in a checkpoint; None of one that has values by names, as a Saver writes it.

    Args:
        path: the checkpoint's path without suffix.

    Raises:
        NotFoundError: there is no such checkpoint.
        DataLossError: its files are damaged.
    """
    name = os.fsdecode(path)
    reader = NewCheckpointReader(name)
    if not reader.has_tensor(OBJECT_GRAPH_KEY):
        return None
    return parse(TrackableObjectGraph, reader.get_tensor(OBJECT_GRAPH_KEY), f"{name}: the description of its objects")


def keys_by_name(path: str | os.PathLike[str]) -> dict[str, str]:
    """Return the key of each variable's value by the variable's name; none of a checkpoint that has values by name.

    Args:
        path: the checkpoint's path without suffix.

    Raises:
        NotFoundError: there is no such checkpoint.
        DataLossError: its files are damaged.
    """
    saved = described_objects(path)
    nodes = () if saved is None else saved.nodes
    return {each.full_name: each.checkpoint_key for node in nodes for each in node.attributes if each.full_name}
