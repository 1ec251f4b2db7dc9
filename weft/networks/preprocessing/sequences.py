"""Sequences of numbers as arrays: padded to one length, or cut into windows."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from weft.framework.building.aliases import Array, Nest
from weft.networks.config import Config, Options
from weft.networks.fitting.sequence import Sequence as BatchSequence


def pad_sequences(
    sequences: Sequence[Sequence[Nest]], maxlen: int | None = None, dtype: str = "int32", padding: str = "pre",
    truncating: str = "pre", value: float | str = 0.0,
) -> Array:  # fmt: skip
    """The sequences as one array: `[count, maxlen, ...]`.

    Args:
        sequences: lists of numbers, or of arrays of one shape.
        maxlen: the length; that of the longest when None.
        dtype: the type.
        padding: where values are added to shorter ones, "pre" or "post".
        truncating: where longer ones are cut, "pre" or "post".
        value: what is added.

    Raises:
        ValueError: no list of lists, rows of different shapes, or an unknown mode.
    """
    if not hasattr(sequences, "__len__"):
        raise ValueError("`sequences` must be iterable.")
    for each in sequences:
        if not hasattr(each, "__len__"):
            raise ValueError(f"`sequences` must be a list of iterables. Found non-iterable: {each}")
    for name, given in (("Padding", padding), ("Truncating", truncating)):
        if given not in ("pre", "post"):
            raise ValueError(f'{name} type "{given}" not understood')
    lengths = [len(each) for each in sequences]
    length = max(lengths, default=0) if maxlen is None else maxlen
    inner = next((np.asarray(each).shape[1:] for each in sequences if len(each)), ())
    made = np.full((len(lengths), length, *inner), value, dtype=dtype)
    for row, each in zip(made, sequences, strict=True):
        kept: Array = np.asarray(each[-length:] if truncating == "pre" else each[:length], dtype=dtype) if length else []
        if len(kept):
            row[-len(kept) if padding == "pre" else 0 : None if padding == "pre" else len(kept)] = kept
    return made


def make_sampling_table(size: int, sampling_factor: float = 1e-5) -> Array:
    """The probability that each word is kept, by its rank, if words are as frequent as Zipf's law says: `[size]`.

    Args:
        size: the number of words.
        sampling_factor: the less, the fewer of the frequent words are kept.
    """
    gamma = 0.577
    rank = np.arange(size)
    rank[0] = 1
    inverse = rank * (np.log(rank) + gamma) + 0.5 - 1.0 / (12.0 * rank)
    frequency = sampling_factor * inverse
    return np.minimum(1.0, frequency / np.sqrt(frequency))


class TimeseriesGenerator(BatchSequence):
    """Batches of windows cut from a series, each with the target behind it; used as a `utils.Sequence`.

    Args:
        data: `[times, ...]`.
        targets: `[times, ...]`, as many as data.
        length: how long a window is.
        sampling_rate: the distance of times in a window.
        stride: the distance of windows.
        start_index, end_index: which times to cut windows from.
        shuffle: whether windows come at random, by NumPy's global random state.
        reverse: whether the times in a window come in the other order.
        batch_size: how many windows a batch has.

    Raises:
        ValueError: data and targets differ in length, or no window fits in.
    """

    def __init__(
        self, data: Array, targets: Array, length: int, sampling_rate: int = 1, stride: int = 1, start_index: int = 0,
        end_index: int | None = None, shuffle: bool = False, reverse: bool = False, batch_size: int = 128,
    ) -> None:  # fmt: skip
        if len(data) != len(targets):
            raise ValueError(
                f"Data and targets have to be of same length. Data length is {len(data)} while target length is {len(targets)}"
            )
        self.data, self.targets, self.length, self.sampling_rate, self.stride = data, targets, length, sampling_rate, stride
        self.start_index = start_index + length
        self.end_index = len(data) - 1 if end_index is None else end_index
        self.shuffle, self.reverse, self.batch_size = shuffle, reverse, batch_size
        if self.start_index > self.end_index:
            raise ValueError(
                f"`start_index+length={self.start_index} > end_index={self.end_index}` is disallowed, as no part of the "
                "sequence would be left to be used as current step."
            )

    def __len__(self) -> int:
        return -(-(self.end_index - self.start_index + 1) // (self.batch_size * self.stride))

    def __getitem__(self, index: int) -> tuple[Array, Array]:
        if self.shuffle:
            rows = np.random.randint(self.start_index, self.end_index + 1, size=self.batch_size)
        else:
            first = self.start_index + self.batch_size * self.stride * index
            rows = np.arange(first, min(first + self.batch_size * self.stride, self.end_index + 1), self.stride)
        windows = np.array([self.data[row - self.length : row : self.sampling_rate] for row in rows])
        return (windows[:, ::-1, ...] if self.reverse else windows), np.array([self.targets[row] for row in rows])

    def get_config(self) -> Config:
        """The arguments, as plain data; data and targets as text in JSON."""
        names = ("length", "sampling_rate", "stride", "end_index", "shuffle", "reverse", "batch_size")
        series = {name: json.dumps(np.asarray(getattr(self, name)).tolist()) for name in ("data", "targets")}
        return {**series, "start_index": self.start_index, **{name: getattr(self, name) for name in names}}

    def to_json(self, **kwargs: Options) -> str:
        """The config as JSON; `kwargs` go to `json.dumps`.

        Args:
            kwargs: arguments of `json.dumps`.
        """
        return json.dumps({"class_name": type(self).__name__, "config": self.get_config()}, **kwargs)
