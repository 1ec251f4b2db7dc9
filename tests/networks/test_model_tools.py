"""Tools beside models: enqueuers that end with errors, sources of deep networks, and rows of HDF5 files."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np
import pytest

import weft as tf
from tests.told_waits import tell_soon

utils = tf.keras.utils


class _Three(utils.Sequence):
    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int):
        return np.full((2,), index)


class _FailsAtTheEnd(_Three):
    def on_epoch_end(self) -> None:
        raise RuntimeError("no further epoch")


class _Empty(_Three):
    def __len__(self) -> int:
        return 0


@pytest.mark.timeout(20)
def test_what_the_end_of_an_epoch_raises_reaches_those_who_take_batches() -> None:
    enqueuer = utils.OrderedEnqueuer(_FailsAtTheEnd())
    enqueuer.start()
    batches = enqueuer.get()
    assert [int(next(batches)[0]) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(RuntimeError, match="no further epoch"):
        next(batches)
    assert not enqueuer.is_running()
    enqueuer.stop()


@pytest.mark.timeout(20)
def test_a_sequence_without_batches_is_an_error() -> None:
    enqueuer = utils.OrderedEnqueuer(_Empty())
    enqueuer.start()
    with pytest.raises(ValueError, match="has no batches: its `__len__` gives 0"):
        next(enqueuer.get())
    enqueuer.stop()


@pytest.mark.timeout(20)
def test_batches_of_a_generator_that_has_ended_can_be_asked_for_again() -> None:
    enqueuer = utils.GeneratorEnqueuer(iter([np.ones(1)]))
    enqueuer.start()
    assert len(list(enqueuer.get())) == 1
    assert list(enqueuer.get()) == []
    enqueuer.stop()


@pytest.mark.timeout(20)
def test_who_waits_for_a_batch_that_does_not_come_is_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tell_soon(monkeypatch)
    told = threading.Event()
    caplog.handler.addFilter(lambda record: told.set() or True)

    def batches() -> Iterator[np.ndarray]:
        told.wait(10)
        yield np.ones(1)

    enqueuer = utils.GeneratorEnqueuer(batches())
    enqueuer.start()
    assert len(list(enqueuer.get())) == 1
    enqueuer.stop()
    told_of = r"GeneratorEnqueuer\.get has waited for a batch of generator for \d+ s\. Its `__getitem__`, or the generator"
    assert re.search(told_of, caplog.text)


@pytest.mark.timeout(20)
def test_the_inputs_behind_many_residual_blocks_are_found() -> None:
    with tf.Graph().as_default():
        x = entrance = tf.keras.Input((2,))
        for _ in range(40):
            x = tf.keras.layers.add([x, x])
        assert utils.get_source_inputs(x) == [entrance]
    tf.keras.backend.clear_session()


def test_rows_of_a_file_are_counted_from_the_end_as_well(tmp_path: Path) -> None:
    path = str(tmp_path / "rows.h5")
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(10)
    rows = utils.HDF5Matrix(path, "x", 2, 8)
    try:
        assert rows[-1] == 7
        assert rows[-3:-1].tolist() == [5, 6]
        assert rows[::2].tolist() == [2, 4, 6]
        assert rows[[-1, 0, -1]].tolist() == [7, 2, 7]
        with pytest.raises(IndexError, match="row -7 of 6 was asked for"):
            rows[-7]
    finally:
        utils.HDF5Matrix.refs.pop(path).close()


def test_a_model_comes_back_from_yaml() -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,), activation="tanh")])
    again = tf.keras.models.model_from_yaml(model.to_yaml())
    assert again.get_config() == model.get_config()
