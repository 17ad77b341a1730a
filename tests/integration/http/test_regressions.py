"""Faults that servers of this family have had, by name."""

import os
import random
import statistics
import threading
import time

import pytest

import cases_syntax
from exchange_case import ALIVE, FILES, OK, OK2, SECOND, get
from raw_http import request

BROWSER = get(
    b"User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    b"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", b"Accept-Language: de,en;q=0.5",
    b"Accept-Encoding: gzip, deflate, br, zstd", b"Connection: keep-alive", b"Content-Length: 0", b"Priority: u=0, i")


def test_a_bad_request_poisoning_the_next_one_on_a_pooled_parser(http_server):
    bad = [case.data for case in cases_syntax.CASES if case.end != ALIVE]
    assert len(bad) > 80
    for data in bad:
        with http_server.connect() as wire:
            wire.send(data)
            wire.read_response("HEAD" if data.startswith(b"HEAD") else "GET")
        with http_server.connect() as wire:
            wire.send(get())
            OK.check(wire.read_response())


def test_an_abandoned_request_poisoning_the_next_one(http_server):
    for size in range(1, len(BROWSER), 7):
        with http_server.connect() as wire:
            wire.send(BROWSER[:size])
            wire.wait_until_read()
        with http_server.connect() as wire:
            wire.send(get())
            OK.check(wire.read_response())


def test_a_missing_file_answered_200(http_server):
    with http_server.connect() as wire:
        for target in ("/missing", "/missing/", "/missing.html", "/sub/missing", "/missing/missing",
                       "/missing?/hello.txt"):
            for method in ("GET", "HEAD"):
                for _ in range(2):
                    assert wire.ask(target, method).status == 404
        wire.expect_alive("/probe.txt")


def test_a_token_split_across_segments_at_every_byte(http_server):
    with http_server.connect() as wire, http_server.connect() as other:
        def send_apart(pieces):
            for piece in pieces:
                wire.send(piece)
                other.ask("/empty.txt")  # its answer comes when the piece has been read: there is one loop
            OK.check(wire.read_response())
        for at in range(1, len(BROWSER)):
            send_apart([BROWSER[:at], BROWSER[at:]])
        send_apart(BROWSER[at:at + 1] for at in range(len(BROWSER)))
        wire.send_pieces(*(BROWSER[at:at + 50] for at in range(0, len(BROWSER), 50)))
        OK.check(wire.read_response())


def send_in_pieces(wire, stream, chance):
    while stream:
        size = chance.choice([1, 2, 10, 100, 1000, 20000])
        wire.send(stream[:size])
        stream = stream[size:]


@pytest.mark.parametrize("seed", range(5))
def test_a_pipelined_request_lost(http_server, seed):
    """Hundreds of requests in pieces that know nothing of their ends."""
    chance = random.Random(seed)
    kinds = [(get(), "hello.txt"), (SECOND, "second.txt"), (get(target=b"/10k.bin"), "10k.bin"),
             (get(target=b"/64k-and-one.txt"), "64k-and-one.txt"),
             (get(b"Content-Length: 7", target=b"/sub/") + b"a body\n", "sub/index.html"),
             (get(b"Transfer-Encoding: chunked", target=b"/empty.txt") + b"3\r\nabc\r\n0\r\nX: y\r\n\r\n", "empty.txt")]
    chosen = [chance.choice(kinds) for _ in range(300)]
    stream = b"".join(data for data, _ in chosen)
    with http_server.connect() as wire:
        sender = threading.Thread(target=send_in_pieces, args=(wire, stream, chance), daemon=True)
        sender.start()
        for _, file in chosen:
            assert wire.read_response().body == FILES[file]
        sender.join()
        wire.expect_alive("/probe.txt")


def test_a_pipelined_request_lost_at_the_end_of_the_stream(http_server):
    with http_server.connect() as wire:
        wire.send(get() * 200 + SECOND)
        wire.shutdown_write()
        for _ in range(200):
            OK.check(wire.read_response())
        OK2.check(wire.read_response())
        wire.expect_close()


@pytest.mark.parametrize("name", [b"content-length", b"CONTENT-LENGTH", b"cOnTeNt-lEnGtH"])
def test_lower_case_content_length_unseen(http_server, name):
    with http_server.connect() as wire:
        wire.send(get(name + b": %d" % len(SECOND)) + SECOND + get(target=b"/10k.bin"))
        OK.check(wire.read_response())
        assert wire.read_response().body == FILES["10k.bin"]
        wire.expect_alive("/probe.txt")


@pytest.mark.parametrize("value", [b"Close", b"CLOSE", b"Keep-Alive, Close"])
def test_connection_close_in_other_case_ignored(http_server, value):
    with http_server.connect() as wire:
        wire.send(get(b"Connection: " + value))
        assert wire.read_response().closes
        wire.expect_close()


@pytest.mark.parametrize("target", ["/hello.txt", "/1m.bin", "/no", "/sub", "/no-index/", "/64k.txt"])
def test_head_with_a_body(http_server, target):
    with http_server.connect() as wire:
        wire.send(request(target, "HEAD") + SECOND)
        wire.read_response("HEAD")
        OK2.check(wire.read_response())


def test_head_and_file_going_out_as_two_packets_with_a_40_ms_delay(http_server):
    """A write that waits for the acknowledgement of the one before shows as 40 ms in every answer."""
    for target in ("/hello.txt", "/10k.bin", "/64k-and-one.txt", "/no"):
        with http_server.connect() as wire:
            def seconds():
                began = time.perf_counter()
                wire.ask(target)
                return time.perf_counter() - began
            assert statistics.median(seconds() for _ in range(21)) < 0.03, target


def test_answers_that_nobody_reads_are_not_piled_up(http_server):
    """A client that sends and sends without reading is not read from for ever."""
    asked = get(target=b"/64k.txt") * 100
    with http_server.connect() as wire:
        wire.socket.setblocking(False)
        sent = 0
        deadline = time.monotonic() + 1
        while time.monotonic() < deadline and sent < 50_000_000:
            try:
                sent += wire.socket.send(asked)
            except BlockingIOError:
                time.sleep(0.01)
        assert sent < 50_000_000
        pages = int(open(f"/proc/{http_server.process.pid}/statm").read().split()[1])
        assert pages * os.sysconf("SC_PAGESIZE") < 400_000_000
        wire.socket.settimeout(10)
        for _ in range(100):
            assert len(wire.read_response().body) == 65536
