"""Structured: what has elements of one structure, and tells which."""

from __future__ import annotations

from weft.datasets import structure
from weft.framework.building.aliases import Nest


class Structured:
    """Datasets and iterators, as far as both tell what their elements are.

    Args:
        element_spec: the elements' structure, with a spec for each leaf.
    """

    def __init__(self, element_spec: Nest) -> None:
        self._spec = element_spec

    @property
    def element_spec(self) -> Nest:
        """What the elements are: a spec for each leaf."""
        return self._spec

    @property
    def output_classes(self) -> Nest:
        """The classes of the elements' leaves."""
        return structure.legacy_classes(self._spec)

    @property
    def output_shapes(self) -> Nest:
        """The shapes of the elements' leaves."""
        return structure.legacy_shapes(self._spec)

    @property
    def output_types(self) -> Nest:
        """The types of the elements' leaves."""
        return structure.legacy_types(self._spec)
