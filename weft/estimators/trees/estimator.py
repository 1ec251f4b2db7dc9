"""BoostedTreesClassifier, BoostedTreesRegressor, BoostedTreesEstimator: gradient boosted decision trees as estimators."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from weft.checkpoint.checkpoint_contents import load_checkpoint
from weft.estimators.aliases import Features, InputFn, Labels
from weft.estimators.canned.class_heads import BinaryClassHead, MultiClassHead
from weft.estimators.canned.head import Head
from weft.estimators.canned.regression_head import RegressionHead
from weft.estimators.estimator import Estimator
from weft.estimators.estimator_spec import EstimatorSpec
from weft.estimators.run_config import RunConfig
from weft.estimators.trees.columns import TreeColumns
from weft.estimators.trees.explanations import contributions, importances
from weft.estimators.trees.growers import TreeParams
from weft.estimators.trees.model import PATH_KEY, BoostedModel, logistic_derivatives
from weft.models.feature_columns.column import FeatureColumns
from weft.models.feature_columns.numeric import NumericColumn
from weft.models.losses import Reduction
from weft.training.hooks.session_run_hook import SessionRunHook


class BoostedTreesBase(Estimator):
    """A boosted model with what tells of its features.

    Args:
        model: the model.
        model_dir, config: see Estimator.

    Raises:
        ValueError: pruning and complexity do not go together.
    """

    def __init__(self, model: BoostedModel, model_dir: str | os.PathLike[str] | None, config: RunConfig | None) -> None:
        _ = model.params.pruning  # checked now, not in the first step
        self._model = model

        def model_fn(features: Features, labels: Labels, mode: str, config: RunConfig) -> EstimatorSpec:
            return model.spec(features, labels, mode, config)

        super().__init__(model_fn, model_dir, config)

    def experimental_feature_importances(self, normalize: bool = False) -> OrderedDict[str, float]:
        """How much the splits by each feature's column gain, the largest first, as the last checkpoint has them.

        Args:
            normalize: whether the gains are parts of their sum.

        Returns:
            Gains by the names of columns; of an indicator column by that of its categories.

        Raises:
            ValueError: there is no ensemble yet; or, to be normalized, a gain is negative, or there are no splits.
        """
        serialized = load_checkpoint(self.model_dir).get_tensor("boosted_trees:0_serialized")
        if not serialized:
            raise ValueError("Found empty serialized string for TreeEnsemble. You should only call this method after training.")
        return importances(serialized, self._model.columns.names, normalize)

    def experimental_predict_with_explanations(
        self,
        input_fn: InputFn,
        predict_keys: str | Iterable[str] | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        checkpoint_path: str | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Predictions, each with what the features have added to it (Palczewska et al. 2013).

        Args:
            input_fn: gives the features.
            predict_keys: the names of the predictions that are wanted, beside `bias` and `dfc`; all when None.
            hooks: hooks of the prediction.
            checkpoint_path: the checkpoint; the latest when None.

        Returns:
            An iterator of predictions by name: `bias` is the prediction without features, which is the same for all, and
            `dfc` what the splits by each column add to that, by the columns' names, the most first. The sum of all is the
            prediction: of a classifier the probability of the second class.

        Raises:
            ValueError: the model has no bias, or its predictions are no sums of its leaves.
        """
        model = self._model
        if not model.params.center_bias:
            raise ValueError(
                "center_bias must be enabled during estimator instantiation when using experimental_predict_with_explanations."
            )
        is_classification = isinstance(model.head, BinaryClassHead | MultiClassHead)
        if not is_classification and getattr(model.head, "_inverse_link_fn", None) is not None:
            raise ValueError(
                "For now only identity inverse_link_fn in regression_head is supported for "
                "experimental_predict_with_explanations."
            )
        keys = None
        if predict_keys is not None:
            keys = [*([predict_keys] if isinstance(predict_keys, str) else predict_keys), PATH_KEY]

        def model_fn(features: Features, labels: Labels, mode: str) -> EstimatorSpec:
            return model.explained(features)

        explaining = Estimator(model_fn, self.model_dir, self.config, warm_start_from=self._warm_start_settings)
        return self._explained(explaining.predict(input_fn, keys, hooks, checkpoint_path), is_classification)

    def _explained(self, predictions: Iterable[dict[str, Any]], is_classification: bool) -> Iterator[dict[str, Any]]:
        names = self._model.columns.names
        for each in predictions:
            each["bias"], each["dfc"] = contributions(each.pop(PATH_KEY), names, is_classification)
            yield each


