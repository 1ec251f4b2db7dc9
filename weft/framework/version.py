"""The version that programs ask for before they choose between names, that of the TensorFlow API; and weft's own."""

from __future__ import annotations

from typing import Final

# The package's version is read from here when it is built.
WEFT_VERSION: Final = "0.1.0"
VERSION: Final = "1.15.0"
GIT_VERSION: Final = "v1.15.0-weft"
COMPILER_VERSION: Final = "none"
CXX11_ABI_FLAG: Final = 0
MONOLITHIC_BUILD: Final = 0
GRAPH_DEF_VERSION_MIN_CONSUMER: Final = 0
GRAPH_DEF_VERSION_MIN_PRODUCER: Final = 0
