"""Callbacks and checkpoints of models: what they stop, set, save and bring back."""

from __future__ import annotations

import http.server
import json
import re
import threading
import urllib.parse

import numpy as np
import pytest

import weft as tf

keras = tf.keras
X, Y = np.random.RandomState(0).rand(8, 3), np.random.RandomState(1).rand(8, 1)


@pytest.fixture
def model():
    with tf.Graph().as_default():
        made = keras.Sequential([keras.layers.Dense(1, input_shape=(3,))])
        made.compile(keras.optimizers.SGD(0.1), "mse")
        yield made
    keras.backend.clear_session()


def test_a_learning_rate_follows_its_schedule_and_a_file_has_each_epoch(model, tmp_path) -> None:
    log = tmp_path / "log.csv"
    calls = [keras.callbacks.LearningRateScheduler(lambda epoch: 0.1 / (epoch + 1)), keras.callbacks.CSVLogger(str(log))]
    history = model.fit(X, Y, epochs=2, verbose=0, callbacks=calls).history
    np.testing.assert_allclose(history["lr"], [0.1, 0.05], rtol=1e-6)
    assert [line.split(",")[0] for line in log.read_text().splitlines()] == ["epoch", "0", "1"]


def test_training_stops_when_nothing_gets_better_and_the_best_weights_come_back(model) -> None:
    stop = keras.callbacks.EarlyStopping(monitor="loss", min_delta=100.0, patience=2, restore_best_weights=True)
    seen = []
    keep = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: seen.append(model.get_weights()[0]))
    history = model.fit(X, Y, epochs=9, verbose=0, callbacks=[keep, stop])
    assert history.epoch == [0, 1, 2]
    np.testing.assert_array_equal(model.get_weights()[0], seen[0])


def test_weights_come_back_from_the_checkpoint_of_the_last_epoch(model, tmp_path) -> None:
    save = keras.callbacks.ModelCheckpoint(str(tmp_path / "weights-{epoch}"), save_weights_only=True)
    model.fit(X, Y, epochs=2, verbose=0, callbacks=[save])
    saved = model.get_weights()
    model.set_weights([each * 0 for each in saved])
    model.load_weights(str(tmp_path / "weights-2"))
    for before, after in zip(saved, model.get_weights(), strict=True):
        np.testing.assert_array_equal(before, after)
    with pytest.raises(ValueError, match="looks like an HDF5 file"):
        model.save_weights(str(tmp_path / "weights.h5"), save_format="tf")


def test_event_files_have_the_values_of_each_epoch(model, tmp_path) -> None:
    model.fit(X, Y, epochs=2, verbose=0, callbacks=[keras.callbacks.TensorBoard(str(tmp_path))])
    (path,) = tmp_path.iterdir()
    found = [(value.tag, event.step) for event in tf.train.summary_iterator(str(path)) for value in event.summary.value]
    assert found == [("epoch_loss", 0), ("epoch_loss", 1)]


