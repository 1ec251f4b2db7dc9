"""Any optax gradient transformation as an Optimizer.

The transformation is traced when the graph is built and put into it as nodes, so the tasks that run the graph need no optax,
and checkpoints hold its state as variables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.ops.process.exported_function import call_exported, spec_of, types_of
from weft.platform.imports.jax_modules import jax, tree_util
from weft.training.optimizers import slot_creator
from weft.training.optimizers.optimizer import Optimizer


class GradientTransformation(Protocol):
    """A gradient transformation of optax: a pair of functions of trees of arrays."""

    def init(self, params: object) -> Any:
        """The state to start with."""
        ...

    def update(self, updates: object, state: object, params: object = None) -> tuple[Any, Any]:
        """Gradients made updates to add, and the new state."""
        ...


@dataclass(frozen=True)
class _Tree:
    """The state of a transformation for some variables: the tree's structure, and a variable for each leaf."""

    structure: Any
    leaves: list[Any]


class OptaxOptimizer(Optimizer):
    """An optimizer made of an optax transformation.

        optimizer = tf.train.OptaxOptimizer(optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3)))
        train = optimizer.minimize(loss, global_step)

    All variables of one `apply_gradients` go through the transformation together, beside the first of them by name, so
    global norms are those of all. Parts of the state that belong to a variable are its slots, named after the fields of
    the state (`mu`, `nu`, `trace`); others, such as counts, are variables of the optimizer. IndexedSlices are made dense.

    Args:
        transformation: what optax's functions give; anything with `init` and `update` like it.
        use_locking: recorded in the update ops; updates are always whole.
        name: the name of the operations made, and of slots.
    """

    def __init__(self, transformation: GradientTransformation, use_locking: bool = False, name: str = "Optax") -> None:
        super().__init__(use_locking, name)
        self._transformation = transformation
        self._trees: dict[Any, _Tree] = {}

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        key = _tree_key(var_list)
        if key in self._trees:
            return
        names = [var.op.name for var in var_list]
        specs = [spec_of(var) for var in var_list]
        with types_of(specs):
            state = jax.eval_shape(self._transformation.init, dict(zip(names, specs, strict=True)))
        paths, structure = tree_util.tree_flatten_with_path(state)

        def initial_leaves(*values: object) -> list[Any]:
            return tree_util.tree_leaves(self._transformation.init(dict(zip(names, values, strict=True))))

        leaves: list[Any] = []
        if paths:
            values = [var.initialized_value() for var in var_list]
            with get_default_graph().colocate_with(_first(var_list)):
                starts = call_exported(initial_leaves, values, name=f"{self._name}/init")
            by_name = dict(zip(names, var_list, strict=True))
            leaves = [self._make_leaf(path, start, by_name) for (path, _), start in zip(paths, starts, strict=True)]
        self._trees[key] = _Tree(structure, leaves)

    def _make_leaf(self, path: Sequence[Any], start: Tensor, by_name: dict[str, Any]) -> Any:
        """The variable of one leaf of the state: a slot when a variable's name is on the way to it."""
        owner = next((by_name[key.key] for key in path if _is_name(key) and key.key in by_name), None)
        label = _label(path, by_name)
        if owner is None:
            first = _first(list(by_name.values()))
            return self._create_non_slot_variable(start, self._free_name(label, first.graph), first)
        slot_name, suffix = label, 0
        while self.get_slot(owner, slot_name) is not None:
            suffix += 1
            slot_name = f"{label}_{suffix}"
        slot = slot_creator.create_slot(owner, start, f"{self._name}/{slot_name}")
        self._slot_dict(slot_name)[owner.op.graph, owner.op.name] = slot
        return slot

    def _free_name(self, label: str, graph: Graph) -> str:
        name, suffix = f"{self._name}/{label}", 0
        while self._get_non_slot_variable(name, graph) is not None:
            suffix += 1
            name = f"{self._name}/{label}_{suffix}"
        return name

    def _update_all(self, wanted: Sequence[tuple[Any, Any]]) -> list[Any]:
        graph = get_default_graph()
        variables = [variable for _, variable in wanted]
        tree = self._trees[_tree_key(variables)]
        names = [variable.op.name for variable in variables]
        with graph.colocate_with(_first(variables)):
            gradients = [convert_to_tensor(gradient) for gradient, _ in wanted]
            # Read only now: a value read before the gradients came may be another worker's past.
            with graph.control_dependencies(gradients):
                values = [variable.read_value() for variable in (*variables, *tree.leaves)]

            def updated(*arrays: object) -> list[Any]:
                count = len(names)
                old = dict(zip(names, arrays[:count], strict=True))
                state = tree_util.tree_unflatten(tree.structure, arrays[count:-count])
                updates = dict(zip(names, arrays[-count:], strict=True))
                updates, state = self._transformation.update(updates, state, old)
                return [*((old[n] + updates[n]).astype(old[n].dtype) for n in names), *tree_util.tree_leaves(state)]

            new = call_exported(updated, [*values, *gradients], name="update_all")
        return self._assigned([*variables, *tree.leaves], new)

    def _assigned(self, variables: Sequence[Any], values: Sequence[Tensor]) -> list[Any]:
        assigned = []
        for variable, value in zip(variables, values, strict=True):
            with get_default_graph().colocate_with(variable):
                wanted = value if variable.constraint is None else variable.constraint(value)
                assigned.append(variable.assign(wanted, use_locking=self._use_locking))
        return assigned


def _tree_key(variables: Sequence[Any]) -> Any:
    return variables[0].graph, tuple(variable.op.name for variable in variables)


def _first(variables: Sequence[Any]) -> Any:
    return min(variables, key=lambda variable: variable.name)


def _is_name(key: object) -> bool:
    return isinstance(key, tree_util.DictKey) and isinstance(key.key, str)


def _label(path: Sequence[Any], by_name: dict[str, Any]) -> str:
    """A name for a leaf: the fields on the way to it, or its place when there are none."""
    fields = [str(key.name) for key in path if isinstance(key, tree_util.GetAttrKey)]
    fields += [key.key for key in path if _is_name(key) and key.key not in by_name]
    return "/".join(fields) or "state"
