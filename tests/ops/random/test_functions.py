"""Random tensors: seeds, sequences, TensorFlow's numbers, and the distributions."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import weft as tf
from weft.framework.registry import op_registry
from weft.runtime.compiled.traced.streams import TracedStream
from weft.runtime.state.random_streams import RandomStream

LOGITS = np.log(np.array([[0.1, 0.2, 0.7], [0.5, 0.3, 0.2]], np.float32))
ALPHA = np.array([0.3, 1.0, 2.5], np.float32)
RATE = np.array([0.3, 4.0, 25.0], np.float32)

# The first two runs of TensorFlow's kernels with seeds (12, 99).
KNOWN = {
    "RandomUniform": (
        ([3],), {"dtype": tf.float32},
        [[0.808810, 0.395673, 0.056792], [0.717287, 0.816959, 0.577231]],
    ),
    "RandomStandardNormal": (
        ([3],), {"dtype": tf.float32},
        [[0.397096, -0.516426, -2.376443], [-0.744116, 0.332943, 1.027328]],
    ),
    "TruncatedNormal": (
        ([3],), {"dtype": tf.float32},
        [[0.397096, -0.516426, -0.298749], [-0.744116, 0.332943, 1.027328]],
    ),
    "RandomUniformInt": (([3], np.int32(-5), np.int32(100)), {}, [[10, 31, 58], [45, 17, 84]]),
    "RandomShuffle": ((np.arange(5),), {}, [[0, 1, 2, 3, 4], [1, 2, 3, 4, 0]]),
    "Multinomial": ((LOGITS, np.int32(3)), {}, [[[2, 2, 1], [2, 1, 0]], [[2, 2, 2], [0, 1, 1]]]),
    "RandomGamma": (
        ([2], ALPHA), {},
        [[[0.00218, 0.594363, 1.011439], [1.186406, 0.961944, 3.357045]],
         [[0.000031, 0.099862, 1.169613], [0.060493, 0.831440, 2.175472]]],
    ),
    "RandomPoissonV2": (
        ([2], RATE), {"dtype": tf.int64}, [[[0, 5, 22], [0, 5, 29]], [[0, 1, 25], [1, 6, 21]]],
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def seeds_of(tensor):
    while "seed" not in tensor.op.attrs:
        tensor = tensor.op.inputs[0]
    return tensor.op.attrs["seed"], tensor.op.attrs["seed2"]


def call(name, arguments, attrs, stream, compiled):
    definition = op_registry.lookup(name)
    if definition.is_host:
        return definition.kernel(None, *arguments, seed=12, seed2=99, take=stream.take, **attrs)
    if not compiled:
        return definition.kernel(np, *arguments, seed=12, seed2=99, take=stream.take, **attrs)
    taken = []

    def draw(place):
        traced = TracedStream(place)
        made = definition.kernel(jnp, *arguments, seed=12, seed2=99, take=traced.take, **attrs)
        taken.append(traced.taken)
        return made

    with jax.enable_x64(True):
        made = jax.jit(draw)(np.uint64(stream.place))
    stream.take(*taken)
    return made


@pytest.mark.parametrize("compiled", [False, True], ids=["interpreted", "compiled"])
@pytest.mark.parametrize("name", KNOWN)
def test_kernels_give_the_numbers_of_tensorflow(name, compiled):
    arguments, attrs, runs = KNOWN[name]
    arguments = [np.asarray(argument) for argument in arguments]
    stream = RandomStream("stream", 0)
    for wanted in runs:
        found = call(name, arguments, attrs, stream, compiled)
        assert np.allclose(np.asarray(found, np.float64), wanted, atol=2e-6)


def test_a_graph_seed_and_an_op_seed_are_the_seeds():
    tf.set_random_seed(5)
    assert seeds_of(tf.random_uniform([1], seed=7)) == (5, 7)


def test_an_op_seed_alone_goes_with_the_default_graph_seed():
    assert seeds_of(tf.random_uniform([1], seed=7)) == (87654321, 7)


def test_a_graph_seed_alone_goes_with_the_last_id_of_the_graph(graph):
    tf.set_random_seed(5)
    tf.constant(1.0)
    assert tf.get_seed(None) == (5, 1)
    assert seeds_of(tf.random_shuffle(tf.constant([1, 2]))) == (5, 2)


def test_no_seed_at_all_is_none():
    assert tf.get_seed(None) == (None, None)
    assert seeds_of(tf.random_uniform([1])) == (0, 0)


def test_two_zero_seeds_are_still_a_seed():
    tf.set_random_seed(0)
    assert tf.get_seed(0) == (0, 2**31 - 1)


def test_seeds_are_cut_to_31_bits():
    tf.set_random_seed(2**31)
    assert tf.get_seed(2**31 + 5) == (1, 6)


def test_a_new_session_repeats_the_sequence():
    drawn = tf.random_normal([3], seed=1)
    sequences = []
    for _ in range(2):
        with tf.Session() as session:
            sequences.append([session.run(drawn).tolist() for _ in range(3)])
    assert sequences[0] == sequences[1]
    assert sequences[0][0] != sequences[0][1]


def test_ops_without_seeds_differ():
    first, second = tf.random_uniform([4]), tf.random_uniform([4])
    with tf.Session() as session:
        values = [tuple(session.run(each).tolist()) for each in (first, second, first)]
    assert len(set(values)) == 3


def test_ops_without_seeds_differ_in_each_session_and_node_when_compiled():
    drawn = [tf.random_uniform([4]), tf.random_uniform([4]), tf.random_normal([4])]
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1
    values = []
    for _ in range(2):
        with tf.Session(config=config) as session:
            values += [tuple(value.tolist()) for _ in range(2) for value in session.run(drawn)]
    assert len(set(values)) == len(values)


def test_the_nodes_are_those_of_tensorflow(graph):
    tf.random_normal([2, 3], stddev=2.0)
    tf.random_uniform([2], maxval=9, dtype=tf.int32, name="u")
    assert [(op.name, op.type) for op in graph.get_operations()] == [
        ("random_normal/shape", "Const"), ("random_normal/mean", "Const"), ("random_normal/stddev", "Const"),
        ("random_normal/RandomStandardNormal", "RandomStandardNormal"), ("random_normal/mul", "Mul"),
        ("random_normal", "Add"), ("u/shape", "Const"), ("u/min", "Const"), ("u/max", "Const"),
        ("u", "RandomUniformInt"),
    ]  # fmt: skip


def test_shapes_are_inferred():
    assert tf.random_normal([2, tf.constant(3)]).shape.as_list() == [2, 3]
    assert tf.truncated_normal(tf.placeholder(tf.int32, [2])).shape.as_list() == [None, None]
    assert tf.random_uniform(tf.placeholder(tf.int32)).shape.ndims is None
    assert tf.random_uniform([]).shape.as_list() == []
    assert tf.multinomial(tf.zeros([5, 3]), 2).shape.as_list() == [5, 2]
    assert tf.random_gamma([4], [1.0, 2.0]).shape.as_list() == [4, 2]


def test_wrong_arguments_are_refused_while_building():
    with pytest.raises(ValueError, match=r"Must specify maxval for integer dtype tf\.int32"):
        tf.random_uniform([3], dtype=tf.int32)
    with pytest.raises(ValueError, match=r"Invalid dtype tf\.string"):
        tf.random_uniform([3], dtype=tf.string)
    with pytest.raises(ValueError, match="Shape must be rank 2 but is rank 1"):
        tf.multinomial(tf.zeros([2]), 4)


def test_an_empty_range_of_integers_is_an_error():
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.InvalidArgumentError, match="Need minval < maxval, got 5 >= 5"),
    ):
        session.run(tf.random_uniform([3], minval=5, maxval=5, dtype=tf.int32))


def run(tensor):
    with tf.Session() as session:
        return session.run(tensor)


def test_moments_are_those_of_the_distributions():
    size = [20000]
    uniform = run(tf.random_uniform(size, -1.0, 3.0, seed=1))
    assert abs(uniform.mean() - 1.0) < 0.03
    assert uniform.min() >= -1.0
    assert uniform.max() < 3.0
    normal = run(tf.random_normal(size, mean=2.0, stddev=3.0, seed=1))
    assert abs(normal.mean() - 2.0) < 0.1
    assert abs(normal.std() - 3.0) < 0.1
    cut = run(tf.truncated_normal(size, mean=2.0, stddev=0.5, seed=1))
    assert np.abs(cut - 2.0).max() <= 1.0
    assert abs(cut.std() - 0.5 * 0.8796) < 0.01
    gamma = run(tf.random_gamma(size, [0.5, 4.0], beta=2.0, seed=1))
    assert np.allclose(gamma.mean(0), [0.25, 2.0], atol=0.05)
    poisson = run(tf.random_poisson([0.5, 30.0], size, seed=1))
    assert np.allclose(poisson.mean(0), [0.5, 30.0], atol=0.2)
    classes = run(tf.multinomial(LOGITS, 20000, seed=1))
    assert np.allclose([np.bincount(row, minlength=3) / 20000 for row in classes], np.exp(LOGITS), atol=0.02)


def test_a_shuffle_keeps_rows_together():
    rows = np.arange(20).reshape(10, 2)
    shuffled = run(tf.random_shuffle(rows, seed=3))
    assert not np.array_equal(shuffled, rows)
    assert sorted(map(tuple, shuffled)) == sorted(map(tuple, rows))


def test_a_crop_is_a_block_of_the_tensor():
    table = np.arange(30).reshape(5, 6)
    block = run(tf.random_crop(table, [2, 3], seed=3))
    row, column = divmod(int(block[0, 0]), 6)
    assert np.array_equal(block, table[row : row + 2, column : column + 3])


def test_stateless_numbers_depend_on_the_seed_alone():
    first = tf.random.stateless_uniform([3], [1, 2])
    second = tf.random.stateless_uniform([3], tf.constant([1, 2], tf.int64))
    third = tf.random.stateless_uniform([3], [1, 3])
    one, two, three = run([first, second, third])
    assert one.tolist() == two.tolist()
    assert one.tolist() != three.tolist()


def test_a_stateless_seed_is_two_numbers():
    with pytest.raises(ValueError, match="Dimension must be 2 but is 3"):
        tf.random.stateless_normal([3], [1, 2, 3])


def test_a_crop_larger_than_the_tensor_fails():
    crop = tf.random_crop(tf.placeholder_with_default(np.zeros([2, 2]), [None, None]), [3, 1])
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=r"Need value\.shape >= size, got"):
        session.run(crop)


def test_gamma_samples_have_a_gradient_by_their_shape_parameter():
    alpha = tf.constant([1.0, 2.0])
    sample = tf.random_gamma([5000], alpha, seed=3)
    (gradient,) = tf.gradients(tf.reduce_mean(sample, 0), [alpha])
    assert np.allclose(run(gradient), 1.0, atol=0.1)
