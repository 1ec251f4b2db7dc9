"""tf.raw_ops: every op type as a function of its own name that takes keyword arguments only."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final

from weft.framework.aliases import Nest, TensorLike
from weft.framework.op_builder import build
from weft.framework.op_def import REQUIRED, OpDef
from weft.framework.op_registry import is_registered, lookup, registered
from weft.ops.declaration import signature_of, unpack_outputs

_REDUCED: Final = {"reduction_indices": "axis"}
_SPLIT: Final = {"split_dim": "axis"}
_NAMED: Final[Mapping[str, Mapping[str, str]]] = {
    "All": _REDUCED, "Any": _REDUCED, "EuclideanNorm": _REDUCED, "Max": _REDUCED, "Mean": _REDUCED, "Min": _REDUCED,
    "Prod": _REDUCED, "Sum": _REDUCED, "Split": _SPLIT, "SplitV": _SPLIT, "ExpandDims": {"dim": "axis"},
    "Select": {"t": "x", "e": "y"}, "Squeeze": {"squeeze_dims": "axis"}, "Where": {"input": "condition"},
}  # fmt: skip
"""The arguments that have another name here than in the ops' declarations, as they have in TensorFlow's Python."""


def _named(signature: inspect.Signature, named: Mapping[str, str]) -> inspect.Signature:
    renamed = [each.replace(name=named.get(each.name, each.name)) for each in signature.parameters.values()]
    return signature.replace(parameters=renamed)


@functools.cache
def _function(definition: OpDef) -> Callable[..., Any]:
    named = _NAMED.get(definition.name, {})
    declared = {given: name for name, given in named.items()}
    names = [named.get(arg.name, arg.name) for arg in definition.inputs]
    attrs = {named.get(key, key) for key in definition.attrs}
    signature = _named(signature_of(definition), named)
    needed = [each.name for each in signature.parameters.values() if each.default is each.empty or each.default is REQUIRED]

    def add(*given: object, name: str | None = None, **arguments: TensorLike) -> Nest:
        if given:
            raise TypeError(
                f"{definition.name} only takes keyword args (possible keys: {list(signature.parameters)}). Please pass these "
                "args as kwargs instead."
            )
        if missing := [repr(key) for key in needed if key not in arguments]:
            raise TypeError(
                f"{definition.name}() missing {len(missing)} required positional argument{'s' if len(missing) > 1 else ''}: "
                f"{' and '.join(missing)}"
            )
        if unknown := next((key for key in arguments if key not in names and key not in attrs), None):
            raise TypeError(f"{definition.name}() got an unexpected keyword argument {unknown!r}")
        inputs = [arguments.pop(key) for key in names]
        node = build(definition, inputs, {declared.get(key, key): value for key, value in arguments.items()}, name)
        return unpack_outputs(node) if definition.outputs else node

    add.__name__ = add.__qualname__ = definition.name
    add.__signature__ = signature  # type: ignore[attr-defined]
    add.__doc__ = definition.kernel.__doc__
    return add


def __getattr__(name: str) -> Callable[..., Any]:
    if name.startswith("_") or not is_registered(name):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}: there is no such op type")
    return _function(lookup(name))


def __dir__() -> list[str]:
    return [definition.name for definition in registered() if not definition.name.startswith("_")]
