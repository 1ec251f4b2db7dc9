"""The `checkpoint` file of a directory: a CheckpointState in text that names the latest checkpoint and those kept.

Relative paths in it are relative to the directory, so that it can be moved. It is replaced atomically, so another
process may poll it while checkpoints are saved.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import Final

from google.protobuf import text_format
from tensorboard.compat.proto import saver_pb2

from weft import errors
from weft.checkpoint import files
from weft.checkpoint.bundle_format import index_filename
from weft.checkpoint.wholeness import newest_whole
from weft.framework.types.value_types import OrNone
from weft.platform.hints.argument_checks import check_arguments
from weft.platform.logs import tf_logging
from weft.proto.checkpoint_state_pb2 import CheckpointState

_STATE_FILENAME: Final = "checkpoint"
_SHARD_SUFFIX: Final = re.compile(r"-[\d\?]+-of-\d+$")


def generate_checkpoint_state_proto(
    save_dir: str,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Sequence[str] | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> CheckpointState:
    """Make the state that names a checkpoint as the latest; with a relative `save_dir`, paths become relative to it.

    Args:
        save_dir: the directory that the state is for.
        model_checkpoint_path: the latest checkpoint.
        all_model_checkpoint_paths: those that are kept, oldest first; the latest is appended when it is not the last.
        all_model_checkpoint_timestamps: when each of them was saved, in seconds since 1970.
        last_preserved_timestamp: when the last one that is never deleted was saved.

    Returns:
        A CheckpointState.

    Raises:
        ValueError: there are not as many timestamps as checkpoints.
    """
    paths = list(all_model_checkpoint_paths or ())
    if not paths or paths[-1] != model_checkpoint_path:
        tf_logging.info("%s is not in all_model_checkpoint_paths. Manually adding it.", model_checkpoint_path)
        paths.append(model_checkpoint_path)
    timestamps = list(all_model_checkpoint_timestamps or ())
    if timestamps and len(timestamps) != len(paths):
        raise ValueError(
            f"Number of timestamps, if provided, must match checkpoints (got {len(paths)} checkpoints {paths} and "
            f"{len(timestamps)} timestamps {timestamps})"
        )
    return CheckpointState(
        model_checkpoint_path=_storable(model_checkpoint_path, save_dir),
        all_model_checkpoint_paths=[_storable(path, save_dir) for path in paths],
        all_model_checkpoint_timestamps=timestamps,
        last_preserved_timestamp=last_preserved_timestamp,
    )


def update_checkpoint_state(
    save_dir: str,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Sequence[str] | None = None,
    latest_filename: str | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
    save_relative_paths: bool = False,
) -> None:
    """Write the state of a directory; with `save_relative_paths`, absolute paths become relative to it as well.

    Args:
        save_dir: the directory.
        model_checkpoint_path: the latest checkpoint.
        all_model_checkpoint_paths: those that are kept, oldest first.
        latest_filename: the name of the file with the state; "checkpoint" when None.
        all_model_checkpoint_timestamps: when each of them was saved, in seconds since 1970.
        last_preserved_timestamp: when the last one that is never deleted was saved.
        save_relative_paths: whether the state holds relative paths.

    Raises:
        RuntimeError: the checkpoint has the state file's own name.
        NotFoundError: the directory does not exist.
    """
    check_arguments(update_checkpoint_state, all_model_checkpoint_paths=all_model_checkpoint_paths)
    state = generate_checkpoint_state_proto(
        save_dir,
        model_checkpoint_path,
        all_model_checkpoint_paths,
        all_model_checkpoint_timestamps,
        last_preserved_timestamp,
    )
    filename = _state_filename(save_dir, latest_filename)
    if save_relative_paths:
        state.model_checkpoint_path = _relative_if_absolute(state.model_checkpoint_path, save_dir)
        relative = [_relative_if_absolute(path, save_dir) for path in state.all_model_checkpoint_paths]
        state.all_model_checkpoint_paths[:] = relative
    if filename == state.model_checkpoint_path:
        raise RuntimeError(
            f"Save path '{model_checkpoint_path}' conflicts with path used for checkpoint state.  "
            "Please use a different save path."
        )
    files.write_atomically(filename, text_format.MessageToString(state).encode())


def get_checkpoint_state(checkpoint_dir: str, latest_filename: str | None = None) -> CheckpointState | None:
    """Return a directory's state, its paths ready to be opened; None when there is none or it cannot be read.

    Args:
        checkpoint_dir: the directory.
        latest_filename: the name of the file with the state; "checkpoint" when None.

    Returns:
        A CheckpointState, or None where the folder has no such file.

    Raises:
        ValueError: the state names no checkpoint.

    >>> tf.train.get_checkpoint_state("/no/such/folder") is None
    True
    """
    filename = _state_filename(os.fspath(checkpoint_dir), latest_filename)
    try:
        state = text_format.Parse(files.read_bytes(filename).decode(), CheckpointState())
    except errors.NotFoundError:
        return None
    except (errors.OpError, text_format.ParseError, UnicodeDecodeError) as error:
        tf_logging.warning("%s: %s", type(error).__name__, error)
        tf_logging.warning("%s: Checkpoint ignored", filename)
        return None
    if not state.model_checkpoint_path:
        raise ValueError(
            f"Invalid checkpoint state loaded from {checkpoint_dir}: the file {filename} names no checkpoint as "
            "`model_checkpoint_path`. Remove it, or write it anew with tf.train.update_checkpoint_state(directory, path)"
        )
    if "\0" in state.model_checkpoint_path:
        tf_logging.warning("%s: Checkpoint ignored: its path %r is no file's", filename, state.model_checkpoint_path)
        return None
    state.model_checkpoint_path = _resolved(state.model_checkpoint_path, checkpoint_dir)
    state.all_model_checkpoint_paths[:] = [_resolved(path, checkpoint_dir) for path in state.all_model_checkpoint_paths]
    return state


def latest_checkpoint(checkpoint_dir: str, latest_filename: str | None = None, verify: bool = False) -> str | OrNone:
    """Return the path of a directory's latest checkpoint, None when there is none or its files are gone.

    Args:
        checkpoint_dir: the directory.
        latest_filename: the name of its state file; "checkpoint" when None.
        verify: read all of the checkpoint and check it; return the newest that is whole, and warn of those passed over.

    Returns:
        The checkpoint's path without .index and .data, or None where there is none.

    >>> tf.train.latest_checkpoint("/no/such/folder") is None
    True
    """
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None:
        return None
    if verify:
        return newest_whole(newest_first(state))
    if checkpoint_exists(state.model_checkpoint_path):
        return state.model_checkpoint_path
    tf_logging.error("Couldn't match files for checkpoint %s", state.model_checkpoint_path)
    return None


def newest_first(state: CheckpointState) -> list[str]:
    """Return all checkpoints that a state names, the latest first, then the others from the newest on."""
    others = [path for path in reversed(state.all_model_checkpoint_paths) if path != state.model_checkpoint_path]
    return [state.model_checkpoint_path, *others]


def checkpoint_exists(checkpoint_prefix: str) -> bool:
    """Whether there is a checkpoint of either format at a path, which may be the pattern of a V1 checkpoint's
    shards.

    Args:
        checkpoint_prefix: the path, without the suffix of a file.
    """
    check_arguments(checkpoint_exists, checkpoint_prefix=checkpoint_prefix)
    return _first_file(checkpoint_prefix) is not None


def get_checkpoint_mtimes(checkpoint_prefixes: Iterable[str]) -> list[float]:
    """Return when each checkpoint was written, in seconds since 1970, leaving out those that do not exist.

    Args:
        checkpoint_prefixes: the checkpoints' paths.
    """
    found = map(_first_file, checkpoint_prefixes)
    return [files.modified_s(path) for path in found if path is not None]


def remove_checkpoint(
    checkpoint_prefix: str,
    checkpoint_format_version: int = saver_pb2.SaverDef.V2,
    meta_graph_suffix: str = "meta",
) -> None:
    """Delete a checkpoint's files and its meta graph, as far as they exist.

    Args:
        checkpoint_prefix: the checkpoint's path.
        checkpoint_format_version: 1 or 2, the format of `tf.train.SaverDef`.
        meta_graph_suffix: the suffix of the meta graph's file.
    """
    files.remove_if_exists(meta_graph_filename(checkpoint_prefix, meta_graph_suffix))
    if checkpoint_format_version != saver_pb2.SaverDef.V2:
        _remove_matching(checkpoint_prefix)
        return
    exactly = files.escape(checkpoint_prefix)
    files.remove_if_exists(index_filename(checkpoint_prefix))
    # What crashed saves left beside the files has their names and a suffix.
    _remove_matching(f"{exactly}.data-?????-of-?????*")
    _remove_matching(f"{exactly}.index.tempstate*")


def meta_graph_filename(checkpoint_filename: str, meta_graph_suffix: str = "meta") -> str:
    """Return the path of the meta graph that is saved beside a checkpoint, one for all shards of a V1 checkpoint."""
    return f"{_SHARD_SUFFIX.sub('', checkpoint_filename)}.{meta_graph_suffix}"


def _state_filename(directory: str, latest_filename: str | None) -> str:
    return os.path.join(directory, latest_filename or _STATE_FILENAME)


def _first_file(prefix: str) -> str | None:
    """Return a file of the checkpoint whose age is the checkpoint's."""
    for path in (index_filename(prefix), prefix):
        if files.exists(path):
            return path
        found = files.matching(path)
        if found:
            return found[0]
    return None


def _remove_matching(pattern: str) -> None:
    for path in files.matching(pattern):
        files.remove_if_exists(path)


def _is_url(path: str) -> bool:
    return "://" in path


def _storable(path: str, save_dir: str) -> str:
    """Return a path as it is stored for a directory: unlike absolute ones, a path from the working directory
    changes."""
    return path if os.path.isabs(save_dir) or os.path.isabs(path) else _relative(path, save_dir)


def _relative_if_absolute(path: str, save_dir: str) -> str:
    return _relative(path, save_dir) if os.path.isabs(path) or _is_url(path) else path


def _relative(path: str, directory: str) -> str:
    if not (_is_url(path) or _is_url(directory)):
        return os.path.relpath(path, directory)
    start = directory.rstrip("/") + "/"
    return path.removeprefix(start)


def _resolved(path: str, directory: str) -> str:
    return path if os.path.isabs(path) or _is_url(path) else os.path.join(directory, path)
