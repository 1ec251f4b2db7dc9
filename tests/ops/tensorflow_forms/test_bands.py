"""Bands of diagonals are written in the ops of TensorFlow 1.15, wherever their short diagonals stand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.ops.tensorflow_forms.written import assert_the_same_in_first_ops

_MATRICES = np.arange(1.0, 41.0, dtype=np.float32).reshape(2, 4, 5)
_PACKED = np.arange(1, 25, dtype=np.int32).reshape(2, 3, 4)
_ALIGNMENTS = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")


def _given(value: Any, shape: Any = None) -> Any:
    """The value, which constant folding does not see."""
    return tf.placeholder_with_default(value, value.shape if shape is None else shape)


@pytest.mark.parametrize("align", _ALIGNMENTS)
def test_diagonals_are_taken(align: str) -> None:
    assert_the_same_in_first_ops(tf.linalg.diag_part(_given(_MATRICES), k=(-2, 2), align=align, padding_value=7.0))


@pytest.mark.parametrize("align", _ALIGNMENTS)
def test_matrices_are_made(align: str) -> None:
    assert_the_same_in_first_ops(tf.linalg.diag(_given(_PACKED), k=(-1, 1), align=align, padding_value=9))


@pytest.mark.parametrize("align", _ALIGNMENTS)
def test_diagonals_are_set(align: str) -> None:
    diagonals = np.arange(1, 41, dtype=np.float32).reshape(2, 4, 5)[..., :4]
    assert_the_same_in_first_ops(tf.linalg.set_diag(_given(_MATRICES), _given(diagonals), k=(-1, 2), align=align))


def test_one_diagonal_needs_no_sizes() -> None:
    assert_the_same_in_first_ops(tf.linalg.diag(_given(_PACKED, [None, None, None]), k=2))


def test_what_only_a_run_tells_is_written_as_it_is() -> None:
    tf.linalg.diag_part(_given(_MATRICES, [None, None, None]), k=(-1, 1))
    assert "MatrixDiagPartV3" in {node.op for node in tf.get_default_graph().as_graph_def().node}
