"""Layers of one's own and their scopes."""

import pytest

import weft as tf


def names():
    return [each.name for each in tf.global_variables()]


def test_the_call_gives_the_scope_of_the_variables():
    x = tf.placeholder(tf.float32, [None, 3])
    with tf.variable_scope("fc0"):
        layer = tf.layers.Dense(2)
        first = layer.apply(x, scope=tf.get_variable_scope())
        second = layer(x, scope="other")
    assert [first.name, second.name] == ["fc0/BiasAdd:0", "fc0/BiasAdd_1:0"]
    assert names() == ["fc0/kernel:0", "fc0/bias:0"]
    again = tf.layers.Dense(2, _reuse=True)
    again(x, scope="fc0")
    assert names() == ["fc0/kernel:0", "fc0/bias:0"]


@pytest.mark.parametrize(
    ("layer", "scope", "expected"),
    [
        ({}, "named", "named"),
        ({"name": "mine"}, "given", "given"),
        ({"name": "mine"}, None, "mine"),
        ({"_scope": "own"}, "not", "own"),
        ({}, None, "dense"),
    ],
)
def test_a_scope_that_the_layer_was_given_wins(layer, scope, expected):
    tf.layers.Dense(2, **layer)(tf.placeholder(tf.float32, [None, 3]), scope=scope)
    assert names() == [f"{expected}/kernel:0", f"{expected}/bias:0"]


def test_the_call_of_a_layer_of_ones_own_is_not_given_the_scope():
    class Scaled(tf.layers.Layer):
        def call(self, inputs, scale=1):
            return inputs * scale

    with tf.Session() as session:
        assert session.run(Scaled()(tf.constant([1.0]), scale=2, scope="s")).tolist() == [2.0]


def test_a_call_that_has_a_scope_is_given_that_of_the_variables():
    class Told(tf.layers.Layer):
        def call(self, inputs, scope):
            return tf.constant(scope.name)

    class Cell(tf.nn.rnn_cell.RNNCell):
        state_size = output_size = 2

        def call(self, inputs, state, scope=None):
            return tf.constant(scope.name), state

    x = tf.zeros([1, 2])
    layer = Told()
    told = [layer(x), layer(x, scope="late"), Told()(x, scope="given"), Cell()(x, x)[0], Cell()(x, x, scope="rnn/mine")[0]]
    with tf.Session() as session:
        assert session.run(told) == [b"told", b"told", b"given", b"cell", b"rnn/mine"]


# The values of these two are TensorFlow 1.15.5's.
def test_layers_and_cells_make_their_variables_by_the_add_weight_of_a_subclass():
    made = []

    class Noted:
        def add_weight(self, name, *args, **kwargs):
            made.append(name)
            return super().add_weight(name, *args, **kwargs)

    class Dense(Noted, tf.layers.Dense):
        pass

    class Cell(Noted, tf.nn.rnn_cell.GRUCell):
        pass

    Dense(2)(tf.ones([2, 3]))
    Cell(2)(tf.ones([2, 3]), tf.zeros([2, 2]))
    assert made == ["kernel", "bias", "gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias"]


@pytest.mark.parametrize("of_cell", [False, True])
def test_a_variable_is_trained_unless_it_is_read_alone_or_its_layer_is_frozen(of_cell):
    class Made:
        def build(self, shape):
            self.add_variable("plain", [1], trainable=None)
            self.add_variable("read", [1], synchronization=tf.VariableSynchronization.ON_READ)
            self.built = True

    class Layer(Made, tf.layers.Layer):
        def call(self, inputs):
            return inputs

    class Cell(Made, tf.nn.rnn_cell.RNNCell):
        state_size = output_size = 3

        def call(self, inputs, state):
            return inputs, state

    def names(trainable):
        layer = (Cell if of_cell else Layer)(name=f"made_{trainable}", trainable=trainable)
        layer(*[tf.ones([2, 3])] * (1 + of_cell))
        layer.trainable = True
        return [
            [each.op.name.split("/")[1] for each in them] for them in (layer.trainable_weights, layer.non_trainable_weights)
        ]

    assert names(True) == [["plain"], ["read"]]
    # What was made by a frozen one stays untrained.
    assert names(False) == [[], ["plain", "read"]]
    assert [each.op.name for each in tf.trainable_variables()] == ["made_True/plain"]
