"""Types of what functions return, where no class alone tells it."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

# An array of NumPy's, as files and readers give it.
NumpyArray: TypeAlias = np.ndarray[Any, Any]
# In `Variable | OrNone`: there may be none. Type checkers let it pass as a Variable, since programs that have made one would
# have to test for None else.
OrNone: TypeAlias = Any
