"""The operations, one package per family; each op is declared once: kernel, shape rule and gradient together."""

from weft.framework.op_registry import load_when_missing

load_when_missing("weft.ops.foreign")
load_when_missing("weft.ops.signal.speech_features")
