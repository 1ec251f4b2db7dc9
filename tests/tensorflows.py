"""The TensorFlows that tests compare with: each in an environment of its own, made by `make interop`."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain
from typing import Final, NamedTuple

import pytest

from weft.runtime.state.session_state import DETERMINISM_VARIABLE

VARIABLES: Final = {"2.21": "WEFT_ORACLE_PYTHON", "1.15": "WEFT_ORACLE_PYTHON_1"}
"""By version, the environment's variable that names the Python which has it."""

_SERVE: Final = """
import json, os, sys
import tensorflow.compat.v1 as tf
server = tf.train.Server(json.loads(sys.argv[1]), job_name=sys.argv[2], task_index=int(sys.argv[3]))
print("up", flush=True)
sys.stdin.read()
os._exit(0)
"""


def interpreter(version: str) -> str:
    """The Python that has a TensorFlow; skips the test where there is none."""
    found = os.environ.get(VARIABLES[version])
    if not found:
        pytest.skip(f"{VARIABLES[version]} names no Python that has TensorFlow {version} (make interop)")
    return found


def environment() -> dict[str, str]:
    """The environment of a TensorFlow's process: quiet, and without a GPU.

    Nor is it told to be deterministic, as weft is in these tests: 2.21 then has cross entropies of the other sign.
    """
    kept = {name: value for name, value in os.environ.items() if name != DETERMINISM_VARIABLE}
    return {**kept, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        found = [stack.enter_context(socket.create_server(("localhost", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in found]


class Started(NamedTuple):
    """A server of TensorFlow's: its target and the process that it has for itself."""

    target: str
    process_id: int


@contextmanager
def servers(version: str, jobs: Mapping[str, int]) -> Iterator[dict[str, list[str]]]:
    """Servers of TensorFlow's, so many tasks of each job, each in a process of its own; yields their targets by job."""
    with started_servers(version, jobs) as started:
        yield {job: [each.target for each in of_job] for job, of_job in started.items()}


@contextmanager
def started_servers(version: str, jobs: Mapping[str, int]) -> Iterator[dict[str, list[Started]]]:
    """The same with their processes, for tests in which something happens to one."""
    python = interpreter(version)
    ports = iter(_free_ports(sum(jobs.values())))
    cluster = {job: [f"localhost:{next(ports)}" for _ in range(count)] for job, count in jobs.items()}
    with ExitStack() as stack:
        processes = {
            job: [
                stack.enter_context(_process([python, "-c", _SERVE, json.dumps(cluster), job, str(task)]))
                for task in range(len(addresses))
            ]
            for job, addresses in cluster.items()
        }
        for each in chain.from_iterable(processes.values()):
            assert each.stdout is not None
            assert each.stdout.readline() == "up\n"
        yield {
            job: [Started(f"grpc://{address}", each.pid) for address, each in zip(addresses, processes[job], strict=True)]
            for job, addresses in cluster.items()
        }


@contextmanager
def _process(command: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=environment()) as started:
        try:
            yield started
        finally:
            started.kill()
