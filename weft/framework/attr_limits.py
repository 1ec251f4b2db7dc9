"""The limits of attributes that mean the same in many ops: the least number or length, and the values that a string may have.

An attribute of these names has the limit in every op that has it, unless the op's declaration gives another one. They are
TensorFlow's, which refuses a node outside of them when it is built or imported, before any shape rule sees it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

Limit: TypeAlias = int | tuple[str, ...] | None

_PADDINGS: Final = ("SAME", "VALID")
_EXPLICIT_PADDINGS: Final = (*_PADDINGS, "EXPLICIT")
_PLANES: Final = ("NHWC", "NCHW")
_VOLUMES: Final = ("NDHWC", "NCDHW")

# By attribute and kind.
_COMMON: Final[dict[tuple[str, str], Limit]] = {
    **dict.fromkeys((
        (name, "list(type)") for name in (
            "OUT_TYPE", "Tcomponents", "Toutput_types", "Tstate", "component_types", "output_types",
        )
    ), 1),
    **dict.fromkeys((
        (name, "list(type)") for name in (
            "Targuments", "Tcontext_dense", "Tdense", "Tfinalize_func_args", "Tfinalize_func_other_arguments", "Tin",
            "Tinit_func_args", "Tinit_func_other_arguments",
            "Tkey_func_other_arguments", "Tnext_func_args", "Tout", "Treduce_func_other_arguments",
            "Twindow_size_func_other_arguments", "context_sparse_types", "dense_types", "feature_list_dense_types",
            "feature_list_sparse_types", "ragged_split_types", "ragged_value_types", "sparse_types",
        )
    ), 0),
    **dict.fromkeys((
        (name, "list(shape)") for name in ("context_dense_shapes", "dense_shapes", "feature_list_dense_shapes", "shapes")
    ), 0),
    **dict.fromkeys((
        (name, "int") for name in (
            "Ncontext_dense", "Ncontext_sparse", "Ndense", "Nfeature_list_dense", "Nfeature_list_sparse", "Nsparse",
            "OUTPUT_RAGGED_RANK", "memory_limit", "num_sparse", "shard",
        )
    ), 0),
    **dict.fromkeys((
        (name, "int") for name in (
            "PARAMS_RAGGED_RANK", "RAGGED_RANK", "beam_width", "max_images", "num_row_partition_tensors", "num_sampled",
            "num_shards", "num_split", "range_max", "top_paths",
        )
    ), 1),
    ("output_shapes", "list(shape)"): 1,
    ("block_size", "int"): 2,
    ("dense_keys", "list(string)"): 0,
    ("ragged_keys", "list(string)"): 0,
    ("sparse_keys", "list(string)"): 0,
    ("squeeze_dims", "list(int)"): 0,
    ("align", "string"): ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"),
    ("reduction_type", "string"): ("MEAN", "SUM"),
    ("padding", "string"): _PADDINGS,
}  # fmt: skip

_FUNCTIONAL: Final = ("If", "StatelessIf", "StatelessWhile", "While")
_STAGING: Final = ("Stage", "StageClear", "StagePeek", "StageSize", "Unstage")
_CONVOLUTIONS: Final = (
    "Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput", "DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropFilter",
    "DepthwiseConv2dNativeBackpropInput",
)  # fmt: skip
_POOLS: Final = (
    "AvgPool", "AvgPoolGrad", "MaxPool", "MaxPoolGrad", "MaxPoolGradGrad", "MaxPoolGradGradWithArgmax", "MaxPoolGradWithArgmax",
    "MaxPoolWithArgmax",
)  # fmt: skip
_POOLS_3D: Final = ("AvgPool3D", "AvgPool3DGrad", "MaxPool3D", "MaxPool3DGrad", "MaxPool3DGradGrad")
_CONVOLUTIONS_3D: Final = ("Conv3D", "Conv3DBackpropFilterV2", "Conv3DBackpropInputV2")
_NORMS: Final = ("FusedBatchNorm", "FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormV2")


def _each(ops: Sequence[str], attrs: Sequence[str], limit: Limit) -> dict[tuple[str, str], Limit]:
    return {(op, attr): limit for op in ops for attr in attrs}


# By op and attribute: these names say other things in other ops.
_OF_OPS: Final[dict[tuple[str, str], Limit]] = {
    **_each(_FUNCTIONAL, ("output_shapes",), None),
    **_each(("StatelessWhile", "StringFormat", "While"), ("T",), 0),
    **_each(("Save", "SaveSlices"), ("T",), 1),
    **_each(("Print",), ("U",), 0),
    **_each(("IteratorFromStringHandle", "IteratorFromStringHandleV2"), ("output_shapes", "output_types"), 0),
    **_each(("PriorityQueueV2",), ("component_types",), 0),
    **_each(_STAGING, ("capacity",), 0),
    **_each(("RestoreV2", "SaveV2", "Stage", "StagePeek", "Unstage"), ("dtypes",), 1),
    **_each((
        "AccumulateNV2", "DirectedInterleaveDataset", "DynamicStitch", "Einsum", "PaddedBatchDataset", "PaddedBatchDatasetV2",
        "ParallelConcat", "ParallelDynamicStitch", "ShapeN", "ZipDataset",
    ), ("N",), 1),
    **_each((
        "ChooseFastestDataset", "Concat", "ConcatOffset", "ExperimentalChooseFastestDataset", "SparseConcat",
    ), ("N",), 2),
    **_each(("RaggedTensorFromVariant",), ("input_ragged_rank",), -1),
    **_each(("RaggedTensorFromVariant",), ("output_ragged_rank",), 0),
    **_each(("RaggedTensorToVariant",), ("RAGGED_RANK",), 0),
    **_each(("SparseCross", "StringJoin"), ("N",), 0),
    **_each(("SparseCross",), ("num_buckets",), 0),
    **_each(("AudioSummaryV2",), ("max_outputs",), 1),
    **_each(("InitializeTableFromTextFileV2",), ("key_index", "value_index"), -2),
    **_each(("InitializeTableFromTextFileV2",), ("vocab_size",), -1),
    **_each(("TopK",), ("k",), 0),
    **_each(("Unpack",), ("num",), 0),
    **_each(("_Arg",), ("index",), 0),
    **_each(_POOLS, ("ksize", "strides"), 4),
    **_each(_POOLS_3D, ("ksize", "strides"), 5),
    **_each(_CONVOLUTIONS_3D, ("strides",), 5),
    **_each(("Dilation2D", "ExtractImagePatches"), ("ksizes", "rates", "strides"), 4),
    **_each((*_CONVOLUTIONS, "MaxPool", "MaxPoolGrad"), ("padding",), _EXPLICIT_PADDINGS),
    **_each((*_CONVOLUTIONS, *_POOLS, *_NORMS, "BiasAdd", "BiasAddGrad", "MaxPoolGradV2"), ("data_format",), _PLANES),
    **_each((*_CONVOLUTIONS_3D, *_POOLS_3D), ("data_format",), _VOLUMES),
    **_each(("DepthToSpace", "MaxPool", "MaxPoolV2", "SpaceToDepth"), ("data_format",), (*_PLANES, "NCHW_VECT_C")),
    **_each(("FusedBatchNormGradV3", "FusedBatchNormV3"), ("data_format",), _PLANES + _VOLUMES),
    **_each(("CropAndResize", "CropAndResizeGradImage"), ("method",), ("bilinear", "nearest")),
    **_each(("CropAndResizeGradBoxes",), ("method",), ("bilinear",)),
    **_each(("Dequantize", "QuantizeV2"), ("mode",), ("MIN_COMBINED", "MIN_FIRST", "SCALED")),
    **_each(("MirrorPad", "MirrorPadGrad"), ("mode",), ("REFLECT", "SYMMETRIC")),
    **_each(("QuantizeAndDequantizeV2",), ("round_mode",), ("HALF_TO_EVEN", "HALF_UP")),
    **_each(("QuantizeV2",), ("round_mode",), ("HALF_AWAY_FROM_ZERO", "HALF_TO_EVEN")),
    **_each(("EncodeJpeg",), ("format",), ("", "grayscale", "rgb")),
    **_each(("EncodeJpeg",), ("density_unit",), ("in", "cm")),
}  # fmt: skip


def limit_of(op: str, attr: str, kind: str) -> Limit:
    """The limit of an op's attribute, None for one without."""
    own = (op, attr)
    return _OF_OPS[own] if own in _OF_OPS else _COMMON.get((attr, kind))
