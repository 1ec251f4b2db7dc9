"""Where the channels of sequences, images and volumes stand: kernels want them last."""

from __future__ import annotations

from weft.framework.nodes.operation import Tensor
from weft.ops.array.transposing import transpose


def with_channels_last(x: Tensor, layout: str, rank: int) -> Tensor:
    """A tensor of a layout, "channels_last" or "channels_first", with its channels last; it has `rank` spatial dimensions."""
    return transpose(x, [0, *range(2, rank + 2), 1]) if layout == "channels_first" else x


def in_layout(x: Tensor, layout: str, rank: int) -> Tensor:
    """A tensor whose channels are last in a layout; it has `rank` spatial dimensions."""
    return transpose(x, [0, rank + 1, *range(1, rank + 1)]) if layout == "channels_first" else x
