"""Cases of sparse tensors."""

from __future__ import annotations

import numpy as np

from weft.framework.types import dtypes
from weft.framework.types.tensor_shape import TensorShape
from weft.framework.types.tensor_util import make_tensor_proto
from weft.testing.op_checks import Case

INDICES = np.array([[0, 1], [2, 0], [2, 2]])
VALUES = np.array([1.5, 2.5, -3.5], np.float32)
SHAPE = np.array([3, 4])
OTHER = np.array([[0, 1], [1, 3]])
OTHER_VALUES = np.array([0.5, 4.0], np.float32)
DENSE = np.zeros((3, 4), np.float32)
DENSE[tuple(INDICES.T)] = VALUES
MATRIX = (np.arange(12, dtype=np.float32).reshape(4, 3) / 5 - 1).astype(np.float32)
ROW = np.array([2.0, 0.5, -1.0, 4.0], np.float32)
MIXED = INDICES[::-1].copy()


def _softmax(i, v, s):
    pair = np.exp(v[1:] - v[1:].max())
    return np.concatenate([[1.0], pair / pair.sum()])


def _serial(part):
    """A tensor whose numbers lie as in memory, as TensorFlow serializes those of sparse tensors."""
    proto = make_tensor_proto(np.concatenate([part.ravel(), part.ravel()]))
    proto.tensor_shape.CopyFrom(TensorShape(part.shape).as_proto())
    proto.tensor_content = part.tobytes()
    for field in ("int64_val", "float_val"):
        proto.ClearField(field)
    return proto.SerializeToString()


def _rows():
    rows = np.empty((2, 3), object)
    for number in range(2):
        parts = [np.array([[number]]), VALUES[number : number + 1], np.array([3])]
        rows[number] = [_serial(part) for part in parts]
    return rows


