"""TensorBoard: a callback that writes values, the graph, histograms and embeddings of a model to event files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tensorboard.compat.proto.summary_pb2 import Summary

from weft.events.file_writer import FileWriter
from weft.framework.building.aliases import Array, Nest
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.networks.callbacks.callback import Callback, Logs
from weft.networks.callbacks.embeddings import Embeddings
from weft.networks.callbacks.model_summaries import summary_of
from weft.networks.config import KerasObject
from weft.networks.engine.calls import history
from weft.networks.fitting.compilation import Watch
from weft.platform.logs import tf_logging


class TensorBoard(Callback):
    """Writes the values of each epoch to event files, as `epoch_loss` and so on, and what else is asked for.

    Histograms and pictures are those of the batches of an epoch's validation, with the program's own summaries of the
    model's graph; without `validation_data` there are none.

    Args:
        log_dir: the folder.
        histogram_freq: every how many epochs there are histograms of the weights and of the layers' outputs; 0 for never.
        batch_size: how many examples `embeddings_data` are computed at once.
        write_graph: whether the graph is written.
        write_grads: whether there are histograms of the gradients too.
        write_images: whether there are pictures of the weights, beside their histograms.
        embeddings_freq: every how many epochs what layers make of `embeddings_data` is saved for the projector; 0 for never.
        embeddings_layer_names: the layers' names; all Embedding layers when None.
        embeddings_metadata: the file with the examples' labels, or a dict of these by layer.
        embeddings_data: the inputs, an array or a list of them.
        update_freq: "epoch"; "batch", or after how many examples to write the values of a batch as well, as `batch_loss`
            and so on. With these the steps of epochs are numbers of examples.
        profile_batch: taken and without effect: `weft trace` and `tf.RunOptions` tell where the time of steps goes.

    Raises:
        ValueError: `update_freq` is none of these, or embeddings are asked for without `embeddings_data`.
    """

    def __init__(
        self, log_dir: str = "./logs", histogram_freq: int = 0, batch_size: int = 32, write_graph: bool = True,
        write_grads: bool = False, write_images: bool = False, embeddings_freq: int = 0,
        embeddings_layer_names: Sequence[str] | None = None, embeddings_metadata: str | Mapping[str, str] | None = None,
        embeddings_data: Nest = None, update_freq: int | str = "epoch", profile_batch: int = 2,
    ) -> None:  # fmt: skip
        super().__init__()
        if isinstance(update_freq, str) and update_freq not in ("batch", "epoch"):
            raise ValueError(f"TensorBoard: update_freq is 'batch', 'epoch' or a number of examples, not {update_freq!r}")
        if embeddings_freq and embeddings_data is None:
            raise ValueError("To visualize embeddings, embeddings_data must be provided.")
        self.log_dir, self.histogram_freq, self.batch_size = log_dir, histogram_freq, batch_size
        self.write_graph, self.write_grads, self.write_images = write_graph, write_grads, write_images
        self.embeddings_freq, self.embeddings_layer_names = embeddings_freq, embeddings_layer_names
        self.embeddings_metadata, self.embeddings_data = embeddings_metadata, embeddings_data
        self.update_freq: int | str = 1 if update_freq == "batch" else update_freq
        self.profile_batch = profile_batch
        self._writer: FileWriter | None = None
        self._summary: Tensor | None = None
        self._watch: Watch | None = None
        self._embeddings: Embeddings | None = None
        self._batches, self._samples, self._written_at, self._validated = 0, 0, 0, 0

    def set_model(self, model: KerasObject) -> None:
        """Take the model, and write its graph.

        Args:
            model: the model that is trained.
        """
        super().set_model(model)
        graph: Graph = history.graph_of(model.outputs[0]) if model.outputs else get_default_graph()
        if self.histogram_freq and self._summary is None:
            with graph.as_default():
                self._summary = summary_of(model, self.write_grads, self.write_images)
        self._writer = FileWriter(self.log_dir, graph if self.write_graph else None)
        if self.embeddings_freq:
            self._embeddings = Embeddings(
                model, self._writer, self.embeddings_layer_names, self.embeddings_metadata, self.embeddings_data,
                self.batch_size,
            )  # fmt: skip

    def on_train_begin(self, logs: Logs | None = None) -> None:
        """Tell of histograms that will not be there."""
        if self.histogram_freq and not self.params.get("do_validation"):
            tf_logging.warning(
                "TensorBoard: histograms are made of the batches of the validation: give `fit` validation_data for "
                "histogram_freq=%s", self.histogram_freq,
            )  # fmt: skip

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        """Have the epoch's validation make the histograms, if they are asked for."""
        if self._summary is not None and epoch % self.histogram_freq == 0:
            self._watch = Watch(self._summary, self._write_histograms)
            self.model.compilation.watches.append(self._watch)

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Write the batch's values, if it is time."""
        self._samples += (logs or {}).get("size", 1)
        if isinstance(self.update_freq, int) and self._samples - self._written_at >= self.update_freq:
            self._written_at = self._samples
            self._write("batch_", logs, self._batches)
        self._batches += 1

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Write the epoch's values, and the embeddings."""
        if self._watch is not None:
            self.model.compilation.watches.remove(self._watch)
            self._watch = None
        self._write("epoch_", logs, epoch if self.update_freq == "epoch" else self._samples)
        if self._embeddings is not None and epoch % self.embeddings_freq == 0:
            self._embeddings.save(epoch)

    def on_train_end(self, logs: Logs | None = None) -> None:
        """Close the file."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _write_histograms(self, told: Array) -> None:
        # The steps are the batches whose histograms there are, as TensorFlow counts them.
        assert self._writer is not None
        self._writer.add_summary(bytes(told), self._validated)
        self._validated += 1

    def _write(self, prefix: str, logs: Logs | None, step: int) -> None:
        assert self._writer is not None
        for name, value in (logs or {}).items():
            if name not in ("batch", "size", "num_steps"):
                summary = Summary(value=[Summary.Value(tag=prefix + name, simple_value=float(value))])
                self._writer.add_summary(summary, step)
        self._writer.flush()
