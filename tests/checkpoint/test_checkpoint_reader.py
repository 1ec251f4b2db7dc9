from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from weft import errors
from weft.checkpoint.bundle_writer import BundleWriter
from weft.checkpoint.checkpoint_reader import CheckpointReader, NewCheckpointReader
from weft.framework.types import dtypes


@pytest.fixture
def reader(tmp_path: Path) -> CheckpointReader:
    with BundleWriter(str(tmp_path / "m")) as writer:
        writer.add("scope/a", np.ones((2, 3), np.float32))
        writer.add("step", np.int64(7))
        writer.add("word", b"one")
        for start in (0, 2):
            writer.add_slice("v", (4,), (start,), (2,), np.arange(start, start + 2))
    return NewCheckpointReader(tmp_path / "m")


def test_variables_are_listed_with_shapes_and_types(reader: CheckpointReader) -> None:
    assert reader.get_variable_to_shape_map() == {"scope/a": [2, 3], "step": [], "v": [4], "word": []}
    types = reader.get_variable_to_dtype_map()
    assert types == {"scope/a": dtypes.float32, "step": dtypes.int64, "v": dtypes.int64, "word": dtypes.string}
    assert reader.debug_string().decode() == (
        "scope/a (DT_FLOAT) [2,3]\nstep (DT_INT64) []\nv (DT_INT64) [4]\nword (DT_STRING) []\n"
    )


def test_values_come_as_arrays_and_scalars(reader: CheckpointReader) -> None:
    assert reader.get_tensor("v").tolist() == [0, 1, 2, 3]
    assert reader.get_tensor(b"scope/a").shape == (2, 3)
    step = reader.get_tensor("step")
    assert isinstance(step, np.int64)
    assert step == 7
    assert reader.get_tensor("word") == b"one"


def test_names_are_looked_up(reader: CheckpointReader) -> None:
    assert reader.has_tensor("step")
    assert not reader.has_tensor("missing")
    with pytest.raises(errors.NotFoundError, match="Key missing not found in checkpoint"):
        reader.get_tensor("missing")


def test_no_checkpoint_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(errors.NotFoundError, match="Failed to find any matching files for"):
        NewCheckpointReader(str(tmp_path / "none"))
