"""Credentials: the certificate that a task or client shows, and the authority whose certificates it accepts.

They come from a folder of certificates, made by `weft credentials`, or from the cluster's token, of which each process
makes a certificate of its own. Both lead to mutual TLS 1.3 (RFC 8446): each side proves that it holds a key that the
authority has signed, and which task it is.
"""

from __future__ import annotations

import os
import socket
import ssl
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from weft.credentials.cluster_token import find_token, read_secret
from weft.errors import InvalidArgumentError, NotFoundError
from weft.platform.files.owner_folder import owner_secret
from weft.platform.hosts import peer_owner
from weft.platform.hosts.local_address import is_of_this_host
from weft.platform.imports.later import Later

if TYPE_CHECKING:
    from weft.credentials import authority as certificates
    from weft.credentials import certificate_check
else:
    # The library behind them takes 50 ms to import; a process without a cluster makes and reads no certificate.
    certificates = Later("weft.credentials.authority")
    certificate_check = Later("weft.credentials.certificate_check")

FOLDER_VARIABLE: Final = "WEFT_CREDENTIALS"
AUTHORITY_FILE: Final = "authority.pem"
CLIENT: Final = "client.weft"
"""The name in a client's certificate."""

ANY_TASK: Final = "task.weft"
"""A name in every task's certificate, for those who dial an address and do not know which task is there."""

_DOMAIN: Final = ".weft"


def task_identity(job: str, index: int) -> str:
    """The name in a task's certificate."""
    return f"{job}-{index}{_DOMAIN}"


def names_of(identity: str) -> tuple[str, ...]:
    """The further names in the certificate of an identity: a client's has none, so that no client can pass for a task."""
    return () if identity == CLIENT else (ANY_TASK,)


@dataclass(frozen=True, slots=True)
class Credentials:
    """The authority's certificate and the holder's own certificate and key, all PEM; `identity` is the name in the latter."""

    authority: bytes
    own: certificates.Certificate
    identity: str

    @staticmethod
    def of_token(token: bytes, identity: str) -> Credentials:
        """Credentials that a holder of the cluster's token makes for itself."""
        authority = certificates.CertificateAuthority.of_token(token)
        return Credentials(authority.certificate, authority.issue(identity, names_of(identity)), identity)

    @staticmethod
    def of_folder(folder: Path, identity: str) -> Credentials:
        """Credentials out of a folder: `authority.pem`, and `NAME.pem` with certificate and key.

        Raises:
            NotFoundError: a file is missing; the message says how to make it.
            PermissionDeniedError: others can read the key.
            FailedPreconditionError: a certificate has expired, or is not valid yet.
            InvalidArgumentError: a file is damaged, or of another task or cluster.
        """
        name = identity.removesuffix(_DOMAIN)
        try:
            authority = (folder / AUTHORITY_FILE).read_bytes()
        except OSError:
            raise NotFoundError.of(
                f"The folder {str(folder)!r} has no {AUTHORITY_FILE}: make it with: weft credentials authority {folder}"
            ) from None
        path = folder / f"{name}.pem"
        if not path.exists():
            raise NotFoundError.of(
                f"The folder {str(folder)!r} has no certificate for {name}: make it with: "
                f"weft credentials issue {folder} {name}"
            )
        both = read_secret(path, f"certificate and key of {name}")
        certificate_check.check_files(
            certificate_check.CertificateFile(folder / AUTHORITY_FILE, authority, f"weft credentials authority {folder}"),
            certificate_check.CertificateFile(path, both, f"weft credentials issue {folder} {name}"),
            identity,
        )
        return Credentials(authority, certificates.Certificate(both, both), identity)

    @staticmethod
    def find(environment: Mapping[str, str], identity: str) -> Credentials | None:
        """The credentials that the environment gives a task or client; None without any.

        Raises:
            OpError: they are given and cannot be used.
        """
        folder = environment.get(FOLDER_VARIABLE)
        if folder:
            return Credentials.of_folder(Path(folder), identity)
        token = find_token(environment)
        return None if token is None else Credentials.of_token(token, identity)

    @staticmethod
    def for_host(host: str, environment: Mapping[str, str], identity: str) -> Credentials | None:
        """The credentials for connections with servers at a host; None where the kernel tells who is there, or there are none.

        Where the kernel does not tell, the processes of one user know each other by a secret in a folder of his.

        Raises:
            OpError: they are given and cannot be used.
        """
        if not is_of_this_host(host):
            return Credentials.find(environment, identity)
        return None if peer_owner.KERNEL_TELLS else Credentials.of_token(owner_secret(), identity)

    def context(self, *, is_server: bool) -> ssl.SSLContext:
        """A TLS 1.3 context of Python's that shows the own certificate and accepts none but the authority's.

        Raises:
            InvalidArgumentError: certificate, key and authority do not belong together.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if is_server else ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.verify_mode = ssl.CERT_REQUIRED
        if is_server:
            # A connection goes to one peer and stays; nobody resumes sessions.
            context.num_tickets = 0
        try:
            context.load_verify_locations(cadata=self.authority.decode("ascii"))
            _load_chain(context, self.own)
        except (ssl.SSLError, ValueError) as error:
            raise InvalidArgumentError.of(f"The credentials of {self.identity} cannot be used: {error}") from None
        return context


def is_task_with_credentials(host: str, port: int, timeout_s: float) -> bool:
    """Whether what listens at an address shows the certificate of a task, of whatever cluster. Blocks for so long at most.

    To one without credentials gRPC says no more than that the connection was closed, as of anything else that closes it.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    # Nothing is told to whoever is there, so it does not matter whether he is who he says.
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    try:
        with (
            socket.create_connection((host, port), timeout_s) as connection,
            context.wrap_socket(connection, server_hostname=ANY_TASK) as secured,
        ):
            shown = secured.getpeercert(binary_form=True)
    except OSError:
        return False
    return shown is not None and ANY_TASK in certificate_check.names_shown(shown)


def _load_chain(context: ssl.SSLContext, own: certificates.Certificate) -> None:
    """Give a context its certificate, which Python takes from files only: one that no other user can open, and not for long."""
    with tempfile.TemporaryDirectory(prefix="weft-") as folder:
        path = Path(folder) / "own.pem"
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(own.certificate + b"\n" + (b"" if own.key == own.certificate else own.key))
        context.load_cert_chain(path)
