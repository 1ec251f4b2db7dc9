"""tf.contrib.slim.learning's loop: one call that trains a model by its train op, under a Supervisor."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from tensorboard.compat.proto import config_pb2

from weft import errors
from weft.client.timeline import Timeline
from weft.events.file_writer import FileWriter
from weft.framework.building.aliases import Feeds, FetchValue, SessionLike, VariableLike
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.array.constant import constant
from weft.ops.array.joining import concat
from weft.ops.control_flow.ordering import group
from weft.ops.lookup.tables import tables_initializer
from weft.ops.math.comparison import equal, greater_equal
from weft.ops.math.division import floor_mod
from weft.ops.summary.merge import merge_all
from weft.ops.variables.collections import (
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)
from weft.ops.variables.variable import Variable
from weft.platform.files import file_io
from weft.platform.logs import tf_logging
from weft.training.optimizers.sync_replicas_optimizer import SyncReplicasOptimizer
from weft.training.queue_runner import QueueRunner
from weft.training.saving.saver import Saver
from weft.training.sessions.model_parts import USE_DEFAULT
from weft.training.sessions.supervisor import Supervisor
from weft.training.training_util import get_or_create_global_step
from weft.training.training_util import global_step as value_of_global_step

_POLL_S = 1.0

Synced = SyncReplicasOptimizer | Sequence[SyncReplicasOptimizer] | None
Wrapper = Callable[[SessionLike], SessionLike]
StepArguments = dict[str, Any]
StepFunction = Callable[[SessionLike, Tensor, VariableLike, StepArguments], tuple[FetchValue, FetchValue]]


def train_step(
    sess: SessionLike, train_op: Tensor, global_step: Variable, train_step_kwargs: StepArguments
) -> tuple[FetchValue, FetchValue]:
    """Train one step, and log and trace it where it is time to.

    Args:
        sess: the session.
        train_op: gives the loss and trains.
        global_step: counts the steps.
        train_step_kwargs: bool scalar tensors by "should_stop", "should_log" and "should_trace"; the latter needs the
            directory "logdir" too, and writes to the FileWriter "summary_writer" if that is there.

    Returns:
        The loss, and whether to stop.

    Raises:
        ValueError: "should_trace" is there without "logdir".
    """
    begin = time.perf_counter()
    metadata = options = None
    if "should_trace" in train_step_kwargs:
        if "logdir" not in train_step_kwargs:
            raise ValueError("logdir must be present in train_step_kwargs when should_trace is present")
        if sess.run(train_step_kwargs["should_trace"]):
            options = config_pb2.RunOptions(trace_level=config_pb2.RunOptions.FULL_TRACE)
            metadata = config_pb2.RunMetadata()
    loss, step = sess.run([train_op, global_step], options=options, run_metadata=metadata)
    elapsed_s = time.perf_counter() - begin
    if metadata is not None:
        _write_trace(metadata, int(step), train_step_kwargs)
    if "should_log" in train_step_kwargs and sess.run(train_step_kwargs["should_log"]):
        tf_logging.info("global step %d: loss = %.4f (%.3f sec/step)", step, loss, elapsed_s)
    # A run of its own: in the run of the step the comparison may read the global step before its update.
    should_stop = "should_stop" in train_step_kwargs and sess.run(train_step_kwargs["should_stop"])
    return loss, should_stop


def _write_trace(metadata: config_pb2.RunMetadata, step: int, kwargs: StepArguments) -> None:
    path = os.path.join(kwargs["logdir"], f"tf_trace-{step}.json")
    tf_logging.info("Writing trace to %s", path)
    file_io.write_string_to_file(path, Timeline(metadata.step_stats).generate_chrome_trace_format())
    writer = kwargs.get("summary_writer")
    if writer is not None:
        writer.add_run_metadata(metadata, f"run_metadata-{step}")


def train(
    train_op: Tensor, logdir: str | None, train_step_fn: StepFunction = train_step,
    train_step_kwargs: StepArguments = USE_DEFAULT, log_every_n_steps: int = 1, graph: Graph | None = None,
    master: str = "", is_chief: bool = True, global_step: Variable | None = None, number_of_steps: int | None = None,
    init_op: Operation | None = USE_DEFAULT, init_feed_dict: Feeds | None = None,
    local_init_op: Operation | None = USE_DEFAULT, init_fn: Callable[[SessionLike], object] | None = None,
    ready_op: Tensor | None = USE_DEFAULT, summary_op: Tensor | None = USE_DEFAULT, save_summaries_secs: float = 600,
    summary_writer: FileWriter | None = USE_DEFAULT, startup_delay_steps: int = 0, saver: Saver | None = None,
    save_interval_secs: float = 600, sync_optimizer: Synced = None, session_config: config_pb2.ConfigProto | None = None,
    session_wrapper: Wrapper | None = None, trace_every_n_steps: int | None = None,
    ignore_live_threads: bool = False,
) -> FetchValue:  # fmt: skip
    """Train until `number_of_steps` or the end of the input, with checkpoints and summaries in `logdir`.

    After an AbortedError, a task that was restarted, a new session goes on.

    Args:
        train_op: gives the loss and trains, such as `create_train_op`'s.
        logdir: the directory of checkpoints and events; None for none.
        train_step_fn: called with session, `train_op`, global step and `train_step_kwargs` for each step; returns the loss
            and whether to stop.
        train_step_kwargs: what it is given; by default as `train_step` takes it.
        log_every_n_steps: steps between two lines in the log.
        graph: the graph; the default graph when None.
        master: the session's target.
        is_chief: whether this process initializes, saves and summarizes.
        global_step: counts the steps; the graph's own when None.
        number_of_steps: where to stop, by the global step; never when None.
        init_op, init_feed_dict, local_init_op, ready_op, summary_op, summary_writer: as for Supervisor.
        init_fn: called with the session after `init_op`.
        save_summaries_secs: seconds between summaries.
        startup_delay_steps: the global step at which another process than the chief begins.
        saver: saves and restores.
        save_interval_secs: seconds between checkpoints.
        sync_optimizer: the SyncReplicasOptimizer of `train_op`, or a list of them, whose replicas train in step.
        session_config: the session's ConfigProto.
        session_wrapper: makes the session that trains from the session.
        trace_every_n_steps: steps between two traces, which are timelines in `logdir`.
        ignore_live_threads: do not raise for threads that do not stop in time.

    Returns:
        The last loss, None when there was no step.

    Raises:
        ValueError: an argument needs another that is missing, or excludes it.
    """
    syncing = _checked_optimizers(sync_optimizer, startup_delay_steps)
    _check(train_op, logdir, summary_op, saver, trace_every_n_steps, number_of_steps)
    graph = graph or get_default_graph()
    with graph.as_default():
        step = get_or_create_global_step() if global_step is None else global_step
        saver = saver or Saver()
        with graph.name_scope("init_ops"):
            init_op = global_variables_initializer() if init_op is USE_DEFAULT else init_op
            ready_op = report_uninitialized_variables() if ready_op is USE_DEFAULT else ready_op
            local_init_op, ready_for_local = _local_init(local_init_op, syncing, is_chief)
        summary_op = merge_all() if summary_op is USE_DEFAULT else summary_op
        # The Supervisor finalizes the graph.
        starters = [(each.get_init_tokens_op(), each.get_chief_queue_runner()) for each in syncing if is_chief]
        kwargs = train_step_kwargs
        if kwargs is USE_DEFAULT:
            traced = trace_every_n_steps if is_chief else None
            kwargs = _step_arguments(step, number_of_steps, log_every_n_steps, traced, logdir)
    supervisor = Supervisor(
        graph, is_chief=is_chief, logdir=logdir, init_op=init_op, init_feed_dict=init_feed_dict,
        local_init_op=local_init_op, ready_for_local_init_op=ready_for_local, ready_op=ready_op, summary_op=summary_op,
        summary_writer=summary_writer, global_step=step, saver=saver, save_summaries_secs=save_summaries_secs,
        save_model_secs=save_interval_secs, init_fn=init_fn,
    )  # fmt: skip
    if summary_writer is not None:
        kwargs["summary_writer"] = supervisor.summary_writer
    delay = 0 if is_chief else min(startup_delay_steps, number_of_steps or sys.maxsize)
    loop = _Loop(supervisor, train_op, step, train_step_fn, kwargs, starters, delay, bool(logdir), ignore_live_threads)
    while True:
        try:
            loop.run(master, session_config, session_wrapper)
            return loop.loss
        except errors.AbortedError:
            tf_logging.info("Retrying training!")


def _check(train_op: object, logdir: object, summary_op: object, saver: object, traced: object, steps: int | None) -> None:
    if train_op is None:
        raise ValueError("train_op cannot be None.")
    if logdir is None:
        given = {
            "summary_op": summary_op is not USE_DEFAULT,
            "saver": saver is not None,
            "trace_every_n_steps": traced is not None,
        }
        for name in (name for name, is_given in given.items() if is_given):
            raise ValueError(f"Cannot provide {name} because logdir=None")
    if steps is not None and steps <= 0:
        raise ValueError(f"`number_of_steps` must be either None or a positive number. It is {steps}")


def _checked_optimizers(given: Synced, startup_delay_steps: int) -> Sequence[SyncReplicasOptimizer]:
    if given is not None and startup_delay_steps > 0:
        raise ValueError("startup_delay_steps must be zero when sync_optimizer is supplied.")
    several = given if isinstance(given, list | tuple) else [given]
    found: Sequence[object] = [] if given is None else several
    wrong = [each for each in found if not isinstance(each, SyncReplicasOptimizer)]
    if wrong:
        raise ValueError(f"`sync_optimizer` must be a tf.train.SyncReplicasOptimizer. It is {wrong[0]!r}")
    return [each for each in found if isinstance(each, SyncReplicasOptimizer)]


def _local_init(
    given: Operation | None, syncing: Sequence[SyncReplicasOptimizer], is_chief: bool
) -> tuple[Operation | None, Tensor | None]:
    """The local initialization, and the tensor of what it waits for."""
    local_init = group(local_variables_initializer(), tables_initializer()) if given is USE_DEFAULT else given
    if not syncing:
        return local_init, None
    with get_default_graph().control_dependencies([] if local_init is None else [local_init]):
        joined = group(*[each.chief_init_op if is_chief else each.local_step_init_op for each in syncing])
    # TensorFlow groups these, and loses the names for which a replica has to wait.
    waits = [each.ready_for_local_init_op for each in syncing]
    return joined, waits[0] if len(waits) == 1 else concat(waits, 0)


def _step_arguments(
    step: VariableLike, number: int | None, log_every: int, traced: int | None, logdir: str | None
) -> StepArguments:
    with get_default_graph().name_scope("train_step"):
        made: StepArguments = {"should_stop": greater_equal(step, number) if number else constant(False)}
        if log_every > 0:
            made["should_log"] = equal(floor_mod(step, log_every), 0)
        if traced is not None:
            made.update(should_trace=equal(floor_mod(step, traced), 0), logdir=logdir)
    return made


class _Loop:
    """The steps of one training, in as many sessions as it takes; `loss` is the last step's."""

    def __init__(
        self, supervisor: Supervisor, train_op: Tensor, step: VariableLike, step_fn: StepFunction, kwargs: StepArguments,
        starters: Sequence[tuple[Operation, QueueRunner]], delay: int, is_logged: bool, ignore_live_threads: bool,
    ) -> None:  # fmt: skip
        self._supervisor = supervisor
        self._train_op = train_op
        self._step = step
        self._step_fn = step_fn
        self._kwargs = kwargs
        self._starters = starters
        self._delay = delay
        self._is_logged = is_logged and supervisor.is_chief
        self._ignore_live_threads = ignore_live_threads
        self.loss: FetchValue = None

    def run(self, master: str, config: config_pb2.ConfigProto | None, wrapper: Wrapper | None) -> None:
        """Train in one session until the end, then save."""
        supervisor = self._supervisor
        with supervisor.managed_session(master, config, start_standard_services=False) as sess:
            tf_logging.info("Starting Session.")
            if wrapper is not None:
                tf_logging.info("Wrapping session with wrapper function: %s", wrapper)
                sess = wrapper(sess)
            threads = self._start(sess)
            self._train(sess)
            if self._is_logged:
                tf_logging.info("Finished training! Saving model to disk.")
                if supervisor.saver is not None and supervisor.save_path is not None:
                    supervisor.saver.save(sess, supervisor.save_path, global_step=supervisor.global_step)
                # The end of the session closes the writer.
                supervisor.stop(threads, close_summary_writer=False, ignore_live_threads=self._ignore_live_threads)

    def _start(self, sess: SessionLike) -> list[threading.Thread]:
        supervisor = self._supervisor
        if self._is_logged:
            supervisor.start_standard_services(sess)
        while value_of_global_step(sess, self._step) < self._delay if self._delay else False:
            if supervisor.coord.wait_for_stop(_POLL_S):
                break
        threads = supervisor.start_queue_runners(sess)
        tf_logging.info("Starting Queues.")
        for tokens, runner in self._starters:
            supervisor.start_queue_runners(sess, [runner])
            sess.run(tokens)
        return threads

    def _train(self, sess: SessionLike) -> None:
        try:
            while not self._supervisor.should_stop():
                self.loss, should_stop = self._step_fn(sess, self._train_op, self._step, self._kwargs)
                if should_stop:
                    tf_logging.info("Stopping Training.")
                    self._supervisor.request_stop()
                    return
        except errors.OutOfRangeError as error:
            tf_logging.info("Caught OutOfRangeError. Stopping Training. %s", error)
