"""Garbage collections while modules are imported: none, and none that looks at what importing has made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collections(is_beside: bool = False) -> Iterator[None]:
    """A block that makes much and leaves no garbage, such as an import. What there is at its end is looked at no more.

    Collections in the block would find nothing, and take a tenth of the time of importing weft, or JAX. Afterwards a full
    collection would look at all that was made, which takes 70 ms and more and lets every step of the process wait meanwhile.

    Args:
        is_beside: whether the program goes on in other threads, or has run for long; its own garbage is collected before what
            there is is put away.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
        if is_beside and collects:
            # One of so much that is new would come soon, too.
            gc.collect()
        gc.freeze()
    finally:
        if collects:
            gc.enable()
