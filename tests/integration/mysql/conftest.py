"""Fixtures of the tests that need a database: a real MariaDB, and a server that shows its tables.

    def test_one(rest):                              # all tables of sample_schema.py for reading, shared by all tests
        assert rest().get("orders?id=eq.7").json()[0]["customer_id"] == 50

    def test_two(rest):                              # with a configuration; started once for each different one
        server = rest([{"name": "orders", "max_rows": 5}], options={"bigint": "string"}, mysql={"max_connections": 1})

    def test_three(start_rest, database):            # writes: a database and a server of this test alone
        server = start_rest(writable("notes"), database=database)
        assert server.post("notes", {"text": "hello"}).status == 201
        assert server.mariadb.value("SELECT text FROM notes", database) == "hello"

    def test_four(mariadb):                          # the database alone: mariadb.socket, .port, .user, .password, .database
        assert mariadb.run("SELECT id FROM products WHERE id < 3", "sample") == [("1",), ("2",)]

    def test_five(own_mariadb, start_rest):          # a database server to stop, kill, or start with other options
        mariadb = own_mariadb("--max-connections=5")
        server = start_rest(server=mariadb)
        mariadb.pause(); mariadb.resume(); mariadb.kill(); mariadb.start(); mariadb.restart()

    def test_six(million, rest): ...                 # `events` is there, with 1,000,000 rows (some seconds, once)

`database` has the sample's tables with rows; new ones of any kind: mariadb.new_database(fill). What `rest` and `start_rest` take is
rest_server.rest_config's. Each process of the tests has its own mariadbd; what the servers under test said to it is checked at
the end (general_log.py): prepared statements alone, without any value in them.
"""

import json
import pathlib

import pytest

import oracle_mysql
import sample_schema
from general_log import Report
from mariadb_server import MISSING, MariaDb, template
from rest_server import RestServer, configured_statements, rest_config, stop_servers
from roost_server import BINARY, HAS_MYSQL

SAID = "mysql-statements.txt"  # in the temporary folder of the run; tests/integration/conftest.py prints it
configured = set()


def run_folder(tmp_path_factory):
    """The temporary folder of the whole run, shared by all processes of it."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if base.name.startswith("popen-") else base


def finish(mariadb, folder):
    """Ends it; complains of what it was told, where that may not be."""
    try:
        report = Report(mariadb.general_log, configured)
    finally:
        mariadb.end()
    if report.commands:
        with open(folder / SAID, "a", encoding="utf-8") as said:
            said.write(json.dumps({"texts": sorted(report.texts), "commands": report.commands}) + "\n")
    assert not report.problems, f"{len(report.problems)} problems in the general log:\n" + "\n".join(report.problems[:40])


@pytest.fixture(scope="session")
def mariadb_template(with_mysql, tmp_path_factory):
    if MISSING:
        pytest.skip(MISSING)
    if oracle_mysql.SOCKET:
        return None
    return template(run_folder(tmp_path_factory) / "mariadb", sample_schema.fill_sample)


@pytest.fixture(scope="session")
def mariadb(mariadb_template, tmp_path_factory):
    """The server of this process of the tests, not to be stopped; a mariadb_server.MariaDb."""
    if oracle_mysql.SOCKET:
        running = oracle_mysql.OracleMysql(sample_schema.fill_sample)
        yield running
        running.end()
        return
    running = MariaDb.copied(mariadb_template)
    yield running
    finish(running, run_folder(tmp_path_factory))


@pytest.fixture
def own_mariadb(mariadb_template, tmp_path_factory):
    """own_mariadb(*options of mariadbd) -> a server of this test alone."""
    if oracle_mysql.SOCKET:
        pytest.skip("needs a MariaDB of its own")
    servers = []

    def start(*options):
        servers.append(MariaDb.copied(mariadb_template, options))
        return servers[-1]

    yield start
    for server in servers:
        finish(server, run_folder(tmp_path_factory))


@pytest.fixture
def database(mariadb):
    """The name of a database of this test alone, with all of the sample."""
    name = mariadb.new_database(sample_schema.fill)
    yield name
    mariadb.run(f"DROP DATABASE {name}")


@pytest.fixture(scope="session")
def million(mariadb):
    with mariadb.client("sample") as client:
        sample_schema.million(client)


@pytest.fixture(scope="session")
def configured_texts():
    """The statements of configurations, which may hold values; for tests that start servers by themselves."""
    return configured


@pytest.fixture(scope="session")
def with_mysql():
    if not HAS_MYSQL:
        pytest.skip(f"{BINARY} was built without MySQL")


@pytest.fixture(scope="session")
def rest(with_mysql, mariadb, tmp_path_factory):
    """rest(...) -> a server, one for each different configuration; to be asked and watched only."""
    servers = {}

    def get(tables=None, path="/data/", **more):
        config = rest_config(mariadb, tables, path=path, **more)
        configured.update(configured_statements(config))
        key = json.dumps(config, sort_keys=True)
        if key not in servers:
            servers[key] = RestServer(tmp_path_factory.mktemp("rest"), mariadb, config, path)
        servers[key].check_alive()
        return servers[key]

    yield get
    stop_servers(servers.values())


@pytest.fixture
def start_rest(with_mysql, tmp_path, request):
    """start_rest(tables, server=mariadb, wait=True, ...) -> a server of this test alone; checked and stopped after it."""
    servers = []

    def start(tables=None, server=None, path="/data/", wait=True, env=None, **more):
        mariadb = server or request.getfixturevalue("mariadb")
        config = rest_config(mariadb, tables, path=path, **more)
        configured.update(configured_statements(config))
        servers.append(RestServer(tmp_path / f"rest{len(servers)}", mariadb, config, path, wait, env=env))
        return servers[-1]

    yield start
    stop_servers(servers)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    """A failed test shows what its servers said."""
    report = (yield).get_result()
    if report.failed and "start_rest" in item.funcargs:
        for log in sorted(pathlib.Path(item.funcargs["tmp_path"]).glob("rest*/logs/*")):
            report.sections.append((f"log {log.parent.parent.name}", log.read_text(errors="replace")[-8000:]))
