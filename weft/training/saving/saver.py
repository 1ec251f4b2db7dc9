"""Saver: saves the variables of a session to checkpoints, keeps the last few of them, and restores them."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, SupportsInt

from tensorboard.compat.proto import meta_graph_pb2, saver_pb2

from weft import errors
from weft.checkpoint import checkpoint_state
from weft.checkpoint.leftovers import sweep
from weft.client.session import BaseSession
from weft.framework.building.aliases import SessionLike
from weft.framework.graphs.collection_proto import register_proto_function
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.importing.name_prefix import prepend_name_scope, strip_name_scope
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.serial.proto_reading import reading
from weft.framework.types.value_types import OrNone
from weft.ops.declaration import definition_of
from weft.ops.io.checkpoint_io import merge_v2_checkpoints
from weft.ops.variables.collections import _all_saveable_objects
from weft.ops.variables.variable import Variable
from weft.platform.files import gfile
from weft.platform.hints.argument_checks import check_arguments
from weft.platform.logs import tf_logging
from weft.training.saving import meta_graph, restore_errors
from weft.training.saving.kept_checkpoints import KeptCheckpoints
from weft.training.saving.save_arguments import as_path, check_graph, checked_number, checked_session, step_number
from weft.training.saving.saver_builder import BaseSaverBuilder, BulkSaverBuilder
from weft.training.saving.transfer import CheckpointTransfer


class Saver:
    """Saves variables to `PATH-STEP.index` and `.data` files, and restores them. Threads that save do so one after another.

    Making it adds nodes to the default graph; `save` and `restore` run them. The graph may go on running steps
    meanwhile: of each task all variables are written as they are at one moment. Checkpoints are files of this process; where
    the tasks do not see them, variables come and go through this process, unless `sharded` is asked for.

    Args:
        var_list: variables and savable objects, or a dict of them by the names to use in checkpoints; all global
            variables and savable objects when None.
        reshape: give each tensor that is restored the shape of its variable.
        sharded: let each device's task write its variables itself, to a file system that all of them see; where they do not,
            `save` raises NotFoundError.
        max_to_keep: how many checkpoints to keep; None or 0 keeps all.
        keep_checkpoint_every_n_hours: besides, keep one for ever each time so many hours have passed; None is 0, which
            keeps all of them.
        name: the name scope of the nodes; "save" when None.
        restore_sequentially: accepted; a restore reads one tensor after the other.
        saver_def: names the nodes of a Saver that the graph has already; none are added.
        builder: makes the nodes.
        defer_build: do not add the nodes before `build` is called.
        allow_empty: a Saver of no variables does nothing, rather than being an error.
        write_version: SaverDef.V2, or SaverDef.V1 for the format that TensorFlow wrote before 0.12.
        pad_step_number: give steps in file names 8 digits.
        save_relative_paths: let the `checkpoint` file name checkpoints relative to its directory.
        filename: the path when none is fed.

    Raises:
        TypeError, ValueError: `var_list` is of a wrong type or ambiguous, there is nothing to save, `max_to_keep` is negative,
            or the version is not V2.

    >>> import tempfile
    >>> v = tf.Variable(3.0, name="v")
    >>> sess.run(v.initializer)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = tf.train.Saver().save(sess, f"{folder}/model", global_step=7)
    ...     print(path.endswith("model-7"))
    True
    """

    # Whether nobody chose its arguments.
    _is_default = False

    def __init__(
        self,
        var_list: Mapping[str, Any] | Iterable[Any] | None = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float | None = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        saver_def: saver_pb2.SaverDef | None = None,
        builder: BaseSaverBuilder | None = None,
        defer_build: bool = False,
        allow_empty: bool = False,
        write_version: int = saver_pb2.SaverDef.V2,
        pad_step_number: bool = False,
        save_relative_paths: bool = False,
        filename: str | None = None,
    ) -> None:
        if defer_build and var_list:
            raise ValueError(
                "If `var_list` is provided then build cannot be deferred. Either set defer_build=False or var_list=None."
            )
        hours = keep_checkpoint_every_n_hours or 0.0
        check_arguments(Saver.__init__, keep_checkpoint_every_n_hours=hours, name=name, saver_def=saver_def, builder=builder)
        self._max_to_keep = checked_number(max_to_keep)
        self._var_list = var_list
        self._reshape = reshape
        self._sharded = sharded
        self._keep_checkpoint_every_n_hours = hours
        self._name = name
        self._restore_sequentially = restore_sequentially
        self.saver_def: Any = saver_def
        self._builder = builder
        self._is_built = False
        self._allow_empty = allow_empty
        self._is_empty = False
        self._write_version = write_version
        self._pad_step_number = pad_step_number
        self._filename = filename
        self._save_relative_paths = save_relative_paths
        self._kept = KeptCheckpoints()
        # A save of an earlier step that ended after one of a later step would make its checkpoint the latest. Reentrant: a
        # program's signal handler may save.
        self._saving = threading.RLock()
        self._transfer = CheckpointTransfer(asks_for_shards=sharded and not self._is_default)
        if not defer_build:
            self.build()
        if self.saver_def:
            _check_saver_def(self.saver_def)
            self._write_version = self.saver_def.version

    def __repr__(self) -> str:
        return f"<tf.train.Saver max_to_keep={self._max_to_keep}, saved: {self.last_checkpoints}>"

    def build(self) -> None:
        """Add the nodes; once is enough."""
        if self._is_built:
            return
        self._is_built = True
        if not self.saver_def:
            self._add_nodes()
            if self._is_empty:
                return
        elif self._name:
            moved = saver_pb2.SaverDef()
            moved.CopyFrom(self.saver_def)
            for field in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
                setattr(moved, field, prepend_name_scope(getattr(moved, field), self._name))
            self.saver_def = moved
        _check_saver_def(self.saver_def)
        self._kept.set_period(self.saver_def.keep_checkpoint_every_n_hours)

    def _add_nodes(self) -> None:
        builder = self._builder = self._builder or BulkSaverBuilder(self._write_version)
        if self._var_list is None:
            self._var_list = _all_saveable_objects()
        if not self._var_list:
            if not self._allow_empty:
                raise ValueError("No variables to save. Make the Saver after the model's variables, in the same graph.")
            self._is_empty = True
            return
        self.saver_def = builder.build(
            self._var_list,
            reshape=self._reshape,
            sharded=self._sharded,
            max_to_keep=self._max_to_keep,
            keep_checkpoint_every_n_hours=self._keep_checkpoint_every_n_hours,
            name=self._name,
            restore_sequentially=self._restore_sequentially,
            filename=self._filename,
        )

    # Its serial form.

    def as_saver_def(self) -> saver_pb2.SaverDef:
        """The SaverDef."""
        return self.saver_def

    def to_proto(self, export_scope: str | None = None) -> saver_pb2.SaverDef | None:
        """The SaverDef; None when its nodes are outside `export_scope`.

        Args:
            export_scope: the name scope that is exported; it is left out of the names.
        """
        if export_scope is None:
            return self.saver_def
        names = self.saver_def.filename_tensor_name, self.saver_def.save_tensor_name, self.saver_def.restore_op_name
        if not all(name.startswith(export_scope) for name in names):
            return None
        proto = saver_pb2.SaverDef()
        proto.CopyFrom(self.saver_def)
        proto.filename_tensor_name, proto.save_tensor_name, proto.restore_op_name = (
            strip_name_scope(name, export_scope) for name in names
        )
        return proto

    @staticmethod
    def from_proto(saver_def: saver_pb2.SaverDef | None, import_scope: str | None = None) -> Saver:
        """The Saver that a SaverDef describes, whose nodes are in the default graph.

        Args:
            saver_def: the message that `to_proto` gave.
            import_scope: the name scope under which its nodes were imported.
        """
        return Saver(saver_def=saver_def, name=import_scope)

    # The checkpoints that are kept.

    @property
    def last_checkpoints(self) -> list[str]:
        """The checkpoints that this Saver wrote and has not deleted, oldest first."""
        return self._kept.paths

    def set_last_checkpoints(self, last_checkpoints: list[str]) -> None:
        """Take over checkpoints, oldest first, that will be deleted as this Saver's own.

        Args:
            last_checkpoints: their prefixes, as `save` returned them.
        """
        assert isinstance(last_checkpoints, list)
        self._kept.replace([(path, math.inf) for path in last_checkpoints])

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time: list[tuple[str, float]]) -> None:
        """Take over checkpoints with the times, in seconds since 1970, at which they were written.

        Args:
            last_checkpoints_with_time: pairs of prefix and time, the oldest first.
        """
        assert isinstance(last_checkpoints_with_time, list)
        self._kept.replace(last_checkpoints_with_time)

    def recover_last_checkpoints(self, checkpoint_paths: list[str]) -> None:
        """Take over those of the checkpoints that exist, as after a crash.

        Args:
            checkpoint_paths: their prefixes, the oldest first.
        """
        found = [(path, checkpoint_state.get_checkpoint_mtimes([path])) for path in checkpoint_paths]
        self.set_last_checkpoints_with_time([(path, times[0]) for path, times in found if times])

    # Saving and restoring.

    def save(
        self,
        sess: SessionLike,
        save_path: str,
        global_step: SupportsInt | Variable | Tensor | None = None,
        latest_filename: str | None = None,
        meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True,
        write_state: bool = True,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> str | OrNone:
        """Save the variables as they are in a session; blocks until the checkpoint is complete.

        Args:
            sess: the session, of the graph in which this Saver was made.
            save_path: the checkpoint's path without suffix.
            global_step: appended to the path as `-STEP`: a number, or a tensor or its name.
            latest_filename: the name of the state file beside the checkpoint; "checkpoint" when None.
            meta_graph_suffix: the suffix of the MetaGraphDef that is written beside it.
            write_meta_graph: whether to write one.
            write_state: whether to write the state file, and delete checkpoints that are too many.
            strip_default_attrs: leave attributes that have their defaults out of the MetaGraphDef.
            save_debug_info: accepted; there is no debug information to save.

        Returns:
            The path, with the step; None when this Saver is empty.

        Raises:
            TypeError: `sess` is no Session, or one of another graph.
            ValueError: `latest_filename` has a directory or is the checkpoint's, or the directory to write to is in
                none that exists.
            RuntimeError: `build` was deferred and not called.
            OpError: a variable has no value, or a task could not write.
        """
        if not self._is_built:
            raise RuntimeError("`build()` should be called before save if defer_build==True")
        latest_filename = "checkpoint" if latest_filename is None else latest_filename
        if os.path.split(latest_filename)[0]:
            raise ValueError(
                f"'latest_filename' must not contain path components; got {latest_filename!r}, which stands beside save_path"
            )
        save_path = as_path(save_path, "save")
        sess = checked_session(sess)
        if not self._is_empty:
            check_graph(sess, self.saver_def)
        with self._saving:
            checkpoint_file = self._checkpoint_file(sess, save_path, global_step, latest_filename)
            written = self._save_to(checkpoint_file, sess, save_path, latest_filename, meta_graph_suffix, write_state)
            if write_meta_graph:
                path = checkpoint_state.meta_graph_filename(checkpoint_file, meta_graph_suffix)
                with sess.graph.as_default():
                    self.export_meta_graph(path, strip_default_attrs=strip_default_attrs, save_debug_info=save_debug_info)
        return written

    def _save_to(
        self, path: str, sess: BaseSession, save_path: str, latest_filename: str, meta_graph_suffix: str, write_state: bool
    ) -> str | None:
        """Write the checkpoint, and note that it is the latest; returns its path, None when this Saver is empty."""
        # Before, as they may have filled the disk.
        sweep(os.path.dirname(save_path))
        if self._is_empty:
            return None
        try:
            path = self._transfer.save(sess, self.saver_def, path)
            if write_state:
                self._write_state(path, os.path.dirname(save_path), latest_filename)
                self._kept.delete_oldest(self.saver_def.version, meta_graph_suffix)
        except (errors.FailedPreconditionError, errors.NotFoundError) as error:
            # A merge says better itself that the tasks see different files.
            is_merge = error.op is not None and error.op.op_def is definition_of(merge_v2_checkpoints)
            if not is_merge and not gfile.IsDirectory(os.path.dirname(save_path) or "."):
                raise ValueError(
                    f"Parent directory of {save_path} doesn't exist, can't save. tf.gfile.MakeDirs makes it."
                ) from None
            raise
        return path

    def _checkpoint_file(self, sess: SessionLike, save_path: str, global_step: Any, latest_filename: str) -> str:
        if global_step is None:
            if os.path.basename(save_path) == latest_filename and not self._sharded:
                raise ValueError(f"'latest_filename' collides with 'save_path': '{latest_filename}' and '{save_path}'")
            return save_path
        global_step = step_number(sess, global_step)
        return f"{save_path}-{global_step:08d}" if self._pad_step_number else f"{save_path}-{global_step}"

    def _write_state(self, path: str, directory: str, latest_filename: str) -> None:
        self._kept.note(path, self.saver_def.max_to_keep)
        checkpoint_state.update_checkpoint_state(
            directory,
            path,
            all_model_checkpoint_paths=self.last_checkpoints,
            latest_filename=latest_filename,
            save_relative_paths=self._save_relative_paths,
        )

    def restore(self, sess: SessionLike, save_path: str) -> None:
        """Give the variables in a session the values of a checkpoint; they need not be initialized.

        Args:
            sess: the session, of the graph in which this Saver was made.
            save_path: the checkpoint's path without suffix.

        Raises:
            ValueError: there is no checkpoint at that path, whose folder exists.
            TypeError, RuntimeError: the session is of another graph.
            NotFoundError: the checkpoint lacks a variable, or there is no folder at its path.
            InvalidArgumentError: a variable's type or shape is another one than the checkpoint's.
        """
        if self._is_empty:
            return
        if save_path is None:
            raise ValueError(
                "Can't load save_path when it is None. tf.train.latest_checkpoint(folder) gives None for a folder without a "
                "checkpoint: initialize the variables in that case."
            )
        prefix = as_path(save_path, "restore")
        check_graph(sess, self.saver_def)
        if not checkpoint_state.checkpoint_exists(prefix):
            raise restore_errors.no_checkpoint(prefix)
        tf_logging.info("Restoring parameters from %s", prefix)
        try:
            self._transfer.restore_by_name(sess, self.saver_def, prefix)
        except errors.NotFoundError as error:
            raise restore_errors.of_missing_key(error) from error
        except errors.InvalidArgumentError as error:
            raise restore_errors.of_mismatch(error) from error

    def restore_some(self, sess: SessionLike, save_path: str, nodes: Sequence[Operation]) -> None:
        """Run some of the assignments that `restore` runs, in one step where the tasks see the checkpoint's files.

        Args:
            sess: the session, of the graph in which this Saver was made.
            save_path: the checkpoint's path without suffix.
            nodes: operations that the restore operation waits for.

        Raises:
            OpError: as `restore` raises, without its advice.
        """
        self._transfer.restore(sess, self.saver_def, save_path, nodes)

    def export_meta_graph(
        self,
        filename: str | None = None,
        collection_list: list[str] | None = None,
        as_text: bool = False,
        export_scope: str | None = None,
        clear_devices: bool = False,
        clear_extraneous_savers: bool = False,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> meta_graph_pb2.MetaGraphDef:
        """The MetaGraphDef of the default graph with this Saver, written to a file if one is named.

        The arguments are those of `weft.training.saving.meta_graph.export_meta_graph`.

        Args:
            filename: the file; None writes none.
            collection_list: the collections that go into it; all when None.
            as_text: whether the file is text.
            export_scope: the name scope that is exported alone.
            clear_devices: whether nodes go without their devices.
            clear_extraneous_savers: whether the nodes of other Savers stay out.
            strip_default_attrs: whether attributes that have their defaults stay out, so that older programs can read it.
            save_debug_info: whether the lines that made the nodes are written beside it.
        """
        return meta_graph.export_meta_graph(
            filename=filename,
            graph_def=get_default_graph().as_graph_def(add_shapes=True),
            saver_def=self.saver_def,
            collection_list=collection_list,
            as_text=as_text,
            export_scope=export_scope,
            clear_devices=clear_devices,
            clear_extraneous_savers=clear_extraneous_savers,
            strip_default_attrs=strip_default_attrs,
            save_debug_info=save_debug_info,
        )


def _check_saver_def(saver_def: saver_pb2.SaverDef | None) -> None:
    if not isinstance(saver_def, saver_pb2.SaverDef):
        raise ValueError(f"saver_def must be a saver_pb2.SaverDef: {saver_def}")
    if not saver_def.save_tensor_name:
        raise ValueError(f"saver_def must specify the save_tensor_name: {saver_def}")
    if not saver_def.restore_op_name:
        raise ValueError(f"saver_def must specify the restore_op_name: {saver_def}")


class DefaultSaver(Saver):
    """The Saver of training sessions whose program made none: it has shards, as TensorFlow's, but nobody asked for them."""

    _is_default = True


