"""Says what is wrong with the certificates of a folder: peers would only see TLS connections that end."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization

from weft.errors import FailedPreconditionError, InvalidArgumentError


@dataclass(frozen=True, slots=True)
class CertificateFile:
    """A file that has been read, and by which command another one is made."""

    path: Path
    pem: bytes
    remedy: str

    def refuse(self, what: str) -> InvalidArgumentError:
        """The error for a file that cannot be used."""
        return InvalidArgumentError.of(f"The file {str(self.path)!r} {what}. Make it with: {self.remedy}")


def check_files(authority: CertificateFile, own: CertificateFile, identity: str) -> None:
    """Check that a certificate and its key belong together, to the identity, and to the authority, and are valid now.

    Raises:
        FailedPreconditionError: a certificate has expired, or is not valid yet.
        InvalidArgumentError: a file is damaged, or is another's.
    """
    chain, roots = _certificates(own), _certificates(authority)
    certificate = chain[0]
    _check_time(own, certificate)
    _check_key(own, certificate)
    names = _names(certificate)
    if identity not in names:
        raise own.refuse(f"is the certificate of {names[0] if names else 'nobody'}; expected that of {identity}")
    # Authorities may stand behind each other while one follows another; a chain is TLS's to judge.
    issuers = [root for root in roots if _has_issued(root, chain[-1])]
    if not issuers:
        raise own.refuse(f"was not signed by the authority in {str(authority.path)!r}: it is of another cluster")
    _check_time(authority, issuers[-1])


def _certificates(file: CertificateFile) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(file.pem)
    except ValueError as error:
        raise file.refuse(f"has no certificate that can be read ({str(error).splitlines()[0]})") from None


def _check_key(file: CertificateFile, certificate: x509.Certificate) -> None:
    try:
        key = serialization.load_pem_private_key(file.pem, password=None)
    except (ValueError, TypeError) as error:
        raise file.refuse(f"has no private key that can be read ({str(error).splitlines()[0]})") from None
    if key.public_key() != certificate.public_key():
        raise file.refuse("has the private key of another certificate")


def names_shown(certificate: bytes) -> list[str]:
    """The DNS names that a peer's certificate, DER, is for; none of what cannot be read."""
    try:
        return _names(x509.load_der_x509_certificate(certificate))
    except ValueError:
        return []


def _names(certificate: x509.Certificate) -> list[str]:
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return []
    return names.value.get_values_for_type(x509.DNSName)


def _has_issued(root: x509.Certificate, certificate: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(root)
    except (InvalidSignature, ValueError, TypeError):
        return False
    return True


def _check_time(file: CertificateFile, certificate: x509.Certificate) -> None:
    begin, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    now = datetime.datetime.now(datetime.UTC)
    if now > end:
        what = f"has expired on {end:%Y-%m-%d %H:%M} UTC: make another one with: {file.remedy}"
    elif now < begin:
        what = f"is valid from {begin:%Y-%m-%d %H:%M} UTC on, and this host's clock says {now:%Y-%m-%d %H:%M}: set the clock"
    else:
        return
    raise FailedPreconditionError.of(f"The certificate in {str(file.path)!r} {what}")
