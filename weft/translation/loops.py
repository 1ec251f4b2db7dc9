"""`while` and `for`, of tensors, of what classes register, and of anything else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from weft.framework.building.aliases import Nest
from weft.framework.building.tensor_conversion import convert_to_tensor, is_tensor
from weft.framework.context.conversion_status import OperatorNotAllowedInGraphError, not_allowed
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Tensor
from weft.ops.array.constant import constant
from weft.ops.array.shape_ops import shape
from weft.ops.control_flow.function_graph import FunctionGraph
from weft.ops.control_flow.tensor_array import TensorArray
from weft.ops.control_flow.while_loop import while_loop
from weft.ops.math.comparison import logical_and
from weft.translation.checks import check_defined, check_stays, converted
from weft.translation.conditionals import GetState, SetState, is_symbolic

Test = Callable[[], Nest]


class LoopState:
    """The variables that a loop changes: those that are tensors in it, and others that have to stay as they are.

    Args:
        get_state, set_state: read and write all of them.
        names: their names.
    """

    def __init__(self, get_state: GetState, set_state: SetState, names: Sequence[str]) -> None:
        self._get, self._set = get_state, set_state
        self._names = list(names)
        before = list(get_state())
        check_defined(self._names, before)
        self._fixed = {index: value for index, value in enumerate(before) if _is_fixed(value)}
        self.initial = [converted(names[i], value) for i, value in enumerate(before) if i not in self._fixed]
        self._carried = [name for i, name in enumerate(self._names) if i not in self._fixed]

    def __repr__(self) -> str:
        return f"<variables {self._names} of a loop>"

    def enter(self, values: Sequence[Nest]) -> None:
        """Give the variables these values, those of tensors in their order."""
        left = iter(values)
        self._set(tuple(self._fixed[i] if i in self._fixed else next(left) for i in range(len(self._names))))

    def leave(self) -> list[Nest]:
        """The values after a round.

        Raises:
            TypeError: a variable is of another type than before, or one that is no tensor has changed.
            ValueError: a variable has another shape.
        """
        after = list(self._get())
        for index, value in self._fixed.items():
            if after[index] is not value:
                raise TypeError(
                    f"{self._names[index]!r} is {value!r} before a loop that tensors decide and {after[index]!r} after one "
                    "iteration. What such a loop changes is a tensor before it."
                )
        made = [converted(self._names[i], value) for i, value in enumerate(after) if i not in self._fixed]
        for name, old, new in zip(self._carried, self.initial, made, strict=True):
            check_stays(name, old, new)
        return made


def _is_fixed(value: Nest) -> bool:
    """Whether a value cannot be carried by a loop's node."""
    leaves = nest.flatten(value)
    return value is None or any(leaf is None or (callable(leaf) and not is_tensor(leaf)) for leaf in leaves)


Loop = Callable[[Nest, "Test | None", Callable[[Nest], None], LoopState], None]
_LOOPS: Final[dict[type, Loop]] = {}


def register_loop(kind: type, loop: Loop) -> None:
    """Let `for` go through objects of a class by nodes.

    Args:
        kind: the class.
        loop: gets the object, the test that ends the loop early (None without one), the body, a function of an element, and
            the variables; it leaves the last values in the variables.
    """
    _LOOPS[kind] = loop


def while_stmt(
    test: Test, body: Callable[[], None], get_state: GetState, set_state: SetState, symbol_names: Sequence[str],
    opts: Mapping[str, object],
) -> None:  # fmt: skip
    """A `while` statement; of a tensor, a `tf.while_loop` of the variables that the body changes."""
    first = _probed(test)
    if is_symbolic(first):
        state = LoopState(get_state, set_state, symbol_names)

        def tested(*values: Nest) -> Nest:
            state.enter(values)
            return test()

        def made(*values: Nest) -> list[Nest]:
            state.enter(values)
            body()
            return state.leave()

        _run(tested, made, state)
        return
    if first:
        body()
        while decided(test()):
            body()


def _probed(test: Test) -> Nest:
    """What the test is at first; its nodes are not needed, since the loop has nodes of its own for it."""
    graph = get_default_graph()
    if graph.runs_eagerly:
        return test()
    scratch = FunctionGraph("test", graph)
    with scratch.building():
        result = test()
    if not is_tensor(result) and scratch.get_operations():
        return test()
    return result


