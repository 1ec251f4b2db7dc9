"""Ops on the innermost values of ragged tensors, and the ops of other families that take ragged tensors.

Importing this module gives RaggedTensor its operators and registers the handlers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from weft.framework.building.aliases import Nest
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types.dims import Dims
from weft.ops.array import (
    batch_gather,
    filling,
    gather_scatter,
    identity,
    joining,
    partitioning,
    selection,
    shape_ops,
    stacking,
    tiling,
)
from weft.ops.composites import register_composite
from weft.ops.control_flow import assertion
from weft.ops.dispatch import register_handler
from weft.ops.math import (
    casting,
    clip,
    comparison,
    complex_numbers,
    division,
    elementwise,
    reduce_functions,
    segment,
    special_functions,
    trigonometry,
    unary,
)
from weft.ops.ragged import joining as ragged_joining
from weft.ops.ragged import reducing, rows, selecting
from weft.ops.ragged.broadcasting import broadcast_pair
from weft.ops.ragged.partitions import same_partitions
from weft.ops.ragged.tensor import (
    RaggedTensor,
    Values,
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
    override_operator,
    splits_type_of,
)
from weft.ops.ragged.value import RaggedTensorValue
from weft.ops.strings import elementwise as strings
from weft.ops.strings import hash_buckets, parts, regexes, tensor_strings

Function = Callable[..., Nest]


def map_flat_values(op: Function, *args: Nest, **kwargs: Nest) -> Nest:
    """Call `op` with the innermost values in the place of each ragged argument, and give its result their rows.

    Args:
        op: takes and gives tensors; the first size of its result is that of the values.
        *args: arguments for it, ragged tensors also within lists, tuples and dicts.
        **kwargs: arguments for it by name.

    Raises:
        ValueError: the ragged arguments have not the same number of ragged dimensions; the run checks their rows.
    """
    found: list[RaggedTensor] = []
    flat_args, flat_kwargs = _flattened(list(args), found), _flattened(kwargs, found)
    if not found:
        return op(*args, **kwargs)
    splits_type_of(*found)
    with same_partitions([each.nested_row_splits for each in found]) as splits:
        return RaggedTensor.from_nested_row_splits(op(*flat_args, **flat_kwargs), splits, validate=False)


def _flattened(value: Nest, found: list[RaggedTensor]) -> Nest:
    if is_ragged(value):
        tensor = convert_to_tensor_or_ragged_tensor(value)
        assert isinstance(tensor, RaggedTensor)
        found.append(tensor)
        return tensor.flat_values
    if isinstance(value, list | tuple):
        parts = [_flattened(each, found) for each in value]
        return parts if isinstance(value, list) else tuple(parts)
    if isinstance(value, dict):
        return {key: _flattened(each, found) for key, each in value.items()}
    return value


def _on_values(function: Function, first: str) -> Function:
    """The function on the innermost values of its first argument."""

    def handle(*args: Nest, **kwargs: Nest) -> Nest:
        given = (args[0], args[1:]) if args else (kwargs.pop(first, None), ())
        tensor = convert_to_tensor_or_ragged_tensor(given[0]) if is_ragged(given[0]) else None
        if not isinstance(tensor, RaggedTensor):
            return NotImplemented
        return tensor.with_flat_values(function(tensor.flat_values, *given[1], **kwargs))

    return handle


def _on_lists(function: Function) -> Function:
    """The function on the innermost values of all tensors in a list."""

    def handle(inputs: Nest, *args: Nest, **kwargs: Nest) -> Nest:
        return map_flat_values(lambda values: function(values, *args, **kwargs), list(inputs))

    return handle


def _on_pairs(function: Function) -> Function:
    """The function on two tensors, broadcast to the same rows."""

    def handle(x: Nest, y: Nest, *args: Nest, **kwargs: Nest) -> Nest:
        if not is_ragged(x) and not is_ragged(y):
            return NotImplemented
        left, right = _pair(x, y)
        splits_type_of(left, right)
        left, right = broadcast_pair(left, right)
        flat = [each.flat_values if isinstance(each, RaggedTensor) else each for each in (left, right)]
        rows_of = left if isinstance(left, RaggedTensor) else right
        assert isinstance(rows_of, RaggedTensor)
        return rows_of.with_flat_values(function(*flat, *args, **kwargs))

    return handle


def _pair(x: Nest, y: Nest) -> tuple[Values, Values]:
    if is_ragged(x) and is_ragged(y):
        return convert_to_tensor_or_ragged_tensor(x), convert_to_tensor_or_ragged_tensor(y)
    if is_ragged(x):
        left = convert_to_tensor_or_ragged_tensor(x)
        return left, convert_to_tensor(y, preferred_dtype=left.dtype, name="y")
    right = convert_to_tensor_or_ragged_tensor(y)
    return convert_to_tensor(x, preferred_dtype=right.dtype, name="x"), right


_KINDS: Final = (RaggedTensor, RaggedTensorValue)


def take_ragged(function: Function, first: str) -> None:
    """Let a function of one tensor, its first argument, work on the innermost values of ragged tensors."""
    register_handler(function, _on_values(function, first), _KINDS)


# Functions of one tensor, with the name of that argument where it is not `x`.
_UNARY: Final[dict[Function, str]] = {
    **dict.fromkeys(
        [
            clip.clip_by_value, comparison.invert, comparison.logical_not, complex_numbers.absolute, complex_numbers.sign,
            casting.cast, elementwise.neg, elementwise.reciprocal, elementwise.square,
            special_functions.digamma, special_functions.erf, special_functions.erfc, special_functions.lgamma,
            trigonometry.acos, trigonometry.acosh, trigonometry.asin, trigonometry.asinh, trigonometry.atan,
            trigonometry.atanh, trigonometry.cos, trigonometry.cosh, trigonometry.sin, trigonometry.sinh, trigonometry.tan,
            unary.ceil, unary.exp, unary.expm1, unary.floor, unary.is_finite, unary.is_inf, unary.is_nan, unary.log,
            unary.log1p, unary.rint, unary.round_to_integer, unary.rsqrt, unary.sigmoid, unary.sqrt, unary.tanh,
        ],
        "x",
    ),
    casting.saturate_cast: "value", assertion.check_numerics: "tensor",
    **dict.fromkeys([filling.ones_like, filling.zeros_like], "tensor"),
    **dict.fromkeys([complex_numbers.angle, complex_numbers.imag, complex_numbers.real, identity.identity], "input"),
    complex_numbers.conj: "x",
    **dict.fromkeys(
        [
            strings.as_string, strings.decode_base64, strings.encode_base64, regexes.regex_full_match, regexes.regex_replace,
            strings.string_strip, hash_buckets.string_to_hash_bucket_fast, hash_buckets.string_to_hash_bucket_strong,
            strings.substr,
            strings.string_length, strings.string_lower, strings.string_upper,
        ],
        "input",
    ),
    strings.string_to_number: "string_tensor", hash_buckets.string_to_hash_bucket: "string_tensor",
    tensor_strings.decode_compressed: "bytes",
}  # fmt: skip

_PAIRS: Final[Iterable[Function]] = (
    comparison.bitwise_and, comparison.bitwise_or, comparison.bitwise_xor, comparison.left_shift, comparison.right_shift,
    comparison.equal, comparison.greater, comparison.greater_equal, comparison.less, comparison.less_equal,
    comparison.logical_and, comparison.logical_or, comparison.logical_xor, comparison.maximum, comparison.minimum,
    comparison.not_equal, complex_numbers.complex_of, division.div, division.div_no_nan, division.divide, division.floor_div,
    division.floor_mod, division.floordiv, division.power, division.truediv, division.truncate_div, division.truncate_mod,
    elementwise.add, elementwise.add_v2, elementwise.mul, elementwise.real_div, elementwise.squared_difference, elementwise.sub,
    trigonometry.atan2,
)  # fmt: skip

_OTHERS: Final[dict[Function, Function]] = {
    batch_gather.batch_gather: rows.batch_gather,
    batch_gather.gather_nd: rows.gather_nd,
    filling.one_hot: rows.ragged_one_hot,
    gather_scatter.gather: rows.gather,
    joining.concat: ragged_joining.concat,
    stacking.stack: ragged_joining.stack,
    parts.reduce_join: reducing.reduce_join,
    partitioning.dynamic_partition: selecting.dynamic_partition,
    reduce_functions.reduce_all: reducing.reduce_all,
    reduce_functions.reduce_any: reducing.reduce_any,
    reduce_functions.reduce_max: reducing.reduce_max_of_rows,
    reduce_functions.reduce_mean: reducing.reduce_mean,
    reduce_functions.reduce_min: reducing.reduce_min,
    reduce_functions.reduce_prod: reducing.reduce_prod,
    reduce_functions.reduce_sum: reducing.reduce_sum,
    segment.unsorted_segment_max: reducing.segment_max,
    segment.unsorted_segment_mean: reducing.segment_mean,
    segment.unsorted_segment_min: reducing.segment_min,
    segment.unsorted_segment_prod: reducing.segment_prod,
    segment.unsorted_segment_sqrt_n: reducing.segment_sqrt_n,
    segment.unsorted_segment_sum: reducing.segment_sum,
    selection.where: selecting.where,
    shape_ops.expand_dims: rows.expand_dims,
    shape_ops.rank: rows.rank,
    shape_ops.size: rows.size,
    shape_ops.squeeze: rows.squeeze,
    tiling.tile: rows.tile,
}


def _any_length(tensor: Tensor) -> Dims:
    return tensor.dims and (None, *tensor.dims[1:])


for _function, _argument in _UNARY.items():
    take_ragged(_function, _argument)
for _function in (elementwise.add_n, parts.string_join):
    register_handler(_function, _on_lists(_function), _KINDS)
for _function in _PAIRS:
    register_handler(_function, _on_pairs(_function), _KINDS)
for _function, _handler in _OTHERS.items():
    register_handler(_function, _handler, _KINDS)

register_composite(
    RaggedTensor,
    lambda tensor: [tensor.flat_values, *tensor.nested_row_splits],
    lambda _, tensors: RaggedTensor.from_nested_row_splits(tensors[0], tensors[1:], validate=False),
    # A loop may change how many values there are, not how many rows.
    lambda tensors: [*map(_any_length, tensors[:1]), tensors[1].dims, *map(_any_length, tensors[2:])],
)


def _reflected(function: Function) -> Function:
    return lambda y, x: function(x, y)


for _name, _function in (
    ("add", elementwise.add),
    ("sub", elementwise.sub),
    ("mul", elementwise.mul),
    ("div", division.div),
    ("truediv", division.truediv),
    ("floordiv", division.floordiv),
    ("mod", division.floor_mod),
    ("pow", division.power),
    ("and", comparison.logical_and),
    ("or", comparison.logical_or),
    ("xor", comparison.logical_xor),
):
    override_operator(f"__{_name}__", _function)
    override_operator(f"__r{_name}__", _reflected(_function))
for _name, _function in (
    ("lt", comparison.less),
    ("le", comparison.less_equal),
    ("gt", comparison.greater),
    ("ge", comparison.greater_equal),
    ("neg", elementwise.neg),
    ("abs", complex_numbers.absolute),
    ("invert", comparison.logical_not),
):
    override_operator(f"__{_name}__", _function)
