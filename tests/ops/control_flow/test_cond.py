"""tf.cond: the branch taken, its side effects, its gradients and its errors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import weft as tf
from tests.ops.both_ways import assert_gradient, each_way, own_graph, session

_ = own_graph


def _predicate():
    return tf.placeholder(tf.bool, [], name="p")


@each_way
def test_gives_what_the_branch_taken_returns(way):
    p, x = _predicate(), tf.placeholder(tf.float32, [2])
    y = tf.cond(p, lambda: x + 1, lambda: x * 10)
    with session(way) as sess:
        assert sess.run(y, {p: True, x: [1, 2]}).tolist() == [2, 3]
        assert sess.run(y, {p: False, x: [1, 2]}).tolist() == [10, 20]


def test_names_its_outputs_as_merges():
    assert tf.cond(_predicate(), lambda: tf.constant(1.0), lambda: tf.constant(2.0)).name == "cond/Merge:0"


def test_knows_of_the_shape_what_both_branches_have_in_common():
    p = _predicate()
    assert tf.cond(p, lambda: tf.zeros([2, 3]), lambda: tf.zeros([2, 4])).shape.as_list() == [2, None]
    assert tf.cond(p, lambda: tf.zeros([2]), lambda: tf.zeros([2, 1])).shape.ndims is None


@pytest.mark.parametrize("use_resource", [False, True])
@each_way
def test_assigns_only_in_the_branch_taken(way, use_resource):
    p, v = _predicate(), tf.Variable(1.0, use_resource=use_resource)
    y = tf.cond(p, lambda: tf.identity(tf.assign_add(v, 1.0)), lambda: tf.constant(0.0))
    with session(way) as sess:
        assert sess.run(y, {p: False}) == 0
        assert sess.run(v) == 1
        assert sess.run(y, {p: True}) == 2
        assert sess.run(v) == 2


@each_way
def test_runs_operations_of_the_branch_taken(way):
    p, v = _predicate(), tf.Variable(1.0)
    done = tf.cond(p, lambda: v.assign(5.0).op, lambda: tf.no_op())
    assert done.dtype is tf.bool
    with session(way) as sess:
        sess.run(done, {p: False})
        assert sess.run(v) == 1
        sess.run(done, {p: True})
        assert sess.run(v) == 5


def test_calls_python_only_in_the_branch_taken():
    calls = []
    p = _predicate()
    y = tf.cond(p, lambda: tf.py_func(lambda: calls.append(1) or np.float32(1), [], tf.float32), lambda: tf.constant(2.0))
    with session("compiled") as sess:
        assert sess.run(y, {p: False}) == 2
        assert calls == []
        assert sess.run(y, {p: True}) == 1
        assert calls == [1]


def test_checks_only_in_the_branch_taken():
    p, x = _predicate(), tf.placeholder(tf.float32, [])

    def checked():
        with tf.control_dependencies([tf.Assert(x > 0, [x])]):
            return tf.identity(x)

    y = tf.cond(p, checked, lambda: -x)
    with session("interpreted") as sess:
        assert sess.run(y, {p: False, x: -1}) == 1
        with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
            sess.run(y, {p: True, x: -1})


@each_way
def test_reads_after_an_assignment_in_the_same_branch(way):
    p, v = _predicate(), tf.Variable(1.0)

    def raised():
        with tf.control_dependencies([v.assign_add(1.0)]):
            return v.read_value() * 10

    y = tf.cond(p, raised, lambda: tf.identity(v))
    with session(way) as sess:
        assert sess.run(y, {p: True}) == 20


@each_way
def test_nests(way):
    p, q, v = _predicate(), tf.placeholder(tf.bool, []), tf.Variable(0.0)
    y = tf.cond(p, lambda: tf.cond(q, lambda: v.assign_add(1.0), lambda: v.assign_add(10.0)), lambda: tf.constant(-1.0))
    with session(way) as sess:
        assert [sess.run(y, {p: a, q: b}) for a, b in ((1, 1), (1, 0), (0, 1), (1, 1))] == [1, 11, -1, 12]


def test_initializes_a_variable_in_a_branch():
    p, v = _predicate(), tf.Variable(3.0)
    y = tf.cond(p, lambda: tf.assign(v, 7.0), lambda: tf.constant(0.0))
    with tf.Session() as sess:
        assert sess.run(y, {p: False}) == 0
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value Variable"):
            sess.run(v)
        assert sess.run(y, {p: True}) == 7


def test_waits_for_what_a_branch_was_told_to_wait_for():
    p, v = _predicate(), tf.Variable(1.0)
    outside = v.assign(5.0)

    def after():
        with tf.control_dependencies([outside]):
            return tf.identity(v.read_value())

    y = tf.cond(p, after, lambda: tf.constant(0.0))
    with session("interpreted") as sess:
        assert sess.run(y, {p: True}) == 5


def test_keeps_the_structure_of_what_the_branches_return():
    p, x = _predicate(), tf.constant(1.0)
    made = tf.cond(p, lambda: {"a": [x, x + 1], "b": (x,)}, lambda: {"a": [x, x + 2], "b": (x,)})
    assert set(made) == {"a", "b"}
    assert isinstance(made["a"], list)
    assert isinstance(tf.cond(p, lambda: [x], lambda: [x]), tf.Tensor)
    assert isinstance(tf.cond(p, lambda: [x], lambda: [x], strict=True), list)


def test_carries_sparse_tensors():
    p = _predicate()
    sparse = tf.SparseTensor([[0]], [1.0], [3])
    y = tf.cond(p, lambda: sparse, lambda: tf.SparseTensor([[1], [2]], [5.0, 6.0], [3]))
    with session("interpreted") as sess:
        assert sess.run(y, {p: False}).values.tolist() == [5, 6]
        assert sess.run(y, {p: True}).indices.tolist() == [[0]]


@each_way
def test_gradient_is_that_of_the_branch_taken(way):
    p, x = _predicate(), tf.placeholder(tf.float64, [3])
    y = tf.cond(p, lambda: tf.exp(x) * tf.sin(x), lambda: x * x)
    with session(way) as sess:
        for taken in (True, False):
            assert_gradient(sess, y, x, [0.1, 0.2, 0.3], feed_dict={p: taken})


@each_way
def test_gradient_of_variables_used_in_one_branch(way):
    p = _predicate()
    v, r = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0], use_resource=True)
    y = tf.cond(p, lambda: tf.reduce_sum(v * v * r), lambda: tf.constant(0.0))
    grads = tf.gradients(y, [v, r])
    with session(way) as sess:
        assert [g.tolist() for g in sess.run(grads, {p: True})] == [[6, 16], [1, 4]]
        assert [g.tolist() for g in sess.run(grads, {p: False})] == [[0, 0], [0, 0]]


def test_gradient_uses_the_random_values_of_the_forward_branch():
    p, x = _predicate(), tf.placeholder(tf.float32, [5])
    y = tf.cond(p, lambda: x * tf.random_uniform([5]), lambda: x)
    grad = tf.gradients(y, x)[0]
    with session("interpreted") as sess:
        forward, backward = sess.run([y, grad], {p: True, x: np.ones(5)})
        np.testing.assert_array_equal(forward, backward)


def test_travels_in_a_graph_def():
    p, x = _predicate(), tf.placeholder(tf.float32, [], name="x")
    y = tf.cond(p, lambda: tf.cond(x > 0, lambda: x, lambda: -x), lambda: x * 2)
    proto = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default():
        for _ in range(2):
            (copy,) = tf.import_graph_def(proto, {"p:0": tf.constant(True), "x:0": tf.constant(-4.0)}, [y.name])
            with tf.Session() as sess:
                assert sess.run(copy) == 4


def test_a_value_of_a_branch_is_one_outside_where_the_branch_ran():
    p, x, inside = _predicate(), tf.constant(1.0), []
    tf.cond(p, lambda: inside.append(x + 1) or x, lambda: x)
    doubled, again = inside[0] * 2, tf.cond(p, lambda: inside[0] * 3, lambda: x)
    with tf.Session() as session:
        assert session.run([doubled, again], {p: True}) == [4, 6]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Retval\[0\] does not have value"):
            session.run(doubled, {p: False})


def test_a_value_of_a_branch_is_not_fetched_itself():
    p, x, inside = _predicate(), tf.constant(1.0), []
    tf.cond(p, lambda: inside.append(x + 1) or x, lambda: x)
    assert not tf.get_default_graph().is_fetchable(inside[0])
    with tf.Session() as session, pytest.raises(ValueError, match="'cond/add' has been marked as not fetchable"):
        session.run(inside[0], {p: True})


def test_nodes_outside_wait_for_an_operation_of_a_branch():
    p, v, inside = _predicate(), tf.Variable(0), []
    tf.cond(p, lambda: inside.append(tf.assign_add(v, 1).op) or 1, lambda: 2)
    with tf.control_dependencies(inside):
        waited = tf.constant(7)
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(waited, {p: True}) == 7
        assert session.run(v) == 1
        with pytest.raises(tf.errors.InvalidArgumentError, match="does not have value"):
            session.run(waited, {p: False})
        assert session.run(v) == 1


def test_a_value_of_a_branch_in_a_branch_is_one_outside():
    p, q, x, inside = _predicate(), tf.placeholder(tf.bool, []), tf.constant(1.0), []
    tf.cond(p, lambda: tf.cond(q, lambda: inside.append(x + 1) or x, lambda: x), lambda: x)
    doubled = inside[0] * 2
    with tf.Session() as session:
        assert session.run(doubled, {p: True, q: True}) == 4
        for fed in ({p: True, q: False}, {p: False, q: True}):
            with pytest.raises(tf.errors.InvalidArgumentError, match="does not have value"):
                session.run(doubled, fed)


def test_gradients_go_through_a_value_of_a_branch():
    p, x, inside = _predicate(), tf.constant(3.0), []
    y = tf.cond(p, lambda: inside.append(x * x) or inside[0] + 1, lambda: 5 * x)
    (gradient,) = tf.gradients(inside[0] * 2 + y, x)
    with tf.Session() as session:
        assert session.run(gradient, {p: True}) == 18
        assert session.run(tf.gradients(inside[0], x)[0], {p: True}) == 6


def test_results_that_are_not_fetched_are_not_computed():
    p, a, b = _predicate(), tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    v = tf.Variable(0)
    x, y, z = tf.cond(p, lambda: (a + 1, b + 1, tf.assign_add(v, 1)), lambda: (a * 2, b * 2, tf.identity(v)))
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(x, {a: 3, p: True}) == 4
        assert session.run([y, x], {a: 3, b: 4, p: False}) == [8, 6]
        assert session.run(v) == 0
        assert session.run([z, y], {b: 4, p: True}) == [1, 5]
        with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value"):
            session.run(x, {b: 3, p: True})


def test_a_branch_in_a_branch_is_not_fed_for_results_that_are_not_fetched():
    p, a, b = _predicate(), tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    x, y = tf.cond(p, lambda: tf.cond(a > b, lambda: (a, b), lambda: (-a, -b)), lambda: (a * 2, b * 2))
    kept, _ = tf.cond(p, lambda: tf.cond(p, lambda: (a, b), lambda: (-a, -b)), lambda: (a * 2, b * 2))
    with tf.Session() as session:
        assert session.run(kept, {a: 3, p: True}) == 3
        assert session.run([x, y], {a: 3, b: 4, p: True}) == [-3, -4]
        with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value"):
            session.run(x, {a: 3, p: True})


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((True, lambda: 1, lambda: 2), TypeError, "pred must not be a Python bool"),
        ((None, None, lambda: 2), TypeError, r"cond\(\): true_fn argument required"),
        ((None, lambda: 2), TypeError, r"cond\(\): false_fn argument required"),
        ((None, 1, lambda: 2), TypeError, "true_fn must be callable"),
        ((None, lambda: 2, 1), TypeError, "false_fn must be callable"),
        ((None, lambda: None, lambda: 1), ValueError, "true_fn must have a return value"),
        ((None, lambda: 1, lambda: None), ValueError, "false_fn must have a return value"),
        ((None, lambda: 1, lambda: 1.0), ValueError, "must have the same type"),
        ((None, lambda: (1, 2), lambda: 1), ValueError, "The two structures don't have the same nested structure"),
        ((None, lambda: {"a": 1}, lambda: {"b": 1}), ValueError, "don't have the same set of keys"),
    ],
)
def test_refuses(arguments, error, text):
    pred = _predicate() if arguments[0] is None else arguments[0]
    with pytest.raises(error, match=text):
        tf.cond(pred, *arguments[1:])


def test_refuses_a_predicate_that_is_no_bool_scalar():
    with pytest.raises(TypeError, match="expected type of bool"):
        tf.cond(tf.constant(1), lambda: 1, lambda: 2)
    with pytest.raises(ValueError, match="rank 0"):
        tf.cond(tf.constant([True]), lambda: 1, lambda: 2)


@each_way
def test_reads_in_one_branch_what_the_other_updates(way):
    p, v = _predicate(), tf.Variable(1.0)
    y = tf.cond(p, lambda: tf.identity(v.assign_add(1.0)), lambda: v.read_value() * 10)
    with session(way) as sess:
        assert [sess.run(y, {p: taken}) for taken in (False, True, False)] == [10, 2, 20]


def test_an_operation_that_a_branch_returns_stands_for_the_predicate():
    predicate = tf.placeholder(tf.bool, [])
    ran = tf.cond(predicate, tf.no_op, tf.no_op)
    with session("interpreted") as sess:
        assert [bool(sess.run(ran, {predicate: value})) for value in (True, False)] == [True, False]


def test_a_variable_made_in_a_branch_has_the_name_of_its_variable_scope():
    predicate = tf.placeholder(tf.bool, [])
    y = tf.cond(predicate, lambda: tf.get_variable("v", [2], initializer=tf.ones_initializer()) * 2, lambda: tf.zeros([2]))
    assert [variable.name for variable in tf.global_variables()] == ["v:0"]
    with session("interpreted") as sess:
        assert sess.run(y, {predicate: True}).tolist() == [2, 2]


def test_a_tensor_that_left_its_loop_is_told_where_it_belongs():
    left = []
    tf.while_loop(lambda i: i < 3, lambda i: left.append(i * 2) or left[0] + 1, [0])
    with pytest.raises(ValueError, match=r"Cannot use 'while/mul' as input to 'add' because 'while/mul' is in a while loop"):
        left[0] + 1
    with pytest.raises(ValueError, match=r"Cannot use 'while/mul' as input to 'Neg' because 'while/mul' is in a while loop"):
        tf.negative(left)


def test_nodes_of_a_branch_carry_the_devices_around_them():
    devices = []

    def branch():
        devices.append(tf.negative(1.0).device)
        with tf.device("/cpu:1"):
            devices.append(tf.negative(1.0).device)
        return tf.constant(1.0)

    with tf.device("/job:worker/task:1"):
        tf.cond(tf.constant(True), branch, lambda: tf.constant(1.0))
    assert devices == ["/job:worker/task:1", "/job:worker/task:1/device:CPU:1"]


@each_way
def test_a_branch_that_is_not_chosen_reads_no_resource_variable(way):
    variable = tf.get_variable("v", [], initializer=tf.ones_initializer(), use_resource=True)
    chosen = tf.placeholder(tf.bool, [])
    y = tf.cond(chosen, lambda: variable * 2.0, lambda: tf.constant(0.0))
    with tf.Session() as sess:
        assert sess.run(y, {chosen: False}) == 0
    with session(way) as sess:
        assert sess.run(y, {chosen: True}) == 2


@each_way
def test_gradients_within_a_branch_reach_what_is_outside(way):
    x, chosen = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.bool, [])
    outside = tf.sin(x)
    y = tf.cond(chosen, lambda: tf.gradients(x * x * x + outside, x)[0], lambda: x)
    at = np.array([1.0, 2.0], np.float32)
    with session(way) as sess:
        np.testing.assert_allclose(sess.run(y, {x: at, chosen: True}), 3 * at**2 + np.cos(at), rtol=1e-5)
        np.testing.assert_allclose(sess.run(y, {x: at, chosen: False}), at)


@each_way
@pytest.mark.parametrize("use_resource", [False, True])
def test_a_branch_may_train(way, use_resource):
    v = tf.get_variable("v", [2], initializer=tf.ones_initializer(), use_resource=use_resource)
    chosen = tf.placeholder(tf.bool, [])
    train = tf.cond(chosen, lambda: tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(v * v)), tf.no_op)
    assert [each.name for each in tf.global_variables()] == ["v:0", "v/Momentum:0"]
    assert tf.get_collection(tf.GraphKeys.TRAIN_OP) == []
    with session(way) as sess:
        sess.run(train, {chosen: False})
        assert sess.run(v).tolist() == [1, 1]
        sess.run(train, {chosen: True})
        assert sess.run(v).tolist() == pytest.approx([0.8, 0.8])


def test_a_branch_that_is_not_chosen_reads_no_variable():
    variable = tf.Variable([1.0, 2.0])
    value = tf.cond(tf.is_variable_initialized(variable), variable.read_value, lambda: variable.initial_value + 1.0)
    nested = tf.cond(tf.constant(True), lambda: tf.cond(tf.is_variable_initialized(variable), variable.read_value,
                                                        lambda: variable.initial_value), lambda: tf.zeros([2]))  # fmt: skip
    with tf.Session() as session:
        assert session.run(value).tolist() == [2.0, 3.0]
        assert session.run(nested).tolist() == [1.0, 2.0]
        session.run(variable.initializer)
        assert session.run(value).tolist() == [1.0, 2.0]


def test_gradients_go_through_what_a_branch_reads():
    variable, other = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0], use_resource=True)
    chosen = tf.placeholder(tf.bool, [])
    value = tf.cond(chosen, lambda: variable.read_value() * other, lambda: variable.read_value())
    gradients = tf.gradients(value, [variable, other])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert [each.tolist() for each in session.run(gradients, {chosen: True})] == [[3.0, 4.0], [1.0, 2.0]]
        assert [each.tolist() for each in session.run(gradients, {chosen: False})] == [[1.0, 1.0], [0.0, 0.0]]


def test_a_variable_of_another_task_comes_in_as_its_value():
    with tf.device("/job:ps/task:0"):
        variable = tf.Variable(1.0)
    with tf.device("/job:worker/task:0"):
        value = tf.cond(tf.constant(True), variable.read_value, lambda: tf.constant(2.0))
    node = next(op for op in tf.get_default_graph().get_operations() if "If" in op.type)
    body = tf.get_default_graph().get_function(node.attrs["then_branch"])
    assert value.dtype == tf.float32
    assert not any(tensor.dtype.is_ref for tensor in body.inputs)


@pytest.mark.parametrize("kinds", [(tf.int32, tf.int64), (tf.int64, tf.int32), (tf.int32, tf.int32)])
def test_slices_of_branches_have_indices_of_one_type(kinds):
    values, chosen = tf.constant([10.0, 20.0]), tf.placeholder(tf.bool, [])
    first, second = (lambda kind=kind, by=by: tf.IndexedSlices(values + by, tf.constant([0, 1], kind))
                     for kind, by in zip(kinds, (1.0, -1.0), strict=True))  # fmt: skip
    slices = tf.cond(chosen, first, second)
    assert slices.indices.dtype == (tf.int32 if kinds[0] == kinds[1] else tf.int64)
    with tf.Session() as session:
        assert session.run(slices, {chosen: True}).values.tolist() == [11.0, 21.0]
        assert session.run(slices, {chosen: False}).values.tolist() == [9.0, 19.0]


def test_a_named_tuple_of_one_field_is_unpacked_as_a_list_of_one_is() -> None:
    class One(NamedTuple):
        value: tf.Tensor

    def chosen(strict: bool) -> Any:
        return tf.cond(tf.constant(True), lambda: One(tf.constant(1)), lambda: One(tf.constant(2)), strict=strict)

    assert isinstance(chosen(False), tf.Tensor)
    assert isinstance(chosen(True), One)
