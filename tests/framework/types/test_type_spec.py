"""Descriptions of values: equality, what they take, and the narrowest that takes two."""

from __future__ import annotations

import pickle

import pytest

from weft.framework.compat.source_translation import SourceTransformer
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_shape import TensorShape
from weft.framework.types.type_spec import (
    BatchableTypeSpec,
    CompositeTensor,
    TypeSpec,
    register_type_spec_from_value_converter,
    type_spec_from_value,
)


class Pair(CompositeTensor):
    def __init__(self, shape: list[int | None], dtype: DType) -> None:
        self.shape, self.dtype = shape, dtype

    @property
    def _type_spec(self) -> PairSpec:
        return PairSpec(self.shape, self.dtype)


class PairSpec(BatchableTypeSpec):
    def __init__(self, shape: object, dtype: DType) -> None:
        self._shape, self._dtype = TensorShape(shape), dtype

    @property
    def value_type(self) -> type:
        return Pair

    def _serialize(self) -> tuple[object, ...]:
        return self._shape, self._dtype


def test_specs_are_equal_by_class_and_parameters_and_come_through_pickle() -> None:
    spec = PairSpec([2, None], dtypes.float32)
    assert spec == PairSpec([2, None], dtypes.float32) == pickle.loads(pickle.dumps(spec))
    assert hash(spec) == hash(PairSpec([2, None], dtypes.float32))
    assert spec != PairSpec([2, 3], dtypes.float32)
    assert spec != object()
    assert repr(spec).startswith("PairSpec(")


def test_a_spec_takes_values_and_specs_that_fit() -> None:
    spec = PairSpec([2, None], dtypes.float32)
    assert spec.is_compatible_with(Pair([2, 5], dtypes.float32))
    assert not spec.is_compatible_with(PairSpec([3, 5], dtypes.float32))
    assert not spec.is_compatible_with(PairSpec([2, 5], dtypes.int32))


def test_the_narrowest_spec_of_two_leaves_open_where_they_differ() -> None:
    spec = PairSpec([2, 3], dtypes.float32).most_specific_compatible_type(PairSpec([2, 4], dtypes.float32))
    assert spec == PairSpec([2, None], dtypes.float32)
    with pytest.raises(ValueError, match="Types are not compatible"):
        spec.most_specific_compatible_type(PairSpec([2, 4], dtypes.int32))


def test_a_spec_is_made_of_values_whose_class_is_known() -> None:
    class Plain:
        pass

    with pytest.raises(TypeError, match="Could not build a TypeSpec"):
        type_spec_from_value(Plain())
    register_type_spec_from_value_converter(Plain, lambda value: PairSpec([], dtypes.int32))
    assert type_spec_from_value(Plain()) == PairSpec([], dtypes.int32)
    assert isinstance(type_spec_from_value(Pair([], dtypes.int32)), TypeSpec)


def test_a_rewriter_of_python_source_may_be_derived_and_says_what_to_do_when_it_is_made() -> None:
    class Mine(SourceTransformer):
        pass

    with pytest.raises(NotImplementedError, match=r"Mine rewrites Python source.*tf\.while_loop"):
        Mine()
