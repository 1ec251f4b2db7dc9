"""Queues as objects: FIFOQueue, RandomShuffleQueue, PaddingFIFOQueue, PriorityQueue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

from weft.framework.building.aliases import Array, DTypeLike, Nest, ShapeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.node_errors import described, naming
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType, as_dtype
from weft.framework.types.tensor_shape import TensorShape, as_dims
from weft.ops.array.gather_scatter import gather
from weft.ops.array.stacking import stack
from weft.ops.data_flow import queue_nodes as queues
from weft.ops.data_flow.row_counts import check_row_counts
from weft.ops.random.seed import get_seed, seed_of_shared


class QueueBase:
    """A queue that lives on the task that it is placed on; programs share it by `shared_name`.

    An element is a tuple of tensors, or a dict of them for a queue with names.

    Args:
        dtypes: the dtypes of an element's components.
        shapes: their shapes; None when they are not known.
        names: their names; None for a tuple.
        queue_ref: the queue's handle.

    Raises:
        ValueError: there are not as many shapes or names as dtypes.
    """

    # What the first component is for, where it is the queue's own.
    _first_component = ""

    def __init__(
        self, dtypes: Sequence[DTypeLike], shapes: Sequence[ShapeLike] | None, names: Sequence[str] | None, queue_ref: Tensor
    ) -> None:
        self._dtypes = [as_dtype(each) for each in dtypes]
        if shapes is not None:
            if len(shapes) != len(self._dtypes):
                raise ValueError(
                    "Queue shapes must have the same length as dtypes: "
                    f"received len(shapes)={len(shapes)}, len(dtypes)={len(self._dtypes)}"
                )
            self._shapes = [TensorShape(shape) for shape in shapes]
        else:
            self._shapes = [TensorShape(None) for _ in self._dtypes]
        if names is not None and len(names) != len(self._dtypes):
            raise ValueError(
                "List of names must have the same length as the list of dtypes: "
                f"received len(names)={len(names)}, len(dtypes)={len(self._dtypes)}"
            )
        self._names = None if names is None else list(names)
        self._queue_ref = queue_ref
        # What stands in front of the names of the queue's other nodes, which are in the scope of whoever makes them.
        self._name = queue_ref.op.name.split("/")[-1]

    @staticmethod
    def from_list(index: TensorLike, queues: Sequence[QueueBase]) -> QueueBase:
        """The queue at a position of a list, which may be fed: a run without it fails with InvalidArgumentError.

        Args:
            index: [] int32: which of them.
            queues: the queues, of the same types.

        Raises:
            TypeError: the list is empty, an item is no queue, or the queues' components differ.
        """
        if not isinstance(queues, list | tuple) or not queues or not all(isinstance(queue, QueueBase) for queue in queues):
            raise TypeError("A list of queues expected")
        if any(queue.dtypes != queues[0].dtypes for queue in queues):
            raise TypeError("Queues do not have matching component dtypes.")
        if any(queue.names != queues[0].names for queue in queues):
            raise TypeError("Queues do not have matching component names.")
        parts = zip(*(queue.shapes for queue in queues), strict=True)
        shapes = [reduce(TensorShape.most_specific_compatible_shape, each) for each in parts]
        handle = gather(stack([queue.queue_ref for queue in queues]), index)
        return QueueBase(queues[0].dtypes, shapes, queues[0].names, handle)

    def __repr__(self) -> str:
        components = zip(self._dtypes, self._shapes, strict=True)
        elements = ", ".join(f"{dtype.name} {shape}" for dtype, shape in components)
        return f"<tf.{type(self).__name__} {self._queue_ref.op.name!r} of {elements}>"

    @property
    def queue_ref(self) -> Tensor:
        """The handle."""
        return self._queue_ref

    @property
    def name(self) -> str:
        """The name of the node that makes the queue."""
        return self._queue_ref.op.name

    @property
    def dtypes(self) -> list[DType]:
        """The dtypes of an element's components."""
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        """The shapes of an element's components."""
        return self._shapes

    @property
    def names(self) -> list[str] | None:
        """The names of an element's components, or None."""
        return self._names

    def _components(self, vals: TensorLike) -> list[Tensor]:
        if isinstance(vals, Mapping):
            if not self._names:
                raise ValueError(
                    f"Queue must have names to enqueue a dictionary: make it with names={sorted(vals)}, or enqueue a list."
                )
            if sorted(self._names) != sorted(vals):
                raise ValueError(
                    "Keys in dictionary to enqueue do not match names of Queue.  "
                    f"Dictionary: ({sorted(vals)}), Queue: ({sorted(self._names)})"
                )
            vals = [vals[name] for name in self._names]
        elif self._names:
            of = f"{self.name!r} has the names {self._names}, got {vals!r}"
            raise ValueError(f"You must enqueue a dictionary in a Queue with names: {of}")
        elif not isinstance(vals, list | tuple):
            vals = [vals]
        if len(vals) != len(self._dtypes):
            told = f"{self._first_component}an element is [{', '.join(dtype.name for dtype in self._dtypes)}]"
            raise ValueError(f"Queue {self.name!r} has {len(self._dtypes)} components, got {len(vals)} to enqueue: {told}")
        components = []
        for number, (value, dtype) in enumerate(zip(vals, self._dtypes, strict=True)):
            with naming(f"Queue {self.name!r} has elements of the type {dtype.name}.", **{f"component {number}": value}):
                components.append(convert_to_tensor(value, dtype=dtype, name=f"component_{number}"))
        return components

    def _check_fits(self, component: Tensor, found: TensorShape, shape: TensorShape) -> None:
        if not found.is_compatible_with(shape):
            raise ValueError(
                f"Shapes {found} and {shape} are incompatible: queue {self.name!r} has elements of shape {shape}, the "
                f"component is {described(component)}"
            )

    def enqueue(self, vals: TensorLike, name: str | None = None) -> Operation:
        """An operation that puts one element; waits while the queue is full, CancelledError when it is closed.

        Args:
            vals: the element: a tensor, a list of one for each component, or a dict by the components' names.
        """
        with get_default_graph().name_scope(name or f"{self._name}_enqueue") as scope:
            components = self._components(vals)
            for component, shape in zip(components, self._shapes, strict=True):
                self._check_fits(component, component.get_shape(), shape)
            return queues.queue_enqueue_v2(self._queue_ref, components, name=scope)

    def enqueue_many(self, vals: TensorLike, name: str | None = None) -> Operation:
        """An operation that puts the slices along the first axis, one element after the other.

        Args:
            vals: tensors with a first dimension for the elements, as of `enqueue`.
        """
        with get_default_graph().name_scope(name or f"{self._name}_EnqueueMany") as scope:
            components = self._components(vals)
            check_row_counts(components, self._name)
            for component, shape in zip(components, self._shapes, strict=True):
                self._check_fits(component, component.get_shape()[1:], shape)
            return queues.queue_enqueue_many_v2(self._queue_ref, components, name=scope)

    def dequeue(self, name: str | None = None) -> Nest:
        """One element; waits for it, OutOfRangeError when the queue is closed and empty."""
        outputs = queues.queue_dequeue_v2(self._queue_ref, component_types=self._dtypes, name=name or f"{self._name}_Dequeue")
        return self._element(outputs, None)

    def dequeue_many(self, n: TensorLike, name: str | None = None) -> Nest:
        """n elements, joined along a new first axis; waits for all of them, OutOfRangeError when there will not be enough.

        Args:
            n: [] int32.

        Returns:
            A tensor `[n, ...]` of the element's dtype, or a list or dictionary of them, as `dequeue`.
        """
        _check_count(n)
        outputs = queues.queue_dequeue_many_v2(
            self._queue_ref, n, component_types=self._dtypes, name=name or f"{self._name}_DequeueMany"
        )
        known = constant_value(outputs[0].op.inputs[1])
        return self._element(outputs, (None if known is None else int(known),))

    def dequeue_up_to(self, n: TensorLike, name: str | None = None) -> Nest:
        """n elements, or what is left when the queue is closed, joined along a new first axis.

        Args:
            n: [] int32.

        Returns:
            A tensor `[m, ...]`, `m <= n`, of the element's dtype, or a list or dictionary of them, as `dequeue`.
        """
        outputs = queues.queue_dequeue_up_to_v2(
            self._queue_ref, n, component_types=self._dtypes, name=name or f"{self._name}_DequeueUpTo"
        )
        return self._element(outputs, (None,))

    def _element(self, outputs: Sequence[Tensor], batch: Dims) -> Nest:
        for tensor, shape in zip(outputs, self._shapes, strict=True):
            dims = as_dims(shape)
            if batch is None:
                tensor.set_shape(dims)
            elif dims is not None:
                tensor.set_shape((*batch, *dims))
        if self._names is not None:
            return dict(zip(self._names, outputs, strict=True))
        return outputs[0] if len(outputs) == 1 else list(outputs)

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation:
        """An operation that refuses further elements; those in the queue can still be taken.

        Args:
            cancel_pending_enqueues: end enqueues that wait for room with CancelledError, rather than wait for them.
            name: the node's name.
        """
        return queues.queue_close_v2(
            self._queue_ref, cancel_pending_enqueues=cancel_pending_enqueues, name=name or f"{self._name}_Close"
        )

    def is_closed(self, name: str | None = None) -> Tensor:
        """Whether the queue is closed."""
        return queues.queue_is_closed_v2(self._queue_ref, name=name or f"{self._name}_Is_Closed")

    def size(self, name: str | None = None) -> Tensor:
        """The number of elements in it, a scalar int32."""
        return queues.queue_size_v2(self._queue_ref, name=name or f"{self._name}_Size")


