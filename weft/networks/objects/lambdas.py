"""Functions in configs: by name, or as their code where they have none that a reader would know."""

from __future__ import annotations

import base64
import marshal
from collections.abc import Callable, Mapping
from types import FunctionType

from weft.framework.aliases import Nest
from weft.networks.config import Config, GivenConfig
from weft.networks.objects.registry import deserialize_keras_object


def function_config(function: Callable[..., Nest]) -> Config:
    """A function as plain data: a lambda as its code, any other by its name."""
    if isinstance(function, FunctionType) and function.__name__ == "<lambda>":
        code = base64.b64encode(marshal.dumps(function.__code__)).decode("ascii")
        cells = tuple(each.cell_contents for each in function.__closure__ or ())
        return {
            "function": (code, function.__defaults__, cells or None),
            "function_type": "lambda",
            "module": function.__module__,
        }
    return {"function": getattr(function, "__name__", ""), "function_type": "function", "module": function.__module__}


def function_of(config: GivenConfig, custom_objects: Mapping[str, object] | None) -> Callable[..., Nest]:
    """The function of a config. The code of a lambda runs when the layer is called: load only files that you trust."""
    if config["function_type"] == "function":
        found: Callable[..., Nest] = deserialize_keras_object(
            config["function"], custom_objects=custom_objects, printable_module_name="function in Lambda layer"
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
    return FunctionType(found_code, globals(), "<lambda>", defaults, cells or None)


def _cell(value: object) -> Nest:
    def holder() -> object:
        return value

    assert holder.__closure__ is not None
    return holder.__closure__[0]
