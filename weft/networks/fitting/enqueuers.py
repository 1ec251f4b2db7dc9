"""Enqueuers: threads that get the batches of a Sequence or generator ready before they are taken."""

from __future__ import annotations

import queue
import random
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

import numpy as np

from weft.framework.building.aliases import Nest
from weft.framework.types.printed import printed
from weft.platform.waits.wait_watch import Watched

# How long a thread waits before it looks again whether it is to stop.
_POLL_S: Final = 0.1
_ENDED: Final = object()
_OF_BATCHES: Final = "Its `__getitem__`, or the generator, has not come back yet: look at what it reads and waits for."
_OF_STOPPING: Final = "They end when the batch that they work at is ready: look at what it reads and waits for."


class SequenceEnqueuer:
    """The base of enqueuers: `start`, take batches of `get()`, `stop`.

    Args:
        sequence: what gives the batches.
        use_multiprocessing: not used: threads get them ready.
    """

    __repr__ = printed("tf.keras.utils")

    def __init__(self, sequence: Nest, use_multiprocessing: bool = False) -> None:
        self.sequence = sequence
        self.use_multiprocessing = use_multiprocessing
        self.workers = 0
        self.queue: queue.Queue[Nest] = queue.Queue()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def is_running(self) -> bool:
        """Whether threads get batches ready."""
        return self._thread is not None and not self._stop.is_set()

    def start(self, workers: int = 1, max_queue_size: int = 10) -> None:
        """Begin to get batches ready.

        Args:
            workers: how many threads.
            max_queue_size: how many batches may wait.
        """
        self.workers = max(workers, 1)
        self.queue = queue.Queue(max(max_queue_size, 1))
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, name="weft keras enqueuer", daemon=True)
        self._thread.start()

    def stop(self, timeout: float | None = None) -> None:
        """End the threads.

        Args:
            timeout: how many seconds to wait for them; until they end when None.
        """
        self._stop.set()
        if self._thread is not None:
            with Watched(lambda: f"{type(self).__name__}.stop has waited for its threads", _OF_STOPPING):
                self._thread.join(timeout)

    def get(self) -> Iterator[Nest]:
        """The batches, as they become ready; what the sequence raises is raised here."""
        while self.is_running():
            with Watched(self._told, _OF_BATCHES):
                ready = self._taken()
                if ready is _ENDED:
                    # For those who ask again.
                    self.queue.put_nowait(_ENDED)
                    return
                try:
                    batch = ready.result() if isinstance(ready, Future) else ready
                except BaseException:
                    self.stop(0)
                    raise
            if batch is not None:
                yield batch

    def _told(self) -> str:
        return f"{type(self).__name__}.get has waited for a batch of {type(self.sequence).__name__}"

    def _taken(self) -> Nest:
        """What is next in the queue; None when the threads were told to end."""
        while self.is_running():
            try:
                return self.queue.get(timeout=_POLL_S)
            except queue.Empty:
                continue
        return None

    def _run(self) -> None:
        try:
            self._enqueue()
        except BaseException as error:
            failed: Future[Nest] = Future()
            failed.set_exception(error)
            self._put(failed)
        self._put(_ENDED)

    def _enqueue(self) -> None:
        """Put batches, or Futures of them, until there are no more or `_put` is False."""
        raise NotImplementedError

    def _put(self, value: Nest) -> bool:
        """Let a batch wait to be taken; False when it is time to stop."""
        while not self._stop.is_set():
            try:
                self.queue.put(value, timeout=_POLL_S)
            except queue.Full:
                continue
            return True
        return False


class OrderedEnqueuer(SequenceEnqueuer):
    """The batches of a `tf.keras.utils.Sequence`, epoch after epoch, in order.

    Args:
        sequence: the Sequence.
        use_multiprocessing: not used: threads get them ready.
        shuffle: whether each epoch has an order of its own.
    """

    def __init__(self, sequence: Nest, use_multiprocessing: bool = False, shuffle: bool = False) -> None:
        super().__init__(sequence, use_multiprocessing)
        self.shuffle = shuffle

    def _enqueue(self) -> None:
        while not self._stop.is_set():
            order = list(range(len(self.sequence)))
            if not order:
                raise ValueError(f"OrderedEnqueuer: {self.sequence!r} has no batches: its `__len__` gives 0.")
            if self.shuffle:
                random.shuffle(order)
            # Its end waits for the epoch's batches, which only the queue keeps.
            with ThreadPoolExecutor(self.workers) as pool:
                for index in order:
                    if not self._put(pool.submit(self.sequence.__getitem__, index)):
                        return
            if hasattr(self.sequence, "on_epoch_end"):
                self.sequence.on_epoch_end()


class GeneratorEnqueuer(SequenceEnqueuer):
    """The batches of a generator, in the order in which it gives them.

    Args:
        sequence: the generator.
        use_multiprocessing: not used: a thread gets them ready.
        random_seed: seeds NumPy's global random state before the first.
    """

    def __init__(self, sequence: Nest, use_multiprocessing: bool = False, random_seed: int | None = None) -> None:
        super().__init__(sequence, use_multiprocessing)
        self.random_seed = random_seed

    def _enqueue(self) -> None:
        if self.random_seed is not None:
            np.random.seed(self.random_seed)
        for each in self.sequence:
            if not self._put(each):
                return
