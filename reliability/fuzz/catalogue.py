"""The kinds of input that can be fuzzed, by the name that the command takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from reliability.fuzz.driver import Target
from reliability.fuzz.graph_defs import GraphDefs

TARGETS: Final[Mapping[str, Callable[[], Target]]] = {target.name: target for target in (GraphDefs,)}
