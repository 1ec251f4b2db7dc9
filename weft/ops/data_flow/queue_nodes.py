"""Queues as operations: FIFO, shuffling, padding and priority queues, which all share the same enqueue and dequeue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.unshared import unshared
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, dims_compatible, format_dims
from weft.framework.types.dtypes import DType
from weft.ops.data_flow.queue_state import Element, FifoStore, QueueState, Store
from weft.ops.data_flow.queue_stores import PriorityStore, ShuffleStore
from weft.ops.declaration import no_outputs, op, scalar_shape, unknown


@dataclass(frozen=True)
class QueueSignature:
    """The properties of a queue that all programs that share it must agree on."""

    kind: str
    capacity: int
    component_types: tuple[DType, ...]
    component_shapes: tuple[Dims, ...]
    min_after_dequeue: int = 0
    seeds: tuple[int, int] = (0, 0)

    @property
    def is_padding(self) -> bool:
        """Whether elements of different shapes are padded when they are batched."""
        return self.kind == "PaddingFIFOQueue"


@unshared
class SharedQueue:
    """The resource behind a queue's handle."""

    def __init__(self, name: str, signature: QueueSignature, store: Store) -> None:
        self.name = name
        self.signature = signature
        self.state = QueueState(f"{signature.kind} '{name}'", signature.capacity, store, signature.min_after_dequeue)

    def close(self) -> None:
        """Wake all waiters; the queue is being dropped."""
        self.state.close()


def _handle(ctx: OpContext, signature: QueueSignature, make_store: Callable[[], Store]) -> Array:
    name = str(ctx.attrs.get("shared_name") or ctx.node_name)
    queue = ctx.find_or_create(SharedQueue, lambda: SharedQueue(name, signature, make_store()))
    _check_same(queue, signature)
    handle = np.empty((), np.object_)
    handle[()] = ctx.handle_for(SharedQueue)
    return handle


def _check_same(queue: SharedQueue, wanted: QueueSignature) -> None:
    found = queue.signature
    if found == wanted:
        return
    differences = [
        ("type", f"'{found.kind}'", f"'{wanted.kind}'"),
        ("capacity", found.capacity, wanted.capacity),
        ("component types", _names(found.component_types), _names(wanted.component_types)),
        ("component shapes", _shapes(found.component_shapes), _shapes(wanted.component_shapes)),
        ("min_after_dequeue", found.min_after_dequeue, wanted.min_after_dequeue),
        # Who gives no seed takes that of the queue.
        ("random seeds", found.seeds, found.seeds if wanted.seeds == (0, 0) else wanted.seeds),
    ]
    for what, has, asked in differences:
        if has != asked:
            verb = "was" if what in ("type", "capacity", "min_after_dequeue") else "were"
            raise InvalidArgumentError.of(f"Shared queue '{queue.name}' has {what} {has} but requested {what} {verb} {asked}.")


def _names(types: Sequence[DType]) -> str:
    return f"[{', '.join(each.name for each in types)}]"


def _shapes(shapes: Sequence[Dims]) -> str:
    return f"[{', '.join(format_dims(dims) for dims in shapes)}]"


@op("FIFOQueueV2", "-> handle: resource", infer=scalar_shape, gradient=None, stateful=True)
def fifo_queue_v2(
    ctx: OpContext, *, component_types: list[DType], shapes: list[Dims] = [], capacity: int = -1, container: str = "",  # noqa: B006 - a declaration
    shared_name: str = "",
) -> Result:  # fmt: skip
    """A queue that gives elements in the order in which it got them: `-> scalar resource`."""
    signature = QueueSignature("FIFOQueue", capacity, tuple(component_types), _dims(shapes))
    return _handle(ctx, signature, FifoStore)


@op("PaddingFIFOQueueV2", "-> handle: resource", infer=scalar_shape, gradient=None, stateful=True)
def padding_fifo_queue_v2(
    ctx: OpContext, *, component_types: list[DType], shapes: list[Dims] = [], capacity: int = -1, container: str = "",  # noqa: B006 - a declaration
    shared_name: str = "",
) -> Result:  # fmt: skip
    """A FIFO queue whose batches are padded with zeros to the largest of their elements.

    `-> scalar resource`
    """
    signature = QueueSignature("PaddingFIFOQueue", capacity, tuple(component_types), _dims(shapes))
    return _handle(ctx, signature, FifoStore)


