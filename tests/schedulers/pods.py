"""Pods without Kubernetes: each a process in a network namespace, with an address of its own and names from a server.

They are started as a manifest says: its command, its environment, its names. What Kubernetes does with them, the test does.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from weft.jobs.kubernetes.pods import ISSUED_VARIABLE
from weft.jobs.scheduled_place import CLUSTER_VARIABLE, ROLE_VARIABLE

_NODE = "weft-node"
_GATEWAY = "10.77.0.1"
_PROGRAM = str(Path(__file__).with_name("name_server.py"))
_END_S = 300.0
# The program takes this shell's place, so that signals reach it.
_NAMED = ("unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"')


def what_is_missing() -> str:
    """Why there can be no such pods here; empty where there can."""
    if shutil.which("ip") is None or os.geteuid() != 0:
        return "network namespaces need root, and 'ip' of iproute2"
    tried = subprocess.run(["ip", "netns", "add", "weft-try"], capture_output=True, text=True)
    subprocess.run(["ip", "netns", "delete", "weft-try"], capture_output=True)
    return f"no network namespaces: {tried.stderr.strip()}" if tried.returncode else ""


class Pods:
    """Pods of one job, and their name server; `stop` ends all.

    Args:
        folder: where they keep their logs.
        objects: the manifest's.
    """

    def __init__(self, folder: Path, objects: list[dict[str, object]]) -> None:
        self._folder = folder
        secrets = {each["metadata"]["name"]: each["stringData"] for each in objects if each["kind"] == "Secret"}
        self._secret = next(iter(secrets.values())).get("token", "")
        # What is mounted into pods, where they have certificates.
        for name, content in secrets.items():
            (folder / name).mkdir()
            for file, text in content.items():
                (folder / name / file).write_text(text)
        self._jobs = {each["metadata"]["name"]: each["spec"] for each in objects if each["kind"] == "Job"}
        self._names: dict[str, str] = {}
        self._file = folder / "names.json"
        self._write_names()
        self._spaces: list[str] = []
        self._last = 1
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self._space(_NODE)
        for command in (
            f"ip -n {_NODE} link add br0 type bridge", f"ip -n {_NODE} address add {_GATEWAY}/24 dev br0",
            f"ip -n {_NODE} link set br0 up",
        ):  # fmt: skip
            _run(command)
        command = ["ip", "netns", "exec", _NODE, sys.executable, _PROGRAM, _GATEWAY, str(self._file)]
        self._names_server = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert self._names_server.stdout is not None
        assert self._names_server.stdout.readline() == b"up\n"

    def _space(self, name: str) -> None:
        _run(f"ip netns add {name}")
        self._spaces.append(name)
        _run(f"ip -n {name} link set lo up")

    def _write_names(self) -> None:
        # Whole at every moment.
        new = self._file.with_suffix(".new")
        new.write_text(json.dumps(self._names))
        new.replace(self._file)

    def publish(self, pod: str, address: str) -> None:
        """Let a pod's name stand for an address from now on."""
        job, _, _ = pod.rpartition("-")
        self._names[f"{pod}.{self._jobs[job]['template']['spec']['subdomain']}"] = address
        self._write_names()

    def host(self) -> tuple[str, str]:
        """Make a host that none has had yet; returns its namespace and its address."""
        self._last += 1
        address, space = f"10.77.0.{self._last}", f"weft-{self._last}"
        self._space(space)
        settings = Path("/etc/netns") / space
        settings.mkdir(parents=True)
        # As in a pod, its own name stands for its address.
        (settings / "hosts").write_text(f"127.0.0.1 localhost\n{address} {space}\n")
        (settings / "resolv.conf").write_text(f"nameserver {_GATEWAY}\noptions timeout:1 attempts:1\n")
        for command in (
            f"ip link add p{self._last} netns {_NODE} type veth peer name eth0 netns {space}",
            f"ip -n {_NODE} link set p{self._last} master br0 up",
            f"ip -n {space} address add {address}/24 dev eth0", f"ip -n {space} link set eth0 up",
        ):  # fmt: skip
            _run(command)
        return space, address

    def join(self, name: str, target: str, arguments: Sequence[str], like: str) -> str:
        """Start a task of no pod's on a host of its own, which joins under its address as `name`; return the address.

        Args:
            name: the task, such as `worker:1`.
            target: a task of the cluster.
            arguments: the program and its arguments.
            like: the pod whose environment it has, but for its place. Its log is that of `name`.
        """
        space, address = self.host()
        job, _, _ = like.rpartition("-")
        [container] = self._jobs[job]["template"]["spec"]["containers"]
        told = self._environment(container, job)
        places = (CLUSTER_VARIABLE, ROLE_VARIABLE)
        own = {variable: value for variable, value in told.items() if variable not in places}
        command = [sys.executable, "-m", "weft", "task", "--join", target, "--as", name, "--address", f"{address}:2222"]
        self._run_in(space, name, [*command, *arguments], own)
        return address

    def _run_in(self, space: str, name: str, command: Sequence[str], environment: Mapping[str, str]) -> None:
        with (self._folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                ["ip", "netns", "exec", space, *_NAMED, space, *command],
                stdout=log,
                stderr=log,
                env={**os.environ, **environment},
            )

    def start(self, pod: str, *, publish: bool = True) -> str:
        """Start a pod, such as `train-worker-0`, under an address that none has had; return the address."""
        space, address = self.host()
        if publish:
            self.publish(pod, address)
        job, _, index = pod.rpartition("-")
        [container] = self._jobs[job]["template"]["spec"]["containers"]
        command = [sys.executable, "-m", "weft", *container["command"][1:]]
        self._run_in(space, pod, command, {**self._environment(container, job), "JOB_COMPLETION_INDEX": index})
        return address

    def _environment(self, container: Mapping[str, object], job: str) -> dict[str, str]:
        told = {each["name"]: each.get("value", self._secret) for each in container["env"]}
        return {**told, ISSUED_VARIABLE: str(self._folder / job)} if ISSUED_VARIABLE in told else told

    def log(self, pod: str) -> str:
        """What the pods of this name have written."""
        path = self._folder / f"{pod}.log"
        return path.read_text() if path.exists() else ""

    def wait_for(self, pod: str, text: str) -> None:
        """Block until a pod has written a text."""
        deadline_s = time.monotonic() + _END_S
        while text not in self.log(pod):
            if time.monotonic() >= deadline_s:
                raise TimeoutError(f"{pod} has not written {text!r} after {_END_S:g} s:\n{self.logs()}")
            time.sleep(0.1)

    def wait_for_end(self, pod: str) -> int:
        """Block until a pod has ended; return its exit code."""
        try:
            return self.processes[pod].wait(_END_S)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"{pod} has not ended after {_END_S:g} s:\n{self.logs()}") from None

    def logs(self) -> str:
        """What all pods have written, for a test that fails."""
        return "\n".join(f"--- {name}\n{self.log(name)}" for name in self.processes)

    def stop(self) -> None:
        """End the pods and take the namespaces away."""
        for process in [*self.processes.values(), self._names_server]:
            process.send_signal(signal.SIGKILL)
            process.wait()
        if self._names_server.stdout is not None:
            self._names_server.stdout.close()
        for space in self._spaces:
            subprocess.run(["ip", "netns", "delete", space], check=False)
            shutil.rmtree(f"/etc/netns/{space}", ignore_errors=True)


def _run(command: str) -> None:
    subprocess.run(command.split(), check=True)
