"""An op is declared once, by a kernel and a signature that agree."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import weft  # noqa: F401 - declares the ops
from weft.framework import dtypes, op_def
from weft.framework.dtypes import DType
from weft.framework.op_def import REQUIRED, OpDef, Traits, parse_signature
from weft.framework.op_role import Role


def no_shape(op: Any) -> list[Any]:
    return [None]


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of the registry, so that declarations of tests are forgotten."""
    monkeypatch.setattr(op_def, "_REGISTRY", dict(op_def._REGISTRY))
    monkeypatch.setattr(op_def, "_GRADIENTS", dict(op_def._GRADIENTS))


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


def test_keyword_parameters_of_the_kernel_are_attributes() -> None:
    def kernel(xp: Any, a: Any, *, size: int, flag: bool = False, dtype: DType = dtypes.int32) -> Any: ...

    declared = op_def.declare("Test1", "a: T -> b: dtype", kernel, infer=no_shape, gradient=None)
    assert {name: (attr.kind, attr.default) for name, attr in declared.attrs.items()} == {
        "T": ("type", REQUIRED), "size": ("int", REQUIRED), "flag": ("bool", False), "dtype": ("type", dtypes.int32),
    }  # fmt: skip
    assert declared.takes_xp
    assert not declared.is_host
    assert op_def.lookup("Test1") is declared


def test_the_first_parameter_tells_where_a_kernel_runs() -> None:
    def host(ctx: Any, a: Any) -> Any: ...
    def random(xp: Any, a: Any, *, run_index: Any) -> Any: ...

    assert op_def.declare("Test2", "a: T -> b: T", host, infer=no_shape, gradient=None).is_host
    declared = op_def.declare("Test3", "a: T -> b: T", random, infer=no_shape, gradient=None)
    assert declared.takes_run_index
    assert "run_index" not in declared.attrs


def test_kernel_and_signature_must_agree() -> None:
    def kernel(xp: Any, other: Any) -> Any: ...

    with pytest.raises(ValueError, match=r"kernel takes \['other'\], signature says \['a'\]"):
        op_def.declare("Test4", "a: T -> b: T", kernel, infer=no_shape, gradient=None)


def test_an_op_is_declared_once() -> None:
    def kernel(xp: Any, x: Any) -> Any: ...

    with pytest.raises(ValueError, match="Op 'Neg' is already declared"):
        op_def.declare("Neg", "x: T -> y: T", kernel, infer=no_shape, gradient=None)


def test_an_op_that_is_not_there_is_told() -> None:
    assert not op_def.is_registered("Nonesuch")
    with pytest.raises(LookupError, match="Op type not registered 'Nonesuch'"):
        op_def.lookup("Nonesuch")


def test_gradients_are_registered_once() -> None:
    def gradient(op: Any, grad: Any) -> Any: ...

    op_def.register_gradient("TestGradient", gradient)
    assert op_def.lookup_gradient("TestGradient") is gradient
    for name in ("TestGradient", "Neg"):
        with pytest.raises(KeyError, match="Registering two gradient with name"):
            op_def.register_gradient(name, gradient)
    with pytest.raises(LookupError, match="gradient registry has no entry for: TestNone"):
        op_def.lookup_gradient("TestNone")


def test_all_declarations_are_listed_in_order() -> None:
    names = [definition.name for definition in op_def.registered()]
    assert names == sorted(names)
    assert {"MatMul", "VariableV2", "Assign"} <= set(names)


def test_all_kinds_of_variables_have_the_role_of_one() -> None:
    assert {d.name for d in op_def.registered() if d.role is Role.VARIABLE} == {"Variable", "VariableV2", "VarHandleOp"}


def test_the_role_of_an_op_that_weft_does_not_have_is_a_computation() -> None:
    assert op_def.role_of("Const") is Role.CONSTANT
    assert op_def.role_of("OfAnotherVersion") is Role.COMPUTATION


def test_ops_that_hand_their_inputs_on_return_them_unchanged() -> None:
    found = [d for d in op_def.registered() if d.hands_on]
    assert len(found) > 5
    for definition in found:
        value = np.arange(3.0)
        given = [value] if definition.inputs[0].is_list else value
        keywords = dict.fromkeys(definition.kernel_attrs)
        made = definition.kernel(np, given, **keywords) if definition.takes_xp else definition.kernel(given, **keywords)
        assert (made[0] if isinstance(made, tuple | list) else made) is value, definition.name


def test_every_trait_that_a_declaration_may_give_has_its_meaning_and_default() -> None:
    given = {key: str(kind) for key, kind in Traits.__annotations__.items()}
    known = {each.name: each.default for each in dataclasses.fields(OpDef)}
    assert [key for key in given if known.get(key, dataclasses.MISSING) is dataclasses.MISSING] == []
    assert [name for name, default in known.items() if default is not dataclasses.MISSING and name not in given] == []