def test_a_server_gets_the_values_of_each_epoch_and_its_faults_do_not_end_training(model, caplog) -> None:
    got: list[dict[str, float]] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            got.append(json.loads(form["data"][0]))
            if len(got) == 1:
                self.send_response(200)
                self.end_headers()
            else:
                self.wfile.write(b"no HTTP\r\n\r\n")

        def log_message(self, *_: object) -> None:
            pass

    with http.server.HTTPServer(("localhost", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monitor = keras.callbacks.RemoteMonitor(f"http://localhost:{server.server_port}")
        losses = model.fit(X, Y, epochs=2, verbose=0, callbacks=[monitor]).history["loss"]
        server.shutdown()
        thread.join()
    assert [each["epoch"] for each in got] == [0, 1]
    np.testing.assert_allclose([each["loss"] for each in got], losses)
    assert "could not reach RemoteMonitor root server" in caplog.text


def test_the_base_logger_averages_batches_by_their_sizes() -> None:
    logger = keras.callbacks.BaseLogger(stateful_metrics=["accuracy"])
    logger.set_params({"metrics": ["loss", "accuracy"]})
    logger.on_epoch_begin(0)
    logger.on_batch_end(0, {"size": 3, "loss": 1.0, "accuracy": 0.25})
    logger.on_batch_end(1, {"size": 1, "loss": 5.0, "accuracy": 0.5})
    logs: dict[str, float] = {}
    logger.on_epoch_end(0, logs)
    assert logs == {"loss": 2.0, "accuracy": 0.5}


def _events(folder) -> list[tuple[str, int]]:
    (path,) = folder.glob("events*")
    return [(value.tag, event.step) for event in tf.train.summary_iterator(str(path)) for value in event.summary.value]


def test_callbacks_get_the_model_before_any_gets_the_parameters(model) -> None:
    seen = []

    class Told(keras.callbacks.Callback):
        def set_model(self, model) -> None:
            seen.append("model")

        def set_params(self, params) -> None:
            seen.append("params")

    model.fit(X, Y, verbose=0, callbacks=[Told(), Told()])
    assert seen == ["model", "model", "params", "params"]


class Heard(keras.callbacks.Callback):
    """Writes down what it is told before, between and after the batches."""

    def __init__(self) -> None:
        super().__init__()
        self.logs: list[object] = []
        self.sizes: list[int] = []

    def _note(self, logs) -> None:
        self.logs.append(logs)

    on_train_begin = on_train_end = on_test_begin = on_test_end = on_predict_begin = on_predict_end = _note

    def on_test_batch_end(self, batch: int, logs) -> None:
        self.sizes.append(logs["size"])

    on_predict_batch_end = on_test_batch_end


def _told(made: Heard) -> list[object]:
    return [made.params[name] for name in ("batch_size", "samples", "steps", "epochs")]


def test_evaluation_and_prediction_tell_callbacks_the_sizes_of_batches_as_tensorflow_does(model) -> None:
    def dataset():
        return tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)

    for run, expected in [
        (lambda heard: model.evaluate(X, Y, 4, 0, callbacks=heard), [4, 8, None, 1]),
        (lambda heard: model.evaluate(X, Y, verbose=0, callbacks=heard), [32, 8, None, 1]),
        (lambda heard: model.evaluate(dataset(), verbose=0, callbacks=heard), [None, 2, 2, 1]),
        (lambda heard: model.predict(X, 4, callbacks=heard), [4, 8, None, 1]),
        (lambda heard: model.predict(dataset(), callbacks=heard), [None, 2, 2, 1]),
        (lambda heard: model.fit(X, Y, 4, 2, 0, heard), [4, 8, None, 2]),
        (lambda heard: model.fit(dataset(), epochs=2, verbose=0, callbacks=heard), [None, 2, 2, 2]),
    ]:
        heard = Heard()
        run([heard])
        assert _told(heard) == expected
        assert heard.logs == [None, None]


def test_arrays_are_validated_in_batches_of_a_generators_size(model) -> None:
    heard = Heard()
    pairs = iter([(X[:3], Y[:3]), (X[:2], Y[:2])])
    model.fit_generator(pairs, steps_per_epoch=2, verbose=0, callbacks=[heard], validation_data=(X, Y))
    assert heard.sizes == [2, 2, 2, 2]


def test_the_bar_of_training_tells_nothing_of_the_batches_of_validations(model, capsys) -> None:
    model.fit(X, Y, 8, verbose=2, validation_data=(X, Y))
    first, last = capsys.readouterr().out.splitlines()
    assert first == "Train on 8 samples, validate on 8 samples"
    assert re.fullmatch(r"8/8 - \d+s - loss: [\d.e-]+ - val_loss: [\d.e-]+", last)
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)
    model.fit(data, epochs=1, verbose=2, validation_data=data)
    assert capsys.readouterr().out.startswith("Train on 2 steps, validate on 2 steps\n2/2 - ")


def test_the_steps_of_a_dataset_of_unknown_size_are_known_after_an_epoch(model) -> None:
    seen = []

    class Steps(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch: int, logs) -> None:
            seen.append(self.params["steps"])

    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(4).filter(lambda *parts: True)
    model.fit(data, epochs=2, verbose=0, callbacks=[Steps()])
    assert seen == [None, 2]


