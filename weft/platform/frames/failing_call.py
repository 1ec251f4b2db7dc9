"""The expression of the program at which an error was raised, and what the names in it stand for.

Python keeps the place of each instruction in its line.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import sys
from collections.abc import Iterator
from itertools import islice
from types import FrameType, ModuleType, TracebackType

from weft.platform.frames.program_frames import is_of_weft, is_under_weft, is_weft, levels


def passes_weft(error: BaseException) -> bool:
    """Whether code of weft was running."""
    return any(is_weft(each.tb_frame.f_code.co_filename) for each in levels(error.__traceback__))


def failing_call(error: BaseException) -> tuple[ast.Call | None, FrameType | None]:
    found, frame = failing(error)
    return (found, frame) if isinstance(found, ast.Call) else (None, None)


def failing(error: BaseException) -> tuple[ast.expr | None, FrameType | None]:
    """The expression of the program at which it failed, and its frame."""
    trace = _last_of_program(error.__traceback__)
    if trace is None:
        return None, None
    code = trace.tb_frame.f_code
    place = next(islice(code.co_positions(), trace.tb_lasti // 2, None), (None,) * 4)
    line, last_line, start, end = place
    if line is None or last_line is None or start is None or end is None:
        return None, None
    lines = [linecache.getline(code.co_filename, each).encode() for each in range(line, last_line + 1)]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    parsed = _expression(b"".join(lines).decode(errors="replace"))
    return (None, None) if parsed is None else (parsed, trace.tb_frame)


def _expression(text: str) -> ast.expr | None:
    """The expression of a text; of `a += b` that is `a + b`."""
    try:
        statement = ast.parse(text).body[0]
    except (SyntaxError, ValueError, IndexError):
        return None
    if isinstance(statement, ast.AugAssign):
        return ast.BinOp(statement.target, statement.op, statement.value)
    return statement.value if isinstance(statement, ast.Expr) else None


def last_frame_of_program(error: BaseException) -> tuple[FrameType | None, int]:
    """The program's innermost frame that an error has passed, and the line in it."""
    trace = _last_of_program(error.__traceback__)
    return (None, 0) if trace is None else (trace.tb_frame, trace.tb_lineno)


def _last_of_program(trace: TracebackType | None) -> TracebackType | None:
    found = None
    for each in levels(trace):
        file = each.tb_frame.f_code.co_filename
        if not is_weft(file) and not is_under_weft(file):
            found = each
    return found


def resolve(expression: ast.expr, frame: FrameType) -> object:
    """What a dotted name, or an item of it, stands for.

    Attributes of objects are looked up in their class, but for the fields of named tuples and what an object of weft has,
    and items in lists and dicts only, so that no code of theirs runs.
    """
    if isinstance(expression, ast.Subscript) and isinstance(expression.slice, ast.Constant):
        return _item(resolve(expression.value, frame), expression.slice.value)
    if isinstance(expression, ast.Name):
        for scope in (frame.f_locals, frame.f_globals, vars(builtins)):
            if expression.id in scope:
                return scope[expression.id]
        return None
    if not isinstance(expression, ast.Attribute):
        return None
    owner = resolve(expression.value, frame)
    if owner is None:
        return None
    if isinstance(owner, ModuleType | type) or (isinstance(owner, tuple) and expression.attr in getattr(owner, "_fields", ())):
        return getattr(owner, expression.attr, None)
    if is_of_weft(type(owner)) and expression.attr in (own := getattr(owner, "__dict__", {})):
        return own[expression.attr]
    return inspect.getattr_static(type(owner), expression.attr, None)


def value_of(expression: ast.expr, frame: FrameType) -> object:
    """What a dotted name stands for, attributes of protocol buffers included; None for any other."""
    if not isinstance(expression, ast.Attribute):
        return resolve(expression, frame)
    owner = value_of(expression.value, frame)
    if isinstance(owner, ModuleType | type) or hasattr(type(owner), "DESCRIPTOR"):
        return getattr(owner, expression.attr, None)
    return None


def named_in_weft(name: str) -> Iterator[object]:
    """What the modules of weft that are loaded have by a name, those of weft's doors too."""
    for module_name, module in list(sys.modules.items()):
        if module_name.startswith("weft.") and module is not None and name in vars(module):
            yield vars(module)[name]


def _item(owner: object, key: object) -> object:
    if type(owner) is dict:
        return owner.get(key)
    if type(owner) in (list, tuple) and isinstance(key, int):
        items: list[object] | tuple[object, ...] = owner  # type: ignore[assignment]
        return items[key] if -len(items) <= key < len(items) else None
    return None
