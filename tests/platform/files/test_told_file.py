"""A store's file is watched while it may reach the store."""

from __future__ import annotations

import contextlib
import copy
import io
from collections.abc import Iterator

from weft.platform.files.told_file import ToldFile


def test_every_way_of_writing_is_watched_and_a_copy_can_be_made() -> None:
    watched: list[int] = []

    @contextlib.contextmanager
    def watch() -> Iterator[None]:
        watched.append(1)
        yield

    store = io.BytesIO()
    file = ToldFile(store, watch)
    file.write(b"ab")
    file.writelines([b"c", b"d"])
    copy.copy(file).truncate(3)
    assert (store.getvalue(), len(watched)) == (b"abc", 3)
