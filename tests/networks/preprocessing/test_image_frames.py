"""Picture files that a table names come with the labels that Keras 2.2 in TensorFlow 1.15.5 gives them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import weft as tf

_NAMES = [f"p{number}.png" for number in range(6)]
_LETTERS = ["b", "a", "b", "c", "a", "c"]


@pytest.fixture
def folder(tmp_path: Path) -> str:
    for number, name in enumerate(_NAMES):
        Image.fromarray(np.full((4, 4, 3), 20 * number, np.uint8)).save(tmp_path / name)
    (tmp_path / "bad.txt").write_text("x", encoding="utf-8")
    return str(tmp_path)


def _flow(folder, table, split=0.0, **options):
    generator = tf.keras.preprocessing.image.ImageDataGenerator(validation_split=split)
    return generator.flow_from_dataframe(table, folder, target_size=(2, 2), batch_size=4, shuffle=False, **options)


def _frame(column="class", values=_LETTERS):
    return {"filename": _NAMES, column: values}


@pytest.mark.parametrize(
    ("values", "options", "expected"),
    [
        (_LETTERS, {}, [[0, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]),
        (_LETTERS, {"classes": ["c", "a"]}, [[1, 0], [0, 1], [1, 0], [0, 1]]),
        ([["a", "b"], ["b"], "c", ("a",), ["c", "a"], "b"], {}, [[1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]]),
        (_LETTERS, {"class_mode": "sparse"}, [1, 0, 1, 2]),
        (["x", "y"] * 3, {"class_mode": "binary"}, [0, 1, 0, 1]),
        (_LETTERS, {"subset": "training", "split": 0.34}, [[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 0, 1]]),
        (_LETTERS, {"subset": "validation", "split": 0.34}, [[0, 1, 0], [1, 0, 0]]),
    ],
)
def test_labels_are_those_of_the_mode(folder, values, options, expected) -> None:
    x, y = next(_flow(folder, _frame(values=values), **options))
    assert (x.dtype, x.shape[1:], y.dtype) == (np.float32, (2, 2, 3), np.float32)
    np.testing.assert_array_equal(y, expected)


def test_raw_values_several_outputs_and_weights(folder) -> None:
    table = {**_frame("y", [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), "z": [1, 2, 3, 4, 5, 6], "class": _LETTERS}
    np.testing.assert_array_equal(next(_flow(folder, table, y_col="y", class_mode="raw"))[1], [1, 2, 3, 4])
    both = next(_flow(folder, table, y_col=["y", "z"], class_mode="raw"))[1]
    np.testing.assert_array_equal(both, [[1, 1], [2, 2], [3, 3], [4, 4]])
    first, second = next(_flow(folder, table, y_col=["y", "z"], class_mode="multi_output"))[1]
    assert (first.tolist(), second.tolist()) == ([1, 2, 3, 4], [1, 2, 3, 4])
    x, _, weights = next(_flow(folder, table, weight_col="z"))
    np.testing.assert_array_equal(weights, [1, 2, 3, 4])
    np.testing.assert_array_equal(x[:, 0, 0, 0], [0, 20, 40, 60])
    assert isinstance(next(_flow(folder, table, class_mode=None)), np.ndarray)
    same, copy = next(_flow(folder, table, class_mode="input"))
    np.testing.assert_array_equal(same, copy)


def test_rows_without_a_picture_are_left_out_with_a_warning(folder) -> None:
    table = {"filename": [*_NAMES[:4], "no.png", "bad.txt"], "class": _LETTERS}
    with pytest.warns(UserWarning, match=r"Found 2 invalid image filename\(s\) in x_col=\"filename\""):
        flow = _flow(folder, table)
    assert (flow.samples, len(flow), flow.class_indices) == (4, 1, {"a": 0, "b": 1, "c": 2})
    assert _flow(folder, table, validate_filenames=False).samples == 6


@pytest.mark.parametrize(
    ("values", "options", "kind", "told"),
    [
        (_LETTERS, {"class_mode": "binary"}, ValueError, "there must be 2 classes. Found 3 classes"),
        (_LETTERS, {"class_mode": "foo"}, ValueError, "Invalid class_mode: foo"),
        ([1, 2, 1, 2, 1, 2], {}, TypeError, 'y_col="class" column values must be type string, list or tuple'),
        ([1, 2, 1, 2, 1, 2], {"class_mode": "sparse"}, TypeError, "column values must be strings"),
        (_LETTERS, {"class_mode": "multi_output"}, TypeError, "y_col must be a list. Received str"),
        (_LETTERS, {"weight_col": "class"}, TypeError, "Column weight_col=class must be numeric"),
    ],
)
def test_columns_of_other_kinds_are_refused(folder, values, options, kind, told) -> None:
    with pytest.raises(kind, match=told):
        _flow(folder, _frame(values=values), **options)
