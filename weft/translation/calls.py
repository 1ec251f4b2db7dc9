"""Calls of functions that may be translated: by a program's wish, and from inside of translated functions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import Final

from weft.framework.building.aliases import Nest
from weft.framework.context import conversion_status
from weft.framework.context.conversion_status import Status
from weft.platform.imports.malt_modules import py_builtins
from weft.platform.logs import tf_logging
from weft.translation.builtin_functions import overload
from weft.translation.need import is_left_alone, needs_translation
from weft.translation.options import Options
from weft.translation.scope import FunctionScope, MaltOptions
from weft.translation.translator import options_in, set_converted_call, translated
from weft.translation.user_errors import tell_lines

_PLAIN: Final = Options()
_DO_NOT: Final = "_weft_do_not_convert"
_WARNED: Final[set[object]] = set()


def call(function: Callable[..., Nest], args: tuple[Nest, ...], kwargs: dict[str, Nest], options: Options = _PLAIN) -> Nest:
    """Call a function, translated if there is anything to translate; errors name the program's lines.

    Args:
        function: anything that can be called.
        args, kwargs: its arguments.
        options: what a translation does.
    """
    if conversion_status.current() is Status.DISABLED:
        return function(*args, **kwargs)
    try:
        return _called(function, args, kwargs, options)
    except Exception as error:
        tell_lines(error)
        raise


def run_translated(made: Callable[..., Nest], args: tuple[Nest, ...], kwargs: dict[str, Nest]) -> Nest:
    """Call a function that has been translated; errors name the program's lines."""
    try:
        return made(*args, **kwargs)
    except Exception as error:
        tell_lines(error)
        raise


def unconverted(function: Callable[..., Nest]) -> Callable[..., Nest]:
    """A function that is called as it is, in translated functions too."""

    @functools.wraps(function)
    def called(*args: Nest, **kwargs: Nest) -> Nest:
        with conversion_status.entered(Status.DISABLED):
            return function(*args, **kwargs)

    setattr(called, _DO_NOT, True)
    return called


def _called(function: Nest, args: tuple[Nest, ...], kwargs: dict[str, Nest], options: Options) -> Nest:
    if isinstance(function, functools.partial):
        return _called(function.func, function.args + args, {**function.keywords, **kwargs}, options)
    target, effective = _target(function, args)
    if target is None or is_left_alone(target) or not needs_translation(target, effective[0] if effective else None):
        return function(*args, **kwargs)
    try:
        made = translated(target, options)
    except Exception as error:  # whatever malt cannot read
        _warn(function, error)
        with conversion_status.entered(Status.DISABLED):
            return function(*args, **kwargs)
    return made(*effective, **kwargs)


def _target(function: Nest, args: tuple[Nest, ...]) -> tuple[FunctionType | None, tuple[Nest, ...]]:
    """The function of Python behind what is called, with its arguments; None for what is called as it is."""
    if hasattr(function, "autograph_info__") or getattr(function, _DO_NOT, False) or inspect.isclass(function):
        return None, args
    if inspect.ismethod(function):
        own = function.__func__
        if not isinstance(own, FunctionType) or is_left_alone(own) or getattr(own, _DO_NOT, False):
            return None, args
        return _plain(own), (function.__self__, *args)
    if isinstance(function, FunctionType):
        return _plain(function), args
    if is_left_alone(type(function)):
        return None, args
    own_call = inspect.getattr_static(type(function), "__call__", None)
    if isinstance(own_call, FunctionType) and not is_left_alone(own_call):
        return _plain(own_call), (function, *args)
    return None, args


def _plain(function: FunctionType) -> FunctionType | None:
    """The function, unless it cannot be translated: a generator, a coroutine, or what a decorator made of another."""
    code = function.__code__
    if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function) or code.co_filename == "<string>":
        return None
    return function


def _warn(function: Nest, error: Exception) -> None:
    key = getattr(function, "__code__", type(function))
    if key in _WARNED:
        return
    _WARNED.add(key)
    tf_logging.warning(
        "AutoGraph could not transform %s and will run it as-is.\nCause: %s: %s\nA tensor in its `if` or `for` is refused: "
        "tf.cond and tf.while_loop take functions.", function, type(error).__name__, error
    )  # fmt: skip


def converted_call(
    function: Nest,
    args: Iterable[Nest],
    kwargs: Mapping[str, Nest] | None,
    caller_fn_scope: FunctionScope,
    options: MaltOptions | None = None,
) -> Nest:
    """Call a function from a translated one."""
    arguments, named = tuple(args), dict(kwargs or {})
    if inspect.isbuiltin(function) or isinstance(function, type):
        if function is super and not arguments:
            return py_builtins.super_in_original_context(function, arguments, caller_fn_scope)
        if function is eval:
            return py_builtins.eval_in_original_context(function, arguments, caller_fn_scope)
        if function is globals:
            return py_builtins.globals_in_original_context(caller_fn_scope)
        if function is locals:
            return py_builtins.locals_in_original_context(caller_fn_scope)
        return overload(function)(*arguments, **named)
    told = caller_fn_scope.callopts if options is None else options
    if not told.internal_convert_user_code or conversion_status.current() is Status.DISABLED:
        return function(*arguments, **named)
    return _called(function, arguments, named, options_in(told))


set_converted_call(converted_call)
