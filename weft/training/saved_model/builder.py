"""SavedModelBuilder: writes a model as a SavedModel, graph by graph, with the variables' values of one session."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from google.protobuf import any_pb2, text_format
from tensorboard.compat.proto.meta_graph_pb2 import AssetFileDef, MetaGraphDef, SignatureDef

from weft.client.session import BaseSession
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.printed import printed
from weft.ops.variables.collections import _all_saveable_objects
from weft.platform.files import gfile
from weft.platform.logs import tf_logging
from weft.platform.text import as_text
from weft.proto.saved_model_pb2 import SavedModel
from weft.training.saved_model import layout
from weft.training.saved_model.signatures import build_tensor_info, check_signatures, op_signature_def, predict_signature_def
from weft.training.saving.saver import Saver

_NOT_YET: Final = (
    "Graph state including variables and assets has not been saved yet. Please invoke `add_meta_graph_and_variables()` first."
)


class SavedModelBuilder:
    """Writes a SavedModel into a new folder.

        builder = tf.saved_model.builder.SavedModelBuilder(export_dir)
        builder.add_meta_graph_and_variables(sess, [tf.saved_model.tag_constants.SERVING], signature_def_map={...})
        builder.save()

    The first graph brings the variables' values; further ones, with other tags, use the same.

    Args:
        export_dir: the folder, which is made; on any file system that tf.gfile knows.

    Raises:
        AssertionError: the folder exists and has something in it.
    """

    __repr__ = printed("tf.saved_model")

    def __init__(self, export_dir: str) -> None:
        self._export_dir = os.fspath(export_dir)
        self._saved_model = SavedModel(saved_model_schema_version=layout.SCHEMA_VERSION)
        self._has_variables = False
        if gfile.Exists(self._export_dir) and gfile.ListDirectory(self._export_dir):
            raise AssertionError(
                f"Export directory {self._export_dir} already exists, and isn't empty. Please choose a different export "
                "directory, or delete all the contents of the specified directory"
            )
        gfile.MakeDirs(self._export_dir)

    def add_meta_graph_and_variables(
        self,
        sess: BaseSession,
        tags: Iterable[str],
        signature_def_map: Mapping[str, SignatureDef] | None = None,
        assets_collection: Sequence[Tensor] | None = None,
        legacy_init_op: Operation | None = None,
        clear_devices: bool = False,
        main_op: Operation | None = None,
        strip_default_attrs: bool = False,
        saver: Saver | None = None,
    ) -> None:
        """Take the default graph, and the values that its variables have in a session.

        Args:
            sess: the session.
            tags: by which the graph is found again; a text is one tag.
            signature_def_map: the ways to ask the model.
            assets_collection: constant string tensors that hold the paths of files which the model needs.
            legacy_init_op, main_op: an operation that a loaded model runs once to be ready; one of them.
            clear_devices: forget where nodes were placed.
            strip_default_attrs: leave out attributes that have their defaults.
            saver: saves the variables; one for all of them if None.

        Raises:
            AssertionError: variables have been taken before, or a signature is incomplete.
        """
        if self._has_variables:
            raise AssertionError(
                "Graph state including variables and assets has already been saved. Please invoke `add_meta_graph()` instead."
            )
        check_signatures(signature_def_map)
        _note_init_op(legacy_init_op, main_op)
        self._save_assets(assets_collection)
        path = os.path.join(self._export_dir, layout.VARIABLES_DIRECTORY, layout.VARIABLES_FILENAME)
        gfile.MakeDirs(os.path.dirname(path))
        own = saver or _saver_of_all()
        own.save(sess, path, write_meta_graph=False, write_state=False)
        self._add(own, tags, signature_def_map, legacy_init_op or main_op, clear_devices, strip_default_attrs)
        self._has_variables = True

    def note_variables(self) -> None:
        """Take note that another writes the variables' values, to where `add_meta_graph_and_variables` does."""
        self._has_variables = True

    def add_meta_graph(
        self,
        tags: Iterable[str],
        signature_def_map: Mapping[str, SignatureDef] | None = None,
        assets_collection: Sequence[Tensor] | None = None,
        legacy_init_op: Operation | None = None,
        clear_devices: bool = False,
        main_op: Operation | None = None,
        strip_default_attrs: bool = False,
        saver: Saver | None = None,
    ) -> None:
        """Take the default graph as a further one of the model, with the variables' values taken before.

        The arguments are those of `add_meta_graph_and_variables`.

        Args:
            tags: the graph's tags.
            signature_def_map: signatures by name.
            assets_collection: tensors with the names of files that belong to the model.
            legacy_init_op, main_op: the operation that runs when the model is loaded; `legacy_init_op` is the older name.
            clear_devices: whether nodes lose their devices.
            strip_default_attrs: whether attributes that have their defaults are left out.
            saver: the Saver that restores it.

        Raises:
            AssertionError: no variables have been taken, or a signature is incomplete.
        """
        if not self._has_variables:
            raise AssertionError(_NOT_YET)
        check_signatures(signature_def_map)
        _note_init_op(legacy_init_op, main_op)
        self._save_assets(assets_collection)
        init_op = legacy_init_op or main_op
        self._add(saver or _saver_of_all(), tags, signature_def_map, init_op, clear_devices, strip_default_attrs)

    def save(self, as_text: bool = False) -> bytes:
        """Write the graphs; returns the path of the file, bytes.

        Args:
            as_text: whether `saved_model.pbtxt` is written, and not `saved_model.pb`.

        Raises:
            AssertionError: no graph has been added, so that nothing could be loaded from the file.
        """
        if not self._saved_model.meta_graphs:
            raise AssertionError(f"{_NOT_YET} {self._export_dir} would have no graph.")
        name = layout.FILENAME_PBTXT if as_text else layout.FILENAME_PB
        path = os.path.join(self._export_dir, name)
        model = self._saved_model
        with gfile.GFile(path, "wb") as file:
            file.write(text_format.MessageToString(model).encode() if as_text else model.SerializeToString())
        tf_logging.info("SavedModel written to: %s", path)
        return path.encode()

    def _add(
        self,
        saver: Saver,
        tags: Iterable[str],
        signatures: Mapping[str, SignatureDef] | None,
        init_op: Operation | None,
        clear_devices: bool,
        strip_default_attrs: bool,
    ) -> None:
        meta_graph: MetaGraphDef = saver.export_meta_graph(clear_devices=clear_devices, strip_default_attrs=strip_default_attrs)
        # Letter by letter a text would be tags that no reader asks for.
        meta_graph.meta_info_def.tags.extend([tags] if isinstance(tags, str) else tags)
        for key, signature in (signatures or {}).items():
            meta_graph.signature_def[key].CopyFrom(signature)
        if init_op is not None:
            key = layout.INIT_OP_SIGNATURE_KEY
            meta_graph.signature_def[key].CopyFrom(op_signature_def(init_op, key))
        graph: Graph = get_default_graph()
        for train_op in graph.get_collection(layout.TRAIN_OP_KEY):
            key = layout.TRAIN_OP_SIGNATURE_KEY
            meta_graph.signature_def[key].CopyFrom(op_signature_def(train_op, key))
        for packed in graph.get_collection(layout.ASSETS_KEY):
            meta_graph.asset_file_def.add().ParseFromString(packed.value)
        self._saved_model.meta_graphs.add().CopyFrom(meta_graph)

    def _save_assets(self, assets: Sequence[Tensor] | None) -> None:
        """Copy the files into the model's folder, and note which tensor names which."""
        graph = get_default_graph()
        folder = os.path.join(self._export_dir, layout.ASSETS_DIRECTORY)
        paths: dict[str, str] = {}
        for tensor in assets or ():
            source = _path_in(tensor)
            name = _unused(os.path.basename(source), source, paths)
            if name not in paths:
                paths[name] = source
                gfile.MakeDirs(folder)
                gfile.Copy(source, os.path.join(folder, name), overwrite=True)
            asset = AssetFileDef(filename=name, tensor_info=build_tensor_info(tensor))
            packed = any_pb2.Any(type_url=layout.ASSET_TYPE_URL, value=asset.SerializeToString())
            graph.add_to_collection(layout.ASSETS_KEY, packed)


