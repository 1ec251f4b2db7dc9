"""weft: a distributed dataflow-graph system. Programs say `import weft as tf` and use the names of TensorFlow 1.x.

The names stand in `weft.namespace`, which is loaded when a program asks for the first of them: the `weft` command's parts that
need no graph start in a tenth of the time, and a room of the engine can be imported alone.
"""

from __future__ import annotations

import sys as _sys
from typing import TYPE_CHECKING

from weft import errors as errors
from weft.api import import_paths as _import_paths
from weft.api import missing_names as _missing_names
from weft.api import on_demand as _on_demand
from weft.platform.process import last_at_exit as _last_at_exit

_VERSIONS = ("__version__", "__git_version__", "__compiler_version__")

_import_paths.install()

if TYPE_CHECKING:
    # Type checkers and editors do not run `__getattr__`.
    from weft import examples as examples
    from weft.api import contrib as contrib
    from weft.api import distribute as distribute
    from weft.api import distributions as distributions
    from weft.api import estimator as estimator
    from weft.api import feature_column as feature_column
    from weft.api import keras as keras
    from weft.api import profiler as profiler
    from weft.api import test as test
    from weft.api import tpu as tpu
    from weft.namespace import *

    __version__: str
else:

    def __getattr__(name: str) -> object:
        if name in _on_demand.PUBLIC or name in _on_demand.INNER:
            return _on_demand.load(name)
        if name == "__all__":
            return __dir__()
        # The import system and tools ask every module for names such as __wrapped__.
        if not name.startswith("__") or name in _VERSIONS:
            names = vars(_import_paths.engine())
            if name in names:
                # From now on they are found without this function.
                globals().update({each: names[each] for each in (*_public(names), *_VERSIONS) if each in names})
                return names[name]
        _missing_names.refuse(_sys.modules[__name__], "", name)

    def __dir__() -> list[str]:
        return [*_public(vars(_import_paths.engine())), *_on_demand.PUBLIC]

    def _public(names: dict[str, object]) -> list[str]:
        return [each for each in names if not each.startswith("_") and each != "annotations"]
