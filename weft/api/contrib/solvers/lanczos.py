"""tf.contrib.solvers.lanczos: Lanczos bidiagonalization. This module only re-exports."""

from __future__ import annotations

from weft.models.solvers.lanczos import bidiag_matmul as bidiag_matmul
from weft.models.solvers.lanczos import lanczos_bidiag as lanczos_bidiag
