"""The values of some features of a batch of serialized Examples: all values of a feature, and how many each example has.

Records whose layout is known are read at once (`weft/ops/io/example_layout.py`); others by the protocol buffer's parser, whose
values are written behind the records in the form that the layouts have.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from google.protobuf.message import DecodeError

from weft.framework.building.aliases import Array
from weft.ops.io import example_layout
from weft.ops.io.example_layout import Layout, Places, windows
from weft.ops.io.header_table import BYTES, FLOATS, INTEGERS, NO_KIND, PADDING
from weft.proto import example_pb2

_LISTS: Final = {BYTES: "bytes_list", FLOATS: "float_list", INTEGERS: "int64_list"}
# Layouts that are kept for a set of features, and those that are learnt from one batch: data whose records have hardly a layout
# in common is not searched for ever.
_KEPT: Final = 8
_LEARNT_AT_ONCE: Final = 4
_LONGEST_VARINT: Final = 10
_FLOAT: Final = 4
# A varint's bytes as a word: the bits that say that another byte follows, those of each size, and which of the former it has.
_WORD: Final = 8
_GOING_ON: Final = np.uint64(0x8080808080808080)
_OF_SIZE: Final = np.array([(1 << 8 * size) - 1 for size in range(_WORD + 1)], np.uint64)
_GOING_ON_OF_SIZE: Final = _GOING_ON & np.concatenate([[np.uint64(0)], _OF_SIZE[:-1]])


class Column(NamedTuple):
    """One feature: the values of all examples in a row, how many are each one's `[n]`, and which have the feature `[n]`.

    There are no numbers of values where each example has one, and all have the feature then: nobody looks at each, which takes
    25 us of CPU less for 128 examples of six features (two cores beside other work, December 2026).
    """

    values: Array
    numbers: Array | None
    present: Array

    @property
    def counts(self) -> Array:
        """How many values each example has."""
        return np.ones(len(self.present), np.int64) if self.numbers is None else self.numbers


class _MisfitError(Exception):
    """A feature is not of the kind that is wanted, or malformed."""


class _Wanted(NamedTuple):
    """A feature to read: its key and kind."""

    key: bytes
    kind: int


def columns_of(records: Sequence[bytes], wanted: Sequence[tuple[bytes, int]]) -> list[Column] | None:
    """The columns of the features of these keys and kinds; None where one is of another kind, or a record malformed."""
    features = tuple(_Wanted(key, kind) for key, kind in wanted)
    try:
        batch = _Batch(records, features)
        batch.read_by_layouts(_layouts_of(features))
        batch.read_the_rest()
        return batch.columns()
    except (_MisfitError, DecodeError):
        return None


@lru_cache(maxsize=64)
def _layouts_of(wanted: tuple[_Wanted, ...]) -> list[Layout]:
    """The layouts that records with these features had, the last one that was of use first."""
    return []


class _Found(NamedTuple):
    """Where each record has the values of one feature, how many bytes they are, and whether it has the feature: `[n]` each."""

    starts: Array
    sizes: Array
    present: Array

    @classmethod
    def of(cls, places: Places | None, count: int) -> _Found:
        """The places of all records; nowhere without."""
        if places is None:
            return cls(np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros(count, np.bool_))
        return cls(places.starts, places.sizes, np.ones(count, np.bool_) if places.present is None else places.present)

    def put(self, rows: Array, places: Places, chosen: Array) -> None:
        """Note the chosen ones of some places for these rows."""
        self.starts[rows], self.sizes[rows] = places.starts[chosen], places.sizes[chosen]
        self.present[rows] = True if places.present is None else places.present[chosen]


class _Batch:
    """Records in a row, and where each one's values of the wanted features lie."""

    def __init__(self, records: Sequence[bytes], wanted: Sequence[_Wanted]) -> None:
        self._records, self._wanted = records, wanted
        count = len(records)
        sizes = np.fromiter(map(len, records), np.int64, count)
        self._ends = np.cumsum(sizes)
        self._begins = self._ends - sizes
        self._data = b"".join([*records, PADDING])
        self._left = np.arange(count)
        self._found: list[_Found] = []

    def read_by_layouts(self, layouts: list[Layout]) -> None:
        """Read the records that have one of the layouts, and learn some more."""
        for layout in list(layouts):
            if not len(self._left):
                return
            self._read(layout)
        for _ in range(_LEARNT_AT_ONCE):
            if not len(self._left):
                return
            learnt = example_layout.learn(self._records[self._left[0]])
            if learnt is None:
                return
            # Threads may do so at the same time: each statement leaves a list of layouts.
            for known in list(layouts):
                both = example_layout.unified(known, learnt)
                if both is not None:
                    layouts[:] = [layout for layout in layouts if layout is not known]
                    learnt = both
            self._read(learnt)
            layouts.insert(0, learnt)
            del layouts[_KEPT:]

    def _read(self, layout: Layout) -> None:
        everything = len(self._left) == len(self._begins)
        begins, ends = (self._begins, self._ends) if everything else (self._begins[self._left], self._ends[self._left])
        fits, places = example_layout.locate(layout, self._data, begins, ends)
        found = {entry.key: (entry.kind, place) for entry, place in zip(layout.entries, places, strict=True)}
        if everything and fits.all():
            # As mostly; to copy the places costs a tenth of all.
            self._found = [_Found.of(self._place(found, each), len(fits)) for each in self._wanted]
            self._left = self._left[:0]
            return
        chosen = np.flatnonzero(fits)
        rows = self._left[chosen]
        if len(chosen):
            for into, wanted in zip(self._places(), self._wanted, strict=True):
                place = self._place(found, wanted)
                if place is not None:
                    into.put(rows, place, chosen)
        self._left = self._left[~fits]

    def _place(self, found: dict[bytes, tuple[int, Places]], wanted: _Wanted) -> Places | None:
        """Where a layout has the values of a feature; None where it has none."""
        kind, place = found.get(wanted.key, (NO_KIND, None))
        if kind == NO_KIND:
            return None
        if kind != wanted.kind:
            raise _MisfitError
        return place

    def _places(self) -> list[_Found]:
        """Where the values of each feature are; nowhere yet."""
        if not self._found:
            self._found = [_Found.of(None, len(self._begins)) for _ in self._wanted]
        return self._found

    def read_the_rest(self) -> None:
        """Read the records that had no layout one by one; DecodeError where one is malformed."""
        position, added = len(self._data) - len(PADDING), []
        for row in self._left.tolist():
            features = example_pb2.Example.FromString(self._records[row]).features
            for into, (key, kind) in zip(self._places(), self._wanted, strict=True):
                text = _rewritten(features, key.decode(), kind)
                if text is not None:
                    into.starts[row], into.sizes[row], into.present[row] = position, len(text), True
                    added.append(text)
                    position += len(text)
        if added:
            self._data = b"".join([self._data[: -len(PADDING)], *added, PADDING])

    def columns(self) -> list[Column]:
        """The values of each feature."""
        places = zip(self._wanted, self._places(), strict=True)
        return [Column(*_values(self._data, found.starts, found.sizes, kind), found.present) for (_, kind), found in places]


