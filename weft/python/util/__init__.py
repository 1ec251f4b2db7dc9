"""tensorflow.python.util, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.python.util import compat as compat
from weft.python.util import function_utils as function_utils
from weft.python.util import nest as nest
