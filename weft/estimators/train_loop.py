"""The training of a model that is built: hooks, checkpoints, summaries, and the loop itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.estimators.cluster_environment import TaskType
from weft.estimators.estimator_spec import EstimatorSpec
from weft.estimators.run_config import RunConfig
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.ops.summary.nodes import scalar
from weft.platform.logs import tf_logging
from weft.training.hooks.checkpoint_hooks import CheckpointSaverHook, CheckpointSaverListener
from weft.training.hooks.logging_hooks import LoggingTensorHook
from weft.training.hooks.session_run_hook import SessionRunHook
from weft.training.hooks.step_counter_hook import StepCounterHook
from weft.training.hooks.stop_hooks import NanTensorHook
from weft.training.hooks.summary_hooks import SummarySaverHook
from weft.training.saving.saver import DefaultSaver
from weft.training.sessions.monitored_session import MonitoredTrainingSession
from weft.training.training_util import get_global_step


def train(
    spec: EstimatorSpec,
    config: RunConfig,
    hooks: Sequence[SessionRunHook],
    saving_listeners: Sequence[CheckpointSaverListener],
) -> Any:
    """Train the default graph until a hook or the input's end stops it.

    Args:
        spec: the model.
        config: how to run; its model directory is where checkpoints come from and go to.
        hooks: those of the input and of the caller.
        saving_listeners: told of each checkpoint.

    Returns:
        The loss of the last step; None when there was none.

    Raises:
        ValueError: there are listeners, and nothing writes checkpoints.
    """
    _collect(spec, config)
    worker_hooks = [*hooks, NanTensorHook(spec.loss)]
    if config.log_step_count_steps is not None:
        shown = {"loss": spec.loss, "step": get_global_step()}
        worker_hooks.append(LoggingTensorHook(shown, every_n_iter=config.log_step_count_steps))
    worker_hooks.extend(spec.training_hooks)
    chief_hooks = [*_saver_hooks(spec, config, worker_hooks, saving_listeners), *spec.training_chief_hooks]
    summary_steps, log_steps = config.save_summary_steps, config.log_step_count_steps
    if _master_has_workers(config):
        # The master evaluates between its steps; the first worker writes what the chief would.
        summary_steps, log_steps = 0, None
        worker_hooks.extend(_first_workers_hooks(spec, config))
    return _run(spec, config, worker_hooks, chief_hooks, summary_steps, log_steps)


def _collect(spec: EstimatorSpec, config: RunConfig) -> None:
    """Put the loss's summary, the loss and a Saver where the session looks for them, unless the model has them."""
    graph = get_default_graph()
    if not any(each.op.name == "loss" for each in graph.get_collection(GraphKeys.SUMMARIES)):
        scalar("loss", spec.loss)
    graph.add_to_collection(GraphKeys.LOSSES, spec.loss)
    if spec.scaffold.saver is None and not graph.get_collection(GraphKeys.SAVERS):
        saver = DefaultSaver(
            sharded=True,
            max_to_keep=config.keep_checkpoint_max,
            keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours,
            defer_build=True,
            save_relative_paths=True,
        )
        graph.add_to_collection(GraphKeys.SAVERS, saver)


def _saver_hooks(
    spec: EstimatorSpec,
    config: RunConfig,
    worker_hooks: Sequence[SessionRunHook],
    listeners: Sequence[CheckpointSaverListener],
) -> list[SessionRunHook]:
    """The hook that saves as the RunConfig wants it; none if the program brings one. The first gets the listeners."""
    own: list[SessionRunHook] = []
    savers = [each for each in (*worker_hooks, *spec.training_chief_hooks) if isinstance(each, CheckpointSaverHook)]
    secs, steps = config.save_checkpoints_secs, config.save_checkpoints_steps
    if (secs or steps) and not savers:
        assert config.model_dir is not None
        savers = [CheckpointSaverHook(config.model_dir, save_secs=secs, save_steps=steps, scaffold=spec.scaffold)]
        own.extend(savers)
    if listeners and not savers:
        raise ValueError(
            "There should be a CheckpointSaverHook to use saving_listeners. Please set one of the "
            "RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs."
        )
    for listener in listeners:
        if listener not in savers[0].listeners:
            savers[0].listeners.append(listener)
    return own


def _master_has_workers(config: RunConfig) -> bool:
    return {TaskType.WORKER, TaskType.MASTER} <= set(config.cluster_spec.jobs)


def _first_workers_hooks(spec: EstimatorSpec, config: RunConfig) -> list[SessionRunHook]:
    hooks: list[SessionRunHook] = []
    if config.task_type != TaskType.WORKER or config.task_id != 0:
        return hooks
    if config.save_summary_steps:
        hooks.append(
            SummarySaverHook(save_steps=config.save_summary_steps, output_dir=config.model_dir, scaffold=spec.scaffold)
        )
    if config.log_step_count_steps:
        hooks.append(StepCounterHook(every_n_steps=config.log_step_count_steps, output_dir=config.model_dir))
    return hooks


def _has_own_sessions(config: RunConfig) -> bool:
    strategy = config.train_distribute
    return strategy is not None and strategy.extended.experimental_between_graph and not strategy.extended.uses_servers


def _run(
    spec: EstimatorSpec,
    config: RunConfig,
    worker_hooks: Sequence[SessionRunHook],
    chief_hooks: Sequence[SessionRunHook],
    save_summary_steps: int | None,
    log_step_count_steps: int | None,
) -> Any:
    loss = None
    made_a_step = False
    # A worker that trains without servers makes and restores the model by itself, and saves nothing.
    is_alone = _has_own_sessions(config) and not config.is_chief
    with MonitoredTrainingSession(
        master=config.master,
        is_chief=config.is_chief or is_alone,
        checkpoint_dir=config.model_dir,
        scaffold=spec.scaffold,
        hooks=worker_hooks,
        chief_only_hooks=() if is_alone else chief_hooks,
        save_checkpoint_secs=0,
        save_summaries_steps=0 if is_alone else save_summary_steps,
        config=config.session_config,
        max_wait_secs=config.session_creation_timeout_secs,
        log_step_count_steps=None if is_alone else log_step_count_steps,
    ) as session:
        while not session.should_stop():
            _, loss = session.run([spec.train_op, spec.loss])
            made_a_step = True
    if not made_a_step:
        tf_logging.warning("Training with estimator made no steps. Perhaps input is empty or misspecified.")
    return loss
