"""What was meant where a list or tuple of values stands for one: what a function of weft returned, or `session.run` gave."""

from __future__ import annotations

import ast
import re
from types import FrameType
from typing import Final

from weft.platform.frames.failing_call import failing, last_frame_of_program, resolve
from weft.platform.frames.program_frames import is_of_weft
from weft.platform.hints.run_hints import fetched_by, given_before, returned

SEVERAL: Final = re.compile(
    r"can't multiply sequence by non-int|unsupported operand type\(s\) for .*'(?:list|tuple)'|bad operand .*'(?:list|tuple)'"
    r"|can only concatenate (?:list|tuple)|(?:list|tuple) indices must be integers or slices, not tuple"
    r"|must be real number, not (?:list|tuple)|unsupported format string passed to (?:list|tuple)\.__format__"
    r"|not all arguments converted during string formatting|%d format: a real number is required, not (?:list|tuple)"
)
_SHOWN_ITEMS: Final = 4


def hint_for_several(error: BaseException) -> str:
    """Which of the values of the failing line are several, and how one of them is had; empty where none is known to be."""
    expression, frame = failing(error)
    if expression is None or frame is None:
        return ""
    _, line = last_frame_of_program(error)
    return next(filter(None, (_of_operand(each, frame, line) for each in _operands(expression))), "")


def items_of(name: str, owner: list[object] | tuple[object, ...]) -> str:
    """`state has 2 items: state[0] is of type LSTMStateTuple, ...`, or the fields of a named tuple."""
    if fields := getattr(type(owner), "_fields", ()):
        return f"{name} is of type {type(owner).__name__} and has {', '.join(f'{name}.{each}' for each in fields)}."
    items = ", ".join(f"{name}[{index}] is {_short(each)}" for index, each in enumerate(owner[:_SHOWN_ITEMS]))
    return f"{name} has {len(owner)} item{'s' * (len(owner) != 1)}: {items}{', ...' if len(owner) > _SHOWN_ITEMS else ''}."


def is_tensor(value: object) -> bool:
    """Whether it is part of a graph; its class tells, so that no code of the program runs."""
    kind = type(value)
    return (is_of_weft(kind) and hasattr(kind, "_as_graph_element")) or kind.__name__ == "Tensor"


def _of_operand(operand: ast.expr, frame: FrameType, line: int) -> str:
    if isinstance(operand, ast.Call):
        fetch = fetched_by(operand, None)
        if fetch:
            several = resolve(ast.parse(fetch, mode="eval").body, frame)
            is_list = fetch.startswith(("[", "(")) or isinstance(several, list | tuple)
            return f"run gives a list or tuple for {fetch}, of a value for each part: take one of them." if is_list else ""
        return returned(operand, frame)
    value = resolve(operand, frame)
    if not isinstance(value, list | tuple) or not value:
        return ""
    name = ast.unparse(operand)
    given = given_before(name, frame, line) if isinstance(operand, ast.Name) else None
    if given is not None and (fetch := fetched_by(*given)):
        return f"{name} is what run gave for {fetch}, a {type(value).__name__} of {len(value)}: {name}[0] is the first value."
    if not all(item is None or is_tensor(item) for item in value):
        return ""
    if type(value) is list:
        return f"{name} is a list of {len(value)} tensor(s), as tf.gradients gives: {name}[0] is the first."
    return items_of(name, value)


def _operands(expression: ast.expr) -> list[ast.expr]:
    match expression:
        case ast.BinOp(left=left, op=ast.Mod(), right=ast.Tuple(elts=items)):
            return [left, *items]
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.UnaryOp(operand=operand):
            return [operand]
        case ast.Subscript(value=value):
            return [value]
        case ast.JoinedStr(values=parts):
            return [each.value for each in parts if isinstance(each, ast.FormattedValue)]
        case ast.Call(func=ast.Attribute(attr="format"), args=given):
            return given
    return []


def _short(item: object) -> str:
    name = getattr(item, "name", "") if is_tensor(item) else ""
    return f"{name!r}" if name else f"of type {type(item).__name__}"
