"""local_servers: a server of this process is known by the address that its cluster has for it."""

from __future__ import annotations

import weft as tf
from weft.client.targets import open_backend
from weft.distributed.server.in_process import local_servers
from weft.distributed.server.in_process.in_process_session import InProcessSession


def test_a_server_is_found_by_what_its_cluster_calls_this_host() -> None:
    # As on a cluster's hosts, whose addresses are not what this host calls itself.
    with tf.train.Server({"local": ["127.0.0.2:0"]}) as server:
        address = server.target.removeprefix("grpc://")
        assert local_servers.find(address) is server
        assert local_servers.find(f"localhost:{server.port}") is server
        assert local_servers.find(f"127.0.0.3:{server.port}") is None
        backend = open_backend(server.target, tf.Graph(), None)
        assert isinstance(backend, InProcessSession)
        backend.close()
    assert local_servers.find(address) is None


def test_servers_with_one_port_on_several_addresses_are_told_apart() -> None:
    with tf.train.Server({"local": ["127.0.0.2:0"]}) as first:
        with tf.train.Server({"local": [f"127.0.0.3:{first.port}"]}) as second:
            assert local_servers.find(f"127.0.0.2:{first.port}") is first
            assert local_servers.find(f"127.0.0.3:{first.port}") is second
        assert local_servers.find(f"127.0.0.2:{first.port}") is first
