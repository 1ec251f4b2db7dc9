"""On the CPU some convolutions are computed in another form; each gives what NumPy's sum over the window gives."""

from __future__ import annotations

import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from weft.ops.nn import cpu_convolution as forms
from weft.ops.nn import onednn_convolution
from weft.ops.nn.convolve import Convolution, convolve, to_filter, to_input
from weft.ops.nn.window import place
from weft.runtime.xla.compiler_options import jit

Shape = tuple[int, ...]


@pytest.fixture(autouse=True)
def _without_onednn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onednn_convolution, "is_there", lambda: False)


def random(shape: Shape, dtype: str) -> Any:
    return np.random.default_rng(0).standard_normal(shape).astype(dtype)


def how_for(data_format: str, stride: int = 1, dilation: int = 1, padding: str = "SAME") -> Convolution:
    each = [tuple(1 if letter in "NC" else number for letter in data_format) for number in (stride, dilation)]
    return Convolution(data_format, each[0], padding, each[1])


def check(how: Convolution, shape: Shape, filter_shape: Shape, dtype: str = "float32", rtol: float = 1e-5) -> None:
    """All three computations, compiled and on NumPy."""
    x, filters = random(shape, dtype), random(filter_shape, dtype)
    made = convolve(np, how, x, filters)
    grad = random(made.shape, dtype)
    with jax.enable_x64(True):
        pairs = [
            (jax.jit(lambda: convolve(jnp, how, x, filters))(), made),
            (jax.jit(lambda: to_input(jnp, how, shape, filters, grad))(), to_input(np, how, shape, filters, grad)),
            (jax.jit(lambda: to_filter(jnp, how, x, filter_shape, grad))(), to_filter(np, how, x, filter_shape, grad)),
        ]
    for found, expected in pairs:
        assert found.dtype == x.dtype
        assert found.shape == expected.shape
        wide = np.asarray(expected, np.float64)
        np.testing.assert_allclose(np.asarray(found, np.float64), wide, rtol=rtol, atol=rtol * np.abs(wide).max())


@pytest.mark.parametrize("how", [how_for("NHWC"), how_for("NHWC", 2), how_for("NHWC", 1, 2), how_for("NHWC", 2, 1, "VALID")])
@pytest.mark.parametrize("outputs", [6, 18])
def test_filters_of_each_channel(how: Convolution, outputs: int) -> None:
    check(how, (3, 11, 9, 6), (3, 2, 1, outputs))


def test_filters_of_each_channel_with_channels_first() -> None:
    check(how_for("NCHW", 2), (2, 6, 9, 8), (3, 3, 1, 12))


def test_filters_of_each_channel_in_half_precision_are_summed_in_single() -> None:
    check(how_for("NHWC"), (2, 8, 8, 16), (5, 5, 1, 16), "float16", 1e-3)


