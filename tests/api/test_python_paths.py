"""Programs that import modules by their path inside TensorFlow find the same things."""

from __future__ import annotations

import importlib

import pytest

import weft as tf


@pytest.mark.parametrize(
    ("path", "name", "same"),
    [
        ("framework.ops", "convert_to_tensor", tf.convert_to_tensor),
        ("framework.device", "DeviceSpec", tf.DeviceSpec),
        ("framework.errors", "OutOfRangeError", tf.errors.OutOfRangeError),
        ("framework.dtypes", "float32", tf.float32),
        ("ops.array_ops", "reshape", tf.reshape),
        ("ops.math_ops", "reduce_mean", tf.reduce_mean),
        ("ops.data_flow_ops", "FIFOQueue", tf.FIFOQueue),
        ("ops.variables", "Variable", tf.Variable),
        ("ops.control_flow_ops", "cond", tf.cond),
        ("ops.logging_ops", "Print", tf.Print),
        ("ops.script_ops", "py_function", tf.py_function),
        ("training.summary_io", "summary_iterator", tf.train.summary_iterator),
        ("platform.gfile", "GFile", tf.gfile.GFile),
        ("platform.tf_logging", "info", tf.logging.info),
        ("training.session_run_hook", "SessionRunHook", tf.train.SessionRunHook),
        ("training.basic_session_run_hooks", "SecondOrStepTimer", tf.train.SecondOrStepTimer),
        ("training.training_util", "get_global_step", tf.train.get_global_step),
        ("training.training", "Saver", tf.train.Saver),
        ("util.compat", "as_bytes", tf.compat.as_bytes),
    ],
)
def test_the_path_leads_to_the_same(path: str, name: str, same: object) -> None:
    assert getattr(importlib.import_module(f"weft.python.{path}"), name) is same
