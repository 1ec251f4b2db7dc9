"""tensorflow.python.training.optimizer, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.train.optimizers.optimizer import Optimizer as Optimizer
