"""Real processes, which are small programs that know nothing of weft."""

import asyncio
import io
import os

import pytest

from weft.cli.cluster_job import ClusterJob
from weft.cli.display import PlainDisplay
from weft.cli.job_runner import JobRunner
from weft.jobs.description import JobDescription, Role
from weft.platform.hosts.free_ports import free_ports

FOREVER = "signal.pause()"


@pytest.fixture
def run():
    """Run a program as some tasks; return the exit code, the tasks' lines and the launcher's."""

    def launch(program, *args, grace_s=20.0, until=None, restarts=0, start=None, **counts):
        roles = tuple(Role(name, count, start=(start or {}).get(name)) for name, count in counts.items())
        addresses = [f"127.0.0.1:{port}" for port in free_ports(sum(counts.values()))]
        job = ClusterJob.of(JobDescription(program, roles, args), addresses)
        output, notes = io.StringIO(), io.StringIO()
        display = PlainDisplay([task.name for task in job.tasks], output, notes)
        last = next((task for task in job.tasks if task.name == until), None)
        exit_code = asyncio.run(JobRunner(job, display, grace_s, last, restarts).run())
        return exit_code, output.getvalue().splitlines(), notes.getvalue()

    return launch


def is_gone(pid):
    """Whether a process has ended; a zombie that nobody has waited for has."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_servers_that_never_end_are_stopped_when_the_workers_are_done(program, run):
    exit_code, output, notes = run(program(ps=FOREVER, worker="print('hi', args)"), "x", ps=2, worker=2)
    assert exit_code == 0
    assert sorted(output) == ["worker:0 | hi ['x']", "worker:1 | hi ['x']"]
    assert "stopping ps:0, ps:1" in notes
    assert "ps:1 stopped after" in notes


def test_a_server_that_ignores_sigterm_is_killed(program, run, tmp_path):
    # The worker waits until the server ignores it, or SIGTERM might come too early.
    fifo = str(tmp_path / "fifo")
    os.mkfifo(fifo)
    ps = f"signal.signal(signal.SIGTERM, signal.SIG_IGN)\nopen({fifo!r}, 'w').close()\nsignal.pause()"
    path = program(ps=ps, worker=f"open({fifo!r}).read()")
    exit_code, _, notes = run(path, ps=1, worker=1, grace_s=0.1)
    assert exit_code == 0
    assert "killing ps:0" in notes
    assert "ps:0 stopped (SIGKILL (exit code 137)) after" in notes


def test_a_failing_worker_ends_the_job_with_its_exit_code_and_its_words_once(program, run):
    worker = "if index == 1:\n    print('before')\n    sys.exit('the cause')\nsignal.pause()"
    exit_code, output, notes = run(program(ps=FOREVER, worker=worker), ps=1, worker=2)
    assert exit_code == 1
    assert "worker:1 | the cause" in output
    assert "worker:1 failed with exit code 1 after" in notes
    assert "its last words stand above, behind 'worker:1'; the job ends: --restart on-failure would start it again" in notes
    assert "the cause" not in notes
    assert "stopping ps:0, worker:0" in notes


def test_a_server_that_crashes_ends_the_job(program, run):
    exit_code, _, notes = run(program(ps="os.kill(os.getpid(), signal.SIGKILL)", worker=FOREVER), ps=1, worker=1)
    assert exit_code == 137
    assert "ps:0 failed with SIGKILL (exit code 137) after" in notes
    assert "it printed nothing" in notes


def test_lines_of_two_tasks_are_never_mixed(program, run):
    worker = "for i in range(2000):\n    sys.stdout.write('abc')\n    sys.stdout.write(f'def{i}\\n')"
    exit_code, output, _ = run(program(worker=worker), worker=2)
    assert exit_code == 0
    for name in ("worker:0", "worker:1"):
        assert [line for line in output if line.startswith(name)] == [f"{name} | abcdef{i}" for i in range(2000)]


def test_both_streams_are_shown_in_the_order_of_writing(program, run):
    _, output, _ = run(program(worker="print('1')\nprint('2', file=sys.stderr)\nprint('3', end='')"), worker=1)
    assert output == ["worker:0 | 1", "worker:0 | 2", "worker:0 | 3"]


def test_what_a_task_leaves_running_ends_with_the_job(program, run):
    child = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.pause()"
    worker = f"print(subprocess.Popen([sys.executable, '-c', {child!r}]).pid)"
    exit_code, [line], _ = run(program(worker=worker), worker=1)
    assert exit_code == 0
    pid = int(line.rpartition(" ")[2])
    while not is_gone(pid):
        os.sched_yield()


def test_tasks_have_no_input_and_their_own_environment(program, run):
    worker = "print(repr(sys.stdin.read()), os.environ['PYTHONUNBUFFERED'], os.environ['TF_CONFIG'][:11])"
    _, output, _ = run(program(worker=worker), worker=1)
    assert output == ["""worker:0 | '' 1 {"cluster":"""]


SERVES = (
    "from weft.platform.process.launcher_link import TaskNews, tell_launcher\ntell_launcher(TaskNews(serves=True))\n" + FOREVER
)


def test_a_job_with_one_client_ends_with_it_when_the_others_only_serve(program, run):
    worker = f"if index:\n    {SERVES.replace(chr(10), chr(10) + '    ')}\nprint('done')"
    exit_code, output, notes = run(program(worker=worker), worker=3)
    assert exit_code == 0
    assert output == ["worker:0 | done"]
    assert "worker:2 stopped after" in notes


def test_a_job_ends_with_the_task_that_the_user_named(program, run):
    exit_code, output, notes = run(program(worker=f"if index != 1:\n    {FOREVER}\nprint('done')"), worker=3, until="worker:1")
    assert exit_code == 0
    assert output == ["worker:1 | done"]
    assert "stopping worker:0, worker:2" in notes


def test_a_process_that_a_task_starts_is_not_taken_for_the_task(program, run):
    told = "from weft.platform.process.launcher_link import has_launcher; print(has_launcher())"
    worker = f"subprocess.run([sys.executable, '-c', {told!r}], check=True)\n{told}"
    exit_code, output, _ = run(program(worker=worker), worker=1)
    assert exit_code == 0
    assert output == ["worker:0 | False", "worker:0 | True"]


def test_a_task_that_fails_is_started_again_under_its_address(program, run, tmp_path):
    once = str(tmp_path / "once")
    worker = f"print(flags['worker_hosts'])\nif not os.path.exists({once!r}):\n    open({once!r}, 'x').close()\n    sys.exit(3)"
    exit_code, output, notes = run(program(worker=worker), worker=1, restarts=1)
    assert exit_code == 0
    assert len(output) == 2
    assert output[0] == output[1]
    assert "worker:0 failed with exit code 3 after" in notes
    assert "; it is started again, after a further failure not again" in notes


def test_a_job_begins_with_fewer_workers_and_says_how_the_others_join(program, run):
    text = "print(index, len(flags['worker_hosts'].split(',')))"
    exit_code, output, notes = run(program(ps=FOREVER, worker=text), start={"worker": 1}, ps=1, worker=3)
    assert exit_code == 0
    assert output == ["worker:0 | 0 3"]
    assert "worker:1, worker:2 may join later: weft task --join grpc://127.0.0.1:" in notes
