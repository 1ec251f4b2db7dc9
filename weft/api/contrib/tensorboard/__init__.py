"""tf.contrib.tensorboard: what programs tell TensorBoard. This module only re-exports."""

from __future__ import annotations

from weft.api.contrib.tensorboard import plugins as plugins
