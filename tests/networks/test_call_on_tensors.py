"""Models of Keras in programs that build graphs: called on tensors, trained by tf.train in sessions that servers run."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import weft as tf

keras = tf.keras


@pytest.fixture(autouse=True)
def _own_graph():
    with tf.Graph().as_default():
        yield
    keras.backend.clear_session()


def test_a_model_trains_with_an_optimizer_of_tf_train_between_parameter_server_and_worker() -> None:
    with tf.LocalCluster({"ps": 1, "worker": 1}) as cluster:
        with tf.device(tf.train.replica_device_setter(ps_tasks=1)):
            model = keras.Sequential([keras.layers.Dense(8, "relu", input_shape=(3,)), keras.layers.Dense(1)])
            x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 1])
            loss = tf.reduce_mean(keras.losses.mean_squared_error(y, model(x)))
            step = tf.train.get_or_create_global_step()
            train = tf.train.AdamOptimizer(0.05).minimize(loss, step)
        assert {each.device for each in model.weights} == {"/job:ps/task:0"}
        values = np.random.RandomState(0).rand(32, 3).astype(np.float32)
        feeds = {x: values, y: values.sum(1, keepdims=True)}
        with tf.train.MonitoredTrainingSession(cluster.target("worker", 0)) as session:
            first = session.run(loss, feeds)
            for _ in range(60):
                session.run(train, feeds)
            assert session.run(loss, feeds) < first / 10


def test_layers_are_placed_and_named_by_the_scopes_around_them() -> None:
    with tf.variable_scope("actor"), tf.device("/job:ps/task:1"):
        layer = keras.layers.Dense(2)
        made = layer(tf.zeros([1, 3]))
    assert [each.name for each in layer.weights] == ["actor/dense/kernel:0", "actor/dense/bias:0"]
    assert made.name == "actor/dense/BiasAdd:0"
    assert {each.device for each in layer.weights} == {"/job:ps/task:1"}


def test_updates_of_batch_normalization_run_beside_an_own_training_step() -> None:
    layer = keras.layers.BatchNormalization(momentum=0.5)
    x = tf.placeholder(tf.float32, [None, 2])
    layer(x, training=True)
    assert tf.get_collection(tf.GraphKeys.UPDATE_OPS) == []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(layer.updates, {x: [[2.0, 4.0], [2.0, 4.0]]})
        np.testing.assert_allclose(session.run(layer.moving_mean), [1.0, 2.0])


def test_operations_between_layers_belong_to_the_model() -> None:
    start = keras.Input((2,))
    doubled = keras.layers.Dense(2, kernel_initializer="ones")(start) * 2.0 + 1.0
    model = keras.Model(start, keras.layers.Dense(1, kernel_initializer="ones")(doubled))
    other = tf.constant([[1.0, 2.0]])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(model(other)) == pytest.approx(14.0)
        assert model.predict(np.array([[1.0, 2.0]])) == pytest.approx(14.0)


def test_layers_of_tf_layers_stand_in_models() -> None:
    model = keras.Sequential([keras.layers.Flatten(input_shape=(2, 2)), tf.layers.Dense(3, name="old")])
    assert [each.name for each in model.weights] == ["old/kernel:0", "old/bias:0"]
    assert model.predict(np.ones((5, 2, 2))).shape == (5, 3)


def test_a_layer_of_tf_layers_that_a_program_derives_is_built_with_a_tensor_shape() -> None:
    class Scaled(tf.layers.Layer):
        def build(self, input_shape):
            self.scale = self.add_variable("scale", [input_shape[-1].value], initializer=tf.ones_initializer())

        def call(self, inputs):
            return inputs * self.scale

    layer = Scaled()
    assert layer(tf.zeros([2, 3])).shape.as_list() == [2, 3]
    assert layer.scale.shape.as_list() == [3]


def test_a_graph_with_a_model_is_let_go_of() -> None:
    graph = tf.Graph()
    with graph.as_default():
        model = keras.Sequential([keras.layers.Dense(1, input_shape=(2,))])
        assert model.output.graph is graph
    gone = weakref.ref(graph)
    del graph, model
    gc.collect()
    assert gone() is None


def test_what_weft_has_not_says_what_to_do_instead() -> None:
    with pytest.raises(ValueError, match=r"make the model under tf\.distribute\.MirroredStrategy"):
        keras.utils.multi_gpu_model(None, gpus=2)


def test_a_model_that_two_branches_share_keeps_its_own_input_and_output():
    layers = tf.keras.layers
    own = layers.Input((3,))
    base = tf.keras.Model(own, layers.Dense(2)(own))
    outputs = [base(layers.Input((3,))), base(layers.Input((3,)))]
    assert base.input is own
    assert base.output is base.outputs[0]
    assert base.layers[1].input is own
    assert base.get_output_at(2) is outputs[1]


def test_the_shape_of_a_layer_on_unlike_inputs_is_none():
    layer = tf.keras.layers.Activation("relu")
    layer(tf.keras.layers.Input((3,)))
    layer(tf.keras.layers.Input((4,)))
    assert layer.input.shape.as_list() == [None, 3]
    with pytest.raises(AttributeError, match="ill-defined"):
        _ = layer.output_shape
