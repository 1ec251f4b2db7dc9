"""Optional: an element of a dataset, or nothing, as one value of the graph."""

from __future__ import annotations

from weft.datasets import structure
from weft.datasets.iterator import Iterator
from weft.datasets.leaves import VariantSpec
from weft.framework.building.aliases import Nest
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types.printed import printed
from weft.framework.types.type_spec import CompositeTensor, TypeSpec
from weft.ops.composites import register_composite
from weft.ops.control_flow import optionals as nodes
from weft.ops.data.iterator_nodes import iterator_get_next_as_optional


class Optional(CompositeTensor):
    """An element that may be missing; made by `from_value`, `none_from_structure` and `get_next_as_optional`.

    Args:
        variant_tensor: the tensor that holds it.
        value_structure: what the value is: a spec for each leaf.

    >>> maybe = tf.data.experimental.Optional.from_value((1, "a"))
    >>> sess.run((maybe.has_value(), maybe.get_value()))
    (np.True_, (np.int32(1), b'a'))
    """

    __repr__ = printed("tf.data.experimental", lambda found: str(found.value_structure))

    def __init__(self, variant_tensor: Tensor, value_structure: Nest) -> None:
        self.variant_tensor = variant_tensor
        self._structure = value_structure

    @staticmethod
    def from_value(value: Nest) -> Optional:
        """An optional with a value.

        Args:
            value: a tensor, or tuples and dicts of tensors; sparse, ragged tensors and datasets too.

        Raises:
            TypeError: a leaf can be no tensor.
        """
        with get_default_graph().name_scope("optional") as scope, get_default_graph().name_scope("value"):
            element = structure.normalized(value)
            spec = structure.spec_of(element)
            made = nodes.optional_from_value(structure.to_tensors(spec, element), name=scope)
        return Optional(made, spec)

    @staticmethod
    def none_from_structure(value_structure: Nest) -> Optional:
        """An optional without a value.

        Args:
            value_structure: what a value would be: a spec for each leaf.
        """
        return Optional(nodes.optional_none(), value_structure)

    def has_value(self, name: str | None = None) -> Tensor:
        """Whether there is a value, a scalar bool.

        Args:
            name: the node's name.
        """
        return nodes.optional_has_value(self.variant_tensor, name=name)

    def get_value(self, name: str | None = None) -> Nest:
        """The value; a run raises InvalidArgumentError where there is none.

        Args:
            name: the name scope.
        """
        with get_default_graph().name_scope(name or "OptionalGetValue") as scope:
            tensors = nodes.optional_get_value(self.variant_tensor, name=scope, **structure.flat_attrs(self._structure))
            return structure.from_tensors(self._structure, tensors)

    @property
    def value_structure(self) -> Nest:
        """What the value is: a spec for each leaf."""
        return self._structure

    @property
    def leaf_spec(self) -> OptionalSpec:
        """What this is as a leaf of elements."""
        return OptionalSpec(self._structure)

    @property
    def _type_spec(self) -> TypeSpec:
        return self.leaf_spec


class OptionalSpec(VariantSpec):
    """A description of optionals. Immutable; equal when the descriptions are.

    Args:
        value_structure: what their values are: a spec for each leaf.
    """

    __slots__ = ("_structure",)

    def __init__(self, value_structure: Nest) -> None:
        self._structure = value_structure

    @staticmethod
    def from_value(value: Optional) -> OptionalSpec:
        """The spec of an optional.

        Args:
            value: the optional.
        """
        return OptionalSpec(value.value_structure)

    @property
    def value_type(self) -> type:
        """The class of optionals."""
        return Optional

    def _serialize(self) -> tuple[object, ...]:
        return (self._structure,)

    def carry(self, tensor: Tensor) -> Optional:
        """The optional that is this tensor.

        Args:
            tensor: the variant.
        """
        return Optional(tensor, self._structure)


def get_next_as_optional(iterator: Iterator) -> Optional:
    """The next element of an iterator, or nothing at its end; each run takes one.

    Args:
        iterator: the iterator.

    Raises:
        TypeError: it is no iterator.
    """
    if not isinstance(iterator, Iterator):
        raise TypeError(f"get_next_as_optional: `iterator` must be a tf.data.Iterator, got {iterator!r}")
    spec = iterator.element_spec
    return Optional(iterator_get_next_as_optional(iterator.resource, **structure.flat_attrs(spec)), spec)


register_composite(Optional, lambda found: [found.variant_tensor], lambda found, tensors: found.leaf_spec.carry(tensors[0]))
