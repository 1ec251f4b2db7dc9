"""NumPy's former names, for programs that `weft run` runs; one that imports weft has NumPy as it is."""

from __future__ import annotations

import ctypes
import functools
import inspect
import sys
from collections.abc import Callable, Iterable
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
    "bool8": np.bool_, "bytes0": np.bytes_, "cfloat": np.complex128, "clongfloat": np.clongdouble, "int0": np.intp,
    "longcomplex": np.clongdouble, "longfloat": np.longdouble, "object0": np.object_, "singlecomplex": np.complex64,
    "str0": np.str_, "uint0": np.uintp, "void0": np.void,
    "alltrue": np.all, "cumproduct": np.cumprod, "mat": np.asmatrix, "product": np.prod, "round_": np.round,
    "row_stack": np.vstack, "sometrue": np.any, "trapz": np.trapezoid, "alen": len, "issubclass_": issubclass,
    "issubsctype": np.issubdtype,
}  # fmt: skip

# Arguments that had other names.
_FORMER_ARGUMENTS: Final = {
    "reshape": {"newshape": "shape"},
    "percentile": {"interpolation": "method"},
    "nanpercentile": {"interpolation": "method"},
    "quantile": {"interpolation": "method"},
    "nanquantile": {"interpolation": "method"},
    "unravel_index": {"dims": "shape"},
    "histogram": {"normed": "density"},
}


def asscalar(a: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> object:
    """The one number of an array, as Python's."""
    return a.item()


def in1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False, invert: bool = False) -> np.ndarray:
    """Which elements of an array, as a vector, are in another one; gone with NumPy 2.4."""
    return np.isin(np.ravel(ar1), ar2, assume_unique=assume_unique, invert=invert)


def asfarray(a: ArrayLike, dtype: DTypeLike = np.float64) -> np.ndarray:
    """An array of floating numbers."""
    kind = np.dtype(dtype)
    return np.asarray(a, kind if np.issubdtype(kind, np.inexact) else np.float64)


def msort(a: ArrayLike) -> np.ndarray:
    """A copy of an array, sorted along its first axis."""
    return np.sort(a, axis=0)


def find_common_type(array_types: Iterable[DTypeLike], scalar_types: Iterable[DTypeLike]) -> np.dtype:
    """The dtype that values of these dtypes have together; scalars count only if they are of a further kind."""
    arrays, scalars = [[np.dtype(each) for each in types] for types in (array_types, scalar_types)]
    kinds = "buifcmMOSUV"
    if not arrays or (scalars and kinds.index(max(scalars).kind) > max(kinds.index(each.kind) for each in arrays)):
        return np.result_type(*scalars, *arrays)
    return np.result_type(*arrays)


# Where CPython keeps a class's flags, and the one that says that nobody may set what the class has.
_FLAGS_AT: Final = 168
_IMMUTABLE: Final = 1 << 8


def _set_method(kind: type, name: str, function: Callable[..., object]) -> None:
    """Let a class that is written in C have a method of ours; it stays as it is where Python keeps flags elsewhere."""
    flags = ctypes.c_ulong.from_address(id(kind) + _FLAGS_AT)
    if flags.value != kind.__flags__:
        return
    flags.value &= ~_IMMUTABLE
    try:
        setattr(kind, name, function)
    finally:
        flags.value |= _IMMUTABLE


def _give_method(kind: type, name: str, function: Callable[..., object]) -> None:
    """Let a class that is written in C have a method again, which it has lost."""
    if not hasattr(kind, name):
        _set_method(kind, name, function)


def _arrays_of_one_too(convert: Callable[[np.ndarray], object]) -> Callable[[np.ndarray], object]:
    """`__float__` or `__int__` of arrays, which took one element of any rank for a number up to NumPy 2.3.

    Programs do that all the time: `int(labels[i])` of labels `[n, 1]`, and `totals[i] = session.run(loss)`.
    """

    @functools.wraps(convert)
    def number(array: np.ndarray) -> object:
        if array.ndim and array.size != 1:
            raise TypeError("only size-1 arrays can be converted to Python scalars")
        return convert(array.reshape(()))

    return number


def _itemset(array: np.ndarray, *args: float | tuple[int, ...]) -> None:
    """`ndarray.itemset`: put the last argument where the others say, in an array of one element without any."""
    *place, value = args
    first, *rest = place or [(0,) * array.ndim]
    if isinstance(first, tuple):
        array[first] = value
    elif rest:
        array[tuple(int(each) for each in place if not isinstance(each, tuple))] = value
    else:
        array.flat[int(first)] = value


