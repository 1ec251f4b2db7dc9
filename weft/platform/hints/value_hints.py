"""What a value is, where Python's own error says only that it is no number, no text or no key.

In a program of graphs that is a tensor, which has a value in a run only, what a function of weft gave that has none, or a list
of tensors.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from types import FrameType, GeneratorType
from typing import Final

from weft.platform.frames.failing_call import failing, failing_call, last_frame_of_program, passes_weft, resolve
from weft.platform.frames.program_frames import is_of_weft, is_weft
from weft.platform.hints.run_hints import (
    hint_for_attribute_of_none,
    hint_for_none,
    hint_for_none_of_run,
    hint_for_unpacking,
)
from weft.platform.hints.several_hints import SEVERAL, hint_for_several, is_tensor, items_of

_NONE: Final = re.compile(r"'NoneType'|must be real number, not NoneType")
_NOT_A_TENSOR: Final = re.compile(r"(?:not '?|expected str instance, )(Tensor|(?:Ref|Resource)?Variable)'?(?: found)?$")
_UNPACKED: Final = re.compile(r"cannot unpack non-iterable|values to unpack \(expected|not enough values to unpack")
_CONDITION: Final = "using a `tf.Tensor` as a Python `bool`"
_NO_KEY: Final = re.compile(r"unhashable type: 'numpy\.ndarray'")
_NO_JSON: Final = re.compile(r"Object of type (Tensor|(?:Ref|Resource)?Variable) is not JSON serializable")
_NO_JSON_NUMBER: Final = re.compile(r"Object of type (?:u?int|float)\d+ is not JSON serializable")
_NO_PICKLE: Final = re.compile(r"cannot pickle")
_NO_NEXT: Final = re.compile(r"'Iterator' object is not (?:an iterator|iterable)")
_OPERATION: Final = re.compile(r"unsupported operand type\(s\) for .*'Operation'|bad operand type for .*'Operation'")
_SPARSE: Final = re.compile(r"unsupported operand type\(s\) for .*'SparseTensor'")
_NO_ITEMS: Final = re.compile(r"'generator' object is not subscriptable")
_BYTES: Final = re.compile(
    r"bytes-like object is required, not 'str'|\(not \"bytes\"\) to str|must be bytes or a tuple of bytes, not str"
    r"|can't concat str to bytes"
)
# What is looked through for tensors, so that None is likely to stand for a gradient.
_MOST_NAMES: Final = 200

_OF_NONE: Final = (
    "None is what tf.gradients gives for what the first argument does not depend on: leave it out, or is it the wrong variable?"
)
_OF_TAPE: Final = (
    "None is what a tape gives for what it has not recorded: the target is computed inside of the tape's block, from "
    "variables or from what tape.watch(x) names before."
)
_RUN_ONLY: Final = (
    "A tensor has a value in a run only: session.run({0}) returns it. In the graph, ops do the work of Python's functions (`+` "
    "joins texts, tf.read_file reads), and tf.py_func calls one with the value in each run."
)


_DECODED: Final = "Texts that come out of a graph are bytes in Python 3: {0} is the text."


def hint_for_value(error: BaseException, text: str) -> str:
    """The next step for a value that the failing line of the program took for another; empty where none is known."""
    if isinstance(error, AttributeError):
        if error.obj is None and text.startswith("'NoneType'"):
            return hint_for_attribute_of_none(error)
        return _of_dict(error) or _of_operation(error)
    if isinstance(error, KeyError):
        return _of_key(error)
    if isinstance(error, IndexError):
        return _of_collection(error)
    if isinstance(error, TypeError | ValueError) and _UNPACKED.search(text):
        return hint_for_unpacking(error)
    if not isinstance(error, TypeError):
        return ""
    if _NO_NEXT.search(text):
        return (
            "Elements come in runs: next_element = iterator.get_next() makes the tensor once, and each "
            "session.run(next_element) gives the next value, until tf.errors.OutOfRangeError."
        )
    if text.startswith(_CONDITION):
        return _of_fetches(error)
    if found := _NOT_A_TENSOR.search(text) or _NO_JSON.search(text):
        return _RUN_ONLY.format("tensor" if found[1] == "Tensor" else "variable")
    if _NO_JSON_NUMBER.search(text):
        return "A run gives NumPy's numbers: float(x) or int(x) is Python's, x.tolist() the list of an array."
    if _NO_PICKLE.search(text):
        return _of_pickled(error)
    if _BYTES.search(text):
        return _of_bytes(error)
    if _OPERATION.search(text):
        return _of_operand(error)
    if SEVERAL.search(text) and (said := hint_for_several(error)):
        return said
    if _SPARSE.search(text):
        return (
            "A SparseTensor has three parts, and arithmetic of its own: tf.sparse_add adds, `*` and `/` take a dense tensor, "
            "tf.sparse_tensor_to_dense(s) makes a dense one, tf.SparseTensor(s.indices, f(s.values), s.dense_shape) others."
        )
    for pattern, rule in _RULES.items():
        if pattern.search(text):
            expression, frame = failing(error)
            if expression is None or frame is None:
                return ""
            return (_of_run(error, expression) if rule is _of_none else "") or rule(expression, frame)
    return ""


def _of_run(error: BaseException, expression: ast.expr) -> str:
    """For None that a run gave for an operation."""
    frame, line = last_frame_of_program(error)
    names = [each.id for part in _operands(expression) for each in ast.walk(part) if isinstance(each, ast.Name)]
    if frame is None:
        return ""
    if said := next(filter(None, map(hint_for_none_of_run, _operands(expression))), ""):
        return said
    return next(
        filter(None, (hint_for_none(name, frame, line) for name in names if resolve(ast.Name(name), frame) is None)), ""
    )


def _of_fetches(error: BaseException) -> str:
    """For further fetches behind the first, where the feeds are expected."""
    call, frame = failing_call(error)
    if (
        call is None
        or frame is None
        or not isinstance(call.func, ast.Attribute)
        or call.func.attr != "run"
        or len(call.args) < 2
    ):
        return ""
    if not is_tensor(resolve(call.args[1], frame)):
        return ""
    fetches = ", ".join(ast.unparse(each) for each in call.args if not isinstance(each, ast.Dict))
    return f"Several fetches are one list, and the feeds come second: {ast.unparse(call.func)}([{fetches}], feed_dict)."


def _of_none(expression: ast.expr, frame: FrameType) -> str:
    if isinstance(expression, ast.Subscript):
        return _of_results(expression, frame)
    operands = _operands(expression)
    values = [resolve(each, frame) for each in operands]
    known = [isinstance(each, ast.Name | ast.Subscript | ast.Call) for each in operands]
    is_none = any(value is None and is_known for value, is_known in zip(values, known, strict=True))
    if not is_none or not _has_tensors(frame):
        return ""
    return _OF_TAPE if any(map(_is_of_tape, operands)) else _OF_NONE


def _is_of_tape(operand: ast.expr) -> bool:
    return isinstance(operand, ast.Call) and isinstance(operand.func, ast.Attribute) and operand.func.attr == "gradient"


def _of_generator(expression: ast.expr, frame: FrameType) -> str:
    if not isinstance(expression, ast.Subscript):
        return ""
    value = expression.value
    if isinstance(value, ast.Call):
        function = resolve(value.func, frame)
        is_ours = is_of_weft(function)
    else:
        given = resolve(value, frame)
        is_ours = isinstance(given, GeneratorType) and is_weft(given.gi_code.co_filename)
    if not is_ours:
        return ""
    name = ast.unparse(value)
    return f"{name} gives one result after the other: next({name}) is the first, list({name}) are all that an end leaves."


def _of_array(expression: ast.expr, frame: FrameType) -> str:
    if not _has_tensors(frame):
        return ""
    return "The keys of a feed_dict are tensors: has the name of a placeholder been used again for the array to feed?"


_RULES: Final[dict[re.Pattern[str], Callable[[ast.expr, FrameType], str]]] = {
    _NONE: _of_none,
    _NO_ITEMS: _of_generator,
    _NO_KEY: _of_array,
}


def _of_dict(error: AttributeError) -> str:
    """For a key of a dict, such as `params`, that is asked for as an attribute."""
    if type(error.obj) is not dict or error.name not in error.obj or not passes_weft(error):
        return ""
    expression, _ = failing(error)
    name = ast.unparse(expression.value) if isinstance(expression, ast.Attribute) else "the dict"
    return f"{name} is a dict: {name}[{error.name!r}]."


def _of_operation(error: AttributeError) -> str:
    """For the value of a node that has none."""
    if error.name != "eval" or type(error.obj).__name__ != "Operation":
        return ""
    return "An operation has no value, but does something: operation.run(), or session.run(operation)."


def _of_operand(error: BaseException) -> str:
    """For an operation in the place of a tensor."""
    expression, frame = failing(error)
    if expression is None or frame is None:
        return ""
    name = next(
        (ast.unparse(each) for each in _operands(expression) if type(resolve(each, frame)).__name__ == "Operation"), "It"
    )
    return f"{name} is an operation, which does something and has no value: tensors have one, such as its outputs."


def _of_key(error: KeyError) -> str:
    key = error.args[0] if error.args else None
    if isinstance(key, bytes):
        return _of_bytes_key(error, key)
    if not is_tensor(key):
        return ""
    return (
        "A tensor has a value in a run only, and is no key of a dict of values: session.run(tensor) returns the key, and a "
        "table of tf.contrib.lookup looks up values within the graph."
    )


def _of_bytes_key(error: KeyError, key: bytes) -> str:
    """For a text of a graph that a dict of texts was asked for."""
    expression, frame = failing(error)
    if not isinstance(expression, ast.Subscript) or frame is None:
        return ""
    owner = resolve(expression.value, frame)
    if type(owner) is not dict or key.decode(errors="replace") not in owner:
        return ""
    return _DECODED.format(f"{ast.unparse(expression.slice)}.decode()")


def _of_pickled(error: TypeError) -> str:
    """For an object of weft that a program pickles, as it does for another process."""
    call, frame = failing_call(error)
    if call is None or frame is None:
        return ""
    values = [each for each in call.args if is_of_weft(type(resolve(each, frame)))]
    made = [each for each in call.args if isinstance(each, ast.Call) and is_of_weft(resolve(each.func, frame))]
    if not values and not made:
        return ""
    return (
        f"{ast.unparse((values or made)[0])} belongs to a graph of this process: pickle what session.run returns. Variables "
        "are saved by tf.train.Saver, a graph by tf.train.export_meta_graph, and another process builds its own."
    )


def _of_bytes(error: TypeError) -> str:
    """For bytes that a program of tensors takes for a text: they come out of a run, or into tf.py_func."""
    expression, frame = failing(error)
    if frame is None or expression is None or not _has_tensors(frame):
        return ""
    named = [each for each in ast.walk(expression) if isinstance(each, ast.Name | ast.Subscript)]
    found = next((each for each in named if isinstance(resolve(each, frame), bytes)), None)
    return "" if found is None else _DECODED.format(f"{ast.unparse(found)}.decode()")


def _of_collection(error: IndexError) -> str:
    """For the first item of a collection that is empty."""
    expression, frame = failing(error)
    if not isinstance(expression, ast.Subscript) or frame is None:
        return ""
    if not isinstance(expression.value, ast.Call):
        return _of_items(expression, frame)
    function = resolve(expression.value.func, frame)
    if getattr(function, "__name__", "") not in ("get_collection", "get_collection_ref"):
        return ""
    return (
        f"{ast.unparse(expression.value)} has fewer items: the graph has those that tf.add_to_collection put there under this "
        "name, before it was saved where it was."
    )


def _of_items(expression: ast.Subscript, frame: FrameType) -> str:
    """For an item that a list or tuple of what weft gives has not, such as the third state of two cells."""
    owner = resolve(expression.value, frame)
    if not isinstance(owner, list | tuple) or not any(is_of_weft(type(each)) for each in owner):
        return ""
    return items_of(ast.unparse(expression.value), owner)


def _operands(expression: ast.expr) -> list[ast.expr]:
    match expression:
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.UnaryOp(operand=operand):
            return [operand]
    return []


def _of_results(expression: ast.Subscript, frame: FrameType) -> str:
    """For the results of a hook that has asked for nothing."""
    if not isinstance(expression.value, ast.Attribute) or expression.value.attr != "results":
        return ""
    owner = resolve(expression.value.value, frame)
    if type(owner).__name__ != "SessionRunValues" or not is_of_weft(type(owner)):
        return ""
    return (
        f"{ast.unparse(expression.value)} is None: this hook has asked for nothing. What its before_run returns is fetched for "
        "it: tf.train.SessionRunArgs({'loss': loss})."
    )


def _has_tensors(frame: FrameType) -> bool:
    values = list({**frame.f_globals, **frame.f_locals}.values())[-_MOST_NAMES:]
    return any(map(is_tensor, values))
