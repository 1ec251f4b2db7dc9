"""What tf.contrib.quantize has and weft has not: each says so when it is called, so that programs may import them."""

from __future__ import annotations

from typing import NoReturn

from weft.framework.graph import Graph


def create_training_graph(input_graph: Graph | None = None, quant_delay: int = 0) -> NoReturn:
    """Refuse: weft does not rewrite graphs for quantized training.

    Args:
        input_graph, quant_delay: not used.

    Raises:
        NotImplementedError: always.
    """
    _refuse("create_training_graph")


def create_eval_graph(input_graph: Graph | None = None) -> NoReturn:
    """Refuse: weft does not rewrite graphs for quantized evaluation.

    Args:
        input_graph: not used.

    Raises:
        NotImplementedError: always.
    """
    _refuse("create_eval_graph")


def experimental_create_training_graph(
    input_graph: Graph | None = None, weight_bits: int = 8, activation_bits: int = 8, symmetric: bool = False,
    quant_delay: int = 0, freeze_bn_delay: int | None = None, scope: str | None = None,
) -> NoReturn:  # fmt: skip
    """Refuse: weft does not rewrite graphs for quantized training.

    Args:
        input_graph, weight_bits, activation_bits, symmetric, quant_delay, freeze_bn_delay, scope: not used.

    Raises:
        NotImplementedError: always.
    """
    _refuse("experimental_create_training_graph")


def experimental_create_eval_graph(
    input_graph: Graph | None = None, weight_bits: int = 8, activation_bits: int = 8, symmetric: bool = False,
    quant_delay: int | None = None, scope: str | None = None,
) -> NoReturn:  # fmt: skip
    """Refuse: weft does not rewrite graphs for quantized evaluation.

    Args:
        input_graph, weight_bits, activation_bits, symmetric, quant_delay, scope: not used.

    Raises:
        NotImplementedError: always.
    """
    _refuse("experimental_create_eval_graph")


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"tf.contrib.quantize.{name}: weft does not rewrite graphs for quantization. Put "
        "tf.quantization.fake_quant_with_min_max_vars at the weights and activations when the model is built, or train "
        "without quantization (quantize_delay=-1 in programs of slim) and quantize the exported model."
    )
