"""What `session.run`, or a function of weft, gave, None too, where a program took it for something else, as its lines tell."""

from __future__ import annotations

import ast
import inspect
import linecache
from types import FrameType
from typing import Final

from weft.platform.frames.failing_call import failing, last_frame_of_program, resolve
from weft.platform.frames.program_frames import is_of_weft

_METHODS = ("run", "eval")
_LOOKED_BACK = 60
# What None of these says, and what to do. By the last part of the function's name.
_SAYS: Final = {
    "average": "there is no average of the variable yet: ema.apply([variable]) makes it.",
    "get_checkpoint_state": "the folder has no file 'checkpoint', so no Saver has saved there: is it the right one?",
    "latest_checkpoint": "the folder has no checkpoint: is it the right one, and has something been saved?",
    "get_global_step": "the graph has no global step: tf.train.get_or_create_global_step() makes one.",
    "get_default_session": "no session is the default one here: `with tf.Session() as sess:` makes one, for its thread.",
    "merge_all": "the graph has no summaries: make them before.",
    "gradients": "nothing depends on it.",
    "get_slot": "the optimizer has no slot of this name for the variable: slots are made by minimize and apply_gradients.",
    "get_collection": "the collection is empty.",
    "run": "an operation has no value: fetch a tensor.",
    "minimize": "",
}
_OF_RUN: Final = (
    "{0} is what run gave for {1}: None, as for every operation. A tensor has a value: fetch it as well, "
    "_, loss_value = session.run([{1}, loss])."
)


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


def hint_for_attribute_of_none(error: AttributeError) -> str:
    """For `x.name` where x is None: the call of weft's that gave it, and why."""
    expression, frame = failing(error)
    if frame is None or not isinstance(expression, ast.Attribute | ast.Call):
        return ""
    owner = expression.func if isinstance(expression, ast.Call) else expression
    value = owner.value if isinstance(owner, ast.Attribute) else None
    if isinstance(value, ast.Name):
        _, line = last_frame_of_program(error)
        if of_run := hint_for_none(value.id, frame, line):
            return of_run
        given = given_before(value.id, frame, line)
        value = given[0] if given is not None and given[1] is None else None
    return _of_call(value, frame) if isinstance(value, ast.Call) else ""


def hint_for_none(name: str, frame: FrameType, line: int) -> str:
    """For a name whose value None came from a run of an operation, as far as the lines before tell."""
    given = given_before(name, frame, line)
    fetch = "" if given is None else fetched_by(*given)
    return _OF_RUN.format(name, fetch) if fetch else ""


def hint_for_none_of_run(operand: ast.expr) -> str:
    """For a call of `run` in place of a value, which was None."""
    fetch = fetched_by(operand, None)
    return _OF_RUN.format("None", fetch) if fetch and not fetch.startswith(("[", "(", "{")) else ""


def _of_call(call: ast.Call, frame: FrameType) -> str:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    said = _SAYS.get(name)
    return f"{ast.unparse(call)} is None: {said}" if said and _is_call_of_weft(call.func, frame) else ""


def _is_call_of_weft(function: ast.expr, frame: FrameType) -> bool:
    found = resolve(function, frame)
    if found is None and isinstance(function, ast.Attribute):
        # A method: resolve() looks in the class, whose functions are plain.
        return is_of_weft(type(resolve(function.value, frame)))
    return is_of_weft(found)