@op("RandomShuffleQueueV2", "-> handle: resource", infer=scalar_shape, gradient=None, stateful=True)
def random_shuffle_queue_v2(
    ctx: OpContext, *, component_types: list[DType], shapes: list[Dims] = [], capacity: int = -1,  # noqa: B006 - a declaration
    min_after_dequeue: int = 0, seed: int = 0, seed2: int = 0, container: str = "", shared_name: str = "",
) -> Result:  # fmt: skip
    """A queue that gives random elements, and keeps some to choose from while it is open.

    `-> scalar resource`
    """
    if min_after_dequeue < 0:
        raise InvalidArgumentError.of(
            f"min_after_dequeue {min_after_dequeue} must be >= 0: it is how many elements stay in the queue while it is open"
        )
    if 0 <= capacity <= min_after_dequeue:
        raise InvalidArgumentError.of(
            f"min_after_dequeue {min_after_dequeue} must be < capacity {capacity}: so many elements stay in the queue while it "
            "is open, and nothing could be taken out"
        )
    signature = QueueSignature(
        "RandomShuffleQueue", capacity, tuple(component_types), _dims(shapes), min_after_dequeue, (seed, seed2)
    )
    return _handle(ctx, signature, lambda: ShuffleStore(seed, seed2))


@op("PriorityQueueV2", "-> handle: resource", infer=scalar_shape, gradient=None, stateful=True, limits={"component_types": 0})
def priority_queue_v2(
    ctx: OpContext, *, component_types: list[DType] = [], shapes: list[Dims], capacity: int = -1, container: str = "",  # noqa: B006 - a declaration
    shared_name: str = "",
) -> Result:  # fmt: skip
    """A queue that gives the element with the smallest priority, an int64 that is each element's first component.

    `-> scalar resource`
    """
    types, dims = (dtypes.int64, *component_types), ((), *_dims(shapes))
    return _handle(ctx, QueueSignature("PriorityQueue", capacity, types, dims), PriorityStore)


def _dims(shapes: Sequence[Dims]) -> tuple[Dims, ...]:
    return tuple(None if dims is None else tuple(dims) for dims in shapes)


@op("QueueEnqueueV2", "handle: resource, components: [Tcomponents] ->", infer=no_outputs, gradient=None, stateful=True,
    parks=True)  # fmt: skip
def queue_enqueue_v2(
    ctx: OpContext, handle: Array, components: Array, *, Tcomponents: list[DType], timeout_ms: int = -1
) -> tuple[()]:
    """Put one element: `scalar resource, components*[*shape] ->`."""
    queue = ctx.find(SharedQueue, handle)
    _check_types(queue, Tcomponents)
    _check_shapes(queue, components, batched=False)
    queue.state.enqueue(ctx, [tuple(components)])
    return ()


@op("QueueEnqueueManyV2", "handle: resource, components: [Tcomponents] ->", infer=no_outputs, gradient=None, stateful=True,
    parks=True)  # fmt: skip
def queue_enqueue_many_v2(
    ctx: OpContext, handle: Array, components: Array, *, Tcomponents: list[DType], timeout_ms: int = -1
) -> tuple[()]:
    """Put the slices of the components along their first axis, one by one.

    `scalar resource, components*[n, *shape] ->`
    """
    queue = ctx.find(SharedQueue, handle)
    _check_types(queue, Tcomponents)
    _check_shapes(queue, components, batched=True)
    counts = {len(component) for component in components}
    if len(counts) > 1:
        raise InvalidArgumentError.of(
            f"All input tensors must have the same size in the 0th dimension, they have {sorted(counts)}"
        )
    elements = [tuple(_slice(c, row) for c in components) for row in range(counts.pop())]
    if elements:
        queue.state.enqueue(ctx, elements)
    return ()


def _slice(component: np.ndarray, row: int) -> np.ndarray:
    part = component[row, ...]
    return part if isinstance(part, np.ndarray) else np.asarray(part, component.dtype)


def _check_types(queue: SharedQueue, given: Sequence[DType]) -> None:
    wanted = queue.signature.component_types
    if tuple(each.base_dtype for each in given) != wanted:
        raise InvalidArgumentError.of(
            f"{queue.signature.kind} '{queue.name}' holds components {_names(wanted)}, got {_names(given)}"
        )


def _check_shapes(queue: SharedQueue, components: Sequence[np.ndarray], batched: bool) -> None:
    for number, (component, dims) in enumerate(zip(components, queue.signature.component_shapes, strict=False)):
        expected = (None, *dims) if batched and dims is not None else dims
        if not dims_compatible(expected, component.shape):
            wanted = _listed(expected, component.shape if batched else ())
            raise InvalidArgumentError.of(
                f"Shape mismatch in tuple component {number}. Expected {wanted}, got {_listed(component.shape)}"
            )
        if batched and component.ndim == 0:
            raise InvalidArgumentError.of(f"Tuple component {number} needs a first axis to enqueue along")


def _listed(dims: Dims, given: Sequence[int] = ()) -> str:
    """A shape as `[2,3]`; the number of elements to enqueue is the one that was given."""
    if dims is None:
        return "<unknown>"
    sizes = [given[0] if size is None and number == 0 and given else size for number, size in enumerate(dims)]
    return f"[{','.join('?' if size is None else str(size) for size in sizes)}]"


@op("QueueDequeueV2", "handle: resource -> components: [component_types]", infer=unknown, gradient=None, stateful=True,
    parks=True)  # fmt: skip
