"""Jobs behind a real sshd on two addresses of this machine: `make ssh`."""

import os
import pwd
import shutil
import signal
import subprocess
import time
from http.client import HTTPException
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

from tests.schedulers.kinds import EXAMPLES, KINDS
from tests.schedulers.launched import ROOT, fails_with_its_words, launching, trains_to_its_end
from weft.platform.hosts.free_ports import free_ports

pytestmark = [pytest.mark.scheduler, pytest.mark.timeout(400)]

PROGRAM = str(Path(__file__).with_name("train.py"))
SSHD = "/usr/sbin/sshd"


@pytest.fixture
def launch(tmp_path):
    """Start `weft launch --hosts 127.0.0.2:2,127.0.0.3:2`, by an ssh that knows the way to a server of the test's own."""
    if not (Path(SSHD).exists() and shutil.which("ssh") and shutil.which("ssh-keygen")):
        pytest.skip("no sshd here: make ssh installs it where apt-get can")
    if os.geteuid() == 0:
        # Where it separates its privileges.
        Path("/run/sshd").mkdir(exist_ok=True)
    for name in ("host", "own"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)], check=True)
    [port] = free_ports(1)
    (tmp_path / "sshd.conf").write_text(
        f"Port {port}\nListenAddress 0.0.0.0\nHostKey {tmp_path}/host\nAuthorizedKeysFile {tmp_path}/own.pub\nUsePAM no\n"
        f"MaxStartups 6\nStrictModes no\nPidFile none\nPermitRootLogin yes\nSetEnv PYTHONPATH={ROOT} JAX_PLATFORMS=cpu\n"
    )
    user = pwd.getpwuid(os.geteuid()).pw_name
    (tmp_path / "ssh.conf").write_text(
        f"Host *\n  Port {port}\n  User {user}\n  IdentityFile {tmp_path}/own\n  StrictHostKeyChecking no\n"
        f"  UserKnownHostsFile {tmp_path}/known\n  LogLevel ERROR\n"
    )
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "ssh").write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {tmp_path}/ssh.conf "$@"\n')
    (folder / "ssh").chmod(0o755)
    with (tmp_path / "sshd.log").open("wb") as log:
        server = subprocess.Popen([SSHD, "-D", "-e", "-f", str(tmp_path / "sshd.conf")], stdout=log, stderr=log)
    while "listening" not in (tmp_path / "sshd.log").read_text():
        assert server.poll() is None, (tmp_path / "sshd.log").read_text()
        time.sleep(0.05)
    path = f"{folder}:{os.environ['PATH']}"
    with launching("--hosts", "127.0.0.2:2,127.0.0.3:2", PATH=path, PYTHONPATH=str(ROOT)) as start:
        yield start
    server.terminate()
    server.wait()


def test_a_job_trains_on_two_hosts_and_its_servers_are_stopped(launch, tmp_path):
    process = launch("--ps", "1", "--worker", "2", PROGRAM, "--steps=20", f"--model={tmp_path}/model")
    output, notes = process.communicate(timeout=300)
    assert process.returncode == 0, notes + output
    assert "ps:0     | ps:0 serves at grpc://127.0.0.2:" in output
    assert "worker:1 | worker:1 serves at grpc://127.0.0.3:" in output
    assert output.count("is done after step") == 2


@pytest.mark.parametrize("kind", [*KINDS, *EXAMPLES], ids=str)
def test_programs_of_all_kinds_train_and_end(launch, kind, tmp_path):
    trains_to_its_end(launch, kind, tmp_path)


def test_a_failure_comes_back_with_its_words_and_its_exit_code(launch, tmp_path):
    fails_with_its_words(launch, tmp_path)


def test_an_sshd_that_lets_few_in_at_a_time_gets_all_tasks_of_its_host(launch, tmp_path):
    program = tmp_path / "program.py"
    program.write_text("print('up')\n")
    process = launch("--hosts", "127.0.0.2:12", "--worker", "12", str(program))
    output, notes = process.communicate(timeout=300)
    assert (process.returncode, output.count("| up")) == (0, 12), notes + output


def test_a_task_ends_when_its_launcher_is_killed(launch, tmp_path):
    ended = tmp_path / "ended"
    program = tmp_path / "program.py"
    program.write_text(
        "import signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit())\nprint('up', flush=True)\n"
        f"try:\n    signal.pause()\nfinally:\n    open({str(ended)!r}, 'x').close()\n"
    )
    process = launch(str(program))
    assert process.stdout.readline() == "worker:0 | up\n"
    process.send_signal(signal.SIGKILL)
    while not ended.exists():
        time.sleep(0.05)


def test_the_live_page_is_reached_through_a_tunnel(launch, tmp_path):
    process = launch(
        "--watch", "--ps", "1", "--worker", "1", PROGRAM, "--steps=1000000", "--task_s=0.01", f"--model={tmp_path}/model"
    )
    note = next(line for line in iter(process.stderr.readline, "") if "live page at" in line)
    page = urlsplit(note.split()[-1]).port
    [port] = free_ports(1)
    tunnel = subprocess.Popen([f"{tmp_path}/bin/ssh", "-N", "-L", f"{port}:localhost:{page}", "127.0.0.2"])
    try:
        seen = ""
        while "worker:0" not in seen or "weight" not in seen:
            try:
                with urlopen(f"http://localhost:{port}/", timeout=10) as answer:
                    seen = answer.read().decode()
            except (OSError, HTTPException):
                assert tunnel.poll() is None
            time.sleep(0.1)
    finally:
        tunnel.terminate()
        tunnel.wait()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
