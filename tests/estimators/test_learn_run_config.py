"""RunConfig of tf.contrib.learn: fields that programs read by themselves, and its inner path."""

from __future__ import annotations

import copy
import json

import pytest

import weft as tf

_CLUSTER = {"master": ["localhost:1"], "ps": ["localhost:2"], "worker": ["localhost:3"]}


def test_a_copy_shows_the_same_fields(monkeypatch: pytest.MonkeyPatch) -> None:
    # Programs compare configurations by what their fields print, as TensorFlow's own `uid` does: an object in one of
    # them would print its address.
    task = {"cluster": _CLUSTER, "task": {"type": "master", "index": 0}, "environment": "cloud"}
    monkeypatch.setenv("TF_CONFIG", json.dumps(task))
    config = tf.contrib.learn.RunConfig(model_dir="model", evaluation_master="grpc://localhost:4")
    fields = {name: repr(value) for name, value in vars(config).items() if name != "_cluster_spec"}
    assert fields == {name: repr(value) for name, value in vars(copy.deepcopy(config)).items() if name in fields}
    assert not [value for value in fields.values() if " object at " in value]
    assert vars(config)["_environment"] == config.environment == "cloud"
    assert (config.master, config.evaluation_master, config.num_worker_replicas) == (
        "grpc://localhost:1",
        "grpc://localhost:4",
        2,
    )


def test_a_run_config_is_a_cluster_config() -> None:
    run_config = tf.contrib.learn.python.learn.run_config

    assert issubclass(tf.contrib.learn.RunConfig, run_config.ClusterConfig)
    assert "session_config" in run_config._DEFAULT_UID_WHITE_LIST
