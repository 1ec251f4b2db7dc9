"""tf.contrib.resampler: images at places, as spatial transformers sample them. This module only re-exports."""

from __future__ import annotations

from weft.ops.image.warp import resampler as resampler
