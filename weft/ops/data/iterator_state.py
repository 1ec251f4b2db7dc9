"""IteratorState: the resource behind an iterator's handle. It has an iteration, or none yet, and steps take turns at it."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Final

from weft.errors import FailedPreconditionError, InvalidArgumentError, OutOfRangeError
from weft.framework.building.op_context import Caller, OpContext
from weft.framework.nodes.built_at import named
from weft.framework.op_types.unshared import unshared
from weft.framework.types.dims import Dims, brackets, dims_compatible
from weft.framework.types.dtypes import DType
from weft.ops.cancellable_lock import CancellableLock
from weft.ops.data.element import Element, ElementIterator, Iteration, Source
from weft.ops.data.state_text import state_of_text, text_of_state
from weft.platform.waits.wait_watch import Watched

_OF_ELEMENTS: Final = (
    "Look at what its dataset reads and calls, and how many elements it needs for one; Dataset.prefetch works ahead."
)


@unshared
class IteratorState:
    """An iterator that outlives steps and sessions. Safe from any thread; one step at a time takes an element.

    Args:
        name: its name, for messages.
        types, shapes: those of the elements' components.
    """

    def __init__(self, name: str, types: Sequence[DType], shapes: Sequence[Dims]) -> None:
        self.name = name
        self.types = tuple(types)
        self.shapes = tuple(shapes)
        self._caller: Caller | None = None
        self._lock = CancellableLock()
        self._source: Source | None = None
        self._elements: ElementIterator | None = None
        # Whether the last element took no longer than Python lets a thread compute before another gets the interpreter: one
        # like it is made on the step's own thread, which costs less than to hand it to another and wait for that.
        self._is_quick = False

    def check(self, types: Sequence[DType], shapes: Sequence[Dims]) -> None:
        """Refuse a node that expects other elements; InvalidArgumentError."""
        if types and tuple(types) != self.types:
            found, wanted = (", ".join(each.name for each in kinds) for kinds in (self.types, types))
            raise InvalidArgumentError.of(
                f"Number of components or their types do not match: iterator {self.name!r} has elements of types "
                f"({found}), expected are ({wanted})"
            )
        for number, (own, wanted_dims) in enumerate(zip(self.shapes, shapes, strict=False)):
            if not dims_compatible(own, wanted_dims):
                raise InvalidArgumentError.of(
                    f"Incompatible shapes at component {number} of iterator {self.name!r}: expected "
                    f"{_text(wanted_dims)} but got {_text(own)}."
                )

    @property
    def is_begun(self) -> bool:
        """Whether it has got a dataset."""
        return self._source is not None

    def begin(self, ctx: OpContext, source: Source) -> None:
        """Go over a dataset from its beginning."""
        with self._lock.held(ctx):
            self._begin(ctx, source)

    def begin_once(self, ctx: OpContext, source: Source) -> None:
        """Go over a dataset, if there is none yet."""
        with self._lock.held(ctx):
            if self._source is None:
                self._begin(ctx, source)

    def _begin(self, ctx: OpContext, source: Source) -> None:
        old, self._elements = self._elements, None
        if old is not None:
            old.close()
        self._source = source
        self._is_quick = False
        # Random nodes in functions begin anew, and go on from one element to the next.
        self._caller = ctx.caller()
        self._elements = source.iterate(Iteration())

    def next(self, ctx: OpContext) -> Element:
        """The next element.

        Raises:
            FailedPreconditionError: it was not initialized.
            OutOfRangeError: there are no more.
        """
        element = self.next_or_none(ctx)
        if element is None:
            raise OutOfRangeError.of("End of sequence")
        return element

    def next_or_none(self, ctx: OpContext) -> Element | None:
        """The next element; None at the end."""
        with self._lock.held(ctx):
            if self._elements is None:
                raise FailedPreconditionError.of(
                    "GetNext() failed because the iterator has not been initialized. Ensure that you have run the initializer "
                    f"operation for this iterator before getting the next element. (Iterator {self.name!r})"
                )
            elements, caller = self._elements, ctx.caller(self._caller)
            if elements.is_ready:
                return elements.next(caller)
            if self._is_quick and elements.only_computes:
                # What it is made of, such as a buffer that shuffles, is whole behind it: Ctrl-C waits for the stage's end.
                return self._taken(elements, caller)
            if ctx.parking is not None:
                raise ctx.parking.pass_on()
            with Watched(lambda: self._told(ctx), lambda: _advice(elements)):
                return self._taken(elements, caller)

    def _taken(self, elements: ElementIterator, caller: Caller) -> Element | None:
        begin_s = time.perf_counter()
        element = elements.next(caller)
        self._is_quick = time.perf_counter() - begin_s < sys.getswitchinterval()
        return element

    def _told(self, ctx: OpContext) -> str:
        node = named(ctx.op.type, ctx.op.name, ctx.op.built_from)
        return f"{node} has waited for the next element of the iterator {self.name!r}"

    def save(self, ctx: OpContext) -> bytes:
        """Where it is; FailedPreconditionError when it was not initialized."""
        with self._lock.held(ctx):
            if self._elements is None:
                raise FailedPreconditionError.of(
                    f"SerializeIterator failed because the iterator {self.name!r} has not been initialized. Ensure that you "
                    "have run the initializer operation for this iterator before saving it."
                )
            return text_of_state(self._elements.state())

    def restore(self, ctx: OpContext, text: bytes) -> None:
        """Go to where an iterator over an equal dataset was saved; FailedPreconditionError where this one has no dataset."""
        with self._lock.held(ctx):
            if self._source is None:
                raise FailedPreconditionError.of(
                    f"DeserializeIterator failed because the iterator {self.name!r} has not been initialized. Ensure that you "
                    "have run the initializer operation for this iterator before restoring it."
                )
            self._begin(ctx, self._source)
            assert self._elements is not None
            self._elements.restore(state_of_text(text), ctx.caller(self._caller))

    def close(self) -> None:
        """End threads and close files."""
        elements, self._elements = self._elements, None
        if elements is not None:
            elements.close()


def _advice(elements: ElementIterator) -> str:
    progress = elements.progress()
    return f"So far {progress}. {_OF_ELEMENTS}" if progress else _OF_ELEMENTS


def _text(dims: Dims) -> str:
    return "<unknown>" if dims is None else brackets(dims)
