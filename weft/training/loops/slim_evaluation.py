"""tf.contrib.slim.evaluation: a number of batches with one checkpoint, or with each new one of a directory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tensorboard.compat.proto import config_pb2

from weft.framework.building.aliases import Feeds, Fetches, FetchValue, SessionLike, VariableLike
from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.summary.merge import merge_all
from weft.training.hooks.session_run_hook import SessionRunHook
from weft.training.hooks.summary_hooks import SummaryAtEndHook
from weft.training.saving.saver import Saver
from weft.training.scaffold import Scaffold
from weft.training.sessions import evaluation
from weft.training.sessions.model_parts import USE_DEFAULT

VariablesToRestore = Sequence[VariableLike] | dict[str, VariableLike] | None
InitFunction = Callable[[Scaffold, SessionLike], None]


def evaluate_once(
    master: str, checkpoint_path: str | None, logdir: str, num_evals: int = 1, initial_op: Operation | None = None,
    initial_op_feed_dict: Feeds | None = None, eval_op: Fetches = None, eval_op_feed_dict: Feeds | None = None,
    final_op: Fetches = None, final_op_feed_dict: Feeds | None = None, summary_op: Tensor | None = USE_DEFAULT,
    summary_op_feed_dict: Feeds | None = None, variables_to_restore: VariablesToRestore = None,
    session_config: config_pb2.ConfigProto | None = None, hooks: Sequence[SessionRunHook] | None = None,
) -> FetchValue:  # fmt: skip
    """Evaluate the default graph with the variables of a checkpoint.

    Args:
        master: the session's target.
        checkpoint_path: the checkpoint.
        logdir: the directory of the summaries.
        num_evals: how many times to run `eval_op`.
        initial_op, initial_op_feed_dict: initialize the variables, and what to feed then.
        eval_op, eval_op_feed_dict: what a batch runs, such as the updates of metrics, and what to feed it.
        final_op, final_op_feed_dict: what to fetch at the end, and what to feed then.
        summary_op, summary_op_feed_dict: the summaries to write at the end, all by default, and what to feed then.
        variables_to_restore: the variables that the checkpoint has; all when None.
        session_config: the session's ConfigProto.
        hooks: further SessionRunHooks.

    Returns:
        The value of `final_op`.
    """
    return evaluation.evaluate_once(
        checkpoint_path, master, _scaffold(initial_op, initial_op_feed_dict, None, variables_to_restore), eval_op,
        eval_op_feed_dict, final_op, final_op_feed_dict, _hooks(num_evals, logdir, summary_op, summary_op_feed_dict, hooks),
        session_config,
    )  # fmt: skip


def evaluation_loop(
    master: str, checkpoint_dir: str, logdir: str, num_evals: int = 1, initial_op: Operation | None = None,
    initial_op_feed_dict: Feeds | None = None, init_fn: InitFunction | None = None,
    eval_op: Fetches = None, eval_op_feed_dict: Feeds | None = None, final_op: Fetches = None,
    final_op_feed_dict: Feeds | None = None, summary_op: Tensor | None = USE_DEFAULT,
    summary_op_feed_dict: Feeds | None = None, variables_to_restore: VariablesToRestore = None, eval_interval_secs: float = 60,
    max_number_of_evaluations: int | None = None, session_config: config_pb2.ConfigProto | None = None,
    timeout: float | None = None, timeout_fn: Callable[[], bool] | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
) -> FetchValue:  # fmt: skip
    """Evaluate the default graph with each new checkpoint of a directory, as `evaluate_once` does with one.

    Args:
        checkpoint_dir: the directory; it need not exist yet.
        init_fn: called with scaffold and session after `initial_op`.
        eval_interval_secs: how long to wait at least between two evaluations.
        max_number_of_evaluations: after how many to stop; never when None.
        timeout: after how many seconds without a new checkpoint to stop; never when None.
        timeout_fn: asked at a timeout whether to stop; without it a timeout stops.
        master, logdir, num_evals, initial_op, initial_op_feed_dict, eval_op, eval_op_feed_dict, final_op,
            final_op_feed_dict, summary_op, summary_op_feed_dict, variables_to_restore, session_config, hooks: as for
            `evaluate_once`.

    Returns:
        The last value of `final_op`, None when there was no checkpoint.
    """
    return evaluation.evaluate_repeatedly(
        checkpoint_dir, master, _scaffold(initial_op, initial_op_feed_dict, init_fn, variables_to_restore), eval_op,
        eval_op_feed_dict, final_op, final_op_feed_dict, eval_interval_secs,
        _hooks(num_evals, logdir, summary_op, summary_op_feed_dict, hooks), session_config, max_number_of_evaluations,
        timeout, timeout_fn,
    )  # fmt: skip


def _scaffold(
    initial_op: Operation | None,
    feeds: Feeds | None,
    init_fn: InitFunction | None,
    variables_to_restore: VariablesToRestore,
) -> Scaffold:
    saver = None if variables_to_restore is None else Saver(variables_to_restore)
    return Scaffold(init_op=initial_op, init_feed_dict=feeds, init_fn=init_fn, saver=saver)


def _hooks(
    num_evals: int, logdir: str, summary_op: Tensor | None, feeds: Feeds | None, further: Sequence[SessionRunHook] | None
) -> list[SessionRunHook]:
    summaries = merge_all() if summary_op is USE_DEFAULT else summary_op
    writers = [] if summaries is None else [SummaryAtEndHook(logdir, summary_op=summaries, feed_dict=feeds)]
    return [evaluation.StopAfterNEvalsHook(num_evals), *writers, *(further or ())]
