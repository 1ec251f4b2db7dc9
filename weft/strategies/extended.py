"""StrategyExtended: what a strategy does, for those who write optimizers, metrics and strategies; the base of all of them."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator, Mapping, Sequence

from weft.datasets.dataset import Dataset
from weft.framework.context import replication
from weft.framework.context.replication import Mode
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.framework.types.replica_values import Function, StrategyLike, Value
from weft.ops.control_flow.ordering import group
from weft.ops.variables.scopes import get_variable_scope
from weft.ops.variables.variable import variable_creator_scope
from weft.ops.variables.variable_scope import variable_scope
from weft.platform.logs import tf_logging
from weft.strategies.context import require_cross_replica, require_scope
from weft.strategies.reduction.reduce_op import ReduceOp, as_reduce_op
from weft.strategies.replicas.devices import device_in_scope
from weft.strategies.replicas.values import local_results
from weft.strategies.replicas.variables import DistributedVariable


class StrategyExtended:
    """What a strategy does; a kind of strategy derives from it.

    Args:
        container_strategy: the strategy that this is the `extended` of.
    """

    is_default = False

    def __init__(self, container_strategy: StrategyLike) -> None:
        self._strategy = container_strategy
        self._default_device: str | None = None

    @property
    def strategy(self) -> StrategyLike:
        """The strategy that this is the `extended` of."""
        return self._strategy

    def copied_for(self, strategy: StrategyLike) -> StrategyExtended:
        """A copy that is the `extended` of another strategy.

        Args:
            strategy: the other strategy.
        """
        made = copy.copy(self)
        made._strategy = strategy
        return made

    # The scope.

    @contextlib.contextmanager
    def scope(self) -> Iterator[Value]:
        """Make variables as the strategy does, for the extent of the block."""
        strategy = self.strategy
        if replication.current() is not None:
            require_cross_replica(strategy)
            yield strategy
            return
        with contextlib.ExitStack() as stack:
            stack.enter_context(replication.entered(Mode(strategy)))
            stack.enter_context(variable_scope(get_variable_scope(), custom_getter=self._whole))
            stack.enter_context(variable_creator_scope(self._create))
            if self._default_device:
                stack.enter_context(get_default_graph().device(self._default_device))
            yield strategy

    def _create(self, next_creator: Function, **kwargs: Value) -> Value:
        if kwargs.get("variable_def") is not None:
            raise NotImplementedError("Deserialization of variables is not yet supported when using a tf.distribute.Strategy.")
        require_scope(self.strategy)
        kwargs["use_resource"] = True
        made = self.create_variable(next_creator, **kwargs)
        made.__dict__.setdefault("distribute_strategy", self.strategy)
        return made

    def _whole(self, getter: Function, *args: object, **kwargs: object) -> Value:
        if kwargs.pop("partitioner", None) is not None:
            tf_logging.log_first_n(
                tf_logging.WARN, "Partitioned variables are disabled when using current tf.distribute.Strategy.", 1
            )
        return getter(*args, **kwargs)

    def create_variable(self, next_creator: Function, **kwargs: Value) -> Value:
        """Make a variable as the strategy does.

        Args:
            next_creator: makes an ordinary variable of the arguments.
            kwargs: arguments of the variable by name.
        """
        raise self._missing("create_variable")

    def variable_created_in_scope(self, v: Value) -> bool:
        """Whether the variable was made in the strategy's scope.

        Args:
            v: the variable.
        """
        return getattr(v, "distribute_strategy", None) is self.strategy

    def colocate_vars_with(self, colocate_with_variable: Value) -> contextlib.AbstractContextManager[None]:
        """Make variables on the devices of another one, for the extent of a block.

        Args:
            colocate_with_variable: the variable whose devices are taken.

        Returns:
            A context manager, without a value.

        Raises:
            ValueError: that one was not made in this strategy's scope.
        """
        require_scope(self.strategy)
        self._check_colocation(colocate_with_variable)

        def beside(next_creator: Function, **kwargs: Value) -> Value:
            return next_creator(**{**kwargs, "use_resource": True, "colocate_with": colocate_with_variable})

        return variable_creator_scope(beside)

    def _check_colocation(self, variable: Value) -> None:
        if not isinstance(variable, DistributedVariable) or variable.distribute_strategy is not self.strategy:
            raise ValueError(
                "`colocate_vars_with` must only be passed a variable created in this tf.distribute.Strategy.scope(), not: "
                f"{variable!r}"
            )

    # Replicas.

    def call_for_each_replica(
        self, fn: Function, args: Sequence[object] = (), kwargs: Mapping[str, object] | None = None
    ) -> Value:
        """Build each replica by `fn(*args, **kwargs)`, of whose arguments it gets its own part.

        Args:
            fn: builds a replica; returns tensors, nested as it likes.
            args: its arguments; of PerReplica values each replica gets its own.
            kwargs: its arguments by name, the same.

        Returns:
            What the replicas gave, regrouped: PerReplica where they differ.

        Raises:
            TypeError: `fn` is no function.
            RuntimeError: this is called inside a replica.
        """
        require_cross_replica(self.strategy)
        if not callable(fn):
            raise TypeError(f"fn must be a function that builds a replica, not {fn!r}; its arguments are `args`.")
        with self.strategy.scope():
            return self._call_for_each_replica(fn, tuple(args), dict(kwargs or {}))

    def _call_for_each_replica(self, fn: Function, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        raise self._missing("call_for_each_replica")

    def reduce_to(self, reduce_op: Value, value: Value, destinations: Value) -> Value:
        """The sum or mean of replicas' values on the devices of `destinations`.

        Args:
            reduce_op: `tf.distribute.ReduceOp.SUM` or `MEAN`, or its name.
            value: a PerReplica value, or one that is the same for all.
            destinations: a variable, a tensor or the name of a device.

        Raises:
            RuntimeError: this is called inside a replica.
        """
        require_cross_replica(self.strategy)
        return self._reduce_to(as_reduce_op(reduce_op), value, destinations)

    def _reduce_to(self, reduce_op: ReduceOp, value: Value, destinations: Value) -> Value:
        raise self._missing("reduce_to")

    def reduced(self, reduce_op: ReduceOp, value: Value) -> Value:
        """The sum or mean of replicas' values on the device in scope.

        Args:
            reduce_op: SUM or MEAN.
            value: a PerReplica value, or one that is the same for all.
        """
        return local_results(self._reduce_to(reduce_op, value, device_in_scope()))[0]

    def batch_reduce_to(self, reduce_op: Value, value_destination_pairs: Sequence[tuple[Value, Value]]) -> list[Value]:
        """`reduce_to` for each pair of a value and its destinations, together.

        Args:
            reduce_op: `tf.distribute.ReduceOp.SUM` or `MEAN`, or its name.
            value_destination_pairs: pairs as the arguments of `reduce_to`.

        Raises:
            RuntimeError: this is called inside a replica.
        """
        require_cross_replica(self.strategy)
        return self._batch_reduce_to(as_reduce_op(reduce_op), list(value_destination_pairs))

    def _batch_reduce_to(self, reduce_op: ReduceOp, pairs: list[tuple[Value, Value]]) -> list[Value]:
        return [self._reduce_to(reduce_op, value, destinations) for value, destinations in pairs]

    def broadcast_to(self, tensor: Value, destinations: Value) -> Value:
        """A tensor on the devices of `destinations`.

        Args:
            tensor: the tensor.
            destinations: a variable, a tensor or the name of a device.

        Raises:
            RuntimeError: this is called inside a replica.
        """
        require_cross_replica(self.strategy)
        return self._broadcast_to(tensor, destinations)

    def _broadcast_to(self, tensor: Value, destinations: Value) -> Value:
        raise self._missing("broadcast_to")

    # Updates.

    def update(
        self, var: Value, fn: Function, args: Sequence[object] = (), kwargs: Mapping[str, object] | None = None,
        group: bool = True,
    ) -> Value:  # fmt: skip
        """Call `fn(copy, *args, **kwargs)` for each copy of a variable, on its device.

        Args:
            var: the variable.
            fn: changes a copy.
            args, kwargs: the further arguments; of values that are mirrored it gets those of its device.
            group: whether the result is one that waits for all updates, rather than a list of them.
        """
        require_cross_replica(self.strategy)
        with self.strategy.scope():
            return self._update(var, fn, tuple(args), dict(kwargs or {}), group)

    def _update(
        self,
        var: Value,
        fn: Function,
        args: tuple[Value, ...],
        kwargs: dict[str, Value],
        is_grouped: bool,
    ) -> Value:
        raise self._missing("update")

    def update_non_slot(
        self, colocate_with: Value, fn: Function, args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None, group: bool = True,
    ) -> Value:  # fmt: skip
        """Call `fn(*args, **kwargs)` on each of the devices that `non_slot_devices` gave; see `update`.

        Args:
            colocate_with: what `non_slot_devices` gave.
            fn: makes the update on a device.
            args: its arguments; of values with a part for each device it gets that device's.
            kwargs: its arguments by name, the same.
            group: whether to give one operation in place of the values of all.

        Returns:
            What `fn` gives on each device, as one operation if `group`; otherwise as a value per device.
        """
        require_cross_replica(self.strategy)
        with self.strategy.scope():
            return self._update_non_slot(colocate_with, fn, tuple(args), dict(kwargs or {}), group)

    def _update_non_slot(
        self,
        colocate_with: Value,
        fn: Function,
        args: tuple[Value, ...],
        kwargs: dict[str, Value],
        is_grouped: bool,
    ) -> Value:
        raise self._missing("update_non_slot")

    def non_slot_devices(self, var_list: Sequence[Value]) -> Value:
        """Where an optimizer's variables that belong to no other variable are; for `update_non_slot`.

        Args:
            var_list: the variables that the optimizer updates.
        """
        raise self._missing("non_slot_devices")

    def read_var(self, v: Value) -> Value:
        """A variable's value beside the replicas.

        Args:
            v: a variable that the strategy made.
        """
        return v.read_value()

    def local_results(self, value: Value) -> tuple[Value, ...]:
        """The values of this process's replicas.

        Args:
            value: a PerReplica value, or any other, which is the only one.
        """
        return local_results(value)

    def value_container(self, value: Value) -> Value:
        """The variable that `value` is a copy of, else `value`.

        Args:
            value: a variable, or a replica's copy of one.
        """
        container = DistributedVariable.of(value)
        return value if container is None else container

    def grouped(self, value: Value, name: str | None = None) -> Value:
        """One operation for what all replicas gave.

        Args:
            value: tensors or operations, PerReplica or nested.
        """
        values = nest.flatten(local_results(value))
        if len(values) != 1 or name is not None:
            return group(*values, name=name)
        return getattr(values[0], "op", values[0])

    # Input.

    def make_dataset_iterator(self, dataset: Value) -> Value:
        """An iterator of a dataset, each of whose batches is divided among all replicas.

        Args:
            dataset: a `tf.data.Dataset` of global batches.
        """
        raise self._missing("make_dataset_iterator")

    def make_input_fn_iterator(self, input_fn: Function) -> Value:
        """An iterator of the dataset that `input_fn(input_context)` gives, of which each replica takes whole batches.

        Args:
            input_fn: returns a `tf.data.Dataset` for a `tf.distribute.InputContext`.
        """
        raise self._missing("make_input_fn_iterator")

    def distribute_dataset(self, dataset: Value) -> Value:
        """The dataset, each of whose batches is divided among all replicas.

        Args:
            dataset: a `tf.data.Dataset` of global batches.
        """
        raise self._missing("experimental_distribute_dataset")

    def distribute_datasets_from_function(self, dataset_fn: Function) -> Value:
        """The dataset that `dataset_fn(input_context)` gives, of which each replica takes whole batches.

        Args:
            dataset_fn: returns a `tf.data.Dataset` for a `tf.distribute.InputContext`.
        """
        raise self._missing("experimental_distribute_datasets_from_function")

    def make_numpy_dataset(self, numpy_input: Value) -> Value:
        """A dataset of the rows of a structure of arrays.

        Args:
            numpy_input: arrays `[examples, ...]`, nested in tuples or dicts.
        """
        return Dataset.from_tensor_slices(numpy_input)

    # What the strategy is.

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas' gradients are brought together."""
        raise self._missing("num_replicas_in_sync")

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The devices of the replicas."""
        raise self._missing("worker_devices")

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The devices of the variables."""
        raise self._missing("parameter_devices")

    @property
    def experimental_between_graph(self) -> bool:
        """Whether each worker builds a graph of its own."""
        return False

    @property
    def uses_servers(self) -> bool:
        """Whether a worker's sessions are on the servers of a cluster."""
        return False

    def check_agreement(self, what: str, value: str) -> None:
        """Check that all workers that train together have one value of something; FailedPreconditionError where they do not.

        Args:
            what: what it is, for the error.
            value: this worker's.
        """

    @property
    def experimental_should_init(self) -> bool:
        """Whether this worker initializes the model."""
        return True

    @property
    def should_checkpoint(self) -> bool:
        """Whether this worker saves checkpoints."""
        return True

    @property
    def should_save_summary(self) -> bool:
        """Whether this worker writes summaries."""
        return True

    @property
    def experimental_require_static_shapes(self) -> bool:
        """Whether all shapes must be known."""
        return False

    def configure(self, session_config: Value, cluster_spec: Value, task_type: str | None, task_id: int | None) -> None:
        """Take this process's place in a cluster, and fit a session's ConfigProto.

        Args:
            session_config: a ConfigProto, which is changed; None for none.
            cluster_spec: the cluster; None for this process alone.
            task_type: the job of this process.
            task_id: its number in the job.
        """
        if session_config is not None:
            session_config.CopyFrom(self.update_config_proto(session_config))

    def update_config_proto(self, config_proto: Value) -> Value:
        """A copy of a ConfigProto with what the strategy needs.

        Args:
            config_proto: a ConfigProto, which stays as it is.
        """
        return copy.deepcopy(config_proto)

    def _missing(self, method: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} does not say how it does `{method}`; it must be implemented there")
