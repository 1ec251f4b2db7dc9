"""What XLA's compiler is told about how to compile for a CPU.

By default it hands convolutions to YNNPACK, where those in single precision take twice to four times as long as in Eigen, which
it uses otherwise; YNNPACK's products and sums are the better ones. An option of each compilation says so, which changes nothing
for other users of JAX in the process. It is not an official one: a version of XLA that does not know it compiles without.

Barriers (`lax.optimization_barrier`) are kept up to the end, by leaving out the pass that takes them away before loops are
fused: one says that a value is to be computed once, before what uses it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from weft.framework.building.aliases import Array
from weft.platform.imports.jax_modules import jax

KEEP_BARRIERS: Final = "cse_barrier_expander"
CPU_OPTIONS: Final = {
    "xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT,LIBRARY_FUSION_TYPE_REDUCE",
    "xla_disable_hlo_passes": KEEP_BARRIERS,
}


class Tuning:
    """Compiles for the CPU under options, if the compiler knows them.

    Whether it does is found out by compiling next to nothing, once, before anything else is compiled.
    """

    def __init__(self, options: dict[str, str]) -> None:
        self._options = options
        self._is_known: bool | None = None

    def jit(
        self, function: Callable[..., Any], device: Any = None, options: dict[str, str] | None = None, **arguments: Any
    ) -> Any:
        """`jax.jit`, for code that runs on this device; on JAX's default when None. `options` are further ones, known to it."""
        is_tuned = (device or jax.devices()[0]).platform == "cpu" and self._are_known()
        return jax.jit(function, compiler_options={**self._options, **(options or {})} if is_tuned else options, **arguments)

    def _are_known(self) -> bool:
        if self._is_known is None:
            try:
                with jax.default_device(jax.local_devices(backend="cpu")[0]):
                    jax.jit(_same).lower(np.float32(0)).compile({**self._options})
                self._is_known = True
            except jax.errors.JaxRuntimeError as error:
                if not any(name in str(error) for name in self._options):
                    raise
                self._is_known = False
        return self._is_known


def _same(value: Array) -> Array:
    return value


jit: Final = Tuning(CPU_OPTIONS).jit
