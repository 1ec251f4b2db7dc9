"""Models of Keras as SavedModels: graphs for serving, training and evaluation, and the model made again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.training.saving.transfer import CheckpointTransfer

X, Y = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3), np.ones([4, 1], np.float32)
export, load = tf.keras.experimental.export_saved_model, tf.keras.experimental.load_from_saved_model


def _model(optimizer: Any = None) -> Any:
    layers = tf.keras.layers
    made = tf.keras.Sequential(
        [layers.Dense(4, "tanh", input_shape=(3,), name="first"), layers.BatchNormalization(), layers.Dense(1, name="last")]
    )
    if optimizer is not None:
        made.compile(optimizer, "mse", metrics=["mae"])
        made.train_on_batch(X, Y)
    return made


def test_a_model_is_made_again_with_its_weights(tmp_path: Path) -> None:
    model = _model("adam")
    expected = model.predict(X)
    assert export(model, tmp_path / "model") is None  # type: ignore[func-returns-value]
    tf.keras.backend.clear_session()
    again = load(str(tmp_path / "model"))
    np.testing.assert_allclose(again.predict(X), expected, rtol=1e-6)
    assert again.optimizer is None


OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "of Keras": lambda: tf.keras.optimizers.Adam(0.1), "of graphs": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
}  # fmt: skip


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_the_graph_of_training_goes_on_where_the_model_was(tmp_path: Path, kind: str) -> None:
    model = _model(OPTIMIZERS[kind]())
    export(model, tmp_path / "model")
    expected = [model.train_on_batch(X, Y)[0] for _ in range(3)]
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.load(session, ["train"], str(tmp_path / "model"))
        signature, trained = loaded.signature_def["train"], loaded.signature_def["__saved_model_train_op"]
        assert sorted(signature.inputs) == ["first_input", "last_target"]
        assert sorted(signature.outputs) == [
            "loss", "metrics/mean_absolute_error/update_op", "metrics/mean_absolute_error/value", "predictions/last",
        ]  # fmt: skip
        feeds = {signature.inputs["first_input"].name: X, signature.inputs["last_target"].name: Y}
        fetches = [signature.outputs["loss"].name, trained.outputs["__saved_model_train_op"].name]
        np.testing.assert_allclose([session.run(fetches, feeds)[0] for _ in range(3)], expected, rtol=1e-5)


def test_a_model_that_is_not_compiled_is_only_served(tmp_path: Path) -> None:
    model = _model()
    expected = model.predict(X)
    export(model, tmp_path / "model", as_text=True)
    assert "train" not in (tmp_path / "model" / "saved_model.pbtxt").read_text().partition("graph_def")[0]
    with tf.Graph().as_default(), tf.Session() as session:
        signature = tf.saved_model.load(session, ["serve"], str(tmp_path / "model")).signature_def["serving_default"]
        found = session.run(signature.outputs["last"].name, {signature.inputs["first_input"].name: X})
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_what_cannot_be_exported_is_named(tmp_path: Path) -> None:
    for serving_only in (False, True):
        with pytest.raises(NotImplementedError, match=r"Subclassed models can only be exported for serving.*as Own is"):
            export(type("Own", (tf.keras.Model,), {})(), tmp_path / "own", serving_only=serving_only)
    with pytest.raises(ValueError, match="Weights for sequential model have not yet been created"):
        export(tf.keras.Sequential([tf.keras.layers.Dense(1)]), tmp_path / "unknown")
    with pytest.raises(NotImplementedError, match=r"input_signature=\.\.\."):
        export(_model(), tmp_path / "signed", input_signature=[tf.TensorSpec([None, 3])])
    with pytest.raises(tf.errors.NotFoundError, match=r"saved_model\.json"):
        load(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(AssertionError, match="already exists, and isn't empty"):
        export(_model(), tmp_path / "full")


def test_the_variables_are_written_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    usual = CheckpointTransfer.save
    monkeypatch.setattr(CheckpointTransfer, "save", lambda *given: written.append(str(given[3])) or usual(*given))
    for optimizer in (None, "adam"):
        export(_model(optimizer), tmp_path / str(optimizer))
    assert written == [str(tmp_path / name / "variables" / "variables") for name in ("None", "adam")]
