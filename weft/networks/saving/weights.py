"""The weights of a model in files: HDF5, or a checkpoint of objects in TensorFlow's format."""

from __future__ import annotations

import os

from weft.checkpoint import checkpoint_state
from weft.networks.config import KerasObject
from weft.networks.saving.hdf5_store import is_hdf5_file, is_hdf5_path
from weft.networks.saving.hdf5_weights import read_layers, read_layers_by_name, write_layers
from weft.networks.saving.model_files import may_write, opened
from weft.training.tracking.load_status import CheckpointLoadStatus, LoadStatus, status_of
from weft.training.tracking.object_graph import ObjectGraph
from weft.training.tracking.object_saver import ObjectSaver
from weft.training.tracking.session_choice import chosen_session


def save_weights(model: KerasObject, filepath: str | os.PathLike[str], overwrite: bool, save_format: str | None) -> None:
    """Write a model's weights; see `Model.save_weights`."""
    path = os.fspath(filepath)
    if _is_hdf5(path, save_format):
        if may_write(path, overwrite):
            with opened(path, "w", "save_weights") as file:
                write_layers(file, model.layers)
        return
    if not may_write(f"{path}.index", overwrite):
        return
    session = chosen_session(None)
    ObjectSaver().save(session, ObjectGraph(model), path)
    checkpoint_state.update_checkpoint_state(
        os.path.dirname(path), path, all_model_checkpoint_paths=[path], save_relative_paths=True
    )


def _is_hdf5(path: str, save_format: str | None) -> bool:
    if save_format is None:
        return is_hdf5_path(path)
    given = save_format.lower().strip()
    if given in ("hdf5", "h5", "keras"):
        return True
    if given not in ("tensorflow", "tf"):
        raise ValueError(f'Unknown format "{save_format}". Was expecting one of {{"tf", "h5"}}.')
    if is_hdf5_path(path):
        raise ValueError(
            f'save_weights got save_format="tf"/"tensorflow", but the filepath ("{path}") looks like an HDF5 file. Omit the '
            '".h5"/".keras" when saving in TensorFlow format.'
        )
    return False


def load_weights(model: KerasObject, filepath: str | os.PathLike[str], by_name: bool) -> LoadStatus | None:
    """Give a model the weights of a file; see `Model.load_weights`."""
    path = os.fspath(filepath)
    if is_hdf5_path(path) or is_hdf5_file(path):
        if not model.built:
            raise ValueError(
                "Unable to load weights saved in HDF5 format into a subclassed Model which has not created its variables yet. "
                "Call the Model first, then load the weights."
            )
        with opened(path, "r", "load_weights") as file:
            group = file if "layer_names" in file.attrs or "model_weights" not in file else file["model_weights"]
            (read_layers_by_name if by_name else read_layers)(group, model.layers)
        return None
    if by_name:
        raise NotImplementedError(
            "Weights may only be loaded based on topology into Models when loading TensorFlow-formatted weights (got "
            "by_name=True to load_weights)."
        )
    status = status_of(model, path, ObjectSaver())
    if model.built:
        restore(status)
    else:
        model.restored_when_built = status
    return status


def restore(status: LoadStatus) -> None:
    """Give the variables that there are by now their values; AssertionError when a checkpoint has nothing for a model."""
    session = chosen_session(None)
    if isinstance(status, CheckpointLoadStatus):
        status.assert_nontrivial_match()
    status.run_restore_ops(session)
