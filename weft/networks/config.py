"""Config: how an object was made, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

# Arguments by name, as `get_config` gives them: numbers, strings, lists and configs of further objects.
Config: TypeAlias = dict[str, Any]
# What `from_config` takes.
GivenConfig: TypeAlias = Mapping[str, Any]
# The class or function that a name stands for: a layer, a loss, an initializer.
Named: TypeAlias = Any
# A layer, model, optimizer or metric of whatever class: modules below those classes handle them by their methods alone.
KerasObject: TypeAlias = Any
# A number of the program's, a tensor, a schedule, or a function that makes one of them.
Hyperparameter: TypeAlias = Any
# What a constructor passes on to the next one, by name.
Options: TypeAlias = Any
