"""tf.raw_ops: every op type as a function of its own name that takes keyword arguments only."""

from __future__ import annotations

import functools
import inspect
import typing  # whose `Any` would hide the op of that name
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.building.op_builder import build
from weft.framework.nodes.operation import Tensor
from weft.framework.op_types.op_def import REQUIRED, OpDef
from weft.framework.registry.op_registry import is_registered, lookup, registered
from weft.ops.control_flow import switching
from weft.ops.declaration import signature_of, unpack_outputs

_REDUCED: Final = {"reduction_indices": "axis"}
_SPLIT: Final = {"split_dim": "axis"}
_NAMED: Final[Mapping[str, Mapping[str, str]]] = {
    "All": _REDUCED, "Any": _REDUCED, "EuclideanNorm": _REDUCED, "Max": _REDUCED, "Mean": _REDUCED, "Min": _REDUCED,
    "Prod": _REDUCED, "Sum": _REDUCED, "Split": _SPLIT, "SplitV": _SPLIT, "ExpandDims": {"dim": "axis"},
    "Select": {"t": "x", "e": "y"}, "Squeeze": {"squeeze_dims": "axis"}, "Where": {"input": "condition"},
}  # fmt: skip
"""The arguments that have another name here than in the ops' declarations, as they have in TensorFlow's Python."""
_DEFAULTS: Final[Mapping[str, Mapping[str, bool]]] = {
    "SdcaOptimizer": {"adaptative": True}, "SdcaOptimizerV2": {"adaptive": True},
}  # fmt: skip
"""The attributes that have another default here than in the ops' declarations, by which graphs are read."""


def _python_signature(definition: OpDef) -> inspect.Signature:
    named, defaults = _NAMED.get(definition.name, {}), _DEFAULTS.get(definition.name, {})
    declared = signature_of(definition)
    parameters = [
        each.replace(name=named.get(each.name, each.name), default=defaults.get(each.name, each.default))
        for each in declared.parameters.values()
    ]
    return declared.replace(parameters=parameters)


@functools.cache
def _function(definition: OpDef) -> Callable[..., typing.Any]:
    named = _NAMED.get(definition.name, {})
    declared = {given: name for name, given in named.items()}
    names = [named.get(arg.name, arg.name) for arg in definition.inputs]
    attrs = {named.get(key, key) for key in definition.attrs}
    signature = _python_signature(definition)
    defaults = _DEFAULTS.get(definition.name, {})
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
        node = build(
            definition, inputs, {**defaults, **{declared.get(key, key): value for key, value in arguments.items()}}, name
        )
        return unpack_outputs(node) if definition.outputs else node

    add.__name__ = add.__qualname__ = definition.name
    add.__signature__ = signature  # type: ignore[attr-defined]
    add.__doc__ = definition.kernel.__doc__
    return add


class _SwitchOutputs(NamedTuple):
    """The outputs of Switch: the value is there in one of them."""

    output_false: Tensor
    output_true: Tensor


def _switch(*, data: TensorLike, pred: TensorLike, name: str | None = None) -> _SwitchOutputs:
    """The value as two outputs, of which Merge takes one: the second if `pred`, a scalar bool, is true."""
    return _SwitchOutputs(*switching.switch(data, pred, name=name))


def _merge(*, inputs: Sequence[TensorLike], name: str | None = None) -> switching.Merge:
    """The first of the inputs that is there, with its place."""
    return switching.merge(inputs, name)


# What a graph of weft has no node for, in ops that it has.
_MADE: Final[Mapping[str, Callable[..., object]]] = {
    "Switch": _switch,
    "RefSwitch": _switch,
    "Merge": _merge,
    "RefMerge": _merge,
}
_LOOPS: Final = ("Enter", "Exit", "NextIteration", "LoopCond")
_LOOP_OPS: Final = frozenset((*_LOOPS, *(f"Ref{each}" for each in _LOOPS)))


def __getattr__(name: str) -> Callable[..., typing.Any]:
    if name in _MADE:
        return _MADE[name]
    if name in _LOOP_OPS:
        raise AttributeError(
            f"module {__name__!r} has no attribute {name!r}: weft's graphs have a loop as one node, which tf.while_loop makes. "
            "Graphs with such nodes can be imported."
        )
    if name.startswith("_") or not is_registered(name):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}: there is no such op type")
    return _function(lookup(name))


def __dir__() -> list[str]:
    return [definition.name for definition in registered() if not definition.name.startswith("_")] + list(_MADE)
