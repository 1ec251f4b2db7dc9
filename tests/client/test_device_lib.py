"""device_lib lists this process's devices."""

from __future__ import annotations

from weft.python.client import device_lib

import weft as tf


def test_the_cpu_comes_first() -> None:
    devices = device_lib.list_local_devices()
    assert devices[0].name == "/device:CPU:0"
    assert devices[0].device_type == "CPU"
    assert all(device.incarnation for device in devices)


def test_a_config_may_ask_for_more_cpus() -> None:
    devices = device_lib.list_local_devices(tf.ConfigProto(device_count={"CPU": 3}))
    assert [device.name for device in devices if device.device_type == "CPU"] == [f"/device:CPU:{i}" for i in range(3)]
