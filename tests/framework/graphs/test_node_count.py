"""Nodes count as TensorFlow counts its own, which seeds random ops by that. All numbers are what TensorFlow 1.15.5 says."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import weft as tf
from weft.framework.graphs.node_count import NodeCount

_LOOP, _RNN, _LSTM, _INPUT = tf.while_loop, tf.nn.dynamic_rnn, tf.nn.rnn_cell.LSTMCell, tf.placeholder
_PROGRAMS: list[tuple[int, Callable[..., object]]] = [
    (12, lambda x, x3: _LOOP(lambda i: i < 10, lambda i: i + 1, [0])),
    (21, lambda x, x3: _LOOP(lambda i, a: i < 10, lambda i, a: (i + 1, a + x), [tf.constant(0), tf.zeros([5, 4])])),
    (25, lambda x, x3: _LOOP(lambda i: i < 10, lambda i: i + 1, [0], maximum_iterations=5)),
    (21, lambda x, x3: _LOOP(lambda i: i < 9, lambda i: _LOOP(lambda j: j < 9, lambda j: j + 1, [i]), [tf.constant(0)])),
    (23, lambda x, x3: _LOOP(lambda i, a: i < 9, lambda i, a: (i + 1, a.write(i, x)), [0, tf.TensorArray(tf.float32, 9)])),
    (12, lambda x, x3: tf.cond(_INPUT(tf.bool), lambda: x * 2.0, lambda: x + 1.0)),
    (10, lambda x, x3: tf.cond(_INPUT(tf.bool), tf.no_op, tf.no_op)),
    (25, lambda x, x3: tf.layers.dropout(x, 0.5, training=_INPUT(tf.bool))),
    (56, lambda x, x3: tf.map_fn(lambda a: a * 2.0, x)),
    (58, lambda x, x3: tf.map_fn(lambda a: a * 2.0, _INPUT(tf.float32, [None, 3]))),
    (65, lambda x, x3: tf.scan(lambda a, b: a + b, x)),
    (62, lambda x, x3: tf.scan(lambda a, b: a + b, x, initializer=tf.zeros([4]))),
    (73, lambda x, x3: tf.scan(lambda a, b: a + b, _INPUT(tf.float32, [None, 2]), reverse=True)),
    (48, lambda x, x3: tf.foldl(lambda a, b: a + b, x)),
    (52, lambda x, x3: tf.foldr(lambda a, b: a + b, _INPUT(tf.float32, [None, 2]))),
    (118, lambda x, x3: _RNN(tf.nn.rnn_cell.BasicRNNCell(7), x3, dtype=tf.float32)),
    (168, lambda x, x3: _RNN(_LSTM(7), x3, _INPUT(tf.int32, [5]), dtype=tf.float32)),
    (160, lambda x, x3: _RNN(_LSTM(7), _INPUT(tf.float32, [None, None, 4]), dtype=tf.float32)),
    (294, lambda x, x3: tf.nn.bidirectional_dynamic_rnn(_LSTM(7), _LSTM(7), x3, dtype=tf.float32)),
    (139, lambda x, x3: tf.nn.static_rnn(_LSTM(7), tf.unstack(x3, axis=1), dtype=tf.float32)),
    (25, lambda x, x3: _LSTM(7).zero_state(tf.shape(x)[0], tf.float32)),
    (24, lambda x, x3: tf.gradients(tf.reduce_max(x, 1), x)),
    (26, lambda x, x3: tf.gradients(tf.reduce_sum(x, 1), x)),
    (13, lambda x, x3: tf.gradients(tf.concat([x, x], 1), x)),
    (18, lambda x, x3: tf.gradients(tf.slice(x, [0, 1], [-1, 2]), x)),
    (58, lambda x, x3: tf.gradients(tf.nn.l2_normalize(x, 1), x)),
    (60, lambda x, x3: tf.gradients(tf.nn.moments(x, [0]), x)),
    (81, lambda x, x3: tf.train.AdamOptimizer(0.1).minimize(_loss(x))),
    (9, lambda x, x3: tf.reduce_sum(tf.Variable([1.0, 2.0]))),
    (7, lambda x, x3: tf.reduce_sum([1.0, 2.0])),
    (28, lambda x, x3: tf.boolean_mask(x, [True, False, True, False, True])),
    (12, lambda x, x3: tf.Assert(True, [x])),
    (20, lambda x, x3: tf.assert_less(x, x)),
    (12, lambda x, x3: tf.sequence_mask([1, 2, 3])),
    (35, lambda x, x3: tf.train.ExponentialMovingAverage(0.9).apply([tf.Variable(tf.zeros([2]))])),
    (43, lambda x, x3: tf.train.AdagradOptimizer(0.1).minimize(_of_rows())),
    (33, lambda x, x3: tf.train.GradientDescentOptimizer(0.1).minimize(_of_rows())),
    (26, lambda x, x3: tf.nn.zero_fraction(x)),
    (4, lambda x, x3: tf.custom_gradient(lambda a: (a * 2.0, lambda d: d))(x)),
    (11, lambda x, x3: tf.tensordot(x, x, [[1], [1]])),
    (19, lambda x, x3: tf.get_variable("v", [2, 3], initializer=tf.orthogonal_initializer())),
    (12, lambda x, x3: tf.einsum("abc,dbc->abcd", x3, tf.ones([2, 6, 4]))),
    (3, lambda x, x3: tf.einsum("ab,cb->ac", x, x)),
    (24, lambda x, x3: tf.einsum("abc,cde->abde", _INPUT(tf.float32, [None, None, 4]), tf.ones([4, 2, 3]))),
    (40, lambda x, x3: tf.einsum("bqhd,bkhd->bhqk", *(_INPUT(tf.float32, [None, None, 2, 3]) for _ in range(2)))),
    (60, lambda x, x3: tf.einsum("ab,bc,c->a", *(_INPUT(tf.float32, [None] * k) for k in (2, 2, 1)))),
    (8, lambda x, x3: tf.einsum("...b,b->...", x3, tf.ones([4]))),
    (4, lambda x, x3: tf.einsum("abc->ca", x3)),
    (4, lambda x, x3: tf.nn.swish(x)),
    (63, lambda x, x3: tf.image.rot90(x3)),
    (63, lambda x, x3: tf.image.rot90(x3, _INPUT(tf.int32, []))),
    (35, lambda x, x3: tf.image.psnr(x3, x3, 1.0)),
    (210, lambda x, x3: tf.image.ssim(x3, x3, 1.0, filter_size=3)),
    (468, lambda x, x3: tf.image.ssim_multiscale(x3, x3, 1.0, [0.5, 0.5], filter_size=2)),
    (112, lambda x, x3: tf.nn.nce_loss(tf.ones([9, 4]), tf.ones([9]), tf.ones([5, 1], tf.int64), x, 3, 9)),
    (143, lambda x, x3: tf.nn.sampled_softmax_loss(tf.ones([9, 4]), tf.ones([9]), tf.ones([5, 1], tf.int64), x, 3, 9)),
    (107, lambda x, x3: tf.confusion_matrix([0, 1], [1, 1], 2)),
    (35, lambda x, x3: tf.nn.softmax(x3, axis=-2)),
    (15, lambda x, x3: tf.nn.atrous_conv2d(tf.ones([1, 8, 8, 3]), tf.ones([3, 3, 3, 4]), 2, "SAME")),
    (77, lambda x, x3: tf.nn.atrous_conv2d(_INPUT(tf.float32, [None, None, None, 3]), tf.ones([3, 3, 3, 4]), 2, "VALID")),
    (18, lambda x, x3: tf.nn.convolution(x3, tf.ones([3, 4, 2]), "VALID", dilation_rate=[2])),
    (92, lambda x, x3: tf.layers.conv2d(_INPUT(tf.float32, [None, None, None, 3]), 4, 3, dilation_rate=2, padding="same")),
    (33, lambda x, x3: tf.layers.conv1d(x3, 4, 3, dilation_rate=2, padding="same")),
    (30, lambda x, x3: tf.contrib.layers.conv2d(_INPUT(tf.float32, [1, 8, 8, 3]), 4, 3, rate=2)),
    (22, lambda x, x3: tf.contrib.layers.instance_norm(x3)),
    (26, lambda x, x3: tf.contrib.layers.instance_norm(x3, data_format="NCHW")),
    (33, lambda x, x3: tf.contrib.layers.group_norm(x3, 2, reduction_axes=(-2,))),
    (20, lambda x, x3: tf.contrib.layers.unit_norm(x3, 1)),
    (8, lambda x, x3: tf.contrib.layers.one_hot_encoding(_INPUT(tf.int32, [None]), 5)),
    (43, lambda x, x3: tf.nn.rnn_cell.DropoutWrapper(
        tf.nn.rnn_cell.LSTMCell(3), 0.5, variational_recurrent=True, input_size=4, dtype=tf.float32)),
    (4, lambda x, x3: tf.contrib.seq2seq.GreedyEmbeddingHelper(lambda ids: ids, [1, 1], 2)),
    (174, lambda x, x3: _attended(None)),
    (133, lambda x, x3: _attended(4)),
    (2, lambda x, x3: tf.verify_tensor_all_finite(x, "bad")),
    (21, lambda x, x3: tf.repeat(x, _INPUT(tf.int32, []), axis=0)),
    (47, lambda x, x3: tf.repeat(x, _INPUT(tf.int64, [5]), axis=0)),
    (71, lambda x, x3: tf.repeat(x3, _INPUT(tf.int32, [6]), axis=1)),
    (58, lambda x, x3: tf.repeat(x, _INPUT(tf.int32), axis=0)),
    (28, lambda x, x3: tf.layers.dropout(x, 0.5, training=_training(False))),
    (33, lambda x, x3: tf.layers.dropout(x, 0.5, training=_training(True))),
    (76, lambda x, x3: tf.layers.batch_normalization(x, training=_training(False))),
    (93, lambda x, x3: tf.layers.batch_normalization(x, training=_training(True))),
    (163, lambda x, x3: tf.layers.batch_normalization(x, training=_training(False), renorm=True)),
    (196, lambda x, x3: tf.layers.batch_normalization(x, training=_training(True), renorm=True)),
]  # fmt: skip


def _loss(x: tf.Tensor) -> tf.Tensor:
    w, b = tf.get_variable("w", [4, 3]), tf.get_variable("b", [3], initializer=tf.zeros_initializer())
    return tf.reduce_mean(tf.square(tf.matmul(x, w) + b))


def _attended(batch: int | None) -> object:
    memory = _INPUT(tf.float32, [batch, None, 8])
    attention = tf.contrib.seq2seq.LuongAttention(8, memory)
    wrapper = tf.contrib.seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(8), attention)
    state = wrapper.zero_state(batch or tf.shape(memory)[0], tf.float32)
    return state.clone(cell_state=_INPUT(tf.float32, [None, 8]))


def _training(is_resource: bool) -> tf.Variable:
    return tf.get_variable("training", initializer=True, trainable=False, use_resource=is_resource)


def _of_rows() -> tf.Tensor:
    return tf.reduce_sum(tf.gather(tf.Variable(tf.zeros([5, 2])), [1, 2]))


@pytest.mark.parametrize(("nodes", "program"), _PROGRAMS)
def test_programs_count_as_many_nodes_as_in_tensorflow(graph: tf.Graph, nodes: int, program: Callable[..., object]) -> None:
    x, x3 = tf.placeholder(tf.float32, [5, 4]), tf.placeholder(tf.float32, [5, 6, 4])
    before = graph.last_id
    program(x, x3)
    assert graph.last_id - before == nodes


class _Draws:
    """Random scalars, and the seeds that were there for them."""

    def __init__(self) -> None:
        tf.set_random_seed(1)
        self.seeds: list[int] = []

    def __call__(self) -> tf.Tensor:
        self.seeds.append(tf.get_seed(None)[1])
        return tf.random_uniform([])


def test_random_nodes_in_branches_and_loops_get_tensorflows_seeds() -> None:
    draw, chosen = _Draws(), tf.placeholder(tf.bool)
    tf.while_loop(lambda i: i < 3.0, lambda i: i + tf.cond(chosen, draw, draw) + draw(), [0.0])
    draw()
    assert draw.seeds == [14, 21, 30, 40]


def test_random_nodes_of_a_mapped_function_get_tensorflows_seeds() -> None:
    draw = _Draws()
    tf.map_fn(lambda a: a * draw(), tf.ones([3, 2]))
    draw()
    assert draw.seeds == [40, 63]


def test_variables_that_a_cell_makes_in_a_loop_get_tensorflows_seeds() -> None:
    tf.set_random_seed(1)
    cells = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(3), tf.nn.rnn_cell.LSTMCell(3)])
    tf.nn.dynamic_rnn(cells, tf.ones([2, 5, 4]), dtype=tf.float32)
    seeds = [op.get_attr("seed2") for op in tf.get_default_graph().get_operations() if op.type == "RandomUniform"]
    assert seeds == [110, 144]


def test_both_branches_of_a_function_count_from_its_own_beginning() -> None:
    draw = _Draws()
    tf.data.Dataset.range(3).map(lambda x: tf.cond(x > 0, draw, draw) + draw())
    assert draw.seeds == [0, 0, 5]


def test_an_import_counts_the_nodes_that_are_imported(graph: tf.Graph) -> None:
    with tf.Graph().as_default() as other:
        tf.cond(tf.placeholder(tf.bool), lambda: tf.ones([2]), lambda: tf.zeros([2]))
    exported = other.as_graph_def()
    tf.import_graph_def(exported)
    assert graph.last_id == len(exported.node)


def test_a_block_counts_as_many_nodes_as_it_is_said_to() -> None:
    count = NodeCount()
    with count.as_many_as(3):
        count.total += 7
    assert count.total == 3


def test_what_a_graph_makes_once_is_new_once() -> None:
    count = NodeCount()
    assert [count.is_new(key) for key in ("axes", "axes", "others")] == [True, False, True]


def test_constants_behind_some_functions_have_the_numbers_of_tensorflow(graph: tf.Graph) -> None:
    tf.split(tf.zeros([4], name="z"), 2)
    tf.custom_gradient(lambda a: (a, lambda d: d))(tf.zeros([2], name="z"))
    tf.reduce_sum(tf.Variable(1.0))
    tf.reduce_sum(tf.get_variable("v", []))
    assert [tf.constant(1).op.name, tf.identity(1).op.name] == ["Const_1", "Identity_1"]
    assert [op.name for op in graph.get_operations() if op.type in ("Range", "Sum")] == ["range", "Sum", "range_1", "Sum_1"]
