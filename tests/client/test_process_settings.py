"""tf.config tells and sets what TensorFlow 1.15's does, without starting a device."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import weft as tf
from weft.client import process_settings
from weft.runtime.xla import engine_options

experimental = tf.config.experimental


@pytest.fixture
def requested(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Two GPUs, and devices that are not started; what is asked of the engine is in the list."""
    found: list[object] = []
    monkeypatch.setattr(process_settings, "_settings", process_settings._Settings())
    monkeypatch.setattr(process_settings, "_gpus", lambda: 2)
    monkeypatch.setattr(engine_options, "is_started", lambda: False)
    monkeypatch.setattr(engine_options, "request", found.append)
    return found


def test_devices_are_listed_by_type(requested: list[object]) -> None:
    assert [each.name for each in experimental.list_physical_devices()] == [
        "/physical_device:CPU:0", "/physical_device:GPU:0", "/physical_device:GPU:1",
    ]  # fmt: skip
    assert [tuple(each) for each in experimental.list_logical_devices("CPU")] == [
        ("/job:localhost/replica:0/task:0/device:CPU:0", "CPU")
    ]
    assert experimental.list_physical_devices("TPU") == []


def test_memory_growth_is_asked_for_before_the_devices_start(requested: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = experimental.list_physical_devices("GPU")
    assert experimental.get_memory_growth(first) is None
    experimental.set_memory_growth(first, True)
    assert experimental.get_memory_growth(first) is True
    assert [each.gpu_options.allow_growth for each in requested] == [True]
    with pytest.raises(ValueError, match="Cannot set memory growth on non-GPU devices"):
        experimental.set_memory_growth(experimental.list_physical_devices("CPU")[0], True)
    with pytest.raises(ValueError, match="Unrecognized device: 'GPU:0'"):
        experimental.set_memory_growth("GPU:0", True)
    monkeypatch.setattr(engine_options, "is_started", lambda: True)
    with pytest.raises(RuntimeError, match="Physical devices cannot be modified after being initialized"):
        experimental.set_memory_growth(second, True)
    experimental.set_memory_growth(first, True)  # as it is


def test_only_the_visible_devices_are_used(requested: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    gpus = experimental.list_physical_devices("GPU")
    experimental.set_visible_devices(gpus[1], "GPU")
    assert [each.gpu_options.visible_device_list for each in requested] == ["1"]
    assert experimental.get_visible_devices("GPU") == [gpus[1]]
    assert [each.device_type for each in experimental.get_visible_devices()] == ["CPU", "GPU"]
    experimental.set_visible_devices([], "GPU")
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "-1"
    assert experimental.list_logical_devices("GPU") == []
    with pytest.raises(ValueError, match="a CPU is expected"):
        experimental.set_visible_devices(gpus, "CPU")


def test_a_device_is_used_as_several(requested: list[object]) -> None:
    (cpu,) = experimental.list_physical_devices("CPU")
    assert experimental.get_virtual_device_configuration(cpu) is None
    experimental.set_virtual_device_configuration(cpu, [experimental.VirtualDeviceConfiguration()] * 2)
    assert [each.name[-5:] for each in experimental.list_logical_devices("CPU")] == ["CPU:0", "CPU:1"]
    assert len(tf.config.experimental_list_devices()) == 4
    with pytest.raises(ValueError, match="memory limit on CPU"):
        experimental.set_virtual_device_configuration(cpu, [experimental.VirtualDeviceConfiguration(memory_limit=10)])


def test_what_is_set_can_be_read(requested: list[object]) -> None:
    tf.config.threading.set_intra_op_parallelism_threads(3)
    tf.config.threading.set_inter_op_parallelism_threads(2)
    assert tf.config.threading.get_intra_op_parallelism_threads() == 3
    assert tf.config.threading.get_inter_op_parallelism_threads() == 2
    assert [each.intra_op_parallelism_threads for each in requested] == [3]
    assert (tf.config.optimizer.get_jit(), tf.config.get_soft_device_placement()) == (False, False)
    tf.config.optimizer.set_jit(True)
    tf.config.set_soft_device_placement(True)
    assert (tf.config.optimizer.get_jit(), tf.config.get_soft_device_placement()) == (True, True)
    tf.config.optimizer.set_experimental_options({"constant_folding": False})
    assert tf.config.optimizer.get_experimental_options() == {
        "disable_model_pruning": False, "disable_meta_optimizer": False, "constant_folding": False,
    }  # fmt: skip
    assert (experimental.get_device_policy(), experimental.get_synchronous_execution()) == ("silent", True)
    experimental.set_device_policy("warn")
    experimental.set_synchronous_execution(False)
    assert (experimental.get_device_policy(), experimental.get_synchronous_execution()) == ("warn", False)
    with pytest.raises(ValueError, match="Not a valid device policy: 'loud'"):
        experimental.set_device_policy("loud")


@pytest.mark.timeout(60)
def test_asking_starts_no_device() -> None:
    program = (
        "import weft as tf\n"
        "for gpu in tf.config.experimental.list_physical_devices('GPU'):\n"
        "    tf.config.experimental.set_memory_growth(gpu, True)\n"
        "assert tf.config.experimental.list_physical_devices('CPU')\n"
        "from weft.runtime.xla import engine_options\n"
        "assert not engine_options.is_started()\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=50)
