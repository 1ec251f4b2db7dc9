"""Cross-device operations over the processes of one training: a sum here, then a collective of XLA's over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.operation import Tensor
from weft.framework.types.replica_values import Function, Value
from weft.ops.process.script import py_func
from weft.strategies.reduction.cross_device_ops import CrossDeviceOps, as_per_replica, broadcast, devices_of, summed
from weft.strategies.reduction.process_group import GROUP, Place
from weft.strategies.reduction.reduce_op import ReduceOp

# The collectives of steps, and of initial values, in the order in which all processes make them: keys of collections that are
# not exported.
_STEPS: Final = ("weft collectives of steps",)
_INITIAL: Final = ("weft collectives of initial values",)


class AcrossProcesses(CrossDeviceOps):
    """Sums on one device of this process, then over the processes, in one collective for all that is reduced together."""

    def __init__(self, uses_accelerators: bool) -> None:
        self.uses_accelerators = uses_accelerators
        self.place: Place | None = None

    def reduce(self, reduce_op: ReduceOp, per_replica_value: Value, destinations: Value) -> Value:
        """The sum or mean over all workers' replicas, on the devices of `destinations`."""
        return self.batch_reduce(reduce_op, [(per_replica_value, destinations)])[0]

    def batch_reduce(self, reduce_op: ReduceOp, value_destination_pairs: Sequence[tuple[Value, Value]]) -> list[Value]:
        """`reduce` for each pair, by one collective."""
        pairs = [(as_per_replica(value), destinations) for value, destinations in value_destination_pairs]
        locals_ = []
        for value, destinations in pairs:
            with get_default_graph().device(devices_of(destinations)[0]):
                total = summed(value.values, ReduceOp.SUM)
                count = len(value.values) * (1 if self.place is None else self.place.count)
                locals_.append((total, count))
        totals = [total for total, _ in locals_] if self.place is None else self._over_processes([t for t, _ in locals_])
        results = []
        for total, (_, count), (_, destinations) in zip(totals, locals_, pairs, strict=True):
            with get_default_graph().device(devices_of(destinations)[0]):
                done = summed([total], reduce_op, count=count)
            results.append(broadcast(done, destinations))
        return results

    def local(self, reduce_op: ReduceOp, value: Value, destinations: Value) -> Value:
        """The sum or mean of this process's replicas."""
        values = as_per_replica(value)
        with get_default_graph().device(devices_of(destinations)[0]):
            return broadcast(summed(values.values, reduce_op), destinations)

    def of_first(self, value: Value, dtype: Value, is_initial: bool = False) -> Tensor:
        """The value that the first process has.

        Initial values are brought by runs of their own, which the collectives of steps do not wait for.
        """
        chain = _INITIAL if is_initial else _STEPS
        from_here = convert_to_tensor(value, dtype)
        is_first = self.place is not None and self.place.index == 0

        def sent(array: Value) -> Value:
            array = np.asarray(array)
            return GROUP.summed([array if is_first else np.zeros_like(array)], self.uses_accelerators)

        made = self._called(sent, [from_here], [from_here.dtype.base_dtype], chain)[0]
        made.set_shape(from_here.get_shape())
        return made

    def _over_processes(self, values: Sequence[Value]) -> list[Value]:
        tensors = [each for each in values if isinstance(each, Tensor)]
        sums = iter(self._sums(tensors))
        return [next(sums) if isinstance(each, Tensor) else self._joined(each) for each in values]

    def _sums(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        if not tensors:
            return []

        def sum_all(*arrays: Value) -> Value:
            return GROUP.summed([np.asarray(each) for each in arrays], self.uses_accelerators)

        made = self._called(sum_all, tensors, [each.dtype.base_dtype for each in tensors])
        for total, each in zip(made, tensors, strict=True):
            total.set_shape(each.get_shape())
        return made

    def _joined(self, slices: IndexedSlices) -> IndexedSlices:
        def gather(values: Value, indices: Value) -> list[Value]:
            return GROUP.gathered([np.asarray(values), np.asarray(indices)], self.uses_accelerators)

        kinds = [slices.values.dtype.base_dtype, slices.indices.dtype.base_dtype]
        values, indices = self._called(gather, [slices.values, slices.indices], kinds)
        values.set_shape([None, *slices.values.get_shape().as_list()[1:]])
        indices.set_shape([None])
        return IndexedSlices(values, indices, slices.dense_shape)

    def _called(
        self, function: Function, tensors: Sequence[Tensor], kinds: Sequence[Value], chain: tuple[str] = _STEPS
    ) -> list[Tensor]:
        """A collective of this graph, after those that were made before it: all processes must meet in one order."""
        graph = get_default_graph()
        before = graph.get_collection_ref(chain)  # type: ignore[arg-type]
        with graph.device("/device:CPU:0"), graph.control_dependencies(list(before)):
            made: Value = py_func(function, list(tensors), list(kinds), name="CollectiveReduce")
        before[:] = [made[0].op]
        return list(made)
