"""Cross-device operations: the ways in which the tensors of replicas in one process are summed, and put on their devices.

The replicas' stages run in one process, and what one sends another is a reference to memory of the host, or a copy from GPU to
GPU. An XLA collective would need all devices in one executable, while each replica is a stage of its own on its device; CPU
devices of one process even share one XLA device. So sums are nodes of the graph. Two ways were measured:
one device sums and sends the sum back, or each device gets all the tensors and sums for itself. A step of eight variables of
1 MB took 8.5 and 8.3 ms on two CPU devices, 12.1 and 12.5 ms on four (November 2026, two shared cores, best of twelve): no
difference that decides, so the way with one hop less is the default. Between processes an XLA collective sums; see
`process_group`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.framework.graphs.graph import get_default_graph
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.operation import Tensor
from weft.framework.types.printed import printed
from weft.framework.types.replica_values import Value
from weft.ops.array.identity import identity_node
from weft.ops.array.joining import concat
from weft.ops.math.elementwise import add_n
from weft.ops.variables.variable import Variable
from weft.strategies.reduction.reduce_op import ReduceOp
from weft.strategies.replicas.devices import resolved
from weft.strategies.replicas.values import DistributedValues, Mirrored, PerReplica, regroup
from weft.strategies.replicas.variables import DistributedVariable

_Accumulate = Callable[[list[Tensor]], Tensor]


def devices_of(destinations: Value) -> tuple[str, ...]:
    """The devices that a device's name, a tensor, a variable or values of replicas are on.

    Raises:
        ValueError: it is none of these.
    """
    if isinstance(destinations, DistributedValues | DistributedVariable):
        return destinations.devices
    if isinstance(destinations, str):
        return (resolved(destinations),)
    if isinstance(destinations, Tensor | Variable | IndexedSlices):
        return (resolved(destinations.device),)
    raise ValueError(
        "destinations must be one of a `DistributedValues` object, a tf.Variable object, or a device string, got "
        f"{destinations!r}"
    )


def copy_to(value: Value, device: str) -> Value:
    """The tensor or IndexedSlices on a device."""
    with get_default_graph().device(device):
        if isinstance(value, IndexedSlices):
            shape = value.dense_shape
            return IndexedSlices(
                identity_node(value.values), identity_node(value.indices), None if shape is None else identity_node(shape)
            )
        return identity_node(value)


def broadcast(value: Value, destinations: Value) -> Value:
    """The value on the devices of `destinations`: itself on one, Mirrored on several."""
    devices = devices_of(destinations)
    if len(devices) == 1:
        return copy_to(value, devices[0])
    return Mirrored(devices, [copy_to(value, each) for each in devices])


def summed(values: Sequence[Value], reduce_op: ReduceOp, accumulate: _Accumulate = add_n, count: int | None = None) -> Value:
    """The sum or the mean of tensors or IndexedSlices, where the graph is being built; the slices are joined.

    `count` divides for the mean, the number of values unless it is given.
    """
    factor = 1.0 / (count or len(values)) if reduce_op is ReduceOp.MEAN else None
    if any(isinstance(each, IndexedSlices) for each in values):
        return _joined([_as_slices(each) for each in values], factor)
    total = values[0] if len(values) == 1 else accumulate(list(values))
    return total if factor is None else total / _like(total, count or len(values))


def _like(tensor: Tensor, number: int) -> Value:
    return number if tensor.dtype.is_floating or tensor.dtype.is_integer else float(number)


def _as_slices(value: Value) -> IndexedSlices:
    if not isinstance(value, IndexedSlices):
        raise ValueError(f"Some replicas have tensors, others IndexedSlices, which cannot be summed: {value}")
    return value


def _joined(slices: Sequence[IndexedSlices], factor: float | None) -> IndexedSlices:
    values = concat([each.values for each in slices], 0) if len(slices) > 1 else slices[0].values
    indices = concat([each.indices for each in slices], 0) if len(slices) > 1 else slices[0].indices
    return IndexedSlices(values if factor is None else values * factor, indices, slices[0].dense_shape)


class CrossDeviceOps:
    """How values of replicas are brought together; derive from it to do it in another way."""

    __repr__ = printed("tf.contrib.distribute")

    def reduce(self, reduce_op: ReduceOp, per_replica_value: Value, destinations: Value) -> Value:
        """The sum or mean of the replicas' values, on the devices of `destinations`.

        Args:
            reduce_op: ReduceOp.SUM or ReduceOp.MEAN.
            per_replica_value: PerReplica, or a tensor.
            destinations: a device's name, a tensor, a variable or values of replicas, whose devices are meant.

        Returns:
            The value where that is one device, Mirrored where they are several.
        """
        value = as_per_replica(per_replica_value)
        devices = devices_of(destinations)
        if len(value.values) == 1 and value.devices == devices:
            return regroup(value.devices, value.values, Mirrored)
        return self.reduce_implementation(reduce_op, value, destinations)

    def batch_reduce(self, reduce_op: ReduceOp, value_destination_pairs: Sequence[tuple[Value, Value]]) -> list[Value]:
        """`reduce` for each pair of a value and its destinations.

        Args:
            reduce_op: SUM or MEAN.
            value_destination_pairs: pairs as the arguments of `reduce`.

        Raises:
            ValueError: an item is no pair.
        """
        pairs = list(value_destination_pairs)
        if not all(isinstance(each, tuple) and len(each) == 2 for each in pairs):
            raise ValueError(f"Each element of `value_destination_pairs` should be a tuple of size 2, got {pairs}")
        if all(len(as_per_replica(value).values) == 1 for value, _ in pairs):
            return [self.reduce(reduce_op, value, destinations) for value, destinations in pairs]
        return self.batch_reduce_implementation(reduce_op, [(as_per_replica(value), to) for value, to in pairs])

    def broadcast(self, tensor: Value, destinations: Value) -> Value:
        """The tensor on the devices of `destinations`.

        Args:
            tensor: the tensor.
            destinations: a variable, a tensor or the name of a device.
        """
        devices_of(destinations)
        return self.broadcast_implementation(tensor, destinations)

    def reduce_implementation(self, reduce_op: ReduceOp, per_replica_value: PerReplica, destinations: Value) -> Value:
        """How one value is reduced; for derived classes.

        Args:
            reduce_op: SUM or MEAN.
            per_replica_value: the values.
            destinations: a variable, a tensor or the name of a device.
        """
        raise NotImplementedError("_reduce method must be implemented in descendants.")

    def batch_reduce_implementation(
        self, reduce_op: ReduceOp, value_destination_pairs: Sequence[tuple[PerReplica, Value]]
    ) -> list[Value]:
        """How several values are reduced, one after the other unless a derived class knows better.

        Args:
            reduce_op: SUM or MEAN.
            value_destination_pairs: pairs as the arguments of `reduce_implementation`.
        """
        return [self.reduce_implementation(reduce_op, value, to) for value, to in value_destination_pairs]

    def broadcast_implementation(self, tensor: Value, destinations: Value) -> Value:
        """How a tensor is put on several devices.

        Args:
            tensor: the tensor.
            destinations: a variable, a tensor or the name of a device.
        """
        return broadcast(tensor, destinations)


def as_per_replica(value: Value) -> PerReplica:
    """The value as one of replicas, a tensor as that of its device; ValueError when it is neither."""
    if isinstance(value, PerReplica):
        return value
    if isinstance(value, DistributedValues | DistributedVariable):
        return PerReplica(value.devices, value.values)
    if isinstance(value, list | tuple) or not hasattr(value, "device"):
        raise ValueError(f"Cannot convert `input_tensor` to a `PerReplica` object, got {value!r} but expected a tensor.")
    return PerReplica([resolved(value.device)], [value])


class ReductionToOneDevice(CrossDeviceOps):
    """One device sums, and sends the sum to the others.

    Args:
        reduce_to_device: the device; the first of the destinations when None.
        accumulation_fn: sums a list of tensors; `tf.add_n` when None.
    """

    def __init__(self, reduce_to_device: str | None = None, accumulation_fn: _Accumulate | None = None) -> None:
        self.reduce_to_device = reduce_to_device
        self.accumulation_fn = accumulation_fn or add_n

    def reduce_implementation(self, reduce_op: ReduceOp, per_replica_value: PerReplica, destinations: Value) -> Value:
        """Sum on one device."""
        device = self.reduce_to_device or devices_of(destinations)[0]
        with get_default_graph().device(device):
            total = summed(per_replica_value.values, reduce_op, self.accumulation_fn)
        return self.broadcast(total, destinations)


class AllReduceCrossDeviceOps(CrossDeviceOps):
    """Each device of the destinations gets all the tensors and sums them in one order, so that all have the same bits.

    One hop shorter than ReductionToOneDevice, for more to send where there are many replicas.

    Args:
        all_reduce_alg, num_packs, agg_small_grads_max_bytes, agg_small_grads_max_group: how TensorFlow's collectives pack
            tensors; a stage's tensors for one peer travel together in weft, so these change nothing.

    Raises:
        ValueError: `num_packs` is negative.
    """

    def __init__(
        self, all_reduce_alg: str = "nccl", num_packs: int = 1, agg_small_grads_max_bytes: int = 0,
        agg_small_grads_max_group: int = 10,
    ) -> None:  # fmt: skip
        if num_packs < 0:
            raise ValueError(f"num_packs must be greater than zero, got {num_packs}")
        self.all_reduce_alg = all_reduce_alg
        self.num_packs = num_packs
        self.agg_small_grads_max_bytes = agg_small_grads_max_bytes
        self.agg_small_grads_max_group = agg_small_grads_max_group

    def reduce_implementation(self, reduce_op: ReduceOp, per_replica_value: PerReplica, destinations: Value) -> Value:
        """Sum on each device."""
        graph, devices = get_default_graph(), devices_of(destinations)
        totals = []
        for device in devices:
            with graph.device(device):
                totals.append(summed(per_replica_value.values, reduce_op))
        return totals[0] if len(totals) == 1 else Mirrored(devices, totals)


class HierarchicalCopyAllReduce(AllReduceCrossDeviceOps):
    """The all-reduce of this name in TensorFlow, for GPUs in two groups; in weft as AllReduceCrossDeviceOps.

    Args:
        num_packs: see AllReduceCrossDeviceOps.
    """

    def __init__(self, num_packs: int = 1) -> None:
        super().__init__("hierarchical_copy", num_packs)


class NcclAllReduce(AllReduceCrossDeviceOps):
    """The all-reduce of this name in TensorFlow; in weft as AllReduceCrossDeviceOps, between processes NCCL's by XLA.

    Args:
        num_packs: see AllReduceCrossDeviceOps.
    """

    def __init__(self, num_packs: int = 1) -> None:
        super().__init__("nccl", num_packs)


class MultiWorkerAllReduce(AllReduceCrossDeviceOps):
    """The all-reduce between workers of one graph, which weft does not have.

    Args:
        arguments, options: whatever TensorFlow's class takes; not looked at.

    Raises:
        NotImplementedError: always.
    """

    def __init__(self, *arguments: object, **options: object) -> None:
        raise NotImplementedError(
            "MultiWorkerAllReduce: weft has no strategy that builds several workers in one graph. Use "
            "tf.distribute.experimental.MultiWorkerMirroredStrategy, whose workers build a graph each."
        )
