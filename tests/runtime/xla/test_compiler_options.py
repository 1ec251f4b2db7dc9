"""Code for a CPU is compiled under options, if the compiler knows them."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from weft.runtime.xla import calling_thread, compiler_options
from weft.runtime.xla.compiler_options import CPU_OPTIONS, Tuning


def convolution(x: Any, filters: Any) -> Any:
    return lax.conv_general_dilated(x, filters, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def test_the_compiler_knows_the_options_and_leaves_convolutions_to_eigen() -> None:
    x, filters = jnp.ones((2, 8, 8, 3)), jnp.ones((3, 3, 3, 4))
    lowered = jax.jit(convolution).lower(x, filters)
    assert "__ynn_fusion" not in lowered.compile(compiler_options=CPU_OPTIONS).as_text()


@pytest.mark.parametrize("options", [CPU_OPTIONS, calling_thread.COMPILER_OPTIONS], ids=["usual", "calling thread"])
def test_a_barrier_is_kept_to_the_end(options: dict[str, str]) -> None:
    # XLA passes over the name of a pass that it does not have; a later one might call it otherwise.
    lowered = jax.jit(lambda x: lax.optimization_barrier(x * 2.0).T + 1.0).lower(jnp.ones((8, 4)))
    assert "opt-barrier" not in lowered.compile().as_text()
    assert "opt-barrier" in lowered.compile(compiler_options=options).as_text()


def test_what_is_compiled_under_the_options_computes_the_same() -> None:
    generator = np.random.default_rng(0)
    x, filters = generator.random((2, 8, 8, 3), np.float32), generator.random((3, 3, 3, 4), np.float32)
    tuned = compiler_options.jit(convolution)
    np.testing.assert_allclose(tuned(x, filters), jax.jit(convolution)(x, filters), rtol=1e-5)


@pytest.mark.parametrize("options", [{"xla_cpu_no_such_option": "1"}, {next(iter(CPU_OPTIONS)): "NO_SUCH_VALUE"}])
def test_options_that_the_compiler_does_not_know_are_left_out_from_then_on(options: dict[str, str]) -> None:
    tuning = Tuning(options)
    earlier, later = tuning.jit(jnp.negative), tuning.jit(jnp.square)
    assert earlier(2.0) == -2.0
    assert later(2.0) == 4.0
    assert tuning.jit(jnp.exp)(0.0) == 1.0


def test_an_argument_may_be_donated_to_code_that_is_compiled_a_second_time() -> None:
    given = jnp.ones(3)
    made = Tuning({"xla_cpu_no_such_option": "1"}).jit(lambda x: x + 1, donate_argnums=(0,))(given)
    np.testing.assert_array_equal(made, [2, 2, 2])
    assert given.is_deleted()


def test_an_error_of_the_function_is_not_taken_for_unknown_options() -> None:
    def refuse(x: Any) -> Any:
        raise ValueError("no")

    tuning = Tuning({"xla_cpu_no_such_option": "1"})
    with pytest.raises(ValueError, match="no"):
        tuning.jit(refuse)(1.0)


def test_code_for_another_device_has_no_options() -> None:
    class Accelerator:
        platform = "gpu"

    assert Tuning({"xla_cpu_no_such_option": "1"}).jit(jnp.negative, Accelerator()).lower(1.0).compile()(1.0) == -1.0  # type: ignore[attr-defined]
