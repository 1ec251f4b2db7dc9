"""tf.contrib.tensorboard.plugins. This module only re-exports."""

from __future__ import annotations

from weft.api.contrib.tensorboard.plugins import projector as projector
