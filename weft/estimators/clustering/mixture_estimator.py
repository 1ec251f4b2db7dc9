"""GMM: a mixture of Gaussians as an estimator."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from weft.estimators.aliases import Features, InputFn
from weft.estimators.clustering.beginning import Begin, side_by_side
from weft.estimators.clustering.mixture import FULL_COVARIANCE, GmmAlgorithm, gmm
from weft.estimators.clustering.starts import RANDOM_INIT, Start
from weft.estimators.learn.estimator import Estimator
from weft.estimators.learn.model_fn_ops import ModelFnOps
from weft.estimators.run_config import RunConfig
from weft.framework.building.aliases import Array, Nest, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.collections import GraphKeys
from weft.framework.nodes.operation import Tensor
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.variables.assign import assign_add
from weft.ops.variables.variable import Variable
from weft.training.training_util import get_global_step


class GMM(Estimator):
    """Clusters points by a mixture of Gaussians: each step is one round over the points of a batch.

        gmm = tf.contrib.factorization.GMM(num_clusters=3)
        gmm.fit(input_fn=lambda: (tf.constant(points), None), steps=20)
        gmm.clusters()

    Args:
        num_clusters: how many components the mixture has.
        model_dir: where the model is kept.
        random_seed: for the first means.
        params: what training changes: `w`eights, `m`eans and `c`ovariances, as letters.
        initial_clusters: the first means: `random` for points of the input, the means, or a function from the points and the
            number of components to them.
        covariance_type: `full` or `diag`.
        config: how it is run.
    """

    SCORES: Final = "scores"
    LOG_LIKELIHOOD: Final = "loss"
    ASSIGNMENTS: Final = "assignments"

    def __init__(
        self, num_clusters: int, model_dir: str | os.PathLike[str] | None = None, random_seed: int = 0, params: str = "wmc",
        initial_clusters: Start = RANDOM_INIT, covariance_type: str = FULL_COVARIANCE, config: RunConfig | None = None,
    ) -> None:  # fmt: skip
        def model_fn(features: Features, labels: Nest, mode: str) -> ModelFnOps:
            if labels is not None:
                raise ValueError(f"Points that are clustered have no labels; the input gives {labels}.")
            loss, scores, assignments, training, begin, has_begun = gmm(
                side_by_side(features), initial_clusters, num_clusters, random_seed, covariance_type, params
            )
            step: VariableLike = get_global_step()
            trained = with_dependencies([training, assign_add(step, 1)], loss)
            return ModelFnOps(
                mode, {self.ASSIGNMENTS: assignments[0][0]}, loss, trained,
                {self.SCORES: scores, self.LOG_LIKELIHOOD: _sum(loss)},
                training_hooks=[Begin(begin, has_begun, "gmm")],
            )  # fmt: skip

        super().__init__(model_fn, model_dir, config)

    def predict_assignments(
        self, input_fn: InputFn | None = None, batch_size: int | None = None, outputs: Sequence[str] | None = None
    ) -> Iterator[Nest]:
        """The component of each point, one after the other.

        Args:
            input_fn: gives the points.
            batch_size: rows of arrays in a batch; None beside an `input_fn`.
            outputs: the names of the predictions that are wanted; all when None.

        Returns:
            An iterator of numbers.
        """
        found = self.predict(input_fn=input_fn, batch_size=batch_size, outputs=outputs)
        return (each[self.ASSIGNMENTS] for each in found)

    def score(self, input_fn: InputFn | None = None, batch_size: int | None = None, steps: int | None = None) -> Nest:
        """The logarithm of the sum of the likelihoods of the points of the last batch.

        Args:
            input_fn: gives the points.
            batch_size: rows of arrays in a batch; None beside an `input_fn`.
            steps: how many batches; None until the input ends.
        """
        results = self.evaluate(input_fn=input_fn, batch_size=batch_size, steps=steps)
        return np.log(np.sum(np.exp(results[self.SCORES])))

    def weights(self) -> Array:
        """The components' weights, `[num_clusters] float32`."""
        return self.get_variable_value(GmmAlgorithm.CLUSTERS_WEIGHT)

    def clusters(self) -> Array:
        """The components' means, `[num_clusters, size] float32`."""
        return np.squeeze(self.get_variable_value(GmmAlgorithm.CLUSTERS_VARIABLE), 1)

    def covariances(self) -> Array:
        """The components' covariances, `[num_clusters, size, size] float32`; `[num_clusters, size]` where they are `diag`."""
        return self.get_variable_value(GmmAlgorithm.CLUSTERS_COVS_VARIABLE)


def _sum(loss: Tensor) -> tuple[VariableLike, Tensor]:
    """A metric whose value is the sum over the batches."""
    total: VariableLike = Variable(0.0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES], name="total_loss")
    return total, convert_to_tensor(assign_add(total, loss))
