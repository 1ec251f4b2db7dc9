"""The registry of ops: all declarations by name, and the gradient rules that programs register beside them."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping, Sequence
from typing import Final, Unpack

from weft.framework.op_types.attr_limits import Limits, limit_of
from weft.framework.op_types.op_def import REQUIRED, AttrDef, OfNode, OpDef, Rule, Traits
from weft.framework.op_types.op_role import Role
from weft.framework.op_types.op_signature import parse_signature
from weft.framework.registry.tensorflow_form import FormOf
from weft.framework.types.attr_value import single
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType

_ANNOTATION_KINDS: Final = {
    "bool": "bool",
    "int": "int",
    "float": "float",
    "str": "string",
    "DType": "type",
    "Dims": "shape",
    "np.ndarray": "tensor",
    "Function": "func",
    "list[int]": "list(int)",
    "list[float]": "list(float)",
    "list[bool]": "list(bool)",
    "list[str]": "list(string)",
    "list[DType]": "list(type)",
    "list[Dims]": "list(shape)",
    "list[Function]": "list(func)",
    # With a default, which is a tuple, as all nodes share it.
    "Sequence[int]": "list(int)",
    "Sequence[float]": "list(float)",
}

_REGISTRY: Final[dict[str, OpDef]] = {}
_RARE_FAMILIES: Final[list[str]] = []
_GRADIENTS: Final[dict[str, Rule | None]] = {}
_FORMS: Final[dict[str, FormOf]] = {}
_TAKING_LISTS: Final[set[str]] = set()


def register(op_def: OpDef) -> None:
    """Add a declaration; declaring a name twice is an error."""
    if op_def.name in _REGISTRY:
        raise ValueError(f"Op {op_def.name!r} is already declared, in {_REGISTRY[op_def.name].kernel.__module__}")
    _REGISTRY[op_def.name] = op_def


def load_when_missing(package: str) -> None:
    """Have a package of declarations imported when an op is asked for that is not declared: most programs never need it."""
    _RARE_FAMILIES.append(package)


def _find(name: str) -> OpDef | None:
    found = _REGISTRY.get(name)
    if found is None:
        _load_rare_families()
        found = _REGISTRY.get(name)
    return found


def _load_rare_families() -> None:
    # Python imports a package once, and lets other threads wait for it.
    for package in _RARE_FAMILIES:
        importlib.import_module(package)


def lookup(name: str) -> OpDef:
    """The declaration of an op type; LookupError when weft has none of that name."""
    found = _find(name)
    if found is None:
        raise LookupError(f"Op type not registered {name!r} in this version of weft")
    return found


def role_of(name: str) -> Role:
    """The role of an op type in a serial graph, which may be one that weft does not have: then it is a computation."""
    found = _find(name)
    return Role.COMPUTATION if found is None else found.role


def is_registered(name: str) -> bool:
    """Whether there is an op type of that name."""
    return _find(name) is not None


def registered() -> list[OpDef]:
    """All declarations, in order of name."""
    _load_rare_families()
    return declared()


def declared() -> list[OpDef]:
    """The declarations of the packages that are imported, in order of name."""
    return [_REGISTRY[name] for name in sorted(_REGISTRY)]


def register_gradient(name: str, function: Rule | None) -> None:
    """Give op type or gradient name `name` a gradient function, None for an op without one; a second one is an error."""
    declared = _REGISTRY.get(name)
    if name in _GRADIENTS or (declared is not None and declared.gradient is not None):
        raise KeyError(f"Registering two gradient with name {name!r}!")
    _GRADIENTS[name] = function


def forget_gradient(name: str) -> None:
    """Take a gradient function away again, which no op asks for any more."""
    _GRADIENTS.pop(name, None)


def lookup_gradient(name: str) -> Rule | None:
    """The gradient function of an op type or of a name given to RegisterGradient.

    None for an op type that was registered to have none. LookupError when nothing is known, or no rule was declared.
    """
    if name in _GRADIENTS:
        return _GRADIENTS[name]
    declared = _find(name)
    if declared is not None and declared.gradient is not None:
        return declared.gradient
    raise LookupError(f"gradient registry has no entry for: {name}")


def register_form(name: str, form: FormOf, takes_list: bool = False) -> None:
    """Say what nodes of TensorFlow's stand for one of op type `name`, which TensorFlow lacks, where a graph is written.

    A node for which `form` returns None is written as it is. With `takes_list` the form has a way where the node's first input
    is written as a TensorList.
    """
    if takes_list:
        _TAKING_LISTS.add(name)
    _FORMS[name] = form


def takes_list(name: str, places: Sequence[int]) -> bool:
    """Whether an op type has a form that takes TensorLists for the inputs of these numbers."""
    return name in _TAKING_LISTS and list(places) == [0]


def form_of(name: str) -> FormOf | None:
    """What makes TensorFlow's form of a node of that op type; None for one that is written as it is."""
    return _FORMS.get(name)


