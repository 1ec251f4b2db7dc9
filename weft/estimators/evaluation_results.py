"""The results of an evaluation in the log and in the event file of the evaluation's directory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from tensorboard.compat.proto.summary_pb2 import Summary

from weft.estimators.aliases import Metrics
from weft.events.file_writer import FileWriterCache
from weft.framework.graphs.collections import GraphKeys
from weft.framework.nested import nest
from weft.framework.types import dtypes
from weft.framework.types.tensor_util import make_tensor_proto
from weft.platform.logs import tf_logging


def write_results(output_dir: str, results: Metrics, checkpoint_path: str | None) -> None:
    """Log an evaluation's metrics and add them, and the path of its checkpoint, to the events of a directory."""
    step = results[GraphKeys.GLOBAL_STEP]
    tf_logging.info("Saving dict for global step %d: %s", step, _told(results))
    writer = FileWriterCache.get(output_dir)
    writer.add_summary(_summary(results), step)
    writer.flush()
    if not checkpoint_path:
        return
    tf_logging.info("Saving 'checkpoint_path' summary for global step %d: %s", step, checkpoint_path)
    summary = Summary()
    summary.value.add(tag="checkpoint_path", tensor=make_tensor_proto(checkpoint_path, dtype=dtypes.string))
    writer.add_summary(summary, step)
    writer.flush()


def _told(results: Mapping[str, object]) -> str:
    return ", ".join(f"{name} = {value!s}" for name, value in sorted(results.items()) if not isinstance(value, bytes))


def _summary(results: Metrics) -> Summary:
    summary = Summary()
    for name, value in results.items():
        if value is not None and name != GraphKeys.GLOBAL_STEP:
            _add(summary, name, value)
    return summary


def _add(summary: Summary, name: str, value: Any) -> None:
    if isinstance(value, np.float32 | float | np.int64 | np.int32 | int):
        summary.value.add(tag=name, simple_value=float(value))
    elif isinstance(value, bytes):
        _add_serialized(summary, name, value)
    elif isinstance(value, np.ndarray):
        summary.value.add(tag=name, node_name=name, tensor=make_tensor_proto(value))
        tf_logging.info(
            "Summary for np.ndarray is not visible in Tensorboard by default. Consider using a Tensorboard plugin for "
            "visualization (see https://github.com/tensorflow/tensorboard-plugin-example/blob/master/README.md for more "
            "information)."
        )
    elif isinstance(value, tuple | list):
        # The state of a time series' model.
        for number, part in enumerate(nest.flatten(value)):
            _add(summary, f"{name}/{number}", part)
    else:
        tf_logging.warning(
            "Skipping summary for %s, must be a float, np.float32, np.int64, np.int32 or int or np.ndarray or a serialized "
            "string of Summary.",
            name,
        )


def _add_serialized(summary: Summary, name: str, serialized: bytes) -> None:
    try:
        found = Summary.FromString(serialized)
    except DecodeError:
        tf_logging.warning("Skipping summary for %s, cannot parse string to Summary.", name)
        return
    for number, value in enumerate(found.value):
        value.tag = f"{name}/{number}"
    summary.value.extend(found.value)
