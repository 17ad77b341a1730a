"""How it ends, and what signals do meanwhile."""

import json
import os
import re
import signal
import socket
import time

import pytest

from raw_http import request
from roost_server import REPOSITORY, eventually

BOTH_MODES = pytest.mark.parametrize("accept", ["handoff", "reuseport"])


@BOTH_MODES
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT])
def test_it_ends_with_0_and_its_log_is_whole(start_server, accept, number):
    server = start_server({"accept": accept, "log": {"flush_second": 3600}})
    with server.connect() as wire:
        wire.ask("/")
        server.signal(number)
        assert server.wait() == 0
        wire.expect_close()
    lines = server.log.splitlines()
    assert number.name in lines[-2] and re.search(r"\] stopped\b", lines[-1]), lines
    assert server.log.endswith("\n")


@BOTH_MODES
def test_queued_answers_go_out_before_the_end(start_server, accept):
    body = os.urandom(8 << 20)
    server = start_server({"accept": accept}, files={"big.bin": body})
    with server.connect() as wire:
        wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        wire.send(request("/big.bin"))
        wire.read_exactly(1)
        server.signal(signal.SIGTERM)
        wire.buffer[:0] = b"H"
        assert wire.read_response().body == body
        wire.expect_close()
    assert server.wait() == 0
    assert "cut short" not in server.log


@BOTH_MODES
def test_a_client_that_takes_nothing_does_not_hold_it_up(start_server, accept):
    server = start_server({"accept": accept}, files={"big.bin": bytes(64 << 20)})
    with server.connect() as wire, server.connect() as idle:
        idle.ask("/")
        wire.send(request("/big.bin"))
        wire.read_exactly(1)
        begin = time.monotonic()
        server.signal(signal.SIGTERM)
        assert server.wait() == 0
        assert time.monotonic() - begin < 10
    assert re.search(r"WARN .*\b1 answer cut short", server.log), server.log


def test_a_second_signal_ends_it_at_once(start_server):
    server = start_server(files={"big.bin": bytes(64 << 20)})
    with server.connect() as wire:
        wire.send(request("/big.bin"))
        wire.read_exactly(1)
        server.signal(signal.SIGTERM)
        eventually(lambda: "SIGTERM: stopping" in server.log, "the log says that it stops")
        server.signal(signal.SIGINT)
        assert server.wait() in (0, 1)  # 0: it was through with it already
    assert "SIGINT again" in server.log or "] stopped" in server.log


def test_usr1_opens_the_log_anew(start_server):
    server = start_server()
    path = server.folder / "logs" / "server.log"
    eventually(lambda: "serving" in server.log, "the first line is written")
    path.rename(path.with_name("server.log.old"))
    server.signal(signal.SIGUSR1)
    eventually(path.exists, "a new file of the old name")
    server.stop()
    assert "stopped" in path.read_text()
    assert "stopped" not in path.with_name("server.log.old").read_text()


def test_a_usr1_that_fails_is_told_where_somebody_looks(start_server):
    server = start_server({"http": {"sites": [{"routes": [{"path": "/metrics", "metrics": {}}]}]}})
    path = server.folder / "logs" / "server.log"
    eventually(lambda: "serving" in server.log, "the first line is written")
    path.rename(path.with_name("server.log.old"))
    path.mkdir()
    server.signal(signal.SIGUSR1)
    eventually(lambda: "cannot reopen" in server.output, "a line on standard error")
    assert "roost_log_reopen_failures_total 1" in server.ask("/metrics").body.decode()


def test_held_requests_are_answered_at_the_end(start_server):
    hold = {"path": "/hold", "hold": {"min_ms": 60000, "max_ms": 60000, "query_key": "ms", "body": "held"}}
    server = start_server({"http": {"access_log": {"path": "logs/access.json", "format": "json"},
                                    "sites": [{"routes": [hold]}]}})
    with server.connect() as soon, server.connect() as late:
        soon.send(request("/hold?ms=700"))
        late.send(request("/hold"))
        soon.wait_until_read()
        late.wait_until_read()
        server.signal(signal.SIGTERM)
        refused = late.read_response()
        assert (refused.status, refused.get("Retry-After")) == (503, "1")
        answered = soon.read_response()
        assert (answered.status, answered.body) == (200, b"held")
        soon.expect_close()
        late.expect_close()
        assert server.wait() == 0
    entries = [json.loads(line) for line in (server.folder / "logs" / "access.json").read_text().splitlines()]
    assert sorted((entry["status"], entry["aborted"]) for entry in entries) == [(200, False), (503, False)]


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGUSR2])
def test_what_it_cannot_do_is_answered_in_the_log_and_harms_nothing(start_server, number):
    server = start_server(files={"a": b"a"})
    server.signal(number)
    eventually(lambda: re.search(rf"WARN .*{number.name}:", server.log), f"a line about {number.name}")
    assert server.ask("/a").body == b"a"


def test_the_pid_file_lives_as_long_as_the_server(start_server):
    server = start_server({"pid_file": "run.pid"})
    path = server.folder / "run.pid"
    assert path.read_text() == f"{server.process.pid}\n"
    server.stop()
    assert not path.exists()


def test_a_pid_file_that_another_process_has_taken_over_stays(start_server):
    server = start_server({"pid_file": "run.pid"})
    path = server.folder / "run.pid"
    path.write_text("1\n")
    server.stop()
    assert path.read_text() == "1\n"


def test_a_file_of_the_family_starts_unchanged(start_server):
    text = (REPOSITORY / "conf/family.json").read_text()
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    server = start_server(text=text.replace("4507", str(port)), files={"index.html": b"family"})
    assert server.ask("/").body == b"family"


def test_what_mysql_cannot_do_yet_is_said(start_server):
    server = start_server({"mysql": {"mysql_started": "on"}})
    eventually(lambda: re.search(r"WARN .*mysql", server.log), "a warning")
