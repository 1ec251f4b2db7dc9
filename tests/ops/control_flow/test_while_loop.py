"""tf.while_loop: values, shapes, state, nesting, gradients and errors."""

from __future__ import annotations

import collections

import numpy as np
import pytest

import weft as tf
from tests.ops.both_ways import assert_gradient, each_way, own_graph, session
from weft.passes.stage import Kind, Staging

_ = own_graph


def _kinds(fetch, *feeds):
    """How the If and While nodes behind a tensor run."""
    graph = tf.get_default_graph()
    ops = graph.get_operations()
    staging = Staging(ops, dict.fromkeys(ops, "/device:CPU:0"), feeds)
    return {staging.kinds[op] for op in ops if op.op_def.bodies}


@each_way
def test_repeats_while_the_condition_holds(way):
    n = tf.placeholder(tf.int32, [])
    i, total = tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i), [0, 0])
    with session(way) as sess:
        assert [sess.run([i, total], {n: k}) for k in (0, 1, 5)] == [[0, 0], [1, 0], [5, 10]]


def test_names_its_outputs_as_exits():
    assert tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)]).name == "while/Exit:0"


def test_returns_one_variable_alone_unless_asked():
    loop = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)], return_same_structure=True)
    assert isinstance(loop, list)


@each_way
def test_stops_at_the_maximum_of_iterations(way):
    x = tf.while_loop(lambda x: x < 1000, lambda x: x * 2, [tf.constant(1)], maximum_iterations=3)
    with session(way) as sess:
        assert sess.run(x) == 8


@pytest.mark.parametrize("use_resource", [False, True])
@each_way
def test_updates_variables_in_every_iteration(way, use_resource):
    v = tf.Variable(1.0, use_resource=use_resource)

    def body(i):
        with tf.control_dependencies([tf.assign_add(v, 2.0)]):
            return i + 1

    loop = tf.while_loop(lambda i: i < 4, body, [tf.constant(0)])
    with session(way) as sess:
        assert sess.run(loop) == 4
        assert sess.run(v) == 9


@each_way
def test_condition_reads_a_variable_that_the_body_changes(way):
    v = tf.Variable(0.0)

    def body(i):
        with tf.control_dependencies([v.assign_add(1.0)]):
            return i + 1

    loop = tf.while_loop(lambda i: tf.identity(v.read_value()) < 5, body, [tf.constant(0)])
    with session(way) as sess:
        assert sess.run(loop) == 5


def test_calls_python_in_every_iteration():
    seen = []

    def body(i):
        return tf.py_func(lambda k: seen.append(int(k)) or np.int32(k + 1), [i], tf.int32)

    loop = tf.while_loop(lambda i: i < 3, body, [tf.constant(0)], shape_invariants=[tf.TensorShape(None)])
    with session("compiled") as sess:
        assert sess.run(loop) == 3
    assert seen == [0, 1, 2]


@each_way
def test_shape_invariants_let_a_variable_grow(way):
    _, x = tf.while_loop(
        lambda i, x: i < 3, lambda i, x: (i + 1, tf.concat([x, [i]], 0)), [tf.constant(0), tf.zeros([0], tf.int32)],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
    )  # fmt: skip
    assert x.shape.as_list() == [None]
    with session(way) as sess:
        assert sess.run(x).tolist() == [0, 1, 2]


Pair = collections.namedtuple("Pair", "left right")


@each_way
def test_carries_nested_structures(way):
    loop_vars = {"pair": Pair(tf.constant(0), [tf.constant(1.0)]), "z": (tf.constant(2.0),)}

    def body(pair, z):
        return {"pair": Pair(pair.left + 1, [pair.right[0] * 2]), "z": (z[0] + 1,)}

    made = tf.while_loop(lambda pair, z: pair.left < 3, body, loop_vars)
    assert isinstance(made["pair"], Pair)
    with session(way) as sess:
        assert sess.run(made) == {"pair": Pair(3, [8.0]), "z": (5.0,)}


def test_carries_sparse_tensors_and_slices():
    sparse, slices = tf.SparseTensor([[0]], [1.0], [2]), tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))

    def body(i, a, b):
        return i + 1, tf.SparseTensor(a.indices, a.values * 2, a.dense_shape), tf.IndexedSlices(b.values + 1, b.indices)

    _, a, b = tf.while_loop(lambda i, a, b: i < 3, body, [tf.constant(0), sparse, slices])
    with session("interpreted") as sess:
        assert sess.run(a).values.tolist() == [8]
        assert sess.run(b.values).tolist() == [4]


