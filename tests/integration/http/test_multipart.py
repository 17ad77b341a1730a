"""Several ranges in one answer, part by part: RFC 9110 section 14.6."""

import re

import pytest

from exchange_case import FILES
from raw_http import request

PART_HEAD = re.compile(rb"\r\nContent-Type: ([^\r]+)\r\nContent-Range: bytes (\d+)-(\d+)/(\d+)\r\n\r\n")


def parts_of(response):
    """[(first, last, size, type, bytes)] of a multipart/byteranges body, which must be exactly framed."""
    match = re.fullmatch(r"multipart/byteranges; boundary=([0-9A-Za-z'()+_,./:=?-]{1,70})", response["Content-Type"])
    assert match, response
    assert "Content-Range" not in response  # section 15.3.7.2
    delimiter = b"\r\n--" + match.group(1).encode()
    rest = b"\r\n" + response.body if response.body.startswith(delimiter[2:]) else response.body
    parts = []
    while not rest.startswith(delimiter + b"--"):
        assert rest.startswith(delimiter), rest[:100]
        rest = rest[len(delimiter):]
        head = PART_HEAD.match(rest)
        assert head, rest[:200]
        first, last, size = (int(head.group(index)) for index in (2, 3, 4))
        content = rest[head.end():head.end() + last - first + 1]
        rest = rest[head.end() + last - first + 1:]
        parts.append((first, last, size, head.group(1).decode(), content))
    assert rest in (delimiter + b"--\r\n", delimiter + b"--")
    return parts


ASKED = [
    ("hello.txt", "0-0,2-2", [(0, 0), (2, 2)]),
    ("hello.txt", "0-9, 20-29 ,\t40-49", [(0, 9), (20, 29), (40, 49)]),
    ("hello.txt", "0-0,-1", [(0, 0), (611, 611)]),
    ("hello.txt", "100-,0-9", [(100, 611), (0, 9)]),  # without overlap in the order asked for
    ("hello.txt", "40-49,0-9,20-29", [(40, 49), (0, 9), (20, 29)]),
    ("hello.txt", "40-49,0-9,5-14", [(0, 14), (40, 49)]),  # with overlap in ascending order
    ("hello.txt", "0-9,10-19,30-39", [(0, 19), (30, 39)]),
    ("hello.txt", "0-9,612-,30-39,-0", [(0, 9), (30, 39)]),
    ("hello.txt", "600-9999,0-0", [(600, 611), (0, 0)]),
    ("hello.txt", ",0-0,,2-2,", [(0, 0), (2, 2)]),
    ("hello.txt", ",".join(f"{at}-{at}" for at in range(0, 32, 2)), [(at, at) for at in range(0, 32, 2)]),
    ("64k.txt", "0-9999,20000-29999,-5000", [(0, 9999), (20000, 29999), (60536, 65535)]),
    ("64k-and-one.txt", "0-9999,20000-29999,-1", [(0, 9999), (20000, 29999), (65536, 65536)]),
    ("1m.bin", "0-0,100000-499999,600000-999999,-1", [(0, 0), (100000, 499999), (600000, 999999), (1048575, 1048575)]),
]


@pytest.mark.rfc("9110 14.6")
@pytest.mark.parametrize("file, ranges, expected", ASKED, ids=[f"{file} {ranges[:30]}" for file, ranges, _ in ASKED])
def test_parts(http_server, file, ranges, expected):
    with http_server.connect() as wire:
        whole = wire.ask(f"/{file}")
        response = wire.ask(f"/{file}", fields={"Range": f"bytes={ranges}"})
        assert response.status == 206
        assert response["ETag"] == whole["ETag"] and response["Last-Modified"] == whole["Last-Modified"]
        content = FILES[file]
        assert parts_of(response) == [
            (first, last, len(content), whole["Content-Type"], content[first:last + 1]) for first, last in expected]
        wire.expect_alive("/probe.txt")


@pytest.mark.rfc("2046 5.1.1")
def test_the_boundary_is_another_every_time(http_server):
    types = {http_server.ask("/hello.txt", fields={"Range": "bytes=0-0,2-2"})["Content-Type"] for _ in range(20)}
    assert len(types) == 20


@pytest.mark.rfc("9110 14.2")
@pytest.mark.parametrize("ranges", ["0-0,2-2", "0-0,9999-,2-2"])
def test_head_ignores_them(http_server, ranges):
    response = http_server.ask("/hello.txt", "HEAD", fields={"Range": f"bytes={ranges}"})
    assert response.status == 200 and response["Content-Length"] == "612"


@pytest.mark.rfc("9110 14.2")
def test_the_cap_is_configurable(shared_server):
    def limited(count):
        return shared_server({"http": {"sites": [{"host": ["*"], "routes": [
            {"path": "/", "static": {"max_ranges": count}}]}]}})
    two = {"Range": "bytes=0-0,2-2"}
    assert limited(2).ask("/hello.txt", fields=two).status == 206
    assert limited(1).ask("/hello.txt", fields=two).status == 200
    assert limited(1).ask("/hello.txt", fields={"Range": "bytes=0-0"}).status == 206
    assert limited(0).ask("/hello.txt", fields={"Range": "bytes=0-0"}).status == 200


@pytest.mark.rfc("9112 9.3.2")
def test_pipelined_multiparts_stay_whole(http_server):
    ask = request("/1m.bin", fields={"Range": "bytes=0-99999,200000-299999"})
    with http_server.connect() as wire:
        wire.send(ask * 10 + request("/probe.txt"))
        for _ in range(10):
            assert [part[:2] for part in parts_of(wire.read_response())] == [(0, 99999), (200000, 299999)]
        assert wire.read_response().body == FILES["probe.txt"]
