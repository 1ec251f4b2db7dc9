"""The events of an event file, read from Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tensorboard.compat.proto import event_pb2

from weft.checkpoint.records import record_bytes, records
from weft.framework.serial.proto_reading import parse


def summary_iterator(path: str) -> Iterator[Any]:
    """The Event protos of a file in their order; DataLossError where it is damaged.

    for event in tf.train.summary_iterator(path):
        for value in event.summary.value:
            print(event.step, value.tag, value.simple_value)

    Args:
        path: the file's path.
    """
    offset = 0
    for record in records(path):
        yield parse(event_pb2.Event, record, f"The event in the record at {offset} in {path}")
        offset += record_bytes(record)
