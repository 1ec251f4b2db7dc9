"""What a dict of features asks of parse_example: its sparse and dense features, and the tensors put together again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from weft.framework.building.aliases import DTypeLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.array.shape_ops import reshape
from weft.ops.io.example_features import FixedLenFeature, FixedLenSequenceFeature, SparseFeature, VarLenFeature
from weft.ops.sparse.tensors import sparse_merge

EXAMPLE_TYPES: Final = (dtypes.float32, dtypes.int64, dtypes.string)


class DenseSpec(NamedTuple):
    """A feature that becomes a dense tensor; its `dims` are those of one example."""

    key: str
    dtype: DType
    dims: Dims
    default: Any


class SparseSpec(NamedTuple):
    """A feature that becomes a SparseTensor."""

    key: str
    dtype: DType


def requested(features: Mapping[str, object]) -> tuple[list[SparseSpec], list[DenseSpec]]:
    """The sparse and dense features that a dict of them asks for, each in the order of the keys."""
    if not features:
        raise ValueError("Missing: features was None or empty.")
    sparse: dict[str, SparseSpec] = {}
    dense: list[DenseSpec] = []
    for key in sorted(features):
        feature = features[key]
        if isinstance(feature, VarLenFeature):
            _add_sparse(sparse, key, feature.dtype)
        elif isinstance(feature, SparseFeature):
            for index_key in sorted(_index_keys(feature)):
                _add_sparse(sparse, index_key, dtypes.int64)
            _add_sparse(sparse, feature.value_key, feature.dtype)
        elif isinstance(feature, FixedLenFeature | FixedLenSequenceFeature):
            dense.append(_dense_spec(key, feature))
        else:
            raise ValueError(
                f"Invalid feature {key}:{feature}. Give a tf.FixedLenFeature(shape, dtype), tf.FixedLenSequenceFeature, "
                "tf.VarLenFeature or tf.SparseFeature; a single number is a tf.FixedLenFeature([], dtype)."
            )
    for name, dtype in [(each.key, each.dtype) for each in sparse.values()] + [(each.key, each.dtype) for each in dense]:
        if dtype not in EXAMPLE_TYPES:
            allowed = ", ".join(each.name for each in EXAMPLE_TYPES)
            raise TypeError(
                f"Feature {name!r} has DataType {dtype.name} not in list of allowed values: {allowed}; use tf.cast then."
            )
    return list(sparse.values()), dense


def _index_keys(feature: SparseFeature) -> list[str]:
    return list(feature.index_key) if isinstance(feature.index_key, list | tuple) else [feature.index_key]


def _add_sparse(sparse: dict[str, SparseSpec], key: str, dtype: DTypeLike) -> None:
    if not dtype:
        raise ValueError(f"Missing type for feature {key}.")
    spec = SparseSpec(key, dtypes.as_dtype(dtype))
    if sparse.setdefault(key, spec) != spec:
        raise ValueError(f"Conflicting type {sparse[key].dtype} vs {spec.dtype} for feature {key}.")


def _dense_spec(key: str, feature: FixedLenFeature | FixedLenSequenceFeature) -> DenseSpec:
    if not feature.dtype:
        raise ValueError(f"Missing type for feature {key}.")
    if feature.shape is None:
        raise ValueError(f"Missing shape for feature {key}.")
    shape = TensorShape(feature.shape)
    if isinstance(feature, FixedLenSequenceFeature):
        if not feature.allow_missing:
            raise ValueError(f"Unsupported: FixedLenSequenceFeature requires allow_missing to be True. Feature {key}.")
        shape = TensorShape([None]).concatenate(shape)
        known = shape[1:].is_fully_defined()
    else:
        known = shape.is_fully_defined()
    if not known:
        raise ValueError(f"All dimensions of shape for feature {key} need to be known but received {shape}.")
    return DenseSpec(key, dtypes.as_dtype(feature.dtype), tuple(shape.as_list()), feature.default_value)


def default_of(spec: DenseSpec) -> Tensor:
    """The value for a missing one, an empty tensor where there must be one."""
    assert spec.dims is not None
    variable = spec.dims[:1] == (None,)
    value = spec.default
    if value is None:
        value = ("" if spec.dtype == dtypes.string else 0) if variable else []
    name = "key_" + "".join(letter if letter.isalnum() or letter in "._" else "_" for letter in spec.key)
    tensor = convert_to_tensor(value, dtype=spec.dtype, name=name)
    if not variable and spec.default is not None:
        known = constant_value(tensor)
        if known is None or known.shape != spec.dims:
            tensor = reshape(tensor, spec.dims)
    return tensor


def assembled(
    features: Mapping[str, object], sparse: Sequence[SparseSpec], dense: Sequence[DenseSpec], outputs: Sequence[Tensor]
) -> dict[str, Any]:
    """What the dict asks for, of the outputs of a node that parses."""
    indices, values, shapes, dense_values = (list(part) if isinstance(part, list | tuple) else [part] for part in outputs)
    found: dict[str, Any] = {spec.key: value for spec, value in zip(dense, dense_values, strict=True)}
    tensors = {spec.key: SparseTensor(*parts) for spec, *parts in zip(sparse, indices, values, shapes, strict=True)}
    result = {}
    for key in sorted(features):
        feature = features[key]
        if isinstance(feature, SparseFeature):
            keys = _index_keys(feature)
            ids = [tensors[index_key] for index_key in keys]
            sizes = feature.size if isinstance(feature.size, list | tuple) else [feature.size]
            result[key] = sparse_merge(ids, tensors[feature.value_key], list(sizes), already_sorted=feature.already_sorted)
        else:
            result[key] = tensors[key] if isinstance(feature, VarLenFeature) else found[key]
    return result
