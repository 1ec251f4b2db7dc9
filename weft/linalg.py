"""tf.linalg: functions of matrices."""

from __future__ import annotations

from weft.ops.contraction import einsum as einsum
from weft.ops.contraction import tensordot as tensordot
from weft.ops.decompositions import cholesky as cholesky
from weft.ops.decompositions import cholesky_solve as cholesky_solve
from weft.ops.decompositions import log_matrix_determinant as slogdet
from weft.ops.decompositions import logdet as logdet
from weft.ops.decompositions import matrix_determinant as det
from weft.ops.decompositions import matrix_exponential as expm
from weft.ops.decompositions import matrix_inverse as inv
from weft.ops.decompositions import matrix_logarithm as logm
from weft.ops.decompositions import matrix_solve as solve
from weft.ops.decompositions import matrix_solve_ls as lstsq
from weft.ops.decompositions import matrix_square_root as sqrtm
from weft.ops.decompositions import matrix_triangular_solve as triangular_solve
from weft.ops.decompositions import qr as qr
from weft.ops.decompositions import self_adjoint_eig as eigh
from weft.ops.decompositions import self_adjoint_eigvals as eigvalsh
from weft.ops.decompositions import svd as svd
from weft.ops.linalg import adjoint as adjoint
from weft.ops.linalg import matmul as matmul
from weft.ops.linalg import matvec as matvec
from weft.ops.lu import lu as lu
from weft.ops.lu import lu_matrix_inverse as lu_matrix_inverse
from weft.ops.lu import lu_reconstruct as lu_reconstruct
from weft.ops.lu import lu_solve as lu_solve
from weft.ops.lu import matrix_rank as matrix_rank
from weft.ops.lu import normalize as normalize
from weft.ops.lu import pinv as pinv
from weft.ops.matrix_bands import matrix_diag as diag
from weft.ops.matrix_bands import matrix_diag_part as diag_part
from weft.ops.matrix_bands import matrix_set_diag as set_diag
from weft.ops.matrix_parts import eye as eye
from weft.ops.matrix_parts import matrix_band_part as band_part
from weft.ops.matrix_parts import tensor_diag as tensor_diag
from weft.ops.matrix_parts import tensor_diag_part as tensor_diag_part
from weft.ops.matrix_parts import trace as trace
from weft.ops.nn_norm import l2_normalize as l2_normalize
from weft.ops.norms import cross as cross
from weft.ops.norms import global_norm as global_norm
from weft.ops.norms import norm as norm
from weft.ops.shape_ops import matrix_transpose as matrix_transpose
from weft.ops.shape_ops import matrix_transpose as transpose
from weft.ops.tridiagonal import tridiagonal_matmul as tridiagonal_matmul
from weft.ops.tridiagonal import tridiagonal_solve as tridiagonal_solve
