"""A real Kubernetes API server with its etcd on this machine: no nodes, so nothing runs; what it is given is checked."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Final

from weft.platform.hosts.free_ports import free_ports

ROOT: Final = Path(__file__).parents[2]
_TOKEN: Final = "of-the-administrator"
_PLURALS: Final = {
    "Secret": "secrets", "Service": "services", "Job": "jobs", "PodDisruptionBudget": "poddisruptionbudgets", "Pod": "pods",
    "JobSet": "jobsets", "TFJob": "tfjobs",
}  # fmt: skip
_STARTS_S: Final = 120.0

Object = dict[str, Any]


def server_binary() -> str | None:
    """The server that there is: on the path, where one of another release may be, or built by `make api-server`."""
    built = ROOT / "build/kubernetes/kube-apiserver"
    return os.environ.get("KUBE_APISERVER") or shutil.which("kube-apiserver") or (str(built) if built.exists() else None)


def what_is_missing() -> str:
    """Why no API server can run here; empty when one can."""
    missing = [name for name, found in (("kube-apiserver", server_binary()), ("etcd", shutil.which("etcd"))) if not found]
    return f"{' and '.join(missing)} not found: make api-server builds and installs them" if missing else ""


class RefusedError(Exception):
    """The server has refused an object."""


class ApiServer:
    """An API server with an empty store in a folder, which admits one user and lets him do all."""

    def __init__(self, folder: Path) -> None:
        self._processes: list[subprocess.Popen[bytes]] = []
        store, peers, port = free_ports(3)
        self.url = f"https://127.0.0.1:{port}"
        self.token = _TOKEN
        (folder / "tokens.csv").write_text(f"{_TOKEN},admin,admin,system:masters\n")
        key = folder / "key.pem"
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
        self._log = (folder / "log").open("wb")
        self._start(
            "etcd", f"--data-dir={folder}/etcd", f"--listen-client-urls=http://127.0.0.1:{store}",
            f"--advertise-client-urls=http://127.0.0.1:{store}", f"--listen-peer-urls=http://127.0.0.1:{peers}",
        )  # fmt: skip
        self._start(
            str(server_binary()),
            f"--etcd-servers=http://127.0.0.1:{store}",
            f"--secure-port={port}",
            "--bind-address=127.0.0.1",
            f"--cert-dir={folder}/certificates",
            f"--token-auth-file={folder}/tokens.csv",
            "--authorization-mode=AlwaysAllow",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--service-account-issuer=https://localhost",
            f"--service-account-signing-key-file={key}",
            f"--service-account-key-file={key}",
            "--disable-admission-plugins=ServiceAccount",
        )
        self._wait(folder)

    def _start(self, *command: str) -> None:
        self._processes.append(subprocess.Popen(command, stdout=self._log, stderr=subprocess.STDOUT))

    def _wait(self, folder: Path) -> None:
        gives_up_at = time.monotonic() + _STARTS_S
        while time.monotonic() < gives_up_at:
            with contextlib.suppress(OSError, RefusedError):
                self.ask("GET", "/readyz")
                self.ask("GET", "/api/v1/namespaces/default")
                return
            if any(process.poll() is not None for process in self._processes):
                break
            time.sleep(0.2)
        self.stop()
        raise AssertionError(f"the API server does not start: {(folder / 'log').read_text(errors='replace')[-2000:]}")

    def ask(self, method: str, path: str, body: Object | None = None, kind: str = "application/json") -> Any:
        """The answer to a request, JSON or text. Raises RefusedError with what the server says."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": kind}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", data, headers, method=method)
        try:
            # Its certificate is one that it has made itself just now.
            with urllib.request.urlopen(request, context=ssl._create_unverified_context(), timeout=30) as answer:
                text = answer.read().decode()
        except urllib.error.HTTPError as error:
            told = error.read().decode()
            raise RefusedError(json.loads(told).get("message", told) if told.startswith("{") else told) from None
        return json.loads(text) if text.startswith("{") else text

    def has(self, api: str) -> bool:
        """Whether it knows a group and version, such as policy/v1."""
        try:
            self.ask("GET", f"/apis/{api}")
        except RefusedError:
            return False
        return True

    def has_field(self, definition: str, field: str) -> bool:
        """Whether a type has a field in its own description, such as the `grpc` of io.k8s.api.core.v1.Probe."""
        return field in self.ask("GET", "/openapi/v2")["definitions"][definition]["properties"]

    def define(self, definition: Object) -> None:
        """Give it a CustomResourceDefinition, and wait until it serves the kind."""
        self.ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
        gives_up_at = time.monotonic() + _STARTS_S
        kind = {"apiVersion": _api_version(definition), "kind": definition["spec"]["names"]["kind"]}
        while True:
            try:
                self.ask("GET", _path(kind))
                return
            except RefusedError:
                if time.monotonic() > gives_up_at:
                    raise
                time.sleep(0.1)

    def create(self, made: Object, *, is_dry: bool = False) -> Object:
        """Give it an object, as `kubectl apply` does; returns what it keeps."""
        answer: Object = self.ask("POST", f"{_path(made)}{'?dryRun=All' if is_dry else ''}", made)
        return answer

    def names(self, kind: Object, selector: str) -> list[str]:
        """The objects of the same kind that have these labels."""
        answer = self.ask("GET", f"{_path(kind)}?labelSelector={selector}")
        return [each["metadata"]["name"] for each in answer["items"]]

    def stop(self) -> None:
        """End both processes."""
        for process in reversed(self._processes):
            process.terminate()
            process.wait()
        self._log.close()


def _api_version(definition: Object) -> str:
    return f"{definition['spec']['group']}/{definition['spec']['versions'][0]['name']}"


def _path(made: Object) -> str:
    api = made["apiVersion"]
    return f"/{'api' if api == 'v1' else 'apis'}/{api}/namespaces/default/{_PLURALS[made['kind']]}"
