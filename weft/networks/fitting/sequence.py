"""Sequence: batches by index, as programs derive them; they are made in the thread that trains."""

from __future__ import annotations

from collections.abc import Iterator

from weft.framework.building.aliases import Nest
from weft.framework.types.printed import printed


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


def terminate_keras_multiprocessing_pools(grace_period: float = 0.1, use_sigkill: bool = False) -> None:
    """End the processes that make batches: there are none, for weft makes batches in the thread that trains.

    Args:
        grace_period: for how many seconds processes would be waited for.
        use_sigkill: whether those that stay would be killed.
    """
