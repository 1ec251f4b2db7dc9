"""What a graph's nodes hold and compute, by TensorFlow's rules; the numbers are those of TensorFlow 1.15."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft as tf
from weft.client.model_analyzer import FLOAT_OPS_OPTIONS, TRAINABLE_VARS_PARAMS_STAT_OPTIONS, print_model_analysis, profile


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
    assert [(child.name, child.total_float_ops) for child in by_type.children] == [("Conv2D", 2880), ("MatMul", 48)]
    assert "Conv2D (2.88k/2.88k flops)" in capsys.readouterr().out


def test_a_report_goes_into_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model()
    options = {**TRAINABLE_VARS_PARAMS_STAT_OPTIONS, "output": f"file:outfile={tmp_path / 'report'}"}
    print_model_analysis(tfprof_options=options)
    assert "111 params" in (tmp_path / "report").read_text()
    assert capsys.readouterr().out == ""


def test_what_is_not_counted_is_refused() -> None:
    with pytest.raises(ValueError, match=r"not \['micros'\]"):
        print_model_analysis(tfprof_options={**FLOAT_OPS_OPTIONS, "select": ["micros"]})
    with pytest.raises(ValueError, match="not 'code'"):
        print_model_analysis(tfprof_cmd="code")


def test_options_are_built_step_by_step(tmp_path: Path) -> None:
    tf.matmul(tf.ones([2, 3]), tf.get_variable("w", [3, 4]))
    builder = tf.profiler.ProfileOptionBuilder
    options = builder(builder.float_operation()).with_max_depth(3).order_by("name").with_empty_output().build()
    assert tf.profiler.profile(options=options).total_float_ops >= 2 * 2 * 3 * 4
    report = tmp_path / "report"
    assert tf.profiler.profile(options=builder().with_file_output(str(report)).build()).total_parameters == 12
    assert "w (3x4, 12/12 params)" in report.read_text()
