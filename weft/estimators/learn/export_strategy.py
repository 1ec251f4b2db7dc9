"""ExportStrategy: how an Experiment exports its model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from weft.estimators.aliases import Metrics
from weft.estimators.export.saved_model_export import ReceiverFn
from weft.framework.compat.function_signatures import fn_args


class ExportStrategy(NamedTuple):
    """A name, a function that exports, and whether attributes that have their defaults are left out.

    The function takes the estimator and a directory, and any of `checkpoint_path`, `eval_result` and `strip_default_attrs`.

    Args:
        name: the name, that of the directory below `export`.
        export_fn: the function.
        strip_default_attrs: whether they are left out; as the function chooses when None.
    """

    name: str
    export_fn: Callable[..., Any]
    strip_default_attrs: bool | None = None

    def export(
        self, estimator: object, export_path: str, checkpoint_path: str | None = None, eval_result: Metrics | None = None
    ) -> Any:
        """Export a checkpoint; returns what the function does.

        Args:
            estimator: the Estimator whose model is exported.
            export_path: the folder below which the export goes.
            checkpoint_path: the checkpoint; the newest when None.
            eval_result: the metrics of its evaluation, where the function takes them.
        """
        taken = fn_args(self.export_fn)
        offered = {"checkpoint_path": checkpoint_path, "eval_result": eval_result}
        if self.strip_default_attrs is not None:
            offered["strip_default_attrs"] = self.strip_default_attrs  # type: ignore[assignment]
        if eval_result is not None and "eval_result" not in taken:
            offered.pop("eval_result")
        return self.export_fn(estimator, export_path, **{key: value for key, value in offered.items() if key in taken})


def make_export_strategy(
    serving_input_fn: ReceiverFn,
    default_output_alternative_key: str | None = None,
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    exports_to_keep: int = 5,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """An ExportStrategy, named `Servo`, that writes SavedModels.

    Args:
        serving_input_fn: builds the input of the exported model.
        default_output_alternative_key: which of several outputs is the default.
        assets_extra, as_text: see `Estimator.export_savedmodel`.
        exports_to_keep: kept for programs that pass it; all exports stay.
        strip_default_attrs: whether attributes that have their defaults are left out.
    """

    def export_fn(estimator: Any, export_dir_base: str, checkpoint_path: str | None = None) -> Any:
        further = (
            {} if default_output_alternative_key is None else {"default_output_alternative_key": default_output_alternative_key}
        )
        return estimator.export_savedmodel(
            export_dir_base, serving_input_fn, assets_extra=assets_extra, as_text=as_text, checkpoint_path=checkpoint_path,
            strip_default_attrs=bool(strip_default_attrs), **further,
        )  # fmt: skip

    return ExportStrategy("Servo", export_fn)
