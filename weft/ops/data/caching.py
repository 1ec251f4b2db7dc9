"""Datasets that keep their elements, in memory or in a file, and those that pass over errors or repetitions."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator

from weft.checkpoint.records import as_record, records
from weft.errors import InvalidArgumentError, NotFoundError, OpError
from weft.framework.building.aliases import Array
from weft.framework.building.op_context import Caller, OpContext
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.data.element import (
    Element,
    ElementIterator,
    Iteration,
    OverInput,
    Source,
    State,
    dataset_op,
    source_of,
)
from weft.ops.data.reshaping import ListIterator
from weft.ops.data.state_text import state_of_text, text_of_state
from weft.platform.files import gfile
from weft.platform.files.missing_file import what_is_there


class _Kept:
    """The elements of one pass, once it is complete."""

    def __init__(self) -> None:
        self.elements: list[Element] | None = None


class Cached(Source):
    """A dataset whose elements are made once in an iteration, and kept in memory for its further passes."""

    def __init__(self, source: Source) -> None:
        self._source = source

    @property
    def size(self) -> int | None:
        """As many as there are."""
        return self._source.size

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        kept = iteration.kept(self, _Kept)
        if kept.elements is not None:
            return CachedIterator(ListIterator(kept.elements), kept, is_filling=False)
        return CachedIterator(self._source.iterate(iteration), kept, is_filling=True)


class CachedIterator(OverInput):
    """The first pass, which keeps what it takes, or a later one."""

    def __init__(self, over: ElementIterator, kept: _Kept, is_filling: bool) -> None:
        super().__init__(over)
        self._kept = kept
        self._is_filling = is_filling
        self._taken: list[Element] = []

    @property
    def only_computes(self) -> bool:
        """Whether the input does."""
        return self._input.only_computes

    def next(self, caller: Caller) -> Element | None:
        """The next element."""
        element = self._input.next(caller)
        if self._is_filling:
            if element is not None:
                self._taken.append(element)
            elif self._kept.elements is None:
                self._kept.elements = self._taken
        return element

    def state(self) -> State:
        """What is kept, and where this pass is."""
        return [self._kept.elements, self._is_filling, self._taken, self._input.state()]

    def restore(self, state: State, caller: Caller) -> None:
        """Go there."""
        self._kept.elements, self._is_filling, self._taken, inner = state
        if not self._is_filling:
            self._input.close()
            self._input = ListIterator(self._kept.elements or [])
        self._input.restore(inner, caller)


class FileCached(Source):
    """A dataset whose elements are kept in a file, which later iterations and programs read."""

    def __init__(self, source: Source, path: str) -> None:
        self._source = source
        self._path = path

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        if gfile.Exists(self._path):
            return FileReadIterator(self._path)
        return FileWriteIterator(self._source.iterate(iteration), self._path)


class FileReadIterator(ElementIterator):
    """Elements out of a file."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._records: Iterator[bytes] = records(path)
        self._taken = 0

    def next(self, caller: Caller) -> Element | None:
        """The next element."""
        data = next(self._records, None)
        if data is None:
            return None
        self._taken += 1
        element: Element = state_of_text(data)
        return element

    def state(self) -> State:
        """How many were read."""
        return self._taken

    def restore(self, state: State, caller: Caller) -> None:
        """Go behind as many."""
        for _ in range(state):
            self.next(caller)


class FileWriteIterator(OverInput):
    """Elements that are written to a file, which gets its name when all are there."""

    def __init__(self, over: ElementIterator, path: str) -> None:
        super().__init__(over)
        self._path = path
        # Several iterations may fill one cache at a time, in one process or on several hosts; the last to end names it.
        self._partial = f"{path}.{uuid.uuid4().hex}.incomplete"
        self._file: gfile.GFile | None = None
        self._is_over = False

    def next(self, caller: Caller) -> Element | None:
        """The next element."""
        if self._is_over:
            return None
        if self._file is None:
            self._file = self._opened()
        element = self._input.next(caller)
        if element is not None:
            self._file.write(as_record(text_of_state(element)))
            return element
        self._is_over = True
        self._file.write(b"")
        self._file.close()
        self._file = None
        gfile.Rename(self._partial, self._path, overwrite=True)
        return None

    def _opened(self) -> gfile.GFile:
        """The file, which is made now, not with the first element that fills a buffer."""
        file = gfile.GFile(self._partial, "wb")
        try:
            file.write(b"")
        except NotFoundError as error:
            raise NotFoundError.of(
                f"{error.message}. The cache {self._path!r} cannot be written.{what_is_there(self._path)} Make its folder "
                f"before: tf.gfile.MakeDirs({os.path.dirname(self._path)!r})"
            ) from None
        return file

    def state(self) -> State:
        """Where the input is; the file begins anew."""
        return [self._is_over, self._input.state()]

    def restore(self, state: State, caller: Caller) -> None:
        """Write again what was taken, so that the file is whole."""
        raise InvalidArgumentError.of(f"An iterator that fills the cache {self._path} cannot be restored; restore it before")

    def close(self) -> None:
        """Drop a file that is not complete."""
        file, self._file = self._file, None
        if file is not None:
            file.close()
            gfile.Remove(self._partial)
        super().close()


@dataset_op("CacheDataset", "input_dataset: variant, filename: string")
def cache_dataset(
    ctx: OpContext, input_dataset: Array, filename: Array, *, output_types: list[DType], output_shapes: list[Dims]
) -> Source:
    """Elements that are kept, in memory where there is no name of a file: `scalar variant, scalar string -> scalar variant`."""
    source, path = source_of(input_dataset), bytes(filename.item()).decode()
    return FileCached(source, path) if path else Cached(source)


class Forgiving(Source):
    """The elements that can be made."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        return ForgivingIterator(self._source.iterate(iteration))


class ForgivingIterator(OverInput):
    """The elements that can be made."""

    def next(self, caller: Caller) -> Element | None:
        """The next element."""
        while True:
            try:
                return self._input.next(caller)
            except OpError:
                # A step that has ended is no fault of an element.
                caller.raise_if_cancelled()


@dataset_op("IgnoreErrorsDataset", "input_dataset: variant")
def ignore_errors_dataset(
    ctx: OpContext, input_dataset: Array, *, output_types: list[DType], output_shapes: list[Dims]
) -> Source:
    """The elements that can be made: `scalar variant -> scalar variant`."""
    return Forgiving(source_of(input_dataset))


class Unique(Source):
    """Each element once."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        return UniqueIterator(self._source.iterate(iteration))


class UniqueIterator(OverInput):
    """Each element of one component once."""

    def __init__(self, over: ElementIterator) -> None:
        super().__init__(over)
        self._seen: set[bytes] = set()

    def next(self, caller: Caller) -> Element | None:
        """The next element that did not come before."""
        while (element := self._input.next(caller)) is not None:
            key = text_of_state(element[0])
            if key not in self._seen:
                self._seen.add(key)
                return element
        return None

    def state(self) -> State:
        """What came, and where the input is."""
        return [sorted(self._seen), self._input.state()]

    def restore(self, state: State, caller: Caller) -> None:
        """Go there."""
        self._seen = set(state[0])
        self._input.restore(state[1], caller)


@dataset_op("UniqueDataset", "input_dataset: variant")
def unique_dataset(ctx: OpContext, input_dataset: Array, *, output_types: list[DType], output_shapes: list[Dims]) -> Source:
    """Each element once: `scalar variant -> scalar variant`."""
    return Unique(source_of(input_dataset))
