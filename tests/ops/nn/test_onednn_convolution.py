"""Convolutions by oneDNN give what NumPy's sum over the window gives, where XLA has them, and only there."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import weft as tf
from weft.ops.nn import onednn_convolution as onednn
from weft.ops.nn.convolve import Convolution, convolve, to_filter, to_input
from weft.ops.nn.window import place
from weft.runtime.compiled.engine import CompiledStage
from weft.runtime.xla.calling_thread import COMPILER_OPTIONS, calling_thread_device

Shape = tuple[int, ...]

needs_onednn = pytest.mark.skipif(not onednn.is_there(), reason="XLA has no oneDNN here that weft knows")


def random(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape, np.float32)


def how_for(stride: int = 1, dilation: int = 1, padding: str = "SAME", data_format: str = "NHWC") -> Convolution:
    each = [tuple(1 if letter in "NC" else number for letter in data_format) for number in (stride, dilation)]
    return Convolution(data_format, each[0], padding, each[1])


def assert_near(found: Any, expected: Any) -> None:
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


def code_of(function: Any, *operands: Any) -> str:
    text: str = jax.jit(function).lower(*operands).as_text()
    return text


@needs_onednn
@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
@pytest.mark.parametrize(
    ("stride", "dilation", "padding"),
    [(1, 1, "SAME"), (1, 1, "VALID"), (2, 1, "SAME"), (3, 1, "VALID"), (1, 2, "SAME"), (1, 3, "VALID")],
)
@pytest.mark.parametrize(("channels", "outputs"), [(1, 8), (3, 17), (16, 32)])
def test_forward(data_format: str, stride: int, dilation: int, padding: str, channels: int, outputs: int) -> None:
    how = how_for(stride, dilation, padding, data_format)
    x = random(3, 12, 11, channels) if data_format == "NHWC" else random(3, channels, 12, 11)
    filters = random(3, 2, channels, outputs)
    assert onednn._TARGET in code_of(lambda x, f: convolve(jnp, how, x, f), x, filters)
    assert_near(jax.jit(lambda: convolve(jnp, how, x, filters))(), convolve(np, how, x, filters))


@needs_onednn
@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
@pytest.mark.parametrize(("dilation", "padding"), [(1, "SAME"), (1, "VALID"), (2, "SAME"), (3, "VALID")])
@pytest.mark.parametrize(("channels", "outputs"), [(8, 1), (17, 3), (16, 32)])
def test_gradient_for_the_input(data_format: str, dilation: int, padding: str, channels: int, outputs: int) -> None:
    how, filters = how_for(1, dilation, padding, data_format), random(3, 2, channels, outputs)
    shape = (3, 12, 11, channels) if data_format == "NHWC" else (3, channels, 12, 11)
    grad = random(*convolve(np, how, np.zeros(shape, np.float32), filters).shape)
    assert onednn._TARGET in code_of(lambda f, g: to_input(jnp, how, shape, f, g), filters, grad)
    assert_near(jax.jit(lambda: to_input(jnp, how, shape, filters, grad))(), to_input(np, how, shape, filters, grad))


@needs_onednn
@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
@pytest.mark.parametrize(
    ("strides", "dilation", "padding"),
    [((1, 1), 1, "SAME"), ((1, 1), 1, "VALID"), ((2, 2), 1, "SAME"), ((3, 2), 1, "VALID"), ((1, 2), 3, "VALID")],
)
@pytest.mark.parametrize("size", [(3, 2), (1, 1), (4, 1), (2, 5)])
@pytest.mark.parametrize(("channels", "outputs"), [(3, 17), (16, 8)])
def test_gradient_for_the_filters(
    data_format: str, strides: Shape, dilation: int, padding: str, size: Shape, channels: int, outputs: int
) -> None:
    """With strides of 3 and 2 some of the images' 13 by 11 elements are in no window."""
    each = {"N": 1, "C": 1, "H": strides[0], "W": strides[1]}
    gaps = {"N": 1, "C": 1, "H": dilation, "W": 1}
    how = Convolution(data_format, tuple(each[d] for d in data_format), padding, tuple(gaps[d] for d in data_format))
    x = random(5, 13, 11, channels) if data_format == "NHWC" else random(5, channels, 13, 11)
    shape = (*size, channels, outputs)
    grad = random(*convolve(np, how, x, np.zeros(shape, np.float32)).shape)
    assert onednn._TARGET in code_of(lambda x, g: to_filter(jnp, how, x, shape, g), x, grad)
    assert_near(jax.jit(lambda: to_filter(jnp, how, x, shape, grad))(), to_filter(np, how, x, shape, grad))


@needs_onednn
@pytest.mark.parametrize("batch", [8, 22])
def test_gradient_for_the_filters_of_some_images_at_a_time(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onednn, "_GRADIENT_BYTES", 0)
    how, shape = how_for(), (3, 3, 4, 8)
    x, grad = random(batch, 6, 5, 4), random(batch, 6, 5, 8)
    code = code_of(lambda x, g: to_filter(jnp, how, x, shape, g), x, grad)
    assert "6x20x4xf32" in code
    assert_near(jax.jit(lambda: to_filter(jnp, how, x, shape, grad))(), to_filter(np, how, x, shape, grad))


