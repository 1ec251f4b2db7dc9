"""tf.case and tf.switch_case: one of several functions, the first whose predicate is true or the one of a number."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence

from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.ops.array.stacking import stack
from weft.ops.control_flow.assertion import assert_that
from weft.ops.control_flow.cond import cond
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal, less_equal
from weft.ops.math.reduce_functions import reduce_sum

_Branch = tuple[Nest, Callable[[], Nest]]


def case(
    pred_fn_pairs: Nest,
    default: Callable[[], Nest] | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Nest:
    """The result of the function whose predicate is the first that is true, or of `default` when none is.

    Args:
        pred_fn_pairs: pairs of a scalar bool tensor and a function without arguments, or a dict of them.
        default: the function for when no predicate is true; without one a run where none is fails.
        exclusive: whether a run fails where more than one predicate is true.
        strict: keep lists and tuples of one element as they are.
        name: the name scope.

    Raises:
        ValueError: there are no pairs and no default.
        TypeError: the pairs are no list, tuple or dict of such pairs, or `default` is no function.
        InvalidArgumentError: in a run, no predicate is true and there is no default, or several are and `exclusive` is set.
    """
    pairs = _checked_pairs(pred_fn_pairs)
    if default is not None and not callable(default):
        raise TypeError("false_fn must be callable.")
    with get_default_graph().name_scope(name or "case"):
        if not pairs:
            if default is None:
                raise ValueError("'pred_fn_pairs' must have at least one pair when there is no default.")
            return default()
        checks = [_at_most_one(pairs)] if exclusive else []
        with get_default_graph().control_dependencies(checks):
            last, rest = (_without_default(pairs), pairs[:-1]) if default is None else (default, pairs)
            if not rest:
                return last()
            function = functools.reduce(lambda other, pair: _choice(pair, other, strict), reversed(rest), last)
            return function()


def _choice(pair: _Branch, other: Callable[[], Nest], strict: bool) -> Callable[[], Nest]:
    return lambda: cond(pair[0], true_fn=pair[1], false_fn=other, strict=strict, name="cond")


def _checked_pairs(pred_fn_pairs: Nest) -> list[_Branch]:
    if not isinstance(pred_fn_pairs, list | tuple | Mapping):
        raise TypeError(f"fns must be a list, tuple, or dict: received {type(pred_fn_pairs)}")
    if isinstance(pred_fn_pairs, OrderedDict):
        pairs: Sequence[Nest] = list(pred_fn_pairs.items())
    elif isinstance(pred_fn_pairs, Mapping):
        for key in pred_fn_pairs:
            if not isinstance(key, Tensor):
                raise AttributeError(f"{type(key).__name__!r} object has no attribute 'name': {_no_pred(key)}")
        pairs = sorted(pred_fn_pairs.items(), key=lambda item: item[0].name)
    else:
        pairs = pred_fn_pairs
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"Each entry in 'pred_fn_pairs' must be a 2-tuple. Received {pair}. It is (condition, function).")
        pred, function = pair
        if not isinstance(pred, Tensor):
            raise TypeError(f"pred must be a Tensor, got: {pred}. {_no_pred(pred)}")
        if pred.dtype.base_dtype is not dtypes.bool:
            raise TypeError(f"pred must be Tensor of type bool: {pred.name}")
        if not callable(function):
            raise TypeError(
                f"fn for pred {pred.name} must be callable, not {function!r}: `lambda: value` makes a function of a value."
            )
    return list(pairs)


def _no_pred(pred: object) -> str:
    return (
        f"{pred!r} in 'pred_fn_pairs' is no scalar bool tensor; a comparison such as tf.equal(x, 1) makes one, and what Python "
        "knows while the graph is built it can decide by `if`."
    )


def _names(pairs: Sequence[_Branch]) -> str:
    return ", ".join(pred.name for pred, _ in pairs)


def _at_most_one(pairs: Sequence[_Branch]) -> Operation:
    predicates = stack([pred for pred, _ in pairs], name="preds_c")
    count = reduce_sum(cast(predicates, dtypes.int32), name="num_true_conds")
    message = f"Input error: exclusive=True: more than 1 conditions ({_names(pairs)}) evaluated as True:"
    return assert_that(less_equal(count, 1), [message, predicates], name="assert_exclusive")


def _without_default(pairs: Sequence[_Branch]) -> Callable[[], Nest]:
    pred, function = pairs[-1]
    message = "Input error: None of conditions evaluated as True:"

    def last() -> Nest:
        values = stack([pred for pred, _ in pairs], name="preds_c")
        with get_default_graph().control_dependencies([assert_that(pred, [message, values], name="assert_true")]):
            return function()

    return last


def switch_case(
    branch_index: TensorLike, branch_fns: Nest, default: Callable[[], Nest] | None = None, name: str = "switch_case"
) -> Nest:
    """The result of the function whose number is `branch_index`, or of `default` when there is none of that number.

    Args:
        branch_index: a scalar int32 tensor.
        branch_fns: functions without arguments, pairs of an integer and such a function, or a dict of them; their numbers are
            0, 1, 2 and so on.
        default: the function for all other numbers; the last one when None.
        name: the name scope.

    Raises:
        TypeError: the index is no int32, or the functions are not as above.
        ValueError: the numbers do not begin at 0 or are not consecutive, or there are no functions.
    """
    functions = _checked_functions(branch_fns)
    with get_default_graph().name_scope(name or "switch_case"):
        index = convert_to_tensor(branch_index, name="branch_index")
        if index.dtype.base_dtype is not dtypes.int32:
            raise TypeError(
                f"branch_index must an integer Tensor, got {index.dtype.base_dtype}: an int32, as tf.cast makes one."
            )
        last, rest = (functions[-1], functions[:-1]) if default is None else (default, functions)
        pairs = [(equal(index, number), function) for number, function in enumerate(rest)]
        return functools.reduce(lambda other, pair: _choice(pair, other, False), reversed(pairs), last)()


def _checked_functions(branch_fns: Nest) -> list[Callable[[], Nest]]:
    if not isinstance(branch_fns, list | tuple | Mapping):
        raise TypeError(f"'branch_fns' must be a list, tuple, or dict. Received {branch_fns} with type {type(branch_fns)}")
    pairs: list[Nest] = list(branch_fns.items() if isinstance(branch_fns, Mapping) else branch_fns)
    if not pairs:
        raise ValueError("'branch_fns' must have at least one function.")
    if all(callable(each) for each in pairs):
        pairs = list(enumerate(pairs))
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"Each entry in 'branch_fns' must be a 2-tuple. Received {pair}. It is (number, function).")
        if not isinstance(pair[0], int):
            raise TypeError(f"key must be a Python `int`, got {type(pair[0])}")
        if not callable(pair[1]):
            raise TypeError(f"fn for key {pair[0]} must be callable.")
    keys = [key for key, _ in pairs]
    if sorted(keys) != list(range(len(keys))):
        found = ",".join(map(str, sorted(keys)))
        raise ValueError(f"branch indices (keys) must form contiguous range of [0 to {len(keys)}) but found {{{found}}}")
    return [function for _, function in sorted(pairs, key=lambda pair: pair[0])]
