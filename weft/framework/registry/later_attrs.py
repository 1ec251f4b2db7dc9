"""Attributes that ops got after TensorFlow 1.15, which refuses nodes that have them.

A graph that is written has them only where they have another value than their default.
"""

from __future__ import annotations

from typing import Final

from tensorboard.compat.proto import node_def_pb2

from weft.framework.registry import op_registry
from weft.framework.types import attr_value

_FTRL: Final = tuple(
    f"{handle}{sparse}ApplyFtrl{version}" for handle in ("", "Resource") for sparse in ("", "Sparse") for version in ("", "V2")
)
_FOURIER: Final = tuple(f"{inverse}RFFT{rank}" for inverse in ("", "I") for rank in ("", "2D", "3D"))
_SPARSE_SEGMENTS: Final = tuple(
    f"SparseSegment{kind}{form}" for kind in ("Mean", "SqrtN", "Sum") for form in ("", "Grad", "WithNumSegments")
)

LATER_ATTRS: Final[dict[str, tuple[str, ...]]] = {
    "AssignVariableOp": ("validate_shape",),
    "CTCGreedyDecoder": ("blank_index",),
    "ConcatOffset": ("shape_type",),
    **dict.fromkeys(_FTRL, ("multiply_linear_by_lr",)),
    **{f"DepthwiseConv2dNative{back}": ("explicit_paddings",) for back in ("", "BackpropFilter", "BackpropInput")},
    "Dequantize": ("dtype", "narrow_range", "axis"),
    **{f"FusedBatchNorm{version}": ("exponential_avg_factor",) for version in ("", "V2", "V3")},
    **dict.fromkeys(_FOURIER, ("Treal", "Tcomplex")),
    **dict.fromkeys(("GatherNd", "ScatterNd"), ("bad_indices_policy",)),
    **{
        f"{prefix}Nd{what}": ("bad_indices_policy",)
        for prefix in ("Scatter", "ResourceScatter")
        for what in ("Add", "Sub", "Update")
    },
    "ScatterNdNonAliasingAdd": ("bad_indices_policy",),
    **{f"TensorScatter{what}": ("bad_indices_policy",) for what in ("Add", "Sub", "Update")},
    **dict.fromkeys(("DirectedInterleaveDataset", "ExperimentalDirectedInterleaveDataset"), ("stop_on_empty_dataset",)),
    "ImageProjectiveTransformV2": ("fill_mode",),
    "InitializeTableFromTextFileV2": ("offset",),
    **dict.fromkeys(("MaxPool", "MaxPoolGrad", "MaxPoolGradGrad"), ("explicit_paddings",)),
    "MergeV2Checkpoints": ("allow_missing_files",),
    "QuantizeAndDequantizeV2": ("axis",),
    "QuantizeAndDequantizeV3": ("axis",),
    "QuantizeV2": ("narrow_range", "axis", "ensure_minimum_range"),
    **dict.fromkeys(
        ("ExperimentalParseExampleDataset", "ParseExampleDataset"), ("ragged_keys", "ragged_value_types", "ragged_split_types")
    ),
    **dict.fromkeys(("ExperimentalSlidingWindowDataset", "SlidingWindowDataset"), ("drop_remainder",)),
    "ShuffleDatasetV2": ("metadata",),
    "ShuffleAndRepeatDataset": ("reshuffle_each_iteration",),
    **dict.fromkeys(_SPARSE_SEGMENTS, ("Tsegmentids", "sparse_gradient")),
    "TensorListGetItem": ("Tshape",),
    "TensorListSetItem": ("resize_if_index_out_of_bounds",),
    "TopKV2": ("Tk", "index_type"),
    "TridiagonalSolve": ("perturb_singular",),
    "VarHandleOp": ("debug_name", "allowed_devices"),
}
"""By op. Some of them were types that the op had once and for all."""


def strip(node: node_def_pb2.NodeDef) -> None:
    """Remove, in place, the later attributes of a node that have their defaults."""
    for key in LATER_ATTRS.get(node.op, ()):
        attr = op_registry.lookup(node.op).attrs.get(key)
        if attr is not None and key in node.attr and node.attr[key] == attr_value.encode(attr.kind, attr.default):
            del node.attr[key]
