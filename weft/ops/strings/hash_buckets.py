"""Strings put into buckets by hashes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from weft.framework.building.aliases import Array, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dims import Dims
from weft.ops.declaration import not_differentiable, op, same_as_input
from weft.ops.dispatch import dispatchable
from weft.ops.strings.elementwise import invalid
from weft.ops.strings.hash import fingerprints, keyed_hashes, long_fingerprints, old_hashes


def _buckets(input: Array, count: int, hashes: Callable[[list[bytes]], Array]) -> Array:
    if count < 1:
        raise invalid(f"num_buckets must be positive, but is {count}")
    return (hashes(input.ravel().tolist()) % np.uint64(count)).astype(np.int64).reshape(input.shape)


@op("StringToHashBucketFast", "input: string -> output: int64", limits={"num_buckets": 1},
    infer=same_as_input, gradient=not_differentiable)  # fmt: skip
def string_to_hash_bucket_fast_node(ctx: OpContext, input: Array, *, num_buckets: int) -> Result:
    """The fingerprint of each string modulo the number of buckets: `[...] -> [...] int64`."""
    return _buckets(input, num_buckets, fingerprints)


@op("StringToHashBucketStrong", "input: string -> output: int64", limits={"num_buckets": 1},
    infer=same_as_input, gradient=not_differentiable)  # fmt: skip
def string_to_hash_bucket_strong_node(ctx: OpContext, input: Array, *, num_buckets: int, key: list[int]) -> Result:
    """The keyed hash of each string modulo the number of buckets: `[...] -> [...] int64`."""
    if len(key) != 2:
        raise invalid(f"Key must have 2 elements, but has {len(key)}")
    pair = key[0] & (1 << 64) - 1, key[1] & (1 << 64) - 1
    return _buckets(input, num_buckets, lambda texts: keyed_hashes(texts, pair))


@op("StringToHashBucket", "string_tensor: string -> output: int64", limits={"num_buckets": 1},
    infer=same_as_input, gradient=not_differentiable)  # fmt: skip
def string_to_hash_bucket_node(ctx: OpContext, string_tensor: Array, *, num_buckets: int) -> Result:
    """An older hash of each string modulo the number of buckets: `[...] -> [...] int64`."""
    return _buckets(string_tensor, num_buckets, old_hashes)


def _pairs(node: Operation) -> list[Dims]:
    dims = node.inputs[0].dims
    return [(None if dims is None else dims[0], 2)]


@op("SdcaFprint", "input: string -> output: int64", ranks={"input": 1}, infer=_pairs,
    gradient=not_differentiable)  # fmt: skip
def sdca_fprint(ctx: OpContext, input: Array) -> Result:
    """The long fingerprint of each string, by which examples are known: `[n] -> [n, 2] int64`.

    Args:
        input: [n] tensor of strings, the names of examples.
    """
    found = long_fingerprints(input.tolist())
    # The first numbers 0 and 1 are left to a table's keys that stand for none; these two wrap around to the largest ones.
    found[:, 0] -= found[:, 0] < 2
    return found.astype(np.int64)


@dispatchable
def string_to_hash_bucket_fast(input: TensorLike, num_buckets: int, name: str | None = None) -> Tensor:
    """Put strings into buckets by a fast hash.

    Args:
        input: [...] tensor of strings.
        num_buckets: how many buckets, an int.

    Returns:
        [...] int64 tensor, from 0 to `num_buckets - 1`.
    """
    return string_to_hash_bucket_fast_node(input, num_buckets=num_buckets, name=name)


@dispatchable
def string_to_hash_bucket_strong(input: TensorLike, num_buckets: int, key: TensorLike, name: str | None = None) -> Tensor:
    """Put strings into buckets by a hash that nobody without the key of two integers can predict.

    Args:
        input: [...] tensor of strings.
        num_buckets: how many buckets, an int.
        key: a list of two integers.

    Returns:
        [...] int64 tensor, from 0 to `num_buckets - 1`.
    """
    return string_to_hash_bucket_strong_node(input, num_buckets=num_buckets, key=key, name=name)


@dispatchable
def string_to_hash_bucket(
    string_tensor: TensorLike | None = None,
    num_buckets: int | None = None,
    name: str | None = None,
    input: TensorLike | None = None,
) -> Tensor:
    """Put strings into buckets by an old hash, kept for models that used it.

    Args:
        string_tensor, input: two names of the [...] tensor of strings.
        num_buckets: how many buckets, an int.

    Returns:
        [...] int64 tensor, from 0 to `num_buckets - 1`.
    """
    given = input if string_tensor is None else string_tensor
    return string_to_hash_bucket_node(given, num_buckets=num_buckets, name=name)
