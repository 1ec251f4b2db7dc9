"""What a stage's program is like, as far as that decides which way it goes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_role import Role
from weft.runtime.program.program import Instruction, Program

_FEW_NUMBERS: Final = 16
"""Arithmetic on so many numbers stays on the host with the updates that it is for. A parameter server of a job with Adam, which
multiplies two numbers in each step, then never has XLA or JAX: 95 MB instead of 185, November 2026."""

# Wide stages: handing an array of the host to XLA costs more than a microsecond, whatever its size, and a NumPy operation on
# many arrays takes a tenth of that for each. A worker that stacks 100 variables of 1 KB of a parameter server does so in
# 0.09 ms instead of 0.22. The three limits are judgement from those two figures, not measured one by one.
_WIDE_INPUTS: Final = 16
_WIDE_INPUTS_PER_NODE: Final = 8  # a node costs about what so many arrays for XLA do
_WIDE_BYTES_PER_INPUT: Final = 4 << 10  # in the mean; what NumPy moves in the time that it takes to hand an array to XLA

_NOT_COMPUTING: Final = frozenset((Role.VARIABLE, Role.CONSTANT, Role.ORDER))


def updates_only(program: Program) -> bool:
    """Whether a program only updates whole variables, by values from elsewhere or of a few numbers, and has no results."""
    if program.outputs or program.settled or program.random_nodes:
        return False
    own: set[int] = set()
    count, updates = len(program.inputs), 0
    for each in program.instructions:
        if each.op_def.role is Role.CONSTANT:
            own.update(each.outputs)
        elif each.updates:
            updates += 1
            others = each.arguments[len(each.updates) :]
            if not _is_plain_update(each) or any(type(a) is not int or not (0 <= a < count or a in own) for a in others):
                return False
        elif _makes_few_numbers(each):
            own.update(each.outputs)
        elif each.outputs or each.ref_outputs or computes(each.op):
            return False
    return updates > 0


def is_wide(program: Program, outside: Collection[int]) -> bool:
    """Whether many small arrays come from outside, and few nodes do what NumPy does as fast as memory allows.

    Such as what a worker gets from parameter servers and puts together or adds up.
    """
    nodes = [op for op in program.nodes if computes(op)]
    if len(outside) < max(_WIDE_INPUTS, _WIDE_INPUTS_PER_NODE * len(nodes)) or program.slots:
        return False
    if not is_bound_by_memory(program):
        return False
    sizes = [tensor.shape.num_elements() for tensor in program.inputs]
    widths = [tensor.dtype.base_dtype.size or 0 for tensor in program.inputs]
    if None in sizes:
        return False
    size_bytes = sum(size * width for size, width in zip(sizes, widths, strict=True) if size is not None)
    return size_bytes <= _WIDE_BYTES_PER_INPUT * len(outside)


def is_bound_by_memory(program: Program) -> bool:
    """Whether NumPy does all that is computed as fast as memory allows."""
    return all(op.op_def.memory_bound for op in program.nodes if computes(op))


def _is_plain_update(instruction: Instruction) -> bool:
    definition = instruction.op_def
    is_special = definition.by_row or definition.compiled_only or definition.is_host
    # Assigning makes a copy of what is assigned; of a few numbers that is nothing.
    is_special = is_special or (definition.allows_uninitialized and not _are_few(instruction.op.inputs))
    return not (is_special or instruction.outputs or instruction.ref_outputs)


def _makes_few_numbers(instruction: Instruction) -> bool:
    """Whether it is a rate that decays, a power of Adam's, a step's number or the like: nothing that XLA would do faster."""
    if instruction.ref_outputs or not instruction.outputs or not instruction.op_def.can_fold:
        return False
    return _are_few([*instruction.op.inputs, *instruction.tensors])


def _are_few(tensors: Sequence[Tensor]) -> bool:
    sizes = [tensor.shape.num_elements() for tensor in tensors]
    return all(size is not None and size <= _FEW_NUMBERS for size in sizes)


def computes(op: Operation) -> bool:
    """Whether an op makes something: it is no variable, constant or order, and does more than hand a value on."""
    return not (op.op_def.hands_on or op.op_def.role in _NOT_COMPUTING)
