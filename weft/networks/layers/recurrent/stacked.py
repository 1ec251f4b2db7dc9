"""Cells one above the other, and cells by their configs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from weft.framework.building.aliases import Nest, ShapeLike, TensorLike
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.networks.config import Config, GivenConfig, KerasObject, Options
from weft.networks.engine.layer import Layer
from weft.networks.layers.recurrent.cells import Cell, GRUCell, LSTMCell, SimpleRNNCell
from weft.networks.layers.recurrent.masks import Masks
from weft.networks.objects.registry import deserialize_keras_object


class StackedRNNCells(Layer):
    """Cells one above the other, as one.

    Args:
        cells: the cells, the one that gets the inputs first.
        kwargs: `name`, `trainable`, `dtype` and others of `tf.keras.layers.Layer`.
    """

    def __init__(self, cells: Sequence[KerasObject], **kwargs: Options) -> None:
        super().__init__(**kwargs)
        self.cells = list(cells)
        sizes = [each.state_size if isinstance(each.state_size, list | tuple) else [each.state_size] for each in self.cells]
        self._counts = [len(each) for each in sizes]
        self.state_size = [size for each in sizes for size in each]
        self.output_size = self.cells[-1].output_size

    # As `Cell.loop_nodes`.
    loop_nodes = -10

    @property
    def step_nodes(self) -> int:
        """As `Cell.step_nodes`."""
        return sum(each.step_nodes for each in self.cells if isinstance(each, Cell))

    @property
    def state_uses(self) -> int:
        """As `Cell.state_uses`."""
        return sum(each.state_uses for each in self.cells if isinstance(each, Cell))

    def build(self, input_shape: ShapeLike) -> None:
        """Build each cell for what the one below gives."""
        shape = TensorShape(input_shape)
        for cell in self.cells:
            if not cell.built:
                cell.build(shape)
                cell.built = True
            shape = TensorShape([shape.as_list()[0], cell.output_size])
        self.built = True

    def steps(self) -> Callable[[Tensor, list[Tensor]], tuple[Tensor, list[Tensor]]]:
        """A function of inputs and states that is a step of each; its steps share the dropout masks of the first one.

        Keras' learning phase says whether to drop, as in TensorFlow, which does not pass `training` on to the cells.
        """
        masks: list[list[Masks]] = []

        def step(inputs: Tensor, states: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
            left, made, is_first = list(states), [], not masks
            for index, (cell, count) in enumerate(zip(self.cells, self._counts, strict=True)):
                if is_first:
                    masks.append(cell.masks_for(inputs, left[0], None) if isinstance(cell, Cell) else [])
                own = isinstance(cell, Cell)
                inputs, new = cell.step(inputs, left[:count], masks[index]) if own else cell.call(inputs, left[:count])
                left = left[count:]
                made += list(new)
            return inputs, made

        return step

    def call(self, inputs: Nest, states: Nest, training: TensorLike | None = None) -> Nest:  # type: ignore[override]
        """One step of each.

        Args:
            states: `[batch, units]` each, of the step before.
            training: whether to drop; Keras' learning phase when None.

        Returns:
            The output, `[batch, units]`, and the list of new states.
        """
        return self.steps()(inputs, list(states))

    @classmethod
    def from_config(cls, config: GivenConfig, custom_objects: Mapping[str, object] | None = None) -> KerasObject:
        """Cells of their configs.

        Args:
            custom_objects: classes of cells by the names that the config has for them.
        """
        given = dict(config)
        return cls([deserialize_cell(each, custom_objects) for each in given.pop("cells")], **given)

    def get_config(self) -> Config:
        """The cells' configs."""
        cells = [{"class_name": type(each).__name__, "config": each.get_config()} for each in self.cells]
        return {**super().get_config(), "cells": cells}


def deserialize_cell(config: GivenConfig, custom_objects: Mapping[str, object] | None = None) -> KerasObject:
    """The cell of a config: one of these, or the program's own."""
    return deserialize_keras_object(config, _CELLS, custom_objects, "cell")


_CELLS: Final = {each.__name__: each for each in (SimpleRNNCell, GRUCell, LSTMCell, StackedRNNCells)}
