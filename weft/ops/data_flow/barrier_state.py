"""BarrierState: elements whose components come one by one, under a key, and which are taken when they are whole."""

from __future__ import annotations

import heapq
import logging
import threading
from collections.abc import Sequence
from typing import Final, NoReturn

import numpy as np

from weft.errors import CancelledError, DeadlineExceededError, InvalidArgumentError, OutOfRangeError
from weft.framework.building.aliases import Array
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.built_at import named
from weft.framework.op_types.unshared import unshared
from weft.framework.types.dims import Dims, brackets, dims_compatible
from weft.framework.types.dtypes import DType
from weft.platform.waits.wait_notice import WaitNotice

_LOG: Final = logging.getLogger("weft.queues")
# As TensorFlow counts the insertions.
_FIRST_INDEX: Final = -(1 << 63)


class _Element:
    """An element on its way to be whole."""

    __slots__ = ("index", "parts")

    def __init__(self, index: int, count: int) -> None:
        self.index = index
        self.parts: list[Array | None] = [None] * count


def _told(shapes: Sequence[Dims]) -> str:
    return f"[{','.join(brackets(dims or ()) for dims in shapes)}]"


def _names(types: Sequence[DType]) -> str:
    return ", ".join(each.name for each in types)


@unshared
class BarrierState:
    """The resource behind a barrier. Safe from any thread; `take` blocks, and is woken by cancellation.

    Elements are taken in the order in which their first components came.

    Args:
        name: for messages.
        types: those of the components.
        shapes: those of the components; none given is any.
    """

    def __init__(self, name: str, types: Sequence[DType], shapes: Sequence[Dims]) -> None:
        self.name = name
        self._types = list(types)
        self._shapes: list[Dims] = list(shapes) or [None] * len(self._types)
        self._changed = threading.Condition()
        self._incomplete: dict[bytes, _Element] = {}
        self._ready: list[tuple[int, int, bytes, list[Array]]] = []
        self._insertions = 0
        self._completed = 0
        self._is_closed = False
        self._is_cancelled = False

    @property
    def ready_size(self) -> int:
        """How many elements are whole."""
        with self._changed:
            return len(self._ready)

    @property
    def incomplete_size(self) -> int:
        """How many elements lack components."""
        with self._changed:
            return len(self._incomplete)

    def check_same(self, types: Sequence[DType], shapes: Sequence[Dims]) -> None:
        """Nothing where who shares the barrier means components like these.

        Shapes not given count as scalars here, as in TensorFlow.

        Raises:
            InvalidArgumentError: the types or the shapes differ.
        """
        if list(types) != self._types:
            self._refuse("types", _names(self._types), _names(types))
        own, asked = ([dims or () for dims in given] for given in (self._shapes, shapes or [()] * len(types)))
        if own != asked:
            self._refuse("shapes", _told(own), _told(asked))

    def _refuse(self, what: str, has: str, asked: str) -> NoReturn:
        raise InvalidArgumentError.of(
            f"Shared barrier '{self.name}' has component {what} {has} but requested component {what} were {asked}"
        )

    def insert(self, component: int, keys: Sequence[bytes], values: Array) -> None:
        """Give elements one component each; those that are whole by it can be taken.

        Raises:
            InvalidArgumentError: a key has the component already, or a value another shape.
            CancelledError: the barrier is closed, and a key is new to it.
        """
        if not 0 <= component < len(self._shapes):
            raise InvalidArgumentError.of(
                f"The component ID is out of range {component} > num_components (= {len(self._shapes)})"
            )
        self._check(component, keys, values)
        with self._changed:
            new = len(set(keys) - self._incomplete.keys())
            if self._is_cancelled or (self._is_closed and new):
                raise CancelledError.of(
                    f"Barrier {self.name} is closed.  Pending enqueues cancelled: {int(self._is_cancelled)}.  Number of new "
                    f"insertions: {new}.  Number of incomplete keys: {len(self._incomplete)}."
                )
            index = _FIRST_INDEX + self._insertions
            self._insertions += bool(new)
            try:
                for key, value in zip(keys, values, strict=True):
                    self._add(index, component, key, value)
            finally:
                # Also where a key is refused: those before it may be whole.
                self._changed.notify_all()

    def _check(self, component: int, keys: Sequence[bytes], values: Array) -> None:
        if keys and not values.size:
            raise InvalidArgumentError.of(
                f"Tensors with no elements are not supported {self.name}: received shape {brackets(values.shape)}"
            )
        if values.ndim == 0 or len(values) != len(keys):
            raise InvalidArgumentError.of(
                f"Barrier {self.name}: {len(keys)} keys need as many values, component {component} has shape "
                f"{list(values.shape)}"
            )
        if not dims_compatible(self._shapes[component], values.shape[1:]):
            raise InvalidArgumentError.of(
                f"Shape mismatch in tuple component {component}. Expected {brackets(self._shapes[component])}, got "
                f"{brackets(values.shape[1:])}"
            )

    def _add(self, index: int, component: int, key: bytes, value: Array) -> None:
        element = self._incomplete.setdefault(key, _Element(index, len(self._shapes)))
        if element.parts[component] is not None:
            raise InvalidArgumentError.of(
                f"Key {key.decode(errors='replace')} already has a value for component {component} in barrier {self.name}"
            )
        element.parts[component] = value
        parts = [part for part in element.parts if part is not None]
        if len(parts) == len(self._shapes):
            del self._incomplete[key]
            heapq.heappush(self._ready, (element.index, self._completed, key, parts))
            self._completed += 1

    def take(
        self, ctx: OpContext, count: int, allow_small_batch: bool, timeout_s: float | None
    ) -> list[tuple[int, bytes, list[Array]]]:  # fmt: skip
        """Wait for so many whole elements, and take them: index, key and components of each.

        Of a closed barrier a small batch is what is whole, also where more could become so: the steps that would bring it may
        be those that wait here.

        Raises:
            OutOfRangeError: the barrier is closed, and can have no more so many.
            DeadlineExceededError: they did not come in time.
        """
        notice: WaitNotice | None = None
        withdraw = ctx.on_cancel(self._wake)
        try:
            with self._changed:
                ctx.raise_if_cancelled()
                while (taken := self._taken(count, allow_small_batch)) is None:
                    notice = notice or WaitNotice()
                    left = notice.left_s if timeout_s is None else min(notice.left_s, timeout_s - notice.waited_s)
                    if left <= 0 and timeout_s is not None and notice.waited_s >= timeout_s:
                        raise DeadlineExceededError.of("Timed out waiting for notification")
                    self._changed.wait(max(left, 0.0))
                    if notice.is_due():
                        self._tell(ctx, notice.waited_s, count)
                    ctx.raise_if_cancelled()
                return taken
        finally:
            withdraw()

    def _taken(self, count: int, allow_small_batch: bool) -> list[tuple[int, bytes, list[Array]]] | None:
        size = count
        if len(self._ready) < count:
            if not self._is_closed:
                return None
            small = len(self._ready) if allow_small_batch else 0
            more = 0 if self._is_cancelled or allow_small_batch else len(self._incomplete)
            if not small and len(self._ready) + more < count:
                raise OutOfRangeError.of(
                    f"Barrier '{self.name}' is closed and has insufficient elements (requested {count}, total size "
                    f"{len(self._ready)})"
                )
            if not small:
                return None
            size = small
        return [(index, key, parts) for index, _, key, parts in (heapq.heappop(self._ready) for _ in range(size))]

    def close(self) -> None:
        """Let nothing in any more, and end all waits; the barrier is being dropped."""
        with self._changed:
            self._is_closed = self._is_cancelled = True
            self._changed.notify_all()

    def shut(self, cancel_pending_enqueues: bool) -> None:
        """Take no new keys from now on; with `cancel_pending_enqueues` no components either.

        Raises:
            CancelledError: it is closed already.
        """
        with self._changed:
            if self._is_closed and (self._is_cancelled or not cancel_pending_enqueues):
                raise CancelledError.of(f"Barrier '{self.name}' is already closed.")
            self._is_closed = True
            self._is_cancelled = cancel_pending_enqueues
            self._changed.notify_all()

    def _tell(self, ctx: OpContext, waited_s: float, count: int) -> None:
        _LOG.warning(
            "%s has waited %.0f s for %d element(s) of barrier %s, of which %d are whole and %d lack components. Something has "
            "to insert the missing components: queue runners (tf.train.start_queue_runners), or the steps that save states.",
            named(ctx.op.type, ctx.op.name, ctx.op.built_from), waited_s, count, self.name, len(self._ready),
            len(self._incomplete),
        )  # fmt: skip

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()


def joined(elements: Sequence[tuple[int, bytes, list[Array]]], shapes: Sequence[Array]) -> tuple[Array, Array, list[Array]]:
    """Indices, keys and components of elements, each as one array.

    Args:
        elements: what `take` gave.
        shapes: for each component an array of its type with no rows.
    """
    indices = np.array([index for index, _, _ in elements], np.int64)
    keys = np.empty(len(elements), np.object_)
    keys[:] = [key for _, key, _ in elements]
    if not elements:
        return indices, keys, list(shapes)
    columns = zip(*(parts for _, _, parts in elements), strict=True)
    return indices, keys, [np.stack([np.asarray(part) for part in column]) for column in columns]
