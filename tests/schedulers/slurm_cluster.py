"""A Slurm of its own on this machine: munged, slurmctld and two slurmd, whose nodes have an address each.

Their names stand in a hosts file that only they see, in a mount namespace of their own; everything they keep is in one folder.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

NODES = ("weft-n1", "weft-n2")
_NEEDED = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "scontrol", "unshare")
_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
_READY_S = 60.0

_CONFIGURATION = """
ClusterName=weft
SlurmctldHost=localhost
SlurmctldPort={ports[0]}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
MpiDefault=none
ReturnToService=2
KillWait=30
SlurmdParameters=config_overrides
InactiveLimit=0
JobRequeue=1
NodeName=weft-n1 NodeHostname=localhost NodeAddr=127.0.0.2 Port={ports[1]} CPUs=4 State=UNKNOWN
NodeName=weft-n2 NodeHostname=localhost NodeAddr=127.0.0.3 Port={ports[2]} CPUs=4 State=UNKNOWN
PartitionName=all Nodes=weft-n[1-2] Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
"""
_START = """
mount --bind {folder}/hosts /etc/hosts
exec 3<&0
munged --force --foreground --key-file={folder}/munge.key --socket={folder}/munge.socket --pid-file={folder}/munged.pid \
  --log-file={folder}/munged.log --seed-file={folder}/munge.seed &
for i in $(seq 100); do [ -S {folder}/munge.socket ] && break; sleep 0.1; done
slurmctld -D -f {folder}/slurm.conf &
slurmd -D -N weft-n1 -f {folder}/slurm.conf &
slurmd -D -N weft-n2 -f {folder}/slurm.conf &
echo up
cat <&3 >{folder}/end
kill $(jobs -p)
wait
"""


def what_is_missing() -> str:
    """Why there can be no such Slurm here; empty where there can."""
    lacking = [name for name in _NEEDED if shutil.which(name, path=_PATH) is None]
    if lacking:
        return f"no {', '.join(lacking)} on this machine: make slurm installs them where apt-get can"
    if os.geteuid() != 0:
        return "slurmd and mount namespaces need root"
    tried = subprocess.run(["unshare", "-m", "true"], capture_output=True, text=True)
    return f"no mount namespaces: {tried.stderr.strip()}" if tried.returncode else ""


class SlurmCluster:
    """Runs until `stop`.

    Args:
        folder: an empty folder.
        ports: three free ports.
    """

    def __init__(self, folder: Path, ports: list[int]) -> None:
        folder.chmod(0o755)
        self.folder = folder
        for name in ("state", *(f"spool-{node}" for node in NODES)):
            (folder / name).mkdir()
        (folder / "slurm.conf").write_text(_CONFIGURATION.format(folder=folder, ports=ports))
        (folder / "munge.key").write_bytes(os.urandom(1024))
        (folder / "munge.key").chmod(0o600)
        (folder / "hosts").write_text(f"127.0.0.1 localhost {socket.gethostname()}\n127.0.0.2 weft-n1\n127.0.0.3 weft-n2\n")
        self.environment = {**os.environ, "PATH": _PATH, "SLURM_CONF": f"{folder}/slurm.conf"}
        with (folder / "daemons.log").open("wb") as log:
            self._daemons = subprocess.Popen(
                ["unshare", "-m", "bash", "-c", _START.format(folder=folder)], stdin=subprocess.PIPE, stdout=log, stderr=log,
                env=self.environment, start_new_session=True,
            )  # fmt: skip
        try:
            self._wait_until_ready()
        except BaseException:
            self.stop()
            raise

    def _wait_until_ready(self) -> None:
        deadline_s = time.monotonic() + _READY_S
        while time.monotonic() < deadline_s:
            shown = self.run("sinfo", "-h", "-o", "%T %D", check=False).stdout
            if shown.split() == ["idle", str(len(NODES))]:
                return
            time.sleep(0.2)
        raise RuntimeError(f"Slurm is not ready after {_READY_S:g} s: {shown!r}\n{(self.folder / 'daemons.log').read_text()}")

    def run(self, *command: str, check: bool = True, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a command of Slurm's; `more` are variables of its environment."""
        return subprocess.run(
            command, capture_output=True, text=True, check=check, env={**self.environment, **more}, cwd=self.folder, timeout=300
        )

    def batch(self, script: str, *options: str, **more: str) -> str:
        """Submit a script; return the job's number. Its output goes to `job.out` in the folder."""
        path = self.folder / "job.sh"
        path.write_text(f"#!/bin/sh\n{script}")
        told = self.run(
            "sbatch", "--parsable", "--open-mode=append", "-o", f"{self.folder}/job.out", *options, str(path), **more
        )
        return told.stdout.strip()

    def output(self) -> str:
        """What the job has written so far."""
        path = self.folder / "job.out"
        return path.read_text() if path.exists() else ""

    def wait_for(self, text: str, limit_s: float = 120.0) -> None:
        """Block until the job has written a text."""
        deadline_s = time.monotonic() + limit_s
        while text not in self.output():
            if time.monotonic() >= deadline_s:
                raise TimeoutError(f"{text!r} is not in the job's output after {limit_s:g} s:\n{self.output()}")
            time.sleep(0.1)

    def wait_for_end(self, job: str, limit_s: float = 120.0) -> str:
        """Block until the job has ended; return its last state, such as `COMPLETED`."""
        deadline_s = time.monotonic() + limit_s
        while True:
            shown = self.run("scontrol", "show", "job", job).stdout
            state = next(word.partition("=")[2] for word in shown.split() if word.startswith("JobState="))
            if state not in ("PENDING", "RUNNING", "COMPLETING", "REQUEUED"):
                return state
            if time.monotonic() >= deadline_s:
                raise TimeoutError(f"job {job} has not ended after {limit_s:g} s, it is {state}:\n{self.output()}")
            time.sleep(0.2)

    def begin_at_once(self, job: str, limit_s: float = 90.0) -> None:
        """Have a job that was put back begin without the wait that Slurm gives it; block until it runs."""
        deadline_s = time.monotonic() + limit_s
        while "JobState=RUNNING" not in (shown := self.run("scontrol", "show", "job", job).stdout):
            if "JobState=PENDING" in shown:
                self.run("scontrol", "update", f"JobId={job}", "StartTime=now", check=False)
            if time.monotonic() >= deadline_s:
                raise TimeoutError(f"job {job} does not begin:\n{shown}")
            time.sleep(1.0)

    def stop(self) -> None:
        """End the jobs and the daemons."""
        self.run("scancel", "--user=root", check=False)
        if self._daemons.stdin is not None:
            self._daemons.stdin.close()
        try:
            self._daemons.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self._daemons.pid, signal.SIGKILL)
            self._daemons.wait()
