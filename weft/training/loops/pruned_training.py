"""tf.contrib.model_pruning.train: slim's loop, with an update of masks after each step."""

from __future__ import annotations

from collections.abc import Callable

from tensorboard.compat.proto import config_pb2

from weft.events.file_writer import FileWriter
from weft.framework.building.aliases import Feeds, FetchValue, SessionLike
from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.variables.variable import Variable
from weft.training.loops import slim_learning
from weft.training.loops.slim_learning import StepArguments, StepFunction, Synced, train_step
from weft.training.saving.saver import Saver
from weft.training.sessions.model_parts import USE_DEFAULT


def train(
    train_op: Tensor, logdir: str | None, mask_update_op: Operation | Tensor, train_step_fn: StepFunction = train_step,
    train_step_kwargs: StepArguments = USE_DEFAULT, log_every_n_steps: int = 1, graph: Graph | None = None,
    master: str = "", is_chief: bool = True, global_step: Variable | None = None, number_of_steps: int | None = None,
    init_op: Operation | None = USE_DEFAULT, init_feed_dict: Feeds | None = None,
    local_init_op: Operation | None = USE_DEFAULT, init_fn: Callable[[SessionLike], object] | None = None,
    ready_op: Tensor | None = USE_DEFAULT, summary_op: Tensor | None = USE_DEFAULT, save_summaries_secs: float = 600,
    summary_writer: FileWriter | None = USE_DEFAULT, startup_delay_steps: int = 0, saver: Saver | None = None,
    save_interval_secs: float = 600, sync_optimizer: Synced = None, session_config: config_pb2.ConfigProto | None = None,
    trace_every_n_steps: int | None = None,
) -> FetchValue:  # fmt: skip
    """Train as `tf.contrib.slim.learning.train` does, and update masks after each step.

    Args:
        train_op: gives the loss and trains.
        logdir: the directory of checkpoints and events; None for none.
        mask_update_op: updates the masks, as `Pruning.conditional_mask_update_op` gives it.
        train_step_fn, train_step_kwargs, log_every_n_steps, graph, master, is_chief, global_step, number_of_steps: as there.
        init_op, init_feed_dict, local_init_op, init_fn, ready_op, summary_op, save_summaries_secs, summary_writer: as there.
        startup_delay_steps, saver, save_interval_secs, sync_optimizer, session_config, trace_every_n_steps: as there.

    Returns:
        The loss of the last step.
    """

    def step_and_update(
        session: SessionLike, train_op: Tensor, global_step: Variable, kwargs: StepArguments
    ) -> tuple[FetchValue, FetchValue]:
        made = train_step_fn(session, train_op, global_step, kwargs)
        session.run(mask_update_op)
        return made

    return slim_learning.train(
        train_op, logdir, step_and_update, train_step_kwargs, log_every_n_steps, graph, master, is_chief, global_step,
        number_of_steps, init_op, init_feed_dict, local_init_op, init_fn, ready_op, summary_op, save_summaries_secs,
        summary_writer, startup_delay_steps, saver, save_interval_secs, sync_optimizer, session_config,
        trace_every_n_steps=trace_every_n_steps,
    )  # fmt: skip
