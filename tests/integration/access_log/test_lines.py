"""What stands in a line, for ordinary requests, hostile ones, and those that never became an exchange."""

import re

import pytest

from raw_http import request
from site_files import SITE

FIELDS = ["time", "client", "request_id", "site", "user", "method", "scheme", "host", "target", "protocol", "status",
          "bytes", "duration_ms", "upstream_ms", "referer", "user_agent", "aborted"]
HELLO = len(SITE["hello.txt"])


def test_every_line_has_the_same_fields(logged):
    logged.ask("/hello.txt?a=1", host="one.example:80", fields={"User-Agent": "ua/1", "Referer": "http://r/"})
    entry = logged.entry()
    assert list(entry) == FIELDS
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", entry["time"])
    assert re.fullmatch("[0-9a-f]{32}", entry["request_id"])
    del entry["time"], entry["request_id"], entry["duration_ms"]
    assert entry == {"client": "127.0.0.1", "site": "one.example", "user": None, "method": "GET", "scheme": "http",
                     "host": "one.example", "target": "/hello.txt?a=1", "protocol": "HTTP/1.1", "status": 200,
                     "bytes": HELLO, "upstream_ms": None, "referer": "http://r/", "user_agent": "ua/1",
                     "aborted": False}


# name: (request, method for the reader, what the entry says)
ORDINARY = {
    "GET": (request("/hello.txt"), "GET", {"status": 200, "bytes": HELLO}),
    "HEAD": (request("/hello.txt", "HEAD"), "HEAD", {"status": 200, "bytes": 0, "method": "HEAD"}),
    "304": (request("/hello.txt", fields={"If-Modified-Since": "Fri, 01 Jan 2100 00:00:00 GMT"}), "GET", {}),
    "206": (request("/hello.txt", fields={"Range": "bytes=10-19"}), "GET", {"status": 206, "bytes": 10}),
    "416": (request("/hello.txt", fields={"Range": "bytes=9999-"}), "GET", {"status": 416}),
    "404": (request("/none"), "GET", {"status": 404}),
    "404 HEAD": (request("/none", "HEAD"), "HEAD", {"status": 404, "bytes": 0}),
    "405": (request("/hello.txt", "DELETE"), "GET", {"status": 405, "method": "DELETE"}),
    "redirect": (request("/sub"), "GET", {"status": 301, "target": "/sub"}),
    "empty": (request("/empty.txt"), "GET", {"status": 200, "bytes": 0}),
    "large": (request("/1m.bin"), "GET", {"status": 200, "bytes": 1 << 20}),
    "HTTP/1.0": (request("/hello.txt", version="1.0"), "GET", {"protocol": "HTTP/1.0"}),
    "absolute form": (request("http://abs.example/hello.txt"), "GET",
                      {"target": "http://abs.example/hello.txt", "host": "abs.example"}),
    "escaped": (request("/with%20space.txt"), "GET", {"target": "/with%20space.txt", "status": 200}),
    "no fields": (request("/hello.txt"), "GET", {"referer": None, "user_agent": None}),
    "empty agent": (request("/hello.txt", fields={"User-Agent": ""}), "GET", {"user_agent": ""}),
    "body": (request("/hello.txt", "POST", body=b"abc"), "POST", {"status": 405, "method": "POST"}),
}


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary(logged, name):
    sent, method, expected = ORDINARY[name]
    response = logged.ask_raw(sent, method=method)
    entry = logged.entry()
    assert entry["status"] == response.status and entry["bytes"] == len(response.body)
    assert not entry["aborted"]
    assert {key: entry[key] for key in expected} == expected


