"""Initial values out of a checkpoint: variables whose initializers read it, so that training starts from another's."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

from weft.checkpoint.checkpoint_contents import checkpoint_path, load_checkpoint
from weft.framework.graphs.graph import get_default_graph
from weft.ops.io import checkpoint_io
from weft.ops.variables.partitioned_variable import PartitionedVariable
from weft.ops.variables.saveables import saveables_of
from weft.ops.variables.scopes import default_variable_store
from weft.ops.variables.variable import Variable
from weft.platform.hints.spelling import did_you_mean
from weft.platform.logs import tf_logging

_SHOWN_SCOPES: Final = 5
_Shapes = Mapping[str, Sequence[int]]

_NO_VARIABLE: Final = (
    " tf.get_variable has made no {0!r} in this graph; a variable that was made otherwise is given itself, {{{1!r}: variable}}."
)


def init_from_checkpoint(ckpt_dir_or_file: str | bytes | os.PathLike[str], assignment_map: Mapping[str, Any]) -> None:
    """Replace the initializers of variables of the default graph by ones that read a checkpoint.

    Nothing is read but names and shapes until the initializers run. A later Saver's restore wins over them.

    Args:
        ckpt_dir_or_file: the checkpoint, or a directory whose latest one is meant.
        assignment_map: from names in the checkpoint to variables, their names, or lists of the parts of one; or from
            scopes in it to scopes here, both ending in '/', where '/' alone is the root.

    Raises:
        ValueError: a name is not in the checkpoint, a shape is another one, or a scope is mapped to a variable.
    """
    path = checkpoint_path(ckpt_dir_or_file)
    shapes = load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map()
    for key, target in sorted(assignment_map.items(), key=lambda pair: pair[0]):
        variable = _find(target)
        if variable is not None:
            if key not in shapes:
                exchanged = ". The names of the checkpoint come first, {'name': variable}"
                meant = did_you_mean(key, list(shapes)) if isinstance(key, str) else exchanged
                raise ValueError(f"Tensor {key} is not found in {os.fsdecode(ckpt_dir_or_file)} checkpoint {shapes}{meant}")
            _initialize(variable, path, key, shapes)
        else:
            _initialize_scope(target, path, key, shapes)


def _find(target: Any) -> Any:
    """The variable, or list of parts of one, that a target of the map is or names; None for a scope."""
    if isinstance(target, Variable):
        return target
    if isinstance(target, PartitionedVariable):
        return list(target)
    if isinstance(target, list | tuple) and all(isinstance(item, Variable) for item in target):
        return list(target)
    known = _known_variables()
    found = known.get(target)
    return _parts(target, known) if found is None else found


def _known_variables() -> Mapping[str, Any]:
    return default_variable_store().variables


def _parts(name: str, known: Mapping[str, object]) -> list[Any] | None:
    parts: list[Any] = []
    while f"{name}/part_{len(parts)}" in known:
        parts.append(known[f"{name}/part_{len(parts)}"])
    return parts or None


def _initialize_scope(target: str, path: str, key: str, shapes: _Shapes) -> None:
    scope = target.rpartition("/")[0]
    if not key.endswith("/"):
        raise ValueError(
            f"Assignment map with scope only name {scope} should map to scope only {key}. Should be 'scope/': 'other_scope/'."
            f"{f' {key!r} lacks the slash.' if target.endswith('/') else ' ' + _NO_VARIABLE.format(target, key)}"
        )
    names = {name.partition("/part_")[0] for name in _known_variables() if not scope or name.startswith(scope + "/")}
    if not names:
        scopes = sorted({f"{name.rpartition('/')[0]}/" for name in _known_variables()})
        tf_logging.warning(
            "init_from_checkpoint: no variable is in the scope %r, so nothing takes values from %r of %s. Variables are in %s."
            "%s",
            f"{scope}/", key, path, ", ".join(map(repr, scopes[:_SHOWN_SCOPES])) or "no scope: make them first",
            " Scopes of the checkpoint come first, {'old/': 'new/'}." if key in scopes else "",
        )  # fmt: skip
    for name in sorted(names):
        inner = name[len(scope) + 1 :] if scope else name
        stored = inner if key == "/" else key + inner
        if stored not in shapes:
            raise ValueError(
                f"Tensor {stored} ({inner} in {key}) is not found in {path} checkpoint.{did_you_mean(stored, list(shapes))}"
            )
        _initialize(_find(name), path, stored, shapes)


def _initialize(variable: Variable, path: str, key: str, shapes: _Shapes) -> None:
    if not isinstance(variable, list):
        if not variable.get_shape().is_compatible_with(shapes[key]):
            raise ValueError(
                f"Shape of variable {variable.name} ({variable.get_shape()}) doesn't match with shape of tensor {key} "
                f"({shapes[key]}) from checkpoint reader. Leave it out of the assignment map to keep its own initializer, or "
                "give the variable the stored shape."
            )
        _set_initializer(variable, path, key, "")
        return
    infos = [part._get_save_slice_info() for part in variable]
    if None in infos:
        raise ValueError(f"Slices must all be slices: {[part.name for part in variable]}")
    if len({info.full_name for info in infos}) > 1:
        raise ValueError(f"Slices must all be from the same tensor: {sorted({info.full_name for info in infos})}")
    for part, info in zip(variable, infos, strict=True):
        _set_initializer(part, path, key, info.spec)


def _set_initializer(variable: Variable, path: str, key: str, box: str) -> None:
    graph = get_default_graph()
    # Beside the variable, but on its task's CPU: the file is read there.
    with graph.device(variable.device), graph.device("/cpu:0"):
        value = checkpoint_io.restore_v2(path, [key], [box], dtypes=[variable.dtype.base_dtype], name="checkpoint_initializer")[
            0
        ]
    set_initial_value(variable, value)
    tf_logging.debug("Initialize variable %s from checkpoint %s with %s", variable.name, path, key)


def set_initial_value(variable: Any, value: Any) -> None:
    """Replace a variable's initializer by one that assigns this tensor."""
    graph = get_default_graph()
    with graph.device(variable.device), graph.device("/cpu:0"):
        (saveable,) = saveables_of([variable])
    assigned = saveable.restore([value], None)
    value.set_shape(variable.shape)
    variable.replace_initializer(getattr(assigned, "op", assigned), value)
