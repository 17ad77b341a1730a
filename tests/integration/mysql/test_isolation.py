"""A database that does not answer holds up those who wait for it, and nobody else: on the same loops files are sent and messages
are passed on before any of the waiting has its answer. How quickly: scripts/bench_mysql_isolation.py."""

import contextlib

import pytest

from gate import Gate, NameServer
from raw_http import request
from rest_server import RestServer, rest_config
from roost_server import eventually

CONNECTIONS, WAITING = 3, 12
PATIENT = {"max_connections": CONNECTIONS, "queue_timeout_ms": 60000, "connect_timeout_ms": 60000, "query_timeout_ms": 60000}
SLEEP = "SELECT SLEEP(60) AS slept"
ROUTES = [{"path": "/sleep", "mysql_query": {"sql": SLEEP}},
          {"path": "/pub/{channel}", "push_publish": {}},
          {"path": "/sub/{channel}", "push_subscribe": {"transports": ["sse"]}},
          {"path": "/metrics", "metrics": {}},
          {"path": "/file.txt", "static": {}}]


@pytest.fixture(params=["loop", "threads"])
def driver(request):
    return request.param


def options(driver, **more):
    return {"mysql": {"driver": driver, **PATIENT, **more}, "routes": ROUTES}


def waiting_for(server, target, stack):
    """Clients that have asked, on both loops."""
    wires = [stack.enter_context(server.connect()) for _ in range(WAITING)]
    for wire in wires:
        wire.send(request(target))
        wire.wait_until_read()
    return wires


def others_are_served(server, waiting):
    """Files and messages, while none of the waiting has an answer."""
    (server.html / "file.txt").write_text("here")
    with server.connect() as events:
        events.send(request("/sub/birds", fields={"Accept": "text/event-stream"}))
        assert events.read_head().status == 200
        for number in range(20):
            assert server.ask("/file.txt").body == b"here"
            assert server.ask("/pub/birds", "POST", body=b"message %d;" % number).status in (201, 202)
        seen = b""
        while b"message 19;" not in seen:
            seen += events.read_line()
    for wire in waiting:
        wire.expect_silence(0)


def rows_come_again(server):
    eventually(lambda: server.get("orders?id=eq.7").status == 200, "rows come again", 30)


def test_every_connection_sleeps(mariadb, start_rest, driver):
    server = start_rest(["orders"], **options(driver))
    with contextlib.ExitStack() as stack:
        waiting = waiting_for(server, "/sleep", stack)
        eventually(lambda: sleeping(mariadb) == CONNECTIONS, "every connection sleeps")
        others_are_served(server, waiting)
        assert sleeping(mariadb) == CONNECTIONS
    eventually(lambda: sleeping(mariadb) == 0, "the clients have left, and nothing runs for them")
    rows_come_again(server)


def sleeping(mariadb):
    return int(mariadb.value(f"SELECT COUNT(*) FROM information_schema.processlist WHERE info = '{SLEEP}'"))


def test_stopped_database(own_mariadb, start_rest, driver):
    mariadb = own_mariadb()
    server = start_rest(["orders"], server=mariadb, **options(driver))
    assert server.get("orders?id=eq.7").status == 200
    with contextlib.ExitStack() as stack:
        mariadb.pause()
        stack.callback(mariadb.resume)
        waiting = waiting_for(server, "/data/orders?id=eq.7", stack)
        others_are_served(server, waiting)
        mariadb.resume()
        assert {wire.read_response().status for wire in waiting} == {200}


@pytest.mark.parametrize("shut", ["mute", "fill"])
def test_connecting_hangs(mariadb, start_rest, driver, shut):
    with Gate(mariadb.socket) as gate, contextlib.ExitStack() as stack:
        server = start_rest(["orders"], **options(driver, unix_socket=None, port=gate.port))
        getattr(gate, shut)()
        waiting = waiting_for(server, "/data/orders?id=eq.7", stack)
        others_are_served(server, waiting)
        gate.open()
        rows_come_again(server)


@pytest.mark.skipif(bool(NameServer.missing()), reason=str(NameServer.missing()))
def test_names_hang(with_mysql, mariadb, tmp_path, driver):
    with Gate(mariadb.socket) as gate, NameServer(retry_s=1) as names, contextlib.ExitStack() as stack:
        config = rest_config(mariadb, ["orders"], **options(driver, unix_socket=None, address="database.test", port=gate.port))
        server = RestServer(tmp_path, mariadb, config, before_exec=names.enter)
        stack.callback(server.stop)
        names.silent = True
        gate.mute()
        gate.open()  # the connections are lost; new ones would be passed, if only the address were known
        waiting = waiting_for(server, "/data/orders?id=eq.7", stack)
        others_are_served(server, waiting)
        assert names.unanswered > 0
        names.silent = False
        rows_come_again(server)
