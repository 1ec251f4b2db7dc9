"""How far a model has been trained, by its last checkpoint."""

from __future__ import annotations

from weft.checkpoint.checkpoint_reader import NewCheckpointReader
from weft.checkpoint.checkpoint_state import latest_checkpoint
from weft.framework.graphs.collections import GraphKeys


def trained_steps(model_dir: str) -> int:
    """The global step of the last checkpoint in a directory; 0 without one."""
    path = latest_checkpoint(model_dir)
    reader = None if path is None else NewCheckpointReader(path)
    if reader is None or not reader.has_tensor(GraphKeys.GLOBAL_STEP):
        return 0
    return int(reader.get_tensor(GraphKeys.GLOBAL_STEP))
