"""tensorflow.python.util.compat, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.compat import as_bytes as as_bytes
from weft.compat import as_str as as_str
from weft.compat import as_str_any as as_str_any
from weft.compat import as_text as as_text
from weft.compat import path_to_str as path_to_str
