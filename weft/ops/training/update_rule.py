"""The common form of all ops that apply a gradient to a variable and its slots.

A rule is one function of the values of the variable and its slots, the gradient and the hyperparameters. It makes up to
four ops: for variables by Ref and by resource handle, and for dense gradients and for slices of rows.

Slices may name a row repeatedly: its gradients are summed first, inside the op, and the cost is that of the rows named,
whatever the size of the table. (Programs that TensorFlow builds sum with Unique and UnsortedSegmentSum nodes before the
op. The number of different rows is known only when a step runs, so such nodes would cut a compiled step in pieces.)
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import Parameter, Signature
from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dims import Dims, brackets, merge_dims
from weft.ops.array.shape_ops import INDEX
from weft.ops.declaration import op
from weft.ops.handle_shapes import handle_shape
from weft.ops.math.elementwise import NUMBERS
from weft.ops.training.row_update import Repetitions, check_row_numbers, repetitions_of, update_rows

Rule = Callable[..., Sequence[Array]]
_FIXED_TYPES: Final = {"global_step": "int64", "indices": "Tindices"}


@dataclass(frozen=True)
class UpdateOps:
    """The node functions of one rule; None for a form that the rule does not have."""

    dense: Array = None
    sparse: Array = None
    resource_dense: Array = None
    resource_sparse: Array = None


def sum_repeated(xp: ArrayModule, indices: Array, values: Array, row_count: int) -> tuple[Array, Array]:
    """Different rows and the sum of the values of each, for compiled code.

    There are as many as indices: those left over, like indices out of range, come with row numbers that no table has.
    """
    indices, values = xp.asarray(indices), xp.asarray(values)
    count = indices.shape[0]
    beyond = row_count + xp.arange(count, dtype=indices.dtype)
    if not count:
        return beyond, values
    inside = xp.where((indices < 0) | (indices >= row_count), row_count, indices)
    order = xp.argsort(inside)
    ordered = inside[order]
    is_first = xp.concatenate([xp.ones(1, bool), ordered[1:] != ordered[:-1]])
    group = xp.cumsum(is_first) - 1
    summed = xp.zeros_like(values).at[group].add(values[order], mode="drop", indices_are_sorted=True)
    rows = beyond.at[group].set(ordered, mode="drop", indices_are_sorted=True)
    return xp.where(rows == row_count, beyond, rows), summed


def _take(xp: ArrayModule, table: Array, rows: Array) -> Array:
    return xp.asarray(table).at[rows].get(mode="clip")


def _put(xp: ArrayModule, table: Array, rows: Array, values: Array) -> Array:
    return xp.asarray(table).at[rows].set(values.astype(table.dtype), mode="drop", unique_indices=True)


def _scalar_check(tensor: Tensor) -> None:
    if tensor.dims:
        raise ValueError(f"Shape must be rank 0 but is rank {len(tensor.dims)}")


def _infer(states: int, gradient_at: int, is_sparse: bool, has_ref: bool) -> Callable[[Operation], list[Dims]]:
    """The shape rule: slots and gradient fit the variable, hyperparameters are scalars."""

    def infer(node: Operation) -> list[Dims]:
        inputs = node.inputs
        for position in range(states, len(inputs)):
            if position != gradient_at and not (is_sparse and position == gradient_at + 1):
                _scalar_check(inputs[position])
        if is_sparse:
            _check_slices(inputs[gradient_at].dims, inputs[gradient_at + 1].dims)
        shapes = [tensor.dims if has_ref else handle_shape(tensor) for tensor in inputs[:states]]
        dims = functools.reduce(merge_dims, shapes)
        gradient = inputs[gradient_at].dims
        if not is_sparse:
            dims = merge_dims(dims, gradient)
        elif dims is not None and gradient is not None:
            merge_dims(dims, (dims[0] if dims else None, *gradient[1:]))
        return [dims] if has_ref else []

    return infer


def _check_slices(gradient: Dims, indices: Dims) -> None:
    if indices is not None and len(indices) != 1:
        raise ValueError(f"Shape must be rank 1 but is rank {len(indices)}")
    if gradient is not None and not gradient:
        raise ValueError("Shape must be at least rank 1 but is rank 0")
    if gradient is not None and indices is not None:
        merge_dims(gradient[:1], indices)


class _Form:
    """One op of a rule: its name, arguments and kernel."""

    def __init__(self, rule: Rule, states: Sequence[str], arguments: Sequence[str], gradient: str, sparse: bool) -> None:
        self._rule = rule
        self._states = tuple(states)
        self._gradient = gradient
        self._sparse = sparse
        self._names = (*states, *arguments)
        self._gradient_at = self._names.index(gradient)
        self._indices_at = self._names.index("indices") if sparse else -1
        self._hyperparameters = [
            (i, n) for i, n in enumerate(self._names) if i >= len(states) and n not in (gradient, "indices")
        ]

    def declare(self, name: str, is_resource: bool, attrs: dict[str, bool]) -> Callable[..., Tensor | Operation]:
        """Register the op and return the function that makes its nodes."""
        state_type = "resource" if is_resource else "Ref(T)"
        types = {**dict.fromkeys(self._names, "T"), **_FIXED_TYPES, **dict.fromkeys(self._states, state_type)}
        inputs = ", ".join(f"{argument}: {types[argument]}" for argument in self._names)
        infer = _infer(len(self._states), self._gradient_at, self._sparse, not is_resource)
        kinds = {"T": NUMBERS, "Tindices": INDEX} if self._sparse else {"T": NUMBERS}
        declared = op(
            name, f"{inputs} ->" if is_resource else f"{inputs} -> out: Ref(T)", infer=infer, gradient=None,
            stateful=True, updates=self._states, types=kinds,
            by_row=self._sparse, ahead=self._ahead if self._sparse else None, check=self._check_rows if self._sparse else None,
            by_element=() if self._sparse else (self._gradient,),
        )  # fmt: skip
        builder: Callable[..., Tensor | Operation] = declared(self._kernel(attrs, is_resource))
        return builder

    def _kernel(self, attrs: dict[str, bool], is_resource: bool) -> Callable[..., Array]:
        def kernel(xp: ArrayModule, *inputs: Array, **given: Array) -> Array:
            settings = {name: inputs[place] for place, name in self._hyperparameters}
            for name, default in attrs.items():
                settings[name] = given.get(name, default)
            old, gradient = inputs[: len(self._states)], inputs[self._gradient_at]
            if self._sparse:
                return self._apply_to_rows(xp, old, inputs[self._indices_at], gradient, settings, given.get("ahead"))
            self._check_shapes(old, gradient)
            new = self._rule(xp, *old, gradient, **settings)
            # A value that has the type already must not be copied again.
            return tuple([v if v.dtype == each.dtype else v.astype(each.dtype) for v, each in zip(new, old, strict=True)])

        kernel.__doc__ = f"{self._rule.__doc__}{' For rows.' if self._sparse else ''}\n\n`{self._shapes(is_resource)}`"
        kernel.__module__ = self._rule.__module__
        positional = [Parameter(key, Parameter.POSITIONAL_OR_KEYWORD) for key in ("xp", *self._names)]
        keywords = [
            Parameter(key, Parameter.KEYWORD_ONLY, default=default, annotation="bool")
            for key, default in {"use_locking": False, **attrs}.items()
        ]
        kernel.__signature__ = Signature(positional + keywords)  # type: ignore[attr-defined]
        return kernel

    def _shapes(self, is_resource: bool) -> str:
        """The shapes of the op's inputs and output, for its documentation."""
        value = "[rows, *inner]" if self._sparse else "[...]"
        shapes = {**dict.fromkeys(self._names, "scalar"), "global_step": "scalar int64", "indices": "[n]"}
        shapes |= dict.fromkeys(self._states, "scalar resource" if is_resource else value)
        shapes[self._gradient] = "[n, *inner]" if self._sparse else value
        return f"{', '.join(shapes[name] for name in self._names)} ->" + ("" if is_resource else f" {value}")

    def _check_rows(self, node: Operation, *inputs: Array) -> None:
        table, indices = inputs[0], inputs[self._indices_at]
        if table is not None and indices is not None:
            check_row_numbers(indices, table.shape[0])

    def _ahead(self, *inputs: object) -> Repetitions:
        states = len(self._states)
        return repetitions_of(inputs[self._indices_at - states], inputs[self._gradient_at - states])

    def _apply_to_rows(
        self: Array,
        xp: ArrayModule,
        old: Sequence[Array],
        indices: Array,
        gradient: Array,
        settings: dict[str, Array],
        repetitions: Repetitions | None,
    ) -> tuple[Array, ...]:
        if xp is np:
            return update_rows(partial(self._rule, np, **settings), old, indices, gradient, repetitions)
        rows, summed = sum_repeated(xp, indices, gradient, old[0].shape[0])
        new = self._rule(xp, *(_take(xp, each, rows) for each in old), summed, **settings)
        return tuple(_put(xp, each, rows, value) for value, each in zip(new, old, strict=True))

    def _check_shapes(self, states: Sequence[Array], gradient: Array) -> None:
        """Refuse what would be broadcast: the variable would get another shape, or a value that nobody meant."""
        shape = states[0].shape
        if gradient.shape == shape and len(states) == 1:
            return
        for name, value in zip((*self._states[1:], self._gradient), (*states[1:], gradient), strict=True):
            if value.shape != shape:
                found = f"{brackets(shape)} {brackets(value.shape)}"
                raise InvalidArgumentError.of(f"{self._states[0]} and {name} do not have the same shape{found}")


