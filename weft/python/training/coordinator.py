"""tensorflow.python.training.coordinator, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.train.coordinator import Coordinator as Coordinator
from weft.train.coordinator import LooperThread as LooperThread
