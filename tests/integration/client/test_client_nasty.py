"""The HTTP client against servers that are slow, wrong, rude or gone. One row is one server."""

import pytest

from probe import ScriptServer, ask, probe, read_head, reset, sleep, until_gone

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
EMPTY = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def by_bytes(data):
    return [step for byte in data for step in (bytes([byte]), sleep(0.001))]


# name, script behind the request's head, options, what is expected of the answer
CASES = [
    ("byte by byte", by_bytes(CHUNKED + b"5\r\nhello\r\n0\r\n\r\n"), {}, {"status": 200, "body": "hello"}),
    ("until the end", [b"HTTP/1.0 200 OK\r\n\r\nhello"], {}, {"status": 200, "body": "hello"}),
    ("interim", [b"HTTP/1.1 100 x\r\n\r\nHTTP/1.1 103 x\r\nA: b\r\n\r\n" + OK], {}, {"interim": [100, 103], "status": 200}),
    ("flood of interim", [b"HTTP/1.1 102 x\r\n\r\n" * 1000], {}, {"error": "malformed"}),
    ("no answer", [], {}, {"error": "closed_early"}),
    ("reset", [reset], {}, {"error": "send"}),
    ("half a head", [b"HTTP/1.1 200 OK\r\nContent-"], {}, {"error": "closed_early"}),
    ("half a body", [b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"], {}, {"error": "closed_early", "size": 5}),
    ("reset within a body", [b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", sleep(0.1), reset], {},
     {"error": "closed_early", "size": 5}),
    ("half a chunk", [CHUNKED + b"a\r\nhello"], {}, {"error": "closed_early"}),
    ("no last chunk", [CHUNKED + b"5\r\nhello\r\n"], {}, {"error": "closed_early"}),
    ("bad chunk", [CHUNKED + b"5\r\nhello5\r\n"], {}, {"error": "malformed", "detail": "malformed: malformed chunk"}),
    ("huge chunk size", [CHUNKED + b"f" * 17 + b"\r\n"], {}, {"error": "malformed"}),
    ("chatter in a chunk size", [CHUNKED + b"5;" + b"x" * 100_000], {}, {"error": "malformed"}),
    ("huge trailers", [CHUNKED + b"0\r\n" + b"A: b\r\n" * 100_000], {}, {"error": "malformed"}),
    ("huge head", [b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 100_000], {}, {"error": "too_large"}),
    ("endless line", [b"HTTP/1.1 200 OK\r\nA: " + b"b" * 1_000_000], {}, {"error": "too_large"}),
    ("limit of the head", [b"HTTP/1.1 200 OK\r\nA: " + b"b" * 300 + b"\r\n\r\n"], {"head_bytes": 256}, {"error": "too_large"}),
    ("HTTP/0.9", [b"<html>hello</html>"], {}, {"error": "malformed"}),
    ("another protocol", [b"SSH-2.0-OpenSSH_9.2\r\n"], {}, {"error": "malformed"}),
    ("bare LF", [b"HTTP/1.1 200 OK\nContent-Length: 0\n\n"], {},
     {"detail": "malformed: line feed without carriage return"}),
    ("NUL", [b"HTTP/1.1 200 OK\r\nA: \0\r\n\r\n"], {}, {"error": "malformed"}),
    ("two lengths", [b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello"], {}, {"error": "malformed"}),
    ("length and chunks", [b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nhello"], {},
     {"error": "malformed"}),
    ("switch unasked", [b"HTTP/1.1 101 x\r\nUpgrade: x\r\n\r\n"], {}, {"error": "malformed"}),
    ("garbage behind", [OK + b"garbage"], {}, {"status": 200, "body": "hello"}),
    ("second answer behind", [OK + OK], {}, {"status": 200, "body": "hello"}),
    ("slow first byte", [until_gone], {"first_byte_ms": 300}, {"error": "first_byte_timeout"}),
    ("slow head", [b"HTTP/1.1 200 OK\r\n", until_gone], {"idle_ms": 300}, {"error": "idle_timeout"}),
    ("slow body", [b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe", until_gone], {"idle_ms": 300},
     {"error": "idle_timeout", "size": 2}),
    ("drip", [CHUNKED] + [b"1\r\nx\r\n", sleep(0.1)] * 30, {"idle_ms": 5000, "total_ms": 700}, {"error": "total_timeout"}),
    ("redirect to itself", [b"HTTP/1.1 302 x\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"], {"redirects": 5},
     {"error": "redirect", "detail": "redirect: too many redirects"}),
    ("redirect not followed", [b"HTTP/1.1 302 x\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"], {}, {"status": 302}),
    ("redirect without Location", [b"HTTP/1.1 302 x\r\nContent-Length: 0\r\n\r\n"], {"redirects": 5}, {"status": 302}),
    ("redirect with endless body", [b"HTTP/1.1 302 x\r\nLocation: /\r\nTransfer-Encoding: chunked\r\n\r\n" +
                                    b"1000\r\n" + b"x" * 0x1000 + b"\r\n"] + [b"1000\r\n" + b"x" * 0x1000 + b"\r\n"] * 100,
     {"redirects": 2}, {"error": "redirect"}),
    ("cancelled", [b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 500_000, sleep(0.2)], {"cancel_after": 1000},
     {"error": "cancelled"}),
    ("refused 100", [b"HTTP/1.1 417 x\r\nContent-Length: 0\r\n\r\n"], {"method": "POST", "body": "abc", "expect": 1},
     {"status": 417, "interim": []}),
]


@pytest.mark.parametrize("script, options, expected", [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_one_answer(script, options, expected):
    with ScriptServer([read_head] + script) as server:
        answer, state = probe(server.url, **options)
    assert {key: answer.get(key) for key in expected} == expected
    assert state["calls"] == 0 and state["waiting"] == 0


def test_a_connection_closed_under_us_is_made_anew():
    with ScriptServer([read_head, OK, read_head], [read_head, OK]) as server:  # takes the second request and hangs up
        first, second, _ = probe(server.url, repeat=2, gap_ms=50)
        assert (first["status"], second["status"], second["retries"]) == (200, 200, 1)
        assert server.accepted == 2
    with ScriptServer([read_head, OK, read_head], [read_head, OK]) as server:
        first, second, _ = probe(server.url, repeat=2, gap_ms=50, method="POST", body="x")
        assert (first["status"], second.get("error")) == (200, "closed_early")


def test_a_connection_that_ended_while_idle_is_not_used_again():
    with ScriptServer([read_head, OK]) as server:
        first, second, _ = probe(server.url, repeat=2, gap_ms=300)
        assert (first["status"], second["status"]) == (200, 200)
        assert (second["kept"], second["retries"], server.accepted) == (False, 0, 2)


def test_garbage_behind_an_answer_closes_the_connection():
    with ScriptServer([read_head, OK + b"HTTP/1.1 200 OK\r\n", until_gone]) as server:
        first, second, _ = probe(server.url, repeat=2)
        assert (first["body"], second["body"], second["kept"], server.accepted) == ("hello", "hello", False, 2)


def test_content_that_nobody_reads_ends_by_a_timeout():
    with ScriptServer([read_head, sleep(4)]) as server:  # the kernel takes a little for itself at first
        answer = ask(server.url, method="PUT", stream=50_000_000, idle_ms=500)
        assert answer["error"] == "idle_timeout"


def test_an_answer_before_the_content_was_sent_is_taken():
    with ScriptServer([read_head, b"HTTP/1.1 413 x\r\nContent-Length: 2\r\n\r\nno", until_gone]) as server:
        answer = ask(server.url, method="PUT", stream=50_000_000, length=50_000_000)
        assert (answer["status"], answer["body"]) == (413, "no")


@pytest.mark.parametrize("size", [1_000_000, 20_000_000])
def test_an_answer_is_taken_though_a_reset_follows_it(size):
    with ScriptServer([read_head, b"HTTP/1.1 413 x\r\nConnection: close\r\nContent-Length: 3\r\n\r\nbig"]) as server:
        *answers, _ = probe(server.url, repeat=10, method="POST", stream=size, length=size)
        assert [(answer.get("status"), answer.get("body")) for answer in answers] == [(413, "big")] * 10


def test_nobody_listens():
    with ScriptServer([]) as server:
        url = server.url
    assert ask(url)["detail"] == "connect: Connection refused"
    assert ask("unix:/nowhere/x.sock")["detail"] == "connect: No such file or directory"
    assert ask("http://name.invalid/", connect_ms=20_000)["error"] == "resolve"


def test_more_calls_than_connections_wait_their_turn():
    with ScriptServer([read_head, EMPTY] * 30) as server:
        *answers, _ = probe(server.url, repeat=30, parallel=1, per_origin=3)
        assert [answer.get("status") for answer in answers] == [200] * 30
        assert server.accepted <= 30
    with ScriptServer([read_head, sleep(0.3), EMPTY]) as server:
        *answers, _ = probe(server.url, repeat=10, parallel=1, per_origin=2, waiting=5)
        assert sorted(answer.get("error", "") for answer in answers) == [""] * 5 + ["overload"] * 5
    with ScriptServer([read_head, sleep(1), EMPTY]) as server:
        *answers, _ = probe(server.url, repeat=3, parallel=1, per_origin=1, connect_ms=300)
        assert sorted(answer.get("error", "") for answer in answers) == ["", "connect_timeout", "connect_timeout"]


def test_an_upgrade_gives_bytes_both_ways():
    def read(size):
        def exactly(connection):
            data = b""
            while len(data) < size:
                data += connection.recv(size - len(data))
            return data
        return exactly
    head = b"HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: test\r\n\r\n"
    with ScriptServer([read_head, head + b"early ", read(11), b"bytes", read(5)]) as server:
        answer = ask(server.url, upgrade="test")
        assert (answer["status"], answer["body"]) == (101, "early bytes")
        assert b"Connection: Upgrade\r\nUpgrade: test\r\n" in server.heads[0]
        assert server.heads[1:] == [b"helloearly ", b"bytes"]  # the probe says hello, and sends back what it gets
