"""Functions in configs: as their code, or by name where they have none (built-in functions, classes)."""

from __future__ import annotations

import base64
import marshal
import sys
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Final

from weft.framework.building.aliases import Nest
from weft.networks.config import Config, GivenConfig
from weft.networks.objects.registry import deserialize_keras_object

# What the config of a Lambda layer says of its functions.
FUNCTION_ENTRIES: Final = (
    "function", "function_type", "module", "output_shape", "output_shape_type", "output_shape_module",
)  # fmt: skip


def shape_config(shape: Nest) -> Config:
    """What a config says of the shape of a Lambda's outputs: a function of the inputs' shape, or the shape itself, or None."""
    told = function_config(shape) if callable(shape) else {"function": shape, "function_type": "raw", "module": None}
    return {
        "output_shape": told["function"], "output_shape_type": told["function_type"], "output_shape_module": told["module"],
    }  # fmt: skip


def shape_function_of(config: GivenConfig, custom_objects: Mapping[str, object] | None) -> Nest:
    """The shape of a Lambda's outputs in its config, or the function that gives it; None where nothing is said."""
    told = {"function": config.get("output_shape"), "function_type": config.get("output_shape_type", "raw"),
            "module": config.get("output_shape_module")}  # fmt: skip
    return told["function"] if told["function_type"] == "raw" else function_of(told, custom_objects)


def function_config(function: Callable[..., Nest]) -> Config:
    """A function as plain data: its code, by which a program loads it that has it nowhere; what is no function by its name."""
    if not isinstance(function, FunctionType):
        return {"function": getattr(function, "__name__", ""), "function_type": "function", "module": function.__module__}
    code = base64.b64encode(marshal.dumps(function.__code__)).decode("ascii")
    cells = tuple(each.cell_contents for each in function.__closure__ or ())
    return {"function": (code, function.__defaults__, cells or None), "function_type": "lambda", "module": function.__module__}


def _of_module(module: str | None, name: str) -> Nest:
    """What a loaded module has by a name; None if nothing."""
    return getattr(sys.modules.get(module or ""), name, None)


def function_of(config: GivenConfig, custom_objects: Mapping[str, object] | None) -> Callable[..., Nest]:
    """The function of a config. The code of a lambda runs when the layer is called: load only files that you trust."""
    if config["function_type"] == "function":
        name = config["function"]
        own = _of_module(config["module"], name)
        found: Callable[..., Nest] = deserialize_keras_object(
            name, {} if own is None else {name: own}, custom_objects, "function in Lambda layer"
        )
        return found
    code, defaults, closure = config["function"]
    cells = tuple(_cell(each) for each in closure or ())
    defaults = None if defaults is None else tuple(defaults)
    try:
        found_code = marshal.loads(base64.b64decode(code))
    except (EOFError, ValueError, TypeError) as error:
        raise ValueError(
            "The code of a Lambda layer cannot be read: it was written by another version of Python, whose code differs. Name "
            "the function and give it in `custom_objects`, or build the model by its program and use `load_weights`."
        ) from error
    module = sys.modules.get(config["module"])
    return FunctionType(found_code, globals() if module is None else vars(module), found_code.co_name, defaults, cells or None)


def _cell(value: object) -> Nest:
    def holder() -> object:
        return value

    assert holder.__closure__ is not None
    return holder.__closure__[0]
