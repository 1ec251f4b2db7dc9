"""ForestHParams: the parameters of a forest, and the message of them that its nodes carry."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Final, TypeAlias

from google.protobuf import text_format

from weft.framework.types.printed import printed
from weft.proto.decision_tree_pb2 import InequalityTest
from weft.proto.random_forest_pb2 import (
    COLLECTION_BASIC,
    MODEL_DENSE_CLASSIFICATION,
    MODEL_REGRESSION,
    MODEL_SPARSE_CLASSIFICATION,
    MODEL_SPARSE_OR_DENSE_CLASSIFICATION,
    SPLIT_FINISH_BASIC,
    SPLIT_FINISH_DOMINATE_BOOTSTRAP,
    SPLIT_FINISH_DOMINATE_HOEFFDING,
    SPLIT_PRUNE_10_PERCENT,
    SPLIT_PRUNE_HALF,
    SPLIT_PRUNE_HOEFFDING,
    SPLIT_PRUNE_NONE,
    SPLIT_PRUNE_QUARTER,
    STATS_DENSE_GINI,
    STATS_LEAST_SQUARES_REGRESSION,
    STATS_SPARSE_GINI,
    STATS_SPARSE_THEN_DENSE_GINI,
    DepthDependentParam,
    LeafModelType,
    SplitFinishStrategyType,
    SplitPruningStrategyType,
    StatsModelType,
    TensorForestParams,
)

CLASSIFICATION_LEAF_MODEL_TYPES: Final = {
    "all_dense": (MODEL_DENSE_CLASSIFICATION, STATS_DENSE_GINI),
    "all_sparse": (MODEL_SPARSE_CLASSIFICATION, STATS_SPARSE_GINI),
    "sparse_then_dense": (MODEL_SPARSE_OR_DENSE_CLASSIFICATION, STATS_SPARSE_THEN_DENSE_GINI),
}
REGRESSION_MODEL_TYPE: Final = (MODEL_REGRESSION, STATS_LEAST_SQUARES_REGRESSION, COLLECTION_BASIC)
FINISH_TYPES: Final = {
    "basic": SPLIT_FINISH_BASIC,
    "hoeffding": SPLIT_FINISH_DOMINATE_HOEFFDING,
    "bootstrap": SPLIT_FINISH_DOMINATE_BOOTSTRAP,
}
PRUNING_TYPES: Final = {
    "none": SPLIT_PRUNE_NONE,
    "half": SPLIT_PRUNE_HALF,
    "quarter": SPLIT_PRUNE_QUARTER,
    "10_percent": SPLIT_PRUNE_10_PERCENT,
    "hoeffding": SPLIT_PRUNE_HOEFFDING,
}
SPLIT_TYPES: Final = {"less_or_equal": InequalityTest.LESS_OR_EQUAL, "less": InequalityTest.LESS_THAN}

_LEAST_SPLITS, _MOST_SPLITS = 10, 1000
# A number; or the text of a DepthDependentParam, of which a number alone is a constant.
DepthDependent: TypeAlias = float | str


class ForestHParams:
    """The parameters of a forest; `fill` sets those that follow from others.

    Args:
        num_trees: how many trees grow.
        max_nodes: a tree of so many nodes splits no more.
        bagging_fraction: the part of each batch that a tree sees.
        num_splits_to_consider: how many splits a leaf considers; by the number of features when 0.
        feature_bagging_fraction: the part of all features by which a tree may split.
        max_fertile_nodes, valid_leaf_threshold, dominate_method: kept for programs that pass them.
        split_after_samples: how many examples a leaf sees before it splits.
        dominate_fraction: how sure an early end has to be of the best split.
        model_name: how leaves count classes, one of CLASSIFICATION_LEAF_MODEL_TYPES.
        split_finish_name: when a leaf may be split before, one of FINISH_TYPES; others than `basic` need the parameter
            `min_split_samples`, which `param_file` gives.
        split_pruning_name: which splits a leaf stops considering, one of PRUNING_TYPES.
        prune_every_samples: how often it does; after half of `split_after_samples` when 0.
        early_finish_check_every_samples: how often a leaf looks whether it can be split; at a quarter of these when 0.
        collate_examples: show a leaf the examples of a batch together.
        checkpoint_stats: save what leaves know; else they begin anew after a restart.
        use_running_stats_method: kept for programs that pass it; it makes no difference.
        initialize_average_splits: split between two examples of different classes, rather than at one.
        inference_tree_paths: have predictions give the nodes that examples pass.
        param_file: a file with the text of a TensorForestParams, which is taken last.
        split_name: one of SPLIT_TYPES.
        **kwargs: `num_classes` (of a regression the number of outputs) and `num_features`, which are needed; `regression`;
            `base_random_seed`, 0 for other features in each run.
    """

    __repr__ = printed("tf.contrib.tensor_forest")

    num_classes: int
    num_features: int
    regression: bool
    base_random_seed: int
    bagged_num_features: int
    bagged_features: list[list[int]] | None
    num_outputs: int
    num_output_columns: int
    leaf_model_type: LeafModelType
    stats_model_type: StatsModelType
    finish_type: SplitFinishStrategyType
    pruning_type: SplitPruningStrategyType
    split_type: InequalityTest.Type
    params_proto: TensorForestParams
    serialized_params_proto: bytes

    def __init__(
        self, num_trees: int = 100, max_nodes: int = 10000, bagging_fraction: float = 1.0,
        num_splits_to_consider: DepthDependent = 0, feature_bagging_fraction: float = 1.0, max_fertile_nodes: int = 0,
        split_after_samples: DepthDependent = 250, valid_leaf_threshold: int = 1, dominate_method: str = "bootstrap",
        dominate_fraction: float = 0.99, model_name: str = "all_dense", split_finish_name: str = "basic",
        split_pruning_name: str = "none", prune_every_samples: DepthDependent = 0,
        early_finish_check_every_samples: DepthDependent = 0, collate_examples: bool = False, checkpoint_stats: bool = False,
        use_running_stats_method: bool = False, initialize_average_splits: bool = False, inference_tree_paths: bool = False,
        param_file: str | None = None, split_name: str = "less_or_equal", **kwargs: object,
    ) -> None:  # fmt: skip
        self.num_trees = num_trees
        self.max_nodes = max_nodes
        self.bagging_fraction = bagging_fraction
        self.feature_bagging_fraction = feature_bagging_fraction
        self.num_splits_to_consider = num_splits_to_consider
        self.max_fertile_nodes = max_fertile_nodes
        self.split_after_samples = split_after_samples
        self.valid_leaf_threshold = valid_leaf_threshold
        self.dominate_method = dominate_method
        self.dominate_fraction = dominate_fraction
        self.model_name = model_name
        self.split_finish_name = split_finish_name
        self.split_pruning_name = split_pruning_name
        self.collate_examples = collate_examples
        self.checkpoint_stats = checkpoint_stats
        self.use_running_stats_method = use_running_stats_method
        self.initialize_average_splits = initialize_average_splits
        self.inference_tree_paths = inference_tree_paths
        self.param_file = param_file
        self.split_name = split_name
        self.early_finish_check_every_samples = early_finish_check_every_samples
        self.prune_every_samples = prune_every_samples
        vars(self).update(kwargs)

    def values(self) -> dict[str, object]:
        """All parameters by their names."""
        return vars(self)

    def fill(self) -> ForestHParams:
        """Set what follows from other parameters; returns the object itself.

        Raises:
            AttributeError: `num_classes` or `num_features` is missing.
            KeyError: a name is none of those that there are.
            ValueError: how often to look does not follow from a `split_after_samples` that depends on the depth.
        """
        _ = self.num_classes, self.num_features
        self.bagged_num_features = int(self.feature_bagging_fraction * self.num_features)
        self.bagged_features = None
        if self.feature_bagging_fraction < 1.0:
            self.bagged_features = [
                random.sample(range(self.num_features), self.bagged_num_features) for _ in range(self.num_trees)
            ]
        self.regression = getattr(self, "regression", False)
        self.num_outputs = self.num_classes if self.regression else 1
        self.num_output_columns = self.num_classes + 1
        root = math.floor(math.sqrt(self.num_features))
        self.num_splits_to_consider = self.num_splits_to_consider or min(max(_LEAST_SPLITS, root), _MOST_SPLITS)
        self.base_random_seed = getattr(self, "base_random_seed", 0)
        leaf, stats = CLASSIFICATION_LEAF_MODEL_TYPES[self.model_name]
        self.leaf_model_type = REGRESSION_MODEL_TYPE[0] if self.regression else leaf
        self.stats_model_type = REGRESSION_MODEL_TYPE[1] if self.regression else stats
        self.finish_type = SPLIT_FINISH_BASIC if self.regression else FINISH_TYPES[self.split_finish_name]
        self.pruning_type = PRUNING_TYPES[self.split_pruning_name]
        if self.pruning_type == SPLIT_PRUNE_NONE:
            self.prune_every_samples = 0
        else:
            self.prune_every_samples = self.prune_every_samples or self._share("prune_every_samples", 2)
        if self.finish_type == SPLIT_FINISH_BASIC:
            self.early_finish_check_every_samples = 0
        else:
            self.early_finish_check_every_samples = self.early_finish_check_every_samples or self._share(
                "early_finish_check_every_samples", 4
            )
        self.split_type = SPLIT_TYPES[self.split_name]
        return self

    @property
    def text(self) -> str:
        """The message, as nodes carry it in an attribute."""
        return self.serialized_params_proto.decode("utf-8", "surrogateescape")

    def _share(self, name: str, divisor: int) -> float:
        after = self.split_after_samples
        if isinstance(after, str) and not after.isdigit():
            raise ValueError(f"ForestHParams: give {name}, as split_after_samples depends on the depth: {after!r}")
        return int(after) / divisor


def parse_number_or_string_to_proto(proto: DepthDependentParam, param: DepthDependent) -> None:
    """Set a parameter that may depend on a leaf's depth.

    Args:
        proto: the message to fill.
        param: a number, or the message as text.
    """
    if not isinstance(param, str):
        proto.constant_value = float(param)
    elif param.isdigit():
        proto.constant_value = int(param)
    else:
        text_format.Merge(param, proto)


def build_params_proto(params: ForestHParams) -> TensorForestParams:
    """The message of filled parameters, with what their `param_file` says.

    Args:
        params: the parameters.
    """
    proto = TensorForestParams(
        num_trees=params.num_trees, max_nodes=params.max_nodes, is_regression=params.regression,
        num_outputs=params.num_classes, num_features=params.num_features, leaf_type=params.leaf_model_type,
        stats_type=params.stats_model_type, collection_type=COLLECTION_BASIC, inequality_test_type=params.split_type,
        drop_final_class=False, collate_examples=params.collate_examples, checkpoint_stats=params.checkpoint_stats,
        use_running_stats_method=params.use_running_stats_method,
        initialize_average_splits=params.initialize_average_splits, inference_tree_paths=params.inference_tree_paths,
    )  # fmt: skip
    proto.pruning_type.type = params.pruning_type
    proto.finish_type.type = params.finish_type
    parse_number_or_string_to_proto(proto.pruning_type.prune_every_samples, params.prune_every_samples)
    parse_number_or_string_to_proto(proto.finish_type.check_every_steps, params.early_finish_check_every_samples)
    parse_number_or_string_to_proto(proto.split_after_samples, params.split_after_samples)
    parse_number_or_string_to_proto(proto.num_splits_to_consider, params.num_splits_to_consider)
    proto.dominate_fraction.constant_value = params.dominate_fraction
    if params.param_file:
        text_format.Merge(Path(params.param_file).read_text(encoding="utf-8"), proto)
    return proto
