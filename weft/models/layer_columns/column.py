"""LayerColumn: a column of contrib.layers, which is one of `feature_columns` too, and can be read by its layers.

contrib's layers order columns by their keys, which are what they print: so the classes print as TensorFlow's do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from weft.framework.composites.sparse_tensor import SparseTensor
from weft.models.feature_columns.column import FeatureColumn
from weft.models.feature_columns.contracts import ParseSpec, StateManager, TransformedFeatures


class Lookup(NamedTuple):
    """How a column of ids reads the weights of a linear model."""

    ids: SparseTensor
    weights: SparseTensor | None
    size: int
    combiner: str


class LayerColumn(FeatureColumn):
    """A column of contrib.layers."""

    @property
    def key(self) -> str:
        """What tells the column from others and gives the order of columns: what it prints."""
        return str(self)

    @property
    def config(self) -> ParseSpec:
        """What `tf.parse_example` must look for, by feature name."""
        return self.parse_example_spec

    @property
    def checkpoint(self) -> tuple[str, str] | None:
        """The checkpoint and the name in it that a linear model's weights start from."""
        return None

    def wide_lookup(self, features: TransformedFeatures, state_manager: StateManager) -> Lookup | None:
        """The ids that stand for the column in a linear model; None for one that is dense there."""
        return None


_Column = TypeVar("_Column", bound=type)


def printed_as(name: str) -> Callable[[_Column], _Column]:
    """Let a class print under TensorFlow's name for it."""

    def rename(column: _Column) -> _Column:
        column.__name__ = name
        return column

    return rename


def without(column: tuple[object, ...], fields: tuple[str, ...], left_out: str) -> str:
    """What a column prints, without one of its fields: functions print by address, and would change the order of columns."""
    shown = ", ".join(f"{name}={value}" for name, value in zip(fields, column, strict=True) if name != left_out)
    return f"{type(column).__name__}({shown})"
