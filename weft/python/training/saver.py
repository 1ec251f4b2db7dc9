"""tensorflow.python.training.saver, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.checkpoint.checkpoint_state import checkpoint_exists as checkpoint_exists
from weft.checkpoint.checkpoint_state import get_checkpoint_state as get_checkpoint_state
from weft.checkpoint.checkpoint_state import latest_checkpoint as latest_checkpoint
from weft.train.saving.meta_graph import export_meta_graph as export_meta_graph
from weft.train.saving.saver import Saver as Saver
from weft.train.saving.saver import import_meta_graph as import_meta_graph
