"""The modules of malt, the translator of Python source, imported when something first looks into one: few programs need it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.platform.imports.later import Later

__all__ = ["conversion", "converter", "function_api", "inspect_utils", "operators", "origin_info", "parser", "py_builtins"]

if TYPE_CHECKING:
    from malt import operators
    from malt.core import converter
    from malt.impl import api as function_api
    from malt.impl import conversion
    from malt.operators import py_builtins
    from malt.pyct import inspect_utils, origin_info, parser
else:
    operators = Later("malt.operators")
    converter = Later("malt.core.converter")
    function_api = Later("malt.impl.api")
    conversion = Later("malt.impl.conversion")
    py_builtins = Later("malt.operators.py_builtins")
    inspect_utils = Later("malt.pyct.inspect_utils")
    origin_info = Later("malt.pyct.origin_info")
    parser = Later("malt.pyct.parser")
