"""Expect: 100-continue where nobody wants the body: RFC 9110 section 10.1.1."""

import pytest

from exchange_case import SECOND, get

EXPECT = b"Expect: 100-continue"


@pytest.fixture
def wire(http_server):
    with http_server.connect() as wire:
        yield wire


@pytest.mark.rfc("9110 10.1.1")
@pytest.mark.parametrize("length", [b"Content-Length: 5", b"Transfer-Encoding: chunked"])
@pytest.mark.parametrize("expect", [EXPECT, b"expect: 100-CONTINUE"])
@pytest.mark.parametrize("method, status", [(b"GET", 200), (b"POST", 405)])
def test_a_body_that_is_not_wanted_is_not_asked_for(wire, method, status, expect, length):
    """The final answer comes at once; where the next request would begin is unknown then."""
    wire.send(get(length, expect, method=method))
    response = wire.read_response()
    assert response.status == status and response.interim == []
    assert response.closes
    wire.expect_close()


@pytest.mark.rfc("9110 10.1.1")
def test_a_body_that_comes_nevertheless_is_no_request(wire):
    wire.send(get(b"Content-Length: %d" % len(SECOND), EXPECT, method=b"POST"))
    assert wire.read_response().status == 405
    wire.send(SECOND)
    wire.expect_close()


@pytest.mark.rfc("9110 10.1.1")
def test_nothing_is_expected_without_content(wire):
    wire.send(get(EXPECT) + get(b"Content-Length: 0", EXPECT) + SECOND)
    for _ in range(3):
        response = wire.read_response()
        assert response.status == 200 and response.interim == []
    wire.expect_alive("/probe.txt")


@pytest.mark.rfc("9110 10.1.1")
def test_an_error_before_the_body_is_final(wire):
    wire.send(get(b"Content-Length: 99999999999", EXPECT))
    response = wire.read_response()
    assert response.status == 413 and response.interim == []
    wire.expect_close()
