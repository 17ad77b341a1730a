"""It starts, serves, and ends: the first thing to look at when something is broken."""

import signal

from roost_server import run_server
from site_files import SITE


def test_serves_a_file(server):
    response = server.ask("/hello.txt")
    assert (response.status, response.reason) == (200, "OK")
    assert response.body == SITE["hello.txt"]
    assert response["Content-Type"].startswith("text/plain")


def test_serves_the_index_of_a_folder(server):
    response = server.ask("/")
    assert response.body == SITE["index.html"]
    assert response["Content-Type"].startswith("text/html")


def test_a_large_file_comes_whole(wire):
    assert wire.ask("/1m.bin").body == SITE["1m.bin"]
    wire.expect_alive()


def test_a_missing_file_is_404(wire):
    response = wire.ask("/nowhere")
    assert (response.status, response.reason) == (404, "Not Found")
    wire.expect_alive()


def test_a_request_in_two_pieces(server):
    assert server.ask_raw(b"GET / HTT", b"P/1.1\r\nHost: localhost\r\n\r\n").status == 200


def test_sigterm_ends_it_with_0(start_server):
    server = start_server()
    server.signal(signal.SIGTERM)
    assert server.wait() == 0


def test_it_says_its_version():
    result = run_server("-V")
    assert result.returncode == 0
    assert result.stdout.startswith("roost ")
