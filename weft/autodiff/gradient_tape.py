"""GradientTape: gradients through what was computed while it recorded, for what it watched."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Self

from weft.autodiff.gradients import UnconnectedGradients, gradients
from weft.framework.building.aliases import Nest
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.func_graph import FuncGraph
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_role import Role
from weft.framework.types.printed import printed
from weft.ops.array.filling import zeros_like
from weft.ops.array.gather_scatter import gather
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.array.stacking import stack
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.variables.variable import Variable


class GradientTape:
    """Records the operations that are added to the default graph inside of it, and differentiates through these alone.

    In a graph this is a choice of what `tf.gradients` goes through; nothing is computed or kept by recording.

    Args:
        persistent: whether `gradient` may be called more than once.
        watch_accessed_variables: whether trainable variables are watched without being named.
    """

    __repr__ = printed("tf")

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent
        self._watches_variables = watch_accessed_variables
        self._record: _Record | None = None
        self._recording = False

    def __enter__(self) -> Self:
        self._begin()
        return self

    def __exit__(self, *raised: object) -> None:
        if self._recording:
            self._end()

    def _begin(self) -> None:
        if self._recording:
            raise ValueError("Tape is already recording.")
        if self._record is None:
            self._record = _Record()
        self._record.begin(get_default_graph())
        self._recording = True

    def _end(self) -> None:
        if not self._recording or self._record is None:
            raise ValueError("Tape is not recording.")
        self._record.end()
        self._recording = False

    def watch(self, tensor: Nest) -> None:
        """Take part in what is computed from a tensor or variable, or from each of a structure, from now on.

        Args:
            tensor: a tensor, a variable, or a structure of them.

        Raises:
            ValueError: there is something else in it.
            RuntimeError: the tape has not begun to record.
        """
        for each in nest.flatten(tensor):
            if not isinstance(each, Tensor | Variable):
                raise ValueError(f"Passed in object of type {type(each)}, not tf.Tensor")
            if self._record is None:
                raise RuntimeError("GradientTape.watch: the tape is not recording; call it inside `with tape:`")
            self._record.watch(each.reference if isinstance(each, Variable) else each)

    @contextlib.contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Do not record what is computed inside; RuntimeError when nothing was recorded before."""
        if self._record is None:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        self._end()
        try:
            yield
        finally:
            self._begin()

    def reset(self) -> None:
        """Forget what was recorded and watched, and go on recording."""
        self._end()
        self._record = None
        self._begin()

    def watched_variables(self) -> tuple[Variable, ...]:
        """The variables that were used while the tape recorded and that it watches, in the order in which they were made."""
        return () if self._record is None else tuple(self._record.used_variables(self._watches_variables))

    def gradient(
        self,
        target: Nest,
        sources: Nest,
        output_gradients: Nest = None,
        unconnected_gradients: object = UnconnectedGradients.NONE,
    ) -> Nest:
        """The gradients of the sum of targets for sources.

        Args:
            target: a tensor or variable, or a structure of them.
            sources: what to differentiate for, likewise.
            output_gradients: the gradients to start from, one per target, None for ones.
            unconnected_gradients: NONE or ZERO, for a source from which no recorded way leads to a target.

        Returns:
            A Tensor, an IndexedSlices or None for each source, in their structure.

        Raises:
            RuntimeError: the tape is not persistent and was asked before, or it never recorded.
            ValueError: `unconnected_gradients` is neither.
        """
        record = self._record
        if record is None:
            raise RuntimeError("GradientTape.gradient can only be called once on non-persistent tapes.")
        if self._recording and not self._persistent:
            self._end()
        found = self._found(record, nest.flatten(target), sources, output_gradients, unconnected_gradients)
        if not self._persistent:
            self._record = None
        return found

    def _found(self, record: _Record, targets: list[Nest], sources: Nest, output_gradients: Nest, unconnected: object) -> Nest:
        flat = nest.flatten(sources)
        # First, so that the read of a variable that is a target is one of the ways.
        tensors = [convert_to_tensor(each) for each in targets]
        variables = [each for each in flat if isinstance(each, Variable)]
        ways = record.ways(variables if self._watches_variables else [], self._watches_variables)
        starts = None if output_gradients is None else nest.flatten(output_gradients)
        made = gradients(tensors, flat, grad_ys=starts, stop_gradients=ways.stops(tensors), unconnected_gradients=unconnected)
        is_zero = UnconnectedGradients(unconnected) is UnconnectedGradients.ZERO
        for index, source in enumerate(flat):
            if not ways.has(source.reference if isinstance(source, Variable) else source):
                made[index] = zeros_like(source) if is_zero else None
        return nest.pack_sequence_as(sources, made)

    def jacobian(
        self,
        target: Tensor,
        sources: Nest,
        unconnected_gradients: object = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Nest:
        """The derivatives of each element of a target: shapes are the target's before the source's.

        Args:
            target: a tensor of known shape: the graph gets nodes for each of its elements.
            sources: what to differentiate for.
            unconnected_gradients: see `gradient`.
            parallel_iterations, experimental_use_pfor: accepted; there is no loop.

        Raises:
            ValueError: the target's shape is not known.
        """
        size = target.shape.num_elements()
        if size is None:
            raise ValueError(
                f"jacobian: the shape of {target.name} must be known, but it is {target.shape}; see batch_jacobian"
            )
        with self._recorded():
            flat = reshape(target, [-1])
            elements = [gather(flat, index) for index in range(size)]
        rows = self._rows(elements, sources, unconnected_gradients)
        columns = zip(*rows, strict=True) if rows else [()] * len(nest.flatten(sources))
        joined = [_joined(list(each), target, source) for each, source in zip(columns, nest.flatten(sources), strict=True)]
        return nest.pack_sequence_as(sources, joined)

    def batch_jacobian(
        self,
        target: Tensor,
        source: Tensor,
        unconnected_gradients: object = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Tensor | None:
        """The derivatives of each example's target for its own source: `[b, ...], [b, ...] -> [b, ..., ...]`.

        Args:
            target: `[b, ...]`, where all but the batch must be known. An example must not depend on another one's source.
            source: `[b, ...]`.
            unconnected_gradients: see `gradient`.
            parallel_iterations, experimental_use_pfor: accepted; there is no loop.

        Raises:
            ValueError: the batches differ, or a shape is not known.
        """
        if (
            target.shape.ndims is None
            or source.shape.ndims is None
            or not target.shape[:1].is_compatible_with(source.shape[:1])
        ):
            raise ValueError(
                f"Need first dimension of target shape ({target.shape}) and source shape ({source.shape}) to match."
            )
        size = target.shape[1:].num_elements()
        if size is None:
            raise ValueError(f"batch_jacobian: all but the batch of {target.name} must be known, but it is {target.shape}")
        with self._recorded():
            flat = reshape(target, [-1, size])
            columns = [reduce_sum(gather(flat, index, axis=1)) for index in range(size)]
        rows = [each for (each,) in self._rows(columns, source, unconnected_gradients)]
        present = [each for each in rows if each is not None]
        if not rows or len(present) < len(rows):
            return None
        sizes = shape(source)
        return reshape(
            stack(present, axis=1),
            [sizes[0], *target.shape[1:].as_list(), *(sizes[axis] for axis in range(1, source.shape.ndims))],
        )

    @contextlib.contextmanager
    def _recorded(self) -> Iterator[None]:
        """Record what is added inside, whether or not the tape records."""
        if self._record is None:
            raise RuntimeError("A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)")
        if self._recording:
            yield
            return
        self._begin()
        try:
            yield
        finally:
            self._end()

    def _rows(self, elements: list[Tensor], sources: Nest, unconnected: object) -> list[list[Tensor | None]]:
        record = self._record
        if record is None:
            raise RuntimeError("A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)")
        rows = [nest.flatten(self._found(record, [each], sources, None, unconnected)) for each in elements]
        if not self._persistent:
            self._record = None
        return [[None if each is None else convert_to_tensor(each) for each in row] for row in rows]


def _joined(rows: list[Tensor | None], target: Tensor, source: Nest) -> Tensor | None:
    present = [zeros_like(source) if each is None else each for each in rows]
    if all(each is None for each in rows):
        return None
    stacked = stack(present)
    sizes = shape(stacked)
    behind = [sizes[axis] for axis in range(1, stacked.shape.ndims or 1)]
    return reshape(stacked, [*target.shape.as_list(), *behind])


class _Record:
    """Which operations were added while a tape recorded, and from when on which tensors were watched."""

    def __init__(self) -> None:
        self._spans: list[tuple[Graph, int, int]] = []
        self._open: tuple[Graph, int] | None = None
        self._watched: dict[Tensor, int] = {}
        # Of what was watched in a body of a function, branch or loop: the body, and from where on.
        self._places: dict[Tensor, tuple[Graph, int]] = {}

    def begin(self, graph: Graph) -> None:
        """Record from here on."""
        self._open = graph, len(graph.get_operations())

    def end(self) -> None:
        """Record up to here."""
        if self._open is not None:
            graph, start = self._open
            self._spans.append((graph, start, len(graph.get_operations())))
            self._open = None

    def watch(self, tensor: Tensor) -> None:
        """Watch a tensor from here on."""
        self._watched.setdefault(tensor, len(tensor.graph.get_operations()))
        graph = get_default_graph()
        self._places.setdefault(tensor, (graph, len(graph.get_operations())))

    def operations(self) -> Iterator[tuple[int, Operation]]:
        """What was recorded, in the order in which it was added, with its place in the graph."""
        spans = list(self._spans)
        if self._open is not None:
            graph, start = self._open
            spans.append((graph, start, len(graph.get_operations())))
        for graph, start, end in spans:
            yield from enumerate(graph.get_operations()[start:end], start)

    def _variables(self, watches: bool) -> list[Variable]:
        graphs = dict.fromkeys([graph for graph, _, _ in self._spans] + ([self._open[0]] if self._open else []))
        if any(graph.runs_eagerly for graph in graphs):
            # Variables that were made in an earlier call.
            graphs.update(dict.fromkeys(tensor.graph for _, op in self.operations() for tensor in op.inputs))
        keys = (GraphKeys.TRAINABLE_VARIABLES, GraphKeys.TRAINABLE_RESOURCE_VARIABLES)
        trained = [each for graph in graphs if watches for key in keys for each in graph.get_collection(key)]
        return [each for each in dict.fromkeys(trained) if isinstance(each, Variable)]

    def used_variables(self, watches: bool) -> list[Variable]:
        """The watched variables that recorded operations use."""
        used = {each for _, op in self.operations() for tensor in op.inputs for each in _with_outer(tensor)}
        graphs = dict.fromkeys(tensor.graph for tensor in used)
        known = dict.fromkeys(each for graph in graphs for each in graph.get_collection(GraphKeys.GLOBAL_VARIABLES))
        watched = [id(each) for each in self._variables(watches)]
        return [
            each
            for each in known
            if (id(each) in watched or each.reference in self._watched) and not used.isdisjoint(_readings(each))
        ]

    def ways(self, variables: list[Variable], watches: bool) -> _Ways:
        """What leads from watched tensors and variables on."""
        since = dict(self._watched)
        candidates = {id(each): each for each in (*self._variables(watches), *variables) if each.trainable}
        for variable in candidates.values():
            since.setdefault(variable.reference, 0)
        traced: set[Operation] = set()
        self._enter_bodies(since, traced)
        # A variable may be read by a node that was there before.
        for tensor in list(since):
            for reader in tensor.consumers():
                if reader.op_def.role is Role.READ or (tensor.dtype.is_ref and reader.op_def.role is Role.ALIAS):
                    traced.add(reader)
                    since.update((output, since[tensor]) for output in reader.outputs)
        self._enter_bodies(since, traced)
        for number, op in self.operations():
            if op in traced or any(since.get(tensor, number + 1) <= number for tensor in op.inputs):
                traced.add(op)
                since.update((output, number) for output in op.outputs if output not in since)
        return _Ways(since, traced)

    def _enter_bodies(self, since: dict[Tensor, int], traced: set[Operation]) -> None:
        """Add the arguments by which bodies that were recorded know what is watched around them."""
        graphs = dict.fromkeys([graph for graph, _, _ in self._spans] + ([self._open[0]] if self._open else []))
        for body in graphs:
            if not isinstance(body, FuncGraph):
                continue
            for tensor in list(since):
                inner = body.stand_in(tensor)
                if inner is not None:
                    graph, number = self._places.get(tensor, (body, 0))
                    since.setdefault(inner, number if graph is body else 0)
                    traced.add(inner.op)


def _with_outer(tensor: Tensor) -> Iterator[Tensor]:
    """The tensor, and those of the graphs around that it stands for."""
    found: Tensor | None = tensor
    while found is not None:
        yield found
        found = found.graph.around(found) if isinstance(found.graph, FuncGraph) else None


def _readings(variable: Variable) -> set[Tensor]:
    return {variable.reference, *(output for op in variable.reference.consumers() for output in op.outputs)}


class _Ways:
    """The tensors and operations through which gradients go."""

    def __init__(self, tensors: dict[Tensor, int], operations: set[Operation]) -> None:
        self._tensors = tensors
        self._operations = operations

    def has(self, tensor: Tensor) -> bool:
        """Whether a tensor is watched or comes from one that is."""
        return tensor in self._tensors

    def stops(self, targets: list[Tensor]) -> list[Tensor]:
        """Outputs of the operations behind the targets where the way ends."""
        waiting = [each.op for each in targets]
        seen = set(waiting)
        ends: list[Tensor] = []
        while waiting:
            op = waiting.pop()
            if op not in self._operations:
                ends += op.outputs[:1]
                continue
            new = [each.op for each in op.inputs if each.op not in seen]
            seen.update(new)
            waiting += new
        return ends
