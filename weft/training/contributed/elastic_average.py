"""Elastic averaging: workers train copies of their own, which a common centre holds together (Zhang et al., 2015)."""

from __future__ import annotations

from collections.abc import Callable

from weft.framework.building.aliases import Collections, Nest, VariableLike
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.array.constant import constant
from weft.ops.array.filling import zeros
from weft.ops.array.shape_ops import reshape
from weft.ops.control_flow.cond import cond
from weft.ops.control_flow.ordering import group
from weft.ops.data_flow.queue import FIFOQueue
from weft.ops.math.comparison import equal
from weft.ops.math.division import floor_mod
from weft.ops.math.elementwise import add_n
from weft.ops.math.norms import l2_loss
from weft.ops.variables.collections import (
    trainable_variables,
)
from weft.training.contributed.pairs import PairList, Pairs
from weft.training.contributed.worker_copies import (
    CopiesHook,
    apply_to_copies,
    own_step_counter,
    parts_of,
    update_when,
    value_when,
)
from weft.training.hooks.session_run_hook import SessionRunHook
from weft.training.optimizers.optimizer import Optimizer
from weft.training.saving.saver import Saver


class ElasticAverageCustomGetter:
    """Gives each trainable variable of a scope a copy on this worker, and a centre on the parameter servers.

        getter = tf.contrib.opt.ElasticAverageCustomGetter(worker_device="/job:worker/task:0")
        with tf.variable_scope("", custom_getter=getter): ...

    The program trains the copy, a local variable. The centre is `global_center_variable/NAME`; `local_center_variable/NAME` is
    what this worker last saw of it.

    Args:
        worker_device: where the copies are.
    """

    def __init__(self, worker_device: str) -> None:
        self.worker_device = worker_device
        self.local_centers: dict[str, VariableLike] = {}
        self.global_centers: dict[str, VariableLike] = {}

    def __call__(
        self, getter: Callable[..., Nest], name: str, trainable: bool, collections: Collections, *args: Nest, **kwargs: Nest
    ) -> Nest:
        """The variable for a `get_variable`."""
        graph = get_default_graph()
        if not trainable:
            is_local = GraphKeys.LOCAL_VARIABLES in (collections or ())
            with graph.device(self.worker_device if is_local else ""):
                return getter(name, *args, trainable=trainable, collections=collections, **kwargs)
        local = [GraphKeys.LOCAL_VARIABLES]
        with graph.device(self.worker_device):
            copy = getter(name, *args, trainable=True, collections=local, **kwargs)
        if kwargs.get("reuse") is True:
            return copy
        center = getter(
            f"global_center_variable/{name}", *args, trainable=False, collections=[GraphKeys.GLOBAL_VARIABLES], **kwargs
        )
        with graph.device(self.worker_device):
            seen = getter(f"local_center_variable/{name}", *args, trainable=False, collections=local, **kwargs)
        for part, local_part, global_part in zip(parts_of(copy), parts_of(seen), parts_of(center), strict=True):
            self.local_centers[part.op.name] = local_part
            self.global_centers[part.op.name] = global_part
        return copy


