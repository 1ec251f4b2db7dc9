"""Loading a SavedModel: one of its graphs, by tags, into the default graph, and its variables into a session."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from tensorboard.compat.proto.meta_graph_pb2 import AssetFileDef, MetaGraphDef

from weft.client.session import BaseSession
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation
from weft.framework.serial.proto_reading import fill_from_binary, fill_from_text, parse, reading
from weft.platform.files import gfile
from weft.platform.files.missing_file import what_is_there
from weft.platform.logs import tf_logging
from weft.proto.saved_model_pb2 import SavedModel
from weft.training.saved_model import layout
from weft.training.saved_model.signatures import load_op_from_signature_def
from weft.training.saving.saver import import_meta_graph


def maybe_saved_model_directory(export_dir: str) -> bool:
    """Whether a folder has the file of a SavedModel.

    Args:
        export_dir: the folder; on any file system that tf.gfile knows.
    """
    return any(gfile.Exists(os.path.join(export_dir, name)) for name in (layout.FILENAME_PB, layout.FILENAME_PBTXT))


def parse_saved_model(export_dir: str) -> SavedModel:
    """Read the file of a SavedModel.

    Raises:
        OSError: there is none; TensorFlow's class for it.
        DataLossError: it cannot be parsed; tells the place. It is an OSError as well.
    """
    binary, text = (os.path.join(export_dir, name) for name in (layout.FILENAME_PB, layout.FILENAME_PBTXT))
    model = SavedModel()
    if gfile.Exists(binary):
        with gfile.GFile(binary, "rb") as file:
            fill_from_binary(model, file.read(), binary)
        return model
    if gfile.Exists(text):
        with gfile.GFile(text, "rb") as file:
            fill_from_text(model, file.read(), text)
        return model
    raise OSError(
        f"SavedModel file does not exist at: {export_dir}{os.path.sep}{{{layout.FILENAME_PBTXT}|{layout.FILENAME_PB}}}"
        f"{_of_versions(export_dir) or what_is_there(binary)}"
    )


def _of_versions(export_dir: str) -> str:
    """The newest SavedModel in a folder of several, such as exports make by the time, and programs name as one."""
    names = gfile.ListDirectory(export_dir) if gfile.IsDirectory(export_dir) else []
    found = [
        name for name in (each.rstrip("/") for each in names) if maybe_saved_model_directory(os.path.join(export_dir, name))
    ]
    if not found:
        return ""
    newest = max(found, key=lambda name: (len(name), name) if name.isdecimal() else (0, name))
    return f" It holds {len(found)} of them, each in a folder of its own: {os.path.join(export_dir, newest)!r} is the last."


def load(
    sess: BaseSession, tags: Iterable[str], export_dir: str, import_scope: str | None = None, **saver_kwargs: Any
) -> MetaGraphDef:
    """Load the graph with these tags into the default graph, restore its variables and make it ready.

    Args:
        sess: the session, of the default graph.
        tags: exactly the tags of the graph.
        export_dir: the SavedModel's folder.
        import_scope: the name scope to put all into.
        saver_kwargs: as `import_meta_graph` takes them.

    Returns:
        The graph as it was saved, with its signatures.

    Raises:
        OSError: there is no SavedModel, or its file is damaged.
        RuntimeError: no graph has these tags.
        TypeError: `export_dir` is no path.
        ValueError: the checkpoint of its variables is not there.
    """
    if not isinstance(export_dir, str | bytes | os.PathLike):
        raise TypeError(
            f"Expected binary or unicode string, got {export_dir!r}: export_dir is the SavedModel's folder, and the tags, here "
            f"{tags!r}, come before it: load(sess, ['serve'], folder)."
        )
    export_dir = os.fspath(export_dir)
    model = parse_saved_model(export_dir)
    meta_graph = graph_with_tags(model, _wanted(tags, model), export_dir)
    with sess.graph.as_default():
        with reading(export_dir):
            saver = import_meta_graph(meta_graph, import_scope=import_scope, **saver_kwargs)
        if saver is None:
            tf_logging.info("The specified SavedModel has no variables; no checkpoints were restored.")
        else:
            saver.restore(sess, os.path.join(export_dir, layout.VARIABLES_DIRECTORY, layout.VARIABLES_FILENAME))
        init_op = _init_op_of(meta_graph, import_scope)
        if init_op is not None:
            sess.run(init_op, feed_dict=_asset_paths(meta_graph, export_dir, import_scope))
    return meta_graph


def _wanted(tags: Iterable[str], model: SavedModel) -> set[str]:
    """The tags to look for; of a text the letters, where the model was written with a text by TensorFlow, else the whole."""
    letters = set(tags)
    is_there = any(set(each.meta_info_def.tags) == letters for each in model.meta_graphs)
    return {tags} if isinstance(tags, str) and not is_there else letters


def graph_with_tags(model: SavedModel, wanted: set[str], export_dir: str) -> MetaGraphDef:
    """The graph of a model, which was read from a folder, that has exactly these tags.

    Raises:
        RuntimeError: there is none.
    """
    for meta_graph in model.meta_graphs:
        if set(meta_graph.meta_info_def.tags) == wanted:
            found: MetaGraphDef = meta_graph
            return found
    available = ", ".join(str(sorted(each.meta_info_def.tags)) for each in model.meta_graphs)
    raise RuntimeError(
        f"MetaGraphDef associated with tags {sorted(wanted)} could not be found in SavedModel. It has graphs with the tags "
        f"{available or 'of none'}: {export_dir}"
    )


def _asset_paths(meta_graph: MetaGraphDef, export_dir: str, import_scope: str | None) -> dict[str, str]:
    """What the tensors that name the model's files are to be fed."""
    prefix = f"{import_scope}/" if import_scope else ""
    folder = os.path.join(export_dir, layout.ASSETS_DIRECTORY)
    return {f"{prefix}{each.tensor_info.name}": os.path.join(folder, each.filename) for each in _assets_of(meta_graph)}


def _assets_of(meta_graph: MetaGraphDef) -> list[AssetFileDef]:
    """The model's files; writers in the manner of TensorFlow 1 note them in a collection alone."""
    if meta_graph.asset_file_def or layout.ASSETS_KEY not in meta_graph.collection_def:
        return list(meta_graph.asset_file_def)
    return [
        parse(AssetFileDef, each.value, f"item {number} of collection {layout.ASSETS_KEY!r}")
        for number, each in enumerate(meta_graph.collection_def[layout.ASSETS_KEY].any_list.value)
    ]


def _init_op_of(meta_graph: MetaGraphDef, import_scope: str | None) -> Operation | None:
    """The operation that makes the model ready, wherever the version that wrote it notes that."""
    key = layout.INIT_OP_SIGNATURE_KEY
    if key in meta_graph.signature_def:
        found = load_op_from_signature_def(meta_graph.signature_def[key], key, import_scope)
        return found if isinstance(found, Operation) else found.op
    for collection in (layout.MAIN_OP_KEY, layout.LEGACY_INIT_OP_KEY):
        if collection in meta_graph.collection_def:
            names = meta_graph.collection_def[collection].node_list.value
            if len(names) != 1:
                raise RuntimeError(f"Expected exactly one main op in the collection {collection!r}, found {list(names)}")
            prefix = f"{import_scope}/" if import_scope else ""
            return get_default_graph().get_operation_by_name(f"{prefix}{names[0]}")
    return None