def _former_arguments_too(function: Callable[..., object], names: dict[str, str]) -> Callable[..., object]:
    """A function that takes arguments by their former names, too."""

    @functools.wraps(function)
    def call(*args: object, **kwargs: object) -> object:
        return function(*args, **{names.get(name, name): value for name, value in kwargs.items()})

    return call


def _sequences_of(function: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """A function of arrays that takes them from a generator, too."""

    @functools.wraps(function)
    def stack(arrays: object, *args: object, **kwargs: object) -> np.ndarray:
        return function(list(arrays) if inspect.isgenerator(arrays) or isinstance(arrays, map) else arrays, *args, **kwargs)

    return stack


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


def _caller() -> str:
    """The name of the module that has called a function of this one."""
    return str(sys._getframe(2).f_globals.get("__name__"))


def _uneven_too(make: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """`numpy.array` or `asarray`, which makes an array of objects of lists of unequal lengths, as it did up to NumPy 1.24.

    Programs of agents keep steps so: each is a list of an observation, an action and a reward. What weft itself makes of such
    lists stays an error.
    """

    @functools.wraps(make)
    def array(*args: object, **kwargs: object) -> np.ndarray:
        if kwargs.get("copy", True) is False and not _caller().startswith(_HOUSES):
            kwargs["copy"] = None  # up to NumPy 1.26 False was a wish
        try:
            return make(*args, **kwargs)
        except ValueError as error:
            if "inhomogeneous" not in str(error) or len(args) > 1 or "dtype" in kwargs or _caller().startswith(_HOUSES):
                raise
            return make(*args, dtype=object, **kwargs)

    return array


def _of_uneven_too(function: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """A function of an array that takes a list of unequal lengths for an array of objects, as up to NumPy 1.24.

    Agents bring their targets so into a column, some of which are numbers and others arrays of one.
    """

    @functools.wraps(function)
    def call(a: object, *args: object, **kwargs: object) -> np.ndarray:
        try:
            return function(a, *args, **kwargs)
        except ValueError as error:
            if "inhomogeneous" not in str(error) or _caller().startswith(_HOUSES):
                raise
            return function(np.array(a, dtype=object), *args, **kwargs)

    return call


def _print_as_before() -> None:
    """Let scalars be printed as bare numbers, as up to NumPy 1.26: programs print what `run` returns, often in a list.

    The options that threads begin with are changed, too; `set_printoptions` changes those of its own thread.
    """
    np.set_printoptions(legacy="1.25")
    beginning = getattr(sys.modules.get("numpy._core.printoptions"), "default_format_options_dict", None)
    if isinstance(beginning, dict):
        beginning["legacy"] = 125


def give_back() -> None:
    """Let `numpy` and its arrays have their former names and ways in this process; what they have under such a name stays.

    Idempotent.
    """
    if "asscalar" in vars(np):
        return
    own = {each.__name__: each for each in (asscalar, asfarray, find_common_type, in1d, msort)}
    for name, value in {**_FORMER, **own}.items():
        vars(np).setdefault(name, value)
    vars(np.lib).setdefault("pad", np.pad)
    for name, names in _FORMER_ARGUMENTS.items():
        vars(np)[name] = _former_arguments_too(vars(np)[name], names)
    for name in ("stack", "vstack", "hstack", "dstack", "column_stack", "row_stack"):
        vars(np)[name] = _sequences_of(vars(np)[name])
    # Gone with NumPy 2.3 and 2.0; programs that write records call the first.
    for kind in (np.ndarray, np.generic):
        _give_method(kind, "tostring", kind.tobytes)
        _give_method(kind, "ptp", lambda self, *args, **kwargs: np.ptp(self, *args, **kwargs))
    _give_method(np.ndarray, "itemset", _itemset)
    _give_method(np.ndarray, "newbyteorder", lambda self, order="S": self.view(self.dtype.newbyteorder(order)))
    for name in ("__float__", "__int__"):
        _set_method(np.ndarray, name, _arrays_of_one_too(vars(np.ndarray)[name]))
    vars(np)["fromstring"] = _binary_too(np.fromstring)
    for name in ("array", "asarray"):
        vars(np)[name] = _uneven_too(vars(np)[name])
    for name in ("resize", "reshape"):
        vars(np)[name] = _of_uneven_too(vars(np)[name])
    _print_as_before()
