"""tf.contrib.training's loop: one call that trains a model by its train op, in a MonitoredTrainingSession."""

from __future__ import annotations

from collections.abc import Sequence

from tensorboard.compat.proto import config_pb2

from weft.framework.building.aliases import FetchValue
from weft.framework.nodes.operation import Tensor
from weft.training.hooks.session_run_hook import SessionRunHook
from weft.training.scaffold import Scaffold
from weft.training.sessions.monitored_session import MonitoredTrainingSession


def train(
    train_op: Tensor, logdir: str | None, master: str = "", is_chief: bool = True, scaffold: Scaffold | None = None,
    hooks: Sequence[SessionRunHook] | None = None, chief_only_hooks: Sequence[SessionRunHook] | None = None,
    save_checkpoint_secs: float | None = 600, save_summaries_steps: int | None = 100,
    config: config_pb2.ConfigProto | None = None, max_wait_secs: float = 7200,
    run_metadata: config_pb2.RunMetadata | None = None,
) -> FetchValue:  # fmt: skip
    """Train until a hook or the end of the input stops it.

    Args:
        train_op: gives the loss and trains, such as `create_train_op`'s.
        logdir: the directory of checkpoints and events.
        save_checkpoint_secs: seconds between checkpoints; None for none.
        save_summaries_steps: steps between summaries; None for none.
        run_metadata: is filled with the metadata of each step.
        master, is_chief, scaffold, hooks, chief_only_hooks, config, max_wait_secs: as for MonitoredTrainingSession.

    Returns:
        The last loss.

    Raises:
        ValueError: the chief is to save or summarize, and there is no `logdir`.
    """
    if logdir is None and is_chief:
        for name, value in (("save_summaries_steps", save_summaries_steps), ("save_checkpoint_secs", save_checkpoint_secs)):
            if value:
                raise ValueError(f"logdir cannot be None when {name} is not None")
    loss = None
    with MonitoredTrainingSession(
        master=master, is_chief=is_chief, checkpoint_dir=logdir, scaffold=scaffold, hooks=hooks,
        chief_only_hooks=chief_only_hooks, save_checkpoint_secs=save_checkpoint_secs,
        save_summaries_steps=save_summaries_steps, config=config, max_wait_secs=max_wait_secs,
    ) as session:  # fmt: skip
        while not session.should_stop():
            loss = session.run(train_op, run_metadata=run_metadata)
    return loss
