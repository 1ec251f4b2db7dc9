"""Predictors of estimators: functions of NumPy arrays by name that run a model with the variables of its last checkpoint."""

from __future__ import annotations

from tensorboard.compat.proto.config_pb2 import ConfigProto

from weft.estimators.estimator import Estimator
from weft.estimators.export.saved_model_export import ReceiverFn
from weft.estimators.mode_keys import ModeKeys
from weft.framework.graphs.graph import Graph
from weft.training.saved_model.predictor import DEFAULT_KEY, Predictor, signature_names
from weft.training.sessions.monitored_session import MonitoredSession
from weft.training.sessions.session_creator import ChiefSessionCreator


class CoreEstimatorPredictor(Predictor):
    """The predictor of an estimator; the arguments are those of `from_estimator`."""

    def __init__(
        self, estimator: Estimator, serving_input_receiver_fn: ReceiverFn, output_key: str | None = None,
        graph: Graph | None = None, config: ConfigProto | None = None,
    ) -> None:  # fmt: skip
        graph = graph or Graph()
        with graph.as_default():
            receiver = serving_input_receiver_fn()
            spec = estimator.model_fn(receiver.features, None, ModeKeys.PREDICT, estimator.config)
            outputs, key = spec.export_outputs or {}, output_key or DEFAULT_KEY
            if key not in outputs:
                raise KeyError(f"output_key must be one of {list(outputs)}; got {key}")
            names = signature_names(outputs[key].as_signature_def(receiver.receiver_tensors))
            creator = ChiefSessionCreator(config=config, checkpoint_dir=estimator.model_dir)
            super().__init__(graph, MonitoredSession(session_creator=creator), *names)


def from_estimator(
    estimator: Estimator, serving_input_receiver_fn: ReceiverFn, output_key: str | None = None,
    graph: Graph | None = None, config: ConfigProto | None = None,
) -> CoreEstimatorPredictor:  # fmt: skip
    """A function that predicts with an estimator's last checkpoint, and keeps its session between calls.

    Args:
        estimator: the estimator.
        serving_input_receiver_fn: builds the input: takes nothing, returns a ServingInputReceiver.
        output_key: which of the model's `export_outputs` to return; that of "serving_default" when None.
        graph: the graph to build the model in; a new one when None.
        config: of the session.

    Raises:
        KeyError: the model has no such output.
    """
    return CoreEstimatorPredictor(estimator, serving_input_receiver_fn, output_key, graph, config)
