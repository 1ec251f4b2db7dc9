"""Sequence: batches by index, as programs derive them."""

from __future__ import annotations

from collections.abc import Iterator

from weft.framework.aliases import Nest
from weft.framework.printed import printed


class Sequence:
    """The base of objects that give batches by index: subclasses write `__getitem__` and `__len__`."""

    __repr__ = printed("tf.keras.utils")

    def __getitem__(self, index: int) -> Nest:
        """A batch."""
        raise NotImplementedError

    def __len__(self) -> int:
        """How many batches there are."""
        raise NotImplementedError

    def on_epoch_end(self) -> None:
        """Run after each epoch."""

    def __iter__(self) -> Iterator[Nest]:
        """All batches, in order."""
        return (self[index] for index in range(len(self)))