# TensorFlow 1.15 writes the same tags at the same steps.
def test_event_files_have_histograms_pictures_and_gradients_of_validated_epochs(model, tmp_path) -> None:
    board = keras.callbacks.TensorBoard(str(tmp_path), histogram_freq=2, write_images=True, write_grads=True)
    model.fit(X, Y, epochs=3, verbose=0, validation_data=(X, Y), callbacks=[board])
    one = ["dense/kernel_0", "dense/kernel_0_1/image/0", "dense/bias_0", "dense/kernel_0_grad", "dense/bias_0_grad",
           "dense_out"]  # fmt: skip
    found = [(tag, step) for tag, step in _events(tmp_path) if not tag.startswith("epoch")]
    assert found == [*((tag, 0) for tag in one), *((tag, 1) for tag in one)]


def test_each_of_several_boards_writes_its_histograms_in_a_second_training_too(model, tmp_path) -> None:
    boards = [keras.callbacks.TensorBoard(str(tmp_path / name), histogram_freq=1) for name in "ab"]

    def fail(epoch, logs) -> None:
        raise RuntimeError("stopped")

    failing = keras.callbacks.LambdaCallback(on_epoch_end=fail)
    with pytest.raises(RuntimeError, match="stopped"):
        model.fit(X, Y, verbose=0, validation_data=(X, Y), callbacks=[failing, boards[0]])
    model.fit(X, Y, verbose=0, validation_data=(X, Y), callbacks=boards[1:])
    model.fit(X, Y, verbose=0, validation_data=(X, Y), callbacks=boards[1:])
    boards[0].on_train_end()
    for name, count in (("a", 1), ("b", 2)):
        found = [event for path in (tmp_path / name).glob("events*") for event in tf.train.summary_iterator(str(path))]
        assert sum(value.tag == "dense/kernel_0" for event in found for value in event.summary.value) == count
    both = [keras.callbacks.TensorBoard(str(tmp_path / name), histogram_freq=1) for name in "cd"]
    model.fit(X, Y, verbose=0, validation_data=(X, Y), callbacks=both)
    for name in "cd":
        assert ("dense_out", 0) in _events(tmp_path / name)


def test_event_files_have_batches_by_the_frequency_that_is_asked_for(model, tmp_path) -> None:
    for update_freq, batches in (("batch", [0, 1, 2, 3]), (6, [1, 3])):
        board = keras.callbacks.TensorBoard(str(tmp_path / f"{update_freq}"), update_freq=update_freq)
        model.fit(X, Y, batch_size=4, epochs=2, verbose=0, callbacks=[board])
        found = _events(tmp_path / f"{update_freq}")
        assert [step for tag, step in found if tag == "batch_loss"] == batches
        assert [step for tag, step in found if tag == "epoch_loss"] == [8, 16]
    with pytest.raises(ValueError, match="update_freq is 'batch', 'epoch' or a number of examples, not 'step'"):
        keras.callbacks.TensorBoard(update_freq="step")


def test_histograms_without_a_validation_are_warned_of(model, tmp_path, caplog) -> None:
    model.fit(X, Y, verbose=0, callbacks=[keras.callbacks.TensorBoard(str(tmp_path), histogram_freq=1)])
    assert "give `fit` validation_data for histogram_freq=1" in caplog.text
    assert _events(tmp_path) == [("epoch_loss", 0)]


def test_embeddings_are_saved_for_the_projector(model, tmp_path) -> None:
    board = keras.callbacks.TensorBoard(
        str(tmp_path), embeddings_freq=1, embeddings_layer_names=["dense"], embeddings_data=X, embeddings_metadata="names.tsv",
        batch_size=3,
    )  # fmt: skip
    model.fit(X, Y, epochs=2, verbose=0, callbacks=[board])
    saved = tf.train.load_variable(tf.train.latest_checkpoint(str(tmp_path)), "dense_embedding")
    np.testing.assert_allclose(saved, model.predict(X), rtol=1e-4, atol=1e-6)
    assert 'metadata_path: "names.tsv"' in (tmp_path / "projector_config.pbtxt").read_text()
    with pytest.raises(ValueError, match="embeddings_data must be provided"):
        keras.callbacks.TensorBoard(embeddings_freq=1)
    board = keras.callbacks.TensorBoard(str(tmp_path), embeddings_freq=1, embeddings_data=X)
    with pytest.raises(ValueError, match="the model has no Embedding layer"):
        model.fit(X, Y, verbose=0, callbacks=[board])
