"""Loops that update variables by reference, as graphs of TensorFlow have them: frames of Enter, Merge and Exit nodes."""

from __future__ import annotations

from typing import Any

from weft.framework.lowered.written_bodies import BodyNodes, bodies
from weft.framework.nodes.operation import Tensor


def write_loop(to: BodyNodes) -> None:
    """Write a While, whose nodes `to` takes.

    A loop variable goes round from Merge to NextIteration. A reference stays as it is and is there in every iteration, before
    the condition is known: a node that takes nothing else waits for the condition.
    """
    op = to.op
    cond, body = bodies(op)
    held = {number for number, tensor in enumerate(op.inputs) if _is_reference(cond, body, number, tensor)}
    turning = [number for number in range(len(op.inputs)) if number not in held]
    before = [_entered(to, number, number in held) for number in range(len(op.inputs))]
    _bind(to, cond, before)
    to.write(cond, before[turning[0]], [cond.inputs[number] for number in held])
    condition = to.add("LoopCond", "LoopCond", [to.reference(cond.outputs[0])])
    within = list(before)
    for number in turning:
        switch = to.add("Switch", f"Switch_{number}", [before[number], condition], T=op.inputs[number].dtype.base_dtype)
        within[number] = to.add("Identity", f"Identity_{number}", [f"{switch}:1"], T=op.inputs[number].dtype.base_dtype)
    _bind(to, body, within)
    to.write(body, within[turning[0]], [body.inputs[number] for number in held])
    for number in turning:
        result = to.reference(body.outputs[number])
        to.add("NextIteration", f"NextIteration_{number}", [result], T=op.inputs[number].dtype.base_dtype)
    _leave(to, turning)
    to.note_outputs()


def _is_reference(cond: Any, body: Any, number: int, outer: Tensor) -> bool:
    return bool(outer.dtype.is_ref and (cond.inputs[number].dtype.is_ref or body.inputs[number].dtype.is_ref))


def _entered(to: BodyNodes, number: int, is_held: bool) -> str:
    """Bring an input into the frame; returns what the condition takes for it."""
    outer = to.op.inputs[number]
    dtype, source = outer.dtype.base_dtype, to.reference(outer)
    entered = to.add("RefEnter" if is_held else "Enter", f"Enter_{number}", [source, *to.waits], T=dtype)
    attrs = to.nodes[-1].attr
    attrs["frame_name"].s = f"{to.name}/while_context".encode()
    attrs["is_constant"].b = is_held
    # One after the other, as what they do to variables is seen.
    attrs["parallel_iterations"].i = 1
    if is_held:
        to.beside(source)
        return entered
    merged = to.add("Merge", f"Merge_{number}", [entered, f"{to.name}/NextIteration_{number}"], T=dtype)
    to.nodes[-1].attr["N"].i = 2
    return merged


def _bind(to: BodyNodes, function: Any, names: list[str]) -> None:
    for argument, outer, name in zip(function.inputs, to.op.inputs, names, strict=True):
        to.bind(argument, outer, name)


def _leave(to: BodyNodes, turning: list[int]) -> None:
    """Bring the loop variables out; the outputs for references, which nobody asks a loop for, keep only their numbers."""
    count = len(to.op.outputs)
    exits = {}
    for number in turning:
        name = f"Exit_{number}" if count > 1 else ""
        dtype = to.op.inputs[number].dtype.base_dtype
        exits[number] = to.add("Exit", name, [f"{to.name}/Switch_{number}"], T=dtype)
    if count > 1:
        chosen = [number if number in exits else turning[0] for number in range(count)]
        to.give([exits[number] for number in chosen], [to.op.inputs[number].dtype.base_dtype for number in chosen])
