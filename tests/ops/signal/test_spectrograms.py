"""Short-time transforms come back whatever is known of their shapes."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf


@pytest.mark.parametrize("fft_length", [16, 32, 64])
def test_signals_come_back_of_transforms_of_any_rank(fft_length: int) -> None:
    transforms = (np.linspace(-1, 1, 45) + 1j * np.linspace(1, 2, 45)).reshape(5, 9).astype(np.complex64)
    found = []
    for shape in ([5, 9], [None, None], None):
        given = tf.placeholder(tf.complex64, shape)
        signals = tf.signal.inverse_stft(given, 24, 10, fft_length)
        with tf.Session() as session:
            found.append(session.run(signals, {given: transforms}))
    assert found[0].shape == (64,)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
