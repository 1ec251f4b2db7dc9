"""The gradient of batch normalization's gradient, as ops: what double backpropagation through FusedBatchNorm takes."""

from __future__ import annotations

from weft.framework.building.aliases import Gradients
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.ops.array.filling import zeros_like
from weft.ops.array.shape_ops import reshape
from weft.ops.math.casting import cast
from weft.ops.math.elementwise import add, mul, neg, square, sub
from weft.ops.math.reduce_functions import reduce_mean, reduce_sum
from weft.ops.math.unary import rsqrt


class _Normalized:
    """The images of a FusedBatchNormGrad node, normalized, with what sums and means over all but the channels are."""

    def __init__(self, node: Operation) -> None:
        layout: str = node.attrs["data_format"]
        self._axes = [axis for axis, letter in enumerate(layout) if letter != "C"]
        self._sizes = [-1 if letter == "C" else 1 for letter in layout]
        x = cast(node.inputs[1], dtypes.float32)
        if node.attrs["is_training"]:
            # In training the statistics are made of the images: their gradients are those of the images.
            average = self.mean(x)
            spread = self.mean(square(sub(x, average)))
        else:
            average, spread = self.along(node.inputs[3]), self.along(node.inputs[4])
        self.inverse = rsqrt(add(spread, node.attrs["epsilon"]))
        self.values = mul(sub(x, average), self.inverse)

    def along(self, vector: Tensor) -> Tensor:
        """A number per channel, to be broadcast over the images."""
        return reshape(cast(vector, dtypes.float32), self._sizes)

    def mean(self, images: Tensor) -> Tensor:
        """The mean of each channel, as `along` has it."""
        return reduce_mean(images, self._axes, keepdims=True)

    def sum(self, images: Tensor) -> Tensor:
        """The sum of each channel, as a vector."""
        return reduce_sum(images, self._axes)

    def centred(self, images: Tensor) -> Tensor:
        """What the normalization's gradient makes of a gradient, without the factors."""
        inner = mul(self.values, self.mean(mul(images, self.values)))
        return sub(sub(images, self.mean(images)), inner)


def second_gradient(node: Operation, *grads: Tensor | None) -> Gradients:
    """The gradients of FusedBatchNormGrad for its first three inputs; as in TensorFlow the statistics have none."""
    made = _Normalized(node)
    of_x, of_scale, of_offset = (None if grad is None else cast(grad, dtypes.float32) for grad in grads[:3])
    given, scale = cast(node.inputs[0], dtypes.float32), made.along(node.inputs[2])
    factor = mul(scale, made.inverse)
    is_training = node.attrs["is_training"]
    back: list[list[Tensor]] = [[], [], []]
    if of_x is not None:
        inner = made.centred(of_x) if is_training else of_x
        back[0].append(mul(factor, inner))
        back[2].append(made.sum(mul(mul(given, inner), made.inverse)))
        if is_training:
            back[1].append(_through_images(made, of_x, given, factor, inner))
    if of_scale is not None:
        weights = made.along(of_scale)
        back[0].append(mul(weights, made.values))
        back[1].append(mul(mul(weights, made.inverse), made.centred(given) if is_training else given))
    if of_offset is not None:
        back[0].append(add(zeros_like(given), made.along(of_offset)))
    types = [tensor.dtype for tensor in node.inputs[:3]]
    found = [cast(_sum(parts), dtype) if parts else None for parts, dtype in zip(back, types, strict=True)]
    return [*found, *[None] * (len(node.inputs) - 3)]


def _through_images(made: _Normalized, of_x: Tensor, given: Tensor, factor: Tensor, inner: Tensor) -> Tensor:
    """How a change of the images changes their own gradient: by their normalized values, and by their spread."""
    x = made.values
    changed = neg(add(mul(of_x, made.mean(mul(given, x))), mul(given, made.mean(mul(of_x, x)))))
    by_values = mul(mul(factor, made.inverse), made.centred(changed))
    by_spread = mul(mul(mul(factor, made.inverse), made.mean(mul(given, inner))), x)
    return sub(by_values, by_spread)


def _sum(parts: list[Tensor]) -> Tensor:
    total = parts[0]
    for part in parts[1:]:
        total = add(total, part)
    return total