def _rewritten(features: example_pb2.Features, key: str, kind: int) -> bytes | None:
    """The values of a feature as they lie behind a header; None where there is no such feature."""
    if key not in features.feature:
        return None
    feature = features.feature[key]
    found = feature.WhichOneof("kind")
    if found is None:
        return None
    if found != _LISTS[kind]:
        raise _MisfitError
    values = getattr(feature, found)
    if kind == FLOATS:
        return np.array(values.value, "<f4").tobytes()
    # Of the values alone: the message as it came may have fields that nobody knows.
    text: bytes = type(values)(value=values.value).SerializeToString()
    if kind == BYTES or not text:
        return text
    # The tag and the length of the packed numbers stand before them.
    width = next(index for index, byte in enumerate(text[1:], 1) if byte < 0x80)
    return text[width + 1 :]


def _values(data: bytes, starts: Array, sizes: Array, kind: int) -> tuple[Array, Array | None]:
    """All values of a feature, and how many each record has; None for one each."""
    if kind == BYTES:
        return _texts(data, starts, sizes)
    if kind == INTEGERS and (numbers := _single_integers(data, starts, sizes)) is not None:
        return numbers, None
    first = int(sizes[0]) if len(sizes) else 0
    are_equal = first > 0 and bool((sizes == first).all())
    raw = windows(data, first, starts).reshape(-1) if are_equal else _gathered(data, starts, sizes)
    if kind == INTEGERS:
        return _integers(raw, sizes)
    if are_equal and first == _FLOAT:
        return raw.view("<f4"), None
    if (sizes & 3).any():
        raise _MisfitError
    return raw.view("<f4"), sizes >> 2


