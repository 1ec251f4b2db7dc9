"""The graph of a boosted model: logits of an ensemble, and the step that makes its trees grow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from weft.autodiff.gradients import gradients
from weft.client.session import Session
from weft.estimators.aliases import Features, Labels
from weft.estimators.canned.head import Head
from weft.estimators.canned.head_inputs import checked_labels
from weft.estimators.estimator_spec import EstimatorSpec
from weft.estimators.mode_keys import ModeKeys
from weft.estimators.run_config import RunConfig
from weft.estimators.trees.caches import Places, TrainingCache, beginning, kept_variable
from weft.estimators.trees.columns import TreeColumns
from weft.estimators.trees.growers import AccumulatorGrower, Grower, Growth, InMemoryGrower, TreeParams
from weft.estimators.trees.resources import EnsembleStates, QuantileAccumulator, TreeEnsemble
from weft.framework.building.aliases import VariableLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.models.feature_columns.numeric import NumericColumn, numeric_column
from weft.ops.array.constant import constant
from weft.ops.array.shape_ops import shape, size, squeeze
from weft.ops.control_flow.cond import cond
from weft.ops.control_flow.ordering import group, no_op
from weft.ops.math.casting import cast
from weft.ops.math.elementwise import reciprocal
from weft.ops.math.unary import sigmoid
from weft.ops.summary.nodes import scalar
from weft.ops.trees.ensemble_nodes import (
    boosted_trees_example_debug_outputs,
    boosted_trees_predict,
    boosted_trees_training_predict,
)
from weft.ops.trees.splits import boosted_trees_make_stats_summary
from weft.ops.variables.assign import assign_add
from weft.training.coordinator import Coordinator
from weft.training.hooks.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from weft.training.training_util import get_or_create_global_step

PATH_KEY: Final = "_serialized_debug_outputs_proto"
_QUANTILES: Final = "QuantileAccumulator"

Derivatives = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
"""Gradients and hessians of the loss, `[batch, 1]`, from logits and labels."""


@dataclass(frozen=True)
class BoostedModel:
    """A boosted model.

    Args:
        head: the task, with one logit.
        columns: the features.
        params: how trees grow.
        n_batches_per_layer: how many batches there are for a layer.
        weight_column: the feature with the weights of examples, which the buckets of numeric columns heed.
        derivatives: those of the loss, where they are known; by `tf.gradients` when None.
        train_in_memory: whether each batch has all examples.
    """

    head: Head
    columns: TreeColumns
    params: TreeParams
    n_batches_per_layer: int
    weight_column: str | NumericColumn | None = None
    derivatives: Derivatives | None = None
    train_in_memory: bool = False

    def spec(self, features: Features, labels: Labels, mode: str, config: RunConfig) -> EstimatorSpec:
        """The model of a mode.

        Args:
            features: by name.
            labels: what the head learns.
            mode: one of ModeKeys.
            config: tells how many tasks train.

        Raises:
            ValueError: several tasks train on all examples in memory, or the parameters do not go together.
        """
        with get_default_graph().name_scope("boosted_trees") as scope:
            step = get_or_create_global_step()
            # What a branch changes has to be on one task.
            with get_default_graph().colocate_with(step.op):
                ensemble = TreeEnsemble(scope)
            inputs = _Inputs(self, features, ensemble)
            if mode != ModeKeys.TRAIN:
                logits = boosted_trees_predict(ensemble.resource_handle, inputs.buckets(), logits_dimension=1)
                return self.head.create_estimator_spec(features, mode, logits, labels, train_op_fn=no_op_of)
            self._check_trained(config)
            training = _Training(self, inputs, ensemble, labels, config, f"{scope}_local")
        spec = self.head.create_estimator_spec(
            features, mode, training.logits, labels, train_op_fn=lambda loss: training.step(loss, step)
        )
        stop = _StopAtAttempts(training.states, self.params.n_trees, self.params.max_depth)
        return spec._replace(
            training_hooks=(*spec.training_hooks, stop),
            training_chief_hooks=(_GrowerInitialization(training.grower.chief_init()), *spec.training_chief_hooks),
        )

    def explained(self, features: Features) -> EstimatorSpec:
        """Predictions, and among them the path of each example through the trees, as a message.

        Args:
            features: by name.
        """
        with get_default_graph().name_scope("boosted_trees") as scope:
            ensemble = TreeEnsemble(scope)
            buckets = _Inputs(self, features, ensemble).buckets()
            logits = boosted_trees_predict(ensemble.resource_handle, buckets, logits_dimension=1)
            spec = self.head.create_estimator_spec(features, ModeKeys.PREDICT, logits)
            paths = boosted_trees_example_debug_outputs(ensemble.resource_handle, buckets, logits_dimension=1)
            predictions: dict[str, Any] = {**spec.predictions, PATH_KEY: paths}
            return spec._replace(predictions=predictions)

    def _check_trained(self, config: RunConfig) -> None:
        if not self.train_in_memory:
            return
        if self.n_batches_per_layer != 1:
            raise ValueError(
                "When train_in_memory is enabled, input_fn should return the entire dataset as a single batch, and "
                f"n_batches_per_layer should be set as 1, not {self.n_batches_per_layer}."
            )
        if not config.is_chief or config.num_worker_replicas > 1 or config.num_ps_replicas > 0:
            raise ValueError(
                f"train_in_memory is supported only for non-distributed training: there are {config.num_worker_replicas} "
                f"workers and {config.num_ps_replicas} parameter servers."
            )


def no_op_of(loss: Tensor) -> Operation:
    """Nothing to train."""
    del loss
    return no_op()


class _Inputs:
    """The features of a batch, and the buckets of numeric ones."""

    def __init__(self, model: BoostedModel, features: Features, ensemble: TreeEnsemble) -> None:
        self._columns, params = model.columns, model.params
        numeric = model.columns.numeric
        self.quantiles: QuantileAccumulator | None = None
        self._boundaries: list[Tensor] = []
        if numeric.columns:
            epsilon = params.quantile_sketch_epsilon
            with ensemble.beside():
                self.quantiles = QuantileAccumulator(epsilon, numeric.num_features, params.num_quantiles, _QUANTILES)
            self._boundaries = self.quantiles.bucket_boundaries()
        self._most = params.num_quantiles
        self._values = model.columns.values(features)
        self.numbers = [each for column in numeric.columns for each in self._values[column]]
        self.features = features

    def buckets(self) -> list[Tensor]:
        """The bucket numbers of all features, `[batch] int32` each."""
        return self._columns.buckets(self._values, self._boundaries, self._most)


class _Training:
    """The step of training: logits, the statistics of their loss, and what the ensemble makes of these."""

    def __init__(
        self, model: BoostedModel, inputs: _Inputs, ensemble: TreeEnsemble, labels: Labels, config: RunConfig, local: str
    ) -> None:
        self._model, self._inputs, self._labels = model, inputs, labels
        params = model.params
        with ensemble.beside():
            self._are_ready = kept_variable(inputs.quantiles is None, "are_boundaries_ready")
        self._buckets = inputs.buckets()
        batch_size = shape(self._buckets[0])[0]
        self._cache = TrainingCache(batch_size, 1) if model.train_in_memory else None
        known = beginning(batch_size, 1) if self._cache is None else self._cache.lookup()
        own, loaded = _own_ensemble(ensemble, config, local)
        with get_default_graph().control_dependencies(loaded):
            self.states: EnsembleStates = own.states()
            gained, trees, self._nodes = boosted_trees_training_predict(
                own.resource_handle, known.tree_ids, known.node_ids, self._buckets, logits_dimension=1
            )
        self.logits: Tensor = known.logits + gained
        self._places = Places(trees, self._nodes, self.logits)
        self._groups = model.columns.groups(params.num_quantiles)
        growth = Growth(ensemble, params, self._groups)
        self.grower: Grower
        if model.train_in_memory:
            self.grower = InMemoryGrower(growth, inputs.quantiles)
        else:
            self.grower = AccumulatorGrower(
                growth, inputs.quantiles, self.states.stamp_token, model.n_batches_per_layer, config.is_chief
            )
        for name in ("num_trees", "num_finalized_trees", "num_attempted_layers"):
            scalar(f"ensemble/{name}", getattr(self.states, name))
        with ensemble.beside():
            self._is_bias_needed = kept_variable(params.center_bias, "center_bias_needed")

    def step(self, loss: Tensor, global_step: VariableLike) -> Operation:
        """The training operation.

        Args:
            loss: the loss.
            global_step: counts the steps that the trees saw, and not those that found buckets.
        """
        if self._inputs.quantiles is None:
            return self._grow(loss, global_step)

        def find_buckets() -> Operation:
            return self.grower.accumulate_quantiles(self._inputs.numbers, self._weights(), self._are_ready)

        gradient, hessian = self._derivatives(loss)
        return group(
            cond(self._are_ready.value(), lambda: self._grown(gradient, hessian, global_step), find_buckets), name="grow_op"
        )

    def _grow(self, loss: Tensor, global_step: VariableLike) -> Operation:
        return self._grown(*self._derivatives(loss), global_step)

    def _grown(self, gradient: Tensor, hessian: Tensor, global_step: VariableLike) -> Operation:
        is_needed = self._is_bias_needed
        needs_bias = is_needed.value()
        done: list[Operation] = []
        if self._cache is not None:
            cache = self._cache
            # A logit that the bias will change yet is not worth keeping.
            done.append(group(cond(needs_bias, no_op, lambda: cache.insert(self._places))))
        if self._model.params.center_bias:
            grown = group(
                cond(
                    needs_bias,
                    lambda: self.grower.center_bias(is_needed, gradient, hessian),
                    lambda: self._grown_layer(gradient, hessian),
                )
            )
        else:
            grown = self._grown_layer(gradient, hessian)
        with get_default_graph().control_dependencies([grown]):
            done += [grown, group(assign_add(global_step, 1))]
        return group(*done, name="grow_op")

    def _grown_layer(self, gradient: Tensor, hessian: Tensor) -> Operation:
        summaries = [
            [self._summary(number, each.num_buckets, gradient, hessian) for number in each.feature_ids] for each in self._groups
        ]
        return self.grower.grow(summaries, self.states.last_layer_nodes_range)

    def _summary(self, feature: int, num_buckets: int, gradient: Tensor, hessian: Tensor) -> Tensor:
        summary = boosted_trees_make_stats_summary(
            self._nodes, gradient, hessian, [self._buckets[feature]], max_splits=self._model.params.max_splits,
            num_buckets=num_buckets,
        )  # fmt: skip
        return squeeze(summary, axis=0)

    def _derivatives(self, loss: Tensor) -> tuple[Tensor, Tensor]:
        if self._model.derivatives is not None:
            return self._model.derivatives(self.logits, self._labels)
        (gradient,) = gradients(loss, self.logits, name="Gradients")
        (hessian,) = gradients(gradient, self.logits, name="Hessians")
        return gradient, hessian

    def _weights(self) -> Tensor:
        column = self._model.weight_column
        if column is None:
            return constant([1.0])
        if isinstance(column, str):
            column = numeric_column(column)
        (weights,) = TreeColumns([column]).values(self._inputs.features)[column]
        return weights


def _own_ensemble(ensemble: TreeEnsemble, config: RunConfig, name: str) -> tuple[TreeEnsemble, Sequence[Operation]]:
    """The ensemble that a task computes with: of several tasks each has a copy, which it takes anew in each step."""
    if config.num_worker_replicas <= 1:
        return ensemble, []
    with get_default_graph().device(no_op().device):
        own = TreeEnsemble(name, is_local=True)
    return own, [own.copy_from(ensemble)]


def logistic_derivatives(logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Those of the mean over examples of the logistic loss: `[batch, 1], [batch] or [batch, 1] -> [batch, 1], [batch, 1]`."""
    share = reciprocal(cast(size(logits), dtypes.float32))
    likely = sigmoid(logits)
    gradient = (likely - checked_labels(cast(labels, dtypes.float32), logits, 1)) * share
    return gradient, likely * (1.0 - likely) * share


class _GrowerInitialization(SessionRunHook):
    """Brings the accumulators to the ensemble's stamp when the chief has a session."""

    def __init__(self, init_op: Operation) -> None:
        self._init_op = init_op

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Bring them there."""
        session.run(self._init_op)


class _StopAtAttempts(SessionRunHook):
    """Ends the training when all trees are there, or twice as many layers were tried as they have."""

    def __init__(self, states: EnsembleStates, n_trees: int, max_depth: int) -> None:
        self._counts = [states.num_finalized_trees, states.num_attempted_layers]
        self._trees, self._layers = n_trees, 2 * n_trees * max_depth

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the counts."""
        return SessionRunArgs(self._counts)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Look at them; near the end at those after the step."""
        trees, layers = run_values.results
        if trees >= self._trees - 1 or layers > self._layers - 1:
            trees, layers = run_context.session.run(self._counts)
        if trees >= self._trees or layers > self._layers:
            run_context.request_stop()
