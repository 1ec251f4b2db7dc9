"""tf.saved_model.signature_constants: names in signatures. This module only re-exports."""

from __future__ import annotations

from weft.training.saved_model.layout import CLASSIFY_INPUTS as CLASSIFY_INPUTS
from weft.training.saved_model.layout import CLASSIFY_METHOD_NAME as CLASSIFY_METHOD_NAME
from weft.training.saved_model.layout import CLASSIFY_OUTPUT_CLASSES as CLASSIFY_OUTPUT_CLASSES
from weft.training.saved_model.layout import CLASSIFY_OUTPUT_SCORES as CLASSIFY_OUTPUT_SCORES
from weft.training.saved_model.layout import DEFAULT_SERVING_SIGNATURE_DEF_KEY as DEFAULT_SERVING_SIGNATURE_DEF_KEY
from weft.training.saved_model.layout import PREDICT_INPUTS as PREDICT_INPUTS
from weft.training.saved_model.layout import PREDICT_METHOD_NAME as PREDICT_METHOD_NAME
from weft.training.saved_model.layout import PREDICT_OUTPUTS as PREDICT_OUTPUTS
from weft.training.saved_model.layout import REGRESS_INPUTS as REGRESS_INPUTS
from weft.training.saved_model.layout import REGRESS_METHOD_NAME as REGRESS_METHOD_NAME
from weft.training.saved_model.layout import REGRESS_OUTPUTS as REGRESS_OUTPUTS
