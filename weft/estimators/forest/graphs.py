"""RandomForestGraphs: the graphs by which a forest grows and predicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.estimators.forest.data import TensorForestDataSpec, parse_data, parse_labels
from weft.estimators.forest.hparams import ForestHParams
from weft.estimators.forest.resources import ForestVariables, TreeVariables
from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.printed import printed
from weft.models.functional.graph_helpers import VariableDeviceChooser
from weft.ops.array.filling import ones_like
from weft.ops.array.gather_scatter import gather
from weft.ops.array.joining import concat, split
from weft.ops.array.selection import where_v2
from weft.ops.array.shape_ops import shape, squeeze
from weft.ops.array.slicing import strided_slice
from weft.ops.array.stacking import stack
from weft.ops.control_flow.ordering import group
from weft.ops.forest import growth_nodes, tree_nodes
from weft.ops.math.casting import cast
from weft.ops.math.comparison import less, maximum
from weft.ops.math.division import div
from weft.ops.math.elementwise import neg
from weft.ops.math.reduce_functions import reduce_mean, reduce_sum
from weft.ops.random.functions import random_uniform
from weft.platform.logs import tf_logging

_DOOR = "tf.contrib.tensor_forest.tensor_forest"


def _sparse_parts(features: SparseTensor | None) -> tuple[TensorLike, TensorLike, TensorLike]:
    return ([], [], []) if features is None else (features.indices, features.values, features.dense_shape)


class RandomTreeGraphs:
    """The graphs of one tree.

    Args:
        variables: its variables.
        params: the forest's parameters, with their message.
        tree_num: its number.
    """

    def __init__(self, variables: TreeVariables, params: ForestHParams, tree_num: int) -> None:
        self.variables = variables
        self.params = params
        self.tree_num = tree_num

    __repr__ = printed(_DOOR)

    def training_graph(
        self, input_data: TensorLike | None, input_labels: TensorLike, random_seed: int, data_spec: TensorForestDataSpec,
        sparse_features: SparseTensor | None = None, input_weights: TensorLike | None = None,
    ) -> Operation:  # fmt: skip
        """An operation that shows examples to the tree, and splits the leaves that have seen enough.

        Args:
            input_data: `[batch, features] float32`; None for none.
            input_labels: `[batch] float32`, or `[batch, outputs]` of a regression.
            random_seed: the seed of the features that leaves choose; 0 for others in each run.
            data_spec: what the features are.
            sparse_features: sparse features.
            input_weights: `[batch] float32`; ones when None.
        """
        data: TensorLike = [] if input_data is None else input_data
        weights: TensorLike = [] if input_weights is None else input_weights
        sparse = _sparse_parts(sparse_features)
        tree, stats, params = self.variables.tree, self.variables.stats, self.params.text
        spec = data_spec.SerializeToString()
        leaf_ids = tree_nodes.traverse_tree_v4(tree, data, *sparse, input_spec=spec, params=params)
        counted = tree_nodes.update_model_v4(tree, leaf_ids, input_labels, weights, params=params)
        finished = growth_nodes.process_input_v4(
            tree, stats, data, *sparse, input_labels, weights, leaf_ids, input_spec=spec, random_seed=random_seed, params=params
        )
        # A leaf counts its examples before it has children, which begin with the counts of what it has considered.
        with get_default_graph().control_dependencies([counted]):
            grown: Operation = growth_nodes.grow_tree_v4(tree, stats, finished, params=params)
        return grown

    def inference_graph(
        self, input_data: TensorLike | None, data_spec: TensorForestDataSpec, sparse_features: SparseTensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """What the tree predicts, `[batch, outputs] float32`, and the nodes that examples pass, as messages.

        Args:
            input_data, data_spec, sparse_features: see `training_graph`.
        """
        data: TensorLike = [] if input_data is None else input_data
        predictions, paths = tree_nodes.tree_predictions_v4(
            self.variables.tree, data, *_sparse_parts(sparse_features), input_spec=data_spec.SerializeToString(),
            params=self.params.text,
        )  # fmt: skip
        return predictions, paths

    def size(self) -> Tensor:
        """How many nodes the tree has, `[] int32`."""
        counted: Tensor = tree_nodes.tree_size(self.variables.tree)
        return counted

    def feature_usage_counts(self) -> Tensor:
        """How many nodes split by each feature, `[features] int32`."""
        counts: Tensor = tree_nodes.feature_usage_counts(self.variables.tree, params=self.params.text)
        return counts


class RandomForestGraphs:
    """The graphs of a forest.

        params = tensor_forest.ForestHParams(num_classes=10, num_features=784, num_trees=10, max_nodes=1000).fill()
        forest = tensor_forest.RandomForestGraphs(params)
        train_op, loss = forest.training_graph(x, y), forest.training_loss(x, y)
        probabilities, _, _ = forest.inference_graph(x)

    Trees and what their leaves know are resources: `resources.initialize_resources(resources.shared_resources())` initializes
    them, Savers save them.

    Args:
        params: the parameters, filled.
        tree_configs, tree_stats: messages of trees and of what their leaves know, to begin with.
        device_assigner: puts trees on devices; those of contrib.framework's VariableDeviceChooser when None.
        variables: variables that there are already.
        tree_variables_class, tree_graphs: make the variables and the graphs of a tree.
        training: whether the trees grow.
    """

    def __init__(
        self, params: ForestHParams, tree_configs: Sequence[TensorLike] | None = None,
        tree_stats: Sequence[TensorLike] | None = None, device_assigner: Nest = None,
        variables: ForestVariables | None = None, tree_variables_class: type[TreeVariables] = TreeVariables,
        tree_graphs: Callable[[TreeVariables, ForestHParams, int], RandomTreeGraphs] | None = None, training: bool = True,
    ) -> None:  # fmt: skip
        self.params = params
        self.device_assigner = device_assigner or VariableDeviceChooser()
        tf_logging.info("Constructing forest with params = ")
        tf_logging.info(params.values())
        self.variables = variables or ForestVariables(
            params, self.device_assigner, training, tree_variables_class, tree_configs, tree_stats
        )
        make = tree_graphs or RandomTreeGraphs
        self.trees = [make(self.variables[number], params, number) for number in range(params.num_trees)]

    __repr__ = printed(_DOOR, lambda forest: f"{len(forest.trees)} trees")

    def get_all_resource_handles(self) -> list[Tensor | None]:
        """The handles of all trees, then those of what their leaves know."""
        numbers = range(len(self.trees))
        return [self.variables[each].tree for each in numbers] + [self.variables[each].stats for each in numbers]

    def training_graph(
        self, input_data: Nest, input_labels: Nest, num_trainers: int = 1, trainer_id: int = 0, **tree_kwargs: TensorLike
    ) -> Operation:
        """An operation that shows a batch to the trees, which grow by it.

        Args:
            input_data: the features: a matrix or a dict of such, dense or sparse.
            input_labels: the labels.
            num_trainers: among how many programs the trees are dealt.
            trainer_id: which of these this is.
            **tree_kwargs: given to each tree's `training_graph`, such as `input_weights`.

        Raises:
            NotImplementedError: trees are to see a part of sparse features.
        """
        dense, sparse, spec = parse_data(input_data)
        labels = parse_labels(input_labels)
        share = self.params.num_trees / num_trainers
        trained = []
        for number in range(int(trainer_id * share), int((trainer_id + 1) * share)):
            seed = self.params.base_random_seed and self.params.base_random_seed + number
            with get_default_graph().device(self.variables.device_dummies[number].device):
                data, known, weights = self._bagged(dense, labels, tree_kwargs.get("input_weights"), sparse, seed)
                data, seen = self._bag_features(number, data, sparse, spec)
                given = tree_kwargs if weights is None else {**tree_kwargs, "input_weights": weights}
                trained.append(
                    self.trees[number].training_graph(data, known, seed, data_spec=seen, sparse_features=sparse, **given)
                )
        return group(*trained, name="train")

    def _bagged(
        self, dense: Tensor | None, labels: Tensor, weights: TensorLike | None, sparse: SparseTensor | None, seed: int
    ) -> tuple[Tensor | None, Tensor, TensorLike | None]:
        """The part of a batch that a tree sees."""
        if self.params.bagging_fraction >= 1.0:
            return dense, labels, weights
        if sparse is not None or dense is None:
            raise NotImplementedError("Bagging not supported with sparse features.")
        drawn = random_uniform(strided_slice(shape(dense), [0], [1]), seed=seed)
        chosen = squeeze(where_v2(less(drawn, ones_like(drawn) * self.params.bagging_fraction)), axis=[1])
        return gather(dense, chosen), gather(labels, chosen), None if weights is None else gather(weights, chosen)

    def _bag_features(
        self, tree_num: int, dense: Tensor | None, sparse: SparseTensor | None, spec: TensorForestDataSpec
    ) -> tuple[Tensor | None, TensorForestDataSpec]:
        """The features by which a tree may split, and what they are."""
        if not self.params.bagged_features:
            return dense, spec
        if sparse is not None or dense is None:
            raise NotImplementedError("Feature bagging not supported with sparse features.")
        each = split(value=dense, num_or_size_splits=self.params.num_features, axis=1)
        columns = [column for column in spec.dense.cols for _ in range(column.size or 0)]
        seen = TensorForestDataSpec()
        seen.dense_features_size = len(self.params.bagged_features[tree_num])
        for feature in self.params.bagged_features[tree_num]:
            column = seen.dense.add()
            column.name, column.original_type, column.size = columns[feature].name, columns[feature].original_type, 1
        return concat([each[feature] for feature in self.params.bagged_features[tree_num]], 1), seen

    def inference_graph(self, input_data: Nest, **inference_args: TensorLike) -> tuple[Tensor, Tensor, Tensor]:
        """The mean of the trees' predictions, the ways of examples through them, and the variance of the predictions.

        Args:
            input_data: the features, as in `training_graph`.
            **inference_args: given to each tree's `inference_graph`.

        Returns:
            `[batch, outputs] float32`, `[batch or 0, trees] string`, `[batch, outputs] float32`.

        Raises:
            NotImplementedError: trees are to see a part of sparse features.
        """
        dense, sparse, spec = parse_data(input_data)
        graph, dummies = get_default_graph(), self.variables.device_dummies
        found = []
        for number, tree in enumerate(self.trees):
            with graph.device(dummies[number].device):
                data, seen = self._bag_features(number, dense, sparse, spec)
                found.append(tree.inference_graph(data, seen, sparse_features=sparse, **inference_args))
        with graph.device(dummies[0].device):
            each = stack([predictions for predictions, _ in found], axis=1)
            mean = div(reduce_sum(each, 1), self.params.num_trees, name="probabilities")
            paths = stack([path for _, path in found], axis=1)
            squares = div(reduce_sum(each * each, 1), self.params.num_trees)
            return mean, paths, maximum(0.0, squares - mean * mean)

    def average_size(self) -> Tensor:
        """The mean number of nodes of a tree, `[] float32`."""
        sizes = []
        for number, tree in enumerate(self.trees):
            with get_default_graph().device(self.variables.device_dummies[number].device):
                sizes.append(tree.size())
        return reduce_mean(cast(stack(sizes), dtypes.float32))

    def training_loss(self, features: Nest, labels: Nest, name: str = "training_loss") -> Tensor:
        """What stands for a loss: less the more the trees have grown, `[] float32`.

        Args:
            features, labels: not looked at.
            name: the operation's name.
        """
        return neg(self.average_size(), name=name)

    def validation_loss(self, features: Nest, labels: Nest) -> Tensor:
        """The same as `training_loss`.

        Args:
            features, labels: not looked at.
        """
        return neg(self.average_size())

    def feature_importances(self) -> Tensor:
        """By which part of all nodes each feature splits.

        Returns:
            `[features] float64`.
        """
        counts = reduce_sum(stack([tree.feature_usage_counts() for tree in self.trees], 0), 0)
        return counts / reduce_sum(counts)
