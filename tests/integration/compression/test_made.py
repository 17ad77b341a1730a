"""Forms that the server makes: kept, renewed with their original, streamed where they are not kept."""

import os
import shutil
import subprocess

import pytest

from coded_site import LARGE, OLD_S, PAGE, TEXT, decode, route, write
from roost_server import eventually

CODINGS = ("br", "zstd", "gzip")
ROUTES = [route("/made/", {}), route("/streamed/", {"max_kept_bytes": 0}),
          route("/few/", {"max_kept_bytes": 0, "max_streams": 1})]
SITE = {"worker_processes": 2, "http": {"sites": [{"host": ["*"], "routes": ROUTES}]}}


def ask(server, coding, target="/made/page.html", method="GET", **fields):
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    return server.ask(target, method, fields={"Accept-Encoding": coding, **named})


@pytest.mark.parametrize("prefix", ("/made", "/streamed"))
@pytest.mark.parametrize("coding", CODINGS)
def test_conditions(coded, prefix, coding):
    target = prefix + "/page.html"
    answer = ask(coded, coding, target)
    same = ask(coded, coding, target, If_None_Match=answer["ETag"])
    assert same.status == 304 and same["ETag"] == answer["ETag"] and same["Vary"] == "Accept-Encoding"
    assert ask(coded, coding, target, "HEAD", If_None_Match=answer["ETag"]).status == 304
    assert ask(coded, coding, target, If_None_Match='"x"').status == 200
    assert ask(coded, coding, target, If_Match=answer["ETag"]).status == 412  # a weak tag never matches strongly
    assert ask(coded, coding, target, If_Modified_Since=answer["Last-Modified"]).status == 304
    assert ask(coded, "identity", target, If_None_Match=answer["ETag"]).status == 200


@pytest.mark.parametrize("prefix", ("/made", "/streamed"))
def test_ranges_come_from_the_file_itself(coded, prefix):
    part = ask(coded, "gzip", prefix + "/page.html", Range="bytes=10-19")
    assert part.status == 206 and part.body == PAGE[10:20] and "Content-Encoding" not in part
    assert part["Vary"] == "Accept-Encoding" and not part["ETag"].startswith("W/")
    tag = ask(coded, "gzip", prefix + "/page.html")["ETag"]
    whole = ask(coded, "gzip", prefix + "/page.html", Range="bytes=10-19", If_Range=tag)
    assert whole.status == 200 and decode(whole.get("Content-Encoding"), whole.body) == PAGE


def test_http_1_0(coded):
    for target, body in (("/made/page.html", PAGE), ("/streamed/large.txt", LARGE)):
        answer = coded.ask_raw(b"GET " + target.encode() + b" HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n")
        assert "Transfer-Encoding" not in answer and decode("gzip", answer.body) == body


def test_pipelined(coded):
    with coded.connect() as wire:
        one = b"GET %s HTTP/1.1\r\nHost: x\r\nAccept-Encoding: %s\r\n\r\n"
        wire.send(b"".join(one % (target, coding) for coding in (b"br", b"zstd", b"gzip")
                           for target in (b"/streamed/large.txt", b"/made/text.txt", b"/streamed/page.html")))
        for coding in CODINGS:
            for body in (LARGE, TEXT, PAGE):
                answer = wire.read_response()
                assert answer["Content-Encoding"] == coding and decode(coding, answer.body) == body


def test_a_form_changes_with_its_file(start_server):
    server = start_server(SITE, files={})
    write(server.html / "page.html", PAGE)
    for coding in CODINGS:
        assert decode(coding, ask(server, coding).body) == PAGE
    write(server.html / "page.html", TEXT, OLD_S + 1)
    for coding in CODINGS:
        eventually(lambda: decode(coding, ask(server, coding).body) == TEXT, "the new content")
    (server.html / "page.html").unlink()
    eventually(lambda: ask(server, "gzip").status == 404, "it is gone")


