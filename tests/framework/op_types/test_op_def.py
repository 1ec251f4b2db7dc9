"""An op is declared once, by a kernel and a signature that agree."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import weft  # noqa: F401 - declares the ops
from weft.framework.op_types.op_def import REQUIRED, OpDef, Traits
from weft.framework.op_types.op_role import Role
from weft.framework.registry import op_registry
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType


def no_shape(op: Any) -> list[Any]:
    return [None]


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of the registry, so that declarations of tests are forgotten."""
    op_registry.registered()  # what is declared late is declared before
    monkeypatch.setattr(op_registry, "_REGISTRY", dict(op_registry._REGISTRY))
    monkeypatch.setattr(op_registry, "_GRADIENTS", dict(op_registry._GRADIENTS))


def test_keyword_parameters_of_the_kernel_are_attributes() -> None:
    def kernel(xp: Any, a: Any, *, size: int, flag: bool = False, dtype: DType = dtypes.int32) -> Any: ...

    declared = op_registry.declare("Test1", "a: T -> b: dtype", kernel, infer=no_shape, gradient=None)
    assert {name: (attr.kind, attr.default) for name, attr in declared.attrs.items()} == {
        "T": ("type", REQUIRED), "size": ("int", REQUIRED), "flag": ("bool", False), "dtype": ("type", dtypes.int32),
    }  # fmt: skip
    assert declared.takes_xp
    assert not declared.is_host
    assert op_registry.lookup("Test1") is declared


def test_the_first_parameter_tells_where_a_kernel_runs() -> None:
    def host(ctx: Any, a: Any) -> Any: ...
    def random(xp: Any, a: Any, *, take: Any) -> Any: ...

    assert op_registry.declare("Test2", "a: T -> b: T", host, infer=no_shape, gradient=None).is_host
    declared = op_registry.declare("Test3", "a: T -> b: T", random, infer=no_shape, gradient=None)
    assert declared.is_random
    assert "take" not in declared.attrs


def test_kernel_and_signature_must_agree() -> None:
    def kernel(xp: Any, other: Any) -> Any: ...

    with pytest.raises(ValueError, match=r"kernel takes \['other'\], signature says \['a'\]"):
        op_registry.declare("Test4", "a: T -> b: T", kernel, infer=no_shape, gradient=None)


def test_all_kinds_of_variables_have_the_role_of_one() -> None:
    assert {d.name for d in op_registry.registered() if d.role is Role.VARIABLE} == {"Variable", "VariableV2", "VarHandleOp"}


def test_ops_that_hand_their_inputs_on_return_them_unchanged() -> None:
    found = [d for d in op_registry.registered() if d.hands_on]
    assert len(found) > 5
    for definition in found:
        value = np.arange(3.0)
        given = [value] if definition.inputs[0].is_list else value
        keywords = dict.fromkeys(definition.kernel_attrs)
        made = definition.kernel(np, given, **keywords) if definition.takes_xp else definition.kernel(given, **keywords)
        assert (made[0] if isinstance(made, tuple | list) else made) is value, definition.name


def test_every_trait_that_a_declaration_may_give_has_its_meaning_and_default() -> None:
    given = {key: str(kind) for key, kind in Traits.__annotations__.items()}
    missing = dataclasses.MISSING
    known = {each.name: each.default_factory if each.default is missing else each.default for each in dataclasses.fields(OpDef)}
    assert [key for key in given if known.get(key, dataclasses.MISSING) is dataclasses.MISSING] == []
    assert [name for name, default in known.items() if default is not dataclasses.MISSING and name not in given] == []
