"""Cases of matrix products, decompositions, diagonals, contractions, segments and counts."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from weft.testing.op_checks import Case

RANDOM = np.random.default_rng(5)


def _random(*shape):
    return RANDOM.uniform(-1.5, 1.5, shape).astype(np.float32)


def _complex(*shape):
    return (_random(*shape) + 1j * _random(*shape)).astype(np.complex64)


M34, M45, M54, M43 = _random(3, 4), _random(4, 5), _random(5, 4), _random(4, 3)
C34, C45 = _complex(3, 4), _complex(4, 5)
B34, B45 = _random(2, 3, 4), _random(2, 4, 5)
REGULAR = (_random(2, 3, 3) + 3 * np.eye(3)).astype(np.float32)
CREGULAR = (_complex(3, 3) + 3 * np.eye(3)).astype(np.complex64)
DEFINITE = (REGULAR @ REGULAR.transpose(0, 2, 1)).astype(np.float32)
RHS = _random(2, 3, 2)


def _adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


PRODUCTS = [
    Case("MatMul", [M34, M45], expected=np.matmul),
    Case("MatMul", [M34, M54], {"transpose_b": True}, expected=lambda a, b: a @ b.T, variant="b", sweep=False),
    Case("MatMul", [M43, M45], {"transpose_a": True}, expected=lambda a, b: a.T @ b, variant="a", sweep=False),
    Case("MatMul", [M43, M54], {"transpose_a": True, "transpose_b": True}, expected=lambda a, b: a.T @ b.T,
         variant="ab", sweep=False),
    Case("MatMul", [C34, C45], expected=np.matmul, variant="complex", sweep=False),
    Case("MatMul", [C34.T, C45], {"transpose_a": True}, expected=lambda a, b: a.T @ b, variant="complex-a", sweep=False),
    *[Case(op, [B34, B45], expected=np.matmul) for op in ("BatchMatMul", "BatchMatMulV2")],
    Case("BatchMatMulV2", [B34, M45], expected=np.matmul, variant="broadcast", sweep=False),
    Case("BatchMatMulV2", [M34, B45], expected=np.matmul, variant="broadcast-x", sweep=False),
    *[Case("BatchMatMulV2", [_adjoint(C34) if x else C34, _adjoint(C45) if y else C45], {"adj_x": x, "adj_y": y},
           expected=lambda a, b: C34 @ C45, variant=f"adjoint-{x:d}{y:d}", sweep=False)
      for x in (False, True) for y in (False, True)],
]  # fmt: skip

EQUATIONS = [
    Case("Einsum", [[a, b]], {"equation": eq}, expected=lambda xs, eq=eq: np.einsum(eq, *xs), variant=eq, sweep=False)
    for eq, a, b in [
        ("ij,jk->ik", M34, M45), ("bij,bjk->bik", B34, B45), ("bij,jk->bik", B34, M45), ("ij,kj->", M34, M34),
        ("...ij,jk->...ik", B34, M45), ("ij,jk->ik", C34, C45), ("i,j->ij", M34[0], M45[0]),
        ("ii,ij->j", M34[:, :3], M34), ("ii,ij->i", C34[:, :3], C34),
    ]
]  # fmt: skip

EQUATIONS.append(Case("Contract", [B34, M45], {"axes_a": [-1], "axes_b": [0]}, known_shape=False, sweep=False,
                      expected=lambda a, b: np.tensordot(a, b, 1)))  # fmt: skip

DIAGONALS = [
    Case("MatrixBandPart", [B34, 1, 0], expected=lambda x, a, b: np.tril(np.triu(x, -1))),
    Case("MatrixBandPart", [B34, np.int64(0), np.int64(-1)], expected=lambda x, a, b: np.triu(x), variant="upper",
         sweep=False),
    Case("MatrixDiag", [M34], expected=lambda x: np.stack([np.diag(row) for row in x])),
    Case("MatrixDiagPart", [B34], expected=lambda x: np.stack([np.diag(each) for each in x])),
    Case("MatrixDiagPart", [REGULAR], expected=lambda x: np.stack([np.diag(each) for each in x]), variant="square"),
    Case("MatrixSetDiag", [B34, _random(2, 3)],
         expected=lambda x, d: np.where(np.eye(3, 4) > 0, np.pad(d, ((0, 0), (0, 1)))[:, None, :], x)),
    Case("Diag", [M34[:2, :2]], expected=lambda x: np.diag(x.ravel()).reshape(2, 2, 2, 2)),
    Case("DiagPart", [_random(2, 3, 2, 3)], expected=lambda x: np.diag(x.reshape(6, 6)).reshape(2, 3)),
    Case("EyeLike", [REGULAR], expected=lambda x: np.stack([np.eye(3)] * 2)),
    Case("HalfDiagonal", [REGULAR[0]], expected=lambda x: np.ones((3, 3)) - np.eye(3) / 2),
]  # fmt: skip

DECOMPOSITIONS = [
    Case("MatrixInverse", [REGULAR], expected=np.linalg.inv, tolerance=1e-4, sweep=False),
    Case("MatrixInverse", [CREGULAR], {"adjoint": True}, expected=lambda x: np.linalg.inv(_adjoint(x)), tolerance=1e-4,
         variant="adjoint", sweep=False),
    Case("MatrixDeterminant", [REGULAR], expected=np.linalg.det, tolerance=1e-4, sweep=False),
    Case("MatrixDeterminant", [CREGULAR], expected=np.linalg.det, tolerance=1e-4, variant="complex", sweep=False),
    Case("LogMatrixDeterminant", [REGULAR], expected=lambda x: tuple(np.linalg.slogdet(x)), tolerance=1e-4, sweep=False),
    Case("MatrixSolve", [REGULAR, RHS], expected=np.linalg.solve, tolerance=1e-4, sweep=False),
    Case("MatrixSolve", [CREGULAR, _complex(3, 2)], {"adjoint": True}, tolerance=1e-4, variant="adjoint", sweep=False,
         expected=lambda m, r: np.linalg.solve(_adjoint(m), r)),
    *[Case("MatrixTriangularSolve", [REGULAR, RHS], {"lower": lower, "adjoint": adjoint}, tolerance=1e-4, sweep=False,
           variant=f"{lower:d}{adjoint:d}", expected=lambda m, r, lower=lower, adjoint=adjoint: np.stack([
               linalg.solve_triangular(each, b, lower=lower, trans=2 * adjoint) for each, b in zip(m, r, strict=True)]))
      for lower in (False, True) for adjoint in (False, True)],
    # The gradient is that for symmetric changes, which finite differences of single elements are not.
    Case("Cholesky", [DEFINITE], expected=np.linalg.cholesky, tolerance=1e-4, sweep=False, gradient=False),
    Case("Qr", [B34.transpose(0, 2, 1)], expected=lambda x: tuple(np.linalg.qr(x)), tolerance=1e-4, sweep=False),
    Case("Qr", [B34.transpose(0, 2, 1)], {"full_matrices": True}, tolerance=1e-4, sweep=False, gradient=False,
         expected=lambda x: tuple(np.linalg.qr(x, mode="complete")), variant="full"),
    Case("Svd", [B34], {"compute_uv": False}, tolerance=1e-4, sweep=False,
         expected=lambda x: (np.linalg.svd(x, compute_uv=False), np.zeros(0), np.zeros(0))),
    Case("SelfAdjointEigV2", [DEFINITE], {"compute_v": False}, tolerance=1e-4, sweep=False, gradient=False,
         expected=lambda x: (np.linalg.eigvalsh(x), np.zeros(0))),
    Case("MatrixExponential", [REGULAR], expected=linalg.expm, tolerance=1e-3, sweep=False),
    Case("MatrixSquareRoot", [DEFINITE], expected=lambda x: np.stack([linalg.sqrtm(each) for each in x]), tolerance=1e-4,
         sweep=False),
    Case("MatrixLogarithm", [CREGULAR], expected=lambda x: linalg.logm(x.astype(complex)), tolerance=1e-4, sweep=False),
    Case("MatrixSolveLs", [M43, _random(4, 2), np.float64(0)], tolerance=1e-4, sweep=False,
         expected=lambda m, r, w: np.linalg.lstsq(m, r)[0]),
]  # fmt: skip

ROWS = _random(5, 2)
IDS = np.array([0, 0, 2, 2, 2], np.int32)
MIXED_IDS = np.array([2, 0, -1, 2, 0], np.int32)
PICKED = np.array([4, 0, 1, 1], np.int32)
PICKED_IDS = np.array([0, 0, 1, 3], np.int32)


def _segments(data, ids, function, count, empty):
    return np.stack([function(data[ids == i], axis=0) if (ids == i).any() else np.full(data.shape[1:], empty)
                     for i in range(count)])  # fmt: skip


def _sorted_case(op, function, empty=0.0, **kw):
    return Case(op, [ROWS, IDS], expected=lambda d, i: _segments(d, i, function, 3, empty), **kw)


def _unsorted_cases(op, function, empty, **kw):
    return [
        Case(op, [ROWS, MIXED_IDS, 3], expected=lambda d, i, n: _segments(d, i, function, 3, empty), **kw),
        Case(op, [ROWS, np.array([[0, 1], [1, 1], [0, 0], [0, 2], [-1, 1]], np.int32), 3], variant="matrix", sweep=False,
             expected=lambda d, i, n: _segments(d.ravel(), i.ravel(), function, 3, empty)),
    ]  # fmt: skip


def _weighted(power):
    def reference(data, indices, ids, count=4):
        sums = _segments(data[indices], ids, np.sum, int(count), 0.0)
        sizes = np.maximum(np.bincount(ids, minlength=int(count)), 1)
        return sums / sizes[:, None] ** power

    return reference


def _spread(power):
    def reference(grad, indices, ids, rows):
        result = np.zeros((int(rows), grad.shape[1]))
        sizes = np.maximum(np.bincount(ids, minlength=len(grad)), 1)
        for index, segment in zip(indices, ids, strict=True):
            result[index] += grad[segment] / sizes[segment] ** power
        return result

    return reference


LIMITS = np.finfo(np.float32)
SEGMENTS = [
    _sorted_case("SegmentSum", np.sum),
    _sorted_case("SegmentMean", np.mean),
    _sorted_case("SegmentMax", np.max),
    _sorted_case("SegmentMin", np.min),
    _sorted_case("SegmentProd", np.prod, 1.0),
    Case("SegmentSizes", [ROWS, IDS], expected=lambda d, i: [[2], [1], [3]]),
    Case("SegmentOthers", [ROWS[:3], IDS[:3]], expected=lambda d, i: np.stack([d[1], d[0], np.ones(2)])),
    *_unsorted_cases("UnsortedSegmentSum", np.sum, 0.0, sweep=False),
    *_unsorted_cases("UnsortedSegmentMax", np.max, LIMITS.min, gradient=False),
    *_unsorted_cases("UnsortedSegmentMin", np.min, LIMITS.max, gradient=False),
    *_unsorted_cases("UnsortedSegmentProd", np.prod, 1.0),
    Case("WidenToRank", [IDS, ROWS], expected=lambda x, like: x[:, None], known_shape=False),
    *[Case(f"SparseSegment{name}", [ROWS, PICKED, PICKED_IDS], expected=_weighted(power))
      for name, power in (("Sum", 0), ("Mean", 1), ("SqrtN", 0.5))],
    *[Case(f"SparseSegment{name}WithNumSegments", [ROWS, PICKED, PICKED_IDS, 5], expected=_weighted(power))
      for name, power in (("Sum", 0), ("Mean", 1), ("SqrtN", 0.5))],
    *[Case(f"SparseSegment{name}Grad", [ROWS[:4], PICKED, PICKED_IDS, 5], expected=_spread(power))
      for name, power in (("Sum", 0), ("Mean", 1), ("SqrtN", 0.5))],
]  # fmt: skip

NUMBERS = np.array([3, 0, 5, 3, 3], np.int32)
VALUES = np.array([-1.0, 0.25, 0.5, 1.7, 9.0], np.float32)

NORMS_AND_COUNTS = [
    Case("L2Loss", [M34], expected=lambda x: np.sum(x * x) / 2),
    Case("Cross", [_random(2, 3), _random(2, 3)], expected=np.cross),
    Case("ClipByValue", [M34, np.float32(-0.5), np.float32(0.7)], expected=np.clip, sweep=False),
    Case("DenseBincount", [np.array([[1, 1, 0], [2, 9, 2]], np.int32), np.int32(3), np.zeros(0, np.float32)], sweep=False,
         expected=lambda *_: np.array([[1, 2, 0], [0, 0, 2]], np.float32)),
    Case("DenseBincount", [np.array([1, 1, 0], np.int32), np.int32(3), np.zeros(0, np.float32)], {"binary_output": True},
         sweep=False, variant="binary", expected=lambda *_: np.array([1, 1, 0], np.float32)),
    Case("Bincount", [NUMBERS, 6, np.zeros(0, np.int32)], expected=lambda a, n, w: np.bincount(a, minlength=6)),
    Case("Bincount", [NUMBERS, 4, VALUES], expected=lambda a, n, w: np.bincount(a, w)[:4], variant="weights"),
    Case("HistogramFixedWidth", [VALUES, np.array([0, 2], np.float32), 4], expected=lambda v, r, n: [2, 1, 0, 2]),
    Case("HistogramBins", [VALUES, np.array([0, 2], np.float32), 4], expected=lambda v, r, n: [0, 0, 1, 3, 3],
         sweep=False),
    Case("Bucketize", [VALUES], {"boundaries": [0.0, 0.5, 2.0]}, expected=lambda x: np.digitize(x, [0, 0.5, 2])),
]  # fmt: skip

CUBE = _complex(2, 3, 4)
FOURIER = [
    *[Case(op, [CUBE], expected=function, tolerance=1e-4) for op, function in (
        ("FFT", np.fft.fft), ("IFFT", np.fft.ifft), ("FFT2D", np.fft.fft2), ("IFFT2D", np.fft.ifft2),
        ("FFT3D", np.fft.fftn), ("IFFT3D", np.fft.ifftn))],
    *[Case("RFFT", [M34, [length]], expected=lambda x, n: np.fft.rfft(x, int(n[0])), tolerance=1e-4, sweep=False,
           variant=str(length)) for length in (3, 4)],
    *[Case("IRFFT", [C34, [length]], expected=lambda x, n: np.fft.irfft(x, int(n[0])), tolerance=1e-4, sweep=False,
           variant=str(length), gradient=False) for length in (5, 6)],
    Case("RFFT2D", [B34, [3, 4]], expected=np.fft.rfft2, tolerance=1e-4, sweep=False),
    Case("RFFT3D", [B34, [2, 3, 4]], expected=lambda x, n: np.fft.rfftn(x, n, (-3, -2, -1)), tolerance=1e-4, sweep=False),
    Case("IRFFT3D", [CUBE, [2, 3, 6]], expected=lambda x, n: np.fft.irfftn(x, n, (-3, -2, -1)), tolerance=1e-4,
         sweep=False, gradient=False),
    Case("IRFFT2D", [CUBE, [3, 6]], expected=np.fft.irfft2, tolerance=1e-4, sweep=False, gradient=False),
]  # fmt: skip

B345 = np.random.default_rng(3).standard_normal((2, 3, 4)).astype(np.float32)


def _triangles(x):
    found = [linalg.lu_factor(each) for each in x]
    orders = np.tile(np.arange(x.shape[-1]), (len(x), 1))
    for order, (_, pivots) in zip(orders, found, strict=True):
        for place, other in enumerate(pivots):
            order[[place, other]] = order[[other, place]]
    return np.stack([lu for lu, _ in found]), orders


BAND = np.array([[0, 1, 2], [3, 4, 5], [6, 7, 0]], np.float32)
BANDS = [
    Case("MatrixDiagV3", [BAND, [-1, 1], -1, -1, np.float32(0)], expected=lambda d, k, r, c, p: [
        [3, 1, 0], [6, 4, 2], [0, 7, 5]], constant_inputs=(4,)),
    Case("MatrixDiagV3", [BAND[:2], [0, 1], 3, 4, np.float32(9)], {"align": "LEFT_LEFT"}, variant="padded",
         expected=lambda d, k, r, c, p: [[3, 0, 9, 9], [9, 4, 1, 9], [9, 9, 5, 2]], constant_inputs=(4,)),
    Case("MatrixDiagPartV3", [B345, [2], np.float32(0)], expected=lambda x, k, p: np.diagonal(x, 2, 1, 2), variant="one",
         constant_inputs=(2,)),
    Case("MatrixDiagPartV3", [B345, [-1, 1], np.float32(7)], constant_inputs=(2,), expected=lambda x, k, p: np.stack([
        np.diagonal(x, 1, 1, 2), np.diagonal(x, 0, 1, 2), np.pad(np.diagonal(x, -1, 1, 2), [[0, 0], [0, 1]],
                                                                  constant_values=7)], 1)),
    Case("MatrixSetDiagV3", [B345[0], np.array([7, 8, 9], np.float32), [1]], expected=lambda x, d, k: np.where(
        np.eye(3, 4, 1) > 0, [[0, 7, 0, 0], [0, 0, 8, 0], [0, 0, 0, 9]], x)),
    Case("Lu", [REGULAR], expected=_triangles, tolerance=1e-5),
    Case("TridiagonalSolve", [np.array([[1, 2, 0], [3, 4, 5], [0, 1, 1]], np.float64), np.eye(3)], sweep=False,
         expected=lambda d, b: np.linalg.inv(np.diag(d[1]) + np.diag(d[0, :2], 1) + np.diag(d[2, 1:], -1)) @ b),
]  # fmt: skip

CASES = [*BANDS, *FOURIER, *PRODUCTS, *EQUATIONS, *DIAGONALS, *DECOMPOSITIONS, *SEGMENTS, *NORMS_AND_COUNTS]

OWN_OPS = {
    "Contract": "tensordot of tensors without a rank; a composition in TensorFlow",
    "EyeLike": "the gradient of Cholesky",
    "HalfDiagonal": "the gradient of Cholesky",
    "SegmentSizes": "the gradient of SegmentMean",
    "SegmentOthers": "the gradient of segment products, which no division by zero may spoil",
    "WidenToRank": "the gradient of unsorted segments, when no rank is known",
    "HistogramBins": "a composition in TensorFlow",
}
