"""NumPy's former names, for programs that `weft run` runs; one that imports weft has NumPy as it is."""

from __future__ import annotations

from typing import Final

import numpy as np

_FORMER: Final[dict[str, object]] = {
    # Python's own types, gone with NumPy 1.24.
    "bool": bool, "complex": complex, "float": float, "int": int, "object": object, "str": str, "unicode": str,
    # Gone with NumPy 2.
    "complex_": np.complex128, "float_": np.float64, "string_": np.bytes_, "unicode_": np.str_,
    "Inf": np.inf, "Infinity": np.inf, "NINF": -np.inf, "NaN": np.nan, "PINF": np.inf, "infty": np.inf,
    "NZERO": -0.0, "PZERO": 0.0,
    "alltrue": np.all, "cumproduct": np.cumprod, "product": np.prod, "round_": np.round, "row_stack": np.vstack,
    "sometrue": np.any,
}  # fmt: skip


def asscalar(a: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> object:
    """The one number of an array, as Python's."""
    return a.item()


def give_back() -> None:
    """Let `numpy` have its former names in this process; what it has under such a name stays."""
    for name, value in {**_FORMER, "asscalar": asscalar}.items():
        vars(np).setdefault(name, value)
