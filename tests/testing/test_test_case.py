"""tf.test: the test case, its comparisons, gradient checks, benchmarks."""

from __future__ import annotations

import os
import sys
import unittest

import numpy as np
import pytest
from absl import flags

import weft as tf


class _Case(tf.test.TestCase):
    """Holds no tests of its own: the functions below call its methods."""

    def runTest(self):
        pass


@pytest.fixture
def case():
    made = _Case()
    made.setUp()
    yield made
    made.tearDown()


def test_each_test_has_a_new_graph_and_the_same_seeds(case):
    assert tf.get_default_graph().get_operations() == []
    assert tf.get_default_graph().seed == 87654321
    drawn = np.random.rand()
    case.setUp()
    assert np.random.rand() == drawn


def test_a_session_is_the_default_one(case):
    with case.session() as sess:
        case.assertAllEqual(tf.square([2, 3]).eval(), [4, 9])
        assert tf.get_default_session() is sess


def test_the_cached_session_is_one(case):
    with case.cached_session() as first:
        pass
    with case.test_session() as second:
        assert first is second
        case.assertAllEqual(tf.constant([1]), [1])
    with pytest.raises(ValueError, match="different than the one"), case.cached_session(graph=tf.Graph()):
        pass


def test_evaluate_keeps_the_nesting(case):
    with case.cached_session():
        assert case.evaluate({"a": tf.constant(1), "b": [tf.constant(2), 3]}) == {"a": 1, "b": [2, 3]}


def test_close_values_pass_and_others_fail(case):
    case.assertAllClose([1.0, 2.0], [1.0, 2.0 + 1e-7])
    case.assertAllClose({"a": (1.0, [2.0, 3.0])}, {"a": (1.0, [2.0, 3.0])})
    case.assertAllClose(np.float16(1.0), np.float16(1.0005))
    case.assertNotAllClose([1.0], [1.1])
    case.assertAllCloseAccordingToType(np.float16([1.0]), [1.0005])
    for pair in (([1.0], [1.1]), ([1.0], [1.0, 1.0]), ({"a": 1.0}, {"b": 1.0}), ([1.0], {"a": 1.0})):
        with pytest.raises(AssertionError):
            case.assertAllClose(*pair)


def test_equal_values_pass_and_others_fail(case):
    case.assertAllEqual([1, 2], tf.constant([1, 2]))
    case.assertAllEqual([np.nan], [np.nan])
    case.assertAllEqual(tf.constant(["a"]), ["a"])
    case.assertNotAllEqual([1], [2])
    for pair in (([1], [2]), ([1], [[1]]), (["a"], ["b"])):
        with pytest.raises(AssertionError):
            case.assertAllEqual(*pair)


@pytest.mark.parametrize(
    ("method", "passing", "failing"),
    [
        ("assertAllGreater", ([2, 3], 1), ([1, 3], 1)),
        ("assertAllLess", ([2, 3], 4), ([1, 4], 4)),
        ("assertAllGreaterEqual", ([1, 3], 1), ([0, 3], 1)),
        ("assertAllLessEqual", ([4, 3], 4), ([1, 5], 4)),
        ("assertAllInRange", ([1, 3], 1, 3), ([1, 4], 1, 3)),
        ("assertAllInSet", ([1, 3], {1, 3}), ([1, 4], {1, 3})),
        ("assertNear", (1.0, 1.05, 0.1), (1.0, 1.2, 0.1)),
        ("assertArrayNear", ([1.0], [1.05], 0.1), ([1.0], [1.2], 0.1)),
        ("assertNDArrayNear", ([1.0], [1.05], 0.1), ([1.0], [1.2], 0.1)),
        ("assertStartsWith", ("abc", "ab"), ("abc", "bc")),
        ("assertDeviceEqual", ("/job:a/device:CPU:0", "/job:a/cpu:0"), ("/job:a", "/job:b")),
        ("assertDTypeEqual", (np.float32(1), tf.float32), (np.float32(1), tf.int32)),
        ("assertProtoEquals", ("node { name: 'a' }", tf.GraphDef(node=[tf.NodeDef(name="a")])),
         ("node { name: 'b' }", tf.GraphDef(node=[tf.NodeDef(name="a")]))),
    ],
)  # fmt: skip
def test_an_assertion_passes_and_fails(case, method, passing, failing):
    getattr(case, method)(*passing)
    with pytest.raises(AssertionError):
        getattr(case, method)(*failing)


