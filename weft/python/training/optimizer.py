"""tensorflow.python.training.optimizer, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.train.optimizer import Optimizer as Optimizer
