"""MobileNet (Howard et al., 2017) and its second version (Sandler et al., 2018)."""

from __future__ import annotations

from weft.framework.building.aliases import Nest
from weft.framework.nodes.operation import Tensor
from weft.networks.applications.common import Sizes, Wanted, correction
from weft.networks.layers.activation_layers import ReLU
from weft.networks.layers.core import Activation, Dropout, Reshape
from weft.networks.layers.merging import Add
from weft.networks.layers.normalization import BatchNormalization
from weft.networks.layers.spatial.borders import ZeroPadding2D
from weft.networks.layers.spatial.convolutional import Conv2D, DepthwiseConv2D
from weft.networks.layers.spatial.pooling import GlobalAveragePooling2D
from weft.networks.models.model import Model

_PLAN = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *(((512, 1),) * 5), (1024, 2), (1024, 1))
# Output channels, how many, and the stride of the first.
_SECOND_PLAN = ((16, 1, 1), (24, 2, 2), (32, 3, 2), (64, 4, 2), (96, 3, 1), (160, 3, 2), (320, 1, 1))


def _relu6(x: Tensor, name: str) -> Tensor:
    made: Tensor = ReLU(6.0, name=name)(x)
    return made


def _separated(x: Tensor, filters: int, stride: int, multiplier: int, number: int) -> Tensor:
    if stride > 1:
        x = ZeroPadding2D(((0, 1), (0, 1)), name=f"conv_pad_{number}")(x)
    x = DepthwiseConv2D(
        (3, 3), padding="same" if stride == 1 else "valid", depth_multiplier=multiplier, strides=(stride, stride),
        use_bias=False, name=f"conv_dw_{number}",
    )(x)  # fmt: skip
    x = _relu6(BatchNormalization(axis=-1, name=f"conv_dw_{number}_bn")(x), f"conv_dw_{number}_relu")
    x = Conv2D(filters, (1, 1), padding="same", use_bias=False, strides=(1, 1), name=f"conv_pw_{number}")(x)
    return _relu6(BatchNormalization(axis=-1, name=f"conv_pw_{number}_bn")(x), f"conv_pw_{number}_relu")


def MobileNet(
    input_shape: Sizes | None = None, alpha: float = 1.0, depth_multiplier: int = 1, dropout: float = 1e-3,
    include_top: bool = True, weights: str | None = "imagenet", input_tensor: Nest = None, pooling: str | None = None,
    classes: int = 1000,
) -> Model:  # fmt: skip
    """MobileNet, a model of images; see `tf.keras.applications.ResNet50` for the other arguments.

    Args:
        input_shape, include_top, weights, input_tensor, pooling, classes: as of `ResNet50`.
        alpha: how wide it is, 1 for as wide as usual.
        depth_multiplier: how many filters each channel has in the first of two convolutions.
        dropout: the part that is dropped before the classes.

    Returns:
        The model.
    """
    wanted = Wanted(include_top, weights, input_tensor, input_shape, pooling, classes)
    inputs = wanted.inputs(224, 32)
    x = ZeroPadding2D(((0, 1), (0, 1)), name="conv1_pad")(inputs)
    x = Conv2D(int(32 * alpha), (3, 3), padding="valid", use_bias=False, strides=(2, 2), name="conv1")(x)
    x = _relu6(BatchNormalization(axis=-1, name="conv1_bn")(x), "conv1_relu")
    for number, (filters, stride) in enumerate(_PLAN, 1):
        x = _separated(x, int(filters * alpha), stride, depth_multiplier, number)
    if include_top:
        x = GlobalAveragePooling2D()(x)
        x = Reshape((1, 1, int(1024 * alpha)), name="reshape_1")(x)
        x = Dropout(dropout, name="dropout")(x)
        x = Conv2D(classes, (1, 1), padding="same", name="conv_preds")(x)
        x = Reshape((classes,), name="reshape_2")(x)
        x = Activation("softmax", name="act_softmax")(x)
    else:
        x = wanted.pooled(x)
    size = "224" if input_shape is None or input_shape[0] not in (128, 160, 192) else str(input_shape[0])
    width = {1.0: "1_0", 0.75: "7_5", 0.5: "5_0", 0.25: "2_5"}.get(alpha, str(alpha))
    file = f"mobilenet_{width}_{size}_tf"
    return wanted.model(inputs, x, f"mobilenet_{alpha:0.2f}_{_rows(inputs)}", (f"{file}.h5", f"{file}_no_top.h5"))