def test_the_gradient_for_filters_of_each_channel_is_summed_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "_PRODUCT_BYTES", 2 * 4 * 8 * 8 * 6)
    check(how_for("NHWC"), (7, 8, 8, 6), (3, 3, 1, 6))


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("groups", [2, 4])
def test_groups_of_channels(stride: int, groups: int) -> None:
    check(how_for("NHWC", stride), (2, 8, 7, 8), (3, 3, 8 // groups, 12))


@pytest.mark.parametrize(
    ("data_format", "shape", "filters", "stride", "dilation"),
    [
        ("NHWC", (3, 7, 6, 1), (5, 6, 1, 4), 1, 1), ("NCHW", (2, 3, 7, 7), (7, 7, 3, 4), 1, 1),
        ("NHWC", (2, 9, 9, 2), (7, 7, 2, 3), 2, 1), ("NHWC", (2, 9, 9, 2), (4, 4, 2, 3), 1, 2),
    ],
)  # fmt: skip
def test_large_windows_in_few_places(data_format: str, shape: Shape, filters: Shape, stride: int, dilation: int) -> None:
    how = how_for(data_format, stride, dilation, "VALID")
    images = (shape[0], shape[2], shape[3], shape[1]) if data_format == "NCHW" else shape
    assert forms.form_for("to_input", images, filters, 4, how.window(shape, filters[:2])) is forms.by_places
    check(how, shape, filters, rtol=1e-4)


@pytest.mark.parametrize(("stride", "dilation", "padding"), [(1, 1, "SAME"), (2, 1, "SAME"), (1, 2, "SAME"), (2, 1, "VALID")])
@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
def test_windows_larger_than_images(data_format: str, stride: int, dilation: int, padding: str) -> None:
    shape = (2, 6, 5, 8) if data_format == "NHWC" else (2, 8, 6, 5)
    check(how_for(data_format, stride, dilation, padding), shape, (5, 5, 8, 12) if padding == "VALID" else (7, 6, 8, 12))


@pytest.mark.parametrize("stride", [1, 2])
def test_filters_do_not_change_places_with_smaller_images(stride: int) -> None:
    how, shape, filters = how_for("NHWC", stride), (2, 4, 4, 16), random((5, 5, 16, 12), "float32")
    grad = random((2, 4 // stride, 4 // stride, 12), "float32")
    code = jit(lambda filters, grad: to_input(jnp, how, shape, filters, grad)).lower(filters, grad).compile().as_text()
    assert set(re.findall(r"dim_labels=(\S+?),? ", code)) == {"b01f_01io->b01f"}


@pytest.mark.parametrize("data_format", ["NDHWC", "NCDHW"])
@pytest.mark.parametrize(("stride", "dilation", "padding"), [(1, 1, "SAME"), (2, 1, "SAME"), (1, 2, "VALID"), (2, 1, "VALID")])
def test_volumes(data_format: str, stride: int, dilation: int, padding: str) -> None:
    shape = (2, 7, 6, 8, 3) if data_format == "NDHWC" else (2, 3, 7, 6, 8)
    check(how_for(data_format, stride, dilation, padding), shape, (3, 2, 3, 3, 4))


def test_large_images_are_folded_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "_FOLDED_BYTES", 2 * 4 * 9 * 8 * 3 * 2)
    check(how_for("NHWC"), (5, 9, 8, 2), (3, 3, 2, 4))
    check(how_for("NDHWC"), (5, 4, 4, 4, 3), (3, 3, 3, 3, 4))


@pytest.mark.parametrize("channels", [1, 3, 8])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_few_channels(channels: int, padding: str) -> None:
    check(how_for("NHWC", padding=padding), (2, 9, 8, channels), (5, 3, channels, 4))


@pytest.mark.parametrize("data_format", ["NHWC", "NDHWC", "NCHW"])
@pytest.mark.parametrize("stride", [1, 2])
def test_double_precision(data_format: str, stride: int) -> None:
    spatial = (6, 7, 5)[: len(data_format) - 2]
    shape = (3, *spatial, 4) if data_format.endswith("C") else (3, 4, *spatial)
    check(how_for(data_format, stride), shape, (*(3, 2, 3)[: len(spatial)], 4, 5), "float64", 1e-12)


def test_double_precision_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "_ROWS_BYTES", 2 * 8 * 6 * 6 * 9 * 3)
    check(how_for("NHWC"), (5, 6, 6, 3), (3, 3, 3, 4), "float64", 1e-12)


def test_explicit_padding_wider_than_the_window() -> None:
    how = Convolution("NHWC", (1, 1, 1, 1), "EXPLICIT", (1, 1, 1, 1), (0, 0, 3, 4, 0, 2, 0, 0))
    for filters in ((3, 3, 2, 4), (3, 3, 1, 2), (3, 3, 1, 4)):
        check(how, (2, 5, 6, 2), filters)


@pytest.mark.parametrize("shape", [(0, 6, 6, 2), (2, 6, 6, 2)])
def test_nothing_to_convolve(shape: Shape) -> None:
    filters = (7, 7, 2, 3) if shape[0] else (3, 3, 1, 2)
    with jax.enable_x64(True):
        made = jax.jit(lambda: convolve(jnp, how_for("NHWC", padding="VALID"), np.ones(shape), np.ones(filters)))()
    assert made.size == 0


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
@pytest.mark.parametrize(("stride", "dilation", "padding"), [(1, 1, "SAME"), (2, 1, "SAME"), (1, 2, "VALID"), (3, 1, "VALID")])
def test_images(data_format: str, stride: int, dilation: int, padding: str) -> None:
    shape = (2, 12, 11, 9) if data_format == "NHWC" else (2, 9, 12, 11)
    check(how_for(data_format, stride, dilation, padding), shape, (3, 2, 9, 5))


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
def test_convolutions_are_in_the_layout_that_is_fast_within_loops_too(data_format: str) -> None:
    how, shape, filters = how_for(data_format), (2, 9, 9, 9), (3, 3, 9, 9)
    x, f = random(shape, "float32"), random(filters, "float32")
    for function, operands in (
        (lambda x, f: convolve(jnp, how, x, f), (x, f)),
        (lambda f, grad: to_input(jnp, how, shape, f, grad), (f, x)),
        (lambda x, grad: to_filter(jnp, how, x, filters, grad), (x, x)),
    ):
        assert "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]" in jax.jit(function).lower(*operands).as_text()


def test_a_window_of_too_many_elements_is_not_taken_apart() -> None:
    window = place((32, 32), (16, 16), (1, 1), "SAME")
    assert forms.form_for("forward", (2, 32, 32, 4), (16, 16, 1, 4), 4, window) is None


@pytest.mark.parametrize(
    ("data_format", "shape", "filters"),
    [("NHWC", (2, 8, 8, 6), (3, 3, 1, 6)), ("NDHWC", (2, 5, 5, 5, 3), (2, 2, 2, 3, 4)), ("NHWC", (2, 8, 8, 6), (3, 3, 2, 6))],
)
def test_other_devices_get_one_convolution(data_format: str, shape: Shape, filters: Shape) -> None:
    how = how_for(data_format)
    x, f = random(shape, "float32"), random(filters, "float32")
    grad = random((*shape[:-1], filters[-1]), "float32")
    for function, operands in (
        (lambda x, f: convolve(jnp, how, x, f), (x, f)),
        (lambda f, grad: to_input(jnp, how, shape, f, grad), (f, grad)),
        (lambda x, grad: to_filter(jnp, how, x, filters, grad), (x, grad)),
    ):
        code = jax.jit(function).trace(*operands).lower(lowering_platforms=("tpu",)).as_text()
        assert code.count("stablehlo.convolution") == 1
        assert "stablehlo.while" not in code
