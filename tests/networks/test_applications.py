"""Ready-made networks take weights from a file, and say where Keras's own have to be."""

from __future__ import annotations

import hashlib
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


@pytest.mark.slow
def test_nasnets_layers_and_weights_have_tensorflows_names_and_order() -> None:
    model = applications.NASNetMobile((32, 32, 3), weights=None, include_top=False, pooling="avg")
    names = "\n".join([each.name for each in (*model.layers, *model.weights)])
    assert (model.count_params(), len(model.layers), len(model.weights)) == (4269716, 770, 1124)
    assert hashlib.sha256(names.encode()).hexdigest().startswith("02af0e7e100536da")


def test_images_of_unknown_size_are_padded_as_even_ones() -> None:
    model = applications.MobileNetV2(weights=None, include_top=False, alpha=0.35)
    pads = [each.padding for each in model.layers if type(each).__name__ == "ZeroPadding2D"]
    assert [tuple(map(tuple, each)) for each in pads] == [((0, 1), (0, 1))] * 5
