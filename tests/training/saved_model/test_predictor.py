"""Predictors run signatures of SavedModels, by names of their own or those of tensors, and refuse others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import weft as tf


def _saved(tmp_path: Path) -> str:
    folder = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None], name="x")
        scale = tf.get_variable("scale", initializer=3.0)
        session.run(scale.initializer)
        tf.saved_model.simple_save(session, folder, {"given": x}, {"made": tf.multiply(x, scale, name="y")})
    return folder


def test_a_predictor_runs_the_signature_in_a_graph_of_its_own(tmp_path: Path) -> None:
    predict = tf.contrib.predictor.from_saved_model(_saved(tmp_path))
    assert predict.graph is not tf.get_default_graph()
    with predict.session:
        assert {key: value.name for key, value in predict.feed_tensors.items()} == {"given": "x:0"}
        assert repr(predict).startswith("SavedModelPredictor with feed tensors {'given'")
        made = predict({"given": np.array([1.0, 2.0], np.float32)})
        assert list(made) == ["made"]
        np.testing.assert_array_equal(made["made"], [3.0, 6.0])
        with pytest.raises(ValueError, match=r"Got unexpected keys in input_dict: \{'other'\}\nexpected: \{'given'\}"):
            predict({"other": [1.0]})


def test_names_of_tensors_take_the_place_of_a_signature(tmp_path: Path) -> None:
    graph = tf.Graph()
    predict = tf.contrib.predictor.from_saved_model(
        _saved(tmp_path), input_names={"a": "x:0"}, output_names={"b": "y:0"}, graph=graph
    )
    with predict.session:
        assert predict.graph is graph
        np.testing.assert_array_equal(predict({"a": [2.0]})["b"], [6.0])


def test_a_predictor_is_of_one_signature_that_exists(tmp_path: Path) -> None:
    folder = _saved(tmp_path)
    make = tf.contrib.predictor.from_saved_model
    with pytest.raises(ValueError, match="must both be specified or both be unspecified"):
        make(folder, input_names={"a": "x:0"})
    with pytest.raises(ValueError, match="at most one of signature_def_key OR signature_def OR"):
        make(folder, "serving_default", input_names={"a": "x:0"}, output_names={"b": "y:0"})
    with pytest.raises(ValueError, match=r'Got signature_def_key "none". Available signatures are \[\'serving_default\'\]'):
        make(folder, "none")
