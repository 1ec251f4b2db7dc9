"""NASNet (Zoph et al., 2017): cells that a search has found, each of the two outputs before it."""

from __future__ import annotations

from dataclasses import dataclass

from weft.framework.building.aliases import Nest
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.networks.applications.common import Sizes, Wanted, correction
from weft.networks.layers.core import Activation
from weft.networks.layers.merging import add, concatenate
from weft.networks.layers.normalization import BatchNormalization
from weft.networks.layers.spatial.borders import Cropping2D, ZeroPadding2D
from weft.networks.layers.spatial.convolutional import Conv2D, SeparableConv2D
from weft.networks.layers.spatial.pooling import AveragePooling2D, MaxPooling2D
from weft.networks.models.model import Model

# Each of the three stages has so many times the filters of the one before.
_GROWTH = 2


def _normalized(x: Tensor, name: str) -> Tensor:
    made: Tensor = BatchNormalization(axis=-1, momentum=0.9997, epsilon=1e-3, name=name)(x)
    return made


def _relu(x: Tensor, name: str | None = None) -> Tensor:
    made: Tensor = Activation("relu", name=name)(x)
    return made


def _projected(x: Tensor, filters: int, name: str) -> Tensor:
    made: Tensor = Conv2D(
        filters, (1, 1), strides=(1, 1), padding="same", name=name, use_bias=False, kernel_initializer="he_normal"
    )(x)
    return made


def _average(x: Tensor, name: str) -> Tensor:
    made: Tensor = AveragePooling2D((3, 3), strides=(1, 1), padding="same", name=name)(x)
    return made