def _as_list(value: DTypeLike | Sequence[DTypeLike]) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _as_shapes(shapes: ShapeLike | Sequence[ShapeLike], allows_unknown_dims: bool = False) -> list[TensorShape] | None:
    """A list of shapes; a single shape, such as `[]` or `[2, 3]`, may stand alone unless it may have unknown dimensions."""
    if isinstance(shapes, TensorShape):
        shapes = [shapes]
    is_alone = isinstance(shapes, list | tuple) and all(item is None or isinstance(item, int) for item in shapes)
    if allows_unknown_dims and (is_alone or not isinstance(shapes, list | tuple)):
        alone = f" {shapes!r} is one shape: of one component it is shapes=[{shapes!r}]." if is_alone else ""
        raise ValueError(f"When providing partial shapes, a list of shapes must be provided.{alone}")
    if shapes is None:
        return None
    if not isinstance(shapes, list | tuple):
        raise TypeError(f"Shapes must be a TensorShape or a list or tuple of TensorShapes, got {type(shapes)} instead.")
    found = [TensorShape(shape) for shape in ([shapes] if is_alone else shapes)]
    if not allows_unknown_dims and not all(shape.is_fully_defined() for shape in found):
        raise ValueError(f"All shapes must be fully defined: {found}")
    if any(shape.ndims is None for shape in found):
        raise ValueError(f"All shapes must have a defined rank: {found}")
    return found


