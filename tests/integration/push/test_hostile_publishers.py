"""Publications that are wrong, too large or never end."""

import json

import pytest

from push_torture import MIB, Witness, channel_info, push_config
from push_wire import Asker, Peer, Reactor, read_head

LIMIT = 100_000
ROUTES = [{"path": "/batch", "push_publish": {"channel": "none", "batch": {}, "max_message_bytes": LIMIT, "history": {"messages": 100}}}]


def asked(body, *fields, method="POST", target="/pub/h"):
    return "\r\n".join([f"{method} {target} HTTP/1.1", "Host: x", *fields, "", ""]).encode() + body


# What is sent, and the statuses that may come back. None of it is published.
BAD = {
    "a length of minus one": (asked(b"x", "Content-Length: -1"), {400}),
    "a length that is none": (asked(b"x", "Content-Length: x"), {400}),
    "a length of 2^64": (asked(b"x", f"Content-Length: {2**64}"), {400, 413}),
    "a length of 100 digits": (asked(b"x", "Content-Length: " + "9" * 100), {400, 413}),
    "two lengths": (asked(b"xy", "Content-Length: 1", "Content-Length: 2"), {400}),
    "a length and chunks": (asked(b"1\r\nx\r\n0\r\n\r\n", "Content-Length: 3", "Transfer-Encoding: chunked"), {400}),
    "a chunk of no size": (asked(b"x\r\n", "Transfer-Encoding: chunked"), {400}),
    "a chunk of 2^64": (asked(b"1" + b"0" * 16 + b"\r\n", "Transfer-Encoding: chunked"), {400, 413}),
    "a chunk beyond its size": (asked(b"1\r\nxyz\r\n0\r\n\r\n", "Transfer-Encoding: chunked"), {400}),
    "a megabyte announced": (asked(b"", "Content-Length: 1000000"), {413}),
    "64 MB announced": (asked(b"", "Content-Length: 64000000"), {413}),
    "a terabyte announced": (asked(b"", "Content-Length: 1000000000000"), {413}),
    "a megabyte expected": (asked(b"", "Content-Length: 1000000", "Expect: 100-continue"), {413}),
    "a byte too many": (asked(b"x" * (LIMIT + 1), f"Content-Length: {LIMIT + 1}"), {413}),
    "a byte too many, in chunks": (asked(b"%x\r\n" % (LIMIT + 1) + b"x" * (LIMIT + 1) + b"\r\n0\r\n\r\n",
                                         "Transfer-Encoding: chunked"), {413}),
    "another coding": (asked(b"x", "Transfer-Encoding: gzip, chunked"), {400, 501}),
    "PATCH": (asked(b"x", "Content-Length: 1", method="PATCH"), {405, 501}),
    "a name of a megabyte": (asked(b"x", "Content-Length: 1", target="/pub/" + "n" * MIB), {400, 414, 431}),
    "an event of 8 KB": (asked(b"x", "Content-Length: 1", "X-EventSource-Event: " + "e" * 8000), {400, 431}),
    "wait for ever": (asked(b"x", "Content-Length: 1", target="/pub/h?wait=99999999999999999999"), {400}),
    "wait for minus one": (asked(b"x", "Content-Length: 1", target="/pub/h?wait=-1"), {400}),
}


def deep(depth, inner=""):
    return "[" * depth + inner + "]" * depth


BATCHES = {
    "nothing": (b"", {400}), "no JSON": (b"{", {400}), "a number": (b"1", {400}),
    "not an array": (b'{"channel":"h","data":"x"}', {400}),
    "an array a thousand deep": (deep(1000).encode(), {400}), "an array 90,000 deep": (b"[" * 90000, {400, 413}),
    "45,000 deep, closed": (deep(45000).encode(), {400, 413}), "objects 15,000 deep": (b'[{"a":' * 15000, {400, 413}),
    "a million entries": (b"[" + b"{}," * 1_000_000 + b"{}]", {400, 413}),
    "30,000 entries": (b"[" + b"1," * 30000 + b"1]", {200, 400, 413}),
    "30,000 empty ones": (b"[" + b"{}," * 30000 + b"{}]", {200, 400, 413}),
    "bytes behind it": (b'[{"channel":"h","data":"x"}]x', {400}), "not UTF-8": (b'[{"channel":"h","data":"\xff"}]', {400}),
    "half a pair": (b'[{"channel":"h","data":"\\ud800"}]', {400}), "a bare NUL": (b'[{"channel":"h","data":"\0"}]', {400}),
    "1e999": (b'[{"channel":"h","data":1e999}]', {200, 400}),
    "a number of 90,000 digits": (b"[" + b"9" * 90000 + b"]", {200, 400}),
}

