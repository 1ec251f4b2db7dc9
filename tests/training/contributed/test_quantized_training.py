"""The rewrites for quantization: programs import them, and are told what to do when they call one."""

from __future__ import annotations

import pytest
from weft.contrib import quantize


@pytest.mark.parametrize(
    "name",
    [
        "create_training_graph", "create_eval_graph", "experimental_create_training_graph",
        "experimental_create_eval_graph",
    ],
)  # fmt: skip
def test_a_rewrite_is_refused_when_it_is_called(name) -> None:
    with pytest.raises(NotImplementedError, match=f"{name}: weft does not rewrite graphs.*fake_quant_with_min_max_vars"):
        getattr(quantize, name)()
