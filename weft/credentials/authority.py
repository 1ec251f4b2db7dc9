"""CertificateAuthority: signs the certificates of one cluster's tasks and clients.

An authority is either made at random, and its key kept by whoever runs the cluster, or follows from a cluster's token, so
that each holder of the token is an authority of the same key: a certificate that one holder signs for itself the others
accept. X.509 as in RFC 5280; keys on the curve P-256; the key of a token by HKDF (RFC 5869).
"""

from __future__ import annotations

import datetime
import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_CURVE: Final = ec.SECP256R1()
_ORDER: Final = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_SUBJECT: Final = "weft cluster"
# Clocks of a cluster differ by minutes at times; a certificate that is valid from "now" would be refused by the slower one.
_SKEW: Final = datetime.timedelta(hours=1)
# What RFC 5280 (4.1.2.5) writes where there is no end, and a beginning before any clock that was never set.
_ALWAYS: Final = (
    datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC),
    datetime.datetime(9999, 12, 31, 23, 59, 59, tzinfo=datetime.UTC),
)


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate and its private key, both PEM."""

    certificate: bytes
    key: bytes


class CertificateAuthority:
    """Signs certificates under one key.

    Args:
        key: the private key.
        valid_days: how long the authority's own certificate and those that it signs are valid; None for ever.
    """

    def __init__(self, key: ec.EllipticCurvePrivateKey, valid_days: int | None = 825) -> None:
        self._key = key
        self._valid = None if valid_days is None else datetime.timedelta(days=valid_days)
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, _SUBJECT)])
        builder = self._builder(self._name, key.public_key()).add_extension(x509.BasicConstraints(ca=True, path_length=0), True)
        usage = _usage(signs_certificates=True)
        self._certificate = builder.add_extension(usage, True).sign(key, hashes.SHA256())

    @staticmethod
    def new(valid_days: int = 825) -> CertificateAuthority:
        """An authority with a key of its own."""
        return CertificateAuthority(ec.generate_private_key(_CURVE), valid_days)

    @staticmethod
    def of_token(token: bytes) -> CertificateAuthority:
        """The authority that each holder of a cluster's token is.

        Its certificates are valid at any time: whoever has the token makes another one whenever he likes, so an end would keep
        nobody out but the tasks of a host whose clock is wrong.
        """
        seed = HKDF(hashes.SHA256(), 48, salt=None, info=b"weft cluster authority 1").derive(token)
        return CertificateAuthority(
            ec.derive_private_key(int.from_bytes(seed, "big") % (_ORDER - 1) + 1, _CURVE), valid_days=None
        )

    @property
    def certificate(self) -> bytes:
        """The authority's own certificate, PEM: what others trust."""
        return self._certificate.public_bytes(serialization.Encoding.PEM)

    def issue(self, name: str, hosts: Iterable[str] = ()) -> Certificate:
        """Sign a certificate.

        Args:
            name: the identity, a DNS name such as `worker-0.weft`.
            hosts: further host names or addresses that its holder answers at.
        """
        key = ec.generate_private_key(_CURVE)
        names = [x509.DNSName(name), *map(_general_name, hosts)]
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        certificate = (
            self._builder(subject, key.public_key())
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), True)
            .add_extension(_usage(signs_certificates=False), True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]), False)
            .add_extension(x509.SubjectAlternativeName(names), False)
            .sign(self._key, hashes.SHA256())
        )
        return Certificate(certificate.public_bytes(serialization.Encoding.PEM), _pem(key))

    def private_key(self) -> bytes:
        """The authority's key, PEM: whoever holds it is the authority."""
        return _pem(self._key)

    @staticmethod
    def load(key: bytes) -> CertificateAuthority:
        """The authority of a key in PEM.

        Raises:
            ValueError: the text is no such key.
        """
        loaded = serialization.load_pem_private_key(key, password=None)
        if not isinstance(loaded, ec.EllipticCurvePrivateKey):
            raise ValueError(f"An authority's key is on an elliptic curve; found {type(loaded).__name__}")
        return CertificateAuthority(loaded)

    def _builder(self, subject: x509.Name, public_key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        begin, end = self._validity()
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(public_key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(begin)
            .not_valid_after(end)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), False)
        )

    def _validity(self) -> tuple[datetime.datetime, datetime.datetime]:
        if self._valid is None:
            return _ALWAYS
        now = datetime.datetime.now(datetime.UTC)
        return now - _SKEW, now + self._valid


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates, content_commitment=False, key_encipherment=False, data_encipherment=False,
        key_agreement=False, key_cert_sign=signs_certificates, crl_sign=False, encipher_only=False, decipher_only=False,
    )  # fmt: skip


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