class BoostedTreesClassifier(BoostedTreesBase):
    """Boosted trees that tell two classes, by logistic loss (Friedman 2001; Chen and Guestrin 2016).

        age = tf.feature_column.bucketized_column(tf.feature_column.numeric_column("age"), [20, 40, 60])
        classifier = tf.estimator.BoostedTreesClassifier([age], n_batches_per_layer=1, n_trees=50, max_depth=4)
        classifier.train(input_fn, max_steps=200)

    A step adds the statistics of its batch; when `n_batches_per_layer` batches are in, the tree grows by a layer. So a layer
    should see all examples: as many batches as an epoch has. With numeric columns as many batches before find their buckets,
    which do not count as steps. The training ends when all trees are grown.

    Args:
        feature_columns: bucketized, indicator and numeric columns.
        n_batches_per_layer: how many batches there are for a layer.
        model_dir: see Estimator.
        n_classes: 2.
        weight_column: the feature with the weights of examples.
        label_vocabulary: the two classes' names, if labels are names.
        n_trees: how many trees there are.
        max_depth: how many layers a tree has.
        learning_rate: by what the leaves of each tree are made smaller.
        l1_regularization, l2_regularization: the penalties of leaves' absolute values and squares.
        tree_complexity: what a split has to gain more than nothing, where there is pruning.
        min_node_weight: the least hessian, as a part of that of a layer's examples, of a node that is split.
        config: see Estimator.
        center_bias: whether the first tree's root begins with the mean of labels.
        pruning_mode: `none`; `pre` to make no split that does not gain; `post` to take such splits back when the tree is full.
        quantile_sketch_epsilon: one through the number of buckets of numeric columns.
        train_in_memory: whether each batch has all examples, in one order, so that these need not walk all trees in each step.

    Raises:
        ValueError: there are more classes, a column is of another kind, or pruning and complexity do not go together.
    """

    def __init__(
        self,
        feature_columns: FeatureColumns,
        n_batches_per_layer: int,
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
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
        train_in_memory: bool = False,
    ) -> None:
        if n_classes != 2:
            raise ValueError(
                f"For now only binary classification is supported. n_classes given as {n_classes}: tf.estimator.DNNClassifier "
                "tells more classes."
            )
        head = BinaryClassHead(weight_column, None, label_vocabulary, Reduction.SUM_OVER_BATCH_SIZE)
        is_plain = weight_column is None and label_vocabulary is None
        params = TreeParams(
            n_trees, max_depth, learning_rate, l1_regularization, l2_regularization, tree_complexity, min_node_weight,
            center_bias, pruning_mode, quantile_sketch_epsilon,
        )  # fmt: skip
        columns = TreeColumns(feature_columns)
        model = BoostedModel(
            head,
            columns,
            params,
            n_batches_per_layer,
            weight_column,
            logistic_derivatives if is_plain else None,
            train_in_memory,
        )
        super().__init__(model, model_dir, config)


class BoostedTreesRegressor(BoostedTreesBase):
    """Boosted trees that tell a number, by squared error.

    Args:
        feature_columns, n_batches_per_layer, model_dir: see BoostedTreesClassifier.
        label_dimension: 1.
        weight_column, n_trees, max_depth, learning_rate, l1_regularization, l2_regularization, tree_complexity,
            min_node_weight, config, center_bias, pruning_mode, quantile_sketch_epsilon, train_in_memory: see
            BoostedTreesClassifier.

    Raises:
        ValueError: there are more numbers, a column is of another kind, or pruning and complexity do not go together.
    """

    def __init__(
        self,
        feature_columns: FeatureColumns,
        n_batches_per_layer: int,
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
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
        train_in_memory: bool = False,
    ) -> None:
        if label_dimension != 1:
            raise ValueError(
                f"For now only 1 dimension regression is supported. label_dimension given as {label_dimension}: "
                "tf.estimator.DNNRegressor tells several numbers."
            )
        head = RegressionHead(weight_column, label_dimension, Reduction.SUM_OVER_BATCH_SIZE)
        params = TreeParams(
            n_trees, max_depth, learning_rate, l1_regularization, l2_regularization, tree_complexity, min_node_weight,
            center_bias, pruning_mode, quantile_sketch_epsilon,
        )  # fmt: skip
        columns = TreeColumns(feature_columns)
        model = BoostedModel(head, columns, params, n_batches_per_layer, weight_column, train_in_memory=train_in_memory)
        super().__init__(model, model_dir, config)


class BoostedTreesEstimator(BoostedTreesBase):
    """Boosted trees with any head of one logit, by the first and second derivatives of its loss.

    Args:
        feature_columns, n_batches_per_layer: see BoostedTreesClassifier.
        head: the task.
        model_dir: see Estimator.
        weight_column: the feature with the weights of examples, which the buckets of numeric columns heed; the loss heeds the
            head's own.
        n_trees, max_depth, learning_rate, l1_regularization, l2_regularization, tree_complexity, min_node_weight, config,
            center_bias, pruning_mode, quantile_sketch_epsilon: see BoostedTreesClassifier.

    Raises:
        ValueError: the head has several logits, a column is of another kind, or pruning and complexity do not go together.
    """

    def __init__(
        self,
        feature_columns: FeatureColumns,
        n_batches_per_layer: int,
        head: Head,
        model_dir: str | os.PathLike[str] | None = None,
        weight_column: str | NumericColumn | None = None,
        n_trees: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.1,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        tree_complexity: float = 0.0,
        min_node_weight: float = 0.0,
        config: RunConfig | None = None,
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
    ) -> None:
        if head.logits_dimension != 1:
            raise ValueError(
                f"Trees have one logit for each example, but logits_dimension of the head is {head.logits_dimension}."
            )
        params = TreeParams(
            n_trees, max_depth, learning_rate, l1_regularization, l2_regularization, tree_complexity, min_node_weight,
            center_bias, pruning_mode, quantile_sketch_epsilon,
        )  # fmt: skip
        model = BoostedModel(head, TreeColumns(feature_columns), params, n_batches_per_layer, weight_column)
        super().__init__(model, model_dir, config)
