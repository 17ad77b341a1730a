"""Limits of what a client may send: RFC 9110 section 15.5, RFC 6585 section 5, RFC 9112 section 3."""

import time

import pytest

from exchange_case import get

LIMITS = {"worker_processes": 1, "http": {
    "max_head_size_bytes": 2048, "max_fields": 10, "max_target_size_bytes": 100, "max_body_size": 1000,
    "max_discard_body_bytes": 500, "max_requests_per_connection": 3}}


@pytest.fixture
def limited(shared_server):
    server = shared_server(LIMITS)
    with server.connect() as wire:
        yield wire
    server.check_alive()


def filler(size):
    """A head of exactly this size."""
    head = get(b"X: ")
    return get(b"X: " + b"y" * (size - len(head)))


ANSWERS = [
    ("9112 3", "target within", get(target=b"/" + b"x" * 99), 404),
    ("9110 15.5.15", "target beyond", get(target=b"/" + b"x" * 100), 414),
    ("9110 15.5.15", "query beyond", get(target=b"/hello.txt?" + b"x" * 90), 414),
    ("9110 15.5.15", "absolute target beyond", get(target=b"http://a/hello.txt?" + b"x" * 82), 414),
    ("9110 15.5.15", "target beyond, and the whole head", get(target=b"/" + b"x" * 5000), 414),
    ("9110 15.5.15", "target without an end", b"GET /" + b"x" * 101, 414),
    ("6585 5", "head within", filler(2048), 200),
    ("6585 5", "head beyond", filler(2049), 431),
    ("6585 5", "head far beyond", filler(20000), 431),
    ("6585 5", "head without an end", get()[:-2] + b"X: " + b"y" * 3000, 431),
    ("6585 5", "field name without an end", get()[:-2] + b"y" * 3000, 431),
    ("6585 5", "fields within", get(*[b"X: y"] * 9), 200),
    ("6585 5", "fields beyond", get(*[b"X: y"] * 10), 431),
    ("6585 5", "fields far beyond", get(*[b"X:"] * 500), 431),
    ("9112 3", "method without an end", b"X" * 3000, 431),
    ("9110 15.5.14", "length within", get(b"Content-Length: 500") + b"x" * 500, 200),
    ("9110 15.5.14", "length at the limit", get(b"Content-Length: 1000") + b"x" * 1000, 200),
    ("9110 15.5.14", "length beyond", get(b"Content-Length: 1001") + b"x" * 1001, 413),
    ("9110 15.5.14", "length beyond, of a method not allowed", get(b"Content-Length: 1001", method=b"POST"), 413),
    ("9110 15.5.14", "length beyond, that waits", get(b"Content-Length: 1001", b"Expect: 100-continue"), 413),
]


@pytest.mark.parametrize("data, status", [
    pytest.param(data, status, marks=pytest.mark.rfc(rfc), id=f"RFC {rfc}: {name}")
    for rfc, name, data, status in ANSWERS])
def test_limit(limited, data, status):
    limited.send(data)
    response = limited.read_response()
    assert response.status == status
    assert response.interim == []
    if status in (413, 414, 431):
        assert response.closes and 0 < len(response.body) <= 700
    if response.closes:
        limited.expect_close()
    else:
        limited.expect_alive()


@pytest.mark.rfc("9110 15.5.14")
@pytest.mark.parametrize("method", [b"GET", b"POST"])
@pytest.mark.parametrize("chunk", [1, 100, 499])
def test_a_body_limit_that_does_not_limit(limited, method, chunk):
    """A chunked body nobody wants is read away up to the limit; then the connection ends, and no byte is a request."""
    limited.send(get(b"Transfer-Encoding: chunked", method=method))
    assert limited.read_response().status == (200 if method == b"GET" else 405)
    for _ in range(3000 // chunk):
        limited.send(b"%x\r\n" % chunk + b"x" * chunk + b"\r\n")
    limited.expect_close()


@pytest.mark.rfc("9112 9.6")
def test_reading_away_has_an_end(shared_server):
    """What comes behind the last answer is read away, so that no reset destroys it, but not for ever."""
    server = shared_server({"worker_processes": 1, "http": {"linger_timeout_ms": 200}})
    with server.connect() as wire:
        wire.send(get(b"Connection: close", b"Transfer-Encoding: chunked"))
        assert wire.read_response().status == 200
        deadline = time.monotonic() + 5
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            while time.monotonic() < deadline:
                wire.send(b"x" * 1000)


@pytest.mark.rfc("9112 7.1.2")
def test_trailers_are_counted(limited):
    limited.send(get(b"Transfer-Encoding: chunked") + b"0\r\n" + b"X: y\r\n" * 11 + b"\r\n" + get())
    assert limited.read_response().status == 200
    limited.expect_close()


@pytest.mark.rfc("9112 7.1.1")
def test_trailers_within_the_count(limited):
    limited.send(get(b"Transfer-Encoding: chunked") + b"0\r\n" + b"X: y\r\n" * 10 + b"\r\n" + get())
    assert [limited.read_response().status for _ in range(2)] == [200, 200]


@pytest.mark.rfc("9112 9.6")
def test_requests_per_connection(limited):
    limited.send(get() * 5)
    assert [limited.read_response().closes for _ in range(3)] == [False, False, True]
    limited.expect_close()


@pytest.mark.rfc("9112 9.6")
def test_requests_per_connection_in_http_1_0(limited):
    for expected in ("keep-alive", "keep-alive", "close"):
        limited.send(get(b"Connection: keep-alive", version=b"1.0"))
        assert limited.read_response().get("Connection", "close") == expected
    limited.expect_close()
