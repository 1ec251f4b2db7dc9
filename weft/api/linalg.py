"""tf.linalg: functions of matrices."""

from __future__ import annotations

from weft.ops.array.shape_ops import matrix_transpose as matrix_transpose
from weft.ops.array.shape_ops import matrix_transpose as transpose
from weft.ops.linalg.decompositions import cholesky as cholesky
from weft.ops.linalg.decompositions import cholesky_solve as cholesky_solve
from weft.ops.linalg.decompositions import log_matrix_determinant as slogdet
from weft.ops.linalg.decompositions import logdet as logdet
from weft.ops.linalg.decompositions import matrix_determinant as det
from weft.ops.linalg.decompositions import matrix_exponential as expm
from weft.ops.linalg.decompositions import matrix_inverse as inv
from weft.ops.linalg.decompositions import matrix_logarithm as logm
from weft.ops.linalg.decompositions import matrix_solve as solve
from weft.ops.linalg.decompositions import matrix_solve_ls as lstsq
from weft.ops.linalg.decompositions import matrix_square_root as sqrtm
from weft.ops.linalg.decompositions import matrix_triangular_solve as triangular_solve
from weft.ops.linalg.decompositions import qr as qr
from weft.ops.linalg.decompositions import self_adjoint_eig as eigh
from weft.ops.linalg.decompositions import self_adjoint_eigvals as eigvalsh
from weft.ops.linalg.decompositions import svd as svd
from weft.ops.linalg.lu import lu as lu
from weft.ops.linalg.lu import lu_matrix_inverse as lu_matrix_inverse
from weft.ops.linalg.lu import lu_reconstruct as lu_reconstruct
from weft.ops.linalg.lu import lu_solve as lu_solve
from weft.ops.linalg.lu import matrix_rank as matrix_rank
from weft.ops.linalg.lu import normalize as normalize
from weft.ops.linalg.lu import pinv as pinv
from weft.ops.linalg.matrix_bands import matrix_diag as diag
from weft.ops.linalg.matrix_bands import matrix_diag_part as diag_part
from weft.ops.linalg.matrix_bands import matrix_set_diag as set_diag
from weft.ops.linalg.matrix_parts import eye as eye
from weft.ops.linalg.matrix_parts import matrix_band_part as band_part
from weft.ops.linalg.matrix_parts import tensor_diag as tensor_diag
from weft.ops.linalg.matrix_parts import tensor_diag_part as tensor_diag_part
from weft.ops.linalg.matrix_parts import trace as trace
from weft.ops.linalg.norms import norm as norm
from weft.ops.linalg.tridiagonal import tridiagonal_matmul as tridiagonal_matmul
from weft.ops.linalg.tridiagonal import tridiagonal_solve as tridiagonal_solve
from weft.ops.math.contraction import einsum as einsum
from weft.ops.math.contraction import tensordot as tensordot
from weft.ops.math.norms import cross as cross
from weft.ops.math.norms import global_norm as global_norm
from weft.ops.math.products import adjoint as adjoint
from weft.ops.math.products import matmul as matmul
from weft.ops.math.products import matvec as matvec
from weft.ops.nn.norm import l2_normalize as l2_normalize
