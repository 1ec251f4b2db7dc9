"""Batches: where the arrays of each step come from, be it arrays, datasets, generators or sequences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from weft.datasets.dataset import Dataset
from weft.datasets.experimental.iteration import INFINITE_CARDINALITY, cardinality
from weft.errors import OutOfRangeError
from weft.framework.building.aliases import Array, Nest
from weft.framework.nested import nest
from weft.framework.nodes.operation import Tensor
from weft.networks.state.sessions import get_session
from weft.platform.waits.function_wait import shown
from weft.platform.waits.wait_watch import Watched

_OF_BATCHES: Final = "The model waits for the batch: look at what it reads and waits for."
_NO_MORE: Final = object()


class Batch(NamedTuple):
    """The arrays of a step."""

    inputs: list[Array]
    targets: list[Array]
    weights: list[Array]
    size: int


# Makes a batch of what a dataset or generator gives: an input, or a tuple with the targets and perhaps the weights.
AsBatch = Callable[[Nest], Batch]


class Source:
    """The batches of an epoch, again and again.

    Attributes:
        steps: how many batches an epoch has; None when nobody knows.
        samples: how many examples an epoch has; None when nobody knows.
        batch_size: how many examples a batch has, of batches that are cut from arrays.
        sizes_validation: whether arrays to validate with are cut into batches as large as the last one of these.
    """

    steps: int | None = None
    samples: int | None = None
    batch_size: int | None = None
    sizes_validation: bool = False

    def extent(self) -> str | None:
        """How much an epoch has, as `fit` tells it; None where it tells nothing."""
        return None

    def epoch(self) -> Iterator[Batch]:
        """The batches of the next epoch."""
        raise NotImplementedError

    def finish(self) -> None:
        """Let go of what an epoch holds."""


class ArraySource(Source):
    """Batches cut from arrays.

    Args:
        arrays: inputs, targets and weights of all examples.
        batch_size: how many examples a batch has.
        shuffle: whether each epoch has an order of its own, by NumPy's global random state; "batch" shuffles whole batches.
    """

    batch_size: int

    def __init__(self, arrays: Batch, batch_size: int, shuffle: bool | str = False) -> None:
        self._arrays, self.batch_size, self._shuffle = arrays, batch_size, shuffle
        self.samples = arrays.size

    def extent(self) -> str:
        """The number of examples."""
        return f"{self.samples} samples"

    def _order(self) -> Array:
        order = np.arange(self._arrays.size)
        if self._shuffle == "batch":
            whole = len(order) // self.batch_size * self.batch_size
            rows = order[:whole].reshape(-1, self.batch_size)
            np.random.shuffle(rows)
            return np.append(rows.reshape(-1), order[whole:])
        if self._shuffle:
            np.random.shuffle(order)
        return order

    def epoch(self) -> Iterator[Batch]:
        """The batches, the last of which may be smaller."""
        order = self._order()
        for first in range(0, len(order), self.batch_size):
            taken: Any = order[first : first + self.batch_size]
            if not self._shuffle:
                taken = slice(first, first + len(taken))
            inputs, targets, weights = ([each[taken] for each in part] for part in self._arrays[:3])
            yield Batch(inputs, targets, weights, len(order[first : first + self.batch_size]))


class IteratorSource(Source):
    """Batches from a Python generator, which may go on without end."""

    sizes_validation = True

    def __init__(self, iterator: Iterator[Nest], as_batch: AsBatch, steps: int | None) -> None:
        self._iterator, self._as_batch, self.steps = iterator, as_batch, steps

    def epoch(self) -> Iterator[Batch]:
        """The next `steps` batches, or all that are left."""
        batches, taken = iter(self._iterator), 0
        while self.steps is None or taken < self.steps:
            with Watched(lambda: f"The generator {shown(self._iterator)} has worked at a batch", _OF_BATCHES):
                each = next(batches, _NO_MORE)
            if each is _NO_MORE:
                return
            yield self._as_batch(each)
            taken += 1


class SequenceSource(Source):
    """Batches of an object with a length and items, as `utils.Sequence` has them."""

    sizes_validation = True

    def __init__(self, sequence: Any, as_batch: AsBatch, steps: int | None, shuffle: bool) -> None:
        self._sequence, self._as_batch, self._shuffle = sequence, as_batch, shuffle
        self.steps = len(sequence) if steps is None else steps

    def epoch(self) -> Iterator[Batch]:
        """The items, in an order of their own if they are shuffled."""
        order = list(range(len(self._sequence)))
        if self._shuffle:
            np.random.shuffle(order)
        for index in order[: self.steps]:
            with Watched(lambda: f"{shown(type(self._sequence).__getitem__)} has worked at a batch", _OF_BATCHES):
                each = self._sequence[index]
            yield self._as_batch(each)

    def finish(self) -> None:
        """Tell the sequence that an epoch has ended."""
        if hasattr(self._sequence, "on_epoch_end"):
            self._sequence.on_epoch_end()


class DatasetSource(Source):
    """Batches of a Dataset, or of an iterator of one, fetched by a run of their own before each step.

    Without a number of steps each epoch begins the dataset anew; with one it goes on where the last epoch ended, unless
    `begins_anew`, as validations do. `steps` is known of such an epoch when the dataset knows its size, or after the first.
    """

    def __init__(self, dataset: Any, as_batch: AsBatch, steps: int | None, begins_anew: bool = False) -> None:
        self._as_batch, self._given_steps, self._begins_anew = as_batch, steps, begins_anew
        is_iterator = hasattr(dataset, "get_next")
        self.steps = steps if steps is not None or is_iterator else _size_of(dataset)
        self._iterator = dataset if is_iterator else dataset.make_initializable_iterator()
        self._next = self._iterator.get_next()
        self._begins = not is_iterator
        self._begun = False

    def extent(self) -> str | None:
        """The number of batches, if it is known."""
        return None if self.steps is None else f"{self.steps} steps"

    def epoch(self) -> Iterator[Batch]:
        """The elements of the dataset until it ends."""
        session = get_session()
        limit = self._given_steps
        if self._begins and (self._begins_anew or not self._begun or limit is None):
            session.run(self._iterator.initializer)
            self._begun = True
        taken = 0
        while limit is None or taken < limit:
            try:
                element = get_session().run(self._next)
            except OutOfRangeError:
                self._begun = False
                if limit is None and self._begins:
                    self.steps = taken
                return
            yield self._as_batch(element)
            taken += 1


def _size_of(dataset: Dataset) -> int | None:
    """How many elements a Dataset has; None when it does not know, ValueError when it does not end."""
    found = int(get_session().run(cardinality(dataset)))
    if found == INFINITE_CARDINALITY:
        raise ValueError(
            "When passing an infinitely repeating dataset, you must specify the `steps_per_epoch` argument. "
            f"{dataset!r} does not end: repeat(n) ends after n rounds."
        )
    return found if found >= 0 else None


class TensorSource(Source):
    """Batches that tensors of the graph give, fetched by a run of their own before each step.

    Args:
        tensors: inputs, targets and weights, as `fit` takes them.
        as_batch: makes a batch of their values.
        steps: how many batches an epoch has.

    Raises:
        ValueError: the number of steps is not given: tensors do not end.
    """

    def __init__(self, tensors: Nest, as_batch: AsBatch, steps: int | None) -> None:
        if steps is None:
            raise ValueError(
                "If your data is in the form of symbolic tensors, you should specify the `steps_per_epoch` argument (instead "
                "of the `batch_size` argument, because symbolic tensors are expected to produce batches of input data)."
            )
        self._tensors, self._as_batch, self.steps = tensors, as_batch, steps

    def epoch(self) -> Iterator[Batch]:
        """The next `steps` batches."""
        for _ in range(self.steps or 0):
            yield self._as_batch(get_session().run(self._tensors))


def has_tensors(value: Any) -> bool:
    """Whether data are tensors of the graph."""
    return any(isinstance(each, Tensor) for each in nest.flatten(value))


def is_dataset(value: Any) -> bool:
    """Whether a value is a Dataset, or an iterator in the graph."""
    return hasattr(value, "make_initializable_iterator") or (hasattr(value, "get_next") and hasattr(value, "output_types"))


def is_sequence(value: Any) -> bool:
    """Whether a value gives batches by index."""
    return hasattr(value, "__getitem__") and hasattr(value, "__len__") and hasattr(value, "on_epoch_end")


def is_generator(value: Any) -> bool:
    """Whether a value gives batches one after the other."""
    return hasattr(value, "__next__") and not isinstance(value, np.ndarray | list | tuple | Mapping)


def parts_of(element: Nest) -> tuple[Nest, Nest, Nest]:
    """The inputs, targets and weights in an element; ValueError unless it is a tuple of up to three, or an input."""
    if not isinstance(element, tuple | list):
        return element, None, None
    if len(element) > 3:
        raise ValueError(
            f"Output of generator should be a tuple `(x, y, sample_weight)` or `(x, y)`. Found: {str(element)[:200]}"
        )
    x, y, weights = (*element, None, None, None)[:3]
    return x, y, weights


def joined(outputs: Sequence[Sequence[Array]]) -> list[Array]:
    """The outputs of batches, one array for each output."""
    return [np.concatenate(each, axis=0) for each in zip(*outputs, strict=True)]


def size_of(data: Nest) -> int:
    """The number of examples in the first array of some data; 1 for none."""
    flat = nest.flatten(data)
    return int(np.shape(flat[0])[0]) if flat and np.ndim(flat[0]) else 1
