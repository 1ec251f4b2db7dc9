"""Random forests are TensorFlow 1.15.5's, example by example: it was asked for the numbers, with one thread."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from weft.contrib.tensor_forest.python import tensor_forest
from weft.contrib.tensor_forest.python.ops import data_ops

import weft as tf
from weft.ops.forest.node_tests import Comparison, NodeTest
from weft.ops.forest.tree import Split, Tree
from weft.training import resources


def _params(**changes: Any) -> Any:
    given = {"num_trees": 2, "max_nodes": 200, "split_after_samples": 30, "base_random_seed": 7, "num_features": 5}
    return tensor_forest.ForestHParams(**{**given, "num_classes": 3, **changes}).fill()


def _initializer() -> Any:
    return tf.group(tf.global_variables_initializer(), resources.initialize_resources(resources.shared_resources()))


def _grown(has_weights: bool = False, **changes: Any) -> tuple[Any, Any]:
    """Predictions for four examples, and the importances of features, after 40 batches of 16."""
    random = np.random.RandomState(0)
    is_regression = changes.get("regression", False)
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 5])
        y = tf.placeholder(tf.float32 if is_regression else tf.int32, [None])
        weights = tf.placeholder(tf.float32, [None])
        forest = tensor_forest.RandomForestGraphs(_params(**changes))
        train = forest.training_graph(x, y, **({"input_weights": weights} if has_weights else {}))
        session.run(_initializer())
        for _ in range(40):
            given = random.randn(16, 5).astype(np.float32)
            signs = (given[:, 0] > 0).astype(int) + (given[:, 1] * given[:, 0] > 0)
            fed = {x: given, y: given[:, 0] * 2 + given[:, 1] if is_regression else signs}
            session.run(train, {**fed, weights: random.randint(1, 4, size=16)} if has_weights else fed)
        predictions, _, _ = forest.inference_graph(x)
        found: tuple[Any, Any] = session.run([predictions, forest.feature_importances()], {x: random.randn(4, 5)})
        return found


@pytest.mark.parametrize("model_name", ["all_dense", "all_sparse", "sparse_then_dense"])
def test_classes(model_name: str) -> None:
    predictions, importances = _grown(model_name=model_name)
    np.testing.assert_allclose(
        predictions,
        [[0.9375, 0.0625, 0], [0, 0.970588, 0.029412], [0.006494, 0.993506, 0], [0.062049, 0.590729, 0.347222]], atol=1e-6,
    )  # fmt: skip
    np.testing.assert_allclose(importances, [0.642857, 0.357143, 0, 0, 0], atol=1e-6)


def test_numbers() -> None:
    predictions, importances = _grown(regression=True, num_classes=1)
    np.testing.assert_allclose(predictions, [[-2.620522], [0.835742], [-1.911657], [0.438565]], atol=1e-6)
    np.testing.assert_allclose(importances, [0.652174, 0.347826, 0, 0, 0], atol=1e-6)


def test_weighted_examples() -> None:
    predictions, _ = _grown(has_weights=True)
    np.testing.assert_allclose(
        predictions, [[0, 1, 0], [0.25, 0.644737, 0.105263], [0.897727, 0, 0.102273], [0, 1, 0]], atol=1e-6
    )


_WAYS: list[tuple[dict[str, Any], list[list[float]]]] = [
    (
        {"initialize_average_splits": True},
        [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0.381818, 0.192424, 0.425758]],
    ),
    (
        {"split_pruning_name": "half", "prune_every_samples": 10},
        [[0.570175, 0.429825, 0], [0.005747, 0.994253, 0], [0.075923, 0.924077, 0], [0.075923, 0.924077, 0]],
    ),
    (
        {"split_pruning_name": "hoeffding", "prune_every_samples": 10},
        [[0.9375, 0.0625, 0], [0, 0.970588, 0.029412], [0.006494, 0.993506, 0], [0.062049, 0.590729, 0.347222]],
    ),
    (
        {"split_name": "less", "num_splits_to_consider": 4},
        [[0.884615, 0.051282, 0.064103], [0, 0.833333, 0.166667], [0.05, 0.95, 0], [0.451282, 0.467949, 0.080769]],
    ),
    (
        {"split_after_samples": "linear {slope: 5 y_intercept: 20 min_val: 10 max_val: 100}"},
        [[0.81262, 0.15625, 0.03113], [0.033333, 0.892857, 0.07381], [0, 1, 0], [0.357626, 0.596548, 0.045826]],
    ),
    (
        {"max_nodes": 9},
        [[0.724138, 0.068966, 0.206897], [0.019337, 0.977901, 0.002762], [0.019337, 0.977901, 0.002762],
         [0.243475, 0.546866, 0.209659]],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "expected"), _WAYS, ids=[next(iter(changes)) for changes, _ in _WAYS])
def test_ways_of_splitting(changes: dict[str, Any], expected: list[list[float]]) -> None:
    np.testing.assert_allclose(_grown(**changes)[0], expected, atol=1e-6)


def test_texts_whole_numbers_and_numbers_side_by_side() -> None:
    random = np.random.RandomState(0)
    columns = {
        "s": tf.placeholder(tf.string, [None, 1]),
        "i": tf.placeholder(tf.int32, [None, 1]),
        "f": tf.placeholder(tf.float32, [None, 2]),
    }
    labels = tf.placeholder(tf.int64, [None])
    dense, sparse, spec = data_ops.ParseDataTensorOrDict(columns)
    assert dense.shape.as_list() == [None, 4]
    assert sparse is None
    assert spec.SerializeToString() == (
        "dense_features_size: 4 dense: [{name: f original_type: 0 size: 2}{name: i original_type: 1 size: 1}"
        "{name: s original_type: 1 size: 1}] sparse: []"
    )
    forest = tensor_forest.RandomForestGraphs(_params(num_features=4, inference_tree_paths=True))
    train = forest.training_graph(columns, labels)
    predictions, paths, _ = forest.inference_graph(columns)
    with tf.Session() as session:
        session.run(_initializer())
        for _ in range(40):
            texts = np.array(["x", "yy", "zzz"])[random.randint(0, 3, 16)][:, None]
            numbers = random.randint(0, 3, (16, 1))
            fed = {columns["s"]: texts, columns["i"]: numbers, columns["f"]: random.randn(16, 2)}
            session.run(train, {**fed, labels: (texts[:, 0] == "x") * 1 + (numbers[:, 0] == 1) * 1})
        found, ways = session.run([predictions, paths], fed)
    assert ways.shape == (16, 2)
    sure = (texts[:, 0] == "x") * 1 + (numbers[:, 0] == 1) * 1
    assert (found.argmax(axis=1) == sure).all()


def test_sparse_features() -> None:
    random = np.random.RandomState(1)
    features, labels = tf.sparse_placeholder(tf.int64), tf.placeholder(tf.int64, [None])
    forest = tensor_forest.RandomForestGraphs(_params(num_classes=2, num_features=20))
    train = forest.training_graph({"words": features}, labels)
    predictions, _, _ = forest.inference_graph({"words": features})
    with tf.Session() as session:
        session.run(_initializer())
        for _ in range(60):
            dense = (random.rand(16, 8) < 0.4) * 1
            dense[:, 0] = 1
            fed = {features: (np.argwhere(dense), dense[dense > 0], dense.shape), labels: dense[:, 3]}
            session.run(train, fed)
        assert (session.run(predictions, fed).argmax(axis=1) == dense[:, 3]).mean() > 0.9


def test_a_part_of_examples_and_features() -> None:
    random = np.random.RandomState(2)
    x, y = tf.placeholder(tf.float32, [None, 6]), tf.placeholder(tf.int32, [None])
    params = _params(num_classes=2, num_features=6, bagging_fraction=0.5, feature_bagging_fraction=0.5, num_trees=8)
    assert all(len(each) == 3 for each in params.bagged_features)
    forest = tensor_forest.RandomForestGraphs(params)
    train, sizes = forest.training_graph(x, y), [tree.size() for tree in forest.trees]
    predictions, _, _ = forest.inference_graph(x)
    with tf.Session() as session:
        session.run(_initializer())
        for _ in range(60):
            given = random.randn(32, 6)
            fed = {x: given, y: given.sum(axis=1) > 0}
            session.run(train, fed)
        assert len(set(session.run(sizes))) > 1
        # Examples enough: which ones each tree has seen is chance.
        given = random.randn(1000, 6)
        chosen = session.run(predictions, {x: given})[:, 1] > 0.5
        assert (chosen == (given.sum(axis=1) > 0)).mean() > 0.7


def _continued(folder: Path, steps: Sequence[int]) -> Any:
    """Predictions after some steps, which are broken off by as many restarts from checkpoints."""
    random = np.random.RandomState(5)
    path = str(folder / "forest")
    for number, count in enumerate(steps):
        with tf.Graph().as_default(), tf.Session() as session:
            x, y = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [None])
            params = _params(num_trees=3, max_nodes=50, split_after_samples=20, base_random_seed=3, num_features=4,
                             checkpoint_stats=True)  # fmt: skip
            forest = tensor_forest.RandomForestGraphs(params)
            train, saver = forest.training_graph(x, y), tf.train.Saver()
            if number:
                saver.restore(session, path)
            else:
                session.run(_initializer())
            for _ in range(count):
                given = random.randn(16, 4)
                session.run(train, {x: given, y: (given[:, 0] > 0) + (given[:, 1] > 0) * 1})
            saver.save(session, path)
            found = session.run(forest.inference_graph(x)[0], {x: random.randn(3, 4)}) if number == len(steps) - 1 else None
    return found


def test_checkpoints_have_trees_and_what_leaves_know(tmp_path: Path) -> None:
    expected = [[0.02899, 0.17391, 0.7971], [0, 0.77778, 0.22222], [0.94503, 0.05497, 0]]
    np.testing.assert_allclose(_continued(tmp_path, [13, 10]), expected, atol=1e-5)
    np.testing.assert_array_equal(_continued(tmp_path, [13, 10]), _continued(tmp_path, [23]))
    reader = tf.train.load_checkpoint(str(tmp_path / "forest"))
    names = {f"{part}-{each}:0" for part in ("tree", "stats") for each in range(3)}
    assert set(reader.get_variable_to_shape_map()) == names | {f"device_dummy_{each}" for each in range(3)}


def test_a_forest_on_a_server() -> None:
    server = tf.train.Server.create_local_server()
    random = np.random.RandomState(3)
    x, y = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.int32, [None])
    forest = tensor_forest.RandomForestGraphs(_params(num_classes=2, num_features=2, split_after_samples=20))
    train, size = forest.training_graph(x, y), forest.average_size()
    with tf.Session(server.target) as session:
        session.run(_initializer())
        for _ in range(10):
            given = random.randn(32, 2)
            session.run(train, {x: given, y: given[:, 0] > 0})
        grown = session.run(size)
        assert grown > 1
    with tf.Session(server.target) as session:
        assert session.run(size) == grown


def test_what_cannot_grow_is_told() -> None:
    x, y = tf.placeholder(tf.float32, [None, 5]), tf.placeholder(tf.int32, [None])
    forest = tensor_forest.RandomForestGraphs(_params())
    train, predictions = forest.training_graph(x, y), forest.inference_graph(x)[0]
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match=r"tree is not initialized: run resources\.initialize"):
            session.run(predictions, {x: np.zeros([1, 5])})
        session.run(_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"0 to 2, found 0 to 3\. Is params\.num_classes set"):
            session.run(train, {x: np.zeros([2, 5]), y: [0, 3]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="for each of 2 examples, found 3 labels and 2 leaves"):
            session.run(train, {x: np.zeros([2, 5]), y: [0, 1, 2]})
    with pytest.raises(ValueError, match=r"how many features there are: 'dense_features' is \(\?, \?\)"):
        forest.training_graph(tf.placeholder(tf.float32, [None, None]), y)
    bagged = tensor_forest.RandomForestGraphs(_params(bagging_fraction=0.5), variables=forest.variables)
    with pytest.raises(NotImplementedError, match="Bagging not supported with sparse"):
        bagged.training_graph(tf.sparse_placeholder(tf.int64), y)


def test_an_early_end_needs_its_least_number_of_examples(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tensor_forest.RandomForestGraphs(_params(split_finish_name="hoeffding"))
        with pytest.raises(tf.errors.InvalidArgumentError, match="lack min_split_samples"):
            session.run(_initializer())
    given = tmp_path / "params.txt"
    given.write_text("min_split_samples { constant_value: 10 }", encoding="utf-8")
    for name in ("hoeffding", "bootstrap"):
        _, importances = _grown(
            split_finish_name=name, split_after_samples=10_000, param_file=str(given), dominate_fraction=0.6,
            early_finish_check_every_samples=10,
        )  # fmt: skip
        # Leaves were split long before that many examples.
        assert importances[0] > 0


def test_filled_parameters() -> None:
    params = tensor_forest.ForestHParams(num_classes=2, num_features=400, num_trees=3).fill()
    assert (params.num_splits_to_consider, params.num_outputs, params.num_output_columns) == (20, 1, 3)
    assert (params.bagged_num_features, params.bagged_features, params.prune_every_samples) == (400, None, 0)
    pruned = tensor_forest.ForestHParams(num_classes=2, num_features=4, split_pruning_name="half").fill()
    assert pruned.prune_every_samples == 125
    with pytest.raises(AttributeError, match="num_classes"):
        tensor_forest.ForestHParams(num_features=4).fill()
    with pytest.raises(ValueError, match="give prune_every_samples"):
        tensor_forest.ForestHParams(
            num_classes=2, num_features=4, split_pruning_name="half", split_after_samples="threshold { threshold: 3 }"
        ).fill()


def test_what_a_program_prints_of_a_forest() -> None:
    params = tensor_forest.ForestHParams(num_classes=2, num_features=2, num_trees=3).fill()
    forest = tensor_forest.RandomForestGraphs(params)
    assert repr(forest).startswith("<tf.contrib.tensor_forest.tensor_forest.RandomForestGraphs ")
    assert repr(forest).endswith(" 3 trees>")
    assert "3 trees" in repr(forest.variables)
    assert "tree-0" in repr(forest.variables[0])
    assert "tree_num=1" in repr(forest.trees[1])


def test_a_tree_that_is_there_is_not_made_anew() -> None:
    params = tensor_forest.ForestHParams(num_classes=2, num_features=2, num_trees=1).fill()
    message = tensor_forest.build_params_proto(params)
    tree = Tree()
    tree.create(message, b"")
    tree.split(0, Split(NodeTest(0, Comparison.LESS_OR_EQUAL, np.float32(0.5)), np.zeros(2), np.ones(2)))
    tree.create(message, b"")
    assert tree.size == 3
    tree.restore(message, b"")
    assert tree.size == 1
