"""The file of what a graph's nodes compute. All numbers are TensorFlow 1.15.5's."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

import weft as tf


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def _model() -> tf.Tensor:
    rows = tf.placeholder(tf.float32, [None, 3], name="a")
    weights = tf.get_variable("w", [3, 2], initializer=tf.zeros_initializer())
    tf.nn.bias_add(tf.matmul(tf.ones([4, 3]), weights, name="z"), tf.zeros([2]), name="b")
    return tf.matmul(rows, weights, name="y")


def _read(folder: Path) -> tf.profiler.OpLogProto:
    return tf.profiler.OpLogProto.FromString((folder / "tfprof_log").read_bytes())


def _entries(log: tf.profiler.OpLogProto) -> list[tuple[str, int, list[str]]]:
    return [(each.name, each.float_ops, list(each.types)) for each in log.log_entries]


def test_operations_and_trainable_variables_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _model()
    tf.profiler.write_op_log(tf.get_default_graph(), str(tmp_path), add_trace=False)
    log = _read(tmp_path)
    assert _entries(log) == [("z", 48, []), ("b", 8, []), ("w", 0, ["_trainable_variables"])]
    assert dict(log.id_to_string) == {0: "none"}
    assert capsys.readouterr().err == "1 ops no flops stats due to incomplete shapes.\n"


def test_lines_of_the_program_are_written_by_their_numbers(tmp_path: Path) -> None:
    _model()
    tf.profiler.write_op_log(None, tmp_path)
    log = _read(tmp_path)
    assert [each.name for each in log.log_entries] == [each.name for each in tf.get_default_graph().get_operations()]
    [trace] = [
        each
        for each in next(entry for entry in log.log_entries if entry.name == "y").code_def.traces
        if log.id_to_string[each.function_id] == "_model"
    ]
    assert log.id_to_string[trace.file_id] == __file__
    assert log.id_to_string[trace.line_id] == 'return tf.matmul(rows, weights, name="y")'
    assert (trace.func_start_line, trace.lineno) == (_model.__code__.co_firstlineno, _model.__code__.co_firstlineno + 4)


def test_what_a_program_says_of_a_node_counts_first_and_stays_as_it_is(tmp_path: Path) -> None:
    _model()
    own = tf.profiler.OpLogProto()
    own.log_entries.add(name="z", float_ops=99, types=["mine"])
    own.log_entries.add(name="w", types=["mine"])
    before = own.SerializeToString()
    tf.contrib.tfprof.tfprof_logger.write_op_log(tf.get_default_graph(), str(tmp_path), own, add_trace=False)
    assert _entries(_read(tmp_path)) == [("z", 99, ["mine"]), ("w", 0, ["mine", "_trainable_variables"]), ("b", 8, [])]
    assert own.SerializeToString() == before


def test_shapes_of_a_step_let_more_nodes_be_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    product = _model()
    metadata = tf.RunMetadata()
    device = metadata.step_stats.dev_stats.add(device="/device:CPU:0")
    for name, sizes in (("y", (5, 2)), ("z", (7, 7)), ("elsewhere", (1,))):
        shape = device.node_stats.add(node_name=name).output.add().tensor_description.shape
        for size in sizes:
            shape.dim.add(size=size)
    tf.profiler.write_op_log(tf.get_default_graph(), str(tmp_path), run_meta=metadata, add_trace=False)
    assert ("y", 60, []) in _entries(_read(tmp_path))
    assert product.shape.as_list() == [5, 2]
    assert capsys.readouterr().err.startswith("Node z incompatible shapes: ")


def test_the_directory_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(tf.errors.NotFoundError):
        tf.profiler.write_op_log(tf.get_default_graph(), str(tmp_path / "none"))


def test_programs_find_the_function_and_the_messages_by_their_inner_paths() -> None:
    logger = importlib.import_module("weft.python.profiler.tfprof_logger")
    messages = importlib.import_module("weft.core.profiler.tfprof_log_pb2")
    assert logger.write_op_log is tf.profiler.write_op_log
    assert messages.OpLogProto is tf.profiler.OpLogProto
