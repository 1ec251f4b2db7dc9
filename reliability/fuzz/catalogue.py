"""The kinds of input that can be fuzzed, by the name that the command takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from reliability.fuzz.checkpoints import Checkpoints
from reliability.fuzz.driver import Target
from reliability.fuzz.files import Files
from reliability.fuzz.frames import Frames
from reliability.fuzz.graph_defs import GraphDefs
from reliability.fuzz.grpc_messages import GrpcMessages
from reliability.fuzz.tables import SliceTables, Tables

TARGETS: Final[Mapping[str, Callable[[], Target]]] = {
    target.name: target for target in (Checkpoints, Files, Frames, GraphDefs, GrpcMessages, SliceTables, Tables)
}
