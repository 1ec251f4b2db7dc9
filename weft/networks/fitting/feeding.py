"""Feeding: the batches of a model, made of what a program gives to `fit`, `evaluate` and `predict`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import numpy as np

from weft.framework.building.aliases import Array, Nest
from weft.networks import losses
from weft.networks.config import KerasObject
from weft.networks.fitting import arrays
from weft.networks.fitting.batches import (
    ArraySource,
    Batch,
    DatasetSource,
    IteratorSource,
    SequenceSource,
    Source,
    TensorSource,
    has_tensors,
    is_dataset,
    is_generator,
    is_sequence,
    parts_of,
    size_of,
)
from weft.networks.fitting.endpoints import Endpoint

_CLASS_NUMBERS: Final = (
    " tf.keras.utils.to_categorical makes it of class numbers; the loss `sparse_categorical_crossentropy` takes them as they "
    "are."
)


class Feeding:
    """What makes batches for one model.

    Args:
        model: the model.
    """

    def __init__(self, model: KerasObject) -> None:
        self._model = model

    # Arrays.

    def set_inputs(self, x: Nest) -> None:
        """Call a model without Inputs on placeholders like some data."""
        if self._model.outputs is not None:
            return
        given = x if isinstance(x, Mapping) else list(x) if isinstance(x, list | tuple) else [x]
        names = list(given) if isinstance(given, Mapping) else [f"input_{each}" for each in range(1, len(given) + 1)]
        values = [np.asarray(each) for each in (given.values() if isinstance(given, Mapping) else given)]
        self._model.place_inputs(names, [_column_of(each) for each in values], given)

    def input_arrays(self, x: Nest) -> list[Array]:
        if x is None and not self._model.fed_inputs():
            return []
        shapes: Any = [_dims(each) for each in self._model.fed_inputs()]
        names = [name for name, each in zip(self._model.input_names or (), self._model.inputs or (), strict=True)
                 if any(each is fed for fed in self._model.fed_inputs())]  # fmt: skip
        if not self._model.is_graph_network:
            shapes = None
        return arrays.as_arrays(x, names, shapes, "input")

    def _target_arrays(self, y: Nest) -> list[Array]:
        wanted = [
            each
            for each in self._model.compilation.endpoints()
            if each.target is not None and each.target.op.type == "Placeholder"
        ]
        shapes = [_target_shape(each) for each in wanted]
        found = arrays.as_arrays(y, [each.name for each in wanted], shapes, "target")
        for endpoint, array in zip(wanted, found, strict=True):
            _check_target(endpoint, array)
        return found

    def batch(self, x: Nest, y: Nest, sample_weight: Nest = None, class_weight: Nest = None) -> Batch:
        self.set_inputs(x)
        inputs, targets = self.input_arrays(x), self._target_arrays(y)
        weights: list[Array] = []
        if sample_weight is not None or class_weight:
            names = [each.name for each in self._model.compilation.endpoints() if each.loss is not None]
            weights = arrays.example_weights(
                sample_weight, class_weight, targets, names, self._model.compilation.weight_ranks()
            )
        arrays.check_lengths(inputs, targets, weights)
        count = len((inputs or targets)[0]) if inputs or targets else 1
        return Batch(inputs, targets, weights, count)

    def _batch_of(self, class_weight: Nest = None) -> Callable[[Nest], Batch]:
        def as_batch(element: Nest) -> Batch:
            x, y, weights = parts_of(element)
            return self.batch(x, y, weights, class_weight)

        return as_batch

    def source(
        self, x: Nest, y: Nest, batch_size: int | None, steps: int | None, shuffle: bool | str, sample_weight: Nest = None,
        class_weight: Nest = None,
    ) -> Source:  # fmt: skip
        as_batch = self._batch_of(class_weight)
        if is_dataset(x):
            _refuse_more(y, sample_weight, "dataset")
            if batch_size is not None:
                raise ValueError(
                    "The `batch_size` argument must not be specified for the given input type. Received input: "
                    f"{x!r}, batch_size: {batch_size}. The dataset has its own: dataset.batch({batch_size})."
                )
            return DatasetSource(x, as_batch, steps)
        if is_sequence(x):
            _refuse_more(y, sample_weight, "`keras.utils.Sequence`")
            return SequenceSource(x, as_batch, steps, bool(shuffle))
        if is_generator(x):
            _refuse_more(y, sample_weight, "generator")
            return IteratorSource(x, as_batch, steps)
        if has_tensors((x, y)):
            given = (x, y) if sample_weight is None else (x, y, sample_weight)
            return TensorSource(given, as_batch, steps)
        whole = self.batch(x, y, sample_weight, class_weight)
        return _whole_or_cut(whole, batch_size, steps, shuffle)

    def begin_inputs(self, source: Source) -> None:
        """Make the placeholders of a model without Inputs before its metrics are named, from the first batch of a stream."""
        if self._model.outputs is None and isinstance(source, DatasetSource | SequenceSource):
            next(iter(source.epoch()))

    def split(self, x: Nest, y: Nest, sample_weight: Nest, part: float) -> tuple[Nest, Nest, Nest, Nest]:
        if is_dataset(x) or is_generator(x) or is_sequence(x):
            raise ValueError("`validation_split` argument is not supported when data adapter is a dataset or generator. "
                             f"Received: x={x}, validation_split={part}")  # fmt: skip
        if not 0 < part < 1:
            raise ValueError(f"`validation_split` must be a part of the data, between 0 and 1, not {part}: a fifth is 0.2.")
        whole = self.batch(x, y, sample_weight)
        cut = int(whole.size * (1.0 - part))
        first, last = (
            Batch([each[taken] for each in whole.inputs], [each[taken] for each in whole.targets],
                  [each[taken] for each in whole.weights], 0)
            for taken in (slice(0, cut), slice(cut, None))
        )  # fmt: skip
        return first.inputs, first.targets, first.weights or None, (last.inputs, last.targets, last.weights or None)

    def validation_source(self, data: Nest, batch_size: int | None, steps: int | None) -> Source:
        if is_dataset(data) or is_generator(data) or is_sequence(data):
            if is_dataset(data):
                return DatasetSource(data, self._batch_of(), steps, begins_anew=True)
            return self.source(data, None, batch_size, steps, False)
        if not isinstance(data, tuple | list) or len(data) not in (2, 3):
            raise ValueError(
                "When passing a `validation_data` argument, it must contain either 2 items (x_val, y_val), or 3 items "
                f"(x_val, y_val, val_sample_weights), or alternatively it could be a dataset or a dataset or a "
                f"dataset iterator. "
                f"However we received `validation_data={str(data)[:200]}`"
            )
        x, y, weights = parts_of(data)
        return self.source(x, y, batch_size, steps if has_tensors((x, y)) else None, False, weights)

    def prediction_source(self, x: Nest, batch_size: int | None, steps: int | None) -> Source:
        """The batches of inputs alone."""

        def as_batch(element: Nest) -> Batch:
            inputs = parts_of(element)[0]
            self.set_inputs(inputs)
            found = self.input_arrays(inputs)
            return Batch(found, [], [], size_of(found))

        if is_dataset(x):
            return DatasetSource(x, as_batch, steps)
        if is_sequence(x):
            return SequenceSource(x, as_batch, steps, False)
        if is_generator(x):
            return IteratorSource(x, as_batch, steps)
        if has_tensors(x):
            return TensorSource((x,), as_batch, steps)
        return _whole_or_cut(as_batch((x,)), batch_size, steps, False)


def _whole_or_cut(whole: Batch, batch_size: int | None, steps: int | None, shuffle: bool | str) -> Source:
    """Batches of some size, or the whole again for each of some steps."""
    if batch_size is not None and batch_size < 1:
        raise ValueError(f"batch_size must be 1 or more examples, got {batch_size}; None is for 32")
    if steps is not None and batch_size is None:
        return IteratorSource(_again(whole), _unchanged, steps)
    return ArraySource(whole, batch_size or 32, shuffle)


def _again(batch: Batch) -> Iterator[Batch]:
    while True:
        yield batch


def _unchanged(batch: Batch) -> Batch:
    return batch


def _refuse_more(y: Nest, sample_weight: Nest, what: str) -> None:
    if y is not None:
        raise ValueError(f"You passed a {what} as input `x` to your model. In that case, you should not specify a target (`y`) "
                         f"argument, since the {what} generates both input data and target data. Received: "
                         f"{str(y)[:100]}")  # fmt: skip
    if sample_weight is not None:
        raise ValueError(
            f"`sample_weight` argument is not supported when input `x` is a {what}. Received: {str(sample_weight)[:100]}"
        )


def _dims(tensor: Nest) -> tuple[int | None, ...] | None:
    return None if tensor.shape.ndims is None else tuple(tensor.shape.as_list())


def _target_shape(endpoint: Endpoint) -> tuple[int | None, ...] | None:
    """The shape that targets must have, where the loss says it."""
    dims = _dims(endpoint.output)
    if dims is None:
        return None
    if endpoint.is_sparse():
        return (*dims[:-1], 1)
    return None


def _check_target(endpoint: Endpoint, array: Array) -> None:
    """ValueError when targets have another shape than the output, for losses that compare both element by element."""
    dims = _dims(endpoint.output)
    fn = getattr(endpoint.loss, "fn", None)
    if dims is None or endpoint.is_sparse() or fn not in losses.FUNCTIONS.values():
        return
    fits = len(dims) == array.ndim and all(size in (None, found) for size, found in zip(dims[1:], array.shape[1:], strict=True))
    if not fits:
        raise ValueError(
            f"A target array with shape {array.shape} was passed for an output of shape {dims} while using as loss "
            f"`{endpoint.loss.name}`. This loss expects targets to have the same shape as the "
            f"output.{_CLASS_NUMBERS if endpoint.loss.name == 'categorical_crossentropy' else ''}"
        )


def _column_of(array: Array) -> Array:
    return array[:, None] if array.ndim == 1 else array
