"""Pairs of a gradient (or None) and its variable, as optimizers hand them on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from weft.framework.building.aliases import Nest, VariableLike

Pairs: TypeAlias = Iterable[tuple[Nest, VariableLike]]
PairList: TypeAlias = list[tuple[Nest, VariableLike]]
