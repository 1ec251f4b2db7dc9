"""RunMetadata: what a program that asks for it learns of a step: the times of its nodes, and the graphs that its tasks ran."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tensorboard.compat.proto.config_pb2 import RunMetadata, RunOptions
from tensorboard.compat.proto.step_stats_pb2 import DeviceStepStats, StepStats

from weft.errors import UnimplementedError
from weft.passes.partition import Partition
from weft.passes.partition_graphs import partition_graphs
from weft.runtime.step_trace import StepTrace, trim_transfers


def is_traced(options: RunOptions) -> bool:
    """Whether the tasks of a step are to note times per node."""
    return bool(options.trace_level >= RunOptions.SOFTWARE_TRACE)


def refuse_debugger(options: RunOptions) -> None:
    """UnimplementedError where a run asks for TensorFlow's debugger; a watch without an address tells nobody anything."""
    watches = [each for each in options.debug_options.debug_tensor_watch_opts if each.debug_urls]
    if watches:
        raise UnimplementedError.of(
            f"RunOptions.debug_options watch {watches[0].node_name!r}{' and others' if len(watches) > 1 else ''}, as tfdbg's "
            "sessions do: a weft server has no tfdbg. Fetch the tensors in question, as session.run('layer/op:0'), or print "
            "them with tf.Print; tf.add_check_numerics_ops() names the first operation that makes a NaN or an infinity"
        )


def metadata_of(
    options: RunOptions, stats: Mapping[str, StepStats | None], partitions: Iterable[Partition], home: str
) -> RunMetadata:
    """The RunMetadata of a step.

    Args:
        options: what the program asked for.
        stats: the StepStats of each task.
        partitions: the tasks' parts.
        home: the device that the master itself counts as; empty when there are no others.
    """
    metadata = RunMetadata()
    if is_traced(options):
        metadata.step_stats.dev_stats.extend(_device_stats(home, stats))
    if options.output_partition_graphs:
        for partition in partitions:
            metadata.partition_graphs.extend(partition_graphs(partition))
    return metadata


def _device_stats(home: str, stats: Mapping[str, StepStats | None]) -> Sequence[DeviceStepStats]:
    """The steps of each device; the master's own device comes first, even when nothing else ran there."""
    devices = [device for of_task in stats.values() if of_task is not None for device in of_task.dev_stats]
    if home and not any(device.device == home for device in devices):
        trace = StepTrace()
        trace.note_start([home])
        devices += trace.as_proto().dev_stats
    trim_transfers(devices)
    return sorted(devices, key=lambda device: (device.device != home, device.device))


def with_timeout(options: RunOptions | None, timeout_s: float | None) -> RunOptions | None:
    """A run's options with what is left of its time, where that is limited."""
    if timeout_s is None:
        return options
    limited = RunOptions()
    if options is not None:
        limited.CopyFrom(options)
    limited.timeout_in_ms = max(int(timeout_s * 1000), 1)
    return limited