def _gathered(data: bytes, starts: Array, sizes: Array) -> Array:
    """The bytes of all places in a row."""
    pieces = [data[start:end] for start, end in zip(starts.tolist(), (starts + sizes).tolist(), strict=True)]
    return np.frombuffer(bytearray().join(pieces), np.uint8)


def _single_integers(data: bytes, starts: Array, sizes: Array) -> Array | None:
    """The numbers of places that hold one short varint each, as ids and labels do; None where one holds anything else.

    With two such features and eight floats a record takes 1.2 microseconds of CPU to parse, 2.3 before (two cores, 2026-11).
    """
    widest = int(sizes.max(initial=1))
    if widest > _WORD or not sizes.all():
        return None
    words = windows(data, _WORD, starts).view("<u8")[:, 0] & _OF_SIZE[sizes]
    if ((words & _GOING_ON) != _GOING_ON_OF_SIZE[sizes]).any():
        return None
    values = words & np.uint64(0x7F)
    for index in range(1, widest):
        values |= ((words >> np.uint64(8 * index)) & np.uint64(0x7F)) << np.uint64(7 * index)
    return values.view(np.int64)


def _integers(raw: Array, sizes: Array) -> tuple[Array, Array]:
    """The numbers of packed varints `[bytes]`, of which each record has some bytes."""
    is_last = raw < 0x80
    stops = np.cumsum(sizes)
    if not is_last[stops[sizes > 0] - 1].all():
        raise _MisfitError
    done = np.concatenate([[0], np.cumsum(is_last)])
    counts = done[stops] - done[stops - sizes]
    lasts = np.flatnonzero(is_last)
    firsts = np.concatenate([[0], lasts[:-1] + 1]) if len(lasts) else lasts
    widths = lasts - firsts + 1
    widest = int(widths.max(initial=0))
    if widest > _LONGEST_VARINT:
        raise _MisfitError
    values = np.zeros(len(lasts), np.uint64)
    for index in range(widest):
        wide = slice(None) if index == 0 else widths > index
        values[wide] |= (raw[firsts[wide] + index].astype(np.uint64) & np.uint64(0x7F)) << np.uint64(7 * index)
    return values.view(np.int64), counts


def _texts(data: bytes, starts: Array, sizes: Array) -> tuple[Array, Array | None]:
    """The strings of lists of them, of which each record has one; no counts where each list has one string."""
    stops = starts + sizes
    begins, ends = starts.tolist(), stops.tolist()
    if _are_single(data, starts, stops):
        texts = [data[begin + 2 : end] for begin, end in zip(begins, ends, strict=True)]
        return np.fromiter(texts, np.object_, len(texts)), None
    flat, counts = _short_texts(data, begins, ends)
    return np.fromiter(flat, np.object_, len(flat)), np.fromiter(counts, np.int64, len(counts))


def _are_single(data: bytes, starts: Array, stops: Array) -> bool:
    """Whether each place holds one short string."""
    head = windows(data, 2, starts)
    sizes = head[:, 1].astype(np.int64)
    return bool(((head[:, 0] == BYTES) & (sizes < 0x80) & (starts + sizes + 2 == stops)).all())


def _short_texts(data: bytes, starts: Sequence[int], stops: Sequence[int]) -> tuple[list[bytes], list[int]]:
    """All strings, and how many each place has; of lists with long ones by the protocol buffer's parser."""
    texts: list[bytes] = []
    counts: list[int] = []
    add = texts.append
    for start, stop in zip(starts, stops, strict=True):
        count, position = 0, start
        while position < stop:
            begin = position + 2
            end = begin + data[position + 1]
            if data[position] != BYTES or end - begin > 0x7F or end > stop:
                del texts[len(texts) - count :]
                found = example_pb2.BytesList.FromString(data[start:stop]).value
                texts += found
                count = len(found)
                break
            add(data[begin:end])
            count += 1
            position = end
        counts.append(count)
    return texts, counts
