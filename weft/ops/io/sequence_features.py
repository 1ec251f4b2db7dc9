"""The features that a program wants of sequence examples, as the ops that parse these take and give them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self, TypeAlias

from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.array.constant import constant
from weft.ops.io.example_features import FixedLenFeature, FixedLenSequenceFeature, VarLenFeature

Parsed: TypeAlias = Tensor | SparseTensor
"""What a feature becomes."""

_Features: TypeAlias = list[tuple[str, Any]]


class SequenceFeatures(NamedTuple):
    """The features of the context and of the lists, sparse and dense ones, each with its key, in the order of the keys."""

    context_sparse: _Features
    context_dense: _Features
    list_sparse: _Features
    list_dense: _Features

    @classmethod
    def of(cls, context: Mapping[str, object] | None, lists: Mapping[str, object] | None) -> Self:
        """The features by what a program names; ValueError for none, or one of an unknown kind or without a shape or type."""
        if not (context or lists):
            raise ValueError("Missing features.")
        return cls(*_split(context, FixedLenFeature), *_split(lists, FixedLenSequenceFeature))

    def keys(self) -> tuple[list[str], list[str], list[str], list[str]]:
        """The keys of each kind."""
        first, second, third, fourth = ([key for key, _ in group] for group in self)
        return first, second, third, fourth

    def defaults(self) -> list[Tensor]:
        """What stands for the context's dense features where an example lacks them; empty where it may not."""
        return [_default_of(key, feature) for key, feature in self.context_dense]

    def may_lack(self) -> list[str]:
        """The keys of the dense lists that an example may lack."""
        return [key for key, feature in self.list_dense if feature.allow_missing]

    def attributes(self) -> dict[str, Any]:
        """The attributes of the ops: numbers, types and shapes."""
        groups = dict(zip(("context_sparse", "context_dense", "feature_list_sparse", "feature_list_dense"), self, strict=True))
        counts = {f"N{name}": len(group) for name, group in groups.items()}
        kinds = {
            "Tcontext_dense" if name == "context_dense" else f"{name}_types": [feature.dtype for _, feature in group]
            for name, group in groups.items()
        }
        dense = ("context_dense", "feature_list_dense")
        return counts | kinds | {f"{name}_shapes": [_known_dims(*each) for each in groups[name]] for name in dense}

    def named(self, parts: Sequence[Sequence[Tensor]]) -> tuple[dict[str, Parsed], dict[str, Parsed]]:
        """What was parsed of the context and of the lists, by keys.

        Args:
            parts: of the context the indices, values and shapes of sparse features and the dense ones, then the lists' four.
        """
        of_context, of_lists = (_sparse(self.context_sparse, parts[:3]), _sparse(self.list_sparse, parts[4:7]))
        dense, listed = ({key: value for (key, _), value in zip(group, part, strict=True)} for group, part in
                         ((self.context_dense, parts[3]), (self.list_dense, parts[7])))  # fmt: skip
        return of_context | dense, of_lists | listed


def _checked(key: str, feature: Any, *allowed: Any) -> Any:
    if not isinstance(feature, allowed):
        raise ValueError(f"Unsupported feature {key}: {feature}; expected one of {[kind.__name__ for kind in allowed]}")
    if not feature.dtype:
        raise ValueError(f"Missing type for feature {key}.")
    return feature


def _split(features: Mapping[str, object] | None, dense: type) -> tuple[_Features, _Features]:
    """The sparse and the dense features, each in the order of the keys."""
    items = [(key, _checked(key, (features or {})[key], VarLenFeature, dense)) for key in sorted(features or {})]
    return [item for item in items if isinstance(item[1], VarLenFeature)], [
        item for item in items if not isinstance(item[1], VarLenFeature)
    ]


def _known_dims(key: str, feature: Any) -> tuple[int, ...]:
    """The shape of a dense feature, all of which has to be known."""
    shape = TensorShape(feature.shape)
    if feature.shape is None or not shape.is_fully_defined():
        raise ValueError(f"All dimensions of shape for feature {key} need to be known but received {shape}.")
    return tuple(int(size) for size in shape.as_list() if size is not None)


def _default_of(key: str, feature: Any) -> Tensor:
    if feature.default_value is None:
        return constant([], feature.dtype)
    return convert_to_tensor(feature.default_value, dtypes.as_dtype(feature.dtype), name=f"key_{key}")


def _sparse(features: _Features, parts: Sequence[Sequence[Tensor]]) -> dict[str, Parsed]:
    """Sparse tensors by the features' keys, out of lists of their indices, values and shapes."""
    return {key: SparseTensor(*each) for (key, _), *each in zip(features, *parts, strict=True)}
