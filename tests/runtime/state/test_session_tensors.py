"""What a session keeps is found by its handle, and by nothing else, until it is dropped."""

from __future__ import annotations

import numpy as np
import pytest

from weft.errors import InvalidArgumentError, ResourceExhaustedError
from weft.protocol.limits import ServerLimits
from weft.runtime.state.session_tensors import SessionTensors

DEVICE = "/job:a/replica:0/task:0/device:CPU:0"


def test_a_value_is_kept_until_it_is_dropped() -> None:
    kept = SessionTensors()
    handles = [kept.keep(np.array(n), "node", DEVICE) for n in range(3)]
    assert handles == [f"node;{n};{DEVICE}" for n in range(3)]
    assert [kept.find(handle) for handle in handles] == [0, 1, 2]
    kept.drop(handles[1])
    assert len(kept) == 2
    with pytest.raises(InvalidArgumentError, match="is not in the session store"):
        kept.find(handles[1])
    with pytest.raises(InvalidArgumentError, match="Failed to delete a tensor with handle"):
        kept.drop(handles[1])


def test_a_handle_counts_as_a_whole() -> None:
    kept = SessionTensors()
    kept.keep(np.array(1), "node", DEVICE)
    for handle in ("", "node", "other;0;" + DEVICE, "node;0;/cpu:0"):
        with pytest.raises(InvalidArgumentError, match="is not in the session store"):
            kept.find(handle)


def test_a_kept_array_is_not_changed_by_whoever_has_it() -> None:
    kept, value = SessionTensors(), np.zeros(2)
    kept.keep(value, "node", DEVICE)
    with pytest.raises(ValueError, match="read-only"):
        value[0] = 1


def test_a_session_keeps_so_many_tensors_and_no_more() -> None:
    kept = SessionTensors(ServerLimits(max_kept_tensors=2))
    first, _ = (kept.keep(np.zeros(1), "node", DEVICE) for _ in range(2))
    with pytest.raises(ResourceExhaustedError, match="too many tensors by handles; delete some: 3, and the limit is 2"):
        kept.keep(np.zeros(1), "node", DEVICE)
    kept.drop(first)
    kept.keep(np.zeros(1), "node", DEVICE)


def test_a_session_keeps_so_many_bytes_and_no_more() -> None:
    kept = SessionTensors(ServerLimits(max_kept_bytes=100))
    first = kept.keep(np.zeros(80, np.uint8), "node", DEVICE)
    with pytest.raises(ResourceExhaustedError, match=r"too many bytes; delete some: 120, and the limit is 100.*max_kept_bytes"):
        kept.keep(np.zeros(40, np.uint8), "node", DEVICE)
    kept.drop(first)
    kept.keep(np.zeros(100, np.uint8), "node", DEVICE)