@each_way
def test_random_nodes_give_new_values_in_every_iteration_and_run(way):
    def body(i, x):
        return i + 1, tf.concat([x[1:], [tf.random_uniform([])]], 0)

    x = tf.while_loop(lambda i, x: i < 3, body, [tf.constant(0), tf.zeros([3])])[1]
    with session(way) as sess:
        assert len({*sess.run(x).tolist(), *sess.run(x).tolist()}) == 6


@each_way
def test_nests_with_loops_and_branches(way):
    def outer(i, total):
        inner = tf.while_loop(
            lambda j, s: j < i, lambda j, s: (j + 1, tf.cond(tf.equal(j % 2, 0), lambda: s + j, lambda: s - 1)), [0, 0]
        )[1]
        return i + 1, total + inner

    total = tf.while_loop(lambda i, t: i < 6, outer, [0, 0])[1]
    expected = sum(sum(j if j % 2 == 0 else -1 for j in range(i)) for i in range(6))
    with session(way) as sess:
        assert sess.run(total) == expected


@each_way
def test_indexing_by_a_loop_variable_is_compiled(way):
    x = tf.placeholder(tf.float64, [4, 3])

    def body(i, s):
        return i + 1, s + tf.sin(x[i]) * x[i, 1] + x[:, 2][i] + tf.reshape(tf.slice(x, [i, 0], [1, 3]), [3])

    s = tf.while_loop(lambda i, s: i < 4, body, [tf.constant(0), tf.zeros([3], tf.float64)])[1]
    grad = tf.gradients(s, x)[0]
    assert _kinds(grad, x) == {Kind.COMPILED}
    with session(way) as sess:
        assert_gradient(sess, s, x, np.linspace(-1, 1, 12).reshape(4, 3), grad)


@each_way
def test_gradient_of_a_loop_with_a_known_number_of_iterations(way):
    x, w = tf.placeholder(tf.float64, [3]), tf.constant([0.5, 1.0, 1.5], tf.float64)
    y = tf.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, tf.tanh(s * w) + x), [tf.constant(0), x])[1]
    grad = tf.gradients(y, x)[0]
    assert _kinds(grad, x) == {Kind.COMPILED}
    with session(way) as sess:
        assert_gradient(sess, y, x, [0.1, 0.2, 0.3], grad)


@each_way
def test_gradient_of_a_loop_that_its_values_end(way):
    x = tf.placeholder(tf.float64, [])
    y = tf.while_loop(lambda s: s < 100.0, lambda s: s * s + x, [x * 2])
    with session(way) as sess:
        assert_gradient(sess, y, x, 1.3)


@each_way
def test_gradient_of_nested_loops_and_branches(way):
    x = tf.placeholder(tf.float64, [2])

    def outer(i, s):
        inner = tf.while_loop(lambda j, q: j < i, lambda j, q: (j + 1, tf.sin(q) * x), [0, s])[1]
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: inner + x, lambda: inner * s)

    y = tf.while_loop(lambda i, s: i < 4, outer, [0, x])[1]
    with session(way) as sess:
        assert_gradient(sess, y, x, [0.4, 0.9])


@each_way
def test_gradient_of_a_gradient(way):
    x = tf.placeholder(tf.float64, [2])
    y = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, tf.sin(s) * x), [tf.constant(0), x])[1]
    first = tf.gradients(y, x)[0]
    with session(way) as sess:
        assert_gradient(sess, first * x, x, [0.4, 0.9])


@each_way
def test_gradient_of_variables_sums_over_iterations(way):
    v, r = tf.Variable(2.0), tf.Variable(3.0, use_resource=True)
    y = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * v + r), [tf.constant(0), tf.constant(1.0)])[1]
    grads = tf.gradients(y, [v, r])
    with session(way) as sess:
        # ((v + r) v + r) v + r
        assert sess.run(grads) == [3 * 4 + 2 * 2 * 3 + 3, 4 + 2 + 1]


@each_way
def test_gradient_uses_the_random_values_of_the_forward_loop(way):
    x = tf.placeholder(tf.float32, [3])
    body = lambda i, s: (i + 1, s * tf.random_uniform([3]))  # noqa: E731
    y = tf.while_loop(lambda i, s: i < 3, body, [tf.constant(0), x])[1]
    grad = tf.gradients(y, x)[0]
    with session(way) as sess:
        forward, backward = sess.run([y, grad], {x: np.ones(3)})
        np.testing.assert_allclose(forward, backward, rtol=1e-6)


@each_way
def test_gradient_of_a_loop_that_does_not_run(way):
    n, x = tf.placeholder(tf.int32, []), tf.placeholder(tf.float64, [2])
    y = tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s * x), [tf.constant(0), x])[1]
    grad = tf.gradients(y, x)[0]
    with session(way) as sess:
        assert sess.run(grad, {n: 0, x: [2, 3]}).tolist() == [1, 1]
        assert sess.run(grad, {n: 1, x: [2, 3]}).tolist() == [4, 6]


