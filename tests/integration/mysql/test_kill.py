"""KILL QUERY: of a client who has gone, where the database has no room left, and where one name is several servers."""

import threading
import time

import pytest

from gate import NameServer
from pool_watch import METRICS, SLEEP, number, sleeping
from rest_server import RestServer, rest_config
from roost_server import eventually


@pytest.fixture
def start(start_rest):
    def begin(mysql=None, **more):
        return start_rest(["products"], mysql={"max_connections": 1, **(mysql or {})}, routes=[SLEEP, METRICS], worker_processes=1, **more)
    return begin


@pytest.fixture(params=["loop", "threads"])
def driver(request):
    return {"driver": request.param}


def begin_sleep(server, mariadb, seconds=30):
    client = server.connect()
    client.send(f"GET /sleep/{seconds} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
    eventually(lambda: sleeping(mariadb) == 1, "the statement runs")
    return client


def test_the_statement_of_a_client_who_leaves_is_ended(start, mariadb, driver):
    server = start(driver)
    client = begin_sleep(server, mariadb)
    left = time.monotonic()
    client.close()
    eventually(lambda: sleeping(mariadb) == 0, "it has been killed")
    assert time.monotonic() - left < 1  # 0.1 s on a machine with nothing else to do
    assert server.get("products?limit=1").status == 200
    assert number(server, "roost_mysql_connects_total") == 1


def test_a_client_who_leaves_behind_much_that_nobody_reads(start, mariadb):
    """More requests than are read ahead, though no more than the kernel takes: the client's end stands behind them."""
    server = start()
    client = begin_sleep(server, mariadb)
    client.send(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n" * 3_000)
    time.sleep(0.1)
    assert sleeping(mariadb) == 1
    client.close()
    eventually(lambda: sleeping(mariadb) == 0, "it has been killed")
    assert number(server, "roost_mysql_killed_total") == 1


@pytest.mark.parametrize("full", ["the account", "the server"])
def test_an_end_where_there_is_no_room_for_one_more_connection(start, own_mariadb, driver, full):
    """By the connection that reads the schema."""
    mariadb = own_mariadb()
    if full == "the account":
        mariadb.run(f"ALTER USER {mariadb.user}@localhost WITH MAX_USER_CONNECTIONS 2")
    server, others = start(driver, server=mariadb), []
    assert server.get("products?limit=1").status == 200
    assert len(mariadb.connections()) == 2
    client = begin_sleep(server, mariadb)
    if full == "the server":
        others = [mariadb.client(user=mariadb.user, password=mariadb.password)]
        mariadb.run("SET GLOBAL max_connections = 10")  # the least
        with pytest.raises(Exception, match="Too many connections"):
            for _ in range(10):
                others.append(mariadb.client(user=mariadb.user, password=mariadb.password))
    left = time.monotonic()
    client.close()
    eventually(lambda: sleeping(mariadb) == 0, "it has been killed")
    assert time.monotonic() - left < 2  # 0.1 s on a machine with nothing else to do
    assert server.get("products?limit=1").status == 200
    assert number(server, "roost_mysql_killed_total") == number(server, "roost_mysql_connects_total") == 1
    for other in others:
        other.close()


def test_an_end_that_cannot_be_is_told_and_not_counted(start_server, with_mysql, own_mariadb):
    """Where no route reads a schema there is no other connection."""
    mariadb = own_mariadb()
    mariadb.run(f"ALTER USER {mariadb.user}@localhost WITH MAX_USER_CONNECTIONS 1")
    server = start_server({"mysql": mariadb.config(max_connections=1), "http": {"sites": [{"host": ["*"], "routes": [SLEEP, METRICS]}]}})
    for _ in range(2):
        begin_sleep(server, mariadb, 2).close()
        eventually(lambda: sleeping(mariadb) == 0, "it ends by itself")
        eventually(lambda: server.ask("/sleep/0").status == 200, "the connection's place is free again")
    assert number(server, "roost_mysql_killed_total") == 0
    eventually(lambda: server.log.count("could not be ended and runs on: ") == 1, "it is told, not each time")


def test_a_kill_goes_to_no_other_server_of_the_name(start, own_mariadb, tmp_path):
    """Where one name leads to several, as behind a balancer, a statement's number is another statement's at the next one. The
    connection that reads the schema is where the statement is."""
    ours, other = own_mariadb(), own_mariadb()
    other.run("SET GLOBAL general_log = OFF")  # what the stranger says is not the server's
    name = tmp_path / "db"
    name.symlink_to(ours.socket)
    server = start({"unix_socket": str(name)}, server=ours)
    client = begin_sleep(server, ours)
    number_there = int(ours.value("SELECT id FROM information_schema.processlist WHERE info LIKE '%SLEEP%' AND user = 'roost'"))
    stranger = other.client(user=other.user, password=other.password)
    while int(stranger.value("SELECT CONNECTION_ID()")) < number_there:
        stranger.close()
        stranger = other.client(user=other.user, password=other.password)
    assert int(stranger.value("SELECT CONNECTION_ID()")) == number_there
    told = []
    asking = threading.Thread(target=lambda: told.append(stranger.value("SELECT SLEEP(2)")), daemon=True)
    asking.start()
    eventually(lambda: sleeping(other) == 1, "and another program's at the other server")
    name.unlink()
    name.symlink_to(other.socket)
    client.close()
    eventually(lambda: sleeping(ours) == 0, "it has been killed")
    assert number(server, "roost_mysql_killed_total") == 1
    asking.join(10)
    stranger.close()
    assert told == ["0"]  # 1: interrupted


@pytest.mark.skipif(bool(NameServer.missing()), reason=str(NameServer.missing()))
def test_a_kill_goes_to_the_address_of_the_statement(with_mysql, own_mariadb, tmp_path):
    ours = own_mariadb("--bind-address=127.0.0.2")
    with NameServer(retry_s=1) as names:
        names.target = "127.0.0.2"
        config = rest_config(ours, ["products"], routes=[SLEEP, METRICS], worker_processes=1,
                             mysql={"unix_socket": None, "address": "db.of.several", "max_connections": 1})
        server = RestServer(tmp_path, ours, config, before_exec=names.enter)
        other = own_mariadb("--bind-address=127.0.0.3", f"--port={ours.port}")
        assert server.get("products?limit=1").status == 200  # by the one connection that there is
        names.target = "127.0.0.3"
        client = begin_sleep(server, ours)
        client.close()
        eventually(lambda: sleeping(ours) == 0, "it has been killed")
        assert other.connections() == []
        assert number(server, "roost_mysql_killed_total") == 1
        server.stop()
