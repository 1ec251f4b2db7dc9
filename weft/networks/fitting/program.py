"""Program: what a compiled model runs for a batch in training, in tests and in prediction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from weft.framework.building.aliases import Array, Nest
from weft.framework.context.replication import current_replica
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.networks.config import KerasObject
from weft.networks.fitting.endpoints import Endpoint
from weft.networks.metrics.metric import Mean, Metric
from weft.networks.state.phase import symbolic_phase
from weft.networks.state.session_arguments import NOTHING, SessionArguments
from weft.networks.state.sessions import get_session
from weft.ops.array.constant import constant
from weft.ops.array.placeholder import placeholder_with_default
from weft.ops.control_flow.ordering import group
from weft.ops.math.elementwise import add_n

NO_LOSS: Final = (
    "The model cannot be compiled because it has no loss to optimize. compile(optimizer, loss) takes one, such as 'mse'."
)


class Program:
    """The loss and metrics of a model over its endpoints, and the runs made of them.

    Args:
        network: the model.
        compilation: what it was compiled with: its endpoints and the metrics that layers have added.
        is_weighted: whether examples have weights, which are fed.
        sample_ranks: the rank of each output's weights: 2 where each time step has one.
    """

    def __init__(self, network: KerasObject, compilation: KerasObject, is_weighted: bool, sample_ranks: Sequence[int]) -> None:
        self._network = network
        self._compilation = compilation
        endpoints: Sequence[Endpoint] = compilation.endpoints()
        self.endpoints = endpoints
        self.trained = [each for each in endpoints if each.loss is not None]
        self.weights: list[Tensor] = []
        if is_weighted:
            ranks = [rank for rank, each in zip(sample_ranks, endpoints, strict=True) if each.loss is not None]
            self.weights = [_weights_of(each, rank) for each, rank in zip(self.trained, ranks, strict=True)]
        self._metric_tensors: list[Tensor] = []
        self._make_metrics()
        self.loss = self._total_loss()
        self._train: Operation | None = None

    def _weights_at(self, index: int) -> Tensor | None:
        return self.weights[index] if self.weights else None

    def _make_metrics(self) -> None:
        for index, endpoint in enumerate(self.trained):
            self._metric_tensors += endpoint.metric_tensors(self._weights_at(index))
        self._metric_tensors += [tensor for _, tensor in self._compilation.added_metrics()]

    def _total_loss(self) -> Tensor:
        graph = get_default_graph()
        parts: list[Tensor] = []
        of_outputs: list[Tensor] = []
        with graph.name_scope("loss"):
            for index, endpoint in enumerate(self.trained):
                loss = endpoint.loss_tensor(self._weights_at(index))
                if endpoint.loss_metric is not None:
                    of_outputs.append(endpoint.loss_metric(loss))
                parts.append(endpoint.weighted_loss(loss))
            own = list(self._network.losses)
            if not parts and not own:
                raise ValueError(NO_LOSS)
            total = parts[0] if parts else None
            for each in parts[1:]:
                total = total + each
            if own:
                extra = own[0] if len(own) == 1 else add_n(own)
                total = extra if total is None else total + extra
        self._metric_tensors = [*of_outputs, *self._metric_tensors]
        assert total is not None
        # A model that a replica makes, as an Estimator's does: optimizers sum the replicas' gradients.
        replica = current_replica()
        return total if replica is None else total / replica.strategy.num_replicas_in_sync

    def metrics(self) -> list[Metric]:
        """All metrics, whose states begin anew with each epoch."""
        of_outputs: list[Metric] = [each.loss_metric for each in self.trained if isinstance(each.loss_metric, Mean)]
        own = [metric for each in self.trained for metric, _ in each.metrics.values()]
        return [*of_outputs, *own, *(metric for metric, _ in self._compilation.added_metrics())]

    def named_metrics(self) -> list[tuple[str, Metric, Tensor]]:
        """The metrics with their names and with the tensors of their updated values, in the order of a step's values."""
        of_outputs = [(f"{each.name}_loss", each.loss_metric) for each in self.trained if each.loss_metric is not None]
        own = [(name, metric) for each in self.trained for name, (metric, _) in each.metrics.items()]
        added = [(metric.name, metric) for metric, _ in self._compilation.added_metrics()]
        named: list[tuple[str, Metric]] = [*of_outputs, *own, *added]
        return [(name, metric, value) for (name, metric), value in zip(named, self._metric_tensors, strict=True)]

    # Runs.

    def train_op(self, optimizer: KerasObject) -> Operation:
        """The operation that makes a training step."""
        if self._train is None:
            graph = get_default_graph()
            variables = self._compilation.trained()
            with graph.name_scope("training"):
                updates = optimizer.get_updates(self.loss, variables) if variables else []
            # TensorFlow opens the scope again for the function that it makes of the step: the next model's names tell.
            with graph.name_scope("training"):
                self._train = group(*updates, *self._updates())
        return self._train

    def _updates(self) -> list[Nest]:
        """The updates of layers that follow from the model's inputs, or from no input: not those of their other calls."""
        network, inputs = self._network, self._network.inputs
        if not inputs or not network.updates:
            return list(network.updates)
        return [*network.get_updates_for(inputs), *network.get_updates_for(None)]

    def _run(self, fetches: Nest, feeds: dict[Tensor, Array], phase: bool) -> Nest:
        placeholder = symbolic_phase()
        if placeholder is not None:
            feeds[placeholder] = phase
        arguments: SessionArguments = self._compilation.session_arguments
        return arguments.run(get_session(), fetches, feeds)

    def _feeds(self, inputs: Sequence[Array], targets: Sequence[Array], weights: Sequence[Array]) -> dict[Tensor, Array]:
        fed = list(self._network.fed_inputs())
        wanted = [each.target for each in self.trained if each.target is not None and each.target.op.type == "Placeholder"]
        pairs = [*zip(fed, inputs, strict=True), *zip(wanted, targets, strict=True), *zip(self.weights, weights, strict=True)]
        return dict(pairs)

    def train(
        self, optimizer: KerasObject, inputs: Sequence[Array], targets: Sequence[Array], weights: Sequence[Array]
    ) -> list[Array]:
        """Train on a batch; the loss and the metrics."""
        update = self.train_op(optimizer)
        values, _ = self._run([[self.loss, *self._metric_tensors], update], self._feeds(inputs, targets, weights), True)
        return list(values)

    def test(
        self, inputs: Sequence[Array], targets: Sequence[Array], weights: Sequence[Array], further: Sequence[Tensor] = ()
    ) -> list[Array]:
        """The loss of a batch and the metrics, and the values of further tensors."""
        states = self._network.state_updates
        fetches: list[Nest] = [[self.loss, *self._metric_tensors, *further], group(*states) if states else []]
        return list(self._run(fetches, self._feeds(inputs, targets, weights), False)[0])


def predict(
    network: KerasObject, inputs: Sequence[Array], outputs: Sequence[Tensor] | None = None,
    session_arguments: SessionArguments = NOTHING,
) -> list[Array]:  # fmt: skip
    """The outputs of a model for a batch; `outputs` where they are others than the model's own."""
    feeds: dict[Any, Any] = dict(zip(network.fed_inputs(), inputs, strict=True))
    phase = symbolic_phase()
    if phase is not None:
        feeds[phase] = False
    states = network.state_updates
    fetches = [list(outputs or network.outputs), group(*states) if states else []]
    return list(session_arguments.run(get_session(), fetches, feeds)[0])


def _weights_of(endpoint: Endpoint, rank: int) -> Tensor:
    default = constant([1.0] if rank == 1 else [[1.0]], name=f"{endpoint.name}_sample_weights/input")
    return placeholder_with_default(default, [None] * rank, name=f"{endpoint.name}_sample_weights")
