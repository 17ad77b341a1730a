#!/usr/bin/env python3
"""Runs the tests of tables against Oracle's MySQL, which Debian's stable release does not have.

Fetches mysql-server-core and all that it stands on from Debian's unstable release by apt into --packages (60 MB, once; nothing is
installed), starts it there with a data directory of its own, and runs the integration tests that need no server of their own. The
exit code is that of pytest.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian sid main\n"
FILES = ["test_filters.py", "test_keyset.py", "test_embedding.py", "test_read_rows.py", "test_read_stream.py", "test_read_embed.py",
         "test_write_insert.py", "test_write_change.py", "test_write_upsert.py", "test_write_rules.py", "test_write_types.py",
         "test_write_batch.py", "test_query.py"]
# Their cases are about what MySQL has not, or has otherwise.
OTHERWISE = [
    "t_uuid", "t_inet6",                          # types of MariaDB's
    "test_refused_by_the_database", "test_types",  # the same
    "test_patch", "test_every_type",              # JSON is kept in a normal form, not as it was written
    "test_merge", "returning",                    # there is no RETURNING: rows cannot be returned by another unique key
    "test_too_many_rows_are_the_servers_fault",   # a sequence in a configured statement
]


def fetch(folder):
    """The root of the unpacked packages."""
    root = folder / "root"
    if (root / "usr/sbin/mysqld").exists():
        return root
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
    return root


class Mysqld:
    """A running server over a new data directory; a short path, for the socket's sake."""

    def __init__(self, root, folder):
        self.socket = folder / "s"
        lib = root / "usr/lib/x86_64-linux-gnu"
        self.command = [lib / "ld-linux-x86-64.so.2", "--library-path", f"{lib}:{root / 'usr/lib/mysql/private'}", root / "usr/sbin/mysqld",
                        "--no-defaults", f"--basedir={root / 'usr'}", f"--lc-messages-dir={root / 'usr/share/mysql'}",
                        f"--datadir={folder / 'data'}", f"--log-error={folder / 'errors.log'}", "--secure-file-priv="]
        if os.geteuid() == 0:
            self.command.append("--user=root")
        subprocess.run([*self.command, "--initialize-insecure"], check=True)
        self.process = subprocess.Popen([*self.command, f"--socket={self.socket}", f"--pid-file={folder / 'pid'}", "--skip-networking",
                                         "--mysqlx=OFF", "--innodb-flush-log-at-trx-commit=2", "--skip-log-bin"])
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
    parser.add_argument("--packages", default=pathlib.Path.home() / ".cache/roost-oracle-mysql", type=pathlib.Path, help="where packages go")
    arguments = parser.parse_args()
    root = fetch(arguments.packages.resolve())
    with tempfile.TemporaryDirectory(prefix="roost-my-", dir="/tmp") as folder:
        mysqld = Mysqld(root, pathlib.Path(folder))
        try:
            tests = [ROOT / "tests/integration/mysql" / name for name in FILES]
            environment = {**os.environ, "ROOST_SERVER": str(arguments.server.resolve()), "ROOST_TEST_MYSQL": str(mysqld.socket)}
            selection = " and ".join(f"not {name}" for name in OTHERWISE)
            return subprocess.run([sys.executable, "-m", "pytest", "-q", "-k", selection, *tests], env=environment, cwd=ROOT / "tests",
                                  check=False).returncode
        finally:
            mysqld.stop()


if __name__ == "__main__":
    sys.exit(main())