class ElasticAverageOptimizer(Optimizer):
    """Lets another optimizer train a worker's copies, and every so many steps copies and centre attract each other.

    Args:
        opt: the other optimizer.
        num_worker: the number of workers.
        ea_custom_getter: the getter of the model's variables.
        communication_period: the steps between two exchanges with the centre.
        moving_rate: how far copy and centre move towards each other; 0.9 / communication_period / num_worker when None.
        rho: the weight of the distance to the centre in the loss; moving_rate / learning rate when None.
        use_locking: recorded in the update ops; updates are always whole.
        synchronous: whether the workers begin together.
        name: the name of the operations made, and of slots.
    """

    BETA = 0.9

    def __init__(
        self, opt: Optimizer, num_worker: int, ea_custom_getter: ElasticAverageCustomGetter, communication_period: int = 10,
        moving_rate: float | None = None, rho: float | None = None, use_locking: bool = True, synchronous: bool = False,
        name: str = "ElasticAverageOptimizer",
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._opt = opt
        self._num_worker = num_worker
        self._period = communication_period
        self._local_centers = ea_custom_getter.local_centers
        self._global_centers = ea_custom_getter.global_centers
        self._is_synchronous = synchronous
        self._moving_rate = self.BETA / communication_period / num_worker if moving_rate is None else moving_rate
        self._rho = self._moving_rate / _learning_rate(opt) if rho is None else rho
        self._local_step = own_step_counter(ea_custom_getter.worker_device)

    def compute_gradients(self, loss: Tensor, var_list: Nest = None, *args: Nest, **kwargs: Nest) -> PairList:
        """The gradients of the loss with the copies' distances from the centre; see Optimizer.compute_gradients.

        Args:
            args, kwargs: the further ones of the other optimizer's `compute_gradients`.
        """
        copies = list(var_list or trainable_variables())
        distances = [l2_loss(copy - self._local_centers[copy.op.name]) for copy in copies]
        whole = loss + self._rho * add_n(distances)
        pairs: PairList = self._opt.compute_gradients(whole, copies, *args, **kwargs)
        return pairs

    def apply_gradients(self, grads_and_vars: Pairs, global_step: VariableLike = None, name: str | None = None) -> Operation:
        """The updates of the copies; with every `communication_period`-th the exchange with the centre, and a global step."""
        graph = get_default_graph()
        pairs = list(grads_and_vars)
        with graph.control_dependencies([apply_to_copies(self._opt, pairs)]):
            counted = self._local_step.assign_add(1)
        copies = [variable for gradient, variable in pairs if gradient is not None]
        with graph.control_dependencies([counted]):
            is_time = equal(floor_mod(counted, self._period), 0)
            updates = [self._exchange(copy, is_time) for copy in copies]
            if global_step is not None:
                updates.append(update_when(is_time, global_step, lambda: global_step.assign_add(1)))
        return group(*updates)

    def _exchange(self, copy: VariableLike, is_time: Tensor) -> Operation:
        """Have a copy and its centre attract each other when it is time."""
        seen, center = self._local_centers[copy.op.name], self._global_centers[copy.op.name]
        found = value_when(is_time, center)

        def pulled() -> Tensor:
            fresh = reshape(found, copy.shape)
            pull = self._moving_rate * (copy.read_value() - fresh)
            with get_default_graph().control_dependencies([seen.assign(fresh), copy.assign_sub(pull)]):
                return reshape(pull, [-1])

        with get_default_graph().colocate_with(copy):
            pull: Nest = cond(is_time, pulled, lambda: zeros([0], copy.dtype.base_dtype))
        return update_when(is_time, center, lambda: center.assign_add(reshape(pull, center.shape)))

    def get_init_op(self, task_index: int) -> Operation:
        """An operation that gives the copies the centre's values; with `synchronous` it waits for all workers.

        Args:
            task_index: the number of this worker; 0 is the chief.

        Raises:
            ValueError: no variable was made by the getter.
        """
        copies = [copy for copy in trainable_variables() if copy.op.name in self._global_centers]
        if not copies:
            raise ValueError(
                "The lists of local_variables, global_center_variables, local_center_variables should not be empty: make the "
                "model's variables under an ElasticAverageCustomGetter"
            )
        assigned = []
        for copy in copies:
            center = self._global_centers[copy.op.name].read_value()
            assigned += [copy.assign(center), self._local_centers[copy.op.name].assign(center)]
        taken = group(*assigned)
        return self._barrier(taken, task_index) if self._is_synchronous else taken

    def _barrier(self, after: Operation, task_index: int) -> Operation:
        queues = [
            FIFOQueue(self._num_worker, ["bool"], shapes=[[]], shared_name=f"variable_init_sync_queue{number}")
            for number in range(self._num_worker)
        ]
        with get_default_graph().control_dependencies([after]):
            told = [queue.enqueue(constant(False)) for number, queue in enumerate(queues) if number != task_index]
        return group(*told, queues[task_index].dequeue_many(self._num_worker - 1))

    def make_session_run_hook(self, is_chief: bool, task_index: int) -> SessionRunHook:
        """A hook that runs `get_init_op` when a session is made.

        Args:
            is_chief: whether this worker is the chief.
            task_index: the worker's number.
        """
        return CopiesHook(lambda: self.get_init_op(task_index))

    def swapping_saver(self, var_list: Nest = None, name: str = "swapping_saver", **kwargs: Nest) -> Saver:
        """A Saver that writes the centre's values under the names of the copies.

        Args:
            var_list: variables, or a dict of them by the names to write; all that are trained when None.
            kwargs: arguments of `tf.train.Saver`.

        Raises:
            RuntimeError: no variable was made by the getter.
        """
        if not self._global_centers:
            raise RuntimeError(
                "global_center_variable is empty, please make sure this is called after model created and "
                "ElasticAverageCustomGetter is used when declaring you model"
            )
        found = trainable_variables() if var_list is None else var_list
        by_name: dict[str, VariableLike] = dict(found) if isinstance(found, dict) else {each.op.name: each for each in found}
        centers = {key: self._global_centers.get(each.op.name, each) for key, each in by_name.items()}
        return Saver(centers, name=name, **kwargs)


def _learning_rate(optimizer: Optimizer) -> Nest:
    rate: Nest = getattr(optimizer, "_learning_rate", None)
    if rate is None:
        raise ValueError(f"ElasticAverageOptimizer: {type(optimizer).__name__} tells no learning rate; give `rho`")
    return rate
