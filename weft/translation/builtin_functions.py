"""Python's builtins for tensors: range, len, int, float, abs, print, enumerate, zip, map; and `assert`."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Final

from weft.framework.building.aliases import Nest
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.types import dtypes
from weft.ops.array.ranges import range_of as tensor_range
from weft.ops.array.shape_ops import shape
from weft.ops.control_flow.assertion import assert_that, print_v2
from weft.ops.math.casting import cast
from weft.ops.strings.elementwise import string_to_number
from weft.translation.conditionals import is_symbolic

_FORMS: Final[dict[tuple[object, type], Callable[..., Nest]]] = {}


def register_form(builtin: object, kind: type, form: Callable[..., Nest]) -> None:
    """Let a builtin do something of its own with objects of a class, of which it gets no other kind."""
    _FORMS[builtin, kind] = form


def overload(function: object) -> Callable[..., Nest]:
    """What is called for a builtin: a function that takes tensors too, or itself."""
    found = _OVERLOADS.get(function) if inspect.isbuiltin(function) or isinstance(function, type) else None
    return found or function  # type: ignore[return-value]


def _range(start_or_stop: Nest, *further: Nest) -> Nest:
    given = (start_or_stop, *further)
    return tensor_range(*given) if any(map(is_symbolic, given)) else range(*given)


def _len(sized: Nest) -> Nest:
    if not is_symbolic(sized):
        return len(sized)
    tensor = convert_to_tensor(sized)
    if tensor.dims == ():
        raise ValueError(f"len requires a non-scalar tensor, got one of shape {tensor.shape}: {tensor}")
    return shape(tensor)[0]


def _number(kind: Callable[..., Nest], dtype: dtypes.DType) -> Callable[..., Nest]:
    def convert(*args: Nest, **kwargs: Nest) -> Nest:
        if not (args and is_symbolic(args[0])):
            return kind(*args, **kwargs)
        tensor = convert_to_tensor(args[0])
        return string_to_number(tensor, out_type=dtype) if tensor.dtype is dtypes.string else cast(tensor, dtype)

    return convert


def _print(*objects: Nest, **kwargs: Nest) -> Nest:
    if any(map(is_symbolic, objects)):
        return print_v2(*objects, output_stream=kwargs.get("file", sys.stdout))
    print(*objects, **kwargs)
    return None


def _registered(builtin: Callable[..., Nest], first: int) -> Callable[..., Nest]:
    """A builtin of things to go through, from its argument of that number on."""

    def call(*args: Nest, **kwargs: Nest) -> Nest:
        for (of, kind), form in _FORMS.items():
            if of is builtin and len(args) > first and isinstance(args[first], kind):
                return form(*args, **kwargs)
        return builtin(*args, **kwargs)

    return call


def assert_stmt(condition: Nest, message: Callable[[], Nest]) -> None:
    """An `assert` statement; of a tensor, an Assert node."""
    if is_symbolic(condition):
        assert_that(condition, [message()])
    else:
        assert condition, message()


_OVERLOADS: Final[dict[object, Callable[..., Nest]]] = {
    range: _range,
    len: _len,
    int: _number(int, dtypes.int32),
    float: _number(float, dtypes.float32),
    print: _print,
    enumerate: _registered(enumerate, 0),
    zip: _registered(zip, 0),
    map: _registered(map, 1),
}
