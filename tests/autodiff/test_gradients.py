"""tf.gradients against derivatives known by hand and against finite differences."""

import numpy as np
import pytest

import weft as tf


@pytest.fixture(autouse=True)
def _fresh_graph():
    with tf.Graph().as_default():
        yield


def run(fetches, feed_dict=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feed_dict)


def op_names():
    return [op.name for op in tf.get_default_graph().get_operations()]


def test_the_gradient_of_a_product_is_the_other_factor():
    a, b = tf.constant([2.0, 3.0]), tf.constant([5.0, 7.0])
    da, db = run(tf.gradients(a * b, [a, b]))
    np.testing.assert_array_equal(da, [5, 7])
    np.testing.assert_array_equal(db, [2, 3])


def test_gradients_of_several_ys_are_summed():
    x = tf.constant(3.0)
    assert run(tf.gradients([x * x, 2.0 * x], x)) == [8.0]


def test_an_x_may_lie_between_another_x_and_y():
    x = tf.constant(3.0)
    middle = x * 2.0
    assert run(tf.gradients(middle * middle, [x, middle])) == [24.0, 12.0]


def test_an_x_may_be_the_y_itself():
    x = tf.constant([1.0, 2.0])
    np.testing.assert_array_equal(run(tf.gradients(x, x))[0], [1, 1])


def test_an_x_that_y_does_not_depend_on_gets_none():
    x, other = tf.constant(1.0), tf.constant(2.0)
    assert tf.gradients(x * x, [other]) == [None]


def test_unconnected_gradients_may_be_zeros():
    x, other = tf.constant(1.0), tf.constant([2.0, 3.0])
    found = tf.gradients(x * x, [x, other], unconnected_gradients=tf.UnconnectedGradients.ZERO)
    assert run(found)[1].tolist() == [0.0, 0.0]
    assert run(tf.gradients(x, other, unconnected_gradients="zero"))[0].tolist() == [0.0, 0.0]


def test_an_unknown_kind_of_unconnected_gradients_is_refused():
    x = tf.constant(1.0)
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients: 'nonsense'"):
        tf.gradients(x, x, unconnected_gradients="nonsense")


def test_grad_ys_replace_the_ones_that_gradients_start_from():
    x = tf.constant([1.0, 2.0])
    assert run(tf.gradients(x * x, x, grad_ys=tf.constant([10.0, 100.0])))[0].tolist() == [20.0, 400.0]
    assert run(tf.gradients([x * x, x], x, grad_ys=[None, [1.0, 2.0]]))[0].tolist() == [3.0, 6.0]


def test_grad_ys_of_a_vector_are_summed_for_a_scalar():
    x = tf.constant(3.0)
    (gradient,) = tf.gradients(x + 1.0, x, grad_ys=tf.constant([10.0]))
    assert gradient.shape.as_list() == []
    assert run(gradient) == 10.0


def test_as_many_grad_ys_as_ys_are_needed():
    x = tf.constant(1.0)
    with pytest.raises(ValueError, match="Passed 2 grad_ys for 1 ys"):
        tf.gradients(x, x, grad_ys=[1.0, 1.0])


def test_grad_ys_of_another_kind_are_refused():
    x = tf.constant(1.0)
    with pytest.raises(TypeError, match="must be real or integer"):
        tf.gradients(x, x, grad_ys=[tf.constant(1j)])


def test_a_complex_y_needs_a_grad_y():
    x = tf.constant(1j)
    with pytest.raises(TypeError, match="Gradients of complex tensors must set grad_ys"):
        tf.gradients(x * x, x)


def test_stop_gradients_are_constants():
    a = tf.constant(2.0)
    b = 3.0 * a
    partial = tf.gradients(a * b, [a, b], stop_gradients=[a, b])
    assert run(partial) == [6.0, 2.0]


def test_stop_gradient_ends_the_walk():
    x = tf.constant(2.0)
    assert run(tf.gradients(x * tf.stop_gradient(x), x)) == [2.0]


def test_contributions_meet_in_one_add_n():
    x = tf.constant(3.0)
    found = tf.gradients(x * 2.0 + x * 4.0 + x * 8.0, x)
    assert [op.type for op in tf.get_default_graph().get_operations()].count("AddN") == 1
    assert found[0].name == "gradients/AddN:0"
    assert run(found) == [14.0]


@pytest.mark.parametrize("method", [tf.AggregationMethod.EXPERIMENTAL_TREE, tf.AggregationMethod.EXPERIMENTAL_ACCUMULATE_N])
def test_contributions_may_be_summed_in_pairs(method):
    x = tf.constant(3.0, name="x")
    found = tf.gradients(x * 2.0 + x * 4.0 + x * 8.0, x, aggregation_method=method)
    assert "gradients/x_gradient_sum/AddN_1" in op_names()
    assert run(found) == [14.0]


