"""`if`, `x if c else y`, `and`, `or`, `not` and comparisons, of tensors and of anything else."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.framework.building.aliases import Nest
from weft.framework.building.tensor_conversion import convert_to_tensor, is_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.ops.array.constant import constant
from weft.ops.control_flow.cond import cond as tensor_cond
from weft.ops.math.comparison import equal, logical_not, not_equal
from weft.translation.checks import check_branch, check_same_types, converted, is_undefined

GetState = Callable[[], tuple[Nest, ...]]
SetState = Callable[[tuple[Nest, ...]], None]


def is_symbolic(value: Nest) -> bool:
    """Whether a value is known in a run only: a tensor or variable of a graph."""
    return is_tensor(value) and not get_default_graph().runs_eagerly


def if_stmt(
    cond: Nest, body: Callable[[], None], orelse: Callable[[], None], get_state: GetState, set_state: SetState,
    symbol_names: Sequence[str], nouts: int,
) -> None:  # fmt: skip
    """An `if` statement; of a tensor, a `tf.cond` of the variables that the branches change."""
    if not is_symbolic(cond):
        if cond:
            body()
        else:
            orelse()
        return
    _Branches(body, orelse, get_state, set_state, symbol_names, nouts).build(convert_to_tensor(cond))


class _Branches:
    """The two branches of an `if`, and the variables that they change."""

    def __init__(
        self, body: Callable[[], None], orelse: Callable[[], None], get_state: GetState, set_state: SetState,
        symbol_names: Sequence[str], nouts: int,
    ) -> None:  # fmt: skip
        self._functions = {"main": body, "else": orelse}
        self._get, self._set = get_state, set_state
        self._names = list(symbol_names)[:nouts]
        self._before = get_state()
        self._made: dict[str, list[Nest]] = {}
        self._plain: dict[int, Nest] = {}
        self._candidates: set[int] = set()

    def __repr__(self) -> str:
        return f"<branches that change {self._names}>"

    def build(self, predicate: Tensor) -> None:
        """Add the node, and give the variables its results."""
        # What stays Python's is known once both branches have been built; so the first one waits with its results.
        results = tensor_cond(predicate, lambda: self._branch("main"), lambda: self._branch("else"), strict=True)
        left = iter(results)
        after = [self._plain[index] if index in self._plain else next(left) for index in range(len(self._names))]
        self._set((*after, *self._before[len(self._names) :]))

    def _branch(self, branch: str) -> list[Nest]:
        self._set(self._before)
        self._functions[branch]()
        made = list(self._get())[: len(self._names)]
        self._set(self._before)
        self._made[branch] = made
        if branch == "main":
            kept = self._candidates = {index for index, value in enumerate(made) if _stays_plain(value)}
            results = [converted(name, made[i]) for i, name in enumerate(self._names) if i not in kept]
        else:
            results = self._checked(made)
        # A node has to have a result; branches that only update state outside have none.
        return results or [constant(0)]

    def _checked(self, made: list[Nest]) -> list[Nest]:
        first = self._made["main"]
        check_branch(self._names, made, first, "else")
        check_branch(self._names, first, made, "main")
        results: list[Nest] = []
        for index, name in enumerate(self._names):
            if index in self._candidates:
                self._plain[index] = self._agreed(name, first[index], made[index])
                continue
            value = converted(name, made[index])
            check_same_types(name, converted(name, first[index]) if not is_tensor(first[index]) else first[index], value)
            results.append(value)
        return results

    def _agreed(self, name: str, first: Nest, second: Nest) -> Nest:
        """A value that no node carries: it is the same in both branches, or there is none."""
        if is_undefined(first) and is_undefined(second):
            return first
        if first is second:
            return first
        raise TypeError(
            f"{name!r} is {first!r} in the main branch and {second!r} in the else branch of an `if` that a tensor decides. "
            "Lengths of branch outputs of cond must match: both give tensors, or neither does."
        )


def _stays_plain(value: Nest) -> bool:
    """Whether a branch's value is none that a node can carry: the other branch has to have the same."""
    return value is None or is_undefined(value) or (callable(value) and not is_tensor(value))


def if_exp(cond: Nest, if_true: Callable[[], Nest], if_false: Callable[[], Nest], expr_repr: str) -> Nest:
    """`x if c else y`."""
    if not is_symbolic(cond):
        return if_true() if cond else if_false()
    made: list[Nest] = []

    def kept(value: Nest) -> Nest:
        made.append(converted(expr_repr, value))
        if len(made) == 2:
            check_same_types(expr_repr, made[0], made[1])
        return made[-1]

    return tensor_cond(convert_to_tensor(cond), lambda: kept(if_true()), lambda: kept(if_false()), strict=True)


def and_(a: Callable[[], Nest], b: Callable[[], Nest]) -> Nest:
    """`a and b`; of a tensor, b is computed where a is true."""
    first = a()
    if not is_symbolic(first):
        return first and b()
    value = convert_to_tensor(first)
    return tensor_cond(value, b, lambda: value)


def or_(a: Callable[[], Nest], b: Callable[[], Nest]) -> Nest:
    """`a or b`; of a tensor, b is computed where a is false."""
    first = a()
    if not is_symbolic(first):
        return first or b()
    value = convert_to_tensor(first)
    return tensor_cond(value, lambda: value, b)


def not_(a: Nest) -> Nest:
    """`not a`."""
    return logical_not(a) if is_symbolic(a) else not a


def eq(a: Nest, b: Nest) -> Nest:
    """`a == b`, of tensors by value."""
    return equal(a, b) if is_symbolic(a) or is_symbolic(b) else a == b


def not_eq(a: Nest, b: Nest) -> Nest:
    """`a != b`, of tensors by value."""
    return not_equal(a, b) if is_symbolic(a) or is_symbolic(b) else a != b
