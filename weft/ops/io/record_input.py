"""RecordInput: batches of the records of many files, shuffled, without queues or a dataset."""

from __future__ import annotations

import numpy as np

from weft.checkpoint.record_files import TFRecordOptions
from weft.framework.building.aliases import Result
from weft.framework.building.op_context import OpContext
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types.printed import printed
from weft.ops.array.joining import split
from weft.ops.array.shape_ops import reshape
from weft.ops.declaration import op, unknown
from weft.ops.io.record_yielder import RecordSource, RecordYielder
from weft.platform.hints.argument_checks import check_arguments


@op("RecordInput", "-> records: string", infer=unknown, gradient=None, stateful=True)
def record_input(
    ctx: OpContext, *, file_pattern: str, file_random_seed: int = 301, file_shuffle_shift_ratio: float = 0.0,
    file_buffer_size: int = 10000, file_parallelism: int = 16, batch_size: int = 32, compression_type: str = "",
) -> Result:  # fmt: skip
    """The next records: `-> [batch_size] string`."""
    source = RecordSource(
        file_pattern, file_random_seed, file_shuffle_shift_ratio, file_buffer_size, file_parallelism, compression_type
    )
    taken = ctx.find_or_create(RecordYielder, lambda: RecordYielder(source)).take(batch_size)
    records = np.empty(batch_size, np.object_)
    records[:] = taken
    return records


class RecordInput:
    """Batches of the records of files of TFRecords, chosen at random among those that come next, without end.

    Args:
        file_pattern: the files' names, with `*`, `?` and `[...]`.
        batch_size: how many records a step takes; with `batches`, how many go into each list.
        buffer_size: among how many records the next one is chosen.
        parallelism: how many files are read by turns.
        shift_ratio: by which part of the files their shuffled list is rotated, 0 to 1: several readers of one seed begin so
            at different files.
        seed: of the shuffling.
        name: the node's name.
        batches: into how many lists the records are dealt out; one tensor of all when None.
        compression_type: that of the files, a `tf.python_io.TFRecordCompressionType`.

    Raises:
        TypeError: an argument is of another kind.
        ValueError: a number is below 1, or the compression is none.
    """

    __repr__ = printed("tf.contrib.framework")

    def __init__(
        self,
        file_pattern: str,
        batch_size: int = 1,
        buffer_size: int = 1,
        parallelism: int = 1,
        shift_ratio: float = 0,
        seed: int = 0,
        name: str | None = None,
        batches: int | None = None,
        compression_type: int | str | None = None,
    ) -> None:
        check_arguments(
            RecordInput.__init__, file_pattern=file_pattern, batch_size=batch_size, buffer_size=buffer_size,
            parallelism=parallelism, shift_ratio=shift_ratio, seed=seed, name=name, batches=batches,
        )  # fmt: skip
        counts = {"batch_size": batch_size, "buffer_size": buffer_size, "parallelism": parallelism}
        for argument, count in {**counts, "batches": 1 if batches is None else batches}.items():
            if count < 1:
                raise ValueError(f"RecordInput: {argument} must be 1 or more, got {count}")
        self._batch_size = batch_size * (batches or 1)
        self._attrs = {
            "file_pattern": file_pattern, "batch_size": self._batch_size, "file_buffer_size": buffer_size,
            "file_parallelism": parallelism, "file_shuffle_shift_ratio": shift_ratio, "file_random_seed": seed,
            "compression_type": TFRecordOptions.get_compression_type_string(TFRecordOptions(compression_type)),
        }  # fmt: skip
        self._file_pattern, self._batches, self._name = file_pattern, batches, name

    def get_yield_op(self) -> Tensor | list[list[Tensor]]:
        """The node that takes a batch in each step.

        Returns:
            A tensor `[batch_size] string`, of unknown shape in the graph as in TensorFlow; with `batches`, so many lists of
            `batch_size` scalars, dealt out by turns.
        """
        records = record_input(**self._attrs, name=self._name)
        if self._batches is None:
            return records
        with get_default_graph().name_scope(self._name or "RecordInput"):
            dealt: list[list[Tensor]] = [[] for _ in range(self._batches)]
            singles = split(records, self._batch_size, 0)
            for number, record in enumerate([reshape(each, []) for each in singles]):
                dealt[number % self._batches].append(record)
        return dealt
