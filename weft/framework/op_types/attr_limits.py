"""The limits of attributes that mean the same in many ops: the least number or length, and the values that a string may have.

An attribute of these names has the limit in every op that has it, unless the op's declaration gives another one. They are
TensorFlow's, which refuses a node outside of them when it is built or imported, before any shape rule sees it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

Limit: TypeAlias = int | Sequence[str] | None
"""The least value of a number, or length of a list; the values that a string may have; None for no limit."""

Limits: TypeAlias = Mapping[str, Limit]
"""Those of an op's attributes, by their names."""

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
    ("padding", "string"): ("SAME", "VALID"),
}  # fmt: skip


def limit_of(attr: str, kind: str) -> Limit:
    """The limit of the attributes of a name and kind; None where they have none."""
    return _COMMON.get((attr, kind))
