"""Programs of accumulators, stacks, staging areas, kept sparse tensors and samplers that learn."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.differential.ops.case import OpCase
from tests.differential.ops.programs import I32, U8, F, N, program
from weft.framework.types.dtypes import DType

_GRADIENT = np.array([1.0, 2.0, -3.0], np.float32)


def _accumulators() -> Iterator[OpCase]:
    for prefix, resource in (("", "ConditionalAccumulator"), ("Resource", "ResourceConditionalAccumulator")):
        own = "ResourceAccumulator" if prefix else "Accumulator"
        for mean in ("MEAN", "SUM"):
            nodes = [
                N("a", resource, dtype=F, shape=(3,), reduction_type=mean),
                N("set", f"{own}SetGlobalStep", ["a", np.int64(2)]),
                N("old", f"{own}ApplyGradient", ["a", np.int64(1), _GRADIENT], dtype=F),
                N("put", f"{own}ApplyGradient", ["a", np.int64(3), _GRADIENT], dtype=F),
                N("count", f"{own}NumAccumulated", ["a"]),
                N("take", f"{own}TakeGradient", ["a", np.int32(2)], dtype=F),
            ]
            yield from program(nodes, [["set"], ["old"], ["count:0"], ["put"], ["put"], ["count:0"], ["take:0"], ["count:0"]])
    indices, values, shape = np.array([2, 0], np.int64), np.array([[1.0, 2.0], [3.0, 4.0]], np.float32), np.array([], np.int64)
    nodes = [
        N("a", "SparseConditionalAccumulator", dtype=F, shape=(None, 2)),
        N("put", "SparseAccumulatorApplyGradient", ["a", np.int64(0), indices, values, shape], dtype=F, has_known_shape=False),
        N("take", "SparseAccumulatorTakeGradient", ["a", np.int32(2)], dtype=F),
    ]
    yield from program(nodes, [["put"], ["put"], ["take:0", "take:1"]])


def _stacks() -> Iterator[OpCase]:
    nodes = [
        N("s", "StackV2", [np.int32(-1)], elem_type=F),
        N("push", "StackPushV2", ["s", _GRADIENT], T=F),
        N("pop", "StackPopV2", ["s", "^push"], elem_type=F),
        N("close", "StackCloseV2", ["s", "^pop"]),
    ]
    yield from program(nodes, [["pop:0"], ["close"]])


def _stages() -> Iterator[OpCase]:
    types: list[DType] = [F, I32]
    nodes = [
        N("put", "Stage", [_GRADIENT, np.int32(4)], dtypes=types, shared_name="s"),
        N("size", "StageSize", dtypes=types, shared_name="s"),
        N("peek", "StagePeek", [np.int32(0)], dtypes=types, shared_name="s"),
        N("get", "Unstage", dtypes=types, shared_name="s"),
        N("clear", "StageClear", dtypes=types, shared_name="s"),
    ]
    runs = [["put"], ["put"], ["size:0"], ["peek:0", "peek:1"], ["get:0", "get:1"], ["size:0"], ["clear"], ["size:0"]]
    yield from program(nodes, runs)


def _sparse_maps() -> Iterator[OpCase]:
    indices, values, shape = np.array([[0, 1], [1, 0]], np.int64), np.array([5.0, 6.0], np.float32), np.array([2, 3], np.int64)
    nodes = [
        N("rows", "AddManySparseToTensorsMap", [indices, values, shape], T=F, shared_name="m"),
        N("back", "TakeManySparseFromTensorsMap", ["rows"], dtype=F, shared_name="m"),
    ]
    yield from program(nodes, [["back:0", "back:1", "back:2"]])


def _learning_samplers() -> Iterator[OpCase]:
    attrs = {"num_true": 2, "num_sampled": 4, "range_max": 9, "seed": 5, "seed2": 7}
    for op in ("LearnedUnigramCandidateSampler", "ThreadUnsafeUnigramCandidateSampler"):
        for unique in (True, False):
            nodes = [N("draw", op, [np.array([[1, 2], [2, 8]], np.int64)], unique=unique, **attrs)]
            yield from program(nodes, [["draw:0", "draw:1", "draw:2"]] * 4)


def _variables() -> Iterator[OpCase]:
    for op in ("VariableV2", "Variable"):
        nodes = [N("v", op, dtype=F, shape=(3,)), N("set", "Assign", ["v", _GRADIENT], T=F),
                 N("has", "IsVariableInitialized", ["v"], dtype=F), N("read", "Identity", ["v"], T=F)]  # fmt: skip
        yield from program(nodes, [["has:0"], ["set"], ["has:0"], ["read:0"]])
        yield from program(nodes, [["read:0"]])
    nodes = [N("v", "VarHandleOp", dtype=F, shape=(3,), shared_name="v"), N("has", "VarIsInitializedOp", ["v"]),
             N("set", "AssignVariableOp", ["v", _GRADIENT], dtype=F), N("read", "ReadVariableOp", ["v"], dtype=F)]  # fmt: skip
    yield from program(nodes, [["has:0"], ["set"], ["has:0"], ["read:0"]])
    yield from program(nodes, [["read:0"]])


def _images() -> Iterator[OpCase]:
    """Written and read again: the bytes between may be packed in another way."""
    image = np.random.RandomState(1).randint(0, 256, (4, 5, 3)).astype(np.uint8)
    for channels in (0, 1, 3, 4):
        nodes = [N("file", "EncodePng", [image], T=U8), N("back", "DecodePng", ["file"], channels=channels, dtype=U8)]
        yield from program(nodes, [["back:0"]])
    nodes = [N("file", "EncodeJpeg", [image]), N("shape", "ExtractJpegShape", ["file"])]
    yield from program(nodes, [["shape:0"]])


def programs() -> list[OpCase]:
    """All programs."""
    families = (_variables, _images, _accumulators, _stacks, _stages, _sparse_maps, _learning_samplers)
    return [each for family in families for each in family()]
