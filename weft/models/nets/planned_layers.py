"""Builds the layers of a plan of `inception_plans`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Self

from weft.framework.building.aliases import Nest
from weft.framework.nodes.operation import Tensor
from weft.models.functional.layer_functions import conv2d
from weft.models.functional.separable import separable_convolution2d
from weft.models.functional.weightless_layers import avg_pool2d, max_pool2d
from weft.models.nets.image_classifier import EndPoints, trunc_normal
from weft.ops.arg_scope import arg_scope
from weft.ops.array.joining import concat
from weft.ops.variables.scopes import VariableScope
from weft.ops.variables.variable_scope import variable_scope

_KINDS: Final = {"C": "Conv2d_", "M": "MaxPool_", "A": "AvgPool_"}
_PADDINGS: Final = {"v": "VALID", "s": "SAME"}
_LAYER: Final = re.compile(
    r"(?P<kind>[CMA])(?P<name>[\w]*?(?P<window>\d+x\d+))(:(?P<depth>\d+))?(k(?P<other>\d+x\d+))?(/(?P<stride>\d))?"
    r"(?P<padding>[vs])?(~(?P<deviation>[\d.]+))?"
)
Depth = Callable[[int], int]


@dataclass(frozen=True)
class _Layer:
    kind: str
    scope: str
    window: list[int]
    depth: int
    further: dict[str, Nest]

    @classmethod
    def read(cls, text: str) -> Self:
        found = _LAYER.fullmatch(text)
        assert found is not None, text
        # One layer of the published network lacks its kind's usual name.
        name = found["name"]
        scope = name.replace("onv", "Conv") if name.startswith("onv") else f"{_KINDS[found['kind']]}{name}"
        further: dict[str, Nest] = {}
        if found["stride"]:
            further["stride"] = int(found["stride"])
        if found["padding"]:
            further["padding"] = _PADDINGS[found["padding"]]
        if found["deviation"]:
            further["weights_initializer"] = trunc_normal(float(found["deviation"]))
        window = [int(size) for size in (found["other"] or found["window"]).split("x")]
        return cls(found["kind"], scope, window, int(found["depth"] or 0), further)

    def build(self, net: Tensor, depth: Depth) -> Tensor:
        if self.kind == "C":
            filtered: Tensor = conv2d(net, depth(self.depth), self.window, scope=self.scope, **self.further)
            return filtered
        pool = max_pool2d if self.kind == "M" else avg_pool2d
        return pool(net, self.window, scope=self.scope, **self.further)


def _branch(net: Tensor, text: str, depth: Depth) -> Tensor:
    for step in text.split():
        outputs = [_Layer.read(each).build(net, depth) for each in step.split("+")]
        net = outputs[0] if len(outputs) == 1 else concat(outputs, 3)
    return net


def _lines(plan: str) -> Iterator[str]:
    """The plan's layers; a line that begins with a blank goes on with the one before."""
    return iter(plan.strip().replace("\n    ", " ").splitlines())


def _name_of(line: str) -> str:
    name, *branches = line.split(" | ")
    return name if branches else _Layer.read(line).scope


def _separable(net: Tensor, text: str, depth: Depth) -> Tensor:
    """Inception v2's first layer, which filters each colour by itself before it mixes them."""
    layer = _Layer.read(text)
    wide = depth(layer.depth)
    return separable_convolution2d(
        net, wide, layer.window, depth_multiplier=min(wide // 3, 8), scope=layer.scope, **layer.further
    )  # fmt: skip


def built(
    plan: str, inputs: Tensor, final_endpoint: str, depth: Depth, scope: str | VariableScope | None, default: str,
    stem_padding: str = "SAME", separable: bool = False,
) -> tuple[Tensor, EndPoints]:  # fmt: skip
    """The layers of a plan up to one of them.

    Args:
        plan: the lines.
        inputs: images.
        final_endpoint: the last layer to build.
        depth: which depth a layer gets of the one in the plan.
        scope: the variable scope.
        default: its name where that is None.
        stem_padding: the padding of the layers before the first branches.
        separable: whether the first convolution is separable.

    Raises:
        ValueError: there is no such last layer.
    """
    names = [_name_of(line) for line in _lines(plan)]
    if final_endpoint not in names:
        raise ValueError(f"Unknown final endpoint {final_endpoint}; there are {', '.join(names)}")
    end_points: EndPoints = {}
    net = inputs
    functions = [conv2d, max_pool2d, avg_pool2d, separable_convolution2d]
    with variable_scope(scope, default, [inputs]):
        for number, line in enumerate(_lines(plan)):
            name, *branches = line.split(" | ")
            with arg_scope(functions, stride=1, padding="SAME" if branches else stem_padding):
                if branches:
                    net = _joined(net, name, branches, depth)
                elif separable and number == 0:
                    net = _separable(net, line, depth)
                else:
                    net = _branch(net, line, depth)
            end_points[_name_of(line)] = net
            if _name_of(line) == final_endpoint:
                break
    return net, end_points


def _joined(net: Tensor, name: str, branches: list[str], depth: Depth) -> Tensor:
    outputs = []
    with variable_scope(name):
        for number, branch in enumerate(branches):
            with variable_scope(f"Branch_{number}"):
                outputs.append(_branch(net, branch, depth))
        return concat(outputs, 3)
