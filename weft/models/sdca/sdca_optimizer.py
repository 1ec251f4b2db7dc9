"""SDCAOptimizer: trains contrib.learn's linear models by stochastic dual coordinate ascent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weft.framework.building.aliases import Nest, TensorLike, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.models.feature_columns.scope_state import ScopeStateManager
from weft.models.feature_columns.transformation_cache import FeatureTransformationCache
from weft.models.layer_columns.column import LayerColumn
from weft.models.layer_columns.real_valued import RealValuedColumn
from weft.models.sdca.sdca_model import SdcaModel
from weft.models.sdca.sparse_feature_column import SparseFeatureColumn, entries_of
from weft.ops.array.filling import ones_like
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.math.casting import cast
from weft.ops.variables.partitioners import Partitioner


class SDCAOptimizer:
    """The optimizer of `tf.contrib.learn.LinearClassifier`, `LinearRegressor` and `SVM` over contrib.layers' columns.

    Args:
        example_id_column: the feature with the names of examples, strings `[batch]`, by which the ascent knows them again.
        num_loss_partitions: how many processes train at a time.
        num_table_shards: into how many tables the examples' state is spread; 1 when None.
        symmetric_l1_regularization, symmetric_l2_regularization: the strengths of the regularization; that of L2 is 1 at
            least.
        adaptive: whether examples that lack most come more often.
        partitioner: cuts the weights of the model.
    """

    def __init__(
        self, example_id_column: str, num_loss_partitions: int = 1, num_table_shards: int | None = None,
        symmetric_l1_regularization: float = 0.0, symmetric_l2_regularization: float = 1.0, adaptive: bool = True,
        partitioner: Partitioner | None = None,
    ) -> None:  # fmt: skip
        self.example_id_column = example_id_column
        self.num_loss_partitions = num_loss_partitions
        self.num_table_shards = num_table_shards
        self.symmetric_l1_regularization = symmetric_l1_regularization
        self.symmetric_l2_regularization = symmetric_l2_regularization
        self.adaptive = adaptive
        self.partitioner = partitioner

    def __repr__(self) -> str:
        return f"<SDCAOptimizer of the examples that {self.example_id_column!r} names>"

    def get_name(self) -> str:
        """The optimizer's name."""
        return "SDCAOptimizer"

    def get_train_step(
        self, columns_to_variables: Mapping[LayerColumn, Sequence[VariableLike]], weight_column_name: str | None,
        loss_type: str, features: Mapping[str, Nest], targets: TensorLike, global_step: VariableLike,
    ) -> tuple[SdcaModel, Operation]:  # fmt: skip
        """The model, and the operation of one pass over a batch.

        Args:
            columns_to_variables: the weights of each column, as `weighted_sum_from_feature_columns` gives them.
            weight_column_name: the feature with the weights of examples; 1 for all when None.
            loss_type: one of SdcaModel's.
            features: tensors and SparseTensors by the features' names.
            targets: the labels, one for each example.
            global_step: the variable that is raised by one.

        Raises:
            ValueError: there is no feature with the examples' names, or a column has no place in such a model.
        """
        if self.example_id_column not in features:
            raise ValueError(
                f"SDCAOptimizer: the features have no {self.example_id_column!r}, its example_id_column, only "
                f"{', '.join(sorted(map(str, features)))}"
            )
        labels = cast(reshape(targets, [-1]), dtypes.float32)
        given = features[weight_column_name] if weight_column_name else ones_like(labels)
        cache, state = FeatureTransformationCache(features), ScopeStateManager((), True)
        dense: list[tuple[Tensor, Nest]] = []
        sparse: list[tuple[SparseFeatureColumn, Nest]] = []
        for column in sorted(columns_to_variables, key=lambda each: each.key):
            weights = list(columns_to_variables[column])
            whole = weights if len(weights) > 1 else weights[0]
            if isinstance(column, RealValuedColumn):
                dense.append((_rows(cache.get(column, state)), whole))
                continue
            lookup = column.wide_lookup(cache, state)
            if lookup is None:
                raise ValueError(f"SDCAOptimizer does not support column type {type(column).__name__}.")
            sparse.append((entries_of(lookup.ids, lookup.weights), whole))
        examples = {
            "sparse_features": [entries for entries, _ in sparse],
            "dense_features": [rows for rows, _ in dense],
            "example_labels": labels,
            "example_weights": cast(reshape(given, [-1]), dtypes.float32),
            "example_ids": reshape(features[self.example_id_column], [-1]),
        }
        variables = {
            "sparse_features_weights": [weights for _, weights in sparse],
            "dense_features_weights": [weights for _, weights in dense],
        }
        model = SdcaModel(examples, variables, self._options(loss_type))
        return model, model.minimize(global_step)

    def _options(self, loss_type: str) -> dict[str, Nest]:
        return {
            "loss_type": loss_type,
            "symmetric_l1_regularization": self.symmetric_l1_regularization,
            "symmetric_l2_regularization": self.symmetric_l2_regularization,
            "adaptive": self.adaptive,
            "num_loss_partitions": self.num_loss_partitions,
            "num_table_shards": self.num_table_shards,
        }


def _rows(values: Nest) -> Tensor:
    tensor = convert_to_tensor(values)
    return reshape(tensor, [shape(tensor)[0], -1])
