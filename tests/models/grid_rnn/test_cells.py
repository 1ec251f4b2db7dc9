"""Grids of cells, against TensorFlow 1.15.5: values of seeded variables, names, and the count of nodes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import weft as tf

_GRID = tf.contrib.grid_rnn
_UNITS = 3

# What is made, the depth of its inputs, the last of all numbers of outputs and states, and the nodes.
_CELLS: dict[str, tuple[Callable[[], tf.nn.rnn_cell.RNNCell], int, list[float], int]] = {
    "Grid2LSTMCell": (
        lambda: _GRID.Grid2LSTMCell(_UNITS),
        3,
        [0.203298, 0.114597, 0.03146, -0.084565, 0.096396, 0.091076],
        239,
    ),
    "Grid2LSTMCell peep": (
        lambda: _GRID.Grid2LSTMCell(_UNITS, use_peepholes=True, forget_bias=0.5),
        3,
        [0.187724, 0.082606, 0.030217, -0.073919, 0.114379, 0.083665],
        317,
    ),
    "Grid2GRUCell tied": (
        lambda: _GRID.Grid2GRUCell(_UNITS, tied=True),
        3,
        [-0.491113, 0.38599, 0.091414, -0.185706, 0.212926, 0.180248],
        201,
    ),
    "Grid3LSTMCell relu": (
        lambda: _GRID.Grid3LSTMCell(_UNITS, non_recurrent_fn=tf.nn.relu),
        3,
        [-0.032744, 0.054628, -0.077516, -0.04189, -0.01619, -0.034873],
        260,
    ),
    "Grid1BasicRNNCell": (
        lambda: _GRID.Grid1BasicRNNCell(_UNITS),
        3,
        [-0.126089, -0.160871, -0.069812, -0.13429, -0.125414, -0.08458],
        135,
    ),
    "Grid1BasicLSTMCell": (
        lambda: _GRID.Grid1BasicLSTMCell(_UNITS),
        3,
        [0.043187, -0.057657, 0.206385, 0.139281, -0.066019, 0.187211],
        174,
    ),
    "Grid2BasicRNNCell": (
        lambda: _GRID.Grid2BasicRNNCell(_UNITS),
        3,
        [0.736016, -0.95157, 0.850756, 0.787202, -0.899038, 0.835362],
        173,
    ),
    "R in": (
        lambda: _GRID.GridRNNCell(_UNITS, 2, [0, 1], [0, 1], [1]),
        6,
        [0.028198, 0.146143, -0.476122, 0.569702, 0.168037, -0.31354],
        293,
    ),
    "R cell": (
        lambda: _GRID.GridRNNCell(_UNITS, 2, 0, 1, cell_fn=tf.nn.rnn_cell.GRUCell),
        3,
        [0.048854, 0.101281, 0.181587, 0.094757, -0.011748, 0.231121],
        231,
    ),
}


def _run(make: Callable[[], tf.nn.rnn_cell.RNNCell], depth: int) -> tuple[list[np.ndarray], int]:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.set_random_seed(7)
        with tf.variable_scope("s", initializer=tf.random_uniform_initializer(-1, 1)):
            inputs = tf.constant(np.sin(np.arange(8 * depth)).reshape(2, 4, depth).astype(np.float32))
            made = tf.nn.dynamic_rnn(make(), inputs, dtype=tf.float32)
        count = graph.last_id
        session.run(tf.global_variables_initializer())
        return session.run(tf.contrib.framework.nest.flatten(made)), count


@pytest.mark.parametrize("name", _CELLS)
def test_a_grid_computes_what_tensorflows_does(name):
    make, depth, expected, nodes = _CELLS[name]
    values, count = _run(make, depth)
    np.testing.assert_allclose(np.concatenate([each.ravel() for each in values])[-6:], expected, atol=2e-6)
    assert count == nodes


@pytest.mark.parametrize(
    ("tied", "dense", "names"),
    [
        (False, None, ["recurrent/cell_1/lstm_cell/kernel", "recurrent/cell_1/lstm_cell/bias",
                       "recurrent/cell_0/lstm_cell/kernel", "recurrent/cell_0/lstm_cell/bias"]),
        (True, None, ["recurrent/lstm_cell/kernel", "recurrent/lstm_cell/bias"]),
        (False, tf.nn.relu, ["recurrent/cell_1/lstm_cell/kernel", "recurrent/cell_1/lstm_cell/bias",
                             "non_recurrent/cell_0/fully_connected/weights", "non_recurrent/cell_0/fully_connected/biases"]),
    ],
)  # fmt: skip
def test_variables_have_tensorflows_names(tied, dense, names):
    with tf.Graph().as_default():
        cell = _GRID.Grid2LSTMCell(_UNITS, tied=tied, non_recurrent_fn=dense)
        tf.nn.dynamic_rnn(cell, tf.ones([2, 4, 3]), dtype=tf.float32)
        made = [each.op.name for each in tf.global_variables()]
    assert made == [f"rnn/Grid2LSTMCell/{name}" for name in ("project_m_0", "project_c_0", *names)]


def test_dense_layers_that_share_their_weights_have_one_set():
    with tf.Graph().as_default():
        cell = _GRID.GridRNNCell(_UNITS, 3, input_dims=[0, 1], output_dims=2, non_recurrent_dims=[0, 1], tied=True)
        cell(tf.ones([2, 6]), cell.zero_state(2, tf.float32))
        names = [each.op.name for each in tf.trainable_variables() if "non_recurrent" in each.op.name]
    assert names == [f"GridRNNCell/non_recurrent/fully_connected/{name}" for name in ("weights", "biases")]


def test_concatenated_states_and_outputs_are_one_tensor():
    with tf.Graph().as_default(), tf.Session() as session:
        cell = _GRID.Grid2BasicLSTMCell(_UNITS, state_is_tuple=False, output_is_tuple=False)
        outputs, state = tf.nn.dynamic_rnn(cell, tf.ones([2, 4, 3]), dtype=tf.float32)
        session.run(tf.global_variables_initializer())
        shapes = [each.shape for each in session.run([outputs, state])]
    assert (cell.output_size, cell.state_size, shapes) == (3, 12, [(2, 4, 3), (2, 12)])


def test_a_batch_of_unknown_size_fits_a_grid_of_one_dimension():
    inputs = tf.placeholder(tf.float32, [None, 4, 3])
    with tf.Session() as session:
        (outputs,), _ = tf.nn.dynamic_rnn(_GRID.Grid1LSTMCell(_UNITS), inputs, dtype=tf.float32, scope="one")
        session.run(tf.global_variables_initializer())
        assert session.run(outputs, {inputs: np.ones([5, 4, 3])}).shape == (5, 4, 3)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"num_dims": 0}, ValueError, "dims must be >= 1: 0"),
        ({"num_dims": 2, "input_dims": 2}, ValueError, r"Invalid dims: \[2\]. Must be in \[0, 2\)"),
        ({"cell_fn": lambda units: units}, TypeError, "cell_fn must return an RNNCell instance"),
    ],
)
def test_a_grid_that_cannot_be_is_refused(arguments, error, text):
    with pytest.raises(error, match=text):
        _GRID.GridRNNCell(_UNITS, **arguments)


def test_a_dimension_that_nothing_comes_from_is_named():
    cell = _GRID.GridRNNCell(_UNITS, 2, input_dims=0, output_dims=0, non_recurrent_dims=1)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="dimension 1 has neither a state nor inputs"):
        cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
