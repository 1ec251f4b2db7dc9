"""Random numbers and the arithmetic with scalars upon them as one call: what is drawn is scaled while it is in the cache.

Initial values are numbers that are drawn, multiplied by a standard deviation or a range, and shifted by a mean or a minimum.
Node by node that makes three arrays of the variable's size, each in memory that is new to the process.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

import numpy as np

from weft.framework.building.aliases import Array
from weft.framework.types import dtypes
from weft.runtime.host.calls import RandomCall
from weft.runtime.host.frame import Frame
from weft.runtime.program.program import Argument, Instruction, Program

# Half precision is drawn in single.
_TYPES: Final = frozenset((dtypes.float32, dtypes.float64))


class ScaledDraw(RandomCall):
    """A random node, and nodes that each take what the one before made, and a scalar.

    Args:
        chain: the instructions, the random one first.
        arguments: of the random one, with the places of the plan.
        program: where they come from.
        place_of: where the plan has the value of an instruction's argument.
    """

    __slots__ = ("_made", "_steps")

    def __init__(
        self, chain: Sequence[Instruction], arguments: Sequence[Argument], program: Program, place_of: Callable[[int], int]
    ) -> None:
        super().__init__(chain[0], arguments, program, is_locked=False)
        self._made = chain[-1].outputs[0]
        self._steps: list[tuple[np.ufunc, int, bool]] = []
        for before, each in itertools.pairwise(chain):
            first, second = each.numbers()
            assert each.op_def.ufunc is not None
            is_first = first == before.outputs[0]
            self._steps.append((each.op_def.ufunc, place_of(second if is_first else first), is_first))

    def run(self, values: list[Array], frame: Frame) -> None:
        """Draw, and compute with what is drawn."""
        steps = [(ufunc, values[place], is_first) for ufunc, place, is_first in self._steps]
        take = frame.streams[self._instruction.random].take
        values[self._made] = self._kernel(*self._gather(values), take=take, finish=partial(_finish, steps))

    def draw_together(self, rounds: Sequence[list[Array]], frame: Frame) -> bool:
        """As RandomCall's, where all rounds have the same scalars."""
        places = [place for _, place, _ in self._steps]
        first = rounds[0]
        if not all(values[place] is first[place] for values in rounds for place in places):
            return False
        drawn = self._drawn_for(rounds, frame)
        if drawn is None:
            return False
        _finish([(ufunc, first[place], is_first) for ufunc, place, is_first in self._steps], drawn)
        for number, values in enumerate(rounds):
            values[self._made] = drawn[number, ...]
        return True


def _finish(steps: Sequence[tuple[np.ufunc, Array, bool]], drawn: Array) -> None:
    for ufunc, scalar, is_first in steps:
        if is_first:
            ufunc(drawn, scalar, out=drawn)
        else:
            ufunc(scalar, drawn, out=drawn)


def scaled_draws(program: Program) -> Mapping[Instruction, Sequence[Instruction]]:
    """The chains of instructions that can be one ScaledDraw, by each of their members."""
    uses = Counter(number for each in program.instructions for number in each.numbers())
    uses.update(program.output_numbers)
    chains: dict[int, list[Instruction]] = {}
    for each in program.instructions:
        if each.op_def.takes_finish and each.op.outputs[0].dtype in _TYPES:
            chains[each.outputs[0]] = [each]
        elif chains and each.op_def.ufunc is not None:
            drawn = [number for number in each.numbers() if number in chains and uses[number] == 1]
            if len(drawn) == 1 and _scales(each, drawn[0]):
                chains[each.outputs[0]] = [*chains.pop(drawn[0]), each]
    return {member: chain for chain in chains.values() if len(chain) > 1 for member in chain}


def _scales(instruction: Instruction, drawn: int) -> bool:
    """Whether the other operand is a scalar's value, so that the result has the shape of what is drawn."""
    numbers, tensors = list(instruction.numbers()), instruction.op.inputs
    other = numbers.index(drawn) ^ 1
    return len(numbers) == 2 and numbers[other] >= 0 and tensors[other].dims == ()
