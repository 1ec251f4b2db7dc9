"""Boosted trees of a dataset that is one batch: made and trained in one call."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from weft.datasets.dataset import Dataset
from weft.estimators.aliases import InputFn
from weft.estimators.run_config import RunConfig
from weft.estimators.trees.estimator import BoostedTreesClassifier, BoostedTreesRegressor
from weft.framework.building.aliases import Nest
from weft.models.feature_columns.column import FeatureColumns
from weft.models.feature_columns.numeric import NumericColumn
from weft.training.hooks.session_run_hook import SessionRunHook


def boosted_trees_classifier_train_in_memory(
    train_input_fn: InputFn,
    feature_columns: FeatureColumns,
    model_dir: str | os.PathLike[str] | None = None,
    n_classes: int = 2,
    weight_column: str | NumericColumn | None = None,
    label_vocabulary: Sequence[str] | None = None,
    n_trees: int = 100,
    max_depth: int = 6,
    learning_rate: float = 0.1,
    l1_regularization: float = 0.0,
    l2_regularization: float = 0.0,
    tree_complexity: float = 0.0,
    min_node_weight: float = 0.0,
    config: RunConfig | None = None,
    train_hooks: Sequence[SessionRunHook] | None = None,
    center_bias: bool = False,
    pruning_mode: str = "none",
    quantile_sketch_epsilon: float = 0.01,
) -> BoostedTreesClassifier:
    """Train a classifier by all examples at once; see `tf.estimator.BoostedTreesClassifier`.

    Args:
        train_input_fn: gives all examples as one batch; a Dataset of it is repeated.
        feature_columns: bucketized, indicator and numeric columns.
        model_dir: where the model is kept.
        n_classes: 2.
        weight_column: the feature with the weights of examples.
        label_vocabulary: the two classes' names, if labels are names.
        n_trees: how many trees there are.
        max_depth: how many layers a tree has.
        learning_rate: by what the leaves of each tree are made smaller.
        l1_regularization, l2_regularization: the penalties of leaves' absolute values and squares.
        tree_complexity: what a split has to gain more than nothing, where there is pruning.
        min_node_weight: the least hessian of a node that is split.
        config: how it is run.
        train_hooks: hooks of the training.
        center_bias: whether the first tree's root begins with the mean of labels.
        pruning_mode: `none`, `pre` or `post`.
        quantile_sketch_epsilon: one through the number of buckets of numeric columns.

    Returns:
        The trained estimator.

    Raises:
        ValueError: an argument does not do; see BoostedTreesClassifier.
    """
    made = BoostedTreesClassifier(
        feature_columns, 1, model_dir, n_classes, weight_column, label_vocabulary, n_trees, max_depth, learning_rate,
        l1_regularization, l2_regularization, tree_complexity, min_node_weight, config, center_bias, pruning_mode,
        quantile_sketch_epsilon, train_in_memory=True,
    )  # fmt: skip
    made.train(_repeated(train_input_fn), hooks=train_hooks)
    return made


def boosted_trees_regressor_train_in_memory(
    train_input_fn: InputFn,
    feature_columns: FeatureColumns,
    model_dir: str | os.PathLike[str] | None = None,
    label_dimension: int = 1,
    weight_column: str | NumericColumn | None = None,
    n_trees: int = 100,
    max_depth: int = 6,
    learning_rate: float = 0.1,
    l1_regularization: float = 0.0,
    l2_regularization: float = 0.0,
    tree_complexity: float = 0.0,
    min_node_weight: float = 0.0,
    config: RunConfig | None = None,
    train_hooks: Sequence[SessionRunHook] | None = None,
    center_bias: bool = False,
    pruning_mode: str = "none",
    quantile_sketch_epsilon: float = 0.01,
) -> BoostedTreesRegressor:
    """Train a regressor by all examples at once; see `tf.estimator.BoostedTreesRegressor`.

    Args:
        train_input_fn: gives all examples as one batch; a Dataset of it is repeated.
        feature_columns: bucketized, indicator and numeric columns.
        model_dir: where the model is kept.
        label_dimension: 1.
        weight_column: the feature with the weights of examples.
        n_trees: how many trees there are.
        max_depth: how many layers a tree has.
        learning_rate: by what the leaves of each tree are made smaller.
        l1_regularization, l2_regularization: the penalties of leaves' absolute values and squares.
        tree_complexity: what a split has to gain more than nothing, where there is pruning.
        min_node_weight: the least hessian of a node that is split.
        config: how it is run.
        train_hooks: hooks of the training.
        center_bias: whether the first tree's root begins with the mean of labels.
        pruning_mode: `none`, `pre` or `post`.
        quantile_sketch_epsilon: one through the number of buckets of numeric columns.

    Returns:
        The trained estimator.

    Raises:
        ValueError: an argument does not do; see BoostedTreesRegressor.
    """
    made = BoostedTreesRegressor(
        feature_columns, 1, model_dir, label_dimension, weight_column, n_trees, max_depth, learning_rate, l1_regularization,
        l2_regularization, tree_complexity, min_node_weight, config, center_bias, pruning_mode, quantile_sketch_epsilon,
        train_in_memory=True,
    )  # fmt: skip
    made.train(_repeated(train_input_fn), hooks=train_hooks)
    return made


def _repeated(train_input_fn: InputFn) -> Callable[[], Nest]:
    def input_fn() -> Nest:
        given = train_input_fn()
        return given.repeat() if isinstance(given, Dataset) else given

    return input_fn