@dataclass(frozen=True)
class _Cell:
    """A cell: `filters` and the end of its layers' names."""

    filters: int
    block: str

    def separable(self, x: Tensor, place: str, size: int, stride: int = 1) -> Tensor:
        """Two separable convolutions, of which the first takes the stride."""
        name = f"{place}_{self.block}"
        part = 5 if place == "reduction_left4" else int(place[-1])
        with get_default_graph().name_scope(f"block_{part}/separable_conv_block_{name}"):
            return self._separated(_relu(x), name, size, stride)

    def _separated(self, x: Tensor, name: str, size: int, stride: int) -> Tensor:
        if stride == 2:
            x = ZeroPadding2D(padding=correction(x, size), name=f"separable_conv_1_pad_{name}")(x)
        for number in (1, 2):
            first = number == 1
            x = x if first else _relu(x)
            x = SeparableConv2D(
                self.filters, (size, size), strides=(stride, stride) if first else (1, 1), use_bias=False,
                padding="valid" if first and stride == 2 else "same", kernel_initializer="he_normal",
                name=f"separable_conv_{number}_{name}",
            )(x)  # fmt: skip
            x = _normalized(x, f"separable_conv_{number}_bn_{name}")
        return x

    def adjusted(self, before: Tensor | None, x: Tensor) -> Tensor:
        """The output before the last in the last one's size and with the cell's filters."""
        if before is None:
            return x
        sizes = [each.shape.as_list() for each in (before, x)]
        if sizes[0][1] != sizes[1][1]:
            with get_default_graph().name_scope(f"adjust_block/adjust_reduction_block_{self.block}"):
                return self._halved(before)
        if sizes[0][-1] == self.filters:
            return before
        with get_default_graph().name_scope(f"adjust_block/adjust_projection_block_{self.block}"):
            made = _projected(_relu(before), self.filters, f"adjust_conv_projection_{self.block}")
            return _normalized(made, f"adjust_bn_{self.block}")

    def _halved(self, before: Tensor) -> Tensor:
        """Every other pixel, and those beside them, each with half of the filters."""
        before = _relu(before, f"adjust_relu_1_{self.block}")
        beside = Cropping2D(cropping=((1, 0), (1, 0)))(ZeroPadding2D(padding=((0, 1), (0, 1)))(before))
        halves = []
        for number, each in enumerate((before, beside), 1):
            pooled = AveragePooling2D(
                (1, 1), strides=(2, 2), padding="valid", name=f"adjust_avg_pool_{number}_{self.block}"
            )(each)  # fmt: skip
            halves.append(_projected(pooled, self.filters // 2, f"adjust_conv_{number}_{self.block}"))
        return _normalized(concatenate(halves, axis=-1), f"adjust_bn_{self.block}")

    def _begun(self, x: Tensor, kind: str) -> Tensor:
        made = _projected(_relu(x), self.filters, f"{kind}_conv_1_{self.block}")
        return _normalized(made, f"{kind}_bn_1_{self.block}")

    def normal(self, x: Tensor, before: Tensor | None) -> Tensor:
        """Images of the same size."""
        with get_default_graph().name_scope(f"normal_A_block_{self.block}"):
            return self._normal(x, before)

    def _normal(self, x: Tensor, before: Tensor | None) -> Tensor:
        p, block = self.adjusted(before, x), self.block
        h = self._begun(x, "normal")
        parts = [
            p,
            add([self.separable(h, "normal_left1", 5), self.separable(p, "normal_right1", 3)], name=f"normal_add_1_{block}"),
            add([self.separable(p, "normal_left2", 5), self.separable(p, "normal_right2", 3)], name=f"normal_add_2_{block}"),
            add([_average(h, f"normal_left3_{block}"), p], name=f"normal_add_3_{block}"),
            add([_average(p, f"normal_left4_{block}"), _average(p, f"normal_right4_{block}")], name=f"normal_add_4_{block}"),
            add([self.separable(h, "normal_left5", 3), h], name=f"normal_add_5_{block}"),
        ]
        made: Tensor = concatenate(parts, axis=-1, name=f"normal_concat_{block}")
        return made

    def reduction(self, x: Tensor, before: Tensor | None) -> Tensor:
        """Images of half the size."""
        with get_default_graph().name_scope(f"reduction_A_block_{self.block}"):
            return self._reduction(x, before)

    def _reduction(self, x: Tensor, before: Tensor | None) -> Tensor:
        p, block = self.adjusted(before, x), self.block
        h = self._begun(x, "reduction")
        padded = ZeroPadding2D(padding=correction(h, 3), name=f"reduction_pad_1_{block}")(h)

        def pooled(kind: type[MaxPooling2D | AveragePooling2D], place: str) -> Tensor:
            made: Tensor = kind((3, 3), strides=(2, 2), padding="valid", name=f"reduction_{place}_{block}")(padded)
            return made

        left, right = self.separable(h, "reduction_left1", 5, 2), self.separable(p, "reduction_right1", 7, 2)
        first = add([left, right], name=f"reduction_add_1_{block}")
        left, right = pooled(MaxPooling2D, "left2"), self.separable(p, "reduction_right2", 7, 2)
        second = add([left, right], name=f"reduction_add_2_{block}")
        left, right = pooled(AveragePooling2D, "left3"), self.separable(p, "reduction_right3", 5, 2)
        third = add([left, right], name=f"reduction_add3_{block}")
        fourth = add([second, _average(first, f"reduction_left4_{block}")])
        left, right = self.separable(first, "reduction_left4", 3), pooled(MaxPooling2D, "right5")
        fifth = add([left, right], name=f"reduction_add4_{block}")
        made: Tensor = concatenate([second, third, fourth, fifth], axis=-1, name=f"reduction_concat_{block}")
        return made


@dataclass(frozen=True)
class _Plan:
    """What tells one NASNet from another.

    Attributes:
        penultimate: the filters of the last cell's output.
        cells: how many normal cells a stage has.
        stem: the filters of the first convolution.
        is_skipping: whether a stage sees the input of the reduction before it as the output before the last.
        file: the beginning of the names of the files of its weights.
    """

    penultimate: int
    cells: int
    stem: int
    is_skipping: bool
    file: str


def _network(wanted: Wanted, plan: _Plan, size: int) -> Model:
    x = inputs = wanted.inputs(size, 32)
    filters = plan.penultimate // 24
    x = Conv2D(
        plan.stem, (3, 3), strides=(2, 2), padding="valid", use_bias=False, name="stem_conv1", kernel_initializer="he_normal"
    )(x)
    x = _normalized(x, "stem_bn1")
    before: Tensor | None = None
    for number, part in enumerate((_GROWTH**2, _GROWTH), 1):
        x, before = _Cell(filters // part, f"stem_{number}").reduction(x, before), x
    for stage in range(3):
        if stage:
            cell = _Cell(filters * _GROWTH**stage, f"reduce_{plan.cells * stage}")
            x, entered = cell.reduction(x, before), x
            before = before if plan.is_skipping else entered
        for place in range(plan.cells):
            cell = _Cell(filters * _GROWTH**stage, str(plan.cells * stage + place + (1 if stage else 0)))
            x, before = cell.normal(x, before), x
    x = wanted.classified(_relu(x), "predictions", average=None)
    return wanted.model(inputs, x, "NASNet", _files(plan))


def _files(plan: _Plan) -> tuple[str, str]:
    return f"{plan.file}.h5", f"{plan.file}-no-top.h5"


_LARGE, _MOBILE = _Plan(4032, 6, 96, True, "NASNet-large"), _Plan(1056, 4, 32, False, "NASNet-mobile")


def NASNetLarge(
    input_shape: Sizes | None = None, include_top: bool = True, weights: str | None = "imagenet", input_tensor: Nest = None,
    pooling: str | None = None, classes: int = 1000,
) -> Model:  # fmt: skip
    """NASNet-A (6 @ 4032), a model of images; see `tf.keras.applications.ResNet50` for the arguments.

    Args:
        input_shape, include_top, weights, input_tensor, pooling, classes: as of `ResNet50`; the usual size is 331.

    Returns:
        The model.
    """
    return _network(Wanted(include_top, weights, input_tensor, input_shape, pooling, classes), _LARGE, 331)


def NASNetMobile(
    input_shape: Sizes | None = None, include_top: bool = True, weights: str | None = "imagenet", input_tensor: Nest = None,
    pooling: str | None = None, classes: int = 1000,
) -> Model:  # fmt: skip
    """NASNet-A (4 @ 1056), a model of images; see `tf.keras.applications.ResNet50` for the arguments.

    Args:
        input_shape, include_top, weights, input_tensor, pooling, classes: as of `ResNet50`; the usual size is 224.

    Returns:
        The model.
    """
    return _network(Wanted(include_top, weights, input_tensor, input_shape, pooling, classes), _MOBILE, 224)
