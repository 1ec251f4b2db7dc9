"""Types of values that only a program that uses strategies knows: what its replicas give, and the functions that build them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

# A tensor, variable, operation, or values of replicas, or a structure of these.
Value: TypeAlias = Any
# A function of the program that builds a replica, merges values or updates a variable.
Function: TypeAlias = Callable[..., Any]
# Its keyword arguments.
Keywords: TypeAlias = Mapping[str, Any]
# A strategy, with what its kind has beyond the base.
StrategyLike: TypeAlias = Any
