"""contrib.layers and slim: layers with their collections, batch normalization, initializers, regularizers, training."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

layers, slim, framework = tf.contrib.layers, tf.contrib.slim, tf.contrib.framework


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def _names(variables):
    return [variable.name for variable in variables]


def _initialized():
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session


def test_fully_connected_names_its_variables_and_outputs():
    x = tf.placeholder(tf.float32, [None, 3])
    y = layers.fully_connected(x, 4, outputs_collections="ends", variables_collections={"weights": ["w"]})
    assert (y.name, y.shape.as_list()) == ("fully_connected/Relu:0", [None, 4])
    assert _names(slim.get_model_variables()) == ["fully_connected/weights:0", "fully_connected/biases:0"]
    assert _names(tf.get_collection("w")) == ["fully_connected/weights:0"]
    assert tf.get_collection("ends") == [y]
    assert layers.fully_connected(x, 4).name == "fully_connected_1/Relu:0"
    again = layers.fully_connected(x, 4, scope="fully_connected", reuse=True, activation_fn=None)
    with _initialized() as session:
        made, plain = session.run([y, again], {x: np.ones((2, 3))})
    np.testing.assert_allclose(made, np.maximum(plain, 0))


def test_a_normalizer_takes_the_place_of_biases():
    y = layers.conv2d(tf.ones([2, 6, 6, 3]), 5, [3, 3], stride=2, normalizer_fn=layers.batch_norm, scope="c")
    assert y.shape.as_list() == [2, 3, 3, 5]
    assert _names(tf.trainable_variables()) == ["c/weights:0", "c/BatchNorm/beta:0"]
    assert len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)) == 2


def test_slim_layers_take_defaults_from_arg_scope():
    with slim.arg_scope([slim.conv2d, slim.fully_connected], weights_regularizer=slim.l2_regularizer(0.5), activation_fn=None):
        y = slim.conv2d(tf.ones([1, 4, 4, 2]), 3, 3, padding="VALID")
        z = slim.fully_connected(slim.flatten(slim.max_pool2d(y, 2)), 1)
    assert (y.op.type, z.op.type) == ("BiasAdd", "BiasAdd")
    losses = tf.losses.get_regularization_losses()
    assert len(losses) == 2
    with _initialized() as session:
        weights, loss = session.run([slim.get_variables("Conv/weights")[0], losses[0]])
    assert loss == pytest.approx(0.25 * np.square(weights).sum(), rel=1e-5)


@pytest.mark.parametrize("fused", [None, False])
def test_batch_norm_follows_the_batch_in_training_and_the_averages_else(fused):
    data = np.random.RandomState(0).randn(64, 3).astype(np.float32) * [1.0, 2.0, 3.0] + 5.0
    x, training = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.bool, [])
    y = layers.batch_norm(x, is_training=training, decay=0.5, fused=fused, scope="n")
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    mean = framework.get_unique_variable("n/moving_mean")
    with _initialized() as session:
        made, _ = session.run([y, updates], {x: data, training: True})
        np.testing.assert_allclose(made.std(0), 1.0, atol=1e-3)
        np.testing.assert_allclose(session.run(mean), data.mean(0) / 2, rtol=1e-4)
        made, _ = session.run([y, updates], {x: data, training: False})
        np.testing.assert_allclose(session.run(mean), data.mean(0) / 2, rtol=1e-4)
        assert made.mean() > 1


def test_batch_norm_updates_with_the_layer_where_there_is_no_collection():
    x = tf.placeholder(tf.float32, [None, 2])
    y = layers.batch_norm(x, updates_collections=None, decay=0.0, scope="n")
    assert tf.get_collection(tf.GraphKeys.UPDATE_OPS) == []
    with _initialized() as session:
        session.run(y, {x: [[1.0, 2.0], [3.0, 6.0]]})
        assert session.run(framework.get_unique_variable("n/moving_mean")).tolist() == [2.0, 4.0]


def test_layer_norm_normalizes_each_example():
    y = layers.layer_norm(tf.constant([[1.0, 2.0, 3.0], [10.0, 20.0, 60.0]]))
    with _initialized() as session:
        made = session.run(y)
    np.testing.assert_allclose(made.mean(1), 0, atol=1e-6)
    np.testing.assert_allclose(made.std(1), 1, rtol=1e-5)


def test_initializers_spread_as_they_say():
    with _initialized() as session:
        wide = session.run(layers.xavier_initializer(seed=1)([200, 100]))
        assert np.abs(wide).max() <= np.sqrt(3 / 150)
        assert wide.std() == pytest.approx(np.sqrt(1 / 150), rel=0.05)
        kernel = session.run(layers.variance_scaling_initializer(seed=1)([3, 3, 50, 40]))
        assert kernel.std() == pytest.approx(np.sqrt(2 / 450), rel=0.05)
    with pytest.raises(TypeError, match="Unknown mode"):
        layers.variance_scaling_initializer(mode="FAN")
    with pytest.raises(TypeError, match="non-floating"):
        layers.xavier_initializer(dtype=tf.int32)


def test_regularizers():
    weights = tf.constant([1.0, -2.0])
    with tf.Session() as session:
        assert session.run(layers.l1_regularizer(0.5)(weights)) == 1.5
        assert session.run(layers.l2_regularizer(0.5)(weights)) == 1.25
        assert session.run(layers.l1_l2_regularizer(0.5, 0.5)(weights)) == 2.75
        assert session.run(layers.apply_regularization(layers.l2_regularizer(1.0), [weights, weights])) == 5.0
    assert layers.l2_regularizer(0.0)(weights) is None
    with pytest.raises(ValueError, match="scale cannot be an integer: 1"):
        layers.l1_regularizer(1)
    with pytest.raises(ValueError, match="less than 0"):
        layers.l2_regularizer(-0.5)


@pytest.mark.parametrize(
    "optimizer", ["SGD", "Adam", tf.train.AdagradOptimizer, lambda rate: tf.train.MomentumOptimizer(rate, 0.9)]
)
def test_optimize_loss_trains_and_counts(optimizer):
    w = tf.get_variable("w", [2], initializer=tf.constant_initializer(3.0))
    step = tf.train.get_or_create_global_step()
    train = layers.optimize_loss(tf.reduce_sum(w * w), step, 0.1, optimizer, clip_gradients=5.0)
    assert _names(tf.get_collection(tf.GraphKeys.SUMMARIES)) == [
        "OptimizeLoss/global_norm/gradient_norm:0",
        "OptimizeLoss/loss:0",
        "OptimizeLoss/global_norm/clipped_gradient_norm:0",
    ]
    with _initialized() as session:
        losses = [session.run(train) for _ in range(20)]
        assert session.run(step) == 20
    assert losses[-1] < losses[0]


def test_optimize_loss_runs_updates_first_and_refuses_what_it_does_not_know():
    w = tf.get_variable("w", [], initializer=tf.constant_initializer(1.0))
    seen = tf.Variable(0, trainable=False)
    train = layers.optimize_loss(w * w, None, 0.1, "SGD", update_ops=[seen.assign_add(1)], gradient_multipliers={"w": 0.0})
    with _initialized() as session:
        session.run(train)
        assert session.run([seen, w]) == [1, 1.0]
    for arguments in ({"optimizer": "Nothing"}, {"optimizer": 3}, {"optimizer": "SGD", "summaries": ["x"]}):
        with pytest.raises(ValueError, match=r"Optimizer name|Unrecognized optimizer|Summaries should"):
            layers.optimize_loss(w * w, None, 0.1, **arguments)


def test_summaries_of_activations():
    outputs = tf.nn.relu(tf.constant([-1.0, 1.0, 2.0, -3.0]), name="out")
    histogram = layers.summarize_activation(outputs)
    assert histogram.name == "out/activation:0"
    zeros, _ = tf.get_collection(tf.GraphKeys.SUMMARIES)
    with tf.Session() as session:
        assert tf.Summary.FromString(session.run(zeros)).value[0].simple_value == 0.5


def test_variables_are_found_by_scope_suffix_and_name():
    with tf.variable_scope("a"):
        framework.model_variable("weights", [1])
        framework.variable("biases", [1])
    framework.local_variable(1.0, name="local")
    assert _names(framework.get_variables("a")) == ["a/weights:0", "a/biases:0"]
    assert _names(framework.get_variables(suffix="biases")) == ["a/biases:0"]
    assert _names(framework.get_variables_by_name("weights")) == ["a/weights:0"]
    assert _names(framework.get_model_variables()) == ["a/weights:0"]
    assert _names(framework.get_local_variables()) == ["local:0"]
    assert _names(framework.get_variables_to_restore(exclude=["a/biases"])) == ["a/weights:0"]
    assert _names(framework.filter_variables(framework.get_variables(), ["bias"])) == ["a/biases:0"]
    with pytest.raises(ValueError, match="Couldn't find variable b"):
        framework.get_unique_variable("b")
    assign = framework.assign_from_values_fn({"a/weights": [7.0]})
    with _initialized() as session:
        assign(session)
        assert session.run(framework.get_unique_variable("a/weights")).tolist() == [7.0]


def test_variables_come_back_from_a_checkpoint(tmp_path):
    first = framework.model_variable("first", [2], initializer=tf.ones_initializer())
    with _initialized() as session:
        path = tf.train.Saver([first]).save(session, str(tmp_path / "model"))
    missing = framework.model_variable("second", [2], initializer=tf.zeros_initializer())
    restore = framework.assign_from_checkpoint_fn(path, [first, missing], ignore_missing_vars=True)
    with _initialized() as session:
        session.run(first.assign([5.0, 5.0]))
        restore(session)
        assert session.run(first).tolist() == [1.0, 1.0]


def test_a_checkpoint_is_assigned_by_an_operation_with_feeds(tmp_path):
    saved = tf.get_variable("saved", initializer=[1.0, 2.0, 3.0])
    with _initialized() as session:
        path = tf.train.Saver([saved]).save(session, str(tmp_path / "model"))
    same = tf.get_variable("same", [3])
    assign, feeds = framework.assign_from_checkpoint(path, {"saved": same})
    assert sorted(value.tolist() for value in feeds.values()) == [[1.0, 2.0, 3.0]]
    part, more = slim.assign_from_checkpoint(path, [same, saved], ignore_missing_vars=True)
    assert len(more) == 1
    with _initialized() as session:
        session.run(assign, feeds)
        assert session.run(same).tolist() == [1.0, 2.0, 3.0]
        session.run(saved.assign([0.0, 0.0, 0.0]))
        session.run(part, more)
        assert session.run(saved).tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(ValueError, match=r"Checkpoint is missing variable \[same\]"):
        framework.assign_from_checkpoint(path, [same])
    with pytest.raises(ValueError, match="Total size of new array must be unchanged for saved"):
        framework.assign_from_checkpoint(path, {"saved": tf.get_variable("other", [2])})


def test_a_partitioned_variable_gets_its_parts_of_a_checkpoint(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.get_variable("whole", initializer=[1.0, 2.0, 3.0]).initializer)
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
    parts = tf.get_variable("whole", [3], partitioner=tf.fixed_size_partitioner(2))
    assign, feeds = framework.assign_from_checkpoint(path, list(parts))
    with _initialized() as session:
        session.run(assign, feeds)
        assert [part.tolist() for part in session.run(list(parts))] == [[1.0, 2.0], [3.0]]


def test_losses_take_predictions_first_and_are_collected():
    logits, labels = tf.constant([[2.0, 1.0]]), tf.constant([[1.0, 0.0]])
    loss = slim.losses.softmax_cross_entropy(logits, labels)
    assert slim.losses.get_losses() == [loss]
    with tf.Session() as session:
        assert session.run(slim.losses.get_total_loss()) == pytest.approx(np.log(1 + np.exp(-1)), rel=1e-5)
        _, update = tf.contrib.metrics.streaming_accuracy(tf.constant([1, 2]), tf.constant([1, 3]))
        session.run(tf.local_variables_initializer())
        assert session.run(update) == 0.5


def test_stack_and_repeat_number_their_layers():
    x = tf.ones([2, 3])
    assert layers.stack(x, layers.fully_connected, [4, 5], scope="s").name == "s/s_2/Relu:0"
    layers.repeat(x, 2, layers.fully_connected, 3, scope="r")
    expected = [f"{s}/{s}_{n}/{v}:0" for s in "sr" for n in (1, 2) for v in ("weights", "biases")]
    assert _names(tf.global_variables()) == expected