def declare(
    name: str,
    signature: str,
    kernel: Rule,
    *,
    infer: OfNode[Sequence[Dims]],
    gradient: Rule | None,
    types: Mapping[str, Sequence[DType]] | None = None,
    defaults: Mapping[str, object] | None = None,
    limits: Limits | None = None,
    **traits: Unpack[Traits],
) -> OpDef:
    """Make and register an OpDef from a kernel and its signature; see `op_def` for the rules.

    Args:
        name: the op type.
        signature: inputs and outputs with their types.
        kernel: what computes the outputs.
        infer: the shape rule.
        gradient: the gradient rule.
        types: the dtypes that each type attribute may take.
        defaults: defaults of attributes that the signature names.
        limits: those of attributes, where they differ from what `attr_limits` has for all attributes of a name.
        **traits: what else is known of the op; see `OpDef`.
    """
    parameters = dict(inspect.signature(kernel).parameters)
    is_random = parameters.pop("take", None) is not None
    takes_finish = parameters.pop("finish", None) is not None
    keyword_only = {key: p for key, p in parameters.items() if p.kind is inspect.Parameter.KEYWORD_ONLY}
    type_attrs = [key for key, p in keyword_only.items() if str(p.annotation) == "DType"]
    inputs, outputs, kinds = parse_signature(signature, type_attrs)
    positional = [key for key, p in parameters.items() if p.kind is not inspect.Parameter.KEYWORD_ONLY]
    takes_xp, is_host = positional[:1] == ["xp"], positional[:1] == ["ctx"]
    taken = positional[1:] if takes_xp or is_host else positional
    if taken != [arg.name for arg in inputs]:
        raise ValueError(f"Op {name!r}: kernel takes {taken}, signature says {[arg.name for arg in inputs]}")
    types, defaults, limits = types or {}, defaults or {}, limits or {}

    def attr(key: str, kind: str, default: object) -> AttrDef:
        limit = limits[key] if key in limits else limit_of(key, kind)
        minimum, choices = (limit, ()) if isinstance(limit, int) else (None, tuple(limit or ()))
        value = defaults.get(key, default)
        if kind == "float" and isinstance(value, float | int):
            value = single(value)
        return AttrDef(key, kind, value, tuple(types.get(key, ())), minimum, choices)

    attrs = {key: attr(key, kind, REQUIRED) for key, kind in kinds.items()}
    for key, parameter in keyword_only.items():
        attrs[key] = attr(key, kinds.get(key) or _ANNOTATION_KINDS[str(parameter.annotation)], parameter.default)
    if unknown := sorted(limits.keys() - attrs.keys()):
        raise ValueError(f"Op {name!r}: limits of {unknown}, which are none of its attributes")
    op_def = OpDef(
        name=name, inputs=inputs, outputs=outputs, attrs=attrs, kernel=kernel, kernel_attrs=tuple(keyword_only),
        infer=infer, gradient=gradient, is_host=is_host, takes_xp=takes_xp, is_random=is_random,
        takes_finish=takes_finish, **traits,
    )  # fmt: skip
    register(op_def)
    return op_def
