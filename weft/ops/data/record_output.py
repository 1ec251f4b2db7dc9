"""DatasetToTFRecord: writes all elements of a dataset to a file of records."""

from __future__ import annotations

from weft.checkpoint.record_files import TFRecordWriter
from weft.framework.building.aliases import Array
from weft.framework.building.op_context import OpContext
from weft.ops.data.element import Iteration, source_of
from weft.ops.declaration import no_outputs, not_differentiable, op


@op("DatasetToTFRecord", "input_dataset: variant, filename: string, compression_type: string ->", infer=no_outputs,
    gradient=not_differentiable, stateful=True)  # fmt: skip
def dataset_to_tf_record(ctx: OpContext, input_dataset: Array, filename: Array, compression_type: Array) -> tuple[()]:
    """Write each element, a record, to a file: `scalar variant, scalar string, scalar string ->`."""
    elements, caller = source_of(input_dataset).iterate(Iteration()), ctx.caller()
    try:
        with TFRecordWriter(filename.item().decode(), compression_type.item().decode()) as writer:
            while (element := elements.next(caller)) is not None:
                ctx.raise_if_cancelled()
                writer.write(bytes(element[0].item()))
    finally:
        elements.close()
    return ()