def decided(result: Nest) -> bool:
    """The answer of a test in a loop of Python's.

    Raises:
        TypeError: it has become a tensor while the loop was going on.
    """
    if is_symbolic(result):
        raise OperatorNotAllowedInGraphError(
            not_allowed("using a `tf.Tensor` as a Python `bool`")
            + f" The loop began with a condition of Python's, which is a tensor now: {result}. Begin with a tensor, such as "
            "`while tf.constant(True):`."
        )
    return bool(result)


def _run(tested: Callable[..., Nest], made: Callable[..., list[Nest]], state: LoopState) -> None:
    # A node has to have a variable, and a loop that only updates state outside has none.
    spare = [] if state.initial else [constant(0)]
    count = len(spare)
    results = while_loop(
        lambda *values: tested(*values[count:]), lambda *values: [*spare, *made(*values[count:])], [*spare, *state.initial],
        return_same_structure=True,
    )  # fmt: skip
    state.enter(results[count:])


def for_stmt(
    iter_: Nest, extra_test: Test | None, body: Callable[[Nest], None], get_state: GetState, set_state: SetState,
    symbol_names: Sequence[str], opts: Mapping[str, object],
) -> None:  # fmt: skip
    """A `for` statement; over a tensor, a `tf.while_loop` over its first dimension."""
    if is_symbolic(iter_):
        over_tensor(convert_to_tensor(iter_), extra_test, body, LoopState(get_state, set_state, symbol_names))
        return
    loop = next((loop for kind, loop in _LOOPS.items() if isinstance(iter_, kind)), None)
    if loop is not None and not get_default_graph().runs_eagerly:
        loop(iter_, extra_test, body, LoopState(get_state, set_state, symbol_names))
        return
    _python_for(iter_, extra_test, body)


def _python_for(iter_: Iterable[Nest], extra_test: Test | None, body: Callable[[Nest], None]) -> None:
    if extra_test is None:
        for target in iter_:
            body(target)
        return
    if decided(extra_test()):
        for target in iter_:
            body(target)
            if not decided(extra_test()):
                break


def over_tensor(tensor: Tensor, extra_test: Test | None, body: Callable[[Nest], None], state: LoopState) -> None:
    """A loop over the first dimension of a tensor; over a `tf.range` of integers, over its numbers without making them.

    Raises:
        ValueError: the tensor is a scalar.
    """
    counted = _counted(tensor)
    start, limit, step, element = counted or _rows(tensor)
    up = step is None or int(step) > 0

    def tested(position: Tensor, *values: Nest) -> Nest:
        state.enter(values)
        going = position < limit if up else position > limit
        return going if extra_test is None else _both(going, extra_test)

    def made(position: Tensor, *values: Nest) -> list[Nest]:
        state.enter(values)
        body(element(position))
        return [position + (1 if step is None else constant(step, position.dtype)), *state.leave()]

    results = while_loop(tested, made, [start, *state.initial], return_same_structure=True)
    state.enter(results[1:])


def _both(going: Tensor, extra_test: Test) -> Nest:
    further = extra_test()
    if is_symbolic(further):
        return logical_and(going, further)
    return going if further else logical_and(going, constant(False))


def _counted(tensor: Tensor) -> tuple[Tensor, Tensor, int | None, Callable[[Tensor], Nest]] | None:
    op = tensor.op
    if op.op_def.name != "Range" or not tensor.dtype.is_integer:
        return None
    start, limit, delta = op.inputs
    step = constant_value(delta)
    if step is None or int(step) == 0:
        return None
    return start, limit, int(step), lambda position: position


def _rows(tensor: Tensor) -> tuple[Tensor, Tensor, int | None, Callable[[Tensor], Nest]]:
    if tensor.dims == ():
        raise ValueError(f"iterating over a scalar tensor: {tensor}. A loop goes over the first dimension, and it has none.")
    known = None if tensor.dims is None else tensor.dims[0]
    count = constant(known) if known is not None else shape(tensor)[0]
    tail = None if tensor.dims is None else tensor.dims[1:]
    rows = TensorArray(tensor.dtype.base_dtype, flow=tensor, element_shape=tail)
    return constant(0), count, None, rows.read
