"""tf.profiler: parameters and floating-point operations of a graph. This module only re-exports."""

from __future__ import annotations

from weft.client.model_analyzer import profile as profile
from weft.client.profile_options import ProfileOptionBuilder as ProfileOptionBuilder