def _check_count(n: TensorLike) -> None:
    known: Array = constant_value(n) if isinstance(n, Tensor) else n
    if known is not None and not isinstance(known, str | bytes) and int(known) < 0:
        raise ValueError(f"Input 'n' must be >= 0, but is {int(known)}: a queue gives no such number of elements")


class FIFOQueue(QueueBase):
    """Gives elements in the order in which it got them.

    Args:
        capacity: how many elements it holds at most.
        dtypes: the components' dtypes.
        shapes: their shapes; `dequeue_many` needs them.
        names: their names, for elements that are dicts.
        shared_name: the name by which sessions share it; the node's name when None.
        name: the node's name.

    >>> queue = tf.FIFOQueue(10, tf.int32, shapes=[[]])
    >>> sess.run(queue.enqueue_many([[1, 2, 3]]))
    >>> sess.run(queue.dequeue_many(2))
    array([1, 2], dtype=int32)
    """

    def __init__(
        self,
        capacity: int,
        dtypes: DTypeLike | Sequence[DTypeLike],
        shapes: ShapeLike | Sequence[ShapeLike] = None,
        names: str | Sequence[str] | None = None,
        shared_name: str | None = None,
        name: str | None = "fifo_queue",
    ) -> None:
        types = _as_list(dtypes)
        shapes, names = _as_shapes(shapes), _as_names(names)
        handle = queues.fifo_queue_v2(
            component_types=types,
            shapes=_attr(shapes),
            capacity=capacity,
            shared_name="" if shared_name is None else shared_name,
            name=name,
        )
        super().__init__(types, shapes, names, handle)


