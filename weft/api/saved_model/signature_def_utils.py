"""tf.saved_model.signature_def_utils: making signatures. This module only re-exports."""

from __future__ import annotations

from weft.training.saved_model.signatures import build_signature_def as build_signature_def
from weft.training.saved_model.signatures import classification_signature_def as classification_signature_def
from weft.training.saved_model.signatures import is_valid_signature as is_valid_signature
from weft.training.saved_model.signatures import load_op_from_signature_def as load_op_from_signature_def
from weft.training.saved_model.signatures import op_signature_def as op_signature_def
from weft.training.saved_model.signatures import predict_signature_def as predict_signature_def
from weft.training.saved_model.signatures import regression_signature_def as regression_signature_def
