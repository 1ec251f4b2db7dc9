"""tf.data.experimental: further transformations and sources. This module only re-exports."""

from __future__ import annotations

from weft.data.dataset import get_structure as get_structure
from weft.data.options import DistributeOptions as DistributeOptions
from weft.data.options import MapVectorizationOptions as MapVectorizationOptions
from weft.data.options import OptimizationOptions as OptimizationOptions
from weft.data.options import StatsOptions as StatsOptions
from weft.data.options import ThreadingOptions as ThreadingOptions
