"""ProcessGroup: the processes of one training, whose arrays XLA's collectives sum; `jax.distributed` brings them together.

Gloo carries the sums between CPUs, NCCL between GPUs, as JAX has them. Each process brings one device. A process that dies or
ends closes its connections, by which the sums that the others wait for fail at once: measured 0.05 to 0.15 s after a kill. JAX
would end the whole job when one of its processes is lost, by its coordination service; `jax_enable_recoverability` leaves that
to the program.

One sum takes 2.7 ms for 4 kB, 3.4 ms for 400 kB and 20 ms for 4 MB between two processes on two cores (November 2026, a
virtual machine, three tries), nearly all of it waiting for the other process: so a step's gradients travel as one array for
each type.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from weft.errors import FailedPreconditionError
from weft.framework.building.aliases import Array
from weft.framework.types.replica_values import Value
from weft.platform.imports.jax_modules import jax
from weft.platform.process.interrupts import deferred_interrupts
from weft.platform.waits.wait_watch import Watched
from weft.runtime.xla import engine_options, xla_process
from weft.strategies.reduction import gloo_host
from weft.strategies.reduction.farewell import Farewell

_START_LIMIT_S: Final = 300
_OF_MEETING: Final = "Look whether all of them have been started, and whether this address reaches the first one."
_OF_SUMS: Final = (
    "All must make the same steps: look whether the others run, and whether one evaluates, saves or has ended (their logs, "
    "`weft doctor`)."
)
# JAX compiles for each length: all shorter ones share the code of the next power of two.
_SHORTEST: Final = 1024


@dataclass(frozen=True)
class Place:
    """The processes that train together: how many, this one's number, and the address at which the first one listens."""

    address: str
    count: int
    index: int

    @property
    def told(self) -> str:
        """Names this process in messages."""
        return f"Process {self.index} of the {self.count} that train together"