def queue_dequeue_v2(ctx: OpContext, handle: Array, *, component_types: list[DType], timeout_ms: int = -1) -> Array:
    """Take one element: `scalar resource -> components*[*shape]`."""
    queue = ctx.find(SharedQueue, handle)
    _check_types(queue, component_types)
    return queue.state.dequeue(ctx, 1)[0]


@op("QueueDequeueManyV2", "handle: resource, n: int32 -> components: [component_types]", infer=unknown, gradient=None,
    stateful=True, parks=True)  # fmt: skip
def queue_dequeue_many_v2(
    ctx: OpContext, handle: Array, n: Array, *, component_types: list[DType], timeout_ms: int = -1
) -> Array:
    """Take n elements, joined along a new first axis.

    `scalar resource, scalar int32 -> components*[n, *shape]`
    """
    return _dequeue_batch(ctx, handle, int(n), component_types, allow_fewer=False)


@op("QueueDequeueUpToV2", "handle: resource, n: int32 -> components: [component_types]", infer=unknown, gradient=None,
    stateful=True, parks=True)  # fmt: skip
def queue_dequeue_up_to_v2(
    ctx: OpContext, handle: Array, n: Array, *, component_types: list[DType], timeout_ms: int = -1
) -> Array:
    """Take n elements, or those that are left when the queue is closed, joined along a new first axis.

    `scalar resource, scalar int32 -> components*[n, *shape]`
    """
    return _dequeue_batch(ctx, handle, int(n), component_types, allow_fewer=True)


def _dequeue_batch(ctx: OpContext, handle: Tensor, count: int, types: Sequence[DType], allow_fewer: bool) -> tuple[Array, ...]:
    queue = ctx.find(SharedQueue, handle)
    _check_types(queue, types)
    signature = queue.signature
    if len(signature.component_shapes) != len(types) or (
        not signature.is_padding and any(dims is None or None in dims for dims in signature.component_shapes)
    ):
        raise InvalidArgumentError.of(
            f"{signature.kind}'s DequeueMany and DequeueUpTo require the components to have specified shapes."
        )
    if count < 0:
        raise InvalidArgumentError.of(f"{signature.kind} '{queue.name}' requested {count} < 0 elements")
    elements = queue.state.dequeue(ctx, count, allow_fewer) if count else []
    return tuple(_joined(elements, position, queue) for position in range(len(types)))


def _joined(elements: Sequence[Element], position: int, queue: SharedQueue) -> np.ndarray:
    dims = queue.signature.component_shapes[position]
    assert dims is not None
    parts = [element[position] for element in elements]
    shape = tuple(max((part.shape[axis] for part in parts), default=0) if d is None else d for axis, d in enumerate(dims))
    dtype = queue.signature.component_types[position]
    batch = np.empty((len(parts), *shape), dtype.as_numpy_dtype)
    if None in dims:
        batch[...] = b"" if dtype is dtypes.string else 0
    for row, part in enumerate(parts):
        # The ellipsis makes a scalar string an assignment of its value rather than of its array.
        where: Any = (row, *map(slice, part.shape), ...)
        batch[where] = part
    return batch


@op("QueueCloseV2", "handle: resource ->", infer=no_outputs, gradient=None, stateful=True, parks=True)
def queue_close_v2(ctx: OpContext, handle: Array, *, cancel_pending_enqueues: bool = False) -> tuple[()]:
    """Refuse further elements: `scalar resource ->`."""
    ctx.find(SharedQueue, handle).state.close(ctx, cancel_pending_enqueues)
    return ()


@op("QueueReopen", "handle: resource ->", infer=no_outputs, gradient=None, stateful=True)
def queue_reopen(ctx: OpContext, handle: Array) -> tuple[()]:
    """Take elements again, and drop those that are there; TensorFlow has no such operation, and needs a new server for it.

    `scalar resource ->`
    """
    ctx.find(SharedQueue, handle).state.reopen()
    return ()


@op("QueueIsClosedV2", "handle: resource -> is_closed: bool", infer=scalar_shape, gradient=None, stateful=True, at_once=True)
def queue_is_closed_v2(ctx: OpContext, handle: Array) -> Result:
    """Whether the queue is closed: `scalar resource -> scalar bool`."""
    return np.asarray(ctx.find(SharedQueue, handle).state.is_closed)


@op("QueueSizeV2", "handle: resource -> size: int32", infer=scalar_shape, gradient=None, stateful=True, at_once=True)
def queue_size_v2(ctx: OpContext, handle: Array) -> Result:
    """The number of elements in it: `scalar resource -> scalar int32`."""
    return np.asarray(ctx.find(SharedQueue, handle).state.size, np.int32)


def component_shape(node: Operation, position: int) -> Dims:
    """The shape of an element's component as far as the node that made the queue tells it."""
    shapes = node.attrs["shapes"]
    return shapes[position] if position < len(shapes) else None
