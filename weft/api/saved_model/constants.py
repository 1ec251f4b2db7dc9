"""tf.saved_model.constants: names of files and collections. This module only re-exports."""

from __future__ import annotations

from weft.training.saved_model.layout import ASSETS_DIRECTORY as ASSETS_DIRECTORY
from weft.training.saved_model.layout import ASSETS_KEY as ASSETS_KEY
from weft.training.saved_model.layout import FILENAME_PB as _FILENAME_PB
from weft.training.saved_model.layout import FILENAME_PBTXT as _FILENAME_PBTXT
from weft.training.saved_model.layout import LEGACY_INIT_OP_KEY as LEGACY_INIT_OP_KEY
from weft.training.saved_model.layout import MAIN_OP_KEY as MAIN_OP_KEY
from weft.training.saved_model.layout import SCHEMA_VERSION as _SCHEMA_VERSION
from weft.training.saved_model.layout import VARIABLES_DIRECTORY as VARIABLES_DIRECTORY
from weft.training.saved_model.layout import VARIABLES_FILENAME as VARIABLES_FILENAME

# Under a name of its own: type checkers take a renamed import for the module's private business.
SAVED_MODEL_FILENAME_PB = _FILENAME_PB
SAVED_MODEL_FILENAME_PBTXT = _FILENAME_PBTXT
SAVED_MODEL_SCHEMA_VERSION = _SCHEMA_VERSION
