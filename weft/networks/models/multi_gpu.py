"""multi_gpu_model: a model whose batches are divided among GPUs that share its variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.client import device_lib
from weft.framework.building.aliases import Nest
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.networks.layers.core import Lambda
from weft.networks.layers.merging import concatenate
from weft.networks.models.building import clone_model
from weft.networks.models.model import Model
from weft.ops.array.shape_ops import shape as shape_of


def multi_gpu_model(model: Model, gpus: int | Sequence[int], cpu_merge: bool = True, cpu_relocation: bool = False) -> Model:
    """A model whose batches are divided among GPUs, each of which runs `model`; the variables are shared.

    Train the result, and save `model`. `tf.distribute.MirroredStrategy` does the same with a copy of the variables on each GPU.

    Args:
        model: the model.
        gpus: how many GPUs, at least 2, or a list of their numbers.
        cpu_merge: whether the outputs are put together on the CPU, rather than on the first GPU.
        cpu_relocation: whether a copy of the model with its variables on the CPU is used.

    Raises:
        ValueError: fewer than two GPUs are asked for, or they are not there.
    """
    numbers = list(range(gpus)) if isinstance(gpus, int) else list(gpus)
    if len(numbers) <= 1:
        raise ValueError(
            f"For multi-gpu usage to be effective, call `multi_gpu_model` with `gpus >= 2`. Received: `gpus={gpus}`"
        )
    _check_devices(numbers, gpus)
    graph = get_default_graph()
    if cpu_relocation:
        with graph.device("/cpu:0"):
            model = clone_model(model)
    made: list[list[Tensor]] = [[] for _ in model.outputs or ()]
    for place, number in enumerate(numbers):
        with graph.device(f"/gpu:{number}"), graph.name_scope(f"replica_{number}"):
            parts = [
                Lambda(_slice_of(place, len(numbers)), output_shape=tuple(each.shape.as_list()[1:]))(each)
                for each in model.inputs or ()
            ]
            outputs = model(parts if len(parts) > 1 else parts[0])
            for found, output in zip(made, outputs if isinstance(outputs, list) else [outputs], strict=True):
                found.append(output)
    with graph.device("/cpu:0" if cpu_merge else f"/gpu:{numbers[0]}"):
        merged = [concatenate(each, axis=0, name=name) for each, name in zip(made, model.output_names or (), strict=True)]
    return Model(model.inputs, merged)


def _check_devices(numbers: Sequence[int], gpus: Nest) -> None:
    there = [f"/{each.device_type.lower()}:{each.name.rpartition(':')[2]}" for each in device_lib.list_local_devices()]
    wanted = ["/cpu:0", *(f"/gpu:{number}" for number in numbers)]
    if not set(wanted) <= set(there):
        raise ValueError(
            f"To call `multi_gpu_model` with `gpus={gpus}`, we expect the following devices to be available: {wanted}. However "
            f"this machine only has: {there}. Try reducing `gpus`, or make the model under "
            'tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]).scope() to try several replicas without GPUs.'
        )


def _slice_of(place: int, count: int) -> Callable[[Tensor], Tensor]:
    def taken(data: Tensor) -> Tensor:
        step = shape_of(data)[0] // count
        made: Tensor = data[step * place :] if place == count - 1 else data[step * place : step * (place + 1)]
        made.set_shape([None, *data.shape.as_list()[1:]])
        return made

    return taken