def _rows(inputs: Tensor) -> int | None:
    rows = inputs.shape.as_list()[1]
    return None if rows is None else int(rows)


def _divisible(value: float) -> int:
    """The nearest multiple of 8, and at least nine tenths of the value."""
    made = max(8, int(value + 4) // 8 * 8)
    return made + 8 if made < 0.9 * value else made


def _inverted(x: Tensor, filters: int, stride: int, number: int) -> Tensor:
    """A block that is wide inside and narrow at both ends."""
    channels, entering = int(x.shape.as_list()[-1] or 0), x
    prefix = f"block_{number}_" if number else "expanded_conv_"
    if number:
        x = Conv2D(6 * channels, 1, padding="same", use_bias=False, activation=None, name=f"{prefix}expand")(x)
        x = _relu6(_slow_norm(x, f"{prefix}expand_BN"), f"{prefix}expand_relu")
    if stride == 2:
        x = ZeroPadding2D(padding=correction(x, 3), name=f"{prefix}pad")(x)
    x = DepthwiseConv2D(
        3, strides=stride, activation=None, use_bias=False, padding="same" if stride == 1 else "valid",
        name=f"{prefix}depthwise",
    )(x)  # fmt: skip
    x = _relu6(_slow_norm(x, f"{prefix}depthwise_BN"), f"{prefix}depthwise_relu")
    x = Conv2D(filters, 1, padding="same", use_bias=False, activation=None, name=f"{prefix}project")(x)
    x = _slow_norm(x, f"{prefix}project_BN")
    return Add(name=f"{prefix}add")([entering, x]) if channels == filters and stride == 1 else x


def _slow_norm(x: Tensor, name: str) -> Tensor:
    made: Tensor = BatchNormalization(axis=-1, epsilon=1e-3, momentum=0.999, name=name)(x)
    return made


def MobileNetV2(
    input_shape: Sizes | None = None, alpha: float = 1.0, include_top: bool = True, weights: str | None = "imagenet",
    input_tensor: Nest = None, pooling: str | None = None, classes: int = 1000,
) -> Model:  # fmt: skip
    """The second MobileNet, a model of images; see `tf.keras.applications.ResNet50` for the other arguments.

    Args:
        input_shape, include_top, weights, input_tensor, pooling, classes: as of `ResNet50`.
        alpha: how wide it is, 1 for as wide as usual.

    Returns:
        The model.
    """
    wanted = Wanted(include_top, weights, input_tensor, input_shape, pooling, classes)
    inputs = wanted.inputs(224, 32)
    x = ZeroPadding2D(padding=correction(inputs, 3), name="Conv1_pad")(inputs)
    x = Conv2D(_divisible(32 * alpha), 3, strides=(2, 2), padding="valid", use_bias=False, name="Conv1")(x)
    x = _relu6(_slow_norm(x, "bn_Conv1"), "Conv1_relu")
    number = 0
    for filters, count, stride in _SECOND_PLAN:
        for place in range(count):
            x = _inverted(x, _divisible(filters * alpha), stride if place == 0 else 1, number)
            number += 1
    last = _divisible(1280 * alpha) if alpha > 1 else 1280
    x = Conv2D(last, 1, use_bias=False, name="Conv_1")(x)
    x = _relu6(_slow_norm(x, "Conv_1_bn"), "out_relu")
    x = wanted.classified(x, "Logits", average=None)
    rows = _rows(inputs)
    file = f"mobilenet_v2_weights_tf_dim_ordering_tf_kernels_{alpha}_{rows or 224}"
    return wanted.model(inputs, x, f"mobilenetv2_{alpha:0.2f}_{rows}", (f"{file}.h5", f"{file}_no_top.h5"))
