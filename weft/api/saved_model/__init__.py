"""tf.saved_model: models as folders. This module only re-exports."""

from __future__ import annotations

from weft.api.saved_model import builder as builder
from weft.api.saved_model import constants as constants
from weft.api.saved_model import loader as loader
from weft.api.saved_model import main_op as main_op
from weft.api.saved_model import signature_constants as signature_constants
from weft.api.saved_model import signature_def_utils as signature_def_utils
from weft.api.saved_model import tag_constants as tag_constants
from weft.api.saved_model import utils as utils
from weft.training.saved_model.builder import SavedModelBuilder as _SavedModelBuilder
from weft.training.saved_model.builder import simple_save as simple_save
from weft.training.saved_model.layout import ASSETS_DIRECTORY as ASSETS_DIRECTORY
from weft.training.saved_model.layout import ASSETS_KEY as ASSETS_KEY
from weft.training.saved_model.layout import CLASSIFY_INPUTS as CLASSIFY_INPUTS
from weft.training.saved_model.layout import CLASSIFY_METHOD_NAME as CLASSIFY_METHOD_NAME
from weft.training.saved_model.layout import CLASSIFY_OUTPUT_CLASSES as CLASSIFY_OUTPUT_CLASSES
from weft.training.saved_model.layout import CLASSIFY_OUTPUT_SCORES as CLASSIFY_OUTPUT_SCORES
from weft.training.saved_model.layout import DEFAULT_SERVING_SIGNATURE_DEF_KEY as DEFAULT_SERVING_SIGNATURE_DEF_KEY
from weft.training.saved_model.layout import FILENAME_PB as _FILENAME_PB
from weft.training.saved_model.layout import FILENAME_PBTXT as _FILENAME_PBTXT
from weft.training.saved_model.layout import GPU as GPU
from weft.training.saved_model.layout import LEGACY_INIT_OP_KEY as LEGACY_INIT_OP_KEY
from weft.training.saved_model.layout import MAIN_OP_KEY as MAIN_OP_KEY
from weft.training.saved_model.layout import PREDICT_INPUTS as PREDICT_INPUTS
from weft.training.saved_model.layout import PREDICT_METHOD_NAME as PREDICT_METHOD_NAME
from weft.training.saved_model.layout import PREDICT_OUTPUTS as PREDICT_OUTPUTS
from weft.training.saved_model.layout import REGRESS_INPUTS as REGRESS_INPUTS
from weft.training.saved_model.layout import REGRESS_METHOD_NAME as REGRESS_METHOD_NAME
from weft.training.saved_model.layout import REGRESS_OUTPUTS as REGRESS_OUTPUTS
from weft.training.saved_model.layout import SCHEMA_VERSION as _SCHEMA_VERSION
from weft.training.saved_model.layout import SERVING as SERVING
from weft.training.saved_model.layout import TPU as TPU
from weft.training.saved_model.layout import TRAINING as TRAINING
from weft.training.saved_model.layout import VARIABLES_DIRECTORY as VARIABLES_DIRECTORY
from weft.training.saved_model.layout import VARIABLES_FILENAME as VARIABLES_FILENAME
from weft.training.saved_model.loader import load as load
from weft.training.saved_model.loader import maybe_saved_model_directory as maybe_saved_model_directory
from weft.training.saved_model.signatures import build_signature_def as build_signature_def
from weft.training.saved_model.signatures import build_tensor_info as build_tensor_info
from weft.training.saved_model.signatures import classification_signature_def as classification_signature_def
from weft.training.saved_model.signatures import get_tensor_from_tensor_info as get_tensor_from_tensor_info
from weft.training.saved_model.signatures import is_valid_signature as is_valid_signature
from weft.training.saved_model.signatures import predict_signature_def as predict_signature_def
from weft.training.saved_model.signatures import regression_signature_def as regression_signature_def

# Under a name of its own: type checkers take a renamed import for the module's private business.
Builder = _SavedModelBuilder
SAVED_MODEL_FILENAME_PB = _FILENAME_PB
SAVED_MODEL_FILENAME_PBTXT = _FILENAME_PBTXT
SAVED_MODEL_SCHEMA_VERSION = _SCHEMA_VERSION
contains_saved_model = maybe_saved_model_directory
