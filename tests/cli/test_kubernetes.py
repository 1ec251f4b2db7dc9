"""`weft k8s manifest`, as a user types it."""

import json

import pytest
import yaml

from weft.cli.command_line import main

NEEDED = ["k8s", "manifest", "--name=t", "--image=i"]


@pytest.fixture(autouse=True)
def no_token(monkeypatch):
    monkeypatch.delenv("WEFT_CLUSTER_TOKEN", raising=False)
    monkeypatch.delenv("WEFT_CLUSTER_TOKEN_FILE", raising=False)


def test_yaml_and_json_tell_the_same(capsys, monkeypatch):
    monkeypatch.setenv("WEFT_CLUSTER_TOKEN", "s" * 64)
    assert main([*NEEDED, "--ps=1", "train.py"]) == 0
    text = capsys.readouterr().out
    assert not [line for line in text.splitlines() if ": &" in line or ": *" in line]
    documents = [*yaml.safe_load_all(text)]
    assert main([*NEEDED, "--format=json", "--ps=1", "train.py"]) == 0
    assert json.loads(capsys.readouterr().out)["items"] == documents
    assert documents[0]["stringData"] == {"token": "s" * 64}


def test_without_a_token_each_job_gets_a_fresh_one(tmp_path):
    tokens = set()
    for name in ("a", "b"):
        main([*NEEDED, "-o", str(tmp_path / name), "train.py"])
        tokens.add(next(yaml.safe_load_all((tmp_path / name).read_text()))["stringData"]["token"])
        assert (tmp_path / name).stat().st_mode & 0o077 == 0
    assert len(tokens) == 2


def test_a_programs_path_is_one_in_the_image(tmp_path, capsys):
    (tmp_path / "job.toml").write_text('program = "/app/train.py"\n[roles.worker]\ncount = 2\n')
    main([*NEEDED, "--format=json", f"--job={tmp_path}/job.toml"])
    jobs = [each for each in json.loads(capsys.readouterr().out)["items"] if each["kind"] == "Job"]
    assert jobs[0]["spec"]["template"]["spec"]["containers"][0]["command"][-1] == "/app/train.py"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["k8s"], "the following arguments are required: COMMAND"),
        (["k8s", "manifest", "p.py"], "the following arguments are required: --name, --image"),
        ([*NEEDED, "--kind=job", "p.py"], "argument --kind: invalid choice: 'job'"),
        ([*NEEDED, "--port=0", "p.py"], "expected a port, 1 to 65535, got '0'"),
        ([*NEEDED, "--token-file=none", "p.py"], "The cluster token should be in 'none', and there is no such file"),
    ],
)
def test_wrong_input_gets_one_line(capsys, arguments, message):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
