"""tf.linalg: functions of matrices."""

from __future__ import annotations

from weft.models.linear_operators import functions as _functions  # registers them
from weft.models.linear_operators.circulant import LinearOperatorCirculant as LinearOperatorCirculant
from weft.models.linear_operators.circulant import LinearOperatorCirculant2D as LinearOperatorCirculant2D
from weft.models.linear_operators.circulant import LinearOperatorCirculant3D as LinearOperatorCirculant3D
from weft.models.linear_operators.composed import LinearOperatorBlockDiag as LinearOperatorBlockDiag
from weft.models.linear_operators.composed import LinearOperatorComposition as LinearOperatorComposition
from weft.models.linear_operators.composed import LinearOperatorKronecker as LinearOperatorKronecker
from weft.models.linear_operators.dense import LinearOperatorFullMatrix as LinearOperatorFullMatrix
from weft.models.linear_operators.dense import LinearOperatorHouseholder as LinearOperatorHouseholder
from weft.models.linear_operators.dense import LinearOperatorLowerTriangular as LinearOperatorLowerTriangular
from weft.models.linear_operators.dense import LinearOperatorToeplitz as LinearOperatorToeplitz
from weft.models.linear_operators.diagonal import LinearOperatorDiag as LinearOperatorDiag
from weft.models.linear_operators.diagonal import LinearOperatorIdentity as LinearOperatorIdentity
from weft.models.linear_operators.diagonal import LinearOperatorScaledIdentity as LinearOperatorScaledIdentity
from weft.models.linear_operators.low_rank_update import LinearOperatorLowRankUpdate as LinearOperatorLowRankUpdate
from weft.models.linear_operators.operator import LinearOperator as LinearOperator
from weft.models.linear_operators.wrapped import LinearOperatorAdjoint as LinearOperatorAdjoint
from weft.models.linear_operators.wrapped import LinearOperatorInversion as LinearOperatorInversion
from weft.models.linear_operators.zeros import LinearOperatorZeros as LinearOperatorZeros
from weft.ops.array.transposing import matrix_transpose as matrix_transpose
from weft.ops.linalg.decompositions import cholesky as cholesky
from weft.ops.linalg.decompositions import cholesky_solve as cholesky_solve
from weft.ops.linalg.decompositions import log_matrix_determinant as _log_matrix_determinant
from weft.ops.linalg.decompositions import matrix_determinant as _matrix_determinant
from weft.ops.linalg.decompositions import matrix_inverse as _matrix_inverse
from weft.ops.linalg.decompositions import matrix_solve as _matrix_solve
from weft.ops.linalg.decompositions import matrix_triangular_solve as _matrix_triangular_solve
from weft.ops.linalg.decompositions import qr as qr
from weft.ops.linalg.decompositions import self_adjoint_eig as _self_adjoint_eig
from weft.ops.linalg.decompositions import self_adjoint_eigvals as _self_adjoint_eigvals
from weft.ops.linalg.decompositions import svd as svd
from weft.ops.linalg.lu import lu as lu
from weft.ops.linalg.lu import lu_matrix_inverse as lu_matrix_inverse
from weft.ops.linalg.lu import lu_reconstruct as lu_reconstruct
from weft.ops.linalg.lu import lu_solve as lu_solve
from weft.ops.linalg.lu import matrix_rank as matrix_rank
from weft.ops.linalg.lu import normalize as normalize
from weft.ops.linalg.lu import pinv as pinv
from weft.ops.linalg.matrix_bands import matrix_diag as _matrix_diag
from weft.ops.linalg.matrix_bands import matrix_diag_part as _matrix_diag_part
from weft.ops.linalg.matrix_bands import matrix_set_diag as _matrix_set_diag
from weft.ops.linalg.matrix_functions import logdet as logdet
from weft.ops.linalg.matrix_functions import matrix_exponential as _matrix_exponential
from weft.ops.linalg.matrix_functions import matrix_logarithm as _matrix_logarithm
from weft.ops.linalg.matrix_functions import matrix_solve_ls as _matrix_solve_ls
from weft.ops.linalg.matrix_functions import matrix_square_root as _matrix_square_root
from weft.ops.linalg.matrix_parts import eye as eye
from weft.ops.linalg.matrix_parts import matrix_band_part as _matrix_band_part
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

# Under a name of its own: type checkers take a renamed import for the module's private business.
transpose = matrix_transpose
slogdet = _log_matrix_determinant
det = _matrix_determinant
expm = _matrix_exponential
inv = _matrix_inverse
logm = _matrix_logarithm
solve = _matrix_solve
lstsq = _matrix_solve_ls
sqrtm = _matrix_square_root
triangular_solve = _matrix_triangular_solve
eigh = _self_adjoint_eig
eigvalsh = _self_adjoint_eigvals
diag = _matrix_diag
diag_part = _matrix_diag_part
set_diag = _matrix_set_diag
band_part = _matrix_band_part
