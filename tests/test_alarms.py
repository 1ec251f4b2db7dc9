"""The lines that tests of good programs take for alarms."""

from __future__ import annotations

import pytest

from tests import alarms


@pytest.mark.parametrize(
    "line",
    [
        "WARNING:weft:the tensor 'x' is not there",
        "worker:0 | ERROR:weft:Coordinator stopped with an error",
        "ps:1     | Traceback (most recent call last):",
        "worker:3 | sys:1: ResourceWarning: unclosed <socket.socket fd=39>",
        "program.py:3: DeprecationWarning: it goes away",
        "Exception ignored in: <function f>",
    ],
)
def test_what_alarms_is_found(line: str) -> None:
    assert alarms.unexpected(["step 1", line, "worker:0 | INFO:weft:Graph was finalized."]) == [line]


def test_waits_on_a_busy_machine_and_what_a_test_brings_about_are_expected() -> None:
    waits = [
        "ps:0     | WARNING:weft:Server /job:ps/replica:0/task:0 has waited 60 s in join() for its first session.",
        "worker:1 | WARNING:weft.waits:XLA has compiled 104 nodes, up to Mean_3, for shapes that are new, for 10 s.",
        "worker:3 | WARNING:weft:Waiting for the other workers, for 10 s: worker:0 has not said where the workers meet",
        "worker:0 | WARNING:weft:Step 3 has 1/2 gradients; missing: /job:worker/task:1 (late 12 s)",
    ]
    assert alarms.unexpected(waits) == []
    killed = "worker:0 | WARNING:weft:/job:worker/task:2 is gone: updates are made of 1 gradients from now on"
    assert alarms.unexpected([killed]) == [killed]
    assert alarms.unexpected([killed], [r"task:\d is gone"]) == []
