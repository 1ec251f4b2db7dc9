"""Device names are read in every form that programs write, printed in one, and merged field by field."""

from __future__ import annotations

import pytest

from weft.framework.devices import device_spec
from weft.framework.devices.device_spec import DeviceSpec


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("", ""),
        ("/job:ps", "/job:ps"),
        ("/task:3", "/task:3"),
        ("/job:a/task:1/cpu:0", "/job:a/task:1/device:CPU:0"),
        ("/job:a/replica:0/task:1/device:CPU:0", "/job:a/replica:0/task:1/device:CPU:0"),
        ("/gpu:*", "/device:GPU:*"),
        ("/GPU:1", "/device:GPU:1"),
        ("/device:gpu:2", "/device:GPU:2"),
        ("/cpu", "/device:CPU:*"),
        ("/device:CPU", "/device:CPU:*"),
        ("/device:TPU:1", "/device:TPU:1"),
        ("/device:XLA_CPU:0", "/device:XLA_CPU:0"),
        ("/JOB:x/Cpu:0", "/job:x/device:CPU:0"),
        ("job:ps/task:1", "/job:ps/task:1"),
        ("cpu:0", "/device:CPU:0"),
        ("/job:a//cpu:0", "/job:a/device:CPU:0"),
        ("/cpu:0/", "/device:CPU:0"),
    ],
)
def test_a_name_in_any_form_has_one_canonical_form(text: str, canonical: str) -> None:
    assert DeviceSpec.from_string(text).to_string() == canonical
    assert DeviceSpec().parse_from_string(text) == DeviceSpec.from_string(canonical)
    assert device_spec.canonical_name(text) == canonical


@pytest.mark.parametrize("text", ["/foo:1", "/job:a:b", "/task:x", "/job", "/cpu:a", "/cpu:0:1", "nonsense", "/device"])
def test_what_is_no_device_name_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"Unknown attribute|must be a number"):
        DeviceSpec.from_string(text)


def test_fields_are_given_and_changed() -> None:
    spec = DeviceSpec(job="ps", replica=0, task=1, device_type="cpu", device_index=0)
    assert spec.to_string() == "/job:ps/replica:0/task:1/device:CPU:0"
    spec.job, spec.replica, spec.task, spec.device_type, spec.device_index = "worker", None, None, "gpu", None
    assert spec.to_string() == "/job:worker/device:GPU:*"
    assert (spec.job, spec.replica, spec.task, spec.device_type, spec.device_index) == ("worker", None, None, "GPU", None)


@pytest.mark.parametrize(
    ("outer", "inner", "merged"),
    [
        ("/job:ps", "/cpu:0", "/job:ps/device:CPU:0"),
        ("/job:ps/task:0", "/job:worker", "/job:worker/task:0"),
        ("/gpu:1", "/job:a", "/job:a/device:GPU:1"),
        ("/gpu:0", "/cpu", "/device:CPU:0"),
        ("/job:ps/task:5/gpu:1", "/task:1", "/job:ps/task:1/device:GPU:1"),
        ("/job:a", "", "/job:a"),
    ],
)
def test_the_inner_name_wins_field_by_field(outer: str, inner: str, merged: str) -> None:
    assert device_spec.merge_names(outer, inner) == merged
    spec = DeviceSpec.from_string(outer)
    assert spec.make_merged_spec(DeviceSpec.from_string(inner)).to_string() == merged
    spec.merge_from(DeviceSpec.from_string(inner))
    assert spec.to_string() == merged


def test_equal_specs_are_equal() -> None:
    assert DeviceSpec.from_string("/cpu:0") == DeviceSpec(device_type="CPU", device_index=0)
    assert len({DeviceSpec.from_string("/cpu:0"), DeviceSpec.from_string("/device:CPU:0")}) == 1
    assert DeviceSpec.from_string("/job:a") != "/job:a"


def test_a_partial_name_fits_every_device_with_its_fields() -> None:
    full = "/job:ps/replica:0/task:1/device:CPU:0"
    assert all(device_spec.is_prefix(p, full) for p in ("", "/job:ps", "/task:1", "/cpu:*", "/device:CPU:0", full))
    assert not any(device_spec.is_prefix(p, full) for p in ("/job:worker", "/task:0", "/gpu:0", "/cpu:1"))
    assert device_spec.task_name(full) == "/job:ps/replica:0/task:1"
    assert device_spec.device_type(full) == "CPU"


def test_replace_makes_another_spec() -> None:
    spec = DeviceSpec(job="ps", task=1)
    assert spec.replace(task=2, device_type="gpu").to_string() == "/job:ps/task:2/device:GPU:*"
    assert spec.to_string() == "/job:ps/task:1"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("/foo:bar", "Unknown attribute: 'foo' in '/foo:bar'"),
        ("/task:x", "the index in 'task:x' of '/task:x' must be a number"),
        ("/cpu:0/gpu:0", "Cannot specify multiple device types: /cpu:0/gpu:0"),
    ],
)
def test_what_names_no_device_is_refused(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DeviceSpec.from_string(name)


@pytest.mark.parametrize(("text", "meant"), [("ps", "/job:ps"), ("/worker:1", "/job:worker/task:1"), ("/jop:ps", "/jop:ps")])
def test_a_job_without_its_key_is_told_how_to_be_written(text, meant):
    with pytest.raises(ValueError, match=f"Did you mean '{meant.replace('jop', 'job')}'"):
        DeviceSpec.from_string(text)
