"""EagerGraph: a graph whose nodes run when they are added, for the functions of `tf.py_function`.

What runs a node is given by who opens the graph. The nodes stay, so that gradients can go through them.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from weft.framework.building.aliases import Array
from weft.framework.graphs.graph import Graph
from weft.framework.nodes.eager_tensor import EagerTensor
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_role import Role
from weft.framework.registry import op_registry
from weft.framework.types.dtypes import DType

Compute = Callable[[Operation], Sequence[Array]]
"""Runs a node whose inputs have values; returns those of its outputs, None for the handle of a variable."""

_MAXINT32: Final = 2**31 - 1


class _Seeds:
    """The process's seed for random nodes that run at once."""

    def __init__(self) -> None:
        self.seed: int | None = None
        self._generator = random.Random()
        self.epoch = object()
        """Another one since the seed was set."""

    def start(self, seed: int | None) -> None:
        """Begin anew with a seed."""
        self.seed = seed
        self._generator = random.Random(seed)
        self.epoch = object()

    def next(self) -> int:
        """The seed of a node that was given none."""
        return self._generator.randint(0, _MAXINT32)


_SEEDS: Final = _Seeds()
_NUMBERS: Final = itertools.count()


def seed_epoch() -> object:
    """What stays the same until the program sets the seed of random nodes that run at once, which begins their streams anew."""
    return _SEEDS.epoch


class EagerGraph(Graph):
    """A graph whose nodes run when they are added, and whose tensors have values.

    Args:
        compute: runs a node, until `opened` gives another.
        on_end: called with the name of the graph's resource container when nothing refers to the graph any more.
    """

    def __init__(self, compute: Compute, on_end: Callable[[str], None]) -> None:
        super().__init__()
        self._compute = compute
        self._container = f"py_function_{next(_NUMBERS)}"
        weakref.finalize(self, on_end, self._container).atexit = False

    @property
    def runs_eagerly(self) -> bool:
        """True."""
        return True

    @property
    def seed(self) -> int | None:
        """The process's seed for nodes that run at once."""
        return _SEEDS.seed

    @seed.setter
    def seed(self, seed: int | None) -> None:
        _SEEDS.start(seed)

    @property
    def last_id(self) -> int:
        """What seeds the next random node that was given no seed."""
        return _SEEDS.next()

    @contextlib.contextmanager
    def opened(self, compute: Compute) -> Iterator[None]:
        """Make it the default graph for the block, in which `compute` runs nodes."""
        self._compute = compute
        with self.as_default(), self.container(self._container):
            yield

    @contextlib.contextmanager
    def control_dependencies(self, control_inputs: Iterable[object] | None) -> Iterator[None]:
        """Do nothing: what was made before has run.

        Args:
            control_inputs: operations and tensors.
        """
        yield

    def input(self, value: Array, dtype: DType) -> EagerTensor:
        """A tensor of a value that comes from outside.

        Args:
            value: the array, which nobody changes from now on.
            dtype: its dtype.
        """
        definition = op_registry.lookup("Placeholder")
        op = Operation(self, definition, self.settle_name("input"), (), (), [dtype], {"dtype": dtype, "shape": np.shape(value)})
        super()._append(op)
        return _with_values(op, [value])[0]

    def _append(self, op: Operation) -> None:
        """Add a node and run it.

        Raises:
            OpError: its kernel failed; the node is not there.
            RuntimeError: it is a placeholder, which nobody could feed.
        """
        role = op.op_def.role
        if role in (Role.PLACEHOLDER, Role.DEFAULT):
            raise RuntimeError(
                "tf.placeholder() is not compatible with eager execution. Inside of a tf.py_function each operation runs when "
                "it is made: take what was to be fed as an argument of the function."
            )
        super()._append(op)
        if role is Role.CONSTANT:
            _with_values(op, [np.asarray(op.attrs["value"], op.outputs[0].dtype.as_numpy_dtype)])
            return
        op.outputs = [_successor(each) for each in op.outputs]
        if role is Role.VARIABLE:
            return
        try:
            values = self._compute(op)
        except BaseException:
            self.remove_newest([op])
            raise
        for tensor, value in zip(op.outputs, values, strict=True):
            _give(tensor, value)

    def _infer_shapes(self, op: Operation) -> None:
        """Leave it to the kernel to refuse inputs; a variable tells its shape."""
        if op.op_def.role is Role.VARIABLE:
            super()._infer_shapes(op)

    def forget(self) -> None:
        """Forget how values were made; tensors that the program keeps have theirs still.

        Without that, nodes and tensors would hold each other, and arrays wait for Python's collector.
        """
        for op in self.operations.values():
            for tensor in op.inputs:
                if tensor.op.graph is not self:
                    tensor.remove_consumer(op)
            op.inputs = []
            op.outputs = _WeakOutputs(op.outputs)  # type: ignore[assignment]
        self.operations.clear()


class _WeakOutputs:
    """The outputs of a node that are still there, None for the others."""

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        self._references = [weakref.ref(each) for each in tensors]
        for each in tensors:
            if isinstance(each, EagerTensor):
                each.forget_consumers()

    def __len__(self) -> int:
        return len(self._references)

    def __iter__(self) -> Iterator[Tensor | None]:
        return (each() for each in self._references)

    def __getitem__(self, index: int | slice) -> object:
        return list(self)[index]


def _successor(tensor: Tensor) -> EagerTensor:
    made = EagerTensor(tensor.op, tensor.value_index, tensor.dtype)
    made.dims = tensor.dims
    return made


def _with_values(op: Operation, values: Sequence[Array]) -> list[EagerTensor]:
    made = [_successor(each) for each in op.outputs]
    for tensor, value in zip(made, values, strict=True):
        _give(tensor, value)
    op.outputs = list(made)
    return made


def _give(tensor: Tensor, value: Array) -> None:
    assert isinstance(tensor, EagerTensor)
    tensor.value = value
    if value is not None:
        tensor.dims = np.shape(value)
