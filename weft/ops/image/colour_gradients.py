"""Gradients of the conversions between RGB and HSV, built of plain ops, as TensorFlow's graphs have them.

Of channels that are equal the first one counts as the greatest and the last one as the least. What a channel says of saturation
and hue counts where the colours it is divided by are above zero: no others have any.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Final

from weft.framework.building.aliases import Gradients
from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.array.filling import ones_like
from weft.ops.array.stacking import stack, unstack
from weft.ops.math.casting import cast
from weft.ops.math.comparison import greater, greater_equal, less, less_equal, logical_and, maximum, minimum
from weft.ops.math.complex_numbers import abs_node, sign
from weft.ops.math.division import div_no_nan_node
from weft.ops.math.elementwise import add, mul, neg, square, sub

_Channels = Sequence[Tensor]
_CHANNELS: Final = 3


def _of(tensor: Tensor) -> _Channels:
    return unstack(tensor, num=_CHANNELS, axis=-1)


def _total(parts: Sequence[Tensor]) -> Tensor:
    return functools.reduce(add, parts)


def _are(channels: _Channels, before: Callable[..., Tensor], behind: Callable[..., Tensor]) -> _Channels:
    """For each channel 1 where it compares so with those before and those behind it, else 0."""
    found = []
    for place, one in enumerate(channels):
        answers = [(before if at < place else behind)(one, other) for at, other in enumerate(channels) if at != place]
        found.append(cast(logical_and(*answers), one.dtype))
    return found


class _Colours:
    """Channels of red, green and blue, and which of them are the greatest and the least."""

    def __init__(self, pixels: Tensor) -> None:
        self.channels = _of(pixels)
        self.is_most = _are(self.channels, greater, greater_equal)
        self.is_least = _are(self.channels, less_equal, less)
        self.is_above = [cast(greater(each, 0.0), each.dtype) for each in self.channels]
        self._one = ones_like(self.channels[0])

    def __repr__(self) -> str:
        return f"<_Colours of {self.channels[0].op.inputs[0].name!r}>"

    def over(self, value: Tensor) -> Tensor:
        """One over a value, 0 where that is 0."""
        return div_no_nan_node(self._one, value)

    def _others(self, place: int, chosen: _Channels) -> Tensor:
        return _total([mul(chosen[at], each) for at, each in enumerate(self.channels) if at != place])

    def saturation(self, place: int) -> Tensor:
        """The derivative of `(most - least) / most` by a channel."""
        by_most = mul(self._others(place, self.is_least), self.over(square(self.channels[place])))
        by_least = neg(self.over(self._others(place, self.is_most)))
        parts = add(mul(self.is_most[place], by_most), mul(self.is_least[place], by_least))
        return mul(self.is_above[place], parts)

    def hue(self, place: int, saturation: Tensor, value: Tensor) -> Tensor:
        """The derivative of a sixth of the hue by a channel.

        Where a channel is the greatest, the hue is the difference of the next two, over that of the greatest and the least.
        """
        one, after, last = (self.channels[(place + step) % _CHANNELS] for step in range(_CHANNELS))
        squares = mul(self.over(square(saturation)), self.over(square(value)))
        parts = [mul(mul(self._is_most_above(place), sub(last, after)), squares)]
        for step in (1, 2):
            # Where the next channel is the greatest this one is subtracted, where the one behind that is, it is what stays.
            at, rest = (place + step) % _CHANNELS, (place - step) % _CHANNELS
            greatest, other = self.channels[at], self.channels[rest]
            difference = sub(greatest, other) if step == 2 else sub(other, greatest)
            as_least = mul(mul(self.is_least[place], difference), self.over(square(sub(greatest, one))))
            between = mul(self.is_least[rest], self.over(difference))
            parts.append(mul(self._is_most_above(at), add(as_least, between)))
        return _total(parts)

    def _is_most_above(self, place: int) -> Tensor:
        return mul(self.is_above[place], self.is_most[place])


def of_hsv(node: Operation, grad: Tensor) -> Gradients:
    """The gradient of RGBToHSV."""
    colours = _Colours(node.inputs[0])
    _, saturation, value = _of(node.outputs[0])
    of_hue, of_saturation, of_value = _of(grad)
    made = []
    for place in range(_CHANNELS):
        by_hue = mul(mul(of_hue, colours.hue(place, saturation, value)), 1 / 6)
        by_saturation = mul(of_saturation, colours.saturation(place))
        made.append(_total([mul(of_value, colours.is_most[place]), by_saturation, by_hue]))
    return [stack(made, axis=-1)]


_SLOPES: Final = ((3.0, 1.0), (2.0, -1.0), (4.0, -1.0))
"""Of red, green and blue: the sixth of a turn that the share of the colour is symmetric about, and its slope behind that."""


def of_rgb(node: Operation, grad: Tensor) -> Gradients:
    """The gradient of HSVToRGB."""
    hue, saturation, value = _of(node.inputs[0])
    sixths, least = mul(hue, 6.0), add(neg(saturation), 1.0)
    parts = []
    for (middle, slope), given in zip(_SLOPES, _of(grad), strict=True):
        offset = sub(sixths, middle)
        raw = add(mul(abs_node(offset), slope), -1.0 if slope > 0 else 2.0)
        share, inside = _clipped(raw)
        by_hue = mul(mul(mul(inside, sign(offset)), 6.0 * slope), mul(saturation, value))
        by_saturation = mul(sub(share, 1.0), value)
        by_value = add(least, mul(saturation, share))
        parts.append([mul(given, each) for each in (by_hue, by_saturation, by_value)])
    return [stack([_total(each) for each in zip(*parts, strict=True)], axis=-1)]


def _clipped(raw: Tensor) -> tuple[Tensor, Tensor]:
    """Numbers kept between 0 and 1, and the derivative of that: half at the ends, as a maximum of equal numbers has it."""
    inside = [mul(add(cast(strict(raw, end), raw.dtype), cast(loose(raw, end), raw.dtype)), 0.5)
              for strict, loose, end in ((greater, greater_equal, 0.0), (less, less_equal, 1.0))]  # fmt: skip
    return minimum(maximum(raw, 0.0), 1.0), mul(*inside)
