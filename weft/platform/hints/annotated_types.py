"""What a function's annotation allows as an argument, asked of a value, and said in words."""

from __future__ import annotations

import ast
import collections.abc
import contextlib
import numbers
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Final, TypeAlias

import numpy as np

# A type as it stands in an annotation: a class, a union, a parametrized collection.
_Form: TypeAlias = object

_LOOKED_AT: Final = 8
# What objects have that a graph knows as tensors.
_ELEMENT: Final = "_as_graph_element"
# Names of annotations whose meaning a reader of messages does not know.
_WORDS: Final = {
    "TensorLike": "a tensor or what makes one",
    "HasValue": "a variable",
    "Tensor": "a tensor",
    "Nest": "tensors",
    "DTypeLike": "a type such as tf.float32",
    "DType": "a type such as tf.float32",
    "ShapeLike": "a shape such as [None, 3]",
    "DynamicShape": "a shape such as [None, 3], or a tensor of sizes",
    "Sizes": "a number or a list of numbers",
    "SizeLike": "a number or a tensor of one",
    "Axes": "an axis, or a list of axes",
    "AxisLike": "an axis, or a list of axes",
    "VariableLike": "a variable",
    "Activation": "a function",
    "Initializer": "an initializer",
    "Regularizer": "a function",
    "Constraint": "a function",
    "Getter": "a function",
    "Partitioner": "a function",
    "Callable": "a function",
    "SessionLike": "a session",
    "BaseSession": "a session",
    "Fetches": "tensors or operations",
    "Feeds": "a dict of tensors to values",
    "Collections": "a collection's name, or a list of names",
    "DeviceLike": "a device's name",
    "int": "int",
}
_PLURALS: Final = {"tensor": "tensors", "variable": "variables", "function": "functions", "session": "sessions", "str": "names"}
_LISTS: Final = frozenset(("Sequence", "list", "Iterable", "Collection", "tuple", "set", "frozenset", "AbstractSet"))
# What says nothing of a value.
_ANYTHING: Final = ("object", str(typing.Any).rpartition(".")[2])
_DICTS: Final = frozenset(("Mapping", "dict", "MutableMapping"))
_NUMBERS: Final[dict[type, tuple[type, ...]]] = {
    int: (int, np.integer),
    float: (int, float, numbers.Real, np.number),
    complex: (numbers.Number,),
    str: (str,),
    bool: (bool, np.bool_),
}


def allows(function: Callable[..., object], name: str, value: object) -> bool:
    """Whether the annotation of an argument allows a value; so does one that says nothing that can be asked here."""
    text = function.__annotations__.get(name)
    return True if text is None else _allows(_evaluated(text, function), value, function)


def in_words(function: Callable[..., object], name: str) -> str:
    """What the annotation of an argument asks for: `int or None`."""
    text = function.__annotations__.get(name, "object")
    with contextlib.suppress(SyntaxError):
        return _said(_parsed(text), function.__globals__)
    return str(text)


def _parsed(form: _Form) -> ast.expr:
    """An annotation, or what an alias stands for, as it is written."""
    text = form if isinstance(form, str) else form.__qualname__ if isinstance(form, type) else str(form)
    return ast.parse(text, mode="eval").body


def _evaluated(text: object, function: Callable[..., object]) -> _Form:
    """The type of an annotation; Any where it has names that only type checkers see."""
    if not isinstance(text, str):
        return text
    with contextlib.suppress(SyntaxError):
        parts = _union_parts(ast.parse(text, mode="eval").body)
        found: list[_Form] = []
        for part in parts:
            try:
                found.append(eval(ast.unparse(part), function.__globals__))
            except (NameError, TypeError, AttributeError):
                return typing.Any
        return tuple(found)
    return typing.Any


def _union_parts(tree: ast.expr) -> list[ast.expr]:
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.BitOr):
        return [*_union_parts(tree.left), *_union_parts(tree.right)]
    return [tree]


