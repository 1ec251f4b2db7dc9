"""WAV files, spectrograms and cepstra are what TensorFlow 1.15 makes; the numbers are its own."""

from __future__ import annotations

import importlib
import io
import wave
from collections.abc import Callable

import numpy as np
import pytest

import weft as tf

# As the speech example imports them.
_ops = importlib.import_module("weft.contrib.framework.python.ops.audio_ops")
_SAMPLES = np.array([[0, 100], [-32768, 32767], [5, -7]], np.int16)


def _wav(samples: np.ndarray, rate: int = 16000) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(samples.shape[1])
        writer.setsampwidth(samples.dtype.itemsize)
        writer.setframerate(rate)
        writer.writeframes(samples.tobytes())
    return file.getvalue()


def _decoded(data: bytes, channels: int = -1, samples: int = -1) -> tuple[list[list[float]], int]:
    made = tf.audio.decode_wav(data, desired_channels=channels, desired_samples=samples)
    with tf.Session() as sess:
        audio, rate = sess.run(list(made))
    return (audio * 32768).tolist(), int(rate)


def test_a_file_is_decoded_with_the_channels_and_samples_that_are_wanted() -> None:
    data = _wav(_SAMPLES)
    assert _decoded(data) == (_SAMPLES.tolist(), 16000)
    assert _decoded(data, 1, 2) == ([[0], [-32768]], 16000)
    # The last channel stands for those that the file lacks, zeros for the samples.
    assert _decoded(data, 3, 4) == ([[0, 100, 100], [-32768, 32767, 32767], [5, -7, -7], [0, 0, 0]], 16000)
    assert _ops.decode_wav(data, 1, 7).audio.shape == [7, 1]


def test_numbers_are_rounded_to_samples_and_come_back() -> None:
    audio = np.array([[0.0, 0.1], [1.0, -1.0], [1.5, -1.7], [0.33333, -0.66666], [0.00001, 0.99999]], np.float32)
    with tf.Session() as sess:
        data = sess.run(tf.audio.encode_wav(audio, 44100))
    assert data[:44] == _wav(np.zeros([5, 2], np.int16), 44100)[:44]
    assert _decoded(data)[0] == [[0, 3277], [32767, -32768], [32767, -32768], [10923, -21845], [0, 32767]]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"abc", "Data too short when trying to read string"),
        (_wav(_SAMPLES)[:46], "Data too short when trying to read string"),
        (b"RIFX" + _wav(_SAMPLES)[4:], "Header mismatch: Expected RIFF but found RIFX"),
        (_wav(np.zeros([2, 4], np.uint8)), "Can only read 16-bit WAV files, but received 8"),
        (_wav(_SAMPLES)[:22] + b"\0\0" + _wav(_SAMPLES)[24:], "Bad number of channels for WAV: Expected at least 1, but got 0"),
        (_wav(_SAMPLES)[:20] + b"\2" + _wav(_SAMPLES)[21:], r"Bad audio format for WAV: Expected 1 \(PCM\), but got2"),
    ],
)
def test_what_is_no_wav_file_is_refused(data: bytes, told: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=told):
        _decoded(data)


def test_a_spectrogram_and_its_cepstra_have_tensorflows_numbers() -> None:
    random = np.random.RandomState(0)
    sound = (0.5 * np.sin(np.arange(400) * 0.3) + 0.1 * random.randn(400)).astype(np.float32)[:, None]
    energy = _ops.audio_spectrogram(sound, window_size=128, stride=60, magnitude_squared=True)
    magnitude = _ops.audio_spectrogram(sound, window_size=100, stride=50)
    assert energy.shape == [1, 5, 65]
    with tf.Session() as sess:
        found = sess.run([energy, magnitude, _ops.mfcc(energy, 16000), _ops.mfcc(energy, 16000, filterbank_channel_count=80)])
    np.testing.assert_allclose(found[0][0, 0, :6], [0.3171, 1.9360, 1.2855, 0.0395, 0.3296, 42.5774], atol=1e-4)
    np.testing.assert_allclose(found[1][0, 0, :6], [1.0702, 1.0791, 0.8536, 0.5, 1.0869, 7.3219], atol=1e-4)
    np.testing.assert_allclose(found[2][0, 0, :8], [-29.162, -22.448, -18.479, -11.924, -2.93, 2.278, 1.055, -3.413], atol=2e-3)
    np.testing.assert_allclose(found[3][0, 0, :4], [-124.253, -62.62, -6.464, -2.167], atol=2e-3)


def test_channels_are_transformed_each_by_itself() -> None:
    sound = np.random.RandomState(0).randn(400, 2).astype(np.float32)
    both, second = (_ops.audio_spectrogram(each, window_size=128, stride=60) for each in (sound, sound[:, 1:]))
    with tf.Session() as sess:
        np.testing.assert_array_equal(*(each[-1] for each in sess.run([both, second])))


_ENERGY = np.zeros([1, 2, 65], np.float32)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: _ops.audio_spectrogram(np.zeros([9, 1], np.float32), window_size=1, stride=1),
         "Spectrogram initialization failed for window size 1 and stride 1"),
        (lambda: _ops.mfcc(_ENERGY, 0), "Mfcc initialization failed for channel count 65 and sample rate 0"),
        (lambda: _ops.mfcc(_ENERGY, 16000, upper_frequency_limit=9000.0), "upper_frequency_limit 9000"),
        (lambda: _ops.mfcc(_ENERGY, 16000, lower_frequency_limit=-3.0), "frequencies from -3.0 to 4000.0 are none"),
        (lambda: _ops.mfcc(_ENERGY, 16000, dct_coefficient_count=50), "dct_coefficient_count is 50"),
        (lambda: tf.audio.encode_wav(np.zeros([0, 1], np.float32), 8000), "audio is null"),
        (lambda: tf.audio.encode_wav(np.zeros([2, 1], np.float32), 0), r"sample_rate must be in \(0, 2\^32\), got: 0"),
    ],
)  # fmt: skip
def test_impossible_settings_are_told(make: Callable[[], tf.Tensor], told: str) -> None:
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=told):
        sess.run(make())