class ProcessGroup:
    """The processes of one training. One per process: JAX brings processes together only once, before XLA starts."""

    def __init__(self) -> None:
        self._place: Place | None = None
        self._lock = threading.Lock()
        self._sum: Value = None
        self._sharded: Value = None
        self._farewell: Farewell | None = None

    @property
    def place(self) -> Place | None:
        """This process's place; None before `join`."""
        return self._place

    def join(self, place: Place, uses_accelerators: bool) -> None:
        """Meet the other processes; blocks until all are there.

        Raises:
            FailedPreconditionError: XLA runs already, or this process is in another group, or the others did not come.
        """
        if self._place == place:
            return
        if self._place is not None:
            raise _failure(f"this process trains with {self._place} already, and cannot be {place} too")
        if xla_process.is_started():
            raise _failure(
                "XLA runs in this process already. Make the strategy, or the Estimator's train_and_evaluate call, the first "
                "thing that a program does with weft: before any session has run"
            )
        if not uses_accelerators:
            try:
                gloo_host.check()
            except OSError as error:
                raise _failure(str(error)) from error
        engine_options.limit_platforms(uses_accelerators)
        jax.config.update("jax_enable_recoverability", True)  # type: ignore[no-untyped-call]
        try:
            with Watched(lambda: f"{place.told} has waited to meet the others at {place.address}", _OF_MEETING):
                jax.distributed.initialize(
                    place.address, place.count, place.index, initialization_timeout=_START_LIMIT_S,
                    cluster_detection_method="deactivate",
                )  # fmt: skip
        except RuntimeError as error:
            raise _failure(f"the processes did not meet at {place.address} within {_START_LIMIT_S} s: {error}") from error
        self._place = place

    def start(self, uses_accelerators: bool) -> None:
        """Start XLA, which waits for the others, and make the collective."""
        assert self._place is not None
        xla_process.start(uses_accelerators)
        with deferred_interrupts():
            firsts = [min(group, key=lambda each: each.id) for group in _by_process(jax.devices()).values()]
            mesh = jax.sharding.Mesh(np.array(firsts), ("processes",))
            self._sharded = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("processes"))  # type: ignore[no-untyped-call]
            whole = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())  # type: ignore[no-untyped-call]
            self._sum = jax.jit(_summed, out_shardings=whole)
            self._own = next(each for each in firsts if each.process_index == jax.process_index())

    def _meet(self) -> None:
        """Let the first process outlive the others."""
        place = self._place
        assert place is not None

        def tell(number: int) -> int:
            own = np.array([number if place.index == 0 else 0], np.int64)
            return int(self._flat_sum(own)[0])

        host = place.address.rpartition(":")[0]
        try:
            self._farewell = Farewell(host, place.count, place.index, tell)
        except OSError as error:
            raise _failure(f"the processes are not connected to the first one, on {host}: {error}") from error

    def summed(self, arrays: Sequence[Array], uses_accelerators: bool = False) -> list[Array]:
        """The sum of each array over all processes, which must all ask for the same; blocks until they have.

        Raises:
            FailedPreconditionError: another process has ended.
        """
        with self._lock, Watched(self._told_of_sum, _OF_SUMS):
            if self._sum is None:
                self.start(uses_accelerators)
                self._meet()
            results: list[Array] = [np.empty(0)] * len(arrays)
            kinds: dict[Value, list[int]] = {}
            for place, array in enumerate(arrays):
                kinds.setdefault(array.dtype, []).append(place)
            for kind in sorted(kinds, key=str):
                places = kinds[kind]
                flat = np.concatenate([np.ravel(arrays[each]) for each in places])
                total, start = self._flat_sum(flat), 0
                for each in places:
                    size = arrays[each].size
                    results[each] = total[start : start + size].reshape(arrays[each].shape)
                    start += size
            return results

    def _told_of_sum(self) -> str:
        return f"{self._place.told if self._place else 'A process'} has waited in a sum of all processes' values"

    def gathered(self, arrays: Sequence[Array], uses_accelerators: bool = False) -> list[Array]:
        """The arrays of all processes, of one length in each of them, joined along the first dimension."""
        place = self._place
        assert place is not None
        length = len(arrays[0])
        sizes = np.zeros(place.count, np.int32)
        sizes[place.index] = length
        (sizes,) = self.summed([sizes], uses_accelerators)
        before, joined = int(sizes[: place.index].sum()), []
        for each in arrays:
            # Zeros stand for the rows of the others: adding them changes no bit.
            rows = np.zeros((int(sizes.sum()), *each.shape[1:]), each.dtype)
            rows[before : before + length] = each
            joined.append(rows)
        return self.summed(joined, uses_accelerators)

    def _flat_sum(self, flat: Array) -> Array:
        assert self._place is not None
        length = max(_SHORTEST, 1 << max(flat.size - 1, 0).bit_length())
        padded = np.zeros((1, length), flat.dtype)
        padded[0, : flat.size] = flat
        try:
            with jax.enable_x64(True):
                own = jax.device_put(padded, self._own)
                shape = (self._place.count, length)
                whole = jax.make_array_from_single_device_arrays(shape, self._sharded, [own])
                return np.asarray(self._sum(whole).addressable_data(0))[: flat.size]
        except (ValueError, RuntimeError) as error:
            raise _failure(
                f"a process that trains with this one has ended, or makes other steps ({self._place}). Start all of them anew: "
                f"they go on from the last checkpoint. {gloo_host.what_may_be_wrong(self._place.address)}XLA says: {error}"
            ) from error


def _summed(values: Value) -> Value:
    return values.sum(0, dtype=values.dtype)


def _by_process(devices: Sequence[Value]) -> dict[int, list[Value]]:
    found: dict[int, list[Value]] = {}
    for each in devices:
        found.setdefault(each.process_index, []).append(each)
    return dict(sorted(found.items()))


def _failure(message: str) -> FailedPreconditionError:
    return FailedPreconditionError.of(f"Training by several processes: {message}")


# JAX brings the processes together for the whole life of this one.
GROUP: Final = ProcessGroup()
