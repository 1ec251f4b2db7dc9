"""MessagePack's functions as its package ships them, whatever a program does to that package.

Libraries such as msgpack_numpy put other functions into `msgpack`, for the whole process: these take other arguments, pack
NumPy's values in a form of their own, and the other tasks of a cluster do not read it.
"""

from __future__ import annotations

from msgpack.exceptions import UnpackException

try:
    from msgpack._cmsgpack import Packer, unpackb
except ImportError:
    # A wheel without the compiled part.
    from msgpack.fallback import Packer, unpackb

__all__ = ["Packer", "UnpackException", "packb", "unpackb"]


def packb(value: object) -> bytes:
    """The bytes that stand for a value of MessagePack's types."""
    packed: bytes = Packer().pack(value)
    return packed
