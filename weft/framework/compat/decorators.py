"""Functions around functions, by the names of tensorflow.python.util.tf_decorator, tf_inspect and all_util."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple


class ArgSpec(NamedTuple):
    """The positional arguments of a function, the names of its `*` and `**`, and the defaults of the last arguments."""

    args: list[str]
    varargs: str | None
    keywords: str | None
    defaults: tuple[object, ...] | None


def getargspec(obj: Callable[..., object]) -> ArgSpec:
    """What a function takes, as Python 2 told it; keyword-only arguments are left out."""
    full = getfullargspec(obj)
    return ArgSpec(full.args, full.varargs, full.varkw, full.defaults)


def getfullargspec(obj: Callable[..., object]) -> inspect.FullArgSpec:
    """What the function in the middle of decorators takes; without annotations, which TensorFlow's functions have not."""
    middle = inspect.unwrap(obj, stop=lambda each: hasattr(each, "__signature__"))
    return inspect.getfullargspec(middle)._replace(annotations={})


def make_decorator(
    target: Callable[..., object],
    decorator_func: Callable[..., object],
    decorator_name: str | None = None,
    decorator_doc: str = "",
    decorator_argspec: object = None,
) -> Callable[..., object]:
    """Let `decorator_func` stand for `target`: it gets its name, its documentation and its signature."""
    wrapped = functools.wraps(target)(decorator_func)
    if decorator_doc:
        wrapped.__doc__ = decorator_doc
    return wrapped


def unwrap(maybe_tf_decorator: Callable[..., object]) -> tuple[list[Callable[..., object]], Callable[..., object]]:
    """The functions around a function from the outermost to the innermost, and the function in the middle."""
    around: list[Callable[..., object]] = []

    def note(each: Callable[..., object]) -> bool:
        around.append(each)
        return False

    middle = inspect.unwrap(maybe_tf_decorator, stop=note)
    return around, middle


def make_all(module_name: str, doc_string_modules: Sequence[object] | None = None) -> list[str]:
    """The public names of a loaded module, for its `__all__`."""
    return [name for name in vars(sys.modules[module_name]) if not name.startswith("_")]


def remove_undocumented(
    module_name: str, allowed_exception_list: Sequence[str] | None = None, doc_string_modules: Sequence[object] | None = None
) -> None:
    """Do nothing: names that TensorFlow hid from its documentation may stay in their module."""
