"""The hash functions of TensorFlow's string buckets: FarmHash64 (fast), SipHash-2-4 (strong), MurmurHash64A (old).

All of them are fixed for ever: checkpoints of models that bucket strings depend on the values. The first two are compiled where
packages of them exist (`pyproject.toml` says for which machines); a key takes 0.13 µs then, against 4 and 27 µs in Python.
SipHash comes from `siphashc`: `siphash24` makes an object for each key, which takes 0.65 µs (one core of an AMD EPYC, 2026-11).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from weft.framework.building.aliases import Array
from weft.ops.strings.portable_hash import murmur_hash_64

try:
    from farmhash import fingerprint64 as farm_hash_64
    from farmhash import fingerprint128 as farm_hash_128
except ImportError:
    from weft.ops.strings.portable_hash import farm_hash_64
    from weft.ops.strings.portable_hash_128 import farm_hash_128

try:
    from siphashc import siphash as sip_hash
except ImportError:
    from weft.ops.strings.portable_hash import sip_hash  # type: ignore[assignment]


def fingerprints(texts: Sequence[bytes]) -> Array:
    """FarmHash64 of each text: `[n] uint64`."""
    return np.fromiter(map(farm_hash_64, texts), np.uint64, len(texts))


def long_fingerprints(texts: Sequence[bytes]) -> Array:
    """FarmHash128 of each text, its low bits first: `[n, 2] uint64`."""
    return np.array([farm_hash_128(text) for text in texts], np.uint64).reshape(len(texts), 2)


def keyed_hashes(texts: Sequence[bytes], key: tuple[int, int]) -> Array:
    """SipHash-2-4 of each text with a key of two 64-bit numbers: `[n] uint64`."""
    words = b"".join(word.to_bytes(8, "little") for word in key)
    return np.fromiter(map(partial(sip_hash, words), texts), np.uint64, len(texts))


def old_hashes(texts: Sequence[bytes]) -> Array:
    """MurmurHash64A of each text: `[n] uint64`."""
    return np.fromiter(map(murmur_hash_64, texts), np.uint64, len(texts))
