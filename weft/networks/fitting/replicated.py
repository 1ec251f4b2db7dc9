"""ReplicatedProgram: what a model that was made under a strategy runs: each replica takes a part of the batch."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from weft.framework.building.aliases import Array
from weft.framework.context.replication import current_replica
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.replica_values import StrategyLike, Value
from weft.networks.config import KerasObject
from weft.networks.engine.calls import history, operations
from weft.networks.fitting.program import NO_LOSS, Program
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import shape
from weft.ops.control_flow.ordering import group
from weft.ops.math.elementwise import add_n
from weft.strategies.reduction.reduce_op import ReduceOp
from weft.strategies.replicas.values import PerReplica


class ReplicatedProgram(Program):
    """The loss, metrics and training step of a model over the replicas of a strategy.

    The model is called once in each replica, on its part of the batch. Losses that are means are divided by the number of
    replicas, so the sum of the gradients is the gradient of the mean; the loss that is told is the sum of these.

    Args:
        network: the model.
        compilation: what it was compiled with.
        is_weighted: whether examples have weights, which are fed.
        sample_ranks: the rank of each output's weights.
        strategy: the strategy.
    """

    def __init__(
        self, network: KerasObject, compilation: KerasObject, is_weighted: bool, sample_ranks: Sequence[int],
        strategy: StrategyLike,
    ) -> None:  # fmt: skip
        self._strategy = strategy
        self._losses: Value = None
        self._layer_updates: list[Operation] = []
        with strategy.scope():
            super().__init__(network, compilation, is_weighted, sample_ranks)

    def _make_metrics(self) -> None:
        targets = [each.target for each in self.trained if each.target is not None]
        parts = [_parts(self._strategy, each) for each in (self._network.fed_inputs(), targets, self.weights)]
        made = self._strategy.extended.call_for_each_replica(self._replica, args=tuple(parts))
        self._losses = made["loss"]
        self._layer_updates = list(self._strategy.unwrap(made["updates"]))
        with get_default_graph().control_dependencies(self._strategy.unwrap(made["metrics"])):
            self._metric_tensors = [metric.result() for metric in self.metrics()]

    def _replica(self, inputs: list[Tensor], targets: list[Tensor], weights: list[Tensor]) -> dict[str, Value]:
        """One replica's loss, the updates of its layers, and those that take its part into the metrics."""
        network, known = self._network, {id(each.value) for each in self._network.added_metrics()}
        replicas = self._strategy.num_replicas_in_sync
        outputs = _called(network, inputs)
        by_output = dict(zip((id(each) for each in self.endpoints), outputs, strict=True))
        own = [
            dataclasses.replace(each, output=by_output[id(each)], target=target)
            for each, target in zip(self.trained, targets, strict=True)
        ]
        taken: list[Operation] = []
        parts: list[Tensor] = []
        for index, endpoint in enumerate(own):
            given = weights[index] if weights else None
            loss = endpoint.loss_tensor(given)
            part = endpoint.weighted_loss(loss)
            parts.append(part if endpoint.is_summed() else part / replicas)
            if endpoint.loss_metric is not None:
                taken.append(group(endpoint.loss_metric.update_state(loss)))
            taken += endpoint.metric_updates(given)
        added = {metric.name: metric for metric, _ in self._compilation.added_metrics()}
        losses, metrics = _of_the_whole_batch(network)
        new = [*metrics, *(each for each in network.added_metrics() if id(each.value) not in known)]
        taken += [group(added[each.name].update_state(each.value)) for each in new]
        made = list(network.losses)
        parts += [each / replicas for each in (*operations.depending(made, inputs), *operations.depending(made, None))]
        parts += losses
        if not parts:
            raise ValueError(NO_LOSS)
        updates = group(*network.get_updates_for(inputs), *network.get_updates_for(None))
        return {"loss": parts[0] if len(parts) == 1 else add_n(parts), "updates": updates, "metrics": group(*taken)}

    def _total_loss(self) -> Tensor:
        total: Tensor = self._strategy.reduce(ReduceOp.SUM, self._losses)
        return total

    def train_op(self, optimizer: KerasObject) -> Operation:
        """The operation that makes a training step: replicas' gradients are summed, and all copies of variables updated."""
        if self._train is None:
            variables = self._compilation.trained()

            def step(loss: Tensor) -> Operation:
                return group(*(optimizer.get_updates(loss, variables) if variables else ()))

            with get_default_graph().name_scope("training"), self._strategy.scope():
                made = self._strategy.extended.call_for_each_replica(step, args=(self._losses,))
                self._train = group(*self._strategy.unwrap(made), *self._layer_updates)
        return self._train

    def train(
        self, optimizer: KerasObject, inputs: Sequence[Array], targets: Sequence[Array], weights: Sequence[Array]
    ) -> list[Array]:
        """Train on a batch; the loss and the metrics."""
        self._check_divisible(inputs, targets)
        return super().train(optimizer, inputs, targets, weights)

    def test(
        self, inputs: Sequence[Array], targets: Sequence[Array], weights: Sequence[Array], further: Sequence[Tensor] = ()
    ) -> list[Array]:
        """The loss of a batch and the metrics, and the values of further tensors."""
        self._check_divisible(inputs, targets)
        return super().test(inputs, targets, weights, further)

    def _check_divisible(self, inputs: Sequence[Array], targets: Sequence[Array]) -> None:
        count, replicas = len((list(inputs) or list(targets))[0]), len(self._strategy.extended.worker_devices)
        if count % replicas:
            raise ValueError(
                f"A batch of {count} examples cannot be divided evenly among {replicas} replicas of {self._strategy}: give a "
                "batch_size that their number divides, and a number of examples that the batch size divides (of a Dataset: "
                "batch(..., drop_remainder=True))."
            )


def predictions_of_replicas(network: KerasObject, strategy: StrategyLike) -> list[Tensor]:
    """The outputs of a model for a batch of which each replica takes a part.

    Args:
        network: the model.
        strategy: the strategy.
    """
    with history.graph_of(network.outputs[0]).as_default(), strategy.scope():
        parts = _parts(strategy, network.fed_inputs())
        made = strategy.extended.call_for_each_replica(lambda inputs: _called(network, inputs), args=(parts,))
        return [concat(list(strategy.unwrap(each)), 0) for each in made]


def _of_the_whole_batch(network: KerasObject) -> tuple[list[Tensor], list[Value]]:
    """What `add_loss` and `add_metric` of a model were given between its inputs and outputs: one replica takes it in.

    A `call` of one's own adds it in each replica.
    """
    replica = current_replica()
    if not network.is_graph_network or replica is None or replica.local_index:
        return [], []
    losses, metrics = network.own_additions()
    return losses, metrics


def _parts(strategy: StrategyLike, tensors: Sequence[Tensor]) -> list[Value]:
    """The parts of some tensors that each replica takes: as many rows as the others, the last perhaps fewer."""
    devices = strategy.extended.worker_devices
    parts = []
    for each in tensors:
        rows = -(-shape(each)[0] // len(devices))
        cut = []
        for index in range(len(devices)):
            part = each[index * rows : (index + 1) * rows]
            part.set_shape([None, *each.shape.as_list()[1:]] if each.shape.ndims is not None else None)
            cut.append(part)
        parts.append(PerReplica(devices, cut))
    return parts


def _called(network: KerasObject, inputs: list[Tensor]) -> list[Tensor]:
    outputs = network(inputs[0] if len(inputs) == 1 else inputs)
    return list(outputs) if isinstance(outputs, list | tuple) else [outputs]
