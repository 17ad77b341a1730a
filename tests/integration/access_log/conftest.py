"""Fixtures of the access log's tests.

    logged   a server of this module alone; `logged.lines(n)` gives the n JSON lines written since it was asked last
"""

import json
import pathlib
import signal

import pytest

from roost_server import Server, eventually
from site_files import write_site

JSON_LOG = {"path": "logs/access.json", "format": "json"}
SITES = [{"host": ["one.example", "*"],
          "routes": [{"path": "/", "static": {}},
                     {"path": "/combined/", "static": {"alias": "html/"},
                      "access_log": {"path": "logs/combined.log"}},
                     {"path": "/own/", "static": {"alias": "html/"},
                      "access_log": {"path": "logs/own.log",
                                     "format": "{{{method}}} {path}?{query} {header.X-Thing} {status} {user}"}},
                     {"path": "/quiet/", "static": {"alias": "html/"}, "access_log": None}]},
         {"host": ["two.example"], "access_log": {"path": "logs/two.json", "format": "json"},
          "routes": [{"path": "/", "static": {}}]}]
CONFIG = {"worker_processes": 1,
          "http": {"access_log": JSON_LOG, "sites": SITES, "max_body_size": 1000, "max_target_size_bytes": 4000,
                   "head_timeout_ms": 2000}}


def lines_of(file, wanted, flush=None):
    """The lines of a log file once there are as many as that (the log is flushed every second, or by `flush`)."""
    path = pathlib.Path(file)

    def found():
        if flush is not None:
            flush()
        text = path.read_bytes() if path.exists() else b""
        return text.endswith(b"\n") and text.count(b"\n") >= wanted
    eventually(found, f"{wanted} lines in {path}")
    lines = path.read_bytes().split(b"\n")[:-1]
    assert len(lines) == wanted, lines
    return [line.decode("utf-8") for line in lines]


class LoggedServer(Server):
    def read(self, name, wanted):
        """The lines of logs/<name>, all of them, once there are so many."""
        return lines_of(self.folder / "logs" / name, wanted)

    def read_soon(self, name, wanted):
        """The same, without waiting for the second to end: what a log has is written when it is opened anew."""
        return lines_of(self.folder / "logs" / name, wanted, lambda: self.signal(signal.SIGUSR1))

    seen = 0

    def entries(self, wanted):
        """The next lines of the JSON log, parsed."""
        self.seen += wanted
        return [json.loads(line) for line in self.read_soon("access.json", self.seen)[-wanted:]]

    def entry(self):
        return self.entries(1)[0]


@pytest.fixture(scope="module")
def logged(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logged")
    write_site(folder / "html")
    server = LoggedServer(folder, CONFIG)
    yield server
    server.stop()


@pytest.fixture
def start_logged(tmp_path):
    servers = []

    def start(access_log, **more):
        folder = tmp_path / f"server{len(servers)}"
        write_site(folder / "html")
        servers.append(LoggedServer(folder, {"worker_processes": 1, "http": {"access_log": access_log, **more}}))
        return servers[-1]

    yield start
    for server in servers:
        if server.process.returncode is None:
            server.stop()
