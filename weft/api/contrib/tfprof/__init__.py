"""tf.contrib.tfprof: what a graph's nodes hold and compute. This module only re-exports."""

from __future__ import annotations

from weft.api.contrib.tfprof import model_analyzer as model_analyzer
from weft.api.contrib.tfprof import tfprof_logger as tfprof_logger
