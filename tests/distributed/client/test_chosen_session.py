"""A session on a server of another process waits for it as long as it is told."""

from __future__ import annotations

import pytest

import weft as tf
from weft.distributed.server.local_cluster import free_addresses
from weft.protocol.limits import VARIABLE


def test_a_client_of_a_server_that_has_gone_waits_as_long_as_its_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "absent_task_s=0.2")
    [gone] = free_addresses(1)
    one = tf.constant(1)
    with tf.Session(f"grpc://{gone}") as session:
        with pytest.raises(tf.errors.DeadlineExceededError, match=r"nothing listens .*\nIt has waited 0.2 s.*come too late"):
            session.run(one)
        # A shorter time is the program's own, which knows what it asked for.
        with pytest.raises(tf.errors.DeadlineExceededError, match=r"nothing listens there") as caught:
            session.run(one, options=tf.RunOptions(timeout_in_ms=50))
        assert "It has waited" not in caught.value.message
