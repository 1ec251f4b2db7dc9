"""Model averaging: workers train copies of their own, whose mean all of them take up every so many steps."""

from __future__ import annotations

from collections.abc import Callable

from weft.framework.building.aliases import Collections, Nest, VariableLike
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.ops.array.filling import fill
from weft.ops.array.shape_ops import reshape
from weft.ops.control_flow.ordering import group
from weft.ops.data_flow.conditional_accumulator import ConditionalAccumulator
from weft.ops.data_flow.queue import FIFOQueue
from weft.ops.math.comparison import equal
from weft.ops.math.division import floor_mod
from weft.ops.variables.collections import trainable_variables
from weft.ops.variables.variable import Variable
from weft.training.contributed.pairs import PairList, Pairs
from weft.training.contributed.worker_copies import CopiesHook, own_step_counter, set_when, update_when, value_when
from weft.training.hooks.session_run_hook import SessionRunHook
from weft.training.optimizers.optimizer import Optimizer


class ModelAverageCustomGetter:
    """Gives each trainable variable of a scope a copy on this worker, and a common one on the parameter servers.

        getter = tf.contrib.opt.ModelAverageCustomGetter(worker_device="/job:worker/task:0")
        with tf.device(tf.train.replica_device_setter(...)), tf.variable_scope("", custom_getter=getter): ...

    The program trains the copy, a local variable; the common one is `global_center_variable/NAME`.

    Args:
        worker_device: where the copies are.
    """

    def __init__(self, worker_device: str) -> None:
        self.worker_device = worker_device
        self.centers: dict[VariableLike, VariableLike] = {}

    def __call__(
        self, getter: Callable[..., Nest], name: str, trainable: bool, collections: Collections, *args: Nest, **kwargs: Nest
    ) -> Nest:
        """The variable for a `get_variable`."""
        graph = get_default_graph()
        if not trainable:
            is_local = GraphKeys.LOCAL_VARIABLES in (collections or ())
            with graph.device(self.worker_device if is_local else ""):
                return getter(name, *args, trainable=trainable, collections=collections, **kwargs)
        with graph.device(self.worker_device):
            copy = getter(name, *args, trainable=True, collections=[GraphKeys.LOCAL_VARIABLES], **kwargs)
        if copy not in self.centers:
            self.centers[copy] = Variable(
                copy.initialized_value(),
                name=f"global_center_variable/{name}",
                trainable=False,
                collections=[GraphKeys.GLOBAL_VARIABLES],
            )
        return copy


class ModelAverageOptimizer(Optimizer):
    """Lets another optimizer train a worker's copies; every `interval_steps` all workers take up the mean of theirs.

    Workers wait for each other then, and the global step is counted once.

    Args:
        opt: the other optimizer.
        num_worker: the number of workers.
        is_chief: whether this worker is the chief, which writes the mean to the parameter servers.
        ma_custom_getter: the getter of the model's variables.
        interval_steps: the steps between two means.
        use_locking: recorded in the update ops; updates are always whole.
        name: the name of the operations made.
    """

    def __init__(
        self, opt: Optimizer, num_worker: int, is_chief: bool, ma_custom_getter: ModelAverageCustomGetter,
        interval_steps: int = 100, use_locking: bool = True, name: str = "ModelAverageOptimizer",
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._opt = opt
        self._num_worker = num_worker
        self._is_chief = is_chief
        self._centers = ma_custom_getter.centers
        self._interval_steps = interval_steps
        self._local_step = own_step_counter(ma_custom_getter.worker_device)

    def compute_gradients(self, *args: Nest, **kwargs: Nest) -> PairList:
        """The other optimizer's gradients; see Optimizer.compute_gradients.

        Args:
            args, kwargs: those of the other optimizer's `compute_gradients`.
        """
        pairs: PairList = self._opt.compute_gradients(*args, **kwargs)
        return pairs

    def apply_gradients(self, grads_and_vars: Pairs, global_step: VariableLike = None, name: str | None = None) -> Operation:
        """The updates of the copies; with every `interval_steps`-th the exchange with the other workers, and a global step.

        Raises:
            ValueError: there is no pair or no global step, or a variable is not the getter's.
        """
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required: global_step=tf.train.get_or_create_global_step()")
        graph = get_default_graph()
        copies = [variable for gradient, variable in pairs if gradient is not None]
        centers = [self._center_of(copy) for copy in copies]
        with graph.control_dependencies([self._opt.apply_gradients(pairs)]):
            counted = self._local_step.assign_add(1)
        with graph.control_dependencies([counted]):
            is_time = equal(floor_mod(counted, self._interval_steps), 0)
            summed = [self._exchange(is_time, copy, center, global_step) for copy, center in zip(copies, centers, strict=True)]
        with graph.control_dependencies(summed):
            met = self._meet(is_time, global_step)
        with graph.control_dependencies([met]):
            taken = [set_when(is_time, copy, value_when(is_time, center)) for copy, center in zip(copies, centers, strict=True)]
        return group(*taken)

    def _exchange(self, is_time: Tensor, copy: VariableLike, center: VariableLike, global_step: VariableLike) -> Operation:
        """Give a copy's value to the mean, which the chief writes to the common variable as soon as it is whole."""
        value, total = value_when(is_time, copy), self._sum_for(center)

        def give() -> Operation:
            given: Operation = total.apply_grad(reshape(value, center.shape), global_step)
            if not self._is_chief:
                return given
            with get_default_graph().control_dependencies([given]):
                return center.assign(total.take_grad(self._num_worker)).op  # type: ignore[no-any-return]

        return update_when(is_time, center, give)

    def _meet(self, is_time: Tensor, global_step: VariableLike) -> Operation:
        """Have the other workers wait until the chief has written all means and counted the step."""
        with get_default_graph().colocate_with(global_step):
            tokens = FIFOQueue(-1, [dtypes.bool], shapes=[[]], shared_name="sync_queue")

        def tell() -> Operation:
            if not self._is_chief:
                token: Operation = tokens.dequeue().op
                return token
            with get_default_graph().control_dependencies([global_step.assign_add(1)]):
                return tokens.enqueue_many(fill([self._num_worker - 1], False))

        return update_when(is_time, global_step, tell)

    def _sum_for(self, center: VariableLike) -> ConditionalAccumulator:
        with get_default_graph().colocate_with(center):
            name = f"{center.name}/var_accum"
            return ConditionalAccumulator(center.dtype.base_dtype, shape=center.shape, shared_name=name)

    def _center_of(self, copy: VariableLike) -> VariableLike:
        if copy not in self._centers:
            raise ValueError(
                f"{copy.name!r} has no common variable: make the model's variables by tf.get_variable under the "
                "ModelAverageCustomGetter that the optimizer was given"
            )
        return self._centers[copy]

    def _take_up(self, copies: list[VariableLike]) -> Operation:
        if not copies:
            raise ValueError("The list of local_variables should not be empty")
        return group(*(copy.assign(self._center_of(copy).read_value()) for copy in copies))

    def get_init_op(self) -> Operation:
        """An operation that gives the copies the common values.

        Raises:
            ValueError: there is no trainable variable, or one is not the getter's.
        """
        return self._take_up(trainable_variables())

    def make_session_run_hook(self) -> SessionRunHook:
        """A hook that runs `get_init_op` when a session is made."""
        return CopiesHook(self.get_init_op)
