"""Fixtures of the integration tests: the real binary ($ROOST_SERVER, ./server by default) on a port of its own.

    def test_one(server):                    # the default configuration over site_files.SITE, shared by all tests
        assert server.ask("/hello.txt").body == SITE["hello.txt"]

    def test_two(wire):                      # one connection to that server
        wire.send_pieces(b"GET / HT", b"TP/1.1\\r\\nHost: x\\r\\n\\r\\n")
        assert wire.read_response().status == 200

    LIMITS = {"http": {"max_fields": 10}}    # laid over the default configuration
    def test_three(shared_server):           # started once per configuration, shared by all tests that ask for the same
        server = shared_server(LIMITS)

    def test_four(start_server):             # started for this test alone, over an empty html/; checked and stopped after
        server = start_server({"worker_processes": 1})
        server.stop()

Shared servers may be asked and watched, but not stopped, signalled or given other files. A test that names the rule it
checks carries it as a mark: @pytest.mark.rfc("9112 3.2").
"""

import collections
import json
import pathlib
import shutil

import pytest

from roost_server import BINARY, Server
from site_files import write_site


@pytest.fixture(scope="session", autouse=True)
def binary():
    assert BINARY.exists(), f"there is no {BINARY}: build it, or name another in ROOST_SERVER"
    return BINARY


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory):
    """shared_server(config={}) -> a server over SITE, one for each different configuration."""
    servers = {}

    def get(config=None):
        key = json.dumps(config or {}, sort_keys=True)
        if key not in servers:
            folder = tmp_path_factory.mktemp("shared")
            write_site(folder / "html")
            servers[key] = Server(folder, config)
        servers[key].check_alive()
        return servers[key]

    yield get
    stop_all(servers.values())


@pytest.fixture
def server(shared_server):
    """The shared server of the default configuration; still alive and without a fault after the test."""
    running = shared_server()
    yield running
    running.check_alive()


@pytest.fixture
def wire(server):
    """A connection to `server`, closed at the end of the test."""
    with server.connect() as connection:
        yield connection


@pytest.fixture
def start_server(tmp_path):
    """start_server(config={}, text=None, files={}, env=None, before_exec=None) -> a server of this test alone."""
    servers = []

    def start(config=None, text=None, files=None, **more):
        folder = tmp_path / f"server{len(servers)}"
        write_site(folder / "html", files or {})
        servers.append(Server(folder, config, text, **more))
        return servers[-1]

    yield start
    stop_all([server for server in servers if server.process.returncode is None])
    for server in servers:  # large files are not worth keeping
        shutil.rmtree(server.html, ignore_errors=True)


def stop_all(servers):
    """Stops every one, and only then complains of the first that did not end as it should."""
    problems = []
    for server in servers:
        try:
            server.stop()
        except AssertionError as problem:
            problems.append(problem)
    if problems:
        raise problems[0]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    """A failed test shows what its servers said."""
    report = (yield).get_result()
    if report.failed:
        for name, value in getattr(item, "funcargs", {}).items():
            if isinstance(value, Server):
                report.sections.append((f"output of {name}", value.output[-8000:]))
                report.sections.append((f"log of {name}", value.log[-8000:]))


def pytest_terminal_summary(terminalreporter, config):
    """What the servers under test said to their databases (mysql/conftest.py), summed up over all processes of the run."""
    folder = getattr(config, "_tmp_path_factory", None)
    said = folder and pathlib.Path(folder.getbasetemp()) / "mysql-statements.txt"
    if said and said.exists():
        texts, commands = set(), collections.Counter()
        for line in said.read_text().splitlines():
            report = json.loads(line)
            texts.update(report["texts"])
            commands.update(report["commands"])
        counts = ", ".join(f"{count} {name}" for name, count in sorted(commands.items()))
        terminalreporter.write_line(f"said to the databases: {len(texts)} distinct statements ({counts})")
