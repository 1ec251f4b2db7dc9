"""Spectrograms of audio, and the cepstra on a mel scale that are made of them: what recognizers of speech are given."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation
from weft.framework.types.dims import Dims
from weft.ops.declaration import op

_LEAST_ENERGY: Final = 1e-12


def _transform_length(window_size: int) -> int:
    return 1 << max(window_size - 1, 0).bit_length()


def _frames(samples: int, window_size: int, stride: int) -> int:
    return 0 if samples < window_size else 1 + (samples - window_size) // stride


def _spectrogram_shape(node: Operation) -> list[Dims]:
    window_size, stride = node.attrs["window_size"], node.attrs["stride"]
    dims = node.inputs[0].dims
    samples, channels = dims if dims is not None and len(dims) == 2 else (None, None)
    frames = None if samples is None or stride < 1 else _frames(samples, window_size, stride)
    return [(channels, frames, 1 + _transform_length(window_size) // 2)]


@op("AudioSpectrogram", "input: float -> spectrogram: float", ranks={"input": 2}, infer=_spectrogram_shape, gradient=None)
def audio_spectrogram(
    ctx: OpContext, input: Array, *, window_size: int, stride: int, magnitude_squared: bool = False
) -> Result:
    """The magnitudes of the Fourier transforms of windows: `[samples, channels] -> [channels, frames, frequencies]`.

    A window is that of Hann, and is filled with zeros up to the next power of two.
    """
    if window_size < 2 or stride < 1:
        raise InvalidArgumentError.of(f"Spectrogram initialization failed for window size {window_size} and stride {stride}")
    frames = _frames(len(input), window_size, stride)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(window_size) / window_size)
    places = stride * np.arange(frames)[:, None] + np.arange(window_size)
    parts = np.asarray(input, np.float64).T[:, places] * window
    found = np.fft.rfft(parts, _transform_length(window_size))
    energy = found.real**2 + found.imag**2
    return (energy if magnitude_squared else np.sqrt(energy)).astype(np.float32)


def _mel(frequency: float) -> float:
    return 1127.0 * math.log1p(frequency / 700.0)


def _filterbank(count: int, rate: float, channels: int, low: float, high: float) -> np.ndarray:
    """[frequencies, channels]: how much of each frequency of a spectrum each channel of the mel scale gets.

    Channels are triangles that overlap: a frequency between two centers is shared by the two.
    """
    lowest, highest = _mel(low), _mel(high)
    edges = lowest + (highest - lowest) / (channels + 1) * np.arange(channels + 2)
    spacing = 0.5 * rate / (count - 1)
    first, last = int(1.5 + low / spacing), int(high / spacing)
    weights = np.zeros((count, channels))
    for place in range(first, last + 1):
        mel = _mel(place * spacing)
        above = int(np.searchsorted(edges[1:], mel, side="left"))
        above = min(above, channels)
        share = (edges[above + 1] - mel) / (edges[above + 1] - edges[above])
        if above > 0:
            weights[place, above - 1] = share
        if above < channels:
            weights[place, above] = 1 - share
    return weights


def _mfcc_shape(node: Operation) -> list[Dims]:
    dims = node.inputs[0].dims
    return [(*((None, None) if dims is None else dims[:2]), node.attrs["dct_coefficient_count"])]


def _check(count: int, rate: int, channels: int, coefficients: int, low: float, high: float) -> None:
    told = f"Mfcc initialization failed for channel count {count} and sample rate {rate}"
    if count < 2 or rate < 1:
        raise InvalidArgumentError.of(f"{told}: a spectrogram has two frequencies or more, and a rate above 0")
    if not 0 <= low < high:
        raise InvalidArgumentError.of(f"{told}: frequencies from {low} to {high} are none")
    if high > 0.5 * rate:
        raise InvalidArgumentError.of(f"{told}: it has no frequencies up to upper_frequency_limit {high}, only to {rate / 2}")
    if not 1 <= coefficients <= channels:
        raise InvalidArgumentError.of(
            f"{told}: of {channels} channels (filterbank_channel_count) there are as many coefficients at most, "
            f"dct_coefficient_count is {coefficients}"
        )
    if int(1.5 + low / (0.5 * rate / (count - 1))) > int(high / (0.5 * rate / (count - 1))):
        raise InvalidArgumentError.of(f"{told}: no frequency of the spectrogram lies between {low} and {high}")


@op("Mfcc", "spectrogram: float, sample_rate: int32 -> output: float", ranks={"spectrogram": 3, "sample_rate": 0},
    infer=_mfcc_shape, gradient=None)  # fmt: skip
def mfcc(
    ctx: OpContext, spectrogram: Array, sample_rate: Array, *, upper_frequency_limit: float = 4000.0,
    lower_frequency_limit: float = 20.0, filterbank_channel_count: int = 40, dct_coefficient_count: int = 13,
) -> Result:  # fmt: skip
    """Cepstral coefficients on the mel scale of spectrograms of squared magnitudes.

    `[channels, frames, frequencies], scalar int32 -> [channels, frames, coefficients]`
    """
    count, rate, low, high = spectrogram.shape[-1], int(sample_rate), lower_frequency_limit, upper_frequency_limit
    _check(count, rate, filterbank_channel_count, dct_coefficient_count, low, high)
    weights = _filterbank(count, rate, filterbank_channel_count, low, high)
    energies = np.sqrt(np.asarray(spectrogram, np.float64)) @ weights
    logs = np.log(np.maximum(energies, _LEAST_ENERGY))
    turns = np.pi / filterbank_channel_count * (np.arange(filterbank_channel_count) + 0.5)
    cosines = np.sqrt(2.0 / filterbank_channel_count) * np.cos(np.outer(turns, np.arange(dct_coefficient_count)))
    return (logs @ cosines).astype(np.float32)