def test_a_static_shape_is_compared(case):
    case.assertShapeEqual(np.zeros((2, 3)), tf.zeros([2, 3]))
    with pytest.raises(AssertionError):
        case.assertShapeEqual(np.zeros((2, 3)), tf.zeros([3, 2]))


def test_errors_of_operations_are_matched(case):
    with case.session() as sess:
        with case.assertRaisesOpError("is not in"):
            sess.run(tf.gather([1, 2], [5]))
        with pytest.raises(AssertionError), case.assertRaisesOpError("something else"):
            sess.run(tf.gather([1, 2], [5]))
    with pytest.raises(AssertionError, match="not raised"), case.assertRaisesOpError("x"):
        pass
    with case.assertRaisesWithPredicateMatch(ValueError, lambda error: "rank" in str(error)):
        tf.matmul([1.0], [2.0])


def test_a_checked_thread_fails_the_test_that_joins_it(case):
    thread = case.checkedThread(lambda: 1 // 0)
    thread.start()
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        thread.join()


def test_both_jacobians_agree_where_the_gradient_is_right():
    with tf.Graph().as_default(), tf.Session():
        x = tf.placeholder(tf.float64, [2, 3])
        y = tf.reduce_sum(x**3, 1)
        by_graph, by_differences = tf.test.compute_gradient(x, [2, 3], y, [2], x_init_value=np.arange(6.0).reshape(2, 3))
        assert by_graph.shape == (6, 2)
        np.testing.assert_allclose(by_graph, by_differences, atol=1e-5)
        assert tf.test.compute_gradient_error(x, [2, 3], y, [2]) < 1e-4


def test_the_values_of_a_gradient_check_may_be_in_any_order():
    with tf.Graph().as_default(), tf.Session():
        x = tf.placeholder(tf.float32, [2, 3])
        values = np.asfortranarray(np.arange(6.0, dtype=np.float32).reshape(2, 3))
        assert tf.test.compute_gradient_error(x, [2, 3], tf.tanh(x), [2, 3], values) < 1e-3


def test_set_up_begins_with_another_cached_session(case):
    with case.cached_session() as first:
        pass
    case.setUp()
    variable = tf.Variable([1.0, 2.0])
    case.evaluate(variable.initializer)
    assert case.evaluate(variable).tolist() == [1, 2]
    with case.cached_session() as second:
        assert second is not first


def test_ragged_tensors_are_evaluated_and_compared_row_by_row(case):
    rows, fractions = tf.ragged.constant([[1, 2], [3]]), tf.ragged.constant([[1.0, 2.0], [3.0]])
    with case.session():
        value = case.evaluate({"a": rows})["a"]
        assert value.to_list() == [[1, 2], [3]]
        for same in ([[1, 2], [3]], rows, value):
            case.assertAllEqual(rows, same)
            case.assertAllEqual(same, rows)
        case.assertAllClose({"a": fractions}, {"a": [[1, 2], [3.0000001]]})
        for other in ([[1, 2], [4]], [[1, 2], [3, 4]], tf.ragged.constant([[1], [2, 3]])):
            with pytest.raises(AssertionError):
                case.assertAllEqual(rows, other)
            with pytest.raises(AssertionError, match="are not close"):
                case.assertAllClose(rows, other)
        with pytest.raises(AssertionError, match="1 and 0 dimensions are ragged"):
            case.assertAllEqual(tf.ragged.constant([[1], [3]]), np.array([[1], [3]]))


def test_a_wrong_gradient_shows():
    @tf.custom_gradient
    def wrong(x):
        return x * 2.0, lambda grad: grad

    with tf.Graph().as_default(), tf.Session():
        x = tf.placeholder(tf.float64, [2])
        assert tf.test.compute_gradient_error(x, [2], wrong(x), [2]) > 0.9


def test_a_benchmark_runs_as_often_as_it_is_told():
    with tf.Graph().as_default(), tf.Session() as sess:
        count = tf.Variable(0)
        sess.run(count.initializer)
        found = tf.test.Benchmark().run_op_benchmark(sess, tf.assign_add(count, 1), burn_iters=1, min_iters=4)
        assert sess.run(count) == 5
    assert found["iters"] == 4
    assert found["wall_time"] > 0


def test_equal_graphs_are_equal_in_any_order():
    def graph(*names):
        return tf.GraphDef(node=[tf.NodeDef(name=name, op="NoOp") for name in names])

    tf.test.assert_equal_graph_def(graph("a", "b"), graph("b", "a"))
    with pytest.raises(AssertionError, match="missing: \\['c'\\]"):
        tf.test.assert_equal_graph_def(graph("a"), graph("a", "c"))


def test_a_local_cluster_has_workers_and_servers_of_variables():
    workers, servers = tf.test.create_local_cluster(1, 1)
    try:
        with tf.Graph().as_default():
            with tf.device("/job:ps/task:0"):
                value = tf.Variable(3.0)
            with tf.Session(workers[0].target) as sess:
                sess.run(value.initializer)
                assert sess.run(value) == 3.0
    finally:
        for server in [*workers, *servers]:
            server.stop()


def test_the_case_is_a_unittest_case():
    assert issubclass(tf.test.TestCase, unittest.TestCase)
    assert tf.test.gpu_device_name() in ("", "/device:GPU:0")


def test_values_that_are_evaluated_together_are_of_one_step(case):
    element = tf.data.Dataset.range(10).make_one_shot_iterator().get_next()
    doubled = element * 2
    for step in range(3):
        assert case.evaluate((element, doubled, "kept")) == (step, 2 * step, "kept")


def test_what_is_evaluated_without_a_session_shares_one(case):
    variable = tf.Variable(2.0, use_resource=True)
    case.evaluate(tf.global_variables_initializer())
    case.evaluate(variable.assign_add(1.0))
    case.assertAllEqual(variable, 3.0)


def test_a_tensor_of_another_graph_than_the_shared_session_s_is_evaluated_too(case):
    with tf.Graph().as_default():
        other = tf.constant(3)
    case.assertAllEqual(tf.constant(2), 2)
    case.assertAllEqual(other, 3)


def test_lists_of_unlike_lengths_are_compared(case):
    case.assertAllEqual([[1], 2, [3, 4]], [[1], 2, [3, 4]])
    with pytest.raises(AssertionError):
        case.assertAllEqual([[1], 2, [3, 4]], [[1], 2, [3, 5]])


def test_a_graph_def_is_compared_beside_its_versions(case):
    tf.no_op(name="n")
    found = tf.get_default_graph().as_graph_def()
    case.assertProtoEqualsVersion("node { name: 'n' op: 'NoOp' }", found)
    with pytest.raises(AssertionError, match="differ"):
        case.assertProtoEqualsVersion("node { name: 'm' op: 'NoOp' }", found)


def test_what_is_written_to_a_stream_is_captured(case):
    with case.captureWritesToStream(sys.stderr) as written:
        os.write(2, "also from C: ä".encode())
    assert written.contents() == "also from C: ä"
    assert "CapturedWrites" in repr(written)


def test_the_folder_that_a_flag_names_is_made(tmp_path, monkeypatch):
    monkeypatch.setattr(flags.FLAGS["test_tmpdir"], "value", str(tmp_path / "named"))
    monkeypatch.setattr(type(flags.FLAGS), "is_parsed", lambda flag_values: True)
    assert tf.test.get_temp_dir() == str(tmp_path / "named")
    assert (tmp_path / "named").is_dir()
