"""What XLA's compiler is told about how to compile for a CPU.

By default it hands convolutions to YNNPACK, where those in single precision take twice to four times as long as in Eigen, which
it uses otherwise; YNNPACK's products and sums are the better ones. An option of each compilation says so, which changes nothing
for other users of JAX in the process. It is not an official one: a version of XLA that does not know it compiles without.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import jax

CPU_OPTIONS: Final = {"xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT,LIBRARY_FUSION_TYPE_REDUCE"}


class Tuning:
    """Compiles for the CPU under options, as long as the compiler knows them.

    Whether it does is found out by the first code that is compiled.
    """

    def __init__(self, options: dict[str, str]) -> None:
        self._options = options
        self._is_known: bool | None = None

    def jit(
        self, function: Callable[..., Any], device: Any = None, options: dict[str, str] | None = None, **arguments: Any
    ) -> Callable[..., Any]:
        """`jax.jit`, for code that runs on this device; on JAX's default when None. `options` are further ones, known to it."""
        plain = jax.jit(function, compiler_options=options, **arguments)
        if self._is_known is False or (device or jax.devices()[0]).platform != "cpu":
            return plain
        tuned = jax.jit(function, compiler_options={**self._options, **(options or {})}, **arguments)
        return tuned if self._is_known else self._tried(tuned, plain)

    def _tried(self, tuned: Callable[..., object], plain: Callable[..., object]) -> Callable[..., Any]:
        def call(*operands: object) -> Any:
            if self._is_known is False:
                return plain(*operands)
            try:
                result = tuned(*operands)
            except jax.errors.JaxRuntimeError as error:
                if self._is_known or not any(name in str(error) for name in self._options):
                    raise
                self._is_known = False
                return plain(*operands)
            self._is_known = True
            return result

        return call


jit: Final = Tuning(CPU_OPTIONS).jit
