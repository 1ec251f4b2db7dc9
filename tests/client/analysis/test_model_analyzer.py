"""What a graph's nodes hold and compute, by TensorFlow's rules; the numbers are those of TensorFlow 1.15."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft as tf
from weft.client.analysis.model_analyzer import print_model_analysis, profile
from weft.client.analysis.options import FLOAT_OPS_OPTIONS, TRAINABLE_VARS_PARAMS_STAT_OPTIONS


def model() -> None:
    x = tf.placeholder(tf.float32, [None, 4])
    with tf.variable_scope("a"):
        w, b = (tf.get_variable(name, shape, initializer=tf.zeros_initializer()) for name, shape in (("w", [4, 3]), ("b", [3])))
    with tf.variable_scope("h/k"):
        u = tf.get_variable("u", [3, 2], initializer=tf.zeros_initializer())
    tf.get_variable("n", [5], trainable=False, initializer=tf.zeros_initializer())
    tf.matmul(tf.nn.xw_plus_b(x, w, b), u)
    filters = tf.get_variable("f", [3, 3, 2, 5], initializer=tf.zeros_initializer())
    tf.nn.conv2d(tf.constant(1.0, shape=[1, 4, 4, 2]), filters, [1, 1, 1, 1], "SAME")
    tf.matmul(tf.ones([2, 3]), tf.ones([3, 4]), name="inner/product")


def test_parameters_are_counted_by_scope(capsys: pytest.CaptureFixture[str]) -> None:
    model()
    report = print_model_analysis(tf.get_default_graph(), tfprof_options=TRAINABLE_VARS_PARAMS_STAT_OPTIONS)
    assert report.total_parameters == 111
    assert [(child.name, child.total_parameters) for child in report.children] == [("a", 15), ("f", 90), ("h", 6)]
    printed = capsys.readouterr().out
    for line in ("_TFProfRoot (--/111 params)", "    a/w (4x3, 12/12 params)", "      h/k/u (3x2, 6/6 params)"):
        assert f"\n{line}\n" in printed


def test_operations_are_counted_where_shapes_are_known(capsys: pytest.CaptureFixture[str]) -> None:
    model()
    report = print_model_analysis(tfprof_options=FLOAT_OPS_OPTIONS)
    assert [(child.name, child.float_ops) for child in report.children] == [("Conv2D", 2880), ("inner/product", 48)]
    assert report.total_float_ops == 2928
    by_type = profile(cmd="op", options=FLOAT_OPS_OPTIONS)
    assert [(child.name, child.float_ops) for child in by_type.children] == [("Conv2D", 2880), ("MatMul", 48)]
    printed = capsys.readouterr().out
    assert "Conv2D (2.88k/2.88k flops)" in printed
    assert f"\n{'Conv2D':25}2.88k float_ops (100.00%, 98.36%)\n{'MatMul':25}48 float_ops (1.64%, 1.64%)\n" in printed


def test_a_report_goes_into_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model()
    options = {**TRAINABLE_VARS_PARAMS_STAT_OPTIONS, "output": f"file:outfile={tmp_path / 'report'}"}
    print_model_analysis(tfprof_options=options)
    assert "111 params" in (tmp_path / "report").read_text()
    assert capsys.readouterr().out == ""


def test_what_is_not_counted_is_refused() -> None:
    with pytest.raises(ValueError, match=r"not \['device'\]"):
        print_model_analysis(tfprof_options={**FLOAT_OPS_OPTIONS, "select": ["device"]})
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"unknown cmd: graph; .*with_timeline_output"):
        print_model_analysis(tfprof_cmd="graph")
    with pytest.raises(ValueError, match=r"show_name_regexes takes regular expressions: '\(' is none, missing \)"):
        print_model_analysis(tfprof_options={**FLOAT_OPS_OPTIONS, "show_name_regexes": ["("]})
    with pytest.raises(tf.errors.InvalidArgumentError, match="unknown output: pprof"):
        print_model_analysis(tfprof_options={**FLOAT_OPS_OPTIONS, "output": "pprof:outfile=there"})


def test_options_are_built_step_by_step(tmp_path: Path) -> None:
    tf.matmul(tf.ones([2, 3]), tf.get_variable("w", [3, 4]))
    builder = tf.profiler.ProfileOptionBuilder
    options = builder(builder.float_operation()).with_max_depth(3).order_by("name").with_empty_output().build()
    assert tf.profiler.profile(options=options).total_float_ops >= 2 * 2 * 3 * 4
    report = tmp_path / "report"
    parameters = builder(builder.trainable_variables_parameter()).with_file_output(str(report)).build()
    assert tf.profiler.profile(options=parameters).total_parameters == 12
    assert "w (3x4, 12/12 params)" in report.read_text()


def test_the_builder_sets_what_tensorflows_sets() -> None:
    builder = tf.profiler.ProfileOptionBuilder()
    builder.with_min_execution_time(1, 2, 3).with_min_memory(4, 5, 6, 7).with_min_float_operations(8).with_min_occurrence(9)
    builder.with_min_parameters(10).with_node_names(["a"], ["b"], ["c"], ["d"]).account_displayed_op_only(False).with_step(2)
    assert builder.with_timeline_output("there").build() == {
        "max_depth": 100, "min_bytes": 4, "min_micros": 1, "min_params": 10, "min_float_ops": 8, "min_occurrence": 9,
        "order_by": "name", "account_type_regexes": [".*"], "start_name_regexes": ["a"], "trim_name_regexes": ["d"],
        "show_name_regexes": ["b"], "hide_name_regexes": ["c"], "account_displayed_op_only": False, "select": ["micros"],
        "step": 2, "output": "timeline:outfile=there", "min_accelerator_micros": 2, "min_cpu_micros": 3, "min_peak_bytes": 5,
        "min_residual_bytes": 6, "min_output_bytes": 7,
    }  # fmt: skip
