"""The table of TensorFlow's ops that weft lacks: each has its family and a reason, or is named."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

_TOOL = Path(__file__).parents[2] / "tools" / "tensorflow_ops.py"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tensorflow_ops", _TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_op_that_weft_lacks_has_a_reason_or_is_named_on_the_page(tool: ModuleType) -> None:
    text, own = tool.PAGE.read_text(encoding="utf-8"), tool.registered()
    lacking = {name for version in tool.VERSIONS for name in tool.tensorflows(version)} - own
    unnamed = [name for name in lacking if tool.reason(name) == tool.OTHERS and f"`{name}`" not in text]
    assert sorted(unnamed) == []
    assert [reason for reason in {tool.reason(name) for name in lacking} if f"not: {reason}" not in text] == []


@pytest.mark.oracle
def test_the_page_has_the_table_of_now(tool: ModuleType) -> None:
    assert tool.PAGE.read_text(encoding="utf-8") == tool.page(), "write it anew: tools/tensorflow_ops.py --write"
