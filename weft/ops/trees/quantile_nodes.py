"""Quantiles of numeric features as operations: summaries of batches, streams of them, and buckets by their boundaries."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from weft.errors import FailedPreconditionError, InvalidArgumentError
from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation
from weft.framework.types.dims import Dims
from weft.ops.declaration import no_outputs, not_differentiable, op, scalar_shape
from weft.ops.trees.quantile_summary import EMPTY, QuantileSketch, boundaries, quantiles


class QuantileStreams:
    """One stream of numbers for each feature, and the boundaries of the features' buckets. Safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._limits: tuple[float, int] | None = None
        self._sketches: list[QuantileSketch] = []
        self._boundaries: list[Array] = []

    @property
    def is_initialized(self) -> bool:
        """Whether it was made."""
        return self._limits is not None

    def create(self, epsilon: float, most: int, count: int) -> None:
        """Begin streams with some error and at most so many numbers, unless they are there already."""
        with self._lock:
            if self._limits is None:
                self._limits = epsilon, most
                self._boundaries = [np.zeros(0, np.float32)] * count
                self._begin()

    def add(self, summaries: Sequence[Array]) -> None:
        """Take in the summaries of a batch, one for each stream."""
        with self._lock:
            self._check(len(summaries), "summaries")
            if wrong := next((each.shape for each in summaries if each.shape[1] != EMPTY.shape[1]), None):
                raise InvalidArgumentError.of(f"Expected summaries of shape [n, {EMPTY.shape[1]}], found {list(wrong)}")
            for sketch, summary in zip(self._sketches, summaries, strict=True):
                sketch.push_summary(summary)

    def flush(self, count: int, as_quantiles: bool) -> None:
        """Make boundaries of about so many buckets of what came, and begin anew."""
        with self._lock:
            self._check(len(self._sketches), "streams")
            cut = quantiles if as_quantiles else boundaries
            found = [sketch.summary() for sketch in self._sketches]
            self._boundaries = [cut(each, count) if len(each) else each[:, 0] for each in found]
            self._begin()

    def set_boundaries(self, values: Sequence[Array]) -> None:
        """Take on boundaries from a checkpoint."""
        with self._lock:
            self._check(len(values), "bucket_boundaries")
            self._boundaries = [each.copy() for each in values]

    def boundaries(self, count: int) -> list[Array]:
        """The boundaries of each feature's buckets."""
        with self._lock:
            self._check(count, "bucket_boundaries")
            return self._boundaries

    def _begin(self) -> None:
        assert self._limits is not None
        self._sketches = [QuantileSketch(*self._limits) for _ in self._boundaries]

    def _check(self, count: int, what: str) -> None:
        if self._limits is None:
            raise FailedPreconditionError.of(
                "The quantile streams are not initialized: run their initializer, or restore a checkpoint, before they are used"
            )
        if count != len(self._sketches):
            raise InvalidArgumentError.of(f"Expected {what} of {len(self._sketches)} streams, found {count}")


def _streams(ctx: OpContext, handle: Array) -> QuantileStreams:
    return ctx.find(QuantileStreams, handle)


@op("BoostedTreesMakeQuantileSummaries",
    "float_values: num_features*float32, example_weights: float32, epsilon: float32 -> summaries: num_features*float32",
    ranks={"float_values": 1, "example_weights": 1, "epsilon": 0}, infer=lambda node: [(None, 4)] * node.attrs["num_features"],
    gradient=not_differentiable, limits={"num_features": 0})  # fmt: skip
def boosted_trees_make_quantile_summaries(
    ctx: OpContext, float_values: list[Array], example_weights: Array, epsilon: Array
) -> list[Result]:
    """Summaries of the features of a batch: value, weight and the bounds of the rank of some examples each.

    `num_features*[batch], [batch or 1], [] -> num_features*[n, 4]`
    """
    found = []
    for values in float_values:
        if len(example_weights) not in (1, len(values)):
            raise InvalidArgumentError.of(
                f"example_weights has {len(example_weights)} weights for {len(values)} examples: one for all, or one for each"
            )
        sketch = QuantileSketch(float(epsilon), len(values) + 1)
        sketch.push(values, np.broadcast_to(example_weights, values.shape))
        found.append(sketch.summary())
    return found


def _bucket_dims(node: Operation) -> list[Dims]:
    count = node.attrs["num_features"]
    return [each.dims for each in node.inputs[:count]]


@op("BoostedTreesBucketize",
    "float_values: num_features*float32, bucket_boundaries: num_features*float32 -> buckets: num_features*int32",
    ranks={"float_values": 1, "bucket_boundaries": 1}, infer=_bucket_dims, gradient=not_differentiable,
    limits={"num_features": 0})  # fmt: skip
def boosted_trees_bucketize(ctx: OpContext, float_values: list[Array], bucket_boundaries: list[Array]) -> list[Result]:
    """The bucket of each number: that of the first boundary that is not below it, or of the last one.

    `num_features*[batch], num_features*[n] -> num_features*[batch]`
    """
    return [
        np.minimum(np.searchsorted(limits, values), max(len(limits) - 1, 0)).astype(np.int32)
        for values, limits in zip(float_values, bucket_boundaries, strict=True)
    ]


