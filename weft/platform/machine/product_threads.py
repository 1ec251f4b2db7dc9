"""How many threads NumPy's products use: one, but for those that take longer than BLAS's threads spin.

NumPy's BLAS divides larger products between all cores and waits, spinning, for the last of them. Where other work has the
cores, each product then waits for a turn of theirs. Milliseconds per float32 product on two cores with fifteen other processes,
time of the clock and CPU time, two threads -> one (OpenBLAS 0.3.31, November 2026):

    64x784 by 784x100       16 and 3.3 -> 0.5 and 0.13
    128x784 by 784x512      40 and 8.6 -> 7.1 and 2.0
    512x512 by 512x512      36 and 11.5 -> 16 and 4.1
    1024x1024 by 1024x1024  126 and 36 -> 100 and 27

Behind a product its other threads spin, each 50 to 70 ms, for the next one: CPU time that steps of other products, code that
is being made and other processes lose. Milliseconds on two cores with three other processes, of the clock and of CPU with that,
two threads -> one (December 2026):

    400x128 by 128x2000      15.8 and 76 -> 2.7 and 2.7
    64x3136 by 3136x1024     25.8 and 70 -> 9.9 and 5.9
    1024x1024 by 1024x1024   31.8 and 92 -> 30.1 and 22.9
    2048x2048 by 2048x1024   89.0 and 148 -> 86.8 and 85.8

An interpreted step of an LSTM of two layers over 2,000 words took 90 ms of CPU, of which 44 are left with one thread for all
but the last of these; one of a LeNet 222, of which 132 are left. On an idle machine a second thread saves at most the half of
what the product takes on one, 11 ms at the limit here, and only until there is code.

The number of threads belongs to the process, so it is set for the product alone: a program's own products keep theirs. To ask
and to set takes 1 µs; products that BLAS does not divide are not asked about. Only OpenBLAS is asked, which NumPy's wheels
have; another library goes on as it does. threadpoolctl does not serve here: it lets one thread of a process set the number,
and steps have several.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Final, NamedTuple

DIVIDED: Final = 1 << 18
"""OpenBLAS computes a product of fewer multiplications on the calling thread,"""
DIVIDED_BY_VECTOR: Final = 9 << 10
"""and one with a vector of fewer than this."""
LARGE: Final = 1 << 30
"""A product of so many multiplications takes one core ten milliseconds and more, in single precision: as the table says, less
than that is not worth the spinning of the others behind it."""

_KERNELS: Final = "numpy._core._multiarray_umath"
"""The module of NumPy's products: what it is linked with makes them."""


class Library(NamedTuple):
    """A BLAS of the process."""

    threads: Callable[[], int]
    """How many threads it divides a product between."""
    set_threads: Callable[[int], object]
    """Sets that number, for all threads that multiply."""


class ProductThreads:
    """The threads of the process's BLAS; there is one object, `product_threads`. Safe from any thread.

    Threads that multiply at the same time may see each other's number, which changes how long that takes and nothing else.

    Args:
        find: returns the library, or None if it is none that can be told; called once, when a product is first to be limited.
    """

    def __init__(self, find: Callable[[], Library | None]) -> None:
        self._find = find
        self._lock = threading.Lock()
        self._is_found = False
        self._library: Library | None = None
        self._most = 0

    def set_most(self, threads: int) -> None:
        """Let large products have so many threads at most; 0 leaves that to the library."""
        self._most = threads

    def of(self, rows: int, inner: int, columns: int) -> AbstractContextManager[object]:
        """A block that multiplies matrices of `[rows, inner]` and `[inner, columns]`."""
        multiplications = rows * inner * columns
        if multiplications < (DIVIDED_BY_VECTOR if rows == 1 or columns == 1 else DIVIDED):
            return _AS_IT_IS
        threads = 1 if multiplications < LARGE else self._most
        library = self._library if self._is_found else self._found()
        return _AS_IT_IS if library is None or not threads else _Limit(library, threads)

    def _found(self) -> Library | None:
        with self._lock:
            if not self._is_found:
                self._library = self._find()
                self._is_found = True
        return self._library


class _Limit:
    """A block in which a library has so many threads at most."""

    __slots__ = ("_before", "_library", "_threads")

    def __init__(self, library: Library, threads: int) -> None:
        self._library = library
        self._threads = threads
        self._before = 0

    def __enter__(self) -> None:
        if (count := self._library.threads()) > self._threads:
            self._before = count
            self._library.set_threads(self._threads)

    def __exit__(self, *_: object) -> None:
        if self._before:
            self._library.set_threads(self._before)


_AS_IT_IS: Final = nullcontext()


def openblas() -> Library | None:
    """The OpenBLAS that NumPy is linked with; None for another one, and where the system does not look into it."""
    kernels = getattr(sys.modules.get(_KERNELS), "__file__", None)
    if kernels is None:
        return None
    try:
        linked = ctypes.CDLL(kernels)
    except OSError:
        return None
    for prefix in ("scipy_", ""):
        for suffix in ("64_", "_64", ""):
            get, put = (getattr(linked, f"{prefix}openblas_{verb}_num_threads{suffix}", None) for verb in ("get", "set"))
            if get is not None and put is not None:
                get.argtypes, get.restype, put.argtypes, put.restype = (), ctypes.c_int, (ctypes.c_int,), None
                return Library(get, put)
    return None


product_threads: Final = ProductThreads(openblas)
