"""The server as a process of its own: started with a configuration in a folder of its own, and stopped with checks."""

import copy
import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time

from raw_http import Wire

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("ROOST_SERVER", REPOSITORY / "server"))
HAS_MYSQL = not BINARY.exists() or b"mysql_rest" in BINARY.read_bytes()  # of this build
START_TIMEOUT_S = 20
STOP_TIMEOUT_S = 20
READY = re.compile(r"^roost: serving (.*)", re.MULTILINE)
URL = re.compile(r"http://(\[[0-9a-fA-F:.]+\]|[0-9.]+|[a-z.]+):(\d+)/")
FAULTS = re.compile(r"(Address|Thread|Leak|UndefinedBehavior)Sanitizer|runtime error:|Assertion `.*' failed")

# What every server of the tests has unless the test says otherwise; relative paths are relative to its folder.
BASE_CONFIG = {
    "address": "127.0.0.1", "port": 0, "worker_processes": 2,
    "http": {"root_path": "html/"},
    "log": {"level": "DEBUG", "path": "logs/", "flush_second": 1},
}
# A run of all tests with something else switched on: ROOST_TEST_CONFIG='{"accept": "reuseport"}'.
BASE_CONFIG.update(json.loads(os.environ.get("ROOST_TEST_CONFIG", "{}")))


def merged(base, changes):
    """`base` with `changes` laid over it: objects are merged, everything else is replaced, None removes a key."""
    result = copy.deepcopy(base)
    for key, value in changes.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = merged(result[key], value)
        else:
            result[key] = copy.deepcopy(value)
    return result


def eventually(condition, what, timeout_s=10):
    """Polls until `condition()` is true and returns its value."""
    deadline = time.monotonic() + timeout_s
    while not (value := condition()):
        assert time.monotonic() < deadline, f"still not after {timeout_s} s: {what}"
        time.sleep(0.005)
    return value


def run_server(*arguments, cwd=REPOSITORY, timeout_s=START_TIMEOUT_S):
    """Runs the binary to its end (-t, -V, a configuration it must refuse); stdout and stderr are text."""
    return subprocess.run([str(BINARY), *map(str, arguments)], cwd=cwd, capture_output=True, text=True,
                          timeout=timeout_s, stdin=subprocess.DEVNULL)


class Server:
    """A running server.

    folder   its own folder: conf/server.json, html/, logs/
    address  (host, port) of its first listener; `addresses` has all of them
    process  the subprocess.Popen
    """

    def __init__(self, folder, config=None, text=None, env=None, before_exec=None):
        """`config` is laid over BASE_CONFIG; `text` is a whole configuration file instead.

        `before_exec` runs in the child before the server does (resource limits).
        """
        self.folder = pathlib.Path(folder)
        self.config = merged(BASE_CONFIG, config or {})
        self.config_path = self.folder / "conf" / "server.json"
        self.config_path.parent.mkdir(parents=True, exist_ok=True)
        (self.folder / "html").mkdir(exist_ok=True)
        self.config_path.write_text(text if text is not None else json.dumps(self.config, indent=1))
        self._lines = []
        self._news = threading.Condition()
        self._ended = False
        self.process = subprocess.Popen(
            [str(BINARY), "-f", str(self.config_path)], cwd=self.folder, env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            preexec_fn=before_exec)
        self._reader = threading.Thread(target=self._collect, daemon=True)
        self._reader.start()
        try:
            self._wait_until_ready()
        except BaseException:
            self.kill()
            raise

    def _collect(self):
        for line in self.process.stdout:
            with self._news:
                self._lines.append(line)
                self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()

    def _wait_until_ready(self):
        def state():
            return self._ended or READY.search("".join(self._lines))
        with self._news:
            self._news.wait_for(state, START_TIMEOUT_S)
        ready = READY.search(self.output)
        assert ready, f"the server did not say that it is serving:\n{self.output}"
        self.addresses = [(host.strip("[]"), int(port)) for host, port in URL.findall(ready.group(1))]
        self.address = self.addresses[0] if self.addresses else None

    # talking to it

    def connect(self, timeout=10):
        """A new connection (see raw_http.Wire); use it in a `with`."""
        return Wire(self.address, timeout)

    def ask(self, target="/", method="GET", **more):
        """One ordinary request on a connection of its own; the arguments are raw_http.request's."""
        with self.connect() as wire:
            return wire.ask(target, method, **more)

    def ask_raw(self, *pieces, method="GET"):
        """Sends the pieces one after the other on a connection of its own and reads one response."""
        with self.connect() as wire:
            wire.send_pieces(*pieces)
            return wire.read_response(method)

    # looking at it

    @property
    def html(self):
        return self.folder / "html"

    @property
    def output(self):
        """What it wrote to stdout and stderr so far."""
        return "".join(self._lines)

    @property
    def log(self):
        """What stands in its log files."""
        files = sorted((self.folder / "logs").glob("*"), key=lambda file: file.name)
        return "".join(file.read_text(errors="replace") for file in files if file.is_file())

    def cpu_seconds(self):
        """Processor time used so far, user and system."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def fd_tables(self):
        """The open descriptors of each table, {number: what it is}: one of the process, or more where threads have their own."""
        tables = []
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            table = {}
            for fd in (task / "fd").iterdir():
                try:
                    table[int(fd.name)] = os.readlink(fd)
                except FileNotFoundError:
                    pass
            if table not in tables:
                tables.append(table)
        return tables

    def open_fds(self):
        """How many descriptors are open in the process, in all tables where threads have their own."""
        if self.config.get("fd_table") != "per_thread":
            return len(os.listdir(f"/proc/{self.process.pid}/fd"))
        return sum(len(table) for table in self.fd_tables())

    def check_alive(self):
        """It runs, and neither a sanitizer nor an assertion has complained."""
        fault = FAULTS.search(self.output)
        assert fault is None, f"{fault.group(0)}:\n{self.output[-20000:]}"
        code = self.process.poll()
        assert code is None, f"the server ended with {code}:\n{self.output[-20000:]}"

    # ending it

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, timeout_s=STOP_TIMEOUT_S):
        """Waits for its end and returns the exit code (negative: the signal that ended it)."""
        code = self.process.wait(timeout_s)
        self._reader.join(timeout_s)
        self.process.stdout.close()
        return code

    def stop(self):
        """SIGTERM; it must end by itself, with 0, and without a complaint of a sanitizer."""
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
        try:
            code = self.wait()
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"still running {STOP_TIMEOUT_S} s after SIGTERM:\n{self.output[-20000:]}") from None
        fault = FAULTS.search(self.output)
        assert fault is None, f"{fault.group(0)}:\n{self.output[-20000:]}"
        assert code == 0, f"exit code {code}:\n{self.output[-20000:]}"

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.wait()
