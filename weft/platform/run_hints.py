"""What `session.run` gave, where a program took it for something else: one value for several, None for a number."""

from __future__ import annotations

import ast
import linecache
from types import FrameType

from weft.platform.failing_call import last_frame_of_program

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
        return ""
    names = len(statement.targets[0].elts)
    if isinstance(fetches, ast.List | ast.Tuple):
        return f"run returns one value for each fetch, {len(fetches.elts)} here, and there are {names} names for them."
    of = ast.unparse(fetches)
    return f"run returns one value for one fetch, that of {of}: several are fetched as a list, run([{of}, ...])."


def hint_for_none(name: str, frame: FrameType, line: int) -> str:
    """For a name whose value None came from a run of an operation, as far as the lines before tell."""
    for before in range(line - 1, max(line - _LOOKED_BACK, 0), -1):
        statement = _statement_at(frame, before)
        if not isinstance(statement, ast.Assign):
            continue
        fetch = _fetch_of(name, statement)
        if fetch is not None:
            return (
                f"{name} is what run gave for {fetch}: None, as for every operation. A tensor has a value: fetch it as well, "
                f"_, loss_value = session.run([{fetch}, loss])."
            )
        if any(isinstance(each, ast.Name) and each.id == name for target in statement.targets for each in ast.walk(target)):
            return ""
    return ""


def assigned_before(name: str, frame: FrameType, line: int) -> ast.expr | None:
    """What a name was last given before a line, as far as the lines tell."""
    for before in range(line - 1, max(line - _LOOKED_BACK, 0), -1):
        statement = _statement_at(frame, before)
        if isinstance(statement, ast.Assign) and any(
            isinstance(each, ast.Name) and each.id == name for each in statement.targets
        ):
            return statement.value
    return None


def _fetch_of(name: str, statement: ast.Assign) -> str | None:
    """The fetch whose value a statement gives to a name; None where it does not."""
    fetches, target = _fetches(statement.value), statement.targets[0]
    if fetches is None:
        return None
    if isinstance(target, ast.Name) and target.id == name:
        return ast.unparse(fetches)
    if isinstance(target, ast.Tuple) and isinstance(fetches, ast.List | ast.Tuple) and len(target.elts) == len(fetches.elts):
        for each, fetch in zip(target.elts, fetches.elts, strict=True):
            if isinstance(each, ast.Name) and each.id == name:
                return ast.unparse(fetch)
    return None


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
