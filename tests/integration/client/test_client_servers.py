"""The HTTP client against servers that people use: this one, nginx and Python's."""

import functools
import http.server
import os
import socketserver
import threading

import pytest

import nginx_process
from probe import ask, fnv1a, probe

LARGE = os.urandom(1 << 20)
FILES = {"small.txt": b"hello\n", "large.bin": LARGE, "empty": b""}


class Echo(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("files")
    for name, content in FILES.items():
        (path / name).write_bytes(content)
    return path


@pytest.fixture(scope="module")
def python_server(folder):
    handler = functools.partial(Echo, directory=str(folder))
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture(scope="module")
def nginx(folder, tmp_path_factory):
    if nginx_process.PROGRAM is None:
        pytest.skip("nginx is not installed")
    body = f"server {{ listen 80; root {folder}; location /to {{ return 302 /small.txt; }} gzip on; keepalive_requests 3; }}"
    os.chmod(folder, 0o755)
    server = nginx_process.Nginx(tmp_path_factory.mktemp("nginx"), body)
    yield "http://%s:%d" % server.address
    server.stop()


@pytest.fixture
def roost(start_server):
    server = start_server(files={name: content for name, content in FILES.items()})
    return "http://%s:%d" % server.address


@pytest.fixture(params=["roost", "nginx", "python_server"])
def url(request):
    return request.getfixturevalue(request.param)


def test_files_of_any_size(url):
    small, large, empty, missing, _ = probe(*(f"{url}/{name}" for name in ("small.txt", "large.bin", "empty", "none")))
    assert (small["status"], small["body"]) == (200, "hello\n")
    assert (large["size"], large["hash"]) == (len(LARGE), fnv1a(LARGE))
    assert (empty["status"], empty["size"]) == (200, 0)
    assert missing["status"] == 404 and missing["size"] > 0
    assert small["kept"] is False and large["kept"] is True and empty["kept"] is True


def test_a_head_has_no_body_and_keeps_the_connection(url):
    first, second, state = probe(f"{url}/large.bin", method="HEAD", repeat=2)
    assert (first["size"], second["size"], second["kept"]) == (0, 0, True)
    assert ["content-length", str(len(LARGE))] in [[name.lower(), value] for name, value in first["fields"]]
    assert state["idle"] == 1


def test_who_reads_slowly_gets_all_of_it(url):
    answer = ask(f"{url}/large.bin", pause_ms=1)
    assert (answer["hash"], answer["size"]) == (fnv1a(LARGE), len(LARGE)) and answer["pauses"] > 3


def test_many_at_once_over_few_connections(url):
    *answers, state = probe(f"{url}/small.txt", repeat=60, parallel=1, per_origin=4)
    assert [answer["body"] for answer in answers] == ["hello\n"] * 60
    assert state["connections"] <= 4


def test_content_both_ways(python_server):
    expected = bytes(ord("a") + i % 26 for i in range(300_000))
    for options in ({"length": 300_000}, {}, {"piece": 7777}, {"expect": 1}):
        answer = ask(f"{python_server}/echo", method="POST", stream=300_000, **options)
        assert (answer.get("status"), answer["hash"]) == (200, fnv1a(expected)), options
    assert ask(f"{python_server}/echo", method="POST", body="text", expect=1)["body"] == "text"


def test_redirects_of_others(nginx):
    answer = ask(f"{nginx}/to", redirects=3)
    assert (answer["status"], answer["body"], answer["redirects"][0][0]) == (200, "hello\n", 302)


def test_connections_that_end_after_a_few_requests(nginx):
    *answers, _ = probe(f"{nginx}/small.txt", repeat=10)
    assert [answer["status"] for answer in answers] == [200] * 10
    assert [answer["kept"] for answer in answers].count(False) == 4


def test_a_unix_socket(start_server, tmp_path):
    path = tmp_path / "x.sock"
    listen = [{"unix": str(path)}, {"address": "127.0.0.1", "port": 0}]
    start_server({"address": None, "port": None, "listen": listen}, files=FILES)
    first, second, _ = probe(f"unix:{path}:/small.txt", repeat=2)
    assert (first["body"], second["body"], second["kept"]) == ("hello\n", "hello\n", True)
