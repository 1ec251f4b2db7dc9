"""CallRecord: what a layer was called with, and what it gave."""

from __future__ import annotations

from weft.framework.building.aliases import Nest
from weft.framework.nested import nest
from weft.framework.nodes.operation import Tensor


class CallRecord:
    """Remembers the inputs and outputs of each call."""

    @property
    def name(self) -> str:
        """The layer's name."""
        raise NotImplementedError(f"{type(self).__name__} has no name")

    def __init__(self) -> None:
        super().__init__()
        self._calls: list[tuple[Nest, Nest]] = []

    def note_call(self, inputs: Nest, outputs: Nest) -> None:
        """Take note of a call.

        Args:
            inputs: what the layer was called with.
            outputs: what it gave.
        """
        self._calls.append((inputs, outputs))

    def _all_inputs(self) -> list[Tensor]:
        """The tensors that the calls had, those of the first one first."""
        return [each for inputs, _ in self._calls for each in nest.flatten(inputs)]

    def _only(self, which: int, word: str) -> Nest:
        if not self._calls:
            raise AttributeError(f"Layer {self.name} is not connected, no {word} to return.")
        return self._calls[-1][which]

    @property
    def input(self) -> Nest:
        """What the last call had; AttributeError before any."""
        return self._only(0, "input")

    @property
    def output(self) -> Nest:
        """What the last call gave; AttributeError before any."""
        return self._only(1, "output")

    @property
    def input_shape(self) -> Nest:
        """The sizes of the inputs of the last call; AttributeError before any."""
        return nest.map_structure(lambda each: tuple(each.shape.as_list()), self._only(0, "input shape"))

    @property
    def output_shape(self) -> Nest:
        """The sizes of the outputs of the last call; AttributeError before any."""
        return nest.map_structure(lambda each: tuple(each.shape.as_list()), self._only(1, "output shape"))

    def get_input_at(self, node_index: int) -> Nest:
        """What a call had.

        Args:
            node_index: the number of the call, from 0.

        Raises:
            ValueError: there was no such call.
        """
        return self._at(node_index, "input")[0]

    def get_output_at(self, node_index: int) -> Nest:
        """What a call gave.

        Args:
            node_index: the number of the call, from 0.

        Raises:
            ValueError: there was no such call.
        """
        return self._at(node_index, "output")[1]

    def _at(self, index: int, word: str) -> tuple[Nest, Nest]:
        if not -len(self._calls) <= index < len(self._calls):
            raise ValueError(f"Asked to get {word} at node {index}, but the layer has only {len(self._calls)} inbound nodes.")
        return self._calls[index]
