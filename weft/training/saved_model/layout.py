"""The names of a SavedModel's files, collections, tags and signatures, which are TensorFlow's: either reads the other's."""

from __future__ import annotations

from typing import Final

SCHEMA_VERSION: Final = 1
FILENAME_PB: Final = "saved_model.pb"
FILENAME_PBTXT: Final = "saved_model.pbtxt"
VARIABLES_DIRECTORY: Final = "variables"
VARIABLES_FILENAME: Final = "variables"
ASSETS_DIRECTORY: Final = "assets"

ASSETS_KEY: Final = "saved_model_assets"
ASSET_TYPE_URL: Final = "type.googleapis.com/tensorflow.AssetFileDef"
MAIN_OP_KEY: Final = "saved_model_main_op"
LEGACY_INIT_OP_KEY: Final = "legacy_init_op"
TRAIN_OP_KEY: Final = "saved_model_train_op"

SERVING: Final = "serve"
TRAINING: Final = "train"
EVAL: Final = "eval"
GPU: Final = "gpu"
TPU: Final = "tpu"

DEFAULT_SERVING_SIGNATURE_DEF_KEY: Final = "serving_default"
DEFAULT_TRAIN_SIGNATURE_DEF_KEY: Final = "train"
DEFAULT_EVAL_SIGNATURE_DEF_KEY: Final = "eval"
CLASSIFY_INPUTS: Final = "inputs"
CLASSIFY_METHOD_NAME: Final = "tensorflow/serving/classify"
CLASSIFY_OUTPUT_CLASSES: Final = "classes"
CLASSIFY_OUTPUT_SCORES: Final = "scores"
PREDICT_INPUTS: Final = "inputs"
PREDICT_METHOD_NAME: Final = "tensorflow/serving/predict"
PREDICT_OUTPUTS: Final = "outputs"
REGRESS_INPUTS: Final = "inputs"
REGRESS_METHOD_NAME: Final = "tensorflow/serving/regress"
REGRESS_OUTPUTS: Final = "outputs"
SUPERVISED_TRAIN_METHOD_NAME: Final = "tensorflow/supervised/training"
SUPERVISED_EVAL_METHOD_NAME: Final = "tensorflow/supervised/eval"
INIT_OP_SIGNATURE_KEY: Final = "__saved_model_init_op"
TRAIN_OP_SIGNATURE_KEY: Final = "__saved_model_train_op"
