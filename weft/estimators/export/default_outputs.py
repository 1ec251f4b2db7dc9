"""The outputs of an exported model that a model function does not name: one of all predictions, and which is the default."""

from __future__ import annotations

from typing import Final

from weft.estimators.aliases import MetricOps
from weft.estimators.export.export_output import EvalOutput, ExportOutput, PredictOutput, TrainOutput
from weft.estimators.mode_keys import ModeKeys
from weft.framework.building.aliases import Nest
from weft.framework.nodes.operation import Tensor
from weft.training.saved_model import layout

EXPORT_TAGS: Final = {
    ModeKeys.PREDICT: [layout.SERVING],
    ModeKeys.TRAIN: [layout.TRAINING],
    ModeKeys.EVAL: [layout.EVAL],
}


def get_export_outputs(export_outputs: dict[str, ExportOutput] | None, predictions: Nest) -> dict[str, ExportOutput]:
    """The outputs for serving: those given, or one of all predictions. A single one is the default too.

    Raises:
        TypeError: these are no ExportOutputs by name.
        ValueError: there are several, and none is the default.
    """
    default = layout.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    if export_outputs is None:
        return {default: PredictOutput(predictions)}
    if not isinstance(export_outputs, dict):
        raise TypeError(f"export_outputs must be dict, given: {export_outputs}")
    if not all(isinstance(each, ExportOutput) for each in export_outputs.values()):
        raise TypeError(
            f"Values in export_outputs must be ExportOutput objects. Given: {export_outputs}. "
            "tf.estimator.export.PredictOutput(tensor) is one."
        )
    if len(export_outputs) == 1:
        return {**export_outputs, default: next(iter(export_outputs.values()))}
    if len(export_outputs) > 1 and default not in export_outputs:
        raise ValueError(
            "Multiple export_outputs were provided, but none of them is specified as the default.  Do this by naming one of "
            "them with signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY."
        )
    return dict(export_outputs)


def export_outputs_for_mode(
    mode: str,
    serving_export_outputs: dict[str, ExportOutput] | None,
    predictions: Nest,
    loss: Tensor | None,
    metrics: MetricOps | None,
) -> dict[str, ExportOutput]:
    """The outputs of the graph of one mode.

    Raises:
        ValueError: there is no such mode.
    """
    match mode:
        case ModeKeys.PREDICT:
            return get_export_outputs(serving_export_outputs, predictions)
        case ModeKeys.TRAIN:
            return {layout.DEFAULT_TRAIN_SIGNATURE_DEF_KEY: TrainOutput(loss, predictions, metrics)}
        case ModeKeys.EVAL:
            return {layout.DEFAULT_EVAL_SIGNATURE_DEF_KEY: EvalOutput(loss, predictions, metrics)}
        case _:
            raise ValueError(
                f"Export output type not found for mode: {mode}. Expected one of: {list(EXPORT_TAGS)}.\nOne likely error is "
                "that V1 Estimator Modekeys were somehow passed to this function. Please ensure that you are using the new "
                "ModeKeys."
            )