@op("BoostedTreesQuantileStreamResourceHandleOp", "-> resource: resource", infer=scalar_shape, gradient=not_differentiable,
    stateful=True)  # fmt: skip
def boosted_trees_quantile_stream_resource_handle_op(ctx: OpContext, *, container: str = "", shared_name: str = "") -> Result:
    """The handle of streams, which BoostedTreesCreateQuantileStreamResource initializes: `-> scalar resource`."""
    ctx.find_or_create(QuantileStreams, QuantileStreams)
    handle = np.empty((), np.object_)
    handle[()] = ctx.handle_for(QuantileStreams)
    return handle


@op("BoostedTreesCreateQuantileStreamResource",
    "quantile_stream_resource_handle: resource, epsilon: float32, num_streams: int64 ->",
    ranks={"epsilon": 0, "num_streams": 0}, infer=no_outputs, gradient=not_differentiable, stateful=True,
    at_once=True)  # fmt: skip
def boosted_trees_create_quantile_stream_resource(
    ctx: OpContext, quantile_stream_resource_handle: Array, epsilon: Array, num_streams: Array, *,
    max_elements: int = 1 << 40,
) -> tuple[()]:  # fmt: skip
    """Begin streams unless they are there: `scalar resource, [], [] int64 ->`."""
    if not epsilon > 0 or num_streams < 0:  # NaN is not above 0 either
        raise InvalidArgumentError.of(f"epsilon has to be above 0, num_streams no less: {epsilon} and {num_streams}")
    _streams(ctx, quantile_stream_resource_handle).create(float(epsilon), max_elements, int(num_streams))
    return ()


@op("IsBoostedTreesQuantileStreamResourceInitialized", "quantile_stream_resource_handle: resource -> is_initialized: bool",
    infer=scalar_shape, gradient=not_differentiable, stateful=True, at_once=True)  # fmt: skip
def is_boosted_trees_quantile_stream_resource_initialized(ctx: OpContext, quantile_stream_resource_handle: Array) -> Result:
    """Whether streams are initialized: `scalar resource -> [] bool`."""
    return np.asarray(_streams(ctx, quantile_stream_resource_handle).is_initialized)


@op("BoostedTreesQuantileStreamResourceAddSummaries",
    "quantile_stream_resource_handle: resource, summaries: num_features*float32 ->", ranks={"summaries": 2}, infer=no_outputs,
    gradient=not_differentiable, stateful=True, at_once=True, limits={"num_features": 0})  # fmt: skip
def boosted_trees_quantile_stream_resource_add_summaries(
    ctx: OpContext, quantile_stream_resource_handle: Array, summaries: list[Array]
) -> tuple[()]:
    """Take in summaries of a batch, one for each stream: `scalar resource, num_features*[n, 4] ->`."""
    _streams(ctx, quantile_stream_resource_handle).add(summaries)
    return ()


@op("BoostedTreesQuantileStreamResourceFlush", "quantile_stream_resource_handle: resource, num_buckets: int64 ->",
    ranks={"num_buckets": 0}, infer=no_outputs, gradient=not_differentiable, stateful=True, at_once=True)  # fmt: skip
def boosted_trees_quantile_stream_resource_flush(
    ctx: OpContext, quantile_stream_resource_handle: Array, num_buckets: Array, *, generate_quantiles: bool = False
) -> tuple[()]:
    """Make boundaries of buckets of what came, and begin anew: `scalar resource, [] int64 ->`."""
    if num_buckets < 1:
        raise InvalidArgumentError.of(f"num_buckets has to be above 0, found {num_buckets}")
    _streams(ctx, quantile_stream_resource_handle).flush(int(num_buckets), generate_quantiles)
    return ()


@op("BoostedTreesQuantileStreamResourceGetBucketBoundaries",
    "quantile_stream_resource_handle: resource -> bucket_boundaries: num_features*float32",
    infer=lambda node: [(None,)] * node.attrs["num_features"], gradient=not_differentiable, stateful=True, at_once=True,
    limits={"num_features": 0})  # fmt: skip
def boosted_trees_quantile_stream_resource_get_bucket_boundaries(
    ctx: OpContext, quantile_stream_resource_handle: Array, *, num_features: int
) -> list[Result]:
    """The boundaries of each feature's buckets: `scalar resource -> num_features*[n]`."""
    return _streams(ctx, quantile_stream_resource_handle).boundaries(num_features)


@op("BoostedTreesQuantileStreamResourceDeserialize",
    "quantile_stream_resource_handle: resource, bucket_boundaries: num_streams*float32 ->", ranks={"bucket_boundaries": 1},
    infer=no_outputs, gradient=not_differentiable, stateful=True, at_once=True, limits={"num_streams": 1})  # fmt: skip
def boosted_trees_quantile_stream_resource_deserialize(
    ctx: OpContext, quantile_stream_resource_handle: Array, bucket_boundaries: list[Array]
) -> tuple[()]:
    """Take on boundaries from a checkpoint, one vector for each stream: `scalar resource, num_streams*[n] ->`."""
    _streams(ctx, quantile_stream_resource_handle).set_boundaries(bucket_boundaries)
    return ()
