"""SyncReplicasOptimizer: replicas that train in step, each update made of the mean of several replicas' gradients.

How a step goes. Each replica stamps its gradients with its local step and pushes them to one accumulator per variable, which
drops those stamped before the global step. When an accumulator holds `replicas_to_aggregate` of them, the chief's thread takes
their mean, updates the variables, adds one to the global step and puts one token per replica, which carries that step, into the
token queue. A replica's train op ends when it has drawn a token, whose step becomes its local step.

Without a replica. The accumulators know the sessions that give gradients. When a replica's have left, as a killed process's
are at once, and no new one has come in time, the chief lowers the count that an update needs, also for the one that waits, and
the number of tokens: left at that they would let a fast replica give two gradients where a slow one has given none. A gradient
of the replica brings both up again, with a token more for the update that waits: it has taken one of those. A job that begins
with fewer replicas than it may have counts in the same way those that come later.

A chief that comes back drops gradients and tokens that are there. The model may have gone back to a checkpoint, whose step is
before that of the accumulators, which would drop every gradient from then on. Replicas that wait get one of the first tokens,
and give their gradient again.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Sequence
from typing import Any

from weft.client.session import Session
from weft.errors import CancelledError
from weft.framework.building.aliases import VariableLike
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.control_flow.ordering import group, no_op
from weft.ops.variables.assign import assign
from weft.ops.variables.collections import global_variables, report_uninitialized_variables
from weft.ops.variables.variable import Variable
from weft.platform.hints.argument_checks import check_arguments, check_flags
from weft.platform.logs import tf_logging
from weft.training.coordinator import Coordinator
from weft.training.hooks.session_run_hook import SessionRunHook
from weft.training.optimizers.moving_averages import ExponentialMovingAverage
from weft.training.optimizers.optimizer import Optimizer
from weft.training.optimizers.replica_steps import CountLimit, GradientAccumulators, StepTokens
from weft.training.queue_runner import QueueRunner
from weft.training.sessions.model_readiness import what_is_missing
from weft.training.sessions.quorum import Quorum
from weft.training.sessions.stall_watch import WatchedQueueRunner


def _check_counts(**counts: int) -> None:
    for what, count in counts.items():
        if not hasattr(type(count), "__index__"):
            raise TypeError(f"SyncReplicasOptimizer: {what} must be an int, how many replicas, got {count!r}.")
        if count < 1:
            raise ValueError(f"SyncReplicasOptimizer: {what} must be at least 1, got {count!r}.")


class SyncReplicasOptimizer(Optimizer):
    """Wraps an optimizer so that replicas train in step.

        opt = tf.train.SyncReplicasOptimizer(opt, replicas_to_aggregate=50, total_num_replicas=52)
        train_op = opt.minimize(loss, global_step=global_step)
        hooks = [opt.make_session_run_hook(is_chief)]

    While an update waits for gradients, the chief logs every 10 seconds how many there are and whose are missing. A replica
    that was killed is waited for no longer than `replica_timeout_secs`, one that has come to the end of its input not at all;
    one that comes back takes part again.

    The hook is all that a MonitoredTrainingSession needs. With a Supervisor, pass `local_init_op` (`chief_init_op` or
    `local_step_init_op`) and `ready_for_local_init_op`, and on the chief run `get_init_tokens_op()` and start
    `get_chief_queue_runner()`.

    Args:
        opt: the optimizer that computes and applies the gradients.
        replicas_to_aggregate: how many gradients make an update.
        total_num_replicas: how many replicas there are. More than `replicas_to_aggregate`: the slowest gradients of a step
            are dropped. Fewer: replicas contribute several gradients to one update. The same when None.
        variable_averages: an ExponentialMovingAverage to apply after each update.
        variables_to_average: the variables that it averages.
        use_locking: recorded in the update ops.
        name: the name of the operations made.
        replica_timeout_secs: how long an update waits for a replica whose session has ended, before it is made without it;
            None
            for ever, as in TensorFlow.
        min_num_replicas: with how many replicas training may begin and go on. Others of `total_num_replicas` may come and
            leave
            at any time: an update is made of the gradients of those that are there. None waits for all of them at first.

    >>> inner = tf.train.GradientDescentOptimizer(0.1)
    >>> sync = tf.train.SyncReplicasOptimizer(inner, replicas_to_aggregate=2, total_num_replicas=2)
    >>> hook = sync.make_session_run_hook(is_chief=True)

    Raises:
        TypeError: `opt` is no Optimizer, or another argument is not what it takes.
        ValueError: the numbers of replicas are impossible.
    """

    def __init__(
        self,
        opt: Optimizer,
        replicas_to_aggregate: int,
        total_num_replicas: int | None = None,
        variable_averages: ExponentialMovingAverage | None = None,
        variables_to_average: Sequence[Variable] | None = None,
        use_locking: bool = False,
        name: str = "sync_replicas",
        replica_timeout_secs: float | None = 5.0,
        min_num_replicas: int | None = None,
    ) -> None:
        super().__init__(use_locking, name)
        if not hasattr(opt, "compute_gradients") or isinstance(opt, type):
            raise TypeError(
                f"opt must be an Optimizer, not {opt!r}: SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), ...)."
            )
        if total_num_replicas is None:
            total_num_replicas = replicas_to_aggregate
        _check_counts(replicas_to_aggregate=replicas_to_aggregate, total_num_replicas=total_num_replicas)
        check_arguments(
            SyncReplicasOptimizer.__init__, variable_averages=variable_averages, variables_to_average=variables_to_average
        )
        if min_num_replicas is not None and not 1 <= min_num_replicas <= total_num_replicas:
            raise ValueError(
                f"SyncReplicasOptimizer: min_num_replicas must be from 1 to total_num_replicas, which is {total_num_replicas}; "
                f"got {min_num_replicas!r}"
            )
        tf_logging.info(
            "SyncReplicasV2: replicas_to_aggregate=%s; total_num_replicas=%s", replicas_to_aggregate, total_num_replicas
        )
        self._opt = opt
        self._replicas_to_aggregate = replicas_to_aggregate
        self._total_num_replicas = total_num_replicas
        self._replica_timeout_secs = replica_timeout_secs
        self._min_num_replicas = min_num_replicas
        self._variable_averages = variable_averages
        self._variables_to_average = variables_to_average
        self._global_step: Any = None
        self._local_step: Any = None
        self._accumulators = GradientAccumulators()
        self._tokens: StepTokens | None = None
        self._chief_queue_runner: QueueRunner | None = None
        self._release: Any = None
        self._reports: list[Tensor] = []
        self._limit: CountLimit | None = None
        self.local_step_init_op: Any = None
        self.chief_init_op: Any = None
        self.ready_for_local_init_op: Any = None

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        """The wrapped optimizer's; clip or change them before `apply_gradients`.

        Args:
            args: those of the wrapped optimizer's method, by position.
            kwargs: the same by name.
        """
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Tensor | IndexedSlices | None, VariableLike]],
        global_step: Variable | None = None,
        name: str | None = None,
    ) -> Operation:
        """Add the nodes that push this replica's gradients and wait for the update, and the chief's that make it.

        Args:
            grads_and_vars: (gradient, variable) pairs.
            global_step: the variable that counts the updates.
            name: the name of the operations.

        Returns:
            The train op of this replica.

        Raises:
            ValueError: there are no pairs, no global step, or a gradient is neither a Tensor nor an IndexedSlices.
        """
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError(
                "Global step is required to check staleness: minimize(loss, global_step=tf.train.get_or_create_global_step())"
            )
        graph = get_default_graph()
        self._global_step = global_step
        with graph.control_dependencies(None):
            self._add_local_step(global_step)
        with graph.name_scope(None), graph.name_scope(name or self._name):
            pushes, aggregated = self._add_accumulators(pairs)
            with graph.device(global_step.device), graph.name_scope(None):
                update = self._opt.apply_gradients(aggregated, global_step)
                self._tokens = tokens = StepTokens(global_step)
                train_op: Operation = self._add_train_op(tokens, pushes)
                tokens.add_per_step(self._quorum().count.tokens)
                self._release = self._add_release(tokens, update)
            # What replicas tell each other is no part of the update, and does not wait for what the program lets that wait for.
            with graph.control_dependencies(None):
                self._add_agreement(tokens, global_step)
        return train_op

    def _add_agreement(self, tokens: StepTokens, global_step: Variable) -> None:
        """The nodes by which replicas come in, and by which the chief knows of them."""
        graph = get_default_graph()
        self.local_step_init_op = group(self.local_step_init_op, *self._accumulators.at_each_task(lambda each: each.join()))
        with graph.device(global_step.device), graph.name_scope(None):
            self._limit = CountLimit(tokens, self._accumulators)
            self._reports = self._accumulators.at_each_task(lambda each: each.report())
            self._chief_queue_runner = self.watched_queue_runner()
        restarts = self._accumulators.at_each(lambda each: each.restart(global_step, name="SetGlobalStep"))
        if self._min_num_replicas is not None:
            with graph.control_dependencies(restarts):
                restarts = [self._limit.at_first(self._quorum().count)]
        self.chief_init_op = group(self.local_step_init_op, tokens.per_step.initializer, *restarts)

    def _quorum(self) -> Quorum:
        """What follows the replicas of one session, at its beginning."""
        timeout_s = math.inf if self._replica_timeout_secs is None else self._replica_timeout_secs
        return Quorum(self._replicas_to_aggregate, self._total_num_replicas, timeout_s, self._min_num_replicas)

    def _add_local_step(self, global_step: Variable) -> None:
        graph = get_default_graph()
        # Colocation keeps a device setter from sending this variable to a parameter server.
        with graph.colocate_with(no_op()):
            make_variable: Any = Variable
            self._local_step = make_variable(
                initial_value=0,
                trainable=False,
                collections=[GraphKeys.LOCAL_VARIABLES],
                dtype=global_step.dtype.base_dtype,
                name="sync_rep_local_step",
            )
        self.local_step_init_op = assign(self._local_step, global_step)
        self.ready_for_local_init_op = report_uninitialized_variables(global_variables())

    def _add_accumulators(self, pairs: Sequence[tuple[Any, Any]]) -> tuple[list[Operation], list[tuple[Any, Any]]]:
        """For each variable, this replica's push and the mean that the chief takes."""
        pushes: list[Operation] = []
        aggregated: list[tuple[Any, Any]] = []
        for gradient, variable in pairs:
            with get_default_graph().device(variable.device):
                mean, push = None, None
                if gradient is not None:
                    mean, push = self._accumulators.add(gradient, variable, self._replicas_to_aggregate, self._local_step)
                    pushes.append(push)
                aggregated.append((mean, variable))
        return pushes, aggregated

    def _add_train_op(self, tokens: StepTokens, pushes: Sequence[Operation]) -> Any:
        with get_default_graph().control_dependencies(pushes):
            token = tokens.queue.dequeue()
        return assign(self._local_step, token)

    def _add_release(self, tokens: StepTokens, update: object) -> Any:
        """The operation of the chief's thread: the update, then the tokens for the next step."""
        graph = get_default_graph()
        with graph.control_dependencies([update]):
            release: Any = tokens.put(tokens.per_step.read_value())
        if self._variable_averages is not None:
            with graph.control_dependencies([release]):
                release = self._variable_averages.apply(self._variables_to_average)
        return release

    @property
    def is_applied(self) -> bool:
        """Whether `apply_gradients` was called."""
        return self._tokens is not None

    def get_chief_queue_runner(self) -> QueueRunner:
        """The QueueRunner of the chief's thread.

        Raises:
            ValueError: `apply_gradients` was not called.
        """
        if self._chief_queue_runner is None:
            raise ValueError(
                "Should be called after apply_gradients(). Call minimize, or apply_gradients, of this optimizer first, in the "
                "same graph."
            )
        return self._chief_queue_runner

    def get_init_tokens_op(self, num_tokens: int = -1) -> Operation:
        """The chief's first operation: it puts tokens into the queue, so that replicas may start.

        Args:
            num_tokens: how many; at least `replicas_to_aggregate - total_num_replicas`, `replicas_to_aggregate` for -1.

        Raises:
            ValueError: `apply_gradients` was not called, or the tokens are too few for a first update.
        """
        if self._tokens is None:
            raise ValueError("get_init_tokens_op() should be called after apply_gradients().")
        needed = self._replicas_to_aggregate - self._total_num_replicas
        if num_tokens == -1:
            num_tokens = self._quorum().count.required
        elif num_tokens < needed:
            raise ValueError(f"Too few tokens to finish the first step: {num_tokens} (given) vs {needed} (needed)")
        if num_tokens <= 0:
            return no_op(name="no_init_tokens")
        return self._tokens.put_first(num_tokens)

    def end_replica_op(self) -> Operation:
        """The operation by which a replica ends: no update waits for it, and there are tokens for all others.

        A replica that has no input for now runs it, too, before it waits for some: from its next gradient on it takes part
        again.
        """
        assert self._tokens is not None
        leaves = self._accumulators.at_each_task(lambda each: each.leave())
        with get_default_graph().control_dependencies(leaves):
            return self._tokens.put_beside(max(self._total_num_replicas - 1, 1))

    def end_chief_op(self) -> Operation:
        """The operation by which the chief ends the job: replicas that wait for a token end as at the end of their input."""
        assert self._tokens is not None
        leaves = self._accumulators.at_each_task(lambda each: each.leave(everyone=True))
        with get_default_graph().control_dependencies(leaves):
            return self._tokens.queue.close()

    def watched_queue_runner(self, **ops: Operation) -> WatchedQueueRunner:
        """A runner of the thread that makes the updates; `ops` are QueueRunner's `close_op` and `cancel_op`.

        Args:
            ops: `close_op` and `cancel_op`, as QueueRunner takes them.
        """
        assert self._tokens is not None
        assert self._limit is not None
        follow = None if self._replica_timeout_secs is None and self._min_num_replicas is None else self._quorum
        begin = self._tokens.per_step.initializer
        return WatchedQueueRunner(self._reports, follow, self._limit.set, begin, self._tokens.queue, [self._release], **ops)

    def get_slot(self, *args: Any, **kwargs: Any) -> VariableLike:
        """The wrapped optimizer's slot of a variable.

        Args:
            args: those of the wrapped optimizer's method, by position.
            kwargs: the same by name.
        """
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: object, **kwargs: object) -> list[str]:
        """The names of the wrapped optimizer's slots.

        Args:
            args: those of the wrapped optimizer's method, by position.
            kwargs: the same by name.
        """
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self) -> list[Any]:
        """The wrapped optimizer's variables, slots included; not the local step."""
        return self._opt.variables()

    def make_session_run_hook(self, is_chief: bool, num_tokens: int = -1) -> SessionRunHook:
        """A hook that does what this replica has to do besides running the train op.

        Args:
            is_chief: whether it is the chief.
            num_tokens: how many tokens the chief puts into the queue at first; see `get_init_tokens_op`.
        """
        check_flags(SyncReplicasOptimizer.make_session_run_hook, is_chief=is_chief)
        return _SyncReplicasOptimizerHook(self, is_chief, num_tokens)