# Entries of a batch that are each refused, beside one that is not.
ENTRIES = [
    *({"channel": "h", "data": "x", "event": event} for event in ("gap", "a\nid: 9:9", "a\rb", "a\0b")),
    *({"channel": "h", "data": "x", "content_type": value} for value in ("text/plain\n\nid: 9:9", "a\r\nb", "a\0b")),
    {"channel": "", "data": "x"}, {"data": "x"}, {"channel": 1, "data": "x"}, {"channel": "x" * 90000, "data": "x"},
    {"channel": "h", "data": 1}, {"channel": "h", "data": {}}, {"channel": "h", "base64": "%%%"},
    {"channel": "h", "base64": "YQ=\0"}, {"channel": "h", "data": "x", "base64": "eA=="}, {"channel": "h"}, [], 1, None, "x",
]


@pytest.fixture
def server(shared_server):
    config = push_config({"max_message_bytes": LIMIT, "max_wait_ms": 5000}, routes=ROUTES)
    yield (server := shared_server(config))
    server.check_alive()


def status_of(reactor, server, sent):
    """The status of the answer to these bytes."""
    found, ends = [], []

    def read(peer):
        answer = read_head(peer.buffer)
        if answer:
            found.append(answer.status)
    peer = Peer(reactor, server.address, read, lambda peer, why: ends.append(why))
    peer.send(sent)
    reactor.run_until(lambda: found or ends, f"an answer to {sent[:80]!r}")
    peer.close()
    return found[0] if found else ends[0]


def test_bad_publications(server):
    with Reactor() as reactor, Witness(reactor, server) as witness:
        for name, (sent, statuses) in BAD.items():
            status = status_of(reactor, server, sent)
            assert status in statuses, (name, status)
        witness.go_on()
        assert channel_info(Asker(reactor, server.address), "h") is None
        assert witness.grown() < 8 * MIB


def test_a_body_that_never_ends(server):
    """In chunks of one byte and of 64 KiB: refused at the limit, whatever comes still."""
    with Reactor() as reactor, Witness(reactor, server) as witness:
        for piece in (b"1\r\nx\r\n" * 5000, b"10000\r\n" + b"x" * 65536 + b"\r\n", b"1;" + b"e" * 4000 + b"\r\nx\r\n"):
            answers, ends = [], []
            peer = Peer(reactor, server.address, lambda peer: answers.append(bytes(peer.buffer[9:12])),
                        lambda _, why: ends.append(why))
            peer.send(asked(b"", "Transfer-Encoding: chunked"))
            sent = 0

            def refused():
                nonlocal sent
                if not peer.out and not answers and not ends:
                    peer.send(piece)
                    sent += len(piece)
                    assert sent < 64 * MIB
                return answers or ends
            reactor.run_until(refused, "a refusal")
            assert answers[0] in (b"413", b"400"), (piece[:20], answers, ends)
            peer.close()
        witness.go_on()
        assert witness.grown() < 8 * MIB


def test_batches(server):
    with Reactor() as reactor, Witness(reactor, server) as witness:
        asker = Asker(reactor, server.address)
        for name, (body, statuses) in BATCHES.items():
            answer = Asker(reactor, server.address).get("POST", "/batch", ["Content-Type: application/json"], body)
            assert answer.status in statuses, (name, answer)
            if answer.status == 200:
                assert {result["status"] for result in json.loads(answer.body)} == {400}, name
        good = 0
        for entry in ENTRIES:
            body = json.dumps([entry, {"channel": "good", "data": "x"}]).encode()
            answer = asker.get("POST", "/batch", ["Content-Type: application/json"], body)
            if answer.status == 200:
                assert [result["status"] // 100 for result in json.loads(answer.body)] == [4, 2], (str(entry)[:100], answer)
                good += 1
            else:  # all or nothing where it is not even a list of messages
                assert answer.status == 400, (str(entry)[:100], answer)
        witness.go_on()
        assert channel_info(asker, "h") is None
        assert (channel_info(asker, "good") or {"messages": 0})["messages"] == good
        print(f"{good} of {len(ENTRIES)} were refused alone")
        assert witness.grown() < 16 * MIB
