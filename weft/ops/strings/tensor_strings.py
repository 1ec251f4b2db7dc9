"""Tensors as strings and back, packed strings, Examples written as JSON, fingerprints."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from typing import Final

import numpy as np
from google.protobuf import json_format
from google.protobuf.message import DecodeError
from tensorboard.compat.proto import tensor_pb2

from weft.errors import DataLossError, InvalidArgumentError
from weft.framework.building.aliases import Array, DTypeLike, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_util import make_ndarray, make_tensor_proto
from weft.ops.declaration import op, same_as_input, scalar_shape, unknown
from weft.ops.dispatch import dispatchable
from weft.ops.strings.hash import fingerprints
from weft.proto import example_pb2


def _boxed(texts: list[bytes], shape: tuple[int, ...]) -> Array:
    array = np.empty(len(texts), object)
    array[:] = texts
    return array.reshape(shape)


@op("SerializeTensor", "tensor: T -> serialized: string", infer=scalar_shape, gradient=None)
def serialize_tensor_node(ctx: OpContext, tensor: Array) -> Result:
    """The tensor as a serialized TensorProto: `[...] -> scalar`."""
    return _boxed([make_tensor_proto(tensor).SerializeToString()], ())


def serialize_tensor(tensor: TensorLike, name: str | None = None) -> Tensor:
    """A tensor as a serialized TensorProto, a scalar string.

    Args:
        tensor: [...] tensor of any dtype.
    """
    return serialize_tensor_node(tensor, name=name)


@op("ParseTensor", "serialized: string -> output: out_type", infer=unknown, gradient=None)
def parse_tensor_node(ctx: OpContext, serialized: Array, *, out_type: DType) -> Result:
    """The tensor of a serialized TensorProto: `scalar -> [...]`."""
    if serialized.ndim:
        raise InvalidArgumentError.of(f"Expected `serialized` to be a scalar, got shape: {list(serialized.shape)}")
    try:
        array = make_ndarray(tensor_pb2.TensorProto.FromString(serialized.item()))
    except DecodeError:
        shown = str(serialized.item()[:100])[1:]
        raise InvalidArgumentError.of(f"Could not parse `serialized` as TensorProto: {shown}") from None
    found = dtypes.as_dtype(array.dtype)
    if found is not out_type:
        named, wanted = dtypes.datatype_name(found), dtypes.datatype_name(out_type)
        message = f"Type mismatch between parsed tensor ({named}) and dtype ({wanted})"
        raise InvalidArgumentError.of(message)
    return array


def parse_tensor(serialized: TensorLike, out_type: DTypeLike, name: str | None = None) -> Tensor:
    """The tensor, of type `out_type`, of a serialized TensorProto.

    Args:
        serialized: [] string.
        out_type: the dtype that it holds.
    """
    return parse_tensor_node(serialized, out_type=out_type, name=name)


_UNPACK: Final[dict[str, Callable[[bytes], bytes]]] = {"": bytes, "ZLIB": zlib.decompress, "GZIP": gzip.decompress}


@op("DecodeCompressed", "bytes: string -> output: string", infer=same_as_input, gradient=None)
def decode_compressed_node(ctx: OpContext, bytes: Array, *, compression_type: str = "") -> Result:
    """The strings unpacked: `[...] -> [...]`."""
    unpack = _UNPACK.get(compression_type)
    if unpack is None:
        raise InvalidArgumentError.of(f"Only ZLIB, GZIP or NONE are supported compressions, not {compression_type!r}")
    try:
        return _boxed([unpack(text) for text in bytes.ravel().tolist()], bytes.shape)
    except (zlib.error, EOFError, OSError) as error:
        raise DataLossError.of(f"a string is not {compression_type}: {error}") from error


@dispatchable
def decode_compressed(bytes: TensorLike, compression_type: str = "", name: str | None = None) -> Tensor:
    """Unpack strings that were packed as 'ZLIB' or 'GZIP' ('' leaves them as they are).

    Args:
        bytes: [...] tensor of strings.
        compression_type: 'ZLIB', 'GZIP' or ''.

    Returns:
        [...] tensor of strings.
    """
    return decode_compressed_node(bytes, compression_type=compression_type, name=name)


@op("DecodeJSONExample", "json_examples: string -> binary_examples: string", infer=same_as_input, gradient=None)
def decode_json_example(ctx: OpContext, json_examples: Array) -> Result:
    """Examples written as JSON, each as a serialized Example proto: `[...] -> [...]`.

    Args:
        json_examples: [...] tensor of strings.
    """
    made = []
    for index, text in enumerate(json_examples.ravel().tolist()):
        try:
            made.append(json_format.Parse(text, example_pb2.Example()).SerializeToString())
        except json_format.ParseError as error:
            raise InvalidArgumentError.of(f"Error while parsing JSON at {index}: {error}") from error
    return _boxed(made, json_examples.shape)


def _fingerprint_shape(node: Operation) -> list[Dims]:
    dims = node.inputs[0].dims
    if dims == ():
        raise ValueError("Shape must be at least rank 1 but is rank 0")
    return [(None if dims is None else dims[0], 8)]


@op(
    "Fingerprint", "data: T, method: string -> fingerprint: uint8", ranks={"method": 0}, infer=_fingerprint_shape, gradient=None
)
def fingerprint_node(ctx: OpContext, data: Array, method: Array) -> Result:
    """For each entry along the first dimension 8 bytes that depend on all of it.

    `[n, *inner], scalar -> [n, 8] uint8`.
    """
    if method.item() != b"farmhash64":
        raise InvalidArgumentError.of(f"Unsupported fingerprint method: {method.item().decode()}")
    if data.dtype != object:
        texts = [np.ascontiguousarray(row).tobytes() for row in data]
    elif data.ndim == 1:
        texts = data.tolist()
    else:
        # Of several strings those of each are put together.
        texts = [fingerprints(row.ravel().tolist()).tobytes() for row in data]
    return fingerprints(texts).view(np.uint8).reshape(len(texts), 8)


def fingerprint(data: TensorLike, method: str = "farmhash64", name: str | None = None) -> Tensor:
    """Fingerprints `[n, 8]` of the `n` entries along the first dimension; 'farmhash64' is the only method.

    Args:
        data: [n, ...] tensor of any dtype.
        method: 'farmhash64'.

    Returns:
        [n, 8] uint8 tensor.

    Raises:
        ValueError: there is no such method.
    """
    if isinstance(method, str) and method != "farmhash64":
        raise ValueError(f"Unsupported method: {method}; there is 'farmhash64'")
    return fingerprint_node(data, method, name=name)
