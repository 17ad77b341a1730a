"""A real MariaDB server with a data directory, a socket, a port and a process of its own.

Two users: `roost`, which the server under test connects as and which may only read and write rows (SELECT, INSERT, UPDATE,
DELETE, SHOW VIEW) of databases whose name begins with "sample", and `fixture`, by which tests prepare and look at things.
What `roost` said to it stands in its general log; stop() checks that (general_log.py).
"""

import ctypes
import fcntl
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from mariadb_client import LIB, Client, SqlError

PROGRAM = shutil.which("mariadbd", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
INSTALL = shutil.which("mariadb-install-db")
MISSING = ("mariadbd and mariadb-install-db (Debian: mariadb-server) are not installed" if not (PROGRAM and INSTALL)
           else "libmariadb.so.3 (Debian: libmariadb3) is not installed" if LIB is None else "")
USER, PASSWORD, FIXTURE = "roost", "of the perch", "fixture"
START_TIMEOUT_S, STOP_TIMEOUT_S = 60, 30
USERS = [f"CREATE USER {FIXTURE}@localhost", f"GRANT ALL ON *.* TO {FIXTURE}@localhost WITH GRANT OPTION"]
for where in ("localhost", "'127.0.0.1'"):
    USERS += [f"CREATE USER {USER}@{where} IDENTIFIED BY '{PASSWORD}'",
              f"GRANT SELECT, INSERT, UPDATE, DELETE, SHOW VIEW ON `sample%`.* TO {USER}@{where}"]
# Small and quick: nothing here has to outlive the machine, only (flush 2) the process.
OPTIONS = ["--innodb-flush-log-at-trx-commit=2", "--innodb-log-file-size=48M", "--innodb-buffer-pool-size=64M",
           "--loose-innodb-buffer-pool-size-max=256M", "--innodb-use-native-aio=0", "--innodb-buffer-pool-load-at-startup=0",
           "--innodb-buffer-pool-dump-at-shutdown=0", "--aria-pagecache-buffer-size=1M", "--key-buffer-size=1M",
           "--skip-log-bin", "--performance-schema=0", "--skip-name-resolve", "--character-set-server=utf8mb4",
           "--max-connections=200", "--innodb-lock-wait-timeout=5", "--table-open-cache=400", "--open-files-limit=4096"]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def as_root():
    return ["--user=root"] if os.geteuid() == 0 else []


def ends_with_us():
    """In the child before it runs: the kernel ends it when this process ends, however it does."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def template(folder, fill):
    """A data directory to copy, with both users and what fill(client) puts into it; made by the first who asks."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = folder / "data"
        if not made.exists():
            fresh, scratch = folder / "fresh", folder / "scratch"
            shutil.rmtree(fresh, ignore_errors=True)  # of one who was interrupted
            scratch.mkdir(exist_ok=True)
            done = subprocess.run([INSTALL, "--no-defaults", *as_root(), f"--datadir={fresh}", "--skip-test-db", "--innodb-log-file-size=48M",
                                   "--auth-root-authentication-method=normal", "--force"],  # with no name service, too
                                  env={**os.environ, "TMPDIR": str(scratch)},  # what it makes there has the same name each time
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180)
            assert done.returncode == 0, f"mariadb-install-db failed:\n{done.stdout}{done.stderr}"
            server = MariaDb(fresh, options=["--innodb-flush-log-at-trx-commit=0"])
            try:
                with Client(server.socket, "root") as root:
                    for statement in USERS:
                        root.run(statement)
                    fill(root)
            finally:
                server.end()
            fresh.rename(made)
        return made


class MariaDb:
    """A running server.

    socket, port     where it listens (the port on 127.0.0.1); both stay over restart()
    user, password   whom the server under test connects as
    database         the sample's (sample_schema.py): to be read; who writes makes one with new_database()
    process          the subprocess.Popen
    has              what not each server has that tests may run with (oracle_mysql.py)
    absent           columns of the sample that it has not
    """

    user, password, database = USER, PASSWORD, "sample"
    has = frozenset({"RETURNING", "JSON as it was written", "checks", "names of foreign keys", "views' own collations", "few deadlocks"})
    absent = frozenset()

    def __init__(self, data, options=()):
        """`data`: its data directory, used in place; `options`: more of mariadbd's."""
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="roost-db-", dir="/tmp"))  # a socket's path must be short
        self.data, self.options = data, list(options)
        self.socket, self.general_log = str(self.folder / "s"), self.folder / "general.log"
        self.process, self._client, self._serial, self.port = None, None, 0, 0
        try:
            self.start()
        except BaseException:
            self.end()
            raise

    @classmethod
    def copied(cls, made, options=()):
        """One over a copy of template()'s answer."""
        data = pathlib.Path(tempfile.mkdtemp(prefix="roost-data-", dir="/tmp"))
        shutil.copytree(made, data, dirs_exist_ok=True)
        return cls(data, options)

    # its process

    def start(self):
        """Starts it, again after kill() or shut_down(); returns when it answers."""
        for attempt in range(5):
            self.port = self.port or free_port()
            self._spawn()
            if self._answers():
                return
            if "bind" not in self.errors or attempt == 4:
                raise AssertionError(f"mariadbd does not start:\n{self.errors[-8000:]}")
            self.port = 0  # somebody else took it

    def _spawn(self):
        self._close_client()
        with open(self.folder / "errors.log", "ab") as errors:
            self.process = subprocess.Popen(
                [PROGRAM, "--no-defaults", *as_root(), f"--datadir={self.data}", f"--socket={self.socket}",
                 f"--port={self.port}", "--bind-address=127.0.0.1", f"--pid-file={self.folder / 'pid'}", f"--tmpdir={self.folder}",
                 "--general-log=1", f"--general-log-file={self.general_log}", *OPTIONS, *self.options],
                stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, preexec_fn=ends_with_us)

    def _answers(self):
        deadline = time.monotonic() + START_TIMEOUT_S
        while self.process.poll() is None and time.monotonic() < deadline:
            for user in (FIXTURE, "root"):
                try:
                    Client(self.socket, user).close()
                    return True
                except SqlError:
                    pass
            time.sleep(0.02)
        return False

    @property
    def errors(self):
        """What it wrote to its error log."""
        return (self.folder / "errors.log").read_text(errors="replace")

    def pause(self):
        """Stops it; returns when each of its threads stands."""
        self.process.send_signal(signal.SIGSTOP)
        tasks = pathlib.Path(f"/proc/{self.process.pid}/task")
        while True:
            try:
                if all(stat.read_text().rsplit(")", 1)[1].split()[0] in "tT" for stat in tasks.glob("*/stat")):
                    return
            except (FileNotFoundError, ProcessLookupError):  # a thread that has ended meanwhile
                pass
            time.sleep(0.001)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def kill(self):
        """SIGKILL; start() brings it back with what had been committed."""
        self._close_client()
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def shut_down(self):
        """An orderly end; start() brings it back."""
        self._close_client()
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
            try:
                self.process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self.kill()

    def restart(self):
        self.shut_down()
        self.start()

    def end(self):
        """Ends it at once and removes what it wrote but for `data` given to the constructor in a template's making."""
        if self.process is not None:
            self.shut_down() if self.data.name == "fresh" else self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.data.name != "fresh":
            shutil.rmtree(self.data, ignore_errors=True)

    # talking to it

    def client(self, database=None, user=FIXTURE, password="", timeout_s=60):
        """A connection of the tests' own; use it in a `with`."""
        return Client(self.socket, user, password, database, timeout_s=timeout_s)

    def run(self, text, database=None):
        """Runs statements over a connection that is kept; rows are tuples of text, None is NULL."""
        if self._client is None:
            self._client = self.client()
        try:
            return self._client.run((f"USE `{database}`;" if database else "") + text)
        except SqlError as problem:
            if problem.number in (2006, 2013, 1927):
                self._close_client()
            raise

    def value(self, text, database=None):
        return self.run(text, database)[0][0]

    def translated(self, text):
        """A statement of a configuration as this server is told it."""
        return text

    def _close_client(self):
        if self._client is not None:
            self._client.close()
            self._client = None

    def new_database(self, fill=None):
        """Makes an empty database that `roost` may use, fills it by fill(client), and returns its name."""
        self._serial += 1
        name = f"sample_{os.getpid()}_{self._serial}"
        with self.client() as client:
            client.run(f"CREATE DATABASE {name}; USE {name}")
            if fill is not None:
                fill(client)
        return name

    def connections(self, user=USER):
        """The numbers of `roost`'s connections at the server."""
        return [int(row[0]) for row in self.run(f"SELECT id FROM information_schema.processlist WHERE user = '{user}'")]

    def config(self, database=None, **more):
        """The configuration's `mysql` for this server, by socket; more keys replace those here (unix_socket=None: by TCP)."""
        return {"mysql_started": "on", "address": "127.0.0.1", "port": self.port, "unix_socket": self.socket, "user": USER,
                "password": PASSWORD, "database_name": database or self.database, **more}
