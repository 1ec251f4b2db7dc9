"""Holders of one cluster's credentials accept each other under TLS 1.3, and nobody else."""

from __future__ import annotations

import datetime
import socket
import ssl
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography import x509

from weft.credentials.authority import CertificateAuthority
from weft.credentials.cluster_token import FILE_VARIABLE, VARIABLE
from weft.credentials.credentials import AUTHORITY_FILE, CLIENT, FOLDER_VARIABLE, Credentials, task_identity
from weft.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError, PermissionDeniedError

_WORKER = task_identity("worker", 0)
_TOKEN, _OTHER = b"a" * 64, b"b" * 64


def _shake_hands(server: Credentials, client: Credentials, expected: str) -> tuple[str | None, str]:
    """The TLS version and the client's name as the server sees them; raises what the client met."""
    seen: list[tuple[str | None, str]] = []
    near, far = socket.socketpair()

    def serve() -> None:
        try:
            with server.context(is_server=True).wrap_socket(far, server_side=True) as wrapped:
                certificate = wrapped.getpeercert()
                assert certificate is not None
                seen.append((wrapped.version(), certificate["subjectAltName"][0][1]))
                wrapped.send(b"!")
        except OSError:
            far.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        with client.context(is_server=False).wrap_socket(near, server_hostname=expected) as wrapped:
            if wrapped.recv(1) != b"!":
                raise ConnectionError("refused")
    finally:
        near.close()
        thread.join(20)
    return seen[0]


def test_holders_of_one_token_accept_each_other() -> None:
    server, client = Credentials.of_token(_TOKEN, _WORKER), Credentials.of_token(_TOKEN, CLIENT)
    assert _shake_hands(server, client, _WORKER) == ("TLSv1.3", CLIENT)


def test_a_client_refuses_a_server_of_another_cluster() -> None:
    with pytest.raises(ssl.SSLCertVerificationError):
        _shake_hands(Credentials.of_token(_OTHER, _WORKER), Credentials.of_token(_TOKEN, CLIENT), _WORKER)


def test_a_client_refuses_another_task_than_the_one_it_wants() -> None:
    server, client = Credentials.of_token(_TOKEN, task_identity("ps", 0)), Credentials.of_token(_TOKEN, CLIENT)
    with pytest.raises(ssl.SSLCertVerificationError, match="worker-0"):
        _shake_hands(server, client, _WORKER)


def test_a_server_refuses_a_client_of_another_cluster() -> None:
    server = Credentials.of_token(_TOKEN, _WORKER)
    stranger = Credentials.of_token(_OTHER, CLIENT)
    trusting = Credentials(server.authority, stranger.own, CLIENT)
    with pytest.raises(OSError, match=r"refused|reset|alert|EOF|closed|pipe"):
        _shake_hands(server, trusting, _WORKER)


def test_certificates_of_a_folder_are_accepted(tmp_path: Path) -> None:
    authority = CertificateAuthority.new()
    (tmp_path / AUTHORITY_FILE).write_bytes(authority.certificate)
    for name in ("worker-0", "client"):
        made = authority.issue(f"{name}.weft", ["127.0.0.1", "a.example.com"])
        path = tmp_path / f"{name}.pem"
        path.write_bytes(made.certificate + made.key)
        path.chmod(0o600)
    server, client = (Credentials.find({FOLDER_VARIABLE: str(tmp_path)}, name) for name in (_WORKER, CLIENT))
    assert server is not None
    assert client is not None
    assert _shake_hands(server, client, _WORKER) == ("TLSv1.3", CLIENT)


def test_a_folder_without_the_certificate_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="weft credentials authority"):
        Credentials.of_folder(tmp_path, _WORKER)
    (tmp_path / AUTHORITY_FILE).write_bytes(CertificateAuthority.new().certificate)
    with pytest.raises(NotFoundError, match=r"weft credentials issue .* worker-0"):
        Credentials.of_folder(tmp_path, _WORKER)


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    authority = CertificateAuthority.new()
    (tmp_path / AUTHORITY_FILE).write_bytes(authority.certificate)
    made = authority.issue(_WORKER)
    (tmp_path / "worker-0.pem").write_bytes(made.certificate + made.key)
    (tmp_path / "worker-0.pem").chmod(0o644)
    with pytest.raises(PermissionDeniedError, match="chmod 600"):
        Credentials.of_folder(tmp_path, _WORKER)


@pytest.mark.parametrize("is_authority", [True, False])
def test_a_certificate_that_has_expired_is_told_with_what_to_do(is_authority: bool, tmp_path: Path) -> None:
    expired = CertificateAuthority.new(valid_days=0)
    valid = CertificateAuthority.load(expired.private_key())
    (tmp_path / AUTHORITY_FILE).write_bytes((expired if is_authority else valid).certificate)
    made = (valid if is_authority else expired).issue(_WORKER)
    (tmp_path / "worker-0.pem").write_bytes(made.certificate + made.key)
    (tmp_path / "worker-0.pem").chmod(0o600)
    with pytest.raises(FailedPreconditionError, match=r"has expired on .* UTC: make another one with: weft credentials "):
        Credentials.of_folder(tmp_path, _WORKER)


