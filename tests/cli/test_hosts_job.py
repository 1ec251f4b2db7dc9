"""Tasks behind ssh: a stand-in for ssh that runs the other host's shell here."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from weft.cli.command_line import main
from weft.cli.host_places import Host, hosts_of, placed
from weft.cli.hosts_job import HostsJob
from weft.jobs.description import JobDescription, JobError, Role

ROOT = Path(__file__).parents[2]
# What sshd does: the user's shell gets the words after the host, and the input ends with the connection.
SSH = '#!/bin/sh\nwhile [ "$1" != "--" ]; do shift; done\necho "$2" >>"$SSH_LOG"\nexec sh -c "$3"\n'


def test_hosts_are_filled_one_after_the_other():
    hosts = hosts_of("a,me@b:2")
    assert hosts == [Host("a"), Host("b", 2, "me")]
    assert [(host.target, address) for host, address in placed(hosts, 3, 9000)] == [
        ("a", "a:9000"), ("me@b", "b:9000"), ("me@b", "b:9001"),
    ]  # fmt: skip


def test_a_host_that_is_named_twice_has_each_port_once():
    places = [address for _, address in placed(hosts_of("a:2,b,me@a:2"), 5, 9000)]
    assert places == ["a:9000", "a:9001", "b:9000", "a:9002", "a:9003"]


def test_an_address_of_ipv6_stands_in_brackets():
    assert hosts_of("[::1]:2")[0] == Host("[::1]", 2)
    assert hosts_of("[::1]")[0].target == "::1"


@pytest.mark.parametrize("text", ["", "a,,b", "a:", "a:x", "a:0", "-oProxyCommand=x", "a b"])
def test_what_is_no_host_is_refused(text):
    with pytest.raises(JobError, match="--hosts: expected HOST or HOST:TASKS, such as b:4, got"):
        hosts_of(text)


def test_hosts_that_take_too_few_tasks_are_told(capsys):
    with pytest.raises(SystemExit):
        main(["launch", "--hosts=a,b:2", "--worker=4", __file__])
    error = capsys.readouterr().err
    assert "--hosts: 4 tasks need a place each, and the hosts take 3; HOST:TASKS says how many" in error
    assert error.count("\n") == 1


def test_a_job_that_others_join_needs_a_token_that_they_know(capsys, monkeypatch):
    for name in ("WEFT_CLUSTER_TOKEN", "WEFT_CLUSTER_TOKEN_FILE", "WEFT_CREDENTIALS"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SystemExit):
        main(["launch", "--hosts=a,b", "--worker=2", "--start=1", __file__])
    assert "--start: who joins the job on these hosts later needs the cluster's token" in capsys.readouterr().err


def test_each_host_gives_its_gpus_to_its_tasks_in_turn():
    job = JobDescription(__file__, (Role("ps", 1), Role("worker", 3, gpus=2)))
    made = HostsJob.on(job, hosts_of("a:3,b"), "python3", 9000)
    given = [made.environments[task].get("CUDA_VISIBLE_DEVICES") for task in made.tasks]
    assert given == [None, "0,1", "2,3", "0,1"]


@pytest.fixture
def launch(tmp_path):
    """Run `weft launch --hosts 127.0.0.2,127.0.0.3` through the stand-in."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "ssh").write_text(SSH)
    (folder / "ssh").chmod(0o755)
    environment = {
        **os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "SSH_LOG": str(tmp_path / "log"), "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    environment.pop("WEFT_CLUSTER_TOKEN", None)
    command = [sys.executable, "-m", "weft", "launch", "--hosts", "127.0.0.2,127.0.0.3", "--python", sys.executable]

    def run(*arguments):
        ran = [*command, *arguments]
        return subprocess.run(ran, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=100)

    return run


TELL = "from weft.platform.process.launcher_link import TaskNews, tell_launcher\n"


def test_a_task_that_only_serves_there_is_stopped_and_its_last_words_are_heard(program, launch):
    serves = f"""{TELL}
def end(*_):
    print('last words')
    sys.exit(143)
signal.signal(signal.SIGTERM, end)
tell_launcher(TaskNews(serves=True))
signal.pause()"""
    served = "if index:\n    " + serves.strip().replace("\n", "\n    ")
    ran = launch("--worker", "2", program(worker=f"{served}\nprint('done')"))
    assert ran.returncode == 0, ran.stderr
    assert "worker:1 | last words" in ran.stdout
    assert "worker:1 stopped after" in ran.stderr


def test_what_a_task_tells_of_its_steps_is_no_line_of_its_own(program, launch):
    ran = launch(program(worker=f"{TELL}tell_launcher(TaskNews(step=7))\nprint('said')"))
    assert ran.stdout == "worker:0 | said\n", ran.stderr


def test_tasks_run_on_their_hosts_with_a_token_that_no_command_line_shows(program, launch, tmp_path):
    text = "print(job, index, flags['worker_hosts'], len(os.environ['WEFT_CLUSTER_TOKEN']), args)\nsys.exit(index)"
    ran = launch("--port-base", "9000", "--worker", "2", program(worker=text), "own")
    hosts = "127.0.0.2:9000,127.0.0.3:9000"
    assert f"worker:1 | worker 1 {hosts} 64 ['own']" in ran.stdout, ran.stderr
    assert ran.returncode == 1
    assert sorted((tmp_path / "log").read_text().split()) == ["127.0.0.2", "127.0.0.3"]