class PaddingFIFOQueue(QueueBase):
    """A FIFOQueue whose components may have dimensions of None: batches are padded with zeros there.

    Args:
        capacity: how many elements it holds at most.
        dtypes: the components' dtypes.
        shapes: their shapes, of known rank.
        names: their names, for elements that are dicts.
        shared_name: the name by which sessions share it; the node's name when None.
        name: the node's name.

    Raises:
        ValueError: there are not as many shapes as dtypes.
    """

    def __init__(
        self,
        capacity: int,
        dtypes: DTypeLike | Sequence[DTypeLike],
        shapes: ShapeLike | Sequence[ShapeLike],
        names: str | Sequence[str] | None = None,
        shared_name: str | None = None,
        name: str = "padding_fifo_queue",
    ) -> None:
        types = _as_list(dtypes)
        shapes, names = _as_shapes(shapes, allows_unknown_dims=True), _as_names(names)
        if shapes is None or len(shapes) != len(types):
            raise ValueError(
                f"Shapes must be provided for all components, but received {len(types)} dtypes and {len(shapes or ())} shapes."
            )
        handle = queues.padding_fifo_queue_v2(
            component_types=types,
            shapes=_attr(shapes),
            capacity=capacity,
            shared_name="" if shared_name is None else shared_name,
            name=name,
        )
        super().__init__(types, shapes, names, handle)


class RandomShuffleQueue(QueueBase):
    """Gives random elements of those it holds.

    Args:
        capacity: how many elements it holds at most.
        min_after_dequeue: how many a dequeue leaves, to choose from, while the queue is open.
        dtypes: the components' dtypes.
        shapes: their shapes; `dequeue_many` needs them.
        names: their names, for elements that are dicts.
        seed: the seed of the order, besides the graph's.
        shared_name: the name by which sessions share it; the node's name when None.
        name: the node's name.
    """

    def __init__(
        self,
        capacity: int,
        min_after_dequeue: int,
        dtypes: DTypeLike | Sequence[DTypeLike],
        shapes: ShapeLike | Sequence[ShapeLike] = None,
        names: str | Sequence[str] | None = None,
        seed: int | None = None,
        shared_name: str | None = None,
        name: str = "random_shuffle_queue",
    ) -> None:
        types = _as_list(dtypes)
        shapes, names = _as_shapes(shapes), _as_names(names)
        seed1, seed2 = get_seed(seed)
        if seed1 is None and seed2 is None:
            seed1, seed2 = 0, 0
        elif seed is None and shared_name is not None:
            seed2 = seed_of_shared(seed1, shared_name)
        handle = queues.random_shuffle_queue_v2(
            component_types=types, shapes=_attr(shapes), capacity=capacity, min_after_dequeue=min_after_dequeue,
            seed=seed1, seed2=seed2, shared_name="" if shared_name is None else shared_name, name=name,
        )  # fmt: skip
        super().__init__(types, shapes, names, handle)


class PriorityQueue(QueueBase):
    """Gives the element with the smallest priority first. The priority, an int64, is each element's first component.

    Args:
        capacity: how many elements it holds at most.
        types: the dtypes of the other components.
        shapes: their shapes.
        names: the names of all components.
        shared_name: the name by which sessions share it; the node's name when None.
        name: the node's name.
    """

    _first_component = "the first is the priority, an integer; "

    def __init__(
        self,
        capacity: int,
        types: DTypeLike | Sequence[DTypeLike],
        shapes: ShapeLike | Sequence[ShapeLike] = None,
        names: str | Sequence[str] | None = None,
        shared_name: str | None = None,
        name: str = "priority_queue",
    ) -> None:
        others = _as_list(types)
        shapes, names = _as_shapes(shapes), _as_names(names)
        handle = queues.priority_queue_v2(
            component_types=others,
            shapes=_attr(shapes),
            capacity=capacity,
            shared_name="" if shared_name is None else shared_name,
            name=name,
        )
        with_priority = None if shapes is None else [TensorShape([]), *shapes]
        super().__init__([dtypes.int64, *others], with_priority, names, handle)


def _as_names(names: Sequence[str] | None) -> list[str] | None:
    return None if names is None else _as_list(names)


def _attr(shapes: Sequence[TensorShape] | None) -> list[Dims]:
    return [as_dims(shape) for shape in shapes or ()]
