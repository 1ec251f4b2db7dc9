"""Where None comes from that a program takes for an object: a function of weft that has nothing to give."""

from __future__ import annotations

import ast
from types import FrameType
from typing import Final

from weft.platform.frames.failing_call import failing, last_frame_of_program, resolve
from weft.platform.frames.program_frames import is_of_weft
from weft.platform.hints.run_hints import fetched_by, given_before

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
