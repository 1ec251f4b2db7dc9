"""Each kernel's docstring gives the shapes of its inputs and outputs, one for each argument, as its declaration has them.

They stand in backquotes, inputs and outputs with an arrow between them: `[..., m, k] x [..., k, n] -> [..., m, n]`. A shape is
a list of sizes in brackets (`[...]` is any shape, the same one wherever it stands alone; `*outer` are several sizes) or
`scalar`, with the dtype after it where that is fixed: `[n] int64`. A list argument has its length before: `N*[rows, depth]`.
"""

from __future__ import annotations

import collections
import importlib
import inspect
import pkgutil
import re
from typing import Final

import weft.ops
from weft.framework import op_def
from weft.framework.op_def import OpDef

for _module in pkgutil.walk_packages(weft.ops.__path__, "weft.ops."):
    importlib.import_module(_module.name)

# How many kernels of a family give no shapes yet. The numbers may only go down.
WITHOUT_SHAPES: Final[dict[str, int]] = {
    "control_flow": 23,
    "data_flow": 30,
    "io": 24,
    "lookup": 12,
    "nn": 63,
    "process": 11,
    "sparse": 45,
    "state": 41,
    "summary": 6,
    "symbolic_gradient": 1,
    "training": 59,
    "variables": 7,
}

_SHAPE: Final = r"(?:\w+\*)?(?:scalar|\[[^\[\]]*\])(?: [a-z]+\d*)?"
_SIDE: Final = rf"(?:{_SHAPE}(?:(?:, | x ){_SHAPE})*)?"
_SHAPES: Final = re.compile(rf"({_SIDE}) ?-> ?({_SIDE})")


def _gives_shapes(definition: OpDef) -> bool:
    """Whether some text in backquotes has a shape for each input and, after an arrow, for each output."""
    text = " ".join((inspect.getdoc(definition.kernel) or "").split())
    for span in re.findall(r"`([^`]*)`", text):
        found = _SHAPES.fullmatch(span)
        if found:
            counts = [len(re.findall(_SHAPE, side)) for side in found.groups()]
            if counts == [len(definition.inputs), len(definition.outputs)]:
                return True
    return False


def test_kernels_give_the_shapes_of_their_inputs_and_outputs() -> None:
    missing = collections.defaultdict(list)
    for definition in op_def.registered():
        if definition.kernel.__module__.startswith("weft.ops.") and not _gives_shapes(definition):
            missing[definition.kernel.__module__.split(".")[2]].append(definition.name)
    counts = {family: len(names) for family, names in sorted(missing.items())}
    assert counts == WITHOUT_SHAPES, {
        family: names for family, names in missing.items() if len(names) != WITHOUT_SHAPES.get(family)
    }
