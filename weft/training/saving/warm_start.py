"""Warm starting: variables that begin with the values of another model's checkpoint, rows moved where vocabularies differ."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from weft.checkpoint.checkpoint_contents import checkpoint_path, load_checkpoint
from weft.checkpoint.object_description import keys_by_name
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.ops.array.constant import constant
from weft.ops.array.gather_scatter import gather
from weft.ops.array.selection import where
from weft.ops.io import checkpoint_io
from weft.ops.io.checkpoint_initializer import init_from_checkpoint, set_initial_value
from weft.ops.variables.matrix_initializers import zeros_initializer
from weft.ops.variables.partitioned_variable import PartitionedVariable
from weft.ops.variables.variable import Variable
from weft.platform.files import gfile
from weft.platform.logs import tf_logging


class VocabInfo(NamedTuple):
    """How the rows (or columns) of a variable follow from a vocabulary, now and in the checkpoint.

    Args:
        new_vocab: the file with this model's vocabulary, a line for each entry.
        new_vocab_size: how many of its lines count.
        num_oov_buckets: how many rows there are after them.
        old_vocab: the file with the vocabulary of the checkpoint's model.
        old_vocab_size: how many of its lines count; -1 for all.
        backup_initializer: makes the rows of entries that the checkpoint does not have; zeros when None.
        axis: 0 when the vocabulary counts rows, 1 for columns.
    """

    new_vocab: str
    new_vocab_size: int
    num_oov_buckets: int
    old_vocab: str
    old_vocab_size: int = -1
    backup_initializer: Any = None
    axis: int = 0


def warm_start(
    ckpt_to_initialize_from: str,
    vars_to_warm_start: object = ".*",
    var_name_to_vocab_info: Mapping[str, VocabInfo] | None = None,
    var_name_to_prev_var_name: Mapping[str, str] | None = None,
) -> None:
    """Replace the initializers of variables of the default graph by ones that read a checkpoint.

    Args:
        ckpt_to_initialize_from: the checkpoint, or a directory whose latest one is meant.
        vars_to_warm_start: a regular expression for the names of trainable variables; or a list of expressions for the names
            of global variables; or a list of variables; None for those of `var_name_to_vocab_info` alone.
        var_name_to_vocab_info: for variables whose rows follow a vocabulary, which vocabularies.
        var_name_to_prev_var_name: the names in the checkpoint of variables that have another name there.

    Raises:
        NotFoundError: there is no checkpoint.
        ValueError: a name in one of the maps is no variable's, or an item of the list is neither text nor a variable.
    """
    load_checkpoint(ckpt_to_initialize_from)  # which says it if there is none, also where no variable takes a value
    vocabularies = dict(var_name_to_vocab_info or {})
    names = dict(var_name_to_prev_var_name or {})
    groups = _grouped(_chosen(vars_to_warm_start))
    groups.update((name, found) for name, found in _grouped(_collected(GraphKeys.GLOBAL_VARIABLES, ".*")).items()
                  if name in vocabularies and name not in groups)  # fmt: skip
    unused = sorted({*vocabularies, *names} - set(groups))
    if unused:
        raise ValueError(
            f"warm_start: there is no variable to warm-start named {unused}, which var_name_to_vocab_info or "
            f"var_name_to_prev_var_name has; these will be warm-started: {sorted(groups)}"
        )
    # A checkpoint of objects has its values under other keys, and tells the names.
    keys = keys_by_name(checkpoint_path(ckpt_to_initialize_from))
    for name, variables in groups.items():
        stored = names.get(name, name)
        stored = keys.get(stored, stored)
        if name in vocabularies:
            _warm_start_with_vocabulary(variables, ckpt_to_initialize_from, stored, vocabularies[name])
        else:
            init_from_checkpoint(ckpt_to_initialize_from, {stored: variables if len(variables) > 1 else variables[0]})
        tf_logging.debug("Warm-starting variable: %s; prev_var_name: %s", name, stored)


def _chosen(wanted: object) -> list[Any]:
    if wanted is None:
        return []
    if isinstance(wanted, str):
        # One expression means trainable variables, as programs with a head of another shape expect.
        return _collected(GraphKeys.TRAINABLE_VARIABLES, wanted)
    if isinstance(wanted, list) and all(isinstance(item, str) for item in wanted):
        return [found for item in wanted for found in _collected(GraphKeys.GLOBAL_VARIABLES, item)]
    if isinstance(wanted, list) and all(isinstance(item, Variable | PartitionedVariable) for item in wanted):
        return [part for item in wanted for part in (item if isinstance(item, PartitionedVariable) else [item])]
    raise ValueError("If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`. Given types are "
                     f"{[type(item) for item in wanted] if isinstance(wanted, list) else type(wanted)}")  # fmt: skip


def _collected(key: str, expression: str) -> list[Any]:
    return [each for each in get_default_graph().get_collection(key) if re.match(expression, each.op.name)]


def _grouped(variables: Sequence[Any]) -> dict[str, list[Any]]:
    """Variables by name; the parts of a partitioned one together."""
    groups: dict[str, list[Any]] = {}
    for variable in variables:
        info = variable._get_save_slice_info()
        found = groups.setdefault(info.full_name if info is not None else variable.op.name, [])
        if all(variable is not each for each in found):
            found.append(variable)
    return groups


def _warm_start_with_vocabulary(variables: list[Any], checkpoint: str, stored: str, info: VocabInfo) -> None:
    path = checkpoint_path(checkpoint)
    shape = load_checkpoint(checkpoint).get_variable_to_shape_map().get(stored)
    if shape is None:
        raise ValueError(f"Tensor {stored} is not found in {checkpoint} checkpoint")
    places = _old_places(info)
    for variable in variables:
        slice_info = variable._get_save_slice_info()
        begin = 0 if slice_info is None else slice_info.var_offset[info.axis]
        dims = variable.get_shape().as_list()
        wanted = places[begin : begin + dims[info.axis]]
        make = info.backup_initializer or zeros_initializer()
        graph = get_default_graph()
        with graph.device(variable.device), graph.device("/cpu:0"):
            old = checkpoint_io.restore_v2(path, [stored], [""], dtypes=[variable.dtype.base_dtype])[0]
            old.set_shape(shape)
            moved = gather(old, constant(np.maximum(wanted, 0)), axis=info.axis)
            known = np.expand_dims(wanted >= 0, [axis for axis in range(len(dims)) if axis != info.axis])
            value = where(constant(np.broadcast_to(known, dims)), moved, make(dims, dtype=variable.dtype.base_dtype))
        set_initial_value(variable, value)


def _old_places(info: VocabInfo) -> Any:
    """For each row now the row in the checkpoint; -1 where there is none."""
    new = _lines(info.new_vocab)[: info.new_vocab_size]
    old = _lines(info.old_vocab)
    old = old if info.old_vocab_size < 0 else old[: info.old_vocab_size]
    numbers = {entry: number for number, entry in enumerate(old)}
    return np.array([numbers.get(entry, -1) for entry in new] + [-1] * info.num_oov_buckets, np.int64)


def _lines(path: str) -> list[bytes]:
    with gfile.GFile(path, "rb") as file:
        return [line.rstrip(b"\r\n") for line in file]