def _allows(form: _Form, value: object, function: Callable[..., object]) -> bool:
    if form is typing.Any or form is object or isinstance(form, typing.TypeVar | typing.ForwardRef):
        return True
    if isinstance(form, str):
        return _allows(_evaluated(form, function), value, function)
    if form is None or form is type(None):
        return value is None
    if isinstance(form, tuple):
        return any(_allows(each, value, function) for each in form)
    origin = typing.get_origin(form)
    if origin is typing.Union or origin is types.UnionType:
        return any(_allows(each, value, function) for each in typing.get_args(form))
    if origin is not None:
        return _allows_generic(origin, typing.get_args(form), value, function)
    if not isinstance(form, type):
        return True
    if form in _NUMBERS:
        # True for a number is mostly another argument's value.
        return isinstance(value, _NUMBERS[form]) and (form is bool or not isinstance(value, bool))
    if getattr(form, "_is_protocol", False):
        return all(hasattr(type(value), each) or hasattr(value, each) for each in _members(form))
    # Variables stand for their tensors.
    return isinstance(value, form) or (form.__name__ == "Tensor" and _stands_for_tensor(value))


def is_element(value: object) -> bool:
    """Whether it is a tensor, an operation, a variable or another part of a graph."""
    return _stands_for_tensor(value) or type(value).__name__ in ("Tensor", "Operation")


def _stands_for_tensor(value: object) -> bool:
    return hasattr(type(value), _ELEMENT)


def _members(protocol: type) -> list[str]:
    named = {name for each in protocol.__mro__ if getattr(each, "_is_protocol", False) for name in _own_members(each)}
    return sorted(named)


def _own_members(kind: type) -> Iterable[str]:
    own = {**vars(kind), **vars(kind).get("__annotations__", {})}
    return (name for name in own if not name.startswith("_"))


def _allows_generic(origin: object, args: tuple[_Form, ...], value: object, function: Callable[..., object]) -> bool:
    if origin is typing.Literal:
        return value in args
    if origin is collections.abc.Callable:
        return callable(value)
    if not isinstance(origin, type):
        return True
    if isinstance(value, str | bytes) or not isinstance(value, origin):
        return False
    if isinstance(value, collections.abc.Mapping):
        return len(args) != 2 or all(
            _allows(args[0], key, function) and _allows(args[1], item, function)
            for key, item in islice(value.items(), _LOOKED_AT)
        )
    if origin is not type and len(args) == 1 and isinstance(value, list | tuple):
        return all(_allows(args[0], item, function) for item in value[:_LOOKED_AT])
    return True


def _said(tree: ast.expr, names: Mapping[str, object]) -> str:
    match tree:
        case ast.BinOp(op=ast.BitOr()):
            parts = [_said(each, names) for each in _union_parts(tree)]
            return " or ".join(dict.fromkeys(parts))
        case ast.Constant(value=str(text)):
            return _said(ast.parse(text, mode="eval").body, names)
        case ast.Subscript(value=value):
            return _said_of_generic(ast.unparse(value).rpartition(".")[2], tree.slice, names)
    name = ast.unparse(tree).rpartition(".")[2]
    if name in _WORDS or name in _ANYTHING:
        return _WORDS.get(name, "anything")
    alias = names.get(name)
    if alias is None or isinstance(alias, type | typing.TypeVar):
        return name
    with contextlib.suppress(SyntaxError):
        return _said(_parsed(alias), names)
    return name


def _said_of_generic(name: str, inside: ast.expr, names: Mapping[str, object]) -> str:
    parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
    if name == "Literal":
        return ast.unparse(inside)
    if name in ("Union", "Optional"):
        return " or ".join([*(_said(each, names) for each in parts), *(["None"] if name == "Optional" else [])])
    if name in _LISTS:
        return f"a list of {_several(_said(parts[0], names))}"
    if name in _DICTS and len(parts) == 2:
        key, item = (_said(each, names) for each in parts)
        return f"a dict of {_several(key)} to {_several(item)}"
    return _WORDS.get(name, name)


def _several(words: str) -> str:
    plain = words.removeprefix("a ").removeprefix("an ")
    return _PLURALS.get(plain, plain)
