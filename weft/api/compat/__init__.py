"""tf.compat: text and bytes, and the API under its name of later releases. This module only re-exports."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

from weft.api import missing_names
from weft.api.compat import v1 as v1
from weft.framework.compat.behavior import dimension_at_index as dimension_at_index
from weft.framework.compat.forward_compatibility import forward_compatibility_horizon as forward_compatibility_horizon
from weft.framework.compat.forward_compatibility import forward_compatible as forward_compatible
from weft.framework.types.dimension import dimension_value as dimension_value
from weft.platform.text import as_bytes as as_bytes
from weft.platform.text import as_str as as_str
from weft.platform.text import as_str_any as as_str_any
from weft.platform.text import as_text as as_text
from weft.platform.text import bytes_or_text_types as bytes_or_text_types
from weft.platform.text import complex_types as complex_types
from weft.platform.text import integral_types as integral_types
from weft.platform.text import path_to_str as path_to_str
from weft.platform.text import real_types as real_types


def __getattr__(name: str) -> ModuleType:
    # Few programs use the second version of the API, which is many names.
    if name == "v2":
        return importlib.import_module("weft.compat.v2")
    missing_names.refuse(sys.modules[__name__], "compat", name)
