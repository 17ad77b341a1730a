"""A MariaDB server of the bench's own: data in its folder, a Unix socket, no network, the tests' table of a million rows."""

import os
import pathlib
import shutil
import subprocess
import sys
import time

from . import process

sys.path.append(str(process.REPOSITORY / "tests" / "integration" / "mysql"))
import sample_schema  # noqa: E402

USER, PASSWORD, DATABASE, TABLE = "bench", "bench", "sample", "events"
MARIADBD = shutil.which("mariadbd") or "/usr/sbin/mariadbd"
COLUMNS = "id kind amount name at".split()
SCHEMA = [f"CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4", f"CREATE USER '{USER}'@'localhost' IDENTIFIED BY '{PASSWORD}'",
          f"GRANT ALL ON {DATABASE}.* TO '{USER}'@'localhost'", f"USE {DATABASE}", *sample_schema.MILLION, f"ANALYZE TABLE {TABLE}"]


class MariaDb:
    rows = 1_000_000

    def __init__(self, folder, cores=None, nice=0, more=()):
        self.folder = pathlib.Path(folder)
        self.socket = self.folder / "db.sock"
        self.cores, self.nice, self.more = cores, nice, more
        self.process = None

    def prepare(self):
        if self.cores:
            process.pinned(self.cores[0], self.nice)()
            os.sched_setaffinity(0, set(self.cores))

    def start(self):
        data = self.folder / "data"
        data.mkdir(parents=True)
        subprocess.run(["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--auth-root-authentication-method=normal",
                        "--skip-test-db", f"--user={user()}"], check=True, stdout=subprocess.DEVNULL)
        output = open(self.folder / "mariadbd.txt", "ab")
        self.process = subprocess.Popen(
            [MARIADBD, "--no-defaults", f"--datadir={data}", f"--socket={self.socket}", f"--pid-file={self.folder}/db.pid",
             f"--user={user()}", "--skip-networking", "--skip-log-bin", "--innodb-buffer-pool-size=512M",
             "--innodb-flush-log-at-trx-commit=0", "--performance-schema=OFF", "--max-connections=400", *self.more],
            stdin=subprocess.DEVNULL, stdout=output, stderr=output, preexec_fn=self.prepare)
        deadline = time.monotonic() + 60
        while subprocess.run([*self.client(), "-e", "SELECT 1"], capture_output=True, check=False).returncode:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"mariadbd does not start: {(self.folder / 'mariadbd.txt').read_text()[-2000:]}")
            time.sleep(0.1)
        self.run(";".join(SCHEMA))
        return self

    def client(self):
        return ["mariadb", "--no-defaults", f"--socket={self.socket}", "-uroot"]

    def run(self, sql):
        return subprocess.run([*self.client(), "-N"], input=sql, text=True, check=True, capture_output=True).stdout

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()


def user():
    return "root" if os.geteuid() == 0 else os.environ.get("USER", "nobody")
