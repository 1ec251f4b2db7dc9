"""Iterator: goes over a dataset, element by element, as steps ask for them."""

from __future__ import annotations

import contextlib
import warnings
from typing import Final

from weft.datasets import nest, structure
from weft.datasets.leaves import DatasetLike
from weft.datasets.structured import Structured
from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.context import scopes
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.data import iterator_nodes as nodes

_GLOBAL_ITERATORS: Final = "iterators"
_MANY_CALLS: Final = 32
_WARNING: Final = (
    "An unusually high number of `Iterator.get_next()` calls was detected. This often indicates that `Iterator.get_next()` is "
    "being called inside a training loop, which will cause gradual slowdown and eventual resource exhaustion. If this is the "
    "case, restructure your code to call `next_element = iterator.get_next()` once outside the loop, and use `next_element` as "
    "the input to some computation that is invoked inside the loop."
)


class Iterator(Structured):
    """Goes over a dataset; its place is the task's, and outlives steps.

    Args:
        iterator_resource: the handle.
        initializer: the node that lets it begin; None where there is none, or more than one.
        output_types, output_shapes, output_classes: those of the elements, in their structure.

    Raises:
        ValueError: types, shapes or classes are not told.
    """

    def __init__(
        self,
        iterator_resource: Tensor,
        initializer: Operation | None,
        output_types: Nest,
        output_shapes: Nest,
        output_classes: Nest,
    ) -> None:
        if output_types is None or output_shapes is None or output_classes is None:
            raise ValueError(
                "If `structure` is not specified, all of `output_types`, `output_shapes`, and `output_classes` must be "
                "specified."
            )
        super().__init__(structure.spec_of_legacy(output_types, output_shapes, output_classes))
        # TensorFlow's name for it: programs that save a graph's names read it.
        self._iterator_resource = iterator_resource
        self._initializer = initializer
        self._string_handle = nodes.iterator_to_string_handle(self.resource)
        self._calls = 0
        get_default_graph().add_to_collection(_GLOBAL_ITERATORS, self.resource)

    @property
    def resource(self) -> Tensor:
        """The handle."""
        return self._iterator_resource

    def __repr__(self) -> str:
        shapes = str(nest.map_structure(str, structure.legacy_shapes(self._spec))).replace("'", "")
        types = str(nest.map_structure(repr, structure.legacy_types(self._spec))).replace("'", "")
        return f"<tf.data.Iterator {self.resource.op.name!r} shapes: {shapes}, types: {types}>"

    @staticmethod
    def from_structure(
        output_types: Nest, output_shapes: Nest = None, shared_name: str | None = None, output_classes: Nest = None
    ) -> Iterator:
        """An iterator that any dataset of this structure can initialize.

        Args:
            output_types: the types of the elements, in their structure.
            output_shapes: their shapes; unknown ones when None.
            shared_name: the name under which sessions of one server share the iterator.
            output_classes: their classes; Tensor when None.

        Raises:
            TypeError: the structures differ.
        """
        spec = structure.spec_of_legacy(output_types, output_shapes, output_classes)
        with _beside_nothing():
            handle = nodes.iterator_v2(container="", shared_name=shared_name or "", **structure.flat_attrs(spec))
        return _iterator(handle, None, spec)

    @staticmethod
    def from_string_handle(
        string_handle: TensorLike, output_types: Nest, output_shapes: Nest = None, output_classes: Nest = None
    ) -> Iterator:
        """The iterator that a string names, which another iterator's `string_handle` gave; the string may be fed.

        The iterator is found on the device of this node; see `tf.device` for one of another task.

        Args:
            string_handle: a scalar string.
            output_types: the types of the elements, in their structure.
            output_shapes: their shapes; unknown ones when None.
            output_classes: their classes; Tensor when None.

        Returns:
            An Iterator.
        """
        spec = structure.spec_of_legacy(output_types, output_shapes, output_classes)
        string_handle = convert_to_tensor(string_handle, dtype=dtypes.string)
        with _beside_nothing():
            handle = nodes.iterator_from_string_handle_v2(string_handle, **structure.flat_attrs(spec))
        return _iterator(handle, None, spec)

    @property
    def initializer(self) -> Operation:
        """The node that lets it begin; ValueError for an iterator that any dataset may initialize, or that needs none."""
        if self._initializer is None:
            raise ValueError(
                "Iterator does not have an initializer. One of Iterator.from_structure begins when what "
                "iterator.make_initializer(dataset) returned is run; one of make_one_shot_iterator() needs none."
            )
        return self._initializer

    def make_initializer(self, dataset: DatasetLike, name: str | None = None) -> Operation:
        """A node that lets it begin with a dataset.

        Args:
            dataset: a dataset of the iterator's types and shapes.

        Raises:
            TypeError: the dataset's elements are not those that the iterator was made for.
        """
        with get_default_graph().name_scope(name or "make_initializer") as scope:
            self._check(dataset.element_spec)
        with get_default_graph().colocate_with(self.resource.op):
            return nodes.make_iterator(dataset.variant_tensor, self.resource, name=scope)

    def _check(self, found: Nest) -> None:
        nest.assert_same_structure(self._spec, found)
        for what, of in (("classes", structure.legacy_classes), ("types", structure.legacy_types)):
            if of(self._spec) != of(found):
                name = "class" if what == "classes" else "types"
                raise TypeError(f"Expected output {what} {of(self._spec)!r} but got dataset with output {name} {of(found)!r}.")
        own, other = structure.legacy_shapes(self._spec), structure.legacy_shapes(found)
        for a, b in zip(nest.flatten(own), nest.flatten(other), strict=True):
            if isinstance(a, TensorShape) and not a.is_compatible_with(b):
                raise TypeError(f"Expected output shapes compatible with {own!r} but got dataset with output shapes {other!r}.")

    def get_next(self, name: str | None = None) -> Nest:
        """The next element, as tensors; each run that needs them takes one. Call it once, not in a loop of runs.

        Runs raise OutOfRangeError at the end, FailedPreconditionError before the initializer has run.

        Args:
            name: the node's name.
        """
        self._calls += 1
        if self._calls > _MANY_CALLS:
            warnings.warn(_WARNING, stacklevel=2)
        tensors = nodes.iterator_get_next(self.resource, name=name, **structure.flat_attrs(self._spec))
        return structure.from_tensors(self._spec, tensors)

    def string_handle(self, name: str | None = None) -> Tensor:
        """A scalar string that names this iterator, for `from_string_handle` in this graph, session or another."""
        return self._string_handle if name is None else nodes.iterator_to_string_handle(self.resource, name=name)


