"""The records and file names of a tensor bundle, which is what TensorFlow calls a V2 checkpoint.

A bundle named PREFIX is the table `PREFIX.index` and data files `PREFIX.data-0000i-of-0000N`. The table's first
entry, under the empty key, is the header; each other one maps a tensor's name to an Entry, which says where its bytes
lie. The entry of a partitioned variable has no bytes but a list of slices, each stored as an entry of its own under
`tensor_slice.slice_key`.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Final

from google.protobuf.message import DecodeError

from weft import errors
from weft.checkpoint.tensor_slice import FULL, TensorSlice
from weft.framework.types import dtypes
from weft.proto import tensor_bundle_pb2

HEADER_KEY: Final = b""
KEPT_SUFFIX: Final = ".kept"
_VERSION: Final = 1
# NumPy's limits: 64 dimensions, and 2^63 bytes at up to 16 for each element.
_MAX_RANK: Final = 64
_MAX_ELEMENTS: Final = 1 << 58


def index_filename(prefix: str) -> str:
    """Return the path of a bundle's table."""
    return f"{prefix}.index"


def data_filename(prefix: str, shard: int, shards: int) -> str:
    """Return the path of one of a bundle's data files."""
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


def kept_name(path: str) -> str:
    """Return where a data file is kept while a save replaces it."""
    return path + KEPT_SUFFIX


@dataclass(frozen=True, slots=True)
class Entry:
    """The entry of one tensor or slice in a bundle.

    `dtype` is TensorFlow's DataType number, `offset` and `size` are bytes of the data file `shard`, `crc` is stored
    masked. An entry with `slices` has only the dtype and shape of the whole.
    """

    dtype: int
    shape: tuple[int, ...]
    shard: int = 0
    offset: int = 0
    size: int = 0
    crc: int = 0
    slices: tuple[TensorSlice, ...] = ()

    @property
    def type_name(self) -> str:
        """The element type's name, also where weft has no such type."""
        kind = as_known_dtype(self.dtype)
        return f"DataType {self.dtype}" if kind is None else kind.name


def as_known_dtype(number: int) -> dtypes.DType | None:
    """Return the dtype with a DataType number, None when weft has none."""
    try:
        return dtypes.as_dtype(number)
    except TypeError:
        return None


def encode_header(shards: int) -> bytes:
    """Encode the header of a bundle with so many data files."""
    header = tensor_bundle_pb2.BundleHeaderProto(num_shards=shards, endianness=_native_endianness())
    header.version.producer = _VERSION
    return bytes(header.SerializeToString(deterministic=True))


def decode_header(data: bytes, name: str) -> int:
    """Return the number of data files that a header tells; `name` is the table's, for messages.

    Raises:
        DataLossError: the header cannot be read.
        UnimplementedError: the bundle is of another byte order or too new.
    """
    header = tensor_bundle_pb2.BundleHeaderProto()
    try:
        header.ParseFromString(data)
    except DecodeError as error:
        raise errors.DataLossError.of(f"{name}: the bundle's header cannot be read") from error
    if header.endianness != _native_endianness():
        message = f"{name}: the bundle was written on a machine of another byte order than this one's, {sys.byteorder}"
        raise errors.UnimplementedError.of(message)
    if header.version.min_consumer > _VERSION or _VERSION in header.version.bad_consumers:
        message = f"{name}: the bundle needs version {header.version.min_consumer} of its readers, this is {_VERSION}"
        raise errors.UnimplementedError.of(message)
    return int(header.num_shards)


def _native_endianness() -> tensor_bundle_pb2.BundleHeaderProto.Endianness:
    header = tensor_bundle_pb2.BundleHeaderProto
    return header.LITTLE if sys.byteorder == "little" else header.BIG


def encode_entry(entry: Entry) -> bytes:
    """Encode a tensor's record."""
    proto = tensor_bundle_pb2.BundleEntryProto(
        dtype=entry.dtype, shard_id=entry.shard, offset=entry.offset, size=entry.size, crc32c=entry.crc
    )
    # A scalar's shape is there too, with no dimensions.
    proto.shape.SetInParent()
    for size in entry.shape:
        proto.shape.dim.add(size=size)
    for piece in entry.slices:
        _encode_slice(proto.slices.add(), piece)
    return bytes(proto.SerializeToString(deterministic=True))


def _encode_slice(proto: tensor_bundle_pb2.TensorSliceProto, piece: TensorSlice) -> None:
    for start, size in zip(piece.starts, piece.sizes, strict=True):
        extent = proto.extent.add()
        if size != FULL:
            extent.start = start
            extent.length = size


def decode_entry(data: bytes, key: str, name: str) -> Entry:
    """Decode the record of `key`; DataLossError naming the table `name` when it cannot be read."""
    proto = tensor_bundle_pb2.BundleEntryProto()
    try:
        proto.ParseFromString(data)
    except DecodeError as error:
        raise errors.DataLossError.of(f"{name}: the record of tensor {key!r} cannot be read") from error
    shape = tuple(dim.size for dim in proto.shape.dim)
    slices = tuple(decode_slice(piece) for piece in proto.slices)
    if not can_be(shape) or min(proto.shard_id, proto.offset, proto.size) < 0:
        message = (
            f"{name}: the record of tensor {key!r} is damaged: it tells shape {_shown(shape)}, and {proto.size} bytes at "
            f"{proto.offset} of data file {proto.shard_id}"
        )
        raise errors.DataLossError.of(message)
    return Entry(proto.dtype, shape, proto.shard_id, proto.offset, proto.size, proto.crc32c, slices)


def can_be(shape: tuple[int, ...]) -> bool:
    """Whether an array of this shape can be, in a memory however large."""
    return len(shape) <= _MAX_RANK and min(shape, default=0) >= 0 and math.prod(filter(None, shape)) <= _MAX_ELEMENTS


def _shown(shape: tuple[int, ...]) -> str:
    return str(list(shape)) if len(shape) <= _MAX_RANK else f"of {len(shape)} dimensions"


def decode_slice(proto: tensor_bundle_pb2.TensorSliceProto) -> TensorSlice:
    """The slice of a record."""
    extents = [(e.start, e.length) if e.HasField("length") else (0, FULL) for e in proto.extent]
    return TensorSlice(tuple(start for start, _ in extents), tuple(size for _, size in extents))
