"""Models and weights in files: those of TensorFlow 1.15 load here, and what is saved comes back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import weft as tf

keras = tf.keras
layers = keras.layers
_FILES = Path(__file__).parent / "files"
# What TensorFlow 1.15 predicts with the model in `files`, and its loss and accuracy after another epoch.
_WORDS, _KINDS = np.array([[1, 2, 3, 0], [4, 5, 0, 0], [2, 2, 1, 5]]), np.array([0, 1, 1])
_PREDICTED = [[0.384093, 0.615907], [0.363285, 0.636715], [0.374252, 0.625748]]
_EVALUATED = [0.616383, 0.666667]


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield
    keras.backend.clear_session()


def _reader():
    words = keras.Input((4,), name="words")
    read = layers.Bidirectional(layers.LSTM(2))(layers.Embedding(6, 3, mask_zero=True)(words))
    return keras.Model(words, layers.Dense(2, activation="softmax", name="kinds")(read), name="reader")


def _zeroed(model):
    model.set_weights([np.zeros_like(each) for each in model.get_weights()])
    return model


def test_a_model_of_tensorflow_loads_with_its_optimizers_state() -> None:
    pytest.importorskip("h5py", reason="models in HDF5 need the extra `hdf5`")
    model = keras.models.load_model(str(_FILES / "reader_of_1_15.h5"))
    np.testing.assert_allclose(model.predict(_WORDS), _PREDICTED, atol=1e-5)
    model.fit(_WORDS, _KINDS, verbose=0, shuffle=False)
    np.testing.assert_allclose(model.evaluate(_WORDS, _KINDS, verbose=0), _EVALUATED, atol=1e-5)


def test_weights_of_tensorflow_load_by_order_and_by_name() -> None:
    pytest.importorskip("h5py", reason="weights in HDF5 need the extra `hdf5`")
    model = _reader()
    model.load_weights(str(_FILES / "reader_of_1_15.h5"))
    np.testing.assert_allclose(model.predict(_WORDS), _PREDICTED, atol=1e-5)
    other = keras.Sequential([layers.Dense(2, input_shape=(4,), name="kinds"), layers.Dense(3, name="own")])
    own = other.get_layer("own").get_weights()[0]
    other.load_weights(str(_FILES / "reader_of_1_15.h5"), by_name=True)
    np.testing.assert_array_equal(other.get_layer("kinds").get_weights()[0], model.get_layer("kinds").get_weights()[0])
    np.testing.assert_array_equal(other.get_layer("own").get_weights()[0], own)
    with pytest.raises(ValueError, match="containing 3 layers into a model with 2 layers"):
        other.load_weights(str(_FILES / "reader_of_1_15.h5"))


def test_a_checkpoint_of_tensorflow_loads() -> None:
    model = _zeroed(_reader())
    model.load_weights(str(_FILES / "reader_of_1_15.ckpt")).assert_existing_objects_matched()
    np.testing.assert_allclose(model.predict(_WORDS), _PREDICTED, atol=1e-5)
    with pytest.raises(NotImplementedError, match="by_name=True"):
        model.load_weights(str(_FILES / "reader_of_1_15.ckpt"), by_name=True)


def _branching():
    inner = keras.Sequential([layers.Dense(3, input_shape=(2,)), layers.BatchNormalization()], name="inner")
    left, right = keras.Input((2,)), keras.Input((2,))
    both = layers.add([inner(left), inner(right)])
    return keras.Model([left, right], [layers.Dense(1)(both), layers.Activation("tanh", name="second")(both)])


def test_a_saved_model_comes_back_compiled_and_trains_on(tmp_path) -> None:
    pytest.importorskip("h5py", reason="models in HDF5 need the extra `hdf5`")
    model = _branching()
    model.compile(keras.optimizers.SGD(0.1, momentum=0.9), ["mse", "mae"], loss_weights=[1.0, 0.5])
    x, y = [np.ones((4, 2)), np.eye(4, 2)], [np.ones((4, 1)), np.ones((4, 3))]
    model.fit(x, y, verbose=0, shuffle=False)
    path = str(tmp_path / "model.h5")
    model.save(path)
    loaded = keras.models.load_model(path)
    for before, after in zip(model.predict(x), loaded.predict(x), strict=True):
        np.testing.assert_array_equal(before, after)
    again = [each.train_on_batch(x, y)[0] for each in (model, loaded)]
    np.testing.assert_allclose(*again, rtol=1e-6)
    np.testing.assert_allclose(model.evaluate(x, y, verbose=0), loaded.evaluate(x, y, verbose=0), rtol=1e-5)


def test_custom_classes_and_losses_are_given_by_name(tmp_path) -> None:
    pytest.importorskip("h5py", reason="models in HDF5 need the extra `hdf5`")

    class Scaled(layers.Layer):
        def __init__(self, factor=1.0, **kwargs) -> None:
            super().__init__(**kwargs)
            self.factor = factor

        def call(self, inputs):
            return inputs * self.factor

        def get_config(self):
            return {**super().get_config(), "factor": self.factor}

    def doubled(y_true, y_pred):
        return 2.0 * keras.backend.mean(keras.backend.abs(y_true - y_pred))

    model = keras.Sequential([layers.Dense(1, input_shape=(2,)), Scaled(3.0)])
    model.compile("sgd", doubled, metrics=[doubled])
    path = str(tmp_path / "model.h5")
    model.save(path)
    with pytest.raises(ValueError, match="Unknown layer: Scaled"):
        keras.models.load_model(path)
    loaded = keras.models.load_model(path, custom_objects={"Scaled": Scaled, "doubled": doubled})
    x = np.ones((2, 2))
    np.testing.assert_array_equal(loaded.predict(x), model.predict(x))
    np.testing.assert_allclose(loaded.evaluate(x, x[:, :1], verbose=0), model.evaluate(x, x[:, :1], verbose=0))


def test_weights_that_are_read_before_a_model_is_called_are_restored_by_its_call(tmp_path) -> None:
    class Own(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.first = layers.Dense(2)

        def call(self, inputs):
            return self.first(inputs)

    x = np.ones((1, 3), np.float32)
    saved, loaded = Own(), Own()
    expected = saved.predict(x)
    saved.save_weights(str(tmp_path / "own"))
    loaded.load_weights(str(tmp_path / "own"))
    np.testing.assert_array_equal(loaded.predict(x), expected)


def test_files_that_hold_no_model_are_told_of(tmp_path) -> None:
    with pytest.raises(OSError, match="does not exist"):
        keras.models.load_model(str(tmp_path / "none.h5"))
    (tmp_path / "text.h5").write_text("no model")
    with pytest.raises(OSError, match="is no HDF5 file"):
        keras.models.load_model(str(tmp_path / "text.h5"))
    with pytest.raises(ValueError, match="Unknown format"):
        _reader().save_weights(str(tmp_path / "w"), save_format="zip")


def test_what_the_refusal_of_a_saved_model_recommends_works(tmp_path) -> None:
    model = keras.Sequential([layers.Dense(2, input_shape=(3,))])
    inputs, path = np.ones((1, 3), np.float32), str(tmp_path / "exported")
    expected = model.predict(inputs)
    with pytest.raises(NotImplementedError, match=r"tf\.keras\.experimental\.export_saved_model\(model, path\)"):
        keras.models.save_model(model, path, save_format="tf")
    keras.experimental.export_saved_model(model, path)
    with pytest.raises(OSError, match=r"tf\.saved_model\.load\(session, \['serve'\], path\).*load_from_saved_model\(path\)"):
        keras.models.load_model(path)
    np.testing.assert_allclose(keras.experimental.load_from_saved_model(path).predict(inputs), expected, rtol=1e-6)
    with tf.Session(graph=tf.Graph()) as session:
        signature = tf.saved_model.load(session, ["serve"], path).signature_def["serving_default"]
        found = session.run(
            signature.outputs[model.output_names[0]].name, {signature.inputs[model.input_names[0]].name: inputs}
        )
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.timeout(60)
def test_a_heap_that_hdf5_would_read_for_ever_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "model.h5"
    tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))]).save(str(path))
    data = bytearray(path.read_bytes())
    header = data.index(b"GCOL") + 16
    # The first text becomes free space of no size.
    data[header : header + 16] = bytes(16)
    path.write_bytes(data)
    with pytest.raises(tf.errors.DataLossError, match=f"Cannot read {path}"):
        tf.keras.models.load_model(str(path))


def test_what_is_said_of_an_hdf5_file_names_it(tmp_path: Path) -> None:
    path = tmp_path / "weights.h5"
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    model.save_weights(str(path))
    other = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,)), tf.keras.layers.Dense(1)])
    with pytest.raises(ValueError, match="containing 1 layers") as caught:
        other.load_weights(str(path))
    assert str(path) in caught.value.__notes__[0]
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(OSError, match=f"Cannot read {path}"):
        model.load_weights(str(path))
