"""What layers make of some examples, in checkpoints that TensorBoard's projector shows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import numpy as np
from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig

from weft.checkpoint.bundle_writer import BundleWriter
from weft.checkpoint.checkpoint_state import update_checkpoint_state
from weft.events.file_writer import FileWriter
from weft.events.projector import visualize_embeddings
from weft.framework.building.aliases import Array, Nest
from weft.framework.nodes.operation import Tensor
from weft.networks.config import KerasObject
from weft.networks.fitting.program import predict


class Embeddings:
    """The outputs of layers for some examples, a row each, written as variables `<layer>_embedding`.

    Args:
        model: the model.
        writer: writes into the folder that the checkpoints go to; the projector is told of them there.
        names: the layers' names; all Embedding layers when empty.
        metadata: the file with the examples' labels, or a dict of these by layer; None for none.
        data: the inputs: an array or a list of them.
        batch_size: how many examples are computed at once.

    Raises:
        ValueError: the model has no such layer.
    """

    def __init__(
        self, model: KerasObject, writer: FileWriter, names: Sequence[str] | None,
        metadata: str | Mapping[str, str] | None, data: Nest, batch_size: int,
    ) -> None:  # fmt: skip
        wanted = list(names or (each.name for each in model.layers if type(each).__name__ == "Embedding"))
        unknown = [name for name in wanted if name not in {each.name for each in model.layers}]
        if unknown or not wanted:
            what = f"are no layers: {unknown}" if unknown else "is empty, and the model has no Embedding layer"
            raise ValueError(
                f"TensorBoard: embeddings_layer_names {what}; the model has {', '.join(each.name for each in model.layers)}"
            )
        self._model, self._data, self._batch_size = model, data if isinstance(data, list | tuple) else [data], batch_size
        self._outputs: dict[str, Tensor] = {f"{name}_embedding": model.get_layer(name).output for name in wanted}
        self._folder = writer.get_logdir()
        self._checkpoints: list[str] = []
        labels = dict.fromkeys(wanted, metadata) if isinstance(metadata, str) else dict(metadata or {})
        config = ProjectorConfig()
        for name in wanted:
            config.embeddings.add(tensor_name=f"{name}_embedding:0", metadata_path=labels.get(name) or "")
        visualize_embeddings(writer, config)

    def save(self, epoch: int) -> None:
        """Write what the layers make of the examples now.

        Args:
            epoch: the number of the checkpoint.
        """
        found = self._computed()
        prefix = os.path.join(self._folder, f"keras_embedding.ckpt-{epoch}")
        with BundleWriter(prefix) as writer:
            for name, rows in zip(self._outputs, found, strict=True):
                writer.add(name, rows)
        self._checkpoints = [*(each for each in self._checkpoints if each != prefix), prefix]
        update_checkpoint_state(self._folder, prefix, self._checkpoints)

    def _computed(self) -> list[Array]:
        count = len(self._data[0])
        parts = [
            predict(self._model, [each[begin : begin + self._batch_size] for each in self._data], list(self._outputs.values()))
            for begin in range(0, count, self._batch_size)
        ]
        return [np.concatenate(each).reshape(count, -1) for each in zip(*parts, strict=True)]
