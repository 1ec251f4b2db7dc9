"""Pruning: masks follow the magnitude of weights, and what has a mask learns no weights that were taken out."""

from __future__ import annotations

import re

import numpy as np
import pytest
from weft.contrib import model_pruning

import weft as tf


def _updated(weights: list[float], spec: str) -> list[list[float]]:
    """Mask and threshold of weights after one update."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.get_or_create_global_step()
        model_pruning.apply_mask(tf.get_variable("w", initializer=weights))
        update = model_pruning.Pruning(model_pruning.get_pruning_hparams().parse(spec)).mask_update_op()
        session.run(tf.global_variables_initializer())
        session.run(update)
        return session.run([*model_pruning.get_masks(), *model_pruning.get_thresholds()])


def test_the_smallest_weights_are_taken_out() -> None:
    mask, threshold = _updated([0.1, -3.0, 0.2, 2.0], "initial_sparsity=0.5,target_sparsity=0.5")
    assert mask.tolist() == [0, 1, 0, 1]
    assert threshold == 2.0


def test_a_threshold_moves_by_its_decay() -> None:
    _, threshold = _updated([0.1, -3.0, 0.2, 2.0], "initial_sparsity=0.5,target_sparsity=0.5,threshold_decay=0.75")
    assert threshold == 0.5


def test_the_projection_of_a_cell_has_no_mask_and_its_kernel_has() -> None:
    with tf.Graph().as_default():
        cell = model_pruning.MaskedLSTMCell(4, num_proj=3)
        outputs, _ = cell(tf.ones([2, 5]), cell.zero_state(2, tf.float32))
        assert outputs.shape.as_list() == [2, 3]
        assert [mask.shape.as_list() for mask in model_pruning.get_masks()] == [[8, 16]]


def test_a_cell_that_is_called_again_has_one_mask() -> None:
    with tf.Graph().as_default():
        for reuse in (None, True):
            cell = model_pruning.MaskedBasicLSTMCell(4, reuse=reuse, name="cell")
            cell(tf.ones([2, 5]), cell.zero_state(2, tf.float32))
        assert len(model_pruning.get_masks()) == len(model_pruning.get_masked_weights()) == 1


def test_what_is_taken_out_gets_no_gradient() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        outputs = model_pruning.masked_fully_connected(tf.ones([1, 3]), 1, activation_fn=None)
        mask, weights = model_pruning.get_masks()[0], model_pruning.get_weights()[0]
        session.run(tf.global_variables_initializer())
        session.run(mask.assign([[1], [0], [1]]))
        assert session.run(tf.gradients(outputs, weights)[0]).ravel().tolist() == [1, 0, 1]


def test_a_checkpoint_that_is_not_there_is_named(tmp_path) -> None:
    with pytest.raises(ValueError, match=f"Could not find a checkpoint at: {tmp_path}"):
        model_pruning.graph_def_from_checkpoint(tmp_path, ["y"])


def test_the_loop_returns_the_loss_of_the_last_step() -> None:
    with tf.Graph().as_default():
        tf.train.get_or_create_global_step()
        loss = tf.reduce_mean(tf.square(model_pruning.masked_fully_connected(tf.ones([1, 3]), 1, activation_fn=None)))
        train = tf.contrib.slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1))
        made = model_pruning.train(train, None, model_pruning.Pruning().conditional_mask_update_op(), number_of_steps=2)
    assert np.isfinite(made)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("weight_sparsity_map=[layer]", "weight_sparsity_map has 'layer': each of its texts is NAME:SPARSITY"),
        ("weight_sparsity_map=[layer:much]", "weight_sparsity_map has 'much' for 'layer': a sparsity is a number"),
        ("weight_sparsity_map=[(layer:0.5]", "is no regular expression"),
        ("block_dims_map=[layer:4xa]", "block_dims_map has '4xa' for 'layer': HEIGHTxWIDTH are whole numbers"),
    ],
)
def test_lists_by_name_say_what_they_take(text: str, told: str) -> None:
    tf.train.get_or_create_global_step()
    with pytest.raises(ValueError, match=re.escape(told)):
        model_pruning.Pruning(model_pruning.get_pruning_hparams().parse(text))
