"""Held requests: answered when their time has come, on one connection after another, and let go with their clients."""

import json
import time

from roost_server import eventually, run_server

ROUTES = [
    {"path": "/hold", "hold": {"min_ms": 50, "max_ms": 60000, "query_key": "ms", "body": "held\n"}},
    {"path": "/some", "hold": {"min_ms": 20, "max_ms": 60}},
    {"path": "/", "static": {}},
]
CONFIG = {"worker_processes": 1, "http": {"sites": [{"host": ["*"], "routes": ROUTES}]}}


def test_times(shared_server):
    server = shared_server(CONFIG)
    with server.connect() as wire:
        for target, least_s in (("/hold?ms=120", 0.12), ("/some", 0.02), ("/hold?ms=0", 0)):
            begun = time.monotonic()
            response = wire.ask(target)
            assert (response.status, response.body) == (200, b"held\n" if "hold" in target else b"")
            assert least_s <= time.monotonic() - begun < 5
        assert wire.ask("/hold?ms=60001").status == 400
        assert wire.ask("/hold?ms=soon").status == 400


def test_many_at_a_time_beside_others(shared_server):
    server = shared_server(CONFIG)
    wires = [server.connect() for _ in range(100)]
    for wire in wires:
        wire.send(b"GET /hold?ms=300 HTTP/1.1\r\nHost: x\r\n\r\n")
    assert server.ask("/some").status == 200
    for wire in wires:
        assert wire.read_response().body == b"held\n"
        wire.close()


def test_clients_that_leave_are_let_go(start_server):
    server = start_server(CONFIG)
    before = server.open_fds()
    wires = [server.connect() for _ in range(20)]
    for wire in wires:
        wire.send(b"GET /hold?ms=60000 HTTP/1.1\r\nHost: x\r\n\r\n")
        wire.wait_until_read()
    assert server.open_fds() == before + 20
    for wire in wires[:10]:
        wire.close()
    for wire in wires[10:19]:
        wire.reset()
    eventually(lambda: server.open_fds() == before + 1, "connections of clients that left are closed")
    server.stop()  # with one that is held
    wires[19].close()


def test_bounds_the_wrong_way_round(tmp_path):
    (tmp_path / "conf").mkdir()
    config = {"http": {"sites": [{"host": ["*"], "routes": [{"path": "/", "hold": {"min_ms": 9, "max_ms": 8}}]}]}}
    (tmp_path / "conf" / "server.json").write_text(json.dumps(config))
    result = run_server("-t", "-f", tmp_path / "conf" / "server.json")
    assert result.returncode == 1
    assert '"min_ms" (9) is more than "max_ms" (8)' in result.stderr
