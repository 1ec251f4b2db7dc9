"""Device names: parsing, printing and merging of `/job:ps/replica:0/task:0/device:GPU:0` and its partial forms."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from weft.platform.hints.spelling import nearest

_FIELDS: Final = ("job", "replica", "task", "device_type", "device_index")
_SHORT_TYPES: Final = ("cpu", "gpu", "tpu", "rocm", "cuda")


class DeviceSpec:
    """A device name, perhaps partial: each field that is None is left open.

    Args:
        job: the name of a job, such as "ps".
        replica: the number of a replica; 0 in what weft makes.
        task: the number of a task of the job.
        device_type: "CPU" or "GPU".
        device_index: the number of a device of that type in its task.
    """

    __slots__ = ("_device_index", "_device_type", "_job", "_replica", "_task")

    def __init__(
        self,
        job: str | None = None,
        replica: int | None = None,
        task: int | None = None,
        device_type: str | None = None,
        device_index: int | None = None,
    ) -> None:
        self._job = None if job is None else str(job)
        self._replica = None if replica is None else int(replica)
        self._task = None if task is None else int(task)
        self.device_type = device_type
        self._device_index = None if device_index is None else int(device_index)

    @property
    def job(self) -> str | None:
        """The job's name."""
        return self._job

    @job.setter
    def job(self, value: str | None) -> None:
        self._job = None if value is None else str(value)

    @property
    def replica(self) -> int | None:
        """The replica, always 0 in a cluster of today."""
        return self._replica

    @replica.setter
    def replica(self, value: int | None) -> None:
        self._replica = None if value is None else int(value)

    @property
    def task(self) -> int | None:
        """The task's index in its job."""
        return self._task

    @task.setter
    def task(self, value: int | None) -> None:
        self._task = None if value is None else int(value)

    @property
    def device_type(self) -> str | None:
        """The type in upper case, such as CPU."""
        return self._device_type

    @device_type.setter
    def device_type(self, value: str | None) -> None:
        self._device_type = None if value is None else str(value).upper()

    @property
    def device_index(self) -> int | None:
        """The index of the device among those of its type in the task."""
        return self._device_index

    @device_index.setter
    def device_index(self, value: int | None) -> None:
        self._device_index = None if value is None else int(value)

    def _fields(self) -> tuple[Any, ...]:
        return self._job, self._replica, self._task, self._device_type, self._device_index

    def parse_from_string(self, spec: str) -> DeviceSpec:
        """Take the fields of a device name; ValueError when it is none.

        Args:
            spec: a name such as "/job:worker/task:1/device:GPU:0"; parts may be left out.

        Returns:
            This DeviceSpec.
        """
        self._job, self._replica, self._task, self._device_type, self._device_index = _parse(spec)
        return self

    @staticmethod
    def from_string(spec: str) -> DeviceSpec:
        """Make a DeviceSpec of a device name; ValueError when it is none.

        >>> tf.DeviceSpec.from_string("/job:worker/task:1/gpu:0").task
        1

        Args:
            spec: a name such as "/job:worker/task:1/device:GPU:0"; parts may be left out.
        """
        return DeviceSpec(*_parse(spec))

    def merge_from(self, dev: DeviceSpec) -> None:
        """Take every field that `dev` sets, leave the others.

        Args:
            dev: the DeviceSpec whose fields win.
        """
        merged = _merge_fields(self._fields(), dev._fields())
        self._job, self._replica, self._task, self._device_type, self._device_index = merged

    def make_merged_spec(self, dev: DeviceSpec) -> DeviceSpec:
        """A new DeviceSpec in which the fields that `dev` sets win.

        Args:
            dev: the DeviceSpec whose fields win.
        """
        return DeviceSpec(*_merge_fields(self._fields(), dev._fields()))

    def replace(self, **fields: object) -> DeviceSpec:
        """A new DeviceSpec with other values in the fields given by name.

        Args:
            fields: `job`, `replica`, `task`, `device_type`, `device_index`.
        """
        return DeviceSpec(**{**dict(zip(_FIELDS, self._fields(), strict=True)), **fields})

    def to_string(self) -> str:
        """The canonical name of the fields that are set."""
        return _format(*self._fields())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceSpec) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash(self._fields())

    def __repr__(self) -> str:
        return f"DeviceSpec({self.to_string()!r})"


