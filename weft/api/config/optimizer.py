"""tf.config.optimizer: what TensorFlow's graph optimizer does. This module only re-exports."""

from __future__ import annotations

from weft.client.process_settings import get_experimental_options as get_experimental_options
from weft.client.process_settings import get_jit as get_jit
from weft.client.process_settings import set_experimental_options as set_experimental_options
from weft.client.process_settings import set_jit as set_jit
