"""Parameters of discrete distributions: logits and probabilities from either, and checks of both and of counts."""

from __future__ import annotations

import hashlib

import numpy as np

from weft.framework.building.aliases import DTypeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.debugging.checks import assert_equal, assert_greater_equal, assert_less_equal, assert_near, assert_non_negative
from weft.ops.debugging.rank_checks import assert_rank_at_least
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.math.unary import log, log1p, sigmoid
from weft.ops.nn.softmax import softmax

_INTEGERS_LIKE = {dtypes.float16: dtypes.int16, dtypes.float32: dtypes.int32, dtypes.float64: dtypes.int64}
_RANK_MESSAGE = "A categorical-distribution parameter must have at least 1 dimension."
_CLASSES_MESSAGE = "A categorical-distribution parameter must have at least 2 events."


def derived_seed(seed: int | None, salt: str) -> int | None:
    """A second seed for the same sample: TensorFlow's, so that the numbers are; None for None."""
    if seed is None:
        return None
    digest = hashlib.md5(f"{seed}{salt}".encode(), usedforsecurity=False).hexdigest()
    return int(digest[:8], 16) & 0x7FFFFFFF


def logits_and_probs(
    logits: TensorLike | None, probs: TensorLike | None, classes: bool, validate_args: bool, name: str
) -> tuple[Tensor, Tensor]:
    """The logits and the probabilities by whichever of them is given.

    Args:
        logits: unnormalised log-probabilities; log-odds where there are no `classes`.
        probs: the probabilities.
        classes: whether the last dimension is one of classes, whose probabilities sum to 1.
        validate_args: whether the values are checked.
        name: the scope, ending in "/".

    Raises:
        ValueError: both are given, or none.
        TypeError: the given one is not floating point.
    """
    with input_scope(name, name, [probs, logits]):
        if (probs is None) == (logits is None):
            given_now = "neither was given" if probs is None else "both were given"
            raise ValueError(
                f"Must pass probs or logits, but not both. In {(name or 'the distribution').rstrip('/')!r} {given_now}."
            )
        if probs is None:
            given = _floating(logits, "logits")
            if not classes:
                return given, sigmoid(given, name="probs")
            given = checked_classes(given) if validate_args else given
            return given, softmax(given, name="probs")
        given = _floating(probs, "probs")
        if validate_args:
            with input_scope(None, "validate_probs"):
                given = _checked_probs(given, classes)
        with input_scope(None, "logits"):
            return (log(given) if classes else log(given) - log1p(-1.0 * given)), given


def _floating(value: TensorLike | None, name: str) -> Tensor:
    tensor = convert_to_tensor(value, name=name)
    if not tensor.dtype.is_floating:
        raise TypeError(f"{name} must having floating type.")
    return tensor


def _checked_probs(probs: Tensor, classes: bool) -> Tensor:
    checks = [assert_non_negative(probs)]
    if classes:
        probs = checked_classes(probs)
        one = np.ones((), probs.dtype.as_numpy_dtype)
        checks.append(assert_near(reduce_sum(probs, -1), one, message="probs does not sum to 1."))
    else:
        one = np.ones((), probs.dtype.as_numpy_dtype)
        checks.append(assert_less_equal(probs, one, message="probs has components greater than 1."))
    return with_dependencies(checks, probs)


def checked_classes(parameter: Tensor) -> Tensor:
    """The parameter of a distribution over classes, checked to have at least two, and no more than its type tells apart.

    Raises:
        ValueError: what is known of its shape is wrong; what is not known is checked by the run.
    """
    kind = parameter.dtype.base_dtype
    most = _largest(kind)
    if parameter.shape.ndims == 0:
        raise ValueError(_RANK_MESSAGE)
    size = None if parameter.shape.ndims is None else parameter.shape.as_list()[-1]
    if size is not None:
        if size < 2:
            raise ValueError(_CLASSES_MESSAGE)
        if size > most:
            raise ValueError(
                f"Number of classes exceeds `dtype` precision, i.e., {kind.name} implies shape ({size}) cannot exceed {most}."
            )
        return parameter
    with input_scope(None, "embed_check_categorical_event_shape", [parameter]):
        found = shape_of(parameter)[-1]
        beyond = f"Number of classes exceeds `dtype` precision, i.e., {kind.name} dtype cannot exceed {most} shape."
        checks = [
            assert_rank_at_least(parameter, 1, message=_RANK_MESSAGE),
            assert_greater_equal(found, 2, message=_CLASSES_MESSAGE),
            assert_less_equal(found, min(most, dtypes.int32.max), message=beyond),
        ]
        return with_dependencies(checks, parameter)


def _largest(kind: DType) -> int:
    """The largest integer up to which the type has every integer."""
    if kind.is_floating:
        return int(2 ** (np.finfo(kind.as_numpy_dtype).nmant + 1))
    return 1 if kind is dtypes.bool else int(kind.max)


def assert_integer_form(x: Tensor, message: str, kind: DTypeLike | None = None) -> Operation:
    """An operation that fails unless each element is a whole number that `kind` (by default the integer type as wide) holds."""
    target = _INTEGERS_LIKE[x.dtype.base_dtype] if kind is None else kind
    return assert_equal(x, cast(cast(x, target), x.dtype), message=message)


def checked_counts(x: Tensor) -> Tensor:
    """`x` once its elements are known to be whole and not negative."""
    with input_scope(None, "embed_check_nonnegative_integer_form", [x]):
        checks = [assert_non_negative(x, message=f"'{x}' must be non-negative.")]
        if not x.dtype.is_integer:
            checks.append(assert_integer_form(x, f"'{x}' cannot contain fractional components."))
        return with_dependencies(checks, x)


def checked_outcome(x: Tensor, kind: DType) -> Tensor:
    """`x` once its elements are known to be whole, not negative, and within `kind` (bool: 0 and 1)."""
    with input_scope(None, "embed_check_casting_closed", [x]):
        checks = [assert_non_negative(x, message="Elements must be non-negative.")]
        if x.dtype.is_floating:
            checks.append(assert_integer_form(x, f"Elements must be {kind.name}-equivalent.", kind))
        elif _largest(x.dtype.base_dtype) > _largest(kind):
            most = np.array(_largest(kind), x.dtype.as_numpy_dtype)
            checks.append(assert_less_equal(x, most, message=f"Elements cannot exceed {most}."))
        return with_dependencies(checks, x)
