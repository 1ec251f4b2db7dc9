"""Trainable: compile, fit, evaluate and predict, on the session of Keras."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from weft.framework.building.aliases import Array, Nest
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.networks.callbacks.callback import Callback, History
from weft.networks.config import Options
from weft.networks.engine.network import Network
from weft.networks.fitting import loop, placement
from weft.networks.fitting import program as programs
from weft.networks.fitting.batches import (
    joined,
)
from weft.networks.fitting.compilation import Compilation
from weft.networks.fitting.feeding import Feeding
from weft.networks.fitting.replicated import predictions_of_replicas
from weft.networks.metrics.metric import Metric
from weft.networks.optimizers import catalog as optimizers
from weft.networks.state.session_arguments import NOTHING, SessionArguments
from weft.networks.state.sessions import batch_get_value
from weft.ops.array.placeholder import placeholder
from weft.platform.hints.spelling import did_you_mean

_COMPILE_TAKES: Final = (
    *("optimizer", "loss", "metrics", "loss_weights", "sample_weight_mode", "weighted_metrics", "target_tensors"),
    "run_eagerly",
)


class Trainable(Network):
    """A network that can be compiled and trained."""

    _compilation: Compilation | None = None
    _outputs_of_replicas: Sequence[Tensor] | None = None
    optimizer: Nest = None

    def __init__(self, *args: Options, **kwargs: Options) -> None:
        super().__init__(*args, **kwargs)
        self._feeding = Feeding(self)
        self.strategy = placement.strategy_in_scope()

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
            kwargs: what each run of the session is given as well: `fetches`, `feed_dict`, `options`, `run_metadata`; and
                `run_eagerly=False`. Others are refused.

        Raises:
            NotImplementedError: `distribute` was given.
            ValueError: there is an argument that nothing takes, `run_eagerly=True`, or a loss or metric is unknown or does not
                fit the outputs.
        """
        if distribute is not None:
            raise NotImplementedError(
                "compile(distribute=...): make the model under a strategy's scope, or train by an Estimator"
            )
        self.run_eagerly = kwargs.pop("run_eagerly", False)
        for unknown in sorted(kwargs.keys() - {"experimental_run_tf_function", "cloning"} - SessionArguments.names()):
            taken = [*_COMPILE_TAKES, *sorted(SessionArguments.names())]
            raise ValueError(
                f'Invalid argument "{unknown}" passed to K.function with TensorFlow backend, by `compile` of {self.name!r}: '
                f"it takes {', '.join(taken)}."
                f"{did_you_mean(unknown, taken)}"
            )
        session_arguments = SessionArguments.of({name: kwargs[name] for name in kwargs.keys() & SessionArguments.names()})
        self.strategy = self.strategy or placement.strategy_in_scope()
        placement.check_made_in_scope(self.strategy, self.weights if self.built else ())
        self.optimizer = optimizers.get(optimizer)
        self.loss, self.loss_weights, self.sample_weight_mode = loss, loss_weights, sample_weight_mode
        arguments = {"loss": loss, "loss_weights": loss_weights, "metrics": metrics, "weighted_metrics": weighted_metrics,
                     "target_tensors": target_tensors}  # fmt: skip
        shared = placement.shared_by_replicas(self.strategy)
        self._compilation = Compilation(self, self.optimizer, arguments, sample_weight_mode, shared, session_arguments)
        if self.outputs is not None:
            with placement.scope_of(self.strategy):
                self._compilation.program()

    @property
    def run_eagerly(self) -> bool:
        """Whether Python runs in each step: never; setting it to true is a ValueError."""
        return False

    @run_eagerly.setter
    def run_eagerly(self, value: bool | None) -> None:
        if value:
            raise ValueError(
                "You can only set `run_eagerly=True` if eager execution is enabled: weft builds graphs; use `py_function` "
                "where Python must run"
            )

    # What compile makes.

    @property
    def compilation(self) -> Compilation:
        """What `compile` has said; RuntimeError before it."""
        if self._compilation is None:
            raise RuntimeError("You must compile your model before training/testing. Use `model.compile(optimizer, loss)`.")
        return self._compilation

    def fed_inputs(self) -> list[Tensor]:
        """The placeholders that a step feeds."""
        return [each for each in self.inputs or () if not hasattr(each, "op") or each.op.type == "Placeholder"]

    @property
    def metrics_names(self) -> list[str]:
        """The names of what `evaluate` returns; ValueError before `compile`."""
        if self._compilation is None:
            raise ValueError("This model has not yet been compiled. Compile the model first by calling `compile()`")
        return ["loss"] if self.outputs is None else self._compilation.metrics_names()

    @property
    def metrics(self) -> list[Metric]:
        """All metrics of the model."""
        if self._compilation is None or self.outputs is None:
            return super().metrics
        return self._compilation.program().metrics()

    @property
    def total_loss(self) -> Tensor:
        """The loss that training makes smaller."""
        return self.compilation.program().loss

    @property
    def targets(self) -> list[Tensor]:
        """The placeholders of the targets."""
        return self.compilation.targets()

    @placement.in_scope_of_model
    def get_weights(self) -> list[Array]:
        """The values of all variables; of those that replicas have of their own what they are together."""
        return batch_get_value([placement.whole(each) for each in self.weights])

    def reset_metrics(self) -> None:
        """Begin all metrics anew."""
        self.compilation.reset_metrics()

    def place_inputs(self, names: Sequence[str], values: Sequence[Array], given: Nest) -> None:
        """Make placeholders like arrays and call the model on them.

        Args:
            names: a name for each input.
            values: an array for each, whose dtype and shape but for the first dimension the placeholder gets.
            given: the inputs as they were given, nested.
        """
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

    # Training.

    @placement.in_scope_of_model
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

        Returns:
            A History, whose `history` has by name a value for each epoch.

        Raises:
            TypeError: there is an argument that nothing takes.
        """
        if "nb_epoch" in kwargs:
            epochs = kwargs.pop("nb_epoch")
        if kwargs:
            raise TypeError(f"Unrecognized keyword arguments: {kwargs}")
        compilation, feeding = self.compilation, self._feeding
        validation = validation_data
        if validation is None and validation_split:
            x, y, sample_weight, validation = feeding.split(x, y, sample_weight, validation_split)
        source = feeding.source(x, y, batch_size, steps_per_epoch, shuffle, sample_weight, class_weight)
        feeding.begin_inputs(source)
        checked = None if validation is None else feeding.validation_source(validation, batch_size, validation_steps)
        plan = loop.Plan(
            self, compilation, self.metrics_names, source, checked, epochs,
            initial_epoch, verbose, _validation_epochs(validation_freq),
        )  # fmt: skip
        return loop.fit(plan, callbacks)

    @placement.in_scope_of_model
    def evaluate(
        self, x: Nest = None, y: Nest = None, batch_size: int | None = None, verbose: int = 1, sample_weight: Nest = None,
        steps: int | None = None, callbacks: Sequence[Callback] | None = None, max_queue_size: int = 10, workers: int = 1,
        use_multiprocessing: bool = False,
    ) -> Nest:  # fmt: skip
        """The loss over all examples, and the metrics if there are any, as `metrics_names` says.

        Args:
            x: inputs, as for `fit`.
            y: targets, as for `fit`.
            batch_size: how many examples a batch has; 32 when None.
            verbose: 1 for a progress bar, 0 for nothing.
            sample_weight: `[examples]`, what each counts; 1 when None.
            steps: how many batches to take; to the end when None.
            callbacks: callbacks.
            max_queue_size, workers, use_multiprocessing: taken and without effect.
        """
        compilation = self.compilation
        source = self._feeding.source(x, y, batch_size, steps, False, sample_weight)
        self._feeding.begin_inputs(source)
        found = loop.test(self, compilation, self.metrics_names, source, callbacks, verbose, None)
        return found[0] if len(found) == 1 else found

    @placement.in_scope_of_model
    def predict(
        self, x: Nest, batch_size: int | None = None, verbose: int = 0, steps: int | None = None,
        callbacks: Sequence[Callback] | None = None, max_queue_size: int = 10, workers: int = 1,
        use_multiprocessing: bool = False,
    ) -> Nest:  # fmt: skip
        """The outputs for all examples, as one array or a list of them.

        Args:
            x: inputs, as for `fit`.
            batch_size: how many examples a batch has; 32 when None.
            verbose: 1 for a progress bar, 0 for nothing.
            steps: how many batches to take; to the end when None.
            callbacks: callbacks.
            max_queue_size, workers, use_multiprocessing: taken and without effect.
        """

        source = self._feeding.prediction_source(x, batch_size, steps)
        outputs = joined(loop.predict(self, lambda batch: self._predicted(batch.inputs), source, callbacks, verbose))
        return outputs[0] if len(outputs) == 1 else outputs

    def _predicted(self, inputs: Sequence[Array]) -> list[Array]:
        """The outputs for a batch, of which each replica takes a part where the model was made under a strategy."""
        shared = placement.shared_by_replicas(self.strategy)
        if shared is not None and self._outputs_of_replicas is None:
            self._outputs_of_replicas = predictions_of_replicas(self, shared)
        return programs.predict(self, inputs, self._outputs_of_replicas, self._session_arguments())

    def _session_arguments(self) -> SessionArguments:
        """What each run of the session is given as well; nothing before `compile`."""
        return NOTHING if self._compilation is None else self._compilation.session_arguments

    # Single batches.

    @placement.in_scope_of_model
    def train_on_batch(
        self, x: Nest, y: Nest = None, sample_weight: Nest = None, class_weight: Nest = None, reset_metrics: bool = True
    ) -> Nest:
        """Train on one batch; the loss, and the metrics if there are any, as `metrics_names` says.

        Args:
            x: an array `[batch, ...]`, a list of them, or a dict by the inputs' names.
            y: the targets, the same by outputs.
            sample_weight: `[batch]`, what each example counts; 1 when None.
            class_weight: a dict of what each class's examples count.
            reset_metrics: whether the metrics begin anew after it.

        Returns:
            A float32 scalar, the loss; with metrics a list of scalars.
        """
        found = [each.item() for each in self.compilation.train_step(self._feeding.batch(x, y, sample_weight, class_weight))]
        if reset_metrics:
            self.reset_metrics()
        return found[0] if len(found) == 1 else found

    @placement.in_scope_of_model
    def test_on_batch(self, x: Nest, y: Nest = None, sample_weight: Nest = None, reset_metrics: bool = True) -> Nest:
        """The loss of one batch, and the metrics if there are any, as `metrics_names` says.

        Args:
            x: an array `[batch, ...]`, a list of them, or a dict by the inputs' names.
            y: the targets, the same by outputs.
            sample_weight: `[batch]`, what each example counts; 1 when None.
            reset_metrics: whether the metrics begin anew after it.
        """
        found = [each.item() for each in self.compilation.test_step(self._feeding.batch(x, y, sample_weight))]
        if reset_metrics:
            self.reset_metrics()
        return found[0] if len(found) == 1 else found

    @placement.in_scope_of_model
    def predict_on_batch(self, x: Nest) -> Nest:
        """The outputs for one batch.

        Args:
            x: an array `[batch, ...]`, a list of them, or a dict by the inputs' names.
        """
        self._feeding.set_inputs(x)
        outputs = self._predicted(self._feeding.input_arrays(x))
        return outputs[0] if len(outputs) == 1 else outputs

    # The names of before generators went to `fit`.

    def fit_generator(
        self, generator: Nest, steps_per_epoch: int | None = None, epochs: int = 1, verbose: int = 1,
        callbacks: Sequence[Callback] | None = None, validation_data: Nest = None, validation_steps: int | None = None,
        validation_freq: int | Sequence[int] = 1, class_weight: Nest = None, max_queue_size: int = 10, workers: int = 1,
        use_multiprocessing: bool = False, shuffle: bool = True, initial_epoch: int = 0,
    ) -> History:  # fmt: skip
        """Train on what a generator gives; `fit` takes generators too.

        Args:
            generator: gives pairs of inputs and targets, perhaps with weights, or is a `utils.Sequence`.
            steps_per_epoch: how many batches an epoch has; a Sequence's length when None.
            epochs: the number of the last epoch.
            verbose: 1 for a progress bar, 2 for a line per epoch, 0 for nothing.
            callbacks: callbacks.
            validation_data: data to validate with: a tuple of arrays, or a generator.
            validation_steps: how many batches of a generator to validate with.
            validation_freq: after how many epochs to validate, or after which.
            class_weight: a dict of what each class's examples count.
            max_queue_size, workers, use_multiprocessing: taken and without effect.
            shuffle: whether a Sequence's batches come in another order in each epoch.
            initial_epoch: the number of epochs that are done already.

        Returns:
            A History, whose `history` has by name a value for each epoch.
        """
        return self.fit(
            generator, None, None, epochs, verbose, callbacks, 0.0, validation_data, shuffle, class_weight, None, initial_epoch,
            steps_per_epoch, validation_steps, validation_freq,
        )  # fmt: skip

    def evaluate_generator(
        self, generator: Nest, steps: int | None = None, callbacks: Sequence[Callback] | None = None,
        max_queue_size: int = 10, workers: int = 1, use_multiprocessing: bool = False, verbose: int = 0,
    ) -> Nest:  # fmt: skip
        """The loss over what a generator gives, and the metrics; `evaluate` takes generators too.

        Args:
            generator: gives pairs of inputs and targets, perhaps with weights, or is a `utils.Sequence`.
            steps: how many batches to take; a Sequence's length when None.
            callbacks: callbacks.
            max_queue_size, workers, use_multiprocessing: taken and without effect.
            verbose: 1 for a progress bar, 0 for nothing.
        """
        return self.evaluate(generator, steps=steps, callbacks=callbacks, verbose=verbose)

    def predict_generator(
        self, generator: Nest, steps: int | None = None, callbacks: Sequence[Callback] | None = None,
        max_queue_size: int = 10, workers: int = 1, use_multiprocessing: bool = False, verbose: int = 0,
    ) -> Nest:  # fmt: skip
        """The outputs for what a generator gives; `predict` takes generators too.

        Args:
            generator: gives inputs, or tuples that begin with them, or is a `utils.Sequence`.
            steps: how many batches to take; a Sequence's length when None.
            callbacks: callbacks.
            max_queue_size, workers, use_multiprocessing: taken and without effect.
            verbose: 1 for a progress bar, 0 for nothing.
        """
        return self.predict(generator, steps=steps, callbacks=callbacks, verbose=verbose)


def _validation_epochs(freq: int | Sequence[int]) -> Callable[[int], bool]:
    if isinstance(freq, int):
        if freq < 1:
            raise ValueError("`validation_freq` can not be less than 1.")
        return lambda epoch: (epoch + 1) % freq == 0
    return lambda epoch: epoch + 1 in freq


def _kind(array: Array) -> Nest:
    return np.float32 if array.dtype == np.float64 else array.dtype
