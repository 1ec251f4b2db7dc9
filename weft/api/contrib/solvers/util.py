"""tf.contrib.solvers.util: matrices as functions, products and norms of vectors. This module only re-exports."""

from __future__ import annotations

from weft.models.solvers.operators import create_operator as create_operator
from weft.models.solvers.operators import dot as dot
from weft.models.solvers.operators import identity_operator as identity_operator
from weft.models.solvers.operators import l2norm as l2norm
from weft.models.solvers.operators import l2norm_squared as l2norm_squared
from weft.models.solvers.operators import l2normalize as l2normalize