def _merge_fields(outer: tuple[object, ...], inner: tuple[object, ...]) -> tuple[Any, ...]:
    return tuple([o if i is None else i for o, i in zip(outer, inner, strict=True)])


def _format(job: str | None, replica: int | None, task: int | None, kind: str | None, index: int | None) -> str:
    text = "" if job is None else f"/job:{job}"
    if replica is not None:
        text += f"/replica:{replica}"
    if task is not None:
        text += f"/task:{task}"
    if kind is not None:
        text += f"/device:{kind}:{'*' if index is None else index}"
    return text


@lru_cache(maxsize=4096)
def _parse(spec: str) -> tuple[str | None, int | None, int | None, str | None, int | None]:
    job = replica = task = kind = index = None
    for part in (spec or "").split("/"):
        if not part:
            continue
        words = part.split(":")
        key, values = words[0].lower(), words[1:]
        if kind is not None and (key == "device" or key in _SHORT_TYPES):
            raise ValueError(f"Cannot specify multiple device types: {spec}")
        try:
            if key == "job" and len(values) == 1:
                job = values[0]
            elif key == "replica" and len(values) == 1:
                replica = int(values[0])
            elif key == "task" and len(values) == 1:
                task = int(values[0])
            elif key == "device" and values:
                kind, index = values[0].upper(), _index(values[1:])
            elif key in _SHORT_TYPES:
                kind, index = key.upper(), _index(values)
            else:
                raise ValueError
        except (ValueError, IndexError):
            if key in ("replica", "task", "device", *_SHORT_TYPES) and len(values) >= 1:
                raise ValueError(
                    f"invalid literal for int() with base 10: {values[-1]!r}: the index in {part!r} of '{spec}' must be a "
                    "number"
                ) from None
            raise ValueError(
                f"Unknown attribute: '{words[0]}' in '{spec}': {part!r} names no part of a device, whose full name is such as "
                f"'/job:worker/task:0/device:GPU:0'.{_meant(words)}"
            ) from None
    return job, replica, task, kind, index


def _meant(words: list[str]) -> str:
    found = nearest(words[0].lower(), ("job", "replica", "task", "device", *_SHORT_TYPES))
    if found and found != words[0].lower():
        return f" Did you mean '{':'.join([f'/{found}', *words[1:]])}'?"
    if words[0].isidentifier() and not found and all(each.isdecimal() for each in words[1:]):
        task = "".join(f"/task:{each}" for each in words[1:])
        return f" Did you mean '/job:{words[0]}{task}'?"
    return ""


def _index(values: list[str]) -> int | None:
    if len(values) > 1:
        raise ValueError
    return None if not values or values[0] == "*" else int(values[0])


@lru_cache(maxsize=4096)
def canonical_name(device: str) -> str:
    """The canonical form of a device name written in any way; ValueError when it is none."""
    return _format(*_parse(device))


@lru_cache(maxsize=16384)
def merge_names(outer: str, inner: str) -> str:
    """The canonical name of `outer` with the fields that `inner` sets."""
    return _format(*_merge_fields(_parse(outer), _parse(inner)))


@lru_cache(maxsize=4096)
def task_name(device: str) -> str:
    """`/job:x/replica:0/task:n` of a full device name."""
    job, replica, task, _, _ = _parse(device)
    return _format(job, replica or 0, task, None, None)


def device_type(device: str) -> str | None:
    """The device type in a name, or None."""
    return _parse(device)[3]


def is_prefix(partial: str, full: str) -> bool:
    """Whether every field that `partial` sets is equal in `full`."""
    return all(p is None or p == f for p, f in zip(_parse(partial), _parse(full), strict=True))


def as_string(device: object) -> str:
    """The text of a string or DeviceSpec; None is the empty one."""
    if device is None:
        return ""
    if callable(device) and not hasattr(device, "to_string"):
        raise TypeError(
            f"A device is a name such as '/job:ps/task:0', got {device!r}. A function in tf.device is called with each "
            "operation and returns a name; is the call that makes it lacking, as of tf.train.replica_device_setter(...)?"
        )
    return device.to_string() if hasattr(device, "to_string") else str(device)


def merge_device(spec: object) -> Callable[[Any], str]:
    """A device function that merges `spec` under the device that an op already has (the op's own fields win)."""
    text = canonical_name(as_string(spec))

    def merge(op: Any) -> str:
        return merge_names(text, op.device)

    return merge
