"""The notation of signatures."""

from __future__ import annotations

import pytest

from weft.framework.op_types.op_signature import parse_signature
from weft.framework.types import dtypes


def test_a_signature_is_split_into_arguments_and_their_attributes() -> None:
    inputs, outputs, kinds = parse_signature("values: N*T, axis: int32, ref: Ref(T), others: [Tin] -> output: T")
    values, axis, ref, others = inputs
    assert (values.type_attr, values.number_attr, values.is_list) == ("T", "N", True)
    assert (axis.dtype, axis.is_list) == (dtypes.int32, False)
    assert (ref.type_attr, ref.is_ref) == ("T", True)
    assert (others.type_list_attr, others.is_list) == ("Tin", True)
    assert outputs[0].type_attr == "T"
    assert kinds == {"N": "int", "T": "type", "Tin": "list(type)"}


def test_an_attribute_may_have_a_types_name() -> None:
    assert parse_signature("-> output: dtype", ["dtype"])[1][0].type_attr == "dtype"
    assert parse_signature("-> output: string")[1][0].dtype is dtypes.string


@pytest.mark.parametrize("signature", ["a: T", "a -> b: T", "a: nonsense -> b: T"])
def test_what_is_no_signature_is_refused(signature: str) -> None:
    with pytest.raises((ValueError, TypeError)):
        parse_signature(signature)
