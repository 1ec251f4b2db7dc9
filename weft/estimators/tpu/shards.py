"""What tensorflow.python.tpu.tpu_function tells of the TPU shards that a graph is built for: that there are none."""

from __future__ import annotations

from typing import NamedTuple


class TpuContext(NamedTuple):
    """The TPU for which the graph is built; `number_of_shards` is None where it is built for none, as it always is here."""

    number_of_shards: int | None = None


def get_tpu_context() -> TpuContext:
    """The TPU for which the graph is built."""
    return TpuContext()
