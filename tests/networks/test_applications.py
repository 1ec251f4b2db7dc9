"""Ready-made networks take weights from a file, and say where Keras's own have to be."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import weft as tf

applications = tf.keras.applications


@pytest.fixture(autouse=True)
def _graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    with tf.Graph().as_default():
        yield
    tf.keras.backend.clear_session()


def _small(weights: str | None):
    return applications.MobileNet((32, 32, 3), alpha=0.25, include_top=False, weights=weights, pooling="avg")


def test_weights_come_from_a_file(tmp_path: Path) -> None:
    first = _small(None)
    path = str(tmp_path / "weights.h5")
    first.save_weights(path)
    second = _small(path)
    np.testing.assert_array_equal(second.get_weights()[-1], first.get_weights()[-1])
    np.testing.assert_array_equal(second.get_weights()[0], first.get_weights()[0])


def test_imagenets_weights_are_wanted_in_the_cache(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"weft downloads no weights, and .*mobilenet_2_5_224_tf_no_top.h5 is not there"):
        _small("imagenet")


def test_classes_have_the_names_of_the_file_in_the_cache(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="weft downloads no names of classes"):
        applications.vgg16.decode_predictions(np.zeros((1, 1000)))
    (tmp_path / "models").mkdir()
    names = {str(place): [f"n{place}", f"name {place}"] for place in range(1000)}
    (tmp_path / "models" / "imagenet_class_index.json").write_text(json.dumps(names), encoding="utf-8")
    found = applications.vgg16.decode_predictions(np.eye(1000)[7:8], top=1)
    assert found == [[("n7", "name 7", 1.0)]]
