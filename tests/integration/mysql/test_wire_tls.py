"""TLS between db/ and a server: what each mode takes and refuses; connects that hang while statements are killed."""

import shutil
import socket
import subprocess
import time

import pytest

from db_probe import Probe
from roost_server import eventually

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")


def openssl(folder, *arguments):
    subprocess.run(["openssl", *map(str, arguments)], cwd=folder, check=True, capture_output=True, timeout=60)


def authority(folder, name):
    openssl(folder, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", f"/CN={name}",
            "-keyout", f"{name}.key", "-out", f"{name}.pem")


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    authority(folder, "ca")
    authority(folder, "other")
    openssl(folder, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost", "-keyout", "server.key",
            "-out", "server.csr")
    (folder / "names").write_text("subjectAltName=DNS:localhost\n")
    openssl(folder, "x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names",
            "-out", "server.pem")
    return folder


def system_knows(host):
    try:
        return bool(socket.getaddrinfo(host, None))
    except OSError:
        return False


DRIVERS = pytest.mark.parametrize("driver", ["loop", "threads"])


@DRIVERS
def test_modes(driver, own_mariadb, certificates):
    mariadb = own_mariadb(f"--ssl-cert={certificates}/server.pem", f"--ssl-key={certificates}/server.key", "--max-allowed-packet=24M")
    to = {"user": mariadb.user, "password": mariadb.password, "port": mariadb.port, "database": "sample"}
    cases = [
        ("127.0.0.1", {"tls": "required"}, True), ("LocalHost", {"tls": "verify_ca", "ca": certificates / "ca.pem"}, True),
        ("127.0.0.1", {"tls": "verify_name", "ca": certificates / "ca.pem"}, False), ("127.0.0.1", {"tls": "verify_name"}, False),
        ("localhost", {"tls": "verify_ca", "ca": certificates / "other.pem"}, False),
        ("localhost", {"tls": "verify_ca"}, False), ("localhost", {"tls": "verify_ca", "ca": certificates / "none.pem"}, False)]
    if system_knows("localhost"):  # to verify a name, the client library must resolve it itself
        cases.append(("localhost", {"tls": "verify_name", "ca": certificates / "ca.pem"}, True))
    for host, options, works in cases:
        if not works:
            with pytest.raises(AssertionError, match="failed unavailable 2026"), Probe(driver, host=host, **options, **to):
                pass
            continue
        with Probe(driver, host=host, **options, **to) as probe:
            assert "TLS" in probe.rows("run SELECT variable_value FROM information_schema.session_status WHERE variable_name = ?\tsSsl_version")[0]
            assert probe.last("alive") == "alive 1"
            assert probe("quiet SELECT seq, REPEAT(?, ?) FROM seq_1_to_30000\tsx\ti90")[-1] == "result 0 0 30000 0 0"
            assert probe("quiet SELECT REPEAT(?, ?)\tsx\ti17000000")[0] == "bytes 17000000"
            assert probe.rows("run SELECT LENGTH(?)\tz3000000") == ["3000000"]
            assert probe.last("pause 5 SELECT * FROM seq_1_to_30000") == "paused"
            assert probe.last("resume") == "result 0 0 30000 0 0"
            assert int(probe.last("idle 50").split()[1]) < 10
            assert probe.last("pause 5 SELECT * FROM seq_1_to_30000") == "paused"  # and goes


def test_a_server_without_tls_is_refused(own_mariadb):
    mariadb = own_mariadb("--skip-ssl")
    with pytest.raises(AssertionError, match="failed unavailable 2026"), Probe("loop", mariadb, tls="required"):
        pass


@DRIVERS
def test_connects_that_hang(driver, mariadb):
    with socket.socket() as silent, Probe(driver, mariadb) as alive:
        silent.bind(("127.0.0.1", 0))
        silent.listen(64)
        hanging = [Probe(driver, host="127.0.0.1", port=silent.getsockname()[1], user="x", connect_ms=600) for _ in range(3)]
        start = time.monotonic()
        for probe in hanging:
            probe.process.stdin.write("connect\n")
        alive("start SELECT SLEEP(20)")
        eventually(lambda: alive("idle 20") and mariadb.run("SELECT 1 FROM information_schema.PROCESSLIST WHERE INFO = 'SELECT SLEEP(20)'"), "it runs")
        assert alive.last("kill") == "killed 1"
        alive("wait")
        for probe in hanging:
            assert probe.process.stdout.readline().startswith(".failed unavailable")
        assert time.monotonic() - start < 5
        for probe in hanging:
            probe.process.stdin.close()
        for probe in hanging:
            probe.process.wait(20)
            probe.process.stdout.close()
            probe.process.stderr.close()
