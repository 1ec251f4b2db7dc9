"""Evaluations of checkpoints: restore, run the updates of the metrics until the input ends, read their values."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from tensorboard.compat.proto import config_pb2

from weft.framework.building.aliases import Feeds, Fetches, FetchValue, Nest, VariableLike
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.identity import identity
from weft.ops.variables.assign import assign_add
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.initializers import Zeros
from weft.platform.logs import tf_logging
from weft.training.hooks.feed_hooks import FinalOpsHook
from weft.training.hooks.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from weft.training.saving.checkpoint_wait import checkpoints_iterator
from weft.training.scaffold import Scaffold
from weft.training.sessions.monitored_session import MonitoredSession
from weft.training.sessions.session_creator import ChiefSessionCreator

_LINES = 10  # in the log of an evaluation of many batches


class StopAfterNEvalsHook(SessionRunHook):
    """Ends an evaluation after a number of batches, and logs how far it is.

    Args:
        num_evals: how many batches; None for all.
        log_progress: whether to log.
    """

    def __init__(self, num_evals: int | None, log_progress: bool = True) -> None:
        self._num_evals = num_evals
        self._evals_completed: Tensor | None = None
        self._log_progress = log_progress
        self._log_frequency = 1 if num_evals is None or num_evals < 2 * _LINES else num_evals // _LINES

    def set_evals_completed_tensor(self, updated_eval_step: Tensor) -> None:
        """Take the tensor of the number of batches so far; `evaluate_once` calls it.

        Args:
            updated_eval_step: a scalar that is raised by one with each batch.
        """
        self._evals_completed = updated_eval_step

    # Under this name programs with evaluations of their own call it.
    _set_evals_completed_tensor = set_evals_completed_tensor

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the number."""
        return SessionRunArgs({"evals_completed": self._evals_completed})

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Log it, and stop when it is reached."""
        done = run_values.results["evals_completed"]
        if self._log_progress:
            if self._num_evals is None:
                tf_logging.info("Evaluation [%d]", done)
            elif done % self._log_frequency == 0 or done == self._num_evals:
                tf_logging.info("Evaluation [%d/%d]", done, self._num_evals)
        if self._num_evals is not None and done >= self._num_evals:
            run_context.request_stop()


def get_or_create_eval_step() -> VariableLike:
    """The local variable that counts the batches of an evaluation.

    Raises:
        ValueError: the graph has several.
    """
    found = get_default_graph().get_collection(GraphKeys.EVAL_STEP)
    if len(found) > 1:
        raise ValueError("Multiple tensors added to tf.GraphKeys.EVAL_STEP")
    if found:
        return found[0]
    return get_variable(
        "eval_step",
        shape=[],
        dtype=dtypes.int64,
        initializer=Zeros(),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.EVAL_STEP],
    )


def evaluate_once(
    checkpoint_path: str | None,
    master: str = "",
    scaffold: Scaffold | None = None,
    eval_ops: Fetches = None,
    feed_dict: Feeds | None = None,
    final_ops: Fetches = None,
    final_ops_feed_dict: Feeds | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
    config: config_pb2.ConfigProto | None = None,
) -> FetchValue:
    """Evaluate the default graph with the variables of a checkpoint.

    Args:
        checkpoint_path: the checkpoint; None: the variables' initial values.
        master: the session's target.
        scaffold: the parts of the graph.
        eval_ops: what each batch runs, an operation, a list or a dict; until a hook or the input's end stops it.
        feed_dict: what to feed it.
        final_ops: what to fetch at the end.
        final_ops_feed_dict: what to feed then.
        hooks: SessionRunHooks.
        config: the session's ConfigProto.

    Returns:
        The values of `final_ops`.
    """
    eval_step = get_or_create_eval_step()
    all_hooks = list(hooks or ())
    if eval_ops is not None:
        eval_ops = _counting(eval_ops, eval_step, all_hooks)
    creator = ChiefSessionCreator(scaffold, master, config, checkpoint_filename_with_path=checkpoint_path)
    final = FinalOpsHook(final_ops, final_ops_feed_dict)
    _evaluate(creator, eval_ops, feed_dict, [*all_hooks, final])
    return final.final_ops_values


def evaluate_repeatedly(
    checkpoint_dir: str, master: str = "", scaffold: Scaffold | None = None, eval_ops: Fetches = None,
    feed_dict: Feeds | None = None, final_ops: Fetches = None, final_ops_feed_dict: Feeds | None = None,
    eval_interval_secs: float = 60, hooks: Sequence[SessionRunHook] | None = None,
    config: config_pb2.ConfigProto | None = None, max_number_of_evaluations: int | None = None,
    timeout: float | None = None, timeout_fn: Callable[[], bool] | None = None,
) -> FetchValue:  # fmt: skip
    """Evaluate the default graph with each new checkpoint of a directory, as `evaluate_once` does.

    Args:
        checkpoint_dir: the directory; it need not exist yet.
        eval_interval_secs: how long to wait at least between two evaluations.
        max_number_of_evaluations: after how many to stop; never when None.
        timeout: after how many seconds without a new checkpoint to stop; never when None.
        timeout_fn: asked at a timeout whether to stop; without it a timeout stops.
        master, scaffold, eval_ops, feed_dict, final_ops, final_ops_feed_dict, hooks, config: as for `evaluate_once`.

    Returns:
        The last values of `final_ops`, None when there was no checkpoint.
    """
    eval_step = get_or_create_eval_step()
    all_hooks = list(hooks or ())
    if eval_ops is not None:
        eval_ops = _counting(eval_ops, eval_step, all_hooks)
    final = FinalOpsHook(final_ops, final_ops_feed_dict)
    paths = checkpoints_iterator(checkpoint_dir, eval_interval_secs, timeout, timeout_fn)
    for number, path in enumerate(paths, 1):
        creator = ChiefSessionCreator(scaffold, master, config, checkpoint_filename_with_path=path)
        _evaluate(creator, eval_ops, feed_dict, [*all_hooks, final])
        if number == max_number_of_evaluations:
            break
    return final.final_ops_values


def _evaluate(
    creator: ChiefSessionCreator, eval_ops: Fetches, feed_dict: Feeds | None, hooks: Sequence[SessionRunHook]
) -> None:
    tf_logging.info("Starting evaluation at %s", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.localtime()))
    with MonitoredSession(creator, hooks) as session:
        while eval_ops is not None and not session.should_stop():
            session.run(eval_ops, feed_dict)
    tf_logging.info("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S", time.localtime()))


def _counting(eval_ops: Nest, eval_step: VariableLike, hooks: Sequence[SessionRunHook]) -> Fetches:
    """The operations of a batch with one that counts it; hooks that need the number get a tensor of it."""
    update = assign_add(eval_step, 1, use_locking=True)
    if isinstance(eval_ops, dict):
        eval_ops = {**eval_ops, "update_eval_step": update}
        parts = list(eval_ops.values())
    else:
        eval_ops = parts = [*(eval_ops if isinstance(eval_ops, tuple | list) else [eval_ops]), update]
    with get_default_graph().control_dependencies(parts):
        completed = identity(eval_step.read_value())
    for hook in hooks:
        if isinstance(hook, StopAfterNEvalsHook):
            hook.set_evals_completed_tensor(completed)
    return eval_ops
