"""Estimator: trains, evaluates, asks and exports the model that a function builds."""

from __future__ import annotations

import contextlib
import copy
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from weft.checkpoint.checkpoint_contents import list_variables, load_variable
from weft.checkpoint.checkpoint_state import latest_checkpoint
from weft.estimators.aliases import Features, InputFn, Labels, Metrics, ModelFn, Params
from weft.estimators.cluster_environment import TaskType
from weft.estimators.estimator_config import device_function, fitted_session_config, placed_config, settled_config
from weft.estimators.estimator_spec import EstimatorSpec
from weft.estimators.evaluation_graph import EvaluationGraph, build_evaluation
from weft.estimators.evaluation_results import write_results
from weft.estimators.export.saved_model_export import ReceiverFn, export_all_saved_models
from weft.estimators.input_function import has_an_end, parse_input_fn_result
from weft.estimators.mode_keys import ModeKeys
from weft.estimators.model_function import call_input_fn, call_model_fn, verify_model_fn_args
from weft.estimators.prediction import chosen_predictions, single_predictions
from weft.estimators.replicated import replicated_evaluation, replicated_input, replicated_training
from weft.estimators.run_config import RunConfig
from weft.estimators.train_loop import train
from weft.estimators.trained_steps import trained_steps
from weft.estimators.warm_start_settings import WarmStartSettings, warm_start_settings
from weft.framework.building.aliases import FetchValue, Nest
from weft.framework.graphs.graph import Graph
from weft.framework.types.value_types import NumpyArray
from weft.ops.random.seed import set_random_seed
from weft.ops.variables.variable import Variable
from weft.platform.hints.argument_checks import check_arguments
from weft.platform.logs import tf_logging
from weft.strategies.input.iterators import InputContext
from weft.strategies.strategy import Strategy
from weft.training.hooks.checkpoint_hooks import CheckpointSaverListener
from weft.training.hooks.global_step_read import global_step_read
from weft.training.hooks.session_run_hook import SessionRunHook
from weft.training.hooks.stop_hooks import StopAtStepHook
from weft.training.saving.warm_start import warm_start
from weft.training.sessions.evaluation import StopAfterNEvalsHook, evaluate_once
from weft.training.sessions.monitored_session import MonitoredSession
from weft.training.sessions.session_creator import ChiefSessionCreator
from weft.training.training_util import create_global_step

# Members that a subclass may replace.
_OVERRIDABLE: Final = frozenset(("model_fn", "_params_of", "_create_and_assert_global_step"))

_NO_RECEIVER: Final = (
    "An input_receiver_fn must be defined. tf.estimator.export.build_raw_serving_input_receiver_fn makes one of placeholders "
    "by name, build_parsing_serving_input_receiver_fn one of a feature spec."
)


