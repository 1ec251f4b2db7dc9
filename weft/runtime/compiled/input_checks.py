"""What a compiled stage refuses before it runs: values for which NumPy would raise and XLA computes something else.

Only arrays in host memory are looked at, such as feeds, constants and what host ops made: waiting for a device would cost
more than the check is worth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from weft.errors import OpError
from weft.framework.building.aliases import Array
from weft.framework.nodes.operation import Operation
from weft.framework.op_types.op_role import Role
from weft.runtime.program.program import Argument, Program

_Source = Callable[[Sequence[Array]], Array]


class InputChecks:
    """The checks of one stage; empty for most."""

    def __init__(self, program: Program) -> None:
        self._count = len(program.inputs)
        self._made_by = {number: each for each in program.instructions for number in each.outputs}
        self._slots = program.slots
        checks = [
            (each.op, [self._source(argument) for argument in each.arguments])
            for each in program.instructions
            if each.op.op_def.check is not None
        ]
        self._checks: list[tuple[Operation, list[_Source]]] = [each for each in checks if not _always_passes(*each)]

    def __bool__(self) -> bool:
        return bool(self._checks)

    def run(self, inputs: Sequence[Array]) -> None:
        """Look at the values that the stage is about to run on; raises what the checks raise, with the op."""
        for op, sources in self._checks:
            try:
                op.op_def.check(op, *[source(inputs) for source in sources])  # type: ignore[misc]
            except OpError as error:
                error.locate(op)
                raise

    def _source(self, argument: Argument) -> _Source:
        if not isinstance(argument, int):
            return _unknown
        if argument < 0:
            slot = self._slots[~argument]
            return lambda inputs: slot.value
        first, is_reshaped = argument, False
        while argument >= self._count and argument in self._made_by:
            maker = self._made_by[argument]
            if maker.op_def.role is Role.CONSTANT:
                return self._in_shape(_Always(maker.op.attrs["value"]), first, is_reshaped)
            keeps_values = maker.op_def.hands_on or maker.op_def.reshapes
            source = maker.arguments[0] if keeps_values else None
            if not isinstance(source, int) or source < 0:
                return _unknown
            is_reshaped = is_reshaped or maker.op_def.reshapes
            argument = source
        if argument >= self._count:
            return _unknown
        place = argument
        return self._in_shape(lambda inputs: _in_host_memory(inputs[place]), first, is_reshaped)

    def _in_shape(self, source: _Source, number: int, is_reshaped: bool) -> _Source:
        """A source's values in the shape that they have where they are used, as far as the graph tells it."""
        if not is_reshaped:
            return source
        maker = self._made_by[number]
        dims = maker.op.outputs[list(maker.outputs).index(number)].dims
        if dims is None or dims.count(None) > 1:
            return _unknown
        sizes = [-1 if size is None else size for size in dims]

        def reshaped(inputs: Sequence[Array]) -> Array:
            value = source(inputs)
            try:
                return None if value is None else value.reshape(sizes)
            except ValueError:
                # The op itself says what is wrong with such a shape.
                return None

        return _Always(reshaped(())) if isinstance(source, _Always) else reshaped


def _in_host_memory(value: Array) -> Array:
    return value if isinstance(value, np.ndarray) else None


class _Always:
    """A source that depends on no input: a constant's value, or None where nobody knows it before the stage has run."""

    def __init__(self, value: Array) -> None:
        self.value = value

    def __call__(self, inputs: Sequence[Array]) -> Array:
        return self.value


_unknown: Final = _Always(None)


class _LookedAtError(Exception):
    """A check looks at a value that depends on the stage's inputs."""


class _Unseen:
    """What stands for such a value, to find out whether a check looks at it."""

    def _note(self, *_: object) -> Array:
        raise _LookedAtError

    __getattribute__ = __array__ = __bool__ = __len__ = __iter__ = __getitem__ = __eq__ = __ne__ = __lt__ = __le__ = _note
    __gt__ = __ge__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __mod__ = __rmod__ = _note
    __hash__ = None  # type: ignore[assignment]


def _always_passes(op: Operation, sources: Sequence[_Source]) -> bool:
    """Whether the check passes without a look at anything that depends on inputs, as that of `ids // 1000` does."""
    try:
        op.op_def.check(op, *(source(()) if isinstance(source, _Always) else _Unseen() for source in sources))  # type: ignore[misc]
    except Exception:
        # It looks, or it fails whatever comes, which is for `run` to say whenever the stage runs.
        return False
    return True
