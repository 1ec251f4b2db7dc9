"""NumPy's former names, for programs that `weft run` runs; one that imports weft has NumPy as it is."""

from __future__ import annotations

import ctypes
import functools
import gc
import sys
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

_FORMER: Final[dict[str, object]] = {
    # Python's own types, gone with NumPy 1.24.
    "bool": bool, "complex": complex, "float": float, "int": int, "object": object, "str": str, "unicode": str,
    # Gone with NumPy 2.
    "complex_": np.complex128, "float_": np.float64, "string_": np.bytes_, "unicode_": np.str_,
    "Inf": np.inf, "Infinity": np.inf, "NINF": -np.inf, "NaN": np.nan, "PINF": np.inf, "infty": np.inf,
    "NZERO": -0.0, "PZERO": 0.0,
    "alltrue": np.all, "cumproduct": np.cumprod, "product": np.prod, "round_": np.round, "row_stack": np.vstack,
    "sometrue": np.any, "trapz": np.trapezoid, "alen": len,
}  # fmt: skip


def asscalar(a: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> object:
    """The one number of an array, as Python's."""
    return a.item()


def in1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False, invert: bool = False) -> np.ndarray:
    """Which elements of an array, as a vector, are in another one; gone with NumPy 2.4."""
    return np.isin(np.ravel(ar1), ar2, assume_unique=assume_unique, invert=invert)


def _give_method(kind: type, name: str, function: Callable[..., object]) -> None:
    """Let a class that is written in C have a method again, which Python lets nobody set: it stands in the table behind the
    class's `__dict__`."""
    if not hasattr(kind, name):
        (table,) = gc.get_referents(vars(kind))
        table[name] = function
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))


def _binary_too(fromstring: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """`numpy.fromstring`, which reads bytes where there is no separator, as it did up to NumPy 2.3."""

    @functools.wraps(fromstring)
    def read(string: bytes | str, dtype: DTypeLike = float, count: int = -1, sep: str = "", **kwargs: object) -> np.ndarray:
        if sep:
            return fromstring(string, dtype, count, sep=sep, **kwargs)
        data = string.encode("latin-1") if isinstance(string, str) else string
        return np.frombuffer(data, dtype, count).copy()

    return read


_HOUSES: Final = ("weft.", "jax.", "jaxlib.", "numpy.")


def _uneven_too(make: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """`numpy.array`, which makes an array of objects of lists of unequal lengths, as it did up to NumPy 1.24.

    Programs of agents keep steps so: each is a list of an observation, an action and a reward. What weft itself makes of such
    lists stays an error.
    """

    @functools.wraps(make)
    def array(*args: object, **kwargs: object) -> np.ndarray:
        try:
            return make(*args, **kwargs)
        except ValueError as error:
            caller = str(sys._getframe(1).f_globals.get("__name__"))
            if "inhomogeneous" not in str(error) or len(args) > 1 or "dtype" in kwargs or caller.startswith(_HOUSES):
                raise
            return make(*args, dtype=object, **kwargs)

    return array


def give_back() -> None:
    """Let `numpy` and its arrays have their former names in this process; what they have under such a name stays."""
    for name, value in {**_FORMER, "asscalar": asscalar, "in1d": in1d}.items():
        vars(np).setdefault(name, value)
    vars(np.lib).setdefault("pad", np.pad)
    # Gone with NumPy 2.3 and 2.0; programs that write records call the first.
    for kind in (np.ndarray, np.generic):
        _give_method(kind, "tostring", kind.tobytes)
        _give_method(kind, "ptp", lambda self, *args, **kwargs: np.ptp(self, *args, **kwargs))
    vars(np)["fromstring"] = _binary_too(np.fromstring)
    vars(np)["array"] = _uneven_too(np.array)