def test_a_form_outlives_a_look_at_its_file(start_server):
    site = {"http": {"file_cache": {"revalidate_ms": 20}, **SITE["http"]}}
    server = start_server(site, files={})
    write(server.html / "page.html", PAGE)
    # What was written a moment ago is not trusted yet.
    eventually(lambda: not server.ask("/made/page.html")["ETag"].startswith("W/"), "the file's tag is strong")
    for _ in range(50):
        answer = ask(server, "br")
        assert answer["Content-Encoding"] == "br" and decode("br", answer.body) == PAGE


def test_many_ask_for_the_same_at_once(start_server):
    server = start_server(SITE, files={})
    write(server.html / "large.txt", LARGE)
    wires = [server.connect() for _ in range(60)]
    for number, wire in enumerate(wires):
        wire.send(b"GET /made/large.txt HTTP/1.1\r\nHost: x\r\nAccept-Encoding: %s\r\n\r\n"
                  % CODINGS[number % 3].encode())
    for number, wire in enumerate(wires):
        if number % 5 == 4:  # some do not wait
            wire.reset()
            continue
        answer = wire.read_response()
        assert answer["Content-Encoding"] == CODINGS[number % 3]
        assert decode(CODINGS[number % 3], answer.body) == LARGE
        wire.close()


@pytest.mark.parametrize("threads", (0, 1, 3))
def test_with_any_number_of_task_threads(start_server, threads):
    server = start_server({**SITE, "task_processes": threads}, files={})
    write(server.html / "large.txt", LARGE)
    for prefix in ("/made", "/streamed"):
        for coding in CODINGS:
            answer = ask(server, coding, prefix + "/large.txt")
            assert answer["Content-Encoding"] == coding and decode(coding, answer.body) == LARGE


def test_a_cache_that_keeps_nothing(start_server):
    server = start_server({**SITE, "http": {"file_cache": {"max_bytes": 0}, **SITE["http"]}}, files={})
    write(server.html / "page.html", PAGE)
    for coding in CODINGS:
        assert decode(coding, ask(server, coding).body) == PAGE


def test_clients_that_leave_and_clients_that_are_slow(start_server):
    server = start_server(SITE, files={})
    body = os.urandom(6 << 20).hex().encode()
    write(server.html / "noisy.txt", body)
    for coding in CODINGS:
        gone = [server.connect() for _ in range(4)]
        for wire in gone:
            wire.send(b"GET /streamed/noisy.txt HTTP/1.1\r\nHost: x\r\nAccept-Encoding: %s\r\n\r\n" % coding.encode())
        for wire in gone[:2]:
            wire.reset()
        with server.connect(timeout=60) as slow:
            slow.send(b"GET /streamed/noisy.txt HTTP/1.1\r\nHost: x\r\nAccept-Encoding: %s\r\n\r\n" % coding.encode())
            head = slow.read_exactly(100)
            for wire in gone[2:]:
                wire.reset()
            assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert decode("gzip", ask(server, "gzip", "/streamed/noisy.txt").body) == body
    server.check_alive()


def test_beyond_the_most_streams_answers_are_sent_as_they_are(start_server):
    server = start_server({**SITE, "worker_processes": 1}, files={})
    body = os.urandom(8 << 20).hex().encode()
    write(server.html / "noisy.txt", body)
    with server.connect(timeout=60) as first:
        first.send(b"GET /few/noisy.txt HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n")
        first.read_exactly(17)  # the rest waits for us
        second = ask(server, "gzip", "/few/noisy.txt")
        assert "Content-Encoding" not in second and second.body == body and second["Vary"] == "Accept-Encoding"
    eventually(lambda: "Content-Encoding" in ask(server, "gzip", "/few/noisy.txt"), "the first is over")


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl")
@pytest.mark.parametrize("target", ("/page.html", "/made/page.html", "/streamed/large.txt", "/both/style.css"))
def test_curl_decodes_it(coded, target):
    url = "http://%s:%d%s" % (*coded.address, target)
    run = subprocess.run(["curl", "-sS", "--compressed", "-D", "-", "-o", "/dev/null", url], capture_output=True, check=True)
    assert b"Content-Encoding: " in run.stdout
    body = subprocess.run(["curl", "-sS", "--compressed", url], capture_output=True, check=True).stdout
    assert body == (coded.html / target.rpartition("/")[2]).read_bytes()