def _path_in(tensor: Tensor) -> str:
    value = constant_value(tensor)
    if value is None or not value.size:
        raise ValueError(f"Invalid asset filepath tensor {tensor.name!r}: it must be a constant string with the path of a file")
    return as_text(value.item())


def _unused(name: str, source: str, taken: Mapping[str, str]) -> str:
    """A name for a file in the model, that of the file itself unless another file has it."""
    candidate, number = name, 0
    while taken.get(candidate, source) != source:
        number += 1
        candidate = f"{name}_{number}"
    return candidate


def _note_init_op(legacy_init_op: Operation | None, main_op: Operation | None) -> None:
    if legacy_init_op is not None and main_op is not None:
        raise ValueError("Give one of legacy_init_op and main_op, not both: either makes the loaded model ready")
    graph: Graph = get_default_graph()
    for key, op in ((layout.LEGACY_INIT_OP_KEY, legacy_init_op), (layout.MAIN_OP_KEY, main_op)):
        if op is None:
            continue
        if not isinstance(op, Operation):
            raise TypeError(f"The operation that makes the model ready needs to be an Operation: {op!r}")
        if graph.get_collection(key):
            raise ValueError(f"Graph already contains one or more main ops under the collection {key}.")
        graph.add_to_collection(key, op)


def _saver_of_all() -> Saver:
    return Saver(_all_saveable_objects(), sharded=True, allow_empty=True)


def simple_save(
    session: BaseSession,
    export_dir: str,
    inputs: Mapping[str, Tensor],
    outputs: Mapping[str, Tensor],
    legacy_init_op: Operation | None = None,
) -> None:
    """Write the default graph, with the variables of a session, as a SavedModel to be served.

    Args:
        session: the session.
        export_dir: a folder that does not exist yet.
        inputs, outputs: the tensors of its one signature, a prediction, by name.
        legacy_init_op: an operation that the loaded model runs once to be ready.
    """
    signature = predict_signature_def(inputs, outputs)
    builder = SavedModelBuilder(export_dir)
    builder.add_meta_graph_and_variables(
        session,
        tags=[layout.SERVING],
        signature_def_map={layout.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signature},
        assets_collection=get_default_graph().get_collection(GraphKeys.ASSET_FILEPATHS),
        main_op=legacy_init_op,
        clear_devices=True,
    )
    builder.save()