def get_saver_or_default() -> Saver:
    """The Saver in the collection SAVERS; one is made and put there when there is none.

    Raises:
        RuntimeError: there are several.
    """
    savers = get_default_graph().get_collection(GraphKeys.SAVERS)
    if len(savers) > 1:
        raise RuntimeError(
            f"More than one item in collection {GraphKeys.SAVERS}. Please indicate which one to use by passing it to "
            "the constructor."
        )
    if savers:
        return savers[0]  # type: ignore[no-any-return]
    saver = DefaultSaver(sharded=True, allow_empty=True)
    get_default_graph().add_to_collection(GraphKeys.SAVERS, saver)
    return saver


def import_meta_graph(
    meta_graph_or_file: object, clear_devices: bool = False, import_scope: str | None = None, **kwargs: Any
) -> Saver | None:
    """Add the nodes of a MetaGraphDef to the default graph and its collections to the graph's.

    Args:
        meta_graph_or_file: the MetaGraphDef, or the path of a file with one, binary or text.
        clear_devices: forget where nodes were placed.
        import_scope: the name scope to put all into.
        kwargs: `input_map` and `return_elements` (which must be there), as `import_graph_def` takes them;
            `restore_collections_predicate`, which is asked for each collection's name whether to take it over.

    Returns:
        A Saver: that of the MetaGraphDef, or one of all variables; None when there is nothing to save.

    Raises:
        NotFoundError: a node's op is not known.
        OSError: there is no such file.
        ValueError: an input or an element is not there.
    """
    proto = meta_graph.as_meta_graph_def(meta_graph_or_file)
    with reading(None if proto is meta_graph_or_file else meta_graph_or_file):
        variables, _ = meta_graph.import_scoped_meta_graph_with_return_elements(
            proto, clear_devices=clear_devices, import_scope=import_scope, **kwargs
        )
    if proto.HasField("saver_def"):
        scope = import_scope
        if variables:
            # The scope may have got a suffix: the variables' names tell.
            key, variable = next(iter(variables.items()))
            scope = variable.name[: -len(key)]
        return Saver(saver_def=proto.saver_def, name=scope)
    if _all_saveable_objects(scope=import_scope):
        return Saver()
    tf_logging.info("Saver not created because there are no variables in the graph to restore")
    return None


register_proto_function(GraphKeys.SAVERS, saver_pb2.SaverDef, to_proto=Saver.to_proto, from_proto=Saver.from_proto)
