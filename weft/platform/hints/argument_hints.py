"""Which argument of a call was refused, where the error is Python's own and names none.

Functions of weft say in their annotations what they take. Where one of them has failed at a value that its annotation does not
allow, the annotation tells what was expected.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import re
from collections.abc import Callable, Iterator
from itertools import islice
from types import FrameType, TracebackType
from typing import Final, NamedTuple

import numpy as np

from weft.platform.frames.failing_call import failing_call, resolve
from weft.platform.frames.program_frames import is_of_weft, is_under_weft, is_weft, levels
from weft.platform.hints.annotated_types import allows, in_words
from weft.platform.hints.function_hints import hint_for_function

# Wrappers that take anything may stand between the program and the function that says what it takes.
_MOST_WRAPPERS: Final = 4
# The flags of code that takes any arguments, to pass them on.
_PASSED_ON: Final = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_WORD: Final = re.compile(r"[\w./:-]*\w")
_QUOTED: Final = re.compile(r"'[^']+'|\"[^\"]+\"|`[^`]+`|<tf|Tensor\(")
# What a conversion says, which knows neither the argument nor the function.
_UNNAMED: Final = re.compile(r"^Expected \w+, got .* of type '\w+' instead\.$")
# A text that tells the next step is longer.
_SHORT_TEXT: Final = 110
_SHOWN_TEXT: Final = 60
_SHOWN_ARGUMENTS: Final = 6
_PYTHONS: Final = (
    TypeError,
    ValueError,
    AttributeError,
    KeyError,
    IndexError,
    AssertionError,
    ZeroDivisionError,
    OverflowError,
)
_BUILT_IN: Final = frozenset(each for each in vars(builtins).values() if isinstance(each, type))
# Packages whose values are shown as they show themselves: no code of the program runs.
_SHOWN_PACKAGES: Final = frozenset(("builtins", "weft", "numpy"))


class _Called(NamedTuple):
    """A call of a function of weft: the function, its name, and what its arguments are."""

    function: Callable[..., object]
    name: str
    arguments: dict[str, object]


def hint_for_arguments(error: BaseException, text: str) -> str:
    """The argument that is not what its function takes; empty where all are, and where the error says it itself."""
    if not isinstance(error, _PYTHONS) or "\n  " in text:
        return ""
    called = _called(error)
    if called is None:
        return ""
    if meant := hint_for_function(text, called.function.__name__, called.arguments):
        return meant
    wrong = [name for name in called.arguments if not allows(called.function, name, called.arguments[name])]
    is_on_purpose = _is_raised_on_purpose(error.__traceback__)
    is_own = is_on_purpose and _is_raised_by(called, error.__traceback__)
    unsaid = [name for name in wrong if not (is_on_purpose and _says(text, name, called.arguments[name], is_own))]
    if unsaid:
        return "\n  ".join(refusal(called.name, called.function, name, called.arguments[name]) for name in unsaid)
    return "" if is_on_purpose and (wrong or _names_something(text, called)) else _call_text(called)


def _names_something(text: str, called: _Called) -> bool:
    """Whether a text that was written for the user names what it is about, or tells enough without."""
    if _UNNAMED.search(text):
        return False
    if len(text) > _SHORT_TEXT or "\n" in text or _QUOTED.search(text) or not called.arguments:
        return True
    words = {word.removesuffix(":0") for word in _WORD.findall(text)}
    given = {*called.arguments, *filter(None, map(_name_in, called.arguments.values()))}
    return any(len(each) > 2 and each in words for each in given) or any(f"'{each}'" in text for each in given)


def _name_in(value: object) -> str:
    """A name that was given, or that of a tensor, variable or operation."""
    if isinstance(value, str):
        return value
    name = getattr(value, "name", None) if is_of_weft(type(value)) else None
    return name.removesuffix(":0") if isinstance(name, str) else ""


def _says(text: str, name: str, value: object, is_own: bool) -> bool:
    """Whether a text that was written for the user tells of the argument; of its value, where the function itself wrote it."""
    # A part of another name, as of `name_or_scope` for `scope`, does not tell of it.
    if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text):
        return True
    return is_own and (type(value).__name__ in text or repr(value) in text)


def _is_raised_by(called: _Called, trace: TracebackType | None) -> bool:
    module = called.function.__code__.co_filename
    return [each.tb_frame.f_code.co_filename for each in levels(trace)][-1:] == [module]


def refusal(called_as: str, function: Callable[..., object], name: str, value: object) -> str:
    """`Saver: max_to_keep is 'x' (str); it takes int or None.`

    Args:
        called_as: what the function is called by.
        function: the function.
        name: the argument's name.
        value: what was given.
    """
    return f"{called_as}: {name} is {_shown(value)}; it takes {in_words(function, name)}."


def _call_text(called: _Called) -> str:
    given = [f"{name}={_shown(value, with_type=False)}" for name, value in called.arguments.items()]
    rest = ", ..." if len(given) > _SHOWN_ARGUMENTS else ""
    return f"In {called.name}({', '.join(given[:_SHOWN_ARGUMENTS])}{rest})."


def _called(error: BaseException) -> _Called | None:
    """The function of weft that the program has called, where the error comes from weft."""
    frames = [each.tb_frame for each in levels(error.__traceback__)]
    last = max((i for i, f in enumerate(frames) if not _is_ours(f)), default=-1)
    for frame in islice(frames, last + 1, last + 1 + _MOST_WRAPPERS):
        if not is_weft(frame.f_code.co_filename):
            return None
        function = _function_of(frame)
        if function is not None and (function.__name__ == "build" or function.__name__.startswith("_no_")):
            return None  # what makes nodes of declared ops: their errors have the operands
        if function is None and "<locals>" in frame.f_code.co_qualname and not frame.f_code.co_flags & _PASSED_ON:
            return None  # what a function of weft returned was called, whose arguments are not those of functions under it
        if function is not None and getattr(function, "__annotations__", None) and not _is_wrapper(frame):
            return _Called(function, _written_name(error) or _name_of(frame, function), dict(_arguments(frame, function)))
    return None


def _written_name(error: BaseException) -> str:
    """The function as the program names it, such as tf.train.Saver; empty where weft runs in a call of something else."""
    call, frame = failing_call(error)
    if call is None or frame is None:
        return ""
    name = ast.unparse(call.func)
    # `list(estimator.predict(f))` runs a generator of weft.
    is_pythons = inspect.isbuiltin(called := resolve(call.func, frame)) or (isinstance(called, type) and called in _BUILT_IN)
    return "" if is_pythons or not name.replace(".", "").replace("_", "").isalnum() else name


def _is_ours(frame: FrameType) -> bool:
    return is_weft(frame.f_code.co_filename) or is_under_weft(frame.f_code.co_filename)


def _is_wrapper(frame: FrameType) -> bool:
    code = frame.f_code
    return code.co_argcount + code.co_kwonlyargcount == 0 and bool(code.co_flags & _PASSED_ON)


def _function_of(frame: FrameType) -> Callable[..., object] | None:
    """The function of a frame, found by its name in its module."""
    found: object = None
    for index, part in enumerate(frame.f_code.co_qualname.split(".")):
        found = frame.f_globals.get(part) if index == 0 else inspect.getattr_static(found, part, None)
        if found is None:
            return None
    found = getattr(found, "__func__", None) or getattr(found, "fget", None) or found
    found = inspect.unwrap(found) if callable(found) else None
    return found if inspect.isfunction(found) and found.__code__ is frame.f_code else None


def _name_of(frame: FrameType, function: Callable[..., object]) -> str:
    owner = frame.f_locals.get("self")
    name = function.__name__
    if owner is None:
        return function.__qualname__.removesuffix(".__init__")
    return type(owner).__name__ if name == "__init__" else f"{type(owner).__name__}.{name}"


def _arguments(frame: FrameType, function: Callable[..., object]) -> Iterator[tuple[str, object]]:
    """What was given; arguments that have their defaults are left out."""
    defaults = {p.name: p.default for p in inspect.signature(function).parameters.values()}
    code = frame.f_code
    for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        if name in ("self", "cls") or name not in frame.f_locals:
            continue
        value = frame.f_locals[name]
        if value is not defaults.get(name):
            yield name, value
    if code.co_flags & inspect.CO_VARKEYWORDS:
        several = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & inspect.CO_VARARGS)
        yield from frame.f_locals.get(code.co_varnames[several], {}).items()


def _is_raised_on_purpose(trace: TracebackType | None) -> bool:
    """Whether weft has raised it: its text is then one that was written for the user."""
    frames = list(levels(trace))
    if not frames or not is_weft(frames[-1].tb_frame.f_code.co_filename):
        return False
    code = frames[-1].tb_frame.f_code
    place = next(islice(code.co_positions(), frames[-1].tb_lasti // 2, None), (None,))
    return linecache.getline(code.co_filename, place[0] or frames[-1].tb_lineno).lstrip().startswith("raise ")


def _shown(value: object, with_type: bool = True) -> str:
    """A value, with its type where the text does not show it, in a few words."""
    kind = type(value)
    if isinstance(value, np.ndarray) and value.size > 1:
        return f"an array of shape {value.shape} and type {value.dtype}"
    if kind.__module__.partition(".")[0] not in _SHOWN_PACKAGES or kind.__name__ in ("dict", "list", "tuple", "set"):
        inside = _inside(value)
        shown_type = f" ({kind.__name__})" if with_type else ""
        return f"{inside}{shown_type}" if inside else f"an object of {kind.__name__}"
    if inspect.isfunction(value) or isinstance(value, type):
        return f"{'the class' if isinstance(value, type) else 'the function'} {value.__name__}"
    text = repr(value)
    text = f"{text[:_SHOWN_TEXT]}..." if len(text) > _SHOWN_TEXT else text
    return text if value is None or text.startswith("<") or not with_type else f"{text} ({kind.__name__})"


def _inside(value: object) -> str:
    """A list or dict of plain values as it is written; empty for one of others."""
    items = [*value.keys(), *value.values()] if type(value) is dict else value if type(value) in (list, tuple, set) else None
    if items is None or len(items) > 2 * _SHOWN_ARGUMENTS:  # type: ignore[arg-type]
        return ""
    if any(type(each).__module__.partition(".")[0] not in _SHOWN_PACKAGES for each in items):  # type: ignore[attr-defined]
        return ""
    text = repr(value)
    return f"{text[:_SHOWN_TEXT]}..." if len(text) > _SHOWN_TEXT else text
