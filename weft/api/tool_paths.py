"""The tools that programs import, and shells run, as `tensorflow.python.tools.NAME`; written as in `python_paths`."""

from __future__ import annotations

from typing import Final

ALIASES: Final = {
    "tools.freeze_graph": "weft.training.saved_model.freeze_command",
    "tools.import_pb_to_tensorboard": "weft.training.saved_model.board_command",
    "tools.inspect_checkpoint": "weft.checkpoint.inspect_command",
    "tools.optimize_for_inference": "weft.training.saved_model.inference_command",
    "tools.strip_unused": "weft.training.saved_model.strip_command",
}

NAMES: Final = {
    "tools.optimize_for_inference_lib": "weft.framework.importing.inference_graph:optimize_for_inference",
    "tools.saved_model_utils": (
        "weft.training.saved_model.inspection:get_meta_graph_def weft.training.saved_model.inspection:get_saved_model_tag_sets "
        "weft.training.saved_model.inspection:read_saved_model"
    ),
    "tools.strip_unused_lib": (
        "weft.framework.importing.inference_graph:strip_unused weft.training.saved_model.strip_command:strip_unused_from_files"
    ),
}
