"""Garbage collections while modules are imported or plans are made: none, and none that looks at what importing has made."""

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


@contextmanager
def paused_collections() -> Iterator[None]:
    """A block of some seconds at most that makes much which stays, such as a plan of thousands of nodes.

    A full collection looks at all that lives, whenever that has grown by a quarter: they made each of 10,000 variables twice as
    dear in the first step as each of 300.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
