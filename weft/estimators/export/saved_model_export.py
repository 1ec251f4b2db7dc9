"""Writing an estimator as a SavedModel: one graph for each mode, with the variables of a checkpoint."""

from __future__ import annotations

import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from tensorboard.compat.proto.meta_graph_pb2 import SignatureDef

from weft import errors
from weft.checkpoint.checkpoint_state import latest_checkpoint
from weft.client.session import Session
from weft.estimators.aliases import Features, Labels
from weft.estimators.estimator_spec import EstimatorSpec
from weft.estimators.export.default_outputs import EXPORT_TAGS, export_outputs_for_mode
from weft.estimators.export.export_output import ExportOutput
from weft.estimators.mode_keys import ModeKeys
from weft.estimators.run_config import RunConfig
from weft.framework.compat.function_signatures import get_func_name
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Tensor
from weft.ops.random.seed import set_random_seed
from weft.platform.files import gfile
from weft.platform.logs import tf_logging
from weft.training.saved_model import layout
from weft.training.saved_model.builder import SavedModelBuilder
from weft.training.saved_model.signatures import is_valid_signature
from weft.training.saving.saver import Saver
from weft.training.scaffold import Scaffold
from weft.training.training_util import create_global_step

# Builds the input of an exported model.
ReceiverFn: TypeAlias = Callable[[], Any]
_BoundModelFn: TypeAlias = Callable[[Features, Labels, str, RunConfig], EstimatorSpec]

_ATTEMPTS: Final = 10
_METHODS: Final = {
    layout.CLASSIFY_METHOD_NAME: "Classify",
    layout.REGRESS_METHOD_NAME: "Regress",
    layout.PREDICT_METHOD_NAME: "Predict",
    layout.SUPERVISED_TRAIN_METHOD_NAME: "Train",
    layout.SUPERVISED_EVAL_METHOD_NAME: "Eval",
}


def export_all_saved_models(
    model_fn: _BoundModelFn,
    config: RunConfig,
    export_dir_base: str | os.PathLike[str],
    receivers: Mapping[str, ReceiverFn],
    checkpoint_path: str,
    assets_extra: Mapping[str, str] | None,
    as_text: bool,
    strip_default_attrs: bool,
) -> bytes:
    """Write the graphs of some modes into a new directory; it gets its name when all of it is there.

    Args:
        model_fn: builds the model from features, labels, mode and config.
        config: how sessions run.
        export_dir_base: where the directory is made; its name is the time in seconds.
        receivers: the functions that build the inputs, by mode.
        checkpoint_path: the checkpoint, or a directory whose last one is meant.
        assets_extra: further files to copy, by their path below `assets.extra`.
        as_text: write the graphs as text.
        strip_default_attrs: leave out attributes that have their defaults.

    Returns:
        The directory's path.

    Raises:
        ValueError: there is no mode, or the checkpoint lacks variables.
    """
    if gfile.IsDirectory(checkpoint_path):
        checkpoint_path = latest_checkpoint(checkpoint_path) or checkpoint_path
    modes = [mode for mode in (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT) if receivers.get(mode)]
    if not modes:
        raise ValueError(f"No valid modes for exporting found. Got {receivers.keys()}.")
    export_dir = timestamped_export_dir(os.fsdecode(export_dir_base))
    folder, name = os.path.split(export_dir)
    unfinished = os.path.join(folder, f"temp-{name}")
    builder = SavedModelBuilder(unfinished)
    for mode in modes:
        _add_graph(builder, model_fn, config, receivers[mode], mode, checkpoint_path, mode == modes[0], strip_default_attrs)
    builder.save(as_text)
    for path, source in (assets_extra or {}).items():
        target = os.path.join(unfinished, "assets.extra", os.fsdecode(path))
        gfile.MakeDirs(os.path.dirname(target))
        gfile.Copy(source, target)
    gfile.Rename(unfinished, export_dir)
    return export_dir.encode()


def timestamped_export_dir(export_dir_base: str) -> str:
    """A path below a directory that nothing has yet; its name is the time in seconds.

    Raises:
        RuntimeError: none was free for ten seconds.
    """
    for attempt in range(1, _ATTEMPTS + 1):
        path = os.path.join(export_dir_base, str(int(time.time())))
        if not gfile.Exists(path):
            return path
        threading.Event().wait(1)
        tf_logging.warning("Directory %s already exists; retrying (attempt %d/%d)", path, attempt, _ATTEMPTS)
    raise RuntimeError(f"Failed to obtain a unique export directory name after {_ATTEMPTS} attempts.")