@needs_onednn
def test_explicit_padding_of_each_side() -> None:
    how = Convolution("NHWC", (1, 1, 1, 1), "EXPLICIT", (1, 1, 1, 1), (0, 0, 2, 1, 0, 2, 0, 0))
    x, filters = random(2, 7, 6, 8), random(3, 3, 8, 8)
    made = convolve(np, how, x, filters)
    assert_near(jax.jit(lambda: convolve(jnp, how, x, filters))(), made)
    assert_near(jax.jit(lambda: to_input(jnp, how, x.shape, filters, made))(), to_input(np, how, x.shape, filters, made))
    expected = to_filter(np, how, x, filters.shape, made)
    assert_near(jax.jit(lambda: to_filter(jnp, how, x, filters.shape, made))(), expected)


@needs_onednn
def test_in_loops_and_on_the_calling_thread() -> None:
    how, x, filters = how_for(), random(2, 6, 5, 8), random(3, 3, 8, 8) / 8

    def thrice(x: Any, filters: Any) -> Any:
        return lax.fori_loop(0, 3, lambda _, each: convolve(jnp, how, each, filters), x)

    expected = x
    for _ in range(3):
        expected = convolve(np, how, expected, filters)
    assert_near(jax.jit(thrice)(x, filters), expected)
    with jax.default_device(calling_thread_device()):
        assert_near(jax.jit(thrice, compiler_options=COMPILER_OPTIONS)(x, filters), expected)


@needs_onednn
def test_derivatives_by_jax_are_those_of_a_convolution() -> None:
    how, x, filters = how_for(), random(2, 6, 5, 8), random(3, 3, 8, 8)

    def plain(x: Any, filters: Any) -> Any:
        return lax.conv_general_dilated(x, filters, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def loss(form: Any) -> Any:
        return jax.jit(jax.grad(lambda x, f: (form(x, f) ** 2).sum(), (0, 1)))

    for found, expected in zip(loss(lambda x, f: convolve(jnp, how, x, f))(x, filters), loss(plain)(x, filters), strict=True):
        assert_near(found, np.asarray(expected))


@pytest.mark.parametrize(
    ("x", "filters", "item_bytes"),
    [
        ((2, 8, 8, 4), (3, 3, 4, 4), 4),  # few outputs
        ((2, 8, 8, 16), (3, 3, 8, 16), 4),  # groups
        ((2, 8, 8, 8), (3, 3, 8, 8), 2),  # half precision
        ((2, 8, 8, 8, 8), (3, 3, 3, 8, 8), 4),  # volumes
    ],
)
def test_other_convolutions_stay_with_xla(x: Shape, filters: Shape, item_bytes: int) -> None:
    window = place(x[1:-1], filters[:-2], (1,) * (len(x) - 2), "SAME")
    assert not onednn.serves(x, filters, item_bytes, window)
    assert not onednn.serves_to_input(x, filters, item_bytes, window)
    assert not onednn.serves_to_filter(x, filters, item_bytes, window)


@pytest.mark.parametrize(
    ("channels", "size", "dilation"),
    [
        (2, (3, 3), 1),  # short rows
        (16, (1, 3), 1),  # a single one
        (16, (3, 3), 2),  # elements that are not side by side
    ],
)
def test_some_gradients_for_filters_stay_with_xla(channels: int, size: Shape, dilation: int) -> None:
    window = place((8, 8), size, (1, 1), "SAME", (1, dilation))
    assert not onednn.serves_to_filter((2, 8, 8, channels), (*size, channels, 8), 4, window)


def test_the_gradient_for_an_input_with_strides_stays_with_xla() -> None:
    assert not onednn.serves_to_input((2, 8, 8, 8), (3, 3, 8, 8), 4, place((8, 8), (3, 3), (2, 2), "SAME"))


@pytest.mark.parametrize(
    "setting",
    [
        "os.environ['TF_ENABLE_ONEDNN_OPTS'] = '0'",
        "import importlib.metadata as m; m.version = lambda name: '99.0'",
        "import jax; jax.config.update('jax_compilation_cache_dir', 'nowhere')",
    ],
)
def test_it_is_not_used_where_it_may_not_be(setting: str) -> None:
    program = f"import os; {setting}; from weft.ops.nn.onednn_convolution import is_there; print(is_there())"
    environment = {**os.environ, "PYTHONPATH": os.getcwd(), "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True, env=environment
    )
    assert done.stdout == "False\n"


@needs_onednn
def test_its_operations_are_counted_with_xlas(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a size of a batch costs on the host is estimated from them."""

    def flops() -> float:
        found: list[float] = []
        prepare = CompiledStage.prepare

        def noted(stage: CompiledStage, *arguments: Any, **keywords: Any) -> None:
            prepare(stage, *arguments, **keywords)
            found.append(stage.flops or 0.0)

        with monkeypatch.context() as patched, tf.Graph().as_default():
            patched.setattr(CompiledStage, "prepare", noted)
            x = tf.placeholder(tf.float32, [None, 8, 8, 8])
            config = tf.ConfigProto()
            config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1
            made = tf.nn.conv2d(x, tf.constant(random(3, 3, 8, 8)), [1, 1, 1, 1], "SAME")
            with tf.Session(config=config) as session:
                for _ in range(2):
                    session.run(made, {x: random(2, 8, 8, 8)})
        return found[-1]

    by_onednn = flops()
    monkeypatch.setattr(onednn, "is_there", lambda: False)
    # XLA does not count what falls on the padding.
    assert 0.8 * by_onednn < flops() <= by_onednn
