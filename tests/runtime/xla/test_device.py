"""Devices: which JAX device runs what is placed on one of ours."""

from __future__ import annotations

import pytest

from tests.runtime.xla.test_engine_options import COMPUTE, printed
from weft.runtime.xla.device import local_device_names


def test_a_stage_runs_on_the_jax_device_that_it_is_placed_on() -> None:
    # A second CPU of JAX plays the accelerator: variables and values go between the two.
    program = """
from weft.runtime.ways import compiled_way
import jax
on = []
def jax_device(name):
    on.append(jax.devices()[int(name[-1])])
    return on[-1]
compiled_way.jax_device = jax_device
config = options(device_count={"CPU": 2})
with tf.device("/cpu:1"):
    v = tf.Variable(tf.ones([64, 64]))
    y = tf.matmul(v, v)
with tf.device("/cpu:0"):
    z = tf.matmul(y, y) + v
    update = tf.assign_add(v, z / 1e6)
with tf.Session(config=config) as session:
    session.run(v.initializer)
    first = session.run(z)
    session.run(update)
    print(float(first[0, 0]), float(session.run(v)[0, 0]) > 1.0, sorted({device.id for device in on}))
"""
    assert printed(COMPUTE + program, JAX_NUM_CPU_DEVICES="2") == ["262145.0 True [0, 1]"]


def test_a_parameter_server_looks_for_no_accelerator_unless_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weft.runtime.xla.device.accelerators", lambda: {"GPU": [object(), object()]})
    cpu = "/job:ps/replica:0/task:0/device:CPU:0"
    assert local_device_names("ps", 0) == [cpu]
    assert local_device_names("ps", 0, {"GPU": 1}) == [cpu, cpu.replace("CPU", "GPU")]
    assert len(local_device_names("worker", 0)) == 3
    assert len(local_device_names("worker", 0, {"GPU": 0})) == 1
