"""A checkpoint whose files are damaged is told from one that is whole, and an older one is found instead."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from weft.checkpoint.bundle_writer import BundleWriter
from weft.checkpoint.checkpoint_state import latest_checkpoint, update_checkpoint_state
from weft.checkpoint.wholeness import damage_of


def save(prefix: Path) -> str:
    with BundleWriter(str(prefix)) as writer:
        writer.add("v", np.arange(1000, dtype=np.float32))
        writer.add("words", np.array([b"one", b"two"], object))
        writer.add_slice("cut", [4], [0], [2], np.zeros(2, np.float32))
        writer.add_slice("cut", [4], [2], [2], np.zeros(2, np.float32))
    return str(prefix)


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-10])


def flip_a_bit(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


def test_a_checkpoint_of_whole_slices_and_strings_has_no_damage(tmp_path: Path) -> None:
    assert damage_of(save(tmp_path / "m")) is None


@pytest.mark.parametrize("suffix", [".index", ".data-00000-of-00001"])
@pytest.mark.parametrize("harm", [cut_short, flip_a_bit, Path.unlink])
def test_the_newest_whole_checkpoint_is_taken_and_the_damaged_one_named(
    tmp_path: Path, suffix: str, harm: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    prefixes = [save(tmp_path / f"m-{step}") for step in (1, 2, 3)]
    update_checkpoint_state(str(tmp_path), prefixes[-1], prefixes)
    harm(Path(prefixes[-1] + suffix))
    assert damage_of(prefixes[-1]) is not None
    logger = logging.getLogger("weft")
    logger.addHandler(caplog.handler)
    try:
        assert latest_checkpoint(str(tmp_path), verify=True) == prefixes[1]
    finally:
        logger.removeHandler(caplog.handler)
    assert f"Checkpoint {prefixes[-1]} is not whole and is passed over: " in caplog.text


def test_without_a_whole_checkpoint_there_is_none(tmp_path: Path) -> None:
    prefix = save(tmp_path / "m")
    update_checkpoint_state(str(tmp_path), prefix)
    assert latest_checkpoint(str(tmp_path), verify=True) == prefix
    cut_short(tmp_path / "m.data-00000-of-00001")
    assert latest_checkpoint(str(tmp_path), verify=True) is None
    assert latest_checkpoint(str(tmp_path)) == prefix
    assert latest_checkpoint(str(tmp_path / "none"), verify=True) is None