CASES = [
    Case("SparseToDense", [INDICES, SHAPE, VALUES, np.float32(9)], sweep=False,
         expected=lambda i, s, v, d: np.where(DENSE != 0, DENSE, 9)),
    Case("SparseTensorDenseMatMul", [INDICES, VALUES, SHAPE, MATRIX], expected=lambda i, v, s, b: DENSE @ b),
    Case("SparseTensorDenseMatMul", [INDICES, VALUES, SHAPE, MATRIX[:3]], {"adjoint_a": True},
         expected=lambda i, v, s, b: DENSE.T @ b, variant="adjoint"),
    Case("WALSComputePartialLhsAndRhs", [np.eye(3, 2, dtype=np.float32), np.float32([1, 2, 3]), np.float32(0.5),
                                         np.float32([1, 2]), np.array([[1, 0], [0, 1]]), np.float32([3, 4]), np.float32([]),
                                         np.int64(2), np.bool_(False)],
         expected=lambda *given: ([[[0, 0], [0, 2]], [[2, 0], [0, 0]]], [[0, 10], [7.5, 0]])),
    Case("SparseDenseCwiseMul", [INDICES, VALUES, SHAPE, ROW], expected=lambda i, v, s, d: v * d[i[:, 1]], sweep=False),
    Case("SparseDenseCwiseDiv", [INDICES, VALUES, SHAPE, ROW], expected=lambda i, v, s, d: v / d[i[:, 1]], sweep=False),
    Case("SparseDenseCwiseAdd", [INDICES, VALUES, SHAPE, ROW], expected=lambda i, v, s, d: v + d[i[:, 1]], sweep=False),
    Case("SparseTensorDenseAdd", [INDICES, VALUES, SHAPE, DENSE], expected=lambda i, v, s, b: DENSE * 2),
    Case("SparseAdd", [INDICES, VALUES, SHAPE, OTHER, OTHER_VALUES, SHAPE, np.float32(0)],
         expected=lambda *given: ([[0, 1], [1, 3], [2, 0], [2, 2]], [2.0, 4.0, 2.5, -3.5], [3, 4])),
    Case("SparseAddGrad", [np.arange(4, dtype=np.float32), INDICES, OTHER, np.array([[0, 1], [1, 3], [2, 0], [2, 2]])],
         expected=lambda *given: ([0, 2, 3], [0, 1])),
    Case("SparseSparseMaximum", [INDICES, VALUES, SHAPE, OTHER, OTHER_VALUES, SHAPE],
         expected=lambda *given: ([[0, 1], [1, 3], [2, 0], [2, 2]], [1.5, 4.0, 2.5, 0.0])),
    Case("SparseSparseMinimum", [INDICES, VALUES, SHAPE, OTHER, OTHER_VALUES, SHAPE],
         expected=lambda *given: ([[0, 1], [1, 3], [2, 0], [2, 2]], [0.5, 0.0, 0.0, -3.5])),
    Case("SparseReduceSum", [INDICES, VALUES, SHAPE, np.array([1], np.int32)], expected=lambda *given: DENSE.sum(1)),
    Case("SparseReduceSum", [INDICES, VALUES, SHAPE, np.array([0, 1], np.int32)], {"keep_dims": True}, variant="all",
         expected=lambda *given: DENSE.sum(keepdims=True)),
    Case("SparseReduceMax", [INDICES, VALUES, SHAPE, np.array([1], np.int32)],
         expected=lambda *given: np.array([1.5, 0.0, 2.5]),
         sweep=False),
    Case("SparseReduceSumGrad", [INDICES, SHAPE, np.array([1], np.int32), np.arange(3, dtype=np.float32)],
         expected=lambda i, s, a, g: np.array([0.0, 2.0, 2.0])),
    Case("SparseReduceSumSparse", [INDICES, VALUES, SHAPE, np.array([1], np.int32)],
         expected=lambda *given: ([[0], [2]], [1.5, -1.0], [3])),
    Case("SparseSoftmax", [INDICES, VALUES, SHAPE], expected=_softmax),
    Case("SparseSoftmaxGrad", [INDICES, SHAPE, np.array([1.0, 0.25, 0.75], np.float32), np.ones(3, np.float32)],
         expected=lambda *given: np.zeros(3)),
    Case("SparseReorder", [MIXED, VALUES[::-1].copy(), SHAPE], expected=lambda *given: (INDICES, VALUES)),
    Case("SparseReorderGrad", [MIXED, SHAPE, VALUES], expected=lambda *given: VALUES[::-1]),
    Case("SparseReshape", [INDICES, SHAPE, np.array([2, -1])],
         expected=lambda *given: ([[0, 1], [1, 2], [1, 4]], [2, 6])),
    Case("SparseConcat", [[INDICES, OTHER], [VALUES, OTHER_VALUES], [SHAPE, SHAPE]], {"concat_dim": 1},
         expected=lambda *given: ([[0, 1], [0, 5], [1, 7], [2, 0], [2, 2]], [1.5, 0.5, 4.0, 2.5, -3.5], [3, 8])),
    Case("SparseConcatGrad", [[INDICES, OTHER], [SHAPE, SHAPE], np.arange(5, dtype=np.float32)], {"concat_dim": 1},
         expected=lambda *given: ([0, 3, 4], [1, 2])),
    Case("SparseWidenShapes", [[SHAPE, np.array([1, 9])]], {"axis": 1}, expected=lambda *given: ([3, 4], [3, 9])),
    Case("SparseSplit", [np.array(0), INDICES, VALUES, SHAPE], {"num_split": 2},
         expected=lambda *given: ([[0, 1]], [[0, 0], [0, 2]], [1.5], [2.5, -3.5], [2, 4], [1, 4])),
    Case("SparseSlice", [INDICES, VALUES, SHAPE, np.array([1, 0]), np.array([2, 2])],
         expected=lambda *given: ([[1, 0]], [2.5], [2, 2])),
    Case("SparseSliceGrad", [np.array([7.0], np.float32), INDICES, np.array([1, 0]), np.array([[1, 0]])],
         expected=lambda *given: np.array([0.0, 7.0, 0.0])),
    Case("SparseFillEmptyRows", [INDICES, VALUES, SHAPE, np.float32(9)],
         expected=lambda *given: ([[0, 1], [1, 0], [2, 0], [2, 2]],
                                 [1.5, 9.0, 2.5, -3.5], [False, True, False], [0, 2, 3])),
    Case("SparseFillEmptyRowsGrad", [np.array([0, 2, 3]), np.arange(4, dtype=np.float32)],
         expected=lambda *given: ([0, 2, 3], 1.0)),
    Case("SparseTightShape", [INDICES, SHAPE], expected=lambda *given: np.array([3, 3])),
    Case("SparseCheckShape", [SHAPE, np.array([3, 5])], expected=lambda *given: np.array([3, 5])),
    Case("DeserializeManySparse", [_rows()], {"dtype": dtypes.float32},
         expected=lambda *given: ([[0, 0], [1, 1]], [1.5, 2.5], [2, 3])),
    Case("SerializeManySparse", [np.array([[0, 0], [1, 1]]), VALUES[:2], np.array([2, 3])],
         expected=lambda *given: _rows()),
    Case("SerializeSparse", [np.array([[1]]), VALUES[1:2], np.array([3])], expected=lambda *given: _rows()[1]),
]  # fmt: skip
