"""The trust store is read back by Java itself."""

from __future__ import annotations

import subprocess

import pytest

from lakelens.spark.local.runtime import PASSWORD, find_java, list_certificates, write_truststore


def test_java_reads_what_was_written(tmp_path):
    certificates = list_certificates()
    if not certificates:
        pytest.skip("this machine has no certificate authorities that Python can list")
    keytool = find_java().home / "bin" / "keytool"
    if not keytool.exists():
        pytest.skip(f"no keytool beside {keytool.parent}")
    path = tmp_path / "truststore.jks"
    assert len(write_truststore(path)) == 3
    command = [str(keytool), "-list", "-keystore", str(path), "-storepass", PASSWORD, "-J-Duser.language=en"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert listed.count("trustedCertEntry") == len(certificates)