def test_gives_no_gradient_without_back_prop():
    x = tf.constant(2.0)
    y = tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, s * x), [tf.constant(0), x], back_prop=False)[1]
    assert tf.gradients(y, x) == [None]


@each_way
def test_trains_in_a_loop(way):
    w = tf.Variable(0.0)
    y = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + w), [tf.constant(0), tf.constant(0.0)])[1]
    train = tf.train.GradientDescentOptimizer(0.05).minimize(tf.square(y - 6.0))
    with session(way) as sess:
        for _ in range(60):
            sess.run(train)
        np.testing.assert_allclose(sess.run(w), 2.0, rtol=1e-4)


def test_travels_in_a_graph_def_with_its_gradient():
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * x), [tf.constant(0), x])[1]
    grad = tf.gradients(y, x)[0]
    proto = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default():
        (copy,) = tf.import_graph_def(proto, {"x:0": tf.constant([1.0, 2.0])}, [grad.name])
        with tf.Session() as sess:
            assert sess.run(copy).tolist() == [4, 32]


def test_runs_on_a_server():
    x, v = tf.placeholder(tf.float32, [2]), tf.Variable([1.0, 2.0])
    y = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * v), [tf.constant(0), x])[1]
    update = tf.cond(x[0] > 0, lambda: v.assign_add([1.0, 1.0]), lambda: v)
    grad = tf.gradients(y, v)[0]
    with tf.train.Server.create_local_server() as server, tf.Session(server.target) as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(grad, {x: [1, 1]}).tolist() == [3, 12]
        assert sess.run(update, {x: [1, 1]}).tolist() == [2, 3]


_I = "i"


@pytest.mark.parametrize(
    ("arguments", "options", "error", "text"),
    [
        ((1, lambda i: i), {}, TypeError, "cond must be callable"),
        ((lambda i: i < 1, 1), {}, TypeError, "body must be callable"),
        ((lambda i: i < 1, lambda i: i), {"parallel_iterations": 0}, TypeError, "parallel_iterations must be a positive"),
        ((lambda i: i, lambda i: i), {}, TypeError, "does not match expected type of bool"),
        ((lambda i: [i < 1], lambda i: i), {}, ValueError, "rank 0"),
        ((lambda i: i < 1, lambda i: (i, i)), {}, ValueError, "don't have the same nested structure"),
        ((lambda i: i < 1, lambda i: None), {}, ValueError, "None values not supported"),
        ((lambda i: i < 1, lambda i: tf.no_op()), {}, TypeError, "can't convert Operation"),
        (
            (lambda i: i < 1, lambda i: tf.stack([i, i])),
            {},
            ValueError,
            r"enters the loop with shape \(\), but has shape \(2,\)",
        ),
        ((lambda i: i < 1, lambda i: i), {"shape_invariants": [tf.TensorShape([1])]}, ValueError, "shape invariant specified"),
        ((lambda i: i < 1, lambda i: i), {"maximum_iterations": [1]}, ValueError, "maximum_iterations must be a scalar"),
    ],
)
def test_refuses(arguments, options, error, text):
    with pytest.raises(error, match=text):
        tf.while_loop(*arguments, [tf.constant(0)], **options)


def test_refuses_no_variables():
    with pytest.raises(ValueError, match="No loop variables provided"):
        tf.while_loop(lambda: True, lambda: (), [])


def test_a_value_of_a_loop_is_no_value_outside():
    inside = []
    tf.while_loop(lambda i: i < 3, lambda i: (inside.append(i + 1), i + 1)[1], [tf.constant(0)])
    with pytest.raises(ValueError, match="while/"):
        tf.while_loop(lambda i: i < 3, lambda i: i + inside[0], [tf.constant(0)])
    with pytest.raises(ValueError, match="while/"):
        tf.add(inside[0], tf.constant(1))


def test_returns_the_structure_that_the_body_returns():
    zero, one = tf.constant(0), tf.constant(1.0)
    condition = lambda i, *_: i < 3  # noqa: E731
    made = tf.while_loop(condition, lambda i, j: (i + 1, j), [zero, one])
    assert isinstance(made, tuple)
    made = tf.while_loop(condition, lambda i, j: [i + 1, j], (zero, one))
    assert isinstance(made, list)
    assert isinstance(tf.while_loop(condition, lambda i: (i + 1,), [zero]), tf.Tensor)
    assert isinstance(tf.while_loop(condition, lambda i: i + 1, (zero,), return_same_structure=True), list)