def test_an_unknown_aggregation_method_is_refused():
    x = tf.constant(1.0)
    with pytest.raises(ValueError, match="Invalid aggregation_method specified 7"):
        tf.gradients(x, x, aggregation_method=7)


@pytest.mark.parametrize(
    ("compute", "name"),
    [
        (tf.reduce_sum, "Sum_grad/Tile"),
        (tf.reduce_mean, "Mean_grad/truediv"),
        (tf.reduce_max, "Max_grad/mul"),
        (lambda row: np.ones([2, 3], np.float32) + row, "add_grad/Reshape_1"),
        (lambda row: row - np.ones([2, 3], np.float32), "sub_grad/Reshape"),
        (lambda row: np.ones([2, 3], np.float32) * row, "mul_grad/Reshape_1"),
        (lambda row: np.ones([2, 3], np.float32) / row, "truediv_grad/Reshape_1"),
        (lambda row: tf.maximum(np.ones([2, 3], np.float32), row), "Maximum_grad/Reshape_1"),
        (lambda row: row**2.0, "pow_grad/mul_1"),
    ],
)
def test_a_gradient_has_the_name_that_it_has_in_tensorflow(compute, name):
    row = tf.constant([1.0, 2.0, 3.0])
    assert tf.gradients(compute(row), row)[0].op.name == f"gradients/{name}"


def test_nodes_are_named_after_the_op_that_they_differentiate():
    a, b = tf.constant([[1.0]], name="a"), tf.constant([[2.0]], name="b")
    with tf.get_default_graph().name_scope("layer"):
        product = tf.matmul(a, b)
    tf.gradients(product, [a, b])
    names = op_names()
    assert {"gradients/Shape", "gradients/grad_ys_0", "gradients/Fill"} <= set(names)
    assert "gradients/layer/MatMul_grad/MatMul" in names
    assert "gradients/layer/MatMul_grad/MatMul_1" in names
    tf.gradients(product, [a], name="second")
    assert "second/layer/MatMul_grad/MatMul" in op_names()


def test_gated_gradients_wait_for_each_other():
    a, b = tf.constant([[1.0]]), tf.constant([[2.0]])
    da, db = tf.gradients(tf.matmul(a, b), [a, b], gate_gradients=True)
    assert da.op.type == "Identity"
    gate = da.op.control_inputs[0]
    assert gate is db.op.control_inputs[0]
    assert {op.type for op in gate.control_inputs} == {"MatMul"}
    assert run([da, db]) == [[[2.0]], [[1.0]]]


def test_gradient_nodes_may_be_beside_their_ops():
    with tf.get_default_graph().device("/job:ps/task:1"):
        a = tf.constant([[1.0]], name="a")
    with tf.get_default_graph().device("/job:worker/task:3"):
        product = tf.matmul(a, a, name="product")
    found = tf.gradients(product, a, colocate_gradients_with_ops=True)[0]
    graph = tf.get_default_graph()
    assert graph.get_operation_by_name("gradients/product_grad/MatMul").device == "/job:worker/task:3"
    assert b"loc:@product" in graph.get_operation_by_name("gradients/product_grad/MatMul").colocation_groups()
    assert found.dtype == tf.float32


def test_gradients_of_a_gather_are_indexed_slices():
    table = tf.Variable(np.arange(12, dtype=np.float32).reshape(6, 2))
    rows = tf.gather(table, [1, 3, 1])
    found = tf.gradients(rows * 2.0, table)[0]
    assert isinstance(found, tf.IndexedSlices)
    values, indices, dense_shape = run(found)
    np.testing.assert_array_equal(values, np.full((3, 2), 2.0))
    assert indices.tolist() == [1, 3, 1]
    assert dense_shape.tolist() == [6, 2]


def test_slices_from_several_gathers_are_joined():
    table = tf.Variable(np.zeros((6, 2), np.float32))
    first, second = tf.gather(table, [1, 3]), tf.gather(table, [3])
    found = tf.gradients([first, second * 3.0], table)[0]
    values, indices, _ = run(found)
    assert sorted(zip(indices.tolist(), values[:, 0].tolist(), strict=True)) == [(1, 1.0), (3, 1.0), (3, 3.0)]


def test_slices_and_a_tensor_make_a_tensor():
    table = tf.Variable(np.zeros((4, 2), np.float32))
    found = tf.gradients([tf.gather(table, [1, 1]), table], table)[0]
    assert isinstance(found, tf.Tensor)
    np.testing.assert_array_equal(run(found)[:, 0], [1, 3, 1, 1])


