"""Clients that take little at a time of what does not fit into one write, or leave."""

import time

import pytest

from exchange_case import get
from raw_http import request
from roost_server import eventually
from slow_wire import slow_wire
from site_files import pattern

SIZE = 20 << 20  # of large.bin


def test_a_20_mb_file_stalling_after_the_first_partial_write(large):
    with slow_wire(large) as wire:
        wire.send(request("/large.bin") + request("/small.txt"))
        assert wire.read_response().body == pattern(SIZE)
        assert wire.read_response().body == b"small\n"


def test_several_slow_readers_at_once(large):
    wires = [slow_wire(large) for _ in range(4)]
    for wire in wires:
        wire.send(request("/large.bin", fields={"Range": f"bytes={SIZE - 2_000_000}-"}))
    heads = [wire.read_head() for wire in wires]
    assert [head.status for head in heads] == [206] * 4
    assert large.ask("/small.txt").body == b"small\n"  # meanwhile
    for wire in wires:
        assert wire.read_exactly(2_000_000) == pattern(SIZE)[-2_000_000:]
        wire.expect_alive("/small.txt")
        wire.close()


@pytest.mark.rfc("9112 9.3.2")
def test_pipelined_large_and_small_in_order(large):
    with large.connect() as wire:
        wire.send(request("/large.bin") + request("/large.bin", "HEAD") + request("/small.txt") + request("/large.bin"))
        assert wire.read_response().body == pattern(SIZE)
        assert wire.read_response("HEAD").content_length() == SIZE
        assert wire.read_response().body == b"small\n"
        assert wire.read_response().body == pattern(SIZE)
        wire.expect_alive("/small.txt")


@pytest.mark.rfc("9112 9.6")
def test_a_client_that_has_ended_its_side_gets_all(large):
    with slow_wire(large) as wire:
        wire.send(get(target=b"/large.bin") + get(target=b"/small.txt"))
        wire.shutdown_write()
        assert wire.read_response().body == pattern(SIZE)
        assert wire.read_response().body == b"small\n"
        wire.expect_close()


@pytest.mark.rfc("9112 9.6")
def test_the_last_answer_survives_requests_behind_it(start_server):
    """The client cannot know that the server has had enough: what it sends meanwhile must not end in a reset."""
    server = start_server({"worker_processes": 1, "http": {"max_requests_per_connection": 2}},
                          files={"1m.bin": pattern(1 << 20)})
    for _ in range(5):
        with slow_wire(server) as wire:
            wire.send(request("/1m.bin"))
            assert wire.read_response().body == pattern(1 << 20)
            wire.send(request("/1m.bin"))
            wire.wait_until_read()
            for _ in range(3):
                wire.send(request("/1m.bin"))
                server.ask("/1m.bin", "HEAD")
            response = wire.read_response()
            assert response.closes and response.body == pattern(1 << 20)
            wire.expect_close()


def test_a_client_that_takes_little_but_steadily_is_not_reset(start_server):
    """Far less than the third of the send buffer that epoll waits for before it tells of room."""
    server = start_server({"worker_processes": 1, "http": {"send_timeout_ms": 500}}, files={"20m.bin": pattern(SIZE)})
    with slow_wire(server) as wire:
        wire.send(request("/20m.bin"))
        wire.read_head()
        begin, taken = time.monotonic(), b""
        while time.monotonic() - begin < 4:
            taken += wire.read_exactly(2000)
            time.sleep(0.05)
        assert taken == pattern(len(taken))
        time.sleep(2.5)  # and one that stops is
        with pytest.raises(ConnectionResetError):
            wire.read_exactly(SIZE - len(taken))


@pytest.mark.parametrize("leave", ["close", "reset"])
def test_a_client_that_leaves_halfway(large, leave):
    large.ask("/large.bin", "HEAD")
    before = large.open_fds()
    for _ in range(10):
        wire = slow_wire(large)
        wire.send(request("/large.bin"))
        wire.read_head()
        getattr(wire, leave)()
    eventually(lambda: large.open_fds() <= before + 1, "the connections are given back")  # the file may stay open
    assert large.ask("/large.bin").body == pattern(SIZE)
