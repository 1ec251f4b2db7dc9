"""WAV files: 16-bit samples to numbers from -1 to 1 and back, on the host of the task that the node is placed on."""

from __future__ import annotations

import struct
from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation
from weft.framework.types.dims import Dims
from weft.ops.declaration import op, scalar_shape

_PCM: Final = 1
_FULL_SCALE: Final = 32768


class _Bytes:
    """Reads a file's fields one after the other; InvalidArgumentError where it ends too early or has another text."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._place = 0

    def take(self, size: int) -> bytes:
        """The next bytes."""
        found = self._data[self._place : self._place + size]
        if len(found) < size:
            raise InvalidArgumentError.of(
                f"Data too short when trying to read string: the WAV file has {len(self._data)} bytes, {size} are expected "
                f"from byte {self._place} on"
            )
        self._place += size
        return found

    def number(self, size: int) -> int:
        """The next unsigned number of so many bytes."""
        return int.from_bytes(self.take(size), "little")

    def expect(self, text: bytes) -> None:
        """Pass over a text."""
        found = self.take(len(text))
        if found != text:
            told = found.decode("latin-1")
            raise InvalidArgumentError.of(f"Header mismatch: Expected {text.decode()} but found {told}")

    @property
    def is_at_end(self) -> bool:
        """Whether all was read."""
        return self._place >= len(self._data)


def _format_of(file: _Bytes) -> tuple[int, int]:
    """Channels and sample rate, of the header."""
    file.expect(b"RIFF")
    file.number(4)
    file.expect(b"WAVE")
    file.expect(b"fmt ")
    size = file.number(4)
    if size not in (16, 18):
        raise InvalidArgumentError.of(f"Bad format chunk size for WAV: Expected 16 or 18, but got{size}")
    kind, channels, rate = file.number(2), file.number(2), file.number(4)
    if kind != _PCM:
        raise InvalidArgumentError.of(f"Bad audio format for WAV: Expected 1 (PCM), but got{kind}")
    per_second, per_sample, bits = file.number(4), file.number(2), file.number(2)
    if not channels:
        raise InvalidArgumentError.of("Bad number of channels for WAV: Expected at least 1, but got 0")
    if bits != 16:
        raise InvalidArgumentError.of(f"Can only read 16-bit WAV files, but received {bits}")
    if per_sample != 2 * channels:
        raise InvalidArgumentError.of(f"Bad bytes per sample in WAV header: Expected {2 * channels} but got {per_sample}")
    if per_second != rate * per_sample:
        raise InvalidArgumentError.of(
            f"Bad bytes per second in WAV header: Expected {rate * per_sample} but got {per_second} "
            f"(sample_rate={rate}, bytes_per_sample={per_sample})"
        )
    file.take(size - 16)
    return channels, rate


def samples_of(data: bytes) -> tuple[np.ndarray, int]:
    """The [samples, channels] int16 of a WAV file, and its sample rate.

    Raises:
        InvalidArgumentError: it is none, or has no 16-bit samples.
    """
    file = _Bytes(data)
    channels, rate = _format_of(file)
    found: np.ndarray | None = None
    while not file.is_at_end:
        name, size = file.take(4), file.number(4)
        content = file.take(size)
        if name == b"data":
            if found is not None:
                raise InvalidArgumentError.of("More than one data chunk found in WAV")
            found = np.frombuffer(content[: size - size % (2 * channels)], "<i2").reshape(-1, channels)
    if found is None:
        raise InvalidArgumentError.of("No data chunk found in WAV")
    return found, rate


def _decoded_shapes(node: Operation) -> list[Dims]:
    wanted = (node.attrs["desired_samples"], node.attrs["desired_channels"])
    for name, size in zip(("samples", "channels"), wanted, strict=True):
        if size < -1:
            raise ValueError(f"{name} must be non-negative, got {size}")
    return [tuple(None if size == -1 else size for size in wanted), ()]


@op("DecodeWav", "contents: string -> audio: float, sample_rate: int32", ranks={"contents": 0}, infer=_decoded_shapes,
    gradient=None)  # fmt: skip
def decode_wav(
    ctx: OpContext, contents: Array, *, desired_channels: int = -1, desired_samples: int = -1
) -> tuple[Result, Result]:
    """A WAV file as numbers from -1 to 1: `scalar string -> [samples, channels] float, scalar int32`.

    What is wanted beyond the file's samples is zeros, beyond its channels its last channel.

    Args:
        contents: the bytes of the file.
        desired_channels: how many channels to give; those of the file when -1.
        desired_samples: how many samples to give; those of the file when -1.
    """
    samples, rate = samples_of(contents.item())
    channels = samples.shape[1] if desired_channels == -1 else desired_channels
    count = len(samples) if desired_samples == -1 else desired_samples
    kept = samples[:count, np.minimum(np.arange(channels), samples.shape[1] - 1)]
    audio = np.zeros((count, channels), np.float32)
    audio[: len(kept)] = kept.astype(np.float32) / np.float32(_FULL_SCALE)
    return audio, np.array(rate, np.int32)


@op("EncodeWav", "audio: float, sample_rate: int32 -> contents: string", ranks={"audio": 2, "sample_rate": 0},
    infer=scalar_shape, gradient=None)  # fmt: skip
def encode_wav(ctx: OpContext, audio: Array, sample_rate: Array) -> Result:
    """Numbers from -1 to 1 as a WAV file of 16-bit samples: `[samples, channels] float, scalar int32 -> scalar string`.

    Args:
        audio: the samples; what is beyond -1 and 1 is cut off.
        sample_rate: how many samples a second has.
    """
    rate, channels = int(sample_rate), audio.shape[1]
    if rate <= 0:
        raise InvalidArgumentError.of(f"sample_rate must be in (0, 2^32), got: {rate}")
    if not audio.size:
        raise InvalidArgumentError.of(f"audio is null: there are no samples in shape {list(audio.shape)}")
    data = np.clip(np.rint(audio * np.float32(_FULL_SCALE)), -_FULL_SCALE, _FULL_SCALE - 1).astype("<i2").tobytes()
    form = struct.pack("<HHIIHH", _PCM, channels, rate, rate * 2 * channels, 2 * channels, 16)
    parts = (b"WAVE", b"fmt ", struct.pack("<I", len(form)), form, b"data", struct.pack("<I", len(data)), data)
    body = b"".join(parts)
    made = np.empty((), object)
    made[()] = b"RIFF" + struct.pack("<I", len(body)) + body
    return made
