"""Where a gradient stops: the ops between some variables and a loss that pass none on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from weft.framework.nodes.built_at import place
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_def import not_differentiable
from weft.framework.registry.op_registry import lookup_gradient


def explain_no_gradient(loss: Tensor | Callable[..., Tensor], variables: Iterable[Tensor]) -> str:
    """The reason, in a sentence, for a loss that has no gradient of any of the variables.

    Args:
        loss: the loss; of a function, which would add its nodes again, nothing is said.
        variables: the variables' references or handles.
    """
    if not isinstance(loss, Tensor):
        return ""
    given = list(variables)
    sources = {variable.op for variable in given}
    before = _ancestors(loss.op)
    if not sources & before:
        return f"The loss does not depend on any of them: no op leads from a variable to {loss.name}."
    stops = list(_first_stops(sources, before))
    if not stops:
        return ""
    told = ", ".join(_told(op) for op in stops[:3])
    whole = next((each for each in given if each.dtype.base_dtype.is_integer), None)
    said = f"The gradient stops at {told}, which passes none on."
    if whole is None:
        return said
    return f"{said} {whole.op.name} is of the type {whole.dtype.base_dtype.name}: only fractions are trained, as of tf.float32."


def _ancestors(op: Operation) -> set[Operation]:
    found = {op}
    left = [op]
    while left:
        for tensor in left.pop().inputs:
            if tensor.op not in found:
                found.add(tensor.op)
                left.append(tensor.op)
    return found


def _first_stops(sources: set[Operation], before: set[Operation]) -> Iterator[Operation]:
    """The ops that stop gradients, on ways from the sources that no other such op is on."""
    seen = set(sources)
    left = list(sources)
    while left:
        for tensor in left.pop().outputs:
            for op in tensor.consumers():
                if op in seen or op not in before:
                    continue
                seen.add(op)
                if _stops(op):
                    yield op
                else:
                    left.append(op)


def _stops(op: Operation) -> bool:
    if op.outputs and not any(each.dtype.base_dtype.is_floating or each.dtype.base_dtype.is_complex for each in op.outputs):
        return True
    try:
        return lookup_gradient(op.type) in (None, not_differentiable)
    except LookupError:
        return False


def _told(op: Operation) -> str:
    line = place(op.built_from)
    return f"{op.type} {op.name!r}{f' ({line})' if line else ''}"
