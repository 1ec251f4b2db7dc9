"""tf.contrib.checkpoint: objects of programs' own in checkpoints. This module only re-exports."""

from __future__ import annotations

from tensorboard.compat.proto.trackable_object_graph_pb2 import TrackableObjectGraph

from weft.framework.attribute_tracking import NoDependency as NoDependency
from weft.training.tracking.autotracking import AutoTrackable, TrackableBase
from weft.training.tracking.checkpoint_manager import CheckpointManager as CheckpointManager
from weft.training.tracking.containers import List as List
from weft.training.tracking.containers import Mapping as Mapping
from weft.training.tracking.containers import UniqueNameTracker as UniqueNameTracker
from weft.training.tracking.inspection import dot_graph_from_checkpoint as dot_graph_from_checkpoint
from weft.training.tracking.inspection import list_objects as list_objects
from weft.training.tracking.inspection import object_metadata as object_metadata
from weft.training.tracking.python_state import NumpyState as NumpyState
from weft.training.tracking.python_state import PythonState

# Under names of their own: type checkers take a renamed import for the module's private business.
Checkpointable = AutoTrackable
CheckpointableBase = TrackableBase
CheckpointableObjectGraph = TrackableObjectGraph
PythonStateWrapper = PythonState
