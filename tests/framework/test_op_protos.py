"""Op types as the public protos."""

from __future__ import annotations

from weft.framework import op_protos
from weft.framework.op_protos import get_registered_ops


def test_to_ask_for_a_name_makes_no_proto(monkeypatch) -> None:
    monkeypatch.setattr(op_protos, "to_op_def_proto", None)
    assert "MatMul" in get_registered_ops()
    assert "Nothing" not in get_registered_ops()
