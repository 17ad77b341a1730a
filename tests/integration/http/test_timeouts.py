"""What happens when a client takes its time: RFC 9110 section 15.5.9, RFC 9112 section 9.5."""

import select
import time

import pytest

from exchange_case import get

QUICK = {"worker_processes": 1, "http": {
    "head_timeout_ms": 250, "body_timeout_ms": 250, "keep_alive_timeout_ms": 250, "send_timeout_ms": 400,
    "linger_timeout_ms": 250}}


@pytest.fixture
def quick(shared_server):
    server = shared_server(QUICK)
    yield server
    server.check_alive()


@pytest.mark.rfc("9110 15.5.9")
@pytest.mark.parametrize("begun", [b"G", b"GET / HTTP/1.1\r\n", get()[:-1], get() + b"GET /"])
def test_a_head_that_does_not_end(quick, begun):
    with quick.connect() as wire:
        wire.send(begun)
        if begun.startswith(get()):
            assert wire.read_response().status == 200
        response = wire.read_response()
        assert response.status == 408 and response.closes
        wire.expect_close()


@pytest.mark.rfc("9110 15.5.9")
def test_a_head_that_trickles(quick):
    """Each byte is in time, the head is not."""
    with quick.connect() as wire:
        began = time.monotonic()
        for byte in b"GET / HTTP/1.1\r\nX: " + b"y" * 1000:
            if time.monotonic() - began > 5:
                break
            try:
                wire.send(bytes([byte]))
            except OSError:
                break
            time.sleep(0.02)
            wire.socket.setblocking(False)
            try:
                if wire._fill():
                    break
            except BlockingIOError:
                pass
            finally:
                wire.socket.settimeout(10)
        assert time.monotonic() - began < 5
        assert wire.read_response().status == 408


@pytest.mark.rfc("9112 9.5")
def test_silence_ends_in_silence(quick):
    with quick.connect() as new, quick.connect() as used:
        used.ask("/")
        new.expect_close()
        used.expect_close()


@pytest.mark.rfc("9112 9.5")
def test_a_body_that_does_not_come(quick):
    """The answer needs no body and does not wait for it; the connection does, and not for ever."""
    with quick.connect() as wire:
        wire.send(get(b"Content-Length: 5") + b"he")
        assert wire.read_response().status == 200
        wire.expect_close()


@pytest.mark.rfc("9112 9.5")
def test_a_client_that_takes_nothing(start_server):
    server = start_server(QUICK)
    with open(server.html / "large.bin", "wb") as file:
        file.truncate(64 << 20)
    with server.connect() as wire:
        wire.send(get(target=b"/large.bin"))
        assert wire.read_head().status == 200
        poll = select.poll()
        poll.register(wire.socket, 0)  # only a reset shows
        assert poll.poll(5000), "the connection is not cut off"
        with pytest.raises((AssertionError, ConnectionResetError)):
            wire.read_exactly(64 << 20)
    server.check_alive()
