"""What a pod's task takes out of the certificates of its role."""

from pathlib import Path

import pytest

from weft.cli.command_line import main
from weft.cli.pod_credentials import own_credentials
from weft.credentials.credentials import Credentials, task_identity
from weft.jobs.description import JobError


def test_a_task_has_its_own_certificate_where_nobody_else_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    issued = tmp_path / "keys"
    main(["credentials", "authority", str(issued)])
    main(["credentials", "issue", str(issued), "worker:0", "worker:1"])
    for each in issued.iterdir():
        each.chmod(0o440)
    found = own_credentials({"WEFT_ISSUED_CREDENTIALS": str(issued)}, "worker", 1)
    folder = Path(found["WEFT_CREDENTIALS"])
    assert sorted(each.name for each in folder.iterdir()) == ["authority.pem", "worker-1.pem"]
    assert folder.stat().st_mode & 0o077 == 0
    # They can be used, which takes that others cannot read them.
    assert Credentials.of_folder(folder, task_identity("worker", 1)).identity == "worker-1.weft"


def test_without_a_folder_of_certificates_there_is_nothing_to_do(tmp_path: Path) -> None:
    assert own_credentials({}, "worker", 0) == {}
    with pytest.raises(JobError, match="the certificate of worker:0 cannot be read"):
        own_credentials({"WEFT_ISSUED_CREDENTIALS": str(tmp_path)}, "worker", 0)


def test_a_manifest_is_made_of_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["k8s", "manifest", "--name=t", "--image=i", "--format=json", f"--credentials={tmp_path}/keys", "train.py"]
    with pytest.raises(SystemExit):
        main(words)
    assert "there is no folder" in capsys.readouterr().err
    main(["credentials", "authority", str(tmp_path / "keys")])
    with pytest.raises(SystemExit):
        main(words)
    assert "weft credentials issue FOLDER worker-0" in capsys.readouterr().err
    main(["credentials", "issue", str(tmp_path / "keys"), "worker:0"])
    capsys.readouterr()
    assert main(words) == 0
    told = capsys.readouterr().out
    assert "BEGIN PRIVATE KEY" in told
    assert (tmp_path / "keys" / "authority.key").read_text() not in told
