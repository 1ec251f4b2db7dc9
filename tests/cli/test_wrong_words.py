"""Who errs in a command reads one line: what was wrong, what there is, and the next step."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from weft.cli.command_line import COMMANDS, main
from weft.distributed.server.server import Server

# The words of a command, and the parts that the line has.
_WRONG: dict[str, tuple[str, ...]] = {
    "": ("required: COMMAND, one of run, launch, task",),
    "runn program.py": ("there is no command 'runn'", "did you mean 'run'?"),
    "--verison": ("unrecognized arguments: --verison", "did you mean '--version'?"),
    "run": ("weft run: error", "PROGRAM"),
    "run missing.py": ("the program 'missing.py' does not exist",),
    "run .": ("the program '.' is not a file",),
    "run --verbose program.py": ("unrecognized arguments: --verbose; an option of the program stands behind PROGRAM",),
    "ray program.py": ("there is no command 'ray'; a job in a Ray cluster is started by 'weft launch --on ray PROGRAM'",),
    "slurm program.py": ("there is no command 'slurm'", "'srun weft task PROGRAM'"),
    "kubernetes": ("there is no command 'kubernetes'", "'weft k8s manifest'"),
    "launch": ("required: PROGRAM",),
    "launch script.sh": ("'script.sh' is no Python that this interpreter reads: line 2: invalid syntax: 'echo hi'",),
    "launch binary.py": ("the program 'binary.py' is no Python",),
    "launch job.toml": ("the program 'job.toml' is no Python: a job's description stands behind --job",),
    "run train.ipynb": ("the program 'train.ipynb' is no Python: `jupyter nbconvert --to script`",),
    "launch folder": ("the program 'folder' is not a file",),
    "launch --job folder": ("the job's file 'folder' cannot be read: Is a directory",),
    "launch --job": ("--job: expected one argument",),
    "launch --worker -1 program.py": ("--worker: expected a number of tasks, 0 or more, got '-1'",),
    "launch --worker 1.5 program.py": ("--worker: expected a number of tasks, 0 or more, got '1.5'",),
    "launch --ps= program.py": ("--ps: expected a number of tasks, 0 or more, got ''",),
    "launch --wroker 2 program.py": ("unrecognized arguments: --wroker; did you mean '--worker'?",),
    "launch --wacth program.py": ("did you mean '--watch'?",),
    "launch --num_workers=2 program.py": ("did you mean '--worker'?",),
    "launch -n 2 program.py": ("unrecognized arguments: -n; an option of the program stands behind PROGRAM",),
    "launch --until worker program.py": ("--until worker: there is no such task, only worker:0",),
    "launch --cpus 0 program.py": ("--cpus: expected a number of cores above 0, got '0'",),
    "launch --cpus wroker=2 program.py": ("--cpus: there is no role 'wroker'", "Did you mean 'worker'?"),
    "launch --gpus -1 program.py": ("--gpus: expected a number, 0 or more, got '-1'",),
    "launch --memory -lots program.py": ("--memory: expected one argument; a value that begins with a hyphen", "--memory=-1"),
    "launch --memory 8GB program.py": ("--memory: expected bytes above 0, such as 500M or 8Gi, got '8GB'",),
    "launch --env =VALUE program.py": ("--env: '' cannot be the name of an environment variable", "as in NAME=VALUE"),
    "launch --env worker:1A=1 program.py": ("--env: '1A' cannot be the name of an environment variable",),
    "launch --start 3 --worker 2 program.py": ("start: expected a number from 0 to 2, which there may be, got 3",),
    "launch --max-restarts many program.py": ("--max-restarts: expected a number of restarts, 0 or more, got 'many'",),
    "launch --watch-port 99999 program.py": ("--watch-port: expected a port, 1 to 65535, got '99999'",),
    "launch --hosts hosts.txt program.py": ("expected names of hosts, and 'hosts.txt' is a file", "$(paste -sd, hosts.txt)"),
    "launch --hosts a,,b program.py": ("--hosts: expected HOST or HOST:TASKS, such as b:4, got ''",),
    "launch --hosts a --on ray program.py": ("--on ray and --hosts: Ray has hosts of its own",),
    "run -m package": ("unrecognized arguments: -m; PROGRAM is a file, that of a package is PACKAGE/__main__.py",),
    "run package": ("'package' is not a file, but a folder: its program is package/__main__.py",),
    "run program": ("the program 'program' does not exist; did you mean 'program.py'?",),
    "run package.__main__": ("does not exist; did you mean 'package/__main__.py'?",),
    "run porgram.py": ("the program 'porgram.py' does not exist; did you mean 'program.py'?",),
    "launch worker=2 program.py": ("the program 'worker=2' does not exist; did you mean '--worker 2'?",),
    "launch ps:1 program.py": ("the program 'ps:1' does not exist; did you mean '--ps 1'?",),
    "launch --port 2222 program.py": ("unrecognized arguments: --port; did you mean '--port-base'?",),
    "launch missing.py": ("the program 'missing.py' does not exist",),
    "launch --workers 2 program.py": ("unrecognized arguments: --workers", "did you mean '--worker'?"),
    "launch --worker two program.py": ("--worker: expected a number of tasks, 0 or more, got 'two'",),
    "launch --worker 0 program.py": ("there is no task to start",),
    "launch --chief 2 program.py": ("--chief: a cluster has at most one, got '2'",),
    "launch --until worker:3 program.py": ("--until worker:3: there is no such task, only worker:0",),
    "launch --restart always program.py": ("invalid choice: 'always'", "on-failure"),
    "launch --env NAME program.py": ("--env: expected NAME=VALUE, got 'NAME'",),
    "launch --env wroker:A=1 program.py": ("there is no role 'wroker'", "Did you mean 'worker'?"),
    "launch --memory lots program.py": ("--memory: expected bytes above 0, such as 500M or 8Gi, got 'lots'",),
    "launch --memory worker=lots program.py": ("--memory: expected bytes above 0",),
    "launch --cpus worker=two program.py": ("--cpus: expected a number, or ROLE=number, got 'worker=two'",),
    "launch --grace soon program.py": ("--grace: expected seconds, 0 or more, got 'soon'",),
    "launch --on rya program.py": ("invalid choice: 'rya'", "did you mean 'ray'?"),
    "launch --port-base 70000 --hosts a program.py": ("--port-base: expected a port, 1 to 65535, got '70000'",),
    "launch --hosts a:2222 program.py": ("--hosts: expected at most 1,000 tasks on a host, got 'a:2222'", "--port-base"),
    "launch --hosts a:2 --worker 2 --port-base 65535 program.py": ("need ports from 65535 on", "65535 is the last"),
    "launch --ray-address host:1 program.py": ("--ray-address is for a job on Ray: add --on ray",),
    "launch --python python3 program.py": ("--python is for tasks on other hosts: add --hosts A,B",),
    "launch --port-base 9000 program.py": ("--port-base is for tasks on other hosts: add --hosts A,B",),
    "launch --worker 99999999999 program.py": ("worker: expected at most 100,000 tasks, got 99,999,999,999",),
    "launch --job missing.toml": ("the job's file 'missing.toml' cannot be read",),
    "task program.py": ("no scheduler has started this process", "srun", "TF_CONFIG", "On one machine: weft launch"),
    "task --task_index 0 program.py": (
        "unrecognized arguments: --task_index; which task this is",
        "the scheduler or TF_CONFIG",
    ),
    "task --signals SIGFOO program.py": ("--signals: expected signals such as SIGTERM,SIGUSR1", "'SIGFOO' is no signal"),
    "task --signals SIGKILL program.py": ("'SIGKILL' is no signal that a process can take",),
    "k8s manifest --name n --image i --namespace a_b program.py": ("--namespace: expected at most 63 small letters", "'a_b'"),
    "k8s manifest --name n --image i --worker 9000 program.py": ("the addresses of 9000 tasks take", "a shorter --name"),
    "k8s apply": ("invalid choice: 'apply'", "weft k8s manifest ... PROGRAM | kubectl apply -f -"),
    "k8s --name n": ("unrecognized arguments: --name; options stand behind COMMAND, one of manifest",),
    "k8s manifst": ("invalid choice: 'manifst'", "did you mean 'manifest'?"),
    "k8s manifest --name A_B --image i program.py": ("--name: expected at most 46 small letters, digits and hyphens",),
    "k8s manifest --name n --image i --worker 0 program.py": ("there is no task to start",),
    "k8s manifest --name n --image i --port 0 program.py": ("--port: expected a port, 1 to 65535, got '0'",),
    "k8s manifest --name n --image i --cpus zero program.py": ("--cpus: expected a number, or ROLE=number, got 'zero'",),
    "task --join 127.0.0.1:1 --as worker program.py": ("--as: expected a task, such as worker:2, got 'worker'",),
    "task --join 127.0.0.1:1 --as worker:x program.py": ("--as: expected a task, such as worker:2, got 'worker:x'",),
    "task --join nowhere program.py": ("'nowhere' is no target such as grpc://host:port",),
    "task --as worker:1 program.py": ("--as is for a task that joins a cluster: add --join TARGET",),
    "k8s": ("required: COMMAND, one of manifest",),
    "k8s manifest program.py": ("required: --name, --image",),
    "stop": ("required: TARGET",),
    "stop localhost": ("'localhost' is no target such as grpc://host:port", "with a port from 0 to 65535"),
    "stop --force localhost:1": ("unrecognized arguments: --force (see",),
    "stop grpc://127.0.0.1:99999": ("with a port from 0 to 65535",),
    "stop http://127.0.0.1:1": ("it has no scheme, as '127.0.0.1:1'",),
    "stop --grace inf localhost:1": ("--grace: expected seconds, 0 or more, got 'inf'",),
    "doctor --timeout 0": ("--timeout: expected seconds, more than 0, got '0'",),
    "doctor nonsense": ("'nonsense' is no target such as grpc://host:port",),
    "watch": ("required: TARGET",),
    "watch --interval 0 localhost:1": ("--interval: expected seconds, more than 0, got '0'",),
    "trace --seconds 0 localhost:1": ("--seconds: expected seconds, more than 0, got '0'",),
    "top localhost": ("'localhost' is no target such as grpc://host:port",),
    "watch --port x localhost:1": ("--port: expected a port, 0 to 65535, got 'x'",),
    "trace --seconds soon localhost:1": ("--seconds: expected seconds, more than 0, got 'soon'",),
    "checkpoint": ("required: ACTION, one of ls, show",),
    "checkpoint list .": ("invalid choice: 'list'", "did you mean 'ls'?"),
    "checkpoint verfy .": ("did you mean 'verify'?",),
    "checkpoint export one out.xyz": ("'out.xyz' should end in .npz or .safetensors",),
    "checkpoint diff one two --tolerance x": ("--tolerance: expected a number, 0 or more, got 'x'",),
    "credentials tokn": ("did you mean 'token'?",),
    "credentials token": ("required: -o/--output",),
    "credentials token --out=file": ("required: -o/--output, and there is no --out; did you mean '--output'?",),
    "k8s manifest program.py --nam=job": ("required: --name, --image, and there is no --nam; did you mean '--name'?",),
    "credentials authority --days 0 folder": ("--days: expected a number of days, 1 or more, got '0'",),
    "credentials issue folder": ("required: NAME",),
    "saved-model show --dir folder": ("SavedModel file does not exist at: folder/{saved_model.pbtxt|saved_model.pb}",),
    "saved-model --tag serve": ("unrecognized arguments: --tag; options stand behind ACTION, one of show, run",),
    "saved-model show --dir folder --tag serve": ("unrecognized arguments: --tag serve; did you mean '--tag_set'?",),
    "saved-model sho": ("did you mean 'show'?",),
    "credentials": ("required: KIND, one of token, authority",),
    "saved-model": ("required: ACTION, one of show, run",),
    "saved-model show": ("required: --dir",),
    "completion fsh": ("invalid choice: 'fsh'", "did you mean 'fish'?"),
}


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("TF_CONFIG", "WEFT_CLUSTER", "SLURM_PROCID"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "program.py").write_text("print(1)\n")
    (tmp_path / "script.sh").write_text("#!/bin/sh\necho hi\n")
    (tmp_path / "binary.py").write_bytes(b"\x7fELF\0\0")
    (tmp_path / "job.toml").write_text('program = "program.py"\n')
    (tmp_path / "train.ipynb").write_text("{}")
    (tmp_path / "hosts.txt").write_text("a\nb\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__main__.py").write_text("print(1)\n")


@pytest.mark.parametrize("words", _WRONG)
def test_a_wrong_word_is_told_in_one_line(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words.split())
    told = capsys.readouterr().err
    assert ended.value.code == 2
    assert told.count("\n") == 1
    assert told.startswith("weft")
    assert not [part for part in _WRONG[words] if part not in told], told


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ('program = "program.py"\nworkers = 2\n', ("there is no key 'workers'", "[roles.worker] with count = 2")),
        ('program = "program.py"\n[worker]\ncount = 2\n', ("there is no key 'worker'", "[roles.worker] with count = 2")),
        ('[job]\nprogram = "program.py"\n', ("there is no key 'job'", "[roles.worker] with count = 2")),
        ('program = "program.py"\n[roles.worker]\ncout = 2\n', ("no key 'roles.worker.cout'", "Did you mean 'count'?")),
        (
            'program = "program.py"\n[roles.worker]\ncount = "two"\n',
            ("roles.worker.count: expected a whole number, got 'two'",),
        ),
        ("[roles.worker]\ncount = 2\n", ("'program' is missing: the Python file that each task runs",)),
        ("[roles.worker]\ncount = two\n", ("this is no TOML", "line 2")),
        ("program: program.py\n", ("this is no TOML", 'lines such as program = "train.py", [roles.worker] and count = 2')),
        ('{"program": "program.py"}', ("this is no TOML", "line 1", 'lines such as program = "train.py"')),
        (
            'program = "program.py"\nrestart = "always"\n',
            ("restart: expected a table, got 'always'; as in [restart] with policy = \"on-failure\"",),
        ),
        ('program = "program.py"\n[roles]\nworker = 2\n', ("roles.worker: expected a table", "[roles.worker] with count = 2")),
        ('program = "program.py"\nargs = ["--x"]\n', ("there is no key 'args'", "Did you mean 'arguments'?")),
        ('program = "program.py"\nenv = ["A=1"]\n', ("there is no key 'env'", "Did you mean 'environment'?")),
        ('script = "program.py"\n', ("there is no key 'script'", "Did you mean 'program'?")),
        ('program = "program.py"\narguments = "--x"\n', ("expected a list, got '--x'; as in arguments = [\"--steps=10\"]",)),
        (
            'program = "program.py"\n[roles.worker]\nreplicas = 2\n',
            ("there is no key 'roles.worker.replicas'", "Did you mean 'count'?"),
        ),
        (
            'program = "program.py"\n[roles.worker]\nmemory = 8\n',
            ('roles.worker.memory: expected text, got 8; as in memory = "8Gi"',),
        ),
        ('program = "program.py"\n[roles.worker]\ncount = -2\n', ("worker: expected a number of tasks, 0 or more, got -2",)),
        ('program = "program.py"\n[roles.chief]\ncount = 2\n', ("chief: a cluster has at most one, got 2",)),
    ],
)
def test_a_wrong_line_of_a_jobs_file_is_told(
    text: str, parts: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "job.toml").write_text(text)
    with pytest.raises(SystemExit):
        main(["launch", "--job", "job.toml"])
    told = capsys.readouterr().err
    assert told.startswith("weft launch: error: job.toml: ")
    assert told.count("\n") == 1
    assert not [part for part in parts if part not in told], told


@pytest.mark.parametrize("command", ["stop", "top", "trace"])
def test_a_server_that_is_not_there_is_told_with_what_to_look_for(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    assert main([command, f"127.0.0.1:{port}"]) == 1
    told = capsys.readouterr().err
    assert told.startswith(f"weft {command}: 127.0.0.1:{port}: ")
    assert "nothing listens there: is its process running, at that port?" in told


def test_a_checkpoint_that_is_not_there_is_told_with_how_one_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["checkpoint", "show", "missing"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "without .index and .data" in told


def test_a_file_in_the_place_of_a_folder_of_checkpoints_is_told_in_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["checkpoint", "ls", "program.py"]) == 2
    assert capfd.readouterr().err == "weft checkpoint: 'program.py' is no folder\n"


def test_a_page_whose_port_is_taken_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with Server.create_local_server() as server, socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["watch", "--port", str(port), server.target]) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert str(port) in told


@pytest.mark.parametrize("command", COMMANDS)
def test_help_says_what_a_command_does_and_what_each_argument_is(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    text = capsys.readouterr().out
    assert ended.value.code == 0
    description = text.split("\n\n")[1]
    assert description[0].isupper()
    assert description.rstrip()[-1] in ".:"
    assert "`weft" not in description.partition(".")[0]
