"""What slim.utils has for layers' arguments: values that are known while building, sizes per dimension, known dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from weft.framework.building.aliases import DTypeLike, Nest, ShapeLike, TensorLike, VariableCollections
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.constant_value import constant_value as known_value
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import format_dims
from weft.framework.types.tensor_shape import as_dims
from weft.models.functional.layer_outputs import variable_collections
from weft.ops.control_flow.case import case
from weft.ops.control_flow.cond import cond

T = TypeVar("T")


def constant_value(value_or_tensor_or_var: Nest, dtype: DTypeLike | None = None) -> Nest:
    """The value of a Python value or of a constant tensor; None where only a run tells.

    Args:
        value_or_tensor_or_var: the value; any Python value comes back as it is, a variable gives None.
        dtype: the dtype that a tensor must have; any when None.

    Returns:
        A Python number for a scalar, else an array.

    Raises:
        ValueError: it is None, or a tensor of another dtype.
    """
    if value_or_tensor_or_var is None:
        raise ValueError("value_or_tensor_or_var cannot be None")
    value = value_or_tensor_or_var
    if not isinstance(value, Tensor) and not hasattr(value, "_as_graph_element"):
        return value
    tensor = convert_to_tensor(value)
    if dtype is not None and tensor.dtype.base_dtype is not dtypes.as_dtype(dtype):
        raise ValueError(f"It has the wrong type {tensor.dtype} instead of {dtype}")
    found = None if hasattr(value, "initializer") else known_value(tensor)
    return None if found is None else found.item() if found.ndim == 0 else found


def static_cond(pred: bool, fn1: Callable[[], T], fn2: Callable[[], T]) -> T:
    """The result of `fn1` or `fn2`, chosen by a Python bool.

    Args:
        pred: the bool.
        fn1, fn2: functions without arguments, for True and for False; one of them is called.

    Raises:
        TypeError: one of the two is no function.
    """
    for name, function in (("fn1", fn1), ("fn2", fn2)):
        if not callable(function):
            raise TypeError(f"{name} must be callable.")
    return fn1() if pred else fn2()


def smart_cond(pred: TensorLike, fn1: Callable[[], T], fn2: Callable[[], T], name: str | None = None) -> T:
    """The result of `fn1` or `fn2`, chosen while building where the predicate is known, by tf.cond otherwise.

    As in TensorFlow, the name of the tf.cond is the default whatever `name` is.

    Args:
        pred: a bool, or a [] bool tensor.
        fn1: a function without arguments, for true.
        fn2: the same for false; both return tensors of one structure and of the same dtypes.
        name: not looked at.

    Raises:
        ValueError: the predicate is None, or a constant of another dtype.
        TypeError: the predicate is known and one of the two is no function.
    """
    known = constant_value(pred, dtypes.bool)
    if known is not None:
        return static_cond(bool(known), fn1, fn2)
    chosen: T = cond(pred, fn1, fn2)
    return chosen


def get_variable_collections(variables_collections: VariableCollections, name: str) -> Sequence[str] | None:
    """The collections for a variable: those given, or those that a dict gives for its name.

    Args:
        variables_collections: a list of collections, a dict of such lists, or None.
        name: the variable's name within its layer, such as "weights".
    """
    return variable_collections(variables_collections, name)


def two_element_tuple(int_or_tuple: ShapeLike) -> tuple[int, int]:
    """One number twice, or two numbers, as a tuple.

    Args:
        int_or_tuple: an int, or a list, tuple or TensorShape of two.

    Raises:
        ValueError: it is anything else.
    """
    if isinstance(int_or_tuple, int):
        return int_or_tuple, int_or_tuple
    dims = as_dims(int_or_tuple)
    if isinstance(int_or_tuple, list | tuple) and len(int_or_tuple) != 2:
        raise ValueError(f"Must be a list with 2 elements: {int_or_tuple}")
    if dims is None or len(dims) != 2 or dims[0] is None or dims[1] is None:
        raise ValueError("Must be an int, a list with 2 elements or a TensorShape of length 2")
    return dims[0], dims[1]


def n_positive_integers(n: int, value: ShapeLike) -> tuple[int, ...]:
    """One positive number `n` times, or `n` of them, as a tuple.

    Args:
        n: how many, a positive int.
        value: an int, or a list, tuple or TensorShape of n ints.

    Raises:
        ValueError: `n` or one of the values is no positive int, or there are more or fewer values.
    """
    if not isinstance(n, int) or n < 1:
        raise ValueError(f"n must be a positive integer, got {n!r}")
    given: Any = value or ()
    values: tuple[int, ...] = (value,) * n if isinstance(value, int) else tuple(given)
    if len(values) != n or any(not isinstance(each, int) or each < 1 for each in values):
        raise ValueError(f"n={n} must equal len({value!r}), and all must be positive integers")
    return values


def last_dimension(shape: ShapeLike, min_rank: int = 1) -> int:
    """The size of the last dimension.

    Args:
        shape: a TensorShape, or a list of sizes.
        min_rank: how many dimensions there must be.

    Raises:
        ValueError: the size is not known, or there are fewer dimensions.
    """
    return _known(as_dims(shape), -1, min_rank)


def channel_dimension(shape: ShapeLike, data_format: str, min_rank: int = 1) -> int:
    """The size of the channels' dimension: the second with "channels_first", else the last.

    Args:
        shape: a TensorShape, or a list of sizes.
        data_format: "channels_first" or "channels_last".
        min_rank: how many dimensions there must be.

    Raises:
        ValueError: the size is not known, or there are fewer dimensions.
    """
    return _known(as_dims(shape), 1 if data_format == "channels_first" else -1, min_rank)


def _known(dims: tuple[int | None, ...] | None, place: int, min_rank: int) -> int:
    if dims is None:
        raise ValueError("dims of shape must be known but is None")
    if len(dims) < min_rank:
        raise ValueError(f"rank of shape must be at least {min_rank} not: {len(dims)}")
    size = dims[place]
    if size is None:
        raise ValueError(f"dimension {place} of shape must be known but is None: {format_dims(dims)}")
    return size


def smart_case(
    pred_fn_pairs: Nest, default: Callable[[], Nest] | None = None, exclusive: bool = False, name: str = "smart_case"
) -> Nest:
    """What the function of the first true predicate returns: chosen while building as far as that is known.

    By `tf.case` otherwise.

    Args:
        pred_fn_pairs: pairs of a bool, or a [] bool tensor, and a function without arguments, or a dict of them.
        default: the function for the case that none is true.
        exclusive: whether a run checks that no two are true.
        name: the name scope.

    Raises:
        ValueError: none is true, as is known while building, and there is no default.
    """
    pairs = list(pred_fn_pairs.items()) if isinstance(pred_fn_pairs, dict) else list(pred_fn_pairs)
    open_pairs: list[tuple[TensorLike, Callable[[], Nest]]] = []
    for pred, function in pairs:
        known = constant_value(pred)
        if known is None:
            open_pairs.append((pred, function))
        elif known:
            default = function
            break
    if open_pairs:
        return case(open_pairs, default, exclusive, name=name)
    if default is None:
        raise ValueError("smart_case: no predicate is true, and there is no default")
    return default()
