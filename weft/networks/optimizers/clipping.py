"""GradientClips: the limits that an optimizer holds gradients to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from weft.framework.building.aliases import Nest
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.networks.config import GivenConfig
from weft.ops.math.clip import clip_by_norm, clip_by_value

CLIPS: Final = ("clipnorm", "clipvalue")


class GradientClips:
    """The limits among an optimizer's options: `clipnorm` of each gradient's norm, `clipvalue` of each element's magnitude."""

    def __init__(self, options: GivenConfig) -> None:
        self.limits: Mapping[str, float] = {key: options[key] for key in CLIPS if options.get(key) is not None}

    def applied(self, grad: Nest) -> Nest:
        """A gradient within the limits."""
        if "clipnorm" in self.limits:
            grad = clip_by_norm(grad, self.limits["clipnorm"])
        if "clipvalue" in self.limits:
            grad = _by_value(grad, self.limits["clipvalue"])
        return grad


def _by_value(grad: Nest, limit: float) -> Nest:
    if isinstance(grad, IndexedSlices):
        return IndexedSlices(clip_by_value(grad.values, -limit, limit), grad.indices, grad.dense_shape)
    return clip_by_value(grad, -limit, limit)
