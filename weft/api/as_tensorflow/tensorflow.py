"""Stands for TensorFlow where this file's folder is on the module path: `import tensorflow` means weft from here on.

`weft run` puts it there, for the program and for the processes that the program starts.
"""

from __future__ import annotations

from weft.api import former_names, tensorflow_paths

tensorflow_paths.install()
former_names.give_back()
