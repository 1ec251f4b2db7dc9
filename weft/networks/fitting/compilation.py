"""Compilation: what `compile` has said of a model, and the endpoints and programs made of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from weft.framework.building.aliases import Array, Nest, VariableLike
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types.replica_values import StrategyLike
from weft.networks.config import KerasObject
from weft.networks.engine.calls import history
from weft.networks.fitting.batches import Batch
from weft.networks.fitting.endpoints import Endpoint, endpoints_of
from weft.networks.fitting.program import Program
from weft.networks.fitting.replicated import ReplicatedProgram
from weft.networks.metrics.metric import Mean, Metric
from weft.networks.state.session_arguments import NOTHING, SessionArguments
from weft.platform.logs import tf_logging


class Watch(NamedTuple):
    """A tensor of a model's graph, and what takes its value of each batch of a test."""

    tensor: Tensor
    take: Callable[[Array], None]


class Compilation:
    """How a model is trained and measured. Endpoints and programs are made when they are first needed, in the model's graph.

    Args:
        model: the model.
        optimizer: its optimizer.
        arguments: `loss`, `loss_weights`, `metrics`, `weighted_metrics` and `target_tensors`, as `compile` takes them.
        sample_weight_mode: "temporal" where each time step has a weight; one for all outputs, or one for each.
        strategy: the strategy whose replicas share each batch; None for one replica.
        session_arguments: what each run of the session is given as well.

    Attributes:
        arguments, session_arguments: as given.
        watches: tensors that are fetched beside each test step, and who takes their values.
    """

    def __init__(
        self, model: KerasObject, optimizer: KerasObject, arguments: Mapping[str, Nest], sample_weight_mode: Nest,
        strategy: StrategyLike = None, session_arguments: SessionArguments = NOTHING,
    ) -> None:  # fmt: skip
        self._model = model
        self._strategy = strategy
        self.optimizer = optimizer
        self.arguments = arguments
        self.watches: list[Watch] = []
        self.session_arguments = session_arguments
        self._mode = sample_weight_mode
        self._endpoints: Sequence[Endpoint] | None = None
        self._programs: dict[bool, Program] = {}
        self._added: dict[str, tuple[Metric, Tensor]] = {}
        # A model trains what was trainable when it was compiled: adversarial networks freeze one part of another afterwards.
        self._trained: list[VariableLike] | None = None if model.outputs is None else list(model.trainable_weights)

    def trained(self) -> list[VariableLike]:
        """The variables that training changes, settled by `compile`, or by the first step of a model without Inputs."""
        if self._trained is None:
            self._trained = list(self._model.trainable_weights)
        if len(self._trained) != len(self._model.trainable_weights):
            tf_logging.warning(
                "Discrepancy between trainable weights and collected trainable weights, did you set `model.trainable` without "
                "calling `model.compile` after ?"
            )
        return self._trained

    def endpoints(self) -> Sequence[Endpoint]:
        """The outputs with their losses, targets and metrics."""
        if self._endpoints is None:
            names, outputs = self._model.output_names, self._model.outputs
            given = self.arguments
            made = endpoints_of(
                names, outputs, given["loss"], given["loss_weights"], given["metrics"], given["weighted_metrics"]
            )
            for endpoint, target in zip(made, _targets(given["target_tensors"], names), strict=True):
                endpoint.make_target(target)
                if len(made) > 1 and endpoint.loss is not None:
                    endpoint.loss_metric = Mean(name=f"{endpoint.name}_loss")
            self._endpoints = made
        return self._endpoints

    def program(self, is_weighted: bool = False) -> Program:
        """What runs for batches, those whose examples have weights, or others."""
        if is_weighted not in self._programs:
            with self._graph().as_default():
                given = (self._model, self, is_weighted, self.weight_ranks())
                made = Program(*given) if self._strategy is None else ReplicatedProgram(*given, self._strategy)
                self._programs[is_weighted] = made
        return self._programs[is_weighted]

    def _graph(self) -> Graph:
        outputs = self._model.outputs
        return history.graph_of(outputs[0]) if outputs else get_default_graph()

    def weight_ranks(self) -> list[int]:
        """The rank of each output's weights: 2 where each time step has one."""
        mode, names = self._mode, self._model.output_names or []
        if isinstance(mode, Mapping):
            modes = [mode.get(name) for name in names]
        else:
            modes = list(mode) if isinstance(mode, list | tuple) else [mode] * len(names)
        return [2 if each == "temporal" else 1 for each in modes]

    def added_metrics(self) -> list[tuple[Metric, Tensor]]:
        """The metrics that `add_metric` has added, in the model and in its layers, with their values."""
        for each in self._model.added_metrics():
            if each.name not in self._added:
                metric = Mean(name=each.name)
                # Replicas take in what they add themselves.
                self._added[each.name] = (metric, metric(each.value) if self._strategy is None else each.value)
        return list(self._added.values())

    def metrics_names(self) -> list[str]:
        """The names of the loss and of all metrics, in the order of what a step gives."""
        endpoints = self.endpoints()
        of_outputs = [f"{each.name}_loss" for each in endpoints if each.loss_metric is not None]
        own = [name for each in endpoints for name in each.metrics]
        return ["loss", *of_outputs, *own, *(metric.name for metric, _ in self.added_metrics())]

    def targets(self) -> list[Tensor]:
        """The tensors of the targets."""
        return [each.target for each in self.endpoints() if each.target is not None]

    def reset_metrics(self) -> None:
        """Begin all metrics anew."""
        for program in self._programs.values():
            for metric in program.metrics():
                metric.reset_states()
            return

    def prepare_training(self) -> None:
        """Make the operations of a training step, and with them the optimizer's variables."""
        program = self.program()
        with self._graph().as_default():
            program.train_op(self.optimizer)

    def train_step(self, batch: Batch) -> Sequence[Array]:
        """Train on a batch; the loss and the metrics."""
        program = self.program(bool(batch.weights))
        return program.train(self.optimizer, batch.inputs, batch.targets, batch.weights)

    def test_step(self, batch: Batch) -> Sequence[Array]:
        """The loss of a batch and the metrics."""
        program = self.program(bool(batch.weights))
        fetched = program.test(batch.inputs, batch.targets, batch.weights, [watch.tensor for watch in self.watches])
        values = fetched[: len(fetched) - len(self.watches)]
        for watch, told in zip(self.watches, fetched[len(values) :], strict=True):
            watch.take(told)
        return values


def _targets(given: Nest, names: Sequence[str]) -> list[Nest]:
    if given is None:
        return [None] * len(names)
    if isinstance(given, Mapping):
        return [given.get(name) for name in names]
    return list(given) if isinstance(given, list | tuple) else [given]
