"""How an optimizer of tf.keras changes variables: what its subclasses write, weft's own and those of programs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from weft.autodiff.gradients import gradients
from weft.framework.building.aliases import Nest, TensorLike, VariableLike
from weft.framework.building.graph_functions import device
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.operation import Tensor
from weft.framework.types.dtypes import DType
from weft.networks.optimizers.optimizer_state import OptimizerState
from weft.ops.array.constant import constant
from weft.ops.array.identity import identity
from weft.ops.training.repeated_rows import sum_distinct_rows

ApplyState = dict[tuple[str, DType], dict[str, Tensor]]


class Updates(OptimizerState):
    """The update of a variable, by weft's names and by those of TensorFlow 1.15, which programs write and call.

    weft's own optimizers make slots in `create_slots` and update a variable in `apply_dense` and `apply_sparse`. Those of
    programs do so in `_create_slots`, `_resource_apply_dense` and `_resource_apply_sparse`, which fall back on the former;
    they may take `apply_state`, which `_prepare_local` fills for each device and type. An optimizer that holds another one
    updates variables by the latter's methods.
    """

    _is_in_step = False  # of its own, which has prepared the update

    def create_slots(self, var_list: Sequence[VariableLike]) -> None:
        """Make the slots of variables.

        Args:
            var_list: the variables.
        """

    def prepare(self, dtype: DType) -> None:
        """Make the tensors that all updates share.

        Args:
            dtype: the variables' type.
        """

    def apply_dense(self, grad: Tensor, var: VariableLike) -> Nest:
        """The update of a variable by a gradient.

        Args:
            grad: the gradient, a tensor.
            var: the variable.
        """
        raise NotImplementedError(f"{type(self).__name__} has no dense update")

    def apply_sparse(self, grad: Tensor, var: VariableLike, indices: Tensor) -> Nest:
        """The update of a variable by the gradient of some rows: by default that of the whole.

        Args:
            grad: `[n, ...]` tensor: the gradient's rows.
            var: the variable.
            indices: [n] int: which rows of the variable they are of.
        """
        return self.apply_dense(convert_to_tensor(IndexedSlices(grad, indices, _shape_tensor(var))), var)

    # By the names of TensorFlow.

    def _create_slots(self, var_list: Sequence[VariableLike]) -> None:
        self.create_slots(var_list)

    def _compute_gradients(
        self, loss: Nest, var_list: Nest, grad_loss: TensorLike | None = None
    ) -> list[tuple[Nest, VariableLike]]:
        value = loss() if callable(loss) else loss
        given = var_list() if callable(var_list) else var_list
        variables = list(given) if isinstance(given, list | tuple) else [given]
        with get_default_graph().name_scope(f"{self._name}/gradients"):
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
        self._prepare_alone(handle)
        return self.apply_dense(grad, handle)

    def _resource_apply_sparse(
        self, grad: Tensor, handle: VariableLike, indices: Tensor, apply_state: ApplyState | None = None
    ) -> Nest:
        self._prepare_alone(handle)
        return self.apply_sparse(grad, handle, indices)

    def _prepare_alone(self, var: VariableLike) -> None:
        """Prepare an update that another optimizer makes by this one."""
        if not self._is_in_step:
            self.hypers.make_variables()
            self.prepare(var.dtype.base_dtype)

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
        asks = any(_has_own(self, name) and _takes_state(getattr(self, name)) for name in updates)
        return self._prepare(var_list) if asks or _has_own(self, "_prepare") else None

    def update_of(self, grad: Nest, var: VariableLike, state: Mapping[tuple[str, DType], object] | None) -> Nest:
        """The operation that changes one variable by its gradient, and keeps its constraint.

        Args:
            grad: its gradient, a tensor or IndexedSlices.
            var: the variable.
            state: what `_prepare` made.
        """
        graph = get_default_graph()
        with graph.name_scope(f"update_{var.op.name}"), graph.colocate_with(var.op):
            self._is_in_step = True
            try:
                made = self._updated(grad, var, state)
            finally:
                self._is_in_step = False
            if var.constraint is None:
                return made
            with graph.control_dependencies([made]):
                return var.assign(var.constraint(var.read_value())).op

    def _updated(self, grad: Nest, var: VariableLike, state: object) -> Nest:
        is_dense = not isinstance(grad, IndexedSlices)
        takes_state = _takes_state(self._resource_apply_dense if is_dense else self._resource_apply_sparse)
        more: dict[str, Any] = {"apply_state": state} if takes_state else {}
        if is_dense:
            return self._resource_apply_dense(grad, var, **more)
        values, indices = convert_to_tensor(grad.values), convert_to_tensor(grad.indices)
        return self._resource_apply_sparse_duplicate_indices(values, var, indices, **more)


def _takes_state(update: Callable[..., object]) -> bool:
    """Whether an update has a parameter for what `_prepare` made."""
    return "apply_state" in inspect.signature(update).parameters


def _has_own(optimizer: Updates, method: str) -> bool:
    """Whether a program's class has a method of its own in the place of the one here."""
    return getattr(type(optimizer), method) is not getattr(Updates, method)


def _shape_tensor(var: VariableLike) -> Tensor:
    return constant(np.asarray(var.shape.as_list(), np.int64))
