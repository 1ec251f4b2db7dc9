"""Reports over traced steps; the traces are written by hand, and the lines are those of TensorFlow 1.15 for such times."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import weft as tf


def metadata_of(**micros: int) -> tf.RunMetadata:
    made = tf.RunMetadata()
    device = made.step_stats.dev_stats.add(device="/job:localhost/replica:0/task:0/device:CPU:0")
    for name, value in micros.items():
        device.node_stats.add(node_name=name.replace("__", "/"), all_start_micros=1, all_end_rel_micros=value)
    return made


def model() -> None:
    with tf.name_scope("layer"):
        product = tf.matmul(tf.placeholder(tf.float32, [512, 16], name="x"), tf.ones([16, 400], name="w"), name="mm")
        tf.nn.relu(product, name="active")
    tf.reduce_sum(product, name="total")


def options(**more: object) -> dict[str, object]:
    return {**tf.profiler.ProfileOptionBuilder.time_and_memory(), **more}


def test_times_and_bytes_are_shown_by_scope(capsys: pytest.CaptureFixture[str]) -> None:
    model()
    metadata = metadata_of(layer__mm=30370, layer__active=12, total=2)
    found = tf.profiler.profile(run_meta=metadata, cmd="scope", options=options())
    assert found.total_exec_micros == 30384
    assert (found.children[0].name, found.children[0].total_requested_bytes) == ("layer", 2 * 4 * 512 * 400)
    printed = capsys.readouterr().out
    for line in (
        "node name | requested bytes | total execution time | accelerator execution time | cpu execution time",
        "_TFProfRoot (--/1.64MB, --/30.38ms, --/0us, --/30.38ms)",
        "  layer (0B/1.64MB, 0us/30.38ms, 0us/0us, 0us/30.38ms)",
        "    layer/mm (819.20KB/819.20KB, 30.37ms/30.37ms, 0us/0us, 30.37ms/30.37ms)",
        "  total (4B/4B, 2us/2us, 0us/0us, 2us/2us)",
    ):
        assert f"\n{line}\n" in printed


def test_types_of_ops_have_their_shares(capsys: pytest.CaptureFixture[str]) -> None:
    model()
    tf.profiler.profile(run_meta=metadata_of(layer__mm=60, layer__active=30, total=10), cmd="op", options=options())
    printed = capsys.readouterr().out
    nothing = f"{'0us (0.00%, 0.00%)':>30}"
    first = f"{'60us (100.00%, 60.00%)':>30}"
    assert f"\n{'MatMul':25}{'819.20KB (100.00%, 50.00%)':>30}, {first}, {nothing}, {first}\n" in printed
    assert "Placeholder" not in printed


def test_what_is_hidden_does_not_count_unless_asked_for() -> None:
    model()
    metadata = metadata_of(layer__mm=60, layer__active=30, total=10)

    def total(**more: object) -> int:
        return tf.profiler.profile(run_meta=metadata, options=options(output="none", **more)).total_exec_micros

    assert total() == 100
    assert total(min_micros=20) == 90
    assert total(min_micros=20, account_displayed_op_only=False) == 100
    assert total(start_name_regexes=["layer.*"]) == 90
    assert total(hide_name_regexes=[".*mm"]) == 40
    assert total(trim_name_regexes=["layer"]) == 10


def test_steps_are_told_apart_and_averaged() -> None:
    model()
    profiler = tf.profiler.Profiler()
    for step, micros in ((3, 10), (5, 30)):
        profiler.add_step(step, metadata_of(layer__mm=micros))
    quiet = options(output="none")
    assert profiler.profile_name_scope(quiet).total_exec_micros == 20
    assert profiler.profile_operations({**quiet, "step": 5}).total_exec_micros == 30
    with pytest.raises(ValueError, match=r"no step 4: \[3, 5\] were added"):
        profiler.profile_operations({**quiet, "step": 4})
    assert repr(profiler) == "<Profiler of 2 steps>"


def test_the_lines_of_the_program_are_told() -> None:
    model()
    found = tf.profiler.Profiler()
    found.add_step(0, metadata_of(layer__mm=60, total=10))
    by_line = {each.name: each.total_exec_micros for each in found.profile_python(options(output="none")).walk()}
    assert [name for name in by_line if name.startswith("test_profiler.py:") and name.endswith(":model")]
    assert by_line["_TFProfRoot"] == 70


def test_a_real_step_is_advised_on_and_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x = tf.placeholder(tf.float32, [8, 16])
    loss = tf.reduce_sum(tf.matmul(x, tf.get_variable("w", [16, 4])))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        traced = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        session.run(train, {x: np.ones((8, 16))}, options=traced, run_metadata=metadata)
    advice = tf.profiler.advise(run_meta=metadata)
    assert advice.checkers["ExpensiveOperationChecker"].reports[0].startswith("top 1 operation type: ")
    assert "\nAcceleratorUtilizationChecker:\n" in capsys.readouterr().out
    with pytest.raises(ValueError, match=r"not \['Expensive'\]"):
        tf.profiler.advise(run_meta=metadata, options={"Expensive": {}})
    profiler = tf.profiler.Profiler()
    profiler.add_step(0, metadata)
    profiler.profile_graph(options(output=f"timeline:outfile={tmp_path / 'trace'}"))
    assert json.loads((tmp_path / "trace").read_text())["traceEvents"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="needs the trace of a step"):
        tf.profiler.profile(options=options(output=f"timeline:outfile={tmp_path / 'none'}"))