def test_authorities_that_follow_each_other_may_stand_in_one_file(tmp_path: Path) -> None:
    old, new = CertificateAuthority.new(valid_days=0), CertificateAuthority.new()
    (tmp_path / AUTHORITY_FILE).write_bytes(old.certificate + new.certificate)
    made = new.issue(_WORKER)
    (tmp_path / "worker-0.pem").write_bytes(made.certificate + made.key)
    (tmp_path / "worker-0.pem").chmod(0o600)
    assert Credentials.of_folder(tmp_path, _WORKER).own.certificate.startswith(made.certificate)


def test_a_certificate_that_is_not_valid_yet_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weft.credentials.authority._SKEW", datetime.timedelta(hours=-1))
    (tmp_path / AUTHORITY_FILE).write_bytes(CertificateAuthority.new().certificate)
    made = CertificateAuthority.new().issue(_WORKER)
    (tmp_path / "worker-0.pem").write_bytes(made.certificate + made.key)
    (tmp_path / "worker-0.pem").chmod(0o600)
    with pytest.raises(FailedPreconditionError, match="this host's clock says"):
        Credentials.of_folder(tmp_path, _WORKER)


def test_a_certificate_made_of_the_token_is_valid_whatever_a_clock_says() -> None:
    made = Credentials.of_token(b"a" * 64, _WORKER)
    for pem in (made.authority, made.own.certificate):
        certificate = x509.load_pem_x509_certificate(pem)
        assert (certificate.not_valid_before_utc.year, certificate.not_valid_after_utc.year) == (1970, 9999)


def _damage_authority(folder: Path) -> None:
    path = folder / AUTHORITY_FILE
    path.write_bytes(path.read_bytes()[:100])


def _damage_own(folder: Path) -> None:
    path = folder / "worker-0.pem"
    path.write_bytes(path.read_bytes()[:300])


def _lose_key(folder: Path) -> None:
    path = folder / "worker-0.pem"
    path.write_bytes(path.read_bytes().partition(b"-----BEGIN PRIVATE")[0])


def _take_key_of_another(folder: Path) -> None:
    path = folder / "worker-0.pem"
    path.write_bytes(path.read_bytes().partition(b"-----BEGIN PRIVATE")[0] + CertificateAuthority.new().issue(_WORKER).key)


def _take_certificate_of_another(folder: Path) -> None:
    (folder / "client.pem").replace(folder / "worker-0.pem")


def _take_authority_of_another(folder: Path) -> None:
    (folder / AUTHORITY_FILE).write_bytes(CertificateAuthority.new().certificate)


@pytest.mark.parametrize(
    ("spoil", "file", "what"),
    [
        (_damage_authority, AUTHORITY_FILE, "no certificate that can be read"),
        (_damage_own, "worker-0.pem", "no certificate that can be read"),
        (_lose_key, "worker-0.pem", "no private key that can be read"),
        (_take_key_of_another, "worker-0.pem", "private key of another certificate"),
        (_take_certificate_of_another, "worker-0.pem", r"certificate of client\.weft; expected that of worker-0\.weft"),
        (_take_authority_of_another, "worker-0.pem", r"not signed by the authority .* another cluster"),
    ],
)
def test_files_that_do_not_belong_together_are_named(
    spoil: Callable[[Path], None], file: str, what: str, tmp_path: Path
) -> None:
    authority = CertificateAuthority.new()
    (tmp_path / AUTHORITY_FILE).write_bytes(authority.certificate)
    for name in ("worker-0", "client"):
        made = authority.issue(f"{name}.weft")
        (tmp_path / f"{name}.pem").write_bytes(made.certificate + made.key)
        (tmp_path / f"{name}.pem").chmod(0o600)
    spoil(tmp_path)
    with pytest.raises(InvalidArgumentError, match=rf"{file}' .*{what}.*Make it with: weft credentials "):
        Credentials.of_folder(tmp_path, _WORKER)


def test_a_certificate_of_another_key_is_refused() -> None:
    one, other = Credentials.of_token(_TOKEN, _WORKER), Credentials.of_token(_TOKEN, _WORKER)
    mixed = Credentials(one.authority, type(one.own)(one.own.certificate, other.own.key), _WORKER)
    with pytest.raises(InvalidArgumentError, match="cannot be used"):
        mixed.context(is_server=True)


def test_the_environment_may_give_none() -> None:
    assert Credentials.find({}, CLIENT) is None
    found = Credentials.find({VARIABLE: _TOKEN.decode(), FILE_VARIABLE: ""}, CLIENT)
    assert found is not None
    assert found.identity == CLIENT
