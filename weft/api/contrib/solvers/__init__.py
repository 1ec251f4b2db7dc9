"""tf.contrib.solvers: solvers that see a matrix through its products with vectors. This module only re-exports."""

from __future__ import annotations

from weft.api.contrib.solvers import lanczos as lanczos
from weft.api.contrib.solvers import least_squares as least_squares
from weft.api.contrib.solvers import linear_equations as linear_equations
from weft.api.contrib.solvers import util as util
