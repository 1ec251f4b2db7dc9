"""Windows, short-time Fourier transforms and what speech programs make of them: mel scales and cepstral coefficients."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, TypeAlias

from weft.framework.building.aliases import DTypeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Tensor
from weft.framework.op_types.op_role import Role
from weft.framework.types import dtypes
from weft.ops.array.filling import ones, zeros
from weft.ops.array.joining import concat
from weft.ops.array.padding import pad
from weft.ops.array.ranges import linspace, range_of
from weft.ops.array.shape_ops import expand_dims, rank, reshape, shape_internal
from weft.ops.array.stacking import stack
from weft.ops.array.tiling import tile
from weft.ops.declaration import rank_of
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import maximum, minimum
from weft.ops.math.elementwise import square
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.math.trigonometry import cos
from weft.ops.math.unary import ceil, log, rsqrt
from weft.ops.signal.cosine_transform import dct
from weft.ops.signal.fourier import irfft, rfft
from weft.ops.signal.framing import frame, overlap_and_add

# `window_fn(frame_length, dtype=...)` gives the factors of a frame.
Window: TypeAlias = Callable[..., Tensor]


def _window(
    name: str | None, default: str, length: TensorLike, periodic: TensorLike, dtype: DTypeLike, height: float, depth: float
) -> Tensor:
    kind = dtypes.as_dtype(dtype)
    if not kind.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {kind!r}")
    # TensorFlow looks at a length that the graph does not have as a constant; later random nodes get their seeds by the count.
    is_told = not isinstance(length, Tensor) or length.op.op_def.role is Role.CONSTANT
    nodes = (22 if is_told else 31) + sum(not isinstance(each, Tensor) for each in (length, periodic))
    with input_scope(name, default, (length, periodic)), get_default_graph().node_count.as_many_as(nodes):
        samples = convert_to_tensor(length, dtypes.int32, name="window_length")
        if rank_of(samples) not in (0, None):
            raise ValueError(f"Shape {samples.shape} must have rank 0")
        known = constant_value(samples)
        if known is not None and int(known) == 1:
            return ones([1], kind)
        whole = cast(convert_to_tensor(periodic, dtypes.bool, name="periodic"), dtypes.int32)
        # A window of one sample has no steps; it is 1, as the cosine of 0 would not make it.
        steps = maximum(samples + whole * (1 - samples % 2) - 1, 1)
        angles = cast(range_of(samples), kind) * (2 * math.pi) / cast(steps, kind)
        shape = height - depth * cos(angles)
        return shape if known is not None else maximum(shape, cast(samples < 2, kind))


def hann_window(
    window_length: TensorLike, periodic: TensorLike = True, dtype: DTypeLike = dtypes.float32, name: str | None = None
) -> Tensor:
    """The Hann window, `[window_length]`; periodic ones are for spectra, symmetric ones for filters.

    Args:
        window_length: a [] integer.
        periodic: a [] bool.
        dtype: a floating dtype.
    """
    return _window(name, "hann_window", window_length, periodic, dtype, 0.5, 0.5)


def hamming_window(
    window_length: TensorLike, periodic: TensorLike = True, dtype: DTypeLike = dtypes.float32, name: str | None = None
) -> Tensor:
    """The Hamming window, `[window_length]`; periodic ones are for spectra, symmetric ones for filters.

    Args:
        window_length: a [] integer.
        periodic: a [] bool.
        dtype: a floating dtype.
    """
    return _window(name, "hamming_window", window_length, periodic, dtype, 0.54, 0.46)


def _as_int(value: TensorLike, name: str) -> int | Tensor:
    """A scalar as an int where that is known, else as a tensor."""
    tensor = convert_to_tensor(value, dtypes.int32, name=name)
    if rank_of(tensor) not in (0, None):
        raise ValueError(f"Shape {tensor.shape} must have rank 0")
    known = constant_value(tensor)
    return tensor if known is None else int(known)


def _power_of_two_from(length: int | Tensor) -> int | Tensor:
    """The least power of two that is not below `length`."""
    if isinstance(length, int):
        return 2 ** math.ceil(math.log2(length)) if length > 0 else 1
    get_default_graph().node_count.total += 1  # TensorFlow takes the logarithm of 2 in the step.
    exponent = ceil(log(cast(length, dtypes.float64)) / math.log(2.0))
    return cast(2.0**exponent, dtypes.int32)


def stft(
    signals: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    fft_length: TensorLike | None = None,
    window_fn: Window | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Tensor:
    """The short-time Fourier transform: `[..., samples]` becomes `[..., frames, fft_length // 2 + 1]`, complex.

    Args:
        signals: float32 or float64.
        frame_length: samples in a frame.
        frame_step: samples from one frame to the next.
        fft_length: the length of the transforms, by default the least power of two that holds a frame.
        window_fn: `window_fn(frame_length, dtype=...)` gives what frames are multiplied by; None for nothing.
        pad_end: whether zeros follow the signals, so that frames begin as long as there are samples.
        name: a name for the operation.
    """
    with input_scope(name, "stft", (signals, frame_length, frame_step)):
        tensor = convert_to_tensor(signals, name="signals")
        given = convert_to_tensor(frame_length, dtypes.int32, name="frame_length")
        length, step = _as_int(given, "frame_length"), _as_int(frame_step, "frame_step")
        size = _power_of_two_from(length) if fft_length is None else _as_int(fft_length, "fft_length")
        frames = frame(tensor, length, step, pad_end=pad_end)
        # TensorFlow has made the lengths tensors once; later random nodes get their seeds by the count.
        get_default_graph().node_count.total -= 1 if fft_length is None else 2
        if window_fn is not None:
            frames = frames * window_fn(given, dtype=frames.dtype)
        return rfft(frames, [size])


def inverse_stft(
    stfts: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    fft_length: TensorLike | None = None,
    window_fn: Window | None = hann_window,
    name: str | None = None,
) -> Tensor:
    """The signals `[..., samples]` of the transforms `[..., frames, fft_length // 2 + 1]`.

    They are those that `stft` had if `window_fn` undoes its window; see `inverse_stft_window_fn`.

    Args:
        stfts: complex64.
        frame_length, frame_step: the samples of a frame, and how far frames are apart.
        fft_length: the samples of a transform; the power of 2 from `frame_length` on when None.
        window_fn: a function of a length and a dtype that gives a window; none when None.

    Raises:
        ValueError: `stfts` are not complex, or a length is no scalar.
    """
    with input_scope(name, "inverse_stft", (stfts,)):
        tensor = convert_to_tensor(stfts, name="stfts")
        if not tensor.dtype.is_complex:
            raise ValueError(f"stfts must be complex, it is {tensor.dtype!r}")
        given = convert_to_tensor(frame_length, dtypes.int32, name="frame_length")
        length, step = _as_int(given, "frame_length"), _as_int(frame_step, "frame_step")
        size = _power_of_two_from(length) if fft_length is None else _as_int(fft_length, "fft_length")
        # TensorFlow has made the lengths tensors once; later random nodes get their seeds by the count.
        get_default_graph().node_count.total -= fft_length is not None or isinstance(length, Tensor)
        frames = irfft(tensor, [size])
        frames = _of_length(frames, size, length)
        if window_fn is not None:
            frames = frames * window_fn(given, dtype=frames.dtype)
        return overlap_and_add(frames, step)


def _of_length(frames: Tensor, size: int | Tensor, length: int | Tensor) -> Tensor:
    """Frames of a length, of those of a size: cut, or with zeros behind."""
    if isinstance(length, int) and isinstance(size, int) and frames.dims is not None and frames.dims[-1] is not None:
        if size == length:
            return frames
        return frames[..., :length] if size > length else pad(frames, [*[[0, 0]] * (len(frames.dims) - 1), [0, length - size]])
    with get_default_graph().node_count.as_many_as(30):
        cut = frames[..., :length]
        missing = maximum(0, length - size)
        if frames.dims is not None:
            return pad(cut, [*[[0, 0]] * (len(frames.dims) - 1), [0, missing]])
        return pad(cut, concat([zeros(stack([rank(frames) - 1, 2]), dtypes.int32), [[0, missing]]], 0))


# Of TensorFlow's inverse of a window, by which later seeds go.
_INVERTED: Final = 24


def inverse_stft_window_fn(
    frame_step: TensorLike, forward_window_fn: Window = hann_window, name: str | None = None
) -> Callable[..., Tensor]:
    """The window function with which `inverse_stft` gives back what `stft` with `forward_window_fn` was given.

    Args:
        frame_step: how far frames are apart, a [] integer.
        forward_window_fn: a function of a length and a dtype that gives a window.

    Raises:
        ValueError: `frame_step` is no scalar.
    """

    def inverse(frame_length: TensorLike, dtype: DTypeLike) -> Tensor:
        with input_scope(name, "inverse_stft_window_fn", (forward_window_fn,)):
            length, step = _as_int(frame_length, "frame_length"), _as_int(frame_step, "frame_step")
            window = forward_window_fn(length, dtype=dtype)
            with get_default_graph().node_count.as_many_as(_INVERTED):
                overlaps = -(-length // step)
                folded = reshape(pad(square(window), [[0, overlaps * step - length]]), [overlaps, step])
                total = tile(reduce_sum(folded, 0, keepdims=True), [overlaps, 1])
                return window / reshape(total, [-1])[:length]

    return inverse


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: TensorLike, name: str | None = None) -> Tensor:
    """The cepstral coefficients of `[..., mel_bins]` logarithms, as HTK scales them.

    Args:
        log_mel_spectrograms: logarithms, of a floating dtype.

    Raises:
        ValueError: there are no bins.
    """
    with input_scope(name, "mfccs_from_log_mel_spectrograms", (log_mel_spectrograms,)):
        tensor = convert_to_tensor(log_mel_spectrograms)
        bins = None if tensor.dims is None else tensor.dims[-1]
        if bins == 0:
            raise ValueError(f"num_mel_bins must be positive. Got: {tensor}")
        count = cast(shape_internal(tensor)[-1] if bins is None else bins, tensor.dtype)
        return dct(tensor, type=2) * rsqrt(count * 2.0)


def _mel(hertz: Tensor) -> Tensor:
    return 1127.0 * log(1.0 + hertz / 700.0)


def _check_mel(mel_bins: int, sample_rate: float | Tensor, low: float, high: float, dtype: dtypes.DType) -> None:
    if mel_bins <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {mel_bins}")
    if low < 0.0:
        raise ValueError(f"lower_edge_hertz must be non-negative. Got: {low}")
    if low >= high:
        raise ValueError(f"lower_edge_hertz {low:.1f} >= upper_edge_hertz {high:.1f}")
    rate = constant_value(sample_rate) if isinstance(sample_rate, Tensor) else sample_rate
    if rate is not None:
        if rate <= 0.0:
            raise ValueError(f"sample_rate must be positive. Got: {rate}")
        if high > rate / 2:
            raise ValueError(
                "upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). "
                f"Got {high} for sample_rate: {rate}"
            )
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Got: {dtype}")


def linear_to_mel_weight_matrix(
    num_mel_bins: int = 20,
    num_spectrogram_bins: TensorLike = 129,
    sample_rate: float | Tensor = 8000,
    lower_edge_hertz: float = 125.0,
    upper_edge_hertz: float = 3800.0,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """The matrix `[num_spectrogram_bins, num_mel_bins]` that turns linear spectra into those on the mel scale.

    Its columns are triangles in mel between `lower_edge_hertz` and `upper_edge_hertz`.

    Args:
        num_mel_bins, num_spectrogram_bins: how many bins both scales have.
        sample_rate: samples in a second.
        lower_edge_hertz, upper_edge_hertz: where the triangles begin and end.
        dtype: a floating dtype.

    Raises:
        ValueError: there are no bins, the edges are in the wrong order or beyond half of `sample_rate`.
    """
    kind = dtypes.as_dtype(dtype)
    _check_mel(num_mel_bins, sample_rate, lower_edge_hertz, upper_edge_hertz, kind)
    # TensorFlow counts further parts of the frames of three edges; later random nodes get their seeds by the count.
    nodes = 122 + (not isinstance(num_spectrogram_bins, Tensor))
    with input_scope(name, "linear_to_mel_weight_matrix", (sample_rate,)), get_default_graph().node_count.as_many_as(nodes):
        rate = cast(convert_to_tensor(sample_rate), kind)
        low, high = (convert_to_tensor(edge, kind) for edge in (lower_edge_hertz, upper_edge_hertz))
        # The lowest bin, which is constant over time, has no place on the scale.
        spectrum = linspace(convert_to_tensor(0.0, kind), rate / 2.0, num_spectrogram_bins)
        mels = expand_dims(_mel(spectrum[1:]), 1)
        edges = frame(linspace(_mel(low), _mel(high), num_mel_bins + 2), 3, 1)
        left, middle, right = (reshape(edges[:, which], [1, num_mel_bins]) for which in range(3))
        rising, falling = (mels - left) / (middle - left), (right - mels) / (right - middle)
        zero = convert_to_tensor(0.0, kind)
        return pad(maximum(zero, minimum(rising, falling)), [[1, 0], [0, 0]])
