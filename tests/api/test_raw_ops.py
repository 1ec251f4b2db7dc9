"""Arguments of raw ops have the names that they have in TensorFlow's Python, where its declarations name them otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.ops.both_ways import own_graph as own_graph
from weft.api import generated_ops

_TABLE = np.arange(6, dtype=np.float32).reshape(1, 2, 3)


def test_axes_and_branches_are_named_as_in_python() -> None:
    raw = tf.raw_ops
    found = [
        raw.Sum(input=_TABLE, axis=[1], keep_dims=True), raw.ExpandDims(input=_TABLE, axis=0),
        raw.Squeeze(input=_TABLE, axis=[0]), raw.Split(axis=1, value=_TABLE, num_split=2)[0],
        raw.SplitV(value=_TABLE, size_splits=[1, 2], axis=2, num_split=2)[1],
        raw.Select(condition=_TABLE > 2, x=_TABLE, y=-_TABLE), raw.Where(condition=_TABLE > 4),
    ]  # fmt: skip
    assert [each.op.type for each in found] == ["Sum", "ExpandDims", "Squeeze", "Split", "SplitV", "Select", "Where"]
    with tf.Session() as session:
        values = session.run(found)
    assert [each.shape for each in values] == [(1, 1, 3), (1, 1, 2, 3), (2, 3), (1, 1, 3), (1, 2, 2), (1, 2, 3), (1, 3)]


def test_every_op_type_is_the_function_of_its_name() -> None:
    for module in (tf.raw_ops, generated_ops):
        assert [name for name in dir(tf.raw_ops) if getattr(module, name).__name__.lstrip("_").lower() != name.lower()] == [
            "RefMerge", "RefSwitch"
        ]  # fmt: skip
    with tf.Session() as session:
        assert session.run(generated_ops.Any(input=_TABLE > 4, axis=[0, 1, 2]))


def test_the_names_of_the_declarations_are_refused() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'axis'"):
        tf.raw_ops.Max(input=_TABLE, reduction_indices=[0])
    with pytest.raises(TypeError, match="unexpected keyword argument 'squeeze_dims'"):
        tf.raw_ops.Squeeze(input=_TABLE, squeeze_dims=[0])
    with pytest.raises(TypeError, match="only takes keyword args \\(possible keys: \\['input', 'axis'"):
        tf.raw_ops.Max(_TABLE, [0])


def test_defaults_are_those_of_python_where_the_declaration_has_another() -> None:
    def node(**given: Any) -> tf.Operation:
        losses = {"loss_type": "squared_loss", "l1": 0.0, "l2": 1.0, "num_loss_partitions": 1, "num_inner_iterations": 1}
        lists = (
            "sparse_example_indices",
            "sparse_feature_indices",
            "sparse_feature_values",
            "sparse_indices",
            "sparse_weights",
        )
        outputs = tf.raw_ops.SdcaOptimizerV2(
            dense_features=[[[1.0]]], example_weights=[1.0], example_labels=[1.0], dense_weights=[[0.0]],
            example_state_data=[[0.0] * 4], **{key: [] for key in lists}, **losses, **given,
        )  # fmt: skip
        return outputs[0].op

    assert node().get_attr("adaptive") is True
    assert node(adaptive=False).get_attr("adaptive") is False


def test_switch_and_merge_choose_between_values() -> None:
    raw = tf.raw_ops
    pred = tf.placeholder(tf.bool, [])
    found = raw.Switch(data=[1.0, 2.0], pred=pred)
    merged = raw.Merge(inputs=[found.output_false * 3.0, found.output_true + 5.0])
    with tf.Session() as session:
        chosen = [session.run(merged, {pred: value}) for value in (False, True)]
    assert [each.output.tolist() for each in chosen] == [[3, 6], [6, 7]]
    assert [each.value_index for each in chosen] == [0, 1]
    with pytest.raises(AttributeError, match=r"'NextIteration': .* tf\.while_loop makes"):
        _ = raw.NextIteration
