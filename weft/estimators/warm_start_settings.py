"""WarmStartSettings: which variables of a model begin with values from another model's checkpoint."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from weft.platform.files import gfile
from weft.platform.logs import tf_logging
from weft.training.saved_model import layout
from weft.training.saving.warm_start import VocabInfo


class _Settings(NamedTuple):
    """What WarmStartSettings hold, in the order of `tf.train.warm_start`'s arguments."""

    ckpt_to_initialize_from: str
    vars_to_warm_start: Any
    var_name_to_vocab_info: Mapping[str, VocabInfo]
    var_name_to_prev_var_name: Mapping[str, str]


class WarmStartSettings(_Settings):
    """Which variables begin with values from a checkpoint.

    Args:
        ckpt_to_initialize_from: the checkpoint, or a directory whose latest one is meant.
        vars_to_warm_start: the variables, as `tf.train.warm_start` takes them.
        var_name_to_vocab_info: VocabInfos by the names of variables whose rows follow vocabularies.
        var_name_to_prev_var_name: the names in the checkpoint of variables that have another name there.

    Raises:
        ValueError: there is no checkpoint.
    """

    __slots__ = ()

    def __new__(
        cls,
        ckpt_to_initialize_from: str,
        vars_to_warm_start: object = ".*",
        var_name_to_vocab_info: Mapping[str, VocabInfo] | None = None,
        var_name_to_prev_var_name: Mapping[str, str] | None = None,
    ) -> WarmStartSettings:
        """Make the record."""
        if not ckpt_to_initialize_from:
            raise ValueError("`ckpt_to_initialize_from` MUST be set in WarmStartSettings")
        return super().__new__(
            cls,
            ckpt_to_initialize_from,
            vars_to_warm_start,
            var_name_to_vocab_info or {},
            var_name_to_prev_var_name or {},
        )


def warm_start_settings(warm_start_from: object) -> WarmStartSettings | None:
    """The settings that an estimator's `warm_start_from` means: a checkpoint's or SavedModel's path, or settings.

    Raises:
        ValueError: it is of another type.
    """
    if warm_start_from is None or isinstance(warm_start_from, WarmStartSettings):
        return warm_start_from
    if not isinstance(warm_start_from, str | bytes | os.PathLike):
        raise ValueError(f"warm_start_from must be a string or a WarmStartSettings, instead got {type(warm_start_from)}")
    path = os.fsdecode(warm_start_from)
    variables = os.path.join(path, layout.VARIABLES_DIRECTORY, layout.VARIABLES_FILENAME)
    if gfile.Exists(f"{variables}.index"):
        tf_logging.info("Warm-starting from a SavedModel")
        return WarmStartSettings(variables)
    return WarmStartSettings(path)
