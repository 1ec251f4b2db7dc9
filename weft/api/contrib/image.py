"""tf.contrib.image: projective transforms and warps of images. This module only re-exports."""

from __future__ import annotations

from weft.ops.image.projection import angles_to_projective_transforms as angles_to_projective_transforms
from weft.ops.image.projection import compose_transforms as compose_transforms
from weft.ops.image.projection import flat_transforms_to_matrices as flat_transforms_to_matrices
from weft.ops.image.projection import matrices_to_flat_transforms as matrices_to_flat_transforms
from weft.ops.image.projection import rotate as rotate
from weft.ops.image.projection import transform as transform
from weft.ops.image.projection import translate as translate
from weft.ops.image.projection import translations_to_projective_transforms as translations_to_projective_transforms
from weft.ops.image.spline import interpolate_spline as interpolate_spline
from weft.ops.image.spline import sparse_image_warp as sparse_image_warp
from weft.ops.image.warp import dense_image_warp as dense_image_warp
