"""The names that variables had when a checkpoint of objects was written, and the keys that their values have in it."""

from __future__ import annotations

import os
from typing import Final

from tensorboard.compat.proto.trackable_object_graph_pb2 import TrackableObjectGraph

from weft.checkpoint.checkpoint_reader import NewCheckpointReader
from weft.framework.proto_reading import parse

OBJECT_GRAPH_KEY: Final = "_CHECKPOINTABLE_OBJECT_GRAPH"


def keys_by_name(path: str | os.PathLike[str]) -> dict[str, str]:
    """Return the key of each variable's value by the variable's name; none of a checkpoint that has values by name.

    Args:
        path: the checkpoint's path without suffix.

    Raises:
        NotFoundError: there is no such checkpoint.
        DataLossError: its files are damaged.
    """
    reader = NewCheckpointReader(os.fsdecode(path))
    if not reader.has_tensor(OBJECT_GRAPH_KEY):
        return {}
    saved = parse(TrackableObjectGraph, reader.get_tensor(OBJECT_GRAPH_KEY), f"{path}: the description of its objects")
    return {each.full_name: each.checkpoint_key for node in saved.nodes for each in node.attributes if each.full_name}