class _SyncReplicasOptimizerHook(SessionRunHook):
    """Sets the local step; on the chief, also makes the tokens and the updates."""

    releases_replicas = True

    def __init__(self, optimizer: SyncReplicasOptimizer, is_chief: bool, num_tokens: int) -> None:
        self._sync_optimizer = optimizer  # programs find the hook of an optimizer by it
        self._is_chief = is_chief
        self._num_tokens = num_tokens
        self._init_tokens_op: Any = None
        self._end_op: Any = None
        self._queue_runner: QueueRunner | None = None

    def begin(self) -> None:
        optimizer = self._sync_optimizer
        if not optimizer.is_applied:
            raise ValueError(
                "SyncReplicasOptimizer.apply_gradient should be called before using the hook. Call minimize, or "
                "apply_gradients, of this optimizer while the graph is built, before the session is made."
            )
        self._ready_op = optimizer.ready_for_local_init_op
        self._local_init_op = optimizer.chief_init_op if self._is_chief else optimizer.local_step_init_op
        if not self._is_chief:
            self._end_op = optimizer.end_replica_op()
            return
        self._init_tokens_op = optimizer.get_init_tokens_op(self._num_tokens)
        self._end_op = optimizer.end_chief_op()
        # The queue stays open when the chief only loses its session: the others then wait for it to come back.
        self._queue_runner = optimizer.watched_queue_runner(close_op=no_op(), cancel_op=no_op())

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        missing = what_is_missing(session, self._ready_op)
        if missing:
            raise RuntimeError(
                "Init operations did not make model ready for SyncReplicasOptimizer local_init. Init op: "
                f"{self._local_init_op.name}, error: {missing}"
            )
        session.run(self._local_init_op)
        if self._init_tokens_op is not None:
            session.run(self._init_tokens_op)
        if self._queue_runner is not None:
            self._queue_runner.create_threads(session, coord=coord, daemon=True, start=True)

    def end(self, session: Session) -> None:
        # Others may still wait for a token. When the chief leaves there will be none: a closed queue ends their input. When
        # another replica leaves, it may have drawn two of the last ones: with a token they can look at the global step.
        with contextlib.suppress(CancelledError):
            session.run(self._end_op)
