"""Selections of operations and tensors: by name, by a test of a program's own, or by walks along the edges."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

from weft.client.editing.elements import flat, make_list_of_op, make_list_of_t
from weft.framework.building.aliases import Nest
from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Operation, Tensor

Test: TypeAlias = Callable[[Nest], bool]
# The comments by which expressions say whether they are of operations or of tensors.
_OF_OPS: Final = "(?#ops)"
_OF_TENSORS: Final = "(?#ts)"


def can_be_regex(obj: object) -> bool:
    """Whether a value is a regular expression, or text that is made one.

    Args:
        obj: the value.
    """
    return isinstance(obj, str | re.Pattern)


def make_regex(obj: str | re.Pattern[str]) -> re.Pattern[str]:
    """The regular expression of a text; one that is made stays as it is.

    Args:
        obj: the text.

    Raises:
        ValueError: it is neither.
    """
    if isinstance(obj, str):
        return re.compile(obj)
    if isinstance(obj, re.Pattern):
        return obj
    raise ValueError(f"Expected a string or a regex, got: {type(obj)}")


def _test_of(positive_filter: Test | bool | None) -> Test:
    if positive_filter is True:
        return lambda _: True
    if not callable(positive_filter):
        raise ValueError("positive_filter must be True or a function that returns whether an element is taken")
    return positive_filter


def filter_ops(ops: Nest, positive_filter: Test | bool) -> list[Operation]:
    """The operations that pass a test.

    Args:
        ops: operations, or a graph; tensors are passed over.
        positive_filter: a function of an operation, or True for all.
    """
    test = _test_of(positive_filter)
    return [each for each in make_list_of_op(ops, ignore_ts=True) if test(each)]


def filter_ops_from_regex(ops: Nest, regex: str | re.Pattern[str]) -> list[Operation]:
    """The operations whose names a regular expression finds something in.

    Args:
        ops: operations, or a graph.
        regex: the expression.
    """
    pattern = make_regex(regex)
    return filter_ops(ops, lambda op: pattern.search(op.name) is not None)


def filter_ts(ops: Nest, positive_filter: Test | bool) -> list[Tensor]:
    """The inputs and outputs of operations that pass a test, each once.

    Args:
        ops: operations, or a graph; tensors are passed over.
        positive_filter: a function of a tensor, or True for all.
    """
    test = _test_of(positive_filter)
    found: dict[int, Tensor] = {}
    for op in make_list_of_op(ops, ignore_ts=True):
        for each in (*op.inputs, *op.outputs):
            if id(each) not in found and test(each):
                found[id(each)] = each
    return list(found.values())


def filter_ts_from_regex(ops: Nest, regex: str | re.Pattern[str]) -> list[Tensor]:
    """The inputs and outputs of operations whose names a regular expression finds something in.

    Args:
        ops: operations, or a graph.
        regex: the expression.
    """
    pattern = make_regex(regex)
    return filter_ts(ops, lambda tensor: pattern.search(tensor.name) is not None)


def get_name_scope_ops(ops: Nest, scope: str) -> list[Operation]:
    """The operations that are in a name scope.

    Args:
        ops: operations, or a graph.
        scope: the name scope.
    """
    return filter_ops_from_regex(ops, rf"^{re.escape(scope.rstrip('/'))}(/.*)?$")


def check_cios(control_inputs: bool = False, control_outputs: Nest = None, control_ios: Nest = None) -> tuple[bool, Nest]:
    """Whether waiting counts as an edge, backwards and forwards.

    Args:
        control_inputs: whether it does backwards.
        control_outputs: a ControlOutputs, where it does forwards.
        control_ios: a ControlOutputs, for both.

    Raises:
        ValueError: `control_ios` is given beside the others.
    """
    if control_ios is not None:
        if control_inputs or control_outputs is not None:
            raise ValueError("control_ios is for both: leave control_inputs and control_outputs out")
        return True, control_ios
    return control_inputs, control_outputs


def get_ops_ios(
    ops: Nest, control_inputs: bool = False, control_outputs: Nest = None, control_ios: Nest = None
) -> list[Operation]:
    """The operations that operations take from and give to, each once.

    Args:
        ops: the operations.
        control_inputs, control_outputs, control_ios: whether waiting counts; see `check_cios`.
    """
    waits, waited = check_cios(control_inputs, control_outputs, control_ios)
    found: dict[Operation, None] = {}
    for op in make_list_of_op(ops):
        found.update(dict.fromkeys(_before(op, waits)))
        found.update(dict.fromkeys(_behind(op, waited is not None)))
    return list(found)


def _before(op: Operation, waits: bool) -> list[Operation]:
    return [*(each.op for each in op.inputs), *(op.control_inputs if waits else ())]


def _behind(op: Operation, waits: bool) -> list[Operation]:
    return [*(each for tensor in op.outputs for each in tensor.consumers()), *(op.control_consumers if waits else ())]


def _seeds(seed_ops: Nest) -> list[Operation]:
    given = flat(seed_ops)
    if given and all(isinstance(each, Tensor) for each in given):
        return list(dict.fromkeys(each.op for each in given))
    return make_list_of_op(seed_ops, allow_graph=False)


def _walk(
    seeds: Iterable[Operation], edges: Callable[[Operation], Iterable[Operation]], inclusive: bool,
    within: Callable[[Operation], bool],
) -> list[Operation]:  # fmt: skip
    first = dict.fromkeys(each for each in seeds if within(each))
    waiting, found = list(first), dict(first)
    while waiting:
        reached: list[Operation] = []
        for op in waiting:
            for each in edges(op):
                if each not in found and within(each):
                    found[each] = None
                    reached.append(each)
        waiting = reached
    return [each for each in found if inclusive or each not in first]


def _within(within_ops: Nest, within_ops_fn: Test | None) -> Callable[[Operation], bool]:
    allowed = None if within_ops is None else frozenset(make_list_of_op(within_ops, allow_graph=False))
    return lambda op: (allowed is None or op in allowed) and (within_ops_fn is None or within_ops_fn(op))


def get_forward_walk_ops(
    seed_ops: Nest, inclusive: bool = True, within_ops: Nest = None, within_ops_fn: Test | None = None,
    stop_at_ts: Nest = (), control_outputs: Nest = None,
) -> list[Operation]:  # fmt: skip
    """All operations that are reached along the edges.

    Args:
        seed_ops: where the walk begins: operations, or tensors, from whose consumers it goes on.
        inclusive: whether these belong to the result.
        within_ops: the operations that the walk stays in.
        within_ops_fn: a test of the operations that it stays in.
        stop_at_ts: tensors beyond which it does not go.
        control_outputs: a ControlOutputs, where waiting counts as an edge.
    """
    stops = frozenset(map(id, make_list_of_t(stop_at_ts)))
    given = flat(seed_ops)
    if given and all(isinstance(each, Tensor) for each in given):
        seeds = list(dict.fromkeys(op for each in given for op in each.consumers()))
    else:
        seeds = _seeds(seed_ops)

    def edges(op: Operation) -> list[Operation]:
        taking = [each for tensor in op.outputs if id(tensor) not in stops for each in tensor.consumers()]
        return [*taking, *(op.control_consumers if control_outputs is not None else ())]

    return _walk(seeds, edges, inclusive, _within(within_ops, within_ops_fn))


def get_backward_walk_ops(
    seed_ops: Nest, inclusive: bool = True, within_ops: Nest = None, within_ops_fn: Test | None = None,
    stop_at_ts: Nest = (), control_inputs: bool = False,
) -> list[Operation]:  # fmt: skip
    """All operations that are reached against the edges.

    Args:
        seed_ops: where the walk begins: operations, or tensors, which stand for what makes them.
        inclusive: whether these belong to the result.
        within_ops: the operations that the walk stays in.
        within_ops_fn: a test of the operations that it stays in.
        stop_at_ts: tensors beyond which it does not go.
        control_inputs: whether waiting counts as an edge.
    """
    stops = frozenset(map(id, make_list_of_t(stop_at_ts)))

    def edges(op: Operation) -> list[Operation]:
        makers = [each.op for each in op.inputs if id(each) not in stops]
        return [*makers, *(op.control_inputs if control_inputs else ())]

    return _walk(_seeds(seed_ops), edges, inclusive, _within(within_ops, within_ops_fn))


def get_walks_intersection_ops(
    forward_seed_ops: Nest, backward_seed_ops: Nest, forward_inclusive: bool = True, backward_inclusive: bool = True,
    within_ops: Nest = None, within_ops_fn: Test | None = None, control_inputs: bool = False, control_outputs: Nest = None,
    control_ios: Nest = None,
) -> list[Operation]:  # fmt: skip
    """All operations between some and others, in the order of the walk from the first.

    Args:
        forward_seed_ops, backward_seed_ops: where the walks along and against the edges begin.
        forward_inclusive, backward_inclusive: whether these belong to the walks.
        within_ops, within_ops_fn: what the walks stay in.
        control_inputs, control_outputs, control_ios: whether waiting counts; see `check_cios`.
    """
    waits, waited = check_cios(control_inputs, control_outputs, control_ios)
    there = get_forward_walk_ops(forward_seed_ops, forward_inclusive, within_ops, within_ops_fn, control_outputs=waited)
    back = frozenset(
        get_backward_walk_ops(backward_seed_ops, backward_inclusive, within_ops, within_ops_fn, control_inputs=waits)
    )
    return [each for each in there if each in back]


def get_walks_union_ops(
    forward_seed_ops: Nest, backward_seed_ops: Nest, forward_inclusive: bool = True, backward_inclusive: bool = True,
    within_ops: Nest = None, within_ops_fn: Test | None = None, control_inputs: bool = False, control_outputs: Nest = None,
    control_ios: Nest = None,
) -> list[Operation]:  # fmt: skip
    """All operations behind some or before others.

    Args:
        forward_seed_ops, backward_seed_ops: where the walks along and against the edges begin.
        forward_inclusive, backward_inclusive: whether these belong to the walks.
        within_ops, within_ops_fn: what the walks stay in.
        control_inputs, control_outputs, control_ios: whether waiting counts; see `check_cios`.
    """
    waits, waited = check_cios(control_inputs, control_outputs, control_ios)
    there = get_forward_walk_ops(forward_seed_ops, forward_inclusive, within_ops, within_ops_fn, control_outputs=waited)
    back = get_backward_walk_ops(backward_seed_ops, backward_inclusive, within_ops, within_ops_fn, control_inputs=waits)
    return list(dict.fromkeys([*there, *back]))


def compute_boundary_ts(ops: Nest) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """The tensors that enter some operations, those that leave them, and those that stay.

    Args:
        ops: the operations.

    Returns:
        What comes from outside, what goes outside or nowhere, and what others among them take.
    """
    own = make_list_of_op(ops)
    inside = frozenset(own)
    entering = {id(each): each for op in own for each in op.inputs if each.op not in inside}
    made = [each for op in own for each in op.outputs]
    leaving = [each for each in made if not each.consumers() or any(op not in inside for op in each.consumers())]
    staying = {id(each): each for op in own for each in op.inputs if each.op in inside}
    return list(entering.values()), leaving, list(staying.values())


def get_within_boundary_ops(
    ops: Nest, seed_ops: Nest, boundary_ops: Nest = (), inclusive: bool = True, control_inputs: bool = False,
    control_outputs: Nest = None, control_ios: Nest = None,
) -> list[Operation]:  # fmt: skip
    """The operations among some that are reached from others without crossing a boundary.

    Args:
        ops: the operations to stay in.
        seed_ops: where the walk begins.
        boundary_ops: where it ends.
        inclusive: whether the boundary belongs to the result.
        control_inputs, control_outputs, control_ios: whether waiting counts; see `check_cios`.

    Raises:
        ValueError: a boundary is among where the walk begins.
    """
    waits, waited = check_cios(control_inputs, control_outputs, control_ios)
    inside, bound = frozenset(make_list_of_op(ops)), frozenset(make_list_of_op(boundary_ops, allow_graph=False))
    seeds = make_list_of_op(seed_ops, allow_graph=False)
    if bound & frozenset(seeds):
        raise ValueError(f"Boundary is not disjoint from the seeds: {sorted(op.name for op in bound & frozenset(seeds))}")

    def edges(op: Operation) -> list[Operation]:
        return [] if op in bound else [*_before(op, waits), *_behind(op, waited is not None)]

    found = _walk(seeds, edges, True, lambda op: op in inside)
    return found if inclusive else [each for each in found if each not in bound]


def _selected(
    args: Nest, graph: Graph | None, positive_filter: Test | None, wants_tensors: bool, wants_mark: bool
) -> list[Nest]:
    """The operations, or tensors, that each argument means, in order and once.

    Expressions that are marked as those of the other kind are passed over, with `wants_mark` those without a mark, too.
    """
    find = filter_ts_from_regex if wants_tensors else filter_ops_from_regex
    own, other = (_OF_TENSORS, _OF_OPS) if wants_tensors else (_OF_OPS, _OF_TENSORS)
    found: dict[int, Nest] = {}
    for each in args:
        made: list[Nest] = []
        if can_be_regex(each):
            if graph is None:
                raise ValueError("Use the keyword argument 'graph' to use regex.")
            text = each if isinstance(each, str) else each.pattern
            if text.startswith(own) or not (wants_mark or text.startswith(other)):
                made = list(find(graph, text.removeprefix(own) if isinstance(each, str) else each))
        else:
            made = list(make_list_of_t(each, ignore_ops=True) if wants_tensors else make_list_of_op(each, ignore_ts=True))
        found.update({id(one): one for one in made if positive_filter is None or positive_filter(one)})
    return list(found.values())


def select_ops(
    *args: Nest, graph: Graph | None = None, positive_filter: Test | None = None, restrict_ops_regex: bool = False
) -> list[Operation]:
    """The operations that names, and lists of operations, mean, each once.

    Args:
        args: regular expressions of names, operations, or lists of these.
        graph: the graph for the names.
        positive_filter: a test of the operations.
        restrict_ops_regex: whether only expressions count that begin with the comment `(?#ops)`.

    Raises:
        ValueError: names are given and no graph.
    """
    return _selected(args, graph, positive_filter, False, restrict_ops_regex)


def select_ts(
    *args: Nest, graph: Graph | None = None, positive_filter: Test | None = None, restrict_ts_regex: bool = False
) -> list[Tensor]:
    """The tensors that names, and lists of tensors, mean, each once.

    Args:
        args: regular expressions of names, tensors, or lists of these.
        graph: the graph for the names.
        positive_filter: a test of the tensors.
        restrict_ts_regex: whether only expressions count that begin with the comment `(?#ts)`.

    Raises:
        ValueError: names are given and no graph.
    """
    return _selected(args, graph, positive_filter, True, restrict_ts_regex)


def select_ops_and_ts(*args: Nest, graph: Graph | None = None) -> tuple[list[Operation], list[Tensor]]:
    """The operations and the tensors that names and lists mean; expressions for tensors begin with the comment `(?#ts)`.

    Args:
        args: regular expressions of names, operations, tensors, or lists of these.
        graph: the graph for the names.
    """
    return select_ops(*args, graph=graph), select_ts(*args, graph=graph, restrict_ts_regex=True)
