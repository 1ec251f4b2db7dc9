"""Accumulated gradient normalization: workers go some steps alone and send the mean of their gradients (Hermans, 2017)."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy as copy_of

from weft.framework.building.aliases import Collections, Nest, VariableLike
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.array.filling import zeros_like
from weft.ops.array.shape_ops import reshape
from weft.ops.control_flow.ordering import group
from weft.ops.math.comparison import equal
from weft.ops.math.division import floor_mod
from weft.ops.variables.collections import trainable_variables
from weft.training.contributed.pairs import Pairs
from weft.training.contributed.worker_copies import (
    CopiesHook,
    apply_to_copies,
    own_step_counter,
    parts_of,
    set_when,
    update_when,
    value_when,
)
from weft.training.hooks.session_run_hook import SessionRunHook
from weft.training.optimizers.optimizer import Optimizer


class AGNCustomGetter:
    """Gives each trainable variable of a scope a copy and a sum of gradients on this worker, and a common one.

        getter = tf.contrib.opt.AGNCustomGetter(worker_device="/job:worker/task:0")
        with tf.variable_scope("", custom_getter=getter): ...

    The program trains the copy, a local variable. The common one, for the parameter servers, is
    `global_center_variable/NAME`; `grad_variable/NAME` is the worker's sum.

    Args:
        worker_device: where copies and sums are.
    """

    def __init__(self, worker_device: str) -> None:
        self.worker_device = worker_device
        self.centers: dict[VariableLike, VariableLike] = {}
        self.sums: dict[VariableLike, VariableLike] = {}

    def __call__(
        self, getter: Callable[..., Nest], name: str, trainable: bool, collections: Collections, *args: Nest, **kwargs: Nest
    ) -> Nest:
        """The variable for a `get_variable`."""
        if not trainable:
            return getter(name, *args, trainable=trainable, collections=collections, **kwargs)
        graph, local = get_default_graph(), [GraphKeys.LOCAL_VARIABLES]
        with graph.device(self.worker_device):
            copy = getter(name, *args, trainable=True, collections=local, **kwargs)
        if kwargs.get("reuse") is True:
            return copy
        center = getter(
            f"global_center_variable/{name}", *args, trainable=False, collections=[GraphKeys.GLOBAL_VARIABLES], **kwargs
        )
        with graph.device(self.worker_device):
            total = getter(f"grad_variable/{name}", *args, trainable=False, collections=local, **kwargs)
        for part, sum_part, center_part in zip(parts_of(copy), parts_of(total), parts_of(center), strict=True):
            self.sums[part] = sum_part
            self.centers[part] = center_part
        return copy


class AGNOptimizer(Optimizer):
    """Lets another optimizer train a worker's copies; every so many steps it applies their mean gradient to the common ones.

    The copies take up the common values then.

    Args:
        optimizer: the other optimizer.
        num_worker: the number of workers.
        custom_getter: the getter of the model's variables.
        communication_period: the steps between two exchanges.
        use_locking: recorded in the update ops; updates are always whole.
        name: the name of the operations made.
    """

    def __init__(
        self, optimizer: Optimizer, num_worker: int, custom_getter: AGNCustomGetter, communication_period: int = 10,
        use_locking: bool = True, name: str = "AGNOptimizer",
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._opt = optimizer
        self._num_worker = num_worker
        self._period = communication_period
        self._centers = custom_getter.centers
        self._sums = custom_getter.sums
        self._local_step = own_step_counter(custom_getter.worker_device)

    def apply_gradients(self, grads_and_vars: Pairs, global_step: VariableLike = None, name: str | None = None) -> Operation:
        """The updates of copies and sums; with every `communication_period`-th the exchange, and a global step.

        Raises:
            ValueError: a variable is not the getter's.
        """
        graph = get_default_graph()
        pairs = [(gradient, variable) for gradient, variable in grads_and_vars if gradient is not None]
        copies = [variable for _, variable in pairs]
        self._check(copies)
        updates = [self._sums[copy].assign_add(gradient) for gradient, copy in pairs]
        updates.append(apply_to_copies(self._opt, pairs))
        counted = self._local_step.assign_add(1)
        with graph.control_dependencies([*updates, counted]):
            is_time = equal(floor_mod(counted, self._period), 0)
            means = {copy: value_when(is_time, self._sums[copy]) / self._period for copy in copies}
            applied = [self._apply(is_time, means, together) for together in _by_device(copies, self._centers)]
        with graph.control_dependencies(applied):
            updates = [set_when(is_time, copy, value_when(is_time, self._centers[copy])) for copy in copies]
            updates += [_clear_when(is_time, self._sums[copy]) for copy in copies]
            if global_step is not None:
                updates.append(update_when(is_time, global_step, lambda: global_step.assign_add(1)))
        return group(*updates)

    def _apply(self, is_time: Tensor, means: dict[VariableLike, Tensor], copies: list[VariableLike]) -> Operation:
        """Apply the mean gradients to the common variables of one task."""
        # Its own slots and powers beside the common variables: those that it has are beside the copies.
        optimizer = _without_slots(self._opt)

        def apply() -> Operation:
            pairs = [(reshape(means[copy], copy.shape), self._centers[copy]) for copy in copies]
            return optimizer.apply_gradients(pairs)

        return update_when(is_time, self._centers[copies[0]], apply)

    def _check(self, copies: list[VariableLike]) -> None:
        for copy in copies:
            if copy not in self._centers:
                raise ValueError(
                    f"{copy.name!r} has no common variable: make the model's variables by tf.get_variable under the "
                    "AGNCustomGetter that the optimizer was given"
                )

    def get_init_op(self, task_index: int) -> Operation:
        """An operation that gives the copies the common values, and sets the sums of gradients to zero.

        Args:
            task_index: the worker's number; all workers do the same.

        Raises:
            ValueError: there is no trainable variable, or one is not the getter's.
        """
        copies = trainable_variables()
        if not copies:
            raise ValueError(
                "The lists of local_variables, global_center_variables,grad_center_variables should not be empty: make the "
                "model's variables under an AGNCustomGetter"
            )
        self._check(copies)
        begun = [copy.assign(self._centers[copy].read_value()) for copy in copies]
        return group(*begun, *(self._sums[copy].assign(zeros_like(self._sums[copy])) for copy in copies))

    def make_session_run_hook(self, is_chief: bool, task_index: int) -> SessionRunHook:
        """A hook that runs `get_init_op` when a session is made.

        Args:
            is_chief: whether this worker is the chief.
            task_index: the worker's number.
        """
        return CopiesHook(lambda: self.get_init_op(task_index))


def _clear_when(is_time: Tensor, total: VariableLike) -> Operation:
    return update_when(is_time, total, lambda: total.assign(zeros_like(total)))


def _by_device(copies: list[VariableLike], centers: dict[VariableLike, VariableLike]) -> list[list[VariableLike]]:
    found: dict[str, list[VariableLike]] = {}
    for copy in copies:
        found.setdefault(centers[copy].device, []).append(copy)
    return list(found.values())


def _without_slots(optimizer: Optimizer) -> Optimizer:
    """An optimizer of the same settings that makes slots and other variables of its own."""
    made = copy_of(optimizer)
    vars(made).update(_slots={}, _non_slot_dict={})
    return made
