"""How the tensors of one message lie in its payload, one after the other.

The steps of a plan send tensors of the same types and shapes again and again. So a message's descriptors travel as one packed
list, and both sides work out its meaning once: the sender finds it by the types and shapes of its arrays, the receiver by its
bytes. Neighbours that are alike, such as a hundred biases, are handled as one array.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from weft.protocol.array_runs import AlikeArrays, ArrayRun, runs_of
from weft.protocol.messages import Array
from weft.protocol.packing import UnpackException, packb, unpackb
from weft.protocol.protocol_error import RemoteProtocolError
from weft.protocol.tensor_blob import (
    COPIED_BYTES,
    Buffer,
    Descriptor,
    checked,
    describe,
    own_memory,
    padding,
    plain_descriptor,
    unpack_strings,
)  # fmt: skip

_KEPT: Final = 128  # how many layouts are remembered for either direction,
_KEPT_BYTES: Final = 32 << 10  # of those that are no longer than this
_FEW: Final = 8

Part: TypeAlias = Buffer | Array


class Packed(NamedTuple):
    """Tensors ready to be sent: the packed descriptors, and the parts of the payload, in order.

    Parts to be copied are arrays or bytes; the memory of large arrays, which is not, is a memoryview.
    """

    descriptors: bytes
    size_bytes: int
    parts: Sequence[Part]
    has_large: bool


def pack(arrays: Sequence[Array]) -> Packed:
    """Describe tensors and list the memory that they are sent from.

    Raises:
        LocalProtocolError: the channel has no form for some elements.
        AttributeError, TypeError, ValueError: something is no array.
    """
    # Looking for neighbours that are alike pays for many.
    few = len(arrays) <= _FEW
    runs: tuple[AlikeArrays, ...] = tuple([(array.dtype, array.shape, 1) for array in arrays] if few else runs_of(arrays))
    known = _described_runs(runs)
    if known is None:
        return _pack_one_by_one(arrays)
    descriptors, size_bytes, pads, has_large = known
    parts: list[Part] = []
    start = 0
    for (_, _, count), (size, pad) in zip(runs, pads, strict=True):
        alike = arrays[start : start + count]
        members: Sequence[Part] = [own_memory(array) for array in alike] if size > COPIED_BYTES else alike
        start += count
        if pad:
            for member in members:
                parts += (member, pad)
        else:
            parts += members
    return Packed(descriptors, size_bytes, parts, has_large)


@functools.lru_cache(_KEPT)
def _described_runs(runs: tuple[AlikeArrays, ...]) -> tuple[bytes, int, list[tuple[int, bytes]], bool] | None:
    """The packed descriptors, the payload's size, each run's tensors' size and padding, and whether some are large.

    None where elements decide.
    """
    descriptors: list[Descriptor] = []
    pads: list[tuple[int, bytes]] = []
    total = 0
    for dtype, shape, count in runs:
        descriptor = plain_descriptor(dtype, shape)
        if descriptor is None:
            return None
        size = descriptor[1]
        descriptors += itertools.repeat(descriptor, count)
        pads.append((size, bytes(padding(size))))
        total += count * (size + padding(size))
    return packb(descriptors), total, pads, any(size > COPIED_BYTES for size, _ in pads)


def _pack_one_by_one(arrays: Sequence[Array]) -> Packed:
    described = [describe(array) for array in arrays]
    parts: list[Buffer] = []
    for _, blob in described:
        pad = padding(len(blob))
        parts += (blob, bytes(pad)) if pad else (blob,)
    descriptors = packb([descriptor for descriptor, _ in described])
    return Packed(descriptors, sum(map(len, parts)), parts, any(type(part) is memoryview for part in parts))


class _StringRun:
    """So many tensors of strings of one shape and size, and where they lie in the payload."""

    __slots__ = ("_places", "_size", "shape")

    def __init__(self, shape: tuple[int, ...], size: int, places: Sequence[int]) -> None:
        self.shape = shape
        self._size = size
        self._places = places

    def views(self, payload: bytearray | npt.NDArray[np.uint8]) -> Iterator[Array]:
        for start in self._places:
            yield unpack_strings(self.shape, bytes(payload[start : start + self._size]))


class Layout:
    """The places of tensors in a payload, as a peer describes them.

    Raises:
        RemoteProtocolError: the descriptors are damaged, or one of them is none, or contradicts itself.
    """

    __slots__ = ("_runs", "size_bytes")

    def __init__(self, packed: bytes) -> None:
        self._runs: list[ArrayRun | _StringRun] = []
        self.size_bytes = 0
        for descriptor, members in itertools.groupby(_descriptors(packed)):
            dtype, size, shape = checked(descriptor)
            count, start = len(list(members)), self.size_bytes
            distance = size + padding(size)
            self.size_bytes += count * distance
            if dtype is None:
                self._runs.append(_StringRun(shape, size, [start + number * distance for number in range(count)]))
            else:
                self._runs.append(ArrayRun((dtype, shape, count), start, distance))

    def restore(self, payload: bytearray | npt.NDArray[np.uint8]) -> tuple[Array, ...]:
        """Return the tensors of a payload of `size_bytes`; all but strings are views of it.

        Raises:
            RemoteProtocolError: NumPy cannot hold such a shape, or a string tensor's offsets are not in order.
        """
        arrays: list[Array] = []
        for run in self._runs:
            try:
                if isinstance(run, ArrayRun) and run.length == 1:
                    arrays.append(np.ndarray(run.shape, run.dtype, payload, run.start))
                else:
                    arrays.extend(run.views(payload))
            except (ValueError, MemoryError) as error:
                raise RemoteProtocolError(f"a tensor of shape {list(run.shape)} cannot be held: {error}") from error
        return tuple(arrays)


def _descriptors(packed: bytes) -> Sequence[object]:
    try:
        descriptors = unpackb(packed, use_list=False) if packed else ()
    except (ValueError, TypeError, OverflowError, UnpackException) as error:
        raise RemoteProtocolError(f"a list of tensors is damaged: {error}") from error
    if type(descriptors) is not tuple:
        raise RemoteProtocolError(f"{descriptors!r} is no list of tensors")
    return descriptors


_remembered = functools.lru_cache(_KEPT)(Layout)


def layout_of(packed: bytes) -> Layout:
    """Return the layout that packed descriptors from a peer mean; raises as Layout does."""
    return _remembered(packed) if len(packed) <= _KEPT_BYTES else Layout(packed)
