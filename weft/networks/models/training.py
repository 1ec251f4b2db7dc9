"""Trainable: compile, fit, evaluate and predict, on the session of Keras."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from weft.framework import dtypes
from weft.framework.aliases import Array, Nest
from weft.framework.graph import get_default_graph
from weft.framework.operation import Tensor
from weft.networks import losses
from weft.networks.callbacks.callback import Callback, History
from weft.networks.config import Options
from weft.networks.engine import history
from weft.networks.engine.network import Network
from weft.networks.fitting import arrays, loop
from weft.networks.fitting import program as programs
from weft.networks.fitting.batches import (
    ArraySource,
    Batch,
    DatasetSource,
    IteratorSource,
    SequenceSource,
    Source,
    is_dataset,
    is_generator,
    is_sequence,
    joined,
    parts_of,
    size_of,
)
from weft.networks.fitting.endpoints import Endpoint, endpoints_of
from weft.networks.fitting.program import Program
from weft.networks.metrics.metric import Mean, Metric
from weft.networks.optimizers import catalog as optimizers
from weft.ops.array.placeholder import placeholder


class Trainable(Network):
    """A network that can be compiled and trained."""

    _endpoints: Sequence[Endpoint] | None = None
    _compile_arguments: tuple[Any, ...] | None = None

    def __init__(self, *args: Options, **kwargs: Options) -> None:
        self._added: dict[str, tuple[Metric, Tensor]] = {}
        super().__init__(*args, **kwargs)

    def compile(
        self, optimizer: Nest = "rmsprop", loss: Nest = None, metrics: Nest = None, loss_weights: Nest = None,
        sample_weight_mode: Nest = None, weighted_metrics: Nest = None, target_tensors: Nest = None,
        distribute: object = None, **kwargs: Options,
    ) -> None:  # fmt: skip
        """Say how the model is trained and measured.

        Args:
            optimizer: an optimizer of Keras or of tf.train, its name or config.
            loss: a loss, its name, or one for each output, as a list or by the output's name.
            metrics: metrics, functions or names for each output.
            loss_weights: factors of the outputs' losses in the total.
            sample_weight_mode: "temporal" where each time step has a weight.
            weighted_metrics: metrics that take the examples' weights.
            target_tensors: tensors to take the targets from, instead of what is fed.
            distribute: refused.
            kwargs: refused, but for `run_eagerly=False`.
        """
        if distribute is not None:
            raise NotImplementedError(
                "compile(distribute=...): make the model under a strategy's scope, or train by an Estimator"
            )
        if kwargs.pop("run_eagerly", False):
            raise ValueError("run_eagerly=True: weft builds graphs; use `py_function` where Python must run")
        for unknown in kwargs.keys() - {"experimental_run_tf_function", "cloning"}:
            raise TypeError("Invalid keyword argument(s) in `compile`:", unknown)
        self.optimizer = optimizers.get(optimizer)
        self.loss, self.loss_weights, self.sample_weight_mode = loss, loss_weights, sample_weight_mode
        self._compile_arguments = (loss, loss_weights, metrics, weighted_metrics, target_tensors)
        self._endpoints = None
        self._programs: dict[bool, Program] = {}
        if self.outputs is not None:
            self._program(False)

    # What compile makes.

    def _made_endpoints(self) -> Sequence[Endpoint]:
        if self._endpoints is None:
            assert self._compile_arguments is not None
            assert self.outputs is not None
            assert self.output_names is not None
            loss, loss_weights, metrics, weighted_metrics, target_tensors = self._compile_arguments
            made = endpoints_of(self.output_names, self.outputs, loss, loss_weights, metrics, weighted_metrics)
            given = _targets(target_tensors, self.output_names)
            for endpoint, target in zip(made, given, strict=True):
                endpoint.make_target(target)
                if len(made) > 1 and endpoint.loss is not None:
                    endpoint.loss_metric = Mean(name=f"{endpoint.name}_loss")
            self._endpoints = made
        return self._endpoints

    def _check_compiled(self) -> None:
        if self._compile_arguments is None:
            raise RuntimeError("You must compile your model before training/testing. Use `model.compile(optimizer, loss)`.")

    def _program(self, is_weighted: bool) -> Program:
        self._check_compiled()
        if is_weighted not in self._programs:
            with self._graph().as_default():
                self._programs[is_weighted] = Program(self, self._made_endpoints(), is_weighted, self._weight_ranks())
        return self._programs[is_weighted]

    def _graph(self) -> Nest:
        return history.graph_of(self.outputs[0]) if self.outputs else get_default_graph()

    def _weight_ranks(self) -> list[int]:
        mode, names = self.sample_weight_mode, self.output_names or []
        if isinstance(mode, Mapping):
            modes = [mode.get(name) for name in names]
        else:
            modes = list(mode) if isinstance(mode, list | tuple) else [mode] * len(names)
        return [2 if each == "temporal" else 1 for each in modes]

    def fed_inputs(self) -> list[Tensor]:
        """The placeholders that a step feeds."""
        return [each for each in self.inputs or () if not hasattr(each, "op") or each.op.type == "Placeholder"]

    def metric_tensors(self) -> list[tuple[Metric, Tensor]]:
        """The metrics that `add_metric` has added, in the model and in its layers, with their values."""
        for each in self.added_metrics():
            if each.name not in self._added:
                metric = Mean(name=each.name)
                self._added[each.name] = (metric, metric(each.value))
        return list(self._added.values())

    @property
    def metrics_names(self) -> list[str]:
        """The names of what `evaluate` returns; ValueError before `compile`."""
        if self._compile_arguments is None:
            raise ValueError("This model has not yet been compiled. Compile the model first by calling `compile()`")
        if self.outputs is None:
            return ["loss"]
        endpoints = self._made_endpoints()
        of_outputs = [f"{each.name}_loss" for each in endpoints if each.loss_metric is not None]
        own = [name for each in endpoints for name in each.metrics]
        return ["loss", *of_outputs, *own, *(metric.name for metric, _ in self.metric_tensors())]

    @property
    def metrics(self) -> list[Metric]:
        """All metrics of the model."""
        if self._compile_arguments is None or self.outputs is None:
            return super().metrics
        return self._program(False).metrics()

    @property
    def total_loss(self) -> Tensor:
        """The loss that training makes smaller."""
        return self._program(False).loss

    @property
    def targets(self) -> list[Tensor]:
        """The placeholders of the targets."""
        return [each.target for each in self._made_endpoints() if each.target is not None]

    def reset_metrics(self) -> None:
        """Begin all metrics anew."""
        for program in self._programs.values():
            for metric in program.metrics():
                metric.reset_states()
            return

    # Data.

    def _set_inputs(self, x: Nest) -> None:
        """Call a model without Inputs on placeholders like some data."""
        if self.outputs is not None:
            return
        given = x if isinstance(x, Mapping) else list(x) if isinstance(x, list | tuple) else [x]
        names = list(given) if isinstance(given, Mapping) else [f"input_{each}" for each in range(1, len(given) + 1)]
        values = [np.asarray(each) for each in (given.values() if isinstance(given, Mapping) else given)]
        self.place_inputs(names, [_column_of(each) for each in values], given)

    def place_inputs(self, names: Sequence[str], values: Sequence[Array], given: Nest) -> None:
        """Make placeholders like arrays and call the model on them."""
        made = [
            placeholder(dtypes.as_dtype(_kind(each)), [None, *each.shape[1:]], name=name)
            for name, each in zip(names, values, strict=True)
        ]
        structure: Nest = dict(zip(names, made, strict=True)) if isinstance(given, Mapping) else made
        outputs = self(structure[0] if isinstance(structure, list) and len(structure) == 1 else structure)
        self.inputs, self.input_names = made, list(names)
        flat = outputs if isinstance(outputs, list | tuple) else [outputs]
        self.outputs = list(flat)
        self.output_names = [f"output_{each}" for each in range(1, len(flat) + 1)]

    def _input_arrays(self, x: Nest) -> list[Array]:
        if x is None and not self.fed_inputs():
            return []
        shapes: Any = [_dims(each) for each in self.fed_inputs()]
        names = [name for name, each in zip(self.input_names or (), self.inputs or (), strict=True)
                 if any(each is fed for fed in self.fed_inputs())]  # fmt: skip
        if not self.is_graph_network:
            shapes = None
        return arrays.as_arrays(x, names, shapes, "input")

    def _target_arrays(self, y: Nest) -> list[Array]:
        wanted = [each for each in self._made_endpoints() if each.target is not None and each.target.op.type == "Placeholder"]
        shapes = [_target_shape(each) for each in wanted]
        found = arrays.as_arrays(y, [each.name for each in wanted], shapes, "target")
        for endpoint, array in zip(wanted, found, strict=True):
            _check_target(endpoint, array)
        return found

    def _arrays(self, x: Nest, y: Nest, sample_weight: Nest = None, class_weight: Nest = None) -> Batch:
        self._check_compiled()
        self._set_inputs(x)
        inputs, targets = self._input_arrays(x), self._target_arrays(y)
        weights: list[Array] = []
        if sample_weight is not None or class_weight:
            names = [each.name for each in self._made_endpoints() if each.loss is not None]
            weights = arrays.example_weights(sample_weight, class_weight, targets, names, self._weight_ranks())
        arrays.check_lengths(inputs, targets, weights)
        count = len((inputs or targets)[0]) if inputs or targets else 1
        return Batch(inputs, targets, weights, count)

    def _batch_of(self, class_weight: Nest = None) -> Callable[[Nest], Batch]:
        def as_batch(element: Nest) -> Batch:
            x, y, weights = parts_of(element)
            return self._arrays(x, y, weights, class_weight)

        return as_batch

    def _source(
        self, x: Nest, y: Nest, batch_size: int | None, steps: int | None, shuffle: bool | str, sample_weight: Nest = None,
        class_weight: Nest = None,
    ) -> Source:  # fmt: skip
        as_batch = self._batch_of(class_weight)
        if is_dataset(x):
            _refuse_more(y, sample_weight, "dataset")
            return DatasetSource(x, as_batch, steps)
        if is_sequence(x):
            _refuse_more(y, sample_weight, "`keras.utils.Sequence`")
            return SequenceSource(x, as_batch, steps, bool(shuffle))
        if is_generator(x):
            _refuse_more(y, sample_weight, "generator")
            return IteratorSource(x, as_batch, steps)
        whole = self._arrays(x, y, sample_weight, class_weight)
        if steps is not None and batch_size is None:
            return IteratorSource(_again(whole), _unchanged, steps)
        return ArraySource(whole, batch_size or 32, shuffle)

    # Training.

    def _train_step(self, batch: Batch) -> Sequence[Array]:
        program = self._program(bool(batch.weights))
        return program.train(self.optimizer, batch.inputs, batch.targets, batch.weights)

    def _test_step(self, batch: Batch) -> Sequence[Array]:
        return self._program(bool(batch.weights)).test(batch.inputs, batch.targets, batch.weights)

    def fit(
        self, x: Nest = None, y: Nest = None, batch_size: int | None = None, epochs: int = 1, verbose: int = 1,
        callbacks: Sequence[Callback] | None = None, validation_split: float = 0.0, validation_data: Nest = None,
        shuffle: bool | str = True, class_weight: Nest = None, sample_weight: Nest = None, initial_epoch: int = 0,
        steps_per_epoch: int | None = None, validation_steps: int | None = None, validation_freq: int | Sequence[int] = 1,
        max_queue_size: int = 10, workers: int = 1, use_multiprocessing: bool = False, **kwargs: Options,
    ) -> History:  # fmt: skip
        """Train the model; what was seen in each epoch.

        Args:
            x: inputs: an array, a list or dict of them, a Dataset, a generator, or a `utils.Sequence`.
            y: targets; those of a Dataset and the like are in its elements.
            batch_size: how many examples a batch has; 32 when None.
            epochs: the number of the last epoch.
            verbose: 1 for a progress bar, 2 for a line per epoch, 0 for nothing.
            callbacks: callbacks.
            validation_split: the last part of the arrays to validate with, as a fraction.
            validation_data: data to validate with: a tuple of arrays, or a Dataset and the like.
            shuffle: whether each epoch has an order of its own, by NumPy's global random state.
            class_weight: factors of the loss by class.
            sample_weight: factors of the loss by example.
            initial_epoch: the number of the first epoch.
            steps_per_epoch, validation_steps: how many batches to take.
            validation_freq: every how many epochs to validate, or after which.
            max_queue_size, workers, use_multiprocessing: accepted; generators run in this thread.
            kwargs: `nb_epoch`, the old name of `epochs`.
        """
        if "nb_epoch" in kwargs:
            epochs = kwargs.pop("nb_epoch")
        if kwargs:
            raise TypeError(f"Unrecognized keyword arguments: {kwargs}")
        self._check_compiled()
        validation = validation_data
        if validation is None and validation_split:
            x, y, sample_weight, validation = self._split(x, y, sample_weight, validation_split)
        source = self._source(x, y, batch_size, steps_per_epoch, shuffle, sample_weight, class_weight)
        self._begin_inputs(source)
        checked = None if validation is None else self._validation_source(validation, batch_size, validation_steps)
        if verbose and source.samples is not None:
            more = f", validate on {checked.samples} samples" if checked is not None and checked.samples is not None else ""
            print(f"Train on {source.samples} samples{more}")
        plan = loop.Plan(
            self, self.metrics_names, self._train_step, self._test_step, self.reset_metrics, source, checked, epochs,
            initial_epoch, verbose, _validation_epochs(validation_freq),
            batch_size or (32 if source.samples is not None else None),
        )  # fmt: skip
        return loop.fit(plan, callbacks)

    def _begin_inputs(self, source: Source) -> None:
        """Make the placeholders of a model without Inputs before its metrics are named, from the first batch of a stream."""
        if self.outputs is None and isinstance(source, DatasetSource | SequenceSource):
            next(iter(source.epoch()))

    def _split(self, x: Nest, y: Nest, sample_weight: Nest, part: float) -> tuple[Nest, Nest, Nest, Nest]:
        if is_dataset(x) or is_generator(x) or is_sequence(x):
            raise ValueError("`validation_split` argument is not supported when data adapter is a dataset or generator. "
                             f"Received: x={x}, validation_split={part}")  # fmt: skip
        whole = self._arrays(x, y, sample_weight)
        cut = int(whole.size * (1.0 - part))
        first, last = (
            Batch([each[taken] for each in whole.inputs], [each[taken] for each in whole.targets],
                  [each[taken] for each in whole.weights], 0)
            for taken in (slice(0, cut), slice(cut, None))
        )  # fmt: skip
        return first.inputs, first.targets, first.weights or None, (last.inputs, last.targets, last.weights or None)

    def _validation_source(self, data: Nest, batch_size: int | None, steps: int | None) -> Source:
        if is_dataset(data) or is_generator(data) or is_sequence(data):
            return self._source(data, None, batch_size, steps, False)
        if not isinstance(data, tuple | list) or len(data) not in (2, 3):
            raise ValueError(
                "When passing a `validation_data` argument, it must contain either 2 items (x_val, y_val), or 3 items "
                f"(x_val, y_val, val_sample_weights), or alternatively it could be a dataset or a dataset or a "
                f"dataset iterator. "
                f"However we received `validation_data={str(data)[:200]}`"
            )
        x, y, weights = parts_of(data)
        return self._source(x, y, batch_size, None, False, weights)

    def evaluate(
        self, x: Nest = None, y: Nest = None, batch_size: int | None = None, verbose: int = 1, sample_weight: Nest = None,
        steps: int | None = None, callbacks: Sequence[Callback] | None = None, max_queue_size: int = 10, workers: int = 1,
        use_multiprocessing: bool = False,
    ) -> Nest:  # fmt: skip
        """The loss over all examples, and the metrics if there are any; arguments as of `fit`."""
        self._check_compiled()
        source = self._source(x, y, batch_size, steps, False, sample_weight)
        self._begin_inputs(source)
        found = loop.test(self, self.metrics_names, self._test_step, self.reset_metrics, source, callbacks, verbose)
        return found[0] if len(found) == 1 else found

    def predict(
        self, x: Nest, batch_size: int | None = None, verbose: int = 0, steps: int | None = None,
        callbacks: Sequence[Callback] | None = None, max_queue_size: int = 10, workers: int = 1,
        use_multiprocessing: bool = False,
    ) -> Nest:  # fmt: skip
        """The outputs for all examples, as one array or a list of them; arguments as of `fit`."""

        def as_batch(element: Nest) -> Batch:
            inputs = parts_of(element)[0]
            self._set_inputs(inputs)
            found = self._input_arrays(inputs)
            return Batch(found, [], [], size_of(found))

        source: Source
        if is_dataset(x):
            source = DatasetSource(x, as_batch, steps)
        elif is_sequence(x):
            source = SequenceSource(x, as_batch, steps, False)
        elif is_generator(x):
            source = IteratorSource(x, as_batch, steps)
        else:
            whole = as_batch((x,))
            source = (
                IteratorSource(_again(whole), _unchanged, steps)
                if steps is not None and batch_size is None
                else ArraySource(whole, batch_size or 32)
            )
        outputs = joined(loop.predict(self, lambda batch: programs.predict(self, batch.inputs), source, callbacks, verbose))
        return outputs[0] if len(outputs) == 1 else outputs

    # Single batches.

    def train_on_batch(
        self, x: Nest, y: Nest = None, sample_weight: Nest = None, class_weight: Nest = None, reset_metrics: bool = True
    ) -> Nest:
        """Train on one batch; the loss, and the metrics if there are any, which begin anew before it unless told otherwise."""
        found = [each.item() for each in self._train_step(self._arrays(x, y, sample_weight, class_weight))]
        if reset_metrics:
            self.reset_metrics()
        return found[0] if len(found) == 1 else found

    def test_on_batch(self, x: Nest, y: Nest = None, sample_weight: Nest = None, reset_metrics: bool = True) -> Nest:
        """The loss of one batch, and the metrics if there are any."""
        found = [each.item() for each in self._test_step(self._arrays(x, y, sample_weight))]
        if reset_metrics:
            self.reset_metrics()
        return found[0] if len(found) == 1 else found

    def predict_on_batch(self, x: Nest) -> Nest:
        """The outputs for one batch."""
        self._set_inputs(x)
        outputs = programs.predict(self, self._input_arrays(x))
        return outputs[0] if len(outputs) == 1 else outputs

    # The names of before generators went to `fit`.

    def fit_generator(
        self, generator: Nest, steps_per_epoch: int | None = None, epochs: int = 1, verbose: int = 1,
        callbacks: Sequence[Callback] | None = None, validation_data: Nest = None, validation_steps: int | None = None,
        validation_freq: int | Sequence[int] = 1, class_weight: Nest = None, max_queue_size: int = 10, workers: int = 1,
        use_multiprocessing: bool = False, shuffle: bool = True, initial_epoch: int = 0,
    ) -> History:  # fmt: skip
        """See `fit`."""
        return self.fit(
            generator, None, None, epochs, verbose, callbacks, 0.0, validation_data, shuffle, class_weight, None, initial_epoch,
            steps_per_epoch, validation_steps, validation_freq,
        )  # fmt: skip

    def evaluate_generator(
        self, generator: Nest, steps: int | None = None, callbacks: Sequence[Callback] | None = None,
        max_queue_size: int = 10, workers: int = 1, use_multiprocessing: bool = False, verbose: int = 0,
    ) -> Nest:  # fmt: skip
        """See `evaluate`."""
        return self.evaluate(generator, steps=steps, callbacks=callbacks, verbose=verbose)

    def predict_generator(
        self, generator: Nest, steps: int | None = None, callbacks: Sequence[Callback] | None = None,
        max_queue_size: int = 10, workers: int = 1, use_multiprocessing: bool = False, verbose: int = 0,
    ) -> Nest:  # fmt: skip
        """See `predict`."""
        return self.predict(generator, steps=steps, callbacks=callbacks, verbose=verbose)


def _again(batch: Batch) -> Iterator[Batch]:
    while True:
        yield batch


def _unchanged(batch: Batch) -> Batch:
    return batch


def _targets(given: Nest, names: Sequence[str]) -> list[Nest]:
    if given is None:
        return [None] * len(names)
    if isinstance(given, Mapping):
        return [given.get(name) for name in names]
    return list(given) if isinstance(given, list | tuple) else [given]


def _refuse_more(y: Nest, sample_weight: Nest, what: str) -> None:
    if y is not None:
        raise ValueError(f"You passed a {what} as input `x` to your model. In that case, you should not specify a target (`y`) "
                         f"argument, since the {what} generates both input data and target data. Received: "
                         f"{str(y)[:100]}")  # fmt: skip
    if sample_weight is not None:
        raise ValueError(
            f"`sample_weight` argument is not supported when input `x` is a {what}. Received: {str(sample_weight)[:100]}"
        )


def _validation_epochs(freq: int | Sequence[int]) -> Callable[[int], bool]:
    if isinstance(freq, int):
        if freq < 1:
            raise ValueError("`validation_freq` can not be less than 1.")
        return lambda epoch: (epoch + 1) % freq == 0
    return lambda epoch: epoch + 1 in freq


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
            f"`{endpoint.loss.name}`. This loss expects targets to have the same shape as the output."
        )


def _column_of(array: Array) -> Array:
    return array[:, None] if array.ndim == 1 else array


def _kind(array: Array) -> Nest:
    return np.float32 if array.dtype == np.float64 else array.dtype
