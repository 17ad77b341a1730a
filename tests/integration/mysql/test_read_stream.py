"""Answers that are larger than what is kept of them: a million rows to slow and fast readers, and their ends before the end."""

import gzip
import json
import socket
import time

import pytest

from pool_watch import METRICS, number
from raw_http import ProtocolError, request
from rest_server import SANITIZED, SlowWire, rss_anon
from roost_server import eventually

MIB = 1 << 20
EVENTS = [{"name": "events", "max_rows": 0}]
ONE = {"max_connections": 1}


def running(server):
    """The statements that the database carries out for the server."""
    return server.mariadb.run("SELECT id, info FROM information_schema.processlist WHERE user = 'roost' AND info LIKE '%events%'")


def begin(server, target, wire):
    """Asks, and reads the head."""
    wire.send(request(f"/data/{target}"))
    return wire.read_head()


@pytest.fixture(scope="module")
def events(rest, million):
    return rest(EVENTS, mysql=ONE, worker_processes=1)


def test_a_million_rows_take_no_memory(events):
    for _ in range(5):
        assert len(events.get("events?limit=100&order=id").json()) == 100
    before = rss_anon(events)
    with SlowWire(events.address) as wire:
        assert begin(events, "events?order=id", wire)["Transfer-Encoding"] == "chunked"
        most = before
        for _ in range(20):
            wire.socket.recv(4096)
            most = max(most, rss_anon(events))
            time.sleep(0.02)
        assert running(events)
        wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, MIB)
        left, tail = 0, b""
        while not tail.endswith(b"\r\n0\r\n\r\n"):
            piece = wire.socket.recv(MIB)
            assert piece
            left, tail = left + len(piece), (tail + piece)[-64:]
            if left % 8 == 0:
                most = max(most, rss_anon(events))
        assert b'"name":"event 1000000"' in tail + piece and b"}]\r\n0" in tail
    assert SANITIZED or most - before < MIB, f"{most - before} bytes more than for 100 rows"
    assert left > 80 * 1000 * 1000


def test_all_rows_in_order(events):
    rows = events.get("events?order=id&limit=20000&offset=500000&select=id,name").json()
    assert [row["id"] for row in rows] == list(range(500001, 520001)) and rows[-1]["name"] == "event 520000"
    lines = events.get("events?order=id&limit=20000&select=id", Accept="application/x-ndjson").body.split(b"\n")
    assert [json.loads(line)["id"] for line in lines[:-1]] == list(range(1, 20001))
    text = events.get("events?order=id&limit=20000&select=id", Accept="text/csv").body
    assert text == b"id\r\n" + b"".join(b"%d\r\n" % id for id in range(1, 20001))


def test_counted_stream(events):
    answer = events.get("events?limit=5000&offset=10&order=id", Prefer="count=exact")
    assert (answer.status, answer["Content-Range"], len(answer.json())) == (206, "10-5009/1000000", 5000)
    answer = events.get("events?kind=eq.3&order=id", Prefer="count=exact")
    assert (answer.status, answer["Content-Range"], len(answer.json())) == (200, "0-99999/100000", 100000)
    assert "Content-Range" not in events.get("events?limit=5000&order=id")


def test_compressed_stream(rest, million):
    server = rest(EVENTS, mysql=ONE, worker_processes=1, http={"compress": {}})
    answer = server.get("events?limit=100000&order=id&select=id,name", Accept_Encoding="gzip")
    assert answer["Content-Encoding"] == "gzip" and len(answer.body) < 2 * MIB
    rows = json.loads(gzip.decompress(answer.body))
    assert [row["id"] for row in rows] == list(range(1, 100001)) and rows[77]["name"] == "event 78"


def test_old_clients_see_the_end_by_the_close(events):
    with events.connect() as wire:
        wire.send(request("/data/events?limit=5000&order=id&select=id", version="1.0"))
        head = wire.read_head()
        assert head.closes and "Transfer-Encoding" not in head
        assert len(json.loads(wire.read_until_close())) == 5000


def test_head_of_a_large_answer(events):
    assert events.head("events?order=id").status == 200
    assert eventually(lambda: not running(events), "the statement is over")
    assert events.get("events?limit=1&order=id").json()[0]["id"] == 1


def test_nothing_follows_the_head_of_a_large_answer(events):
    with events.connect() as wire:
        wire.send(request("/data/events?order=id", "HEAD") + request("/data/events?id=eq.77&select=id"))
        assert wire.read_response("HEAD").status == 200
        assert wire.read_response().json() == [{"id": 77}]


def test_a_reader_who_leaves_ends_its_statement(events):
    connection = events.mariadb.connections()
    with SlowWire(events.address) as wire:
        begin(events, "events?order=id", wire)
        assert running(events)
    left_at = time.monotonic()
    eventually(lambda: not running(events), "the statement is over")
    took = time.monotonic() - left_at
    assert events.get("events?limit=1&order=id").status == 200
    assert set(connection) <= set(events.mariadb.connections())
    assert took < 2


def test_a_reader_too_slow_loses_its_statement_alone(start_rest, million):
    server = start_rest(EVENTS, mysql={**ONE, "stream_timeout_ms": 700}, worker_processes=1)
    server.get("events?limit=1&order=id")
    connection = server.mariadb.connections()
    with SlowWire(server.address) as wire:
        begin(server, "events?order=id", wire)
        eventually(lambda: not running(server), "the statement is over")
        assert server.get("events?limit=2&order=id").json()[1]["id"] == 2
        with pytest.raises((ProtocolError, ConnectionResetError)):  # cut off, and no whole answer
            wire._read_chunked()
    assert set(connection) <= set(server.mariadb.connections())


def test_slow_readers_give_way_to_who_waits(start_rest, million):
    server = start_rest(EVENTS, mysql={"max_connections": 2, "slow_reader_ms": 200}, routes=[METRICS], worker_processes=1)
    with SlowWire(server.address) as first, SlowWire(server.address) as second:
        for wire in (first, second):
            begin(server, "events?order=id", wire)
        assert number(server, "roost_mysql_slow_readers_total") == 0
        for _ in range(3):
            assert server.get("events?limit=2&order=id").json()[1]["id"] == 2
        assert number(server, "roost_mysql_slow_readers_total") == 1
        assert running(server)  # the other one's


def test_a_database_that_dies_cuts_the_answer_off(start_rest, own_mariadb):
    mariadb = own_mariadb()
    mariadb.run("CREATE TABLE events (id BIGINT NOT NULL PRIMARY KEY, name VARCHAR(40) NOT NULL)", "sample")
    mariadb.run("INSERT INTO events SELECT seq, CONCAT('event ', seq) FROM seq_1_to_400000", "sample")
    server = start_rest(EVENTS, server=mariadb, mysql=ONE)
    with SlowWire(server.address) as wire:
        begin(server, "events?order=id", wire)
        mariadb.kill()
        with pytest.raises((ProtocolError, ConnectionResetError)):
            wire._read_chunked()
    answer = server.get("events?limit=1&order=id")
    assert answer.status == 503 and int(answer["Retry-After"]) > 0
    mariadb.start()
    eventually(lambda: server.get("events?limit=1&order=id").status == 200, "it comes back", 40)