def test_slices_pass_through_a_variables_own_reading():
    table = tf.Variable(np.zeros((4, 2), np.float32))
    found = tf.gradients(tf.gather(tf.identity(table), [2]), table)[0]
    assert isinstance(found, tf.IndexedSlices)


def test_outputs_that_y_does_not_use_count_as_zeros():
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    first, _ = tf.split(x, 2)
    assert run(tf.gradients(first * first, x))[0].tolist() == [2.0, 4.0, 0.0, 0.0]


def test_second_derivatives():
    x = tf.constant(2.0)
    first = tf.gradients(x * x * x, x)[0]
    second = tf.gradients(first, x)[0]
    third = tf.gradients(second, x)[0]
    assert run([first, second, third]) == [12.0, 12.0, 6.0]


def test_gradients_stop_at_integers():
    x = tf.constant(2.7)
    assert tf.gradients(tf.to_float(tf.to_int32(x)), x) == [None]


def test_an_op_that_is_declared_without_gradient_gives_none():
    x = tf.constant([1.0, 2.0])
    assert tf.gradients(tf.to_float(tf.argmax(x)), x) == [None]


def test_no_gradient_for_an_unregistered_name_is_a_lookup_error():
    x = tf.constant(1.0)
    with tf.get_default_graph().gradient_override_map({"Exp": "NobodyRegisteredThis"}):
        y = tf.exp(x, name="power")
    with pytest.raises(LookupError, match=r"No gradient defined for operation 'power' \(op type: Exp\)"):
        tf.gradients(y, x)


def test_an_overriding_gradient_is_used():
    @tf.RegisterGradient("TimesTenForTest")
    def times_ten(op, grad):
        return grad * 10.0

    x = tf.constant(1.0)
    with tf.get_default_graph().gradient_override_map({"Identity": "TimesTenForTest"}):
        y = tf.identity(x)
    assert run(tf.gradients(y, x)) == [10.0]


def test_a_gradient_may_be_registered_once():
    tf.NotDifferentiable("RegisteredTwiceForTest")
    with pytest.raises(KeyError, match="Registering two gradient with name 'RegisteredTwiceForTest'"):
        tf.NoGradient("RegisteredTwiceForTest")


def test_gradient_names_are_strings():
    with pytest.raises(TypeError, match="op_type must be a string"):
        tf.RegisterGradient(3)
    with pytest.raises(TypeError, match="op_type must be a string"):
        tf.NotDifferentiable(None)


def test_a_rule_must_give_one_gradient_per_input():
    @tf.RegisterGradient("TooManyForTest")
    def too_many(op, grad):
        return grad, grad

    x = tf.constant(1.0)
    with tf.get_default_graph().gradient_override_map({"Identity": "TooManyForTest"}):
        y = tf.identity(x)
    with pytest.raises(ValueError, match=r"(?s)Num gradients 2 generated for op .* do not match num inputs 1"):
        tf.gradients(y, x)


def test_a_rule_must_give_tensors():
    @tf.RegisterGradient("NotATensorForTest")
    def not_a_tensor(op, grad):
        return 3.0

    x = tf.constant(1.0)
    with tf.get_default_graph().gradient_override_map({"Identity": "NotATensorForTest"}):
        y = tf.identity(x)
    with pytest.raises(TypeError, match="Invalid gradient"):
        tf.gradients(y, x)


def test_a_gradient_of_another_shape_than_its_input_is_refused():
    @tf.RegisterGradient("WrongShapeForTest")
    def wrong_shape(op, grad):
        return tf.zeros([3])

    x = tf.constant([1.0, 2.0])
    with tf.get_default_graph().gradient_override_map({"Identity": "WrongShapeForTest"}):
        y = tf.identity(x)
    with pytest.raises(ValueError, match="Incompatible shapes between op input and calculated input gradient"):
        tf.gradients(y, x)


def test_gradients_are_built_in_the_graph_of_their_inputs():
    other = tf.Graph()
    with other.as_default():
        x = tf.constant(2.0)
        y = x * x
    with other.as_default():
        assert tf.gradients(y, x)[0].graph is other


