"""TreeEnsemble and QuantileAccumulator: what a boosted model keeps on its task, and how checkpoints have it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple

from weft.framework.building.aliases import DynamicShape
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.printed import printed
from weft.ops.array.identity import identity
from weft.ops.trees import ensemble_nodes, quantile_nodes
from weft.ops.variables.saveable_object import SaveableObject, SaveSpec
from weft.training.resources import register_resource


class EnsembleStates(NamedTuple):
    """The counts of an ensemble, scalars: int64, int32, int32, int32; and the range of nodes to split, `[2] int32`."""

    stamp_token: Tensor
    num_trees: Tensor
    num_finalized_trees: Tensor
    num_attempted_layers: Tensor
    last_layer_nodes_range: Tensor


class TreeEnsemble:
    """The trees of a boosted model.

    Args:
        name: the name scope, and the name by which tasks share it.
        is_local: whether it is a task's own copy, which checkpoints do not have.
    """

    __repr__ = printed("tf")

    def __init__(self, name: str, is_local: bool = False) -> None:
        with get_default_graph().name_scope(name) as scope:
            handle = ensemble_nodes.boosted_trees_ensemble_resource_handle_op(shared_name=scope, name=scope)
            create = ensemble_nodes.boosted_trees_create_ensemble(handle, 0, "")
            is_initialized = ensemble_nodes.is_boosted_trees_ensemble_initialized(handle)
            if not is_local:
                get_default_graph().add_to_collection(GraphKeys.SAVEABLE_OBJECTS, _EnsembleSaveable(handle, create))
        register_resource(handle, create, is_initialized, is_shared=not is_local)
        self._handle = handle

    @property
    def name(self) -> str:
        """The name of the node of its handle."""
        return self._handle.op.name

    @property
    def resource_handle(self) -> Tensor:
        """The handle."""
        return self._handle

    def beside(self) -> AbstractContextManager[None]:
        """A block whose nodes are on its task."""
        return get_default_graph().colocate_with(self._handle.op)

    def states(self) -> EnsembleStates:
        """The counts of now."""
        found = ensemble_nodes.boosted_trees_get_ensemble_states(self._handle)
        return EnsembleStates(*(identity(each, name=field) for each, field in zip(found, EnsembleStates._fields, strict=True)))

    def copy_from(self, other: TreeEnsemble) -> Operation:
        """An operation after which it has the trees of another."""
        stamp, serialized = ensemble_nodes.boosted_trees_serialize_ensemble(other.resource_handle)
        return ensemble_nodes.boosted_trees_deserialize_ensemble(self._handle, stamp, serialized)


class _EnsembleSaveable(SaveableObject):
    """An ensemble in a checkpoint: its stamp and its trees."""

    def __init__(self, handle: Tensor, create: Operation) -> None:
        stamp, serialized = ensemble_nodes.boosted_trees_serialize_ensemble(handle)
        name = handle.name
        super().__init__(handle, [SaveSpec(stamp, "", f"{name}_stamp"), SaveSpec(serialized, "", f"{name}_serialized")], name)
        self._create = create

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[DynamicShape] | None) -> Operation:
        """Make the trees that were read those of the ensemble."""
        with get_default_graph().control_dependencies([self._create]):
            return ensemble_nodes.boosted_trees_deserialize_ensemble(self.op, *restored_tensors)


class QuantileAccumulator:
    """Streams of numeric features, and the boundaries of their buckets.

    Args:
        epsilon: how far the rank of a boundary may be off, as a part of all examples.
        num_streams: how many features there are.
        num_quantiles: about how many buckets each gets.
        name: the name scope, and the name by which tasks share it.
    """

    __repr__ = printed("tf")

    def __init__(self, epsilon: float, num_streams: int, num_quantiles: int, name: str) -> None:
        self._epsilon, self._num_streams, self._num_quantiles = epsilon, num_streams, num_quantiles
        with get_default_graph().name_scope(name) as scope:
            handle = quantile_nodes.boosted_trees_quantile_stream_resource_handle_op(shared_name=scope, name=scope)
            create = quantile_nodes.boosted_trees_create_quantile_stream_resource(handle, epsilon, num_streams)
            is_initialized = quantile_nodes.is_boosted_trees_quantile_stream_resource_initialized(handle)
        register_resource(handle, create, is_initialized)
        self._handle = handle
        get_default_graph().add_to_collection(
            GraphKeys.SAVEABLE_OBJECTS, _QuantileSaveable(handle, create, self.bucket_boundaries())
        )

    @property
    def name(self) -> str:
        """The name of the node of its handle."""
        return self._handle.op.name

    def bucket_boundaries(self) -> list[Tensor]:
        """The boundaries of each feature's buckets, `[n] float32`; none before `flush`."""
        found: list[Tensor] = quantile_nodes.boosted_trees_quantile_stream_resource_get_bucket_boundaries(
            self._handle, num_features=self._num_streams
        )
        return found

    def add_summaries(self, features: Sequence[Tensor], weights: Tensor) -> Operation:
        """An operation that takes a batch in.

        Args:
            features: a `[batch] float32` tensor for each stream.
            weights: those of examples, `[batch]` or `[1]`.
        """
        summaries = quantile_nodes.boosted_trees_make_quantile_summaries(list(features), weights, self._epsilon)
        return quantile_nodes.boosted_trees_quantile_stream_resource_add_summaries(self._handle, summaries)

    def flush(self) -> Operation:
        """An operation that makes boundaries of all that was taken in."""
        return quantile_nodes.boosted_trees_quantile_stream_resource_flush(self._handle, self._num_quantiles)


class _QuantileSaveable(SaveableObject):
    """Boundaries of buckets in a checkpoint."""

    def __init__(self, handle: Tensor, create: Operation, boundaries: Sequence[Tensor]) -> None:
        name = handle.name
        specs = [SaveSpec(each, "", f"{name}_bucket_boundaries_{number}") for number, each in enumerate(boundaries)]
        super().__init__(handle, specs, name)
        self._create = create

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[DynamicShape] | None) -> Operation:
        """Make the boundaries that were read those of the streams."""
        with get_default_graph().control_dependencies([self._create]):
            return quantile_nodes.boosted_trees_quantile_stream_resource_deserialize(self.op, list(restored_tensors))
