"""Whether a Python function has anything that a translation would change: told by its bytecode, in microseconds."""

from __future__ import annotations

import builtins
import dis
import inspect
import sys
from collections.abc import Iterator, Mapping
from types import CodeType, FunctionType, ModuleType
from typing import Final

# Functions of these packages build nodes as they are; what comes with Python has nothing to do with tensors.
_AS_THEY_ARE: Final = frozenset((
    "weft", "tensorflow", "tensorflow_probability", "jax", "numpy", "pandas", "matplotlib", "PIL", "absl", "six", "malt",
    "keras", "mock", "ipdb", *sys.stdlib_module_names,
)) - {"__main__", "test"}  # fmt: skip
_BUILTINS: Final = frozenset(("range", "len", "int", "float", "enumerate", "zip", "map", "eval", "super"))
_CONDITIONAL: Final = frozenset(
    name
    for name in dis.opmap
    if (name.startswith(("POP_JUMP", "JUMP_IF")) or name in ("FOR_ITER", "UNARY_NOT")) and "EXC_MATCH" not in name
)
# `with` and `except` branch by what these leave, which is no tensor.
_OF_EXCEPTIONS: Final = frozenset(("WITH_EXCEPT_START", "CHECK_EXC_MATCH", "CHECK_EG_MATCH"))
_COMPREHENSIONS: Final = frozenset(("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"))


def is_left_alone(function: object) -> bool:
    """Whether a function or class is of a package whose functions are called as they are."""
    module = getattr(function, "__module__", None)
    return isinstance(module, str) and module.partition(".")[0] in _AS_THEY_ARE


def needs_translation(function: FunctionType, owner: object = None) -> bool:
    """Whether a function, or one that it names, branches, loops, or calls what tensors have in other forms.

    Args:
        function: the function.
        owner: the object whose method it is.
    """
    return _needs(function, owner, set())


def _needs(function: FunctionType, owner: object, seen: set[CodeType]) -> bool:
    code = function.__code__
    if code in seen:
        return False
    seen.add(code)
    if any(_decides(part) for part in _with_inner(code)):
        return True
    names = {name for part in _with_inner(code) for name in part.co_names}
    if any(name in _BUILTINS and name not in function.__globals__ for name in names):
        return True
    return any(
        _needs(called, of, seen)
        for called, of in _called(function, owner, names)
        if not is_left_alone(called) and hasattr(called, "__code__")
    )


def _with_inner(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _with_inner(constant)


def _decides(code: CodeType) -> bool:
    before = ""
    for instruction in dis.get_instructions(code):
        name = instruction.opname
        is_walk = name == "FOR_ITER" and code.co_name in _COMPREHENSIONS
        if name in _CONDITIONAL and before not in _OF_EXCEPTIONS and not is_walk:
            return True
        before = name
    return False


def _called(function: FunctionType, owner: object, names: set[str]) -> Iterator[tuple[FunctionType, object]]:
    """The program's functions among what a function names, and attributes of those names; also what an object's call is."""
    found = list(_named(function, names))
    bases = [*found, *([] if owner is None else [owner])]
    for base in bases:
        yield from _functions_of(base)
        if isinstance(base, ModuleType) and is_left_alone_module(base):
            continue
        for name in names:
            member = inspect.getattr_static(base, name, None)
            if isinstance(member, staticmethod | classmethod):
                member = member.__func__
            if isinstance(member, FunctionType):
                yield member, base
            elif base is owner and member is not None:
                yield from _functions_of(member)


def is_left_alone_module(module: ModuleType) -> bool:
    """Whether a module is of a package whose functions are called as they are."""
    return module.__name__.partition(".")[0] in _AS_THEY_ARE


def _named(function: FunctionType, names: set[str]) -> Iterator[object]:
    scope: Mapping[str, object] = function.__globals__
    for name in names:
        if name in scope and not hasattr(builtins, name):
            yield scope[name]
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not assigned yet
            continue


def _functions_of(value: object) -> Iterator[tuple[FunctionType, object]]:
    if isinstance(value, FunctionType):
        yield inspect.unwrap(value), None
    elif inspect.ismethod(value) and isinstance(value.__func__, FunctionType):
        yield value.__func__, value.__self__
    elif not isinstance(value, type) and not is_left_alone(type(value)):
        call = inspect.getattr_static(type(value), "__call__", None)
        if isinstance(call, FunctionType):
            yield call, value
