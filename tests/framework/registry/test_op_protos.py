"""Op types as the public protos."""

from __future__ import annotations

import pytest
from tensorboard.compat.proto import op_def_pb2

from weft.framework.registry import op_protos
from weft.framework.registry.op_protos import get_registered_ops, register_op_list


def test_to_ask_for_a_name_makes_no_proto(monkeypatch) -> None:
    monkeypatch.setattr(op_protos, "to_op_def_proto", None)
    assert "MatMul" in get_registered_ops()
    assert "Nothing" not in get_registered_ops()


def test_op_types_that_weft_lacks_are_told() -> None:
    op_list = op_def_pb2.OpList()
    op_list.op.add(name="MatMul")
    register_op_list(op_list)
    op_list.op.add(name="Nothing")
    with pytest.raises(ValueError, match="weft has no op type 'Nothing'"):
        register_op_list(op_list)