def test_a_plan_that_was_made_before_a_gradient_still_runs():
    x = tf.placeholder(tf.float32, [])
    _, y = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * x), [tf.constant(0), tf.constant(2.0)])
    for way in ("interpreted", "compiled"):
        with session(way) as sess:
            assert sess.run(y, {x: 3.0}) == 54
            gradient = tf.gradients(y, x)[0]
            assert sess.run([gradient, y], {x: 3.0}) == [54, 54]
            assert sess.run(y, {x: 2.0}) == 16


def test_an_error_in_a_body_names_the_node_there():
    _, y = tf.while_loop(
        lambda i, v: i < 6, lambda i, v: (i + 1, tf.gather([1, 2, 3], i, name="row")), [tf.constant(0), tf.constant(0)]
    )
    with session("interpreted") as sess, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        sess.run(y)
    assert (caught.value.op.name, caught.value.op.type) == ("while/row", "GatherV2")
    assert caught.value.node_def.name == "while/row"


@each_way
def test_an_updated_variable_is_read_anew_in_each_iteration(way):
    v = tf.Variable(1.0)

    def body(i):
        with tf.control_dependencies([tf.assign_add(v, v * 1.0)]):
            return i + 1

    loop = tf.while_loop(lambda i: i < 5, body, [tf.constant(0)])
    with session(way) as sess:
        sess.run(loop)
        assert sess.run(v) == 32


@each_way
def test_counts_up_to_a_limit(way):
    counter = tf.Variable(0)
    loop = tf.while_loop(lambda n: n < 3, lambda n: counter.count_up_to(5), [tf.constant(-1)])
    with session(way) as sess:
        assert sess.run([loop, counter]) == [3, 4]
        with pytest.raises(tf.errors.OutOfRangeError, match="Reached limit of 5"):
            sess.run(tf.while_loop(lambda n: n < 9, lambda n: counter.count_up_to(5), [tf.constant(0)]))


def test_specs_tell_the_shapes_that_variables_keep():
    _, grown = tf.while_loop(
        lambda i, x: i < 3, lambda i, x: (i + 1, tf.concat([x, x], 0)), [tf.constant(0), tf.constant([1])],
        [tf.TensorSpec([], tf.int32), tf.TensorSpec([None], tf.int32)],
    )  # fmt: skip
    with tf.Session() as session:
        assert session.run(grown).tolist() == [1] * 8


@each_way
def test_a_variable_that_nothing_needs_is_not_computed(way):
    # As TensorFlow 1.15 does: neither is it fed, nor do its errors and side effects happen.
    p = tf.placeholder(tf.float32, [])
    v = tf.get_variable("v", [], initializer=tf.zeros_initializer(), use_resource=True)

    def body(i, x, y):
        with tf.control_dependencies([v.assign_add(1.0)]):
            x = x * 2
        return i + 1, x, tf.check_numerics(y / 0.0, "not finite") * p

    i, x, y = tf.while_loop(lambda i, x, y: i < 3, body, [0, 1.0, p])
    with session(way) as sess:
        sess.run(v.initializer)
        assert sess.run(i) == 3
        assert sess.run(v) == 0  # The update runs for what waits for it alone, which is the second variable here.
        assert sess.run([i, x]) == [3, 8.0]
        assert sess.run(v) == 3
        with pytest.raises(tf.errors.InvalidArgumentError, match="not finite"):
            sess.run(y, {p: 1.0})


@each_way
def test_gradients_need_what_their_variables_need(way):
    # TensorFlow 1.15 says 12, [336, 216], 216 and None.
    p, w = tf.placeholder(tf.float32, []), tf.constant(2.0)
    _, x, y = tf.while_loop(lambda i, x, y: i < 3, lambda i, x, y: (i + 1, x * w, y * p * w), [0, 1.0, 1.0])
    of_y, of_both, of_x = tf.gradients(y, p), tf.gradients(x + y, [w, p]), tf.gradients(x, [w, p])
    assert of_x[1] is None
    with session(way) as sess:
        assert sess.run(of_x[0]) == 12.0
        assert sess.run([of_both, of_y], {p: 3.0}) == [[336.0, 216.0], [216.0]]


def test_a_gradient_leaves_out_variables_that_it_does_not_reach():
    w = tf.constant(2.0)
    _, x, _ = tf.while_loop(lambda i, x, y: i < 3, lambda i, x, y: (i + 1, x * w, tf.sin(y) + x), [0, 1.0, 1.0])
    tf.gradients(x, w)
    assert x.op.inputs[0].op.attrs["Trecorded"] == [tf.float32, tf.int32]  # x, and the counter, which paces the loop
