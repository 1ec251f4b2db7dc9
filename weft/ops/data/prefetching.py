"""Datasets that work ahead of the step, on a thread of their own, as long as that is worth a thread."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Sequence

from weft.errors import CancelledError, InvalidArgumentError
from weft.framework.building.aliases import Array
from weft.framework.building.op_context import Caller, OpContext
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.data.element import (
    Element,
    ElementIterator,
    Iteration,
    Source,
    State,
    dataset_op,
    restored_item,
    saved_item,
    source_of,
)
from weft.ops.data.working_ahead import WorkingAhead
from weft.platform.files.file_access import limited_to

_TUNED_BUFFER = 8


class _Buffer:
    """What a prefetching thread shares with the one that takes elements: one of them works on the input at a time."""

    def __init__(self, input_iterator: ElementIterator, limit: int) -> None:
        self.input = input_iterator
        self.limit = limit
        self.changed = threading.Condition()
        self.items: deque[tuple[Element | None, Exception | None]] = deque()
        self.is_stopped = False
        self.is_paused = False
        self.is_working = False
        self.is_over = False
        self.caller: Caller | None = None
        self.pace = WorkingAhead(lambda: input_iterator.only_computes)

    def fill(self) -> None:
        """Take elements of the input until it is over or this is stopped."""
        caller = self.caller
        assert caller is not None
        with limited_to(caller.file_access):
            while self._begin():
                item: tuple[Element | None, Exception | None]
                try:
                    item = self.input.next(caller), None
                except Exception as error:
                    item = None, error
                with self.changed:
                    self.is_working = False
                    self.is_over = item == (None, None)
                    self.items.append(item)
                    self.changed.notify_all()
                del item
        if self.is_stopped:
            self.input.close()

    def _begin(self) -> bool:
        with self.changed:
            while self._has_to_wait():
                self.changed.wait()
            self.is_working = not (self.is_stopped or self.is_over)
            return self.is_working

    def _has_to_wait(self) -> bool:
        if self.is_working or self.is_stopped:
            return self.is_working
        return len(self.items) >= self.limit or self.is_paused or not self.pace.is_ahead

    def stop(self) -> None:
        """End the thread, which closes the input."""
        with self.changed:
            if self.is_stopped:
                return
            self.is_stopped = True
            self.changed.notify_all()
        if self.caller is None:
            self.input.close()
        else:
            self.caller.cancel(CancelledError.of("The iterator has ended"))

    @property
    def is_left_alone(self) -> bool:
        """Whether the thread leaves the input to whoever asks for an element, and nobody works on it."""
        return not (self.pace.is_ahead or self.is_working or self.is_stopped or self.is_over or self.is_paused)

    def make(self, caller: Caller) -> None:
        """Make elements on the thread of whoever asks for one, who has said that it works."""
        items: Sequence[tuple[Element | None, Exception | None]] = ()
        try:
            some = self.input.next_some(caller, min(self.limit, self.pace.at_once))
            items = [(element, None) for element in some] or [(None, None)]
        except Exception as error:
            items = [(None, error)]
        finally:
            with self.changed:
                self.is_working = False
                self.is_over = (None, None) in items
                self.items += items
                if self.is_stopped or self.is_paused:
                    self.changed.notify_all()

    def take(self) -> Element | None:
        """The first element, with the lock held; None at the end, which stays."""
        self.pace.note()
        element, error = self.items[0]
        if element is not None or error is not None:
            self.items.popleft()
        if self.pace.is_ahead:
            self.changed.notify_all()
        if error is not None:
            raise error
        return element


class PrefetchIterator(ElementIterator):
    """Elements that a thread takes beforehand, or, where that saves nothing, whoever asks for them.

    The thread begins with the first element and ends with this iterator.
    """

    def __init__(self, input_iterator: ElementIterator, limit: int) -> None:
        self._buffer = _Buffer(input_iterator, limit)
        self._stop = weakref.finalize(self, self._buffer.stop)
        self._stop.atexit = False

    @property
    def is_ready(self) -> bool:
        """Whether an element was made beforehand."""
        return bool(self._buffer.items)

    @property
    def only_computes(self) -> bool:
        """Whether the next element is made by whoever asks for it, out of an input that only computes."""
        return self._buffer.is_left_alone and self._buffer.input.only_computes

    def next(self, caller: Caller) -> Element | None:
        """The next element, for which it waits or works."""
        buffer = self._buffer
        if buffer.caller is None:
            self._start(caller)
        with buffer.changed:
            if not buffer.items:
                self._wait(caller)
            if buffer.items:
                return buffer.take()
            buffer.is_working = True
        buffer.make(caller)
        with buffer.changed:
            return buffer.take()

    def _start(self, caller: Caller) -> None:
        buffer = self._buffer
        buffer.caller = caller.apart()
        threading.Thread(target=buffer.fill, name="weft-prefetch", daemon=True).start()

    def _wait(self, caller: Caller) -> None:
        """Wait for an element, or until it is to be made here, with the buffer's lock held."""
        buffer = self._buffer
        if buffer.is_left_alone:
            return
        # The lock may not be held: at a cancellation that has happened this calls back at once.
        buffer.changed.release()
        try:
            withdraw = caller.on_cancel(self._wake)
        finally:
            buffer.changed.acquire()
        try:
            while not buffer.items and not buffer.is_left_alone:
                caller.raise_if_cancelled()
                if buffer.is_stopped:
                    raise CancelledError.of("The iterator was closed while a step waited for its next element")
                buffer.changed.wait()
        finally:
            withdraw()

    def _wake(self) -> None:
        with self._buffer.changed:
            self._buffer.changed.notify_all()

    def progress(self) -> str:
        """How far the element is that the thread takes."""
        return self._buffer.input.progress()

    def state(self) -> State:
        """What is in the buffer, and where the input is behind that."""
        buffer = self._buffer
        with buffer.changed:
            buffer.is_paused = True
            try:
                while buffer.is_working:
                    buffer.changed.wait()
                return [[saved_item(*item) for item in buffer.items], buffer.input.state()]
            finally:
                buffer.is_paused = False
                buffer.changed.notify_all()

    def restore(self, state: State, caller: Caller) -> None:
        """Have the same in the buffer; before the first element."""
        items, inner = state
        self._buffer.input.restore(inner, caller)
        self._buffer.items = deque(restored_item(item) for item in items)
        self._buffer.is_over = (None, None) in self._buffer.items

    def close(self) -> None:
        """End the thread."""
        self._stop()


class Prefetched(Source):
    """A dataset whose elements a thread takes beforehand."""

    def __init__(self, source: Source, limit: int) -> None:
        self._source = source
        self._limit = limit

    @property
    def size(self) -> int | None:
        """As many as there are."""
        return self._source.size

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        return PrefetchIterator(self._source.iterate(iteration), self._limit)


@dataset_op("PrefetchDataset", "input_dataset: variant, buffer_size: int64")
def prefetch_dataset(
    ctx: OpContext, input_dataset: Array, buffer_size: Array, *, output_types: list[DType], output_shapes: list[Dims],
    slack_period: int = 0, legacy_autotune: bool = True,
) -> Source:  # fmt: skip
    """Elements that are made before a step asks for them: `scalar variant, scalar int64 -> scalar variant`."""
    source, limit = source_of(input_dataset), int(buffer_size)
    if limit < -1:
        raise InvalidArgumentError.of("buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning")
    return source if limit == 0 else Prefetched(source, _TUNED_BUFFER if limit < 0 else limit)
