"""The PROXY protocol on the way in, versions 1 and 2. "who" lets in 192.0.2.7 and 2001:db8::7; "elsewhere" everybody."""

import socket
import struct
import subprocess

import pytest

from access_sites import wire_from
from raw_http import Wire, request
from roost_server import eventually

SIGNATURE = b"\r\n\r\n\x00\r\nQUIT\n"
V4 = socket.inet_aton("192.0.2.7") + socket.inet_aton("203.0.113.1") + struct.pack(">HH", 4321, 80)
V6 = socket.inet_pton(socket.AF_INET6, "2001:db8::7") + socket.inet_pton(socket.AF_INET6, "::1") + b"\x10\xe1\x00\x50"


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def v2(addresses=V4, family=0x11, command=0x21, tlvs=b""):
    return SIGNATURE + bytes([command, family]) + struct.pack(">H", len(addresses + tlvs)) + addresses + tlvs


def checked(wrong=0):
    tlvs = b"\x05\x00\x03abc\x03\x00\x04"
    crc = crc32c(v2(tlvs=tlvs + b"\0\0\0\0")) ^ wrong
    return v2(tlvs=tlvs + struct.pack(">I", crc))


def v1(line):
    return b"PROXY " + line + b"\r\n"


TAKEN = [  # header, host, status
    ("v1 tcp4", v1(b"TCP4 192.0.2.7 203.0.113.1 4321 80"), "who", 200),
    ("v1 another client", v1(b"TCP4 192.0.2.8 203.0.113.1 4321 80"), "who", 403),
    ("v1 tcp6", v1(b"TCP6 2001:db8::7 ::1 4321 80"), "who", 200),
    ("v1 tcp6 mapped", v1(b"TCP6 ::ffff:192.0.2.7 ::1 4321 80"), "who", 200),
    ("v1 ports at their ends", v1(b"TCP4 192.0.2.7 203.0.113.1 0 65535"), "who", 200),
    ("v1 unknown keeps the peer", v1(b"UNKNOWN"), "proxy-itself", 200),
    ("v1 unknown with anything", v1(b"UNKNOWN ffff:f...f:ffff ffff:f...f:ffff 65535 65535"), "proxy-itself", 200),
    ("v1 of the longest length", v1(b"UNKNOWN " + b"x" * 91), "proxy-itself", 200),
    ("v2 tcp4", v2(), "who", 200), ("v2 tcp6", v2(V6, 0x21), "who", 200),
    ("v2 another client", v2(b"\xc0\x00\x02\x08" + V4[4:]), "who", 403),
    ("v2 with tlvs", v2(tlvs=b"\x01\x00\x02h2\x04\x00\x00\xea\x00\x01x"), "who", 200),
    ("v2 with a large tlv", v2(tlvs=b"\x20\x30\x00" + b"x" * 0x3000), "who", 200),
    ("v2 with a checksum", checked(), "who", 200),
    ("v2 local", v2(b"", 0, 0x20), "proxy-itself", 200), ("v2 local with anything", v2(V4, 0x11, 0x20, b"\x03\x00"), "proxy-itself", 200),
    ("v2 of no family", v2(b"", 0), "proxy-itself", 200), ("v2 of no family with bytes", v2(b"12345", 0), "proxy-itself", 200),
    ("v2 unix", v2(b"/run/client".ljust(108, b"\0") + b"\0" * 108, 0x31), "none-but", 200),
]
REFUSED = [
    ("no header", b""), ("v1 in small letters", b"proxy TCP4 192.0.2.7 203.0.113.1 1 2\r\n"),
    ("v1 without a port", v1(b"TCP4 192.0.2.7 203.0.113.1 4321")), ("v1 with a word more", v1(b"TCP4 192.0.2.7 203.0.113.1 1 2 3")),
    ("v1 port too large", v1(b"TCP4 192.0.2.7 203.0.113.1 65536 80")), ("v1 port with a zero", v1(b"TCP4 192.0.2.7 203.0.113.1 080 80")),
    ("v1 negative port", v1(b"TCP4 192.0.2.7 203.0.113.1 -1 80")), ("v1 two spaces", v1(b"TCP4  192.0.2.7 203.0.113.1 1 2")),
    ("v1 family and address differ", v1(b"TCP4 2001:db8::7 ::1 1 2")), ("v1 the other way", v1(b"TCP6 192.0.2.7 203.0.113.1 1 2")),
    ("v1 no address", v1(b"TCP4 example.org 203.0.113.1 1 2")), ("v1 udp", v1(b"UDP4 192.0.2.7 203.0.113.1 1 2")),
    ("v1 nothing", v1(b"")), ("v1 line feed alone", b"PROXY TCP4 192.0.2.7 203.0.113.1 1 2\n"),
    ("v1 too long", v1(b"UNKNOWN " + b"x" * 92)), ("v2 version 3", v2(command=0x31)), ("v2 command 2", v2(command=0x22)),
    ("v2 too short", v2(V4[:11])), ("v2 datagrams", v2(V4, 0x12)), ("v2 family 4", v2(V4, 0x41)),
    ("v2 tlv cut off", v2(tlvs=b"\x01\x00")), ("v2 tlv beyond the end", v2(tlvs=b"\x01\x00\x05abcd")),
    ("v2 wrong checksum", checked(1)), ("v2 short checksum", v2(tlvs=b"\x03\x00\x02ab")),
    ("v2 too long", SIGNATURE + b"\x21\x11" + struct.pack(">H", 16385)), ("v2 signature with a mistake", b"\r\n\r\n\x00\r\nQUIX\n" + v2()[12:]),
]


