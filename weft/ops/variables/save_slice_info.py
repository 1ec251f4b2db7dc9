"""SaveSliceInfo: which slice of a larger saved tensor a variable is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorboard.compat.proto import variable_pb2

from weft.framework.importing.name_prefix import prepend_name_scope, strip_name_scope


class SaveSliceInfo:
    """A variable's place in the tensor that checkpoints hold: that tensor's name and shape, and the slice."""

    def __init__(
        self,
        full_name: str | None = None,
        full_shape: Sequence[int] | None = None,
        var_offset: Sequence[int] | None = None,
        var_shape: Sequence[int] | None = None,
        save_slice_info_def: variable_pb2.SaveSliceInfoDef | None = None,
        import_scope: str | None = None,
    ) -> None:
        self.full_name: Any = full_name
        self.full_shape: Any = full_shape
        self.var_offset: Any = var_offset
        self.var_shape: Any = var_shape
        if save_slice_info_def is not None:
            self.full_name = prepend_name_scope(save_slice_info_def.full_name, import_scope)
            self.full_shape = list(save_slice_info_def.full_shape)
            self.var_offset = list(save_slice_info_def.var_offset)
            self.var_shape = list(save_slice_info_def.var_shape)

    @property
    def spec(self) -> str:
        """The slice as checkpoints spell it: `10 20 0,5:0,20`, the full shape and then start,length per dimension."""
        full_shape = "".join(f"{size} " for size in self.full_shape)
        slices = ":".join(f"{offset},{size}" for offset, size in zip(self.var_offset, self.var_shape, strict=True))
        return full_shape + slices

    def to_proto(self, export_scope: str | None = None) -> variable_pb2.SaveSliceInfoDef | None:
        """The SaveSliceInfoDef; None when the tensor is outside `export_scope`."""
        if export_scope is not None and not self.full_name.startswith(export_scope):
            return None
        proto = variable_pb2.SaveSliceInfoDef(full_name=strip_name_scope(self.full_name, export_scope))
        proto.full_shape.extend(self.full_shape)
        proto.var_offset.extend(self.var_offset)
        proto.var_shape.extend(self.var_shape)
        return proto