def build_all_signature_defs(
    receiver_tensors: Any,
    export_outputs: Mapping[str, ExportOutput],
    receiver_tensors_alternatives: Mapping[str, Any] | None = None,
    serving_only: bool = True,
) -> dict[str, SignatureDef]:
    """The signatures from each set of tensors that can be fed to each output, as far as they can be served; logs both.

    Raises:
        ValueError: the outputs are no dict.
    """
    if not isinstance(export_outputs, dict):
        raise ValueError(f"export_outputs must be a dict and not{type(export_outputs)}")
    found: dict[str, SignatureDef] = {}
    excluded: dict[str, str] = {}
    inputs = {
        "": receiver_tensors,
        **{f"{name or 'None'}:": each for name, each in (receiver_tensors_alternatives or {}).items()},
    }
    for prefix, tensors in inputs.items():
        named: Mapping[str, Tensor] = tensors if isinstance(tensors, dict) else {"input": tensors}
        for key, output in export_outputs.items():
            name = f"{prefix}{key or 'None'}"
            try:
                found[name] = output.as_signature_def(named)
            except ValueError as error:
                excluded[name] = str(error)
    _log_signatures(found, excluded)
    if serving_only:
        return {name: signature for name, signature in found.items() if is_valid_signature(signature)}
    return found


def _log_signatures(found: Mapping[str, SignatureDef], excluded: Mapping[str, str]) -> None:
    by_method: defaultdict[str, list[str]] = defaultdict(list)
    for name, signature in found.items():
        by_method[signature.method_name].append(name)
    for method in dict.fromkeys((*_METHODS, *by_method)):
        names = by_method.get(method) or "None"
        tf_logging.info("Signatures INCLUDED in export for %s: %s", _METHODS.get(method, method), names)
    if excluded:
        tf_logging.info("Signatures EXCLUDED from export because they cannot be be served via TensorFlow Serving APIs:")
        for name, reason in excluded.items():
            tf_logging.info("'%s' : %s", name, reason)
    if not found:
        tf_logging.warning("Export includes no signatures!")
    elif layout.DEFAULT_SERVING_SIGNATURE_DEF_KEY not in found:
        tf_logging.warning("Export includes no default signature!")


def _add_graph(
    builder: SavedModelBuilder,
    model_fn: _BoundModelFn,
    config: RunConfig,
    receiver_fn: ReceiverFn,
    mode: str,
    checkpoint_path: str,
    with_variables: bool,
    strip_default_attrs: bool,
) -> None:
    with Graph().as_default() as graph:
        create_global_step(graph)
        set_random_seed(config.tf_random_seed)
        receiver = _received(receiver_fn)
        spec = model_fn(receiver.features, getattr(receiver, "labels", None), mode, config)
        outputs = export_outputs_for_mode(spec.mode, spec.export_outputs, spec.predictions, spec.loss, spec.eval_metric_ops)
        signatures = build_all_signature_defs(
            receiver.receiver_tensors,
            outputs,
            getattr(receiver, "receiver_tensors_alternatives", None),
            serving_only=mode == ModeKeys.PREDICT,
        )
        with Session(config=config.session_config) as session:
            local_init_op = spec.scaffold.local_init_op
            if local_init_op is None:
                local_init_op = Scaffold.default_local_init_op()
            saver = spec.scaffold.saver or Saver(sharded=True)
            _restore(saver, session, checkpoint_path, mode)
            if spec.train_op is not None:
                graph.add_to_collection(layout.TRAIN_OP_KEY, spec.train_op)
            given: dict[str, Any] = {
                "tags": EXPORT_TAGS[mode],
                "signature_def_map": signatures,
                "assets_collection": graph.get_collection(GraphKeys.ASSET_FILEPATHS),
                "main_op": local_init_op,
                "saver": saver,
                "strip_default_attrs": strip_default_attrs,
            }
            if with_variables:
                builder.add_meta_graph_and_variables(session, **given)
            else:
                builder.add_meta_graph(**given)


def _restore(saver: Any, session: Session, checkpoint_path: str, mode: str) -> None:
    try:
        saver.restore(session, checkpoint_path)
    except errors.NotFoundError as error:
        raise ValueError(
            "Could not load all requested variables from checkpoint. Please make sure your model_fn does not expect variables "
            f"that were not saved in the checkpoint.\n\nEncountered error with mode `{mode}` while restoring checkpoint from: "
            f"`{checkpoint_path}`. Full Traceback:\n\n{error}"
        ) from error


def _received(receiver_fn: ReceiverFn) -> Any:
    """What the program's function says of the input; TypeError where it is none, or says it in another way."""
    if not callable(receiver_fn):
        raise TypeError(
            f"serving_input_receiver_fn must be a function, not {receiver_fn!r:.80}: "
            "tf.estimator.export.build_raw_serving_input_receiver_fn(features) makes one of placeholders."
        )
    receiver = receiver_fn()
    if not hasattr(receiver, "features") or not hasattr(receiver, "receiver_tensors"):
        raise TypeError(
            f"{get_func_name(receiver_fn)} must return a tf.estimator.export.ServingInputReceiver(features, "
            "receiver_tensors), not "
            f"{receiver!r:.80}."
        )
    return receiver