# Values that try to end a line, a string, or to look like something else: (bytes sent, text in the entry)
HOSTILE = {
    "quote": (b'a"b', 'a"b'),
    "a field of its own": (b'x","status":200,"x":"', 'x","status":200,"x":"'),
    "backslash": (b"a\\", "a\\"),
    "backslash n": (b"a\\nb", "a\\nb"),
    "tab": (b"a\tb", "a\tb"),
    "invalid UTF-8": (b"a\xff\xfeb", "a\ufffd\ufffdb"),
    "cut UTF-8": (b"a\xe2\x82", "a\ufffd\ufffd"),
    "overlong": (b"\xc0\xaf", "\ufffd\ufffd"),
    "surrogate": (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd"),
    "C1": ("\u0085x".encode(), "\u0085x"),
    "line separator": ("a\u2028b\u2029".encode(), "a\u2028b\u2029"),
    "UTF-8": ("gr\u00fc\u00df \U0001f600".encode(), "gr\u00fc\u00df \U0001f600"),
    "long": (b"x" * 600, "x" * 512 + "..."),
    "json": (b"}{", "}{"),
    "terminal": (b"%1b[2J \xc2\x9b2J", "%1b[2J \u009b2J"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_field_values(logged, name):
    value, expected = HOSTILE[name]
    logged.ask_raw(b"GET /hello.txt HTTP/1.1\r\nHost: x\r\nUser-Agent: " + value + b"\r\nReferer: " + value + b"\r\n\r\n")
    entry = logged.entry()
    assert entry["user_agent"] == expected and entry["referer"] == expected and entry["status"] == 200
    raw = logged.read_soon("access.json", logged.seen)[-1]
    assert not re.search("[\u0000-\u001f\u007f-\u009f\u2028\u2029]", raw)


def test_a_long_target_is_cut(logged):
    logged.ask("/hello.txt?" + "q" * 3000)
    assert logged.entry()["target"] == "/hello.txt?" + "q" * (2048 - 11) + "..."


# Requests that are answered before there is an exchange: (bytes, what the entry says)
UNROUTED = {
    "TLS": (b"\x16\x03\x01\x02\x00\x01", {"status": 400, "method": None, "protocol": None, "host": None}),
    "bare LF": (b"GET / HTTP/1.1\nHost: x\n\n", {"status": 400, "target": "GET / HTTP/1.1"}),
    "forged line": (b"GET /\x0b\"}{ HTTP/1.1\r\nHost: x\r\n\r\n", {"status": 400, "target": "GET /\x0b\"}{ HTTP/1.1"}),
    "no host": (b"GET /a HTTP/1.1\r\n\r\n", {"status": 400, "target": "/a", "method": "GET"}),
    "bad host": (b"GET /b HTTP/1.1\r\nHost: a b\r\nUser-Agent: u\r\n\r\n",
                 {"status": 400, "target": "/b", "host": "a b", "user_agent": "u"}),
    "bad path": (b"GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", {"status": 400, "target": "/%zz", "host": "x"}),
    "411": (b"POST /c HTTP/1.0\r\nHost: x\r\n\r\n", {"status": 411, "method": "POST", "protocol": "HTTP/1.0"}),
    "413": (b"POST /d HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n", {"status": 413, "target": "/d"}),
    "414": (b"GET /" + b"e" * 5000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", {"status": 414, "method": None}),
    "431": (b"GET /f HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 300 + b"\r\n", {"status": 431}),
    "501": (b"BREW /g HTTP/1.1\r\nHost: x\r\n\r\n", {"status": 501, "method": "BREW", "target": "/g"}),
    "505": (b"GET / HTTP/2.0\r\nHost: x\r\n\r\n", {"status": 505}),
    "408": (b"GET /h HTTP/1.1\r\nHos", {"status": 408, "target": "GET /h HTTP/1.1"}),
    "OPTIONS *": (b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", {"status": 204, "target": "*", "bytes": 0}),
}


@pytest.mark.parametrize("name", UNROUTED)
def test_refused(logged, name):
    sent, expected = UNROUTED[name]
    response = logged.ask_raw(sent)
    entry = logged.entry()
    assert entry["status"] == response.status and entry["bytes"] == len(response.body)
    assert {key: entry[key] for key in expected} == expected
    assert entry["client"] == "127.0.0.1" and list(entry) == FIELDS


def test_a_body_that_does_not_come(logged):
    response = logged.ask_raw(b"POST /none HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
    assert logged.entry()["status"] == response.status


def test_combined(logged):
    logged.ask('/combined/hello.txt?"', fields={"User-Agent": 'say "hi" \\ \u00fc', "Referer": "http://r/"})
    (line,) = logged.read_soon("combined.log", 1)
    assert re.fullmatch(r'127\.0\.0\.1 - - \[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] '
                        r'"GET /combined/hello\.txt\?\\x22 HTTP/1\.1" 200 612 "http://r/" '
                        r'"say \\x22hi\\x22 \\x5C \\xFC"', line), line


def test_a_format_of_ones_own(logged):
    logged.ask("/own/with%20space.txt?a=b", fields={"X-Thing": "thing"})
    logged.ask("/own/none", "HEAD")
    assert logged.read_soon("own.log", 2) == ["{GET} /own/with space.txt?a=b thing 200 -", "{HEAD} /own/none?- - 404 -"]


def test_sites_and_routes_have_logs_of_their_own(logged):
    logged.ask("/hello.txt", host="two.example")
    logged.ask("/quiet/hello.txt")
    logged.ask("/hello.txt", host="one.example")
    assert logged.entry()["target"] == "/hello.txt"  # and nothing of the others
    assert '"site":"two.example"' in logged.read_soon("two.json", 1)[0]


def test_pipelined_requests_are_logged_in_order(logged):
    targets = [f"/hello.txt?{number}" for number in range(50)]
    with logged.connect() as wire:
        wire.send(b"".join(request(target) for target in targets))
        for _ in targets:
            assert wire.read_response().status == 200
    entries = logged.entries(len(targets))
    assert [entry["target"] for entry in entries] == targets
    assert len({entry["request_id"] for entry in entries}) == len(targets)


def test_durations_are_measured(logged):
    """Not by the loop's clock, which stands still while most requests are read and answered."""
    for number in range(20):
        logged.ask(f"/hello.txt?{number}")
    durations = [entry["duration_ms"] for entry in logged.entries(20)]
    assert all(0 < duration < 10_000 for duration in durations), durations
