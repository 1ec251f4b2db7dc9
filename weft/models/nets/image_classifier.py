"""What the plain convolutional networks share: their end, which makes class scores of feature maps by convolutions."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol

from weft.framework.building.aliases import Nest
from weft.framework.nodes.operation import Tensor
from weft.models.functional.layer_functions import conv2d
from weft.models.functional.layer_outputs import convert_collection_to_dict
from weft.models.functional.weightless_layers import dropout
from weft.ops.array.shape_ops import squeeze
from weft.ops.variables.initializers import TruncatedNormal

EndPoints = dict[str, Tensor]


class Net(Protocol):
    """A function that builds a network, and the size of images that it was made for."""

    default_image_size: int

    def __call__(self, inputs: Tensor, *args: Nest, **kwargs: Nest) -> tuple[Tensor, EndPoints]: ...


def sized(size: int) -> Callable[[Callable[..., Nest]], Nest]:
    """Let a network's function say the size of images that it was made for, as `default_image_size`."""

    def mark(net: Callable[..., Nest]) -> Nest:
        net.default_image_size = size  # type: ignore[attr-defined]
        return net

    return mark


def trunc_normal(stddev: float) -> TruncatedNormal:
    """The initializer of normal numbers around zero, those beyond two deviations drawn again.

    Args:
        stddev: the standard deviation before the drawing again.
    """
    return TruncatedNormal(0.0, stddev)


def class_scores(
    net: Tensor, num_classes: int, is_training: bool | Tensor, keep_prob: float, depths: tuple[int, int], window: int,
    biases: dict[str, Nest],
) -> Tensor:  # fmt: skip
    """The end of AlexNet, OverFeat and VGG: fully connected layers in the form of convolutions, with dropout.

    Args:
        net: `[batch, height, width, depth]`.
        num_classes: the number of scores for each place.
        is_training: whether dropout drops.
        keep_prob: which part it keeps.
        depths: those of the two hidden layers.
        window: the height and width of the first.
        biases: further arguments of the last layer.

    Returns:
        `[batch, height - window + 1, width - window + 1, num_classes]`.
    """
    net = conv2d(net, depths[0], [window, window], padding="VALID", scope="fc6")
    net = dropout(net, keep_prob, is_training=is_training, scope="dropout6")
    net = conv2d(net, depths[1], [1, 1], scope="fc7")
    net = dropout(net, keep_prob, is_training=is_training, scope="dropout7")
    scores: Tensor = conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="fc8", **biases)
    return scores


def outcome(net: Tensor, collection: str, scope: str, spatial_squeeze: bool) -> tuple[Tensor, OrderedDict[str, Nest]]:
    """The scores, without the dimensions of places where asked for, and all layers' outputs by name."""
    end_points = convert_collection_to_dict(collection)
    if spatial_squeeze:
        net = squeeze(net, [1, 2], name="fc8/squeezed")
        end_points[f"{scope}/fc8"] = net
    return net, end_points
