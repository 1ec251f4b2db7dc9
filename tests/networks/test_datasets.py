"""Data sets come from the cache, and say what to do where they cannot be fetched."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from weft.networks.datasets.files import get_file


def test_mnist_is_read_from_the_cache(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    (tmp_path / "datasets").mkdir()
    digits, labels = np.zeros((3, 28, 28), np.uint8), np.array([1, 2, 3], np.uint8)
    arrays = {"x_train": digits, "y_train": labels, "x_test": digits[:1], "y_test": labels[:1]}
    np.savez(tmp_path / "datasets" / "mnist.npz", **arrays)
    (x, y), (x_test, y_test) = tf.keras.datasets.mnist.load_data()
    assert x.shape == (3, 28, 28)
    assert y.tolist() == [1, 2, 3]
    assert (len(x_test), len(y_test)) == (1, 1)


def test_a_file_that_cannot_be_fetched_is_an_error_that_says_where_to_put_it(tmp_path) -> None:
    origin = (tmp_path / "absent").as_uri()
    with pytest.raises(tf.errors.UnavailableError, match=r"Without a network, put the file at .*digits\.npz"):
        get_file("digits.npz", origin, cache_dir=str(tmp_path))
    assert not list((tmp_path / "datasets").iterdir())


def test_a_file_with_another_hash_is_refused(tmp_path) -> None:
    source = tmp_path / "source"
    source.write_text("content")
    with pytest.raises(ValueError, match="does not have the hash"):
        get_file("copy", source.as_uri(), file_hash="0" * 64, cache_dir=str(tmp_path))
