"""Each kernel's docstring gives the shapes of its inputs and outputs, one for each argument, as its declaration has them.

They stand in backquotes, inputs and outputs with an arrow between them: `[..., m, k] x [..., k, n] -> [..., m, n]`. A shape is
a list of sizes in brackets (`[...]` is any shape, the same one wherever it stands alone; `*outer` are several sizes) or
`scalar`, with the dtype after it where that is fixed: `[n] int64`. A list argument has its length before: `N*[rows, depth]`.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from typing import Final

import weft.ops
from weft.framework.op_types.op_def import OpDef
from weft.framework.registry import op_registry

for _module in pkgutil.walk_packages(weft.ops.__path__, "weft.ops."):
    importlib.import_module(_module.name)

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
    own = [definition for definition in op_registry.registered() if definition.kernel.__module__.startswith("weft.ops.")]
    assert [definition.name for definition in own if not _gives_shapes(definition)] == []
