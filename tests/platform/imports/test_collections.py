"""Blocks without collections leave the collector as they found it."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import pytest

from weft.platform.imports.collections import paused_collections


@pytest.fixture(autouse=True)
def collecting() -> Iterator[None]:
    assert gc.isenabled()
    yield
    gc.enable()


def test_nothing_is_collected_inside_and_again_behind_an_error() -> None:
    def fail() -> None:
        with paused_collections():
            assert not gc.isenabled()
            raise ValueError("inside")

    with pytest.raises(ValueError, match="inside"):
        fail()
    assert gc.isenabled()


def test_a_program_that_switched_collections_off_keeps_them_off() -> None:
    gc.disable()
    with paused_collections():
        pass
    assert not gc.isenabled()


def test_blocks_of_two_threads_end_with_collections_on_in_any_order() -> None:
    begun, may_end = threading.Event(), threading.Event()

    def other() -> None:
        with paused_collections():
            begun.set()
            may_end.wait(10)

    thread = threading.Thread(target=other)
    thread.start()
    begun.wait(10)
    with paused_collections():
        may_end.set()
        thread.join()
    assert gc.isenabled()
