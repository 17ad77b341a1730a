"""Files that do not fit into one write: slow readers, many gigabytes, and files that change while they are sent."""

import os
import socket

import pytest

from exchange_case import get
from raw_http import Wire, request
from roost_server import eventually
from site_files import pattern

SIZE = 20 << 20
GIB = 1 << 30
ONE_LOOP = {"worker_processes": 1}


def slow_wire(server):
    """A connection with a receive buffer so small that every write of the server is a partial one."""
    wire = Wire.__new__(Wire)
    wire.timeout, wire.buffer = 10, bytearray()
    wire.socket = socket.socket()
    wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    wire.socket.settimeout(wire.timeout)
    wire.socket.connect(server.address)
    return wire


@pytest.fixture
def large(start_server):
    server = start_server(ONE_LOOP, files={"large.bin": pattern(SIZE), "small.txt": b"small\n"})
    yield server
    server.check_alive()


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


@pytest.mark.parametrize("left", [0, 1000, 5 << 20])
def test_a_file_that_shrinks_while_being_sent_ends_the_connection(large, left):
    with slow_wire(large) as wire:
        wire.send(request("/large.bin") + request("/small.txt"))
        head = wire.read_head()
        assert head.content_length() == SIZE
        os.truncate(large.html / "large.bin", left)
        try:
            received = wire.read_until_close()
        except ConnectionResetError:
            received = bytes(wire.buffer)
        assert len(received) < SIZE and pattern(SIZE).startswith(received[:left])
    used = large.cpu_seconds()
    eventually(lambda: large.ask("/large.bin").content_length() == left, "the shrunken file is served")
    assert large.cpu_seconds() - used < 1, "it spins"


def test_a_file_that_grows_while_being_sent(large):
    with slow_wire(large) as wire:
        wire.send(request("/large.bin") + request("/small.txt"))
        head = wire.read_head()
        with open(large.html / "large.bin", "ab") as file:
            file.write(b"more" * 1_000_000)
        assert head.content_length() == SIZE
        assert wire.read_exactly(SIZE) == pattern(SIZE)
        assert wire.read_response().body == b"small\n"


@pytest.mark.parametrize("how", ["replaced", "deleted"])
def test_a_file_that_goes_while_being_sent_is_sent_to_its_end(large, how):
    with slow_wire(large) as wire:
        wire.send(request("/large.bin") + request("/large.bin"))
        assert wire.read_head().content_length() == SIZE
        if how == "deleted":
            (large.html / "large.bin").unlink()
        else:
            (large.html / "new").write_bytes(b"new" * 1_000_000)
            os.replace(large.html / "new", large.html / "large.bin")
        assert wire.read_exactly(SIZE) == pattern(SIZE)
        second = wire.read_response()
        assert second.status == 404 if how == "deleted" else second.body == b"new" * 1_000_000


@pytest.mark.rfc("9110 14.1.2")
def test_many_gigabytes(start_server):
    server = start_server(ONE_LOOP)
    size, marker = 9 * GIB + 7, b"beyond four gigabytes"
    with open(server.html / "huge.bin", "wb") as file:
        file.truncate(size)
        file.seek(5 * GIB)
        file.write(marker)
        file.seek(-len(marker), os.SEEK_END)
        file.write(marker)
    with server.connect() as wire:
        assert wire.ask("/huge.bin", "HEAD").content_length() == size
        for first, last, value in ((5 * GIB, 5 * GIB + len(marker) - 1, f"{5 * GIB}-{5 * GIB + len(marker) - 1}"),
                                   (size - len(marker), size - 1, f"-{len(marker)}"),
                                   (size - len(marker), size - 1, f"{size - len(marker)}-")):
            response = wire.ask("/huge.bin", fields={"Range": f"bytes={value}"})
            assert response.status == 206 and response.body == marker
            assert response["Content-Range"] == f"bytes {first}-{last}/{size}"
        multi = wire.ask("/huge.bin", fields={"Range": f"bytes=0-9,{5 * GIB}-{5 * GIB + 9},-10"})
        assert multi.body.count(marker[:10]) == 1 and marker[-10:] in multi.body and bytes(10) in multi.body
        assert wire.ask("/huge.bin", fields={"Range": f"bytes={size}-"}).status == 416
        assert wire.ask("/huge.bin", fields={"Range": f"bytes={4 * GIB - 1000}-{4 * GIB + 999}"}).body == bytes(2000)
    with server.connect() as wire:  # the beginning of the whole
        wire.send(request("/huge.bin"))
        assert wire.read_head().content_length() == size
        assert wire.read_exactly(30 << 20) == bytes(30 << 20)
