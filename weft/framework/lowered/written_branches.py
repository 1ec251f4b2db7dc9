"""Branches that update variables by reference, as graphs of TensorFlow have them: between Switch and Merge nodes."""

from __future__ import annotations

from typing import Final

from weft.framework.lowered.written_bodies import BodyNodes, bodies, output
from weft.framework.nodes.operation import Tensor

_SWITCH: Final = "Switch"


def write_branches(to: BodyNodes) -> None:
    """Write an If, whose nodes `to` takes."""
    op = to.op
    predicate = to.reference(op.inputs[0])
    to.add(_SWITCH, "switch", [predicate, predicate, *to.waits], T=op.inputs[0].dtype)
    then, otherwise = bodies(op)
    for side, branch in ((1, then), (0, otherwise)):
        label = "true" if side else "false"
        pivot = to.add("Identity", f"pivot_{label}", [output(f"{to.name}/switch", side)], T=op.inputs[0].dtype)
        for argument, outer in zip(branch.inputs, op.inputs[1:], strict=True):
            to.bind(argument, outer, output(_switch(to, f"{label}/{argument.op.name}", argument, outer, predicate), side))
        to.write(branch, pivot)
    _merge(to, list(zip(then.outputs, otherwise.outputs, strict=True)))


def _switch(to: BodyNodes, name: str, argument: Tensor, outer: Tensor, predicate: str) -> str:
    by_reference = argument.dtype.is_ref and outer.dtype.is_ref
    source = to.reference(outer)
    kind = f"Ref{_SWITCH}" if by_reference else _SWITCH
    made = to.add(kind, name, [source, predicate, *to.waits], T=outer.dtype.base_dtype)
    if by_reference:
        to.beside(source)
    return made


def _merge(to: BodyNodes, pairs: list[tuple[Tensor, Tensor]]) -> None:
    alone = len(pairs) == 1
    merged = []
    for number, (chosen, other) in enumerate(pairs):
        inputs = [to.reference(other), to.reference(chosen)]
        merged.append(to.add("Merge", "" if alone else f"merge_{number}", inputs, T=to.op.outputs[number].dtype.base_dtype))
        to.nodes[-1].attr["N"].i = 2
    if not alone:
        to.give(merged, [tensor.dtype.base_dtype for tensor in to.op.outputs])
    to.note_outputs()
