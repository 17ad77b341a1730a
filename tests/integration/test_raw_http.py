"""The reader of responses that every other test trusts: it takes what is right and nothing else."""

import socket
import threading

import pytest

from raw_http import ProtocolError, Wire, request

DATE = b"Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"


@pytest.fixture
def answering(tmp_path):
    """answering(bytes) -> a Wire whose other end sends these bytes and closes."""
    wires = []

    def start(data):
        path = str(tmp_path / f"socket{len(wires)}")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen()

        def serve():
            with listener, listener.accept()[0] as peer:
                peer.sendall(data)
        threading.Thread(target=serve, daemon=True).start()
        wires.append(Wire(path, timeout=5))
        return wires[-1]

    yield start
    for wire in wires:
        wire.close()


@pytest.mark.parametrize("data, body", [
    (b"Content-Length: 3\r\n\r\nabc", b"abc"),
    (b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n", b"abcd"),
    (b"Connection: close\r\n\r\nto the end", b"to the end"),
])
def test_bodies(answering, data, body):
    wire = answering(b"HTTP/1.1 200 OK\r\n" + DATE + data)
    assert wire.read_response().body == body
    wire.expect_close()


def test_no_body_for_head_and_interim_responses_are_kept(answering):
    wire = answering(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n" + DATE + b"Content-Length: 3\r\n\r\n")
    response = wire.read_response("HEAD")
    assert (response.body, response.interim[0].status, response["content-length"]) == (b"", 100, "3")


@pytest.mark.parametrize("data", [
    b"HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1  200 OK\r\n" + DATE + b"Content-Length: 0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",  # no Date
    b"HTTP/1.1 200 OK\r\n" + DATE + b"Content-Length : 0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n" + DATE + b"Content-Length: +1\r\n\r\na",
    b"HTTP/1.1 200 OK\r\n" + DATE + b"Content-Length: 1\r\nContent-Length: 1\r\n\r\na",
    b"HTTP/1.1 200 OK\r\n" + DATE + b"Content-Length: 5\r\n\r\nshor",
    b"HTTP/1.1 200 OK\r\n" + DATE + b"\r\nneither length nor close",
    b"HTTP/1.1 200 OK\r\n" + DATE + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n" + DATE + b"Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n",
    b"HTTP/1.1 204 No Content\r\n" + DATE + b"Content-Length: 0\r\n\r\n",
    b"HTTP/1.1 405 Method Not Allowed\r\n" + DATE + b"Content-Length: 0\r\n\r\n",
])
def test_what_it_refuses(answering, data):
    with pytest.raises(ProtocolError):
        answering(data).read_response()


def test_bytes_left_over_are_seen(answering):
    wire = answering(b"HTTP/1.1 200 OK\r\n" + DATE + b"Content-Length: 1\r\n\r\nab")
    wire.read_response()
    with pytest.raises(AssertionError):
        wire.expect_close()


def test_requests_are_written_plainly():
    assert request("/x", "POST", {"A": "b"}, b"12") == (
        b"POST /x HTTP/1.1\r\nHost: localhost\r\nA: b\r\nContent-Length: 2\r\n\r\n12")
