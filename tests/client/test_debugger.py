"""A program that turns TensorFlow's debugger on is told what there is instead."""

from __future__ import annotations

import importlib

import numpy as np
import pytest


@pytest.mark.parametrize(
    "name", ["LocalCLIDebugWrapperSession", "LocalCLIDebugHook", "DumpingDebugHook", "TensorBoardDebugWrapperSession"]
)
def test_it_is_refused_where_it_is_turned_on(name: str) -> None:
    debug = importlib.import_module("weft.python.debug")
    with pytest.raises(NotImplementedError, match=f"tf_debug.{name}: weft has no tfdbg. Fetch the tensors"):
        getattr(debug, name)(None, dump_root="/nowhere")


def test_the_filter_of_bad_values() -> None:
    has_inf_or_nan = importlib.import_module("weft.python.debug").has_inf_or_nan
    values = [np.array([1.0, np.nan]), np.array([np.inf]), np.array([1.0]), np.array([1]), np.array([b"text"], object)]
    assert [has_inf_or_nan(None, value) for value in values] == [True, True, False, False, False]
