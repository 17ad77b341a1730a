"""Heads of every size, alone and behind others, so that they lie across whatever the server reads into."""

import pytest

from exchange_case import FILES, OK, OK2, SECOND, get

MAX_HEAD = 32768  # the default


def head(size):
    """A request of exactly this size."""
    return get(b"X: " + b"y" * (size - len(get(b"X: "))))


SIZES = [1000, 4095, 4096, 4097, 8191, 8192, 8193, 16383, 16384, 16385, 20000, MAX_HEAD - 1, MAX_HEAD]


@pytest.mark.rfc("9110 5.4")
@pytest.mark.parametrize("size", SIZES)
def test_a_head_of_any_size(http_server, size):
    with http_server.connect() as wire:
        wire.send(head(size) + SECOND)
        OK.check(wire.read_response())
        OK2.check(wire.read_response())
        wire.send_pieces(head(size)[:size // 2], head(size)[size // 2:])
        OK.check(wire.read_response())
        wire.expect_alive("/probe.txt")


@pytest.mark.rfc("9112 9.3.2")
@pytest.mark.parametrize("size", SIZES)
def test_heads_in_a_row(http_server, size):
    """Each lies elsewhere in the buffers."""
    with http_server.connect() as wire:
        for before in (0, 1, 60, 1000):
            wire.send(SECOND * before + head(size) * 8 + SECOND)
            for _ in range(before):
                OK2.check(wire.read_response())
            for _ in range(8):
                OK.check(wire.read_response())
            OK2.check(wire.read_response())
        wire.expect_alive("/probe.txt")


@pytest.mark.rfc("6585 5")
@pytest.mark.parametrize("before", [0, 1, 100])
def test_a_head_beyond_the_limit_behind_others(http_server, before):
    with http_server.connect() as wire:
        wire.send(SECOND * before + head(MAX_HEAD + 1) + SECOND)
        for _ in range(before):
            OK2.check(wire.read_response())
        response = wire.read_response()
        assert response.status == 431 and response.closes
        wire.expect_close()


@pytest.mark.rfc("9112 6")
@pytest.mark.parametrize("size", [1, 100, 4000, 16384, 30000])
def test_bodies_across_buffers(http_server, size):
    body = (b"GET /no HTTP/1.1\r\nHost: a\r\n\r\n" * size)[:size]
    chunked = b"".join(b"%x;a=b\r\n" % len(body[at:at + 77]) + body[at:at + 77] + b"\r\n" for at in range(0, size, 77))
    sized = get(b"Content-Length: %d" % size) + body
    coded = get(b"Transfer-Encoding: chunked") + chunked + b"0\r\nX: y\r\n\r\n"
    with http_server.connect() as wire:
        wire.send((sized + SECOND + coded + SECOND) * 10)
        for _ in range(20):
            OK.check(wire.read_response())
            OK2.check(wire.read_response())
        wire.expect_alive("/probe.txt")


@pytest.mark.rfc("6585 5")
@pytest.mark.parametrize("limit", [1, 2, 100, 128])
def test_as_many_fields_as_are_allowed(shared_server, limit):
    server = shared_server({"worker_processes": 1, "http": {"max_fields": limit}})
    with server.connect() as wire:
        for count in (limit, limit, limit + 1):
            fields = [b"X-%d: y" % number for number in range(count - 1)]
            # What matters comes last.
            wire.send(get(*fields[:-1], *([b"Connection: x"] if count > 1 else []), target=b"/10k.bin"))
            response = wire.read_response()
            if count > limit:
                assert response.status == 431
                wire.expect_close()
            else:
                assert response.body == FILES["10k.bin"]
