"""Ops that change parts of variables, and counters."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import weft as tf
from weft.framework.registry import op_registry
from weft.ops.state.scatter_update import resource_scatter_nd_sub

TABLE = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)
TABLE.flags.writeable = False  # as what a variable holds
UFUNCS = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Min": np.minimum, "Max": np.maximum}
BY_POSITION = ("Add", "Sub", "Min", "Max")


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def session():
    with tf.Session() as session:
        yield session


def ready(session, value, **kwargs):
    variable = tf.Variable(value, **kwargs)
    session.run(variable.initializer)
    return variable


def both_ways(name, *arguments, **attrs):
    kernel = op_registry.lookup(name).kernel
    with jax.enable_x64(True):
        compiled = jax.jit(lambda *values: kernel(jnp, *values, **attrs))(*arguments)
    return kernel(np, *arguments, **attrs), np.asarray(compiled)


@pytest.mark.parametrize("rule", [*UFUNCS, "Update"])
@pytest.mark.parametrize("prefix", ["Scatter", "ResourceScatter"])
def test_repeated_rows_are_applied_each(prefix, rule):
    indices, updates = np.array([2, 0, 2]), np.array([[1.0, 2.0], [3.0, 4.0], [0.5, 8.0]], np.float32)
    wanted = TABLE.copy()
    if rule == "Update":
        wanted[[0, 2]] = updates[[1, 2]]
        indices, updates = indices[1:], updates[1:]
    else:
        UFUNCS[rule].at(wanted, indices, updates)
    attrs = {"dtype": tf.float32} if prefix == "ResourceScatter" else {}
    for found in both_ways(f"{prefix}{rule}", TABLE, indices, updates, **attrs):
        assert np.allclose(found, wanted)


@pytest.mark.parametrize("rule", [*BY_POSITION, "Update"])
@pytest.mark.parametrize("prefix", ["ScatterNd", "ResourceScatterNd"])
def test_positions_name_elements_or_rows(prefix, rule):
    indices, updates = np.array([[0, 1], [2, 0]]), np.array([10.0, 20.0], np.float32)
    wanted = TABLE.copy()
    if rule == "Update":
        wanted[0, 1], wanted[2, 0] = updates
    else:
        UFUNCS[rule].at(wanted, tuple(indices.T), updates)
    for found in both_ways(f"{prefix}{rule}", TABLE, indices, updates):
        assert np.allclose(found, wanted)


def test_kernels_leave_the_old_value_alone_unless_it_is_given_to_them():
    kernel, one = op_registry.lookup("ScatterAdd").kernel, np.ones((1, 2), np.float32)
    assert kernel(np, TABLE, np.array([0]), one)[0, 0] == 2.0
    assert TABLE[0, 0] == 1.0
    given = TABLE.copy()
    assert kernel(np, given, np.array([0]), one) is given
    assert given[0, 0] == 2.0


def test_integer_division_drops_the_remainder():
    for found in both_ways("ScatterDiv", np.array([7, -7], np.int32), np.array([0, 1]), np.array([2, 2], np.int32)):
        assert found.tolist() == [3, -3]


def test_updates_may_be_one_number(session):
    variable = ready(session, TABLE)
    assert session.run(tf.scatter_add(variable, [0, 2], 1.0)).tolist() == [[2.0, 3.0], [3.0, 4.0], [6.0, 7.0]]


def test_indices_may_have_any_rank(session):
    variable = ready(session, TABLE)
    updated = session.run(tf.scatter_sub(variable, [[0], [0]], np.ones((2, 1, 2), np.float32)))
    assert updated.tolist() == [[-1.0, 0.0], [3.0, 4.0], [5.0, 6.0]]


def test_strings_can_be_scattered(session):
    variable = ready(session, ["a", "b"])
    assert session.run(tf.scatter_update(variable, [1], ["z"])).tolist() == [b"a", b"z"]


@pytest.mark.parametrize(
    ("function", "indices", "updates", "message"),
    [
        (tf.scatter_update, [3], [[1.0, 1.0]], r"indices\[0\] = 3 is not in \[0, 3\)"),
        (tf.scatter_add, [[0, -1]], [[[1.0, 1.0], [1.0, 1.0]]], r"indices\[0,1\] = -1 is not in \[0, 3\)"),
        (tf.scatter_nd_update, [[0, 2]], [1.0], r"indices\[0\] = \[0, 2\] does not index into shape \[3,2\]"),
    ],
)
@pytest.mark.parametrize("use_resource", [False, True])
def test_an_index_out_of_range_changes_nothing(session, use_resource, function, indices, updates, message):
    variable = ready(session, TABLE, use_resource=use_resource)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(function(variable, indices, updates))
    assert np.array_equal(session.run(variable), TABLE)


def test_shapes_that_do_not_fit_are_refused():
    variable, scalar = tf.Variable(TABLE), tf.Variable(1.0)
    with pytest.raises(ValueError, match="Dimension 1 in both shapes must be equal, but are 3 and 2"):
        tf.scatter_update(variable, [0], [[1.0, 1.0, 1.0]])
    with pytest.raises(ValueError, match="Shapes must be equal rank, but are 2 and 1"):
        tf.scatter_update(variable, 0, [[1.0, 1.0]])
    with pytest.raises(ValueError, match="Shape must be at least rank 1 but is rank 0"):
        tf.scatter_update(scalar, 0, 1.0)


def test_variables_scatter_indexed_slices(session):
    for use_resource in (False, True):
        variable = ready(session, TABLE, use_resource=use_resource)
        delta = tf.IndexedSlices(tf.ones([1, 2]), tf.constant([1]))
        session.run(tf.identity(variable.scatter_add(delta)))
        assert session.run(variable)[1].tolist() == [4.0, 5.0]
        with pytest.raises(TypeError, match="sparse_delta is not IndexedSlices"):
            variable.scatter_sub(tf.ones([1, 2]))


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_counter_stops_at_its_limit(session, use_resource):
    counter = ready(session, 3, use_resource=use_resource)
    count = counter.count_up_to(5)
    assert [session.run(count), session.run(count)] == [3, 4]
    with pytest.raises(tf.errors.OutOfRangeError, match="Reached limit of 5"):
        session.run(count)
    assert session.run(counter) == 5


def test_counting_needs_a_value(session):
    count = tf.Variable(3).count_up_to(5)
    with pytest.raises(tf.errors.FailedPreconditionError):
        session.run(count)


def test_a_counter_is_an_integer():
    with pytest.raises(TypeError, match="not in list of allowed values: int32, int64"):
        tf.count_up_to(tf.Variable(1.0), 3)


def test_gathered_gradients_of_a_resource_variable_are_slices():
    variable = tf.Variable(TABLE, use_resource=True)
    (gradient,) = tf.gradients(tf.gather(variable, [2, 2]) * 3.0, [variable])
    assert isinstance(gradient, tf.IndexedSlices)


@pytest.mark.parametrize("use_resource", [False, True])
def test_an_index_out_of_range_is_refused_by_compiled_steps_too(session, use_resource):
    variable = ready(session, TABLE, use_resource=use_resource)
    indices = tf.placeholder(tf.int32, [None])
    update = tf.identity(tf.scatter_add(variable, tf.reshape(indices, [-1, 1]), tf.ones([2, 1, 2]))).op
    for _ in range(10):
        session.run(update, {indices: [0, 2]})
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1,0\] = 3 is not in \[0, 3\)"):
        session.run(update, {indices: [0, 3]})


@pytest.mark.parametrize("level", ["OFF", "ON_2"])
def test_truths_are_subtracted_one_by_one_by_compiled_steps_too(level):
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = getattr(tf.OptimizerOptions, level)
    variable = tf.Variable([True, False, True, False], use_resource=True)
    update = resource_scatter_nd_sub(variable.handle, [[0], [1], [2], [2]], [True, True, True, True])
    with tf.control_dependencies([update]):
        after = variable.read_value()
    with tf.Session(config=config) as session:
        session.run(variable.initializer)
        assert [session.run(after).tolist() for _ in range(4)] == [[False, True, True, False], [True, False, True, False]] * 2
