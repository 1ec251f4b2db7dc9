"""What optimizers that programs derive from tf.keras' write and call: TensorFlow 1.15's names, on weft's own."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from weft.autodiff.gradients import gradients
from weft.framework import dtypes
from weft.framework.aliases import DTypeLike, Initializer, Nest, ShapeLike, TensorLike, VariableLike
from weft.framework.dtypes import DType
from weft.framework.graph import get_default_graph
from weft.framework.graph_functions import device
from weft.framework.indexed_slices import IndexedSlices
from weft.framework.operation import Tensor
from weft.framework.tensor_conversion import convert_to_tensor
from weft.framework.tensor_shape import TensorShape
from weft.networks.config import Hyperparameter
from weft.networks.objects import initializers
from weft.networks.optimizers.clipping import GradientClips
from weft.networks.optimizers.hyperparameters import Hyperparameters
from weft.networks.optimizers.slots import Slots
from weft.ops.array.identity import identity
from weft.ops.training.repeated_rows import sum_distinct_rows

ApplyState = dict[tuple[str, DType], dict[str, Tensor]]


class Subclassable:
    """The names by which a program's own optimizer talks to its base.

    It sets numbers by `_set_hyper`, makes slots in `_create_slots` with `add_slot`, and updates a variable in
    `_resource_apply_dense` and `_resource_apply_sparse`; these may take `apply_state`, which `_prepare_local` fills for each
    device and type. weft's own optimizers write `create_slots`, `apply_dense` and `apply_sparse`, which they fall back on.
    """

    hypers: Hyperparameters
    slots: Slots
    _clips: GradientClips
    _use_locking = True

    @property
    def iterations(self) -> VariableLike:
        """The variable that counts the steps."""
        raise NotImplementedError

    def decayed_rate(self, dtype: DType) -> Tensor:
        """The learning rate at this step.

        Args:
            dtype: the type of the result.
        """
        raise NotImplementedError

    def create_slots(self, var_list: Sequence[VariableLike]) -> None:
        """Make the slots of variables.

        Args:
            var_list: the variables.
        """
        raise NotImplementedError

    def apply_dense(self, grad: Tensor, var: VariableLike) -> Nest:
        """The update of a variable by a gradient.

        Args:
            grad: the gradient, a tensor.
            var: the variable.
        """
        raise NotImplementedError

    def apply_sparse(self, grad: Tensor, var: VariableLike, indices: Tensor) -> Nest:
        """The update of a variable by the gradient of some rows.

        Args:
            grad: `[n, ...]` tensor: the gradient's rows.
            var: the variable.
            indices: [n] int: which rows of the variable they are of.
        """
        raise NotImplementedError

    # Numbers.

    def _set_hyper(self, name: str, value: Hyperparameter) -> None:
        self.hypers.set(name, value)

    def _get_hyper(self, name: str, dtype: DTypeLike | None = None) -> Nest:
        return self.hypers.get(name) if dtype is None else self.hypers.value(name, dtypes.as_dtype(dtype))

    def _serialize_hyperparameter(self, hyperparameter_name: str) -> Nest:
        return self.hypers.plain(hyperparameter_name)[hyperparameter_name]

    def _create_hypers(self) -> None:
        self.hypers.make_variables()

    def _decayed_lr(self, var_dtype: DTypeLike) -> Tensor:
        return self.decayed_rate(dtypes.as_dtype(var_dtype).base_dtype)

    # Variables.

    def add_slot(self, var: VariableLike, slot_name: str, initializer: str | Initializer = "zeros") -> VariableLike:
        """Make a variable of the optimizer beside another, of its shape and type; it is the same one when it is there.

        Args:
            var: the variable.
            slot_name: the slot's name, for `get_slot`.
            initializer: what makes its first value, or the name of it.
        """
        return self.slots.add(var, slot_name, initializers.get(initializer))

    def add_weight(
        self, name: str, shape: ShapeLike, dtype: DTypeLike | None = None, initializer: str | Initializer = "zeros",
        trainable: bool = False, synchronization: object = None, aggregation: object = None,
    ) -> VariableLike:  # fmt: skip
        """Make a variable of the optimizer.

        Args:
            name: its name.
            shape: its shape.
            dtype: its type; float32 when None.
            initializer: what makes its first value, or the name of it.
            trainable, synchronization, aggregation: accepted; the optimizer alone has it.
        """
        kind = dtypes.as_dtype(dtypes.float32 if dtype is None else dtype)
        sizes = [size or 0 for size in TensorShape(shape).as_list()]
        return self.slots.add_own(name, sizes, kind, initializers.get(initializer))

    def _create_slots(self, var_list: Sequence[VariableLike]) -> None:
        self.create_slots(var_list)

    # One step.

    def _compute_gradients(
        self, loss: Nest, var_list: Nest, grad_loss: TensorLike | None = None
    ) -> list[tuple[Nest, VariableLike]]:
        value = loss() if callable(loss) else loss
        given = var_list() if callable(var_list) else var_list
        variables = list(given) if isinstance(given, list | tuple) else [given]
        found = gradients(value, variables, grad_ys=grad_loss)
        return [(self._clips.applied(grad), var) for grad, var in zip(found, variables, strict=True)]

    def _prepare(self, var_list: Sequence[VariableLike]) -> ApplyState:
        state: ApplyState = {}
        for key in dict.fromkeys((var.device, var.dtype.base_dtype) for var in var_list):
            state[key] = {}
            with device(key[0]):
                self._prepare_local(*key, state)
        return state

    def _prepare_local(self, var_device: str, var_dtype: DType, apply_state: ApplyState) -> None:
        if "learning_rate" in self.hypers:
            apply_state[var_device, var_dtype]["lr_t"] = identity(self._decayed_lr(var_dtype))

    def _fallback_apply_state(self, var_device: str, var_dtype: DType) -> dict[str, Tensor]:
        state: ApplyState = {(var_device, var_dtype): {}}
        self._prepare_local(var_device, var_dtype, state)
        return state[var_device, var_dtype]

    def _resource_apply_dense(self, grad: Tensor, handle: VariableLike, apply_state: ApplyState | None = None) -> Nest:
        return self.apply_dense(grad, handle)

    def _resource_apply_sparse(
        self, grad: Tensor, handle: VariableLike, indices: Tensor, apply_state: ApplyState | None = None
    ) -> Nest:
        return self.apply_sparse(grad, handle, indices)

    def _resource_apply_sparse_duplicate_indices(
        self, grad: Tensor, handle: VariableLike, indices: Tensor, **more: Any
    ) -> Nest:
        """The update by rows that may come repeatedly: of one that a program wrote the gradients of a row are summed first."""
        if _has_own(self, "_resource_apply_sparse"):
            grad, indices = sum_distinct_rows(grad, indices)
        return self._resource_apply_sparse(grad, handle, indices, **more)

    def _resource_scatter_add(self, x: VariableLike, i: Tensor, v: Tensor) -> Tensor:
        with get_default_graph().control_dependencies([x.scatter_add(IndexedSlices(v, i))]):
            value: Tensor = x.read_value()
            return value

    def _resource_scatter_update(self, x: VariableLike, i: Tensor, v: Tensor) -> Tensor:
        with get_default_graph().control_dependencies([x.scatter_update(IndexedSlices(v, i))]):
            value: Tensor = x.read_value()
            return value

    def _state_for(self, var_list: Sequence[VariableLike]) -> ApplyState | None:
        """What `_prepare` makes, where an update of the program's own asks for it."""
        updates = ("_resource_apply_dense", "_resource_apply_sparse")
        own = [getattr(self, name) for name in updates if _has_own(self, name)]
        if not _has_own(self, "_prepare") and not any("apply_state" in inspect.signature(each).parameters for each in own):
            return None
        return self._prepare(var_list)

    def update_of(self, grad: Nest, var: VariableLike, state: Mapping[tuple[str, DType], object] | None) -> Nest:
        """The operation that changes one variable by its gradient, and keeps its constraint.

        Args:
            grad: its gradient, a tensor or IndexedSlices.
            var: the variable.
            state: what `_prepare` made.
        """
        graph = get_default_graph()
        with graph.name_scope(f"update_{var.op.name}"), graph.colocate_with(var.op):
            made = self._updated(grad, var, state)
            if var.constraint is None:
                return made
            with graph.control_dependencies([made]):
                return var.assign(var.constraint(var.read_value())).op

    def _updated(self, grad: Nest, var: VariableLike, state: object) -> Nest:
        def more(update: object) -> dict[str, Any]:
            wants = callable(update) and "apply_state" in inspect.signature(update).parameters
            return {"apply_state": state} if wants else {}

        if not isinstance(grad, IndexedSlices):
            return self._resource_apply_dense(grad, var, **more(self._resource_apply_dense))
        values, indices = convert_to_tensor(grad.values), convert_to_tensor(grad.indices)
        return self._resource_apply_sparse_duplicate_indices(values, var, indices, **more(self._resource_apply_sparse))


def _has_own(optimizer: Subclassable, method: str) -> bool:
    """Whether a program's class has a method of its own in the place of the one here."""
    return getattr(type(optimizer), method) is not getattr(Subclassable, method)
