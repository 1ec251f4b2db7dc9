"""ForestResource: what a tree and what its leaves know have in common: parameters, and a message to begin with."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from typing import ClassVar

from weft.errors import FailedPreconditionError
from weft.proto.random_forest_pb2 import TensorForestParams


class ForestResource(ABC):
    """A part of a forest that a server keeps. Safe from any thread; a step sees it before or after another's change."""

    _CALLED: ClassVar[str]
    """What it is called in errors, and the verb behind."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._params: TensorForestParams | None = None

    @property
    def is_initialized(self) -> bool:
        """Whether it was made or restored."""
        return self._params is not None

    def create(self, params: TensorForestParams, serialized: bytes) -> None:
        """As `restore`, unless it is there already: what another program has grown meanwhile stays."""
        with self._lock:
            if self._params is None:
                self._restore(params, serialized)

    def restore(self, params: TensorForestParams, serialized: bytes) -> None:
        """Take on what a message says, or a beginning by an empty one; InvalidArgumentError when it is none."""
        with self._lock:
            self._restore(params, serialized)

    @abstractmethod
    def _restore(self, params: TensorForestParams, serialized: bytes) -> None:
        """As `restore`, with the lock held; changes nothing where it fails."""

    def _checked(self) -> TensorForestParams:
        if self._params is None:
            raise FailedPreconditionError.of(
                f"{self._CALLED} not initialized: run resources.initialize_resources(resources.shared_resources()), or restore "
                "a checkpoint"
            )
        return self._params