def _iterator(handle: Tensor, initializer: Operation | None, spec: Nest) -> Iterator:
    legacy = structure.legacy_types(spec), structure.legacy_shapes(spec), structure.legacy_classes(spec)
    return Iterator(handle, initializer, *legacy)


def one_shot_iterator(dataset: DatasetLike, factory: object) -> Iterator:
    """An iterator over the dataset that a function of the library makes."""
    spec = dataset.element_spec
    handle = nodes.one_shot_iterator(dataset_factory=factory, **structure.flat_attrs(spec))
    return _iterator(handle, None, spec)


def initializable_iterator(dataset: DatasetLike, variant: Tensor, shared_name: str | None) -> Iterator:
    """An iterator over a dataset, as it is to run, with the node that lets it begin."""
    spec = dataset.element_spec
    handle = nodes.iterator_v2(container="", shared_name=shared_name or "", **structure.flat_attrs(spec))
    with get_default_graph().colocate_with(handle.op):
        initializer = nodes.make_iterator(variant, handle)
    return _iterator(handle, initializer, spec)


def _beside_nothing() -> contextlib.AbstractContextManager[object]:
    """On the CPU, unless the program says where: the nodes that use an iterator may be on another device."""
    graph = get_default_graph()
    return contextlib.nullcontext() if scopes.current(graph).devices else graph.device("/cpu:0")