def declare_rule(
    name: str,
    rule: Rule,
    states: Sequence[str],
    arguments: Sequence[str],
    *,
    gradient: str = "grad",
    has_ref: bool = True,
    has_sparse: bool = True,
    **attrs: bool,
) -> UpdateOps:
    """Declare the ops of a rule: Apply<name>, ResourceApply<name>, SparseApply<name> and ResourceSparseApply<name>.

    Args:
        name: the family's name.
        rule: `rule(xp, *states, gradient, **hyperparameters_and_attrs)`, giving the new values of the states, each element
            made of those in the same place.
        states: the variable's and the slots' argument names.
        arguments: the names of the other arguments, the gradient among them, in the dense op's order.
        gradient: the gradient's name in the dense op; in the sparse one it is `grad`, followed by `indices`.
        has_ref: whether there are forms for variables by Ref.
        has_sparse: whether there are forms for slices.
        attrs: further boolean attributes with their defaults.
    """
    dense = _Form(rule, states, arguments, gradient, sparse=False)
    made = {"resource_dense": dense.declare(f"ResourceApply{name}", True, attrs)}
    if has_ref:
        made["dense"] = dense.declare(f"Apply{name}", False, attrs)
    if has_sparse:
        place = list(arguments).index(gradient)
        of_rows = (*arguments[:place], "grad", "indices", *arguments[place + 1 :])
        sparse = _Form(rule, states, of_rows, "grad", sparse=True)
        made["resource_sparse"] = sparse.declare(f"ResourceSparseApply{name}", True, attrs)
        if has_ref:
            made["sparse"] = sparse.declare(f"SparseApply{name}", False, attrs)
    return UpdateOps(**made)
