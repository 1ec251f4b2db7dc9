"""What `session.run`, or a function of weft, gave, as a program's lines tell, where it took that for something else."""

from __future__ import annotations

import ast
import inspect
import linecache
from types import FrameType

from weft.platform.frames.failing_call import last_frame_of_program, resolve
from weft.platform.frames.program_frames import is_of_weft

_METHODS = ("run", "eval")
_LOOKED_BACK = 60


def hint_for_unpacking(error: BaseException) -> str:
    """For a statement such as `a, b = session.run(x)` whose left side has another number of names than there are values."""
    frame, line = last_frame_of_program(error)
    if frame is None:
        return ""
    statement = _statement_at(frame, line)
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Tuple):
        return ""
    fetches = _fetches(statement.value)
    if fetches is None:
        return returned(statement.value, frame)
    names = len(statement.targets[0].elts)
    if isinstance(fetches, ast.List | ast.Tuple):
        return f"run returns one value for each fetch, {len(fetches.elts)} here, and there are {names} names for them."
    of = ast.unparse(fetches)
    return f"run returns one value for one fetch, that of {of}: several are fetched as a list, run([{of}, ...])."


def returned(value: ast.expr, frame: FrameType) -> str:
    """What a function of weft returns, as its documentation says; empty for what is no call of one.

    Args:
        value: the call.
        frame: where it is made.
    """
    function = _called(value.func, frame) if isinstance(value, ast.Call) else None
    if not isinstance(value, ast.Call) or not inspect.isfunction(function) or not is_of_weft(function):
        return ""
    first, _, returns = (inspect.getdoc(function) or "").partition("\nReturns:\n")
    told = " ".join((returns or first).partition("\n\n")[0].split())
    return f"{ast.unparse(value.func)} returns: {told}" if told else ""


def _called(function: ast.expr, frame: FrameType) -> object:
    """The function of a call; of an object that is called, such as a layer, or is made for it, that of its class."""
    found = resolve(function.func if isinstance(function, ast.Call) else function, frame)
    if isinstance(function, ast.Call):
        return getattr(found, "__call__", None) if isinstance(found, type) else None  # noqa: B004
    return found if inspect.isroutine(found) or found is None else inspect.getattr_static(type(found), "__call__", None)


def given_before(name: str, frame: FrameType, line: int) -> tuple[ast.expr, int | None] | None:
    """What a name was last given before a line, as far as the lines tell: an expression's value, or an item of it."""
    for before in range(line - 1, max(line - _LOOKED_BACK, 0), -1):
        statement = _statement_at(frame, before)
        if not isinstance(statement, ast.Assign):
            continue
        for target in statement.targets:
            for index, each in enumerate(target.elts if isinstance(target, ast.Tuple) else [target]):
                if isinstance(each, ast.Name) and each.id == name:
                    return statement.value, index if isinstance(target, ast.Tuple) else None
    return None


def fetched_by(value: ast.expr, item: int | None) -> str:
    """What a call of `run` fetched for its value, or for that item of it; empty for any other expression."""
    fetches = _fetches(value)
    if fetches is None or item is None:
        return "" if fetches is None else ast.unparse(fetches)
    several = fetches.elts if isinstance(fetches, ast.List | ast.Tuple) else []
    return ast.unparse(several[item]) if item < len(several) else ""


def _fetches(value: ast.expr) -> ast.expr | None:
    """What a call of `run` fetches; None for any other expression."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute) or value.func.attr not in _METHODS:
        return None
    if value.args:
        return value.args[0] if value.func.attr == "run" else value.func.value
    return next((each.value for each in value.keywords if each.arg == "fetches"), None)


def _statement_at(frame: FrameType, line: int) -> ast.stmt | None:
    text = linecache.getline(frame.f_code.co_filename, line).strip()
    try:
        body = ast.parse(text).body
    except SyntaxError:
        return None
    return body[0] if body else None
