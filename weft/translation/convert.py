"""tf.autograph: functions whose branches and loops over tensors become `tf.cond` and `tf.while_loop`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import FunctionType

from weft.framework.building.aliases import Nest
from weft.translation import calls, translator
from weft.translation.options import Options, options_of


def to_graph(
    entity: Callable[..., Nest],
    recursive: bool = True,
    arg_values: object = None,
    arg_types: object = None,
    experimental_optional_features: object = None,
) -> Callable[..., Nest]:
    """The translation of a function: called in a graph, its branches and loops over tensors become nodes.

    Args:
        entity: a function or a method.
        recursive: also translate the functions that it calls.
        arg_values, arg_types: accepted.
        experimental_optional_features: a `tf.autograph.experimental.Feature`, or several.

    Returns:
        A function with the same arguments; of values that are no tensors it returns what `entity` does.

    Raises:
        NotImplementedError: `entity` is no function of Python.
        ValueError: its source is not to be had, or has something in it that cannot be translated.
    """
    function = _function_of(entity)
    options = options_of(recursive, experimental_optional_features)
    made = _translated(function, options)
    if inspect.ismethod(entity):
        made = functools.partial(made, entity.__self__)

    def call(*args: Nest, **kwargs: Nest) -> Nest:
        return calls.run_translated(made, args, kwargs)

    functools.update_wrapper(call, function)
    call.__name__ = f"tf__{function.__name__}"
    call.autograph_info__ = None  # type: ignore[attr-defined]
    return call


def to_code(
    entity: Callable[..., Nest],
    recursive: bool = True,
    arg_values: object = None,
    arg_types: object = None,
    indentation: str = "  ",
    experimental_optional_features: object = None,
) -> str:
    """The source of a function's translation.

    Args:
        entity, recursive, arg_values, arg_types, experimental_optional_features: those of `to_graph`.
        indentation: accepted.

    Raises:
        NotImplementedError, ValueError: those of `to_graph`.
    """
    options = options_of(recursive, experimental_optional_features)
    return translator.source_of(_function_of(entity), options)


def convert(recursive: bool = False, optional_features: object = None, user_requested: bool = True) -> Callable[..., Nest]:
    """Decorate a function, to have it translated when it is called; one that cannot be is called as it is, with a warning.

    Args:
        recursive: also translate the functions that it calls.
        optional_features: a `Feature`, or several.
        user_requested: accepted.

    Returns:
        The decorator.
    """
    options = options_of(recursive, optional_features)

    def decorate(function: Callable[..., Nest]) -> Callable[..., Nest]:
        @functools.wraps(function)
        def called(*args: Nest, **kwargs: Nest) -> Nest:
            return calls.call(function, args, kwargs, options)

        called.autograph_info__ = None  # type: ignore[attr-defined]
        return called

    return decorate


def do_not_convert(func: Callable[..., Nest] | None = None) -> Callable[..., Nest]:
    """Decorate a function that is to be called as it is, from translated functions too.

    Args:
        func: the function; without one, a decorator is returned.

    Returns:
        A function with the same arguments.
    """
    return do_not_convert if func is None else calls.unconverted(func)


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Accepted: translations that fail are told by warnings, whatever the level.

    Args:
        level: how much to tell.
        alsologtostdout: whether to print it too.
    """


def trace(*args: object) -> None:
    """Print values while the graph is built.

    Args:
        *args: the values.
    """
    print(*args)


def _function_of(entity: object) -> FunctionType:
    function = getattr(entity, "__func__", entity)
    if not isinstance(function, FunctionType):
        raise NotImplementedError(
            f'cannot convert entity "{entity}": object conversion is not yet supported. A function or a method of Python is.'
        )
    return function


def _translated(function: FunctionType, options: Options) -> Callable[..., Nest]:
    try:
        return translator.translated(function, options)
    except Exception as error:  # whatever malt cannot read
        raise ValueError(f"converting {function}: {type(error).__name__}: {error}") from error