class Estimator:
    """A model and its directory, in which checkpoints, events and exports are.

    Each call builds a graph of its own, and its variables come from the last checkpoint.

    Args:
        model_fn: takes `features` and any of `labels`, `mode`, `params` and `config`; returns an EstimatorSpec.
        model_dir: the directory; the RunConfig's when None, else a temporary one.
        config: the RunConfig.
        params: given to `model_fn` and input functions that take it, a copy each time.
        warm_start_from: the path of a checkpoint or SavedModel, or WarmStartSettings, from which variables get their first
            values.

    Raises:
        ValueError: the function's arguments are not these, or `config` and `model_dir` contradict each other.

    >>> def model_fn(features, labels, mode):
    ...     weight = tf.get_variable("weight", [], initializer=tf.zeros_initializer())
    ...     loss = tf.reduce_mean(tf.square(features["x"] * weight - labels))
    ...     train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    ...     return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
    >>> def input_fn():
    ...     return tf.data.Dataset.from_tensors(({"x": [1.0, 2.0]}, [3.0, 6.0])).repeat()
    >>> estimator = tf.estimator.Estimator(model_fn).train(input_fn, steps=20)
    >>> print(round(float(estimator.get_variable_value("weight")), 3))
    3.0
    """

    def __init__(
        self,
        model_fn: ModelFn | None,
        model_dir: str | os.PathLike[str] | None = None,
        config: RunConfig | None = None,
        params: Params = None,
        warm_start_from: str | WarmStartSettings | None = None,
    ) -> None:
        # As a static method is called, too: by this name programs let their subclasses override members.
        type(self)._assert_members_are_not_overridden(self)
        self._config = settled_config(config, model_dir)
        assert self._config.model_dir is not None
        self._model_dir = self._config.model_dir  # subclasses of programs' own read it
        tf_logging.info("Using config: %s", vars(self._config))
        self._device_fn = device_function(self._config)
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        verify_model_fn_args(model_fn, params)
        self._model_fn = model_fn
        self._params = copy.deepcopy(params or {})
        self._warm_start_settings: WarmStartSettings | None = warm_start_settings(warm_start_from)

    def __repr__(self) -> str:
        return f"<tf.estimator.{type(self).__name__} of {self.model_dir}>"

    def _assert_members_are_not_overridden(self) -> None:
        members = {name for name in dir(Estimator) if not name.startswith("__")}
        changed = {
            name
            for name in members & vars(type(self)).keys() - _OVERRIDABLE
            if getattr(Estimator, name) is not getattr(type(self), name)
        }
        if changed:
            raise ValueError(
                f"Subclasses of Estimator cannot override members of Estimator. {type(self)} does override {sorted(changed)}"
            )

    @property
    def model_dir(self) -> str:
        """The directory of checkpoints and events."""
        return self._model_dir

    @property
    def config(self) -> RunConfig:
        """A copy of the RunConfig."""
        return copy.deepcopy(self._config)

    @property
    def params(self) -> Params:
        """A copy of the parameters."""
        return copy.deepcopy(self._params)

    @property
    def warm_start_settings(self) -> WarmStartSettings | None:
        """The settings by which variables get their first values, or None."""
        return self._warm_start_settings

    @property
    def model_fn(self) -> Callable[[Features, Labels, str, RunConfig], EstimatorSpec]:
        """The model's function, bound to its parameters: it takes features, labels, mode and config."""

        def public_model_fn(features: Features, labels: Labels, mode: str, config: RunConfig) -> EstimatorSpec:
            return call_model_fn(self._model_fn, features, labels, mode, self._params_of(mode), config)

        return public_model_fn

    def get_variable_value(self, name: str) -> NumpyArray:
        """The value of a variable in the last checkpoint; ValueError when there is no checkpoint."""
        self._check_trained()
        return load_variable(self.model_dir, name)

    def get_variable_names(self) -> list[str]:
        """The names of the variables in the last checkpoint; ValueError when there is no checkpoint."""
        self._check_trained()
        return [name for name, _ in list_variables(self.model_dir)]

    def latest_checkpoint(self) -> str | None:
        """The path of the last checkpoint; None before the first."""
        return latest_checkpoint(self.model_dir)

    def eval_dir(self, name: str | None = None) -> str:
        """The directory for the events of evaluations, those of that name if one is given."""
        return os.path.join(self.model_dir, f"eval_{name}" if name else "eval")

    def train(
        self,
        input_fn: InputFn,
        hooks: Sequence[SessionRunHook] | None = None,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Sequence[CheckpointSaverListener] | None = None,
    ) -> Estimator:
        """Train from the last checkpoint on.

        Args:
            input_fn: builds the input: takes any of `mode`, `params` and `config`; returns a Dataset, or a pair of features
                and labels.
            hooks: SessionRunHooks.
            steps: steps to make in this call. Without it and `max_steps`, until the input ends.
            max_steps: the global step to stop at, instead; a model that has reached it is left as it is.
            saving_listeners: told of each checkpoint.

        Returns:
            The estimator.

        Raises:
            ValueError: both numbers are given, one is not positive, or this task does not train.
            TypeError: a hook or listener is none.
        """
        if self._config.task_type in (TaskType.EVALUATOR, TaskType.PS):
            raise ValueError(
                "Train has been called wrong configuration. Please use tf.estimator.train_and_evaluate which calls proper API "
                f"according to given configuration. Current configuration: {self._config}."
            )
        _check_steps(steps, max_steps)
        if max_steps is not None and max_steps <= trained_steps(self.model_dir):
            tf_logging.info("Skipping training since max_steps has already saved.")
            return self
        all_hooks = _checked_hooks(hooks)
        if steps is not None or max_steps is not None:
            all_hooks.append(StopAtStepHook(steps, max_steps))
        loss = self._train_model(input_fn, all_hooks, _checked_listeners(saving_listeners))
        tf_logging.info("Loss for final step: %s.", loss)
        return self

    def evaluate(
        self,
        input_fn: InputFn,
        steps: int | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        checkpoint_path: str | None = None,
        name: str | None = None,
    ) -> Metrics:
        """Evaluate a checkpoint.

        Args:
            input_fn: builds the input, as for `train`.
            steps: how many batches; None: until the input ends.
            hooks: SessionRunHooks.
            checkpoint_path: the checkpoint; the last one when None. Without any, the model as it is initialized.
            name: makes the directory of the evaluation's events `eval_NAME`.

        Returns:
            The values of the metrics by name, `loss` and `global_step` among them.

        Raises:
            ValueError: `steps` is not positive.
            TypeError: a hook is none.
        """
        check_arguments(Estimator.evaluate, checkpoint_path=checkpoint_path, name=name)
        all_hooks = _checked_hooks(hooks)
        if steps is not None:
            _check_positive("steps", steps)
            all_hooks.append(StopAfterNEvalsHook(steps))
        path = checkpoint_path or self._last_checkpoint("evaluate")
        strategy = self._config.eval_distribute
        scope = contextlib.nullcontext if strategy is None else strategy.scope
        with Graph().as_default() as graph, scope():
            self._create_and_assert_global_step(graph)
            built = self._built_evaluation(strategy, input_fn, all_hooks)
            self._warm_start_without(path)
            results: Metrics = evaluate_once(
                path,
                master=self._config.evaluation_master,
                scaffold=built.scaffold,
                eval_ops=built.update_op,
                final_ops=built.values,
                hooks=built.hooks,
                config=fitted_session_config(self._config.session_config, strategy),
            )
        write_results(self.eval_dir(name), results, path)
        return results

    def predict(
        self,
        input_fn: InputFn,
        predict_keys: Sequence[str] | str | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        checkpoint_path: str | None = None,
        yield_single_examples: bool = True,
    ) -> Iterator[Any]:
        """Yield predictions, until the input ends; the graph is built when the first is asked for.

        Args:
            input_fn: builds the input; labels are not used.
            predict_keys: the keys of those predictions that are wanted; all when None.
            hooks: SessionRunHooks.
            checkpoint_path: the checkpoint; the last one when None. Without any, the model as it is initialized.
            yield_single_examples: yield one example after another, rather than whole batches.

        Raises:
            ValueError: there are no predictions of these keys, or they have different lengths.
            TypeError: a hook is none.
        """
        all_hooks = _checked_hooks(hooks)
        path = checkpoint_path or self._last_checkpoint("predict")
        graph = Graph()
        with graph.as_default():
            self._create_and_assert_global_step(graph)
            features, _, input_hooks = parse_input_fn_result(self._call_input_fn(input_fn, ModeKeys.PREDICT))
            if not has_an_end(features):
                tf_logging.warning(
                    "Input graph does not use tf.data.Dataset or contain a QueueRunner. That means predict yields forever. "
                    "This is probably a mistake."
                )
            spec = self._call_model_fn(features, None, ModeKeys.PREDICT)
            self._warm_start_without(path)
            predictions = chosen_predictions(spec.predictions, predict_keys)
            creator = ChiefSessionCreator(
                spec.scaffold, self._config.master, self._config.session_config, checkpoint_filename_with_path=path
            )
            session = MonitoredSession(creator, [*input_hooks, *all_hooks, *spec.prediction_hooks])
        # The caller's code runs between two predictions, in its own graph.
        with session:
            while not session.should_stop():
                batch = session.run(predictions)
                if yield_single_examples:
                    yield from single_predictions(batch)
                else:
                    yield batch

    def export_saved_model(
        self,
        export_dir_base: str | os.PathLike[str],
        serving_input_receiver_fn: ReceiverFn | None,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        experimental_mode: str = ModeKeys.PREDICT,
    ) -> bytes:
        """Write the model as a SavedModel into a new directory, whose name is the time in seconds.

        Args:
            export_dir_base: where this directory is made.
            serving_input_receiver_fn: builds the input: takes nothing, returns a ServingInputReceiver.
            assets_extra: further files to copy, by their path below `assets.extra`.
            as_text: write the graph as text.
            checkpoint_path: the checkpoint; the last one when None.
            experimental_mode: one of ModeKeys, for a graph that trains or evaluates.

        Returns:
            The directory's path.

        Raises:
            ValueError: there is no function, or no checkpoint.
        """
        if not serving_input_receiver_fn:
            raise ValueError(_NO_RECEIVER)
        receivers = {experimental_mode: serving_input_receiver_fn}
        return self.experimental_export_all_saved_models(export_dir_base, receivers, assets_extra, as_text, checkpoint_path)

    def export_savedmodel(
        self,
        export_dir_base: str | os.PathLike[str],
        serving_input_receiver_fn: ReceiverFn | None,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        strip_default_attrs: bool = False,
    ) -> bytes:
        """Write the model for serving, as `export_saved_model` does.

        Args:
            export_dir_base, serving_input_receiver_fn, assets_extra, as_text, checkpoint_path: see there.
            strip_default_attrs: leave out attributes that have their defaults.

        Returns:
            The path of the folder that was written, as bytes.

        Raises:
            ValueError: `serving_input_receiver_fn` is None.
        """
        if not serving_input_receiver_fn:
            raise ValueError(_NO_RECEIVER)
        receivers = {ModeKeys.PREDICT: serving_input_receiver_fn}
        return self._export(export_dir_base, receivers, assets_extra, as_text, checkpoint_path, strip_default_attrs)

    def experimental_export_all_saved_models(
        self,
        export_dir_base: str | os.PathLike[str],
        input_receiver_fn_map: Mapping[str, ReceiverFn],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
    ) -> bytes:
        """Write the graphs of several modes as one SavedModel.

        Args:
            input_receiver_fn_map: the function that builds the input, by mode.
            export_dir_base, assets_extra, as_text, checkpoint_path: see `export_saved_model`.

        Returns:
            The path of the folder that was written, as bytes.
        """
        return self._export(export_dir_base, input_receiver_fn_map, assets_extra, as_text, checkpoint_path, True)

    def _export(
        self,
        export_dir_base: str | os.PathLike[str],
        receivers: Mapping[str, ReceiverFn],
        assets_extra: Mapping[str, str] | None,
        as_text: bool,
        checkpoint_path: str | None,
        strip_default_attrs: bool,
    ) -> bytes:
        settings = self._warm_start_settings
        path = checkpoint_path or self.latest_checkpoint() or (settings and settings.ckpt_to_initialize_from)
        if not path:
            raise ValueError(
                f"Couldn't find trained model at {self.model_dir}. estimator.train(...) makes one, in its model_dir; "
                "checkpoint_path names one that is elsewhere."
            )
        return export_all_saved_models(
            self.model_fn, self.config, export_dir_base, receivers, path, assets_extra, as_text, strip_default_attrs
        )

    def _built_evaluation(
        self, strategy: Strategy | None, input_fn: InputFn, hooks: Sequence[SessionRunHook]
    ) -> EvaluationGraph:
        if strategy is not None:
            features, labels, input_hooks = replicated_input(strategy, self._call_input_fn, input_fn, ModeKeys.EVAL)
            return replicated_evaluation(strategy, self._call_model_fn, features, labels, [*input_hooks, *hooks])
        result = self._call_input_fn(input_fn, ModeKeys.EVAL)
        features, labels, input_hooks = parse_input_fn_result(result)
        return build_evaluation(self._call_model_fn, features, labels, [*input_hooks, *hooks])

    def _params_of(self, mode: str) -> Params:
        """What functions are given as `params` in a mode."""
        return self.params

    def _call_input_fn(self, input_fn: InputFn, mode: str, context: InputContext | None = None) -> Nest:
        return call_input_fn(input_fn, mode, self._params_of(mode), self.config, context)

    def _train_replicas(
        self, strategy: Strategy, input_fn: InputFn, hooks: list[SessionRunHook], listeners: Sequence[CheckpointSaverListener]
    ) -> FetchValue:
        config = placed_config(self._config, strategy, self.latest_checkpoint())
        with Graph().as_default() as graph, strategy.scope(), strategy.scaling_loss():
            features, labels, input_hooks = replicated_input(strategy, self._call_input_fn, input_fn, ModeKeys.TRAIN)
            self._create_and_assert_global_step(graph)
            global_step_read("Estimator")
            spec = replicated_training(strategy, self._call_model_fn, features, labels)
            self._warm_start()
            return train(spec, config, [*input_hooks, *hooks], listeners)

    def _train_model(self, input_fn: InputFn, hooks: list[SessionRunHook], listeners: Sequence[CheckpointSaverListener]) -> Any:
        strategy = self._config.train_distribute
        if strategy is not None:
            return self._train_replicas(strategy, input_fn, hooks, listeners)
        with Graph().as_default() as graph, graph.device(self._device_fn):
            self._create_and_assert_global_step(graph)
            global_step_read("Estimator")
            result = self._call_input_fn(input_fn, ModeKeys.TRAIN)
            features, labels, input_hooks = parse_input_fn_result(result)
            spec = self._call_model_fn(features, labels, ModeKeys.TRAIN)
            self._warm_start()
            return train(spec, self._config, [*input_hooks, *hooks], listeners)

    def _create_and_assert_global_step(self, graph: Graph) -> Variable:
        """Begin a graph by its seed and its step. Programs' own ways of building a model call it, and may override it."""
        set_random_seed(self._config.tf_random_seed)
        return create_global_step(graph)

    def _call_model_fn(self, features: Features, labels: Labels, mode: str) -> EstimatorSpec:
        return self.model_fn(features, labels, mode, self.config)

    def _warm_start(self) -> None:
        if self._warm_start_settings is not None:
            tf_logging.info("Warm-starting with WarmStartSettings: %s", self._warm_start_settings)
            warm_start(*self._warm_start_settings)

    def _warm_start_without(self, checkpoint_path: str | None) -> None:
        if not checkpoint_path:
            self._warm_start()

    def _last_checkpoint(self, purpose: str) -> str | None:
        path = self.latest_checkpoint()
        if path is None:
            tf_logging.info(
                "Could not find trained model in model_dir: %s, running initialization to %s.", self.model_dir, purpose
            )
        return path

    def _check_trained(self) -> None:
        if self.latest_checkpoint() is None:
            raise ValueError(f"Could not find trained model in model_dir: {self.model_dir}.")


def _check_steps(steps: int | None, max_steps: int | None) -> None:
    if steps is not None and max_steps is not None:
        raise ValueError(f"Can not provide both steps and max_steps. Got steps={steps} more and max_steps={max_steps} in all.")
    _check_positive("steps", steps)
    _check_positive("max_steps", max_steps)


def _check_positive(name: str, steps: int | None) -> None:
    if steps is not None and steps <= 0:
        raise ValueError(f"Must specify {name} > 0, given: {steps}")


def _checked_hooks(hooks: Sequence[SessionRunHook] | None) -> list[SessionRunHook]:
    for hook in hooks or ():
        if not isinstance(hook, SessionRunHook):
            meant = f": did you mean {hook.__name__}(...)?" if isinstance(hook, type) else ""
            raise TypeError(f"Hooks must be a SessionRunHook, given: {hook}{meant}")
    return list(hooks or ())


def _checked_listeners(listeners: Sequence[CheckpointSaverListener] | None) -> list[CheckpointSaverListener]:
    for listener in listeners or ():
        if not isinstance(listener, CheckpointSaverListener):
            raise TypeError(f"saving_listeners must be a list of CheckpointSaverListener, given: {listener}")
    return list(listeners or ())