SHAPES = {
    "dense chain": lambda x: tf.tanh(tf.matmul(tf.sigmoid(tf.matmul(x, x)), x)),
    "reused value": lambda x: tf.reduce_sum(x) * x + tf.exp(x * 0.1),
    "broadcast": lambda x: x * tf.reduce_mean(x, axis=0) - x[:, :1] / (1.0 + x * x),
    "slices and joins": lambda x: tf.concat([x[1:] * 2.0, x[:1] * x[2:3]], axis=0),
    "transposes": lambda x: tf.matmul(tf.transpose(x), tf.reshape(x, [3, 3]) * 3.0),
    "gathers": lambda x: tf.gather(x, [0, 2, 2, 1]) * tf.gather(x, [[1], [1], [0], [2]])[:, 0],
    "stacks": lambda x: tf.stack([x, x * x, tf.sqrt(x)], axis=1) * tf.expand_dims(x, 1),
    "splits": lambda x: tf.split(x, 3)[1] * tf.unstack(x)[2],
    "maxima": lambda x: tf.maximum(x, tf.transpose(x)) + tf.reduce_max(x, axis=1, keepdims=True),
    "logs": lambda x: tf.log(x) * tf.log1p(x) / tf.pow(x, 1.5),
    "diamond": lambda x: (x + 1.0) * (x - 1.0) * tf.square(x) + tf.rsqrt(x),
}


@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_gradients_agree_with_finite_differences(shape):
    rng = np.random.default_rng(7)
    value = rng.uniform(0.5, 2.0, (3, 3))
    x = tf.placeholder(tf.float64, [3, 3])
    y = SHAPES[shape](x)
    total = tf.reduce_sum(y * tf.constant(rng.uniform(size=y.shape.as_list())))
    found = tf.convert_to_tensor(tf.gradients(total, x)[0])
    step = 1e-6
    with tf.Session() as session:
        symbolic = session.run(found, {x: value})
        for place in np.ndindex(value.shape):
            moved = np.zeros_like(value)
            moved[place] = step
            slope = (session.run(total, {x: value + moved}) - session.run(total, {x: value - moved})) / (2 * step)
            assert symbolic[place] == pytest.approx(slope, rel=1e-5, abs=1e-6)


def test_hessians():
    x = tf.constant([1.0, 2.0, 3.0])
    found = tf.hessians(tf.reduce_sum(x * x * x) + x[0] * x[2], x)
    np.testing.assert_allclose(run(found)[0], [[6, 0, 1], [0, 12, 0], [1, 0, 18]])


def test_hessians_of_a_matrix_have_its_shape_twice():
    x = tf.constant([[1.0, 2.0]])
    assert run(tf.hessians(tf.reduce_sum(x * x), x))[0].shape == (1, 2, 1, 2)


def test_hessians_take_a_size_that_a_run_tells():
    x = tf.placeholder(tf.float32, [None])
    anything = tf.placeholder(tf.float32)
    with tf.Session() as session:
        for wanted in (x, anything):
            found = tf.hessians(tf.reduce_sum(wanted**3), wanted)[0]
            np.testing.assert_allclose(session.run(found, {wanted: [1, 2, 3]}), np.diag([6, 12, 18]))
            np.testing.assert_allclose(session.run(found, {wanted: [2]}), [[12]])
    assert tf.hessians(tf.reduce_sum(x**3), x)[0].shape.as_list() == [None, None]


def test_hessians_are_differentiated_once_more():
    x = tf.placeholder(tf.float32, [None])
    third = tf.gradients(tf.hessians(tf.reduce_sum(x**4), x), x)[0]
    with tf.Session() as session:
        assert session.run(third, {x: [1, 2]}).tolist() == [24, 48]


def test_hessians_of_what_is_linear_are_zeros():
    x = tf.placeholder(tf.float32, [None])
    with tf.Session() as session:
        assert session.run(tf.hessians(tf.reduce_sum(2 * x), x)[0], {x: [1, 2]}).tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("lacking", [lambda x: tf.unique(x)[0], lambda x: tf.bitcast(x, tf.float32)], ids=["unique", "bitcast"])
def test_an_op_without_a_rule_says_so(lacking):
    x = tf.constant([1.0, 2.0])
    with pytest.raises(LookupError, match="No gradient defined for operation"):
        tf.gradients(lacking(x), x)


@pytest.mark.parametrize("constant", [tf.stop_gradient, tf.ones_like, tf.random_shuffle], ids=lambda f: f.__name__)
def test_nothing_goes_back_through_what_does_not_depend_on_its_input(constant):
    x = tf.constant([1.0, 2.0])
    assert tf.gradients(constant(x), x) == [None]


def test_a_kernels_derivative_can_be_differentiated_again():
    x = tf.constant(np.eye(3) + 0.25 * np.arange(9.0).reshape(3, 3))
    (first,) = tf.gradients(tf.svd(x, compute_uv=False) ** 2, x)
    (second,) = tf.gradients(tf.reduce_sum(first), x)
    with tf.Session() as session:
        # The squares of the singular values sum up to those of the elements.
        np.testing.assert_allclose(session.run(second), np.full((3, 3), 2.0), rtol=1e-6)