def names(table):
    return [row[0] for row in table]


@pytest.fixture
def proxied(gate):
    with Wire(gate.addresses[1]) as wire:
        yield wire


@pytest.mark.parametrize("header, host, status", [row[1:] for row in TAKEN], ids=names(TAKEN))
def test_headers_that_are_taken(proxied, header, host, status):
    # What comes through the announced address is not a trusted proxy's word.
    proxied.send(header + request(host=host) + request(host=host))
    assert [proxied.read_response().status, proxied.read_response().status] == [status, status]


@pytest.mark.parametrize("header, host, status", [row[1:] for row in TAKEN if len(row[1]) < 300],
                         ids=names([row for row in TAKEN if len(row[1]) < 300]))
def test_a_byte_at_a_time(proxied, header, host, status):
    for byte in header + request(host=host):
        proxied.send(bytes([byte]))
    assert proxied.read_response().status == status


@pytest.mark.parametrize("header", [row[1] for row in REFUSED], ids=names(REFUSED))
def test_headers_that_are_refused(proxied, header):
    proxied.send(header + request(host="elsewhere"))
    proxied.expect_close()


def test_refusals_are_logged(gate, proxied):
    proxied.send(b"GET / HTTP/1.1\r\n")
    proxied.expect_close()
    eventually(lambda: "PROXY protocol: no PROXY header" in gate.log, "the log says so")


def test_no_header_in_time(gate):
    with Wire(gate.addresses[1]) as silent, Wire(gate.addresses[1]) as begun:
        begun.send(b"PROXY TCP4")
        silent.expect_close()
        begun.expect_close()


def test_only_trusted_peers_may_announce(gate):
    for source, open_ in [("127.0.0.7", True), ("127.0.0.1", False), ("127.0.0.8", False)]:
        with wire_from(gate.addresses[2], source) as wire:
            try:
                wire.send(v2() + request(host="who"))
            except OSError:
                assert not open_
            if open_:
                assert wire.read_response().status == 200
            else:
                wire.expect_close()


def test_blocked_addresses_may_not_be_announced_either(gate):
    for client, open_ in [(b"203.0.113.9", False), (b"203.0.114.9", True)]:
        with Wire(gate.addresses[1]) as wire:
            wire.send(v1(b"TCP4 " + client + b" 127.0.0.1 1 2") + request(host="elsewhere"))
            if open_:
                assert wire.read_response().status == 200
            else:
                wire.expect_close()


def test_an_announced_client_may_be_a_trusted_proxy(proxied):
    proxied.send(v1(b"TCP4 10.9.1.1 127.0.0.1 1 2"))
    proxied.send(request(host="who", fields={"X-Forwarded-For": "192.0.2.7"}) + request(host="who"))
    assert [proxied.read_response().status, proxied.read_response().status] == [200, 403]


def test_curl(gate):
    host, port = gate.addresses[1]
    result = subprocess.run(["curl", "-sS", "--haproxy-protocol", "-o", "/dev/null", "-w", "%{http_code}", "-H", "Host: proxy-itself",
                             f"http://{host}:{port}/"], capture_output=True, text=True, timeout=10)
    assert (result.stdout, result.stderr) == ("200", "")
