"""Integers that a type cannot hold: their lowest bits stay, and a warning tells of those that are lost."""

from __future__ import annotations

import numpy as np

from weft.framework.types.dtypes import DType
from weft.framework.types.value_types import NumpyArray
from weft.platform.logs import tf_logging


def wrapped(value: int, base: DType) -> NumpyArray:
    """The lowest bits of an int that its type cannot hold, as C casts it: programs write hashes and masks so."""
    if not -(2**63) <= value < 2**63:
        raise OverflowError(f"Python int too large to convert to C long: {base.name} cannot hold {value}.")
    tell_what_is_lost(value, value, base)
    return np.array(value, np.int64).astype(base.as_numpy_dtype)


def tell_what_is_lost(least: int, greatest: int, base: DType) -> None:
    """Warn of integers that have more bits than their type; -1 as an unsigned one, or a mask as a signed one, loses nothing."""
    bits = 8 * base.size
    for value in (least, greatest):
        if not -(2 ** (bits - 1)) <= value < 2**bits:
            tf_logging.warning("%s cannot hold %d: its lowest %d bits stay.", base.name, value, bits)
            return


def may_hold_large_ints(array: NumpyArray, base: DType) -> bool:
    """Whether NumPy may have made the array of Python ints of which some have more than 63 bits: then of any of three types."""
    return array.dtype in (np.uint64, np.object_) or (base.is_integer and array.dtype == np.float64)
