"""The value of a feed as an array of its tensor's type, which holds all that the value says: nothing is cut off in silence."""

from __future__ import annotations

from typing import Final

import numpy as np

from weft.client import feed_remedies
from weft.framework.building.aliases import Array, TensorLike
from weft.framework.nodes.node_errors import described
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes, tensor_util
from weft.framework.types.dtypes import DType

_LARGER: Final = "Try explicitly setting the type of the feed tensor to a larger type (e.g. int64)."
_SHOWN: Final = 60


def convert(tensor: Tensor, value: TensorLike, wanted: type[np.generic]) -> Array:
    """The value as an array of the NumPy type that the tensor has.

    Raises:
        TypeError: it is a Tensor or None, or a number does not fit the type, such as 1.7 or 2**40 an int32.
        ValueError: it is no array of such elements.
    """
    if isinstance(value, Tensor):
        raise TypeError(
            "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python scalars, strings, lists, "
            f"numpy ndarrays, or TensorHandles. For reference, the tensor object was {value} which was passed to the feed with "
            f"key {tensor}. Feed its value: session.run({value.op.name})."
        )
    if value is None and wanted is not np.bool_:  # None is False, to Python and in TensorFlow
        raise TypeError(f"Cannot feed None for Tensor {tensor.name!r}: {described(tensor)}. Where does the value come from?")
    dtype = tensor.dtype.base_dtype
    if dtype is dtypes.string:
        return _texts(tensor, value, dtype)
    if type(value) is int and dtype.is_integer and not dtype.min <= value <= dtype.max:
        raise TypeError(_unfit(tensor, value, wanted, ""))
    source = None
    _check_kind(tensor, value, wanted)
    try:
        if dtype.is_integer and type(value) is not int:
            source = np.asarray(value)
        array = _cast(source, value, wanted)
    except OverflowError as error:
        raise TypeError(_unfit(tensor, value, wanted, f": {error}")) from None
    except (TypeError, ValueError) as error:
        problem = str(error).removesuffix(".")
        raise type(error)(
            f"Cannot feed a value of type {type(value).__name__} for Tensor {tensor.name!r}: {described(tensor)}: {problem}."
            f"{feed_remedies.for_value(value, problem)}"
        ) from None
    if source is not None and source.dtype.kind in "iuf" and not np.can_cast(source.dtype, array.dtype):
        _check_lossless(tensor, value, source, array)
    return array


def _texts(tensor: Tensor, value: TensorLike, dtype: DType) -> Array:
    try:
        return tensor_util.as_array(value, dtype)
    except TypeError as error:
        problem = str(error).removesuffix(".")
        remedy = feed_remedies.for_value(value, problem) or (
            " str(x) makes a text of a number." if "Expected string" in problem else ""
        )
        raise TypeError(
            f"Type of feed value {value!r:.60} with type {type(value)} is not compatible with Tensor type {np.object_}: "
            f"{problem}. It is fed for Tensor {tensor.name!r}: {described(tensor)}.{remedy}"
        ) from None


def _check_kind(tensor: Tensor, value: TensorLike, wanted: type[np.generic]) -> None:
    """Refuse what NumPy converts by a loss: a text to the truth that it is not empty, a complex number to its real part."""
    dtype = tensor.dtype.base_dtype
    is_bool = dtype is dtypes.bool
    # Lists of numbers are converted once, below: NumPy itself refuses complex ones in them.
    of = value if hasattr(value, "dtype") or not is_bool else np.asarray(value)
    kind = of.dtype.kind if isinstance(of, np.ndarray | np.generic) else ""
    if is_bool and kind in ("U", "S"):
        raise TypeError(_unfit(tensor, value, wanted, ": a text that is not empty would be True, 'no' and 'False' too"))
    if kind == "c" and dtype.is_floating:
        raise TypeError(_unfit(tensor, value, wanted, ": its imaginary part would be lost; np.real and np.abs give one number"))


def _cast(source: Array, value: TensorLike, wanted: type[np.generic]) -> Array:
    if source is None or source.dtype.kind not in "iuf":
        return np.asarray(value, dtype=wanted)
    with np.errstate(invalid="ignore"):
        return source.astype(wanted)


def _check_lossless(tensor: Tensor, value: TensorLike, source: Array, array: Array) -> None:
    lost = array != source
    if lost.any():
        at = tuple(map(int, np.argwhere(lost)[0])) if source.ndim else ()
        where = f" at {list(at)}" if at else ""
        raise TypeError(_unfit(tensor, value, array.dtype.type, f": {source[at]}{where} would become {array[at]}"))


def _unfit(tensor: Tensor, value: Array, wanted: type[np.generic], reason: str) -> str:
    shown = f"{value!r}" if np.ndim(value) == 0 else f"of shape {np.shape(value)}"
    text = (
        f"Type of feed value {shown[:_SHOWN]} with type {type(value)} is not compatible with Tensor type {wanted}{reason}. "
        f"It is fed for Tensor {tensor.name!r}: {described(tensor)}. {_LARGER}"
    )
    return f"{text} Or convert it yourself, by round() or astype(), if the loss is meant." if reason else text
