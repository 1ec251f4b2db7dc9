"""Iterators that deal a dataset's elements out to the replicas, in turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from weft.datasets.dataset import Dataset
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.printed import printed
from weft.framework.types.replica_values import Function, Value
from weft.ops.array.identity import identity_node
from weft.strategies.input.rebatch import rebatched
from weft.strategies.replicas.values import regroup

_HOST: Final = "/device:CPU:0"


class InputContext:
    """The place of a worker's input in a strategy, as an input function gets it.

    Args:
        num_input_pipelines: how many workers call the function.
        input_pipeline_id: the number of this one.
        num_replicas_in_sync: how many replicas take a batch in a step.
    """

    __repr__ = printed("tf.distribute")

    def __init__(self, num_input_pipelines: int = 1, input_pipeline_id: int = 0, num_replicas_in_sync: int = 1) -> None:
        self._num_input_pipelines = num_input_pipelines
        self._input_pipeline_id = input_pipeline_id
        self._num_replicas_in_sync = num_replicas_in_sync

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas take a batch in a step."""
        return self._num_replicas_in_sync

    @property
    def input_pipeline_id(self) -> int:
        """The number of this worker's input."""
        return self._input_pipeline_id

    @property
    def num_input_pipelines(self) -> int:
        """How many workers have an input."""
        return self._num_input_pipelines

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """The size of each replica's part of a batch; ValueError when it cannot be divided.

        Args:
            global_batch_size: how many examples all replicas take together.
        """
        if global_batch_size % self._num_replicas_in_sync:
            raise ValueError(
                f"The `global_batch_size` {global_batch_size!r} is not divisible by `num_replicas_in_sync` "
                f"{self._num_replicas_in_sync!r} "
            )
        return global_batch_size // self._num_replicas_in_sync


class ReplicaIterator:
    """Gives each replica an element of a dataset, in the order of the replicas.

    Args:
        dataset: the dataset.
        devices: the replicas' devices.
        host: the device of the dataset.
    """

    def __init__(self, dataset: Value, devices: Sequence[str], host: str = _HOST) -> None:
        self._devices = tuple(devices)
        self._host = host
        with get_default_graph().device(host):
            self._iterator = dataset.make_initializable_iterator()

    def get_next(self) -> Value:
        """The next elements, one for each replica: PerReplica, in the structure of an element."""
        graph, elements = get_default_graph(), []
        previous: list[Operation] = []
        for device in self._devices:
            with graph.device(self._host), graph.control_dependencies(previous):
                element = self._iterator.get_next()
            previous = [_some_op(element)]
            with graph.device(device):
                elements.append(nest.map_structure(_here, element, expand_composites=True))
        return regroup(self._devices, elements)

    def initialize(self) -> list[Operation]:
        """The operations that let it begin, or begin anew."""
        return [self._iterator.initializer]

    @property
    def initializer(self) -> list[Operation]:
        """See `initialize`."""
        return self.initialize()

    @property
    def output_classes(self) -> Value:
        """The classes of an element's parts."""
        return self._iterator.output_classes

    @property
    def output_shapes(self) -> Value:
        """The shapes of an element's parts."""
        return self._iterator.output_shapes

    @property
    def output_types(self) -> Value:
        """The types of an element's parts."""
        return self._iterator.output_types


def _some_op(element: Value) -> Operation:
    op: Operation = nest.flatten(element, expand_composites=True)[0].op
    return op


def _here(value: Value) -> Value:
    # Strings stay on the host: no accelerator has them.
    is_moved = isinstance(value, Tensor) and value.dtype is not dtypes.string and value.dtype is not dtypes.variant
    return identity_node(value) if is_moved else value


class DistributedDataset:
    """A dataset of which each replica takes a part.

    Args:
        dataset: the dataset whose elements the replicas take.
        devices: the replicas' devices.
        host: the device of the dataset.
    """

    def __init__(self, dataset: Value, devices: Sequence[str], host: str = _HOST) -> None:
        self._dataset = dataset
        self._devices = tuple(devices)
        self._host = host

    def make_initializable_iterator(self) -> ReplicaIterator:
        """An iterator that its `initialize()` lets begin."""
        return ReplicaIterator(self._dataset, self._devices, self._host)

    def make_one_shot_iterator(self) -> ReplicaIterator:
        """An iterator that begins by itself with the session's tables."""
        iterator = self.make_initializable_iterator()
        graph = get_default_graph()
        graph.add_to_collection("table_initializer", iterator.initialize()[0])
        return iterator


def divided(dataset: Value, parts: int) -> Value:
    """The dataset with its batches divided; TypeError when it is none."""
    return rebatched(checked_dataset(dataset), parts)


def checked_dataset(dataset: Value) -> Value:
    """The dataset; TypeError when it is none."""
    if not isinstance(dataset, Dataset):
        raise TypeError(f"A strategy divides a tf.data.Dataset among its replicas, got {dataset!r}")
    return dataset


def dataset_of(input_fn: Function, context: InputContext) -> Value:
    """The dataset that an input function of a strategy returns, or that the function that it returns does."""
    result = input_fn(context)
    return checked_dataset(result() if callable(result) else result)
