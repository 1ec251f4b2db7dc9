"""RE2, the library of regular expressions that TensorFlow has, imported when a first expression is compiled (5 ms)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.platform.imports.later import Later

__all__ = ["re2"]

if TYPE_CHECKING:
    import re2
else:
    re2 = Later("re2")
